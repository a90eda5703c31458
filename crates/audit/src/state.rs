//! What of auditing was there before: read whole, judged, and put back exactly.
//!
//! Statistics are no state: what was lost and how long was waited is counted on, never reset. One thing cannot be put back:
//! once auditing was on, the kernel gives every new process what it needs to be audited, until the machine starts anew.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::levels::Level;
use crate::netlink::{Control, Lever, Status};
use crate::rule::{NEVER, Rule, field, list};
use crate::scope::SENTINEL;
use machine::{Machine, is_alive};

/// AUDIT_FEATURE_LOGINUID_IMMUTABLE as a mask.
const IMMUTABLE: u32 = 1 << 1;

/// Locked until the machine starts anew.
const LOCKED: u32 = 2;

/// Says that auditing was switched on since the machine started. It goes with /run, and where that is on a disk, holds the boot.
const MARK: &str = "/run/unixmark/audit-was-on";

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

/// All there is.
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

/// Opens auditing, or says what is missing.
pub(crate) fn open() -> Result<(Control, State), String> {
    let control = Control::open().map_err(|error| why_not(&error))?;
    let status = control.status().map_err(|error| why_not(&error))?;
    let rules = control.rules().map_err(|error| why_not(&error))?;
    // Kernels before 3.13 have no features.
    let features = control.features().unwrap_or(0);
    Ok((control, State { status, rules, features }))
}

fn why_not(error: &Errno) -> String {
    match *error {
        Errno::PERM => "it needs root, or CAP_AUDIT_CONTROL, outside of any container's process names".to_owned(),
        Errno::CONNREFUSED => {
            "auditing can only be set outside of user namespaces, and where the kernel was not started with audit=0"
                .to_owned()
        }
        Errno::PROTONOSUPPORT => "this kernel was built without auditing (CONFIG_AUDIT)".to_owned(),
        error => format!("auditing cannot be asked ({error})"),
    }
}

