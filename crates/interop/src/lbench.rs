//! Tables of Lbench, as they are published: figures per thread at several numbers of threads, and
//! claims about them that the rows must bear out:
//!
//! ```text
//! {
//!   "source": "…",
//!   "threads": [1, 2, 4],
//!   "rows": [["memory move 50 MB", "MB/s", [1000, 900, 500]], …],
//!   "claims": {"memory_50MB_total_gain_4_threads": 2.0, …}
//! }
//! ```

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;
use serde_json::Number;

use super::draft::Draft;
use super::figure::Heading;
use super::lines;
use super::plain::{clean_text, excerpt};
use super::text::Text;
use analysis::{Results, Scaling};
use catalogue::Metric;
use journal::{Journal, View};

/// Units of lower-is-better figures.
const TIMES: [&str; 4] = ["s", "ms", "us", "ns"];

/// Maximum number of threads: more than any machine has processors.
const MAX_THREADS: u32 = 65_536;

/// Maximum relative error of a quotient of published figures, which are rounded.
const MAX_ROUNDING: f64 = 0.01;

/// The file.
#[derive(Debug, Deserialize)]
struct Table {
    #[serde(default)]
    source: String,
    threads: Vec<u32>,
    rows: Vec<Row>,
    #[serde(default)]
    claims: BTreeMap<String, Number>,
}

/// Label, unit, and a figure for each number of threads.
#[derive(Debug, Deserialize)]
struct Row(String, String, Vec<f64>);

/// A claim about one row: the quotient of its totals at two numbers of threads.
#[derive(Debug, PartialEq)]
struct Claim {
    /// Words of the row's label, in small letters.
    words: Vec<String>,
    /// The threads of the dividend.
    to: u32,
    /// The threads of the divisor; `None` for the first of the row.
    from: Option<u32>,
}

pub(super) fn recognises(text: &Text<'_>) -> bool {
    parse_table(text).is_some()
}

fn parse_table(text: &Text<'_>) -> Option<Table> {
    Table::deserialize(text.json.as_ref()?).ok()
}

/// Reads a table: the total of a row is the figure per thread times the threads, but a time stays
/// what it is. Never fails: a row or claim that cannot be read becomes a warning.
pub(super) fn read(text: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let Some(table) = parse_table(text) else {
        return Ok(Vec::new());
    };
    let catalogue = draft.catalogue;
    "Lbench".clone_into(&mut draft.run.tool);
    draft.run.view = View::Scaling;
    draft.add_fact("imported.source", "Source", "Imported", &clean_text(&table.source));
    for (number, row) in (1..).zip(&table.rows) {
        if !add_row(&mut draft, &table.threads, row) {
            draft.warn(format!(
                "row {number} ('{}') is left out: it needs a positive figure for each of the numbers of threads",
                excerpt(&clean_text(&row.0))
            ));
        }
    }

    // The totals as reports will show them, without ending this draft.
    let results = Results::new(&draft.clone().finish(), catalogue, None);
    for (number, (name, claimed)) in (1..).zip(&table.claims) {
        check_claim(&mut draft, results.scaling(), number, &clean_text(name), claimed);
    }
    Ok(vec![draft.finish()])
}

/// Adds the cells of a row; false where it cannot be one.
fn add_row(draft: &mut Draft<'_>, threads: &[u32], row: &Row) -> bool {
    let Row(label, unit, figures) = row;
    let (label, unit) = (clean_text(label), clean_text(unit));
    let are_usable = figures.iter().all(|figure| *figure > 0.0 && *figure <= lines::MAX_NUMBER);
    let are_counts = threads.iter().all(|count| (1..=MAX_THREADS).contains(count));
    if label.is_empty() || figures.len() != threads.len() || !are_usable || !are_counts {
        return false;
    }

    let metric = if TIMES.contains(&unit.as_str()) { Metric::Time } else { Metric::Rate };
    for (threads, figure) in threads.iter().zip(figures) {
        let heading = Heading { label: label.clone(), copies: *threads, unit: &unit, metric };
        let cell = draft.foreign_cell_for(&heading);
        let value = if metric == Metric::Time { *figure } else { figure * f64::from(*threads) };
        draft.set_score(cell, value, 0.0, 1);
    }
    true
}

