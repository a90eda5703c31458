//! The state of auditing before a trial: read whole, judged, and put back exactly.
//!
//! Auditing that is in use is never weakened: no setting of it is changed, and a level whose
//! records could cost others theirs is refused. What another process changes meanwhile stays as
//! that process has it. Statistics are not state: what was lost and how long processes waited is
//! counted on, never reset. One thing cannot be put back: that auditing was on
//! (`machine::auditing`).

use std::time::{Duration, Instant};

use machine::Machine;
use machine::auditing::sign_it_was_on;
use rustix::io::Errno;

use crate::audit::found::Found;
use crate::audit::kernel::{LOCKED, PANIC, Setting, Status};
use crate::audit::levels::Level;
use crate::audit::rule::{NEVER, Rule, list};
use crate::audit::scope::{SENTINEL, is_own};
use crate::audit::system::System;

/// AUDIT_FEATURE_LOGINUID_IMMUTABLE as a mask.
const IMMUTABLE: u32 = 1 << 1;

/// The longest time that queued records may take to get to their place before nobody receives them
/// any more.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The whole state of auditing.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub status: Status,
    pub rules: Vec<Rule>,
    pub features: u32,
}

impl State {
    pub(crate) fn read(system: &System) -> Result<State, String> {
        // Kernels before 3.13 have no features.
        let features = system.kernel.features().unwrap_or(0);
        Ok(State { status: system.status()?, rules: system.rules()?, features })
    }

    /// Checks that a level can be entered from here; the error says what to do.
    pub(crate) fn check_can_enter(&self, level: &Level, machine: &Machine) -> Result<(), String> {
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

        let are_all_excluded = self
            .rules
            .iter()
            .any(|rule| rule.list == list::TASK && rule.action == NEVER && rule.fields.is_empty());
        match level {
            Level::NeverOn => self.check_never_on(machine),
            Level::OffAfterOn if self.status.enabled != 0 => {
                Err("auditing is on here (enabled=1): switching it off for everybody would leave a gap; audit=off \
                     excludes the measured programs only, and `auditctl -e 0` switches it off"
                    .to_owned())
            }
            Level::OffAfterOn | Level::On(_) if are_all_excluded => {
                Err("a rule `task,never` is loaded, so no new process can \
                 be audited; `auditctl -d task,never` removes it"
                    .to_owned())
            }
            Level::Off | Level::On(_) if self.features & IMMUTABLE != 0 => {
                Err("login uids cannot be changed here (auditctl --loginuid-immutable), by which unixmark recognises \
                     its programs"
                    .to_owned())
            }
            Level::Off => Ok(()),
            Level::OffAfterOn => self.check_switching_on(machine),
            // Without rules the measured programs make no records.
            Level::On(set) if set.rules.is_empty() => self.check_switching_on(machine),
            Level::On(_) => self.check_flooding(machine),
        }
    }

    /// The process that receives the records, if there is one.
    pub(crate) fn daemon(&self, machine: &Machine) -> Option<u32> {
        let pid = self.status.pid;
        (pid != 0 && is_alive(machine, pid)).then_some(pid)
    }

    /// True if the machine audits: auditing is on, or a process receives the records.
    pub(crate) fn is_in_use(&self, machine: &Machine) -> bool {
        self.status.enabled != 0 || self.daemon(machine).is_some()
    }

    /// Checks that auditing is on, or may be switched on for a trial.
    fn check_switching_on(&self, machine: &Machine) -> Result<(), String> {
        match self.daemon(machine) {
            Some(pid) if self.status.enabled == 0 => Err(format!(
                "auditing is off here (enabled=0) while {} receives its records, and switching it \
                 on would add to them; `auditctl -e 1` switches it on",
                describe_process(machine, pid)
            )),
            _ => Ok(()),
        }
    }

    /// Checks that no record of others can be lost, and no setting weakened, if the measured
    /// programs make more records than the kernel's queue holds.
    fn check_flooding(&self, machine: &Machine) -> Result<(), String> {
        let obstacle = match self.daemon(machine) {
            None => self.setting_in_the_way(),
            Some(pid) => {
                let daemon = describe_process(machine, pid);
                Some(format!(
                    "{daemon} receives this machine's audit records, and those of the measured \
                     programs would push older ones out of its log; stop it (`service auditd \
                     stop`) and measure with --sink auditd, which starts one with a log of its own"
                ))
            }
        };
        let Some(why) = obstacle else { return Ok(()) };

        let on = if self.check_switching_on(machine).is_ok() { "audit=on and " } else { "" };
        Err(format!("{why}; {on}audit=off can be measured here"))
    }

