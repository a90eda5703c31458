//! The CSV form: one line per comparison, and per cell without one (RFC 4180).

use std::fmt::Write;

use super::verdict;
use crate::analysis::Comparisons;
use crate::report::csv::field;

/// Returns the report.
pub(super) fn render(all: &Comparisons) -> String {
    let mut text = String::from(
        "run,test,label,copies,load,condition,measure,unit,a,b,n_a,n_b,delta,low,high,delta_unit,time_factor,p,q,verdict,\
         words,warnings\n",
    );
    let finite = |number: f64| if number.is_finite() { number.to_string() } else { String::new() };
    for one in &all.comparisons {
        let cell = &one.cell;
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
            one.run,
            field(&cell.test),
            field(&cell.label),
            cell.copies,
            field(&cell.load),
            field(&cell.condition),
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
            field(&one.warnings.join("; ")),
        );
    }
    for gap in &all.missing {
        let cell = &gap.cell;
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{},,,,,,,,,,,,,missing,{},",
            gap.run,
            field(&cell.test),
            field(&cell.label),
            cell.copies,
            field(&cell.load),
            field(&cell.condition),
            gap.measure.map_or("", |measure| measure.name()),
            field(&gap.reason)
        );
    }
    text
}
