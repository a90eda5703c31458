//! The cost of conditions: each against the one that they are compared with, within the blocks of
//! one run.

mod charts;
mod spread;
mod starts;
mod trail;

use analysis::{
    Comparison, Condition, Cost, Effect, GeometricMean, Measure, Missing, Results, Verdict, cost,
};
use catalogue::NONE;
use journal::{Key, View};
use serde_json::{Value, json};
use words::{Grouped, Unique, count, listed};

use super::comparisons::{self, Line, measured};
use super::shared::{coordinates, gaps};
use super::totals::{self, Mean};
use crate::document::{Block, Column, Columns, Field, Readers, Table, interval};

/// How to read the addition of a second look to a verdict.
const READING_OF_SECOND_LOOK: &str =
    "twice: a second look at fresh blocks shows the loss again; once: it does not.";

/// The meaning of the marks of differences.
const MARKS: &str = "=: the same within the threshold; ?: undecided";

/// Tests or figures that a line lists.
const MAX_LISTED: usize = 6;

/// Every condition's sentence, with its name if there are several.
pub(super) fn sentences(cost: &Cost) -> Vec<String> {
    if let Some(sentence) = starts::sentence(&cost.starts) {
        return vec![sentence];
    }

    let mut sentences = Vec::new();
    for Condition { name, sentence, .. } in &cost.conditions {
        let needs_name = cost.conditions.len() > 1 && !sentence.contains(name);
        sentences.push(match needs_name {
            true => format!("{name}: {sentence}"),
            false => sentence.clone(),
        });
    }
    sentences
}

/// What conditions cost, condition by condition, what it rests on, and how to read it.
pub(super) fn blocks(results: &Results, cost: &Cost) -> Vec<Block> {
    let mut blocks = data(cost);
    blocks.extend(starts(cost).map(Block::Table));
    blocks.extend([Block::section("Delta under each condition, %"), Block::Table(matrix(cost))]);
    for condition in &cost.conditions {
        blocks.extend(condition_blocks(cost, condition));
    }
    blocks.extend([Block::section("All together"), Block::Table(means(cost))]);
    for condition in &cost.conditions {
        let name = &condition.name;
        blocks.push(Block::Section(format!("One system call under {name}")));
        blocks.push(Block::Table(trail::calls(condition)));
        blocks.push(Block::Section(format!("Trail of {name}")));
        blocks.push(Block::Table(trail::trail(condition)));
        blocks.push(Block::Section(format!("Events lost under {name}")));
        blocks.push(Block::Table(trail::losses(condition)));
    }
    blocks.extend(by_copies(cost));
    blocks.extend(check(cost));
    for Condition { name, evidence, .. } in &cost.conditions {
        blocks.push(Block::Section(format!("How {name} was verified")));
        blocks.push(Block::items(evidence.clone()));
    }
    blocks.extend([Block::section("Not measured"), Block::items(not_measured(results, cost))]);
    blocks.extend([Block::fold("How to read the costs"), Block::notes(notes(results, cost))]);
    blocks
}

/// What sandboxes cost to start, if that was asked for.
pub(super) fn starts(cost: &Cost) -> Option<Table> {
    starts::table(cost)
}

/// The effects of all conditions.
pub(crate) fn changes(cost: &Cost) -> Vec<Line<'_>> {
    lines(cost.effects(), cost)
}

pub(super) fn lines<'a>(
    effects: impl IntoIterator<Item = &'a Effect>,
    cost: &'a Cost,
) -> Vec<Line<'a>> {
    effects.into_iter().map(|effect| Line::new(effect, &cost.against)).collect()
}

/// The lines of the control, each against its own condition; of several with its name.
fn lines_of_control(cost: &Cost) -> Vec<Line<'_>> {
    let has_several = controlled_conditions(cost).len() > 1;
    let mut lines = Vec::new();
    for effect in &cost.control {
        let condition = &effect.comparison.run;
        let arm = has_several.then(|| condition.clone());
        lines.push(Line { arm, ..Line::new(effect, condition) });
    }
    lines
}

