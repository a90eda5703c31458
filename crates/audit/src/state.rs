//! What of auditing was there before: read whole, judged, and put back exactly.
//!
//! Statistics are not state: what was lost and how long processes waited is counted on, never reset. One thing cannot be put
//! back: that auditing was on (`machine::auditing`).

use std::time::{Duration, Instant};

use machine::Machine;
use machine::auditing::was_on;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::kernel::{LOCKED, Setting, Status, System};
use crate::levels::Level;
use crate::rule::{NEVER, Rule, list};
use crate::scope::{SENTINEL, is_own};

/// AUDIT_FEATURE_LOGINUID_IMMUTABLE as a mask.
const IMMUTABLE: u32 = 1 << 1;

/// How long queued records may take to get where they go before nobody receives them any more.
const DRAIN: Duration = Duration::from_secs(2);

/// The settings that were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Whether auditing was on.
    enabled: u32,
    /// What the kernel did about lost records.
    failure: u32,
    /// Records per second at most.
    rate_limit: u32,
    /// Records that were queued at most.
    backlog_limit: u32,
    /// Ticks that a process waited for room.
    backlog_wait_time: u32,
}

/// The whole state of auditing.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub status: Status,
    pub rules: Vec<Rule>,
    pub features: u32,
}

impl From<Status> for Found {
    fn from(status: Status) -> Found {
        Found {
            enabled: status.enabled,
            failure: status.failure,
            rate_limit: status.rate_limit,
            backlog_limit: status.backlog_limit,
            backlog_wait_time: status.backlog_wait_time,
        }
    }
}

impl State {
    /// Reads the state.
    pub(crate) fn read(system: &System) -> Result<State, String> {
        // Kernels before 3.13 have no features.
        let features = system.kernel.features().unwrap_or(0);
        Ok(State { status: system.status()?, rules: system.rules()?, features })
    }

