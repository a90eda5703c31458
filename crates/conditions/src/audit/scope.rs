//! Whom auditing is for: the measured programs, recognised by a login uid that nobody else has.
//! They inherit it from the thread that starts them, so nobody else on the machine is audited or
//! slowed down.

use std::fs;
use std::path::PathBuf;

use machine::Machine;
use processes::{is_dead, retry};
use rustix::io::Errno;

use crate::audit::rule::{Field, NEVER, Rule, field, list, op};
use crate::audit::samples::pids;

/// The login uid of the measured programs: "umar" in ASCII, larger than any that systems give to
/// people.
pub(crate) const SENTINEL: u32 = 0x756d_6172;

/// A login uid that is not set.
const UNSET: u32 = u32::MAX;

/// The login uid of the thread that starts programs; dropping this sets it back.
#[derive(Debug)]
pub(crate) struct LoginUid {
    file: PathBuf,
    before: u32,
}

impl LoginUid {
    /// Gives the calling thread the measured programs' login uid.
    pub(crate) fn set(machine: &Machine) -> Result<LoginUid, String> {
        let failed = |error: std::io::Error| {
            format!("the login uid cannot be set ({error}); it needs CAP_AUDIT_CONTROL")
        };
        let file = machine.path("/proc/thread-self/loginuid");
        let before = fs::read_to_string(&file).map_err(failed)?.trim().parse().unwrap_or(UNSET);

        let login_uid = LoginUid { file, before };
        login_uid.write(SENTINEL).map_err(failed)?;
        Ok(login_uid)
    }

    fn write(&self, uid: u32) -> std::io::Result<()> {
        match files::overwrite(&self.file, uid.to_string()) {
            // Some kernels only let one that is set be unset.
            Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => {
                files::overwrite(&self.file, UNSET.to_string())?;
                files::overwrite(&self.file, uid.to_string())
            }
            other => other,
        }
    }
}

impl Drop for LoginUid {
    fn drop(&mut self) {
        let _ = self.write(self.before);
    }
}

/// Checks that nobody has the measured programs' login uid; those of an earlier trial may still be
/// dying.
pub(crate) fn check_login_uid_is_free(machine: &Machine) -> Result<(), String> {
    retry(|| match pids(machine).find(|pid| has_sentinel(machine, *pid)) {
        Some(pid) => Err(pid),
        None => Ok(()),
    })
    .map_err(|pid| {
        format!("process {pid} has the login uid {SENTINEL}, by which unixmark recognises its programs; end it")
    })
}

/// True if a process has the measured programs' login uid. One that has ended and is not reaped yet
/// makes no system calls, and does not count.
fn has_sentinel(machine: &Machine, pid: u32) -> bool {
    machine.read(&format!("/proc/{pid}/loginuid")) == Some(SENTINEL.to_string())
        && !machine.read(&format!("/proc/{pid}/stat")).is_some_and(|stat| is_dead(&stat))
}

/// The rule by which nobody else is audited from its start on, which costs them nothing
/// then.
pub(crate) fn exclude_others() -> Rule {
    never_task(op::NOT_EQUAL)
}

/// The rule by which the measured programs are not audited from their start on.
pub(crate) fn exclude_programs() -> Rule {
    never_task(op::EQUAL)
}

fn never_task(op: u32) -> Rule {
    let mut rule = Rule::new(list::TASK, NEVER);
    rule.fields.push(Field::number(field::LOGIN_UID, op, SENTINEL));
    rule
}

/// Limits a rule to the measured programs; `spared` is a process that has their login uid too and
/// is left out: the tool, unless it receives the records, as the kernel spares the receiver itself.
pub(crate) fn limit_to_programs(mut rule: Rule, spared: Option<u32>) -> Rule {
    // A key comes last, as auditctl has it.
    let key_place = rule.fields.iter().position(|field| field.id == field::KEY);
    let place = key_place.unwrap_or(rule.fields.len());
    rule.fields.insert(place, Field::number(field::LOGIN_UID, op::EQUAL, SENTINEL));
    if let Some(pid) = spared {
        rule.fields.insert(place + 1, Field::number(field::PID, op::NOT_EQUAL, pid));
    }
    rule
}

/// True if a rule is of the tool's making.
pub(crate) fn is_own(rule: &Rule) -> bool {
    rule.compares(field::LOGIN_UID, SENTINEL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::rule::ALWAYS;

    #[test]
    fn the_sentinel_stands_before_the_key() {
        let mut rule = Rule::new(list::EXIT, ALWAYS);
        rule.fields.push(Field::number(field::ARCH, op::EQUAL, 1));
        rule.fields.push(Field::text(field::KEY, op::EQUAL, "k"));
        let ids = |rule: &Rule| rule.fields.iter().map(|field| field.id).collect::<Vec<_>>();
        assert_eq!(
            ids(&limit_to_programs(rule.clone(), None)),
            [field::ARCH, field::LOGIN_UID, field::KEY]
        );
        let spared = limit_to_programs(rule, Some(3));
        assert_eq!(ids(&spared), [field::ARCH, field::LOGIN_UID, field::PID, field::KEY]);
    }
}
