//! Kernel auditing of the measured programs and nobody else: switched on, proved by its own trail, and what was there before
//! put back exactly.
//!
//! - `netlink`, `rule`: the kernel's interface; `syntax`, `words`, `levels`: rules as they are written.
//! - `state`: what was found, and the way back; `scope`: whom it is for.
//! - `trail`, `sink`, `tally`, `parse`: records as they come; `auditd`: the real one instead.
//! - `on`: auditing while it is on. Here: the levels at which it is off.
//!
//! Three kinds of off are told apart. The kernel notes for good that auditing was once on (`audit_ever_enabled`), and from
//! then on gives every new process an audit context, with which each system call takes the slow way, rules or none. So
//! `never-on` can only be had before; `off-after-on` has that context; and `off` is a `task,never` rule for the measured
//! programs, by which they get none.

mod auditd;
mod levels;
mod netlink;
mod on;
mod parse;
mod rule;
mod scope;
mod sink;
mod state;
mod syntax;
mod tally;
mod trail;
mod words;

use std::path::{Path, PathBuf};

use rustix::io::Errno;

use journal::Evidence;
use levels::Level;
use netlink::{Control, Lever};
use rule::{Rule, field};
use scope::{LoginUid, SENTINEL};
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
    /// They are counted and dropped: the kernel's cost alone
    Count,
    /// They are written to a file
    #[default]
    File,
    /// The auditd that is installed writes them, with a configuration of its own
    Auditd,
}

/// When a trail is flushed to the disk, as auditd names it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Flush {
    /// Never
    None,
    /// After every 50 records
    Incremental,
    /// After every 50 records, by a thread that nobody waits for
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
    control: Control,
    state: State,
    level: Level,
}

/// Returns a level of the catalogue, ready to be entered; or a sentence saying why it cannot be had here.
///
/// # Errors
/// The sentence.
pub fn ready(level: &str) -> Result<Ready, String> {
    let level = levels::level(level)?;
    let (control, state) = state::open()?;
    state.admits(&level)?;
    Ok(Ready { control, state, level })
}

impl Ready {
    /// Enters the level. What was changed is in the ledger, also if this fails.
    ///
    /// # Errors
    /// A sentence saying what did not work.
    pub fn enter(self, context: &mut Context<'_>) -> Result<Auditing, String> {
        let Ready { control, state, level } = self;
        Ok(Auditing(match level {
            Level::NeverOn => Entered::NeverOn,
            Level::Off => Entered::Off(Off::enter(control, &state, context)?),
            Level::OffAfterOn => Entered::AfterOn(AfterOn::enter(control, &state, context)?),
            Level::On(text) => Entered::On(Box::new(on::On::enter(control, &state, text, context)?)),
        }))
    }
}

/// Auditing at the level that was entered; on until this is dropped, or the ledger carried out.
pub struct Auditing(Entered);

enum Entered {
    NeverOn,
    Off(Off),
    AfterOn(AfterOn),
    On(Box<on::On>),
}

impl Auditing {
    /// Proves, after the programs have ended, that the level held in `window`, and adds what it produced to `evidence`.
    ///
    /// # Errors
    /// A sentence saying why that is not proved.
    pub fn prove(&mut self, window: Window, evidence: &mut Evidence) -> Result<(), String> {
        evidence.notes.push(match &mut self.0 {
            Entered::On(on) => return on.prove(window, evidence),
            Entered::NeverOn => {
                state::open()?.1.never_on()?;
                "auditing was never on since the machine started, as far as it can tell".to_owned()
            }
            Entered::Off(off) => {
                off.check()?;
                "a rule `task,never` kept the programs from being audited".to_owned()
            }
            Entered::AfterOn(off) => {
                off.check()?;
                "auditing was off, after it had been on since the machine started".to_owned()
            }
        });
        Ok(())
    }

    /// Whether what was not proved makes all further trials pointless, as a full disk does.
    #[must_use]
    pub fn is_fatal(&self) -> bool {
        matches!(&self.0, Entered::On(on) if on.is_fatal())
    }
}

/// The measured programs are not audited.
struct Off {
    control: Control,
    _login_uid: LoginUid,
}

impl Off {
    fn enter(control: Control, state: &State, context: &mut Context<'_>) -> Result<Off, String> {
        scope::is_free()?;
        context.ledger.record(Undo::Restore(Found::from(state.status)))?;
        add(&control, &scope::not_us()).map_err(|error| format!("a rule `task,never` is not taken: {error}"))?;
        let off = Off { control, _login_uid: LoginUid::take()? };
        off.check()?;
        Ok(off)
    }

    fn check(&self) -> Result<(), String> {
        let rules = self.control.rules().map_err(|error| error.to_string())?;
        // What comes before it in its list could decide otherwise.
        let first = rules.iter().find(|rule| rule.list == rule::list::TASK);
        if first == Some(&scope::not_us()) { Ok(()) } else { Err("another process changed the rules".to_owned()) }
    }
}

/// Auditing is off, and was on.
struct AfterOn {
    control: Control,
}

impl AfterOn {
    fn enter(control: Control, state: &State, context: &mut Context<'_>) -> Result<AfterOn, String> {
        context.ledger.record(Undo::Restore(Found::from(state.status)))?;
        let told = |error: Errno| format!("auditing cannot be switched: {error}");
        if state::was_on().is_none() && state.status.enabled == 0 {
            state::mark()?;
            control.set(Lever::Enabled, 1).map_err(told)?;
        }
        control.set(Lever::Enabled, 0).map_err(told)?;
        let off = AfterOn { control };
        off.check()?;
        Ok(off)
    }

    fn check(&self) -> Result<(), String> {
        match self.control.status() {
            Ok(status) if status.enabled == 0 => Ok(()),
            Ok(_) => Err("another process switched auditing on".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Adds a rule of the tool's own, before all others; that it is there already is fine.
fn add(control: &Control, rule: &Rule) -> Result<(), Errno> {
    debug_assert!(rule.names(field::LOGIN_UID, SENTINEL), "restoring would not find it");
    match control.prepend(rule) {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}
