//! The energy that the machine took during a trial.

use serde::{Deserialize, Serialize};

/// Energy over a time: that of the whole machine, or of what its counters or its meter see of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// In J.
    pub joules: f64,
    /// In s; the window, or what of it lies between two readings of a meter.
    pub seconds: f64,
}

impl Energy {
    /// Returns it, rounded to a µJ and a µs: no counter is finer.
    pub fn new(joules: f64, seconds: f64) -> Energy {
        let micro = |number: f64| (number * 1e6).round() / 1e6;
        Energy { joules: micro(joules), seconds: micro(seconds) }
    }

    /// Returns the mean power in W; `None` of a time or an energy that cannot be.
    pub fn watts(&self) -> Option<f64> {
        let watts = self.joules / self.seconds;
        (self.seconds > 0.0 && watts.is_finite() && watts > 0.0).then_some(watts)
    }
}
