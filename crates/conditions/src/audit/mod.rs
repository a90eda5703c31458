//! Kernel auditing as a condition: rules for the measured programs and nobody else, a consumer of its own, and what was
//! there before put back exactly.
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

use rustix::io::Errno;

use super::{Active, Refusal, Scene, Seen, TrailSettings, Undo};
use journal::Evidence;
use levels::Level;
use machine::Machine;
use netlink::{Control, Lever};
use rule::{Rule, field};
use scope::{LoginUid, SENTINEL};
use state::State;

pub use state::Found;
pub(super) use state::restore;

/// Bytes that a trail may grow to, where nothing else is asked for.
const LIMIT: u64 = 1 << 30;

/// The most bytes of a trail on the disk.
fn limit(settings: &TrailSettings) -> u64 {
    if settings.limit == 0 { LIMIT } else { settings.limit }
}

/// Whether a level can be entered here; or why not.
pub(super) fn available(level: &str, machine: &Machine) -> Result<(), String> {
    if !machine.is_live() {
        return Err("a machine that is only recorded cannot be audited".to_owned());
    }
    let level = levels::level(level)?;
    let (_, state) = state::open()?;
    state.admits(&level)
}

/// Enters a level.
pub(super) fn enter(level: &str, scene: &mut Scene<'_>) -> Result<Box<dyn Active>, Refusal> {
    let level = levels::level(level).map_err(Refusal::Unavailable)?;
    let (control, state) = state::open().map_err(Refusal::Unavailable)?;
    state.admits(&level).map_err(Refusal::Unavailable)?;
    Ok(match level {
        Level::NeverOn => Box::new(NeverOn),
        Level::Off => Box::new(Off::enter(control, &state, scene)?),
        Level::OffAfterOn => Box::new(AfterOn::enter(control, &state, scene)?),
        Level::On(text) => Box::new(on::On::enter(control, &state, text, scene)?),
    })
}

/// Nothing is done, and nothing was ever done.
struct NeverOn;

impl Active for NeverOn {
    fn prove(&mut self, _: &Seen<'_>, evidence: &mut Evidence) -> Result<(), String> {
        let (_, state) = state::open()?;
        state.never_on()?;
        evidence.notes.push("auditing was never on since the machine started, as far as it can tell".to_owned());
        Ok(())
    }
}

/// The measured programs are not audited.
struct Off {
    control: Control,
    _login_uid: LoginUid,
}

impl Off {
    fn enter(control: Control, state: &State, scene: &mut Scene<'_>) -> Result<Off, String> {
        scope::is_free()?;
        scene.ledger.will(&Undo::Audit { found: Found::from(state.status) })?;
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

impl Active for Off {
    fn prove(&mut self, _: &Seen<'_>, evidence: &mut Evidence) -> Result<(), String> {
        self.check()?;
        evidence.notes.push("a rule `task,never` kept the programs from being audited".to_owned());
        Ok(())
    }
}

/// Auditing is off, and was on.
struct AfterOn {
    control: Control,
}

impl AfterOn {
    fn enter(control: Control, state: &State, scene: &mut Scene<'_>) -> Result<AfterOn, String> {
        scene.ledger.will(&Undo::Audit { found: Found::from(state.status) })?;
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

impl Active for AfterOn {
    fn prove(&mut self, _: &Seen<'_>, evidence: &mut Evidence) -> Result<(), String> {
        self.check()?;
        evidence.notes.push("auditing was off, after it had been on since the machine started".to_owned());
        Ok(())
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
