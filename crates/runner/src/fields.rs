//! The fields of a line of the protocol, by the names that docs/format.md gives them.

use anyhow::{Context, Result, bail, ensure};

use journal::{Execution, Latency, Schedule, Usage};

/// ns longer than any period, deadline or work: eleven days.
const LONGEST_TIME: u64 = 1_000_000_000_000_000;

/// Reads exactly these whole numbers.
///
/// # Errors
/// Which field is missing or wrong.
pub fn named<const N: usize>(rest: &str, names: [&str; N]) -> Result<[u64; N]> {
    let mut found = [0; N];
    let mut words = rest.split(' ');
    for (place, name) in found.iter_mut().zip(names) {
        let word = words.next().filter(|word| !word.is_empty()).with_context(|| format!("{name} is missing"))?;
        *place = word.parse().ok().with_context(|| format!("{name} is not a whole number"))?;
    }
    ensure!(words.next().is_none(), "there is more after {}", names[N - 1]);
    Ok(found)
}

/// Reads exactly N whole numbers.
pub fn numbers<const N: usize>(rest: &str) -> Option<[u64; N]> {
    named(rest, [""; N]).ok()
}

/// Reads a number that is neither infinite nor none.
///
/// # Errors
/// It is not one.
pub fn finite(name: &str, word: Option<&str>) -> Result<f64> {
    let word = word.with_context(|| format!("{name} is missing"))?;
    word.parse().ok().filter(|number: &f64| number.is_finite()).with_context(|| format!("{name} is not a number"))
}

/// Reads the rest of a `plan` line.
///
/// # Errors
/// Which field is missing or wrong.
pub fn schedule(rest: &str) -> Result<Schedule> {
    let (rest, latency) = rest.rsplit_once(' ').context("DEADLINE_NS is missing")?;
    let [period, deadline, work, planned] = named(rest, ["PERIOD_NS", "DEADLINE_NS", "WORK_NS", "FRAMES"])?;
    let latency = match latency {
        "wake" => Latency::Wake,
        "response" => Latency::Response,
        "overrun" => Latency::Overrun,
        _ => bail!("LATENCY is not wake, response or overrun"),
    };
    let is_sane = period == 0 || (1000..LONGEST_TIME).contains(&period);
    ensure!(is_sane, "PERIOD_NS is shorter than 1 us or longer than eleven days");
    ensure!(deadline.max(work) < LONGEST_TIME, "DEADLINE_NS or WORK_NS is longer than eleven days");
    Ok(Schedule { period, deadline, work, planned, latency })
}

/// Reads the rest of an `execution` line, whose moments are those of CLOCK_MONOTONIC.
///
/// # Errors
/// Which field is missing or wrong.
pub fn execution(rest: &str) -> Result<Execution> {
    const NAMES: [&str; 11] = [
        "ROUND", "START_NS", "END_NS", "USER_NS", "SYSTEM_NS", "MINOR", "MAJOR", "VOLUNTARY", "INVOLUNTARY",
        "MAXRSS_KB", "STATUS",
    ];
    named(rest, NAMES).map(Execution::from)
}

/// Reads the rest of a `usage` line.
///
/// # Errors
/// Which field is missing or wrong.
pub fn usage(rest: &str) -> Result<Usage> {
    const NAMES: [&str; 9] = [
        "USER_NS", "SYSTEM_NS", "CHILD_USER_NS", "CHILD_SYSTEM_NS", "MINOR_FAULTS", "MAJOR_FAULTS", "VOLUNTARY",
        "INVOLUNTARY", "MAXRSS_KB",
    ];
    let seconds = |ns: u64| ns as f64 / 1e9;
    let [user, system, child_user, child_system, minor_faults, major_faults, voluntary, involuntary, maxrss_kib] =
        named(rest, NAMES)?;
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
