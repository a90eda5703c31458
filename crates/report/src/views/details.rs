//! Details of tests beside their scores: times of single operations, the undisturbed figure, limits, other values.

use analysis::{Best, Details, Figure, Limit, Results, Times, Value};
use catalogue::Metric;
use journal::Cell;
use serde_json::{Value as Json, json};

use super::shared::name;
use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Returns what programs have of a row's details: only what there is.
pub(super) fn data(details: &Details) -> Json {
    let best = details.best.map(|best| json!({"ns": best.ns, "clock": best.clock, "cycles": best.cycles}));
    let parts = [
        ("times", details.times.as_ref().map(times_json)),
        ("undisturbed", best),
        ("limit", details.limit.as_ref().map(|limit| json!(limit))),
        ("values", (!details.values.is_empty()).then(|| values_json(&details.values))),
    ];
    parts.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}

fn times_json(times: &Times) -> Json {
    let histogram = &times.histogram;
    let mut object = json!({
        "count": histogram.count(), "mean": histogram.mean(), "min": times.least, "max": histogram.max(),
        "histogram": histogram,
    });
    for (name, quantile) in &times.quantiles {
        object[*name] = json!(quantile);
    }
    object
}

fn values_json(values: &[Value]) -> Json {
    let value = |value: &Value| {
        let mut object = json!(value.value);
        object["unit"] = json!(value.unit);
        (value.name.clone(), object)
    };
    values.iter().map(value).collect()
}

/// One line of a table: a cell, with a piece of its details.
type Line<'a, T> = (&'a Figure, &'a T);

/// Returns the tables that have any row.
pub(super) fn blocks(results: &Results) -> Vec<Block> {
    [times(results), undisturbed(results), limits(results), values(results)].map(Block::Table).into()
}

fn lines<'a, T>(results: &'a Results, of: impl Fn(&'a Details) -> Vec<&'a T>) -> Vec<Line<'a, T>> {
    let line = |row: &'a Figure| {
        let found = row.details.as_deref().map(&of).unwrap_or_default();
        found.into_iter().map(move |piece| (row, piece)).collect::<Vec<_>>()
    };
    results.figures.iter().flat_map(line).collect()
}

/// The columns that every such table begins with.
fn of_cell<'a, T>() -> Columns<'a, Line<'a, T>> {
    Columns::new()
        .with(Column::words("Test"), |line: &Line<'_, T>| Field::Text(titled(&line.0.cell)))
        .with(Column::number("copies").wide(7), |line| Field::Count(u64::from(line.0.cell.key.copies)))
}

fn times(results: &Results) -> Table {
    let time = |name: &'static str| {
        move |line: &Line<'_, Times>| {
            let found = line.1.quantiles.iter().find(|known| known.0 == name);
            Field::maybe(found.map(|known| known.1.value), words::nanoseconds)
        }
    };
    of_cell::<Times>()
        .with(Column::number("least").wide(9), |line| Field::Number(line.1.least, words::nanoseconds))
        .with(Column::number("p10").wide(9), time("p10"))
        .with(Column::number("p50").main().wide(9), time("p50"))
        .with(Column::number("±").wide(7), |line| {
            let median = line.1.quantiles.iter().find(|known| known.0 == "p50");
            median.map_or(Field::Missing, |median| Field::Spread(median.1))
        })
        .with(Column::number("p99").wide(9), time("p99"))
        .table(&lines(results, |details| details.times.iter().collect()))
        .shown(Readers::PEOPLE)
        .titled(
            "Single operations",
            "how long one operation took: the shortest time, and the 10th, 50th and 99th percentiles. ± is for the \
             median over trials",
        )
}

fn undisturbed(results: &Results) -> Table {
    let at_best = |(row, best): &Line<'_, Best>| match row.cell.metric {
        Metric::Time | Metric::Amount => best.ns.value * row.cell.scale / 1e9,
        Metric::Rate | Metric::Latency => row.cell.scale * row.cell.timebase * 1e9 / best.ns.value,
    };
    of_cell::<Best>()
        .with(Column::number("at best").main().wide(9), move |line| Field::Number(at_best(line), words::fine))
        .with(Column::words("unit"), |line| Field::text(&line.0.cell.unit))
        .with(Column::number("±").wide(7), |line| Field::Spread(line.1.ns))
        .with(Column::number("GHz").wide(6), |line| Field::Number(line.1.clock.value, words::fine))
        .with(Column::number("cycles").wide(8), |line| Field::Number(line.1.cycles.value, words::fine))
        .table(&lines(results, |details| details.best.iter().collect()))
        .shown(Readers::PEOPLE)
        .titled(
            "Undisturbed",
            "what one copy does in the shortest of many short pieces of its work; the core's clock at that time, \
             measured by a chain of additions; and how many of its cycles one operation, byte or FLOP takes",
        )
}

fn limits(results: &Results) -> Table {
    of_cell::<Limit>()
        .with(Column::number("reached").wide(9), |line| Field::Number(line.1.reached, words::figure))
        .with(Column::number("limit").wide(7), |line| Field::Number(line.1.limit, words::figure))
        .with(Column::words("unit"), |line| Field::text(&line.1.unit))
        .with(Column::number("share").main().wide(8), |line| Field::Number(line.1.share, words::percent))
        .with(Column::words("notes"), |line| Field::Marks(vec![format!("limit: {}", line.1.source)]))
        .table(&lines(results, |details| details.limit.iter().collect()))
        .shown(Readers::PEOPLE)
        .titled("Limits", "how close the undisturbed figure comes to its limit; the notes give each limit's source")
}

fn values(results: &Results) -> Table {
    of_cell::<Value>()
        .with(Column::words("name"), |line| Field::text(&line.1.name))
        .with(Column::number("value").main().wide(9), |line| Field::Number(line.1.value.value, words::figure))
        .with(Column::words("unit"), |line| Field::text(&line.1.unit))
        .with(Column::number("±").wide(7), |line| Field::Spread(line.1.value))
        // Programs' sizes and widths are in the JSON report, and so is the start of a process, of which the table of
        // executions speaks.
        .table(&lines(results, |details| {
            details.values.iter().filter(|value| value.varies && value.name != "start").collect()
        }))
        .shown(Readers::PEOPLE)
        .titled(
            "Also measured",
            "other values reported by the programs that varied between trials: mean over copies, median over trials",
        )
}

/// Returns the name of a cell; commands in turn are a test without one.
fn titled(cell: &Cell) -> String {
    if cell.in_turn { cell.key.condition.clone() } else { name(&cell.label, &cell.key) }
}
