//! Follows the output of a meter: a line per reading, with the joules so far.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};

use crate::protocol::short;
use crate::supervisor::monotonic_ns;
use journal::Energy;

/// A longer line is no number.
const MAX_LINE_BYTES: u64 = 64;

/// So many readings are kept, the last: more than a long window of a fast meter has.
const MAX_READINGS: usize = 100_000;

/// A thread that waits for readings. It wakes for each of them, as the meter does.
#[derive(Debug, Clone, Default)]
pub(super) struct Follower(Arc<Mutex<Readings>>);

#[derive(Debug, Default)]
struct Readings {
    kept: VecDeque<MeterReading>,
    /// Why there are no more; empty if the meter closed its output.
    failure: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct MeterReading {
    /// The moment when its line came, in ns of CLOCK_MONOTONIC.
    at: u64,
    /// The joules so far.
    joules: f64,
}

impl Follower {
    /// Follows what a meter prints until it ends or prints something else.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(output: impl Read + Send + 'static) -> Result<Follower> {
        let follower = Follower::default();
        let readings = follower.clone();
        let thread = std::thread::Builder::new().name("meter".to_owned());
        thread.spawn(move || readings.follow(output)).context("the meter cannot be followed")?;
        Ok(follower)
    }

    fn follow(&self, output: impl Read) {
        let mut lines = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = (&mut lines).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).unwrap_or(0);
            let now = monotonic_ns();

            let mut readings = self.readings();
            let added = if count == 0 { Err(String::new()) } else { readings.add(now, &line) };
            if let Err(why) = added {
                readings.failure = Some(why);
                return;
            }
        }
    }

    /// The moment of the last reading, in ns of CLOCK_MONOTONIC.
    pub fn last_moment(&self) -> Option<u64> {
        self.readings().kept.back().map(|reading| reading.at)
    }

    /// Why there are no more readings: empty if the meter closed its output, `None` if it still
    /// gives readings.
    pub fn failure(&self) -> Option<String> {
        self.readings().failure.clone()
    }

    /// The energy between the first and the last reading that came from `from` to `to`. `None` if
    /// these readings cover less than half of that time. A reading across an edge is not used,
    /// since an unknown share of its joules lies outside.
    pub fn between(&self, from: u64, to: u64) -> Option<Energy> {
        let readings = self.readings();
        let mut inside = readings.kept.iter().filter(|reading| (from..=to).contains(&reading.at));
        let first = inside.next()?;
        let last = inside.next_back()?;

        let joules = last.joules - first.joules;
        let span = last.at - first.at;
        (joules > 0.0 && 2 * span >= to - from).then(|| Energy::new(joules, span as f64 / 1e9))
    }

    fn readings(&self) -> MutexGuard<'_, Readings> {
        // The mutex may be poisoned: a thread that panics leaves whole readings.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Readings {
    /// Adds the reading of a line that came at `now`.
    ///
    /// # Errors
    /// The line is no number, or the joules went back.
    fn add(&mut self, now: u64, line: &[u8]) -> Result<(), String> {
        let joules = parse_joules(line)?;
        if let Some(before) = self.kept.back().filter(|before| joules < before.joules) {
            return Err(format!("it went back from {} to {joules} J", before.joules));
        }

        if self.kept.len() >= MAX_READINGS {
            self.kept.pop_front();
        }
        self.kept.push_back(MeterReading { at: now, joules });
        Ok(())
    }
}

/// The joules that a whole line gives.
fn parse_joules(line: &[u8]) -> Result<f64, String> {
    let text = String::from_utf8_lossy(line);
    let is_whole = line.ends_with(b"\n");
    match text.trim().parse::<f64>() {
        Ok(joules) if is_whole && joules.is_finite() && joules >= 0.0 => Ok(joules),
        _ => Err(format!("'{}' is not a number of joules", short(text.trim()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn follower(readings: &[(u64, &str)]) -> (Follower, Result<(), String>) {
        let follower = Follower::default();
        let added = readings.iter().try_for_each(|(at, line)| {
            let line = format!("{line}\n");
            follower.readings().add(*at, line.as_bytes())
        });
        (follower, added)
    }

    #[test]
    fn the_readings_inside_a_window_count() {
        let lines: Vec<(u64, String)> =
            (0..=20).map(|tenth| (tenth * SECOND / 10, format!("{}", 5 * tenth))).collect();
        let lines: Vec<(u64, &str)> = lines.iter().map(|(at, line)| (*at, line.as_str())).collect();
        let (meter, added) = follower(&lines);
        assert_eq!(added, Ok(()));
        let watts = |from: u64, to: u64| meter.between(from, to).and_then(|energy| energy.watts());
        assert_eq!(watts(SECOND, 2 * SECOND), Some(50.0));
        // From 1.05 s to 1.35 s there are readings at 1.1, 1.2 and 1.3 s.
        let energy = meter.between(SECOND * 105 / 100, SECOND * 135 / 100).unwrap();
        assert_eq!((energy.joules, energy.seconds), (10.0, 0.2));
        assert_eq!(watts(SECOND * 105 / 100, SECOND * 115 / 100), None, "one reading is none");
        assert_eq!(watts(SECOND * 19 / 10, SECOND * 3), None, "it was silent for most of it");
        assert_eq!(watts(SECOND * 5, SECOND * 6), None);
    }

    #[test]
    fn what_is_no_reading() {
        for line in ["", "x", "NaN", "inf", "-1", "1 2", "watts 5", "\u{1b}[31m5", "1,5"] {
            let why = parse_joules(format!("{line}\n").as_bytes()).unwrap_err();
            assert!(why.ends_with("is not a number of joules") && !why.contains('\u{1b}'), "{why}");
        }
        assert_eq!(parse_joules(b" 12.5 \n"), Ok(12.5));
        assert!(parse_joules(b"12.5").is_err(), "half a line");
        let back = follower(&[(1, "5"), (2, "4")]).1;
        assert_eq!(back, Err("it went back from 5 to 4 J".to_owned()));
        assert_eq!(
            follower(&[(1, "5"), (2, "5")]).0.between(0, 3),
            None,
            "a counter that stands still"
        );
    }
}
