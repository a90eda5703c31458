//! Kernel auditing as a condition: of the measured programs and nobody else, switched on, proved by
//! its own trail, and what was there before put back exactly.
//!
//! - [`kernel`]: the requests to the audit subsystem; [`netlink`] sends them, [`rule`] is a rule as
//!   the kernel takes it.
//! - [`levels`], [`syntax`], [`names`]: rules as administrators write them.
//! - [`state`]: how auditing was found, and the way back; [`scope`]: who is audited.
//! - [`receiving`], [`loaded`], [`on`]: the stages of switching it on; [`off`]: the levels without.
//! - [`recorder`], [`record`], [`tally`], [`samples`], [`file`]: the trail as it comes; [`auditd`]:
//!   the daemon that takes it instead; [`kernel_log`]: where others' records go.
//!
//! Three kinds of off are distinguished. The kernel notes for good that auditing was once on
//! (`audit_ever_enabled`), and from then on gives every new process an audit context, with which
//! each system call takes the slow path, rules or none. So `never-on` can only be had before;
//! `off-after-on` has that context; and `off` is a `task,never` rule for the measured programs, so
//! that they get none.

mod auditd;
mod clock;
mod file;
mod found;
mod kernel;
mod kernel_log;
mod levels;
mod loaded;
mod names;
mod netlink;
mod off;
mod on;
mod receiving;
mod record;
mod recorder;
mod rule;
pub(crate) mod samples;
mod scope;
mod state;
mod syntax;
mod system;
mod tally;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::path::Path;

use super::ledger::Undo;
use super::{Proof, Refusal};
use catalogue::Switch;
use journal::Evidence;
use levels::Level;
use loaded::Loaded;
use machine::Machine;
use off::{Off, OffAfterOn};
use on::On;
use receiving::Receiving;
use state::State;
use system::System;

pub(crate) use found::Found;
pub(crate) use names::own_architecture;
pub(crate) use state::restore;

/// The trail's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrailSettings {
    /// The place where records go.
    pub sink: Sink,
    /// The moments at which a file is flushed to the disk.
    pub flush: Flush,
    /// Bytes after which a file is started over.
    pub limit: u64,
    /// Records that the kernel queues before processes have to wait.
    pub backlog: u32,
}

impl Default for TrailSettings {
    /// A file of 1 GiB; a queue of 1024 records is full before a window opens.
    fn default() -> TrailSettings {
        TrailSettings {
            sink: Sink::default(),
            flush: Flush::default(),
            limit: 1 << 30,
            backlog: 1024,
        }
    }
}

/// The place where records go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sink {
    /// Count and drop them: the kernel's cost alone
    Count,
    /// Write them to a file
    #[default]
    File,
    /// Have the installed auditd write them, with a separate configuration
    Auditd,
    /// The same, and hand them to the plugins that are installed and active, such as laurel
    AuditdPlugins,
}

/// The moments at which a trail is flushed to the disk, as auditd names them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Flush {
    /// Never
    None,
    /// After every 50 records
    Incremental,
    /// After every 50 records, in a background thread
    #[default]
    IncrementalAsync,
    /// The data after every record
    Data,
    /// Data and metadata after every record
    Sync,
}

/// The means to enter a level.
pub(super) struct Surroundings<'a> {
    /// The trail's settings.
    settings: &'a TrailSettings,
    /// The directory for what is not the programs'.
    scratch: &'a Path,
    /// Writes down the undo of a change, before the change is made; the change must not be made if
    /// it fails.
    record: &'a mut dyn FnMut(Undo) -> Result<(), String>,
}

/// A level that can be entered on this machine.
pub(super) struct Ready {
    system: System,
    state: State,
    level: Level,
}

/// A level that can be entered here; or a sentence saying why not.
pub(super) fn ready(switch: &Switch, level: &str, machine: &Machine) -> Result<Ready, String> {
    if !machine.is_live() {
        return Err("a machine that is only recorded cannot be audited".to_owned());
    }

    let rules = switch.level(level).and_then(|row| row.rules.as_deref());
    Ready::new(System::here()?, Level::new(level, rules)?)
}

/// Enters a level.
pub(super) fn enter(ready: Ready, context: &mut super::Context<'_>) -> Result<Proof, Refusal> {
    let super::Context { settings, ledger, .. } = context;
    let record = &mut |undo| ledger.record(&undo).map(drop);
    let surroundings =
        Surroundings { settings: &settings.trail, scratch: &settings.scratch, record };
    let mut auditing = ready.enter(surroundings)?;

    Ok(Box::new(move |finished, evidence| {
        auditing.prove(&finished.window, evidence).map_err(|why| match auditing.is_fatal() {
            true => Refusal::Fatal(why),
            false => Refusal::Failed(why),
        })
    }))
}

impl Ready {
    fn new(system: System, level: Level) -> Result<Ready, String> {
        let state = State::read(&system)?;
        state.check_can_enter(&level, &system.machine)?;
        Ok(Ready { system, state, level })
    }

    /// Enters the level. The undos of what was changed are recorded even if this fails.
    fn enter(self, mut surroundings: Surroundings<'_>) -> Result<Auditing, String> {
        let Ready { system, state, level } = self;
        let context = &mut surroundings;
        Ok(Auditing(match level {
            Level::NeverOn => Entered::NeverOn(system),
            Level::Off => Entered::Off(Off::enter(system, &state, context)?),
            Level::OffAfterOn => Entered::OffAfterOn(OffAfterOn::enter(system, &state, context)?),
            Level::On(rules) => {
                let receiving = Receiving::start(system, state, context)?;
                Entered::On(Box::new(On::new(Loaded::new(receiving, rules)?)?))
            }
        }))
    }
}

/// Auditing at the level that was entered, until this is dropped and the ledger carried out.
struct Auditing(Entered);

enum Entered {
    NeverOn(System),
    Off(Off),
    OffAfterOn(OffAfterOn),
    On(Box<On>),
}

impl Auditing {
    /// Proves, after the programs have ended, that the level held in `window` (CLOCK_MONOTONIC in
    /// ns), and adds what it produced to `evidence`.
    fn prove(&mut self, window: &Range<u64>, evidence: &mut Evidence) -> Result<(), String> {
        let note = match &mut self.0 {
            Entered::On(on) => return on.prove(window, evidence),
            Entered::NeverOn(system) => {
                State::read(system)?.check_never_on(&system.machine)?;
                "auditing was never on since the machine started, as far as the kernel shows"
            }
            Entered::Off(off) => {
                off.check()?;
                "a rule `task,never` kept the programs from being audited"
            }
            Entered::OffAfterOn(off) => {
                off.check()?;
                "auditing was off, after it had been on since the machine started"
            }
        };
        evidence.notes.push(note.to_owned());
        Ok(())
    }

    /// True if the failure makes all further trials pointless, as a full disk does.
    fn is_fatal(&self) -> bool {
        matches!(&self.0, Entered::On(on) if on.has_failed_trail)
    }
}
