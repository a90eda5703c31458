//! Counts of what executions of commands did: all of a command, or the differences from the first.

use analysis::{ComparedCounts, Comparisons, Count, Counts, Range, Results};
use serde_json::{Value, json};

use super::shared::command;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// System calls that a sentence names.
const TOLD: usize = 4;

/// The note below the table.
const READING: &str = "Counted in three extra executions, which were not timed; a range means that they differed. System \
                       calls are those that returned, of all processes. Page faults and switches are those of processes \
                       that were waited for, from executions that were not traced.";

/// The note where valgrind has counted.
const BY_VALGRIND: &str = "Instructions by valgrind are those in user mode, on a processor that it emulates: it sees neither \
                           the kernel nor what caches and branches cost. They compare only with others by valgrind.";

struct Row<'a> {
    command: String,
    counts: &'a Counts,
    count: &'a Count,
    own: Option<Range>,
    base: Option<Range>,
}

impl Row<'_> {
    fn label(&self) -> String {
        match self.count.name.as_str() {
            "rss" => format!("memory of the largest process, {}, KiB", self.counts.largest),
            _ => self.count.label().to_owned(),
        }
    }

    fn change(&self) -> Option<[i64; 2]> {
        self.own?.change(self.base?)
    }
}

/// What a command of a comparison does more often than the first: `+3 openat, −1 mmap per
/// execution`.
pub(super) fn sentence(results: &Results, condition: &str) -> Option<String> {
    change_in_words(results.counts_under(condition)?, results.counts.first()?)
}

/// The differences in calls between any two commands.
pub(super) fn change_in_words(own: &Counts, base: &Counts) -> Option<String> {
    let more = own.more_calls(base);
    let mut told: Vec<String> = more
        .iter()
        .take(TOLD)
        .map(|(name, number)| format!("{} {name}", signed(*number)))
        .collect();
    if more.len() > TOLD {
        told.push(words::count(more.len() - TOLD, "other call"));
    }
    let is_same =
        || own.paired_with(base).all(|(count, own, base)| count.call().is_none() || own == base);
    match told.is_empty() {
        false => Some(format!("{} per execution", told.join(", "))),
        true => is_same().then(|| "system calls the same".to_owned()),
    }
}

fn signed(number: i64) -> String {
    format!("{number:+}").replace('-', "−")
}

fn range(range: Option<Range>) -> Field {
    match range {
        None => Field::Missing,
        Some(range) if range.is_exact() => Field::Count(range.low),
        Some(range) => Field::text(range.to_string()),
    }
}

fn change(change: Option<[i64; 2]>) -> Field {
    match change {
        None => Field::Nothing,
        Some([least, most]) if least == most => Field::Text(signed(least)),
        Some([least, most]) => Field::Text(format!("{} to {}", signed(least), signed(most))),
    }
}

/// The rows of a command, against `base` where there is a first command.
fn rows<'a>(counts: &'a Counts, base: Option<&'a Counts>) -> impl Iterator<Item = Row<'a>> {
    let command = command(&counts.cell);
    let row = move |(count, own, other): (&'a Count, Option<Range>, Option<Range>)| {
        let command = command.clone();
        Row { command, counts, count, own, base: other.filter(|_| base.is_some()) }
    };
    counts.paired_with(base.unwrap_or(counts)).map(row)
}

/// The counts of all commands; nothing of a run in which nothing was counted.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let Some(first) = results.counts.first() else {
        return Vec::new();
    };
    let base = Some(first).filter(|first| first.cell.is_alternating());
    let rows: Vec<Row<'_>> = results.counts.iter().flat_map(|counts| rows(counts, base)).collect();
    let mut blocks = vec![Block::section("Counts"), Block::Table(data(&rows))];
    match base {
        Some(base) => blocks.push(differences(&rows, &base.cell.key.condition)),
        None => blocks.push(Block::Table(table(&rows, results.counts.len() > 1))),
    }
    blocks.push(Block::notes(notes_on(&rows)));
    blocks
}

/// How rows are to be read.
fn notes_on(rows: &[Row<'_>]) -> Vec<String> {
    let has_valgrind = rows.iter().any(|row| row.count.is_by_valgrind());
    let of_valgrind = has_valgrind.then_some(BY_VALGRIND);
    std::iter::once(READING).chain(of_valgrind).map(str::to_owned).collect()
}

/// The counts that differ between runs; nothing of runs without counts of the same command.
pub(super) fn compared(all: &Comparisons) -> Vec<Block> {
    let mut compared_rows: Vec<Row<'_>> = Vec::new();
    for ComparedCounts { letter, counts, base } in all.counts() {
        let command = format!("{letter}: {}", counts.cell.label);
        compared_rows
            .extend(rows(counts, Some(base)).map(|row| Row { command: command.clone(), ..row }));
    }
    if compared_rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::section("Counts"),
        Block::Table(data(&compared_rows)),
        differences(&compared_rows, all.against()),
        Block::notes(notes_on(&compared_rows)),
    ]
}

/// Every count of every command, for programs.
fn data(rows: &[Row<'_>]) -> Table {
    let ends =
        |range: Option<Range>| range.map_or(Value::Null, |range| json!([range.low, range.high]));
    Columns::new()
        .keyed(|row: &Row<'_>| &row.counts.cell.key)
        .with(Column::data("name"), |row| Field::text(&row.count.name))
        .with(Column::data("unit"), |row| Field::text(row.count.unit()))
        .data(move |row| json!({"count": ends(row.own), "base": ends(row.base), "change": row.change()}))
        .data(|row| json!({"process": (row.count.name == "rss").then_some(&row.counts.largest)}))
        .table(rows)
        .keyed("counts")
        .shown(Readers::PROGRAM)
}

fn table(rows: &[Row<'_>], has_several: bool) -> Table {
    let mut columns = Columns::new();
    if has_several {
        columns = columns.with(Column::words("command"), |row: &Row<'_>| Field::text(&row.command));
    }
    columns
        .with(Column::words("count"), |row: &Row<'_>| Field::Text(row.label()))
        .with(Column::number("per execution").main(), |row| range(row.own))
        .table(rows)
        .shown(Readers::PEOPLE)
}

/// The counts that differ from those of the first command, and whose differences are no chance of
/// three executions.
fn differences(rows: &[Row<'_>], base: &str) -> Block {
    let differ: Vec<&Row<'_>> = rows.iter().filter(|row| row.change().is_some()).collect();
    if differ.is_empty() {
        return Block::text(
            "No count differs between the commands by more than between executions of one command.",
        );
    }
    let table = Columns::new()
        .with(Column::words("command"), |row: &Row<'_>| Field::text(&row.command))
        .with(Column::words("count"), |row| Field::Text(row.label()))
        .with(Column::number("against"), |row| range(row.base))
        .with(Column::number("under"), |row| range(row.own))
        .with(Column::number("difference").main(), |row| change(row.change()))
        .table(differ)
        .titled("", format!("per execution, against {base}; counts not listed are equal, or differ only by chance"))
        .shown(Readers::PEOPLE);
    Block::Table(table)
}
