//! The values that a comparison takes from the rows of runs: the trials of a cell, or one value per
//! run of a round.

use super::Compared;
use crate::figures::latency::hidden;
use crate::figures::{Figure, Latency, MIN_LATENCY_MS, Measure, Remark};
use crate::products::comparison::Scale;
use crate::products::comparison::engine::{Data, Design, Observed, Sides, Values};
use catalogue::Metric;
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
    /// The cell in either run.
    pub(super) sides: Sides<Side<'a>>,
}

impl Side<'_> {
    /// The cell's own measures: its score, or an interactive test's median, p99 and deadlines.
    fn measures(&self) -> &'static [Measure] {
        match &self.row.latency {
            None => &[Measure::Score],
            Some(latency) if latency.deadlines_met.is_some() => {
                &[Measure::P50, Measure::P99, Measure::Met]
            }
            Some(_) => &[Measure::P50, Measure::P99],
        }
    }

    /// The source of an operation's energy, if it is known.
    fn energy(&self) -> Option<&str> {
        self.row.energy.as_ref()?.per_operation?;
        self.run.results.facts.energy_source()
    }

    /// The properties by which its numbers are comparable: the name and the value of each.
    fn comparable_properties(&self) -> [(&'static str, String); 3] {
        let latency = self.row.latency.as_ref();
        let kind = latency
            .map_or("none".to_owned(), |latency| format!("{:?}", latency.kind).to_lowercase());
        let has_deadline = latency.is_some_and(|latency| latency.deadlines_met.is_some());
        let deadline = if has_deadline { "one" } else { "none" }.to_owned();
        [
            ("its unit", self.row.cell.unit.clone()),
            ("the kind of its latency", kind),
            ("its deadline", deadline),
        ]
    }

    /// Why the numbers of this and another run's cell do not mean the same, if they do not.
    pub(super) fn describe_difference(&self, other: &Side<'_>) -> Option<String> {
        let own_properties = self.comparable_properties();
        let other_properties = other.comparable_properties();
        let mut pairs = own_properties.iter().zip(&other_properties);
        let ((property, value), (_, other_value)) = pairs.find(|(own, other)| own != other)?;

        let (letter, other_letter) = (&self.run.letter, &other.run.letter);
        Some(format!("{property} differs: {value} in {letter}, {other_value} in {other_letter}"))
    }

    /// The whole run's value of a measure; or why there is none.
    pub(super) fn value(&self, measure: Measure) -> Result<f64, String> {
        let Side { run: Compared { letter, .. }, row } = self;
        row.value(measure).ok_or_else(|| match measure {
            Measure::Score => format!("nothing was counted in {letter}"),
            Measure::Energy => format!("the energy is not known in {letter}"),
            Measure::Met => format!("no deadlines in {letter}"),
            _ => {
                let frames = row.latency.as_deref().map_or(0, |latency| latency.histogram.count());
                let wanted = if measure == Measure::P99 { 1000 } else { 20 };
                format!(
                    "{letter} has {frames} frames in all, and a {} needs {wanted}",
                    measure.name()
                )
            }
        })
    }

    /// The values of a measure by block: every trial's, or `None` if one has none; of energy,
    /// those of metered blocks, `None` if none was.
    fn trials(&self, measure: Measure) -> Option<Values> {
        if measure == Measure::Energy {
            let joules = self.row.energy.as_ref()?.joules_by_block();
            return Some(numbered_from_1(joules));
        }
        match &self.row.latency {
            Some(latency) => latency_values(latency, measure),
            None => self.trial_scores(),
        }
    }

    /// Every trial's score; `None` if a trial counted nothing.
    fn trial_scores(&self) -> Option<Values> {
        let mut scores = numbered_from_1(self.row.by_block());
        if scores.is_empty() {
            // An imported report has the score alone.
            scores.push((1, self.row.score.value));
        }
        scores.iter().all(|(_, rate)| self.row.cell.is_comparable(*rate)).then_some(scores)
    }
}

/// Values by block, whose numbers begin with 0, as values by round, whose numbers begin with 1.
fn numbered_from_1(by_block: impl IntoIterator<Item = (u32, f64)>) -> Values {
    by_block.into_iter().map(|(block, value)| (block + 1, value)).collect()
}

/// Every trial's value of an interactive test; `None` if a trial has none.
fn latency_values(latency: &Latency, measure: Measure) -> Option<Values> {
    let mut values = Values::new();
    for trial in &latency.trials {
        let value = match measure {
            Measure::P99 => trial.p99,
            Measure::Met => trial.met,
            _ => Some(trial.p50).filter(|ms| *ms > 0.0),
        };
        values.push((trial.block + 1, value?));
    }
    Some(values)
}

