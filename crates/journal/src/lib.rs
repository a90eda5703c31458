//! A run's journal: a directory with `run.jsonl`, append-only, one JSON object per line.
//!
//! The journal is the product: every count and clock that was measured is in it, and every score is
//! computed from it when a report is made. `docs/format.md` is its specification.

mod burnin;
mod evidence;
mod frames;
mod key;
mod reader;
mod store;
mod writer;

use std::collections::BTreeMap;

use catalogue::{Copies, Metric, NONE, Test};
use machine::{Fact, Noise};
use serde::{Deserialize, Serialize};
use stats::Histogram;

pub use burnin::{Beat, BurnIn, Burned, Fault, Pass, Sample, Stage, Word};
pub use evidence::{Evidence, Trail};
pub use frames::{Frame, Frames, Latency, Recorder, Schedule};
pub use key::Key;
pub use reader::{parse, read};
pub use store::{Listed, Store, first_line, today};
pub use writer::Writer;

/// The version of the format that is written; readers take any `unixmark-run/1`.
pub const FORMAT: &str = "unixmark-run/1";

/// The journal's file in the run's directory.
pub const FILE: &str = "run.jsonl";

/// What a run is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// Scores and indexes.
    #[default]
    Scores,
    /// How tests scale with copies.
    Scaling,
    /// What conditions cost.
    Cost,
}

impl View {
    fn is_scores(&self) -> bool {
        *self == View::Scores
    }
}

/// How a run measures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
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
    /// Returns its name, as it stands in journals.
    #[must_use]
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
    /// Returns its name, as it stands in journals.
    #[must_use]
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

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Record {
    /// The first line: what was asked for.
    Run(Box<Run>),
    /// One thing known of the system.
    Fact(Fact),
    /// One cell of the matrix: what its trials measure.
    Cell(Box<Cell>),
    /// One measurement by fresh processes.
    Trial(Box<Trial>),
    /// What was asked of a burn-in.
    BurnIn(Box<BurnIn>),
    /// What a burn-in had done, and what the sensors said, at one moment.
    Sample(Box<Sample>),
    /// A word of memory that was not what was written.
    Fault(Box<Fault>),
    /// A pass over the memory.
    Pass(Pass),
    /// Something a reader of the numbers must know.
    Warning(Warning),
    /// The last line of a run that was not cut short.
    End(End),
}

/// What was asked for, and of what.
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
    /// How it measures.
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// The command line.
    pub arguments: Vec<String>,
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
    /// What reports show.
    #[serde(default, skip_serializing_if = "View::is_scores")]
    pub view: View,
    /// The condition that others are compared with, of a run about their cost.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub against: String,
    /// Where copies ran: core, smt or node; empty where the scheduler chose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub pin: String,
    /// Which attempt of which node's part of a fleet run it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Attempt>,
    /// What begins beyond so many copies (SMT siblings, a second NUMA node, …); beyond none where it is so at every level.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub borders: Vec<(u32, String)>,
}

impl Run {
    /// Whether its trials are passes that are scored by UnixBench's arithmetic.
    #[must_use]
    pub fn is_classic(&self) -> bool {
        matches!(self.procedure, Procedure::Classic | Procedure::Imported)
    }

    /// Whether its reports show how tests scale in place of lists of scores.
    #[must_use]
    pub fn is_scaling(&self) -> bool {
        self.view == View::Scaling
    }

    /// Whether its reports show what conditions cost in place of indexes.
    #[must_use]
    pub fn is_cost(&self) -> bool {
        self.view == View::Cost
    }
}

/// One attempt at one node's part of a fleet run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The fleet run's name.
    pub run: String,
    /// The node's name, as the engine has it.
    pub node: String,
    /// Which of the node's tasks.
    #[serde(default)]
    pub task: String,
    /// How often it was begun before.
    #[serde(default)]
    pub attempt: u32,
}

/// How the measured programs were built.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// native or portable.
    pub name: String,
    /// The compiler's first line of `--version`.
    pub compiler: String,
    /// The flags every program was built with.
    pub flags: String,
    /// SHA-256 over sources, compiler and flags: equal hashes are equal builds.
    pub hash: String,
}

/// Scores of another run to divide by.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// The run they come from.
    pub name: String,
    /// Score by test, at the fewest copies that run had.
    pub scores: BTreeMap<String, f64>,
}