/// The names of the conditions that have a control.
fn controlled_conditions(cost: &Cost) -> Vec<&str> {
    cost.control.iter().map(|effect| effect.comparison.run.as_str()).unique()
}

/// The costs for programs.
pub(super) fn data(cost: &Cost) -> Vec<Block> {
    let conditions: Vec<Value> = cost.conditions.iter().map(condition_data).collect();
    let about = json!({
        "against": cost.against, "threshold": cost.threshold, "widening": cost.widening,
        "conditions": conditions,
        "missing": cost.missing, "caveats": cost.caveats, "notes": cost.notes,
    });
    vec![
        comparison_data("comparisons", changes(cost), false),
        comparison_data("controls", lines_of_control(cost), true),
        Block::Data("cost", about),
    ]
}

fn comparison_data(key: &'static str, lines: Vec<Line<'_>>, is_control: bool) -> Block {
    let columns = comparisons::columns(["a", "b"])
        .with(Column::data("control"), move |_| Field::Flag(is_control))
        .data(|line| line.effect.map_or(Value::Null, trail::data));
    Block::Table(columns.table(&lines).keyed(key).shown(Readers::PROGRAM))
}

fn condition_data(condition: &Condition) -> Value {
    json!({
        "name": condition.name, "sentence": condition.sentence, "evidence": condition.evidence,
        "totals": condition.totals.iter().map(total_data).collect::<Vec<Value>>(),
    })
}

/// A mean for programs.
fn total_data(total: &cost::Total) -> Value {
    let cost::Total { id, name, copies, load, mean } = total;
    let (GeometricMean { rates, worst, .. }, change) = (mean, mean.change());
    json!({
        "id": id, "name": name, "copies": copies, "load": load, "rates": rates, "delta": change.value,
        "low": change.low, "high": change.high, "worst": worst.label, "worst_delta": worst.change,
    })
}

/// A measure of a test at some copies and load, under any condition.
type Family<'a> = (Key, Measure, &'a str);

fn family(comparison: &Comparison) -> Family<'_> {
    (comparison.cell.key.under(NONE), comparison.measure, &comparison.cell.label)
}

/// The columns that name a row: short at a terminal, by its label on pages.
fn name_column<'a, T>(family: impl Fn(&T) -> Family<'_> + Copy + 'a) -> Columns<'a, T> {
    Columns::new().with(Column::words("test"), move |row| {
        let (key, measure, label) = family(row);
        Field::Text(measured(label, &key, measure)).narrow(measured(&key.test, &key, measure))
    })
}

/// The deltas of all conditions next to each other; without rows if there is only one.
pub(super) fn matrix(cost: &Cost) -> Table {
    let mut columns = name_column(|row: &Family<'_>| (row.0.clone(), row.1, row.2));
    for condition in &cost.conditions {
        columns = columns.with(Column::number(&condition.name).main(), |row: &Family<'_>| {
            let mut effects = condition.effects.iter();
            let effect = effects.find(|effect| family(&effect.comparison) == *row);
            effect.map_or(Field::Missing, |effect| Field::Text(delta_with_mark(&effect.comparison)))
        });
    }

    let rows: Vec<Family<'_>> = match cost.conditions.len() > 1 {
        true => cost.effects().map(|effect| family(&effect.comparison)).unique(),
        false => Vec::new(),
    };
    columns.table(&rows).titled("", MARKS).shown(Readers::PEOPLE)
}

/// A delta with a mark of its verdict; decimal points line up in columns of text.
fn delta_with_mark(comparison: &Comparison) -> String {
    let mark = match comparison.verdict {
        Verdict::Same(_) => '=',
        Verdict::Undecided(_) | Verdict::Undirected => '?',
        _ => ' ',
    };
    format!("{}{mark}", comparisons::change(comparison).words().trim_end_matches('%'))
}

