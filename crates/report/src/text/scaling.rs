//! How tests scale, in text: Lbench's table of figures per copy, and a block per test.

use super::super::Footnotes;
use super::super::scaling::{LEGEND, copies, fields, gaps, law, levels, short};
use super::{WIDTH, line, wrapped};
use analysis::{Results, Scaling};

/// A figure's column, and what stands between label and unit.
const COLUMN: usize = 9;
const GAP: usize = 1;

/// The columns of a test's block and their widths.
const HEAD: [(&str, usize); 9] = [
    ("Copies", 8),
    ("Total", 12),
    ("±", 8),
    ("Gain", 9),
    ("±", 8),
    ("Step", 9),
    ("Effic.", 9),
    ("Fair", 7),
    ("GHz", 7),
];

/// Appends all of it; nothing of a run that is not about it.
pub(super) fn tables(text: &mut String, results: &Results, notes: &mut Footnotes) {
    if !results.run.is_scaling() {
        return;
    }
    if !results.scaling().is_empty() {
        per_copy(text, results.scaling());
        line(text, "");
        line(text, &"-".repeat(WIDTH));
        line(text, &columns(&HEAD.map(|(name, _)| name.to_owned())));
        for test in results.scaling() {
            block(text, test, notes);
        }
    }
    let gaps = gaps(results);
    if !gaps.is_empty() {
        line(text, "");
    }
    for gap in gaps {
        wrapped(text, &format!("{}  ", gap.label), &format!("{} with {}: {}", gap.kind, gap.copies, gap.reason));
    }
    if !results.scaling().is_empty() {
        line(text, "");
        wrapped(text, "", LEGEND);
    }
}

/// Lbench's table; of many levels several, one below the other.
fn per_copy(text: &mut String, scaling: &[Scaling]) {
    let length = |text: &str| text.chars().count();
    let label = scaling.iter().map(|test| length(&test.title())).max().unwrap_or(0).clamp(8, 44);
    let unit = scaling.iter().map(|test| length(&test.unit)).max().unwrap_or(0);
    let levels = levels(scaling);
    let fit = (WIDTH.saturating_sub(label + GAP + unit) / COLUMN).max(1);
    // As many in every part, so that none has a single column.
    let parts = levels.len().div_ceil(fit);
    for part in levels.chunks(levels.len().div_ceil(parts.max(1)).max(1)) {
        line(text, "");
        line(text, &"-".repeat(WIDTH));
        let head: String = part.iter().map(|copies| format!("{copies:>COLUMN$}")).collect();
        line(text, &format!("{:<width$}{head}", "Per copy", width = label + GAP + unit));
        for test in scaling {
            let title: String = test.title().chars().take(label).collect();
            let figure = |copies: &u32| {
                let level = test.levels.iter().find(|level| level.copies == *copies);
                format!("{:>COLUMN$}", level.map_or_else(|| "-".to_owned(), |level| short(level.per_copy.value)))
            };
            let figures: String = part.iter().map(figure).collect();
            line(text, &format!("{title:<width$}{:<unit$}{figures}", test.unit, width = label + GAP));
        }
    }
}

fn columns(fields: &[String; 9]) -> String {
    fields.iter().zip(HEAD).map(|(field, (_, width))| format!("{field:>width$}")).collect()
}

fn block(text: &mut String, test: &Scaling, notes: &mut Footnotes) {
    line(text, "");
    wrapped(text, "", &format!("{}, {} {}", test.title(), test.total_unit, notes.marks(&test.notes)));
    for place in 0..test.levels.len() {
        let [total, half, gain, gain_half, step, efficiency, fair, clock] = fields(test, place);
        line(text, &columns(&[copies(test, place), total, half, gain, gain_half, step, efficiency, fair, clock]));
    }
    if let Some(law) = law(test) {
        wrapped(text, "       ", &law);
    }
}
