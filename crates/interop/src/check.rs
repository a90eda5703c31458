//! The check of a report's printed indexes against those that its scores give here.

use super::lines::Total;
use analysis::{Index, Part, Results};
use catalogue::{Arithmetic, Catalogue};

/// Half of the last digit that reports print.
const HALF: f64 = 0.05;

/// Room for the difference between decimal and binary fractions.
const SLACK: f64 = 1e-6;

/// The printed indexes of one level of copies.
#[derive(Debug, Default)]
pub(super) struct Printed {
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
    pub parts: [f64; 3],
}

/// An index.
#[derive(Debug)]
pub(super) struct PrintedTotal {
    /// The index, where the report names it.
    pub index: Option<String>,
    pub total: Total,
    /// The line.
    pub text: String,
}

impl Printed {
    /// Returns what differs from `results`, as sentences. Numbers of no named index are of `own`.
    pub fn check(&self, results: &Results, catalogue: &Catalogue, own: &str) -> Vec<String> {
        let index = |id: &Option<String>| {
            let id = id.as_deref().unwrap_or(own);
            results.indexes().iter().find(|index| index.copies == self.copies && index.id == id)
        };
        let mut found = Vec::new();
        let mut own_baselines = Vec::new();
        for row in &self.rows {
            match index(&row.index).and_then(|index| Some((index, part(index, row, catalogue)?))) {
                None => found.push(format!(
                    "the report has '{}' in the index of {}, but no score of it: it is left out",
                    row.label,
                    words::copies(self.copies)
                )),
                Some((_, part)) if (row.parts[0] - part.baseline).abs() > HALF + SLACK => {
                    own_baselines.push(format!("{} by {} instead of {}", part.label, row.parts[0], part.baseline));
                }
                Some((index, part)) => found.extend(row.differs(index, part)),
            }
        }
        if own_baselines.is_empty() {
            found.extend(self.totals.iter().filter_map(|total| total.differs(index(&total.index)?)));
        } else {
            found.push(format!(
                "the report divides by baselines of its own ({}): the index here is by the published ones",
                own_baselines.join(", ")
            ));
        }
        found
    }
}

/// Returns the part of an index that a printed row speaks of.
fn part<'a>(index: &'a Index, row: &PrintedRow, catalogue: &Catalogue) -> Option<&'a Part> {
    // Both labels of one report are spelt alike, so that the words it adds to ours do not matter.
    let bare = |label: &str| label.to_ascii_lowercase().trim_end_matches(" test").to_owned();
    let known = catalogue.by_label(&row.label).or_else(|| catalogue.by_label(&bare(&row.label)));
    index.parts.iter().find(|part| known.map_or(bare(&part.label) == bare(&row.label), |test| test.id == part.test))
}

impl PrintedRow {
    fn differs(&self, index: &Index, part: &Part) -> Option<String> {
        let [_, result, printed] = self.parts;
        // The index was computed from a result with more digits than are printed.
        let room = HALF + HALF * factor(index) / part.baseline + SLACK;
        if (result - part.score).abs() > 2.0 * HALF + SLACK {
            let Part { score, label, .. } = part;
            Some(format!("the report has {score:.1} as the score of {label} and {result:.1} in its index"))
        } else if (printed - part.index.value).abs() > room {
            let ours = part.index.value;
            Some(format!("the report prints the index {printed:.1} for {}, whose score gives {ours:.1}", part.label))
        } else {
            None
        }
    }
}

impl PrintedTotal {
    fn differs(&self, index: &Index) -> Option<String> {
        let count = index.parts.len() as f64;
        let (printed, ours, room) = match self.total {
            Total::Sum(printed) => (printed, index.sum, HALF * count),
            Total::Average(printed) => (printed, index.score.value, HALF),
            Total::Index(printed) => (printed, index.score.value, rounding(index)),
        };
        ((printed - ours).abs() > room + HALF + SLACK).then(|| {
            format!(
                "the report prints {printed:.1} as its index of {}, and its scores give {ours:.1}",
                words::copies(index.copies)
            )
        })
    }
}

/// Returns the most by which the rounding of its scores can move a geometric index.
fn rounding(index: &Index) -> f64 {
    let shares = index.parts.iter().map(|part| if part.score > 0.0 { HALF / part.score } else { 1.0 });
    index.score.value * shares.sum::<f64>() / index.parts.len() as f64
}

fn factor(index: &Index) -> f64 {
    if index.arithmetic == Arithmetic::Geometric { 10.0 } else { 1.0 }
}
