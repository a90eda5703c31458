//! Measures that are compared, and the direction that is better.

use serde::Serialize;

use catalogue::Metric;
use stats::{Estimate, Exact};

/// The least latency in ms that has a logarithm: 1 ns.
pub(crate) const LEAST: f64 = 1e-6;

/// The amount that stands for 0, so that it has a ratio to any other.
const ZERO_AMOUNT: f64 = 0.5;

/// A measure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The score of a test that has one.
    Score,
    /// The median latency.
    P50,
    /// The 99th percentile of the latency.
    P99,
    /// The 99.9th percentile, which comparisons within a run have.
    #[serde(rename = "p99.9")]
    P999,
    /// The share of deadlines met.
    Met,
    /// The energy of an operation.
    Energy,
    /// Processor time of an execution of a command: user and system time, whose sum the kernel knows better than its
    /// parts.
    #[serde(rename = "cpu")]
    Cpu,
    /// User time of an execution.
    User,
    /// System time of an execution.
    System,
    /// Memory of a command's largest process.
    Memory,
}

impl Measure {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Score => "score",
            Measure::P50 => "p50",
            Measure::P99 => "p99",
            Measure::P999 => "p99.9",
            Measure::Met => "met",
            Measure::Energy => "energy",
            Measure::Cpu => "processor time",
            Measure::User => "user time",
            Measure::System => "system time",
            Measure::Memory => "memory",
        }
    }

    /// The unit of its values, where that of the test's score is `score`.
    pub(crate) fn unit(self, score: &str) -> String {
        match self {
            Measure::Met => "%",
            Measure::Energy => "J",
            Measure::Memory => "MiB",
            _ => score,
        }
        .to_owned()
    }

    /// The unit of its differences: `%`, or `points` of a per cent.
    pub fn delta_unit(self) -> &'static str {
        if self == Measure::Met { "points" } else { "%" }
    }

    /// Returns true if it is a percentile of a latency.
    pub(crate) fn is_percentile(self) -> bool {
        matches!(self, Measure::P50 | Measure::P99 | Measure::P999)
    }

    /// Returns true if its differences, of figures of this metric, are of the time that the same work takes.
    pub(crate) fn is_of_time(self, metric: Metric) -> bool {
        metric != Metric::Amount && !matches!(self, Measure::Met | Measure::Energy | Measure::Memory)
    }

    /// Returns a value as a number that is larger where it is better, and whose differences are what is judged: a
    /// logarithm, of the inverse where less is better; of a share of deadlines the share in per cent.
    pub(crate) fn goodness(self, metric: Metric, value: f64) -> f64 {
        match (self, metric) {
            (Measure::Met, _) => value,
            (_, Metric::Amount) if value == 0.0 => -ZERO_AMOUNT.natural_log(),
            (Measure::Energy | Measure::Memory, _) | (_, Metric::Time | Metric::Amount) => -value.natural_log(),
            (_, Metric::Latency) => -value.max(LEAST).natural_log(),
            (_, Metric::Rate) => value.natural_log(),
        }
    }

    /// Returns the value whose goodness lies so far above that of `base`.
    pub(crate) fn beyond(self, metric: Metric, base: f64, goodness: f64) -> f64 {
        match self {
            Measure::Met => base + goodness,
            _ if metric == Metric::Amount && base == 0.0 && goodness != 0.0 => ZERO_AMOUNT * (-goodness).exponential(),
            _ if self.lower_is_better(metric) => base * (-goodness).exponential(),
            _ => base * goodness.exponential(),
        }
    }

    /// Returns a difference of goodness in the unit that reports show: per cent, or points.
    pub(crate) fn size(self, goodness: f64) -> f64 {
        if self == Measure::Met { goodness } else { 100.0 * goodness.exponential_less_1() }
    }

    /// Returns the difference of goodness of a size in per cent or points.
    pub(crate) fn goodness_of_size(self, size: f64) -> f64 {
        if self == Measure::Met { size } else { (size / 100.0).log_of_1_plus() }
    }

    /// Returns the change of the figure itself, in per cent or points, that a difference of goodness is.
    pub(crate) fn change(self, metric: Metric, goodness: f64) -> f64 {
        if self.lower_is_better(metric) { self.size(-goodness) } else { self.size(goodness) }
    }

    /// Returns true if a smaller figure is better.
    pub fn lower_is_better(self, metric: Metric) -> bool {
        match self {
            Measure::Met => false,
            Measure::Energy | Measure::Memory => true,
            _ => metric != Metric::Rate,
        }
    }

    /// Returns a shift of goodness as the difference of a rate; negative is worse.
    pub(crate) fn delta(self, shift: &Estimate) -> Estimate {
        shift.image(|goodness| self.size(goodness))
    }
}
