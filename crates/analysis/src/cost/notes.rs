//! How to read a run about cost, and what spoils it.

use super::arms::{Arms, measures};
use super::{Condition, Effect, Measure, RATE, Row};
use crate::compare::notes::{least_p, listed};
use crate::compare::sides::goodness;
use journal::{Cell, Ended, Journal};
use stats::{Mean, Method, median, paired_shift, student_p, two_sample_shift};

/// A drift over the run is told from so many per cent on.
const DRIFT: f64 = 2.0;

/// From this share of records on, that they were still queued is told.
const QUEUED: f64 = 0.05;

/// Returns the notes of a whole run.
pub(super) fn notes(
    journal: &Journal,
    arms: &Arms<'_>,
    rows: &[Row],
    (conditions, floor): (&[Condition], &[Effect]),
) -> Vec<String> {
    let effects: Vec<&Effect> = conditions.iter().flat_map(|condition| &condition.effects).collect();
    let mut notes = Vec::new();
    notes.extend(blocks(&effects));
    if journal.end.as_ref().is_some_and(|end| end.reason == Ended::Budget) {
        notes
            .push("the time was spent before all intervals were narrow: more of it (--budget) narrows them".to_owned());
    }
    notes.extend(control(floor, &effects));
    notes.extend(drift(arms, rows));
    notes.extend(lost(arms));
    notes.extend(blind(&effects));
    notes.extend(apart(arms, conditions));
    notes.extend(queued(&effects));
    if effects.iter().any(|effect| effect.comparison.method == Method::Student) {
        notes.push("fewer than six blocks: Student's t, which assumes log-normal noise".to_owned());
    }
    if effects.iter().any(|effect| effect.comparison.measure.name().starts_with('p')) {
        notes.push(
            "a latency's difference is that of its inverse, as of a rate: twice the time is -50 %, half of it +100 %"
                .to_owned(),
        );
    }
    notes
}

/// What of a trail was written only after the window: work that the figures do not have in them.
fn queued(effects: &[&Effect]) -> Option<String> {
    let share = |effect: &Effect| effect.trail.map_or(0.0, |trail| trail.queued);
    let most = effects.iter().map(|effect| share(effect)).fold(0.0, f64::max);
    let names =
        effects.iter().filter(|effect| share(effect) > QUEUED).map(|effect| effect.comparison.cell.key.test.clone());
    let names: Vec<String> = names.collect();
    (!names.is_empty()).then(|| {
        format!(
            "up to {:.0} % of a window's records were still queued when it closed, so that the figures hold while the queue \
             fills and not for longer; a smaller --backlog is full sooner: {}",
            100.0 * most,
            listed(&names)
        )
    })
}

/// How many blocks stand behind the differences.
fn blocks(effects: &[&Effect]) -> Option<String> {
    let blocked = effects.iter().filter(|effect| !effect.comparison.cell.first);
    let counts: Vec<usize> = blocked.map(|effect| effect.comparison.n.0).collect();
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    let count = if least == most { format!("{most}") } else { format!("{least} to {most}") };
    Some(format!(
        "differences are within {count} blocks, each with every arm once in random order: the median of all averages of \
         two blocks' differences, with the interval of the signed-rank test; judged together at a false discovery rate \
         of 5 %"
    ))
}

/// What the control says of the method on this machine.
fn control(floor: &[Effect], effects: &[&Effect]) -> Option<String> {
    if floor.is_empty() {
        return (!effects.is_empty()).then(|| {
            "there is no second arm of the condition compared with, and so no floor: what this machine shows between two \
             equal arms is not known"
                .to_owned()
        });
    }
    let called: Vec<String> = floor
        .iter()
        .filter(|effect| !["same", "undecided"].contains(&effect.comparison.verdict.word()))
        .map(|effect| effect.comparison.cell.label.clone())
        .collect();
    let count = floor.len();
    Some(if called.is_empty() {
        format!("the control, two equal arms in every block, shows no difference in any of its {count} comparisons")
    } else {
        format!(
            "the control, two equal arms in every block, shows a difference in {} of {count} comparisons, where there is \
             none: {}. Measure again before believing differences of that size",
            called.len(),
            listed(&called)
        )
    })
}

