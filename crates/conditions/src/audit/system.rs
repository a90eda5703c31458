//! The system on which auditing is switched.

use std::sync::Arc;

use machine::{Machine, auditing::mark};
use rustix::io::Errno;

use crate::audit::kernel::{Kernel, Setting, Status};
use crate::audit::netlink::Netlink;
use crate::audit::rule::{Rule, field};
use crate::audit::scope::SENTINEL;

/// The place where auditing is switched: the kernel, and the machine's files.
#[derive(Clone)]
pub(crate) struct System {
    pub kernel: Arc<dyn Kernel>,
    pub machine: Machine,
}

impl System {
    /// Opens the running system.
    ///
    /// # Errors
    /// A sentence saying what is missing.
    pub(crate) fn here() -> Result<System, String> {
        let kernel = Netlink::open().map_err(unanswered_reason)?;
        Ok(System { kernel: Arc::new(kernel), machine: Machine::here() })
    }

    pub(crate) fn status(&self) -> Result<Status, String> {
        self.kernel.status().map_err(unanswered_reason)
    }

    pub(crate) fn rules(&self) -> Result<Vec<Rule>, String> {
        self.kernel.rules().map_err(unanswered_reason)
    }

    /// Switches auditing on, and writes down first that it was.
    pub(crate) fn switch_on(&self) -> Result<(), String> {
        mark(&self.machine)?;
        self.kernel
            .set(Setting::Enabled, 1)
            .map_err(|error| format!("auditing cannot be switched on: {error}"))
    }

    /// Adds a rule of the tool's own, before all others; that it is there already is fine.
    pub(crate) fn prepend(&self, rule: &Rule) -> Result<(), String> {
        debug_assert!(rule.compares(field::LOGIN_UID, SENTINEL), "restoring would not find it");
        match self.kernel.prepend(rule) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(format!("the kernel refuses a rule `task,never`: {error}")),
        }
    }
}

/// Why the kernel does not answer.
fn unanswered_reason(error: Errno) -> String {
    match error {
        Errno::PERM => "it needs root, or CAP_AUDIT_CONTROL in the initial PID namespace".to_owned(),
        Errno::CONNREFUSED => {
            "auditing can only be set in the initial user namespace, and not if the kernel was started with audit=0"
                .to_owned()
        }
        Errno::PROTONOSUPPORT => "this kernel was built without auditing (CONFIG_AUDIT)".to_owned(),
        error => format!("the audit subsystem does not answer ({error})"),
    }
}
