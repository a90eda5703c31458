//! A burn-in: what it found in figures and tables, and what was measured over time.

mod charts;
mod tables;

use analysis::{BurnIn, Cooling, Held, Memory, Sensor};
use catalogue::NONE;
use journal::{Burned, Fault};
use serde_json::{Value, json};
use stats::Estimate;
use words::{count, duration, figure, percentage, whole};

use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// Returns the verdict.
pub(super) fn lead(burnin: &BurnIn) -> Block {
    Block::Lead(vec![burnin.verdict.clone()])
}

/// Returns the figures, the charts and the tables.
pub(super) fn blocks(burnin: &BurnIn) -> Vec<Block> {
    let begin = vec![Block::Section(title(burnin)), Block::Data("burnin", data(burnin))];
    [begin, figure_tables(burnin).into(), charts::charts(burnin), tables::tables(burnin)].concat()
}

/// Returns the burn-in's work in a line.
fn title(burnin: &BurnIn) -> String {
    let asked = &burnin.asked;
    let (threads, worked) = (count(asked.threads, "thread"), duration(burnin.worked));
    let rested = burnin.samples.last().map_or(0.0, |sample| sample.at) - burnin.worked;
    match asked.kind {
        Burned::Memory => {
            format!("Memory burn-in: {}, {threads}, {worked}", words::bytes(asked.bytes.unwrap_or(0)))
        }
        Burned::Cooling if rested > 0.5 && asked.rest > 0.0 => {
            format!("Cooling burn-in: {threads}, {worked} of work, {} of rest", duration(rested))
        }
        Burned::Cooling => format!("Cooling burn-in: {threads}, {worked} of work"),
    }
}

/// Returns the data for programs beside the tables.
fn data(burnin: &BurnIn) -> Value {
    let memory = |memory: &Memory| {
        json!({
            "bytes": memory.bytes, "passes": memory.passes, "unfinished": memory.unfinished, "moved": memory.moved,
            "rate": memory.rate, "faults": memory.faults, "counted": memory.is_counted, "errors": memory.errors,
        })
    };
    json!({
        "test": burnin.test, "label": burnin.label, "verdict": burnin.verdict, "good": burnin.good,
        "worked": burnin.worked, "asked": burnin.asked, "cooling": burnin.cooling.as_ref().map(cooling_data),
        "memory": burnin.memory.as_ref().map(memory), "cool_down": burnin.cool_down, "samples": burnin.samples,
    })
}

/// Returns the figures of a cooling burn-in for programs.
fn cooling_data(cooling: &Cooling) -> Value {
    let held = |held: &Held| {
        let Held { initial, sustained, ratio, lowest } = held;
        json!({"initial": initial, "sustained": sustained, "kept": ratio, "lowest": lowest})
    };
    let fell = cooling.fall.as_ref().map(|fall| {
        let cause = &fall.cause;
        json!({"at": fall.at, "cause": cause.kind(), "thermal": cause.thermal, "power": cause.power})
    });
    json!({
        "clock": cooling.clock.as_ref().map(held), "throughput": cooling.throughput.as_ref().map(held), "fell": fell,
        "dip": cooling.dip, "slowed": cooling.slowed, "recovery": cooling.recovery, "wrong": cooling.wrong,
        "steal": cooling.steal,
    })
}

/// A line of the tables: of those without a name programs alone have a line, of those without a metric people alone.
struct Item {
    name: String,
    metric: String,
    unit: &'static str,
    value: Estimate,
    shown: String,
    /// True if it has an interval, or should have.
    measured: bool,
    bad: bool,
    reason: String,
}

impl Item {
    fn new(name: &str, metric: &str, unit: &'static str, value: f64, shown: String) -> Item {
        let (name, metric, value) = (name.to_owned(), metric.to_owned(), Estimate::alone(value));
        Item { name, metric, unit, value, shown, measured: false, bad: false, reason: String::new() }
    }

    /// People alone have it.
    fn words(name: &str, shown: String) -> Item {
        Item::new(name, "", "", f64::NAN, shown)
    }

    /// Programs alone have it.
    fn number(metric: &str, unit: &'static str, value: f64) -> Item {
        Item::new("", metric, unit, value, String::new())
    }

    /// It has an interval, or should have.
    fn estimate(name: &str, metric: &str, unit: &'static str, value: Estimate, shown: String) -> Item {
        Item { value, measured: true, ..Item::new(name, metric, unit, value.value, shown) }
    }

    fn bad(self, bad: bool, reason: &str) -> Item {
        Item { bad, reason: reason.to_owned(), ..self }
    }

    /// A count of what should not be.
    fn wrong(name: &str, metric: &str, number: u64) -> Item {
        Item::new(name, metric, "", number as f64, number.to_string()).bad(number > 0, "")
    }
}

/// The figures for people, and those for programs.
fn figure_tables(burnin: &BurnIn) -> [Block; 2] {
    let mut figures = vec![Item::number("seconds", "s", burnin.worked).bad(!burnin.good, &burnin.verdict)];
    figures.extend(burnin.cooling.iter().flat_map(|cooling| of_cooling(burnin, cooling)));
    figures.extend(burnin.memory.iter().flat_map(of_memory));
    let highest = |sensor: &Sensor| sensor.highest.unwrap_or(f64::NAN);
    let of_sensor = |sensor: &Sensor| Item::number(&format!("highest {}", sensor.name), sensor.unit, highest(sensor));
    figures.extend(burnin.sensors.iter().map(of_sensor));
    figures.extend(burnin.faults.iter().map(of_fault));
    let people = Columns::new()
        .with(Column::words("Figure").wide(34), |figure: &Item| Field::text(&figure.name))
        .with(Column::number("Value").main().wide(12), |figure| Field::text(&figure.shown))
        .with(Column::number("±").wide(8), |figure| match figure.measured {
            true => Field::Spread(figure.value),
            false => Field::Nothing,
        });
    let programs = Columns::new().data(|figure: &Item| {
        json!({
            "test": burnin.test, "label": burnin.label, "copies": burnin.asked.threads, "load": NONE,
            "condition": NONE, "metric": figure.metric, "unit": figure.unit, "value": figure.value.value,
            "low": figure.value.low, "high": figure.value.high,
            "status": if figure.bad { "error" } else { "ok" }, "reason": figure.reason,
        })
    });
    let people = people.table(figures.iter().filter(|figure| !figure.name.is_empty())).shown(Readers::PEOPLE);
    let programs = programs.table(figures.iter().filter(|figure| !figure.metric.is_empty())).shown(Readers::PROGRAM);
    [Block::Table(Table { headed: false, ..people }), Block::Table(programs.keyed("burnin_figures"))]
}