fn condition_blocks(cost: &Cost, condition: &Condition) -> Vec<Block> {
    let mut blocks = vec![Block::Section(format!("Cost of {}", condition.name))];
    blocks.extend(differences(cost, condition));
    blocks.extend(beyond_threshold(cost, condition));
    blocks.extend(spread::blocks(condition, &lines(&condition.effects, cost)));
    blocks
}

/// The arms of a run about cost, by what distinguishes their names.
pub(super) struct Arms<'a> {
    /// The reference first.
    names: Vec<&'a str>,
    /// As many, each without what all of them share.
    own: Vec<String>,
    /// The words that they share, with … in place of the others; empty where they share none.
    pattern: String,
    /// The pattern for a line above a table.
    pub(super) shared: String,
}

/// The longest pattern that is repeated with each name in a sentence.
const MAX_PATTERN: usize = 24;

/// The longest pattern in a sentence.
const MAX_BASE: usize = 60;

impl<'a> Arms<'a> {
    pub(super) fn new(cost: &'a Cost) -> Arms<'a> {
        let others = cost.conditions.iter().map(|condition| condition.name.as_str());
        let names: Vec<&str> = std::iter::once(cost.against.as_str()).chain(others).collect();
        let words::Distinct { shared: pattern, own } = words::distinct(&names);
        let shared = match pattern.is_empty() {
            true => String::new(),
            false => format!("{pattern}, where … is:"),
        };
        Arms { names, own, pattern, shared }
    }

    /// The arm called `name` in a sentence without a table next to it: whole, unless what all
    /// share is long.
    pub(super) fn in_sentence<'n>(&'n self, name: &'n str) -> &'n str {
        let is_short = self.pattern.chars().count() <= MAX_PATTERN;
        if is_short { name } else { self.own(name) }
    }

    /// The reference in such a sentence, with what all share where their names lack it.
    pub(super) fn base_in_sentence(&self) -> String {
        let base = self.names[0];
        match self.in_sentence(base) {
            whole if whole == base => whole.to_owned(),
            own => format!("{own} (for … in {})", words::shortened(&self.pattern, MAX_BASE)),
        }
    }

    pub(super) fn base(&self) -> &str {
        &self.own[0]
    }

    /// What distinguishes the arm called `name`.
    pub(super) fn own<'n>(&'n self, name: &'n str) -> &'n str {
        let place = self.names.iter().position(|known| *known == name);
        place.map_or(name, |place| &self.own[place])
    }

    /// The headings of both sides of a comparison.
    pub(super) fn heads(&self) -> [String; 2] {
        let [base, other] = match &self.own[..] {
            [base, other] => [base.as_str(), other.as_str()],
            _ => [self.base(), "new"],
        };
        [base, other].map(comparisons::side_heading)
    }
}

/// What a condition differs by, in numbers and drawn.
fn differences(cost: &Cost, condition: &Condition) -> Vec<Block> {
    let lines = lines(&condition.effects, cost);
    let [base, other] =
        [&cost.against, &condition.name].map(|name| comparisons::side_heading(name));
    let table = comparisons::columns([&base, &other])
        .table(&lines)
        .titled("", describe_base(&cost.against, condition.effects.iter()))
        .shown(Readers::PEOPLE);

    let mut blocks = charts::forest(cost, std::slice::from_ref(condition), &lines);
    blocks.push(Block::Table(table));
    blocks
}

/// What all conditions differ by, each named in its rows, in one table and one drawing.
pub(super) fn differences_of_all(cost: &Cost) -> Vec<Block> {
    let arms = Arms::new(cost);
    let [base, other] = arms.heads();
    let lines = lines_of_arms(cost.effects(), cost, &arms);
    let mut remark = describe_base(&cost.against, cost.effects());
    if cost.conditions.len() > 1 && !arms.shared.is_empty() {
        remark = format!("{remark}; {}", arms.shared);
    }
    let table = comparisons::columns([&base, &other])
        .table(&lines)
        .titled("", remark)
        .shown(Readers::PEOPLE);

    // What executions used is in the table.
    let drawn: Vec<Line<'_>> =
        lines.into_iter().filter(|line| !line.comparison.is_of_execution()).collect();
    let mut blocks = charts::forest(cost, &cost.conditions, &drawn);
    blocks.push(Block::Table(table));
    blocks
}

/// The lines of effects, each with the name of its condition where there are several.
pub(super) fn lines_of_arms<'a>(
    effects: impl IntoIterator<Item = &'a Effect>,
    cost: &'a Cost,
    arms: &Arms<'_>,
) -> Vec<Line<'a>> {
    let mut lines = lines(effects, cost);
    if cost.conditions.len() > 1 {
        for line in &mut lines {
            line.arm = Some(arms.own(&line.comparison.run).to_owned());
        }
    }
    lines
}

