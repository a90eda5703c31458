//! What conditions cost: every condition against the one they are compared with, within the blocks of one run.
//!
//! A block holds one trial of every arm in random order: the condition compared with (the *baseline*), the same a second
//! time (the *control*), and every other condition. What drifts slowly hits all arms of a block alike and goes with their
//! difference; what is left is as likely to favour the one as the other. From block to block the differences of logarithms
//! are judged by Hodges and Lehmann's estimate with the exact signed-rank interval ([`stats::paired_shift`]).
//!
//! A condition is compared with one arm, the first, and the control serves for the floor alone. The mean of both arms would
//! have less noise (three arms of equal noise σ give a difference of variance 1.5·σ² in place of 2·σ², intervals narrower by
//! an eighth), but one value less a mean of two is not symmetric where noise is skewed, and noise is: stalls only slow. The
//! signed ranks ask for symmetry, and under stalls such intervals cover 92 % with 24 blocks and 89 % with 48 in place of
//! 95 %, at no less width. The difference of two equal arms in random order is symmetric whatever the noise
//! (`tests/cost/` shows both).
//!
//! What is called slower or faster must pass three sieves: its interval excludes 0; its size is beyond the threshold and
//! beyond the *floor*, the larger end of the control's interval for the same cell and measure, since a difference that two
//! arms of the same condition may show as well is no cost; and its q value over all comparisons of the report is below 5 %
//! (Benjamini & Hochberg 1995). It is the same where its interval lies within the threshold (two one-sided tests,
//! Schuirmann 1987). Else it is undecided, and told is the difference that would have been called in four of five such runs.
//! Whence: Wilcoxon 1945; Hodges & Lehmann 1963; Hollander & Wolfe, Nonparametric Statistical Methods, §3; on randomised
//! interleaving Abedi & Brecht 2017 and Laaber et al. 2019.

mod arms;
mod looks;
mod notes;
mod sentence;
mod total;
mod trail;
mod verdict;

use std::collections::BTreeSet;

use serde::Serialize;

use super::compare::RATE;
use super::{Comparison, Measure, Missing, Row, Verdict};
use arms::{Arms, Draft};
use catalogue::Catalogue;
use journal::{Cell, Journal, Trial};
use stats::{Estimate, false_discovery_rates};

pub(super) use looks::{enough, suspects};

/// Differences up to so many per cent (points for deadlines) are nobody's concern.
const THRESHOLD: f64 = 1.0;

/// What a run about cost has found.
#[derive(Debug, Clone)]
pub struct Cost {
    /// The condition that the others are compared with.
    pub against: String,
    /// Differences up to this many per cent (points for deadlines) are no verdict.
    pub threshold: f64,
    /// Every condition, in the order of the run.
    pub conditions: Vec<Condition>,
    /// The control: the second arm of `against` compared with the first, one per cell and measure.
    pub floor: Vec<Effect>,
    /// The rows of those second arms.
    pub controls: Vec<Row>,
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
    /// What it costs in one or two sentences, for people.
    pub sentence: String,
    /// One per cell and measure, in the order of the rows.
    pub effects: Vec<Effect>,
    /// Per index (its id, or `all` for the geometric mean of all rates) and number of copies: the difference in per cent, by
    /// resampling blocks jointly.
    pub totals: Vec<Total>,
    /// What proves that it was on, each once.
    pub evidence: Vec<String>,
}

/// The geometric mean of a condition's rates over those it is compared with.
#[derive(Debug, Clone)]
pub struct Total {
    /// The index's id, or `all`.
    pub id: String,
    /// Its name in reports.
    pub name: String,
    /// How many copies.
    pub copies: u32,
    /// What ran in the background.
    pub load: String,
    /// Rates behind it.
    pub rates: usize,
    /// Difference in per cent with its 95 % interval; negative is worse.
    pub delta: Estimate,
    /// The label of the rate that fares worst, and its difference in per cent.
    pub worst: (String, f64),
}

