//! The values that a comparison takes from the rows of runs: the trials of a cell, or one value per run of a round.

use super::engine::{Data, Design, Observed, Sides, Values};
use super::measure::LEAST;
use super::{Compared, Measure};
use crate::latency::hidden;
use crate::{Figure, Latency, Remark, TrialFigures};
use stats::{Exact, Mean, Method, quantile_975};

/// A cell in one run.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    /// The run.
    pub(super) run: &'a Compared,
    /// Its result.
    pub(super) row: &'a Figure,
}

/// A cell that both runs of a round have.
pub(super) struct Match<'a> {
    /// The number of the round, from 1.
    pub(super) number: u32,
    /// In either run.
    pub(super) sides: Sides<Side<'a>>,
}

impl Side<'_> {
    /// Returns the cell's own measures: its score, or an interactive test's median, p99 and deadlines.
    fn measures(&self) -> &'static [Measure] {
        match &self.row.latency {
            None => &[Measure::Score],
            Some(latency) if latency.deadlines_met.is_some() => &[Measure::P50, Measure::P99, Measure::Met],
            Some(_) => &[Measure::P50, Measure::P99],
        }
    }

    /// Returns the source of an operation's energy, if it is known.
    fn energy(&self) -> Option<&str> {
        self.row.energy.as_ref()?.per_operation?;
        self.run.results.facts.energy_source()
    }

    /// Returns the properties by which its numbers are comparable: the name and the value of each.
    fn meaning(&self) -> [(&'static str, String); 3] {
        let latency = self.row.latency.as_ref();
        let kind = latency.map_or("none".to_owned(), |latency| format!("{:?}", latency.kind).to_lowercase());
        let has_deadline = latency.is_some_and(|latency| latency.deadlines_met.is_some());
        let deadline = if has_deadline { "one" } else { "none" }.to_owned();
        [("its unit", self.row.cell.unit.clone()), ("the kind of its latency", kind), ("its deadline", deadline)]
    }

    /// Returns why the numbers of this and another run's cell do not mean the same, if they do not.
    pub(super) fn unlike(&self, other: &Side<'_>) -> Option<String> {
        let (here, there) = (&self.run.letter, &other.run.letter);
        let mut properties = self.meaning().into_iter().zip(other.meaning());
        let ((what, mine), (_, theirs)) = properties.find(|(mine, theirs)| mine != theirs)?;
        Some(format!("{what} differs: {mine} in {here}, {theirs} in {there}"))
    }

    /// Returns the whole run's value of a measure; or why there is none.
    pub(super) fn value(&self, measure: Measure) -> Result<f64, String> {
        let Side { run: Compared { letter, .. }, row } = self;
        let value = match (&row.latency, measure) {
            (_, Measure::Energy) => row.energy.as_ref().and_then(|energy| energy.per_operation).map(|one| one.value),
            (Some(latency), Measure::Met) => latency.deadlines_met.map(|met| met.value),
            (Some(latency), measure) if measure.is_percentile() => {
                latency.percentile(measure.name()).map(|ms| ms.max(LEAST))
            }
            _ => Some(row.score.value).filter(|score| row.cell.metric.is_comparable(*score)),
        };
        value.filter(|value| value.is_finite()).ok_or_else(|| match measure {
            Measure::Score => format!("nothing was counted in {letter}"),
            Measure::Energy => format!("the energy is not known in {letter}"),
            Measure::Met => format!("no deadlines in {letter}"),
            _ => {
                let frames = row.latency.as_deref().map_or(0, |latency| latency.histogram.count());
                let wanted = if measure == Measure::P99 { 1000 } else { 20 };
                format!("{letter} has {frames} frames in all, and a {} needs {wanted}", measure.name())
            }
        })
    }

    /// Returns every trial's value of a measure; `None` if a trial has none.
    fn trials(&self, measure: Measure) -> Option<Values> {
        if measure == Measure::Energy {
            let values = self.row.energy.as_ref()?.joules_by_block();
            return Some(values.into_iter().map(|(block, joules)| (block + 1, joules)).collect());
        }
        let Some(latency) = &self.row.latency else {
            let values: Values = self.row.by_block().into_iter().map(|(block, value)| (block + 1, value)).collect();
            // An imported report has the score alone.
            let values = if values.is_empty() { vec![(1, self.row.score.value)] } else { values };
            return values.iter().all(|(_, rate)| self.row.cell.metric.is_comparable(*rate)).then_some(values);
        };
        let value = |trial: &TrialFigures| match measure {
            Measure::P99 => trial.p99,
            Measure::Met => trial.met,
            _ => Some(trial.p50).filter(|ms| *ms > 0.0),
        };
        latency.trials.iter().map(|trial| Some((trial.block + 1, value(trial)?))).collect()
    }
}

/// Returns the measures of a cell: what it is itself, and an operation's energy where both runs of each round have it
/// from one kind of source.
pub(super) fn measures(found: &[Match<'_>]) -> Vec<Measure> {
    let own = found.first().map_or(&[][..], |one| one.sides.a.measures());
    let of_both = |one: &Match<'_>| {
        let Sides { a, b } = one.sides.as_ref().map(Side::energy);
        a.is_some() && a == b
    };
    own.iter().copied().chain(found.iter().all(of_both).then_some(Measure::Energy)).collect()
}

