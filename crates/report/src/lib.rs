//! Reports: a subject becomes a document, which a renderer turns into a format, or is told to another tool in a feed.
//!
//! - [`Subject`]: what a report is about; it has a document, and values for feeds.
//! - [`document`]: blocks of sentences, tables with typed columns and fields, charts, facts, lists.
//! - [`views`]: one per question; each knows its subject and no format.
//! - `render`: one per format. Renderers know documents and no subject; feeds take figures, changes and verdicts.
//! - [`unixbench`]: UnixBench's own files, which need no document.
//! - `charts`: drawings as SVG, made by views, shown by pages.

mod charts;
mod document;
mod render;
mod subject;
pub mod unixbench;
mod views;

pub use render::{Format, Layout, POLICY, STYLE, left_out, page, render};
pub use subject::Subject;
pub use views::{Card, Repeat, is_name, rank, score, why};
