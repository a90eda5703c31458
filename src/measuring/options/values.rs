//! Words on the command line: numbers of copies, shares, sizes, durations.

use std::ffi::OsStr;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use catalogue::Ignored;
use words::Unique;

/// One `-c`: ranges of numbers of copies.
#[derive(Debug, Clone)]
pub(crate) struct Copies(Vec<CopyRange>);

/// Numbers of copies, both ends included.
#[derive(Debug, Clone, Copy)]
struct CopyRange {
    first: Count,
    last: Count,
}

/// A number of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Number(u32),
    /// A ratio of copies to processors: 1 to 1 for `max`, 2 to 1 for `2max`, 1 to 2 for `max/2`.
    Max {
        copies: u32,
        processors: u32,
    },
    /// A share of the processors in per cent, rounded.
    Share(u32),
}

/// The most copies that can be asked for: no machine has more processors.
const MAX_COPIES: u32 = 100_000;

/// A longer range is a typing error.
const MAX_RANGE_LENGTH: u32 = 4096;

/// More copies per processor, or processors per copy, are a typing error.
const MAX_RATIO: u32 = 64;

impl Count {
    /// The number on a machine with `processors`, at least one.
    fn resolve(self, processors: u32) -> u32 {
        match self {
            Count::Number(number) => number,
            Count::Max { copies, processors: divisor } => {
                (processors.saturating_mul(copies) / divisor).max(1)
            }
            Count::Share(percent) => {
                (processors.saturating_mul(percent).saturating_add(50) / 100).max(1)
            }
        }
    }
}

impl Copies {
    /// Every number once, in the order of the command line, on a machine with `processors`.
    ///
    /// # Errors
    /// A range ends before it begins, or is too long.
    pub(crate) fn all(lists: &[Copies], processors: u32) -> Result<Vec<u32>> {
        let mut counts = Vec::new();
        for range in lists.iter().flat_map(|list| &list.0) {
            let first = range.first.resolve(processors);
            let last = range.last.resolve(processors);
            if !is_range(first, last) {
                bail!(
                    "{first}..{last} is not a range of copies, and max is {processors} here; try 1..max"
                );
            }
            counts.extend(first..=last);
        }
        Ok(counts.into_iter().unique())
    }
}

/// True unless a range ends before it begins, or is too long.
fn is_range(first: u32, last: u32) -> bool {
    last.checked_sub(first).is_some_and(|length| length <= MAX_RANGE_LENGTH)
}

/// Reads `2`, `1,2,4`, `1..9`, `max`, `2max`, `max/2`, `1..max` or `25%,50%,100%`.
pub(crate) fn copies(text: &str) -> Result<Copies> {
    text.split(',').map(parse_range).collect::<Result<_>>().map(Copies)
}

/// Reads a number of copies, or `FIRST..LAST`.
fn parse_range(text: &str) -> Result<CopyRange> {
    let Some((first, last)) = text.split_once("..") else {
        let count = parse_count(text)?;
        return Ok(CopyRange { first: count, last: count });
    };
    let range = CopyRange { first: parse_count(first)?, last: parse_count(last)? };
    // The others depend on the machine.
    if let (Count::Number(first), Count::Number(last)) = (range.first, range.last)
        && !is_range(first, last)
    {
        bail!("'{text}' is not a range of copies; try 1..9 or 1..max");
    }
    Ok(range)
}

fn parse_count(text: &str) -> Result<Count> {
    if let Some((copies, processors)) = text.trim().split_once("max") {
        return parse_ratio(copies, processors).with_context(|| {
            format!(
                "'{text}' is not a number of copies; try max, 2max or max/2, up to {MAX_RATIO}max"
            )
        });
    }
    if let Some(percent) = text.trim().strip_suffix('%') {
        let share = percent.parse().ok().filter(|share| (1..=100 * MAX_RATIO).contains(share));
        return share.map(Count::Share).with_context(|| {
            format!("'{text}' is not a share of the processors; try 25%,50%,100%")
        });
    }
    match text.trim().parse::<u32>() {
        Ok(0) => bail!("there is nothing to measure with 0 copies; try 1"),
        Ok(number) if number <= MAX_COPIES => Ok(Count::Number(number)),
        Ok(_) => bail!(
            "{text} copies are more than the {MAX_COPIES} that can be asked for; try max, one per processor"
        ),
        _ => {
            bail!("'{text}' is not a number of copies; try 2, 1,2,4, 1..9, max, 2max, max/2 or 50%")
        }
    }
}

/// Reads the texts before and after `max`: a number of copies, and `/` with a number of processors.
/// Either may be missing, and is 1 then.
fn parse_ratio(copies: &str, processors: &str) -> Option<Count> {
    let copies = match copies {
        "" => 1,
        number => parse_factor(number)?,
    };
    let processors = match processors {
        "" => 1,
        divisor => parse_factor(divisor.strip_prefix('/')?)?,
    };
    Some(Count::Max { copies, processors })
}