/// Compares a claim of the file with its rows: notes both, and warns if they differ.
fn check_claim(
    draft: &mut Draft<'_>,
    scaling: &[Scaling],
    number: usize,
    name: &str,
    claimed: &Number,
) {
    let quotient = parse_claim(name).and_then(|claim| quotient_of(&claim, scaling));
    let (Some(ours), Some(claimed_value)) = (quotient, claimed.as_f64()) else {
        draft.warn(format!("the claim '{}' is not understood: it was not checked", excerpt(name)));
        return;
    };

    let text = claimed.to_string();
    let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let half_digit = 0.5 * 0.1_f64.powi(decimals.min(15) as i32);
    if (ours - claimed_value).abs() > half_digit + MAX_ROUNDING * claimed_value.abs() {
        draft.warn(format!(
            "the file claims {text} for '{}', and its rows give {ours:.3}",
            excerpt(name)
        ));
    }
    let label = name.replace('_', " ");
    let comparison = format!("{text} is claimed, {ours:.2} is what the rows give");
    draft.add_fact(&format!("imported.claim.{number}"), &label, "Imported", &comparison);
}

/// Reads `ROW_total_gain_4_threads` and `ROW_4_threads_share_of_2_thread_swap_rate`.
fn parse_claim(name: &str) -> Option<Claim> {
    let words: Vec<String> = name.split('_').map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [row @ .., "total", "gain", to, "threads"] = &words[..] {
        return Claim::new(row, to.parse().ok()?, None);
    }

    let place = words.windows(3).position(|three| three == ["threads", "share", "of"])?;
    let (before, after) = (&words[..place], &words[place + 3..]);
    let ([row @ .., to], [from, "thread" | "threads", ..]) = (before, after) else {
        return None;
    };
    Claim::new(row, to.parse().ok()?, Some(from.parse().ok()?))
}

impl Claim {
    /// A claim about the row with these words; `None` if there are no words.
    fn new(row: &[&str], to: u32, from: Option<u32>) -> Option<Claim> {
        if row.is_empty() {
            return None;
        }
        Some(Claim { words: row.iter().map(|word| (*word).to_owned()).collect(), to, from })
    }
}

/// The quotient that a claim is about; `None` unless exactly one row has all words of the claim, at
/// both numbers of threads.
fn quotient_of(claim: &Claim, scaling: &[Scaling]) -> Option<f64> {
    let mut named = scaling.iter().filter(|row| {
        let words = label_words(&row.label);
        claim.words.iter().all(|word| words.contains(word))
    });
    let (row, None) = (named.next()?, named.next()) else {
        return None;
    };

    let total_at = |threads: u32| {
        let level = row.levels.iter().find(|level| level.copies == threads)?;
        Some(level.total.value)
    };
    let from = claim.from.or(row.levels.first().map(|level| level.copies))?;
    Some(total_at(claim.to)? / total_at(from)?)
}

/// The words of a label in small letters, each also with the word before it: `50 MB` is `50`, `mb`
/// and `50mb`.
fn label_words(label: &str) -> Vec<String> {
    let label = label.to_lowercase();
    let single: Vec<&str> =
        label.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let pairs = single.windows(2).map(|pair| pair.concat());
    single.iter().map(|word| (*word).to_owned()).chain(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_read_from_their_names() {
        let expected = |words: &[&str], to, from| {
            Some(Claim { words: words.iter().map(|word| (*word).to_owned()).collect(), to, from })
        };
        assert_eq!(
            parse_claim("memory_50MB_total_gain_4_threads"),
            expected(&["memory", "50mb"], 4, None)
        );
        assert_eq!(
            parse_claim("mutex_4_threads_share_of_2_thread_swap_rate"),
            expected(&["mutex"], 4, Some(2))
        );
        for name in [
            "",
            "total_gain_4_threads",
            "x_total_gain_y_threads",
            "threads_share_of",
            "4_threads_share_of_2_thread",
            "x",
        ] {
            assert_eq!(parse_claim(name), None, "{name}");
        }
    }

    #[test]
    fn words_of_a_label_are_single_and_in_pairs() {
        let words = label_words("memory move 50 MB");
        assert!(words.contains(&"50mb".to_owned()) && words.contains(&"memory".to_owned()));
        assert!(!words.contains(&"0mb".to_owned()) && !words.contains(&"5mb".to_owned()));
    }
}
