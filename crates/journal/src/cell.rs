//! The subject of a cell's trials.

use serde::{Deserialize, Serialize};

use super::{Key, is_zero};
use catalogue::{Condition, Copies, Metric, NONE, Test};

/// One cell of test × copies × load × condition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Number of the cell in this run.
    pub id: usize,
    /// Its place in the matrix.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// True if the copies were threads of one program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub threads: bool,
    /// True if its condition can only be measured before anything else of the run has been switched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
    /// The beginning of a sentence about its condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phrase: Option<String>,
    /// True if it is the second arm of the condition that others are compared with: an A/A control.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// The kind of number of the score.
    pub metric: Metric,
    /// The unit of the score.
    pub unit: String,
    /// Seconds in the unit's time; 0 where a `value` line is the score.
    pub timebase: f64,
    /// The value of one count in the unit.
    pub scale: f64,
    /// The `value` line that is the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The limit of the score: a figure of processors, `test:ID`, or `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The value of [`Cell::is_truncated`]; journals did not always say so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncate: Option<bool>,
    /// The value of [`Cell::clock`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// The value of [`Cell::is_of_calls`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calls: bool,
    /// True if it executes a command of the user's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub command: bool,
    /// True if its executions alternate with those of the same cell under the other conditions, in rounds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turn: bool,
    /// The part of the report it belongs to.
    pub category: String,
    /// Slices from the first that are not counted.
    #[serde(default)]
    pub warmup: u32,
    /// The planned length of a slice in ns; 0 in journals that do not say.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slice: u64,
    /// The meaning of the load's counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Scale>,
}

/// The meaning of a load's counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The load's name in reports.
    pub label: String,
    /// The unit of its throughput.
    pub unit: String,
    /// The value of one count per second in the unit.
    pub worth: f64,
}

impl Cell {
    /// Returns the cell of `test` with the given coordinates.
    pub fn new(id: usize, test: &Test, copies: u32, load: Option<&Test>, condition: &Condition) -> Cell {
        Cell {
            id,
            key: Key {
                test: test.id.clone(),
                copies,
                load: load.map_or(NONE, |load| &load.id).to_owned(),
                condition: condition.name.clone(),
            },
            label: test.label.clone(),
            threads: test.copies == Copies::Threads,
            first: condition.is_first(),
            phrase: condition.phrase().map(str::to_owned),
            control: false,
            metric: test.metric,
            unit: test.unit.clone(),
            timebase: if test.value.is_some() { 0.0 } else { test.timebase },
            scale: test.scale,
            limit: test.limit.clone().filter(|_| test.base() == test.id),
            value: test.value.clone(),
            truncate: Some(test.truncate),
            clock: test.clock.clone(),
            calls: test.calls,
            command: test.is_command(),
            in_turn: test.arms > 0,
            category: test.category.clone(),
            warmup: 0,
            slice: 0,
            background: load.map(Scale::new),
        }
    }

    /// Returns true if a copy's rate loses its fraction before copies are added in the classic procedure, as
    /// UnixBench's file programs print it. Journals that do not say so have it by the unit of those programs.
    pub fn is_truncated(&self) -> bool {
        self.truncate.unwrap_or(self.unit == "KBps")
    }

    /// Returns the test whose clock serves it where it does not report its own, if any does. Journals that do not say
    /// so have it by the category.
    pub fn clock(&self) -> Option<&str> {
        let old = ["cpu", "memory", "thread"].contains(&self.category.as_str()).then_some("core-clock");
        self.clock.as_deref().or(old)
    }

    /// Returns true if a count is a system call, or as many as its program reports. Journals that do not say so have it
    /// by the category.
    pub fn is_of_calls(&self) -> bool {
        self.calls || (self.category == "calls" && self.unit.starts_with("ns"))
    }
}

impl Scale {
    /// Frames are a load's work where its score is their latency.
    fn new(load: &Test) -> Scale {
        let unit = match load.metric {
            Metric::Latency => "frames/s",
            _ if load.is_command() => "executions/s",
            _ => &load.unit,
        };
        Scale { label: load.label.clone(), unit: unit.to_owned(), worth: load.scale * load.timebase }
    }
}
