//! Where the processor time of commands goes, by function: the functions that differ from the first
//! command's, or those that take the most.

use analysis::{
    CountedFunction, Function, FunctionChange, FunctionChanges, FunctionInstructions, Functions,
    Range, Results,
};
use serde_json::{Value, json};
use stats::Estimate;

use super::flames;
use super::function_name::short_name;
use super::shared::{command, unsigned};
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Functions that a sentence names.
const MAX_NAMED: usize = 3;

/// Rows of the short report, and of the whole one.
const MAX_SHORT_ROWS: usize = 8;
const MAX_ROWS: usize = 30;

const TITLE: &str = "Where the time goes";

/// The note below the tables.
const READING: &str = "\
    Sampled in extra executions, which were not timed: processor time in the function itself, \
    without those that it calls. An execution is one value; 95 % intervals over executions. Of the \
    functions that are named, on average at most 1 % are named by chance, and their intervals allow \
    for that (docs/methodology.md). Functions are matched by name.";

/// The note where valgrind has counted.
const BY_VALGRIND: &str = "\
    Instructions are the function's own, counted by valgrind in one or two more executions with fixed \
    addresses and hashes, in per cent of all of the first command's. They are no times: valgrind sees \
    neither the kernel nor what caches and branches cost. Functions are named from a difference of \
    0.1 % on.";

/// The remarks below the tables of commands that are compared.
const DIFFERENT: &str = "functions that differ: times in per cent of the first command's processor time, \
instructions in per cent of its instructions";
const LARGEST: &str = "functions that take the most of it, whether they differ or not";

/// A function of a command that is compared.
struct Row<'a> {
    own: &'a Functions,
    name: &'a str,
    file: &'a str,
    /// Its time, if enough samples were in it.
    time: Option<&'a FunctionChange>,
    /// Its instructions, if any were counted.
    counted: Option<&'a CountedFunction>,
}

impl<'a> Row<'a> {
    fn of_time(own: &'a Functions, time: &'a FunctionChange) -> Row<'a> {
        let counted = own.instructions.as_ref().and_then(|all| all.of(&time.name));
        Row { own, name: &time.name, file: &time.file, time: Some(time), counted }
    }

    fn of_instructions(own: &'a Functions, counted: &'a CountedFunction) -> Row<'a> {
        let mut times = own.change.iter().flat_map(|change| &change.functions);
        let time = times.find(|function| function.name == counted.name);
        Row { own, name: &counted.name, file: &counted.file, time, counted: Some(counted) }
    }

    /// `only here` or `gone`, by both times and instructions.
    fn remark(&self) -> Field {
        let counted = self.counted.map_or([0, 0], |counted| [counted.base.high, counted.own.high]);
        let times = self.time.map_or([0.0, 0.0], |time| [time.base, time.own]);
        match [0, 1].map(|side| times[side] > 0.0 || counted[side] > 0) {
            [false, true] => Field::text("only here"),
            [true, false] => Field::text("gone"),
            _ => Field::Nothing,
        }
    }
}

/// A function of a command.
struct Share<'a> {
    own: &'a Functions,
    function: &'a Function,
}

impl Share<'_> {
    fn change(&self) -> Option<&FunctionChange> {
        let changes = self.own.change.as_ref()?;
        changes.functions.iter().find(|known| known.name == self.function.name)
    }

    fn counted(&self) -> Option<&CountedFunction> {
        self.own.instructions.as_ref()?.of(&self.function.name)
    }
}

/// Where a command takes more or less time than the first: `parse_number adds 1.8 % to the time
/// (1.2 to 2.4), the rest is undecided`. `None` of the first, and of one that was not sampled.
pub(super) fn sentence(results: &Results, condition: &str) -> Option<String> {
    let own = results.functions.iter().find(|own| own.cell.key.condition == condition)?;
    let change = own.change.as_ref()?;
    let mut parts: Vec<String> = change.significant().take(MAX_NAMED).map(describe).collect();
    let others = change.significant().count().saturating_sub(MAX_NAMED);
    if others > 0 {
        parts.push(describe_others(others));
    }
    parts.push(describe_rest(change));
    let times = parts.join(", ");
    match own.instructions.as_ref().map(describe_instructions) {
        Some(instructions) => Some(format!("{times}; {instructions}")),
        None => Some(times),
    }
}

