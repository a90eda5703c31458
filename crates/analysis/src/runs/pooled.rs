//! Runs of one comparison on several machines as one answer.
//!
//! A change may be worth 3 % on one processor and nothing on another, and runners of one name are
//! often of several models. The question is then about machines like these, so a machine's run is
//! one value: see [`stats::random_effects`]. Machines are never made equal by dividing by their
//! speeds, since the speed of one program says little of another's (docs/decisions.md).

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use journal::Key;
use serde::Serialize;
use stats::{
    Estimate, Exact, NORMAL_975, RandomEffects, Study, false_discovery_rates, normal_p,
    random_effects,
};

use crate::findings::Results;
use crate::products::Cost;
use crate::products::comparison::{Comparison, RATE, Verdict};

/// Fewest machines whose differences have an interval that says anything: Student's t with one
/// degree of freedom gives that of two 12.7 standard errors on either side.
pub const MIN_POOLED_RUNS: usize = 3;

/// The difference of one figure on all machines.
#[derive(Debug, Clone)]
pub struct PooledRow {
    /// The place in the matrix of the figure that is judged.
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// The name of the measure where it is not the test's score.
    pub measure: &'static str,
    /// True if a smaller figure is better; `None` where nobody knows.
    pub lower_is_better: Option<bool>,
    /// True if the change is one of the time that the same work takes.
    pub is_of_time: bool,
    /// The change of each run, in per cent.
    pub runs: Vec<PooledRun>,
    /// The mean change of machines like these, in per cent.
    pub change: Estimate,
    /// The p value of no change, and its false discovery rate among all rows.
    pub p: f64,
    pub q: f64,
    /// How far 95 % of machines are from the mean, in per cent; 0 where they agree.
    pub spread_percent: f64,
    /// The answer.
    pub verdict: Verdict,
    /// The model of processor whose change is another than that of all others.
    pub dissent: Option<Dissent>,
}

/// The change that one run found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PooledRun {
    /// The run's name.
    pub run: String,
    /// The model of its processor; empty if that is not known.
    pub processor: String,
    /// The change in per cent.
    pub change: Estimate,
}

/// A model of processor that disagrees with the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dissent {
    pub processor: String,
    /// Its change in per cent.
    pub change: Estimate,
}

/// Runs of one comparison.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// What the others are compared with.
    pub against: String,
    /// The number of runs.
    pub runs: usize,
    /// Differences up to this many per cent are negligible.
    pub threshold: f64,
    /// A row for each figure that at least three runs have.
    pub rows: Vec<PooledRow>,
    /// Figures that fewer have: their names.
    pub rare: Vec<String>,
}

/// One run's difference of a figure, as a difference of logarithms.
struct Entry<'a> {
    results: &'a Results,
    comparison: &'a Comparison,
    study: Study,
}

impl Pooled {
    /// Pools runs that compare the same.
    ///
    /// # Errors
    /// There are too few, or one compares something else.
    pub fn new(runs: &[Results], threshold: f64) -> Result<Pooled> {
        ensure!(
            runs.len() >= MIN_POOLED_RUNS,
            "--pool makes one answer of {MIN_POOLED_RUNS} runs or more, and there are {}; name more runs of the same comparison",
            runs.len()
        );
        let mut costs = Vec::new();
        for results in runs {
            let cost = results.cost();
            ensure!(
                cost.is_some(),
                "{} compares nothing by itself, so it cannot be pooled; name runs of `unixmark ab` or `unixmark cost`",
                results.run.name
            );
            costs.extend(cost.map(|cost| (results, cost)));
        }
        let against = costs[0].1.against.clone();
        for (results, cost) in &costs {
            ensure!(
                cost.against == against,
                "{} compares with {}, and {} with {against}; pool runs of the same comparison",
                results.run.name,
                cost.against,
                runs[0].run.name
            );
        }

        let mut rows = Vec::new();
        let mut rare = Vec::new();
        for entries in by_figure(&costs) {
            if entries.len() < MIN_POOLED_RUNS {
                rare.push(name(entries[0].comparison));
                continue;
            }
            rows.push(PooledRow::new(&entries));
        }
        ensure!(
            !rows.is_empty(),
            "no figure has a difference with an interval in {MIN_POOLED_RUNS} of these runs; measure longer"
        );
        judge(&mut rows, threshold);
        Ok(Pooled { against, runs: runs.len(), threshold, rows, rare })
    }
}

/// The name of a figure that is compared.
fn name(comparison: &Comparison) -> String {
    let measure = comparison.unnamed().unwrap_or(&comparison.cell.label);
    format!("{measure} of {}", comparison.run)
}

/// The differences of all runs that have an interval, by figure, in the order of the first run.
fn by_figure<'a>(costs: &[(&'a Results, &'a Cost)]) -> Vec<Vec<Entry<'a>>> {
    let mut order: Vec<(Key, &str)> = Vec::new();
    let mut entries: BTreeMap<(Key, &str), Vec<Entry<'a>>> = BTreeMap::new();
    for (results, cost) in costs {
        for effect in cost.effects() {
            let comparison = &effect.comparison;
            let change = comparison.change();
            if !comparison.scale.is_ratio() || !change.bounded() {
                continue;
            }
            let figure = (comparison.cell.key.clone(), comparison.measure.name());
            if !entries.contains_key(&figure) {
                order.push(figure.clone());
            }
            let entry = Entry { results, comparison, study: study(change) };
            entries.entry(figure).or_default().push(entry);
        }
    }
    order.iter().filter_map(|figure| entries.remove(figure)).collect()
}

