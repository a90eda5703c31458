//! How to read a run about cost, and what spoils it. Each note has a function that returns it, or
//! `None` where it does not apply.

use std::collections::BTreeMap;

use super::{Comparison, Condition, Effect, Figure};
use crate::products::comparison::Verdict;
use crate::products::comparison::engine::{Design, Difference, Observed, Sides};
use crate::products::comparison::notes::{ENERGY, blind, crowded_out, listed, of_method};
use crate::products::pairs::{Arms, Look, measures};
use journal::{Cell, Ended, Journal};
use stats::{Exact, linear_change, mean, median};
use words::count;

/// Smallest drift over the run that is reported, in per cent, and its largest p value.
const MIN_DRIFT_PERCENT: f64 = 2.0;
const MAX_P_OF_DRIFT: f64 = 0.01;

/// Smallest factor by which intervals without common blocks are wider that is reported.
const MIN_REPORTED_WIDENING: f64 = 1.05;

/// Smallest reported share of a window's records that were still queued when it closed.
const MIN_QUEUED_SHARE: f64 = 0.05;

/// The notes of a whole run.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// What spoils the numbers, or leaves some of them open.
    pub(super) caveats: Vec<String>,
    /// How the numbers came about.
    pub(super) method: Vec<String>,
}

impl Notes {
    pub(super) fn new(
        journal: &Journal,
        arms: &Arms<'_>,
        rows: &[Figure],
        conditions: &[Condition],
        control: &[Effect],
        widenings: Widenings,
    ) -> Notes {
        let effects: Vec<&Effect> =
            conditions.iter().flat_map(|condition| &condition.effects).collect();
        let comparisons: Vec<&Comparison> =
            effects.iter().map(|effect| &effect.comparison).collect();
        let speeds: Vec<&Comparison> =
            comparisons.iter().copied().filter(|comparison| !comparison.is_energy()).collect();
        let controls: Vec<&Comparison> = control
            .iter()
            .map(|effect| &effect.comparison)
            .filter(|comparison| !comparison.is_energy())
            .collect();

        let mut caveats = Vec::new();
        caveats.extend(crowded_out(&comparisons, arms.threshold));
        caveats.extend(note_on_budget(journal, &comparisons));
        caveats.extend(note_on_drift(arms, rows));
        caveats.extend(note_on_failures(arms));
        caveats.extend(blind(&comparisons));
        caveats.extend(note_on_queue(&effects));

        let mut method = Vec::new();
        method.extend(note_on_blocks(&comparisons));
        if !comparisons.is_empty() || !controls.is_empty() {
            method.push(note_on_control(&controls, widenings.of_speed));
        }
        method.extend(note_on_energy(&comparisons, widenings.of_energy));
        method.extend(note_on_selection(&speeds));
        method.extend(note_on_other_blocks(arms, conditions));
        method.extend(of_method(&comparisons));
        Notes { caveats, method }
    }
}

/// The factors by which intervals are wider because the control differs by more than its own
/// intervals allow.
#[derive(Debug, Clone, Copy)]
pub(super) struct Widenings {
    pub(super) of_speed: f64,
    pub(super) of_energy: f64,
}

/// Says that the budget ended the run before every difference was decided.
fn note_on_budget(journal: &Journal, comparisons: &[&Comparison]) -> Option<String> {
    let is_spent = journal.end.as_ref().is_some_and(|end| end.reason == Ended::Budget);
    let is_open = comparisons
        .iter()
        .any(|one| matches!(one.verdict, Verdict::Undecided(_)) && !one.is_of_execution());
    (is_spent && is_open).then(|| {
        "the budget was spent before every difference was decided: a larger --budget narrows the \
         intervals"
            .to_owned()
    })
}

