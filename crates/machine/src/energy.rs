//! The machine's own figures of its energy: RAPL's counters, or a sensor chip's counter or meter of power.
//!
//! Counted are the processor packages, with the memory that has a counter of its own; `core` and `uncore` are parts of
//! a package, and `psys` has the packages in it (Documentation/power/powercap/powercap.rst). Of sensor chips one is
//! taken, since no file says which of their channels include others, and none of graphics cards.

use std::io::ErrorKind;

use super::Machine;

pub(super) const HWMON: &str = "/sys/class/hwmon";
pub(super) const POWERCAP: &str = "/sys/class/powercap";

/// Drivers whose channels are those of a card.
const CARDS: [&str; 4] = ["amdgpu", "i915", "nouveau", "xe"];

/// The driver of a whole machine's meter, ACPI's.
const WHOLE: &str = "power_meter";

/// A mean power beyond this in W is nonsense.
const MOST: f64 = 1e6;

/// A file that counts µJ.
#[derive(Debug, Clone)]
pub(super) struct Counter {
    pub name: String,
    pub path: String,
    /// µJ at which it begins at 0 again.
    pub range: Option<f64>,
}

/// A domain of RAPL.
#[derive(Debug)]
pub(super) struct Domain {
    /// Its folder: `intel-rapl:0`, or of a part `intel-rapl:0:1`.
    pub zone: String,
    /// `package-0`, `dram`.
    pub kind: String,
    /// Its counter, by a name that tells packages apart: `package-0 dram`.
    pub counter: Counter,
}

/// The source of the machine's energy figures.
#[derive(Debug)]
pub enum EnergySource {
    /// Nowhere.
    Missing,
    /// The file is there, and this user may not read it.
    Denied {
        /// The file.
        path: String,
        /// The command that lets everybody read it until the next boot.
        fix: String,
    },
    /// Here.
    Found(Energy),
}

/// The counters that make up the machine's energy, or a sensor of its power.
#[derive(Debug)]
pub struct Energy {
    machine: Machine,
    from: &'static str,
    /// True if the file says µW instead of counting µJ.
    is_power: bool,
    counters: Vec<Counter>,
}

/// The values of the counters, or of the sensor, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyReading(Vec<f64>);

impl EnergySource {
    /// Looks for what there is: RAPL's counters, else a sensor chip's counter, else its meter of power.
    pub fn find(machine: &Machine) -> EnergySource {
        let found = [("powercap", false, rapl(machine)), ("hwmon", false, energies(machine))];
        let power = ("hwmon", true, powers(machine));
        let Some((from, is_power, counters)) = found.into_iter().chain([power]).find(|found| !found.2.is_empty())
        else {
            return EnergySource::Missing;
        };
        for Counter { path, .. } in &counters {
            let opened = std::fs::File::open(machine.path(path));
            if opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
                let all = if from == "powercap" { format!("{POWERCAP}/*/energy_uj") } else { path.clone() };
                return EnergySource::Denied { path: path.clone(), fix: format!("sudo chmod a+r {all}") };
            }
        }
        let energy = Energy { machine: machine.clone(), from, is_power, counters };
        // Where a hypervisor has no such register, the file has no number.
        if energy.read().is_some() { EnergySource::Found(energy) } else { EnergySource::Missing }
    }
}

impl Energy {
    /// Returns what it is read from: `powercap: package-0, package-0 dram`.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.counters.iter().map(|counter| counter.name.as_str()).collect();
        format!("{}: {}", self.from, names.join(", "))
    }

    /// Reads everything, in some tens of µs; `None` unless all of it has a number.
    pub fn read(&self) -> Option<EnergyReading> {
        let number = |counter: &Counter| self.machine.number::<f64>(&counter.path).filter(|value| value.is_finite());
        self.counters.iter().map(number).collect::<Option<Vec<f64>>>().map(EnergyReading)
    }

    /// Returns the J between two readings that are `seconds` apart; of a sensor of power, by what it said last. `None`
    /// if a counter stood still or went back, or says what no machine draws.
    pub fn joules(&self, before: &EnergyReading, after: &EnergyReading, seconds: f64) -> Option<f64> {
        let joules = if self.is_power {
            after.0.iter().sum::<f64>() / 1e6 * seconds
        } else {
            let pairs = self.counters.iter().zip(before.0.iter().zip(&after.0));
            let used = pairs.map(|(counter, (before, now))| counter.used(*before, *now));
            used.sum::<Option<f64>>()? / 1e6
        };
        (joules > 0.0 && joules < MOST * seconds).then_some(joules)
    }
}