/// Returns what the runs have of a cell by a measure; or why they cannot be compared by it. Conditions that share no
/// blocks are compared as runs apart.
pub(super) fn observed(found: &[Match<'_>], measure: Measure, design: Design) -> Result<Observed, String> {
    let Some(Match { sides, .. }) = found.first() else { return Err("no run has it".to_owned()) };
    match design {
        Design::Rounds | Design::Turns => rounds(found, measure, design),
        Design::Blocks => of_one_pair(sides, measure, design),
        Design::Apart => Ok(Observed { between: Some(chance(sides, measure)), ..of_one_pair(sides, measure, design)? }),
    }
}

fn of_one_pair(sides: &Sides<Side<'_>>, measure: Measure, design: Design) -> Result<Observed, String> {
    let Sides { a, b } = sides;
    let metric = a.row.cell.metric;
    let shown = Sides { a: a.value(measure)?, b: b.value(measure)? };
    let trials = sides.map(|side| side.trials(measure));
    if design == Design::Blocks {
        let values = trials.clone().map(Option::unwrap_or_default);
        let within = Observed::new(design, metric, measure, &values);
        if within.pairs.len() > 1 {
            return Ok(Observed { shown, ..within });
        }
    }
    if let (Some(first), Some(second), Measure::Met) = (&a.row.latency, &b.row.latency, measure) {
        let n = Sides { a: first.trials.len(), b: second.trials.len() };
        return Ok(of_means(shares(first, second), shown, n, Method::Welch));
    }
    match trials {
        Sides { a: Some(a), b: Some(b) } => {
            let drift = sides.map(|side| side.row.widening);
            let widening = drift.a.of_difference(drift.b);
            let apart = Observed::new(Design::Apart, metric, measure, &Sides { a, b });
            Ok(Observed { shown, widening, ..apart })
        }
        _ if measure == Measure::P99 => {
            let (means, n) = (Sides { a: merged(a)?, b: merged(b)? }, Sides { a: a.row.n, b: b.row.n });
            Ok(of_means(means, shown, n, Method::Bootstrap))
        }
        Sides { a: None, .. } => Err(format!("a trial of {} counted nothing", a.run.letter)),
        _ => Err(format!("a trial of {} counted nothing", b.run.letter)),
    }
}

/// Returns how likely two runs like these are as far apart, by earlier ones like either; 1 where those
/// are too few, or are not known by this measure.
fn chance(sides: &Sides<Side<'_>>, measure: Measure) -> f64 {
    let is_score = |side: &Side<'_>| match &side.row.latency {
        Some(latency) => latency.value == measure.name(),
        None => measure == Measure::Score,
    };
    let Sides { a, b } = sides;
    if !(is_score(a) && is_score(b)) {
        return 1.0;
    }
    let earlier = a.row.another.or(b.row.another);
    earlier.map_or(1.0, |earlier| earlier.chance(a.row.score.value, b.row.score.value))
}

fn of_means(means: Sides<Mean>, shown: Sides<f64>, n: Sides<usize>, method: Method) -> Observed {
    let [base, judged] = Design::Apart.base_first(means);
    Observed::from_data(Design::Apart, shown, n, Data::Means(judged.less(&base), method))
}

/// Returns p99 of all trials' frames together, whose interval is by resampling trials: single trials have too few
/// frames.
fn merged(side: &Side<'_>) -> Result<Mean, String> {
    let score = &side.row.score;
    if side.row.latency.as_ref().is_none_or(|latency| latency.value != "p99") {
        return Err(format!("{} has too few frames for a p99", side.run.letter));
    }
    let degrees = side.row.n as f64 - 1.0;
    let error = (score.high / score.value).natural_log() / quantile_975(degrees);
    Ok(Mean { value: -score.value.max(LEAST).natural_log(), error, degrees })
}

/// Returns the mean shares of deadlines met with their errors over trials. Where no trial of either side differs from
/// the others, as where all have 100 %, their spread shows nothing: then half of what may be hidden is the error.
fn shares(a: &Latency, b: &Latency) -> Sides<Mean> {
    let mean = |side: &Latency| Mean::new(&side.trials.iter().filter_map(|trial| trial.met).collect::<Vec<f64>>());
    let means = Sides { a: mean(a), b: mean(b) };
    if means.a.error > 0.0 || means.b.error > 0.0 {
        return means;
    }
    means.map(|mean| Mean { error: hidden(mean.degrees as usize + 1) / 2.0, ..mean })
}

/// Returns the values of the rounds whose two runs have one; or why none has.
fn rounds(found: &[Match<'_>], measure: Measure, design: Design) -> Result<Observed, String> {
    let mut values: Sides<Values> = Sides::default();
    let mut reason = String::new();
    for Match { number, sides } in found {
        match (sides.a.value(measure), sides.b.value(measure)) {
            (Ok(a), Ok(b)) => {
                values.a.push((*number, a));
                values.b.push((*number, b));
            }
            (Err(why), _) | (_, Err(why)) => reason = why,
        }
    }
    match found.first() {
        Some(first) if !values.a.is_empty() => {
            Ok(Observed::new(design, first.sides.a.row.cell.metric, measure, &values))
        }
        _ => Err(reason),
    }
}

/// Returns the remarks on the numbers of a cell, with the letters of the runs; how many trials they rest on is told
/// elsewhere.
pub(super) fn warnings(found: &[Match<'_>]) -> Vec<Remark> {
    let sides = found.iter().flat_map(|one| [one.sides.a, one.sides.b]);
    let remarks = |side: Side<'_>| {
        let kept = side.row.warnings.iter().filter(|remark| !remark.is_of_method());
        let in_run = |remark: &Remark| Remark::InRun { run: side.run.letter.clone(), remark: Box::new(remark.clone()) };
        kept.map(in_run).collect::<Vec<Remark>>()
    };
    sides.flat_map(remarks).collect()
}
