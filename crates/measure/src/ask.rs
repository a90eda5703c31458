//! The request of a verb.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use analysis::CountLimit;
use build::BuildKind;
use conditions::TrailSettings;
use interop::harness::Harness;
use journal::{Attempt, Baseline, Store, TimeUnit, View};
use plan::Matrix;
use runner::{BurnEvent, Event};

/// The time that a silent program has, unless the user gives it another.
const PATIENCE: Duration = Duration::from_secs(60);

/// A question about the machine: what is measured, when that is enough, and what makes it a failure.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Tests, copies, loads and arms, and the procedure by which they are measured.
    pub matrix: Matrix,
    /// The report's subject.
    pub view: View,
    /// The indexes to show; the usual ones if this is empty.
    pub indexes: Vec<String>,
    /// The scores that make an index.
    pub baseline: Option<Baseline>,
    /// How the trail of auditing is kept.
    pub trail: TrailSettings,
    /// The loss, in per cent, that is measured again and then is a failure.
    pub gate: Option<f64>,
    /// True if a run that neither shows nor rules out that loss is no success.
    pub is_gate_strict: bool,
    /// The limits of what commands may do more often than the first.
    pub limits: Vec<CountLimit>,
    /// A command that prints the joules so far, in place of the machine's own counters.
    pub meter: Option<String>,
    /// The reader of the figures that commands print; `None` if they print none.
    pub harness: Option<Harness>,
    /// The unit of commands' times in reports for people.
    pub time_unit: Option<TimeUnit>,
    /// True if the scheduler is traced, to say what held late frames up.
    pub why: bool,
    /// True if graphics tests draw on a private X server.
    pub xvfb: bool,
    /// True if the run is removed once it was shown.
    pub discard: bool,
}

/// Where a run works and is kept, whatever it measures.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The directory of runs.
    pub store: Store,
    /// Under which directory the programs work.
    pub dir: PathBuf,
    /// How the programs are built; `None` is native if there is a compiler.
    pub build: Option<BuildKind>,
    /// How long to wait for a program that stays silent.
    pub patience: Duration,
    /// True if the kernel's whole command line is kept.
    pub all_facts: bool,
    /// True if a skipped test is a failure.
    pub strict: bool,
    /// Its comment, which names the run in reports and lists.
    pub comment: String,
    /// The words of the command line.
    pub arguments: Vec<String>,
    /// The attempt of a fleet's node that the run is, which needs the host alone.
    pub fleet: Option<Attempt>,
    /// True if the journal is also written to stdout.
    pub emit: bool,
    /// The terminal that is drawn on as a whole, to be given back even if the tool is killed.
    pub screen: Option<PathBuf>,
}

impl Setup {
    /// Returns the usual setup of a run whose programs work in `dir`.
    pub fn new(store: Store, dir: PathBuf) -> Setup {
        Setup {
            store,
            dir,
            build: None,
            patience: PATIENCE,
            all_facts: false,
            strict: false,
            comment: String::new(),
            arguments: Vec::new(),
            fleet: None,
            emit: false,
            screen: None,
        }
    }
}

/// Whoever watches a run.
pub trait Observer {
    /// The run has begun under this name.
    ///
    /// # Errors
    /// It cannot be shown, and so is not measured.
    fn began(&mut self, name: &str) -> Result<()>;

    /// Something about the whole run should be known, before its first trial or after its last.
    fn warned(&mut self, text: &str);

    /// A trial begins or has ended.
    fn happened(&mut self, _event: &Event<'_>) {}

    /// A burn-in goes on.
    fn burned(&mut self, _event: &BurnEvent<'_>) {}
}
