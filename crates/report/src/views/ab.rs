//! The comparison of commands: the answer as a sentence, then its numbers.

use analysis::{Comparison, Condition, Cost, Effect, Measure, Missing, Results, Verdict, is_printed};
use stats::Estimate;
use words::signed_fine;

use super::{comparisons, cost, counts, executions};
use crate::document::Block;

/// The note on rounds, pairs and intervals.
const ROUNDS: &str = "a pair is two executions of the same round, one soon after the other and in random order. The difference is the \
                      median of the averages of all pairs of differences; its interval is that of the signed-rank test, \
                      widened because pairs may depend on each other and because the run looked at the answer while it \
                      measured (docs/methodology.md)";

/// Figures that a sentence names.
const FEW: usize = 6;

/// The advice where too few executions fit into the time.
const LONGER: &str = "a longer --budget, or more --runs, would narrow this";

/// Returns the answer for each command that is compared with the first.
pub(super) fn sentences(results: &Results, cost: &Cost) -> Vec<String> {
    cost.conditions.iter().map(|condition| sentence(results, cost, condition)).collect()
}

fn sentence(results: &Results, cost: &Cost, condition: &Condition) -> String {
    let (name, base) = (&condition.name, &cost.against);
    let figures = condition.effects.iter().map(|effect| &effect.comparison);
    let figures: Vec<&Comparison> = figures.filter(|one| is_printed(&one.cell)).collect();
    if !figures.is_empty() {
        return figures_sentence(results, cost, (name, base), &figures);
    }
    let Some(one) = comparison(condition, Measure::Score) else {
        let is_theirs = |gap: &&Missing| [name, base].contains(&&gap.key.condition);
        let gap = results.errors.iter().chain(&results.skipped).chain(&cost.missing).find(is_theirs);
        let reason = gap.map_or("nothing was measured", |gap| &gap.reason);
        return format!("{name} could not be compared with {base}: {reason}.");
    };
    let (answer, advice) = answer(one, (name, base), cost.threshold);
    let mut parts = vec![format!("{answer}, {}", pairs(one, results))];
    let used = [Measure::Cpu, Measure::Memory].into_iter().filter_map(|measure| comparison(condition, measure));
    let used: Vec<String> = used.filter_map(change).collect();
    let used: Vec<String> = used.into_iter().chain(counts::sentence(results, name)).collect();
    parts.extend((!used.is_empty()).then(|| used.join(", ")));
    parts.extend(advice.into_iter().chain(doubt(cost)).map(str::to_owned));
    format!("{}.", parts.join("; "))
}

/// The answer for the figures that commands print: those that differ, the largest first, and what the others are.
fn figures_sentence(results: &Results, cost: &Cost, (new, old): (&str, &str), figures: &[&Comparison]) -> String {
    let all = words::count(figures.len(), "figure");
    let mut parts = Vec::new();
    for (word, is_loss) in [("worse", true), ("better", false)] {
        let found = figures.iter().filter(|one| one.verdict.is_decided() && one.verdict.is_loss() == is_loss);
        let found: Vec<&Comparison> = found.copied().collect();
        let changes = words::listed(&changes(&found), FEW);
        parts.extend((!found.is_empty()).then(|| format!("{word} than {old} in {} of {all} ({changes})", found.len())));
    }
    let within = |one: &&Comparison| if let Verdict::Same(within) = one.verdict { Some(within) } else { None };
    let same: Vec<f64> = figures.iter().filter_map(within).collect();
    if !same.is_empty() {
        let within = words::at_least(same.iter().copied().fold(0.0, f64::max));
        let word = if parts.is_empty() { format!("as good as {old}") } else { "the same".to_owned() };
        parts.push(format!("{word} in {} of {all} within {within} %", same.len()));
    }
    let undecided = figures.iter().filter(|one| matches!(one.verdict, Verdict::Undecided(_))).count();
    let known = parts.join(", ");
    let found = match undecided {
        0 => format!("{new} is {known}"),
        _ if known.is_empty() => format!("{new} cannot be told from {old} yet in any of {all}"),
        _ => format!("{new} is {known}; {undecided} of {all} undecided"),
    };
    let mut answer = vec![format!("{found}, {}", pairs(figures[0], results))];
    answer.extend((undecided > 0).then_some(LONGER).into_iter().chain(doubt(cost)).map(str::to_owned));
    format!("{}.", answer.join("; "))
}

