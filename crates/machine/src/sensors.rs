//! Sensors for a burn-in: heat, clock, power, throttling and memory errors, where the machine reports them.
//!
//! Sensors are looked for once; a reading then takes some microseconds per file. A sensor may be slow or wake its
//! device, so nobody should ask more often than once a second.

use std::collections::{BTreeMap, BTreeSet};

use journal::{Reading, SensorKind, SensorLimits};

use super::energy::{Counter as Energy, HWMON, POWERCAP, domains, plain};
use super::noise::{self, SANE_CELSIUS};
use super::{Machine, counts};

const THERMAL: &str = "/sys/class/thermal";
const CPU: &str = "/sys/devices/system/cpu";
const EDAC: &str = "/sys/devices/system/edac/mc";

/// At most this many CPUs, evenly spread, are asked for their frequency.
const MOST_ASKED: usize = 64;

/// Counters per CPU: the name, the file, and true if the CPUs' counts add up (else each CPU counts the same events).
const THROTTLE: [(&str, &str, bool); 4] = [
    ("throttle.core", "core_throttle_count", true),
    ("throttle.package", "package_throttle_count", false),
    ("power_limit.core", "core_power_limit_count", true),
    ("power_limit.package", "package_power_limit_count", false),
];

/// A file with a number, and what it is to be divided by.
#[derive(Debug)]
struct Probe {
    name: String,
    path: String,
    unit: f64,
}

/// A counter of energy, and what it said before.
#[derive(Debug)]
struct Meter {
    counter: Energy,
    before: Option<f64>,
}

#[derive(Debug)]
struct Counter {
    name: String,
    /// The files of each package, or of each core or controller: those of one are the same count, and their largest is
    /// it.
    parts: Vec<Vec<String>>,
}

/// Everything that there is to read.
#[derive(Debug)]
pub struct Sensors {
    machine: Machine,
    temperatures: Vec<Probe>,
    powers: Vec<Probe>,
    meters: Vec<Meter>,
    frequencies: Vec<(u32, String)>,
    counters: Vec<Counter>,
    cooling: Vec<Probe>,
    /// The points at which the machine says that it will be slowed down.
    pub limits: SensorLimits,
    before: Option<(f64, noise::Sample)>,
}

impl Sensors {
    /// Looks for what there is to read.
    pub fn find(machine: &Machine) -> Sensors {
        let mut found = Sensors {
            machine: machine.clone(),
            temperatures: Vec::new(),
            powers: Vec::new(),
            meters: Vec::new(),
            frequencies: frequencies(machine),
            counters: throttling(machine),
            cooling: cooling(machine),
            limits: SensorLimits::default(),
            before: None,
        };
        let chips = found.hwmon();
        found.zones(&chips);
        found.rapl();
        found.counters.extend(memory_errors(machine));
        found
    }

    /// Returns what can be read, in a few words: `2 temperatures, 1 power meter`; empty where nothing can.
    pub fn summary(&self) -> String {
        let has = |kind| self.counters.iter().any(|counter| SensorKind::from_name(&counter.name) == kind);
        let mut parts = Vec::new();
        for (count, noun) in [
            (self.temperatures.len(), "temperature"),
            (self.powers.len() + self.meters.len(), "power meter"),
            (self.frequencies.len(), "frequency"),
        ] {
            parts.extend((count > 0).then(|| words::count(count, noun)));
        }
        let kinds =
            [(SensorKind::Throttling, "throttle counters"), (SensorKind::MemoryErrors, "memory error counters")];
        parts.extend(kinds.into_iter().filter(|(kind, _)| has(*kind)).map(|(_, words)| words.to_owned()));
        parts.join(", ")
    }

