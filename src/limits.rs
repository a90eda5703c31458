//! The limits of `--fail-on`: of the time, of a quantile of it, and of counts.

use anyhow::{Context, Result, bail};

use crate::options::percent;
use analysis::{Count, CountLimit};
use interop::harness::Tail;

/// One of `--fail-on`: `2%`, `p99:10%`, `syscalls:0`, `rss:5%`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Limit {
    /// A loss of time in per cent.
    Time(f64),
    /// A loss of a quantile of the time.
    Tail(TailLimit),
    /// More of a count.
    Count(CountLimit),
}

/// A loss of a quantile in per cent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TailLimit {
    pub(crate) tail: Tail,
    pub(crate) percent: f64,
}

/// All of `--fail-on`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) time: Option<f64>,
    pub(crate) tail: Option<TailLimit>,
    pub(crate) counts: Vec<CountLimit>,
}

impl std::str::FromStr for Limit {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Limit> {
        let Some((name, size)) = text.split_once(':') else {
            return percent(text).map(Limit::Time);
        };
        if name == "time" {
            bail!(
                "a limit for the time is a percentage alone; try {}",
                if size.is_empty() { "2%" } else { size }
            );
        }
        match Tail::of_percentile(name) {
            Some(tail) => parse_tail_limit(tail, name, size).map(Limit::Tail),
            None => parse_count_limit(name, size).map(Limit::Count),
        }
    }
}

fn parse_tail_limit(tail: Tail, name: &str, size: &str) -> Result<TailLimit> {
    let percent = percent(size)
        .with_context(|| format!("'{size}' is not a limit for {name}; try {name}:10%"))?;
    Ok(TailLimit { tail, percent })
}

/// Reads a limit of a count: a number, or a share with `%`.
fn parse_count_limit(name: &str, size: &str) -> Result<CountLimit> {
    if !Count::sums().any(|sum| sum == name) && !is_call(name) {
        let sums = Count::sums().collect::<Vec<&str>>().join(", ");
        bail!(
            "'{name}' is not a system call, a percentile such as p99, or one of {sums}; try syscalls:0 or p99:10%"
        );
    }

    let number: Option<f64> = size.strip_suffix('%').unwrap_or(size).trim().parse().ok();
    let number =
        number.filter(|number| number.is_finite() && *number >= 0.0).with_context(|| {
            format!("'{size}' is not a limit for {name}; try {name}:0 or {name}:5%")
        })?;
    Ok(CountLimit { name: Count::to_name(name), size: number, is_share: size.ends_with('%') })
}

impl Limit {
    /// The limit of the time in per cent; `None` if it is another limit.
    pub(crate) fn time(&self) -> Option<f64> {
        if let Limit::Time(percent) = self { Some(*percent) } else { None }
    }

    /// Sorts limits by their subjects.
    ///
    /// # Errors
    /// There are two of the time, or of quantiles.
    pub(crate) fn split(all: &[Limit]) -> Result<Limits> {
        let mut limits = Limits::default();
        for limit in all {
            match limit {
                Limit::Time(percent) => {
                    if let Some(first) = limits.time.replace(*percent) {
                        bail!(
                            "--fail-on has two limits for the time, {first}% and {percent}%; give one"
                        );
                    }
                }
                Limit::Tail(limit) => {
                    if let Some(first) = limits.tail.replace(*limit) {
                        let names = [first.tail, limit.tail].map(Tail::name).join(" and ");
                        bail!("--fail-on has two limits for quantiles, {names}; give one");
                    }
                }
                Limit::Count(limit) => limits.counts.push(limit.clone()),
            }
        }
        Ok(limits)
    }
}

impl Limits {
    /// Refuses a limit of a quantile, where runs are compared that have been measured.
    ///
    /// # Errors
    /// There is one.
    pub(crate) fn without_tail(self) -> Result<Limits> {
        match self.tail {
            Some(TailLimit { tail, .. }) => bail!(
                "a limit for the {} is for `unixmark ab`, which says what it needs before it measures; leave it out",
                tail.name()
            ),
            None => Ok(self),
        }
    }
}

/// True if Linux has a system call of that name.
#[cfg(target_os = "linux")]
fn is_call(name: &str) -> bool {
    machine::call_number(name).is_some()
}

/// True if a system call may have that name: only Linux knows its calls.
#[cfg(not(target_os = "linux"))]
fn is_call(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_time_or_of_a_count() {
        let limit = |text: &str| text.parse::<Limit>();
        let count = |name: &str, size, is_share| {
            Limit::Count(CountLimit { name: name.to_owned(), size, is_share })
        };
        assert_eq!(limit("2%").unwrap(), Limit::Time(2.0));
        assert_eq!(limit("syscalls:0").unwrap(), count("syscalls", 0.0, false));
        assert_eq!(limit("rss:5%").unwrap(), count("rss", 5.0, true));
        assert_eq!(limit("openat:1").unwrap(), count("call:openat", 1.0, false));
        for (text, share) in [("p99:10%", 0.99), ("p999:10", 0.999), ("p50:10%", 0.5)] {
            let Limit::Tail(TailLimit { tail, percent }) = limit(text).unwrap() else {
                panic!("{text} is no limit of a quantile");
            };
            assert_eq!((tail.share(), percent), (share, 10.0), "{text}");
        }
        for (text, why) in [
            (
                "nothing:0",
                "'nothing' is not a system call, a percentile such as p99, or one of syscalls",
            ),
            ("rss:", "'' is not a limit for rss; try rss:0 or rss:5%"),
            ("rss:-1", "'-1' is not a limit for rss"),
            ("rss:inf%", "'inf%' is not a limit for rss"),
            ("much", "'much' is not a percentage"),
            ("p99:much", "'much' is not a limit for p99; try p99:10%"),
            ("p9:5%", "'p9' is not a system call, a percentile such as p99"),
            // There is a system call of that name.
            ("time:5%", "a limit for the time is a percentage alone; try 5%"),
        ] {
            let said = limit(text).unwrap_err().to_string();
            assert!(said.contains(why), "{text}: {said}");
        }
    }

    #[test]
    fn the_time_and_quantiles_have_one_limit_each() {
        let split = |texts: &[&str]| {
            let all: Vec<Limit> = texts.iter().map(|text| text.parse().unwrap()).collect();
            Limit::split(&all)
        };

        let limits = split(&["2%", "p99:10%", "syscalls:0", "rss:5%"]).unwrap();

        assert_eq!((limits.time, limits.counts.len()), (Some(2.0), 2));
        assert_eq!(limits.tail.unwrap().percent, 10.0);
        let why = limits.without_tail().unwrap_err().to_string();
        assert!(why.contains("a limit for the p99 is for `unixmark ab`"), "{why}");
        for (texts, why) in [
            (["2%", "3%"], "two limits for the time, 2% and 3%"),
            (["p99:2%", "p90:2%"], "two limits for quantiles, p99 and p90"),
        ] {
            assert!(split(&texts).unwrap_err().to_string().contains(why), "{why}");
        }
    }
}
