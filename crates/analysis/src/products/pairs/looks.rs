//! Whether a run of alternating commands can stop: its looks at what it has measured so far.
//!
//! A run ends at a look that answers its [`Question`], or when its budget is spent. Two kinds of
//! look answer:
//!
//! - A *look at the width* finds the interval narrow enough. The width does not depend on whether
//!   a difference shows, so it makes no false alarm. Yet of many looks one finds a narrow interval
//!   by luck, so there is one whenever the executions have grown by half ([`LOOK_GROWTH`]).
//! - A *look at the threshold* finds the interval on one side of the threshold, or within it.
//!   Stopping by the result makes false alarms, so these looks are few, evenly spaced over the run
//!   (of several comparisons: the looks at the width), and each has O'Brien and Fleming's level
//!   ([`stats::look_level`]).
//!
//! Where several executions are one sample, a run also ends once more executions would hardly
//! narrow the interval ([`Units`](crate::products::comparison::Units)), unless there can be more
//! units ([`wants_units`]).
//!
//! [`interval`] has the intervals of both. They are those that the report will show before its
//! control widens them.

use journal::{Cell, Copy, Trial};
use stats::{Estimate, Exact, look_level};

use super::arms::{Arms, renumber};
use super::interval;
use crate::figures::printed;
use crate::products::comparison::engine::Draft;
use crate::products::comparison::inverse;

/// Half-width that is narrow enough for a large difference, as a share of the difference.
const MAX_SHARE_OF_DIFFERENCE: f64 = 0.1;

/// Fewest executions of each command before a comparison may end. By simulation, intervals that
/// seemed narrow enough earlier covered the truth in one of three runs.
const MIN_EXECUTIONS: usize = 20;

/// Factor by which the executions grow from one look at the width to the next.
const LOOK_GROWTH: f64 = 1.5;

/// A question about commands that alternate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Question {
    /// The width of the interval, as a share of the time, that answers the question.
    pub precision: f64,
    /// A difference in per cent; an interval on one side of it, or within it, is an answer too.
    pub threshold: Option<f64>,
    /// The threshold of quantiles, if they have one of their own.
    pub tail_threshold: Option<f64>,
    /// Seconds after which the run ends without an answer.
    pub budget: f64,
}

/// How much longer a command takes than the reference, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The command's name.
    pub command: String,
    /// The number of pairs behind it.
    pub pairs: usize,
    /// The change in time in per cent; positive is slower.
    pub percent: Estimate,
}

/// The changes of all commands but the reference, for a display of the run in progress.
pub fn changes(family: &[(&Cell, &[Trial])]) -> Vec<Change> {
    let (cells, trials) = renumber(family);
    let arms = Arms::new(&cells, &trials);

    let mut changes = Vec::new();
    for cell in arms.treated() {
        if let Some(draft) = arms.main_draft(cell) {
            changes.push(Change {
                command: cell.key.condition.clone(),
                pairs: draft.comparison.n.b,
                percent: inverse(draft.difference.delta()),
            });
        }
    }
    changes
}

/// True if what was measured of one test answers the question for every command but the reference.
/// Where commands print figures, each figure must have an answer.
pub fn is_answered(family: &[(&Cell, &[Trial])], question: &Question) -> bool {
    with_figures(family, |arms| {
        let comparisons = arms.treated().count();
        arms.treated().all(|cell| {
            let progress = Progress::new(arms.trials(cell), comparisons);
            let is_main_answered = match arms.main_draft(cell) {
                Some(draft) => question.is_answered_by(&draft, &progress),
                // A figure that only one command prints has no difference to wait for.
                None => cell.is_printed(),
            };
            let is_answered = |tail: Option<Draft>| {
                tail.is_some_and(|tail| question.is_answered_by(&tail, &progress))
            };
            is_main_answered
                && arms.tail_drafts(cell).into_iter().all(|(_, tail)| is_answered(tail))
        })
    })
}

/// True if an interval is too wide, and more units, such as builds, would narrow it, but more
/// executions of the existing ones hardly would.
pub fn wants_units(family: &[(&Cell, &[Trial])], question: &Question) -> bool {
    with_figures(family, |arms| {
        let comparisons = arms.treated().count();
        arms.treated().any(|cell| {
            let progress = Progress::new(arms.trials(cell), comparisons);
            let draft = arms.main_draft(cell);
            draft.is_some_and(|draft| {
                let units = draft.comparison.units;
                units.is_some_and(|units| units.are_exhausted())
                    && !question.is_settled_by(&draft, &progress)
            })
        })
    })
}

