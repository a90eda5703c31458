//! The machine's own figures of its energy: RAPL's counters, or a sensor chip's counter or meter of
//! power.
//!
//! Of RAPL's domains, the processor packages are counted, and memory that has a counter of its own:
//! `core` and `uncore` are parts of a package, and `psys` has the packages in it
//! (Documentation/power/powercap/powercap.rst). Of sensor chips only one is taken, since no file
//! says which of their channels include others, and never a graphics card's.

use std::io::ErrorKind;

use super::Machine;

pub(super) const HWMON: &str = "/sys/class/hwmon";
pub(super) const POWERCAP: &str = "/sys/class/powercap";

/// Drivers of graphics cards.
const CARD_DRIVERS: [&str; 4] = ["amdgpu", "i915", "nouveau", "xe"];

/// The driver of ACPI's meter, which measures the whole machine.
const MACHINE_METER_DRIVER: &str = "power_meter";

/// No machine draws more on average.
const MAX_WATTS: f64 = 1e6;

/// Characters of a driver's text.
const MAX_NAME_LENGTH: usize = 48;

/// A file that counts µJ.
#[derive(Debug, Clone)]
pub(super) struct Counter {
    pub name: String,
    pub path: String,
    /// The µJ at which the counter begins at 0 again.
    pub range: Option<f64>,
}

/// A domain of RAPL.
#[derive(Debug)]
pub(super) struct Domain {
    /// Its folder: `intel-rapl:0` of a package, `intel-rapl:0:1` of a part.
    pub zone: String,
    /// Its kind: `package-0`, `dram`.
    pub kind: String,
    /// Its counter, whose name distinguishes packages: `package-0 dram`.
    pub counter: Counter,
}

/// The source of the machine's energy figures.
#[derive(Debug)]
pub enum EnergySource {
    Missing,
    /// The file exists, and this user may not read it.
    Denied {
        path: String,
        /// The command that lets everybody read it until the next boot.
        fix: String,
    },
    Found(Energy),
}

/// The counters that make up the machine's energy, or a sensor of its power.
#[derive(Debug)]
pub struct Energy {
    machine: Machine,
    interface: Interface,
    /// True if the file has µW instead of counting µJ.
    is_power: bool,
    counters: Vec<Counter>,
}

/// The part of the kernel whose files have the figures.
#[derive(Debug, Clone, Copy)]
enum Interface {
    Powercap,
    Hwmon,
}

/// The values of the counters, or of the sensor, at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct EnergyReading(Vec<f64>);

impl EnergySource {
    /// Looks for RAPL's counters, else for a sensor chip's counter, else for its meter of power.
    pub fn find(machine: &Machine) -> EnergySource {
        let new_energy = |interface, is_power, counters| Energy {
            machine: machine.clone(),
            interface,
            is_power,
            counters,
        };
        let sources = [
            new_energy(Interface::Powercap, false, rapl_counters(machine)),
            new_energy(Interface::Hwmon, false, chip_energy_counters(machine)),
            new_energy(Interface::Hwmon, true, power_meters(machine)),
        ];
        let Some(energy) = sources.into_iter().find(|energy| !energy.counters.is_empty()) else {
            return EnergySource::Missing;
        };

        for Counter { path, .. } in &energy.counters {
            let opened = std::fs::File::open(machine.path(path));
            if opened.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied) {
                let files = match energy.interface {
                    Interface::Powercap => format!("{POWERCAP}/*/energy_uj"),
                    Interface::Hwmon => path.clone(),
                };
                let fix = format!("sudo chmod a+r {files}");
                return EnergySource::Denied { path: path.clone(), fix };
            }
        }

        // Under a hypervisor without such a register, the file has no number.
        if energy.read().is_some() { EnergySource::Found(energy) } else { EnergySource::Missing }
    }
}

impl Energy {
    /// The interface and the counters: `powercap: package-0, package-0 dram`.
    pub fn name(&self) -> String {
        let names: Vec<&str> = self.counters.iter().map(|counter| counter.name.as_str()).collect();
        let interface = match self.interface {
            Interface::Powercap => "powercap",
            Interface::Hwmon => "hwmon",
        };
        format!("{interface}: {}", names.join(", "))
    }

    /// Reads all counters, in some tens of µs. `None` if one has no number.
    pub fn read(&self) -> Option<EnergyReading> {
        let mut numbers = Vec::new();
        for counter in &self.counters {
            let number: f64 = self.machine.number(&counter.path)?;
            if !number.is_finite() {
                return None;
            }
            numbers.push(number);
        }
        Some(EnergyReading(numbers))
    }

