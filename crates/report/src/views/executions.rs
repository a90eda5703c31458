//! Times and resources of the executions of commands, a line for each command.

use analysis::{Executed, Figure, Measure, Remark, Results, TwoSpeeds};
use journal::TimeUnit;

use super::shared::command;
use crate::charts::executions::{Times, draw_distributions};
use crate::charts::key;
use crate::document::{Block, Chart, Column, Columns, Field, Table, ends_after, known};

/// A command shorter than this many starts of a process that does nothing is in large part start.
const MAX_SHORT_STARTS: f64 = 3.0;

const NS_PER_MS: f64 = 1e6;

/// The measures of time, by their names in headings and keys.
const TIMES: [(&str, Measure); 3] =
    [("wall", Measure::Score), ("user", Measure::User), ("system", Measure::System)];

const DISTRIBUTION_CAPTION: &str = "The share of executions, in per cent, that took at most a \
given time in ms; the slowest 2 % are not drawn.";

/// What follows the caption where the commands have two speeds.
const MARKS_CAPTION: &str = " The lines from top to bottom are the two speeds.";

/// A command with its executions.
struct Row<'a> {
    figure: &'a Figure,
    executed: &'a Executed,
}

impl<'a> Row<'a> {
    fn command(&self) -> String {
        command(&self.figure.cell)
    }

    /// The times of its executions, as the series `number` of a chart.
    fn times(&self, number: usize) -> Times<'a> {
        let executions = self.executed.all.iter();
        Times {
            name: &self.figure.cell.key.condition,
            number,
            ms: executions.map(|execution| execution.wall() as f64 / NS_PER_MS).collect(),
        }
    }

    /// The wall time or a resource that was used, multiplied by `scale`.
    fn amount(&self, measure: Measure, scale: f64) -> Field {
        let amount = match measure {
            Measure::Score => Some(self.figure.score),
            _ => self.executed.used(measure),
        };
        Field::estimate(amount.map(|amount| amount.scaled(scale)), words::compact)
    }

    fn failures(&self) -> usize {
        self.executed.all.iter().filter(|execution| execution.status != 0).count()
    }
}

fn rows(results: &Results) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for figure in &results.figures {
        if let Some(executed) = figure.executed.as_deref() {
            rows.push(Row { figure, executed });
        }
    }
    rows
}

/// The time of each command that is measured for itself, in a sentence.
pub(super) fn lead(results: &Results) -> Option<Block> {
    let took = words::duration(results.seconds);
    let quota = quota(results);
    let sentences: Vec<String> =
        rows(results).iter().map(|row| describe_time(row, &took, quota.as_deref())).collect();
    (!sentences.is_empty()).then_some(Block::Lead(sentences))
}

/// `sleep 0.02 takes 21.3 ms (21.1 to 21.5), 93 executions in 4 s.`
fn describe_time(row: &Row<'_>, took: &str, quota: Option<&str>) -> String {
    let (symbol, scale) = TimeUnit::suited(row.figure.score.value).scale();
    let time = row.figure.score.scaled(scale);
    let value = known(time.value, &time, words::compact);
    let ends = ends_after(&time, words::compact);
    let executions = words::count(row.executed.all.len(), "execution");
    let mut clauses =
        vec![format!("{} takes {value} {symbol}{ends}, {executions} in {took}", row.command())];
    let mishaps = row.figure.warnings.iter().filter(|remark| is_mishap(remark));
    clauses.extend(mishaps.map(Remark::to_string));
    clauses.extend(quota.map(str::to_owned));
    format!("{}.", clauses.join("; "))
}

/// True of a remark that an answer about commands holds: the times may be those of another
/// experiment than was meant.
pub(super) fn is_in_answer(remark: &Remark) -> bool {
    is_mishap(remark) || matches!(remark, Remark::Quota { .. })
}

/// True of executions that failed, and of processes that were killed after them, as of a command
/// that a shell has sent into the background.
pub(super) fn is_mishap(remark: &Remark) -> bool {
    match remark {
        Remark::FailedExecutions { .. } => true,
        Remark::ProgramNote { note, .. } => note.ends_with("were killed"),
        _ => false,
    }
}

/// What [`lead`] says besides the times of commands: processes that were killed, a quota.
pub(crate) fn notes_in_answer(results: &Results) -> Vec<String> {
    let mut notes = Vec::new();
    for figure in &results.figures {
        let is_killing =
            |remark: &&Remark| is_mishap(remark) && matches!(remark, Remark::ProgramNote { .. });
        notes.extend(figure.warnings.iter().filter(is_killing).map(Remark::to_string));
    }
    notes.extend(quota(results));
    notes
}

