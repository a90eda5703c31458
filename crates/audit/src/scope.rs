//! Whom auditing is for: the measured programs, told apart by a login uid that nobody has. They inherit it from the thread
//! that starts them, so that no one else on the machine is audited, nor slowed down.

use std::fs;
use std::time::Duration;

use rustix::io::Errno;

use crate::rule::{Field, NEVER, Rule, field, list, op};

/// The login uid of the measured programs: "umar" in ASCII, beyond what any system gives to people.
pub(crate) const SENTINEL: u32 = 0x756d_6172;

/// A login uid that is not set.
const UNSET: u32 = u32::MAX;

/// The calling thread's login uid.
const FILE: &str = "/proc/thread-self/loginuid";

/// The login uid of the thread that starts programs; it has its own again when this is dropped.
#[derive(Debug)]
pub(crate) struct LoginUid {
    before: u32,
}

impl LoginUid {
    /// Gives the calling thread the measured programs' login uid.
    pub(crate) fn take() -> Result<LoginUid, String> {
        let told = |error: std::io::Error| format!("the login uid cannot be set ({error}); it needs CAP_AUDIT_CONTROL");
        let before = fs::read_to_string(FILE).map_err(told)?.trim().parse().unwrap_or(UNSET);
        set(SENTINEL).map_err(told)?;
        Ok(LoginUid { before })
    }
}

impl Drop for LoginUid {
    fn drop(&mut self) {
        let _ = set(self.before);
    }
}

fn set(uid: u32) -> std::io::Result<()> {
    let write = |uid: u32| fs::write(FILE, uid.to_string());
    match write(uid) {
        // Where one that is set may only be unset.
        Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
            write(UNSET).and_then(|()| write(uid))
        }
        other => other,
    }
}

/// Whether nobody has the measured programs' login uid; those of an earlier trial may still be dying.
pub(crate) fn is_free() -> Result<(), String> {
    for _ in 0..50 {
        if holder().is_none() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    holder().map_or(Ok(()), |pid| {
        Err(format!("process {pid} has the login uid {SENTINEL}, by which unixmark tells its programs apart; end it"))
    })
}

fn holder() -> Option<String> {
    let sentinel = SENTINEL.to_string();
    let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    pids.filter(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()))
        .find(|pid| fs::read_to_string(format!("/proc/{pid}/loginuid")).is_ok_and(|text| text.trim() == sentinel))
}

/// The rule by which nobody else is audited from its start on, which costs them nothing then.
pub(crate) fn nobody_else() -> Rule {
    task(op::NOT_EQUAL)
}

/// The rule by which the measured programs are not audited from their start on.
pub(crate) fn not_us() -> Rule {
    task(op::EQUAL)
}

fn task(op: u32) -> Rule {
    let mut rule = Rule::new(list::TASK, NEVER);
    rule.fields.push(Field::number(field::LOGIN_UID, op, SENTINEL));
    rule
}

/// Has a rule match the measured programs only, and not the tool that starts them where another process receives the
/// records: the kernel spares the receiver itself.
pub(crate) fn only_us(mut rule: Rule, spared: Option<u32>) -> Rule {
    // A key comes last, as auditctl has it.
    let place = rule.fields.iter().position(|one| one.id == field::KEY).unwrap_or(rule.fields.len());
    rule.fields.insert(place, Field::number(field::LOGIN_UID, op::EQUAL, SENTINEL));
    if let Some(pid) = spared {
        rule.fields.insert(place + 1, Field::number(field::PID, op::NOT_EQUAL, pid));
    }
    rule
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::ALWAYS;

    #[test]
    fn the_sentinel_stands_before_the_key() {
        let mut rule = Rule::new(list::EXIT, ALWAYS);
        rule.fields.push(Field::number(field::ARCH, op::EQUAL, 1));
        rule.fields.push(Field::text(field::KEY, op::EQUAL, "k"));
        let ids = |rule: &Rule| rule.fields.iter().map(|one| one.id).collect::<Vec<_>>();
        assert_eq!(ids(&only_us(rule.clone(), None)), [field::ARCH, field::LOGIN_UID, field::KEY]);
        assert_eq!(ids(&only_us(rule, Some(3))), [field::ARCH, field::LOGIN_UID, field::PID, field::KEY]);
    }
}