/// Says why the sentences have other intervals than the tables.
fn note_on_selection(comparisons: &[&Comparison]) -> Option<String> {
    let called = comparisons
        .iter()
        .filter(|one| one.verdict.is_decided() && !one.cell.is_alternating())
        .count();
    let clearest = match called {
        0 => return None,
        1 => "clearest".to_owned(),
        called => format!("{called} clearest"),
    };
    let differences = count(comparisons.len(), "difference");
    Some(format!(
        "the intervals in the sentences above are wider than those in the tables: they allow for \
         having picked the {clearest} of {differences}"
    ))
}

/// On the part of a trail that was written only after the window: the figures lack its work.
fn note_on_queue(effects: &[&Effect]) -> Option<String> {
    let mut tests = Vec::new();
    let mut largest_share: f64 = 0.0;
    for effect in effects {
        let queued_share = effect.trail.map_or(0.0, |trail| trail.queued);
        largest_share = largest_share.max(queued_share);
        if queued_share > MIN_QUEUED_SHARE {
            tests.push(effect.comparison.cell.key.test.clone());
        }
    }
    let names = listed(tests);
    if names.is_empty() {
        return None;
    }

    let percent = 100.0 * largest_share;
    Some(format!(
        "up to {percent:.0} % of a window's records were still queued when it closed, so these \
         figures hold only until the queue is full; a smaller --backlog fills up sooner: {names}"
    ))
}

/// Says how many blocks the differences rest on, and how they are judged.
fn note_on_blocks(comparisons: &[&Comparison]) -> Option<String> {
    let in_blocks =
        comparisons.iter().filter(|one| one.design == Design::Blocks && !one.cell.is_alternating());
    let counts: Vec<usize> = in_blocks.map(|one| one.n.b).collect();
    let (fewest, most) = (counts.iter().min()?, counts.iter().max()?);
    let blocks =
        if fewest == most { count(most, "block") } else { format!("{fewest} to {most} blocks") };
    Some(format!(
        "differences are taken within {blocks}, each of which has every arm once in random order. \
         A difference is the median of the averages of all pairs of blocks, with the interval of \
         the signed-rank test; all are judged together at a false discovery rate of 5 %"
    ))
}

/// How to read energies, and what the control says of them.
fn note_on_energy(comparisons: &[&Comparison], widening: f64) -> Option<String> {
    if !comparisons.iter().any(|one| one.is_energy()) {
        return None;
    }
    let mut note = ENERGY.to_owned();
    if widening > 1.0 {
        note += &format!(
            "; the energies of the control differ by more than their intervals allow, so the \
             intervals of energies were made {widening:.1} times as wide"
        );
    }
    Some(note)
}

/// The control's verdict on the method on this machine.
fn note_on_control(controls: &[&Comparison], widening: f64) -> String {
    if controls.is_empty() {
        return "the reference condition has no second arm, so nothing shows whether the intervals \
                hold on this machine"
            .to_owned();
    }
    let bounded: Vec<&&Comparison> = controls.iter().filter(|one| one.delta.bounded()).collect();
    if bounded.is_empty() {
        return "the control is not checked: so few blocks have no intervals that could hold or \
                fail"
            .to_owned();
    }
    if widening > 1.0 {
        return format!(
            "the two equal arms of the control differ by more than their intervals allow, so all \
             intervals were made {widening:.1} times as wide"
        );
    }

    let checked = count(bounded.len(), "comparison");
    let called = bounded.iter().filter(|one| one.verdict.is_decided());
    let called: Vec<String> = called.map(|one| one.cell.label.clone()).collect();
    if called.is_empty() {
        return format!(
            "the control, two equal arms of the same blocks, shows no difference ({checked})"
        );
    }
    format!(
        "the control, two equal arms of the same blocks, shows a difference in {} of {checked}, \
         although there is none: {}. Measure again before you believe differences of that size",
        called.len(),
        listed(called)
    )
}

