//! One line of a journal, read without taking up what it has beside a record.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::Error as _;

use super::Record;

/// Bytes of a line that is not a trial's, which alone has what each of many copies reported.
const MOST_SHORT: usize = 1 << 20;

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
    /// It is no JSON object with a type, damaged, or longer than a line of its type may be.
    pub fn read(line: &[u8]) -> serde_json::Result<Line> {
        let kind = first_kind(line).map_or_else(|| kind(line), Ok)?;
        if line.len() > MOST_SHORT && kind != "trial" {
            let limit = words::bytes(MOST_SHORT as u64);
            return Err(serde_json::Error::custom(format!("it is longer than {limit}, the most for a line like it")));
        }
        // Not by a tagged enum: Serde would take up the whole line first, unknown fields and all.
        let record = match &*kind {
            "run" => Record::Run(serde_json::from_slice(line)?),
            "fact" => Record::Fact(serde_json::from_slice(line)?),
            "cell" => Record::Cell(serde_json::from_slice(line)?),
            "trial" => Record::Trial(serde_json::from_slice(line)?),
            "counts" => Record::Counts(serde_json::from_slice(line)?),
            "burnin" => Record::BurnIn(serde_json::from_slice(line)?),
            "sample" => Record::Sample(serde_json::from_slice(line)?),
            "fault" => Record::Fault(serde_json::from_slice(line)?),
            "pass" => Record::Pass(serde_json::from_slice(line)?),
            "warning" => Record::Warning(serde_json::from_slice(line)?),
            "end" => Record::End(serde_json::from_slice(line)?),
            _ => return self::kind(line).map(|_| Line::Unknown),
        };
        Ok(Line::Known(record))
    }
}

/// Returns the type that a line says it has.
pub(super) fn kind(line: &[u8]) -> serde_json::Result<Cow<'_, str>> {
    Ok(serde_json::from_slice::<Kind<'_>>(line)?.kind)
}

/// Returns the type of a line that has it first and plain, as those have that this tool writes; the rest is not looked
/// at.
fn first_kind(line: &[u8]) -> Option<Cow<'_, str>> {
    let rest = line.strip_prefix(br#"{"type":""#)?;
    let kind = rest.get(..rest.iter().position(|byte| !byte.is_ascii_lowercase())?)?;
    rest.get(kind.len()..)?.strip_prefix(b"\"")?;
    std::str::from_utf8(kind).ok().map(Cow::Borrowed)
}