/// What valgrind's count shows: `by valgrind's count, parse_number adds 2.0 % to the instructions,
/// no other function differs`.
fn describe_instructions(counted: &FunctionInstructions) -> String {
    let different: Vec<&CountedFunction> = counted.different().collect();
    let mut parts = Vec::new();
    for function in different.iter().take(MAX_NAMED) {
        let change = function.middle();
        let name = short_name(&function.name);
        parts.push(format!("{name} {}", adds_or_saves(change, "instructions")));
    }

    let others = different.len().saturating_sub(MAX_NAMED);
    parts.push(match (parts.is_empty(), others) {
        (true, _) => "no function executes more or fewer instructions".to_owned(),
        (false, 0) => "no other function differs".to_owned(),
        (false, others) => describe_others(others),
    });
    format!("by valgrind's count, {}", parts.join(", "))
}

/// `3 other functions differ too`.
fn describe_others(count: usize) -> String {
    let verb = if count == 1 { "differs" } else { "differ" };
    format!("{} {verb} too", words::count(count, "other function"))
}

/// A function's change in time: `parse_number adds 1.8 % to the time (1.2 to 2.4)`.
fn describe(function: &FunctionChange) -> String {
    let name = short_name(&function.name);
    let change = adds_or_saves(function.change.value, "time");
    let only = if function.is_only_in_own() {
        ", in which the first command spends no time,"
    } else if function.is_only_in_base() {
        ", in which this command spends no time,"
    } else {
        ""
    };
    format!("{name}{only} {change} ({})", describe_ends(function.change))
}

/// `adds 1.8 % to the time`, `saves 1.8 % of the time`.
fn adds_or_saves(change: f64, whole: &str) -> String {
    let size = unsigned(change);
    match change < 0.0 {
        true => format!("saves {size} % of the {whole}"),
        false => format!("adds {size} % to the {whole}"),
    }
}

/// What the functions that are not named add or save; if none is, what the command does.
fn describe_rest(change: &FunctionChanges) -> String {
    let (is_more, is_less) = (change.rest.low > 0.0, change.rest.high < 0.0);
    let is_any_named = change.significant().next().is_some();
    let (size, ends) = (unsigned(change.rest.value), describe_ends(change.rest));
    match (is_any_named, is_more, is_less) {
        (true, true, _) => format!("the rest adds {size} % ({ends})"),
        (true, _, true) => format!("the rest saves {size} % ({ends})"),
        (true, ..) => "the rest is undecided".to_owned(),
        (false, false, false) => {
            "no function takes significantly more or less of the time".to_owned()
        }
        // Where none is named, the rest is the whole command.
        (false, ..) => {
            let direction = if is_less { "less" } else { "more" };
            format!(
                "it takes {size} % {direction} processor time ({ends}), but no single function's samples explain it"
            )
        }
    }
}

/// The ends of a change; those of a saving as what is saved.
fn describe_ends(change: Estimate) -> String {
    let [from, to] = match change.value < 0.0 {
        true => [-change.high, -change.low],
        false => [change.low, change.high],
    };
    let [from, to] =
        [from, to].map(|end| words::signed_fine(end).trim_start_matches('+').to_owned());
    format!("{from} to {to}")
}

fn percent(value: f64) -> String {
    format!("{}%", words::share(value))
}

/// The functions that differ, or, of commands that are not compared, those that take the most time;
/// `None` if nothing was sampled, or none differs.
pub(super) fn short_table(results: &Results) -> Option<Table> {
    let is_compared = results.functions.iter().any(|own| own.change.is_some());
    let table = match is_compared {
        true => differences(&differing_rows(results), DIFFERENT),
        false => shares(&results.functions),
    };
    let table = table.at_most(MAX_SHORT_ROWS);
    (!table.rows.is_empty()).then_some(table)
}

