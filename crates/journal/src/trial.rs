//! The data of one measurement. Moments within it are in ns since the common start, at which the
//! windows of all its copies are planned to open.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{Energy, Evidence, Frames, Noise};
use catalogue::Metric;
use stats::Histogram;

/// One measurement of one cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The cell it measures.
    pub cell: usize,
    /// The block (or pass) it belongs to, from 0.
    pub block: u32,
    /// Seconds since the run began.
    pub at: f64,
    /// The reports of all copies; empty where the trial failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<Copy>,
    /// The work of the load.
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
    /// The proofs that the cell's condition was on, and what it produced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// True if the trial belongs to the second look at what was suspected of a loss.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub second: bool,
    /// How late the last copy began, in ns, in each try whose copies shared too little of the
    /// window. The last of these is the trial itself if no better one followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<u64>,
    /// Disturbances of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// The energy that the machine took meanwhile, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Energy>,
    /// Processor time of the tool itself while the window was open, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_cpu_s: Option<f64>,
    /// How long its condition took to be there and to go, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Box<StartTimes>>,
}

/// How long a sandbox took to start and to stop, and the memory of several of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StartTimes {
    /// The time of the script that starts it, in ms.
    pub enter_ms: f64,
    /// From the start of the program in it until that was ready, in ms.
    pub ready_ms: f64,
    /// Until nothing of it was left, in ms.
    pub leave_ms: f64,
    /// True if programs are started in one that runs, and do not each make a new one.
    pub runs: bool,
    /// The memory in KiB (PSS) that sandboxes next to each other held, with their helpers, by their
    /// number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<(u32, u64)>,
}

impl Trial {
    /// The time at which the last copy began, in ns since the common start.
    pub fn last_start(&self) -> u64 {
        self.copies.iter().filter_map(|copy| Some(copy.slices.first()?.start)).max().unwrap_or(0)
    }
}

/// The report of one copy of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// In the order of time.
    pub slices: Vec<Slice>,
    /// The process's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Other numbers it measured, with their units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, (f64, String)>,
    /// The answers of its computations, all of which were checked and right.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub checks: BTreeMap<String, f64>,
    /// Its use of resources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Its frames, of an interactive test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Box<Frames>>,
    /// The times that single operations took, in ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<Box<Histogram>>,
    /// The executions of a command of the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Execution>,
    /// The unit of each round, by its number from 1, where several executions are one sample
    /// ([`Cell::sampled`](super::Cell::sampled)): round and unit. A round executes one unit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<(u64, u32)>,
    /// Figures that the executions printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    /// Its remarks on its numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Copy {
    /// The unit of each round, if rounds have units.
    pub fn units_by_round(&self) -> BTreeMap<u64, u32> {
        self.units.iter().copied().collect()
    }

    pub(crate) fn histograms(&self) -> impl Iterator<Item = &Histogram> {
        let of_frames = self.frames.as_deref().into_iter().flat_map(Frames::histograms);
        self.times.as_deref().into_iter().chain(of_frames)
    }
}

/// A part of a window with what was done in it: an array of three in the journal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 3]", into = "[u64; 3]")]
pub struct Slice {
    /// Its beginning in ns since the common start.
    pub start: u64,
    /// Its end in ns since the common start; a stranger's may come before its beginning.
    pub end: u64,
    /// The count in it.
    pub count: u64,
}

