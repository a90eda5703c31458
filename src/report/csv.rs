//! The CSV report: one line per cell, results and reasons alike (RFC 4180).

use std::fmt::Write;

use crate::analysis::Results;

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let mut text = String::from("run,test,label,copies,load,condition,metric,unit,value,low,high,n,status,reason\n");
    let run = field(&results.run.name);
    for row in &results.rows {
        let cell = &row.cell;
        let bound = |end: f64| if end.is_finite() { end.to_string() } else { String::new() };
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{run},{},{},{},{},{},rate,{},{},{},{},{},ok,{}",
            field(&cell.test),
            field(&cell.label),
            cell.copies,
            field(&cell.load),
            field(&cell.condition),
            field(&cell.unit),
            row.score.value,
            bound(row.score.low),
            bound(row.score.high),
            row.n,
            field(&row.warnings.join("; ")),
        );
    }
    for (status, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        for missing in list {
            let _ = writeln!(
                text,
                "{run},{},{},{},{},{},,,,,,0,{status},{}",
                field(&missing.test),
                field(&missing.label),
                missing.copies,
                field(&missing.load),
                field(&missing.condition),
                field(&missing.reason)
            );
        }
    }
    text
}

/// Returns a field, quoted where it must be.
pub(super) fn field(value: &str) -> String {
    if value.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