/// All that samples show of commands; nothing of a run without.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    if results.functions.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::section(TITLE), Block::Table(data(results))];
    let differing = differing_rows(results);
    let is_compared = results.functions.iter().any(|own| own.change.is_some());
    if is_compared && differing.is_empty() {
        blocks.push(Block::text("No function takes significantly more or less time."));
    }
    if !differing.is_empty() {
        blocks.push(Block::Table(differences(&differing, DIFFERENT).shown(Readers::PEOPLE)));
    }
    let largest = match is_compared {
        true => differences(&largest(results), LARGEST),
        false => shares(&results.functions),
    };
    blocks.push(Block::Table(largest.shown(Readers::PEOPLE)));
    blocks.extend(flames::chart(results));

    let mut notes = vec![READING.to_owned()];
    if results.functions.iter().any(|own| own.instructions.is_some()) {
        notes.push(BY_VALGRIND.to_owned());
    }
    for own in &results.functions {
        for note in &own.notes {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
    }
    blocks.push(Block::notes(notes));
    blocks
}

/// The functions of all commands that differ from the first's, by command: those that differ in
/// time, then those that differ in instructions alone.
fn differing_rows(results: &Results) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for own in &results.functions {
        let first = rows.len();
        if let Some(change) = &own.change {
            rows.extend(change.significant().map(|function| Row::of_time(own, function)));
        }
        for counted in own.instructions.iter().flat_map(FunctionInstructions::different) {
            if rows[first..].iter().all(|row| row.name != counted.name) {
                rows.push(Row::of_instructions(own, counted));
            }
        }
    }
    rows
}

/// The functions that take the most time: equally many of each command.
fn largest(results: &Results) -> Vec<Row<'_>> {
    let max_rows = MAX_ROWS / results.functions.len().max(1);
    let mut rows = Vec::new();
    for own in &results.functions {
        let mut all: Vec<&FunctionChange> =
            own.change.iter().flat_map(|change| &change.functions).collect();
        all.sort_by(|a, b| (b.base + b.own).total_cmp(&(a.base + a.own)));
        rows.extend(all.into_iter().take(max_rows).map(|function| Row::of_time(own, function)));
    }
    rows
}

