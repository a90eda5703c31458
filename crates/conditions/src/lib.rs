//! Settings of the machine that are switched around a trial, and put back after it.
//!
//! A condition is a list of switches of the catalogue, each at a level. Each kind of switch
//! ([`Means`]) has a module here. Its `available`, where the kind can be missing, says whether a
//! level can be had on this machine, and changes nothing. Its `enter` switches, and returns a
//! [`Proof`].
//!
//! 1. [`enter`] writes to the [`Ledger`] how each change is undone, and only then makes it.
//! 2. After the programs have ended, [`Entered::prove`] has every switch show that it was on while
//!    they ran: what cannot be shown is an error, never a silent "costs nothing".
//! 3. Leaving undoes the ledger, newest first; so does the guardian when the tool is killed, and
//!    `unixmark restore` when both are.
//!
//! [`Experiment`] takes these steps for a run.

mod audit;
mod beside;
mod cgroup;
mod command;
mod compiler;
mod experiment;
mod file;
mod holders;
mod ledger;
mod mount;
mod own;
mod scope;
mod seccomp;
mod shield;
mod slow;
mod tracing;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;

use catalogue::{Condition, Means, Need, Switch};
use files::Lock;
use journal::{Evidence, Trial};
use machine::Machine;
use processes::Signals;

pub use audit::{Flush, Sink, TrailSettings};
pub use command::Commands;
pub use experiment::{Experiment, Handles};
pub use holders::Watch;
pub use ledger::{
    Ledger, Leftover, Restored, SCRATCH, Survey, Undo, forget, not_undone, remove_scratch,
    remove_tree, restore, survey,
};

/// The name of the lock by which one experiment at a time may switch anything. It lies where nobody
/// but this user can take it.
const LOCK: &str = "conditions.lock";

/// Takes the lock by which one experiment at a time may switch anything.
///
/// # Errors
/// Another run has it.
pub fn lock() -> anyhow::Result<Lock> {
    let path = local_folder()?.join(LOCK);
    let lock =
        Lock::try_take(&path).with_context(|| format!("{} cannot be locked", path.display()))?;
    lock.context("another unixmark is switching conditions on this machine, or limits a load; wait until it has ended")
}

/// A directory on this host for this user's locks: home directories may be shared between
/// hosts.
///
/// # Errors
/// None can be made.
pub fn local_folder() -> anyhow::Result<PathBuf> {
    if !rustix::process::geteuid().is_root() {
        return files::temporary().map_err(anyhow::Error::msg);
    }

    let here = ledger::Here::new()?;
    here.make().with_context(|| {
        format!(
            "{} cannot be written, and root's locks and ledgers are nowhere else; make room or make it writable",
            here.folder().display()
        )
    })?;
    Ok(here.folder().to_path_buf())
}

/// The folder of this user's ledgers.
///
/// # Errors
/// There is no home, and no temporary directory for this user alone.
pub fn ledger_folder() -> anyhow::Result<PathBuf> {
    Ok(ledger::Here::new()?.folder().to_path_buf())
}

/// The reason why a condition was not entered, or a trial has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The condition is not available on this machine, or not with these rights.
    Unavailable(String),
    /// The condition or the trial should have worked and did not.
    Failed(String),
    /// Nothing can be measured any more, as on a full disk.
    Fatal(String),
    /// A signal came.
    Stopped,
}

impl Refusal {
    /// Names the switch that was not entered.
    fn of_switch(self, id: &str) -> Refusal {
        match self {
            Refusal::Failed(why) => Refusal::Failed(format!("{id} could not be switched: {why}")),
            Refusal::Unavailable(why) => Refusal::Unavailable(format!("{id}: {why}")),
            Refusal::Fatal(why) => Refusal::Fatal(format!("{id}: {why}")),
            Refusal::Stopped => Refusal::Stopped,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Unavailable(why) | Refusal::Failed(why) | Refusal::Fatal(why) => {
                f.write_str(why)
            }
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
    /// True if settings that nobody can take back are switched all the same.
    pub may_last: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            scratch: PathBuf::new(),
            trail: TrailSettings::default(),
            patience: Duration::from_secs(60),
            why: false,
            may_last: false,
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
    /// Control groups that only the programs join; the ledger removes them.
    pub own_cgroups: Vec<PathBuf>,
    /// A test that runs beside the programs as loads do and counts what it sees, with further
    /// arguments.
    pub companion: Option<(String, Vec<String>)>,
    /// The build of the programs: `cc=NAME` or `build=NAME`.
    pub build: Option<String>,
    /// The time that scripts took to start what the programs are started inside.
    pub start_time: Duration,
}

/// A trial whose programs have ended.
pub struct FinishedTrial<'a> {
    /// The reports of its copies.
    pub trial: &'a Trial,
    /// The window, CLOCK_MONOTONIC in ns. It is empty for a command that is not measured, which
    /// has joined its control groups or was never started, and may be too short to be seen there.
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
    /// The proofs of its load's condition, which are no evidence on the programs.
    load_proofs: Vec<(Arc<Switch>, Proof)>,
}

/// Enters a condition. How to undo what was changed is in the ledger, even if this fails.
///
/// # Errors
/// The condition is not available here, or did not work.
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
        let enter_switch = prepare(switch, level, machine).map_err(Refusal::Unavailable)?;
        let mut context =
            Context { machine, settings, ledger, staging: &mut staging, folder, signals };
        let mounted = match switch.needs.contains(&Need::Tracefs) {
            true => tracing::mount(machine, context.ledger),
            false => Ok(()),
        };
        let proof = mounted
            .and_then(|()| enter_switch(&mut context))
            .map_err(|refusal| refusal.of_switch(&switch.id))?;
        proofs.push((Arc::clone(switch), proof));
    }

    Ok(Entered { staging, proofs, load_proofs: Vec::new() })
}

