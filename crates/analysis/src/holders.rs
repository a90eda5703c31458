//! What held late frames up, summed over trials.

use std::collections::BTreeMap;

use serde::Serialize;

use super::latency::{MS, WORST};
use journal::{Cause, Frames};

/// What held late frames up, of all trials.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HeldUp {
    /// Late frames; slots without a frame are not among them.
    pub late: u64,
    /// Those of them that the trace explains.
    pub traced: u64,
    /// What held them up, the most frequent first.
    pub causes: Vec<Cause>,
    /// The worst frames: latency in ms, and what held each up with ms, longest first.
    pub worst: Vec<(f64, Vec<(String, f64)>)>,
}

/// Returns what held the late frames of all trials up.
pub(super) fn holders<'a>(all: impl Iterator<Item = &'a Frames>) -> Option<HeldUp> {
    let mut sum = HeldUp::default();
    let mut causes = BTreeMap::<&str, (u64, u64)>::new();
    let mut traced = all.filter_map(|frames| Some((frames, frames.holders.as_ref()?))).peekable();
    traced.peek()?;
    for (frames, holders) in traced {
        sum.late = sum.late.saturating_add(holders.late);
        sum.traced = sum.traced.saturating_add(holders.traced);
        for Cause { name, frames, ns } in &holders.causes {
            let known = causes.entry(name).or_default();
            *known = (known.0.saturating_add(*frames), known.1.saturating_add(*ns));
        }
        for (frame, waits) in frames.worst.iter().zip(&holders.worst).filter(|(_, waits)| !waits.is_empty()) {
            let waits = waits.iter().map(|(name, ns)| (name.clone(), *ns as f64 / MS)).collect();
            sum.worst.push((frame.latency(&frames.schedule).unwrap_or(0) as f64 / MS, waits));
        }
    }
    sum.causes = causes.into_iter().map(|(name, (frames, ns))| Cause { name: name.to_owned(), frames, ns }).collect();
    sum.causes.sort_by_key(|cause| std::cmp::Reverse((cause.frames, cause.ns)));
    sum.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    sum.worst.truncate(WORST);
    Some(sum)
}