    /// Reads everything. `at` is a time in seconds that goes on between readings.
    pub fn read(&mut self, at: f64) -> Reading {
        let machine = &self.machine;
        let number = |path: &str| machine.number::<f64>(path).filter(|value| value.is_finite());
        let probe = |probe: &Probe| Some((probe.name.clone(), number(&probe.path)? / probe.unit));
        let now = noise::sample(machine);
        let passed = self.before.as_ref().map_or(0.0, |before| at - before.0);
        let steal = self.before.as_ref().and_then(|before| noise::shares(&before.1, &now));
        let mut power: BTreeMap<String, f64> = self.powers.iter().filter_map(probe).collect();
        for meter in &mut self.meters {
            let energy = number(&meter.counter.path);
            let watts = meter.watts(energy, passed);
            meter.before = energy;
            power.extend(watts.map(|watts| (meter.counter.name.clone(), watts)));
        }
        power.retain(|_, watts| (0.0..1e6).contains(watts));
        let mut temperature: BTreeMap<String, f64> = self.temperatures.iter().filter_map(probe).collect();
        temperature.retain(|_, celsius| SANE_CELSIUS.contains(celsius));
        let frequencies = self.frequencies.iter();
        let mut frequency: Vec<(u32, f64)> =
            frequencies.filter_map(|(cpu, path)| Some((*cpu, number(path)? / 1000.0))).collect();
        frequency.retain(|(_, mhz)| (1.0..100_000.0).contains(mhz));
        let count = self.counters.iter().filter_map(|counter| Some((counter.name.clone(), counter.read(machine)?)));
        let mut states = BTreeMap::new();
        for device in &self.cooling {
            if let Some(state) = machine.number::<u64>(&device.path) {
                let most = states.entry(device.name.clone()).or_insert(0);
                *most = state.max(*most);
            }
        }
        let reading = Reading {
            temperature,
            power,
            frequency,
            count: count.collect(),
            cooling: states,
            steal: steal.map(|(_, steal)| (steal * 1e4).round() / 100.0),
        };
        self.before = Some((at, now));
        reading
    }

    /// Finds the sensor chips; returns the drivers that tell a temperature.
    fn hwmon(&mut self) -> BTreeSet<String> {
        let mut drivers = BTreeSet::new();
        for chip in self.machine.numbered(HWMON, "hwmon") {
            let folder = format!("{HWMON}/{chip}");
            let driver = plain(&self.machine.read(&format!("{folder}/name")).unwrap_or(chip));
            for file in self.machine.list(&folder) {
                let Some((channel, what)) = file.split_once('_') else { continue };
                let path = format!("{folder}/{file}");
                let label = self.machine.read(&format!("{folder}/{channel}_label"));
                let name = format!("{driver} {}", plain(&label.unwrap_or_else(|| channel.to_owned())));
                if channel.starts_with("temp") && what == "input" {
                    drivers.insert(driver.clone());
                    let limits = ["crit", "max"].map(|limit| format!("{folder}/{channel}_{limit}"));
                    self.temperature(name, path, limits.iter().map(String::as_str));
                } else if channel.starts_with("power") && (what == "input" || what == "average") {
                    let both = what == "average" && self.machine.exists(&format!("{folder}/{channel}_input"));
                    if !both {
                        let name = unique(name, self.powers.iter().map(|probe| &probe.name));
                        self.powers.push(Probe { name, path, unit: 1e6 });
                    }
                }
            }
        }
        drivers
    }

    /// Finds the thermal zones that are not a sensor chip's, too.
    fn zones(&mut self, drivers: &BTreeSet<String>) {
        for zone in self.machine.numbered(THERMAL, "thermal_zone") {
            let folder = format!("{THERMAL}/{zone}");
            let kind = plain(&self.machine.read(&format!("{folder}/type")).unwrap_or(zone));
            // The kernel makes a sensor chip of a zone, with dashes replaced.
            let known = drivers.contains(&kind) || drivers.contains(&kind.replace('-', "_"));
            if known || (kind == "x86_pkg_temp" && drivers.contains("coretemp")) {
                continue;
            }
            let path = format!("{folder}/temp");
            let is_critical = |file: &&String| {
                let kind = file.strip_suffix("_type").filter(|point| point.starts_with("trip_point"));
                kind.is_some() && self.machine.read(&format!("{folder}/{file}")).as_deref() == Some("critical")
            };
            let files = self.machine.list(&folder);
            let limits = files.iter().filter(is_critical);
            let limits = limits.map(|file| format!("{folder}/{}", file.replace("_type", "_temp")));
            let limits: Vec<String> = limits.collect();
            self.temperature(kind, path, limits.iter().map(String::as_str));
        }
    }