/// Judges a family, in which each figure that its commands print is a cell of its own.
fn with_figures(family: &[(&Cell, &[Trial])], judge: impl FnOnce(&Arms<'_>) -> bool) -> bool {
    let figures =
        printed::cells(family.iter().map(|(cell, trials)| (*cell, trials.iter().collect())));
    let trials: Vec<Vec<&Trial>> =
        figures.trials.iter().map(|trials| trials.iter().collect()).collect();
    judge(&Arms::new(&figures.cells, &trials))
}

impl Question {
    fn is_answered_by(&self, draft: &Draft, progress: &Progress) -> bool {
        if progress.executions < MIN_EXECUTIONS {
            return false;
        }
        let units = draft.comparison.units;
        let are_exhausted = units.is_some_and(|units| units.are_exhausted());
        (are_exhausted && progress.is_width_look()) || self.is_settled_by(draft, progress)
    }

    /// True if the interval is narrow enough, or on one side of the threshold.
    fn is_settled_by(&self, draft: &Draft, progress: &Progress) -> bool {
        let units = draft.comparison.units;
        let estimate = draft.difference.share();
        let wanted = f64::max(self.precision / 2.0, MAX_SHARE_OF_DIFFERENCE * estimate.value.abs());
        let samples = units.map_or(progress.executions, |units| units.n.a.min(units.n.b));
        let half_width = interval::cautious_half_width(&estimate, samples);

        let is_narrow = half_width <= wanted && progress.is_width_look();
        is_narrow || self.is_decided(draft, progress, wanted / half_width)
    }

    /// True if a look at the threshold is due, and the interval is on one side of it or within it.
    ///
    /// The share of the run that is over is the larger of two, since either may end it: the share
    /// of the budget that is spent, and the share of the pairs that the precision needs.
    /// `narrowness` is the wanted half-width over the present one.
    fn is_decided(&self, draft: &Draft, progress: &Progress, narrowness: f64) -> bool {
        let of_tails = self.tail_threshold.filter(|_| draft.comparison.is_of_quantile());
        let Some(threshold) = of_tails.or(self.threshold) else {
            return false;
        };
        // Widths shrink with the root of the number of pairs.
        let done = f64::max(narrowness.powi(2), progress.seconds / self.budget).min(1.0);
        if !progress.is_threshold_look(done) {
            return false;
        }

        let level = look_level(done) / progress.comparisons as f64;
        let delta = interval::delta_at_look(draft, level);
        let is_within = delta.low > -threshold && delta.high < threshold;
        delta.low > threshold || delta.high < -threshold || is_within
    }
}

/// How far a comparison of commands has come.
struct Progress {
    /// Executions of the command.
    executions: usize,
    /// The same one trial earlier.
    executions_before: usize,
    /// Seconds since the run began.
    seconds: f64,
    /// Number of comparisons that must be answered together, including this one.
    comparisons: usize,
}

impl Progress {
    fn new(trials: &[&Trial], comparisons: usize) -> Progress {
        let before = trials.split_last().map_or(trials, |(_, before)| before);
        let mut seconds: f64 = 0.0;
        for trial in trials {
            let ends = trial.copies.iter().map(|copy| trial.at + last_end_ns(copy) as f64 / 1e9);
            seconds = ends.fold(seconds, f64::max);
        }
        Progress {
            executions: count_executions(trials),
            executions_before: count_executions(before),
            seconds,
            comparisons,
        }
    }

    /// True if the executions have just grown by [`LOOK_GROWTH`].
    fn is_width_look(&self) -> bool {
        let looks = |executions: usize| {
            ((executions.max(1) as f64).natural_log() / LOOK_GROWTH.natural_log()).floor()
        };
        looks(self.executions) > looks(self.executions_before)
    }

    /// True if a look at the threshold is due now that the share `done` of the run is over.
    fn is_threshold_look(&self, done: f64) -> bool {
        // Several comparisons must all be answered at the same look, so none has looks of its own.
        if self.comparisons > 1 {
            return self.is_width_look();
        }
        let now = self.executions.max(1) as f64;
        let before = self.executions_before.max(1) as f64;
        stats::is_look_due(done * before / now, done)
    }
}

fn count_executions(trials: &[&Trial]) -> usize {
    let copies = trials.iter().flat_map(|trial| &trial.copies);
    let printed = copies.clone().flat_map(|copy| &copy.printed).map(|figure| figure.rounds.len());
    copies.map(|copy| copy.executions.len()).chain(printed).sum()
}

/// The end of a copy's last execution or slice, in ns.
fn last_end_ns(copy: &Copy) -> u64 {
    let executions = copy.executions.iter().map(|execution| execution.end);
    let slices = copy.slices.iter().map(|slice| slice.end);
    executions.chain(slices).max().unwrap_or(0)
}
