//! Settings of the machine that are switched around a trial, and put back after it.
//!
//! Entering a condition writes to the [`Ledger`] how each change is undone, and only then makes it. Leaving undoes the
//! ledger, newest first; so does the guardian when the tool is killed, and `unixmark restore` when both are.
//! Every switch is proved: a condition that cannot show that it was on is an error, never a silent "costs nothing".
//! Control groups that loads join are made and undone the same way.

mod audit;
mod beside;
mod cgroup;
mod command;
mod compiler;
mod file;
mod holders;
mod ledger;
mod mount;
mod scope;
mod seccomp;
mod shield;
mod tracing;

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};

use catalogue::{CgroupLimit, Condition, Means, Need, Switch};
use files::Lock;
use journal::{Evidence, Trial};
use machine::Machine;
use processes::Signals;

pub use audit::{Flush, Sink, TrailSettings};
pub use command::Commands;
pub use holders::Watch;
pub use ledger::{
    Ledger, Leftover, Restored, SCRATCH, Survey, Undo, forget, not_undone, remove_scratch, remove_tree, restore, survey,
};

/// The name of the lock by which one experiment at a time may switch anything. It lies where nobody but
/// this user can take it.
const LOCK: &str = "conditions.lock";

/// Takes that lock.
///
/// # Errors
/// Another run has it.
pub fn lock() -> anyhow::Result<Lock> {
    let path = local_folder()?.join(LOCK);
    let lock = Lock::try_take(&path).with_context(|| format!("{} cannot be locked", path.display()))?;
    lock.context("another unixmark is switching conditions on this machine, or limits a load; wait until it has ended")
}

/// Returns a directory on this host for this user's locks: home directories may be shared between hosts.
///
/// # Errors
/// None can be made.
pub fn local_folder() -> anyhow::Result<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return files::temporary().map_err(anyhow::Error::msg);
    }
    let here = ledger::Here::new()?;
    here.make().with_context(|| format!("{} cannot be made", here.folder().display()))?;
    Ok(here.folder().to_path_buf())
}

/// Returns the folder of this user's ledgers.
///
/// # Errors
/// There is no home, and no temporary directory for this user alone.
pub fn ledger_folder() -> anyhow::Result<PathBuf> {
    Ok(ledger::Here::new()?.folder().to_path_buf())
}

/// The reason why a condition was not entered, or a trial has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not available on this machine, or not with these rights.
    Unavailable(String),
    /// It should have worked and did not.
    Failed(String),
    /// Nothing can be measured any more, as on a full disk.
    Fatal(String),
    /// A signal came.
    Stopped,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unavailable(why) | Refusal::Failed(why) | Refusal::Fatal(why) => f.write_str(why),
            Refusal::Stopped => f.write_str("it was interrupted"),
        }
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal::Failed(why)
    }
}

impl From<&str> for Refusal {
    fn from(why: &str) -> Refusal {
        Refusal::Failed(why.to_owned())
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Refusal {
        Refusal::Failed(format!("{error:#}"))
    }
}

/// The user's wishes for all conditions of a run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The directory of trails and file systems.
    pub scratch: PathBuf,
    /// The settings of the trail of auditing.
    pub trail: TrailSettings,
    /// The longest time that a command may take to enter, prove or leave a condition.
    pub patience: Duration,
    /// True if the scheduler is traced, to say who held the processor while frames were late.
    pub why: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            scratch: PathBuf::new(),
            trail: TrailSettings::default(),
            patience: Duration::from_secs(60),
            why: false,
        }
    }
}

/// The start of a trial's programs as a condition wants it.
#[derive(Debug, Default)]
pub struct Staging {
    /// Further arguments of the measured programs and their load.
    pub args: Vec<String>,
    /// The words that start the programs, before their path: the first is an absolute path.
    pub prefix: Vec<String>,
    /// The directory where the programs work, in place of the trial's.
    pub folder: Option<PathBuf>,
    /// Control groups that the programs and their load join; the ledger removes them.
    pub cgroups: Vec<PathBuf>,
    /// The same of groups that the load does not join.
    pub own_cgroups: Vec<PathBuf>,
    /// A test that runs beside the programs as loads do and counts what it sees, with further arguments.
    pub companion: Option<(String, Vec<String>)>,
    /// The build of the programs: `cc=NAME` or `build=NAME`.
    pub build: Option<String>,
}

