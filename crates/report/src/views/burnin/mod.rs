//! A burn-in: what it found in figures and tables, and what was measured over time.

mod burst;
mod charts;
mod tables;

use analysis::{BurnIn, Cooling, Held, Memory, Sensor};
use catalogue::NONE;
use journal::{Burned, Fault};
use serde_json::{Value, json};
use stats::Estimate;
use words::{count, duration, figure, percentage, whole};

use crate::document::{Block, Column, Columns, Field, Readers, Table};

/// A rest of fewer seconds is none.
const MIN_REST_SECONDS: f64 = 0.5;

/// The verdict.
pub(super) fn lead(burnin: &BurnIn) -> Block {
    Block::Lead(vec![burnin.verdict.clone()])
}

/// The figures, the charts and the tables.
pub(super) fn blocks(burnin: &BurnIn) -> Vec<Block> {
    let figures = figures(burnin);
    let mut blocks = vec![
        Block::Section(title(burnin)),
        Block::Data("burnin", data(burnin)),
        Block::Table(table_for_people(&figures)),
        Block::Table(table_for_programs(burnin, &figures)),
    ];
    if burnin.asked.kind == Burned::Burst {
        blocks.push(burst::paragraph(burnin));
    }
    blocks.extend(charts::charts(burnin));
    blocks.extend(tables::tables(burnin));
    blocks
}

/// The burn-in's work in a line.
fn title(burnin: &BurnIn) -> String {
    let asked = &burnin.asked;
    let (threads, worked) = (count(asked.threads, "thread"), duration(burnin.worked));
    if asked.kind == Burned::Memory {
        let bytes = words::bytes(asked.bytes.unwrap_or(0));
        return format!("Memory burn-in: {bytes}, {threads}, {worked}");
    }
    if asked.kind == Burned::Burst {
        return format!("Burst: {threads}, {worked} of work");
    }

    let end = burnin.samples.last().map_or(0.0, |sample| sample.at);
    let rested = end - burnin.worked;
    let has_rested = rested > MIN_REST_SECONDS && asked.rest > 0.0;
    let rest = if has_rested { format!(", {} of rest", duration(rested)) } else { String::new() };
    format!("Cooling burn-in: {threads}, {worked} of work{rest}")
}

/// What programs get besides tables.
fn data(burnin: &BurnIn) -> Value {
    json!({
        "test": burnin.test,
        "label": burnin.label,
        "verdict": burnin.verdict,
        "good": burnin.good,
        "worked": burnin.worked,
        "asked": burnin.asked,
        "burst": burnin.burst,
        "cooling": burnin.cooling.as_ref().map(cooling_data),
        "memory": burnin.memory.as_ref().map(memory_data),
        "cool_down": burnin.cool_down,
        "samples": burnin.samples,
    })
}

fn memory_data(memory: &Memory) -> Value {
    json!({
        "bytes": memory.bytes,
        "passes": memory.passes,
        "unfinished": memory.unfinished,
        "moved": memory.moved,
        "rate": memory.rate,
        "faults": memory.faults,
        "counted": memory.is_counted,
        "errors": memory.errors,
    })
}

fn cooling_data(cooling: &Cooling) -> Value {
    let fell = cooling.fall.as_ref().map(|fall| {
        let cause = &fall.cause;
        json!({
            "at": fall.at,
            "cause": cause.kind(),
            "thermal": cause.thermal,
            "power": cause.power,
        })
    });
    json!({
        "clock": cooling.clock.as_ref().map(held_data),
        "throughput": cooling.throughput.as_ref().map(held_data),
        "fell": fell,
        "dip": cooling.dip,
        "slowed": cooling.slowed,
        "recovery": cooling.recovery,
        "wrong": cooling.wrong,
        "steal": cooling.steal,
    })
}

fn held_data(held: &Held) -> Value {
    let Held { initial, sustained, ratio, lowest } = held;
    json!({"initial": initial, "sustained": sustained, "kept": ratio, "lowest": lowest})
}

/// A figure of a burn-in. People get it if it has a name, programs if it has a metric.
struct Item {
    name: String,
    metric: String,
    unit: &'static str,
    value: Estimate,
    /// The value in words.
    shown: String,
    /// True if it has an interval, or should have.
    is_estimate: bool,
    /// True if it is what should not be.
    is_bad: bool,
    /// Why it is bad.
    reason: String,
}

impl Item {
    /// A number for people and programs.
    fn new(name: &str, metric: &str, unit: &'static str, value: f64, shown: String) -> Item {
        Item { name: name.to_owned(), shown, ..Item::for_programs(metric, unit, value) }
    }