/// Returns figures with their changes, the largest first: `parse +5.2 %`.
fn changes(found: &[&Comparison]) -> Vec<String> {
    let mut found = found.to_vec();
    found.sort_by(|one, other| other.delta.value.abs().total_cmp(&one.delta.value.abs()));
    found.iter().map(|one| format!("{} {} %", one.cell.label, signed_fine(one.change().value))).collect()
}

fn comparison(condition: &Condition, measure: Measure) -> Option<&Comparison> {
    condition.effects.iter().map(|effect: &Effect| &effect.comparison).find(|one| one.measure == measure)
}

/// Returns the answer for `new` against `old`, and advice where it is not known.
fn answer(one: &Comparison, (new, old): (&str, &str), threshold: f64) -> (String, Option<&'static str>) {
    let change = one.change();
    let mut ends = [size(change.low), size(change.high)];
    if change.value < 0.0 {
        ends.reverse();
    }
    let word = if change.value < 0.0 { "faster" } else { "slower" };
    let differs = format!("{new} is {word} than {old} by {} % ({})", size(change.value), ends.join(" to "));
    match one.verdict {
        Verdict::Slower | Verdict::Worse | Verdict::Faster | Verdict::Better => (differs, None),
        Verdict::Same(within) => (format!("{new} takes as long as {old}, within {} %", words::at_least(within)), None),
        Verdict::Undecided(_) | Verdict::Differs if !change.bounded() => {
            (format!("{new} cannot be told from {old} yet"), Some(LONGER))
        }
        Verdict::Undecided(_) | Verdict::Differs if is_beyond(change) && change.value.abs() <= threshold => {
            (format!("{differs}, less than the {} % that count", words::compact(threshold)), None)
        }
        Verdict::Undecided(_) | Verdict::Differs if is_beyond(change) => {
            (format!("{differs}, but that may be chance"), Some(LONGER))
        }
        Verdict::Undecided(_) | Verdict::Differs => {
            let [less, more] = [size(change.low), size(change.high)];
            (format!("undecided: {new} takes between {less} % less and {more} % more time than {old}"), Some(LONGER))
        }
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

/// Returns the change in what executions used, if it is known: `user time +2.3 %`, `memory the same`.
fn change(one: &Comparison) -> Option<String> {
    let name = one.measure.name();
    match one.verdict {
        Verdict::Same(_) => Some(format!("{name} the same")),
        Verdict::Undecided(_) | Verdict::Differs => None,
        _ => Some(format!("{name} {} %", signed_fine(one.change().value))),
    }
}

/// Returns a warning if the control, two equal arms, shows a difference.
fn doubt(cost: &Cost) -> Option<&'static str> {
    let mut control = cost.control.iter().map(|effect| &effect.comparison);
    let is_called = control.any(|one| one.measure == Measure::Score && one.verdict.is_decided());
    is_called
        .then_some("but in the control the first command differed from itself: measure again before you trust this")
}

/// Returns the commands, their differences, and what these rest on.
pub(super) fn blocks(results: &Results, cost: &Cost) -> Vec<Block> {
    let mut blocks = cost::data(cost);
    blocks.extend(executions::blocks(results));
    for condition in &cost.conditions {
        blocks.extend(cost::differences(cost, condition));
    }
    blocks.extend(counts::blocks(results));
    blocks.extend(cost::check(cost));
    blocks.extend([Block::section("Not measured"), Block::items(cost::not_measured(results, cost))]);
    let notes = [vec![comparisons::reading(cost.threshold), ROUNDS.to_owned()], cost.notes.clone()].concat();
    blocks.extend([Block::section("How to read the differences"), Block::notes(notes)]);
    blocks
}
