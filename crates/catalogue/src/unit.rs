//! Units that other programs print: which direction is better, and how a value is converted into
//! another unit of the same kind.
//!
//! A unit of time may come first, `ns/op`, or last, `ops/ms`, `ops per second`. The first kind is a
//! time, the second a rate. Two units of a kind can be converted if they differ in the unit of time
//! only.

use super::Metric;

/// Units of time in ps, a whole number for each.
const TIMES: [(&str, f64); 34] = [
    ("ps", 1.0),
    ("ns", 1e3),
    ("nsec", 1e3),
    ("nsecs", 1e3),
    ("nanosecond", 1e3),
    ("nanoseconds", 1e3),
    ("us", 1e6),
    // The micro sign and the Greek letter.
    ("\u{b5}s", 1e6),
    ("\u{3bc}s", 1e6),
    ("usec", 1e6),
    ("usecs", 1e6),
    ("microsecond", 1e6),
    ("microseconds", 1e6),
    ("ms", 1e9),
    ("msec", 1e9),
    ("msecs", 1e9),
    ("millisecond", 1e9),
    ("milliseconds", 1e9),
    ("s", 1e12),
    ("sec", 1e12),
    ("secs", 1e12),
    ("second", 1e12),
    ("seconds", 1e12),
    ("min", 6e13),
    ("mins", 6e13),
    ("minute", 6e13),
    ("minutes", 6e13),
    ("h", 3.6e15),
    ("hr", 3.6e15),
    ("hrs", 3.6e15),
    ("hour", 3.6e15),
    ("hours", 3.6e15),
    ("day", 8.64e16),
    ("days", 8.64e16),
];

/// Letters of the shortest unit of time that may have capitals: `Seconds`, `Sec`.
const MIN_CAPITAL_LETTERS: usize = 3;
/// The minimum, and no minutes.
const MINIMUM: [&str; 2] = ["Min", "MIN"];

/// Rates that are one word, behind a prefix such as `G` or `Ki`.
const RATES: [&str; 14] = [
    "qps", "rps", "tps", "fps", "iops", "ips", "bps", "pps", "flops", "flop/s", "mips", "mwips",
    "wips", "hz",
];

const PREFIXES: [&str; 12] = ["", "k", "m", "g", "t", "p", "ki", "mi", "gi", "ti", "kilo", "giga"];

/// Amounts of which less is better, alone or per piece of work.
const COSTS: [&str; 24] = [
    "B",
    "bytes",
    "KB",
    "kB",
    "MB",
    "GB",
    "KiB",
    "MiB",
    "GiB",
    "allocs",
    "allocations",
    "instructions",
    "cycles",
    "cpucycles",
    "branchinstructions",
    "branchmisses",
    "misses",
    "faults",
    "pagefaults",
    "contextswitches",
    "J",
    "mJ",
    "joules",
    "Joules",
];

/// What is used up: work per piece of it is a rate, `instructions/cycle`, `MB/J`, `ops/W`.
const RESOURCES: [&str; 17] = [
    "cycle",
    "cycles",
    "cpucycles",
    "J",
    "mJ",
    "kJ",
    "joule",
    "joules",
    "Joules",
    "W",
    "mW",
    "watt",
    "watts",
    "Watt",
    "Watts",
    "Wh",
    "kWh",
];

/// Words of events of which more in a second is no gain, `page-faults/s`: they follow the work, or
/// hinder it.
const SIDE_EFFECTS: [&str; 32] = [
    "aborts",
    "allocations",
    "allocs",
    "collisions",
    "conflicts",
    "contextswitches",
    "cs",
    "dropped",
    "drops",
    "error",
    "errors",
    "evictions",
    "failed",
    "failures",
    "faults",
    "gcs",
    "interrupts",
    "irqs",
    "lost",
    "migrations",
    "misses",
    "overruns",
    "pagefaults",
    "pauses",
    "rejected",
    "retransmissions",
    "retransmits",
    "retries",
    "stalls",
    "switches",
    "timeouts",
    "xruns",
];