/// A trial whose programs have ended.
pub struct FinishedTrial<'a> {
    /// The reports of its copies.
    pub trial: &'a Trial,
    /// The window, CLOCK_MONOTONIC in ns.
    pub window: Range<u64>,
    /// The companion's count.
    pub companion: Option<f64>,
    /// Runs what proves a condition.
    pub commands: Commands<'a>,
}

/// Proves, after the programs have ended, that a switch was on while they ran, and adds what it
/// produced to the evidence.
type Proof = Box<dyn FnMut(&mut FinishedTrial<'_>, &mut Evidence) -> Result<(), Refusal>>;

/// The means to enter a switch.
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The user's wishes.
    pub settings: &'a Settings,
    /// The ledger, which gets the undo of each change before that is made.
    pub ledger: &'a mut Ledger,
    /// The start of the programs.
    pub staging: &'a mut Staging,
    /// The trial's directory.
    pub folder: &'a Path,
    /// Signals that interrupt what takes long.
    pub signals: Option<&'a Signals>,
}

impl Context<'_> {
    fn commands(&mut self) -> Commands<'_> {
        Commands { ledger: self.ledger, signals: self.signals, limit: self.settings.patience }
    }
}

/// A condition that is on; by default the machine as found.
#[derive(Default)]
pub struct Entered {
    /// The start of the programs.
    pub staging: Staging,
    proofs: Vec<(Arc<Switch>, Proof)>,
}

/// The means of a run to leave nothing behind: its ledger, and the lock of those that switch conditions. A machine has one such
/// experiment at a time.
pub struct Experiment {
    settings: Settings,
    /// A run that switches nothing does without one where none can be made.
    ledger: Option<Ledger>,
    signals: Option<Rc<Signals>>,
    lock: Option<Lock>,
}

/// Files by which another process holds an experiment's ledger and its lock.
#[derive(Debug)]
pub struct Handles {
    /// The ledger's path; empty without one.
    pub path: PathBuf,
    /// The ledger.
    pub ledger: Option<File>,
    /// The lock of those that switch conditions.
    pub lock: Option<File>,
}

impl Experiment {
    /// Starts an experiment.
    ///
    /// # Errors
    /// Another one is running, an earlier one was not put back, or the ledger cannot be written.
    pub fn begin(settings: Settings) -> anyhow::Result<Experiment> {
        let lock = lock()?;
        let survey = survey()?;
        if let Some(why) = survey.unreadable.first() {
            bail!("{why}");
        }
        if let Some(left) = survey.left.iter().find(|left| left.steps.iter().any(Undo::is_change)) {
            bail!(
                "an earlier run was killed and left changes behind ({}); `unixmark restore` undoes them",
                left.path.display()
            );
        }
        Ok(Experiment { settings, ledger: Some(Ledger::open()?), signals: None, lock: Some(lock) })
    }

    /// Returns what a run has that switches nothing.
    #[must_use]
    pub fn passive() -> Experiment {
        Experiment { settings: Settings::default(), ledger: Ledger::open().ok(), signals: None, lock: None }
    }

