//! Indexes: several scores over their baselines as one number.
//!
//! UnixBench's index is the geometric mean of the quotients, ten if all scores equal their
//! baselines ([`join`]); BYTE 3.11's is their plain mean ([`average`]). The intervals are ours.

use std::collections::BTreeMap;

use crate::figures::{Another, Energy, Figure, Quiet, score};
use catalogue::{self, Arithmetic, Catalogue};
use journal::{Baseline, Cell, Facts, Journal};
use serde::{Deserialize, Serialize};
use stats::{ByBlock, Estimate, Exact, Sampled, mean, mean_half_width};

/// The id of UnixBench's index, which may be measured against another baseline than George.
pub const UNIXBENCH_INDEX: &str = "system";

/// UnixBench's index of a score that equals its baseline.
const UNIXBENCH_SCALE: f64 = 10.0;

/// Largest quotient of score and baseline that counts as 1, as in UnixBench.
const MAX_IGNORED_QUOTIENT: f64 = 1e-6;

/// The fact that has the half-width of an index's interval, in per cent of its logarithm; the index
/// and its copies follow.
pub(crate) const PUBLISHED_HALF_WIDTH: &str = "reference.index.";

/// One index at one level of copies. A summary keeps it without its parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Index {
    /// The id in the catalogue.
    pub id: String,
    /// The heading in reports.
    pub name: String,
    /// The number of copies.
    pub copies: u32,
    /// How the scores are joined.
    pub arithmetic: Arithmetic,
    /// The index with its interval; of BYTE 3.11 the average.
    pub score: Estimate,
    /// The interval in which another run's would lie; `None` before enough runs are known.
    #[serde(skip)]
    pub another: Option<Another>,
    /// The index while the neighbours are quiet; `None` unless all of its tests have such a score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Estimate>,
    /// The geometric mean of the power of its tests in W; `None` unless all of them have one.
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
    /// Tests of the category that have no baseline, with their scores.
    #[serde(skip)]
    pub others: Vec<(String, f64)>,
}

/// One test of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// The id of the test.
    pub test: String,
    /// The name in reports.
    pub label: String,
    /// The score of the test.
    pub score: f64,
    /// The score that it is divided by.
    pub baseline: f64,
    /// The index of this test alone.
    pub index: Estimate,
}

impl Part {
    /// The score with its interval, which is in proportion to the index's.
    pub fn result(&self) -> Estimate {
        let scale = self.score / self.index.value;
        Estimate { value: self.score, low: self.index.low * scale, high: self.index.high * scale }
    }
}

impl Index {
    /// The words before the score: `System Benchmarks Index Score`.
    pub fn title(&self) -> String {
        let part = if self.complete { "" } else { " (Partial Only)" };
        format!("{} Index Score{part}", self.name)
    }

    /// The index as an imported report prints it, if that is among the facts: from scores with one
    /// decimal it cannot always be computed to the last digit.
    pub fn printed(&self, facts: &Facts) -> Option<f64> {
        let name = format!("imported.index.{}.", self.copies);
        let title = format!("{} Index Score", self.name);
        let mut facts = facts.iter();
        let line =
            facts.find(|fact| fact.name.starts_with(&name) && fact.value.starts_with(&title))?;
        line.value.split_whitespace().last()?.parse().ok()
    }

    /// The index without its parts and what follows from them, as summaries keep it.
    pub(crate) fn outline(&self) -> Index {
        Index { another: None, sum: 0.0, parts: Vec::new(), others: Vec::new(), ..self.clone() }
    }

    /// The index per W, if the power is known.
    pub fn per_watt(&self) -> Option<Estimate> {
        self.watts.map(|watts| self.score.over(&watts))
    }

    /// True if both are of the same tests.
    pub(crate) fn has_parts_of(&self, other: &Index) -> bool {
        self.parts.iter().map(|part| &part.test).eq(other.parts.iter().map(|part| &part.test))
    }
}

