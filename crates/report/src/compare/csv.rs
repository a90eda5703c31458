//! The CSV form: one line per comparison, and per cell without one (RFC 4180).

use std::fmt::Write;

use super::thesis::headings;
use super::verdict;
use crate::csv::field;
use analysis::Comparisons;

/// Returns the report.
pub(super) fn render(all: &Comparisons) -> String {
    let mut text = String::from(
        "run,test,label,copies,load,condition,measure,unit,a,b,n_a,n_b,delta,low,high,delta_unit,time_factor,p,q,verdict,\
         words,warnings",
    );
    // As many columns as the thesis's table has, named as there: delta1, delta2 … and delta3, or the spread.
    let deltas = all.thesis.as_ref().map_or(Vec::new(), |thesis| headings(thesis.rounds));
    for heading in &deltas {
        let _ = write!(text, ",{}", heading.to_lowercase().replace('-', ""));
    }
    text.push('\n');
    let finite = |number: f64| if number.is_finite() { number.to_string() } else { String::new() };
    for one in &all.comparisons {
        let cell = &one.cell;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            one.run,
            field(&cell.key.test),
            field(&cell.label),
            cell.key.copies,
            field(&cell.key.load),
            field(all.condition(&cell.key.condition)),
            one.measure.name(),
            field(&one.unit),
            one.a,
            one.b,
            one.n.0,
            one.n.1,
            finite(one.delta.value),
            finite(one.delta.low),
            finite(one.delta.high),
            one.measure.delta_unit(),
            one.time_factor().map_or(String::new(), finite),
            one.p,
            one.q,
            one.verdict.word(),
            field(&verdict(one)),
            field(&crate::texts(&one.warnings).join("; ")),
        );
        let row = all.thesis.as_ref().and_then(|thesis| thesis.rows.iter().find(|row| row.is(one)));
        let mut values: Vec<Option<f64>> = row.map_or(Vec::new(), |row| row.deltas.clone());
        values.push(row.and_then(|row| row.delta3));
        values.resize(deltas.len(), None);
        for value in values {
            let _ = write!(text, ",{}", value.map_or(String::new(), finite));
        }
        text.push('\n');
    }
    for gap in &all.missing {
        let cell = &gap.cell;
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},,,,,,,,,,,,,missing,{},{}",
            gap.run,
            field(&cell.key.test),
            field(&cell.label),
            cell.key.copies,
            field(&cell.key.load),
            field(all.condition(&cell.key.condition)),
            gap.measure.map_or("", |measure| measure.name()),
            field(&gap.reason),
            ",".repeat(deltas.len())
        );
    }
    text
}
