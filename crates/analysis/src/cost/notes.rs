//! How to read a run about cost, and what spoils it.

use std::collections::BTreeMap;

use super::arms::{Arms, Look, measures};
use super::{Comparison, Condition, Effect, Figure};
use crate::compare::engine::{Design, Difference, Observed, Sides};
use crate::compare::notes::{ENERGY, blind, listed, of_method};
use journal::{Cell, Ended, Journal};
use stats::{Exact, linear_change, mean, median};
use words::count;

/// A drift over the run is reported from this many per cent.
const DRIFT: f64 = 2.0;

/// From this share of records on, that they were still queued is told.
const QUEUED: f64 = 0.05;

/// Returns the notes of a whole run.
pub(super) fn notes(
    journal: &Journal,
    arms: &Arms<'_>,
    rows: &[Figure],
    (conditions, controls, [widening, of_energy]): (&[Condition], &[Effect], [f64; 2]),
) -> Vec<String> {
    let effects: Vec<&Effect> = conditions.iter().flat_map(|condition| &condition.effects).collect();
    let comparisons: Vec<&Comparison> = effects.iter().map(|effect| &effect.comparison).collect();
    let mut notes = Vec::new();
    notes.extend(blocks(&comparisons));
    if journal.end.as_ref().is_some_and(|end| end.reason == Ended::Budget) {
        notes.push("the budget was spent before every interval was narrow: a larger --budget narrows them".to_owned());
    }
    let is_speed = |one: &&Comparison| !one.is_energy();
    let controls: Vec<&Comparison> = controls.iter().map(|effect| &effect.comparison).filter(is_speed).collect();
    notes.extend((!comparisons.is_empty() || !controls.is_empty()).then(|| control(&controls, widening)));
    notes.extend(energy(&comparisons, of_energy));
    notes.extend(drift(arms, rows));
    notes.extend(lost(arms));
    notes.extend(blind(&comparisons));
    notes.extend(chosen(&comparisons.iter().copied().filter(is_speed).collect::<Vec<&Comparison>>()));
    notes.extend(apart(arms, conditions));
    notes.extend(queued(&effects));
    notes.extend(of_method(&comparisons));
    notes
}

/// Why the sentences have other intervals than the tables.
fn chosen(comparisons: &[&Comparison]) -> Option<String> {
    let called = comparisons.iter().filter(|one| one.verdict.is_decided() && !one.cell.in_turn).count();
    (called > 0).then(|| {
        let clearest = if called == 1 { "clearest".to_owned() } else { format!("{called} clearest") };
        format!(
            "the intervals in the sentences above are wider than those in the tables: they allow for having picked \
             the {clearest} of {}",
            count(comparisons.len(), "difference")
        )
    })
}

/// Returns a note on the part of a trail that was written only after the window: work that the figures do not have in
/// them.
fn queued(effects: &[&Effect]) -> Option<String> {
    let share = |effect: &Effect| effect.trail.map_or(0.0, |trail| trail.queued);
    let most = effects.iter().map(|effect| share(effect)).fold(0.0, f64::max);
    let behind = effects.iter().filter(|effect| share(effect) > QUEUED);
    let names = listed(behind.map(|effect| effect.comparison.cell.key.test.clone()));
    let percent = 100.0 * most;
    (!names.is_empty()).then(|| {
        format!(
            "up to {percent:.0} % of a window's records were still queued when it closed, so these figures hold only \
             until the queue is full; a smaller --backlog fills up sooner: {names}"
        )
    })
}

/// How many blocks stand behind the differences.
fn blocks(comparisons: &[&Comparison]) -> Option<String> {
    let blocked = comparisons.iter().filter(|one| one.design == Design::Blocks && !one.cell.in_turn);
    let counts: Vec<usize> = blocked.map(|one| one.n.b).collect();
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    let blocks = if least == most { count(most, "block") } else { format!("{least} to {most} blocks") };
    Some(format!(
        "differences are taken within {blocks}, each of which has every arm once in random order. A difference \
         is the median of the averages of all pairs of blocks, with the interval of the signed-rank test; all are \
         judged together at a false discovery rate of 5 %"
    ))
}

/// How to read energies, and what the control says of them.
fn energy(comparisons: &[&Comparison], widening: f64) -> Option<String> {
    let mut note = ENERGY.to_owned();
    if widening > 1.0 {
        note += &format!(
            "; the energies of the control differ by more than their intervals allow, so the intervals of energies \
             were made {widening:.1} times as wide"
        );
    }
    comparisons.iter().any(|one| one.is_energy()).then_some(note)
}