impl Counter {
    /// Returns the µJ from one reading to the next; a counter that went back has begun at 0 once. `None` if it cannot.
    pub fn used(&self, before: f64, now: f64) -> Option<f64> {
        let used = if now >= before { now - before } else { now + self.range? - before };
        (used >= 0.0).then_some(used)
    }
}

/// Returns RAPL's domains, packages and their parts. intel-rapl-mmio counts the same packages once more.
pub(super) fn domains(machine: &Machine) -> Vec<Domain> {
    let mut zones = machine.list(POWERCAP);
    zones.retain(|zone| zone.starts_with("intel-rapl:"));
    let name = |zone: &str| machine.read(&format!("{POWERCAP}/{zone}/name")).map(|name| plain(&name));
    let domain = |zone: String| {
        let kind = name(&zone).unwrap_or_else(|| zone.clone());
        let name = match zone.match_indices(':').nth(1) {
            Some((end, _)) => format!("{} {kind}", name(&zone[..end]).unwrap_or_default()).trim().to_owned(),
            None => kind.clone(),
        };
        let range = machine.number(&format!("{POWERCAP}/{zone}/max_energy_range_uj"));
        let counter = Counter { name, path: format!("{POWERCAP}/{zone}/energy_uj"), range };
        Domain { zone, kind, counter }
    };
    zones.into_iter().map(domain).collect()
}

/// The packages and their memory; `psys` where there is nothing else.
fn rapl(machine: &Machine) -> Vec<Counter> {
    let all = || domains(machine).into_iter().filter(|domain| machine.exists(&domain.counter.path));
    let own = all().filter(|domain| domain.kind.starts_with("package") || domain.kind == "dram");
    let own: Vec<Counter> = own.map(|domain| domain.counter).collect();
    if own.is_empty() {
        return all().filter(|domain| domain.kind == "psys").map(|domain| domain.counter).collect();
    }
    own
}

/// The counters of sockets, whose cores have others (amd_energy); without those the first counter.
fn energies(machine: &Machine) -> Vec<Counter> {
    let mut found = channels(machine, "energy", &["input"]);
    if found.iter().any(|counter| counter.name.contains("Esocket")) {
        found.retain(|counter| counter.name.contains("Esocket"));
    } else {
        found.truncate(1);
    }
    found
}

/// The whole machine's meter, else the first sensor.
fn powers(machine: &Machine) -> Vec<Counter> {
    let mut found = channels(machine, "power", &["input", "average"]);
    found.sort_by_key(|counter| !counter.name.starts_with(WHOLE));
    found.truncate(1);
    found
}

/// Returns the channels of sensor chips that have one of the files, the first of those that each has.
fn channels(machine: &Machine, kind: &str, files: &[&str]) -> Vec<Counter> {
    let mut found = Vec::new();
    for chip in machine.numbered(HWMON, "hwmon") {
        let folder = format!("{HWMON}/{chip}");
        let driver = plain(&machine.read(&format!("{folder}/name")).unwrap_or(chip));
        if CARDS.contains(&driver.as_str()) {
            continue;
        }
        for number in 1..=machine.list(&folder).len() {
            let channel = format!("{folder}/{kind}{number}");
            let path = files.iter().map(|file| format!("{channel}_{file}")).find(|path| machine.exists(path));
            let Some(path) = path else { continue };
            let label = machine.read(&format!("{channel}_label")).unwrap_or_else(|| format!("{kind}{number}"));
            found.push(Counter { name: format!("{driver} {}", plain(&label)), path, range: None });
        }
    }
    found
}

/// A name as one short line, whatever a driver calls itself.
pub(super) fn plain(name: &str) -> String {
    let line: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).take(48).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}
