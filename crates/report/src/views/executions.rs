//! What executions of commands took and used, a line for each command.

use analysis::{Executed, Figure, Measure, Results};
use stats::Estimate;

use super::shared::coordinates;
use crate::document::{Block, Column, Columns, Field};

/// Shorter than so many starts of a process that does nothing, a command is mostly start.
const STARTS: f64 = 3.0;

struct Row<'a> {
    figure: &'a Figure,
    executed: &'a Executed,
}

impl Row<'_> {
    fn used(&self, measure: Measure) -> Field {
        let found = self.executed.used.iter().find(|(known, _)| *known == measure);
        found.map_or(Field::Missing, |(_, used)| time(*used))
    }
}

fn time(estimate: Estimate) -> Field {
    Field::Estimate(estimate, words::compact)
}

fn rows(results: &Results) -> Vec<Row<'_>> {
    let executed = results.figures.iter().filter_map(|figure| Some((figure, figure.executed.as_deref()?)));
    executed.map(|(figure, executed)| Row { figure, executed }).collect()
}

/// Returns the table of executions, and what must be known of short ones; nothing of a run without commands.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let rows = rows(results);
    if rows.is_empty() {
        return Vec::new();
    }
    let name = |row: &Row<'_>| {
        let key = &row.figure.cell.key;
        match row.figure.cell.in_turn {
            true => key.condition.clone(),
            false => format!("{}{}", row.figure.cell.label, coordinates(key)),
        }
    };
    let table = Columns::new()
        .keyed(|row: &Row<'_>| &row.figure.cell.key)
        .with(Column::words("command").keyed("label"), move |row| Field::Text(name(row)))
        .with(Column::number("executions").narrow("runs").keyed("executions"), |row| {
            Field::Count(row.executed.all.len() as u64)
        })
        .with(Column::number("wall ms").keyed("wall_ms").main(), |row| time(row.figure.score))
        .with(Column::number("95 %"), |row| Field::Interval(row.figure.score, words::compact))
        .with(Column::number("user ms").narrow("user").keyed("user_ms"), |row| row.used(Measure::User))
        .with(Column::number("system ms").narrow("system").keyed("system_ms"), |row| row.used(Measure::System))
        .with(Column::number("memory MiB").narrow("MiB").keyed("memory_mib"), |row| row.used(Measure::Memory))
        .with(Column::data("failed"), |row| {
            Field::Count(row.executed.all.iter().filter(|one| one.status != 0).count() as u64)
        })
        .of(&rows)
        .keyed("executions")
        .titled("", "medians; the memory is that of the largest process");
    let mut blocks = vec![Block::section("Executions"), Block::Table(table)];
    blocks.extend(short(&rows));
    blocks
}

/// Says of commands that take little more than a process that does nothing what that takes.
fn short(rows: &[Row<'_>]) -> Option<Block> {
    let is_short = |row: &&Row<'_>| row.executed.start.is_some_and(|start| row.figure.score.value < STARTS * start);
    let start = rows.iter().find(is_short)?.executed.start?;
    Some(Block::text(format!(
        "Much of this is the start and end of a process: one that does nothing takes {} ms here.",
        words::compact(start)
    )))
}
