//! The steadiness of a load, by its own throughput.

use std::time::Duration;

/// The most by which the two halves of the time that is judged may differ.
const TOLERANCE: f64 = 0.2;

/// A load's throughput before the window opened: what it does alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Steady {
    /// Counts per second.
    pub rate: f64,
    /// True if it had become steady.
    pub steady: bool,
}

impl Steady {
    /// Returns the throughput over the last `settle` of `pulses` (ns and count), if its two halves differ by no more
    /// than a fifth, or by a count.
    pub fn judge(pulses: &[(u64, u64)], settle: Duration) -> Option<Steady> {
        let last = *pulses.last()?;
        let length = super::ns(settle);
        let before = |ns: u64| pulses.iter().rev().find(|pulse| pulse.0 <= last.0.saturating_sub(ns)).copied();
        let (first, middle) = (before(length)?, before(length / 2)?);
        let (early, late) = (rate(first, middle), rate(middle, last));
        let one = 1.0 / seconds(middle, last).max(1e-9);
        let steady = (early - late).abs() <= TOLERANCE * early.max(late) + one && late > 0.0;
        steady.then(|| Steady { rate: rate(first, last), steady })
    }

    /// Returns the throughput since `start` of a load that did not become steady.
    pub fn never(start: u64, pulses: &[(u64, u64)]) -> Steady {
        let rate = pulses.last().map_or(0.0, |last| rate((start, 0), *last));
        Steady { rate, steady: false }
    }
}

fn seconds(from: (u64, u64), to: (u64, u64)) -> f64 {
    to.0.saturating_sub(from.0) as f64 / 1e9
}

fn rate(from: (u64, u64), to: (u64, u64)) -> f64 {
    let seconds = seconds(from, to);
    if seconds > 0.0 { to.1.saturating_sub(from.1) as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pulses every 100 ms with these counts between them.
    fn pulses(counts: &[u64]) -> Vec<(u64, u64)> {
        let mut sum = 0;
        let mut at = 0;
        let pulse = |count: &u64| {
            sum += count;
            at += 100_000_000;
            (at, sum)
        };
        counts.iter().map(pulse).collect()
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn even_work_is_steady_after_the_time() {
        let even = pulses(&[50; 11]);
        assert_eq!(Steady::judge(&even[..10], SECOND), None, "too short");
        assert_eq!(Steady::judge(&even, SECOND), Some(Steady { rate: 500.0, steady: true }));
    }

    #[test]
    fn a_start_is_waited_out() {
        let mut counts = vec![0, 0, 5, 10, 20, 30, 40, 50, 50, 50, 50];
        assert_eq!(Steady::judge(&pulses(&counts), SECOND), None);
        counts.extend([50; 8]);
        assert!(Steady::judge(&pulses(&counts), SECOND).unwrap().rate > 450.0);
    }

    #[test]
    fn nothing_is_never_steady() {
        assert_eq!(Steady::judge(&pulses(&[0; 30]), SECOND), None);
        assert_eq!(Steady::never(0, &pulses(&[10; 10])).rate, 100.0);
        assert_eq!(Steady::never(0, &[]).rate, 0.0);
    }
}
