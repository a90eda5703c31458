//! The limits of `--fail-on`.

use anyhow::{Context, Result, bail};

use crate::options::percent;
use analysis::{Count, CountLimit};

/// One of `--fail-on`: `2%`, `syscalls:0`, `rss:5%`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Limit {
    /// A loss of time in per cent.
    Time(f64),
    /// More of a count.
    Count(CountLimit),
}

impl std::str::FromStr for Limit {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Limit> {
        let Some((name, size)) = text.split_once(':') else { return percent(text).map(Limit::Time) };
        if name == "time" {
            bail!("a limit for the time is a percentage alone; try {}", if size.is_empty() { "2%" } else { size });
        }
        if !Count::sums().any(|sum| sum == name) && !is_call(name) {
            let sums = Count::sums().collect::<Vec<&str>>().join(", ");
            bail!("'{name}' is neither a system call nor one of {sums}; try syscalls:0");
        }
        let number = size.strip_suffix('%').unwrap_or(size);
        let parsed = number.trim().parse().ok().filter(|size: &f64| size.is_finite() && *size >= 0.0);
        let size = parsed.with_context(|| format!("'{size}' is not a limit for {name}; try {name}:0 or {name}:5%"))?;
        Ok(Limit::Count(CountLimit { name: Count::named(name), size, is_share: text.ends_with('%') }))
    }
}

impl Limit {
    /// Returns the loss of time in per cent.
    pub(crate) fn time(&self) -> Option<f64> {
        if let Limit::Time(size) = self { Some(*size) } else { None }
    }

    /// Returns the loss of time that is a failure, and the limits of counts.
    ///
    /// # Errors
    /// There are two losses of time.
    pub(crate) fn split(limits: &[Limit]) -> Result<(Option<f64>, Vec<CountLimit>)> {
        let times: Vec<f64> = limits.iter().filter_map(Limit::time).collect();
        if let [one, other, ..] = times[..] {
            bail!("--fail-on has two limits for the time, {one}% and {other}%; give one");
        }
        let count = |limit: &Limit| if let Limit::Count(limit) = limit { Some(limit.clone()) } else { None };
        Ok((times.first().copied(), limits.iter().filter_map(count).collect()))
    }
}

/// Returns true if Linux has a system call of that name.
#[cfg(target_os = "linux")]
fn is_call(name: &str) -> bool {
    machine::call_number(name).is_some()
}

/// Returns true if a system call may have that name: which there are is known on Linux alone.
#[cfg(not(target_os = "linux"))]
fn is_call(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_time_or_of_a_count() {
        let limit = |text: &str| text.parse::<Limit>();
        let count = |name: &str, size, is_share| Limit::Count(CountLimit { name: name.to_owned(), size, is_share });
        assert_eq!(limit("2%").unwrap(), Limit::Time(2.0));
        assert_eq!(limit("syscalls:0").unwrap(), count("syscalls", 0.0, false));
        assert_eq!(limit("rss:5%").unwrap(), count("rss", 5.0, true));
        assert_eq!(limit("openat:1").unwrap(), count("call:openat", 1.0, false));
        for (text, why) in [
            ("nothing:0", "'nothing' is neither a system call nor one of syscalls, processes"),
            ("rss:", "'' is not a limit for rss; try rss:0 or rss:5%"),
            ("rss:-1", "'-1' is not a limit for rss"),
            ("rss:inf%", "'inf%' is not a limit for rss"),
            ("much", "'much' is not a percentage"),
            // There is a system call of that name.
            ("time:5%", "a limit for the time is a percentage alone; try 5%"),
        ] {
            let said = limit(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }
}