    /// Checks that a level can be entered from here; the error says what to do.
    pub(crate) fn admits(&self, level: &Level, machine: &Machine) -> Result<(), String> {
        if self.status.enabled >= LOCKED {
            return Err(
                "auditing is locked until the machine restarts (enabled=2): nothing can be changed or put back"
                    .to_owned(),
            );
        }
        if self.rules.iter().any(is_own) {
            return Err(format!(
                "rules about the login uid {SENTINEL} are loaded, by which unixmark recognises its programs; `unixmark \
                 restore` removes those of an earlier run, `auditctl -l` lists them"
            ));
        }
        let excludes_all = |rule: &Rule| rule.list == list::TASK && rule.action == NEVER && rule.fields.is_empty();
        let excluded = self.rules.iter().any(excludes_all);
        let busy = self.status.enabled != 0 && (self.status.pid != 0 || !self.rules.is_empty());
        match level {
            Level::NeverOn => self.never_on(machine),
            Level::OffAfterOn if busy => Err(format!(
                "auditing is in use here, with {} rules: switching it off for everybody would leave a gap; audit=off \
                 excludes the measured programs only",
                self.rules.len()
            )),
            Level::OffAfterOn | Level::On(_) if excluded => {
                Err("a rule `task,never` is loaded, so no new process can \
                 be audited; `auditctl -d task,never` removes it"
                    .to_owned())
            }
            Level::Off | Level::On(_) if self.features & IMMUTABLE != 0 => {
                Err("login uids cannot be changed here (auditctl --loginuid-immutable), by which unixmark recognises \
                     its programs"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Checks that auditing was never on since the machine started, as far as the kernel shows.
    pub(crate) fn never_on(&self, machine: &Machine) -> Result<(), String> {
        if self.status.enabled != 0 {
            return Err("auditing is on".to_owned());
        }
        if !self.rules.is_empty() {
            return Err(format!("{} rules are loaded, so it may have been on", self.rules.len()));
        }
        was_on(machine).map_or(Ok(()), |why| {
            Err(format!("it was on since the machine started, which new processes pay for until it restarts ({why})"))
        })
    }
}

/// Puts back what was found, and deletes the tool's own rules. May be done twice, by another process, and after the one that
/// received the records has died.
///
/// # Errors
/// The kernel refused it.
pub fn restore(found: &Found) -> Result<(), String> {
    put_back(&System::here()?, found)
}

/// [`restore`] for any system.
pub(crate) fn put_back(system: &System, found: &Found) -> Result<(), String> {
    let now = system.status()?;
    let rules = system.rules()?;
    if now.enabled >= LOCKED {
        return Err(
            "auditing has been locked meanwhile (enabled=2); only a restart of the machine changes it".to_owned()
        );
    }
    let failed = |error: Errno| format!("auditing could not be put back ({error})");
    let settings = [
        // First, so that the rest makes no records.
        (Setting::Enabled, now.enabled, found.enabled),
        (Setting::Failure, now.failure, found.failure),
        (Setting::RateLimit, now.rate_limit, found.rate_limit),
        (Setting::BacklogWaitTime, now.backlog_wait_time, found.backlog_wait_time),
    ];
    for (setting, now, found) in settings {
        if now != found {
            system.kernel.set(setting, found).map_err(failed)?;
        }
    }
    for rule in rules.iter().filter(|rule| is_own(rule)) {
        match system.kernel.delete(rule) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    stop_receiving(system, now.pid).map_err(failed)?;
    if now.backlog_limit != found.backlog_limit {
        system.kernel.set(Setting::BacklogLimit, found.backlog_limit).map_err(failed)?;
    }
    Ok(())
}

/// Leaves the records without a receiver if that is this process, or one that is dead.
fn stop_receiving(system: &System, pid: u32) -> Result<(), Errno> {
    let own = pid == std::process::id();
    if pid == 0 || !own && is_alive(&system.machine, pid) {
        return Ok(());
    }
    if own {
        drained(system, DRAIN);
    }
    match system.kernel.set(Setting::Pid, 0) {
        // Another process receives them by now.
        Err(Errno::ACCESS) => Ok(()),
        other => other,
    }
}

/// Whether there is a process of this number.
pub(crate) fn is_alive(machine: &Machine, pid: u32) -> bool {
    machine.exists(&format!("/proc/{pid}"))
}

/// Waits until no record is queued; returns whether that was so in time.
pub(crate) fn drained(system: &System, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        match system.kernel.status() {
            Ok(status) if status.backlog == 0 => return true,
            Ok(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{ALWAYS, Field, field, op};
    use crate::syntax::RuleSet;

    fn refused(state: &State, level: &Level) -> String {
        state.admits(level, &Machine::at("/nonexistent")).unwrap_err()
    }

    fn admitted(state: &State, level: &Level) -> bool {
        state.admits(level, &Machine::at("/nonexistent")).is_ok()
    }

    fn on() -> Level {
        Level::On(RuleSet::default())
    }

    #[test]
    fn a_locked_machine_is_left_alone() {
        let state = State { status: Status { enabled: 2, ..Status::default() }, ..State::default() };
        for level in [Level::NeverOn, Level::Off, Level::OffAfterOn, on()] {
            assert!(refused(&state, &level).contains("locked until the machine restarts"));
        }
    }

    #[test]
    fn what_is_in_the_way_is_an_error() {
        let mut state = State { features: IMMUTABLE, ..State::default() };
        assert!(refused(&state, &on()).contains("--loginuid-immutable"));
        assert!(admitted(&state, &Level::OffAfterOn) && admitted(&state, &Level::NeverOn));
        state = State { rules: vec![Rule::new(list::TASK, NEVER)], ..State::default() };
        assert!(refused(&state, &on()).contains("auditctl -d task,never"));
        assert!(admitted(&state, &Level::Off));
        let mut rule = Rule::new(list::EXIT, ALWAYS);
        state.rules = vec![rule.clone()];
        assert!(admitted(&state, &on()));
        assert!(refused(&state, &Level::NeverOn).contains("may have been on"));
        state.status.enabled = 1;
        assert!(refused(&state, &Level::OffAfterOn).contains("would leave a gap"));
        assert!(refused(&state, &Level::NeverOn).contains("auditing is on"));
        rule.fields.push(Field::number(field::LOGIN_UID, op::EQUAL, SENTINEL));
        state.rules.push(rule);
        assert!(refused(&state, &Level::Off).contains("`unixmark restore`"));
    }
}
