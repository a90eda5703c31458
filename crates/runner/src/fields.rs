//! Reads the fields of the protocol's lines. Errors name a field as docs/format.md does.

use anyhow::{Context, Result, bail, ensure};

use journal::{Execution, Latency, Schedule, Usage};

/// No period, deadline or work is longer: eleven days.
const MAX_TIME_NS: u64 = 1_000_000_000_000_000;

/// Reads exactly one whole number for each name.
///
/// # Errors
/// A field is missing or wrong, or there are more.
pub fn read_numbers<const N: usize>(rest: &str, names: [&str; N]) -> Result<[u64; N]> {
    let mut numbers = [0; N];
    let mut words = rest.split(' ');

    for (number, name) in numbers.iter_mut().zip(names) {
        let word = words
            .next()
            .filter(|word| !word.is_empty())
            .with_context(|| format!("{name} is missing"))?;
        *number = word.parse().ok().with_context(|| format!("{name} is not a whole number"))?;
    }

    ensure!(words.next().is_none(), "there is more after {}", names[N - 1]);
    Ok(numbers)
}

/// Reads exactly N whole numbers, for whoever reports no field by its name.
pub fn read_unnamed_numbers<const N: usize>(rest: &str) -> Option<[u64; N]> {
    read_numbers(rest, [""; N]).ok()
}

/// Reads a finite number.
///
/// # Errors
/// The word is missing, no number, infinite or NaN.
pub fn read_finite(name: &str, word: Option<&str>) -> Result<f64> {
    let word = word.with_context(|| format!("{name} is missing"))?;
    word.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .with_context(|| format!("{name} is not a number"))
}

/// Reads the rest of a `plan` line.
///
/// # Errors
/// A field is missing or wrong.
pub fn read_schedule(rest: &str) -> Result<Schedule> {
    let (rest, latency) = rest.rsplit_once(' ').context("DEADLINE_NS is missing")?;
    let [period, deadline, work, planned] =
        read_numbers(rest, ["PERIOD_NS", "DEADLINE_NS", "WORK_NS", "FRAMES"])?;
    let latency = match latency {
        "wake" => Latency::Wake,
        "response" => Latency::Response,
        "overrun" => Latency::Overrun,
        _ => bail!("LATENCY is not wake, response or overrun"),
    };

    // A period of 0 is that of a task without a schedule.
    let is_sane = period == 0 || (1000..MAX_TIME_NS).contains(&period);
    ensure!(is_sane, "PERIOD_NS is shorter than 1 us or longer than eleven days");
    ensure!(deadline.max(work) < MAX_TIME_NS, "DEADLINE_NS or WORK_NS is longer than eleven days");
    Ok(Schedule { period, deadline, work, planned, latency })
}

/// Reads the rest of an `execution` line. Its moments are still those of CLOCK_MONOTONIC, not
/// relative to the window's start.
///
/// # Errors
/// A field is missing or wrong.
pub fn read_execution(rest: &str) -> Result<Execution> {
    const NAMES: [&str; 11] = [
        "ROUND",
        "START_NS",
        "END_NS",
        "USER_NS",
        "SYSTEM_NS",
        "MINOR",
        "MAJOR",
        "VOLUNTARY",
        "INVOLUNTARY",
        "MAXRSS_KB",
        "STATUS",
    ];
    read_numbers(rest, NAMES).map(Execution::from)
}

/// Reads the rest of a `usage` line.
///
/// # Errors
/// A field is missing or wrong.
pub fn read_usage(rest: &str) -> Result<Usage> {
    const NAMES: [&str; 9] = [
        "USER_NS",
        "SYSTEM_NS",
        "CHILD_USER_NS",
        "CHILD_SYSTEM_NS",
        "MINOR_FAULTS",
        "MAJOR_FAULTS",
        "VOLUNTARY",
        "INVOLUNTARY",
        "MAXRSS_KB",
    ];
    let seconds = |ns: u64| ns as f64 / 1e9;
    let [
        user,
        system,
        child_user,
        child_system,
        minor_faults,
        major_faults,
        voluntary,
        involuntary,
        maxrss_kib,
    ] = read_numbers(rest, NAMES)?;

    Ok(Usage {
        user: seconds(user),
        system: seconds(system),
        child_user: seconds(child_user),
        child_system: seconds(child_system),
        minor_faults,
        major_faults,
        voluntary,
        involuntary,
        maxrss_kib,
    })
}