/// What differences are against, and the number of blocks or pairs behind them.
fn describe_base<'a>(against: &str, effects: impl Iterator<Item = &'a Effect>) -> String {
    let comparisons: Vec<&Comparison> = effects.map(|effect| &effect.comparison).collect();
    if let Some(comparison) = comparisons.iter().find(|comparison| comparison.units.is_some()) {
        return format!("against {against}, {}", comparison.describe_sample());
    }

    let alternate = comparisons.iter().any(|comparison| comparison.cell.is_alternating());
    let unit = if alternate { "pairs" } else { "blocks" };
    let numbers = comparisons.iter().map(|comparison| comparison.n.b);
    match (numbers.clone().min(), numbers.max()) {
        (Some(fewest), Some(most)) if fewest == most => {
            format!("against {against}, {most} {unit}")
        }
        (Some(fewest), Some(most)) => format!("against {against}, {fewest} to {most} {unit}"),
        _ => format!("against {against}"),
    }
}

/// The differences beyond the threshold: significant ones as bars, the largest loss first, then the
/// names of those that are undecided.
fn beyond_threshold(cost: &Cost, condition: &Condition) -> Vec<Block> {
    let threshold = cost.threshold;
    let mut decided = Vec::new();
    let mut undecided = Vec::new();
    for line in lines(&condition.effects, cost) {
        if line.comparison.delta.value.abs() <= threshold {
            continue;
        }
        match line.comparison.verdict.is_decided() {
            true => decided.push(line),
            false => undecided.push(line),
        }
    }
    decided.sort_by(|a, b| a.comparison.delta.value.total_cmp(&b.comparison.delta.value));

    let mut blocks = Vec::new();
    if !decided.is_empty() {
        blocks.push(Block::Table(bars(&decided, threshold, &condition.name)));
    } else if !condition.effects.is_empty() {
        blocks.push(Block::text(nothing_beyond(condition, threshold)));
    }
    if !undecided.is_empty() {
        let ids: Vec<String> = undecided.iter().map(Line::id).collect();
        let titles: Vec<String> = undecided.iter().map(Line::title).collect();
        for (readers, names) in [(Readers::TERMINAL, ids), (Readers::PAGE, titles)] {
            let names = names.join(", ");
            let text = format!("Estimated change over {threshold} %, but undecided: {names}.");
            blocks.push(Block::Text(readers, String::new(), text));
        }
    }
    blocks
}

/// The sentence where no difference beyond the threshold is significant.
fn nothing_beyond(condition: &Condition, threshold: f64) -> String {
    let name = &condition.name;
    let are_all_undecided = condition.effects.iter().all(|effect| {
        matches!(effect.comparison.verdict, Verdict::Undecided(_) | Verdict::Undirected)
    });
    match are_all_undecided {
        true => format!(
            "Too little data to tell what changes under {name}: {} undecided.",
            count(condition.effects.len(), "comparison")
        ),
        false => format!("No test changes significantly by more than {threshold} % under {name}."),
    }
}

