//! Times and resources of the executions of commands, a line for each command.

use analysis::{Executed, Figure, Measure, Results};
use journal::TimeUnit;

use super::shared::command;
use crate::charts::executions::{self as drawing, Times};
use crate::charts::key;
use crate::document::{Block, Chart, Column, Columns, Field};

/// A command shorter than this many starts of a process that does nothing is in large part start.
const STARTS: f64 = 3.0;

struct Row<'a> {
    figure: &'a Figure,
    executed: &'a Executed,
}

impl<'a> Row<'a> {
    /// Returns the times of its executions, as the series `number` of a chart.
    fn times(&self, number: usize) -> Times<'a> {
        Times {
            name: &self.figure.cell.key.condition,
            number,
            ms: self.executed.all.iter().map(|one| one.wall() as f64 / 1e6).collect(),
        }
    }

    /// Returns the wall time or a resource that was used, multiplied by `scale`.
    fn amount(&self, measure: Measure, scale: f64) -> Field {
        let mut used = self.executed.used.iter();
        let found = match measure {
            Measure::Score => Some(self.figure.score),
            _ => used.find(|(known, _)| *known == measure).map(|(_, used)| *used),
        };
        Field::estimate(found.map(|found| found.scaled(scale)), words::compact)
    }
}

/// Returns the columns of times: in a unit for people, in milliseconds for programs.
fn times<'a>(unit: TimeUnit) -> Columns<'a, Row<'a>> {
    let (symbol, scale) = unit.scale();
    let mut columns = Columns::new();
    for (name, measure) in [("wall", Measure::Score), ("user", Measure::User), ("system", Measure::System)] {
        let column = Column::number(&format!("{name} {symbol}"));
        let column = if measure == Measure::Score { column.main() } else { column.narrow(name) };
        columns = columns.with(column, move |row: &Row<'_>| row.amount(measure, scale));
        if measure == Measure::Score {
            columns = columns.with(Column::number("95 %"), move |row| {
                Field::Interval(row.figure.score.scaled(scale), words::compact)
            });
        }
        columns = columns.with(Column::data(&format!("{name}_ms")), move |row: &Row<'_>| row.amount(measure, 1.0));
    }
    columns
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
    let suited = || TimeUnit::suited(rows.iter().map(|row| row.figure.score.value).fold(0.0, f64::max));
    let unit = results.run.time_unit.unwrap_or_else(suited);
    let table = Columns::new()
        .keyed(|row: &Row<'_>| &row.figure.cell.key)
        .with(Column::words("command").keyed("label"), |row| Field::Text(command(&row.figure.cell)))
        .with(Column::number("executions").narrow("execs").keyed("executions"), |row| {
            Field::Count(row.executed.all.len() as u64)
        })
        .and(times(unit))
        .with(Column::number("memory MiB").narrow("MiB").keyed("memory_mib"), |row| row.amount(Measure::Memory, 1.0))
        .with(Column::data("failed"), |row| {
            Field::Count(row.executed.all.iter().filter(|one| one.status != 0).count() as u64)
        })
        .table(&rows)
        .keyed("executions")
        .titled("", "medians; the memory is that of the largest process");
    let mut blocks = vec![Block::section("Executions")];
    blocks.extend(charts(results, &rows));
    blocks.push(Block::Table(table));
    blocks.extend(short(&rows));
    blocks
}

/// Returns the distributions of the times of commands that are compared, and the difference of each pair in order;
/// nothing where there are too few.
fn charts(results: &Results, rows: &[Row<'_>]) -> Option<Block> {
    let against = &results.run.against;
    let measured = rows.iter().filter(|row| row.figure.cell.in_turn && !row.figure.cell.control);
    let all: Vec<Times<'_>> = measured.enumerate().map(|(number, row)| row.times(number)).collect();
    let (base, others): (Vec<&Times<'_>>, Vec<&Times<'_>>) = all.iter().partition(|one| one.name == *against);
    let base = base.first()?;
    let pair = |other: &&Times<'_>| {
        let label = format!("{} against {against}, pair after pair", other.name);
        Some((label, drawing::pairs(base, other)?))
    };
    let panels = std::iter::once((
        "Executions that took at most a given time in ms, %".to_owned(),
        drawing::distributions(&all)?,
    ));
    let legend = all.iter().map(|one| (key(one.number), one.name.to_owned()));
    Some(Block::Chart(Chart {
        caption: "The slowest 2 % are not drawn; pairs beyond the scale are triangles at its edge.".to_owned(),
        legend: legend.collect(),
        panels: panels.chain(others.iter().filter_map(pair)).collect(),
        ..Chart::default()
    }))
}

/// Returns what a process that does nothing takes, for commands that take little more.
fn short(rows: &[Row<'_>]) -> Option<Block> {
    let is_short = |row: &&Row<'_>| row.executed.start.is_some_and(|start| row.figure.score.value < STARTS * start);
    let start = rows.iter().find(is_short)?.executed.start?;
    Some(Block::text(format!(
        "Much of this is the start and end of a process: one that does nothing takes {} ms here.",
        words::compact(start)
    )))
}
