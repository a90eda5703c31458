//! Durations.

use std::time::Duration;

use crate::{NOTHING, count, figure};

/// A duration as people write it: `45 s`, `2 min 5 s`, `1 h 10 min`.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A duration in seconds, with tenths below ten: `0.4 s`, `2 min 5 s`.
pub fn duration(seconds: f64) -> String {
    match Duration::try_from_secs_f64(seconds) {
        Ok(_) if seconds < 9.95 => format!("{seconds:.1} s"),
        Ok(time) => clock(time),
        Err(_) => NOTHING.to_owned(),
    }
}

/// How long something has been running, in its two largest units: `12 min`, `8 h 2 min`, `3
/// days 2 h`.
pub fn uptime(seconds: f64) -> String {
    let minutes = seconds as u64 / 60;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, 0, _) => count(days, "day"),
        (days, hours, _) => format!("{} {hours} h", count(days, "day")),
    }
}

/// The length of a window in seconds, with tenths below ten and hundredths below one: `60
/// s`, `1.5 s`, `0.25 s`.
pub fn seconds(length: f64) -> String {
    match length {
        length if !length.is_finite() => NOTHING.to_owned(),
        length if length >= 9.95 => format!("{length:.0} s"),
        length if length >= 0.95 => format!("{} s", (length * 10.0).round() / 10.0),
        length => format!("{} s", (length * 100.0).round() / 100.0),
    }
}

/// A time in ns with three figures in the unit that suits it: `23.2 µs`.
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        ns if !ns.is_finite() => NOTHING.to_owned(),
        ns if ns < 999.5 => format!("{} ns", figure(ns)),
        ns if ns < 999.5e3 => format!("{} µs", figure(ns / 1e3)),
        ns if ns < 999.5e6 => format!("{} ms", figure(ns / 1e6)),
        ns => format!("{} s", figure(ns / 1e9)),
    }
}

/// Units of time, each with its seconds.
const UNITS: [(&str, f64); 6] =
    [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("us", 1e-6), ("ns", 1e-9), ("ps", 1e-12)];

/// A time below this many of its unit is written in a smaller one: less than three figures of it
/// would be left.
const MIN_OF_UNIT: f64 = 0.01;

/// From this many of its unit on, a time is written in a larger one.
const MAX_OF_UNIT: f64 = 1e4;

/// Another unit that suits a time of `value` in `unit`, and how many of it are one `unit`:
/// `µs` and 1e6 of 2.2e-5 `s`, `ms` of 1.5e8 `ns`. A unit may be per something (`s/op`). `None`
/// where the unit is none of time, or suits.
pub fn suited_unit(value: f64, unit: &str) -> Option<(String, f64)> {
    let (time, per) = unit.split_at(unit.find('/').unwrap_or(unit.len()));
    let (name, seconds) = UNITS.into_iter().find(|(name, _)| *name == time)?;
    let size = value.abs();
    let is_suited = (MIN_OF_UNIT..MAX_OF_UNIT).contains(&size);
    if size == 0.0 || is_suited || !size.is_finite() || (name == "s" && size >= MAX_OF_UNIT) {
        return None;
    }

    let suits = |(_, worth): &(&str, f64)| size * seconds >= *worth;
    let (name, worth) = UNITS.into_iter().find(suits).unwrap_or(UNITS[UNITS.len() - 1]);
    Some((format!("{name}{per}"), seconds / worth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_get_a_unit_in_which_they_have_figures() {
        for (value, unit, expected) in [
            (2.2e-5, "s", Some("µs")),
            (1.2e-7, "s/op", Some("ns/op")),
            (0.0042, "ms", Some("µs")),
            (3e-14, "s", Some("ps")),
            (1.5e8, "ns/op", Some("ms/op")),
            (2172.6, "ns", None),
            (15_000.0, "ms", Some("s")),
            (15_000.0, "s", None),
            (0.02, "s", None),
            (0.0, "s", None),
            (f64::NAN, "s", None),
            (2.2e-5, "lps", None),
            (2.2e-5, "MB/s", None),
        ] {
            let found = suited_unit(value, unit).map(|(name, _)| name);
            assert_eq!(found.as_deref(), expected, "{value} {unit}");
        }
        let (_, factor) = suited_unit(2.2e-5, "s").unwrap();
        assert!((2.2e-5 * factor - 22.0).abs() < 1e-9);
    }

    #[test]
    fn units_suit_the_length() {
        for (ns, shown) in
            [(12.3, "12.3 ns"), (23_200.0, "23.2 µs"), (999.6e3, "1.00 ms"), (2.5e9, "2.50 s")]
        {
            assert_eq!(nanoseconds(ns), shown);
        }

        for (s, shown) in
            [(0.04, "0.0 s"), (9.94, "9.9 s"), (125.0, "2 min 5 s"), (4200.0, "1 h 10 min")]
        {
            assert_eq!(duration(s), shown);
        }

        for (s, shown) in [
            (59.0, "0 min"),
            (28_920.0, "8 h 2 min"),
            (266_400.0, "3 days 2 h"),
            (86_400.0, "1 day"),
        ] {
            assert_eq!(uptime(s), shown);
        }
        for (s, shown) in
            [(0.4, "0.4 s"), (0.2497, "0.25 s"), (0.996, "1 s"), (59.7, "60 s"), (f64::NAN, "-")]
        {
            assert_eq!(seconds(s), shown);
        }

        assert_eq!(duration(f64::NAN), "-");
    }
}
