//! Sensors for a burn-in: heat, clock, power, throttling and memory errors, where the machine
//! reports them.
//!
//! Sensors are looked for once; a reading then takes some microseconds per file. A sensor may be
//! slow or wake its device, so nobody should ask more often than once a second.

use std::collections::{BTreeMap, BTreeSet};

use journal::{Reading, SensorKind, SensorLimits};

use super::energy::{Counter as EnergyCounter, HWMON, POWERCAP, rapl_domains, to_short_line};
use super::noise::{self, SANE_CELSIUS};
use super::{Machine, counts};

const THERMAL: &str = "/sys/class/thermal";
const CPU: &str = "/sys/devices/system/cpu";
const EDAC: &str = "/sys/devices/system/edac/mc";

/// At most this many CPUs, evenly spread, are asked for their frequency.
const MAX_ASKED_CPUS: usize = 64;

/// A counter of throttling that each CPU has.
struct ThrottleCounter {
    name: &'static str,
    file: &'static str,
    /// True if the CPUs of a package count separately; else all count the package's events.
    is_per_core: bool,
}

const THROTTLE_COUNTERS: [ThrottleCounter; 4] = [
    ThrottleCounter { name: "throttle.core", file: "core_throttle_count", is_per_core: true },
    ThrottleCounter {
        name: "throttle.package",
        file: "package_throttle_count",
        is_per_core: false,
    },
    ThrottleCounter { name: "power_limit.core", file: "core_power_limit_count", is_per_core: true },
    ThrottleCounter {
        name: "power_limit.package",
        file: "package_power_limit_count",
        is_per_core: false,
    },
];

/// A file with a number.
#[derive(Debug)]
struct Probe {
    name: String,
    path: String,
    /// The number is divided by this.
    divisor: f64,
}

/// A counter of energy.
#[derive(Debug)]
struct Meter {
    counter: EnergyCounter,
    /// Its number at the last reading.
    before: Option<f64>,
}

/// A counter of events.
#[derive(Debug)]
struct Counter {
    name: String,
    /// The files of each package, core or controller. Files of one show the same count, so the
    /// maximum of each is summed.
    groups: Vec<Vec<String>>,
}

/// The clock of a CPU.
#[derive(Debug)]
struct ClockFile {
    cpu: u32,
    path: String,
}

/// The moment of a reading in seconds, and the CPU times then.
#[derive(Debug)]
struct LastReading {
    at: f64,
    sample: noise::Sample,
}

/// All sensors that can be read.
#[derive(Debug)]
pub struct Sensors {
    machine: Machine,
    temperatures: Vec<Probe>,
    powers: Vec<Probe>,
    meters: Vec<Meter>,
    clocks: Vec<ClockFile>,
    counters: Vec<Counter>,
    cooling: Vec<Probe>,
    /// The temperatures and powers at which the machine slows itself down.
    pub limits: SensorLimits,
    last: Option<LastReading>,
}

impl Sensors {
    pub fn find(machine: &Machine) -> Sensors {
        let mut sensors = Sensors {
            machine: machine.clone(),
            temperatures: Vec::new(),
            powers: Vec::new(),
            meters: Vec::new(),
            clocks: find_clocks(machine),
            counters: find_throttle_counters(machine),
            cooling: find_cooling_devices(machine),
            limits: SensorLimits::default(),
            last: None,
        };
        let drivers = sensors.add_chips();
        sensors.add_zones(&drivers);
        sensors.add_rapl();
        sensors.counters.extend(find_memory_error_counters(machine));
        sensors
    }

    /// A summary such as `2 temperatures, 1 power meter`; empty if there is nothing to read.
    pub fn summary(&self) -> String {
        let mut counts = Vec::new();
        for (count, noun) in [
            (self.temperatures.len(), "temperature"),
            (self.powers.len() + self.meters.len(), "power meter"),
            (self.clocks.len(), "frequency"),
        ] {
            if count > 0 {
                counts.push(words::count(count, noun));
            }
        }
        for (kind, noun) in [
            (SensorKind::Throttling, "throttle counters"),
            (SensorKind::MemoryErrors, "memory error counters"),
        ] {
            if self.counters.iter().any(|counter| SensorKind::from_name(&counter.name) == kind) {
                counts.push(noun.to_owned());
            }
        }
        counts.join(", ")
    }

