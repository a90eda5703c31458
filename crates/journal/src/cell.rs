//! A cell of a run: what its trials measure, and how their counts become a score.

use serde::{Deserialize, Serialize};

use super::{Key, is_zero};
use catalogue::{Condition, Copies, Metric, NONE, SamplingUnit, Test};

/// One cell of test × copies × load × condition.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The number of the cell in this run.
    pub id: usize,
    /// The coordinates of the cell in the matrix.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// True if the copies were threads of one program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub threads: bool,
    /// True if its condition can only be measured before anything else of the run has been
    /// switched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
    /// The beginning of a sentence about the cell's condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phrase: Option<String>,
    /// True if the cell is an A/A control: a second arm of the reference condition or, where two
    /// commands are compared, of either command.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// The kind of number of the score.
    pub metric: Metric,
    /// The unit of the score.
    pub unit: String,
    /// Seconds in the unit's time: 1 for per second, 60 for per minute; 0 if a `value` line is the
    /// score.
    pub timebase: f64,
    /// The value of one count in the unit.
    pub scale: f64,
    /// The `value` line that is the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What limits the score: a figure of processors, `test:ID`, or `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// True if a copy's rate loses its fraction before copies are added in the classic procedure,
    /// as UnixBench's file programs print it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncate: bool,
    /// The test whose clock the cell uses if its own programs report none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// True if each count is one system call, or as many as the program reports for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub calls: bool,
    /// What is one sample: an execution, or all executions of a build, a block or a process.
    #[serde(default, skip_serializing_if = "SamplingUnit::is_execution")]
    pub sampled: SamplingUnit,
    /// The quantiles of the executions' times that are compared in addition to the score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tails: Vec<f64>,
    /// What is executed for the cell, and in which order.
    #[serde(default, skip_serializing_if = "Role::is_test")]
    pub role: Role,
    /// The part of the report it belongs to.
    pub category: String,
    /// The number of slices at the beginning that are not counted.
    #[serde(default)]
    pub warmup: u32,
    /// The planned length of a slice in ns; 0 where none was planned, as for imported results.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub slice: u64,
    /// The meaning of the load's counts, if there is a load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Scale>,
}

/// What is executed for a cell, and in which order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Programs of a test, in a window of their own.
    #[default]
    Test,
    /// A command of the user's, in a window of its own.
    Command,
    /// A command of the user's that alternates with those it is compared with: each is executed
    /// once per round, in random order.
    Alternating,
}

impl Role {
    fn is_test(&self) -> bool {
        *self == Role::Test
    }
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

/// [`Cell::value`] of a figure that another program printed.
const PRINTED: &str = "printed";

impl Cell {
    /// The cell as that of a figure that another program printed.
    pub fn printed(self) -> Cell {
        Cell { value: Some(PRINTED.to_owned()), ..self }
    }

    /// True if the figure is one that another program printed: imported, or by `ab --harness`.
    pub fn is_printed(&self) -> bool {
        self.value.as_deref() == Some(PRINTED)
    }

    /// True if the cell is of a command of the user's itself, and not of a figure that one printed.
    pub fn is_of_command(&self) -> bool {
        self.role != Role::Test && !self.is_printed()
    }

    /// True if the cell is of a command that alternates with others, or of a figure that such a
    /// command printed.
    pub fn is_alternating(&self) -> bool {
        self.role == Role::Alternating
    }

    /// True if several executions are one sample.
    pub fn has_units(&self) -> bool {
        self.sampled != SamplingUnit::Execution
    }

    /// True for a value that can be compared. What a program printed may be 0 or negative; where
    /// unixmark counts itself, 0 means that nothing was counted.
    pub fn is_comparable(&self, value: f64) -> bool {
        value.is_finite() && (value > 0.0 || self.is_printed())
    }

    /// The cell of `test` with the given coordinates.
    pub fn new(
        id: usize,
        test: &Test,
        copies: u32,
        load: Option<&Test>,
        condition: &Condition,
    ) -> Cell {
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
            sampled: test.sampled,
            tails: test.tails.clone(),
            truncate: test.truncate,
            clock: test.clock.clone(),
            calls: test.calls,
            role: match test.is_command() {
                true if test.arms > 0 => Role::Alternating,
                true => Role::Command,
                false => Role::Test,
            },
            category: test.category.clone(),
            warmup: 0,
            slice: 0,
            background: load.map(Scale::new),
        }
    }
}

impl Scale {
    fn new(load: &Test) -> Scale {
        let unit = match load.metric {
            // The score is the latency of frames, and they are the load's work.
            Metric::Latency => "frames/s",
            _ if load.is_command() => "executions/s",
            _ => &load.unit,
        };
        Scale {
            label: load.label.clone(),
            unit: unit.to_owned(),
            worth: load.scale * load.timebase,
        }
    }
}
