//! What is switched on the machine around a trial, and put back after it.
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
mod ledger;
mod mount;
mod tracing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;

use catalogue::{CgroupLimit, Condition, Means, Switch};
use journal::{Evidence, Trial};
use machine::{Lock, Machine};

pub use ::audit::{Flush, Sink, TrailSettings};
pub use ledger::{Ledger, Leftovers, Undo, folder as ledger_folder, leftovers, restore};

/// Takes the lock by which one experiment at a time may switch anything on the machine.
///
/// # Errors
/// Another run has it.
pub fn lock() -> anyhow::Result<Lock> {
    let lock = Lock::take("unixmark-conditions").context("the lock of conditions cannot be taken")?;
    lock.context("another unixmark is switching conditions on this machine, or limits a load; wait until it has ended")
}

/// Why a condition was not entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is not available on this machine, or not with these rights.
    Unavailable(String),
    /// It should have worked and did not.
    Failed(String),
    /// Nothing can be measured any more, as on a full disk.
    Fatal(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Refusal::Unavailable(why) | Refusal::Failed(why) | Refusal::Fatal(why)) = self;
        f.write_str(why)
    }
}

impl From<String> for Refusal {
    fn from(why: String) -> Refusal {
        Refusal::Failed(why)
    }
}

/// What the user asked for, for all conditions of a run.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Where trails and file systems are put.
    pub scratch: PathBuf,
    /// How the trail of auditing is kept.
    pub trail: TrailSettings,
}

/// How a condition has the runner start the programs of a trial.
#[derive(Debug, Default)]
pub struct Staging {
    /// Further arguments of the measured programs and their load.
    pub args: Vec<String>,
    /// The words that start the programs, before their path: the first is an absolute path.
    pub prefix: Vec<String>,
    /// Where the programs work, in place of the trial's directory.
    pub folder: Option<PathBuf>,
    /// Control groups that the programs join; the ledger removes them.
    pub cgroups: Vec<PathBuf>,
    /// A test that runs beside the programs as loads do and counts what it sees, with further arguments.
    pub companion: Option<(String, Vec<String>)>,
    /// The build of the programs: `cc=NAME` or `build=NAME`.
    pub build: Option<String>,
}

/// What is known of a trial when its programs have ended.
#[derive(Debug)]
pub struct FinishedTrial<'a> {
    /// What its copies reported.
    pub trial: &'a Trial,
    /// When the window opened, CLOCK_MONOTONIC in ns.
    pub start: u64,
    /// When it closed.
    pub end: u64,
    /// What the companion counted.
    pub companion: Option<f64>,
}

/// One switch that is on.
pub trait Active {
    /// Proves, after the programs have ended, that it was on while they ran, and adds what it produced to `evidence`.
    ///
    /// # Errors
    /// A sentence saying why that is not proved.
    fn prove(&mut self, finished: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String>;

    /// Whether what was not proved makes all further trials pointless, as a full disk does.
    fn is_fatal(&self) -> bool {
        false
    }
}

/// What entering a switch has at hand.
pub struct Context<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// What the user asked for.
    pub settings: &'a Settings,
    /// Where it is written how each change is undone, before it is made.
    pub ledger: &'a mut Ledger,
    /// How the runner starts the programs.
    pub staging: &'a mut Staging,
    /// The trial's directory.
    pub folder: &'a Path,
}

/// A condition that is on; by default the machine as found.
#[derive(Default)]
pub struct Entered {
    /// How the runner starts the programs.
    pub staging: Staging,
    active: Vec<(Arc<Switch>, Box<dyn Active>)>,
}

/// What a run needs to change the machine around its trials. A machine has one experiment at a time.
#[derive(Debug)]
pub struct Experiment {
    settings: Settings,
    ledger: Ledger,
    _lock: Lock,
}

impl Experiment {
    /// Starts an experiment.
    ///
    /// # Errors
    /// Another one is running, an earlier one was not put back, or the ledger cannot be written.
    pub fn begin(settings: Settings) -> anyhow::Result<Experiment> {
        Ok(Experiment { settings, _lock: lock()?, ledger: Ledger::open()? })
    }

    /// Returns the ledger's file.
    #[must_use]
    pub fn ledger(&self) -> &Path {
        self.ledger.path()
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
        enter(condition, machine, &self.settings, &mut self.ledger, folder)
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
        if !limits.is_empty() && !condition.is_empty() && machine::cgroups_above(machine, "cpu").0 {
            let why = "under cgroup version 2 a load cannot be in a cgroup of its own and in its condition's";
            return Err(Refusal::Unavailable(why.to_owned()));
        }
        let mut groups = Vec::new();
        for limit in limits {
            cgroup::limit(machine, *limit, machine::cgroup_controller(*limit), &mut groups, &mut self.ledger)?;
        }
        Ok(groups)
    }

    /// Undoes everything that was changed.
    ///
    /// # Errors
    /// Something could not be undone: the run must not go on.
    pub fn leave(&mut self) -> anyhow::Result<()> {
        self.ledger.put_back()
    }
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
) -> Result<Entered, Refusal> {
    let mut staging = Staging::default();
    let mut active = Vec::new();
    for (switch, level) in &condition.parts {
        let enter = ready(switch, level, machine).map_err(Refusal::Unavailable)?;
        let mut context = Context { machine, settings, ledger, staging: &mut staging, folder };
        let entered = enter(&mut context).map_err(|refusal| match refusal {
            Refusal::Failed(why) => Refusal::Failed(format!("{} could not be switched: {why}", switch.id)),
            Refusal::Unavailable(why) => Refusal::Unavailable(format!("{}: {why}", switch.id)),
            Refusal::Fatal(why) => Refusal::Fatal(format!("{}: {why}", switch.id)),
        })?;
        active.push((Arc::clone(switch), entered));
    }
    Ok(Entered { staging, active })
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
type Enter<'a> = Box<dyn FnOnce(&mut Context<'_>) -> Result<Box<dyn Active>, Refusal> + 'a>;

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
        Means::Command => Box::new(move |context| command::enter(switch, context)),
        Means::Argument => Box::new(move |context| Ok(beside::enter_argument(switch, level, context))),
        Means::Beside => Box::new(move |context| beside::enter(switch, level, context)),
        Means::Tracing => Box::new(tracing::enter),
        Means::Nothing => Box::new(|_| Err(Refusal::Failed("there is nothing to switch".to_owned()))),
    })
}

impl Entered {
    /// Proves that everything was on, and returns what it produced; `None` if nothing was switched.
    ///
    /// # Errors
    /// What is not proved.
    pub fn prove(&mut self, finished: &FinishedTrial<'_>) -> Result<Option<Evidence>, Refusal> {
        if self.active.is_empty() {
            return Ok(None);
        }
        let mut evidence = Evidence::default();
        for (switch, active) in &mut self.active {
            active.prove(finished, &mut evidence).map_err(|why| match active.is_fatal() {
                true => Refusal::Fatal(format!("{}: {why}", switch.id)),
                false => {
                    Refusal::Failed(format!("{} was not in effect, so its cost was not measured: {why}", switch.id))
                }
            })?;
        }
        Ok(Some(evidence))
    }
}