    /// Reads all sensors. `at` is the moment in seconds, by any monotonic clock.
    pub fn read(&mut self, at: f64) -> Reading {
        let sample = noise::sample(&self.machine);
        let passed = self.last.as_ref().map_or(0.0, |last| at - last.at);
        let shares = self.last.as_ref().and_then(|last| noise::shares(&last.sample, &sample));

        let reading = Reading {
            temperature: self.read_temperatures(),
            power: self.read_power(passed),
            frequency: self.read_frequencies(),
            count: self.read_counters(),
            cooling: self.read_cooling(),
            steal: shares.map(|(_, steal)| (steal * 1e4).round() / 100.0),
        };
        self.last = Some(LastReading { at, sample });
        reading
    }

    fn read_temperatures(&self) -> BTreeMap<String, f64> {
        let mut celsius: BTreeMap<String, f64> =
            self.temperatures.iter().filter_map(|probe| probe.read(&self.machine)).collect();
        celsius.retain(|_, celsius| SANE_CELSIUS.contains(celsius));
        celsius
    }

    /// The power in W of each sensor, and of each meter over the seconds that have `passed`.
    fn read_power(&mut self, passed: f64) -> BTreeMap<String, f64> {
        let mut power: BTreeMap<String, f64> =
            self.powers.iter().filter_map(|probe| probe.read(&self.machine)).collect();
        for meter in &mut self.meters {
            let energy = read_finite(&self.machine, &meter.counter.path);
            let watts = meter.watts(energy, passed);
            meter.before = energy;
            power.extend(watts.map(|watts| (meter.counter.name.clone(), watts)));
        }

        power.retain(|_, watts| (0.0..1e6).contains(watts));
        power
    }

    /// The clock of each CPU in MHz.
    fn read_frequencies(&self) -> Vec<(u32, f64)> {
        let mut clocks = Vec::new();
        for ClockFile { cpu, path } in &self.clocks {
            let mhz = read_finite(&self.machine, path).map(|khz| khz / 1000.0);
            let mhz = mhz.filter(|mhz| (1.0..100_000.0).contains(mhz));
            clocks.extend(mhz.map(|mhz| (*cpu, mhz)));
        }
        clocks
    }

    fn read_counters(&self) -> BTreeMap<String, u64> {
        self.counters
            .iter()
            .filter_map(|counter| Some((counter.name.clone(), counter.read(&self.machine)?)))
            .collect()
    }

    /// The state of cooling devices. Of several with one name, the highest counts.
    fn read_cooling(&self) -> BTreeMap<String, u64> {
        let mut states = BTreeMap::new();
        for device in &self.cooling {
            if let Some(state) = self.machine.number::<u64>(&device.path) {
                let highest = states.entry(device.name.clone()).or_insert(0);
                *highest = state.max(*highest);
            }
        }
        states
    }

