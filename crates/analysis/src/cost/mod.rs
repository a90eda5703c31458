//! The cost of conditions: every condition against the one they are compared with, within the blocks of one run.
//!
//! A block holds one trial of every arm in random order: the condition compared with (the *reference*), every other
//! condition, and in some blocks the first a second time (the *control*). What drifts slowly hits all arms of a block
//! alike and goes with their difference; what is left is as likely to favour the one as the other. From block to block
//! the differences of logarithms are judged by Hodges and Lehmann's estimate with the exact signed-rank interval
//! ([`stats::paired_shift`]).
//!
//! A condition is compared with one arm, the first, and the control serves as a proof alone. The mean of both arms
//! would have less noise (three arms of equal noise σ give a difference of variance 1.5·σ² in place of 2·σ², intervals
//! narrower by an eighth), but one value less a mean of two is not symmetric where noise is skewed, and noise is:
//! stalls only slow. The signed ranks ask for symmetry, and under stalls such intervals cover 92 % with 24 blocks and
//! 89 % with 48 in place of 95 %, at no less width. The difference of two equal arms in random order is symmetric
//! whatever the noise (`tests/cost/` shows both).
//!
//! The control proves the intervals: over all cells its differences must be as small as they say. If they are not, all
//! intervals of the report are wider by one factor. (A sieve in place of that proof, each difference against the
//! control of its own cell, keeps false alarms at 0.4 % where 5 % is meant, and finds a true 5 % in 16 % of runs in
//! place of 64 %.) [`crate::compare::engine`] has the rest. On randomised interleaving: Abedi & Brecht 2017; Laaber et
//! al. 2019.

mod arms;
mod looks;
mod losses;
mod notes;
mod parts;
mod power;
mod sentence;
mod trail;

use std::collections::BTreeSet;
use std::iter;

use serde::Serialize;

use super::compare::engine::Draft;
use super::compare::pool::{Pool, mean_of_rates};
use super::{Comparison, Figure, GeometricMean, Measure, Missing, Sides, Unseen};
use arms::Arms;
use catalogue::{Catalogue, Index};
use journal::{Cell, Journal, Run, Trial};
use words::{Grouped, Unique};

pub use looks::{Question, changes, enough, is_answered, suspects};
pub use losses::Losses;
pub use power::{Need, Planted, Power, Price};

/// Differences up to this many per cent (points for deadlines) are negligible.
const THRESHOLD: f64 = 1.0;

/// The findings of a run about cost.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The condition that the others are compared with.
    pub against: String,
    /// Differences up to this many per cent (points for deadlines) give no verdict.
    pub threshold: f64,
    /// Every condition, in the order of the run.
    pub conditions: Vec<Condition>,
    /// The control: the second arm of `against` compared with the first, one per cell and measure.
    pub control: Vec<Effect>,
    /// The factor by which all intervals but those of energies are wider because the control differs by more than its
    /// own interval allows; 1 if it does not.
    pub widening: f64,
    /// The rows of those second arms.
    pub controls: Vec<Figure>,
    /// Cells that could not be compared, and why.
    pub missing: Vec<Missing>,
    /// How to read the numbers, and what spoils them (drift, too few blocks, an arm measured first).
    pub notes: Vec<String>,
}

/// One condition over all cells.
#[derive(Debug, Clone)]
pub struct Condition {
    /// Its name.
    pub name: String,
    /// Its cost in one or two sentences, for people.
    pub sentence: String,
    /// One per cell and measure, in the order of the rows.
    pub effects: Vec<Effect>,
    /// Per index (its id, or `all` for the geometric mean of all rates) and number of copies: the difference in per
    /// cent, by resampling blocks jointly.
    pub totals: Vec<Total>,
    /// The proofs that it was on, each once.
    pub evidence: Vec<String>,
}

/// The geometric mean of a condition's rates over those it is compared with.
#[derive(Debug, Clone)]
pub struct Total {
    /// The index's id, or `all`.
    pub id: String,
    /// Its name in reports.
    pub name: String,
    /// The number of copies.
    pub copies: u32,
    /// The load in the background.
    pub load: String,
    /// The geometric mean of the changes.
    pub mean: GeometricMean,
}

