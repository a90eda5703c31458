//! A run's journal: a directory with `run.jsonl`, append-only, one JSON object per line.
//!
//! The journal is the product: every count and clock that was measured is in it, and every score is
//! computed from it when a report is made. `docs/format.md` is its specification.
//!
//! ```text
//! {"type":"run","format":"unixmark-run/1",…}     what was asked for
//! {"type":"fact","name":"cpu.model",…}           facts of the machine, one a line
//! {"type":"cell","id":0,"test":"pipe",…}         what will be measured
//! {"type":"trial","cell":0,"block":0,…}          a measurement, as soon as it is there
//! {"type":"end","reason":"complete",…}           unless the run was cut short
//! ```
//!
//! - [`Record`] is a line; [`Run`], [`Fact`], [`Cell`], [`Trial`] and the rest are its types.
//! - [`Writer`] appends lines, [`read`] and [`parse`] read a whole [`Journal`], [`Store`] finds
//!   runs.
//! - A journal may be a stranger's: [`bounds`] limits how much it may have, [`numbers`] how large
//!   its numbers may be. The writer checks its own lines by the same limits.
//! - [`Redactor`] takes out what says whose machine it was.

mod bounds;
mod burnin;
mod cell;
mod counts;
mod energy;
mod evidence;
mod facts;
mod finding;
mod frames;
mod given;
mod key;
mod line;
mod noise;
mod numbers;
mod profile;
mod reader;
mod redact;
mod run;
mod sensors;
mod store;
mod topology;
mod trial;
mod writer;

use serde::{Deserialize, Serialize};

pub use bounds::{MAX_JOURNAL_BYTES, MAX_NAME_BYTES, MAX_PRINTED_FIGURES, check_cells};
pub use burnin::{Beat, BurnIn, Burned, Fault, Pass, Sample, Stage, Word};
pub use catalogue::SamplingUnit;
pub use cell::{Cell, Role, Scale};
pub use counts::Counts;
pub use energy::Energy;
pub use evidence::{Evidence, IN_PLACE_OF, Trail};
pub use facts::{Fact, Facts, InCommon, Quantity};
pub use finding::{Finding, Severity};
pub use frames::{Cause, Frame, Frames, Holders, Latency, Recorder, Schedule};
pub use given::{GivenCommand, title};
pub use key::Key;
pub use line::Line;
pub use noise::Noise;
pub use profile::{Profile, Sampled, SampledFunction, Stack};
pub use reader::{Head, has_trials, head, journal_file, parse, read};
pub use redact::{Redactor, Replaced};
pub use run::{Attempt, Baseline, Build, Ended, NodeId, Procedure, Run, Sort, TimeUnit, View};
pub use sensors::{Reading, SensorKind, SensorLimits};
pub use store::{Listed, Store, read_end, read_run, today};
pub use topology::{Cpu, Topology};
pub use trial::{
    Background, Copy, Execution, NoValue, Printed, Region, Score, Slice, StartTimes, Trial, Usage,
};
pub use writer::Writer;

/// The version of the format that is written; readers take any `unixmark-run/1`.
pub const FORMAT: &str = "unixmark-run/1";

/// The journal's file in the run's directory.
pub const FILE: &str = "run.jsonl";

/// One line of a journal; [`Line::read`] reads it.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The counts of an execution of a command that was not timed.
    Counts(Counts),
    /// Where executions of a command that were not timed spent their processor time.
    Profile(Box<Profile>),
    /// The settings of a burn-in.
    BurnIn(Box<BurnIn>),
    /// The state of a burn-in and the sensors' readings at one moment.
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

/// Something that touches the whole run, or one cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// The cell it touches; absent for the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<usize>,
    /// A sentence for the reader.
    pub text: String,
}

/// The end of a run: its last line.
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
    /// The facts of the system, in order.
    pub facts: Facts,
    /// The cells, by number.
    pub cells: Vec<Cell>,
    /// The trials, in the order they were measured.
    pub trials: Vec<Trial>,
    /// The counts of executions of commands, in their order.
    pub counts: Vec<Counts>,
    /// Where executions of commands spent their processor time, a command after the other.
    pub profiles: Vec<Profile>,
    /// The settings of a burn-in.
    pub burnin: Option<BurnIn>,
    /// The samples of a burn-in, in order.
    pub samples: Vec<Sample>,
    /// Its faults, in order.
    pub faults: Vec<Fault>,
    /// Its passes, in order.
    pub passes: Vec<Pass>,
    /// Warnings for the reader.
    pub warnings: Vec<Warning>,
    /// The last line, unless the run was cut short.
    pub end: Option<End>,
}

impl Journal {
    /// The lines of the journal, in an order in which it can be read.
    pub fn records(&self) -> Vec<Record> {
        let mut records = vec![Record::Run(Box::new(self.run.clone()))];
        records.extend(self.facts.iter().cloned().map(Record::Fact));
        records.extend(self.cells.iter().cloned().map(|cell| Record::Cell(Box::new(cell))));
        records.extend(self.burnin.iter().cloned().map(|burnin| Record::BurnIn(Box::new(burnin))));
        records.extend(self.trials.iter().cloned().map(|trial| Record::Trial(Box::new(trial))));
        records.extend(self.counts.iter().cloned().map(Record::Counts));
        let profiles = self.profiles.iter().cloned();
        records.extend(profiles.map(|profile| Record::Profile(Box::new(profile))));
        records.extend(self.samples.iter().cloned().map(|sample| Record::Sample(Box::new(sample))));
        records.extend(self.faults.iter().cloned().map(|fault| Record::Fault(Box::new(fault))));
        records.extend(self.passes.iter().cloned().map(Record::Pass));
        records.extend(self.warnings.iter().cloned().map(Record::Warning));
        records.extend(self.end.clone().map(Record::End));
        records
    }
}

/// True if a field can be left out; serde asks with a reference.
fn is_zero(number: &u64) -> bool {
    *number == 0
}
