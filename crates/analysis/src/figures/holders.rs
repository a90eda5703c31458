//! The causes of late frames, summed over trials: what ran while a frame waited, by a trace of the
//! scheduler.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::figures::rate::MS;
use journal::{Cause, Frames};

/// Worst frames that are shown.
pub(crate) const MAX_WORST_FRAMES: usize = 32;

/// Late frames and their causes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct HeldUp {
    /// The number of late frames, without slots that have no frame.
    pub late: u64,
    /// The number of late frames that the trace explains.
    pub traced: u64,
    /// The causes, the most frequent first.
    pub causes: Vec<Cause>,
    /// The worst frames, longest first: the latency in ms, and the causes with ms each.
    pub worst: Vec<(f64, Vec<(String, f64)>)>,
}

impl HeldUp {
    /// What delayed the frames of one copy; `None` unless the scheduler was traced.
    fn new(frames: &Frames) -> Option<HeldUp> {
        let holders = frames.holders.as_ref()?;
        let mut worst = Vec::new();
        for (frame, waits) in frames.worst.iter().zip(&holders.worst) {
            if waits.is_empty() {
                continue;
            }
            let latency_ms = frame.latency(&frames.schedule).unwrap_or(0) as f64 / MS;
            let waits = waits.iter().map(|(name, ns)| (name.clone(), *ns as f64 / MS));
            worst.push((latency_ms, waits.collect()));
        }
        let (late, traced, causes) = (holders.late, holders.traced, holders.causes.clone());
        Some(HeldUp { late, traced, causes, worst })
    }

    /// The sum of several, with the worst frames of all.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a HeldUp>) -> HeldUp {
        let mut sum = HeldUp::default();
        let mut causes: BTreeMap<&str, Cause> = BTreeMap::new();
        for held_up in all {
            sum.late = sum.late.saturating_add(held_up.late);
            sum.traced = sum.traced.saturating_add(held_up.traced);
            for Cause { name, frames, ns } in &held_up.causes {
                let known = causes.entry(name).or_insert_with(|| Cause {
                    name: name.clone(),
                    frames: 0,
                    ns: 0,
                });
                known.frames = known.frames.saturating_add(*frames);
                known.ns = known.ns.saturating_add(*ns);
            }
            sum.worst.extend(held_up.worst.iter().cloned());
        }

        // Stable: of equal causes the first by name comes first.
        sum.causes = causes.into_values().collect();
        sum.causes.sort_by_key(|cause| Reverse((cause.frames, cause.ns)));
        sum.worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        sum.worst.truncate(MAX_WORST_FRAMES);
        sum
    }
}

/// What delayed the late frames of all trials; `None` unless the scheduler was traced.
pub(crate) fn holders<'a>(all: impl Iterator<Item = &'a Frames>) -> Option<HeldUp> {
    let by_copy: Vec<HeldUp> = all.filter_map(HeldUp::new).collect();
    (!by_copy.is_empty()).then(|| HeldUp::sum(&by_copy))
}