fn differences(rows: &[Row<'_>], remark: &str) -> Table {
    let mut commands: Vec<String> = rows.iter().map(|row| command(&row.own.cell)).collect();
    commands.dedup();
    let of_time = |row: &Row<'_>, text: fn(&FunctionChange) -> String| {
        row.time.map_or(Field::Missing, |time| Field::Text(text(time)))
    };

    let mut columns = Columns::new();
    if commands.len() > 1 {
        columns = columns
            .with(Column::words("command"), |row: &Row<'_>| Field::Text(command(&row.own.cell)));
    }
    columns = columns
        .with(Column::words("function"), |row: &Row<'_>| name(row.name))
        .with(Column::number("of the time"), move |row| of_time(row, |time| percent(time.base)))
        .with(Column::number("now"), move |row| of_time(row, |time| percent(time.own)))
        .with(Column::number("change").main(), move |row| {
            of_time(row, |time| format!("{}%", words::signed_fine(time.change.value)))
        })
        .with(Column::number("95 %"), move |row| {
            of_time(row, |time| {
                let [low, high] = [time.change.low, time.change.high].map(words::signed_fine);
                format!("{low}..{high}")
            })
        });
    if rows.iter().any(|row| row.own.instructions.is_some()) {
        columns = columns.with(Column::number("instructions"), |row| {
            row.counted
                .and_then(|counted| counted.change)
                .map_or(Field::Missing, instruction_change)
        });
    }
    columns
        .with(Column::words("in").shown(Readers::PAGE), |row| Field::text(row.file))
        .with(Column::words(""), Row::remark)
        .table(rows)
        .titled("", remark)
}

/// `+2.00%`, or the minimum and the maximum where executions differ: `+1.9%..+2.1%`.
fn instruction_change(ends: [f64; 2]) -> Field {
    let [least, most] = ends.map(|end| format!("{}%", words::signed_fine(end)));
    Field::Text(if least == most { least } else { format!("{least}..{most}") })
}

fn name(name: &str) -> Field {
    Field::text(name).narrow(short_name(name))
}

/// A table of the functions that take the most time, equally many of each command.
fn shares(all: &[Functions]) -> Table {
    let max_rows = MAX_ROWS / all.len().max(1);
    let mut rows = Vec::new();
    for own in all {
        rows.extend(own.all.iter().take(max_rows).map(|function| Share { own, function }));
    }
    let mut columns = Columns::new();
    if all.len() > 1 {
        columns = columns
            .with(Column::words("command"), |row: &Share<'_>| Field::Text(command(&row.own.cell)));
    }
    columns = columns
        .with(Column::words("function"), |row: &Share<'_>| name(&row.function.name))
        .with(Column::number("of the time").main(), |row| {
            Field::Text(percent(row.function.share.value))
        })
        .with(Column::number("95 %"), |row| {
            let ends = [row.function.share.low.max(0.0), row.function.share.high];
            let [low, high] = ends.map(percent);
            Field::Text(format!("{}..{high}", low.trim_end_matches('%')))
        });
    if all.iter().any(|own| own.instructions.is_some()) {
        columns = columns.with(Column::number("of the instructions"), |row| {
            let counted = row.counted().zip(row.own.instructions.as_ref());
            counted.map_or(Field::Missing, |(counted, all)| {
                Field::Text(percent(counted.own.low as f64 / all.total.low.max(1) as f64 * 100.0))
            })
        });
    }
    columns
        .with(Column::words("in").shown(Readers::PAGE), |row| Field::text(&row.function.file))
        .table(&rows)
        .titled("", "processor time in the function itself")
}

/// The minimum and the maximum of a count.
fn ends(range: Option<Range>) -> Value {
    range.map_or(Value::Null, |range| json!([range.low, range.high]))
}

/// The share of the time, in per cent, below which a function that does not differ is left out of
/// what programs get: there may be hundreds, of the C library and the loader.
const MIN_DATA_SHARE: f64 = 0.1;

/// The functions of every command, for programs.
fn data(results: &Results) -> Table {
    let mut rows = Vec::new();
    for own in &results.functions {
        let functions = own.all.iter().map(|function| Share { own, function });
        rows.extend(functions.filter(|row| {
            row.function.share.value >= MIN_DATA_SHARE
                || row.change().is_some_and(|change| change.is_significant)
                || row.counted().is_some_and(CountedFunction::differs)
        }));
    }
    Columns::new()
        .keyed(|row: &Share<'_>| &row.own.cell.key)
        .with(Column::data("name"), |row| Field::text(&row.function.name))
        .with(Column::data("file"), |row| Field::text(&row.function.file))
        .data(|row| {
            let share = row.function.share;
            let change = row.change();
            json!({
                "share": share.value, "low": share.low, "high": share.high,
                "base": change.map(|known| known.base),
                "change": change.map(|known| known.change.value),
                "change_low": change.map(|known| known.change.low),
                "change_high": change.map(|known| known.change.high),
                "q": change.map(|known| known.q),
                "differs": change.map(|known| known.is_significant),
            })
        })
        .data(|row| {
            let counted = row.counted();
            let is_compared = row.own.change.is_some();
            let base = counted.filter(|_| is_compared).map(|counted| counted.base);
            json!({
                "instructions": ends(counted.map(|counted| counted.own)),
                "instructions_base": ends(base),
                "instructions_change": counted.and_then(|counted| counted.change),
                "instructions_differ": base.and(counted).map(CountedFunction::differs),
            })
        })
        .table(&rows)
        .keyed("functions")
        .shown(Readers::PROGRAM)
}
