//! A burn-in in figures and tables: the words that all forms of report share.

use std::time::Duration;

use super::plus_minus;
use analysis::{BurnIn, Cooling, Held, Memory};
use journal::{Burned, Fault, Pass};
use stats::Estimate;
use words::bytes as show_bytes;
use words::clock;

/// What stands where there is no number.
const NOTHING: &str = "-";

/// Rows of a table of which there may be very many.
const MOST_ROWS: usize = 40;

/// One figure.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: String,
    /// Its half-width; empty where it is exact.
    pub(super) plus_minus: String,
}

/// A table whose first columns are words.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) head: &'static [&'static str],
    pub(super) rows: Vec<Vec<String>>,
    /// What is not shown.
    pub(super) remark: String,
}

/// Returns what was done, in a line.
pub(super) fn title(burnin: &BurnIn) -> String {
    let asked = &burnin.asked;
    let threads = if asked.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", asked.threads) };
    match asked.kind {
        Burned::Cooling => {
            let rested = burnin.samples.last().map_or(0.0, |sample| sample.at) - burnin.worked;
            let rest =
                if rested > 0.5 && asked.rest > 0.0 { format!(", {} of rest", time(rested)) } else { String::new() };
            format!("Cooling burn-in: {threads}, {} of work{rest}", time(burnin.worked))
        }
        Burned::Memory => {
            let bytes = show_bytes(asked.bytes.unwrap_or(0));
            format!("Memory burn-in: {bytes}, {threads}, {}", time(burnin.worked))
        }
    }
}

/// Returns the figures.
pub(super) fn figures(burnin: &BurnIn) -> Vec<Figure> {
    let mut figures = Vec::new();
    if let Some(cooling) = &burnin.cooling {
        of_cooling(&mut figures, burnin, cooling);
    }
    if let Some(memory) = &burnin.memory {
        of_memory(&mut figures, memory);
    }
    figures
}

fn add(figures: &mut Vec<Figure>, name: &'static str, value: String) {
    figures.push(Figure { name, value, plus_minus: String::new() });
}

fn estimated(figures: &mut Vec<Figure>, name: &'static str, value: String, estimate: &Estimate) {
    figures.push(Figure { name, value, plus_minus: plus_minus(estimate) });
}

fn of_cooling(figures: &mut Vec<Figure>, burnin: &BurnIn, cooling: &Cooling) {
    if let Some(Held { initial, sustained, ratio, lowest }) = &cooling.clock {
        estimated(figures, "Clock in the first seconds", gigahertz(initial.value), initial);
        estimated(figures, "Clock in the last quarter", gigahertz(sustained.value), sustained);
        estimated(figures, "Clock kept", percent(ratio.value), ratio);
        add(figures, "Lowest clock", gigahertz(*lowest));
    }
    if let Some(held) = &cooling.throughput {
        estimated(figures, "Throughput kept", percent(held.ratio.value), &held.ratio);
    }
    let throttled = cooling.fall.as_ref().map_or_else(|| "never".to_owned(), |fall| time(fall.at));
    add(figures, "Clock fell after", throttled);
    if let Some(fall) = &cooling.fall {
        add(figures, "Reason", fall.cause.kind().to_owned());
    }
    let hottest = burnin.sensors.iter().filter(|sensor| sensor.unit == "°C" && sensor.highest.is_some());
    if let Some(sensor) = hottest.max_by(|a, b| of(a).total_cmp(&of(b))) {
        let limit = sensor.limit.map(|limit| format!(" of {limit:.0}")).unwrap_or_default();
        add(figures, "Hottest", format!("{:.0}{limit} °C, {}", of(sensor), sensor.name));
    }
    if let Some(down) = &burnin.cool_down {
        let half = down.half.map_or_else(|| "longer than the rest".to_owned(), |seconds| format!("{seconds:.1} s"));
        add(figures, "Half cooled down after", half);
    }
    if let Some(seconds) = cooling.recovery {
        add(figures, "Clock back after", format!("{seconds:.0} s of rest"));
    }
    if let Some(steal) = cooling.steal {
        add(figures, "Taken by the hypervisor", format!("{steal:.1} %"));
    }
    add(figures, "Wrong results", cooling.wrong.to_string());
}

