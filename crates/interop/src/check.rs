//! The check of a report's printed indexes against those that its scores give here.
//!
//! A report prints its numbers with one decimal, and has computed its indexes from more. Each
//! comparison therefore allows for [`HALF_DIGIT`] of every printed number that takes part in it.

use super::lines::Total;
use analysis::{Index, Part, Results};
use catalogue::{Arithmetic, Catalogue};

/// Half of the last digit that reports print.
const HALF_DIGIT: f64 = 0.05;

/// Room for the difference between decimal and binary fractions.
const BINARY_SLACK: f64 = 1e-6;

/// The printed indexes of one level of copies.
#[derive(Debug, Default)]
pub(super) struct PrintedIndex {
    pub copies: u32,
    pub rows: Vec<PrintedRow>,
    pub totals: Vec<PrintedTotal>,
}

/// One test in an index.
#[derive(Debug)]
pub(super) struct PrintedRow {
    /// The index, where the report names it.
    pub index: Option<String>,
    pub label: String,
    /// Baseline, result and index.
    pub numbers: [f64; 3],
}

/// The last line of an index.
#[derive(Debug)]
pub(super) struct PrintedTotal {
    /// The index, where the report names it.
    pub index: Option<String>,
    pub total: Total,
    /// The line as it is printed.
    pub text: String,
}

impl PrintedIndex {
    /// Sentences about what differs from `results`. Rows and totals for which the report names no
    /// index belong to `suite_index`.
    ///
    /// Where a baseline is not the published one, the totals are not compared, since all of them
    /// must differ.
    pub fn describe_differences(
        &self,
        results: &Results,
        catalogue: &Catalogue,
        suite_index: &str,
    ) -> Vec<String> {
        let mut differences = Vec::new();
        let mut unpublished_baselines = Vec::new();
        for row in &self.rows {
            let index = self.find_index(row.index.as_deref().unwrap_or(suite_index), results);
            let part = index.and_then(|index| find_part(index, row, catalogue));
            let (Some(index), Some(part)) = (index, part) else {
                let copies = words::copies(self.copies);
                differences.push(format!(
                    "the report has '{}' in the index of {copies}, but no score of it: it is left out",
                    row.label
                ));
                continue;
            };
            let [baseline, ..] = row.numbers;
            if (baseline - part.baseline).abs() > HALF_DIGIT + BINARY_SLACK {
                unpublished_baselines
                    .push(format!("{} by {baseline} instead of {}", part.label, part.baseline));
                continue;
            }
            differences.extend(row.describe_difference(index, part));
        }

        if !unpublished_baselines.is_empty() {
            differences.push(format!(
                "the report divides by baselines of its own ({}): the index here is by the published ones",
                unpublished_baselines.join(", ")
            ));
            return differences;
        }
        for total in &self.totals {
            let index = self.find_index(total.index.as_deref().unwrap_or(suite_index), results);
            differences.extend(index.and_then(|index| total.describe_difference(index)));
        }
        differences
    }

    /// The index of this level that has an id.
    fn find_index<'r>(&self, id: &str, results: &'r Results) -> Option<&'r Index> {
        results.indexes().iter().find(|index| index.copies == self.copies && index.id == id)
    }
}

/// The part of an index that a printed row is about.
fn find_part<'a>(index: &'a Index, row: &PrintedRow, catalogue: &Catalogue) -> Option<&'a Part> {
    let bare = bare_label(&row.label);
    let test = catalogue.by_label(&row.label).or_else(|| catalogue.by_label(&bare));
    index.parts.iter().find(|part| match test {
        Some(test) => test.id == part.test,
        None => bare_label(&part.label) == bare,
    })
}

/// A label in small letters and without a final "test", in which reports and catalogue differ.
fn bare_label(label: &str) -> String {
    label.to_ascii_lowercase().trim_end_matches(" test").to_owned()
}

impl PrintedRow {
    fn describe_difference(&self, index: &Index, part: &Part) -> Option<String> {
        let [_, result, printed] = self.numbers;
        let Part { score, label, .. } = part;
        if (result - score).abs() > 2.0 * HALF_DIGIT + BINARY_SLACK {
            return Some(format!(
                "the report has {score:.1} as the score of {label} and {result:.1} in its index"
            ));
        }

        // The index was computed from a result with more digits than are printed.
        let room = HALF_DIGIT + HALF_DIGIT * scale_of(index) / part.baseline + BINARY_SLACK;
        let ours = part.index.value;
        ((printed - ours).abs() > room).then(|| {
            format!(
                "the report prints the index {printed:.1} for {label}, whose score gives {ours:.1}"
            )
        })
    }
}

impl PrintedTotal {
    fn describe_difference(&self, index: &Index) -> Option<String> {
        let count = index.parts.len() as f64;
        let (printed, ours, room) = match self.total {
            Total::Sum(printed) => (printed, index.sum, HALF_DIGIT * count),
            Total::Average(printed) => (printed, index.score.value, HALF_DIGIT),
            Total::Index(printed) => (printed, index.score.value, rounding_of_scores(index)),
        };
        ((printed - ours).abs() > room + HALF_DIGIT + BINARY_SLACK).then(|| {
            let copies = words::copies(index.copies);
            format!(
                "the report prints {printed:.1} as its index of {copies}, and its scores give {ours:.1}"
            )
        })
    }
}

/// The maximum by which the rounding of its scores can move a geometric index.
fn rounding_of_scores(index: &Index) -> f64 {
    let shares = index.parts.iter().map(|part| match part.score {
        score if score > 0.0 => HALF_DIGIT / score,
        _ => 1.0,
    });
    index.score.value * shares.sum::<f64>() / index.parts.len() as f64
}

/// The index of a score equal to its baseline: UnixBench's is 10, BYTE's 1.
fn scale_of(index: &Index) -> f64 {
    if index.arithmetic == Arithmetic::Geometric { 10.0 } else { 1.0 }
}