impl State {
    /// Whether a level can be entered from here; or why not, and what to do.
    pub(crate) fn admits(&self, level: &Level) -> Result<(), String> {
        if self.status.enabled >= LOCKED {
            return Err(
                "auditing is locked until the machine starts anew (enabled=2): nothing of it can be changed, nor \
                        put back"
                    .to_owned(),
            );
        }
        if self.rules.iter().any(|rule| rule.names(field::LOGIN_UID, SENTINEL)) {
            return Err(format!(
                "rules about the login uid {SENTINEL} are loaded, by which unixmark tells its programs apart; `unixmark \
                 restore` removes an earlier run's, else `auditctl -l` shows them"
            ));
        }
        let counts_all = |rule: &Rule| rule.list == list::TASK && rule.action == NEVER && rule.fields.is_empty();
        let is_never = self.rules.iter().any(counts_all);
        let busy = self.status.enabled != 0 && (self.status.pid != 0 || !self.rules.is_empty());
        match level {
            Level::NeverOn => self.never_on(),
            Level::OffAfterOn if busy => Err(format!(
                "auditing is on here, with {} rules: to switch it off for everybody would leave a gap; audit=off spares \
                 the measured programs only",
                self.rules.len()
            )),
            Level::OffAfterOn | Level::On(_) if is_never => {
                Err("a rule `task,never` is loaded, so that no new process can be audited; `auditctl -d task,never` \
                     removes it"
                    .to_owned())
            }
            Level::Off | Level::On(_) if self.features & IMMUTABLE != 0 => {
                Err("login uids cannot be changed here (auditctl --loginuid-immutable), by which unixmark tells its \
                     programs apart"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether auditing was never on since the machine started, as far as can be known.
    pub(crate) fn never_on(&self) -> Result<(), String> {
        if self.status.enabled != 0 {
            return Err("auditing is on".to_owned());
        }
        if !self.rules.is_empty() {
            return Err(format!("{} rules are loaded, so that it may have been on", self.rules.len()));
        }
        let again = "it was on since the machine started, which new processes pay for until it starts anew";
        was_on().map_or(Ok(()), |seen| Err(format!("{again} ({seen})")))
    }
}

/// What says that auditing was on since the machine started.
pub(crate) fn was_on() -> Option<String> {
    if fs::read_to_string(MARK).is_ok_and(|text| text.trim() == Machine::here().boot()) {
        return Some(format!("{MARK} is there"));
    }
    let words = fs::read_to_string("/proc/cmdline").unwrap_or_default();
    if words.split_whitespace().any(|word| matches!(word, "audit=1" | "audit=on")) {
        return Some("the kernel was started with it".to_owned());
    }
    kernel_log().then(|| "the kernel's log says so".to_owned())
}

/// Whether the kernel's log has that auditing was switched on; it says so where nobody received the record.
fn kernel_log() -> bool {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let Ok(mut log) = File::options().read(true).custom_flags(flags).open("/dev/kmsg") else { return false };
    let mut buffer = vec![0; 16 * 1024];
    loop {
        match log.read(&mut buffer) {
            Ok(length) if length > 0 => {
                let line = String::from_utf8_lossy(&buffer[..length]);
                if tells_of_on(&line) {
                    return true;
                }
            }
            // What was overwritten meanwhile is passed over.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {}
            _ => return false,
        }
    }
}

fn tells_of_on(line: &str) -> bool {
    let Some((_, rest)) = line.split_once("audit_enabled=") else { return false };
    line.contains("audit(") && (rest.starts_with(['1', '2']) || rest.starts_with("0 old=1"))
}

/// Writes down that auditing was on, before it is.
pub(crate) fn mark() -> Result<(), String> {
    let told = |error: std::io::Error| format!("{MARK} cannot be written ({error})");
    if let Some(folder) = Path::new(MARK).parent() {
        fs::create_dir_all(folder).map_err(told)?;
    }
    fs::write(MARK, Machine::here().boot() + "\n").map_err(told)
}

/// Puts back what was found, and takes away the rules that name the tool's login uid. May be done twice, by another process,
/// and after the one that received the records has died.
///
/// # Errors
/// The kernel refused it.
pub fn restore(found: &Found) -> Result<(), String> {
    let (control, state) = open()?;
    let now = state.status;
    if now.enabled >= LOCKED {
        return Err("auditing has been locked since (enabled=2); only a restart of the machine changes it".to_owned());
    }
    let told = |error: Errno| format!("auditing could not be put back ({error})");
    let levers = [
        // First, so that the rest leaves no records.
        (Lever::Enabled, now.enabled, found.enabled),
        (Lever::Failure, now.failure, found.failure),
        (Lever::RateLimit, now.rate_limit, found.rate_limit),
        (Lever::BacklogWaitTime, now.backlog_wait_time, found.backlog_wait_time),
    ];
    for (lever, now, found) in levers {
        if now != found {
            control.set(lever, found).map_err(told)?;
        }
    }
    for rule in state.rules.iter().filter(|rule| rule.names(field::LOGIN_UID, SENTINEL)) {
        match control.delete(rule) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(told(error)),
        }
    }
    give_up(&control, now.pid).map_err(told)?;
    if now.backlog_limit != found.backlog_limit {
        control.set(Lever::BacklogLimit, found.backlog_limit).map_err(told)?;
    }
    Ok(())
}

/// Has nobody receive the records any more, where that is this process or one that is dead.
fn give_up(control: &Control, pid: u32) -> Result<(), Errno> {
    let ours = pid == std::process::id();
    if pid == 0 || !ours && is_alive(pid) {
        return Ok(());
    }
    if ours {
        drained(control, DRAIN);
    }
    match control.set(Lever::Pid, 0) {
        // Another one receives them by now.
        Err(Errno::ACCESS) => Ok(()),
        other => other,
    }
}

/// Waits until no record is queued; whether that was so in time.
pub(crate) fn drained(control: &Control, patience: Duration) -> bool {
    let deadline = Instant::now() + patience;
    loop {
        match control.status() {
            Ok(status) if status.backlog == 0 => return true,
            Ok(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{ALWAYS, Field, op};
    use crate::syntax::Text;

    fn refused(state: &State, level: &Level) -> String {
        state.admits(level).unwrap_err()
    }

    fn on() -> Level {
        Level::On(Text::default())
    }

    #[test]
    fn a_locked_machine_is_left_alone() {
        let state = State { status: Status { enabled: 2, ..Status::default() }, ..State::default() };
        for level in [Level::NeverOn, Level::Off, Level::OffAfterOn, on()] {
            assert!(refused(&state, &level).contains("locked until the machine starts anew"));
        }
    }

    #[test]
    fn what_stands_in_the_way_is_said() {
        let mut state = State { features: IMMUTABLE, ..State::default() };
        assert!(refused(&state, &on()).contains("--loginuid-immutable"));
        assert!(state.admits(&Level::OffAfterOn).is_ok());
        state = State { rules: vec![Rule::new(list::TASK, NEVER)], ..State::default() };
        assert!(refused(&state, &on()).contains("auditctl -d task,never"));
        assert!(state.admits(&Level::Off).is_ok());
        let mut rule = Rule::new(list::EXIT, ALWAYS);
        state.rules = vec![rule.clone()];
        assert!(state.admits(&on()).is_ok());
        state.status.enabled = 1;
        assert!(refused(&state, &Level::OffAfterOn).contains("would leave a gap"));
        assert!(refused(&state, &Level::NeverOn).contains("auditing is on"));
        rule.fields.push(Field::number(field::LOGIN_UID, op::EQUAL, SENTINEL));
        state.rules.push(rule);
        assert!(refused(&state, &Level::Off).contains("`unixmark restore`"));
    }

    #[test]
    fn what_the_kernel_logs() {
        assert!(tells_of_on("6,9,1,-;audit: type=1305 audit(1.2:3): op=set audit_enabled=1 old=0 auid=0"));
        assert!(tells_of_on("6,9,1,-;audit: type=1305 audit(1.2:3): op=set audit_enabled=0 old=1 auid=0"));
        assert!(!tells_of_on("5,9,1,-;audit: type=2000 audit(1.2:1): state=initialized audit_enabled=0 res=1"));
        assert!(!tells_of_on("6,9,1,-;somebody: audit_enabled=1"));
    }
}