/// On the drift of the machine from the first block to the last, in per cent of the work that the
/// reference did: the slope of the blocks' means by least squares.
fn note_on_drift(arms: &Arms<'_>, rows: &[Figure]) -> Option<String> {
    let (change, p) = linear_change(&mean_excess_by_block(arms, rows))?;
    let percent = 100.0 * change.exponential_less_1();
    let size = percent.abs();
    if p >= MAX_P_OF_DRIFT || size < MIN_DRIFT_PERCENT {
        return None;
    }

    let way = if percent < 0.0 { "slower" } else { "faster" };
    let against = arms.against;
    Some(format!(
        "the machine drifted: it was {size:.0} % {way} in the last block than in the first, as \
         {against} shows. Differences within blocks are not affected"
    ))
}

/// The points (block, excess) of the drift: how far the reference's logarithms in a block lie above
/// the means of their tests, on average.
fn mean_excess_by_block(arms: &Arms<'_>, rows: &[Figure]) -> Vec<(f64, f64)> {
    let mut excesses: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.cell.key.condition == arms.against) {
        let measure = measures(&row.cell)[0];
        let mut values = arms.values(&arms.compared_with(&row.cell), measure, Look::First);
        for (_, value) in &mut values {
            *value = measure.goodness(row.cell.metric, *value);
        }
        // What a program prints may be 0, and then has no logarithm.
        if values.iter().any(|(_, value)| !value.is_finite()) {
            continue;
        }
        let mean_of_test = mean(values.iter().map(|(_, value)| *value));
        for (block, value) in values {
            excesses.entry(block).or_default().push(value - mean_of_test);
        }
    }
    excesses.into_iter().map(|(block, values)| (f64::from(block), mean(values))).collect()
}

/// On the trials that failed.
fn note_on_failures(arms: &Arms<'_>) -> Option<String> {
    let trials: Vec<_> = arms.cells.iter().flat_map(|cell| arms.trials(cell)).collect();
    let reason = trials.iter().find_map(|trial| trial.error.as_ref())?;
    let failed = trials.iter().filter(|trial| trial.error.is_some()).count();
    let all = count(trials.len(), "trial");
    Some(format!("{failed} of {all} failed, and their blocks lack that arm; the first: {reason}"))
}

/// How much weaker a comparison without common blocks is: as the control's two arms are if they are
/// compared as two samples.
fn note_on_other_blocks(arms: &Arms<'_>, conditions: &[Condition]) -> Option<String> {
    let mut names = Vec::new();
    for Condition { name, effects, .. } in conditions {
        if effects.iter().any(|effect| effect.comparison.design == Design::Apart) {
            names.push(name.clone());
        }
    }
    if names.is_empty() {
        return None;
    }

    let controls = arms.cells.iter().filter(|cell| cell.control);
    let widenings: Vec<f64> = controls
        .filter_map(|cell| widening_without_blocks(arms, cell))
        .filter(|widening| widening.is_finite())
        .collect();
    let widening = median(&widenings);
    let wider = if widening > MIN_REPORTED_WIDENING {
        format!(" ({widening:.1} times as wide as within blocks)")
    } else {
        String::new()
    };
    let (names, against) = (listed(names), arms.against);
    Some(format!(
        "{names} has no blocks in common with {against} (never-on can only be measured before \
         anything is switched): its intervals are those of two independent samples{wider}, and its \
         differences include any drift in the meantime. A difference is therefore called only if it \
         is larger than the one that {against} shows between the first and the second half of the \
         run"
    ))
}

/// The width of the interval of the two equal arms as two samples, over that within blocks.
fn widening_without_blocks(arms: &Arms<'_>, control: &Cell) -> Option<f64> {
    let first = *arms.first_arms(control).first()?;
    let measure = measures(control)[0];
    let values =
        Sides { a: first, b: control }.map(|arm| arms.values(&[arm], measure, Look::First));
    let width = |design| {
        let observed = Observed::new(design, control.metric, measure, &values);
        let estimate = Difference::new(observed.scale, observed.data).shift.estimate;
        estimate.high - estimate.low
    };
    Some(width(Design::Apart) / width(Design::Blocks))
}