/// Returns the control's verdict on the method on this machine.
fn control(controls: &[&Comparison], widening: f64) -> String {
    let known: Vec<&&Comparison> = controls.iter().filter(|one| one.delta.bounded()).collect();
    let called = known.iter().filter(|one| one.verdict.is_decided());
    let called: Vec<String> = called.map(|one| one.cell.label.clone()).collect();
    let checked = count(known.len(), "comparison");
    match called.len() {
        _ if controls.is_empty() => {
            "the reference condition has no second arm, so nothing shows whether the intervals hold on this machine"
                .to_owned()
        }
        _ if known.is_empty() => {
            "the control is not checked: so few blocks have no intervals that could hold or fail".to_owned()
        }
        _ if widening > 1.0 => format!(
            "the two equal arms of the control differ by more than their intervals allow, so all intervals \
             were made {widening:.1} times as wide"
        ),
        0 => format!("the control, two equal arms of the same blocks, shows no difference ({checked})"),
        some => format!(
            "the control, two equal arms of the same blocks, shows a difference in {some} of {checked}, \
             although there is none: {}. Measure again before you believe differences of that size",
            listed(called)
        ),
    }
}

/// Returns by how many per cent the machine became faster from the first block to the last, as the condition compared
/// with shows it: the slope of the blocks' means (logarithms, each test about its own mean) by least squares, where it
/// differs from none with p < 1 %.
fn drift(arms: &Arms<'_>, rows: &[Figure]) -> Option<String> {
    let mut sums: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.cell.key.condition == arms.against) {
        let measure = measures(&row.cell)[0];
        let mut values = arms.values(&arms.compared_with(&row.cell), measure, Look::First);
        values.iter_mut().for_each(|(_, value)| *value = measure.goodness(row.cell.metric, *value));
        let middle = mean(values.iter().map(|(_, value)| *value));
        for (block, value) in values {
            sums.entry(block).or_default().push(value - middle);
        }
    }
    let points: Vec<(f64, f64)> = sums.into_iter().map(|(block, values)| (f64::from(block), mean(values))).collect();
    let (change, p) = linear_change(&points)?;
    let (percent, against) = (100.0 * change.exponential_less_1(), arms.against);
    let (size, way) = (percent.abs(), if percent < 0.0 { "less" } else { "more" });
    (p < 0.01 && size >= DRIFT).then(|| {
        format!(
            "the machine drifted: under {against} it did {size:.0} % {way} in the last block than in the first. \
             Differences within blocks are not affected"
        )
    })
}

/// Returns a note on the trials that failed in blocks.
fn lost(arms: &Arms<'_>) -> Option<String> {
    let all: Vec<_> = arms.cells.iter().flat_map(|cell| arms.trials(cell)).collect();
    let failed = all.iter().filter(|trial| trial.error.is_some()).count();
    let reason = all.iter().find_map(|trial| trial.error.as_ref())?;
    let all = count(all.len(), "trial");
    Some(format!("{failed} of {all} failed, and their blocks lack that arm; the first: {reason}"))
}

/// How much weaker a comparison without common blocks is, as the control shows it: its two arms judged that way too.
fn apart(arms: &Arms<'_>, conditions: &[Condition]) -> Option<String> {
    let is_apart = |effect: &Effect| effect.comparison.design == Design::Apart;
    let unblocked = |condition: &&Condition| condition.effects.iter().any(is_apart);
    let names: Vec<String> = conditions.iter().filter(unblocked).map(|condition| condition.name.clone()).collect();
    if names.is_empty() {
        return None;
    }
    let controls = arms.cells.iter().filter(|cell| cell.control);
    let ratios = controls.filter_map(|cell| ratio(arms, cell)).filter(|ratio| ratio.is_finite());
    let wider = median(&ratios.collect::<Vec<f64>>());
    let wider = if wider > 1.05 { format!(" ({wider:.1} times as wide as within blocks)") } else { String::new() };
    let (names, against) = (listed(names), arms.against);
    Some(format!(
        "{names} has no blocks in common with {against} (never-on can only be measured before anything is switched): \
         its intervals are those of two independent samples{wider}, and its differences include any drift in the \
         meantime. A difference is therefore called only if it is larger than the one that {against} shows between the \
         first and the second half of the run"
    ))
}

/// The width of the interval between the two equal arms as two samples, of that within blocks.
fn ratio(arms: &Arms<'_>, control: &Cell) -> Option<f64> {
    let first = arms.compared_with(control).into_iter().find(|cell| !cell.control)?;
    let measure = measures(control)[0];
    let values = Sides { a: first, b: control }.map(|arm| arms.values(&[arm], measure, Look::First));
    let width = |design| {
        let observed = Observed::new(design, control.metric, measure, &values);
        let estimate = Difference::new(measure, observed.data).shift.estimate;
        estimate.high - estimate.low
    };
    Some(width(Design::Apart) / width(Design::Blocks))
}