/// Returns by how many per cent the machine became faster from the first block to the last, as the condition compared with
/// shows it: the slope of the blocks' means (logarithms, each test about its own mean) by least squares, where it differs
/// from none with p < 1 %.
fn drift(arms: &Arms<'_>, rows: &[Row]) -> Option<String> {
    let mut sums: std::collections::BTreeMap<u32, Vec<f64>> = std::collections::BTreeMap::new();
    for row in rows.iter().filter(|row| row.cell.key.condition == arms.against) {
        let measure = measures(&row.cell)[0];
        let better = |value: f64| goodness(row.cell.metric, measure, value);
        let values = arms.either(&arms.compared_with(&row.cell), measure, false);
        let mean = Mean::of(&values.values().map(|value| better(*value)).collect::<Vec<f64>>()).value;
        for (block, value) in values {
            sums.entry(block).or_default().push(better(value) - mean);
        }
    }
    let points: Vec<(f64, f64)> =
        sums.into_iter().map(|(block, values)| (f64::from(block), Mean::of(&values).value)).collect();
    let (change, p) = trend(&points)?;
    let percent = 100.0 * change.exp_m1();
    (p < 0.01 && percent.abs() >= DRIFT).then(|| {
        format!(
            "the machine drifted: under {} it did {:.0} % {} in the last block than in the first. Differences within \
             blocks do not have that in them",
            arms.against,
            percent.abs(),
            if percent < 0.0 { "less" } else { "more" }
        )
    })
}

/// The change of a straight line by least squares from the first point to the last, and the p value that there is none;
/// nothing of fewer than four points, or of points without any noise.
fn trend(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    if points.len() < 4 {
        return None;
    }
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / n, sum.1 + point.1 / n));
    let squares: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / squares;
    let left: f64 = points.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
    let error = (left / (n - 2.0) / squares).sqrt();
    let change = slope * (points[points.len() - 1].0 - points[0].0);
    (error > 0.0).then(|| (change, student_p(slope / error, n - 2.0)))
}

/// What failures took from the blocks.
fn lost(arms: &Arms<'_>) -> Option<String> {
    let all: Vec<_> = arms.cells.iter().flat_map(|cell| arms.of(cell)).collect();
    let failed = all.iter().filter(|trial| trial.error.is_some()).count();
    let reason = all.iter().find_map(|trial| trial.error.as_ref())?;
    Some(format!("{failed} of {} trials failed, and their blocks lack that arm; the first: {reason}", all.len()))
}

/// A note where so few blocks stand behind a comparison that it could not be called if it alone differed.
fn blind(effects: &[&Effect]) -> Option<String> {
    let count = effects.len();
    let cannot = |least: f64| least * count as f64 >= RATE;
    let few = |effect: &&&Effect| cannot(least_p(effect.comparison.method, effect.comparison.n));
    let found: Vec<&&Effect> =
        effects.iter().filter(few).filter(|effect| effect.comparison.method == Method::SignedRank).collect();
    let names: Vec<String> = found.iter().map(|effect| effect.comparison.cell.label.clone()).collect();
    let wanted = (6..100).find(|n| !cannot(least_p(Method::SignedRank, (*n, *n))))?;
    (!found.is_empty()).then(|| {
        format!(
            "a single difference among {count} comparisons takes {wanted} blocks to be called, and these have fewer, so \
             that they are called only together with others: {}",
            listed(&names)
        )
    })
}

/// How much weaker a comparison without common blocks is, as the control shows it: its two arms judged that way too.
fn apart(arms: &Arms<'_>, conditions: &[Condition]) -> Option<String> {
    let unblocked = |condition: &&Condition| condition.effects.iter().any(|effect| effect.comparison.pairs.is_empty());
    let names: Vec<String> = conditions.iter().filter(unblocked).map(|condition| condition.name.clone()).collect();
    if names.is_empty() {
        return None;
    }
    let ratios: Vec<f64> = arms
        .cells
        .iter()
        .filter(|cell| cell.control)
        .filter_map(|cell| ratio(arms, cell, measures(cell)[0]))
        .filter(|ratio| ratio.is_finite())
        .collect();
    let wider = median(&ratios);
    let wider = if wider > 1.05 { format!(" ({wider:.1} times as wide as within blocks)") } else { String::new() };
    Some(format!(
        "{} has no blocks in common with {} (never-on can only be measured before anything is switched): its intervals \
         are those of two independent samples{wider}, and what drifted meanwhile is in its differences. So its floor is \
         also what {} shows between the first half of the run and the second",
        listed(&names),
        arms.against,
        arms.against
    ))
}

/// The width of the interval between the two equal arms as two samples, of that within blocks.
fn ratio(arms: &Arms<'_>, control: &Cell, measure: Measure) -> Option<f64> {
    let first = arms.compared_with(control).into_iter().find(|cell| !cell.control)?;
    let better = |value: &f64| goodness(control.metric, measure, *value);
    let (a, b) = (arms.values(first, measure, false), arms.values(control, measure, false));
    let within: Vec<f64> = b.iter().filter_map(|(block, b)| Some(better(b) - better(a.get(block)?))).collect();
    let (a, b): (Vec<f64>, Vec<f64>) = (a.values().map(better).collect(), b.values().map(better).collect());
    let width = |estimate: stats::Estimate| estimate.high - estimate.low;
    Some(width(two_sample_shift(&a, &b).estimate) / width(paired_shift(&within).estimate))
}
