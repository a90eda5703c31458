//! The cost of conditions: each against the one that they are compared with, within the blocks of one run.

mod charts;
mod spread;
mod trail;

use analysis::{Comparison, Condition, Cost, CostTotal, Effect, GeometricMean, Measure, Results, Verdict};
use catalogue::NONE;
use journal::{Key, View};
use serde_json::{Value, json};
use words::{Grouped, Unique, count, listed};

use super::comparisons::{self, Line, measured};
use super::shared::{coordinates, gaps};
use super::totals::{self, Mean};
use crate::document::{Block, Column, Columns, Field, Readers, Table, interval};

/// The addition of a second look to a verdict.
const SECOND: &str = "twice: a second look at fresh blocks shows the loss again; once: it does not.";

/// The meaning of the marks of differences.
const MARKS: &str = "=: the same within the threshold; ?: undecided";

/// Tests or figures that a line lists.
const FEW: usize = 6;

/// Returns every condition's sentence, with its name if there are several.
pub(super) fn sentences(cost: &Cost) -> Vec<String> {
    let several = cost.conditions.len() > 1;
    let sentence = |condition: &Condition| match (several, &condition.name, &condition.sentence) {
        (true, name, sentence) if !sentence.contains(name) => format!("{name}: {sentence}"),
        (_, _, sentence) => sentence.clone(),
    };
    cost.conditions.iter().map(sentence).collect()
}

/// Returns what conditions cost, condition by condition, what it rests on, and how to read it.
pub(super) fn blocks(results: &Results, cost: &Cost) -> Vec<Block> {
    let mut blocks = data(cost);
    blocks.extend([Block::section("Delta under each condition, %"), Block::Table(matrix(cost))]);
    blocks.extend(cost.conditions.iter().flat_map(|condition| of_condition(cost, condition)));
    blocks.extend([Block::section("All rates together"), Block::Table(means(cost))]);
    for condition in &cost.conditions {
        let name = &condition.name;
        blocks.extend([Block::Section(format!("One system call under {name}")), Block::Table(trail::calls(condition))]);
        blocks.extend([Block::Section(format!("Trail of {name}")), Block::Table(trail::trail(condition))]);
        blocks.extend([Block::Section(format!("Events lost under {name}")), Block::Table(trail::losses(condition))]);
    }
    blocks.extend(by_copies(cost));
    blocks.extend(check(cost));
    for Condition { name, evidence, .. } in &cost.conditions {
        blocks.extend([Block::Section(format!("How {name} was verified")), Block::items(evidence.clone())]);
    }
    blocks.extend([Block::section("Not measured"), Block::items(not_measured(results, cost))]);
    blocks.extend([Block::section("How to read the costs"), Block::notes(notes(cost))]);
    blocks
}

/// Returns the effects of all conditions.
pub(crate) fn changes(cost: &Cost) -> Vec<Line<'_>> {
    lines(cost.effects(), cost)
}

fn lines<'a>(effects: impl IntoIterator<Item = &'a Effect>, cost: &'a Cost) -> Vec<Line<'a>> {
    effects.into_iter().map(|effect| Line::new(effect, &cost.against)).collect()
}

/// Returns the costs for programs.
pub(super) fn data(cost: &Cost) -> Vec<Block> {
    let rows = |key, effects: Vec<&Effect>, control: bool| {
        let columns = comparisons::columns(["a", "b"])
            .with(Column::data("control"), move |_| Field::Flag(control))
            .data(|line| line.effect.map_or(Value::Null, trail::data));
        Block::Table(columns.table(&lines(effects, cost)).keyed(key).shown(Readers::PROGRAM))
    };
    let condition = |condition: &Condition| {
        json!({
            "name": condition.name, "sentence": condition.sentence, "evidence": condition.evidence,
            "totals": condition.totals.iter().map(total_data).collect::<Vec<Value>>(),
        })
    };
    let about = json!({
        "against": cost.against, "threshold": cost.threshold, "widening": cost.widening,
        "conditions": cost.conditions.iter().map(condition).collect::<Vec<Value>>(),
        "missing": cost.missing, "notes": cost.notes,
    });
    vec![
        rows("comparisons", cost.effects().collect(), false),
        rows("controls", cost.control.iter().collect(), true),
        Block::Data("cost", about),
    ]
}

