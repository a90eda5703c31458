//! Indexes: several scores over their baselines as one number.

use std::collections::BTreeMap;

use super::{Another, Energy, Figure, Quiet, reference, score};
use catalogue::{self, Arithmetic, Catalogue};
use journal::{Baseline, Cell, Facts, Journal};
use serde::{Deserialize, Serialize};
use stats::{ByBlock, Estimate, Exact, Sampled, mean, mean_half_width};

/// One index at one level of copies. A summary keeps it without its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// Its row in the catalogue.
    pub id: String,
    /// The heading in reports.
    pub name: String,
    /// The number of copies.
    pub copies: u32,
    /// The way to join the scores.
    pub arithmetic: Arithmetic,
    /// The index; of BYTE 3.11's the average.
    pub score: Estimate,
    /// The interval in which another run's would lie; `None` before enough runs are known.
    #[serde(skip)]
    pub another: Option<Another>,
    /// The index while the neighbours are quiet; `None` unless all of its tests have such a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Estimate>,
    /// The geometric mean of the power of its tests in W; `None` unless that of all is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<Estimate>,
    /// The sum of the parts, which BYTE 3.11 prints.
    #[serde(skip)]
    pub sum: f64,
    /// True if every test of the index is in it.
    pub complete: bool,
    /// The tests in it, in order.
    #[serde(skip)]
    pub parts: Vec<Part>,
    /// Tests of the category that have no baseline.
    #[serde(skip)]
    pub others: Vec<(String, f64)>,
}

/// One test of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The test.
    pub test: String,
    /// Its name in reports.
    pub label: String,
    /// Its score.
    pub score: f64,
    /// The score it is divided by.
    pub baseline: f64,
    /// Its own index.
    pub index: Estimate,
}

impl Part {
    /// Returns the score with its interval, which is in proportion to the index's.
    pub fn result(&self) -> Estimate {
        let scale = self.score / self.index.value;
        Estimate { value: self.score, low: self.index.low * scale, high: self.index.high * scale }
    }
}

impl Index {
    /// Returns the words before the score: `System Benchmarks Index Score`.
    pub fn title(&self) -> String {
        let part = if self.complete { "" } else { " (Partial Only)" };
        format!("{} Index Score{part}", self.name)
    }

    /// Returns what an imported report prints for it, if that is among the facts: scores with one decimal cannot always
    /// give it to the last digit.
    pub fn printed(&self, facts: &Facts) -> Option<f64> {
        let (name, title) = (format!("imported.index.{}.", self.copies), format!("{} Index Score", self.name));
        let line = facts.iter().find(|fact| fact.name.starts_with(&name) && fact.value.starts_with(&title))?;
        line.value.split_whitespace().last()?.parse().ok()
    }

    /// Returns it without its parts, and what is told of them.
    pub(crate) fn outline(&self) -> Index {
        Index { another: None, sum: 0.0, parts: Vec::new(), others: Vec::new(), ..self.clone() }
    }

    /// Returns the index for each W, if that is known.
    pub fn per_watt(&self) -> Option<Estimate> {
        self.watts.map(|watts| self.score.over(&watts))
    }

    /// Returns true if it is of the same tests.
    pub(crate) fn has_parts_of(&self, other: &Index) -> bool {
        self.parts.iter().map(|part| &part.test).eq(other.parts.iter().map(|part| &part.test))
    }
}

/// Computes the indexes that the run shows, for every level of copies.
pub(super) fn indexes(rows: &[Figure], journal: &Journal, catalogue: &Catalogue, own: Option<&Baseline>) -> Vec<Index> {
    let run = &journal.run;
    // An index describes the machine as it was found; other loads and conditions have their tables.
    let mut levels: BTreeMap<u32, Vec<&Figure>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.cell.key.is_plain()) {
        levels.entry(row.cell.key.copies).or_default().push(row);
    }
    let mut found = Vec::new();
    for (copies, level) in levels {
        for kind in &catalogue.indexes {
            let shown = if run.indexes.is_empty() { kind.always } else { run.indexes.contains(&kind.id) };
            if shown {
                found.extend(index(kind, copies, &level, journal, catalogue, own));
            }
        }
    }
    found
}