fn bars(lines: &[Line<'_>], threshold: f64, condition: &str) -> Table {
    let mut table = Columns::new()
        .with(Column::words("test"), |line: &Line<'_>| Field::Text(line.id()))
        // A loss of all is the whole bar.
        .with(Column::words("").wide(42), |line| {
            Field::Bar((-line.comparison.delta.value / 100.0).clamp(-1.0, 1.0))
        })
        .with(Column::number("delta").main(), Line::delta)
        .with(Column::number("time"), Line::time)
        .table(lines)
        .shown(Readers::TERMINAL)
        .titled(
            "",
            format!("Beyond {threshold} % under {condition}, the largest loss first; +: a gain"),
        );
    table.headed = false;
    table
}

/// The geometric means over tests.
fn means(cost: &Cost) -> Table {
    let mut means = Vec::new();
    for condition in &cost.conditions {
        for total in &condition.totals {
            let mut mean = mean(total);
            if cost.conditions.len() > 1 {
                mean.name = format!("{}: {}", condition.name, mean.name);
            }
            means.push(mean);
        }
    }
    totals::table(&means)
}

/// The mean of some rates, by its place in the matrix.
fn mean(total: &cost::Total) -> Mean<'_> {
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

/// The series of two or more levels of all conditions, each by growing copies.
fn series_by_copies(cost: &Cost) -> Vec<Series<'_>> {
    let mut all = Vec::new();
    for (place, condition) in cost.conditions.iter().enumerate() {
        let by_family = condition
            .effects
            .iter()
            .map(|effect| {
                let (key, measure, label) = family(&effect.comparison);
                ((Key { copies: 1, ..key }, measure, label), effect)
            })
            .grouped();
        for (family, mut effects) in by_family {
            effects.sort_by_key(|effect| copies_of(effect));
            if effects.len() > 1 {
                all.push(Series { place, condition: &condition.name, family, effects });
            }
        }
    }
    all
}

fn copies_of(effect: &Effect) -> u32 {
    effect.comparison.cell.key.copies
}

fn by_copies(cost: &Cost) -> Vec<Block> {
    let series = series_by_copies(cost);
    let mut levels: Vec<u32> =
        series.iter().flat_map(|series| &series.effects).map(|effect| copies_of(effect)).unique();
    levels.sort_unstable();

    let mut columns = name_column(|series: &Series<'_>| {
        (series.family.0.clone(), series.family.1, series.family.2)
    });
    if cost.conditions.len() > 1 {
        columns = columns.with(Column::words("condition"), |series| Field::text(series.condition));
    }
    for copies in levels {
        columns = columns.with(Column::number(&words::copies(copies)).main(), move |series| {
            let effect = series.effects.iter().find(|effect| copies_of(effect) == copies);
            effect.map_or(Field::Missing, |effect| Field::Text(delta_with_mark(&effect.comparison)))
        });
    }
    let table = columns.table(&series).titled("", MARKS).shown(Readers::PEOPLE);
    vec![
        Block::section("Delta by copies, %"),
        Block::Table(table),
        charts::by_copies(cost, &series),
    ]
}

/// The comparison of two equal arms: how far apart two arms of the same condition are.
pub(super) fn check(cost: &Cost) -> Vec<Block> {
    let table = comparisons::columns(["first", "second"])
        .table(&lines_of_control(cost))
        .shown(Readers::PAGE)
        .titled("", describe_base(&cost.against, cost.control.iter()));
    vec![Block::section("A/A check"), Block::text(check_sentence(cost)), Block::Table(table)]
}

