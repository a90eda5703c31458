//! Measures of a cell: what is compared of it, and which direction is better.

use serde::Serialize;

use catalogue::Metric;
use stats::Exact;

/// Smallest latency in ms that has a logarithm: 1 ns.
pub(crate) const MIN_LATENCY_MS: f64 = 1e-6;

/// The measures that are percentiles, and the share of the values below each.
const PERCENTILES: [(f64, Measure); 5] = [
    (0.5, Measure::P50),
    (0.9, Measure::P90),
    (0.95, Measure::P95),
    (0.99, Measure::P99),
    (0.999, Measure::P999),
];

/// A measure that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The score of a test that has one.
    Score,
    /// The median latency; of commands, here and below, that quantile of the executions' times.
    P50,
    /// The 90th percentile, of commands alone.
    P90,
    /// The 95th percentile, of commands alone.
    P95,
    /// The 99th percentile of the latency.
    P99,
    /// The 99.9th percentile, which comparisons within a run have.
    #[serde(rename = "p99.9")]
    P999,
    /// The share of deadlines met.
    Met,
    /// The energy of an operation.
    Energy,
    /// Processor time of an execution of a command: user and system time, whose sum the kernel
    /// knows better than its parts.
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
            Measure::P90 => "p90",
            Measure::P95 => "p95",
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

    /// True if it is a percentile of a latency, or of a command's times.
    pub(crate) fn is_percentile(self) -> bool {
        self.share().is_some()
    }

    /// The measure that is a quantile of a command's times, if there is one: 0.99 is p99.
    pub fn of_quantile(share: f64) -> Option<Measure> {
        PERCENTILES.iter().find(|(known, _)| *known == share).map(|(_, measure)| *measure)
    }

    /// The share of the values below a percentile.
    pub(crate) fn share(self) -> Option<f64> {
        PERCENTILES.iter().find(|(_, measure)| *measure == self).map(|(share, _)| *share)
    }

    /// True if its differences, of figures of this metric, are of the time that the same work
    /// takes.
    pub(crate) fn is_of_time(self, metric: Metric) -> bool {
        metric.is_of_time() && !matches!(self, Measure::Met | Measure::Energy | Measure::Memory)
    }

    /// A value as a number that is larger where it is better, and whose differences are judged: the
    /// logarithm, or that of the inverse where less is better; of deadlines met the share in per
    /// cent.
    pub(crate) fn goodness(self, metric: Metric, value: f64) -> f64 {
        match (self, metric) {
            (Measure::Met, _) => value,
            (_, Metric::Latency) => -value.max(MIN_LATENCY_MS).natural_log(),
            _ if self.lower_is_better(metric) => -value.natural_log(),
            _ => value.natural_log(),
        }
    }

    /// True if a smaller figure is better. One whose direction nobody knows counts as if more were
    /// better, and gets no verdict.
    pub fn lower_is_better(self, metric: Metric) -> bool {
        match self {
            Measure::Met => false,
            Measure::Energy | Measure::Memory => true,
            _ => metric.is_lower_better(),
        }
    }
}