fn index(
    kind: &catalogue::Index,
    copies: u32,
    rows: &[&Figure],
    journal: &Journal,
    catalogue: &Catalogue,
    own: Option<&Baseline>,
) -> Option<Index> {
    let reference = |id: &str| -> Option<f64> {
        let published = catalogue.test(id)?.baseline.get(&kind.id).copied()?;
        match own {
            Some(own) if kind.id == "system" => own.scores.get(id).copied(),
            _ => Some(published),
        }
    };
    let factor = if kind.arithmetic == Arithmetic::Geometric { 10.0 } else { 1.0 };
    let mut parts = Vec::new();
    let mut members = Vec::new();
    let mut others = Vec::new();
    for row in rows {
        match reference(&row.cell.key.test) {
            Some(baseline) => {
                members.push(*row);
                parts.push(part(row, row.score, baseline, factor));
            }
            None if row.cell.category == kind.id => others.push((row.cell.label.clone(), row.score.value)),
            None => {}
        }
    }
    if parts.is_empty() {
        return None;
    }
    let wanted = catalogue.tests.iter().filter(|test| test.baseline.contains_key(&kind.id)).count();
    let sum: f64 = parts.iter().map(|part| part.index.value).sum();
    let (score, quiet, watts) = match kind.arithmetic {
        Arithmetic::Geometric => {
            let told = reference::half_width(&journal.facts, &kind.id, copies);
            let score = geometric(&parts, &members, told, journal.run.is_classic());
            (score, while_quiet(&members, &parts), power(&members))
        }
        Arithmetic::Arithmetic => (arithmetic(&parts, sum), None, None),
    };
    let name = own
        .filter(|_| kind.id == "system")
        .map_or_else(|| kind.name.clone(), |own| format!("{} against {}", kind.name, own.name));
    Some(Index {
        id: kind.id.clone(),
        name,
        copies,
        arithmetic: kind.arithmetic,
        score,
        another: None,
        quiet,
        watts,
        sum,
        complete: parts.len() == wanted,
        parts,
        others,
    })
}

fn part(row: &Figure, score: Estimate, baseline: f64, factor: f64) -> Part {
    let Cell { key, label, .. } = &row.cell;
    let index = score.map(|value| value * factor / baseline);
    Part { test: key.test.clone(), label: label.clone(), score: score.value, baseline, index }
}

/// The index of scores, whose interval resamples blocks, unless an entry of the reference collection has `told` its
/// half-width.
fn geometric(parts: &[Part], rows: &[&Figure], told: Option<f64>, classic: bool) -> Estimate {
    let values: Vec<ByBlock> = rows.iter().map(|row| row.by_block()).collect();
    let statistic: &dyn Fn(&[f64]) -> f64 = if classic { &classic_log } else { &median_log };
    let together = mean(rows.iter().map(|row| row.widening.together));
    joined(parts, || told.unwrap_or_else(|| half_width(&values, statistic) * together))
}

/// The same of quiet scores; `None` unless all rows have one.
fn while_quiet(rows: &[&Figure], parts: &[Part]) -> Option<Estimate> {
    let quiet: Vec<&Quiet> = rows.iter().map(|row| row.quiet.as_ref()).collect::<Option<_>>()?;
    let each = rows.iter().zip(&quiet).zip(parts);
    let parts: Vec<Part> = each.map(|((row, quiet), own)| part(row, quiet.score, own.baseline, 10.0)).collect();
    Some(joined(&parts, || Quiet::half_width(&quiet)))
}

/// The geometric mean of the rows' power, whose interval resamples blocks; `None` unless all rows have one.
fn power(rows: &[&Figure]) -> Option<Estimate> {
    let known: Vec<&Energy> = rows.iter().map(|row| row.energy.as_deref()).collect::<Option<_>>()?;
    if let [only] = known[..] {
        return Some(only.watts);
    }
    let value = mean(known.iter().map(|energy| energy.watts.value.natural_log())).exponential();
    let trials: Vec<ByBlock> = known.iter().map(|energy| energy.watts_by_block()).collect();
    Some(Estimate::within(value, half_width(&trials, &median_log)))
}

/// UnixBench's index: 10·exp(mean ln(score/baseline)), where a quotient up to 10⁻⁶ counts as 1. The index of one test
/// is that test.
fn joined(parts: &[Part], half: impl FnOnce() -> f64) -> Estimate {
    let logs = parts.iter().map(|part| {
        let quotient = part.index.value / 10.0;
        if quotient > 1e-6 { quotient.natural_log() } else { 0.0 }
    });
    let value = 10.0 * (mean(logs)).exponential();
    if let [only] = parts { Estimate { value, ..only.index } } else { Estimate::within(value, half()) }
}

fn half_width(values: &[ByBlock], statistic: &dyn Fn(&[f64]) -> f64) -> f64 {
    let samples: Vec<Sampled<'_>> = values.iter().map(|values| Sampled { values, statistic }).collect();
    mean_half_width(&samples)
}

fn median_log(values: &[f64]) -> f64 {
    stats::median(values).natural_log()
}

/// The logarithm of UnixBench's score of passes of equal length.
fn classic_log(values: &[f64]) -> f64 {
    let passes: Vec<score::Pass> =
        values.iter().map(|rate| score::Pass { count: *rate, seconds: 1.0, rate: *rate }).collect();
    score::geometric(&score::kept(&passes)).natural_log()
}

/// BYTE 3.11's index: the plain mean; the parts' half-widths add in quadrature.
fn arithmetic(parts: &[Part], sum: f64) -> Estimate {
    let count = parts.len() as f64;
    let value = sum / count;
    let half = |end: fn(&Estimate) -> f64| {
        parts.iter().map(|part| (end(&part.index) - part.index.value).powi(2)).sum::<f64>().sqrt() / count
    };
    Estimate { value, low: value - half(|index| index.low), high: value + half(|index| index.high) }
}
