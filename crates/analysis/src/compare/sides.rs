//! What is taken from each run: the trials of a cell, or one value per run of a round.

use serde::Serialize;

use super::{Compared, Measure};
use crate::{Latency, Remark, Row, TrialFigures};
use catalogue::Metric;
use stats::{Mean, Method, median, quantile_975};

/// The least latency in ms that has a logarithm: 1 ns.
pub(crate) const LEAST: f64 = 1e-6;

/// A cell in one run.
pub(super) struct Side<'a> {
    /// The run.
    pub(super) run: &'a Compared,
    letter: &'a str,
    /// Its result.
    pub(super) row: &'a Row,
}

/// A cell that both runs of a round have.
pub(super) struct Match<'a> {
    /// The number of the round, from 1.
    pub(super) number: u32,
    /// In the first run.
    pub(super) a: Side<'a>,
    /// In the second.
    pub(super) b: Side<'a>,
}

/// The values of one round.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// The number of the round, from 1.
    pub round: u32,
    /// The value in A.
    pub a: f64,
    /// The value in B.
    pub b: f64,
    /// What A has more than B, in per cent of B (in points for deadlines met): negative is worse.
    pub delta: f64,
}

/// What a shift is computed of: numbers that are larger where the run is better, logarithms but for shares.
pub(super) enum Values {
    /// Each trial's.
    Trials { a: Vec<f64>, b: Vec<f64>, shown: (f64, f64) },
    /// Means with standard errors.
    Means { a: Mean, b: Mean, shown: (f64, f64), n: (usize, usize), method: Method },
    /// One difference per round or block, with its number.
    Rounds { differences: Vec<(u32, f64)>, pairs: Vec<Pair>, shown: (f64, f64) },
}

impl Values {
    /// Returns the values that reports show of A and of the other, how many there are, and the rounds.
    pub(super) fn shown(self) -> Shown {
        match self {
            Values::Trials { a, b, shown } => (shown, (a.len(), b.len()), Vec::new(), Vec::new()),
            Values::Means { shown, n, .. } => (shown, n, Vec::new(), Vec::new()),
            Values::Rounds { differences, pairs, shown } => {
                (shown, (differences.len(), differences.len()), differences, pairs)
            }
        }
    }
}

/// Values, numbers of them, differences and rounds.
type Shown = ((f64, f64), (usize, usize), Vec<(u32, f64)>, Vec<Pair>);