/// Returns a mean for programs.
fn total_data(total: &CostTotal) -> Value {
    let CostTotal { id, name, copies, load, mean: GeometricMean { rates, delta, worst } } = total;
    json!({
        "id": id, "name": name, "copies": copies, "load": load, "rates": rates, "delta": delta.value,
        "low": delta.low, "high": delta.high, "worst": worst.label, "worst_delta": worst.delta,
    })
}

/// A measure of a test at some copies and load, under any condition.
type Family<'a> = (Key, Measure, &'a str);

fn family(one: &Comparison) -> Family<'_> {
    (one.cell.key.under(NONE), one.measure, &one.cell.label)
}

/// The columns that name a row: short at a terminal, by its label on pages.
fn named<'a, T>(family: impl Fn(&T) -> Family<'_> + Copy + 'a) -> Columns<'a, T> {
    Columns::new().with(Column::words("test"), move |row| {
        let (key, measure, label) = family(row);
        Field::Text(measured(label, &key, measure)).narrow(measured(&key.test, &key, measure))
    })
}

/// The deltas of all conditions beside each other; without rows if there is only one.
fn matrix(cost: &Cost) -> Table {
    let rows: Vec<Family<'_>> = cost.effects().map(|effect| family(&effect.comparison)).unique();
    let mut columns = named(|row: &Family<'_>| (row.0.clone(), row.1, row.2));
    for condition in &cost.conditions {
        columns = columns.with(Column::number(&condition.name).main(), |row: &Family<'_>| {
            let found = condition.effects.iter().find(|effect| family(&effect.comparison) == *row);
            found.map_or(Field::Missing, |effect| Field::Text(mark(&effect.comparison)))
        });
    }
    let rows = if cost.conditions.len() > 1 { rows } else { Vec::new() };
    columns.table(&rows).titled("", MARKS).shown(Readers::PEOPLE)
}

/// A delta with a mark of its verdict; decimal points line up in columns of text.
fn mark(one: &Comparison) -> String {
    let mark = match one.verdict {
        Verdict::Same(_) => '=',
        Verdict::Undecided(_) => '?',
        _ => ' ',
    };
    let unit = comparisons::unit(one.measure).trim_start_matches('%');
    format!("{}{mark}", Field::Suffixed(one.change().value, words::signed_fine, unit).words())
}

fn of_condition(cost: &Cost, condition: &Condition) -> Vec<Block> {
    let section = Block::Section(format!("Cost of {}", condition.name));
    let spread = spread::blocks(condition, &lines(&condition.effects, cost));
    [vec![section], differences(cost, condition), beyond(cost, condition), spread].concat()
}

/// Returns what a condition differs by, in numbers and drawn.
pub(super) fn differences(cost: &Cost, condition: &Condition) -> Vec<Block> {
    let found = lines(&condition.effects, cost);
    let table = comparisons::columns(["against", "under"]).table(&found);
    let table = table.titled("", remark(&cost.against, &condition.effects)).shown(Readers::PEOPLE);
    vec![charts::forest(cost, condition), Block::Table(table)]
}

/// Returns a remark on the reference of differences, and on the number of blocks or pairs.
fn remark(against: &str, effects: &[Effect]) -> String {
    let blocks = effects.iter().map(|effect| effect.comparison.n.b);
    let unit = if effects.iter().any(|effect| effect.comparison.cell.in_turn) { "pairs" } else { "blocks" };
    match (blocks.clone().min(), blocks.max()) {
        (Some(least), Some(most)) if least == most => format!("against {against}, {most} {unit}"),
        (Some(least), Some(most)) => format!("against {against}, {least} to {most} {unit}"),
        _ => format!("against {against}"),
    }
}

