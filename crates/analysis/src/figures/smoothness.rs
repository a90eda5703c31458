//! What reports show of an interactive test: latencies, deadlines, frame rates, and what delayed
//! its frames. [`super::latency`] computes it.

use serde::Serialize;

use crate::figures::holders::HeldUp;
use crate::figures::rate::MS;
use journal::{Frame, Latency as Kind};
use stats::{Estimate, Histogram};

/// The percentiles that reports show, and their names.
pub const PERCENTILES: [(f64, &str); 5] =
    [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9")];

/// The figures of a cell's frames. Times are in ms, histograms in ns, shares in per cent.
#[derive(Debug, Clone)]
pub struct Latency {
    /// What the latency of a frame is.
    pub kind: Kind,
    /// The name of the percentile that is the cell's score.
    pub value: &'static str,
    /// The latencies of all trials that are judged: with every dropped frame counted as if it had
    /// waited, since a task that drops more frames is not a faster one.
    pub histogram: Histogram,
    /// The latencies of the frames that were done.
    pub came: Histogram,
    /// The times from a frame's planned moment until it was done.
    pub response: Histogram,
    /// The differences between the latency of a frame and of the one before.
    pub jitter: Histogram,
    /// The number of planned frames.
    pub planned: u64,
    /// The share of planned frames that were done in time; `None` without a deadline.
    pub deadlines_met: Option<Estimate>,
    /// The share of planned frames that were done too late.
    pub late: f64,
    /// The share of planned frames that were never done.
    pub dropped: f64,
    /// The share of planned work that was done; of a task that takes all it gets, the share of what
    /// the time would hold.
    pub cpu_received: Option<Estimate>,
    /// The frame rates of a task whose frames follow each other.
    pub rates: Option<FrameRates>,
    /// The requests of a server.
    pub requests: Option<Requests>,
    /// The longest time for which the task was kept from its plan.
    pub stall: f64,
    /// The longest latency in each second, trial after trial: (seconds since the run began, ms).
    pub seconds: Vec<(f64, f64)>,
    /// The frames with the longest latencies, longest first, in ns since their trial's start.
    pub worst: Vec<Frame>,
    /// The causes of late frames; `None` unless the scheduler was traced.
    pub holders: Option<HeldUp>,
    /// Delays by the scheduler, per trial on average.
    pub attribution: Attribution,
    /// The figures of each trial, in order; for comparisons.
    pub trials: Vec<TrialFigures>,
}

/// Delays of a task by the scheduler, per trial on average.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Attribution {
    /// Time the thread was ready and waited for a processor, in ms per second of the window.
    pub runqueue_wait_ms: Option<f64>,
    /// Time the hypervisor took from the whole machine, in ms per second of the window.
    pub steal_ms: Option<f64>,
    /// Moves to another processor.
    pub migrations: Option<f64>,
    /// Page faults without I/O.
    pub minor_faults: f64,
    /// Page faults with I/O.
    pub major_faults: f64,
    /// Involuntary context switches.
    pub involuntary_switches: f64,
}

/// Frames per second as players count them: frames ÷ the time they took. Shares that hold fewer
/// than ten frames have none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FrameRates {
    /// The mean of all frames.
    pub all: f64,
    /// The mean of the slowest 1 %.
    pub low_1: Option<f64>,
    /// The mean of the slowest 0.1 %.
    pub low_01: Option<f64>,
}

/// Requests per second of a server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Requests {
    /// Requests that were sent on a schedule; `None` where each waits for an answer.
    pub offered: Option<f64>,
    /// Requests that were answered.
    pub answered: Estimate,
}

/// The figures of one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TrialFigures {
    /// The number of the block.
    pub block: u32,
    /// The median in ms.
    pub p50: f64,
    /// The 99th percentile in ms, where the trial's count carries it.
    pub p99: Option<f64>,
    /// The share of deadlines met, in per cent.
    pub met: Option<f64>,
}

/// The work of a load beside the measurement.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Load {
    /// The name in reports.
    pub label: String,
    /// The throughput during the windows.
    pub throughput: f64,
    /// The unit of `throughput`.
    pub unit: String,
    /// The throughput beside the measurement, in per cent of that alone just before.
    pub achieved: f64,
    /// The interval of `achieved`; infinite with one trial.
    #[serde(skip)]
    pub interval: Estimate,
}

impl Latency {
    /// The percentiles that the count carries, with their names, in ms.
    pub fn percentiles<'a>(
        &self,
        histogram: &'a Histogram,
    ) -> impl Iterator<Item = (&'static str, f64)> + 'a {
        let carried = PERCENTILES.iter().filter(|(share, _)| histogram.carries(*share));
        carried.map(|(share, name)| (*name, histogram.quantile(*share) / MS))
    }

    /// A percentile of the latency in ms; `None` if the count does not carry it.
    pub fn percentile(&self, name: &str) -> Option<f64> {
        self.percentiles(&self.histogram).find(|(known, _)| *known == name).map(|(_, ms)| ms)
    }
}
