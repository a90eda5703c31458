//! UnixBench's wide CSV: a line per number of copies, a column per test, scores and nothing else.
//!
//! ```text
//! Concurrency,"Dhrystone 2 using register variables","Pipe Throughput"
//! 1,46715254.5,1635960.9
//! 4,,6021044.1
//! ```

use anyhow::{Result, bail};

use super::draft::Draft;
use super::lines;
use super::parts::Starts;
use super::plain::excerpt;
use super::text::Text;
use journal::Journal;

/// The head of the first column.
const COPIES_COLUMN: &str = "Concurrency";

pub(super) fn recognises(text: &Text<'_>) -> bool {
    text.raw.trim_start().starts_with(&format!("{COPIES_COLUMN},"))
}

pub(super) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if line.trim_start().starts_with(COPIES_COLUMN) {
            starts.begin(number);
        }
    }
}

/// # Errors
/// A line has more or fewer fields than the head, begins with no number of copies, or has a field
/// that is not a score: which.
pub(super) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    draft.warn(
        "UnixBench's CSV has no system, no units and no number of samples; the report next to it has them".to_owned(),
    );
    let mut lines = source.lines().filter(|(_, line)| !line.trim().is_empty());
    let head = lines.next().map_or("", |(_, line)| line);
    let labels: Vec<&str> = head.split(',').skip(1).map(unquote).collect();

    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').map(unquote).collect();
        let copies = fields[0].parse().ok().filter(|copies: &u32| *copies > 0);
        let Some(copies) = copies.filter(|_| fields.len() == labels.len() + 1) else {
            let (found, needed) = (fields.len(), labels.len() + 1);
            bail!(
                "it has {found} of {needed} fields in line {number}: '{}'; it is truncated",
                excerpt(line)
            );
        };

        for (label, field) in labels.iter().zip(&fields[1..]) {
            // A test that was not run at this number of copies.
            if field.is_empty() {
                continue;
            }
            let value = lines::measured_number(field)
                .ok_or_else(|| source.damaged_line_error(number, field, "score"))?;
            let unit = draft.find_test(label).map_or_else(String::new, |test| test.unit.clone());
            let cell = draft.cell_for(label, copies, &unit);
            draft.set_score(cell, value, 0.0, 1);
        }
    }
    Ok(vec![draft.finish()])
}

fn unquote(field: &str) -> &str {
    field.trim().trim_matches('"')
}
