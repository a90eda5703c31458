//! The causes of late frames, summed over trials.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::rate::MS;
use journal::{Cause, Frames};

/// The number of worst frames that are shown.
pub(super) const WORST: usize = 32;

/// Late frames and their causes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HeldUp {
    /// Late frames; slots without a frame are not among them.
    pub late: u64,
    /// Those of them that the trace explains.
    pub traced: u64,
    /// Their causes, the most frequent first.
    pub causes: Vec<Cause>,
    /// The worst frames: latency in ms, and the causes of each with ms, longest first.
    pub worst: Vec<(f64, Vec<(String, f64)>)>,
}

impl HeldUp {
    /// Returns what held the frames of one copy up; `None` unless the scheduler was traced.
    fn new(frames: &Frames) -> Option<HeldUp> {
        let holders = frames.holders.as_ref()?;
        let known = frames.worst.iter().zip(&holders.worst).filter(|(_, waits)| !waits.is_empty());
        let worst = known.map(|(frame, waits)| {
            let waits = waits.iter().map(|(name, ns)| (name.clone(), *ns as f64 / MS)).collect();
            (frame.latency(&frames.schedule).unwrap_or(0) as f64 / MS, waits)
        });
        let (late, traced, causes) = (holders.late, holders.traced, holders.causes.clone());
        Some(HeldUp { late, traced, causes, worst: worst.collect() })
    }

    /// Returns the sum of several, with the worst frames of all.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a HeldUp>) -> HeldUp {
        let mut sum = HeldUp::default();
        let mut causes = BTreeMap::<&str, (u64, u64)>::new();
        for one in all {
            sum.late = sum.late.saturating_add(one.late);
            sum.traced = sum.traced.saturating_add(one.traced);
            for Cause { name, frames, ns } in &one.causes {
                let known = causes.entry(name).or_default();
                *known = (known.0.saturating_add(*frames), known.1.saturating_add(*ns));
            }
            sum.worst.extend(one.worst.iter().cloned());
        }
        let causes = causes.into_iter().map(|(name, (frames, ns))| Cause { name: name.to_owned(), frames, ns });
        sum.causes = causes.collect();
        sum.causes.sort_by_key(|cause| Reverse((cause.frames, cause.ns)));
        sum.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        sum.worst.truncate(WORST);
        sum
    }
}

/// Returns what held the late frames of all trials up; `None` unless the scheduler was traced.
pub(super) fn holders<'a>(all: impl Iterator<Item = &'a Frames>) -> Option<HeldUp> {
    let each: Vec<HeldUp> = all.filter_map(HeldUp::new).collect();
    (!each.is_empty()).then(|| HeldUp::sum(&each))
}
