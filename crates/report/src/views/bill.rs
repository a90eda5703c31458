//! The bill of a command: the predicted cost of conditions, call by call, next to the measured one.

use analysis::{Item, Prediction};
use serde_json::json;
use stats::Estimate;
use words::listed;

use crate::document::{Block, Column, Columns, Document, Field, Style, Table};

/// The version of the bill's keys.
const FORMAT: &str = "unixmark-bill/1";

/// Names that a sentence lists at most.
const MAX_NAMES: usize = 6;

/// Calls that a sentence names as the dearest at most.
const MAX_DEAREST: usize = 3;

/// µs in a ns.
const MICRO: f64 = 1e-3;

/// The way to read a bill.
const READING: &str = "A call's price is what the condition adds to it in a loop of its own, with short arguments and warm caches; \
                       `added` is that times the number of calls of an execution. The prediction adds up the processor time \
                       of all processes: where they run side by side, less of it is felt. What is measured and not predicted \
                       is due to longer arguments, colder caches, page faults where they were not counted, calls without a \
                       price, or chance";

/// The bill of a command under one or more conditions.
pub fn bill(command: &str, predictions: &[Prediction]) -> Document {
    let mut document = Document::new(FORMAT, "unixmark bill", command, &["times", "calls"]);
    document
        .blocks
        .push(Block::Lead(predictions.iter().map(|one| sentence(command, one)).collect()));
    for one in predictions {
        document.blocks.push(Block::section(format!("{} against {}", one.condition, one.against)));
        document.extend([Block::Table(times(one)), Block::Table(calls(one))]);
    }
    document.blocks.push(Block::notes(vec![READING.to_owned()]));
    document
}

/// What is predicted, and next to it what is measured.
fn sentence(command: &str, one: &Prediction) -> String {
    let mut parts = vec![match one.total {
        Some(total) => prediction(command, one, total),
        None => format!(
            "what {} will cost {command} is not known: none of its calls has a price yet; try a \
             longer --budget",
            one.condition
        ),
    }];
    if let Some(measured) = one.measured {
        parts.push(format!("measured: {}", amount(one, measured)));
    }
    if let Some(rest) = one.rest() {
        let judged = if rest.low > 0.0 || rest.high < 0.0 {
            "not explained by its calls"
        } else {
            "within the intervals"
        };
        parts.push(format!("the difference of {} is {judged}", amount(one, rest)));
    }
    let without: Vec<String> =
        one.items.iter().filter(|item| item.price.is_none()).map(counted).collect();
    if !without.is_empty() {
        parts.push(format!("without a price: {}", listed(&without, MAX_NAMES)));
    }
    format!("{}.", parts.join("; "))
}

/// What an execution will cost, and the calls that cost most beyond doubt.
fn prediction(command: &str, one: &Prediction, total: Estimate) -> String {
    if total.holds_zero() {
        return undecided(command, one, total);
    }

    let dearest: Vec<&str> = one
        .items
        .iter()
        .filter(|item| item.added.is_some_and(|added| added.low > 0.0))
        .map(name)
        .take(MAX_DEAREST)
        .collect();
    let most = match dearest.is_empty() {
        true => String::new(),
        false => format!(", most of it for {}", listed(&dearest, MAX_NAMES)),
    };
    let cost = amount(one, total);
    format!("{} will cost {command} {cost} per execution{most}", one.condition)
}

/// That an execution may cost something or nothing, and the price that leaves it open.
fn undecided(command: &str, one: &Prediction, total: Estimate) -> String {
    let [low, high] = [total.low, total.high].map(|ns| words::figure(ns * MICRO));
    let width = |item: &&Item| item.added.map_or(0.0, |added| added.half_width());
    let widest = one.items.iter().max_by(|a, b| width(a).total_cmp(&width(b)));
    let because = match widest.filter(|item| width(item) > 0.0) {
        Some(item) => format!("; the price of {} is the least certain", name(item)),
        None => String::new(),
    };
    let condition = &one.condition;
    format!(
        "what {condition} will cost {command} is undecided, {low} to {high} µs per execution{because}"
    )
}

/// A time per execution: `451 µs (440..462), 3.2 % (3.1..3.3)`.
fn amount(one: &Prediction, ns: Estimate) -> String {
    let range = |estimate: Estimate, unit| {
        let [value, ends] =
            [Field::Estimate(estimate, words::figure), Field::Interval(estimate, words::figure)];
        format!("{} {unit} ({})", value.words(), ends.words())
    };
    let percent = one.percent(ns).map(|percent| format!(", {}", range(percent, "%")));
    format!("{}{}", range(ns.scaled(MICRO), "µs"), percent.unwrap_or_default())
}

fn name(item: &Item) -> &str {
    if item.name == "faults" { "page faults" } else { &item.name }
}

fn counted(item: &Item) -> String {
    format!("{} {}", item.count, name(item))
}

/// The prediction, the measurement and what is left, below each other.
fn times(one: &Prediction) -> Table {
    type Line = (&'static str, Option<Estimate>);
    let lines: [Line; 3] =
        [("predicted", one.total), ("measured", one.measured), ("not explained", one.rest())];
    let columns = Columns::new()
        .with(Column::data("condition"), |_: &Line| Field::text(&one.condition))
        .with(Column::data("against"), |_| Field::text(&one.against))
        .with(Column::words("per execution").keyed("what"), |line| Field::text(line.0));
    let columns = with_interval(columns, ("µs", "us"), |line| Some(line.1?.scaled(MICRO)));
    let columns = with_interval(columns, ("%", "percent"), |line| one.percent(line.1?));
    columns.table(lines.iter().filter(|line| line.1.is_some())).keyed("times")
}

/// Every call with its price, the dearest first, and last those without a price.
fn calls(one: &Prediction) -> Table {
    let columns = Columns::new()
        .with(Column::data("condition"), |_: &Item| Field::text(&one.condition))
        .with(Column::words("call").keyed("call"), |item| {
            Field::Worded(name(item).to_owned(), json!(item.name))
        })
        .with(Column::number("calls").keyed("count"), |item| {
            Field::Worded(item.count.to_string(), json!([item.count.low, item.count.high]))
        });
    let columns = with_interval(columns, ("ns each", "price_ns"), |item| item.price);
    let columns =
        with_interval(columns, ("µs added", "added_us"), |item| Some(item.added?.scaled(MICRO)));
    columns.table(&one.items).keyed("calls").titled("", "the dearest first; -: no price")
}

/// Columns with one of estimates and one of their intervals after them.
fn with_interval<'a, T>(
    columns: Columns<'a, T>,
    (head, key): (&str, &str),
    estimate: impl Fn(&T) -> Option<Estimate> + Copy + 'a,
) -> Columns<'a, T> {
    let field = |made: fn(Estimate, Style) -> Field| {
        move |row: &T| {
            estimate(row).map_or(Field::Missing, |estimate| made(estimate, words::figure))
        }
    };
    let columns = columns.with(Column::number(head).keyed(key).main(), field(Field::Estimate));
    columns.with(Column::number("interval"), field(Field::Interval))
}
