//! The tables of S. Nitzberg's thesis (Performance Benchmarking of UNIX System Auditing, Monmouth
//! College, 1994): what a change costs in each round of two runs, and how far the rounds agree.

use serde::Serialize;

use super::Place;
use crate::figures::Measure;
use crate::products::comparison::{Comparison, Pair};
use catalogue::Metric;

/// Its Table 2 and its Figure 4.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Thesis {
    /// The number of rounds.
    pub rounds: usize,
    /// Losses beyond this are in the figure, in per cent.
    pub beyond: f64,
    /// One row per score and percentile, in the order of the comparisons.
    pub rows: Vec<ThesisRow>,
    /// The tests that lose more in any round, the largest first.
    pub figure4: Vec<Bar>,
}

/// The loss of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThesisRow {
    #[serde(flatten)]
    pub cell: Place,
    pub measure: Measure,
    /// Delta-1, Delta-2 …: 100 · (A − B) ÷ B of each round, of rates; null where a round does not
    /// have it.
    pub deltas: Vec<Option<f64>>,
    /// Delta-3, |Delta-1 − Delta-2|; of more rounds the largest delta less the smallest. Null of
    /// one.
    pub delta3: Option<f64>,
    /// The factor by which the same takes longer, in the round that loses most.
    pub time_factor: f64,
    /// The same of each round.
    pub time_factors: Vec<Option<f64>>,
    /// Deltas are known no closer than this, in per cent, where that is more than 1 %.
    pub resolution: Option<f64>,
}

/// A test in the figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar {
    #[serde(flatten)]
    pub cell: Place,
    pub measure: Measure,
    /// The largest loss of rate of all rounds, in per cent.
    pub loss: f64,
    /// The same as how many times as long it takes, 1 ÷ (1 − loss).
    pub time_factor: f64,
}

impl Thesis {
    /// The tables of comparisons by rounds. Shares of deadlines met and energies are no rates, and
    /// so not among them.
    pub(super) fn new(comparisons: &[Comparison], rounds: usize, beyond: f64) -> Thesis {
        let rates = comparisons.iter().filter(|comparison| comparison.is_of_time());
        let rows: Vec<ThesisRow> =
            rates.filter_map(|comparison| ThesisRow::new(comparison, rounds)).collect();

        let mut figure4: Vec<Bar> =
            rows.iter().map(Bar::new).filter(|bar| bar.loss > beyond).collect();
        figure4.sort_by(|a, b| b.loss.total_cmp(&a.loss));
        Thesis { rounds, beyond, rows, figure4 }
    }
}

impl ThesisRow {
    /// The row of a comparison; `None` if no round has it.
    fn new(comparison: &Comparison, rounds: usize) -> Option<ThesisRow> {
        let mut deltas = Vec::new();
        for number in 1..=rounds {
            let pair = comparison.pairs.iter().find(|pair| pair.round as usize == number);
            deltas.push(pair.map(|pair| gain_percent(comparison.cell.metric, pair)));
        }
        let smallest = deltas.iter().flatten().copied().reduce(f64::min)?;
        let largest = deltas.iter().flatten().copied().reduce(f64::max)?;
        let is_of_several = deltas.iter().flatten().count() > 1;

        Some(ThesisRow {
            cell: Place::new(&comparison.cell),
            measure: comparison.measure,
            delta3: is_of_several.then_some(largest - smallest),
            time_factor: time_factor(smallest),
            time_factors: deltas.iter().map(|delta| delta.map(time_factor)).collect(),
            deltas,
            resolution: comparison.resolution,
        })
    }

    /// True if it is the row of this comparison.
    pub fn is_of(&self, comparison: &Comparison) -> bool {
        self.measure == comparison.measure && self.cell.key == comparison.cell.key
    }
}

impl Bar {
    fn new(row: &ThesisRow) -> Bar {
        let smallest = row.deltas.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        Bar {
            cell: row.cell.clone(),
            measure: row.measure,
            loss: -smallest,
            time_factor: row.time_factor,
        }
    }
}

/// How much better A is than B in a round, in per cent of B's rate. The same as by logarithms, and
/// to the last digit the thesis's (RUN1 − RUN2) ÷ RUN2 · 100.
fn gain_percent(metric: Metric, Pair { a, b, .. }: &Pair) -> f64 {
    match metric {
        // A time's rate is its inverse.
        metric if metric.is_lower_better() => (b - a) / a * 100.0,
        _ => (a - b) / b * 100.0,
    }
}

/// The factor by which the same takes longer: a loss D of rate is 1 ÷ (1 − D) of time.
fn time_factor(delta: f64) -> f64 {
    1.0 / (1.0 + delta / 100.0)
}
