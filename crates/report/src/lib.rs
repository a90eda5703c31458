//! Results for people and programs: text, HTML, JSON, CSV and Markdown from the same values.

pub mod burnin;
pub mod compare;
mod cost;
mod csv;
mod details;
pub mod fleet;
mod html;
mod json;
mod markdown;
mod scaling;
mod tasks;
mod text;
pub mod trend;

use anyhow::Result;

use analysis::{Remark, Results};
use stats::Estimate;
use words::visible;

/// A form of report.
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
    /// Every form, with the file a run's directory keeps it in.
    pub const FILES: [(Format, &'static str); 5] = [
        (Format::Text, "report.txt"),
        (Format::Html, "report.html"),
        (Format::Json, "report.json"),
        (Format::Csv, "report.csv"),
        (Format::Markdown, "report.md"),
    ];
}

/// Returns the report.
///
/// # Errors
/// A template cannot be rendered: a defect.
pub fn render(results: &Results, format: Format) -> Result<String> {
    match format {
        Format::Text => Ok(text::render(results)),
        Format::Html => html::render(results),
        Format::Json => json::render(results),
        Format::Csv => Ok(csv::render(results)),
        Format::Markdown => Ok(markdown::render(results)),
    }
}

/// Returns the half-width in per cent: `±0.4%`, or `±∞` without an interval.
pub fn plus_minus(estimate: &Estimate) -> String {
    let spread = estimate.spread() * 100.0;
    match spread {
        s if !s.is_finite() => "±∞".to_owned(),
        s if s >= 999.5 => "±>10x".to_owned(),
        s if s >= 9.95 => format!("±{s:.0}%"),
        s => format!("±{s:.1}%"),
    }
}

/// Returns a number with three figures and no more than two decimals more: `0.098`, `3.12`, `245`.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "-".to_owned(),
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.995 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Returns a share in per cent: whole where it is, and never 100 where something is missing.
fn share(percent: f64) -> String {
    match percent {
        share if !share.is_finite() => "-".to_owned(),
        share if share > 99.9 && share < 100.0 => "99.9".to_owned(),
        share if share > 0.0 && share < 0.1 => "<0.1".to_owned(),
        share if share.fract() == 0.0 || share >= 100.0 => format!("{share:.0}"),
        share => format!("{share:.1}"),
    }
}

/// Returns a duration in seconds as reports print it: `60 s`, `0.4 s`.
fn seconds(length: f64) -> String {
    if length >= 0.95 { format!("{length:.0} s") } else { format!("{length:.1} s") }
}

/// Returns `1 copy`, `2 copies`.
fn copies(count: u32) -> String {
    if count == 1 { "1 copy".to_owned() } else { format!("{count} copies") }
}

/// Returns the sentences of remarks.
fn texts(remarks: &[Remark]) -> Vec<String> {
    remarks.iter().map(Remark::to_string).collect()
}

/// Numbered remarks: the same remark has the same number wherever it stands.
#[derive(Debug, Default)]
struct Footnotes {
    texts: Vec<String>,
}

impl Footnotes {
    /// Returns the number of a remark, from 1.
    fn number(&mut self, text: &str) -> usize {
        match self.texts.iter().position(|known| known == text) {
            Some(place) => place + 1,
            None => {
                self.texts.push(text.to_owned());
                self.texts.len()
            }
        }
    }

    /// Returns the mark of several remarks, `[1,3]`; nothing of none.
    fn marks(&mut self, texts: &[String]) -> String {
        let numbers: Vec<String> = texts.iter().map(|text| self.number(text).to_string()).collect();
        if numbers.is_empty() { String::new() } else { format!("[{}]", numbers.join(",")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_widths() {
        for (half, shown) in [(0.004, "±0.4%"), (0.2, "±22%"), (f64::INFINITY, "±∞")] {
            assert_eq!(plus_minus(&Estimate::within(7.0, half)), shown);
        }
    }

    #[test]
    fn remarks_are_numbered_once() {
        let mut notes = Footnotes::default();
        assert_eq!(notes.marks(&["a".to_owned(), "b".to_owned()]), "[1,2]");
        assert_eq!(notes.marks(&["b".to_owned()]), "[2]");
    }
}