/// The measures of a cell: its own, and an operation's energy where both runs of each round have it
/// from one kind of source.
pub(super) fn measures(matches: &[Match<'_>]) -> Vec<Measure> {
    let mut measures = Vec::new();
    if let Some(first) = matches.first() {
        measures.extend(first.sides.a.measures());
    }

    let have_one_source = matches.iter().all(|round| {
        let Sides { a, b } = round.sides.as_ref().map(Side::energy);
        a.is_some() && a == b
    });
    measures.extend(have_one_source.then_some(Measure::Energy));
    measures
}

/// What the runs have of a cell by a measure; or why they cannot be compared by it. Conditions that
/// share no blocks are compared as runs apart.
pub(super) fn observe(
    matches: &[Match<'_>],
    measure: Measure,
    design: Design,
) -> Result<Observed, String> {
    let Some(Match { sides, .. }) = matches.first() else {
        return Err("no run has it".to_owned());
    };
    match design {
        Design::Rounds | Design::Turns => observe_rounds(matches, measure, design),
        Design::Blocks | Design::Units => observe_pair(sides, measure, design),
        Design::Apart => Ok(Observed {
            between: varies_between_runs(sides.a.row).then(|| chance_between_runs(sides, measure)),
            ..observe_pair(sides, measure, design)?
        }),
    }
}

fn observe_pair(
    sides: &Sides<Side<'_>>,
    measure: Measure,
    design: Design,
) -> Result<Observed, String> {
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
        let shares = deadline_shares(first, second);
        return Ok(observe_means(shares, Scale::Points, shown, n, Method::Welch));
    }

    match trials {
        Sides { a: Some(a), b: Some(b) } => {
            let drift = sides.map(|side| side.row.widening);
            let widening = drift.a.of_difference(drift.b);
            let apart = Observed::new(Design::Apart, metric, measure, &Sides { a, b });
            Ok(Observed { shown, widening, ..apart })
        }
        _ if measure == Measure::P99 => {
            let p99s = Sides { a: log_p99(a)?, b: log_p99(b)? };
            let n = Sides { a: a.row.n, b: b.row.n };
            Ok(observe_means(p99s, Scale::Ratio, shown, n, Method::Bootstrap))
        }
        Sides { a: None, .. } => Err(format!("a trial of {} counted nothing", a.run.letter)),
        _ => Err(format!("a trial of {} counted nothing", b.run.letter)),
    }
}

/// True if a machine that changes from run to run may change a figure: all but amounts that another
/// program printed, such as allocations.
fn varies_between_runs(row: &Figure) -> bool {
    !(row.cell.is_printed() && matches!(row.cell.metric, Metric::Amount | Metric::Yield))
}

/// How likely two runs like these are as far apart, by earlier ones like either; 1 where those are
/// too few, or are not known by this measure.
fn chance_between_runs(sides: &Sides<Side<'_>>, measure: Measure) -> f64 {
    let Sides { a, b } = sides;
    if !is_score(a.row, measure) || !is_score(b.row, measure) {
        return 1.0;
    }
    let earlier = a.row.another.or(b.row.another);
    earlier.map_or(1.0, |earlier| earlier.chance(a.row.score.value, b.row.score.value))
}

/// True if a measure is what the row shows as its score.
fn is_score(row: &Figure, measure: Measure) -> bool {
    match &row.latency {
        Some(latency) => latency.value == measure.name(),
        None => measure == Measure::Score,
    }
}

fn observe_means(
    means: Sides<Mean>,
    scale: Scale,
    shown: Sides<f64>,
    n: Sides<usize>,
    method: Method,
) -> Observed {
    let [base, judged] = Design::Apart.base_first(means);
    Observed::from_data(Design::Apart, scale, shown, n, Data::Means(judged.less(&base), method))
}

/// The negative logarithm of the p99 of all trials' frames together, whose interval is by
/// resampling trials: single trials have too few frames.
fn log_p99(side: &Side<'_>) -> Result<Mean, String> {
    let score = &side.row.score;
    if side.row.latency.as_ref().is_none_or(|latency| latency.value != "p99") {
        return Err(format!("{} has too few frames for a p99", side.run.letter));
    }
    let degrees = side.row.n as f64 - 1.0;
    let error = (score.high / score.value).natural_log() / quantile_975(degrees);
    Ok(Mean { value: -score.value.max(MIN_LATENCY_MS).natural_log(), error, degrees })
}

/// The mean shares of deadlines met with their errors over trials. Where no trial of either side
/// differs from the others, as where all have 100 %, their spread shows nothing: then half of what
/// may be hidden is the error.
fn deadline_shares(a: &Latency, b: &Latency) -> Sides<Mean> {
    let means = Sides { a, b }.map(|side| {
        let shares: Vec<f64> = side.trials.iter().filter_map(|trial| trial.met).collect();
        Mean::new(&shares)
    });
    if means.a.error > 0.0 || means.b.error > 0.0 {
        return means;
    }
    means.map(|mean| Mean { error: hidden(mean.degrees as usize + 1) / 2.0, ..mean })
}

/// The values of the rounds whose two runs have one; or why none has.
fn observe_rounds(
    matches: &[Match<'_>],
    measure: Measure,
    design: Design,
) -> Result<Observed, String> {
    let mut values: Sides<Values> = Sides::default();
    let mut last_reason = String::new();
    for Match { number, sides } in matches {
        match (sides.a.value(measure), sides.b.value(measure)) {
            (Ok(a), Ok(b)) => {
                values.a.push((*number, a));
                values.b.push((*number, b));
            }
            (Err(reason), _) | (_, Err(reason)) => last_reason = reason,
        }
    }

    match matches.first() {
        Some(first) if !values.a.is_empty() => {
            Ok(Observed::new(design, first.sides.a.row.cell.metric, measure, &values))
        }
        _ => Err(last_reason),
    }
}

/// The remarks on the numbers of a cell, with the letters of the runs; not those on how many trials
/// they rest on, which the notes have.
pub(super) fn warnings(matches: &[Match<'_>]) -> Vec<Remark> {
    let mut warnings = Vec::new();
    for side in matches.iter().flat_map(|round| [round.sides.a, round.sides.b]) {
        for remark in side.row.warnings.iter().filter(|remark| !remark.is_of_method()) {
            warnings.push(Remark::InRun {
                run: side.run.letter.clone(),
                remark: Box::new(remark.clone()),
            });
        }
    }
    warnings
}
