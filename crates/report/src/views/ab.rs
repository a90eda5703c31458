//! Which of several commands is faster: the answer as a sentence, then the numbers behind it.

use analysis::{Comparison, Condition, Cost, Effect, Measure, Results, Verdict};
use stats::Estimate;
use words::signed_fine;

use super::comparisons;
use super::{cost, executions};
use crate::document::Block;

/// What happens in a round, and what the intervals allow for.
const ROUNDS: &str = "a pair is two executions of the same round, milliseconds apart and in random order. A difference is the \
                      median of the averages of all pairs of differences, with the interval of the signed-rank test, wider \
                      where pairs depend on each other and for having looked while they came (docs/methodology.md)";

/// Returns the answer for each command that is compared with the first.
pub(super) fn sentences(results: &Results, cost: &Cost) -> Vec<String> {
    cost.conditions.iter().map(|condition| sentence(results, cost, condition)).collect()
}

fn sentence(results: &Results, cost: &Cost, condition: &Condition) -> String {
    let (name, base) = (&condition.name, &cost.against);
    let Some(one) = of(condition, Measure::Score) else {
        let gap = results.errors.iter().chain(&results.skipped).chain(&cost.missing).next();
        let reason = gap.map_or("nothing was measured", |gap| &gap.reason);
        return format!("{name} could not be compared with {base}: {reason}.");
    };
    let mut parts = vec![format!("{}, {}", time(one, cost.threshold), pairs(one, results))];
    let used = [Measure::Cpu, Measure::Memory];
    let used: Vec<String> = used.into_iter().filter_map(|measure| of(condition, measure)).filter_map(change).collect();
    parts.extend((!used.is_empty()).then(|| used.join(", ")));
    parts.extend(doubt(cost).map(str::to_owned));
    format!("{}.", parts.join("; ")).replace("{new}", name).replace("{old}", base)
}

fn of(condition: &Condition, measure: Measure) -> Option<&Comparison> {
    condition.effects.iter().map(|effect: &Effect| &effect.comparison).find(|one| one.measure == measure)
}

/// The first part of the sentence, in which the names are still to be filled in.
fn time(one: &Comparison, threshold: f64) -> String {
    let change = one.change();
    let [one_end, other_end] = [change.low, change.high].map(size);
    let (size, ends) = match change.value < 0.0 {
        true => (size(change.value), format!("{other_end} to {one_end}")),
        false => (size(change.value), format!("{one_end} to {other_end}")),
    };
    match one.verdict {
        Verdict::Slower | Verdict::Worse => format!("{{new}} is slower than {{old}} by {size} % ({ends})"),
        Verdict::Faster | Verdict::Better => format!("{{new}} is faster than {{old}} by {size} % ({ends})"),
        Verdict::Same(within) => format!("{{new}} takes the time of {{old}} within {} %", words::at_least(within)),
        Verdict::Undecided(_) | Verdict::Differs if !change.bounded() => {
            "too few pairs to tell {new} from {old}: try a longer --budget".to_owned()
        }
        Verdict::Undecided(_) | Verdict::Differs if is_beyond(change) => format!(
            "{{new}} differs from {{old}} by {size} % ({ends}), no more than the {} % that count",
            words::compact(threshold)
        ),
        Verdict::Undecided(_) | Verdict::Differs => format!(
            "undecided between {{new}} and {{old}}: {} to {} %; a longer --budget narrows it",
            signed_fine(change.low),
            signed_fine(change.high)
        ),
    }
}

fn size(change: f64) -> String {
    signed_fine(change.abs()).trim_start_matches('+').to_owned()
}

fn is_beyond(change: Estimate) -> bool {
    change.low > 0.0 || change.high < 0.0
}

fn pairs(one: &Comparison, results: &Results) -> String {
    format!("{} in {}", words::count(one.n.b, "pair"), words::duration(results.seconds))
}

/// What executions used, where that is known: `user time +2.3 %`, `memory the same`.
fn change(one: &Comparison) -> Option<String> {
    let name = one.measure.name();
    match one.verdict {
        Verdict::Same(_) => Some(format!("{name} the same")),
        Verdict::Undecided(_) | Verdict::Differs => None,
        _ => Some(format!("{name} {} %", signed_fine(one.change().value))),
    }
}

/// What two equal arms show against the answer.
fn doubt(cost: &Cost) -> Option<&'static str> {
    let mut control = cost.control.iter().map(|effect| &effect.comparison);
    let is_called = control.any(|one| one.measure == Measure::Score && one.verdict.is_decided());
    is_called.then_some("but the first command differs from itself here: measure again before you believe it")
}

/// Returns the commands, their differences, and what these rest on.
pub(super) fn blocks(results: &Results, cost: &Cost) -> Vec<Block> {
    let mut blocks = cost::data(cost);
    blocks.extend(executions::blocks(results));
    for condition in &cost.conditions {
        blocks.extend(cost::differences(cost, condition));
    }
    blocks.extend(cost::check(cost));
    blocks.extend([Block::section("Not measured"), Block::items(cost::not_measured(results, cost))]);
    let notes = [vec![comparisons::reading(cost.threshold), ROUNDS.to_owned()], cost.notes.clone()].concat();
    blocks.extend([Block::section("How to read the differences"), Block::notes(notes)]);
    blocks
}