    /// The J between two readings that are `seconds` apart. A power sensor counts with its last
    /// reading. `None` if the sum is 0 or exceeds what any machine draws, or a counter of unknown
    /// range went back.
    pub fn joules(
        &self,
        before: &EnergyReading,
        after: &EnergyReading,
        seconds: f64,
    ) -> Option<f64> {
        let joules = if self.is_power {
            after.0.iter().sum::<f64>() / 1e6 * seconds
        } else {
            let mut microjoules = 0.0;
            for (counter, (before, now)) in self.counters.iter().zip(before.0.iter().zip(&after.0))
            {
                microjoules += counter.used(*before, *now)?;
            }
            microjoules / 1e6
        };
        (joules > 0.0 && joules < MAX_WATTS * seconds).then_some(joules)
    }
}

impl Counter {
    /// The µJ from one reading to the next. A counter that went back has begun at 0 once; `None` if
    /// its range is not known.
    pub fn used(&self, before: f64, now: f64) -> Option<f64> {
        let used = if now >= before { now - before } else { now + self.range? - before };
        (used >= 0.0).then_some(used)
    }
}

/// RAPL's domains: packages and their parts. Those of intel-rapl-mmio are left out, since they
/// count the same packages once more.
pub(super) fn rapl_domains(machine: &Machine) -> Vec<Domain> {
    let mut zones = machine.list(POWERCAP);
    zones.retain(|zone| zone.starts_with("intel-rapl:"));
    let read_name = |zone: &str| {
        machine.read(&format!("{POWERCAP}/{zone}/name")).map(|name| to_short_line(&name))
    };

    let mut domains = Vec::new();
    for zone in zones {
        let kind = read_name(&zone).unwrap_or_else(|| zone.clone());
        // A part, `intel-rapl:0:1`, is named after its package, `intel-rapl:0`.
        let name = match zone.match_indices(':').nth(1) {
            Some((package_end, _)) => {
                let package = read_name(&zone[..package_end]).unwrap_or_default();
                format!("{package} {kind}").trim().to_owned()
            }
            None => kind.clone(),
        };
        let range = machine.number(&format!("{POWERCAP}/{zone}/max_energy_range_uj"));
        let counter = Counter { name, path: format!("{POWERCAP}/{zone}/energy_uj"), range };
        domains.push(Domain { zone, kind, counter });
    }
    domains
}

/// The counters of packages and their memory; that of `psys` if there are no others.
fn rapl_counters(machine: &Machine) -> Vec<Counter> {
    let mut packages = Vec::new();
    let mut platform = Vec::new();
    for Domain { kind, counter, .. } in rapl_domains(machine) {
        if !machine.exists(&counter.path) {
            continue;
        }
        if kind.starts_with("package") || kind == "dram" {
            packages.push(counter);
        } else if kind == "psys" {
            platform.push(counter);
        }
    }

    if packages.is_empty() { platform } else { packages }
}

/// The counters of sockets if there are any (amd_energy has others of their cores), else the first
/// counter.
fn chip_energy_counters(machine: &Machine) -> Vec<Counter> {
    let mut counters = find_channels(machine, "energy", &["input"]);
    if counters.iter().any(|counter| counter.name.contains("Esocket")) {
        counters.retain(|counter| counter.name.contains("Esocket"));
    } else {
        counters.truncate(1);
    }
    counters
}

/// The whole machine's meter, else the first sensor.
fn power_meters(machine: &Machine) -> Vec<Counter> {
    let mut meters = find_channels(machine, "power", &["input", "average"]);
    meters.sort_by_key(|counter| !counter.name.starts_with(MACHINE_METER_DRIVER));
    meters.truncate(1);
    meters
}

/// The channels of sensor chips, graphics cards left out, by the first of `files` that each has.
fn find_channels(machine: &Machine, kind: &str, files: &[&str]) -> Vec<Counter> {
    let mut channels = Vec::new();
    for chip in machine.numbered(HWMON, "hwmon") {
        let folder = format!("{HWMON}/{chip}");
        let driver = to_short_line(&machine.read(&format!("{folder}/name")).unwrap_or(chip));
        if CARD_DRIVERS.contains(&driver.as_str()) {
            continue;
        }

        for number in 1..=machine.list(&folder).len() {
            let channel = format!("{folder}/{kind}{number}");
            let path = files
                .iter()
                .map(|file| format!("{channel}_{file}"))
                .find(|path| machine.exists(path));
            let Some(path) = path else { continue };

            let label = machine
                .read(&format!("{channel}_label"))
                .unwrap_or_else(|| format!("{kind}{number}"));
            let name = format!("{driver} {}", to_short_line(&label));
            channels.push(Counter { name, path, range: None });
        }
    }
    channels
}

/// A driver's text as one short line without control characters.
pub(super) fn to_short_line(name: &str) -> String {
    let printable: String = name
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(MAX_NAME_LENGTH)
        .collect();
    printable.split_whitespace().collect::<Vec<_>>().join(" ")
}
