//! The request of a verb: what to measure ([`Ask`]), where to keep it ([`Setup`]), and who watches
//! ([`Observer`]).

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use analysis::{Better, CountLimit};
use build::BuildKind;
use conditions::TrailSettings;
use interop::harness::{Harness, Tail};
use journal::{Attempt, Baseline, Finding, Sort, Store, TimeUnit, View};
use plan::Matrix;
use runner::{BurnEvent, Event};

/// A program may be silent for this long, unless the user says otherwise.
const DEFAULT_PATIENCE: Duration = Duration::from_secs(60);

/// A question about the machine: what to measure, when that is enough, and what makes it a failure.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Tests, copies, loads and arms, and the procedure by which they are measured.
    pub matrix: Matrix,
    /// The subject of the report.
    pub view: View,
    /// The indexes to show; the usual ones if this is empty.
    pub indexes: Vec<String>,
    /// The scores with which an index compares.
    pub baseline: Option<Baseline>,
    /// How the trail of auditing is kept.
    pub trail: TrailSettings,
    /// A loss of this many per cent is measured again, and then is a failure.
    pub gate: Option<f64>,
    /// A loss of a quantile of this many per cent is a failure.
    pub tail_gate: Option<f64>,
    /// True if a run that neither shows nor rules out that loss is a failure too.
    pub is_gate_strict: bool,
    /// Limits of what commands may do more often than the first command.
    pub limits: Vec<CountLimit>,
    /// A command that prints the joules so far, in place of the machine's own counters.
    pub meter: Option<String>,
    /// The reader of the figures that commands print; `None` if they print none.
    pub harness: Option<Harness>,
    /// The quantile that is taken of lists of figures and of histograms.
    pub tail: Option<Tail>,
    /// The directions in which the user says that these figures are better.
    pub better: Vec<Better>,
    /// The unit of commands' times in reports for people.
    pub time_unit: Option<TimeUnit>,
    /// The order of commands in hyperfine's tables and summary.
    pub sort: Option<Sort>,
    /// True if the user said which command the others are compared with.
    pub has_reference: bool,
    /// What `doctor` found, of a card.
    pub findings: Vec<Finding>,
    /// True if the scheduler is traced, to say what delayed frames.
    pub why: bool,
    /// True if conditions may change settings that cannot be undone.
    pub may_last: bool,
    /// True if graphics tests draw on a private X server.
    pub xvfb: bool,
    /// True if the run is removed after it was shown.
    pub discard: bool,
}

impl Ask {
    /// True if a loss or a count can make the run a failure.
    pub fn is_gated(&self) -> bool {
        self.gate.is_some() || self.tail_gate.is_some() || !self.limits.is_empty()
    }
}

/// Where a run works and is kept, whatever it measures.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The directory of runs.
    pub store: Store,
    /// The directory below which the programs work.
    pub dir: PathBuf,
    /// How the programs are built; `None` is native if there is a compiler.
    pub build: Option<BuildKind>,
    /// The longest silence of a program.
    pub patience: Duration,
    /// True if the kernel's whole command line is kept.
    pub all_facts: bool,
    /// True if a skipped test is a failure.
    pub strict: bool,
    /// A comment that names the run in reports and lists.
    pub comment: String,
    /// The words of the command line.
    pub arguments: Vec<String>,
    /// The attempt of a fleet's node, if the run is one. It needs the host alone.
    pub fleet: Option<Attempt>,
    /// True if the journal is also written to stdout.
    pub emit: bool,
    /// The terminal that is drawn on as a whole, to be given back even if the tool is killed.
    pub screen: Option<PathBuf>,
}

impl Setup {
    /// The usual setup of a run whose programs work in `dir`.
    pub fn new(store: Store, dir: PathBuf) -> Setup {
        Setup {
            store,
            dir,
            build: None,
            patience: DEFAULT_PATIENCE,
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

/// Watches a run.
pub trait Observer {
    /// The run has begun under this name.
    ///
    /// # Errors
    /// The observer cannot show it; nothing is measured.
    fn began(&mut self, name: &str) -> Result<()>;

    /// A remark about the whole run, before its first trial or after its last.
    fn warned(&mut self, text: &str);

    /// An event of a run.
    fn happened(&mut self, _event: &Event<'_>) {}

    /// An event of a burn-in.
    fn burned(&mut self, _event: &BurnEvent<'_>) {}
}