/// One cell under a condition, by one measure.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The comparison: A is the condition compared with, B this one; `pairs` are the blocks.
    pub comparison: Comparison,
    /// The least difference that counts, in per cent (points), where no blocks are shared: what drift shows from the
    /// first half of the run to the second. `None` within blocks.
    pub floor: Option<f64>,
    /// Set if there was a second look: true if fresh blocks show the loss again.
    pub confirmed: Option<bool>,
    /// The trail that auditing left.
    pub trail: Option<TrailFigures>,
    /// The events that were lost, where a row counts them or a test makes them at a rate.
    pub losses: Option<Losses>,
    /// System calls per count, where the program tells it (`value calls N`).
    pub calls: Option<f64>,
    /// Processor time of the programs in ns per count, compared with and here (user + system, with children).
    pub cpu_ns: Option<Sides<f64>>,
}

/// The trail of auditing per operation, in the windows of all trials, and in total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct TrailFigures {
    /// Events of all trials, with the programs' start and end.
    pub events: u64,
    /// Bytes of all trials.
    pub bytes: u64,
    /// Records that the kernel dropped.
    pub lost: u64,
    /// Events per count of the test.
    #[serde(rename = "events_per_op")]
    pub events_per: f64,
    /// Bytes per count.
    #[serde(rename = "bytes_per_op")]
    pub bytes_per: f64,
    /// Bytes per event.
    pub bytes_per_event: f64,
    /// Bytes per second of the window.
    pub bytes_per_second: f64,
    /// Seconds that processes slept for room in the backlog, per second of the window.
    pub waited: f64,
    /// The longest backlog.
    pub backlog: u32,
    /// Share of the windows' records that were not drained when the window closed.
    pub queued: f64,
    /// Processor time outside the programs (the kernel's thread and the receiver), per second of the window.
    pub outside_cpu: f64,
}

impl Cost {
    /// Computes what the conditions of a run cost: of its `rows` and `controls`, whose trials are `trials` by cell.
    /// `gaps` are the cells without a result.
    pub(super) fn new(
        journal: &Journal,
        rows: &[Figure],
        controls: Vec<Figure>,
        gaps: &[&Missing],
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
    ) -> Cost {
        let against = match journal.run.against.as_str() {
            "" => looks::against(&journal.cells),
            told => told,
        };
        let threshold = journal.run.threshold.unwrap_or(THRESHOLD);
        let arms = Arms { cells: &journal.cells, trials, against, threshold };
        let control = arms.controls(controls.iter().map(|row| &row.cell));
        let mut missing: Vec<Missing> = Vec::new();
        let mut drafts: Vec<Draft> = Vec::new();
        for row in rows.iter().filter(|row| row.cell.key.condition != against) {
            let (found, gaps) = arms.drafts(&row.cell);
            drafts.extend(found);
            missing.extend(gaps);
        }
        let [widening, of_energy] = Arms::judge(&mut drafts, &control, threshold);
        missing.extend(gaps.iter().copied().filter(|gap| gap.key.condition != against).cloned());
        let condition = |name: &String| {
            let own: Vec<&Draft> = drafts.iter().filter(|draft| draft.comparison.run == *name).collect();
            let effects: Vec<Effect> = own.iter().map(|draft| effect(draft, rows, &arms)).collect();
            let reason = missing.iter().find(|gap| gap.key.condition == *name).map(|gap| gap.reason.as_str());
            let cell = journal.cells.iter().find(|cell| cell.key.condition == *name);
            let phrase = cell.and_then(|cell| cell.phrase.clone()).unwrap_or_else(|| catalogue.phrase(name));
            let sentences = iter::once(sentence::sentence(&phrase, &effects, reason)).chain(losses::sentence(&effects));
            Condition {
                name: name.clone(),
                sentence: sentences.collect::<Vec<String>>().join(" "),
                totals: totals(&own, &journal.run, catalogue),
                evidence: trail::evidence(&arms, name),
                effects,
            }
        };
        let names = arms.treated().map(|cell| &cell.key.condition).unique();
        let mut conditions: Vec<Condition> = names.into_iter().map(condition).collect();
        for place in 0..conditions.len() {
            let sum = parts::sentence(&conditions[place], &conditions, catalogue);
            conditions[place].sentence.extend(sum.iter().flat_map(|sum| [" ", sum]));
        }
        let control: Vec<Effect> = control.iter().map(|draft| effect(draft, &controls, &arms)).collect();
        let notes = notes::notes(journal, &arms, rows, (&conditions, &control, [widening, of_energy]));
        let against = against.to_owned();
        Cost { against, threshold, conditions, control, widening, controls, missing, notes }
    }

