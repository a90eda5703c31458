//! Times and resources of a command's executions, and what a reader must know of them.
//!
//! Every report shows the median over all executions of a command in the run, whatever trial they
//! are in. Its interval is that of a series ([`stats::series_median`]): executions follow each
//! other, and the machine's speed wanders.

use journal::{Cell, Execution, Trial};
use stats::{Estimate, median, series_median};
use words::Grouped;

use crate::figures::rate::MS;
use crate::figures::{Measure, Remark, is_printed};

const KIB_PER_MIB: f64 = 1024.0;

/// Fewest executions of which an unlike first one is reported: as many as give the median an
/// interval.
const MIN_EXECUTIONS: usize = 6;

/// Smallest distance of the first execution from the median of the others that is reported, in
/// standard deviations (by their median) and as a factor. hyperfine reports it from ten deviations
/// on.
const MIN_FIRST_DEVIATIONS: f64 = 10.0;
const MIN_FIRST_FACTOR: f64 = 1.5;

/// The standard deviation of normal values over their median absolute deviation.
const DEVIATION_OVER_MEDIAN_ABSOLUTE: f64 = 1.4826;

/// The executions of a command in all trials of a cell.
#[derive(Debug, Clone)]
pub struct Executed {
    /// All executions, in the order in which they began.
    pub all: Vec<Execution>,
    /// The medians of what an execution used: processor time, user time and system time in ms, and
    /// the memory of its largest process in MiB.
    pub used: Vec<(Measure, Estimate)>,
    /// The time in ms of a process that does nothing, where the program measured it.
    pub start: Option<f64>,
}

impl Executed {
    /// The executions of a cell's trials; `None` if they have none.
    pub(crate) fn new(trials: &[&Trial]) -> Option<Executed> {
        let all = executions(trials);
        if all.is_empty() {
            return None;
        }

        let measures = [Measure::Cpu, Measure::User, Measure::System, Measure::Memory];
        let used = measures.map(|measure| (measure, typical(&all, measure)));
        let starts: Vec<f64> = trials
            .iter()
            .filter_map(|trial| Some(trial.copies.first()?.values.get("start")?.0))
            .collect();
        Some(Executed {
            all,
            used: used.into(),
            start: (!starts.is_empty()).then(|| median(&starts)),
        })
    }

    /// The median of what an execution used by a measure.
    pub fn used(&self, measure: Measure) -> Option<Estimate> {
        self.used.iter().find(|(known, _)| *known == measure).map(|(_, used)| *used)
    }
}

/// The executions of some trials, in the order in which they began.
fn executions(trials: &[&Trial]) -> Vec<Execution> {
    let mut all = Vec::new();
    for trial in trials {
        let first = all.len();
        all.extend(trial.copies.iter().flat_map(|copy| &copy.executions).copied());
        // Copies execute their command at the same time.
        all[first..].sort_by_key(|execution| execution.start);
    }
    all
}

/// The median time of the executions of some trials in ms; `None` without any.
pub(crate) fn median_ms<'a>(trials: impl Iterator<Item = &'a Trial>) -> Option<f64> {
    let all = executions(&trials.collect::<Vec<_>>());
    let walls: Vec<f64> = all.iter().map(|one| amount(one, Measure::Score)).collect();
    (!walls.is_empty()).then(|| median(&walls))
}

/// What an execution used by a measure, in the measure's unit; its time in ms by
/// [`Measure::Score`].
pub(crate) fn amount(execution: &Execution, measure: Measure) -> f64 {
    match measure {
        Measure::Cpu => (execution.user + execution.system) as f64 / MS,
        Measure::User => execution.user as f64 / MS,
        Measure::System => execution.system as f64 / MS,
        Measure::Memory => execution.maxrss_kib as f64 / KIB_PER_MIB,
        _ => execution.wall() as f64 / MS,
    }
}

fn typical(executions: &[Execution], measure: Measure) -> Estimate {
    let amounts: Vec<f64> = executions.iter().map(|one| amount(one, measure)).collect();
    series_median(&amounts)
}

/// The score of a cell of a command: the median time of all executions or, of a printed figure, the
/// median of all values. `None` if the cell is of neither, or nothing was executed.
pub(crate) fn score(cell: &Cell, trials: &[&Trial]) -> Option<Scored> {
    let values: Vec<f64> = if is_printed(cell) {
        let figures = trials.iter().flat_map(|trial| &trial.copies).flat_map(|copy| &copy.printed);
        figures.flat_map(|figure| &figure.rounds).map(|(_, value)| *value).collect()
    } else if cell.is_of_command() {
        executions(trials).iter().map(|one| amount(one, Measure::Score)).collect()
    } else {
        return None;
    };
    if values.is_empty() {
        return None;
    }
    Some(Scored { estimate: series_median(&values), executions: values.len() })
}

/// The score of a command, and the number of executions behind it.
pub(crate) struct Scored {
    pub(crate) estimate: Estimate,
    pub(crate) executions: usize,
}

/// Remarks on the executions of a command: how many failed, and a first one unlike the others.
pub(crate) fn remarks(trials: &[&Trial]) -> Vec<Remark> {
    let all = executions(trials);
    [failures(&all), unlike_first(&all)].into_iter().flatten().collect()
}

/// A remark on executions that failed, by their exit statuses in order of appearance.
fn failures(all: &[Execution]) -> Option<Remark> {
    let failed = all.iter().filter(|one| one.status != 0);
    let by_status = failed.map(|one| (one.status, one)).grouped();
    if by_status.is_empty() {
        return None;
    }
    let statuses = by_status.iter().map(|(status, executions)| (*status, executions.len()));
    Some(Remark::FailedExecutions { statuses: statuses.collect(), of: all.len() })
}

/// A remark on a first execution that lies beyond all others and far from their median, as where it
/// fills a cache.
fn unlike_first(all: &[Execution]) -> Option<Remark> {
    let walls: Vec<f64> = all.iter().map(|one| amount(one, Measure::Score)).collect();
    let (first, others) = walls.split_first()?;
    if walls.len() < MIN_EXECUTIONS {
        return None;
    }

    let typical = median(others);
    let deviations: Vec<f64> = others.iter().map(|wall| (wall - typical).abs()).collect();
    let deviation = DEVIATION_OVER_MEDIAN_ABSOLUTE * median(&deviations);
    let is_beyond_all =
        others.iter().all(|wall| wall < first) || others.iter().all(|wall| wall > first);
    let is_far = (first - typical).abs() > MIN_FIRST_DEVIATIONS * deviation
        && first.max(typical) > MIN_FIRST_FACTOR * first.min(typical);
    (is_beyond_all && is_far)
        .then_some(Remark::UnlikeFirst { first_ms: *first, others_ms: typical })
}
