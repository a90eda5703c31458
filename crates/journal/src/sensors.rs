//! The readings of a machine's sensors, and their subjects by their names.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Sensor chips that measure the processor; others measure disks or radios.
const PROCESSOR_DRIVERS: [&str; 6] =
    ["coretemp", "k10temp", "zenpower", "soc_thermal", "scmi_sensors", "x86_pkg_temp"];

/// The readings of the sensors at one moment; what the machine does not report is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// °C, by sensor.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub temperature: BTreeMap<String, f64>,
    /// W, by sensor or RAPL domain; of a domain, the mean since the reading before.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub power: BTreeMap<String, f64>,
    /// The kernel's figure of the CPUs' clocks, in MHz.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frequency: Vec<(u32, f64)>,
    /// Events since boot: throttling, power limits, memory errors.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub count: BTreeMap<String, u64>,
    /// States of cooling devices, fans and the kernel's own brakes, by type; 0 is off.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cooling: BTreeMap<String, u64>,
    /// Share of CPU time that the hypervisor gave to others since the reading before, in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal: Option<f64>,
}

/// Where the machine says that it will be slowed down.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SensorLimits {
    /// °C, by sensor: the critical one if reported, else the highest intended.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub temperature: BTreeMap<String, f64>,
    /// W that a RAPL domain may take in the long run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub power: BTreeMap<String, f64>,
}

/// The subject of a temperature or a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensorKind {
    /// The processor's temperature.
    Processor,
    /// A memory module's temperature.
    Memory,
    /// The number of times that processors were throttled for their temperature.
    Throttling,
    /// The number of times that processors were throttled for their power.
    PowerLimit,
    /// Memory errors that controllers have counted.
    MemoryErrors,
    /// Anything else.
    Other,
}

impl SensorKind {
    /// The subject of the sensor or counter that a [`Reading`] calls `name`.
    pub fn from_name(name: &str) -> SensorKind {
        match name.split('.').next() {
            Some("throttle") => return SensorKind::Throttling,
            Some("power_limit") => return SensorKind::PowerLimit,
            Some("edac") => return SensorKind::MemoryErrors,
            _ => {}
        }

        let driver = name.split(' ').next().unwrap_or(name).to_lowercase().replace('-', "_");
        if driver.starts_with("jc42") || driver.starts_with("spd5118") {
            SensorKind::Memory
        } else if PROCESSOR_DRIVERS.contains(&driver.as_str()) || driver.contains("cpu") {
            SensorKind::Processor
        } else {
            SensorKind::Other
        }
    }
}

impl Reading {
    /// The name and the °C of the hottest sensor, of one kind or of all.
    pub fn hottest(&self, kind: Option<SensorKind>) -> Option<(&str, f64)> {
        self.temperature
            .iter()
            .filter(|(name, _)| kind.is_none_or(|kind| SensorKind::from_name(name) == kind))
            .map(|(name, celsius)| (name.as_str(), *celsius))
            .max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