    /// Returns the effects of all conditions.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.conditions.iter().flat_map(|condition| &condition.effects)
    }

    /// Returns whether any time grew by more than `size` per cent, by its whole interval; `None` if intervals leave it
    /// open.
    pub fn is_slower(&self, size: f64) -> Option<bool> {
        let times = self.effects().map(|effect| &effect.comparison).filter(|one| one.measure == Measure::Score);
        let changes: Vec<_> = times.map(Comparison::change).collect();
        let is_slower = changes.iter().any(|change| change.low > size);
        let is_known = changes.len() == self.conditions.len() && changes.iter().all(|change| change.high < size);
        (is_slower || is_known).then_some(is_slower)
    }

    /// Returns the losses of at least `size` per cent (points for deadlines met): significantly slower or worse, by an
    /// estimate of that size, and not taken back by a second look.
    pub fn losses(&self, size: f64) -> Vec<&Effect> {
        self.effects().filter(|effect| effect.confirmed != Some(false) && effect.comparison.is_loss_of(size)).collect()
    }

    /// Returns what a gate of `size` per cent cannot tell.
    pub fn unseen(&self, size: f64) -> Option<Unseen> {
        Unseen::among(self.effects().map(|effect| &effect.comparison), size)
    }
}

/// Dresses a draft for reports, with what is known of its row and its trials.
fn effect(draft: &Draft, rows: &[Figure], arms: &Arms<'_>) -> Effect {
    let mut comparison = draft.judged();
    let cell = &draft.comparison.cell;
    // How many trials it rests on, and how its interval is made, is told of the comparison.
    let own = rows.iter().filter(|row| row.cell.id == cell.id).flat_map(|row| &row.warnings);
    comparison.warnings.extend(own.filter(|remark| !remark.is_of_method()).cloned());
    Effect {
        floor: draft.difference.floor,
        confirmed: draft.difference.confirmed,
        trail: trail::figures(cell, arms.trials(cell)),
        losses: losses::losses(cell, arms.trials(cell)),
        calls: trail::calls(arms.trials(cell)),
        cpu_ns: trail::processor_time(&arms.compared_with(cell), cell, arms),
        comparison,
    }
}

/// Returns the totals of one condition: for every number of copies and load the geometric mean of all its rates, and
/// before it that of every index the run shows.
fn totals(drafts: &[&Draft], run: &Run, catalogue: &Catalogue) -> Vec<Total> {
    let keys = drafts.iter().map(|draft| (&draft.comparison.cell.key, *draft));
    let mut places: Vec<((u32, &str), Vec<&Draft>)> =
        keys.map(|(key, draft)| ((key.copies, key.load.as_str()), draft)).grouped();
    places.sort_by_key(|(place, _)| *place);
    let is_shown = |index: &&Index| if run.indexes.is_empty() { index.always } else { run.indexes.contains(&index.id) };
    let mut totals = Vec::new();
    for (place, here) in places {
        for index in catalogue.indexes.iter().filter(is_shown) {
            let is_member = |draft: &&&Draft| {
                let test = catalogue.test(&draft.comparison.cell.key.test);
                test.is_some_and(|test| test.baseline.contains_key(&index.id))
            };
            let rates: Vec<&Draft> = here.iter().filter(is_member).copied().collect();
            totals.extend(total(&index.id, &index.name, place, &rates));
        }
        totals.extend(total("all", "All rates", place, &here));
    }
    totals
}

/// Returns the geometric mean of `rates` at one place; `None` if they have none.
fn total(id: &str, name: &str, (copies, load): (u32, &str), rates: &[&Draft]) -> Option<Total> {
    let mean = mean_of_rates(rates, Pool::Resampled)?;
    Some(Total { id: id.to_owned(), name: name.to_owned(), copies, load: load.to_owned(), mean })
}