fn of_cooling(burnin: &BurnIn, cooling: &Cooling) -> Vec<Item> {
    let mut figures = Vec::new();
    let ghz = |value: f64| format!("{} GHz", figure(value));
    if let Some(Held { initial, sustained, ratio, lowest }) = cooling.clock {
        figures.extend([
            Item::estimate("Clock in the first seconds", "clock_initial", "GHz", initial, ghz(initial.value)),
            Item::estimate("Clock in the last quarter", "clock_sustained", "GHz", sustained, ghz(sustained.value)),
            Item::estimate("Clock kept", "clock_kept", "", ratio, percentage(ratio.value)),
            Item::new("Lowest clock", "clock_lowest", "GHz", lowest, ghz(lowest)),
        ]);
    }
    if let Some(Held { initial, sustained, ratio, .. }) = cooling.throughput {
        figures.extend([
            Item::estimate("", "throughput_initial", "pieces/s", initial, String::new()),
            Item::estimate("", "throughput_sustained", "pieces/s", sustained, String::new()),
            Item::estimate("Throughput kept", "throughput_kept", "", ratio, percentage(ratio.value)),
        ]);
    }
    match &cooling.fall {
        None => figures.push(Item::words("Clock fell after", "never".to_owned())),
        Some(fall) => {
            let cause = fall.cause.kind();
            figures.push(Item::new("Clock fell after", "fell", "s", fall.at, duration(fall.at)).bad(false, cause));
            figures.push(Item::words("Reason", cause.to_owned()));
        }
    }
    let hottest = burnin.sensors.iter().filter(|sensor| sensor.unit == "°C");
    let hottest = hottest.filter_map(|sensor| Some((sensor, sensor.highest?))).max_by(|a, b| a.1.total_cmp(&b.1));
    if let Some((sensor, highest)) = hottest {
        let limit = sensor.limit.map_or_else(String::new, |limit| format!(" of {}", whole(limit)));
        figures.push(Item::words(&format!("Hottest: {}", sensor.name), format!("{}{limit} °C", whole(highest))));
    }
    if let Some(down) = &burnin.cool_down {
        let half = down.half.map_or("longer than the rest".to_owned(), |seconds| format!("{seconds:.1} s"));
        figures.push(Item::words("Half cooled down after", half));
    }
    let rest = cooling.recovery.map(|seconds| format!("{} of rest", duration(seconds)));
    figures.extend(rest.map(|rest| Item::words("Clock back after", rest)));
    let steal = cooling.steal.map(|steal| percentage(steal / 100.0));
    figures.extend(steal.map(|steal| Item::words("Taken by the hypervisor", steal)));
    figures.push(Item::wrong("Wrong results", "wrong", cooling.wrong));
    figures
}

fn of_memory(memory: &Memory) -> Vec<Item> {
    let mut figures = vec![Item::new("Passes", "passes", "", memory.passes as f64, memory.passes.to_string())];
    if let Some(stage) = &memory.unfinished {
        let share = 100.0 * stage.done as f64 / stage.total.max(1) as f64;
        figures.push(Item::words("Unfinished pass", format!("{} %, in {}", whole(share), stage.pattern)));
    }
    figures.push(Item::new("Written and read", "moved", "B", memory.moved as f64, words::bytes(memory.moved)));
    if let Some(rate) = memory.rate {
        // One pass has nothing to be compared with.
        let several = memory.passes != 1;
        let name = if several { "Rate of a pass" } else { "Rate of the pass" };
        let shown = words::bytes_per_second(rate.value);
        figures.push(Item { measured: several, ..Item::estimate(name, "rate", "B/s", rate, shown) });
    }
    figures.push(Item::wrong("Faults", "faults", memory.faults));
    if !memory.is_counted {
        figures.push(Item::words("Memory controllers' counters", "none here".to_owned()));
        return figures;
    }
    let kinds = [(true, "Errors the controllers corrected"), (false, "Errors they could not correct")];
    for (corrected, name) in kinds {
        let rises = memory.errors.iter().filter(|rise| rise.corrected == corrected);
        figures.push(Item::words(name, rises.map(|rise| rise.count).sum::<u64>().to_string()));
    }
    for rise in &memory.errors {
        let kind = if rise.corrected { "corrected" } else { "uncorrected" };
        let metric = format!("{kind} {}", rise.controller);
        figures.push(Item::number(&metric, "", rise.count as f64).bad(true, ""));
    }
    figures
}

fn of_fault(fault: &Fault) -> Item {
    let physical = fault.physical.map_or(String::new(), |physical| format!(" physical {physical}"));
    let Fault { pass, pattern, address, read, expected, retest, .. } = fault;
    let reason = format!("pass {pass} {pattern} at {address}{physical}: {read} instead of {expected}, again {retest}");
    Item::number("fault", "s", fault.at).bad(true, &reason)
}
