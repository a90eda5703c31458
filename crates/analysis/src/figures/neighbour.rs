//! Visible neighbours: what the kernel's accounts show of others that used the machine while a
//! trial was measured. What they do not show, [`super::quiet`] infers.

use serde::{Deserialize, Serialize};

use crate::figures::rate;
use journal::{Cell, Trial};

/// Processors that other programs may keep busy during an undisturbed window. Writing back a test's
/// own files takes up to a tenth of one.
const MAX_FOREIGN_CPUS: f64 = 0.15;

/// Share of the window during which something waited for a processor, above which foreign programs
/// count as competing with the test.
const MAX_WAITING_SHARE: f64 = 0.25;

/// Share of the processors' time that the hypervisor may take from an undisturbed window: one tick
/// of a short one.
const MAX_STEAL_SHARE: f64 = 0.03;

/// Who else used the machine while a trial was measured, from the kernel's accounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbour {
    /// Other programs competed with the test for processors.
    Competing,
    /// Other programs ran on processors that the test did not need.
    Beside,
    /// The hypervisor gave the processors to other guests.
    Hypervisor,
}

/// The neighbour that disturbed a trial by the kernel's accounts; `None` if there was none, or the
/// journal does not say.
pub(crate) fn visible_neighbour(cell: &Cell, trial: &Trial, cpus: usize) -> Option<Neighbour> {
    let window = rate::window_seconds(trial);
    if window <= 0.0 {
        return None;
    }
    let noise = trial.noise.as_ref()?;

    let foreign_cpus = rate::foreign_cpu_seconds(cell, trial).map(|seconds| seconds / window);
    if foreign_cpus.is_some_and(|cpus| cpus > MAX_FOREIGN_CPUS) {
        let waiting_share = noise.psi_cpu_some_s.map(|seconds| seconds / window);
        return Some(match waiting_share {
            Some(share) if share > MAX_WAITING_SHARE => Neighbour::Competing,
            _ => Neighbour::Beside,
        });
    }

    let steal_share = noise.steal_s? / (window * cpus.max(1) as f64);
    (steal_share > MAX_STEAL_SHARE).then_some(Neighbour::Hypervisor)
}
