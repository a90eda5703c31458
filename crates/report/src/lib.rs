//! Reports. A [`Subject`], such as a run, becomes a [`document`], which a renderer turns into a
//! format; or its values become a feed, which another tool reads.
//!
//! - [`views`] has a file per question: it makes a document of results, and knows no format.
//! - [`document`] has the blocks of a document: sentences, tables with typed columns, charts.
//! - `render` has a file per format. Renderers know documents and no subject; feeds take figures,
//!   changes and verdicts.
//! - `charts` draws SVG, which views order and pages show.
//! - [`unixbench`] writes UnixBench's own files, which need no document.

mod charts;
mod document;
mod render;
mod subject;
pub mod unixbench;
mod views;

pub use document::score;
pub use render::{
    Ending, Extent, Format, GatedRun, Layout, POLICY, STYLE, brief, junit, page, render,
    render_prose,
};
pub use subject::Subject;
pub use views::{Repeat, is_name, rank, why};