/// Returns the bars of significant differences beyond the threshold, the largest loss first; and those by estimate
/// alone.
fn beyond(cost: &Cost, condition: &Condition) -> Vec<Block> {
    let (threshold, name) = (cost.threshold, &condition.name);
    let over = lines(&condition.effects, cost).into_iter().filter(|line| line.comparison.delta.value.abs() > threshold);
    let (mut decided, open): (Vec<Line<'_>>, Vec<Line<'_>>) =
        over.partition(|line| line.comparison.verdict.is_decided());
    decided.sort_by(|a, b| a.comparison.delta.value.total_cmp(&b.comparison.delta.value));
    let is_undecided = |effect: &Effect| matches!(effect.comparison.verdict, Verdict::Undecided(_));
    let none = match condition.effects.iter().all(is_undecided) {
        true => format!(
            "Too little data to tell what changes under {name}: {} undecided.",
            count(condition.effects.len(), "comparison")
        ),
        false => format!("No test changes significantly by more than {threshold} % under {name}."),
    };
    let by_estimate = |show: Readers, name: fn(&Line<'_>) -> String| {
        let names: Vec<String> = open.iter().map(name).collect();
        let text = format!("Estimated change over {threshold} %, but undecided: {}.", names.join(", "));
        Block::Text(show, String::new(), text)
    };
    let by_estimate =
        [by_estimate(Readers::TERMINAL, |line| line.id()), by_estimate(Readers::PAGE, |line| line.title())];
    let mut table = Columns::new()
        .with(Column::words("test"), |line: &Line<'_>| Field::Text(line.id()))
        // A loss of all is the whole bar.
        .with(Column::words("").wide(42), |line| Field::Bar((-line.comparison.delta.value / 100.0).clamp(-1.0, 1.0)))
        .with(Column::number("delta").main(), Line::delta)
        .with(Column::number("time"), Line::time)
        .table(&decided)
        .shown(Readers::TERMINAL)
        .titled("", format!("Beyond {threshold} % under {name}, the largest loss first; +: a gain"));
    table.headed = false;
    let found = match (decided.is_empty(), condition.effects.is_empty()) {
        (true, true) => None,
        (true, false) => Some(Block::text(none)),
        (false, _) => Some(Block::Table(table)),
    };
    found.into_iter().chain(by_estimate.into_iter().filter(|_| !open.is_empty())).collect()
}

/// The geometric means over tests.
fn means(cost: &Cost) -> Table {
    let several = cost.conditions.len() > 1;
    let named = |condition: &Condition, total| {
        let Mean { name, of } = mean(total);
        Mean { name: if several { format!("{}: {name}", condition.name) } else { name }, of }
    };
    let all = cost.conditions.iter().flat_map(|one| one.totals.iter().map(move |total| named(one, total)));
    totals::table(&all.collect::<Vec<Mean<'_>>>())
}

/// The mean of some rates, by its place in the matrix.
fn mean(total: &CostTotal) -> Mean<'_> {
    let place = Key { load: total.load.clone(), ..Key::plain("", total.copies) };
    Mean { name: format!("{}{}", total.name, coordinates(&place)), of: &total.mean }
}

/// A test at several levels of copies, under one condition.
struct Series<'a> {
    /// Which condition, by its place.
    place: usize,
    condition: &'a str,
    family: Family<'a>,
    effects: Vec<&'a Effect>,
}

/// Returns the series of all conditions, each by growing copies.
fn series<'a>(cost: &'a Cost) -> Vec<Series<'a>> {
    let own = |effect: &'a Effect| {
        let (key, measure, label) = family(&effect.comparison);
        ((Key { copies: 1, ..key }, measure, label), effect)
    };
    let of = |(place, condition): (usize, &'a Condition)| {
        condition.effects.iter().map(own).grouped().into_iter().map(move |(family, mut effects)| {
            effects.sort_by_key(|effect| effect.comparison.cell.key.copies);
            Series { place, condition: &condition.name, family, effects }
        })
    };
    cost.conditions.iter().enumerate().flat_map(of).filter(|series| series.effects.len() > 1).collect()
}

