//! What a program says: the text protocol of `programs/kit.h`, read strictly.

use crate::catalogue::Test;
use crate::journal::{Copy, Usage};

/// The end of a program's speech.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It measured.
    Done(Copy),
    /// It cannot run here.
    Skip(String),
    /// It failed.
    Error(String),
}

/// Reads all that a program printed after `ready`, with times counted from `start` (ns).
///
/// # Errors
/// A line that is no part of the protocol, a missing end, or slices that cannot be true.
pub fn parse(output: &str, start: u64) -> Result<Said, String> {
    let mut copy = Copy::default();
    let mut lines = output.split_inclusive('\n');
    while let Some(line) = lines.next() {
        let Some(text) = line.strip_suffix('\n') else {
            return Err(format!("it ended in the middle of the line '{}'", short(line)));
        };
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "slice" => slice(rest, start, &mut copy).ok_or_else(|| garbage(text))?,
            "value" => value(rest, &mut copy).ok_or_else(|| garbage(text))?,
            "check" => check(rest, &mut copy).ok_or_else(|| garbage(text))?,
            "usage" => copy.usage = Some(usage(rest).ok_or_else(|| garbage(text))?),
            "skip" => return Ok(Said::Skip(clean(rest))),
            "error" => return Ok(Said::Error(clean(rest))),
            "done" => {
                return match lines.next() {
                    None => Ok(Said::Done(copy)),
                    Some(more) => Err(format!("it went on after `done` with '{}'", short(more))),
                };
            }
            _ => return Err(garbage(text)),
        }
    }
    Err("it ended without saying `done`".to_owned())
}

fn garbage(line: &str) -> String {
    format!("it printed '{}', which is no part of the protocol (docs/format.md)", short(line))
}

/// A line without anything a terminal would act on.
pub fn clean(line: &str) -> String {
    line.trim_end().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The beginning of a line, cleaned.
pub fn short(line: &str) -> String {
    let mut text: String = clean(line).chars().take(60).collect();
    if line.trim_end().chars().count() > 60 {
        text.push('…');
    }
    text
}

fn slice(rest: &str, start: u64, copy: &mut Copy) -> Option<()> {
    let mut numbers = rest.split(' ').map(str::parse::<u64>);
    let (from, to, count) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
    let after = copy.slices.last().map_or(start, |last| start + last.1);
    // A program that claims time before the start, or the same time twice, is lying.
    if numbers.next().is_some() || from < after || to < from {
        return None;
    }
    copy.slices.push((from - start, to - start, count));
    Some(())
}

fn value(rest: &str, copy: &mut Copy) -> Option<()> {
    let mut words = rest.splitn(3, ' ');
    let (name, number) = (words.next()?, words.next()?.parse::<f64>().ok()?);
    if name.is_empty() || !number.is_finite() {
        return None;
    }
    copy.values.insert(name.to_owned(), (number, words.next().unwrap_or("").to_owned()));
    Some(())
}

fn check(rest: &str, copy: &mut Copy) -> Option<()> {
    let (name, number) = rest.split_once(' ')?;
    let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
    copy.checks.insert(name.to_owned(), number);
    Some(())
}

fn usage(rest: &str) -> Option<Usage> {
    let numbers: Vec<u64> = rest.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
    let seconds = |ns: u64| ns as f64 / 1e9;
    match numbers[..] {
        [user, system, child_user, child_system, minor, major, voluntary, involuntary, maxrss] => Some(Usage {
            user: seconds(user),
            system: seconds(system),
            child_user: seconds(child_user),
            child_system: seconds(child_system),
            minor_faults: minor,
            major_faults: major,
            voluntary,
            involuntary,
            maxrss_kib: maxrss,
        }),
        _ => None,
    }
}

/// Compares a copy's answers with the catalogue's.
///
/// # Errors
/// An answer that is wrong or missing: a wrong answer is a failed measurement.
pub fn verify(copy: &Copy, test: &Test) -> Result<(), String> {
    for (name, right) in &test.checks {
        match copy.checks.get(name) {
            None => return Err(format!("its check value '{name}' is missing")),
            Some(answer) if !right.accepts(*answer) => {
                return Err(if right.low == right.high {
                    format!("its check value '{name}' is {answer} and should be {}", right.low)
                } else {
                    format!("its check value '{name}' is {answer} and should lie in {} to {}", right.low, right.high)
                });
            }
            Some(_) => {}
        }
    }
    Ok(())
}