    fn for_people(name: &str, shown: String) -> Item {
        Item::new(name, "", "", f64::NAN, shown)
    }

    fn for_programs(metric: &str, unit: &'static str, value: f64) -> Item {
        let (metric, value) = (metric.to_owned(), Estimate::alone(value));
        Item {
            name: String::new(),
            metric,
            unit,
            value,
            shown: String::new(),
            is_estimate: false,
            is_bad: false,
            reason: String::new(),
        }
    }

    /// A number with an interval, for people and programs.
    fn estimate(
        name: &str,
        metric: &str,
        unit: &'static str,
        value: Estimate,
        shown: String,
    ) -> Item {
        Item { value, is_estimate: true, ..Item::new(name, metric, unit, value.value, shown) }
    }

    /// A count of what should not be.
    fn count_of_wrong(name: &str, metric: &str, count: u64) -> Item {
        let item = Item::new(name, metric, "", count as f64, count.to_string());
        Item { is_bad: count > 0, ..item }
    }

    fn with_reason(self, reason: &str) -> Item {
        Item { reason: reason.to_owned(), ..self }
    }

    fn marked_bad(self) -> Item {
        Item { is_bad: true, ..self }
    }
}

/// The figures for people and programs.
fn figures(burnin: &BurnIn) -> Vec<Item> {
    let worked = Item::for_programs("seconds", "s", burnin.worked).with_reason(&burnin.verdict);
    let mut figures = vec![Item { is_bad: !burnin.good, ..worked }];
    if let Some(burst) = &burnin.burst {
        figures.extend(burst::figures(burst));
    }
    if let Some(cooling) = &burnin.cooling {
        figures.extend(cooling_figures(burnin, cooling));
    }
    if let Some(memory) = &burnin.memory {
        figures.extend(memory_figures(memory));
    }
    for sensor in &burnin.sensors {
        let highest = sensor.highest.unwrap_or(f64::NAN);
        figures.push(Item::for_programs(&format!("highest {}", sensor.name), sensor.unit, highest));
    }
    figures.extend(burnin.faults.iter().map(fault_figure));
    figures
}

fn table_for_people(figures: &[Item]) -> Table {
    let mut table = Columns::new()
        .with(Column::words("Figure").wide(34), |figure: &Item| Field::text(&figure.name))
        .with(Column::number("Value").main().wide(12), |figure| Field::text(&figure.shown))
        .with(Column::number("±").wide(8), |figure| match figure.is_estimate {
            true => Field::Spread(figure.value),
            false => Field::Nothing,
        })
        .table(figures.iter().filter(|figure| !figure.name.is_empty()))
        .shown(Readers::PEOPLE);
    table.headed = false;
    table
}

fn table_for_programs(burnin: &BurnIn, figures: &[Item]) -> Table {
    Columns::new()
        .data(|figure: &Item| {
            json!({
                "test": burnin.test,
                "label": burnin.label,
                "copies": burnin.asked.threads,
                "load": NONE,
                "condition": NONE,
                "metric": figure.metric,
                "unit": figure.unit,
                "value": figure.value.value,
                "low": figure.value.low,
                "high": figure.value.high,
                "status": if figure.is_bad { "error" } else { "ok" },
                "reason": figure.reason,
            })
        })
        .table(figures.iter().filter(|figure| !figure.metric.is_empty()))
        .keyed("burnin_figures")
        .shown(Readers::PROGRAM)
}

fn cooling_figures(burnin: &BurnIn, cooling: &Cooling) -> Vec<Item> {
    let mut figures = Vec::new();
    if let Some(clock) = &cooling.clock {
        figures.extend(clock_figures(clock));
    }
    if let Some(throughput) = &cooling.throughput {
        figures.extend(throughput_figures(throughput));
    }

    match &cooling.fall {
        None => figures.push(Item::for_people("Clock fell after", "never".to_owned())),
        Some(fall) => {
            let (at, cause) = (fall.at, fall.cause.kind());
            figures.push(
                Item::new("Clock fell after", "fell", "s", at, duration(at)).with_reason(cause),
            );
            figures.push(Item::for_people("Reason", cause.to_owned()));
        }
    }
    figures.extend(hottest_figure(burnin));
    if let Some(cool_down) = &burnin.cool_down {
        let half = match cool_down.half {
            Some(seconds) => format!("{seconds:.1} s"),
            None => "longer than the rest".to_owned(),
        };
        figures.push(Item::for_people("Half cooled down after", half));
    }
    if let Some(seconds) = cooling.recovery {
        let rest = format!("{} of rest", duration(seconds));
        figures.push(Item::for_people("Clock back after", rest));
    }
    if let Some(percent) = cooling.steal {
        let steal = percentage(percent / 100.0);
        figures.push(Item::for_people("Taken by the hypervisor", steal));
    }
    figures.push(Item::count_of_wrong("Wrong results", "wrong", cooling.wrong));
    figures
}