/// The place of the unit of time.
#[derive(Debug, PartialEq, Eq)]
enum Shape<'u> {
    /// Time per piece of work, which is the rest: empty, or `/op`.
    Time(&'u str),
    /// Work per time.
    Rate(&'u str),
}

/// The kind of figure that has this unit; unknown if the unit does not say.
pub fn metric(unit: &str) -> Metric {
    match parse_shape(unit) {
        Some((Shape::Time(_), _)) => return Metric::Time,
        Some((Shape::Rate(work), _)) if is_no_gain(work) => return Metric::Unknown,
        Some((Shape::Rate(_), _)) => return Metric::Rate,
        None if is_rate_word(unit) || is_per_time(unit) => return Metric::Rate,
        // Divided once more, as B/s/core.
        None if unit.split('/').skip(1).any(is_time) => return Metric::Rate,
        None => {}
    }

    let (amount, divisor) = unit.split_once('/').unwrap_or((unit, ""));
    let is_per_resource = RESOURCES.contains(&divisor) && !RESOURCES.contains(&amount);
    if is_per_resource {
        return if is_no_gain(amount) { Metric::Unknown } else { Metric::Rate };
    }
    if COSTS.contains(&amount) {
        return Metric::Amount;
    }
    // A user's own unit says what is timed: `p99-ms`, `user-ns/op`.
    match last_word(amount).and_then(parse_shape) {
        Some((Shape::Time(""), _)) => Metric::Time,
        _ => Metric::Unknown,
    }
}

/// The kind of figure by its name alone, for formats without units: `parse_ns`, `reads per second`,
/// `tps`. One letter is no unit here.
pub fn metric_of_name(name: &str) -> Metric {
    let last = last_word(name);
    match metric(name) {
        Metric::Rate if parse_shape(name).is_some() || is_rate_word(name) => Metric::Rate,
        Metric::Rate if is_per_time(name) => Metric::Rate,
        Metric::Time if last.is_some_and(|last| last.chars().count() > 1) => Metric::Time,
        _ if last.is_some_and(is_rate_word) => Metric::Rate,
        _ => Metric::Unknown,
    }
}

/// A value in another unit of the same kind; `None` if there is no way to convert it.
pub fn convert(value: f64, from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(value);
    }
    // Only multiplied by and divided by whole numbers, so that 0.1 us are 100 ns to the last bit.
    match (parse_shape(from)?, parse_shape(to)?) {
        ((Shape::Time(rest), own), (Shape::Time(other), wanted)) if rest == other => {
            Some(if own >= wanted { value * (own / wanted) } else { value / (wanted / own) })
        }
        ((Shape::Rate(rest), own), (Shape::Rate(other), wanted)) if rest == other => {
            Some(if wanted >= own { value * (wanted / own) } else { value / (own / wanted) })
        }
        _ => None,
    }
}

/// True of events and energy, of which more in a second is no gain.
fn is_no_gain(work: &str) -> bool {
    let mut words = work.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let is_energy = ["J", "mJ", "kJ"].contains(&work) || work.eq_ignore_ascii_case("joules");
    is_energy || words.any(|word| SIDE_EFFECTS.contains(&word.as_str()))
}

/// True if a value in one unit can be converted to the other.
pub fn are_alike(one: &str, other: &str) -> bool {
    convert(1.0, one, other).is_some()
}

/// The place of the unit of time in a unit, and that unit of time in ps.
fn parse_shape(unit: &str) -> Option<(Shape<'_>, f64)> {
    if let Some(worth) = picoseconds(unit) {
        return Some((Shape::Time(""), worth));
    }

    for between in [" per ", " Per ", "_per_", "-per-", "/"] {
        let Some((work, last)) = unit.rsplit_once(between) else { continue };
        if let Some(worth) = picoseconds(last.trim_end_matches('.')).filter(|_| !work.is_empty()) {
            return Some((Shape::Rate(work.trim()), worth));
        }
    }

    let end = unit.find(['/', ' '])?;
    Some((Shape::Time(&unit[end..]), picoseconds(&unit[..end])?))
}

/// A unit of time in ps.
fn picoseconds(word: &str) -> Option<f64> {
    let may_have_capitals =
        word.is_ascii() && word.len() >= MIN_CAPITAL_LETTERS && !MINIMUM.contains(&word);
    let is_name = |name: &str| name == word || may_have_capitals && name.eq_ignore_ascii_case(word);
    TIMES.iter().find(|(name, _)| is_name(name)).map(|(_, worth)| *worth)
}

