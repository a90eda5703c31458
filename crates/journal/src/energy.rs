//! The energy that the machine took during a trial.

use serde::{Deserialize, Serialize};

/// Energy over a time, of the machine or of the parts of it that are metered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// In J.
    pub joules: f64,
    /// In s: the window, or its part between two readings of a meter.
    pub seconds: f64,
}

impl Energy {
    /// Energy, rounded to a µJ and a µs: no counter is finer.
    pub fn new(joules: f64, seconds: f64) -> Energy {
        Energy { joules: round_to_micro(joules), seconds: round_to_micro(seconds) }
    }

    /// The mean power in W; `None` for a time or an energy that cannot be.
    pub fn watts(&self) -> Option<f64> {
        let watts = self.joules / self.seconds;
        (self.seconds > 0.0 && watts.is_finite() && watts > 0.0).then_some(watts)
    }
}

fn round_to_micro(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