/// Checks that a switch can be set to a level here, and changes nothing.
///
/// # Errors
/// A sentence saying why it cannot.
pub fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<(), String> {
    prepare(switch, level, machine).map(drop)
}

/// The reason why a condition is not available here; `None` if it is.
#[must_use]
pub fn unavailable_reason(condition: &Condition, machine: &Machine) -> Option<String> {
    condition.parts.iter().find_map(|(switch, level)| available(switch, level, machine).err())
}

/// The trace that a condition leaves until the machine is started again; `None` if it leaves none,
/// or if it is there already.
#[must_use]
pub fn lasting_trace<'a>(condition: &'a Condition, machine: &Machine) -> Option<&'a str> {
    condition.parts.iter().find_map(|(switch, level)| {
        let leaves = switch.leaves.as_deref()?;
        let is_first = switch.level(level).is_some_and(|level| level.first);
        if is_first {
            return None;
        }

        // Levels that must come first are available as long as nothing was left.
        let mut first_levels = switch.levels.iter().filter(|level| level.first);
        first_levels.all(|level| available(switch, &level.id, machine).is_ok()).then_some(leaves)
    })
}

/// The reasons why a condition could not be taken back: a sentence for each of its settings that
/// go one way and are not so already.
#[must_use]
pub fn irreversible_settings(condition: &Condition, machine: &Machine) -> Vec<String> {
    let switches = condition.parts.iter().filter(|(switch, _)| switch.means == Means::File);
    switches
        .flat_map(|(switch, level)| file::irreversible_settings(switch, level, machine))
        .collect()
}

/// Enters a switch at a level that is available here.
type Enter<'a> = Box<dyn FnOnce(&mut Context<'_>) -> Result<Proof, Refusal> + 'a>;

/// Checks that a switch can be set to a level here, and returns the function that sets it.
fn prepare<'a>(switch: &'a Switch, level: &'a str, machine: &Machine) -> Result<Enter<'a>, String> {
    if let Some(why) = machine::unmet(machine, &switch.needs) {
        return Err(why);
    }

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
            let system = mount::available(switch, level, machine)?;
            Box::new(move |context| mount::enter(system, context))
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
            let filter = seccomp::compile_level(level)?;
            Box::new(move |context| seccomp::enter(switch, (level, filter), context))
        }
        Means::Argument => {
            Box::new(move |context| Ok(beside::enter_argument(switch, level, context)))
        }
        Means::Beside => Box::new(move |context| beside::enter(switch, level, context)),
        Means::Tracing => Box::new(tracing::enter),
        Means::Nothing => {
            Box::new(|_| Err(Refusal::Failed("there is nothing to switch".to_owned())))
        }
    })
}

impl Entered {
    /// Adds the condition of the load alone, and returns the start of the load: under both.
    ///
    /// # Errors
    /// The load cannot be in the control groups of both.
    pub fn add_load(&mut self, load: Entered, machine: &Machine) -> Result<Staging, Refusal> {
        let Staging { folder, cgroups, own_cgroups, .. } = load.staging;
        let load_cgroups = [cgroups, own_cgroups].concat();
        let staging = &self.staging;
        let needs_two_groups = !load_cgroups.is_empty() && !staging.cgroups.is_empty();
        if needs_two_groups && machine::cgroup::own_and_ancestor_groups(machine, "cpu").0 {
            let why = "under cgroup version 2 a load cannot be in a cgroup of its own and in its condition's";
            return Err(Refusal::Unavailable(why.to_owned()));
        }

        self.load_proofs = load.proofs;
        Ok(Staging {
            args: staging.args.clone(),
            prefix: staging.prefix.clone(),
            folder: folder.or(staging.folder.clone()),
            cgroups: [load_cgroups, staging.cgroups.clone()].concat(),
            build: staging.build.clone(),
            ..Staging::default()
        })
    }

    /// Proves that everything was on, and returns what it produced.
    ///
    /// # Errors
    /// A switch is not proved, or a signal came.
    pub fn prove(&mut self, finished: &mut FinishedTrial<'_>) -> Result<Evidence, Refusal> {
        let mut evidence = Evidence::default();
        prove_all(&mut self.proofs, finished, &mut evidence)?;
        prove_all(&mut self.load_proofs, finished, &mut Evidence::default())?;
        Ok(evidence)
    }
}

/// Adds to the evidence what proves that switches were on.
fn prove_all(
    proofs: &mut [(Arc<Switch>, Proof)],
    finished: &mut FinishedTrial<'_>,
    evidence: &mut Evidence,
) -> Result<(), Refusal> {
    for (switch, prove) in proofs {
        prove(finished, evidence).map_err(|refusal| match refusal {
            _ if finished.commands.are_interrupted() => Refusal::Stopped,
            Refusal::Fatal(why) => Refusal::Fatal(format!("{}: {why}", switch.id)),
            why => Refusal::Failed(format!(
                "{} was not in effect, so its cost was not measured: {why}",
                switch.id
            )),
        })?;
    }

    Ok(())
}
