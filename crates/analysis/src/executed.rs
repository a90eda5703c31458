//! Times and resources of a command's executions.

use journal::{Cell, Execution, Trial};
use stats::{Estimate, mean, median_interval};

use super::{Measure, rate, rate::MS};

const KIB_OF_MIB: f64 = 1024.0;

/// The fewest trials whose means have an interval; of fewer the executions have one.
const FEWEST: usize = 6;

/// The executions of a command in all trials of a cell.
#[derive(Debug, Clone)]
pub struct Executed {
    /// All of them, in order.
    pub all: Vec<Execution>,
    /// User time in ms, system time in ms, memory of the largest process in MiB: the median, by measure.
    pub used: Vec<(Measure, Estimate)>,
    /// Milliseconds of a process that does nothing, where the program measured it.
    pub start: Option<f64>,
}

impl Executed {
    /// Returns what a cell's trials tell of executions; `None` where they have none.
    pub(super) fn new(trials: &[&Trial]) -> Option<Executed> {
        let all: Vec<Execution> = executions(trials).copied().collect();
        if all.is_empty() {
            return None;
        }
        let measures = [Measure::User, Measure::System, Measure::Memory];
        let starts: Vec<f64> =
            trials.iter().filter_map(|trial| Some(trial.copies.first()?.values.get("start")?.0)).collect();
        Some(Executed {
            used: measures.into_iter().map(|measure| (measure, used(trials, measure))).collect(),
            all,
            start: (!starts.is_empty()).then(|| stats::median(&starts)),
        })
    }
}

fn executions<'a>(trials: &'a [&'a Trial]) -> impl Iterator<Item = &'a Execution> {
    trials.iter().flat_map(|trial| &trial.copies).flat_map(|copy| &copy.executions)
}

/// Returns what an execution used by a measure, in its unit; its time in ms by [`Measure::Score`].
pub(super) fn amount(one: &Execution, measure: Measure) -> f64 {
    match measure {
        Measure::Cpu => (one.user + one.system) as f64 / MS,
        Measure::User => one.user as f64 / MS,
        Measure::System => one.system as f64 / MS,
        Measure::Memory => one.maxrss_kib as f64 / KIB_OF_MIB,
        _ => one.wall() as f64 / MS,
    }
}

/// The median over trials of their executions' means, or over executions where there are few trials.
fn used(trials: &[&Trial], measure: Measure) -> Estimate {
    let of_trial = |trial: &&Trial| mean(executions(&[*trial]).map(|one| amount(one, measure)));
    if trials.len() >= FEWEST {
        return median_interval(&trials.iter().map(of_trial).collect::<Vec<f64>>());
    }
    median_interval(&executions(trials).map(|one| amount(one, measure)).collect::<Vec<f64>>())
}

/// Returns the time of a command that was measured in few trials, by its executions.
pub(super) fn wall(cell: &Cell, trials: &[&Trial]) -> Option<Estimate> {
    let walls: Vec<f64> = executions(trials).map(|one| amount(one, Measure::Score)).collect();
    (cell.command && trials.len() < FEWEST && !walls.is_empty()).then(|| rate::typical(&walls))
}