    /// Returns what another process inherits that is to undo the ledger.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn handles(&self) -> std::io::Result<Handles> {
        let ledger = self.ledger.as_ref();
        Ok(Handles {
            path: ledger.map(Ledger::path).unwrap_or_default(),
            ledger: ledger.map(Ledger::handle).transpose()?,
            lock: self.lock.as_ref().map(Lock::handle).transpose()?,
        })
    }

    /// Has commands hear signals.
    pub fn hear(&mut self, signals: Rc<Signals>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.hear(Rc::clone(&signals));
        }
        self.signals = Some(signals);
    }

    /// Records a scratch directory that is about to be made.
    ///
    /// # Errors
    /// A sentence: it cannot be recorded.
    pub fn record_scratch(&mut self, path: &Path) -> Result<(), String> {
        let ledger = self.ledger.as_mut();
        ledger.map_or(Ok(()), |ledger| ledger.record(&Undo::RemoveScratch { path: path.to_path_buf() }).map(drop))
    }

    /// Enters a condition for a trial in `folder`, with `scratch` for what is not the programs'. It must be left even if this
    /// fails.
    ///
    /// # Errors
    /// It is not available here, or did not work.
    pub fn enter(
        &mut self,
        condition: &Condition,
        machine: &Machine,
        scratch: &Path,
        folder: &Path,
    ) -> Result<Entered, Refusal> {
        self.settings.scratch = scratch.to_path_buf();
        let signals = self.signals.clone();
        let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
        enter(condition, machine, &self.settings, ledger, folder, signals.as_deref())
    }

    /// Makes control groups with `limits` for a load, which also joins those of its condition. They go when the condition is
    /// left.
    ///
    /// # Errors
    /// They cannot be made here.
    pub fn load_cgroups(
        &mut self,
        limits: &[CgroupLimit],
        machine: &Machine,
        condition: &[PathBuf],
    ) -> Result<Vec<PathBuf>, Refusal> {
        if !limits.is_empty() && !condition.is_empty() && machine::cgroup::levels(machine, "cpu").0 {
            let why = "under cgroup version 2 a load cannot be in a cgroup of its own and in its condition's";
            return Err(Refusal::Unavailable(why.to_owned()));
        }
        let mut groups = Vec::new();
        for limit in limits {
            let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
            cgroup::limit(machine, *limit, machine::cgroup::controller(*limit), &mut groups, ledger)?;
        }
        Ok(groups)
    }

    /// Begins to trace the scheduler for these programs; `None` unless that is asked for.
    ///
    /// # Errors
    /// The kernel cannot, or the ledger cannot be written.
    pub fn watch(&mut self, programs: &[u32], machine: &Machine) -> Result<Option<Watch>, Refusal> {
        if !self.settings.why {
            return Ok(None);
        }
        let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
        Watch::begin(programs, machine, ledger).map(Some)
    }

    /// Proves that a condition was on during a trial, and returns what it produced; `None` if nothing was switched.
    ///
    /// # Errors
    /// It is not proved, or a signal came.
    pub fn prove(
        &mut self,
        entered: &mut Entered,
        trial: &Trial,
        window: Range<u64>,
        companion: Option<f64>,
    ) -> Result<Option<Evidence>, Refusal> {
        if entered.proofs.is_empty() {
            return Ok(None);
        }
        let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
        let commands = Commands { ledger, signals: self.signals.as_deref(), limit: self.settings.patience };
        entered.prove(&mut FinishedTrial { trial, window, companion, commands }).map(Some)
    }

    /// Undoes everything that was changed around a trial.
    ///
    /// # Errors
    /// Something could not be undone: the run must not go on.
    pub fn leave(&mut self) -> anyhow::Result<()> {
        self.ledger.as_mut().map_or(Ok(()), Ledger::put_back)
    }

    /// Undoes everything, and removes the scratch directory and the ledger.
    ///
    /// # Errors
    /// Something could not be undone.
    pub fn end(&mut self) -> anyhow::Result<()> {
        self.ledger.as_mut().map_or(Ok(()), Ledger::close)
    }
}

fn no_ledger() -> Refusal {
    Refusal::Failed("there is no ledger, so nothing may be changed".to_owned())
}

/// Enters a condition. How to undo what was changed is in the ledger, even if this fails.
///
/// # Errors
/// It is not available here, or did not work.
pub fn enter(
    condition: &Condition,
    machine: &Machine,
    settings: &Settings,
    ledger: &mut Ledger,
    folder: &Path,
    signals: Option<&Signals>,
) -> Result<Entered, Refusal> {
    let mut staging = Staging::default();
    let mut proofs = Vec::new();
    for (switch, level) in &condition.parts {
        let enter = ready(switch, level, machine).map_err(Refusal::Unavailable)?;
        let mut context = Context { machine, settings, ledger, staging: &mut staging, folder, signals };
        let mounted = match switch.needs.contains(&Need::Tracefs) {
            true => tracing::mount(machine, context.ledger),
            false => Ok(()),
        };
        let entered = mounted.and_then(|()| enter(&mut context)).map_err(|refusal| match refusal {
            Refusal::Failed(why) => Refusal::Failed(format!("{} could not be switched: {why}", switch.id)),
            Refusal::Unavailable(why) => Refusal::Unavailable(format!("{}: {why}", switch.id)),
            Refusal::Fatal(why) => Refusal::Fatal(format!("{}: {why}", switch.id)),
            Refusal::Stopped => Refusal::Stopped,
        })?;
        proofs.push((Arc::clone(switch), entered));
    }
    Ok(Entered { staging, proofs })
}