impl Slice {
    /// The length of the slice in ns; 0 for a stranger's that ends before it begins.
    pub fn length(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl From<[u64; 3]> for Slice {
    fn from([start, end, count]: [u64; 3]) -> Slice {
        Slice { start, end, count }
    }
}

impl From<Slice> for [u64; 3] {
    fn from(Slice { start, end, count }: Slice) -> [u64; 3] {
        [start, end, count]
    }
}

/// The work of a load in the background.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Its count per second alone, before the window opened.
    pub alone: f64,
    /// True if that had become steady.
    pub steady: bool,
    /// Its report of the window: one slice.
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

/// The count of an execution's numbers in the journal, without those of a region.
const EXECUTION_NUMBERS: usize = 11;

/// One execution of a command in a process of its own. Moments are in ns since the common start,
/// durations in ns. In the journal it is an array of 11 numbers, or 13 with a region.
#[derive(Debug, Clone, std::marker::Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u64>", into = "Vec<u64>")]
pub struct Execution {
    /// The round of its window: executions of a round are neighbours in time.
    pub round: u64,
    /// The moment of its start.
    pub start: u64,
    /// The moment when it had ended.
    pub end: u64,
    /// User time of the command and of the children it waited for.
    pub user: u64,
    /// System time of the same.
    pub system: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Context switches it asked for.
    pub voluntary: u64,
    /// Context switches it suffered.
    pub involuntary: u64,
    /// Resident size of its largest process in KiB.
    pub maxrss_kib: u64,
    /// Exit status, or 128 plus the number of the signal that killed it.
    pub status: u64,
    /// The part that is measured, if the command has marked one.
    pub region: Option<Region>,
}

/// The part of an execution that its command has marked, in ns since the common start.
#[derive(Debug, Clone, std::marker::Copy, Default, PartialEq, Eq)]
pub struct Region {
    /// When it began.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

impl Execution {
    /// The time that the execution took, or its region if it has one, in ns.
    pub fn wall(&self) -> u64 {
        let whole = Region { start: self.start, end: self.end };
        let Region { start, end } = self.region.unwrap_or(whole);
        end.saturating_sub(start)
    }
}

impl From<[u64; EXECUTION_NUMBERS]> for Execution {
    fn from(numbers: [u64; EXECUTION_NUMBERS]) -> Execution {
        let [
            round,
            start,
            end,
            user,
            system,
            minor_faults,
            major_faults,
            voluntary,
            involuntary,
            maxrss_kib,
            status,
        ] = numbers;
        Execution {
            round,
            start,
            end,
            user,
            system,
            minor_faults,
            major_faults,
            voluntary,
            involuntary,
            maxrss_kib,
            status,
            region: None,
        }
    }
}

impl TryFrom<Vec<u64>> for Execution {
    type Error = String;

    fn try_from(numbers: Vec<u64>) -> Result<Execution, String> {
        let refusal = || format!("an execution has 11 numbers, or 13, and not {}", numbers.len());

        let (whole, rest) = numbers.split_first_chunk().ok_or_else(refusal)?;
        let region = match *rest {
            [] => None,
            [start, end] => Some(Region { start, end }),
            _ => return Err(refusal()),
        };
        Ok(Execution { region, ..Execution::from(*whole) })
    }
}

impl From<Execution> for Vec<u64> {
    fn from(execution: Execution) -> Vec<u64> {
        let mut numbers = vec![
            execution.round,
            execution.start,
            execution.end,
            execution.user,
            execution.system,
            execution.minor_faults,
            execution.major_faults,
            execution.voluntary,
            execution.involuntary,
            execution.maxrss_kib,
            execution.status,
        ];
        if let Some(region) = execution.region {
            numbers.extend([region.start, region.end]);
        }
        numbers
    }
}

/// A figure that a command of the user's prints.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// The command's name for the figure.
    pub name: String,
    /// Its unit; empty if the command states none.
    pub unit: String,
    /// The kind of number, which says whether more or less is better.
    pub metric: Metric,
    /// The number of copies or threads behind it, if the command states one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copies: Option<u32>,
    /// The round of each execution that printed it, and the number.
    pub rounds: Vec<(u64, f64)>,
    /// The round of each execution that named it without a number, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<(u64, NoValue)>,
}

impl Printed {
    /// True if both are the same figure, of other executions.
    pub fn is_like(&self, other: &Printed) -> bool {
        (&self.name, &self.unit, self.metric, self.copies)
            == (&other.name, &other.unit, other.metric, other.copies)
    }
}

/// Why a benchmark program has no number for one of its figures.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoValue {
    /// The program says that it failed, or what it printed is no number.
    Failed(String),
    /// The program says that it skipped the figure.
    Skipped(String),
}

impl NoValue {
    /// The reason, without whether it failed or was skipped.
    pub fn reason(&self) -> &str {
        match self {
            NoValue::Failed(reason) | NoValue::Skipped(reason) => reason,
        }
    }

    /// A trial of a cell that has this reason in place of a result.
    pub fn to_trial(&self, cell: usize, block: u32) -> Trial {
        let mut trial = Trial { cell, block, ..Trial::default() };
        match self {
            NoValue::Failed(reason) => trial.error = Some(reason.clone()),
            NoValue::Skipped(reason) => trial.skip = Some(reason.clone()),
        }
        trial
    }
}

impl Display for NoValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            NoValue::Failed(reason) => write!(f, "failed: {reason}"),
            NoValue::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

/// A score as another suite printed it, or as an entry of the reference collection has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// In the cell's unit.
    pub value: f64,
    /// The ends of its interval, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
    /// The mean length of a pass.
    pub seconds: f64,
    /// The number of passes.
    pub samples: u32,
}