/// One cell under a condition, by one measure.
#[derive(Debug, Clone)]
pub struct Effect {
    /// The comparison: A is the condition compared with, B this one; `pairs` are the blocks.
    pub comparison: Comparison,
    /// The larger end of the control's interval in per cent (points): what is no larger may be noise. None without a control.
    pub floor: Option<f64>,
    /// Whether a second look at fresh blocks shows the loss again; none where there was no second look.
    pub confirmed: Option<bool>,
    /// The trail that auditing left.
    pub trail: Option<TrailFigures>,
    /// System calls per count, where the program tells it (`value calls N`).
    pub calls: Option<f64>,
    /// Processor time of the programs in ns per count, compared with and here (user + system, with children).
    pub cpu_ns: Option<(f64, f64)>,
}

/// What auditing wrote per operation, in the windows of all trials, and in total.
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
    #[must_use]
    pub(super) fn new(
        journal: &Journal,
        rows: &[Row],
        controls: Vec<Row>,
        gaps: &[&Missing],
        trials: &[Vec<&Trial>],
        catalogue: &Catalogue,
    ) -> Cost {
        let against = match journal.run.against.as_str() {
            "" => looks::against(&journal.cells),
            told => told,
        };
        let arms = Arms { cells: &journal.cells, trials, against };
        let mut floor = arms.controls(controls.iter().map(|row| &row.cell));
        verdict::judge_controls(&mut floor, THRESHOLD);
        let mut missing: Vec<Missing> = Vec::new();
        let others = || rows.iter().filter(|row| row.cell.key.condition != against);
        let mut drafts: Vec<Draft<'_>> = Vec::new();
        for row in others() {
            let (found, gaps) = arms.drafts(&row.cell);
            drafts.extend(found);
            missing.extend(gaps);
        }
        verdict::judge(&mut drafts, &floor, THRESHOLD);
        let names = conditions(&journal.cells, against);
        missing.extend(gaps.iter().copied().filter(|gap| gap.key.condition != against).cloned());
        let conditions: Vec<Condition> = names
            .iter()
            .map(|name| {
                let own: Vec<&Draft<'_>> = drafts.iter().filter(|draft| draft.cell.key.condition == *name).collect();
                let totals = total::totals(&own, &journal.run, catalogue);
                let effects: Vec<Effect> = own.iter().map(|draft| draft.effect(rows, &controls, &arms)).collect();
                let reason = missing.iter().find(|gap| gap.key.condition == *name).map(|gap| gap.reason.as_str());
                let cell = journal.cells.iter().find(|cell| cell.key.condition == *name);
                let phrase = cell.and_then(|cell| cell.phrase.clone()).unwrap_or_else(|| catalogue.phrase(name));
                Condition {
                    name: (*name).to_owned(),
                    sentence: sentence::sentence(&phrase, &effects, reason),
                    totals,
                    evidence: trail::evidence(&arms, name),
                    effects,
                }
            })
            .collect();
        let floor: Vec<Effect> = floor.iter().map(|draft| draft.effect(&controls, rows, &arms)).collect();
        let notes = notes::notes(journal, &arms, rows, (&conditions, &floor));
        Cost { against: against.to_owned(), threshold: THRESHOLD, conditions, floor, controls, missing, notes }
    }

    /// Returns the losses of at least `size` per cent (points for deadlines met): slower or worse beyond doubt, by an
    /// estimate of that size, and not taken back by a second look.
    #[must_use]
    pub fn losses(&self, size: f64) -> Vec<&Effect> {
        let effects = self.conditions.iter().flat_map(|condition| &condition.effects);
        let lost = |effect: &&Effect| {
            effect.confirmed != Some(false) && is_loss(effect.comparison.verdict, effect.comparison.delta.value, size)
        };
        effects.filter(lost).collect()
    }
}

/// Whether it is a loss beyond doubt of at least `size`.
fn is_loss(verdict: Verdict, delta: f64, size: f64) -> bool {
    verdict.is_loss() && delta <= -size
}

/// The conditions that are compared with `against`, in the order of the run.
fn conditions<'a>(cells: &'a [Cell], against: &str) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.key.condition != against) {
        if !names.contains(&cell.key.condition.as_str()) {
            names.push(&cell.key.condition);
        }
    }
    names
}
