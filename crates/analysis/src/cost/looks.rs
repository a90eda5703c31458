//! Questions of the runner while it measures: whether intervals are narrow enough, and what deserves a second look.

use super::arms::Arms;
use super::{BTreeSet, Cell, Measure, THRESHOLD, Trial};
use crate::{is_printed, printed};
use journal::Copy;
use stats::{Estimate, Exact};

use crate::compare::engine::{Design, Difference, Draft};
use crate::compare::inverse;
use catalogue::Metric;

/// Half-widths of logarithms that are enough: of rates, and of latencies.
const NARROW: f64 = 0.005;
const NARROW_LATENCY: f64 = 0.05;

/// The share of a large difference at which its half-width is narrow enough.
const SHARE: f64 = 0.2;

/// The fewest executions of a command whose noise is known: by simulation, an interval that fewer let appear narrow
/// enough holds in one of three runs.
const FEWEST: usize = 20;

/// The share of a difference between commands that is narrow enough as the half-width of its interval.
const PART: f64 = 0.1;

/// The condition compared with is the one that has a control; without any, the first.
pub(super) fn against(cells: &[Cell]) -> &str {
    cells.iter().find(|cell| cell.control).or(cells.first()).map_or("", |cell| cell.key.condition.as_str())
}

/// Returns the cells of a family as if they were a run's, numbered by their place, with their trials.
fn numbered<'a>(family: &[(&Cell, &'a [Trial])]) -> (Vec<Cell>, Vec<Vec<&'a Trial>>) {
    let cells = family.iter().enumerate().map(|(id, (cell, _))| Cell { id, ..(*cell).clone() });
    (cells.collect(), family.iter().map(|(_, trials)| trials.iter().collect()).collect())
}

/// Returns true if every condition of one test (with its copies and load) is measured well enough: the half-width of
/// its difference is at most 0.5 %, or a fifth of the difference; of an interactive test's median and p99 5 %; or the
/// user's own `precision` in place of both. Whether a difference is shown decides nothing, so looking several times
/// makes no false alarm. That a large one may be known less narrowly does: by simulation it costs up to two points of
/// coverage, and 0.3 points of bias away from 0. A condition without a result, and one that was measured in blocks of
/// its own, want no more blocks.
pub fn enough(family: &[(&Cell, &[Trial])], precision: Option<f64>) -> bool {
    let (cells, trials) = numbered(family);
    let arms = Arms { cells: &cells, trials: &trials, against: against(&cells), threshold: THRESHOLD };
    let treated = arms.treated().filter(|cell| !cell.first);
    let judged = |draft: &Draft| matches!(draft.comparison.measure, Measure::Score | Measure::P50 | Measure::P99);
    treated.flat_map(|cell| arms.drafts(cell).0).filter(judged).all(|draft| {
        let estimate = draft.difference.shift.estimate;
        let usual = if draft.comparison.cell.metric == Metric::Latency { NARROW_LATENCY } else { NARROW };
        let narrow = precision.unwrap_or(usual);
        (estimate.high - estimate.low) / 2.0 <= f64::max(narrow, SHARE * estimate.value.abs())
    })
}

/// A question about commands that are executed in turn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// The width of the interval of a difference that answers it, as a share.
    pub precision: f64,
    /// The difference in per cent on one side of which the interval answers it, too.
    pub threshold: Option<f64>,
    /// Seconds after which no answer comes any more.
    pub budget: f64,
}

/// Returns true if what was measured of one test answers the question for every command but the first: the interval of
/// the difference in time is narrower than the precision or a fifth of the difference, or it lies on one side of the
/// threshold or within it, at the level of a look ([`stats::look_level`]). `family` are the cells with their trials.
pub fn is_answered(family: &[(&Cell, &[Trial])], question: &Question) -> bool {
    let (cells, trials) = printed::cells(family.iter().map(|(cell, trials)| (*cell, trials.iter().collect())));
    let trials: Vec<Vec<&Trial>> = trials.iter().map(|trials| trials.iter().collect()).collect();
    let arms = Arms { cells: &cells, trials: &trials, against: against(&cells), threshold: THRESHOLD };
    let rows = arms.treated().count();
    arms.treated().all(|cell| {
        let progress = Progress::new(arms.trials(cell), rows);
        // A figure that only one command prints has no difference to wait for.
        arms.main_draft(cell).map_or(is_printed(cell), |draft| question.is_answered_by(&draft.difference, &progress))
    })
}

