//! What a sensor is about, by its name: journals keep names.

use super::noise::CPU_SENSORS;
use super::sensors::Reading;

/// What a temperature, or a counter, is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SensorKind {
    /// The processor's temperature.
    Processor,
    /// A memory module's temperature.
    Memory,
    /// How often processors were throttled for their temperature.
    Throttling,
    /// How often processors were throttled for their power.
    PowerLimit,
    /// Memory errors that controllers have counted.
    MemoryErrors,
    /// Anything else.
    Other,
}

impl SensorKind {
    /// Returns what the sensor or counter called `name` in a [`Reading`] is about.
    #[must_use]
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
        } else if CPU_SENSORS.contains(&driver.as_str()) || driver.contains("cpu") || driver == "x86_pkg_temp" {
            SensorKind::Processor
        } else {
            SensorKind::Other
        }
    }
}

impl Reading {
    /// Returns name and °C of the hottest sensor, of one kind or of all.
    #[must_use]
    pub fn hottest(&self, kind: Option<SensorKind>) -> Option<(&str, f64)> {
        let sensors = self.temperature.iter().map(|(name, celsius)| (name.as_str(), *celsius));
        let wanted = sensors.filter(|(name, _)| kind.is_none_or(|kind| SensorKind::from_name(name) == kind));
        wanted.max_by(|a, b| a.1.total_cmp(&b.1))
    }
}