    /// The setting with which a full queue would cost more than time, and what to do.
    fn setting_in_the_way(&self) -> Option<String> {
        let Status { enabled, failure, rate_limit, backlog_limit, backlog_wait_time, .. } =
            self.status;
        if failure == PANIC {
            let why = "the kernel panics here when it loses an audit record (failure=2), and the \
                       measured programs' could fill its queue; `auditctl -f 1` makes it print a \
                       message instead";
            Some(why.to_owned())
        } else if enabled == 0 {
            None
        } else if rate_limit > 0 {
            Some(format!(
                "auditing is on here and keeps {rate_limit} records per second at most \
                 (rate_limit), so those of the measured programs would cost others theirs; \
                 `auditctl -r 0` removes the limit"
            ))
        } else if backlog_wait_time == 0 {
            let why = "auditing is on here and loses records when its queue is full \
                       (backlog_wait_time=0), so those of the measured programs would cost others \
                       theirs; `auditctl --backlog_wait_time 15000` makes processes wait instead";
            Some(why.to_owned())
        } else if backlog_limit == 0 {
            let why = "auditing is on here with a queue of any length (backlog_limit=0), so the \
                       measured programs' records could fill the memory; `auditctl -b 8192` limits it";
            Some(why.to_owned())
        } else {
            None
        }
    }

    /// Checks that auditing was never on since the machine started, as far as the kernel shows.
    pub(crate) fn check_never_on(&self, machine: &Machine) -> Result<(), String> {
        if self.status.enabled != 0 {
            return Err("auditing is on".to_owned());
        }
        if !self.rules.is_empty() {
            return Err(format!("{} rules are loaded, so it may have been on", self.rules.len()));
        }

        match sign_it_was_on(machine) {
            Some(why) => Err(format!(
                "it was on since the machine started, which new processes pay for until it restarts ({why})"
            )),
            None => Ok(()),
        }
    }
}

/// Puts auditing back to what was found, and deletes the tool's own rules. It may be repeated, and
/// done by another process, even after the receiver of the records has died.
///
/// # Errors
/// The kernel refused it.
pub fn restore(found: &Found) -> Result<(), String> {
    put_back(&System::here()?, found)
}

/// [`restore`] for any system.
pub(crate) fn put_back(system: &System, found: &Found) -> Result<(), String> {
    let status = system.status()?;
    let rules = system.rules()?;
    if status.enabled >= LOCKED {
        return Err(
            "auditing has been locked meanwhile (enabled=2); only a restart of the machine changes it".to_owned()
        );
    }

    let failed = |error: Errno| format!("auditing could not be put back ({error})");
    let has_other_receiver = status.pid != 0
        && status.pid != std::process::id()
        && is_alive(&system.machine, status.pid);
    // First, so that the changes below make no records. Where another process receives records by
    // now, auditing stays on.
    if found.switched_on && status.enabled != 0 && !has_other_receiver {
        system.kernel.set(Setting::Enabled, 0).map_err(failed)?;
    }
    for rule in rules.iter().filter(|rule| is_own(rule)) {
        match system.kernel.delete(rule) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(failed(error)),
        }
    }

    stop_receiving(system, status.pid).map_err(failed)?;

    // Another limit is from another process, and stays.
    let has_trial_limit = status.backlog_limit == found.trial_backlog_limit;
    if has_trial_limit && found.backlog_limit != found.trial_backlog_limit {
        system.kernel.set(Setting::BacklogLimit, found.backlog_limit).map_err(failed)?;
    }

    if found.switched_on && !has_other_receiver && system.status()?.enabled != 0 {
        return Err("auditing is still on; try `auditctl -e 0`".to_owned());
    }

    match system.rules()?.iter().filter(|rule| is_own(rule)).count() {
        0 => Ok(()),
        count => {
            Err(format!("{count} rules of the run are still loaded; try `auditctl -D -k unixmark`"))
        }
    }
}

/// Leaves the records without a receiver if that is this process, or one that is dead.
fn stop_receiving(system: &System, pid: u32) -> Result<(), Errno> {
    let is_tool = pid == std::process::id();
    if pid == 0 || !is_tool && is_alive(&system.machine, pid) {
        return Ok(());
    }

    if is_tool {
        wait_until_drained(system, DRAIN_TIMEOUT);
    }
    match system.kernel.set(Setting::Pid, 0) {
        // Another process receives them by now.
        Err(Errno::ACCESS) => Ok(()),
        other => other,
    }
}

/// A process with its number, for people.
pub(crate) fn describe_process(machine: &Machine, pid: u32) -> String {
    let name = machine.read(&format!("/proc/{pid}/comm")).unwrap_or_default();
    format!("process {pid} ({name})")
}

/// True if a process of this number runs. One that is dead or dying has no command line,
/// though its parent may not know yet.
pub(crate) fn is_alive(machine: &Machine, pid: u32) -> bool {
    machine.read(&format!("/proc/{pid}/cmdline")).is_some()
}

/// Waits until no record is queued; false if that was not so in time.
pub(crate) fn wait_until_drained(system: &System, patience: Duration) -> bool {
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
    use crate::audit::rule::{ALWAYS, Field, field, op};
    use crate::audit::syntax::RuleSet;

    fn refused(state: &State, level: &Level) -> String {
        state.check_can_enter(level, &Machine::at("/nonexistent")).unwrap_err()
    }

    fn admitted(state: &State, level: &Level) -> bool {
        state.check_can_enter(level, &Machine::at("/nonexistent")).is_ok()
    }

    fn on() -> Level {
        Level::On(RuleSet::default())
    }

    #[test]
    fn a_locked_machine_is_left_alone() {
        let state =
            State { status: Status { enabled: 2, ..Status::default() }, ..State::default() };
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