/// Checks that a switch can be set to a level here, and changes nothing.
///
/// # Errors
/// A sentence saying why it cannot.
pub fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<(), String> {
    ready(switch, level, machine).map(drop)
}

/// Returns why a condition is not available here; `None` if it is.
#[must_use]
pub fn missing(condition: &Condition, machine: &Machine) -> Option<String> {
    condition.parts.iter().find_map(|(switch, level)| available(switch, level, machine).err())
}

/// Returns what a condition leaves behind until the machine is started again; `None` if that is nothing, or there already.
#[must_use]
pub fn lasting<'a>(condition: &'a Condition, machine: &Machine) -> Option<&'a str> {
    condition.parts.iter().find_map(|(switch, level)| {
        let leaves = switch.leaves.as_deref()?;
        let is_first = switch.level(level).is_some_and(|level| level.first);
        let mut before = switch.levels.iter().filter(|level| level.first);
        (!is_first && before.all(|level| available(switch, &level.id, machine).is_ok())).then_some(leaves)
    })
}

/// Enters a switch at a level that is available here.
type Enter<'a> = Box<dyn FnOnce(&mut Context<'_>) -> Result<Proof, Refusal> + 'a>;

/// Checks that a switch can be set to a level here, and returns what does it.
fn ready<'a>(switch: &'a Switch, level: &'a str, machine: &Machine) -> Result<Enter<'a>, String> {
    machine::unmet(machine, &switch.needs).map_or(Ok(()), Err)?;
    Ok(match switch.means {
        Means::File => {
            file::available(switch, level, machine)?;
            Box::new(move |context| file::enter(switch, level, context))
        }
        Means::Cgroup => {
            let limit = cgroup::available(switch, level, machine)?;
            Box::new(move |context| cgroup::enter(switch, limit, context))
        }
        Means::Shield => {
            let shield = shield::available(level, machine)?;
            Box::new(move |context| shield::enter(shield, context))
        }
        Means::Mount => {
            mount::available(level, machine)?;
            Box::new(move |context| mount::enter(level, context))
        }
        Means::Build => {
            compiler::available(switch, level)?;
            Box::new(move |context| Ok(compiler::enter(switch, level, context)?))
        }
        Means::Audit => {
            let ready = audit::ready(switch, level, machine)?;
            Box::new(move |context| audit::enter(ready, context))
        }
        Means::Command => Box::new(move |context| command::enter(switch, level, context)),
        Means::Seccomp => {
            let filter = seccomp::filter(level)?;
            Box::new(move |context| seccomp::enter(switch, (level, filter), context))
        }
        Means::Argument => Box::new(move |context| Ok(beside::enter_argument(switch, level, context))),
        Means::Beside => Box::new(move |context| beside::enter(switch, level, context)),
        Means::Tracing => Box::new(tracing::enter),
        Means::Nothing => Box::new(|_| Err(Refusal::Failed("there is nothing to switch".to_owned()))),
    })
}

impl Entered {
    /// Proves that everything was on, and returns what it produced.
    ///
    /// # Errors
    /// It is not proved, or a signal came.
    pub fn prove(&mut self, finished: &mut FinishedTrial<'_>) -> Result<Evidence, Refusal> {
        let mut evidence = Evidence::default();
        for (switch, prove) in &mut self.proofs {
            prove(finished, &mut evidence).map_err(|refusal| match refusal {
                _ if finished.commands.are_interrupted() => Refusal::Stopped,
                Refusal::Fatal(why) => Refusal::Fatal(format!("{}: {why}", switch.id)),
                why => Refusal::Failed(format!("{} was not in effect, so its cost was not measured: {why}", switch.id)),
            })?;
        }
        Ok(evidence)
    }
}