/// The indexes that the run shows, for every level of copies, by its `rows`; UnixBench's is
/// measured against `own`, if that is given.
pub(crate) fn indexes(
    rows: &[Figure],
    journal: &Journal,
    catalogue: &Catalogue,
    own: Option<&Baseline>,
) -> Vec<Index> {
    // An index describes the machine as it was found; other loads and conditions have their tables.
    let mut levels: BTreeMap<u32, Vec<&Figure>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.cell.key.is_plain()) {
        levels.entry(row.cell.key.copies).or_default().push(row);
    }

    let run = &journal.run;
    let is_shown = |kind: &&catalogue::Index| {
        if run.indexes.is_empty() { kind.always } else { run.indexes.contains(&kind.id) }
    };
    let mut indexes = Vec::new();
    for (copies, rows) in &levels {
        let level = Level { copies: *copies, rows, journal, catalogue, own };
        indexes
            .extend(catalogue.indexes.iter().filter(is_shown).filter_map(|kind| level.index(kind)));
    }
    indexes
}

/// The rows of one level of copies, of which indexes are made.
struct Level<'a> {
    copies: u32,
    rows: &'a [&'a Figure],
    journal: &'a Journal,
    catalogue: &'a Catalogue,
    /// The baseline of UnixBench's index in place of George's.
    own: Option<&'a Baseline>,
}