fn parse_factor(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| (1..=MAX_RATIO).contains(number))
}

/// Reads a label or a unit.
///
/// # Errors
/// It is empty, or more than printable text.
pub(crate) fn caption(text: &str) -> Result<String> {
    if text.trim().is_empty() || text.chars().any(char::is_control) {
        bail!("it must be printable text in one line");
    }
    Ok(text.to_owned())
}

/// The most executions of a command that may be asked for.
const MAX_EXECUTIONS: u32 = 1_000_000;

/// Reads a number of executions.
///
/// # Errors
/// It is not a number that can be executed.
pub(super) fn executions(text: &str) -> Result<u32> {
    match text.trim().parse::<u32>() {
        Ok(number) if (1..=MAX_EXECUTIONS).contains(&number) => Ok(number),
        Ok(number) => bail!("{number} is not 1 to {MAX_EXECUTIONS} executions; try 10"),
        Err(_) => {
            bail!("'{text}' is not a number of executions; try 10 (a comment is --comment TEXT)")
        }
    }
}

/// Reads exit statuses, `1,2`, or `all-non-zero`.
///
/// # Errors
/// One is no exit status.
pub(super) fn statuses(text: &str) -> Result<Ignored> {
    if text.is_empty() || text == "all-non-zero" {
        return Ok(Ignored::All);
    }
    let mut statuses = Vec::new();
    for part in text.split(',') {
        statuses.push(part.trim().parse().with_context(|| {
            format!("'{part}' is not an exit status from 0 to 255; try 1,2 or all-non-zero")
        })?);
    }
    Ok(Ignored::Statuses(statuses))
}

/// Reads a duration; a number alone is seconds.
///
/// # Errors
/// The text is no duration, or zero.
pub(crate) fn duration(text: &str) -> Result<Duration> {
    match parse_duration(text) {
        Some(time) if !time.is_zero() => Ok(time),
        Some(_) => bail!("a time of 0 measures nothing; try 90, 90s, 3m or 1h"),
        None => bail!("'{text}' is not a duration; try 90, 90s, 3m or 1h"),
    }
}

fn parse_duration(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let with_unit: jiff::SignedDuration = text.parse().ok()?;
    Duration::try_from(with_unit).ok()
}

/// Reads `1%` or `0.01`.
pub(super) fn share(text: &str) -> Result<f64> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number / whole < 1.0 => Ok(number / whole),
        _ => bail!("'{text}' is not a share between 0 and 100 %; try 1% or 0.01"),
    }
}

/// Reads `4096`, `512M` or `4GiB`.
///
/// # Errors
/// It is not a size, or zero.
pub(crate) fn bytes(text: &str) -> Result<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => Some(0),
        "k" | "kb" | "kib" => Some(10),
        "m" | "mb" | "mib" => Some(20),
        "g" | "gb" | "gib" => Some(30),
        "t" | "tb" | "tib" => Some(40),
        _ => None,
    };
    let number = digits.parse::<u64>().ok();
    let bytes = number.zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
    match bytes {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => bail!("'{text}' is not a size; try 512M or 4G"),
    }
}

/// A word of a command, or a path, as text: the program that executes commands takes no other.
///
/// # Errors
/// The word is not UTF-8.
pub(crate) fn utf8(word: &OsStr) -> Result<String> {
    let text = word
        .to_str()
        .with_context(|| format!("{} is not UTF-8; try a link of another name", word.display()))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_copies() {
        let read = |text: &str, most| copies(text).and_then(|list| Copies::all(&[list], most));
        for (text, most, numbers) in [
            ("2", 4, vec![2]),
            ("1,2,4", 4, vec![1, 2, 4]),
            ("1..3", 4, vec![1, 2, 3]),
            ("max,max", 4, vec![4]),
            ("2max", 4, vec![8]),
            ("max/2", 5, vec![2]),
            ("max/2", 1, vec![1]),
            ("3max/2", 4, vec![6]),
            ("max/2..max", 4, vec![2, 3, 4]),
            ("25%,50%,100%", 16, vec![4, 8, 16]),
            ("25%,50%,100%", 2, vec![1, 2]),
            ("50%", 3, vec![2]),
            ("1%", 4, vec![1]),
            ("150%", 2, vec![3]),
            ("50%..100%", 4, vec![2, 3, 4]),
        ] {
            assert_eq!(read(text, most).unwrap(), numbers, "{text}");
        }
        for text in [
            "0", "0max", "max/0", "max2", "65max", "-max", "3..2", "max..2", "x", "", "maxmax",
            "max/", "0%", "%", "-5%", "6401%", "5%%", "0.5%",
        ] {
            assert!(read(text, 4).is_err(), "{text}");
        }
    }
}
