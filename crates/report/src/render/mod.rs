//! One file per format, each of which renders any document.

mod csv;
mod html;
mod json;
mod markdown;
mod notes;
mod text;

use anyhow::Result;

use crate::document::Document;
pub use notes::Notes;

/// A format that any document can be rendered in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal of 80 columns, laid out as UnixBench's
    Text,
    /// One self-contained file with charts
    Html,
    /// Everything, for programs
    Json,
    /// One line per result
    Csv,
    /// Tables to paste
    Markdown,
}

impl Format {
    /// Every format, with the file that a run's directory keeps it in.
    pub const FILES: [(Format, &'static str); 5] = [
        (Format::Text, "report.txt"),
        (Format::Html, "report.html"),
        (Format::Json, "report.json"),
        (Format::Csv, "report.csv"),
        (Format::Markdown, "report.md"),
    ];
}

/// Returns a document in a format.
///
/// # Errors
/// A template or a value cannot be rendered: a defect.
pub fn render(document: &Document, format: Format) -> Result<String> {
    match format {
        Format::Text => Ok(text::render(document)),
        Format::Html => Ok(html::render(document)),
        Format::Json => json::render(document),
        Format::Csv => csv::render(document),
        Format::Markdown => Ok(markdown::render(document)),
    }
}
