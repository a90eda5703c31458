//! sysbench's text: cpu, memory, fileio, threads, mutex and the database tests. Each prints its
//! rates in its own words, which the tables below have; the latencies are alike:
//!
//! ```text
//! sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)
//! Number of threads: 2
//! CPU speed:
//!     events per second:  1790.92
//! General statistics:
//!     total time:                          10.0006s
//!     total number of events:              17914
//! Latency (ms):
//!          avg:                                    1.12
//!          95th percentile:                        1.21
//! Threads fairness:
//!     execution time (avg/stddev):   9.9948/0.00
//! ```
//!
//! Versions 0.4 and 0.5 have other words for some rates, and a unit behind each latency.

use super::{
    Draft, Heading, Journal, Outcome, Result, Starts, Text, ensure, leading_number, parse_outcome,
};

const BANNER: &str = "sysbench ";

/// The last line, which a truncated text lacks.
const LAST_LINE: &str = "execution time (avg/stddev):";

/// Lines with a rate: their beginning, the rate's name, and its unit.
const RATES: [(&str, &str, &str); 7] = [
    ("events per second:", "cpu events", "1/s"),
    ("reads/s:", "fileio reads", "1/s"),
    ("writes/s:", "fileio writes", "1/s"),
    ("fsyncs/s:", "fileio fsyncs", "1/s"),
    ("read, MiB/s:", "fileio read", "MiB/s"),
    ("written, MiB/s:", "fileio written", "MiB/s"),
    ("fsync: IOPS=", "fileio fsyncs", "1/s"),
];

/// Lines of version 1.1 with two rates, `read:  IOPS=1857.00 29.02 MiB/s (30.43 MB/s)`: their
/// beginning, and the rates' names.
const PAIRED_RATES: [(&str, &str, &str); 2] =
    [("read:", "fileio reads", "fileio read"), ("write:", "fileio writes", "fileio written")];

/// Lines that only the processors' test has. Its rate has the same words as others' in some
/// versions, and none in version 0.
const PRIMES: [&str; 2] = ["Prime numbers limit:", "Maximum prime number checked in CPU test:"];

/// Lines with what a test was told to do, in the words of several versions: their beginning, the
/// default, and what stands before the value in the names of figures.
const PARAMETERS: [(&str, &str, &str); 7] = [
    ("Prime numbers limit:", "10000", "limit "),
    ("Maximum prime number checked in CPU test:", "10000", "limit "),
    ("block size:", "1KiB", "blocks of "),
    ("operation:", "write", ""),
    ("Memory operations type:", "write", ""),
    ("scope:", "global", ""),
    ("Memory scope type:", "global", ""),
];

/// What stands above the latencies.
const LATENCY_HEADINGS: [&str; 3] = ["Latency (ms):", "per-request statistics:", "response time:"];

/// Lines with a rate in brackets: as [`RATES`], and the words after the number.
const BRACKETED_RATES: [(&str, &str, &str, &str); 10] = [
    ("Total operations:", "memory operations", "1/s", "per second"),
    ("transactions:", "transactions", "1/s", "per sec."),
    ("queries:", "queries", "1/s", "per sec."),
    ("read/write requests:", "read/write requests", "1/s", "per sec."),
    ("Operations performed:", "memory operations", "1/s", "ops/sec"),
    ("", "memory", "MiB/s", "MiB/sec"),
    // Megabytes of version 0 are 1024 × 1024 bytes, too.
    ("", "memory", "MiB/s", " MB/sec"),
    ("Read", "fileio transferred", "KiB/s", "Kb/sec"),
    ("Read", "fileio transferred", "MiB/s", "Mb/sec"),
    ("Read", "fileio transferred", "GiB/s", "Gb/sec"),
];

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_banner)
        && (text.has_line("Number of threads:") || text.has_line("Running the test with"))
}

pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if is_banner(line) {
            starts.begin(number);
        } else if line.trim_start().starts_with("Running the test with") {
            starts.note_mark_or_begin(number, "run".to_owned());
        }
    }
}

/// True for `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)`, which no command line is.
fn is_banner(line: &str) -> bool {
    let version = line.trim_start().strip_prefix(BANNER);
    version.is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

/// A rate with its name and unit.
type Rate = (&'static str, &'static str, Outcome);

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let Some((number, banner)) = source.lines().find(|(_, line)| is_banner(line)) else {
        return Err(source.truncated_error("sysbench's version"));
    };
    let version = banner.trim_start()[BANNER.len()..].split([' ', ':']).next().unwrap_or_default();
    ensure!(
        ["0.4", "0.5", "1."].iter().any(|known| version.starts_with(known)),
        source.unknown_version_error(number, "sysbench", version, "versions 0.4, 0.5 and 1")
    );
    ensure!(
        source.has_line(LAST_LINE),
        source.truncated_error("its last section, Threads fairness")
    );

    draft.run.tool = format!("sysbench {version}");
    let seconds = last_value_after(source, "total time:")
        .or_else(|| last_value_after(source, "time elapsed:"))
        .and_then(leading_number)
        .unwrap_or(0.0);
    draft.seconds = seconds;
    let copies = value_after(source, "Number of threads:");
    let copies = copies.and_then(|threads| threads.parse().ok()).unwrap_or(1);

    let report = last_report(source.raw);
    let mut rates: Vec<Rate> = report.lines().flat_map(|line| rates_in(line.trim())).collect();
    if rates.is_empty() {
        rates.extend(event_rate(source, seconds));
    }
    // The first word of a rate's name is that of the test.
    let test = rates.first().map_or("", |(name, ..)| name.split(' ').next().unwrap_or_default());
    let parameters = describe_parameters(source, test);
    for (name, unit, rate) in &rates {
        let label = format!("sysbench {name}{parameters}");
        let heading = Heading::rate(label, unit).with_copies(copies);
        draft.add_outcomes(&heading, [rate.clone()]);
    }

    let ignored_errors = value_after(source, "ignored errors:").and_then(leading_number);
    if let Some(errors) = ignored_errors.filter(|errors| *errors > 0.0) {
        draft.warn(format!("sysbench ignored {}", words::count(errors, "error")));
    }

    let latencies = LATENCY_HEADINGS.iter().find_map(|heading| report.split_once(heading));
    let latencies = latencies.map_or("", |(_, after)| after);
    for (name, value) in latencies.lines().skip(1).map_while(|line| line.split_once(':')) {
        let Some(name) = latency_name(name.trim()) else {
            continue;
        };
        let (number, unit) = split_latency(value.trim());
        let label = format!("sysbench {test} latency {name}{parameters}");
        let heading = Heading::time(label, unit).with_copies(copies);
        draft.add_outcomes(&heading, [parse_outcome(number)]);
    }
    Ok(vec![draft.finish()])
}

