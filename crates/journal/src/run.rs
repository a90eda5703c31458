//! The settings of a run, its circumstances, and its end.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Finding, GivenCommand};

/// The subject of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// Scores and indexes.
    #[default]
    Scores,
    /// The scaling of tests with copies.
    Scaling,
    /// The cost of conditions.
    Cost,
    /// Which of several commands is faster.
    Ab,
    /// The power of comparisons on this machine.
    Power,
    /// A machine on a card.
    Card,
}

impl View {
    fn is_scores(&self) -> bool {
        *self == View::Scores
    }
}

/// The procedure of a run.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Procedure {
    /// Blocks of short windows.
    #[default]
    Standard,
    /// UnixBench's passes.
    Classic,
    /// A smoke run.
    Quick,
    /// One long program, watched.
    Burnin,
    /// Another suite's report.
    Imported,
    /// One that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Procedure {
    /// The procedure's name in journals.
    pub fn name(self) -> &'static str {
        match self {
            Procedure::Standard => "standard",
            Procedure::Classic => "classic",
            Procedure::Quick => "quick",
            Procedure::Burnin => "burnin",
            Procedure::Imported => "imported",
            Procedure::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for Procedure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ended {
    /// Every cell was measured as often as planned.
    #[default]
    Complete,
    /// The time budget was spent first.
    Budget,
    /// A signal stopped it.
    Interrupted,
    /// A frame broke the limit that was to end the run.
    Broke,
    /// Every further trial would have failed.
    Failed,
    /// For a reason that this version does not know.
    #[serde(other)]
    Unknown,
}

impl Ended {
    /// The name of the reason in journals.
    pub fn name(self) -> &'static str {
        match self {
            Ended::Complete => "complete",
            Ended::Budget => "budget",
            Ended::Interrupted => "interrupted",
            Ended::Broke => "broke",
            Ended::Failed => "failed",
            Ended::Unknown => "unknown",
        }
    }
}

/// The settings of a run, and its subject.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// [`FORMAT`].
    pub format: String,
    /// The run's name: HOST-YYYY-MM-DD-NN.
    pub name: String,
    /// The host's name.
    pub host: String,
    /// The tool and its version, or the suite that an imported run comes from.
    pub tool: String,
    /// When it began, RFC 3339.
    pub started: String,
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// The command line.
    pub arguments: Vec<String>,
    /// Settings beyond tests, copies, loads and conditions that change what is measured, such as
    /// `slack=500000` or `load nice=5`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<String>,
    /// The user's remark.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
    /// Processors online.
    pub cpus: usize,
    /// The indexes to show, where they are not those that are always shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indexes: Vec<String>,
    /// The programs' build; absent in imported runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<Build>,
    /// A reference of the user's own, in place of the catalogue's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// The view that reports show.
    #[serde(default, skip_serializing_if = "View::is_scores")]
    pub view: View,
    /// The condition that others are compared with, of a run about their cost.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub against: String,
    /// The findings of `doctor` when a card was made, the gravest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// The size up to which differences are negligible, in per cent; absent where it is the usual
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The unit of commands' times in reports for people; absent where they choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_unit: Option<TimeUnit>,
    /// The order of commands in hyperfine's tables and summary; absent where that is hyperfine's
    /// own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort: Option<Sort>,
    /// True if the user said which command the others are compared with; else it is the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_reference: bool,
    /// The commands whose names in reports do not say all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<GivenCommand>,
    /// The placement of copies: core, smt or node; empty where the scheduler chose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pin: String,
    /// The node and the attempt, if the run is a part of a fleet run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Attempt>,
    /// The parts of the machine that begin beyond this many copies (SMT siblings, a second NUMA
    /// node, …); 0 copies if it holds at every level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub borders: Vec<(u32, String)>,
}

/// An order of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// As they were given.
    Command,
    /// The fastest first.
    MeanTime,
}

/// A unit of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeUnit {
    /// µs.
    Microsecond,
    /// ms.
    Millisecond,
    /// s.
    Second,
}

impl TimeUnit {
    /// The unit in which a time of so many milliseconds has few digits.
    pub fn suited(ms: f64) -> TimeUnit {
        match ms {
            ms if ms >= 1000.0 => TimeUnit::Second,
            ms if ms >= 1.0 => TimeUnit::Millisecond,
            _ => TimeUnit::Microsecond,
        }
    }

    /// The unit's symbol, and how many of it are a millisecond.
    pub fn scale(self) -> (&'static str, f64) {
        match self {
            TimeUnit::Microsecond => ("µs", 1e3),
            TimeUnit::Millisecond => ("ms", 1.0),
            TimeUnit::Second => ("s", 1e-3),
        }
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(name: &str) -> Result<TimeUnit, String> {
        match name {
            "microsecond" => Ok(TimeUnit::Microsecond),
            "millisecond" => Ok(TimeUnit::Millisecond),
            "second" => Ok(TimeUnit::Second),
            _ => Err(format!("there is no unit '{name}'; try microsecond, millisecond or second")),
        }
    }
}

impl Run {
    /// True if the trials are passes that are scored by UnixBench's arithmetic.
    pub fn is_classic(&self) -> bool {
        matches!(self.procedure, Procedure::Classic | Procedure::Imported)
    }

    /// True if reports show how tests scale, in place of lists of scores.
    pub fn is_scaling(&self) -> bool {
        self.view == View::Scaling
    }
}

/// The owner of a part of a fleet run: a node, or one of its tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId {
    /// The node's name, as the engine has it.
    pub node: String,
    /// The task's name among those of the node; may be empty.
    #[serde(default)]
    pub task: String,
}

/// One attempt at one node's part of a fleet run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The fleet run's name.
    pub run: String,
    /// The owner of the part.
    #[serde(flatten)]
    pub id: NodeId,
    /// The number of earlier attempts.
    #[serde(default)]
    pub attempt: u32,
}

/// The build of the measured programs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// `native` or `portable`.
    pub name: String,
    /// The first line of the compiler's `--version`.
    pub compiler: String,
    /// The compiler's flags for every program.
    pub flags: String,
    /// SHA-256 over sources, compiler and flags: equal hashes are equal builds.
    pub hash: String,
}

/// Scores of another run to divide by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The run they come from.
    pub name: String,
    /// Scores by test, at the minimum number of copies that the run had.
    pub scores: BTreeMap<String, f64>,
}
