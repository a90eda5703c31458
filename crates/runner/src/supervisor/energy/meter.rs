//! The output of a meter, taken in as it comes: a line per reading, the joules so far.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};

use crate::protocol::short;
use crate::supervisor::monotonic;
use journal::Energy;

/// Bytes of a line beyond which it is no number.
const LONGEST: u64 = 64;

/// The most readings that are kept: more than a long window of a fast meter has.
const KEPT: usize = 100_000;

/// A thread that waits for readings. It wakes for each of them, as the meter does.
#[derive(Debug, Clone, Default)]
pub(super) struct Follower(Arc<Mutex<Readings>>);

#[derive(Debug, Default)]
struct Readings {
    /// The moment of each, in ns of CLOCK_MONOTONIC, and its joules.
    kept: VecDeque<(u64, f64)>,
    /// Why there are no more; empty if the meter closed its output.
    failure: Option<String>,
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
            let count = (&mut lines).take(LONGEST).read_until(b'\n', &mut line).unwrap_or(0);
            let now = monotonic();
            let mut readings = self.readings();
            if let Err(why) = if count == 0 { Err(String::new()) } else { readings.add(now, &line) } {
                readings.failure = Some(why);
                return;
            }
        }
    }

    /// Returns when the last reading came.
    pub fn last(&self) -> Option<u64> {
        self.readings().kept.back().map(|(at, _)| *at)
    }

    /// Returns why there are no more readings, if there are none; an empty text if the meter closed its output.
    pub fn failure(&self) -> Option<String> {
        self.readings().failure.clone()
    }

    /// Returns what lies between the first and the last reading of a time; `None` if that is less than half of it. A
    /// reading across an edge includes an unknown share of what lies outside.
    pub fn between(&self, from: u64, to: u64) -> Option<Energy> {
        let readings = self.readings();
        let mut inside = readings.kept.iter().filter(|(at, _)| (from..=to).contains(at));
        let (first, last) = (inside.next()?, inside.next_back()?);
        let (joules, span) = (last.1 - first.1, last.0 - first.0);
        (joules > 0.0 && 2 * span >= to - from).then(|| Energy::new(joules, span as f64 / 1e9))
    }

    /// A thread that panicked left whole readings behind.
    fn readings(&self) -> MutexGuard<'_, Readings> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Readings {
    /// Takes in a line that came `now`.
    fn add(&mut self, now: u64, line: &[u8]) -> Result<(), String> {
        let joules = number_of(line)?;
        if let Some((_, before)) = self.kept.back().filter(|(_, before)| joules < *before) {
            return Err(format!("it went back from {before} to {joules} J"));
        }
        if self.kept.len() >= KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back((now, joules));
        Ok(())
    }
}

/// Returns the joules that a line says.
fn number_of(line: &[u8]) -> Result<f64, String> {
    let text = String::from_utf8_lossy(line);
    let number = text.trim().parse::<f64>().ok().filter(|joules| joules.is_finite() && *joules >= 0.0);
    number
        .filter(|_| line.ends_with(b"\n"))
        .ok_or_else(|| format!("'{}' is not a number of joules", short(text.trim())))
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
        let lines: Vec<(u64, String)> = (0..=20).map(|tenth| (tenth * SECOND / 10, format!("{}", 5 * tenth))).collect();
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
            let why = number_of(format!("{line}\n").as_bytes()).unwrap_err();
            assert!(why.ends_with("is not a number of joules") && !why.contains('\u{1b}'), "{why}");
        }
        assert_eq!(number_of(b" 12.5 \n"), Ok(12.5));
        assert!(number_of(b"12.5").is_err(), "half a line");
        let back = follower(&[(1, "5"), (2, "4")]).1;
        assert_eq!(back, Err("it went back from 5 to 4 J".to_owned()));
        assert_eq!(follower(&[(1, "5"), (2, "5")]).0.between(0, 3), None, "a counter that stands still");
    }
}
