//! One line of a journal, read by its type. Lines may be a stranger's, so memory is taken for the
//! fields of the record only, and a line of most types has a limit.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;

use super::Record;

/// The maximum length of a line, but of the types below.
const MAX_SHORT_BYTES: usize = 1 << 20;

/// Types of lines that may be longer: a trial has what each of many copies reported, a profile has
/// each function in each execution.
const LONG_TYPES: [&str; 2] = ["trial", "profile"];

/// A line by its type.
#[derive(Debug)]
pub enum Line {
    /// A record.
    Known(Record),
    /// A line of a type that this version does not know.
    Unknown,
}

/// The first field of every line.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

impl Line {
    /// Reads a line.
    ///
    /// # Errors
    /// The line is no JSON object with a type, damaged, or longer than its type may be.
    pub fn read(line: &[u8]) -> serde_json::Result<Line> {
        let kind = match quick_kind(line) {
            Some(kind) => kind,
            None => parse_kind(line)?,
        };
        if line.len() > MAX_SHORT_BYTES && !LONG_TYPES.contains(&&*kind) {
            let limit = words::bytes(MAX_SHORT_BYTES as u64);
            return Err(serde_json::Error::custom(format!(
                "it is longer than {limit}, the most for a line like it"
            )));
        }

        // Not by a tagged enum: Serde would take up the whole line first, unknown fields and all.
        let record = match &*kind {
            "run" => Record::Run(serde_json::from_slice(line)?),
            "fact" => Record::Fact(serde_json::from_slice(line)?),
            "cell" => Record::Cell(serde_json::from_slice(line)?),
            "trial" => Record::Trial(serde_json::from_slice(line)?),
            "counts" => Record::Counts(serde_json::from_slice(line)?),
            "profile" => Record::Profile(serde_json::from_slice(line)?),
            "burnin" => Record::BurnIn(serde_json::from_slice(line)?),
            "sample" => Record::Sample(serde_json::from_slice(line)?),
            "fault" => Record::Fault(serde_json::from_slice(line)?),
            "pass" => Record::Pass(serde_json::from_slice(line)?),
            "warning" => Record::Warning(serde_json::from_slice(line)?),
            "end" => Record::End(serde_json::from_slice(line)?),
            // Its JSON must be whole all the same.
            _ => return parse_kind(line).map(|_| Line::Unknown),
        };
        Ok(Line::Known(record))
    }
}

/// The type that a line says it has.
pub(super) fn parse_kind(line: &[u8]) -> serde_json::Result<Cow<'_, str>> {
    Ok(serde_json::from_slice::<Kind<'_>>(line)?.kind)
}

/// The type of a line that has it first and without escapes, as lines have that this tool writes;
/// the rest is not looked at.
fn quick_kind(line: &[u8]) -> Option<Cow<'_, str>> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let kind = rest.get(..rest.iter().position(|byte| !byte.is_ascii_lowercase())?)?;
    rest.get(kind.len()..)?.strip_prefix(b"\"")?;
    std::str::from_utf8(kind).ok().map(Cow::Borrowed)
}
