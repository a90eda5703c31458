//! The levels at which auditing is off.

use machine::auditing::sign_it_was_on;
use rustix::io::Errno;

use crate::audit::Surroundings;
use crate::audit::found::Found;
use crate::audit::kernel::Setting;
use crate::audit::rule::list;
use crate::audit::scope::{self, LoginUid};
use crate::audit::state::State;
use crate::audit::system::System;
use crate::ledger::Undo;

/// The measured programs are not audited, whatever else is.
pub(crate) struct Off {
    system: System,
    _login_uid: LoginUid,
}

impl Off {
    pub(crate) fn enter(
        system: System,
        state: &State,
        context: &mut Surroundings<'_>,
    ) -> Result<Off, String> {
        scope::check_login_uid_is_free(&system.machine)?;

        (context.record)(Undo::Audit { found: Found::unchanged(state.status) })?;
        system.prepend(&scope::exclude_programs())?;
        let login_uid = LoginUid::set(&system.machine)?;
        let off = Off { system, _login_uid: login_uid };
        off.check()?;
        Ok(off)
    }

    /// Checks that the rule is tried first: what comes before it in its list could decide
    /// otherwise.
    pub(crate) fn check(&self) -> Result<(), String> {
        let rules = self.system.rules()?;
        let first = rules.iter().find(|rule| rule.list == list::TASK);
        if first != Some(&scope::exclude_programs()) {
            return Err("another process changed the rules".to_owned());
        }

        Ok(())
    }
}

/// Auditing is off, after it was on since the machine started.
pub(crate) struct OffAfterOn {
    system: System,
}

impl OffAfterOn {
    pub(crate) fn enter(
        system: System,
        state: &State,
        context: &mut Surroundings<'_>,
    ) -> Result<OffAfterOn, String> {
        if sign_it_was_on(&system.machine).is_none() {
            let found = Found::on(state.status, state.status.backlog_limit);
            (context.record)(Undo::Audit { found })?;
            system.switch_on()?;
            let failed = |error: Errno| format!("auditing cannot be switched off: {error}");
            system.kernel.set(Setting::Enabled, 0).map_err(failed)?;
        }

        let off = OffAfterOn { system };
        off.check()?;
        Ok(off)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        match self.system.status()?.enabled {
            0 => Ok(()),
            _ => Err("another process switched auditing on".to_owned()),
        }
    }
}
