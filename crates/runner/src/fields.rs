//! The fields of a line of the protocol, by the names that docs/format.md gives them.

use journal::{Execution, Latency, Schedule, Usage};

/// ns longer than any period, deadline or work: eleven days.
const LONGEST_TIME: u64 = 1_000_000_000_000_000;

/// Reads exactly these whole numbers.
///
/// # Errors
/// Which field is missing or wrong.
pub fn named<const N: usize>(rest: &str, names: [&str; N]) -> Result<[u64; N], String> {
    let mut found = [0; N];
    let mut words = rest.split(' ');
    for (place, name) in found.iter_mut().zip(names) {
        let word = words.next().filter(|word| !word.is_empty()).ok_or_else(|| format!("{name} is missing"))?;
        *place = word.parse().map_err(|_| format!("{name} is not a whole number"))?;
    }
    match (words.next(), names.last()) {
        (Some(_), Some(last)) => Err(format!("there is more after {last}")),
        _ => Ok(found),
    }
}

/// Reads exactly N whole numbers.
pub fn numbers<const N: usize>(rest: &str) -> Option<[u64; N]> {
    named(rest, [""; N]).ok()
}

/// Reads a number that is neither infinite nor none.
///
/// # Errors
/// It is not one.
pub fn finite(name: &str, word: Option<&str>) -> Result<f64, String> {
    let word = word.ok_or_else(|| format!("{name} is missing"))?;
    word.parse().ok().filter(|number: &f64| number.is_finite()).ok_or_else(|| format!("{name} is not a number"))
}

/// Reads the rest of a `plan` line.
///
/// # Errors
/// Which field is missing or wrong.
pub fn schedule(rest: &str) -> Result<Schedule, String> {
    let (rest, latency) = rest.rsplit_once(' ').ok_or("DEADLINE_NS is missing")?;
    let [period, deadline, work, planned] = named(rest, ["PERIOD_NS", "DEADLINE_NS", "WORK_NS", "FRAMES"])?;
    let latency = match latency {
        "wake" => Latency::Wake,
        "response" => Latency::Response,
        "overrun" => Latency::Overrun,
        _ => return Err("LATENCY is not wake, response or overrun".to_owned()),
    };
    if period != 0 && !(1000..LONGEST_TIME).contains(&period) {
        return Err("PERIOD_NS is shorter than 1 us or longer than eleven days".to_owned());
    }
    if deadline.max(work) >= LONGEST_TIME {
        return Err("DEADLINE_NS or WORK_NS is longer than eleven days".to_owned());
    }
    Ok(Schedule { period, deadline, work, planned, latency })
}

/// Reads the rest of an `execution` line, whose moments are those of CLOCK_MONOTONIC.
///
/// # Errors
/// Which field is missing or wrong.
pub fn execution(rest: &str) -> Result<Execution, String> {
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
pub fn usage(rest: &str) -> Result<Usage, String> {
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
