//! Words on the command line: numbers of copies, shares, sizes, durations.

use std::time::Duration;

use anyhow::{Context, Result, bail};

use words::Unique;

/// One `-c`: ranges of numbers of copies.
#[derive(Debug, Clone)]
pub(crate) struct Copies(Vec<(Count, Count)>);

/// A number of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Number(u32),
    /// A ratio of copies to processors: 1 to 1 for `max`, 2 to 1 for `2max`, 1 to 2 for `max/2`.
    Max {
        copies: u32,
        processors: u32,
    },
}

/// No machine has more processors.
const MOST: u32 = 100_000;

/// A longer range is a typing error.
const LONGEST: u32 = 4096;

/// More copies per processor, or processors per copy, are a typing error.
const MOST_TIMES: u32 = 64;

impl Copies {
    /// Returns every number once, in order, with `most` in place of `max`; of a part there is at least one.
    ///
    /// # Errors
    /// A range ends before it begins, or is too long.
    pub(crate) fn all(lists: &[Copies], most: u32) -> Result<Vec<u32>> {
        let number = |count: Count| match count {
            Count::Number(number) => number,
            Count::Max { copies, processors } => (most.saturating_mul(copies) / processors).max(1),
        };
        let mut counts = Vec::new();
        for (from, to) in lists.iter().flat_map(|list| &list.0).map(|(from, to)| (number(*from), number(*to))) {
            if from > to || to - from > LONGEST {
                bail!("{from}..{to} is not a range of copies, and max is {most} here; try 1..max");
            }
            counts.extend(from..=to);
        }
        Ok(counts.into_iter().unique())
    }
}

/// Reads `2`, `1,2,4`, `1..9`, `max`, `2max`, `max/2` or `1..max`.
pub(crate) fn copies(text: &str) -> Result<Copies> {
    let range = |part: &str| -> Result<(Count, Count)> {
        let Some((from, to)) = part.split_once("..") else {
            let count = count(part)?;
            return Ok((count, count));
        };
        match (count(from)?, count(to)?) {
            (Count::Number(from), Count::Number(to)) if from > to || to - from > LONGEST => {
                bail!("'{part}' is not a range of copies; try 1..9 or 1..max")
            }
            range => Ok(range),
        }
    };
    text.split(',').map(range).collect::<Result<_>>().map(Copies)
}

fn count(text: &str) -> Result<Count> {
    if let Some((copies, processors)) = text.trim().split_once("max") {
        return times(copies, processors).with_context(|| {
            format!("'{text}' is not a number of copies; try max, 2max or max/2, up to {MOST_TIMES}max")
        });
    }
    match text.trim().parse::<u32>() {
        Ok(0) => bail!("there is nothing to measure with 0 copies; try 1"),
        Ok(number) if number <= MOST => Ok(Count::Number(number)),
        Ok(_) => bail!("{text} copies are more than the {MOST} that can be asked for; try max, one per processor"),
        _ => bail!("'{text}' is not a number of copies; try 2, 1,2,4, 1..9, max, 2max or max/2"),
    }
}

/// Reads what is before and after `max`: a number of copies, or `/` and a number of processors.
fn times(copies: &str, processors: &str) -> Option<Count> {
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| (1..=MOST_TIMES).contains(number));
    let copies = if copies.is_empty() { 1 } else { number(copies)? };
    let processors = if processors.is_empty() { 1 } else { number(processors.strip_prefix('/')?)? };
    Some(Count::Max { copies, processors })
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

/// Reads a duration; a number alone is seconds.
///
/// # Errors
/// It is none, or zero.
pub(crate) fn duration(text: &str) -> Result<Duration> {
    let number = text.parse::<u32>().ok().map(|seconds| Duration::from_secs(seconds.into()));
    let with_unit = || text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
    match number.or_else(with_unit) {
        Some(time) if !time.is_zero() => Ok(time),
        Some(_) => bail!("a time of 0 measures nothing; try 90, 90s, 3m or 1h"),
        _ => bail!("'{text}' is not a duration; try 90, 90s, 3m or 1h"),
    }
}

/// Reads `1%` or `0.01`.
pub(super) fn share(text: &str) -> Result<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share / unit < 1.0 => Ok(share / unit),
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
    let number = digits.parse::<u64>().ok().zip(shift).and_then(|(number, shift)| number.checked_mul(1 << shift));
    match number {
        Some(bytes) if bytes > 0 => Ok(bytes),
        _ => bail!("'{text}' is not a size; try 512M or 4G"),
    }
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
        ] {
            assert_eq!(read(text, most).unwrap(), numbers, "{text}");
        }
        for text in ["0", "0max", "max/0", "max2", "65max", "-max", "3..2", "max..2", "x", "", "maxmax", "max/"] {
            assert!(read(text, 4).is_err(), "{text}");
        }
    }
}
