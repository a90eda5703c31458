//! Reports: a view turns results into a document, a renderer turns any document into a format.
//!
//! - [`document`]: blocks of sentences, tables with typed columns and fields, charts, facts, lists.
//! - [`views`]: one per question; each knows its subject and no format.
//! - `render`: one per format; each knows documents and no subject.
//! - [`unixbench`]: UnixBench's own files, which need no document.
//! - `charts`: drawings as SVG, made by views, shown by pages.
//!
//! An error is a value that cannot be rendered: a defect.

mod charts;
mod document;
mod render;
pub mod unixbench;
mod views;

use anyhow::Result;

use ::fleet::Fleet;
use analysis::fleet::FleetReport;
use analysis::{Comparisons, Gate, Results, Sorted, Trend};
use journal::Finding;
pub use render::{Format, Layout, STYLE, render};
pub use views::{Card, Repeat, is_name, score, why};

/// Returns the report of a run.
pub fn report(results: &Results, layout: impl Into<Layout>) -> Result<String> {
    render(&views::run(results), layout.into())
}

/// Returns the figures of a run that a format has no place for.
pub fn not_in(format: Format, results: &Results) -> Result<Vec<String>> {
    render::left_out(&views::run(results), format)
}

/// Returns the same for runs compared.
pub fn not_in_comparison(format: Format, comparisons: &Comparisons) -> Result<Vec<String>> {
    render::left_out(&views::compare(comparisons, None), format)
}

/// Returns what runs compared come to, with what became of a `gate`.
pub fn comparison(comparisons: &Comparisons, gate: Option<&Gate>, layout: impl Into<Layout>) -> Result<String> {
    render(&views::compare(comparisons, gate), layout.into())
}

/// Returns runs side by side, a column each.
pub fn systems(comparisons: &Comparisons, by: Sorted, layout: impl Into<Layout>) -> Result<String> {
    render(&views::systems(comparisons, by), layout.into())
}

/// Returns the report of a fleet run, with the states of its nodes.
pub fn fleet(fleet: &Fleet, report: &FleetReport, layout: impl Into<Layout>) -> Result<String> {
    render(&views::fleet(fleet, report), layout.into())
}

/// Returns one test over many runs.
pub fn trend(trend: &Trend, layout: impl Into<Layout>) -> Result<String> {
    render(&views::trend(trend), layout.into())
}

/// Returns a machine on a card.
pub fn card(card: &Card<'_>, layout: impl Into<Layout>) -> Result<String> {
    render(&views::card(card), layout.into())
}

/// Returns what will spoil a run here.
pub fn doctor(findings: &[Finding], layout: impl Into<Layout>) -> Result<String> {
    render(&views::doctor(findings), layout.into())
}