fn clock_figures(clock: &Held) -> [Item; 4] {
    let Held { initial, sustained, ratio, lowest } = *clock;
    let [first, last, low] = [initial.value, sustained.value, lowest].map(ghz);
    let kept = percentage(ratio.value);
    [
        Item::estimate("Clock in the first seconds", "clock_initial", "GHz", initial, first),
        Item::estimate("Clock in the last quarter", "clock_sustained", "GHz", sustained, last),
        Item::estimate("Clock kept", "clock_kept", "", ratio, kept),
        Item::new("Lowest clock", "clock_lowest", "GHz", lowest, low),
    ]
}

fn throughput_figures(throughput: &Held) -> [Item; 3] {
    let Held { initial, sustained, ratio, .. } = *throughput;
    let (unit, kept) = ("pieces/s", percentage(ratio.value));
    // Only programs get the numbers of pieces.
    [
        Item::estimate("", "throughput_initial", unit, initial, String::new()),
        Item::estimate("", "throughput_sustained", unit, sustained, String::new()),
        Item::estimate("Throughput kept", "throughput_kept", "", ratio, kept),
    ]
}

fn ghz(value: f64) -> String {
    format!("{} GHz", figure(value))
}

/// The sensor with the highest temperature.
fn hottest_figure(burnin: &BurnIn) -> Option<Item> {
    let (sensor, highest) = burnin
        .sensors
        .iter()
        .filter(|sensor| sensor.unit == "°C")
        .filter_map(|sensor: &Sensor| Some((sensor, sensor.highest?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let limit = sensor.limit.map_or_else(String::new, |limit| format!(" of {}", whole(limit)));
    let shown = format!("{}{limit} °C", whole(highest));
    Some(Item::for_people(&format!("Hottest: {}", sensor.name), shown))
}

fn memory_figures(memory: &Memory) -> Vec<Item> {
    let passes = memory.passes;
    let mut figures = vec![Item::new("Passes", "passes", "", passes as f64, passes.to_string())];
    if let Some(stage) = &memory.unfinished {
        let percent = 100.0 * stage.done as f64 / stage.total.max(1) as f64;
        let shown = format!("{} %, in {}", whole(percent), stage.pattern);
        figures.push(Item::for_people("Unfinished pass", shown));
    }
    let moved = words::bytes(memory.moved);
    figures.push(Item::new("Written and read", "moved", "B", memory.moved as f64, moved));
    if let Some(rate) = memory.rate {
        figures.push(rate_figure(rate, passes != 1));
    }
    figures.push(Item::count_of_wrong("Faults", "faults", memory.faults));

    if memory.is_counted {
        figures.extend(controller_figures(memory));
    } else {
        let shown = "none here".to_owned();
        figures.push(Item::for_people("Memory controllers' counters", shown));
    }
    figures
}

/// The rate of passes; a single pass has no interval, since nothing can be compared with it.
fn rate_figure(rate: Estimate, has_several_passes: bool) -> Item {
    let name = if has_several_passes { "Rate of a pass" } else { "Rate of the pass" };
    let shown = words::bytes_per_second(rate.value);
    Item { is_estimate: has_several_passes, ..Item::estimate(name, "rate", "B/s", rate, shown) }
}

/// What the memory controllers counted: sums for people, each controller for programs.
fn controller_figures(memory: &Memory) -> Vec<Item> {
    let mut figures = Vec::new();
    for (is_corrected, name) in
        [(true, "Errors the controllers corrected"), (false, "Errors they could not correct")]
    {
        let rises = memory.errors.iter().filter(|rise| rise.corrected == is_corrected);
        let sum = rises.map(|rise| rise.count).sum::<u64>();
        figures.push(Item::for_people(name, sum.to_string()));
    }
    for rise in &memory.errors {
        let kind = if rise.corrected { "corrected" } else { "uncorrected" };
        let metric = format!("{kind} {}", rise.controller);
        figures.push(Item::for_programs(&metric, "", rise.count as f64).marked_bad());
    }
    figures
}

fn fault_figure(fault: &Fault) -> Item {
    let Fault { pass, pattern, address, read, expected, retest, .. } = fault;
    let physical = fault.physical.map_or(String::new(), |physical| format!(" physical {physical}"));
    let reason = format!(
        "pass {pass} {pattern} at {address}{physical}: {read} instead of {expected}, again {retest}"
    );
    Item::for_programs("fault", "s", fault.at).with_reason(&reason).marked_bad()
}