fn by_copies(cost: &Cost) -> Vec<Block> {
    let series = series(cost);
    let level = |effect: &Effect| effect.comparison.cell.key.copies;
    let mut levels: Vec<u32> = series.iter().flat_map(|series| &series.effects).map(|effect| level(effect)).unique();
    levels.sort_unstable();
    let mut columns = named(|series: &Series<'_>| (series.family.0.clone(), series.family.1, series.family.2));
    if cost.conditions.len() > 1 {
        columns = columns.with(Column::words("condition"), |series| Field::text(series.condition));
    }
    for copies in levels {
        columns = columns.with(Column::number(&words::copies(copies)).main(), move |series| {
            let found = series.effects.iter().find(|effect| level(effect) == copies);
            found.map_or(Field::Missing, |effect| Field::Text(mark(&effect.comparison)))
        });
    }
    let table = columns.table(&series).titled("", MARKS).shown(Readers::PEOPLE);
    vec![Block::section("Delta by copies, %"), Block::Table(table), charts::by_copies(cost, &series)]
}

/// Returns the comparison of two equal arms: how far apart two arms of the same condition are.
pub(super) fn check(cost: &Cost) -> Vec<Block> {
    let against = &cost.against;
    let delta = |one: &Comparison| comparisons::change(one).words();
    let known = || cost.control.iter().map(|effect| &effect.comparison).filter(|one| one.delta.bounded());
    let largest = known().max_by(|a, b| a.delta.value.abs().total_cmp(&b.delta.value.abs()));
    let text = match largest {
        None if cost.control.is_empty() => {
            format!("{against} has no second arm, so nothing shows whether the intervals hold on this machine.")
        }
        None => format!(
            "Not checked: {against} was measured twice in each block, but so few blocks have no intervals that could \
             hold or fail."
        ),
        Some(largest) => {
            let flagged = known().filter(|one| one.verdict.is_decided());
            let flagged = flagged.map(|one| format!("{} ({} {})", name(one), one.verdict.word(), delta(one)));
            let flagged: Vec<String> = flagged.collect();
            let all = words::count(known().count(), "comparison");
            let shown = match flagged.len() {
                0 => format!("no significant difference ({all})"),
                some => format!("a significant difference in {some} of {all}: {}", listed(&flagged, FEW)),
            };
            let (size, name) = (delta(largest), name(largest));
            let ends = interval(&largest.change(), words::signed_fine);
            format!(
                "{against} measured against itself in the same blocks shows {shown}; the largest is {size} ({ends}) in \
                 {name}."
            )
        }
    };
    let table = comparisons::columns(["first", "second"]).table(&lines(&cost.control, cost)).shown(Readers::PAGE);
    let table = table.titled("", remark(&cost.against, &cost.control));
    vec![Block::section("A/A check"), Block::text(text), Block::Table(table)]
}

/// Returns a name without the condition, which both arms share.
fn name(one: &Comparison) -> String {
    let (key, measure, _) = family(one);
    one.unnamed().map_or_else(|| measured(&key.test, &key, measure), str::to_owned)
}

/// Returns the cells without a result, each reason once with what it touches.
pub(super) fn not_measured(results: &Results, cost: &Cost) -> Vec<String> {
    let gaps = gaps(results);
    // A cell without a result is not compared either.
    let others = cost.missing.iter().filter(|gap| gaps.iter().all(|(_, other)| other.key != gap.key));
    let all = gaps.iter().copied().chain(others.map(|gap| ("not compared", gap)));
    let reasons = all.map(|(kind, gap)| (format!("{kind}: {}", gap.reason), &gap.key)).grouped();
    let is_of_commands = results.run.view == View::Ab;
    reasons.into_iter().map(|(reason, keys)| format!("{}: {reason}", touched(&keys, is_of_commands))).collect()
}

/// Returns which tests under which conditions: `syscall, execl x2 under audit=all`; commands are conditions of one
/// test.
fn touched(keys: &[&Key], is_of_commands: bool) -> String {
    let conditions = keys.iter().map(|key| key.condition.as_str()).unique().join(", ");
    if is_of_commands {
        return conditions;
    }
    let tests: Vec<String> = keys.iter().map(|key| format!("{}{}", key.test, coordinates(&key.under(NONE)))).unique();
    format!("{} under {conditions}", listed(&tests, FEW))
}

/// How to read the numbers: what columns and verdicts mean, the run's own notes, and what is known of single numbers.
fn notes(cost: &Cost) -> Vec<String> {
    let mut notes = vec![comparisons::reading(cost.threshold)];
    if cost.effects().any(|effect| effect.confirmed.is_some()) {
        notes.push(SECOND.to_owned());
    }
    notes.extend(cost.notes.iter().cloned());
    notes.extend(comparisons::remarks(cost.effects().chain(&cost.control).map(|effect| &effect.comparison)));
    notes
}