impl<'a> Side<'a> {
    pub(super) fn new(run: &'a Compared, row: &'a Row) -> Side<'a> {
        Side { run, letter: &run.letter, row }
    }

    /// What the cell is compared by: its score, or an interactive test's median, p99 and deadlines.
    pub(super) fn measures(&self) -> Vec<Measure> {
        match &self.row.latency {
            None => vec![Measure::Score],
            Some(latency) if latency.deadlines_met.is_some() => vec![Measure::P50, Measure::P99, Measure::Met],
            Some(_) => vec![Measure::P50, Measure::P99],
        }
    }

    /// Returns why the numbers of this and another run's cell do not mean the same, if they do not.
    pub(super) fn unlike(&self, other: &Side<'_>) -> Option<String> {
        let says = |what: &str, mine: &str, theirs: &str| {
            Some(format!("{what} differs: {mine} in {}, {theirs} in {}", self.letter, other.letter))
        };
        let (cell, theirs) = (&self.row.cell, &other.row.cell);
        if cell.unit != theirs.unit {
            return says("its unit", &cell.unit, &theirs.unit);
        }
        if self.row.latency.as_ref().map(|latency| latency.kind)
            != other.row.latency.as_ref().map(|latency| latency.kind)
        {
            return says("the kind of its latency", &self.kind(), &other.kind());
        }
        let met = |row: &Row| row.latency.as_ref().is_some_and(|latency| latency.deadlines_met.is_some());
        if met(self.row) != met(other.row) {
            let has = |row: &Row| if met(row) { "one" } else { "none" };
            return says("its deadline", has(self.row), has(other.row));
        }
        None
    }

    fn kind(&self) -> String {
        self.row.latency.as_ref().map_or("none".to_owned(), |latency| format!("{:?}", latency.kind).to_lowercase())
    }

    /// The unit of a measure's values.
    pub(super) fn unit(&self, measure: Measure) -> String {
        if measure == Measure::Met { "%".to_owned() } else { self.row.cell.unit.clone() }
    }

    /// Returns the whole run's value of a measure; or why there is none.
    pub(super) fn value(&self, measure: Measure) -> Result<f64, String> {
        let row = self.row;
        let value = match (&row.latency, measure) {
            (Some(latency), Measure::P50 | Measure::P99) => latency.percentile(measure.name()).map(|ms| ms.max(LEAST)),
            (Some(latency), Measure::Met) => latency.deadlines_met.map(|met| met.value),
            (_, _) => Some(row.score.value).filter(|score| *score > 0.0),
        };
        value.filter(|value| value.is_finite()).ok_or_else(|| match measure {
            Measure::Score => format!("nothing was counted in {}", self.letter),
            Measure::Met => format!("no deadlines in {}", self.letter),
            _ => self.too_few(measure, row.latency.as_deref().map_or(0, |latency| latency.histogram.count())),
        })
    }

    fn too_few(&self, measure: Measure, frames: u64) -> String {
        let wanted = if measure == Measure::P99 { 1000 } else { 20 };
        format!("{} has {frames} frames in all, and a {} takes {wanted}", self.letter, measure.name())
    }

    /// Returns every trial's value of a measure, none of them 0; or nothing where a trial has none.
    fn each(&self, measure: Measure) -> Option<Vec<f64>> {
        let Some(latency) = &self.row.latency else {
            let rates: Vec<f64> = self.row.samples.iter().map(|sample| sample.value).collect();
            // An imported report has the score alone.
            let rates = if rates.is_empty() { vec![self.row.score.value] } else { rates };
            return rates.iter().all(|rate| rate.is_finite() && *rate > 0.0).then_some(rates);
        };
        let of = |trial: &TrialFigures| match measure {
            Measure::P99 => trial.p99,
            Measure::Met => trial.met,
            _ => Some(trial.p50).filter(|ms| *ms > 0.0),
        };
        latency.trials.iter().map(of).collect()
    }
}

impl Side<'_> {
    /// Returns the value of every block that has one, none of them 0.
    fn by_block(&self, measure: Measure) -> Vec<(u32, f64)> {
        let blocks: Vec<u32> = match &self.row.latency {
            None => self.row.samples.iter().map(|sample| sample.block).collect(),
            Some(latency) => latency.trials.iter().map(|trial| trial.block).collect(),
        };
        self.each(measure).map_or(Vec::new(), |values| blocks.into_iter().zip(values).collect())
    }
}

/// Returns a value as a number that is larger where the run is better.
pub(crate) fn goodness(metric: Metric, measure: Measure, value: f64) -> f64 {
    match (measure, metric) {
        (Measure::Met, _) => value,
        (_, Metric::Latency) => -value.max(LEAST).ln(),
        (_, Metric::Time) => -value.ln(),
        (_, _) => value.ln(),
    }
}

/// Returns the trials of two runs; or why they cannot be compared by this measure. Of two conditions in the same `blocks`,
/// one difference per block.
pub(super) fn trials(Match { a, b, .. }: &Match<'_>, measure: Measure, blocks: bool) -> Result<Values, String> {
    let shown = (a.value(measure)?, b.value(measure)?);
    if blocks {
        let differences = within_blocks(a, b, measure);
        if differences.len() > 1 {
            return Ok(Values::Rounds { differences, pairs: Vec::new(), shown });
        }
    }
    if let (Some(first), Some(second), Measure::Met) = (&a.row.latency, &b.row.latency, measure) {
        let n = (first.trials.len(), second.trials.len());
        return Ok(Values::Means { a: share(first), b: share(second), shown, n, method: Method::Welch });
    }
    let metric = a.row.cell.metric;
    let better = |values: Vec<f64>| values.into_iter().map(|value| goodness(metric, measure, value)).collect();
    match (a.each(measure), b.each(measure)) {
        (Some(first), Some(second)) => Ok(Values::Trials { a: better(first), b: better(second), shown }),
        _ if measure == Measure::P99 => merged(a, b, shown),
        (None, _) => Err(format!("a trial of {} counted nothing", a.letter)),
        (_, None) => Err(format!("a trial of {} counted nothing", b.letter)),
    }
}

