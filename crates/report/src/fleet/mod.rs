//! A fleet's report for people and programs.

mod json;
mod text;

use anyhow::Result;

use super::compare::text::no_difference;
use super::compare::{coordinates, signed};
use super::visible;
use ::fleet::Fleet;
use analysis::fleet::{Change, Column, FleetReport};
use stats::Estimate;

pub(super) use text::headline;

/// A form of fleet report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal of 80 columns
    Text,
    /// One self-contained file with a map of nodes and tests
    Html,
    /// Everything, for programs
    Json,
}

/// Returns the report of a fleet run with the states of its nodes.
///
/// # Errors
/// A value cannot be encoded, or a template not be rendered: a defect.
pub fn render(fleet: &Fleet, report: &FleetReport, format: Format) -> Result<String> {
    match format {
        Format::Text => Ok(text::render(fleet, report)),
        Format::Html => super::html::fleet::render(report, &fleet.entries),
        Format::Json => json::render(fleet, report),
    }
}

/// Characters of a name that is shown.
const LONGEST: usize = 24;

/// Returns a name as it can be shown in a line, whatever it holds, and of a long one the beginning and the end.
pub fn plain(name: &str) -> String {
    let letters: Vec<char> = visible(name).chars().collect();
    let half = LONGEST / 2;
    match letters.len() {
        0 => "(no name)".to_owned(),
        length if length > LONGEST => {
            letters[..half].iter().chain(&['…']).chain(&letters[length - half + 1..]).collect()
        }
        _ => letters.into_iter().collect(),
    }
}

/// Returns a column's name: the test, its unit, and what is not the usual of the rest.
fn title(column: &Column) -> String {
    format!("{}{}", column.key.test, coordinates(column.key.copies, &column.key.load, &column.key.condition))
}

/// Returns a p or q value in a few characters.
fn probability(value: f64) -> String {
    match value {
        value if value >= 0.0995 => format!("{value:.2}"),
        value if value >= 0.000_95 => format!("{value:.3}"),
        value if value < 1e-99 => "<1e-99".to_owned(),
        value => format!("{value:.0e}"),
    }
}

/// Returns a deviation in per cent as a sentence has it: `12.1% slower`.
fn by_how_much(deviation: &Estimate) -> String {
    let way = if deviation.value < 0.0 { "slower" } else { "faster" };
    format!("{:.1}% {way}", deviation.value.abs())
}

/// Returns what became of a cell in a few words.
fn verdict(change: &Change) -> String {
    no_difference(change.verdict, "%").unwrap_or_else(|| change.verdict.word().to_owned())
}

/// Returns how many there are of what: `1 node`, `2 nodes`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Returns a standard deviation in per cent: `0.42%`, `12%`, `-` where it is not known.
fn deviation(value: f64) -> String {
    match value {
        value if !value.is_finite() => "-".to_owned(),
        value if value >= 9.95 => format!("{value:.0}%"),
        value if value >= 0.995 => format!("{value:.1}%"),
        value => format!("{value:.2}%"),
    }
}

/// Returns a difference in per cent with its sign: `-12.1%`.
fn percent(value: f64) -> String {
    if value.is_finite() { format!("{}%", signed(value)) } else { "-".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_move_a_cursor() {
        assert_eq!(plain("n7"), "n7");
        assert_eq!(plain(""), "(no name)");
        assert_eq!(plain("a\x1b[2J\nb\u{202e}c"), "a\u{fffd}[2J\u{fffd}b\u{fffd}c");
        let long = plain(&format!("{}7", "n".repeat(500)));
        assert!(long.chars().count() == 24 && long.ends_with("n7") && long.contains('…'), "{long}");
    }

    #[test]
    fn probabilities() {
        for (value, shown) in [(1.0, "1.00"), (0.04, "0.040"), (0.0001, "1e-4"), (0.0, "<1e-99")] {
            assert_eq!(probability(value), shown);
        }
    }
}