/// A change in per cent as a difference of logarithms, with the error that its interval claims.
fn study(change: Estimate) -> Study {
    let [value, low, high] =
        [change.value, change.low, change.high].map(|percent| (percent / 100.0).log_of_1_plus());
    Study { value, error: (high - low) / (2.0 * NORMAL_975) }
}

/// A difference of logarithms in per cent.
fn percent(log: Estimate) -> Estimate {
    let [value, low, high] =
        [log.value, log.low, log.high].map(|log| 100.0 * log.exponential_less_1());
    Estimate { value, low, high }
}

impl PooledRow {
    fn new(entries: &[Entry<'_>]) -> PooledRow {
        let first = entries[0].comparison;
        let studies: Vec<Study> = entries.iter().map(|entry| entry.study).collect();
        let RandomEffects { estimate, p, deviation } = random_effects(&studies);
        let runs: Vec<PooledRun> = entries
            .iter()
            .map(|entry| PooledRun {
                run: entry.results.run.name.clone(),
                processor: processor(entry.results).to_owned(),
                change: entry.comparison.change(),
            })
            .collect();
        PooledRow {
            key: first.cell.key.clone(),
            label: first.unnamed().unwrap_or(&first.cell.label).to_owned(),
            measure: first.measure.name(),
            lower_is_better: first.direction(),
            is_of_time: first.is_of_time(),
            dissent: find_dissent(entries),
            runs,
            change: percent(estimate),
            p,
            q: p,
            spread_percent: 100.0 * (NORMAL_975 * deviation).exponential_less_1(),
            verdict: Verdict::Undecided(f64::INFINITY),
        }
    }

    /// True for a significant loss of at least `size` per cent.
    pub fn is_loss_of(&self, size: f64) -> bool {
        self.verdict.is_loss() && self.change.value.abs() >= size
    }

    /// True if the interval leaves such a loss possible.
    pub fn may_be_loss_of(&self, size: f64) -> bool {
        match self.lower_is_better {
            Some(true) => self.change.high >= size,
            Some(false) => self.change.low <= -size,
            None => false,
        }
    }
}

fn processor(results: &Results) -> &str {
    results.facts.value("cpu.model").unwrap_or_default()
}

/// The model of processor whose change differs most from that of all other runs, if that is
/// significant for as many models as there are (Bonferroni).
fn find_dissent(entries: &[Entry<'_>]) -> Option<Dissent> {
    let mut models: Vec<&str> = entries.iter().map(|entry| processor(entry.results)).collect();
    models.sort_unstable();
    models.dedup();
    if models.len() < 2 {
        return None;
    }

    let mut strongest: Option<(f64, Dissent)> = None;
    for model in &models {
        let (own, others): (Vec<&Entry<'_>>, Vec<&Entry<'_>>) =
            entries.iter().partition(|entry| processor(entry.results) == *model);
        let [own, others] = [own, others].map(|entries| common_effect(&entries));
        let p = normal_p(((own.value - others.value) / own.error.hypotenuse(others.error)).abs());
        let is_stronger = strongest.as_ref().is_none_or(|(other, _)| p < *other);
        if p * (models.len() as f64) < RATE && is_stronger {
            let half_width = NORMAL_975 * own.error;
            let log = Estimate {
                value: own.value,
                low: own.value - half_width,
                high: own.value + half_width,
            };
            strongest = Some((p, Dissent { processor: (*model).to_owned(), change: percent(log) }));
        }
    }
    strongest.map(|(_, dissent)| dissent)
}

/// The mean of runs that share one effect.
fn common_effect(entries: &[&Entry<'_>]) -> Study {
    let weights = entries.iter().map(|entry| entry.study.error.powi(-2));
    let total: f64 = weights.clone().sum();
    let sum: f64 =
        entries.iter().zip(weights).map(|(entry, weight)| weight * entry.study.value).sum();
    Study { value: sum / total, error: total.sqrt().recip() }
}

/// Gives all rows their q values and their verdicts.
fn judge(rows: &mut [PooledRow], threshold: f64) {
    let p: Vec<f64> = rows.iter().map(|row| row.p).collect();
    for (row, q) in rows.iter_mut().zip(false_discovery_rates(&p)) {
        row.q = q;
        let Estimate { value, low, high } = row.change;
        let is_decided = q <= RATE && value.abs() > threshold;
        let is_within = low > -threshold && high < threshold;
        let limit = low.abs().max(high.abs());
        row.verdict = match row.lower_is_better {
            None if is_decided => Verdict::Undirected,
            Some(lower) if is_decided => match ((value > 0.0) == lower, row.is_of_time) {
                (true, true) => Verdict::Slower,
                (true, false) => Verdict::Worse,
                (false, true) => Verdict::Faster,
                (false, false) => Verdict::Better,
            },
            _ if is_within => Verdict::Same(limit),
            _ => Verdict::Undecided(limit),
        };
    }
}
