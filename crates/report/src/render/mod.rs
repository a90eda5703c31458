//! One file per format.
//!
//! Most formats render a [`Document`](crate::document::Document), whatever its subject: text, HTML,
//! Markdown, SVG, CSV and JSON. Feeds, which another tool reads, have room for numbers alone, and
//! take the [values](crate::subject::FeedValue) of a subject instead, or its comparisons and
//! verdicts: Bencher's and GitHub's JSON, InfluxDB, OpenMetrics, JUnit, and the table of a commit
//! message. A feed refuses a subject that has none of what it is for.

mod brief;
mod commit;
mod csv;
mod dashboards;
mod html;
mod hyperfine;
mod influx;
mod json;
mod junit;
mod markdown;
mod notes;
mod openmetrics;
mod svg;
mod text;

use anyhow::Result;

pub use crate::document::Extent;
use crate::subject::Subject;
pub use brief::{Ending, brief};
pub use html::{POLICY, STYLE, page, render_prose};
pub use junit::{GatedRun, junit};
pub use notes::Notes;

/// A format of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal of 80 columns, laid out as UnixBench's
    Text,
    /// One self-contained file with charts
    Html,
    /// The answer in at most 1 kB of JSON: sentence, verdict, change, interval, status
    Brief,
    /// For programs: every figure and comparison; with --samples also each sample and the system
    Json,
    /// One line per result
    Csv,
    /// Tables to paste
    Markdown,
    /// One image to paste: the answer and its chart, 800 pixels wide
    Svg,
    /// Bencher Metric Format
    Bmf,
    /// github-action-benchmark's customBiggerIsBetter
    GithubBigger,
    /// github-action-benchmark's customSmallerIsBetter
    GithubSmaller,
    /// The times of commands, as hyperfine exports them
    Hyperfine,
    /// What hyperfine prints
    HyperfineText,
    /// hyperfine's columns of CSV
    HyperfineCsv,
    /// hyperfine's table in Markdown
    HyperfineMarkdown,
    /// hyperfine's table in AsciiDoc
    HyperfineAsciidoc,
    /// hyperfine's table for Org mode
    HyperfineOrgmode,
    /// InfluxDB's line protocol
    Influx,
    /// OpenMetrics text, for node_exporter's textfile collector too
    Openmetrics,
    /// A table of 78 columns for a commit message: what changed, or a column for each of several
    /// systems
    Commit,
    /// JUnit XML of `doctor` and of --fail-on: a test case for each comparison
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
    pub format: Format,
    /// How much of a run text shows.
    pub extent: Extent,
    /// True if JSON has all details: the system, controls, every sample, pair and histogram.
    pub has_details: bool,
    /// The columns that text may take.
    pub room: usize,
    /// True if text is in ASCII.
    pub ascii: bool,
}

impl From<Format> for Layout {
    /// The layout of files: the whole report, in 80 columns of UTF-8.
    fn from(format: Format) -> Layout {
        Layout {
            format,
            extent: Extent::Whole,
            has_details: true,
            room: words::WIDTH,
            ascii: false,
        }
    }
}

/// Renders a subject in a format. What others wrote is text in it: it neither disturbs a terminal
/// nor commands a CI.
///
/// # Errors
/// A feed has no place for the subject, or a value cannot be encoded, which is a defect.
pub fn render(subject: Subject<'_>, layout: impl Into<Layout>) -> Result<String> {
    let layout = layout.into();
    match layout.format {
        Format::Text => Ok(render_text(subject, layout)),
        Format::Html => Ok(html::render(&subject.document())),
        Format::Json => {
            let json = json::render(&subject.document(), layout.has_details)?;
            Ok(words::json_text(&json))
        }
        Format::Csv => csv::render(&subject.document()),
        Format::Markdown => Ok(words::log_lines(&markdown::render(&subject.document()))),

        Format::Svg => svg::render(&subject.document()),
        Format::Brief => brief::render(subject),
        Format::Bmf => dashboards::bmf(subject),
        Format::GithubBigger => dashboards::github(subject, false),
        Format::GithubSmaller => dashboards::github(subject, true),
        Format::Hyperfine => hyperfine::json(subject),
        Format::HyperfineText => hyperfine::text(subject),
        Format::HyperfineCsv => hyperfine::csv(subject),
        Format::HyperfineMarkdown => hyperfine::markdown(subject),
        Format::HyperfineAsciidoc => hyperfine::asciidoc(subject),
        Format::HyperfineOrgmode => hyperfine::orgmode(subject),
        Format::Influx => influx::render(subject),
        Format::Openmetrics => openmetrics::render(subject),
        Format::Commit => commit::render(subject),
        Format::Junit => junit::render(subject),
    }
}

fn render_text(subject: Subject<'_>, layout: Layout) -> String {
    let letters: text::Letters = if layout.ascii { words::ascii } else { str::to_owned };
    let document = subject.document_of(layout.extent);
    let mut text = text::render(&document, layout.room, letters);
    if layout.extent == Extent::Answer {
        // Nothing follows that the empty line after a sentence would separate it from.
        text = end_with_one_line_end(&text);
    }
    words::log_lines(&text)
}

fn end_with_one_line_end(text: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { String::new() } else { format!("{text}\n") }
}
