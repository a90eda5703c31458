//! UnixBench's wide CSV: a line per number of copies, a column per test, scores and nothing else.

use anyhow::{Result, bail};

use super::draft::{Draft, quoted};
use super::lines;
use super::text::Text;
use journal::Journal;

const FIRST: &str = "Concurrency";

pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.raw.trim_start().starts_with(&format!("{FIRST},"))
}

/// Returns what the table holds.
///
/// # Errors
/// A line has more or fewer fields than there are tests, or one that is not a score: which.
pub(super) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    draft.warn(
        "UnixBench's CSV has no system, no units and no number of samples; the report next to it has them".to_owned(),
    );
    let mut lines = source.lines().filter(|(_, line)| !line.trim().is_empty());
    let labels: Vec<&str> =
        lines.next().map_or_else(Vec::new, |(_, line)| line.split(',').skip(1).map(unquoted).collect());
    for (number, line) in lines {
        let fields: Vec<&str> = line.split(',').map(unquoted).collect();
        let copies = fields[0].parse().ok().filter(|copies: &u32| *copies > 0);
        let Some(copies) = copies.filter(|_| fields.len() == labels.len() + 1) else {
            let (has, needs) = (fields.len(), labels.len() + 1);
            bail!("it has {has} of {needs} fields in line {number}: '{}'; it is truncated", quoted(line));
        };
        for (label, field) in labels.iter().zip(&fields[1..]).filter(|(_, field)| !field.is_empty()) {
            let value = lines::number(field).ok_or_else(|| source.damaged(number, field, "score"))?;
            let unit = draft.test(label).map_or_else(String::new, |test| test.unit.clone());
            let cell = draft.cell(label, copies, &unit);
            draft.put_score(cell, value, 0.0, 1);
        }
    }
    Ok(vec![draft.finish()])
}

fn unquoted(field: &str) -> &str {
    field.trim().trim_matches('"')
}