/// The highest that a sensor said, of a limit where it has one.
fn of(sensor: &analysis::Sensor) -> f64 {
    sensor.highest.unwrap_or(f64::NEG_INFINITY)
}

fn of_memory(figures: &mut Vec<Figure>, memory: &Memory) {
    add(figures, "Passes", memory.passes.to_string());
    if let Some(stage) = &memory.unfinished {
        let share = stage.done as f64 / stage.total.max(1) as f64 * 100.0;
        add(figures, "Unfinished pass", format!("{share:.0} %, in {}", stage.pattern));
    }
    add(figures, "Written and read", show_bytes(memory.moved));
    if let Some(rate) = &memory.rate {
        let shown = speed(rate.value);
        // One pass has nothing to be held against.
        match memory.passes {
            1 => add(figures, "Rate of the pass", shown),
            _ => estimated(figures, "Rate of a pass", shown, rate),
        }
    }
    add(figures, "Faults", memory.faults.to_string());
    let (mut corrected, mut not) = (0, 0);
    for rise in &memory.errors {
        *(if rise.corrected { &mut corrected } else { &mut not }) += rise.count;
    }
    if memory.is_counted {
        add(figures, "Errors the controllers corrected", corrected.to_string());
        add(figures, "Errors they could not correct", not.to_string());
    } else {
        add(figures, "Memory controllers' counters", "none here".to_owned());
    }
}

/// Returns the tables, those with nothing in them left out; of the faults at most `faults`.
pub(super) fn tables(burnin: &BurnIn, faults: usize) -> Vec<Table> {
    let mut tables = vec![processors(burnin), sensors(burnin), passes(burnin), patterns(burnin)];
    tables.push(Table {
        name: "Faults",
        head: &[
            "Pass",
            "Pattern",
            "Address",
            "Physical",
            "Expected",
            "Read",
            "Differs in",
            "Read again",
            "°C",
            "After",
        ],
        rows: burnin.faults.iter().take(faults).map(fault).collect(),
        remark: untold(burnin, faults),
    });
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Returns how many faults are not shown where only so many are.
pub(super) fn untold(burnin: &BurnIn, shown: usize) -> String {
    let all = burnin.memory.as_ref().map_or(0, |memory| memory.faults);
    let shown = shown.min(burnin.faults.len()) as u64;
    if all > shown { format!("{} more are not shown", all - shown) } else { String::new() }
}

fn processors(burnin: &BurnIn) -> Table {
    let mut cores: Vec<_> = burnin.cooling.iter().flat_map(|cooling| &cooling.cores).collect();
    let all = cores.len();
    if all > MOST_ROWS {
        let kept = |core: &analysis::Core| core.clock.as_ref().map_or(f64::INFINITY, |held| held.ratio.value);
        cores.sort_by(|a, b| kept(a).total_cmp(&kept(b)));
        cores.truncate(MOST_ROWS);
    }
    let row = |core: &&analysis::Core| {
        let clock = |value: &dyn Fn(&Held) -> f64| {
            core.clock.as_ref().map_or(NOTHING.to_owned(), |held| gigahertz(value(held)))
        };
        vec![
            core.cpu.to_string(),
            clock(&|held| held.initial.value),
            clock(&|held| held.sustained.value),
            core.clock.as_ref().map_or(NOTHING.to_owned(), |held| percent(held.ratio.value)),
            clock(&|held| held.lowest),
            core.fell.map_or_else(|| "never".to_owned(), time),
            core.wrong.to_string(),
        ]
    };
    Table {
        name: "Clock of each processor",
        head: &["CPU", "First", "Last quarter", "Kept", "Lowest", "Fell after", "Wrong"],
        rows: cores.iter().map(row).collect(),
        remark: if all > cores.len() { format!("the {MOST_ROWS} that kept least, of {all}") } else { String::new() },
    }
}

fn sensors(burnin: &BurnIn) -> Table {
    let row = |sensor: &analysis::Sensor| {
        let number = |value: Option<f64>| value.map_or(NOTHING.to_owned(), figure_of_sensor);
        vec![
            sensor.name.clone(),
            sensor.unit.to_owned(),
            number(sensor.before),
            number(sensor.highest),
            number(sensor.sustained),
            number(sensor.end),
            number(sensor.limit),
        ]
    };
    Table {
        name: "Sensors",
        head: &["Sensor", "Unit", "Before", "Highest", "Last quarter", "End", "Limit"],
        rows: burnin.sensors.iter().map(row).collect(),
        remark: String::new(),
    }
}

fn figure_of_sensor(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => NOTHING.to_owned(),
        size if size >= 999.5 => format!("{value:.0}"),
        _ => format!("{value:.1}"),
    }
}