    /// Adds the sensors of chips. The result is the drivers that have temperatures.
    fn add_chips(&mut self) -> BTreeSet<String> {
        let mut drivers = BTreeSet::new();
        for chip in self.machine.numbered(HWMON, "hwmon") {
            let folder = format!("{HWMON}/{chip}");
            let driver =
                to_short_line(&self.machine.read(&format!("{folder}/name")).unwrap_or(chip));
            for file in self.machine.list(&folder) {
                let Some((channel, attribute)) = file.split_once('_') else {
                    continue;
                };

                let path = format!("{folder}/{file}");
                let label = self.machine.read(&format!("{folder}/{channel}_label"));
                let name = format!(
                    "{driver} {}",
                    to_short_line(&label.unwrap_or_else(|| channel.to_owned()))
                );
                if channel.starts_with("temp") && attribute == "input" {
                    drivers.insert(driver.clone());
                    let limits = ["crit", "max"].map(|limit| format!("{folder}/{channel}_{limit}"));
                    self.add_temperature(name, path, limits.iter().map(String::as_str));
                } else if channel.starts_with("power") && matches!(attribute, "input" | "average") {
                    // A channel with both files is added once, by its input.
                    let has_both = attribute == "average"
                        && self.machine.exists(&format!("{folder}/{channel}_input"));
                    if !has_both {
                        let name = make_unique(name, self.powers.iter().map(|probe| &probe.name));
                        self.powers.push(Probe { name, path, divisor: 1e6 });
                    }
                }
            }
        }

        drivers
    }

    /// Adds the thermal zones, except those that a sensor chip of one of `drivers` shows too.
    fn add_zones(&mut self, drivers: &BTreeSet<String>) {
        for zone in self.machine.numbered(THERMAL, "thermal_zone") {
            let folder = format!("{THERMAL}/{zone}");
            let kind = to_short_line(&self.machine.read(&format!("{folder}/type")).unwrap_or(zone));
            // The kernel makes a sensor chip of a zone, with dashes replaced.
            let is_chip = drivers.contains(&kind) || drivers.contains(&kind.replace('-', "_"));
            // Both are the package's sensor.
            let is_coretemp = kind == "x86_pkg_temp" && drivers.contains("coretemp");
            if is_chip || is_coretemp {
                continue;
            }

            let mut limits: Vec<String> = Vec::new();
            for file in self.machine.list(&folder) {
                let is_trip_point = file.starts_with("trip_point") && file.ends_with("_type");
                let path = format!("{folder}/{file}");
                if is_trip_point && self.machine.read(&path).as_deref() == Some("critical") {
                    limits.push(format!("{folder}/{}", file.replace("_type", "_temp")));
                }
            }
            let path = format!("{folder}/temp");
            self.add_temperature(kind, path, limits.iter().map(String::as_str));
        }
    }

    /// Adds the sensor at `path` if its temperature can be real. Its limit is the first one in the
    /// files `limit_paths` that can be real.
    fn add_temperature<'a>(
        &mut self,
        name: String,
        path: String,
        limit_paths: impl Iterator<Item = &'a str>,
    ) {
        let machine = &self.machine;
        let celsius = |path: &str| machine.number::<f64>(path).map(|value| value / 1000.0);
        if !celsius(&path).is_some_and(|value| SANE_CELSIUS.contains(&value)) {
            return;
        }

        let name = make_unique(name, self.temperatures.iter().map(|probe| &probe.name));
        // A limit of 0 or of thousands of degrees was never set.
        let limit = limit_paths.filter_map(celsius).find(|limit| (20.0..=150.0).contains(limit));
        if let Some(limit) = limit {
            self.limits.temperature.insert(name.clone(), limit);
        }
        self.temperatures.push(Probe { name, path, divisor: 1000.0 });
    }

    /// Adds RAPL's counters of energy: packages and their parts. Only root may read them since
    /// Linux 5.10.
    fn add_rapl(&mut self) {
        let machine = self.machine.clone();
        for domain in rapl_domains(&machine) {
            if machine.number::<f64>(&domain.counter.path).is_none() {
                continue;
            }

            let known_names = self.meters.iter().map(|meter| &meter.counter.name);
            let name = make_unique(domain.counter.name, known_names);

            let limit_path = format!("{POWERCAP}/{}/constraint_0_power_limit_uw", domain.zone);
            let limit_watts = machine.number::<f64>(&limit_path).map(|microwatts| microwatts / 1e6);
            // A limit of 0 or of more than 100 kW was never set.
            if let Some(watts) = limit_watts.filter(|watts| (0.1..1e5).contains(watts)) {
                self.limits.power.insert(name.clone(), watts);
            }

            let counter = EnergyCounter { name, ..domain.counter };
            self.meters.push(Meter { counter, before: None });
        }
    }
}