/// One cell of test × copies × load × condition.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Number of the cell in this run.
    pub id: usize,
    /// Where in the matrix it is.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// Whether the copies were threads of one program.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub threads: bool,
    /// Whether it is the second arm of the condition that others are compared with: an A/A control.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// What kind of number the score is.
    pub metric: Metric,
    /// The unit of the score.
    pub unit: String,
    /// Seconds in the unit's time; 0 where a `value` line is the score.
    pub timebase: f64,
    /// What one count is worth in the unit.
    pub scale: f64,
    /// The `value` line that is the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What bounds the score: a figure of processors, `test:ID`, or `link`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// The part of the report it belongs to.
    pub category: String,
    /// Slices from the first that are not counted.
    #[serde(default)]
    pub warmup: u32,
    /// What the load's counts mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Scale>,
}

/// What the counts of a load mean.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The load's name in reports.
    pub label: String,
    /// The unit of its throughput.
    pub unit: String,
    /// What one count per second is worth in the unit.
    pub worth: f64,
}

impl Cell {
    /// Returns the cell of `test` with the given coordinates.
    #[must_use]
    pub fn new(id: usize, test: &Test, copies: u32, load: Option<&Test>, condition: &str) -> Cell {
        Cell {
            id,
            key: Key {
                test: test.id.clone(),
                copies,
                load: load.map_or(NONE, |load| &load.id).to_owned(),
                condition: condition.to_owned(),
            },
            label: test.label.clone(),
            threads: test.copies == Copies::Threads,
            control: false,
            metric: test.metric,
            unit: test.unit.clone(),
            timebase: if test.value.is_some() { 0.0 } else { test.timebase },
            scale: test.scale,
            limit: test.limit.clone().filter(|_| test.base() == test.id),
            value: test.value.clone(),
            category: test.category.clone(),
            warmup: 0,
            background: load.map(Scale::of),
        }
    }
}

impl Scale {
    /// Frames are a load's work where its score is their latency.
    fn of(load: &Test) -> Scale {
        let unit = if load.metric == Metric::Latency { "frames/s" } else { &load.unit };
        Scale { label: load.label.clone(), unit: unit.to_owned(), worth: load.scale * load.timebase }
    }
}

/// One measurement of one cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The cell it measures.
    pub cell: usize,
    /// The block (or pass) it belongs to, from 0.
    pub block: u32,
    /// Seconds since the run began.
    pub at: f64,
    /// What each copy reported; empty where the trial failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Copy>,
    /// What the load did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background: Option<Box<Background>>,
    /// A result without its measurements, as imported reports have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// Why the test cannot run here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip: Option<String>,
    /// Why the trial has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What proves that the cell's condition was on, and what that produced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// Whether it belongs to the second look at what was suspected of a loss.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub second: bool,
    /// What disturbed the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// Processor time of the tool itself while the window was open, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_cpu_s: Option<f64>,
}

/// What one copy of a program reported.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// Start and end in ns since the common start, and the count between them.
    pub slices: Vec<(u64, u64, u64)>,
    /// Other numbers it measured, with their units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, (f64, String)>,
    /// Its answers, all right.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, f64>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Its frames, of an interactive test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Box<Frames>>,
    /// How long single operations took, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Box<Histogram>>,
    /// What it has to say of its numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a load did while it ran in the background.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Its count per second alone, before the window opened.
    pub alone: f64,
    /// Whether that had become steady.
    pub steady: bool,
    /// What it reported of the window: one slice.
    pub copy: Copy,
}

/// getrusage(2) of a program and its children, times in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// User time of the program itself.
    pub user: f64,
    /// System time of the program itself.
    pub system: f64,
    /// User time of its reaped children.
    pub child_user: f64,
    /// System time of its reaped children.
    pub child_system: f64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Context switches it asked for.
    pub voluntary: u64,
    /// Context switches it suffered.
    pub involuntary: u64,
    /// Largest resident size in KiB.
    pub maxrss_kib: u64,
}

/// A score as another suite printed it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// In the cell's unit.
    pub value: f64,
    /// Mean length of a pass.
    pub seconds: f64,
    /// Passes behind it.
    pub samples: u32,
}

/// Something that touches the whole run, or one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The cell it touches; absent for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// A sentence for the reader.
    pub text: String,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Why.
    pub reason: Ended,
    /// Seconds since it began.
    pub seconds: f64,
}

/// A whole journal in memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Journal {
    /// The first line.
    pub run: Run,
    /// What is known of the system, in order.
    pub facts: Vec<Fact>,
    /// The cells, by number.
    pub cells: Vec<Cell>,
    /// The trials, in the order they were measured.
    pub trials: Vec<Trial>,
    /// What was asked, of a burn-in.
    pub burnin: Option<BurnIn>,
    /// What it did and what the sensors said, in order.
    pub samples: Vec<Sample>,
    /// Its faults, in order.
    pub faults: Vec<Fault>,
    /// Its passes, in order.
    pub passes: Vec<Pass>,
    /// What a reader must know.
    pub warnings: Vec<Warning>,
    /// The last line, unless the run was cut short.
    pub end: Option<End>,
}