    /// Adds a sensor that has something sensible to say.
    fn temperature<'a>(&mut self, name: String, path: String, limits: impl Iterator<Item = &'a str>) {
        let machine = &self.machine;
        let celsius = |path: &str| machine.number::<f64>(path).map(|value| value / 1000.0);
        if !celsius(&path).is_some_and(|value| SANE_CELSIUS.contains(&value)) {
            return;
        }
        let name = unique(name, self.temperatures.iter().map(|probe| &probe.name));
        // A limit of 0 or of thousands of degrees is one that nobody set.
        if let Some(limit) = limits.filter_map(celsius).find(|limit| (20.0..=150.0).contains(limit)) {
            self.limits.temperature.insert(name.clone(), limit);
        }
        self.temperatures.push(Probe { name, path, unit: 1000.0 });
    }

    /// Finds the counters of energy: packages and what is in them. Only root may read them since Linux 5.10.
    fn rapl(&mut self) {
        let machine = self.machine.clone();
        for domain in domains(&machine) {
            if machine.number::<f64>(&domain.counter.path).is_none() {
                continue;
            }
            let name = unique(domain.counter.name, self.meters.iter().map(|meter| &meter.counter.name));
            let limit = machine.number::<f64>(&format!("{POWERCAP}/{}/constraint_0_power_limit_uw", domain.zone));
            if let Some(watts) = limit.map(|limit| limit / 1e6).filter(|watts| (0.1..1e5).contains(watts)) {
                self.limits.power.insert(name.clone(), watts);
            }
            self.meters.push(Meter { counter: Energy { name, ..domain.counter }, before: None });
        }
    }
}

impl Meter {
    /// Returns the mean power since the reading before, `passed` seconds ago.
    fn watts(&self, energy: Option<f64>, passed: f64) -> Option<f64> {
        let used = self.counter.used(self.before?, energy?)?;
        (passed > 0.0).then(|| (used / passed / 1e4).round() / 100.0)
    }
}

impl Counter {
    fn read(&self, machine: &Machine) -> Option<u64> {
        let part = |paths: &Vec<String>| paths.iter().filter_map(|path| machine.number::<u64>(path)).max();
        self.parts.iter().filter_map(part).reduce(u64::saturating_add)
    }
}

fn frequencies(machine: &Machine) -> Vec<(u32, String)> {
    let cpus = counts::online(machine);
    let step = cpus.len().div_ceil(MOST_ASKED).max(1);
    let path = |cpu: &usize| Some((u32::try_from(*cpu).ok()?, format!("{CPU}/cpu{cpu}/cpufreq/scaling_cur_freq")));
    cpus.iter().step_by(step).filter_map(path).filter(|(_, path)| machine.exists(path)).collect()
}

fn throttling(machine: &Machine) -> Vec<Counter> {
    let cpus = counts::online(machine);
    let counter = |(name, file, sum): &(&str, &str, bool)| {
        let path = |cpu: &usize| format!("{CPU}/cpu{cpu}/thermal_throttle/{file}");
        let mut parts = BTreeMap::<String, Vec<String>>::new();
        for cpu in &cpus {
            let package = machine.read(&format!("{CPU}/cpu{cpu}/topology/physical_package_id")).unwrap_or_default();
            let part = if *sum { cpu.to_string() } else { package };
            let path = path(cpu);
            if machine.exists(&path) {
                parts.entry(part).or_default().push(path);
            }
        }
        (!parts.is_empty()).then(|| Counter { name: (*name).to_owned(), parts: parts.into_values().collect() })
    };
    THROTTLE.iter().filter_map(counter).collect()
}

/// Errors that memory controllers corrected, and those that they could not.
fn memory_errors(machine: &Machine) -> Vec<Counter> {
    let mut counters = Vec::new();
    for controller in machine.numbered(EDAC, "mc") {
        for kind in ["ce", "ue"] {
            let path = format!("{EDAC}/{controller}/{kind}_count");
            if machine.exists(&path) {
                counters.push(Counter { name: format!("edac.{controller}.{kind}"), parts: vec![vec![path]] });
            }
        }
    }
    counters
}

fn cooling(machine: &Machine) -> Vec<Probe> {
    let device = |device: &String| {
        let name = plain(&machine.read(&format!("{THERMAL}/{device}/type"))?);
        Some(Probe { name, path: format!("{THERMAL}/{device}/cur_state"), unit: 1.0 })
    };
    machine.numbered(THERMAL, "cooling_device").iter().filter_map(device).collect()
}

/// A name that no other sensor has.
fn unique<'a>(name: String, known: impl Iterator<Item = &'a String> + Clone) -> String {
    let taken = |name: &String| known.clone().any(|other| other == name);
    if !taken(&name) {
        return name;
    }
    let numbered = (2..=usize::MAX).map(|number| format!("{name} #{number}"));
    numbered.into_iter().find(|candidate| !taken(candidate)).unwrap_or(name)
}
