//! One file per format. Documents are rendered from any subject's blocks; feeds, which other tools read, take its
//! values.

mod commit;
mod csv;
mod dashboards;
mod html;
mod hyperfine;
mod influx;
mod json;
mod junit;
mod lnt;
mod markdown;
mod notes;
mod openmetrics;
mod text;

use anyhow::Result;

use crate::subject::Subject;
pub use html::{POLICY, STYLE, page};
pub use notes::Notes;

/// A format of reports.
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
    /// The times of commands, as hyperfine exports them
    Hyperfine,
    /// InfluxDB's line protocol
    Influx,
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
    /// The formats that a run's directory keeps, each with its file.
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
    /// True if text is in ASCII.
    pub ascii: bool,
}

impl From<Format> for Layout {
    /// As files have it: 80 columns of UTF-8.
    fn from(format: Format) -> Layout {
        Layout { format, room: words::WIDTH, ascii: false }
    }
}

/// Returns the names of the figures of a subject that a format has no place for.
///
/// # Errors
/// As [`render`].
pub fn left_out(subject: Subject<'_>, format: Format) -> Result<Vec<String>> {
    if format == Format::Lnt { lnt::left_out(subject) } else { Ok(Vec::new()) }
}

/// Returns a subject in a format. What others wrote is text in it: it neither disturbs a terminal nor commands a CI.
///
/// # Errors
/// A feed has no place for the subject, or a value cannot be encoded, which is a defect.
pub fn render(subject: Subject<'_>, layout: impl Into<Layout>) -> Result<String> {
    let Layout { format, room, ascii } = layout.into();
    let document = || subject.document();
    match format {
        Format::Text => {
            let letters: text::Letters = if ascii { words::ascii } else { str::to_owned };
            Ok(words::log_lines(&text::render(&document(), room, letters)))
        }
        Format::Html => Ok(html::render(&document())),
        Format::Json => json::render(&document()).map(|json| words::json_text(&json)),
        Format::Csv => csv::render(&document()),
        Format::Markdown => Ok(words::log_lines(&markdown::render(&document()))),
        Format::Bmf => dashboards::bmf(subject),
        Format::GithubBigger => dashboards::github(subject, false),
        Format::GithubSmaller => dashboards::github(subject, true),
        Format::Hyperfine => hyperfine::render(subject),
        Format::Influx => influx::render(subject),
        Format::Openmetrics => openmetrics::render(subject),
        Format::Commit => commit::render(subject),
        Format::Lnt => lnt::render(subject),
        Format::Junit => junit::render(subject),
    }
}
