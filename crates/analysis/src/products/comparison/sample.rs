//! What the interval of a comparison of commands rests on.

use journal::SamplingUnit;
use serde::Serialize;
use stats::{Estimate, NORMAL_975};

use super::{Comparison, Sides};

/// Share of the variance of a unit's value, at most, that is left to the noise of its executions
/// before a run stops: without any, the interval would be narrower by a twentieth.
const MAX_EXECUTION_SHARE: f64 = 0.1;

/// The units that are the samples of a comparison, where several executions are one sample.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Units {
    /// What a unit is.
    pub unit: SamplingUnit,
    /// The number of units on each side.
    pub n: Sides<usize>,
    /// The standard deviation in per cent from unit to unit of one side, without the noise of the
    /// executions; unknown of values without ratios.
    pub deviation_percent: Estimate,
    /// The standard error in per cent that executions leave in a unit's value; NaN if unknown.
    pub error_percent: f64,
}

impl Units {
    /// True if more executions of these units would hardly narrow the interval: only more units do.
    pub fn are_exhausted(&self) -> bool {
        self.execution_share() <= MAX_EXECUTION_SHARE
    }

    /// True if more executions would narrow the interval more than more units: their noise is the
    /// larger part of the variance. Of builds alone: blocks and processes are repeated as a whole.
    pub fn need_executions(&self) -> bool {
        self.unit == SamplingUnit::Build && self.execution_share() > 0.5
    }

    /// The share of the variance of a unit's value that is the noise of its executions; NaN if
    /// unknown.
    pub fn execution_share(&self) -> f64 {
        let of_executions = self.error_percent.powi(2);
        let all = of_executions + self.deviation_percent.value.powi(2);
        if all == 0.0 { 0.0 } else { of_executions / all }
    }
}

impl Comparison {
    /// The sample in words: `579 pairs`, `8 builds of each`, `8 and 7 builds`.
    pub fn describe_sample(&self) -> String {
        let Some(Units { unit, n, .. }) = self.units else {
            return words::count(self.n.b, "pair");
        };
        let units = words::count(n.b, unit.name());
        if n.a == n.b { format!("{units} of each") } else { format!("{} and {units}", n.a) }
    }

    /// How far 95 % of the units of one side lie from their mean, with the interval of that figure:
    /// `builds of one source differ by ±1.8 % (1.2 to 3.1)`, or `… by at most ±1.1 %` if they may
    /// not differ at all. `None` if it is unknown.
    pub fn describe_units(&self) -> Option<String> {
        let Units { unit, deviation_percent, .. } = self.units?;
        let subject = match unit {
            SamplingUnit::Execution => return None,
            SamplingUnit::Build => "builds of one source differ by",
            SamplingUnit::Block => "set-ups of one command differ by",
            SamplingUnit::Process => "processes of one server differ by",
        };

        let Estimate { value, low, high } =
            deviation_percent.map(|deviation| NORMAL_975 * deviation);
        if !high.is_finite() || high == 0.0 {
            return None;
        }
        let [value, low_end, high_end] = [value, low, high].map(words::fine);
        Some(match low > 0.0 {
            true => format!("{subject} ±{value} % ({low_end} to {high_end})"),
            false => format!("{subject} at most ±{high_end} %"),
        })
    }
}