impl Level<'_> {
    /// An index; `None` if no test of it has a score.
    fn index(&self, kind: &catalogue::Index) -> Option<Index> {
        let own = self.own.filter(|_| kind.id == UNIXBENCH_INDEX);
        let is_geometric = kind.arithmetic == Arithmetic::Geometric;
        let factor = if is_geometric { UNIXBENCH_SCALE } else { 1.0 };
        let mut parts = Vec::new();
        let mut members = Vec::new();
        let mut others = Vec::new();
        for row in self.rows {
            match self.baseline(&kind.id, &row.cell.key.test, own) {
                Some(baseline) => {
                    members.push(*row);
                    parts.push(part(row, row.score, baseline, factor));
                }
                None if row.cell.category == kind.id => {
                    others.push((row.cell.label.clone(), row.score.value))
                }
                None => {}
            }
        }
        if parts.is_empty() {
            return None;
        }

        let sum: f64 = parts.iter().map(|part| part.index.value).sum();
        let (score, quiet, watts) = match kind.arithmetic {
            Arithmetic::Geometric => (
                self.geometric_score(&kind.id, &parts, &members),
                quiet_score(&members, &parts),
                mean_watts(&members),
            ),
            Arithmetic::Arithmetic => (average(&parts, sum), None, None),
        };
        let all_tests = self.catalogue.tests.iter();
        let wanted = all_tests.filter(|test| test.baseline.contains_key(&kind.id)).count();
        Some(Index {
            id: kind.id.clone(),
            name: match own {
                Some(own) => format!("{} against {}", kind.name, own.name),
                None => kind.name.clone(),
            },
            copies: self.copies,
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

    /// The geometric index of scores. Its interval resamples blocks, unless the run is an entry of
    /// the reference collection, which has its half-width as a fact.
    fn geometric_score(&self, kind: &str, parts: &[Part], rows: &[&Figure]) -> Estimate {
        if let Some(half_width) = published_half_width(&self.journal.facts, kind, self.copies) {
            return join(parts, || half_width * joint_widening(rows));
        }

        let values: Vec<ByBlock> = rows.iter().map(|row| row.by_block()).collect();
        let statistic: &dyn Fn(&[f64]) -> f64 =
            if self.journal.run.is_classic() { &classic_log } else { &median_log };
        join(parts, || half_width(&values, statistic) * joint_widening(rows))
    }

    /// The score of `test` that the index `kind` sets equal to its scale; `None` if the test is no
    /// part of the index, or not of its `own` baseline.
    fn baseline(&self, kind: &str, test: &str, own: Option<&Baseline>) -> Option<f64> {
        let published = self.catalogue.test(test)?.baseline.get(kind).copied()?;
        match own {
            Some(own) => own.scores.get(test).copied(),
            None => Some(published),
        }
    }
}

fn part(row: &Figure, score: Estimate, baseline: f64, factor: f64) -> Part {
    let Cell { key, label, .. } = &row.cell;
    let index = score.map(|value| value * factor / baseline);
    Part { test: key.test.clone(), label: label.clone(), score: score.value, baseline, index }
}

/// How much wider drift makes the interval of the rows' mean.
fn joint_widening(rows: &[&Figure]) -> f64 {
    mean(rows.iter().map(|row| row.widening.together))
}

/// The geometric index of quiet scores; `None` unless all rows have one.
fn quiet_score(rows: &[&Figure], parts: &[Part]) -> Option<Estimate> {
    let mut quiet: Vec<&Quiet> = Vec::new();
    let mut quiet_parts = Vec::new();
    for (row, noisy) in rows.iter().zip(parts) {
        let score = row.quiet.as_ref()?;
        quiet.push(score);
        quiet_parts.push(part(row, score.score, noisy.baseline, UNIXBENCH_SCALE));
    }
    Some(join(&quiet_parts, || Quiet::half_width(&quiet)))
}

/// The geometric mean of the rows' power in W, whose interval resamples blocks; `None` unless all
/// rows have one.
fn mean_watts(rows: &[&Figure]) -> Option<Estimate> {
    let known: Vec<&Energy> =
        rows.iter().map(|row| row.energy.as_deref()).collect::<Option<_>>()?;
    if let [only] = known[..] {
        return Some(only.watts);
    }

    let value = mean(known.iter().map(|energy| energy.watts.value.natural_log())).exponential();
    let trials: Vec<ByBlock> = known.iter().map(|energy| energy.watts_by_block()).collect();
    Some(Estimate::within(value, half_width(&trials, &median_log)))
}

/// UnixBench's index: 10·exp(mean ln(score/baseline)), where a quotient up to 10⁻⁶ counts as 1. The
/// index of one test is that test's, with its interval; otherwise `half_width` is asked for.
fn join(parts: &[Part], half_width: impl FnOnce() -> f64) -> Estimate {
    let logs = parts.iter().map(|part| {
        let quotient = part.index.value / UNIXBENCH_SCALE;
        if quotient > MAX_IGNORED_QUOTIENT { quotient.natural_log() } else { 0.0 }
    });
    let value = UNIXBENCH_SCALE * mean(logs).exponential();
    if let [only] = parts {
        return Estimate { value, ..only.index };
    }
    Estimate::within(value, half_width())
}

/// The half-width of an index on the logarithmic scale, if the run is an entry that has it.
fn published_half_width(facts: &Facts, index: &str, copies: u32) -> Option<f64> {
    let name = format!("{PUBLISHED_HALF_WIDTH}{index}.{copies}");
    let percent = facts.get(&name)?.quantity.as_ref()?.number;
    Some(percent / 100.0).filter(|half| *half > 0.0)
}

/// The half-width of the mean of the statistics of several samples, by resampling their blocks.
fn half_width(values: &[ByBlock], statistic: &dyn Fn(&[f64]) -> f64) -> f64 {
    let samples: Vec<Sampled<'_>> =
        values.iter().map(|values| Sampled { values, statistic }).collect();
    mean_half_width(&samples)
}

fn median_log(values: &[f64]) -> f64 {
    stats::median(values).natural_log()
}

/// The logarithm of UnixBench's score of passes of equal length.
fn classic_log(values: &[f64]) -> f64 {
    let passes: Vec<score::Pass> =
        values.iter().map(|rate| score::Pass { count: *rate, seconds: 1.0, rate: *rate }).collect();
    score::geometric_mean(&score::drop_worst_third(&passes)).natural_log()
}

/// BYTE 3.11's index: the plain mean; the parts' half-widths add in quadrature.
fn average(parts: &[Part], sum: f64) -> Estimate {
    let count = parts.len() as f64;
    let value = sum / count;
    let below = parts.iter().map(|part| (part.index.low - part.index.value).powi(2));
    let above = parts.iter().map(|part| (part.index.high - part.index.value).powi(2));
    let low = value - below.sum::<f64>().sqrt() / count;
    let high = value + above.sum::<f64>().sqrt() / count;
    Estimate { value, low, high }
}
