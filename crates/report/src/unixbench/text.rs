//! UnixBench's text report, column by column.

use std::fmt::Write;

use analysis::{Index, Results};

use super::{Heading, Level, levels, origin, score, title};

/// The rule between the passes and the report on a terminal; it is not in the file.
pub fn rule() -> String {
    format!("{}\n", "=".repeat(72))
}

/// The text report: the same lines in the same columns as UnixBench 6.0.0's, and one that says who
/// measured.
pub fn report(results: &Results, heading: &Heading) -> String {
    // Writing to a String cannot fail.
    let mut text = "   BYTE UNIX Benchmarks (Version 6.0.0)\n".to_owned();
    let _ = writeln!(text, "   ({})\n", origin(results));
    for (name, lines) in heading {
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let _ = writeln!(text, "   {name}{}", lines.replace('\n', "\n          "));
    }
    text.push('\n');

    for level in levels(results) {
        write_level(&mut text, results, &level);
    }
    text
}

fn write_level(text: &mut String, results: &Results, level: &Level<'_>) {
    let _ = writeln!(text, "{}", "-".repeat(72));
    if let Some([from, to]) = level.moments(results) {
        let from = from.strftime("%a %b %d %Y %H:%M:%S");
        let _ = writeln!(text, "Benchmark Run: {from} - {}", to.strftime("%H:%M:%S"));
    }
    let _ = writeln!(text, "{}\n", title(results.run.cpus, level.copies));

    for figure in &level.figures {
        let (label, unit) = (&figure.cell.label, &figure.cell.unit);
        let value = score(figure.score.value);
        let effort = format!("({:.1} s, {} samples)", figure.seconds, figure.n);
        let _ = writeln!(text, "{label:<40} {value:>12} {unit:<5} {effort}");
    }
    text.push('\n');

    for index in results.indexes().iter().filter(|index| index.copies == level.copies) {
        write_index(text, index);
    }
}

/// A line of an index's block; the fields are in the order by which lines of one label are sorted.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Line<'a> {
    label: &'a str,
    baseline: String,
    result: String,
    index: String,
}

fn write_index(text: &mut String, index: &Index) {
    let mut lines = Vec::new();
    for part in &index.parts {
        lines.push(Line {
            label: &part.label,
            baseline: score(part.baseline),
            result: score(part.score),
            index: score(part.index.value),
        });
    }
    for (label, value) in &index.others {
        let [baseline, index] = ["---", "---"].map(str::to_owned);
        lines.push(Line { label, baseline, result: score(*value), index });
    }
    lines.sort();

    let kind = if index.complete { "Index Values" } else { "Partial Index" };
    let heading = format!("{} {kind}", index.name);
    let _ = writeln!(text, "{heading:<40} {:>12} {:>12} {:>8}", "BASELINE", "RESULT", "INDEX");
    for Line { label, baseline, result, index } in lines {
        let _ = writeln!(text, "{label:<40} {baseline:>12} {result:>12} {index:>8}");
    }
    let _ = writeln!(text, "{:>75}", "========");
    let _ = writeln!(text, "{:<66} {:>8}\n", index.title(), score(index.score.value));
}
