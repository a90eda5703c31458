//! Kernel auditing of the measured programs and nobody else: switched on, proved by its own trail, and what was there before
//! put back exactly.
//!
//! - `kernel`: what is asked of the audit subsystem; `netlink` asks it, `rule` is a rule as it takes them.
//! - `levels`, `syntax`, `names`: rules as administrators write them.
//! - `state`: what was found, and the way back; `scope`: who is audited.
//! - `receiving`, `loaded`, `on`: the stages of switching it on; `off`: the levels without.
//! - `recorder`, `record`, `tally`, `samples`, `file`: the trail as it comes; `auditd`: the daemon
//!   that takes it instead; `kernel_log`: where others' records go.
//!
//! Three kinds of off are distinguished. The kernel notes for good that auditing was once on (`audit_ever_enabled`), and from
//! then on gives every new process an audit context, with which each system call takes the slow path, rules or none. So
//! `never-on` can only be had before; `off-after-on` has that context; and `off` is a `task,never` rule for the measured
//! programs, so that they get none.

mod auditd;
mod clock;
mod file;
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
mod samples;
mod scope;
mod state;
mod syntax;
mod tally;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use journal::Evidence;
use kernel::System;
use levels::Level;
use off::{Off, OffAfterOn};
use on::On;
use receiving::Receiving;
use state::State;

pub use state::{Found, restore};

/// How the trail is kept.
#[derive(Debug, Clone)]
pub struct TrailSettings {
    /// Where records go.
    pub sink: Sink,
    /// When they are flushed to the disk, of a file.
    pub flush: Flush,
    /// Bytes after which a file is started over.
    pub limit: u64,
    /// Records that the kernel queues before processes have to wait.
    pub backlog: u32,
}

impl Default for TrailSettings {
    /// A file of 1 GiB; a queue of 1024 records is full before a window opens.
    fn default() -> TrailSettings {
        TrailSettings { sink: Sink::default(), flush: Flush::default(), limit: 1 << 30, backlog: 1024 }
    }
}

/// Where records go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Sink {
    /// Count and drop them: the kernel's cost alone
    Count,
    /// Write them to a file
    #[default]
    File,
    /// Have the installed auditd write them, with a separate configuration
    Auditd,
}

/// When a trail is flushed to the disk, as auditd names it.
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

/// How one change is undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// [`restore`] what was found.
    Restore(Found),
    /// Remove a file.
    RemoveFile(PathBuf),
    /// Remove an empty directory.
    RemoveDirectory(PathBuf),
    /// End whatever runs a program with an argument that nothing else has.
    End {
        /// The program's file.
        program: PathBuf,
        /// The argument.
        argument: PathBuf,
    },
}

/// Where it is written how changes are undone.
pub trait Ledger {
    /// Writes down how a change is undone, before the change is made.
    ///
    /// # Errors
    /// It could not be written, so the change must not be made.
    fn record(&mut self, undo: Undo) -> Result<(), String>;
}

/// What entering a level has at hand.
pub struct Context<'a> {
    /// How the trail is kept.
    pub settings: &'a TrailSettings,
    /// The directory for what is not the programs'.
    pub scratch: &'a Path,
    /// Where it is written how changes are undone.
    pub ledger: &'a mut dyn Ledger,
}

/// The time in which the programs were measured, CLOCK_MONOTONIC in ns.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    /// When it opened.
    pub start: u64,
    /// When it closed.
    pub end: u64,
}

/// A level that can be entered on this machine.
pub struct Ready {
    system: System,
    state: State,
    level: Level,
}

/// Returns a level of the catalogue with its rules, if it has any, ready to be entered.
///
/// # Errors
/// A sentence saying why it cannot be had here.
pub fn ready(level: &str, rules: Option<&str>) -> Result<Ready, String> {
    Ready::new(System::here()?, Level::new(level, rules)?)
}

impl Ready {
    fn new(system: System, level: Level) -> Result<Ready, String> {
        let state = State::read(&system)?;
        state.admits(&level, &system.machine)?;
        Ok(Ready { system, state, level })
    }

    /// Enters the level. How to undo what was changed is in the ledger, even if this fails.
    ///
    /// # Errors
    /// A sentence saying what did not work.
    pub fn enter(self, context: &mut Context<'_>) -> Result<Auditing, String> {
        let Ready { system, state, level } = self;
        Ok(Auditing(match level {
            Level::NeverOn => Entered::NeverOn(system),
            Level::Off => Entered::Off(Off::enter(system, &state, context)?),
            Level::OffAfterOn => Entered::OffAfterOn(OffAfterOn::enter(system, &state, context)?),
            Level::On(rules) => {
                Entered::On(Box::new(Receiving::start(system, state, context)?.load(rules)?.switch_on()?))
            }
        }))
    }
}

/// Auditing at the level that was entered, until this is dropped and the ledger carried out.
pub struct Auditing(Entered);

enum Entered {
    NeverOn(System),
    Off(Off),
    OffAfterOn(OffAfterOn),
    On(Box<On>),
}

impl Auditing {
    /// Proves, after the programs have ended, that the level held in `window`, and adds what it produced to `evidence`.
    ///
    /// # Errors
    /// A sentence saying why that is not proved.
    pub fn prove(&mut self, window: Window, evidence: &mut Evidence) -> Result<(), String> {
        let note = match &mut self.0 {
            Entered::On(on) => return on.prove(window, evidence),
            Entered::NeverOn(system) => {
                State::read(system)?.never_on(&system.machine)?;
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

    /// Whether what was not proved makes all further trials pointless, as a full disk does.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(&self.0, Entered::On(on) if on.full)
    }
}