/// What distinguishes a test from others of its kind, such as ` (limit 20000)` or ` (random r/w)`;
/// empty for a test with sysbench's defaults, except that fileio always has its mode.
fn describe_parameters(source: &Text<'_>, test: &str) -> String {
    let mut parts = Vec::new();
    for (start, default, words) in PARAMETERS {
        let value = value_after(source, start).filter(|value| *value != default);
        parts.extend(value.map(|value| format!("{words}{value}")));
    }
    if test == "fileio" {
        let mode = value_after(source, "Doing ").and_then(|mode| mode.strip_suffix(" test"));
        parts.extend(mode.map(str::to_owned));
        let size = value_after(source, "Block size ");
        let size = size.filter(|size| !["16KiB", "16Kb"].contains(size));
        parts.extend(size.map(|size| format!("blocks of {size}")));
    }

    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

/// The name of a latency that is kept, as version 1 has it.
fn latency_name(name: &str) -> Option<String> {
    if let Some(percentile) = name.strip_prefix("approx.") {
        let rank = percentile.trim().strip_suffix(" percentile")?;
        return Some(format!("{rank}th percentile"));
    }
    (matches!(name, "avg" | "max") || name.ends_with("percentile")).then(|| name.to_owned())
}

/// The number of a latency, and its unit: milliseconds where it has none, as in version 1.
fn split_latency(value: &str) -> (&str, &str) {
    let digits_end = value.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(value.len());
    let (number, unit) = value.split_at(digits_end);
    // The letters of `nan` are no unit: `parse_outcome` gets the whole word, and says what it is.
    if matches!(unit, "s" | "ms") { (number, unit) } else { (value, "ms") }
}

/// The last report, which is of the whole run. Each of `--report-checkpoints` before it ends in the
/// same line.
fn last_report(text: &str) -> &str {
    let end = text.rfind(LAST_LINE).unwrap_or(text.len());
    let start = text[..end].rfind(LAST_LINE).unwrap_or(0);
    &text[start..]
}

/// What follows the words at the beginning of the last line that has them.
fn last_value_after<'t>(source: &Text<'t>, words: &str) -> Option<&'t str> {
    source.raw.lines().rev().find_map(|line| line.trim().strip_prefix(words)).map(str::trim)
}

/// What follows the words at the beginning of a line.
fn value_after<'t>(source: &Text<'t>, words: &str) -> Option<&'t str> {
    source.raw.lines().find_map(|line| line.trim().strip_prefix(words)).map(str::trim)
}

/// The rates that a line prints, in any version's words; most lines have none.
fn rates_in(line: &str) -> Vec<Rate> {
    let mut rates = Vec::new();
    for (start, name, unit) in RATES {
        if let Some(number) = line.strip_prefix(start) {
            rates.push((name, unit, parse_outcome(number)));
        }
    }
    for (start, name, unit, end) in BRACKETED_RATES {
        let bracketed = line.strip_prefix(start).and_then(|after| after.rsplit_once('('));
        let inside = bracketed.and_then(|(_, inside)| inside.strip_suffix(')'));
        if let Some(number) = inside.and_then(|inside| inside.strip_suffix(end)) {
            rates.push((name, unit, parse_outcome(number)));
        }
    }
    if let Some(number) = line.strip_suffix("Requests/sec executed") {
        rates.push(("fileio requests", "1/s", parse_outcome(number)));
    }
    for (start, count_name, bytes_name) in PAIRED_RATES {
        let figures = line.strip_prefix(start).and_then(|line| line.trim().strip_prefix("IOPS="));
        let Some(figures) = figures else {
            continue;
        };
        let mut words = figures.split(' ');
        if let (Some(count), Some(bytes)) = (words.next(), words.next()) {
            rates.push((count_name, "1/s", parse_outcome(count)));
            rates.push((bytes_name, "MiB/s", parse_outcome(bytes)));
        }
    }
    rates
}

/// The rate of events, for tests that print no rate of their own, as threads and mutex.
fn event_rate(source: &Text<'_>, seconds: f64) -> Option<Rate> {
    let printed = value_after(source, "events/s (eps):").map(parse_outcome);
    let events = value_after(source, "total number of events:").and_then(leading_number);
    let computed = events.filter(|_| seconds > 0.0).map(|events| Ok(events / seconds));

    let is_cpu = PRIMES.iter().any(|words| value_after(source, words).is_some());
    let name = if is_cpu { "cpu events" } else { "events" };
    Some((name, "1/s", printed.or(computed)?))
}
