//! Details of tests next to their scores: times of single operations, the undisturbed figure,
//! limits, other values.

use analysis::{Best, Details, Figure, Limit, Results, Times, Value};
use catalogue::Metric;
use journal::Cell;
use serde_json::{Value as Json, json};
use stats::Estimate;

use super::shared::name;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

const NS_PER_SECOND: f64 = 1e9;

/// The details of a row for programs: only what there is.
pub(super) fn data(details: &Details) -> Json {
    let best =
        details.best.map(|best| json!({"ns": best.ns, "clock": best.clock, "cycles": best.cycles}));
    let values = (!details.values.is_empty()).then(|| values_data(&details.values));
    let parts = [
        ("times", details.times.as_ref().map(times_data)),
        ("undisturbed", best),
        ("limit", details.limit.as_ref().map(|limit| json!(limit))),
        ("values", values),
    ];
    parts.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn times_data(times: &Times) -> Json {
    let histogram = &times.histogram;
    let mut object = json!({
        "count": histogram.count(),
        "mean": histogram.mean(),
        "min": times.least,
        "max": histogram.max(),
        "histogram": histogram,
    });
    for (name, quantile) in &times.quantiles {
        object[*name] = json!(quantile);
    }
    object
}

fn values_data(values: &[Value]) -> Json {
    let mut objects = serde_json::Map::new();
    for value in values {
        let mut object = json!(value.value);
        object["unit"] = json!(value.unit);
        objects.insert(value.name.clone(), object);
    }
    Json::Object(objects)
}

/// A line of a table: a figure, with one of its details.
struct Detail<'a, T> {
    figure: &'a Figure,
    detail: &'a T,
}

/// The tables of all details.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    let tables = [
        table_of_times(results),
        table_of_undisturbed(results),
        table_of_limits(results),
        table_of_values(results),
    ];
    tables.map(Block::Table).into()
}

/// A line for each detail that `read` finds.
fn lines<'a, T>(
    results: &'a Results,
    read: impl Fn(&'a Details) -> Vec<&'a T>,
) -> Vec<Detail<'a, T>> {
    let mut lines = Vec::new();
    for figure in &results.figures {
        if let Some(details) = figure.details.as_deref() {
            lines.extend(read(details).into_iter().map(|detail| Detail { figure, detail }));
        }
    }
    lines
}

/// The columns that every such table begins with.
fn cell_columns<'a, T>() -> Columns<'a, Detail<'a, T>> {
    Columns::new()
        .with(Column::words("Test"), |line: &Detail<'_, T>| Field::Text(title(&line.figure.cell)))
        .with(Column::number("copies").wide(7), |line| {
            Field::Count(line.figure.cell.key.copies.into())
        })
}

fn table_of_times(results: &Results) -> Table {
    cell_columns::<Times>()
        .with(Column::number("least").wide(9), |line| {
            Field::Number(line.detail.least, words::nanoseconds)
        })
        .with(Column::number("p10").wide(9), |line| time_field(line.detail, "p10"))
        .with(Column::number("p50").main().wide(9), |line| time_field(line.detail, "p50"))
        .with(Column::number("±").wide(7), |line| {
            quantile(line.detail, "p50").map_or(Field::Missing, Field::Spread)
        })
        .with(Column::number("p99").wide(9), |line| time_field(line.detail, "p99"))
        .table(&lines(results, |details| details.times.iter().collect()))
        .shown(Readers::PEOPLE)
        .titled(
            "Single operations",
            "how long one operation took: the shortest time, and the 10th, 50th and 99th \
             percentiles. ± is for the median over trials",
        )
}

fn quantile(times: &Times, name: &str) -> Option<Estimate> {
    let known = times.quantiles.iter().find(|(known, _)| *known == name);
    known.map(|(_, quantile)| *quantile)
}

fn time_field(times: &Times, name: &str) -> Field {
    Field::maybe(quantile(times, name).map(|quantile| quantile.value), words::nanoseconds)
}

fn table_of_undisturbed(results: &Results) -> Table {
    cell_columns::<Best>()
        .with(Column::number("at best").main().wide(9), |line| {
            Field::Number(figure_at_best(line), words::fine)
        })
        .with(Column::words("unit"), |line| Field::text(&line.figure.cell.unit))
        .with(Column::number("±").wide(7), |line| Field::Spread(line.detail.ns))
        .with(Column::number("GHz").wide(6), |line| {
            Field::Number(line.detail.clock.value, words::fine)
        })
        .with(Column::number("cycles").wide(8), |line| {
            Field::Number(line.detail.cycles.value, words::fine)
        })
        .table(&lines(results, |details| details.best.iter().collect()))
        .shown(Readers::PEOPLE)
        .titled(
            "Undisturbed",
            "what one copy does in the shortest of many short pieces of its work; the core's clock \
             at that time, measured by a chain of additions; and how many of its cycles one \
             operation, byte or FLOP takes",
        )
}

/// The undisturbed time of an operation in the unit of the test's score.
fn figure_at_best(line: &Detail<'_, Best>) -> f64 {
    let (cell, ns) = (&line.figure.cell, line.detail.ns.value);
    let is_time = cell.metric.is_lower_better() && cell.metric != Metric::Latency;
    if is_time {
        ns * cell.scale / NS_PER_SECOND
    } else {
        cell.scale * cell.timebase * NS_PER_SECOND / ns
    }
}

fn table_of_limits(results: &Results) -> Table {
    cell_columns::<Limit>()
        .with(Column::number("reached").wide(9), |line| {
            Field::Number(line.detail.reached, words::figure)
        })
        .with(Column::number("limit").wide(7), |line| {
            Field::Number(line.detail.limit, words::figure)
        })
        .with(Column::words("unit"), |line| Field::text(&line.detail.unit))
        .with(Column::number("share").main().wide(8), |line| {
            Field::Number(line.detail.share, words::percent)
        })
        .with(Column::words("notes"), |line| {
            Field::Marks(vec![format!("limit: {}", line.detail.source)])
        })
        .table(&lines(results, |details| details.limit.iter().collect()))
        .shown(Readers::PEOPLE)
        .titled(
            "Limits",
            "how close the undisturbed figure comes to its limit; the notes give each limit's \
             source",
        )
}

fn table_of_values(results: &Results) -> Table {
    cell_columns::<Value>()
        .with(Column::words("name"), |line| Field::text(&line.detail.name))
        .with(Column::number("value").main().wide(9), |line| {
            Field::Number(line.detail.value.value, words::figure)
        })
        .with(Column::words("unit"), |line| Field::text(&line.detail.unit))
        .with(Column::number("±").wide(7), |line| Field::Spread(line.detail.value))
        .table(&lines(results, measured_values))
        .shown(Readers::PEOPLE)
        .titled(
            "Also measured",
            "other values reported by the programs that varied between trials: mean over copies, \
             median over trials",
        )
}

/// The values that vary. Programs' sizes and widths do not, and are in the JSON report; the start
/// of a process is in the table of executions.
fn measured_values(details: &Details) -> Vec<&Value> {
    details.values.iter().filter(|value| value.varies && value.name != "start").collect()
}

/// The name of a cell; commands that alternate are a test without one.
fn title(cell: &Cell) -> String {
    if cell.is_alternating() { cell.key.condition.clone() } else { name(&cell.label, &cell.key) }
}