fn check_sentence(cost: &Cost) -> String {
    let against = &cost.against;
    if cost.control.is_empty() {
        return format!(
            "{against} has no second arm, so nothing shows whether the intervals hold on this machine."
        );
    }
    let bounded: Vec<&Comparison> = cost
        .control
        .iter()
        .map(|effect| &effect.comparison)
        .filter(|comparison| comparison.delta.bounded())
        .collect();
    let largest = bounded.iter().max_by(|a, b| a.delta.value.abs().total_cmp(&b.delta.value.abs()));
    let Some(largest) = largest else {
        return format!(
            "Not checked: {against} was measured twice in each block, but so few blocks have no intervals that could \
             hold or fail."
        );
    };

    let subject = match &controlled_conditions(cost)[..] {
        [condition] => format!("{condition} measured against itself in the same blocks shows"),
        conditions => {
            let names = conditions.join(" and ");
            format!("{names} measured against themselves in the same blocks show")
        }
    };
    let mut called = Vec::new();
    for comparison in bounded.iter().filter(|comparison| comparison.verdict.is_decided()) {
        let delta = comparisons::change(comparison).words();
        called.push(format!("{} ({} {delta})", name(comparison), comparison.verdict.word()));
    }
    let count = words::count(bounded.len(), "comparison");
    let differences = match called.len() {
        0 => format!("no significant difference ({count})"),
        some => {
            let listed = listed(&called, MAX_LISTED);
            format!("a significant difference in {some} of {count}: {listed}")
        }
    };
    let size = comparisons::change(largest).words();
    let ends = interval(&largest.change(), words::signed_fine);
    format!("{subject} {differences}; the largest is {size} ({ends}) in {}.", name(largest))
}

/// A comparison's name without the condition, which both arms share.
pub(super) fn name(comparison: &Comparison) -> String {
    let (key, measure, _) = family(comparison);
    comparison.unnamed().map_or_else(|| measured(&key.test, &key, measure), str::to_owned)
}

/// The cells without a result, each reason once with what it touches.
pub(super) fn not_measured(results: &Results, cost: &Cost) -> Vec<String> {
    let gaps = gaps(results);
    // A cell without a result is not compared either.
    let not_compared =
        cost.missing.iter().filter(|gap| gaps.iter().all(|(_, other)| other.key != gap.key));
    let by_reason = gaps
        .iter()
        .copied()
        .chain(not_compared.map(|gap| ("not compared", gap)))
        .map(|(kind, gap)| (format!("{kind}: {}", gap.reason), gap))
        .grouped();

    let is_of_commands = results.run.view == View::Ab;
    by_reason
        .into_iter()
        .map(|(reason, gaps)| format!("{}: {reason}", describe_cells(&gaps, is_of_commands)))
        .collect()
}

/// Which tests under which conditions: `syscall, execl x2 under audit=all`; commands are conditions
/// of one test.
fn describe_cells(gaps: &[&Missing], is_of_commands: bool) -> String {
    let conditions = gaps.iter().map(|gap| gap.key.condition.as_str()).unique().join(", ");
    let is_printed = gaps.iter().any(|gap| gap.printed);
    if is_of_commands && !is_printed {
        return conditions;
    }
    let tests: Vec<String> = gaps
        .iter()
        .map(|gap| format!("{}{}", gap.key.test, coordinates(&gap.key.under(NONE))))
        .unique();
    format!("{} under {conditions}", listed(&tests, MAX_LISTED))
}

/// How to read the numbers: what columns and verdicts mean, the run's own notes, and what is known
/// of single numbers.
fn notes(results: &Results, cost: &Cost) -> Vec<String> {
    let mut notes = vec![comparisons::reading(cost.threshold)];
    if cost.effects().any(|effect| effect.confirmed.is_some()) {
        notes.push(READING_OF_SECOND_LOOK.to_owned());
    }
    notes.extend(cost.caveats.iter().chain(&cost.notes).cloned());
    notes.extend(remarks(results, cost));
    notes
}

/// What must be known of single numbers, each remark once.
pub(super) fn remarks(results: &Results, cost: &Cost) -> Vec<String> {
    let comparisons = cost.effects().chain(&cost.control).map(|effect| &effect.comparison);
    let of_comparisons = comparisons::remarks(comparisons);
    // What is noted of the reference belongs to none of its comparisons.
    let reference = results.figures.iter().filter(|row| row.cell.key.condition == cost.against);
    let of_reference = comparisons::grouped_remarks(
        reference.flat_map(|row| {
            let name = comparisons::place(&row.cell);
            let remarks = row.warnings.iter().filter(|remark| !remark.is_of_method());
            remarks.map(move |remark| (name.clone(), remark))
        }),
        None,
    );
    of_comparisons.into_iter().chain(of_reference).unique()
}