/// What the second condition is better by in each block that has both.
fn within_blocks(a: &Side<'_>, b: &Side<'_>, measure: Measure) -> Vec<(u32, f64)> {
    let better = |value: f64| goodness(a.row.cell.metric, measure, value);
    let second = b.by_block(measure);
    let pair = |(block, value): (u32, f64)| {
        let (_, other) = second.iter().find(|(number, _)| *number == block)?;
        Some((block, better(*other) - better(value)))
    };
    a.by_block(measure).into_iter().filter_map(pair).collect()
}

/// Compares p99 of all trials' frames together, whose intervals are by resampling trials: single trials have too few
/// frames.
fn merged(a: &Side<'_>, b: &Side<'_>, shown: (f64, f64)) -> Result<Values, String> {
    let mean = |side: &Side<'_>| {
        let score = &side.row.score;
        if side.row.latency.as_ref().is_none_or(|latency| latency.value != "p99") {
            return Err(format!("{} has too few frames for a p99", side.letter));
        }
        let degrees = side.row.n as f64 - 1.0;
        let error = (score.high / score.value).ln() / quantile_975(degrees);
        Ok(Mean { value: -score.value.max(LEAST).ln(), error, degrees })
    };
    Ok(Values::Means { a: mean(a)?, b: mean(b)?, shown, n: (a.row.n, b.row.n), method: Method::Bootstrap })
}

/// Returns the mean share of deadlines met with its error over trials. Where all trials have the same share, as 100 %,
/// their spread shows nothing: then at most 3 in `planned` frames are otherwise (the rule of three, Hanley &
/// Lippman-Hand 1983), and half of that is the error.
fn share(latency: &Latency) -> Mean {
    let shares: Vec<f64> = latency.trials.iter().filter_map(|trial| trial.met).collect();
    let mean = Mean::of(&shares);
    if mean.error > 0.0 { mean } else { Mean { error: 150.0 / latency.planned.max(1) as f64, ..mean } }
}

/// Returns one difference per round, of A against B; or why no round has any.
pub(super) fn rounds(found: &[Match<'_>], measure: Measure) -> Result<Values, String> {
    let (mut differences, mut pairs) = (Vec::new(), Vec::new());
    let mut reason = String::new();
    for Match { number, a, b } in found {
        match (a.value(measure), b.value(measure)) {
            (Ok(first), Ok(second)) => {
                let metric = a.row.cell.metric;
                let better = |value: f64| goodness(metric, measure, value);
                differences.push((*number, better(first) - better(second)));
                pairs.push(Pair { round: *number, a: first, b: second, delta: gain(metric, measure, first, second) });
            }
            (Err(why), _) | (_, Err(why)) => reason = why,
        }
    }
    if pairs.is_empty() {
        return Err(reason);
    }
    let middle = |of: fn(&Pair) -> f64| median(&pairs.iter().map(of).collect::<Vec<f64>>());
    let shown = (middle(|pair| pair.a), middle(|pair| pair.b));
    Ok(Values::Rounds { differences, pairs, shown })
}

/// Returns what `a` is better by than `b`, in per cent of a rate, or in points. The same as by logarithms, and to the last
/// digit the thesis's (RUN1 − RUN2) ÷ RUN2 · 100.
fn gain(metric: Metric, measure: Measure, a: f64, b: f64) -> f64 {
    match (measure, metric) {
        (Measure::Met, _) => a - b,
        // A time's rate is its inverse.
        (_, Metric::Latency | Metric::Time) => (b - a) / a * 100.0,
        (_, _) => (a - b) / b * 100.0,
    }
}

/// What is known of the numbers of a cell, with the letters of the runs; how many trials they rest on is told elsewhere.
pub(super) fn warnings(found: &[Match<'_>]) -> Vec<Remark> {
    let sides = found.iter().flat_map(|one| [&one.a, &one.b]);
    let remarks = |side: &'_ Side<'_>| -> Vec<Remark> {
        let kept = side.row.warnings.iter().filter(|remark| !remark.is_of_method());
        kept.map(|remark| Remark::InRun { run: side.letter.to_owned(), remark: Box::new(remark.clone()) }).collect()
    };
    sides.flat_map(remarks).collect()
}