/// Returns the pairs and the change in time in per cent, positive is slower, of every command but the first, by its
/// name.
pub fn changes(family: &[(&Cell, &[Trial])]) -> Vec<(String, usize, Estimate)> {
    let (cells, trials) = numbered(family);
    let arms = Arms { cells: &cells, trials: &trials, against: against(&cells), threshold: THRESHOLD };
    let change = |cell: &Cell| {
        let draft = arms.main_draft(cell)?;
        Some((cell.key.condition.clone(), draft.comparison.n.b, inverse(draft.difference.delta())))
    };
    arms.treated().filter_map(change).collect()
}

/// The progress of a comparison of commands.
struct Progress {
    /// Executions of each, now and one trial before.
    executions: [usize; 2],
    /// Seconds since the run began.
    seconds: f64,
    /// Comparisons that are to be answered, this one among them.
    rows: usize,
}

impl Progress {
    fn new(trials: &[&Trial], rows: usize) -> Progress {
        let count = |trials: &[&Trial]| {
            let copies = trials.iter().flat_map(|trial| &trial.copies);
            let printed = copies.clone().flat_map(|copy| &copy.printed).map(|one| one.rounds.len());
            copies.map(|copy| copy.executions.len()).chain(printed).sum()
        };
        let before = trials.split_last().map_or(trials, |(_, before)| before);
        let ends = |copy: &Copy| {
            let executions = copy.executions.iter().map(|one| one.end);
            executions.chain(copy.slices.iter().map(|slice| slice.end)).max().unwrap_or(0)
        };
        let last = trials.iter().flat_map(|trial| trial.copies.iter().map(|copy| trial.at + ends(copy) as f64 / 1e9));
        Progress { executions: [count(trials), count(before)], seconds: last.fold(0.0, f64::max), rows }
    }

    /// Returns true where the width of the interval is looked at: after each half as many executions again. Of many
    /// looks one finds a narrow interval by luck.
    fn looks_at_width(&self) -> bool {
        let looks = self.executions.map(|count| ((count.max(1) as f64).natural_log() / 1.5.natural_log()).floor());
        looks[0] > looks[1]
    }
}

impl Question {
    fn is_answered_by(&self, difference: &Difference, progress: &Progress) -> bool {
        if progress.executions[0] < FEWEST {
            return false;
        }
        let estimate = difference.shift.estimate;
        // A width that is known from few executions may be narrow by luck: by one standard error of a deviation.
        let [now, before] = progress.executions.map(|count| count.max(1) as f64);
        let half = (estimate.high - estimate.low) / 2.0 * (1.0 + (2.0 * now).sqrt().recip());
        let wanted = f64::max(self.precision / 2.0, PART * estimate.value.abs());
        if half <= wanted && progress.looks_at_width() {
            return true;
        }
        // Both the width that is wanted and the time that is left end it, whatever the difference.
        let share = f64::max((wanted / half).powi(2), progress.seconds / self.budget).min(1.0);
        // Of several all must be answered at the same look, and each allows for the others.
        let is_due = match progress.rows {
            1 => stats::is_look_due(share * before / now, share),
            _ => progress.looks_at_width(),
        };
        let Some(threshold) = self.threshold.filter(|_| is_due) else { return false };
        let delta = difference.delta_at(stats::look_level(share) / progress.rows as f64);
        delta.low > threshold || delta.high < -threshold || (delta.low > -threshold && delta.high < threshold)
    }
}

/// Returns the numbers of the cells that lose at least `size` per cent (points for deadlines) significantly, with the
/// arms that they are compared with: what deserves a second look. `trials` are those of each cell.
pub fn suspects(cells: &[Cell], trials: &[Vec<Trial>], size: f64) -> BTreeSet<usize> {
    let trials: Vec<Vec<&Trial>> = trials.iter().map(|trials| trials.iter().collect()).collect();
    let arms = Arms { cells, trials: &trials, against: against(cells), threshold: THRESHOLD };
    let lost = arms.judged().filter(|one| one.design == Design::Blocks && one.is_loss_of(size));
    lost.flat_map(|one| arms.compared_with(&one.cell).into_iter().map(|cell| cell.id).chain([one.cell.id])).collect()
}