impl Probe {
    fn read(&self, machine: &Machine) -> Option<(String, f64)> {
        Some((self.name.clone(), read_finite(machine, &self.path)? / self.divisor))
    }
}

fn read_finite(machine: &Machine, path: &str) -> Option<f64> {
    machine.number::<f64>(path).filter(|value| value.is_finite())
}

impl Meter {
    /// The mean power in W since the last reading, `passed` seconds ago.
    fn watts(&self, energy: Option<f64>, passed: f64) -> Option<f64> {
        let used = self.counter.used(self.before?, energy?)?;
        (passed > 0.0).then(|| (used / passed / 1e4).round() / 100.0)
    }
}

impl Counter {
    fn read(&self, machine: &Machine) -> Option<u64> {
        self.groups
            .iter()
            .filter_map(|paths| paths.iter().filter_map(|path| machine.number::<u64>(path)).max())
            .reduce(u64::saturating_add)
    }
}

fn find_clocks(machine: &Machine) -> Vec<ClockFile> {
    let cpus = counts::online(machine);
    let step = cpus.len().div_ceil(MAX_ASKED_CPUS).max(1);

    let mut clocks = Vec::new();
    for cpu in cpus.into_iter().step_by(step) {
        let path = format!("{CPU}/cpu{cpu}/cpufreq/scaling_cur_freq");
        if let Ok(cpu) = u32::try_from(cpu)
            && machine.exists(&path)
        {
            clocks.push(ClockFile { cpu, path });
        }
    }
    clocks
}

fn find_throttle_counters(machine: &Machine) -> Vec<Counter> {
    let cpus = counts::online(machine);
    let mut counters = Vec::new();
    for ThrottleCounter { name, file, is_per_core } in THROTTLE_COUNTERS {
        let mut groups = BTreeMap::<String, Vec<String>>::new();
        for cpu in &cpus {
            let path = format!("{CPU}/cpu{cpu}/thermal_throttle/{file}");
            if !machine.exists(&path) {
                continue;
            }

            let group = if is_per_core {
                cpu.to_string()
            } else {
                let package = format!("{CPU}/cpu{cpu}/topology/physical_package_id");
                machine.read(&package).unwrap_or_default()
            };
            groups.entry(group).or_default().push(path);
        }

        if !groups.is_empty() {
            counters
                .push(Counter { name: name.to_owned(), groups: groups.into_values().collect() });
        }
    }
    counters
}

/// Counters of errors that memory controllers corrected (ce), and of others (ue).
fn find_memory_error_counters(machine: &Machine) -> Vec<Counter> {
    let mut counters = Vec::new();
    for controller in machine.numbered(EDAC, "mc") {
        for kind in ["ce", "ue"] {
            let path = format!("{EDAC}/{controller}/{kind}_count");
            if machine.exists(&path) {
                counters.push(Counter {
                    name: format!("edac.{controller}.{kind}"),
                    groups: vec![vec![path]],
                });
            }
        }
    }

    counters
}

fn find_cooling_devices(machine: &Machine) -> Vec<Probe> {
    let mut devices = Vec::new();
    for device in machine.numbered(THERMAL, "cooling_device") {
        if let Some(kind) = machine.read(&format!("{THERMAL}/{device}/type")) {
            let path = format!("{THERMAL}/{device}/cur_state");
            devices.push(Probe { name: to_short_line(&kind), path, divisor: 1.0 });
        }
    }
    devices
}

/// The name, with a number if another sensor has it.
fn make_unique<'a>(name: String, known: impl Iterator<Item = &'a String> + Clone) -> String {
    let is_taken = |name: &String| known.clone().any(|other| other == name);
    if !is_taken(&name) {
        return name;
    }

    (2..=usize::MAX)
        .map(|number| format!("{name} #{number}"))
        .find(|candidate| !is_taken(candidate))
        .unwrap_or(name)
}
