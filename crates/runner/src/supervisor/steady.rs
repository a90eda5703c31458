//! Judges when a load is steady, by its own throughput.
//!
//! A load works before the window opens, and says ten times a second how much it has done
//! ([`Pulse`]). It is steady when the two halves of the last `settle` have about the same rate.

use std::time::Duration;

use crate::protocol::Pulse;

/// The two halves may differ by this share of the higher rate.
const MAX_DIFFERENCE: f64 = 0.2;

/// A load's throughput before the window opened, while it works alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LoadAlone {
    /// Counts per second.
    pub rate: f64,
    /// True if it had become steady.
    pub is_steady: bool,
}

impl LoadAlone {
    /// The throughput over the last `settle` of `pulses`, if the load is steady.
    pub fn if_steady(pulses: &[Pulse], settle: Duration) -> Option<LoadAlone> {
        let settle = super::ns(settle);
        let last = *pulses.last()?;
        let first = last_pulse_until(pulses, last.ns.saturating_sub(settle))?;
        let middle = last_pulse_until(pulses, last.ns.saturating_sub(settle / 2))?;

        let early = rate(first, middle);
        let late = rate(middle, last);
        // A count more or less is no change: a slow load has few of them.
        let one_count = 1.0 / seconds(middle, last).max(1e-9);
        let is_steady =
            (early - late).abs() <= MAX_DIFFERENCE * early.max(late) + one_count && late > 0.0;

        is_steady.then(|| LoadAlone { rate: rate(first, last), is_steady })
    }

    /// The throughput since `start` (ns of CLOCK_MONOTONIC) of a load that did not become steady.
    pub fn unsteady(start: u64, pulses: &[Pulse]) -> LoadAlone {
        let start = Pulse { ns: start, count: 0 };
        let rate = pulses.last().map_or(0.0, |last| rate(start, *last));
        LoadAlone { rate, is_steady: false }
    }
}

fn last_pulse_until(pulses: &[Pulse], ns: u64) -> Option<Pulse> {
    pulses.iter().rev().find(|pulse| pulse.ns <= ns).copied()
}

fn seconds(from: Pulse, to: Pulse) -> f64 {
    to.ns.saturating_sub(from.ns) as f64 / 1e9
}

/// Counts per second between two pulses; 0 if no time lies between them.
fn rate(from: Pulse, to: Pulse) -> f64 {
    let seconds = seconds(from, to);
    if seconds > 0.0 { to.count.saturating_sub(from.count) as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pulses every 100 ms with these counts between them.
    fn pulses(counts: &[u64]) -> Vec<Pulse> {
        let mut pulse = Pulse { ns: 0, count: 0 };
        let mut pulses = Vec::new();
        for count in counts {
            pulse = Pulse { ns: pulse.ns + 100_000_000, count: pulse.count + count };
            pulses.push(pulse);
        }
        pulses
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn even_work_is_steady_after_the_time() {
        let even = pulses(&[50; 11]);
        assert_eq!(LoadAlone::if_steady(&even[..10], SECOND), None, "too short");
        let steady = LoadAlone { rate: 500.0, is_steady: true };
        assert_eq!(LoadAlone::if_steady(&even, SECOND), Some(steady));
    }

    #[test]
    fn a_start_is_waited_out() {
        let mut counts = vec![0, 0, 5, 10, 20, 30, 40, 50, 50, 50, 50];
        assert_eq!(LoadAlone::if_steady(&pulses(&counts), SECOND), None);
        counts.extend([50; 8]);
        assert!(LoadAlone::if_steady(&pulses(&counts), SECOND).unwrap().rate > 450.0);
    }

    #[test]
    fn nothing_is_never_steady() {
        assert_eq!(LoadAlone::if_steady(&pulses(&[0; 30]), SECOND), None);
        assert_eq!(LoadAlone::unsteady(0, &pulses(&[10; 10])).rate, 100.0);
        assert_eq!(LoadAlone::unsteady(0, &[]).rate, 0.0);
    }
}
