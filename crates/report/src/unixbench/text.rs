//! UnixBench's text report, column by column.

use std::fmt::Write;

use super::{Copies, Heading, levels, origin, score, title};
use analysis::{Index, Part, Results};

/// Returns the rule between the passes and the report on a terminal; it is not in the file.
pub fn rule() -> String {
    format!("{}\n", "=".repeat(72))
}

/// Returns the text report: the same lines in the same columns as UnixBench 6.0.0's, and one that says who measured.
pub fn report(results: &Results, heading: &Heading) -> String {
    let mut text = "   BYTE UNIX Benchmarks (Version 6.0.0)\n".to_owned();
    let _ = writeln!(text, "   ({})\n", origin(results));
    for (name, lines) in heading {
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let _ = writeln!(text, "   {name}{}", lines.replace('\n', "\n          "));
    }
    text.push('\n');
    for level in levels(results) {
        add_level(&mut text, results, &level);
    }
    text
}

fn add_level(text: &mut String, results: &Results, level: &Copies<'_>) {
    let _ = writeln!(text, "{}", "-".repeat(72));
    if let Some([from, to]) = level.moments(results) {
        let _ =
            writeln!(text, "Benchmark Run: {} - {}", from.strftime("%a %b %d %Y %H:%M:%S"), to.strftime("%H:%M:%S"));
    }
    let _ = writeln!(text, "{}\n", title(results.run.cpus, level.copies));
    for row in &level.rows {
        let cell = &row.cell;
        let (label, value, unit) = (&cell.label, score(row.score.value), &cell.unit);
        let _ = writeln!(text, "{label:<40} {value:>12} {unit:<5} ({:.1} s, {} samples)", row.seconds, row.n);
    }
    text.push('\n');
    for index in results.indexes().iter().filter(|index| index.copies == level.copies) {
        add_index(text, index);
    }
}

fn add_index<'a>(text: &mut String, index: &'a Index) {
    let heading = format!("{} {}", index.name, if index.complete { "Index Values" } else { "Partial Index" });
    let _ = writeln!(text, "{heading:<40} {:>12} {:>12} {:>8}", "BASELINE", "RESULT", "INDEX");
    let part = |part: &'a Part| (&part.label, [part.baseline, part.score, part.index.value].map(score));
    let other = |(label, value): &'a (String, f64)| (label, ["---".to_owned(), score(*value), "---".to_owned()]);
    let mut lines: Vec<(&String, [String; 3])> =
        index.parts.iter().map(part).chain(index.others.iter().map(other)).collect();
    lines.sort();
    for (label, [baseline, result, index]) in lines {
        let _ = writeln!(text, "{label:<40} {baseline:>12} {result:>12} {index:>8}");
    }
    let _ = writeln!(text, "{:>75}", "========");
    let _ = writeln!(text, "{:<66} {:>8}\n", index.title(), score(index.score.value));
}
