//! What auditing was set to before a trial, as the ledger keeps it.

use serde::{Deserialize, Serialize};

use crate::audit::kernel::Status;

/// The settings that were found, and what a trial makes of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Set if the trial switches auditing on, which was off.
    pub(super) switched_on: bool,
    /// The limit of the queue as it was found, in records.
    pub(super) backlog_limit: u32,
    /// The limit of the queue during the trial, in records.
    pub(super) trial_backlog_limit: u32,
}

impl Found {
    /// The settings to put back after a trial that changes none.
    pub(crate) fn unchanged(status: Status) -> Found {
        let limit = status.backlog_limit;
        Found { switched_on: false, backlog_limit: limit, trial_backlog_limit: limit }
    }

    /// The settings to put back after a trial for which auditing is on, with a queue of `backlog`
    /// records.
    pub(crate) fn on(status: Status, backlog: u32) -> Found {
        let switched_on = status.enabled == 0;
        Found { switched_on, trial_backlog_limit: backlog, ..Found::unchanged(status) }
    }
}
