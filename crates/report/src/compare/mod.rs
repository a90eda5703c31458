//! Comparisons for people and programs: text, JSON, Markdown and CSV from the same values.

mod csv;
pub(super) mod json;
mod markdown;
pub(super) mod text;
mod thesis;

use anyhow::Result;

use analysis::{Comparison, Comparisons, Gate, Verdict};
use journal::Cell;
use stats::Estimate;

/// A form of comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal of 80 columns
    Text,
    /// Everything, for programs
    Json,
    /// Tables to paste
    Markdown,
    /// One line per comparison
    Csv,
}

/// Returns the report, with what became of a `gate` where programs read it.
///
/// # Errors
/// A value cannot be encoded: a defect.
pub fn render(comparisons: &Comparisons, gate: Option<&Gate>, format: Format) -> Result<String> {
    match format {
        Format::Text => Ok(text::render(comparisons)),
        Format::Json => json::render(comparisons, gate),
        Format::Markdown => Ok(markdown::render(comparisons)),
        Format::Csv => Ok(csv::render(comparisons)),
    }
}

/// From this time factor on it is told beside the difference.
const TOLD_FACTOR: f64 = 2.0;

/// Returns a size without its sign: two figures, at least a tenth, rounded away from 0; `∞` from a thousand on.
pub(super) fn size(value: f64) -> String {
    // A little less, since 0.1 × 10 may be more than 1 in binary.
    let up = |scale: f64| (value.abs() * scale - 1e-9).ceil() / scale;
    match up(10.0) {
        tenths if !tenths.is_finite() || tenths >= 1000.0 => "∞".to_owned(),
        tenths if tenths < 10.0 => format!("{:.1}", tenths.max(0.1)),
        _ => format!("{:.0}", up(1.0)),
    }
}

/// Returns a difference with its sign: `-10.2`, `+1234`.
pub(super) fn signed(value: f64) -> String {
    let text = if value.abs() >= 999.95 { format!("{value:+.0}") } else { format!("{value:+.1}") };
    if text.len() > 6 { format!("{value:+.1e}") } else { text }
}

/// Returns a comparison's difference without its unit: `-10.2`, or `0±6.3` where digits are too few to show one.
fn difference(comparison: &Comparison) -> String {
    match comparison.resolution {
        Some(resolution) if comparison.delta.value == 0.0 => format!("0±{}", size(resolution)),
        _ => signed(comparison.delta.value),
    }
}

/// Returns what the deltas of runs in turn are of: `A1 against B1, A2 against B2`.
fn directions(all: &Comparisons) -> Option<String> {
    let told = all.runs.chunks_exact(2).map(|two| format!("{} against {}", two[0].letter, two[1].letter));
    all.asked.paired.then(|| {
        format!(
            "{}: A is what was changed, B what it is measured against; negative is worse in A",
            told.collect::<Vec<String>>().join(", ")
        )
    })
}

/// Returns the interval of a difference: `-11.0..-9.4`, or `-∞..+∞`.
pub(super) fn interval(delta: &Estimate) -> String {
    if delta.bounded() { format!("{}..{}", signed(delta.low), signed(delta.high)) } else { "-∞..+∞".to_owned() }
}

/// Returns `% ` or `points` as it follows a size.
fn unit(comparison: &Comparison) -> &'static str {
    if comparison.measure.delta_unit() == "%" { " %" } else { " points" }
}

/// Returns the time factor of a large loss, `6.8x`.
fn factor(comparison: &Comparison) -> Option<String> {
    comparison
        .time_factor()
        .filter(|factor| *factor >= TOLD_FACTOR && factor.is_finite())
        .map(|factor| if factor < 99.95 { format!("{factor:.1}x") } else { format!("{factor:.0}x") })
}

/// Returns the verdict as a sentence: `slower (6.8x the time)`, `same within 0.4 %`, `undecided (could have seen 12 %)`.
pub(super) fn verdict(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Same(within) => format!("same within {}{}", size(within), unit(comparison)),
        Verdict::Undecided(could) if could.is_infinite() && comparison.delta.bounded() => {
            "undecided (too few blocks or rounds)".to_owned()
        }
        Verdict::Undecided(could) if could.is_infinite() => "undecided (no interval)".to_owned(),
        Verdict::Undecided(could) => format!("undecided (could have seen {}{})", size(could), unit(comparison)),
        decided => match factor(comparison) {
            Some(factor) => format!("{} ({factor} the time)", decided.word()),
            None => decided.word().to_owned(),
        },
    }
}

/// Returns a value in at most 8 columns.
pub(super) fn value(number: f64) -> String {
    match number.abs() {
        size if size >= 1e8 => format!("{number:.2e}"),
        size if size >= 1e5 => format!("{number:.0}"),
        size if size >= 10.0 || size == 0.0 => format!("{number:.1}"),
        size if size >= 0.001 => format!("{number:.3}"),
        _ => format!("{number:.1e}"),
    }
}

/// Returns a cell's coordinates beyond the test, as ` x4, load compile`: only what is not the usual.
pub(super) fn coordinates(copies: u32, load: &str, condition: &str) -> String {
    let mut text = if copies == 1 { String::new() } else { format!(" x{copies}") };
    for (axis, name) in [("load", load), ("condition", condition)] {
        if name != "none" {
            text.push_str(&format!(", {axis} {name}"));
        }
    }
    text
}

fn of_cell(cell: &Cell) -> String {
    coordinates(cell.key.copies, &cell.key.load, &cell.key.condition)
}

/// What is known of single numbers, each once with the tests it touches.
pub(super) fn told(comparisons: &[Comparison]) -> Vec<(String, String)> {
    let mut found: Vec<(&analysis::Remark, Vec<String>)> = Vec::new();
    for one in comparisons {
        let cell = format!("{}{}", one.cell.key.test, of_cell(&one.cell));
        for warning in &one.warnings {
            match found.iter_mut().find(|known| known.0 == warning) {
                Some(known) if known.1.contains(&cell) => {}
                Some(known) => known.1.push(cell.clone()),
                None => found.push((warning, vec![cell.clone()])),
            }
        }
    }
    found.into_iter().map(|(warning, cells)| (warning.to_string(), cells.join("; "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_columns() {
        for (number, text) in [(0.04, "0.1"), (0.4, "0.4"), (0.41, "0.5"), (9.95, "10"), (12.01, "13"), (5e3, "∞")] {
            assert_eq!(size(number), text);
        }
        for (number, text) in
            [(-10.24, "-10.2"), (1234.4, "+1234"), (0.0, "+0.0"), (99_999.0, "+99999"), (4e12, "+4.0e12")]
        {
            assert_eq!(signed(number), text);
        }
        for (number, text) in [(51_234_567.8, "51234568"), (3.28e9, "3.28e9"), (0.0123, "0.012"), (99.97, "100.0")] {
            assert_eq!(value(number), text);
        }
    }
}
