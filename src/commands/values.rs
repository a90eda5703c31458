//! What words on the command line mean: numbers of copies, shares.

use anyhow::{Result, bail};

/// One `-c`: ranges of numbers of copies, where 0 stands for one per processor.
#[derive(Debug, Clone)]
pub(super) struct Copies(Vec<(u32, u32)>);

const MAX: u32 = 0;

/// Longest range that is taken for meant.
const LONGEST: u32 = 4096;

impl Copies {
    /// Returns all that was asked for, each once, `most` in place of `max`.
    ///
    /// # Errors
    /// A range begins beyond `max`, or is too long to be meant.
    pub(super) fn all(asked: &[Copies], most: u32) -> Result<Vec<u32>> {
        let number = |count: u32| if count == MAX { most } else { count };
        let mut counts = Vec::new();
        for (from, to) in asked.iter().flat_map(|list| &list.0).map(|(from, to)| (number(*from), number(*to))) {
            if from > to || to - from > LONGEST {
                bail!("{from}..max is no range of copies: max is {most} here; try 1..max");
            }
            counts.extend(from..=to);
        }
        Ok(unique(&counts))
    }
}

/// Reads `2`, `1,2,4`, `1..9`, `max` or `1..max`.
pub(super) fn copies(text: &str) -> Result<Copies> {
    let number = |text: &str| -> Result<u32> {
        match text.trim() {
            "max" => Ok(MAX),
            digits => match digits.parse::<u32>() {
                Ok(0) => bail!("there is nothing to measure with 0 copies; try 1"),
                Ok(number) if number <= 100_000 => Ok(number),
                _ => bail!("'{text}' is no number of copies; try 2, 1,2,4, 1..9 or max"),
            },
        }
    };
    let range = |part: &str| -> Result<(u32, u32)> {
        let Some((from, to)) = part.split_once("..") else {
            let count = number(part)?;
            return Ok((count, count));
        };
        let (from, to) = (number(from)?, number(to)?);
        if from == MAX || (to != MAX && (from > to || to - from > LONGEST)) {
            bail!("'{part}' is no range of copies; try 1..9 or 1..max");
        }
        Ok((from, to))
    };
    text.split(',').map(range).collect::<Result<_>>().map(Copies)
}

/// Reads `1%` or `0.01`.
pub(super) fn share(text: &str) -> Result<f64> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(number) => (number, 100.0),
        None => (text, 1.0),
    };
    match number.trim().parse::<f64>() {
        Ok(share) if share > 0.0 && share / unit < 1.0 => Ok(share / unit),
        _ => bail!("'{text}' is no share; try 1% or 0.01"),
    }
}

/// Reads `5%` or `5` as 5 per cent.
pub(super) fn percent(text: &str) -> Result<f64> {
    match text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>() {
        Ok(number) if number > 0.0 && number < 100.0 => Ok(number),
        _ => bail!("'{text}' is no percentage between 0 and 100; try 5%"),
    }
}

/// Reads `4096`, `512M` or `4GiB`.
pub(super) fn bytes(text: &str) -> Result<u64> {
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
        _ => bail!("'{text}' is no size; try 512M or 4G"),
    }
}

/// Returns the values, each once, in order.
pub(super) fn unique<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(value) {
            found.push(value.clone());
        }
    }
    found
}