/// The note on a quota, if one limited the run.
pub(super) fn quota(results: &Results) -> Option<String> {
    let is_quota = |remark: &&Remark| matches!(remark, Remark::Quota { .. });
    results.warnings.iter().find(is_quota).map(Remark::to_string)
}

/// The table of executions; `None` of a run without commands.
pub(super) fn table(results: &Results) -> Option<Table> {
    let rows = rows(results);
    if rows.is_empty() {
        return None;
    }

    let longest_ms = rows.iter().map(|row| row.figure.score.value).fold(0.0, f64::max);
    let unit = results.run.time_unit.unwrap_or_else(|| TimeUnit::suited(longest_ms));
    let table = Columns::new()
        .keyed(|row: &Row<'_>| &row.figure.cell.key)
        .with(Column::words("command").keyed("label"), |row| Field::Text(row.command()))
        .with(Column::number("executions").narrow("execs").keyed("executions"), |row| {
            Field::Count(row.executed.all.len() as u64)
        })
        .and(time_columns(unit))
        .with(Column::number("memory MiB").narrow("MiB").keyed("memory_mib"), |row| {
            row.amount(Measure::Memory, 1.0)
        })
        .with(Column::data("failed"), |row| Field::Count(row.failures() as u64))
        .table(&rows)
        .keyed("executions");
    Some(table)
}

/// The columns of times: in `unit` for people, in milliseconds for programs.
fn time_columns<'a>(unit: TimeUnit) -> Columns<'a, Row<'a>> {
    let (symbol, scale) = unit.scale();
    let mut columns = Columns::new();
    for (name, measure) in TIMES {
        let is_wall = measure == Measure::Score;
        let column = Column::number(&format!("{name} {symbol}"));
        let column = if is_wall { column.main() } else { column.narrow(name) };
        columns = columns.with(column, move |row: &Row<'_>| row.amount(measure, scale));
        if is_wall {
            columns = columns.with(Column::number("95 % of wall"), move |row| {
                Field::Interval(row.figure.score.scaled(scale), words::compact)
            });
        }
        columns = columns.with(Column::data(&format!("{name}_ms")), move |row: &Row<'_>| {
            row.amount(measure, 1.0)
        });
    }
    columns
}

/// The table of executions, drawn too, and what must be known of short ones; nothing of a run
/// without commands.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let Some(table) = table(results) else {
        return Vec::new();
    };
    let rows = rows(results);

    let remark = "medians; the memory is that of the largest process";
    let mut blocks = vec![Block::section("Executions")];
    blocks.extend(distribution_chart(results, &rows));
    blocks.push(Block::Table(table.titled("", remark)));
    blocks.extend(note_on_start(&rows));
    blocks
}

/// The distributions of the times of commands that are compared; `None` if there are too few.
fn distribution_chart(results: &Results, rows: &[Row<'_>]) -> Option<Block> {
    let compared =
        rows.iter().filter(|row| row.figure.cell.is_alternating() && !row.figure.cell.control);
    let commands: Vec<Times<'_>> =
        compared.enumerate().map(|(number, row)| row.times(number)).collect();
    // Without the reference, there is nothing to compare with.
    commands.iter().find(|times| times.name == results.run.against)?;

    let speeds = two_speeds(results);
    let marked_ms: Vec<f64> = speeds.iter().flat_map(|speeds| [speeds.fast, speeds.slow]).collect();
    let drawing = draw_distributions(&commands, &marked_ms)?;
    let marks = if speeds.is_some() { MARKS_CAPTION } else { "" };
    let legend =
        commands.iter().map(|command| (key(command.number), command.name.to_owned())).collect();
    let caption = format!("{DISTRIBUTION_CAPTION}{marks}");
    Some(Block::Chart(Chart::new(Some(drawing), caption, legend)))
}

/// The two speeds of the first commands that have them.
fn two_speeds(results: &Results) -> Option<TwoSpeeds> {
    let mut comparisons = results.cost()?.effects().map(|effect| &effect.comparison);
    comparisons.find_map(|comparison| comparison.two_speeds)
}

/// What a process that does nothing takes, if any command takes little more.
fn note_on_start(rows: &[Row<'_>]) -> Option<Block> {
    let mut times_and_starts =
        rows.iter().filter_map(|row| Some((row.figure.score.value, row.executed.start?)));
    let (_, start_ms) =
        times_and_starts.find(|(ms, start_ms)| *ms < MAX_SHORT_STARTS * start_ms)?;
    Some(Block::text(format!(
        "Much of this is the start and end of a process: one that does nothing takes {} ms here.",
        words::compact(start_ms)
    )))
}