fn passes(burnin: &BurnIn) -> Table {
    let row = |pass: &Pass| {
        let faults = pass.faults.to_string();
        vec![pass.pass.to_string(), time(pass.seconds), show_bytes(pass.bytes), speed(pass.rate()), faults]
    };
    let passes = &burnin.passes;
    // Those with faults, and the last ones.
    let kept = |(place, pass): &(usize, &Pass)| pass.faults > 0 || passes.len() - place <= MOST_ROWS;
    let rows: Vec<_> = passes.iter().enumerate().filter(kept).map(|(_, pass)| row(pass)).take(2 * MOST_ROWS).collect();
    Table {
        name: "Passes",
        head: &["Pass", "Took", "Moved", "Rate", "Faults"],
        remark: if rows.len() < passes.len() { format!("{} of {}", rows.len(), passes.len()) } else { String::new() },
        rows,
    }
}

fn patterns(burnin: &BurnIn) -> Table {
    let patterns = burnin.memory.iter().flat_map(|memory| &memory.patterns);
    let row = |pattern: &analysis::Pattern| {
        let counts = [pattern.faults, pattern.addresses, pattern.held].map(|count| count.to_string());
        let [faults, addresses, held] = counts;
        vec![pattern.pattern.clone(), faults, addresses, held, pattern.bits.to_string()]
    };
    Table {
        name: "Faults by pattern",
        head: &["Pattern", "Faults", "Addresses", "Same again", "Bits"],
        rows: patterns.map(row).collect(),
        remark: String::new(),
    }
}

fn fault(fault: &Fault) -> Vec<String> {
    vec![
        fault.pass.to_string(),
        fault.pattern.clone(),
        fault.address.to_string(),
        fault.physical.map_or(NOTHING.to_owned(), |physical| physical.to_string()),
        fault.expected.to_string(),
        fault.read.to_string(),
        fault.difference().to_string(),
        fault.retest.to_string(),
        fault.temperature.as_ref().map_or(NOTHING.to_owned(), |(_, celsius)| format!("{celsius:.0}")),
        time(fault.at),
    ]
}

/// Returns what reading once more says of a fault.
pub(super) fn retest(fault: &Fault) -> &'static str {
    match (fault.is_gone(), fault.is_held()) {
        (true, _) => "right now: the memory does not hold it",
        (_, true) => "the same: the memory holds it",
        _ => "another word still",
    }
}

fn gigahertz(value: f64) -> String {
    if value.is_finite() { format!("{value:.2} GHz") } else { NOTHING.to_owned() }
}

fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1} %", share * 100.0) } else { NOTHING.to_owned() }
}

/// Returns bytes per second.
pub fn speed(rate: f64) -> String {
    // A rate of whole bytes fits.
    if rate.is_finite() { format!("{}/s", show_bytes(rate as u64)) } else { NOTHING.to_owned() }
}

/// Returns a duration: tenths of short ones.
pub fn time(seconds: f64) -> String {
    match Duration::try_from_secs_f64(seconds) {
        Ok(_) if seconds < 9.95 => format!("{seconds:.1} s"),
        Ok(time) => clock(time),
        Err(_) => NOTHING.to_owned(),
    }
}
