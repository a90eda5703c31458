//! Durations.

use std::time::Duration;

use crate::{NOTHING, count, figure};

/// Returns a duration as people write it: `45 s`, `2 min 5 s`, `1 h 10 min`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// Returns a duration in seconds, with tenths below ten: `0.4 s`, `2 min 5 s`.
pub fn duration(seconds: f64) -> String {
    match Duration::try_from_secs_f64(seconds) {
        Ok(_) if seconds < 9.95 => format!("{seconds:.1} s"),
        Ok(time) => clock(time),
        Err(_) => NOTHING.to_owned(),
    }
}

/// Returns how long something has been running, in its two largest units: `12 min`, `8 h 2 min`, `3 days 2 h`.
pub fn uptime(seconds: f64) -> String {
    let minutes = seconds as u64 / 60;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, 0, _) => count(days, "day"),
        (days, hours, _) => format!("{} {hours} h", count(days, "day")),
    }
}

/// Returns the length of a window in seconds, with tenths below ten and hundredths below one: `60 s`, `1.5 s`,
/// `0.25 s`.
pub fn seconds(length: f64) -> String {
    match length {
        length if !length.is_finite() => NOTHING.to_owned(),
        length if length >= 9.95 => format!("{length:.0} s"),
        length if length >= 0.95 => format!("{} s", (length * 10.0).round() / 10.0),
        length => format!("{} s", (length * 100.0).round() / 100.0),
    }
}

/// Returns a time in ns with three figures in the unit that suits it: `23.2 µs`.
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if !ns.is_finite() => NOTHING.to_owned(),
        ns if ns < 999.5 => format!("{} ns", figure(ns)),
        ns if ns < 999.5e3 => format!("{} µs", figure(ns / 1e3)),
        ns if ns < 999.5e6 => format!("{} ms", figure(ns / 1e6)),
        ns => format!("{} s", figure(ns / 1e9)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_suit_the_length() {
        for (ns, shown) in [(12.3, "12.3 ns"), (23_200.0, "23.2 µs"), (999.6e3, "1.00 ms"), (2.5e9, "2.50 s")] {
            assert_eq!(nanoseconds(ns), shown);
        }
        for (s, shown) in [(0.04, "0.0 s"), (9.94, "9.9 s"), (125.0, "2 min 5 s"), (4200.0, "1 h 10 min")] {
            assert_eq!(duration(s), shown);
        }
        for (s, shown) in [(59.0, "0 min"), (28_920.0, "8 h 2 min"), (266_400.0, "3 days 2 h"), (86_400.0, "1 day")] {
            assert_eq!(uptime(s), shown);
        }
        for (s, shown) in [(0.4, "0.4 s"), (0.2497, "0.25 s"), (0.996, "1 s"), (59.7, "60 s"), (f64::NAN, "-")] {
            assert_eq!(seconds(s), shown);
        }
        assert_eq!(duration(f64::NAN), "-");
    }
}
