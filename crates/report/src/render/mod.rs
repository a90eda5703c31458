//! One file per format; each renders any document.

mod ascii;
mod commit;
mod csv;
mod figures;
mod html;
mod json;
mod junit;
mod lnt;
mod markdown;
mod notes;
mod openmetrics;
mod text;

use anyhow::Result;

use crate::document::Document;
pub use html::STYLE;
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
    /// Bencher Metric Format
    Bmf,
    /// github-action-benchmark's customBiggerIsBetter
    GithubBigger,
    /// github-action-benchmark's customSmallerIsBetter
    GithubSmaller,
    /// OpenMetrics text, for node_exporter's textfile collector too
    Openmetrics,
    /// A table of 78 columns for a commit message: what changed, or a column for each of several systems
    Commit,
    /// A report for LNT, LLVM's tracker of performance
    Lnt,
    /// JUnit XML of `compare --fail-on` and `doctor`
    Junit,
}

impl Format {
    /// The formats of reports, with the file that a run's directory keeps it in.
    pub const FILES: [(Format, &'static str); 5] = [
        (Format::Text, "report.txt"),
        (Format::Html, "report.html"),
        (Format::Json, "report.json"),
        (Format::Csv, "report.csv"),
        (Format::Markdown, "report.md"),
    ];
}

/// A format, and what the terminal can show of text.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The format.
    pub format: Format,
    /// Columns of text.
    pub room: usize,
    /// Whether text is in ASCII.
    pub ascii: bool,
}

impl From<Format> for Layout {
    /// As files have it: 80 columns of UTF-8.
    fn from(format: Format) -> Layout {
        Layout { format, room: words::WIDTH, ascii: false }
    }
}

/// Returns the figures of a document that a format has no place for.
///
/// # Errors
/// As [`render`].
pub fn left_out(document: &Document, format: Format) -> Result<Vec<String>> {
    if format == Format::Lnt { lnt::left_out(document) } else { Ok(Vec::new()) }
}

/// Returns a document in a format. What others wrote is text in it: it neither disturbs a terminal nor commands a CI.
///
/// # Errors
/// A template or a value cannot be rendered: a defect.
pub fn render(document: &Document, layout: Layout) -> Result<String> {
    match layout.format {
        Format::Text if layout.ascii => {
            Ok(words::log_lines(&words::ascii(&text::render(&ascii::plain(document), layout.room))))
        }
        Format::Text => Ok(words::log_lines(&text::render(document, layout.room))),
        Format::Html => Ok(html::render(document)),
        Format::Csv => csv::render(document),
        Format::Markdown => Ok(words::log_lines(&markdown::render(document))),
        Format::Openmetrics => openmetrics::render(document),
        Format::Commit => commit::render(document).map(|text| words::log_lines(&text)),
        Format::Junit => junit::render(document),
        Format::Json => json::render(document).map(|json| words::json_text(&json)),
        Format::Bmf => figures::bmf(document).map(|json| words::json_text(&json)),
        Format::GithubBigger => figures::github(document, false).map(|json| words::json_text(&json)),
        Format::GithubSmaller => figures::github(document, true).map(|json| words::json_text(&json)),
        Format::Lnt => lnt::render(document).map(|json| words::json_text(&json)),
    }
}