fn is_rate_word(word: &str) -> bool {
    let word = word.to_lowercase();
    RATES
        .iter()
        .any(|rate| word.strip_suffix(rate).is_some_and(|prefix| PREFIXES.contains(&prefix)))
}

/// True of a rate that says no work, as `per_second`, and of one word: `requestsPerSecond`.
fn is_per_time(unit: &str) -> bool {
    let mut unit_after = ["per ", "per_", "per-"].iter().filter_map(|per| unit.strip_prefix(per));
    let word = unit.to_lowercase();
    unit_after.any(is_time) || ["persecond", "persec"].iter().any(|end| word.ends_with(end))
}

fn is_time(word: &str) -> bool {
    picoseconds(word).is_some()
}

/// The last of several words; `None` of one alone.
fn last_word(text: &str) -> Option<&str> {
    text.rsplit_once(['_', '-', ' ', '.', '/', ':']).map(|(_, last)| last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn direction_is_what_the_unit_means() {
        for (metric, units) in [
            (
                Metric::Time,
                &[
                    "ns/op",
                    "s",
                    "µs",
                    "Microseconds",
                    "ms/op",
                    "p99-ms",
                    "user-ns/op",
                    "s/byte",
                    "sec/op",
                ][..],
            ),
            (
                Metric::Rate,
                &[
                    "MB/s",
                    "ops/sec",
                    "ops per second",
                    "items_per_second",
                    "events per sec.",
                    "ops/ms",
                    "qps",
                    "krps",
                    "GFLOPS",
                    "Mbps",
                    "MiBps",
                    "FPS",
                    "IOPS",
                    "requests/min",
                    "/s",
                    "per_second",
                    "requestsPerSec",
                    "B/s/core",
                    "instructions/cycle",
                    "B/cycle",
                    "MB/J",
                    "GFLOPS/W",
                    "Ops/Sec",
                    "Requests Per Second",
                    "MHz",
                ],
            ),
            (
                Metric::Amount,
                &["B/op", "allocs/op", "bytes", "misses/op", "instructions/byte", "cycles/J"],
            ),
            (Metric::Unknown, &["", "hit_rate", "hit-ratio", "depth", "counts", "warps", "https"]),
            (
                Metric::Unknown,
                &[
                    "errors/s",
                    "page-faults/sec",
                    "dropped frames per second",
                    "J/s",
                    "misses/cycle",
                ],
            ),
        ] {
            for unit in units {
                assert_eq!(super::metric(unit), metric, "{unit}");
            }
        }
    }

    #[test]
    fn names_tell_only_what_is_plain() {
        for (metric, names) in [
            (Metric::Time, &["parse_ns", "mean ms", "latency-us"][..]),
            (
                Metric::Rate,
                &["tps", "read_iops", "reads per second", "GET requests/s", "requestsPerSecond"],
            ),
            (Metric::Unknown, &["parse", "s", "B", "m", "a_b", "hit_rate", "size_B", "a/s/b"]),
        ] {
            for name in names {
                assert_eq!(metric_of_name(name), metric, "{name}");
            }
        }
    }

    #[test]
    fn times_convert_exactly_and_nothing_else_does() {
        for (value, from, to, expected) in [
            (0.1, "us", "ns", Some(100.0)),
            (25.0, "ms/op", "ns/op", Some(25_000_000.0)),
            (25_000_000.0, "ns/op", "ms/op", Some(25.0)),
            (5.0, "ops/us", "ops/s", Some(5_000_000.0)),
            (120.0, "ops/min", "ops/sec", Some(2.0)),
            (1.5, "min", "s", Some(90.0)),
            (7.0, "hits", "hits", Some(7.0)),
            (5.0, "ops/us", "us/op", None),
            (1.0, "ns", "ns/op", None),
            (1.0, "MB/s", "MiB/s", None),
            (1.0, "B/op", "allocs/op", None),
        ] {
            assert_eq!(convert(value, from, to), expected, "{from} to {to}");
        }
    }
}
