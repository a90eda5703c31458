//! The data of one measurement.

use std::collections::BTreeMap;

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
    /// Proofs that the cell's condition was on, and its products.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
    /// True if it belongs to the second look at what was suspected of a loss.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub second: bool,
    /// How late the last copy began, in ns, in each try whose copies shared too little of the window. The last of these
    /// is the trial itself if no better one followed.
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
}

impl Trial {
    /// Returns when the last copy began, in ns since the common start.
    pub fn last_start(&self) -> u64 {
        self.copies.iter().filter_map(|copy| Some(copy.slices.first()?.start)).max().unwrap_or(0)
    }
}

/// The report of one copy of a program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Copy {
    /// Its slices in order.
    pub slices: Vec<Slice>,
    /// The number of its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Other numbers it measured, with their units.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, (f64, String)>,
    /// Its answers, all right.
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
    /// Executions of a command of the user's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executions: Vec<Execution>,
    /// Figures that these printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub printed: Vec<Printed>,
    /// Its remarks on its numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Copy {
    /// Returns all the histograms that it has.
    pub(crate) fn histograms(&self) -> impl Iterator<Item = &Histogram> {
        self.times.as_deref().into_iter().chain(self.frames.as_deref().into_iter().flat_map(Frames::histograms))
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
    /// Returns its length in ns.
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

/// One execution of a command in a process of its own. Times are in ns, from the common start.
#[derive(Debug, Clone, std::marker::Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[u64; 11]", into = "[u64; 11]")]
pub struct Execution {
    /// The round of its window: executions of a round are neighbours in time.
    pub round: u64,
    /// When it was started.
    pub start: u64,
    /// When it had ended.
    pub end: u64,
    /// User time of the command and of the children it waited for.
    pub user: u64,
    /// System time of these.
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
}

impl Execution {
    /// Returns how long it took, in ns.
    pub fn wall(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

impl From<[u64; 11]> for Execution {
    fn from(numbers: [u64; 11]) -> Execution {
        let [round, start, end, user, system, minor_faults, major_faults, voluntary, involuntary, maxrss_kib, status] =
            numbers;
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
        }
    }
}

impl From<Execution> for [u64; 11] {
    fn from(one: Execution) -> [u64; 11] {
        [
            one.round, one.start, one.end, one.user, one.system, one.minor_faults, one.major_faults, one.voluntary,
            one.involuntary, one.maxrss_kib, one.status,
        ]
    }
}

/// A figure that a command of the user's prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Printed {
    /// The command's own name for it.
    pub name: String,
    /// Empty where it says none.
    pub unit: String,
    /// Its direction: a rate, or a time.
    pub metric: Metric,
    /// The round of each execution that printed it, and the number.
    pub rounds: Vec<(u64, f64)>,
}

/// A score as another suite printed it, or as an entry of the reference collection has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// In the cell's unit.
    pub value: f64,
    /// The ends of its interval, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<[f64; 2]>,
    /// Mean length of a pass.
    pub seconds: f64,
    /// Passes behind it.
    pub samples: u32,
}
