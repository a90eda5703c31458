//! The text form, in 80 columns: a line per comparison.

use std::fmt::Write;

use super::{coordinates, difference, directions, factor, interval, of_cell, signed, size, thesis, told, value};
use crate::visible;
use analysis::{Comparison, Comparisons, Measure, NotCompared, Total, Verdict};

/// The report's width.
pub(crate) const WIDTH: usize = 80;
const NAME: usize = 19;

/// Returns the report.
pub(super) fn render(all: &Comparisons) -> String {
    let mut text = String::new();
    heading(&mut text, all);
    let several = !all.asked.paired && all.runs.len() > 2;
    let mut runs: Vec<&str> = all.comparisons.iter().map(|one| one.run.as_str()).collect();
    runs.dedup();
    for run in runs {
        line(&mut text, "");
        let other = if several { run } else { "B" };
        line(&mut text, &format!("{:<NAME$} {:>8} {other:>8} {:>8} {:>15} verdict", "test", "A", "delta", "95 %"));
        line(&mut text, &"-".repeat(WIDTH));
        let mut before: Option<&Comparison> = None;
        for one in all.comparisons.iter().filter(|one| one.run == run) {
            comparison(&mut text, one, before);
            before = Some(one);
        }
    }
    missing(&mut text, &all.missing, several);
    for total in &all.totals {
        summary(&mut text, total, several);
    }
    if let Some(tables) = &all.thesis {
        thesis::text(&mut text, tables);
    }
    notes(&mut text, all);
    text
}

/// Appends a line; writing to a String cannot fail.
pub(crate) fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{}", visible(line.trim_end()));
}

/// Appends `content` in lines of the report's width, the first after `lead`, the others under it. A word that is longer
/// than a line is broken.
pub(crate) fn wrapped(text: &mut String, lead: &str, content: &str) {
    if lead.chars().count() > WIDTH / 2 {
        // A long lead is wrapped with the rest.
        return wrapped(text, "  ", &format!("{lead} {content}"));
    }
    let indent = lead.chars().count();
    let mut current = lead.to_owned();
    let mut width = lead.chars().count();
    let mut empty = true;
    for word in content.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(WIDTH - indent) {
            if width + usize::from(!empty) + piece.len() > WIDTH {
                line(text, &current);
                current = " ".repeat(indent);
                width = indent;
                empty = true;
            }
            if !empty {
                current.push(' ');
                width += 1;
            }
            current.extend(piece);
            width += piece.len();
            empty = false;
        }
    }
    line(text, &current);
}

fn heading(text: &mut String, all: &Comparisons) {
    for run in &all.runs {
        let about = &run.results.run;
        let condition = run.condition.as_ref().map_or(String::new(), |condition| format!("condition {condition}"));
        let procedure = format!("{} procedure", about.procedure);
        let words = [&about.name, &about.started, &procedure, &condition, &about.comment];
        let words: Vec<&str> = words.into_iter().map(String::as_str).filter(|word| !word.is_empty()).collect();
        wrapped(text, &format!("{:<3} ", run.letter), &words.join(", "));
    }
    if let Some(directions) = directions(all) {
        wrapped(text, "Deltas are of ", &directions);
    }
    for warning in &all.warnings {
        wrapped(text, "Warning: ", warning);
    }
    if all.differences.is_empty() {
        return;
    }
    line(text, "");
    line(text, "The system differs in");
    for fact in &all.differences {
        let values = fact.values.iter().map(|(letters, value)| format!("{value} ({})", letters.join(", ")));
        wrapped(text, &format!("  {}: ", fact.label), &values.collect::<Vec<String>>().join(", "));
    }
}

fn comparison(text: &mut String, one: &Comparison, before: Option<&Comparison>) {
    let cell = format!("{}{}", one.cell.key.test, of_cell(&one.cell));
    let name = if one.measure == Measure::Score {
        format!("{cell}, {}", one.unit)
    } else {
        let coordinates = |one: &Comparison| (one.cell.key.test.clone(), of_cell(&one.cell));
        if before.map(coordinates) != Some(coordinates(one)) {
            wrapped(text, "", &cell);
        }
        let percent = if one.measure == Measure::Met { "deadlines met" } else { one.measure.name() };
        format!("  {percent}, {}", one.unit)
    };
    let name = if name.chars().count() > NAME {
        wrapped(text, "", &name);
        String::new()
    } else {
        name
    };
    let points = one.measure.delta_unit() == "points";
    let delta = format!("{}{}", difference(one), if points { "pt" } else { "%" });
    line(
        text,
        &format!(
            "{name:<NAME$} {:>8} {:>8} {delta:>8} {:>15} {}",
            value(one.a),
            value(one.b),
            interval(&one.delta),
            verdict(one)
        ),
    );
}

/// The verdict in 16 columns; the legend below says the rest.
pub(crate) fn verdict(one: &Comparison) -> String {
    let unit = if one.measure.delta_unit() == "points" { "pt" } else { "%" };
    no_difference(one.verdict, unit).unwrap_or_else(|| match factor(one) {
        Some(factor) => format!("{} {factor}", one.verdict.word()),
        None => one.verdict.word().to_owned(),
    })
}

/// A verdict that tells no difference: how small it is, or how large one could have been seen.
pub(crate) fn no_difference(verdict: Verdict, unit: &str) -> Option<String> {
    match verdict {
        Verdict::Same(within) => Some(format!("same within {}{unit}", size(within))),
        Verdict::Undecided(could) => {
            Some(format!("undecided ({}{unit})", size(could)).replace(&format!("∞{unit}"), "∞"))
        }
        _ => None,
    }
}

fn missing(text: &mut String, missing: &[NotCompared], several: bool) {
    if missing.is_empty() {
        return;
    }
    line(text, "");
    line(text, "Not compared");
    for gap in missing {
        let cell = &gap.cell;
        let mut name =
            format!("{}{}", cell.key.test, coordinates(cell.key.copies, &cell.key.load, &cell.key.condition));
        if let Some(measure) = gap.measure {
            let _ = write!(name, ", {}", measure.name());
        }
        if several {
            let _ = write!(name, " ({})", gap.run);
        }
        wrapped(text, &format!("  {name}: "), &gap.reason);
    }
}

fn summary(text: &mut String, total: &Total, several: bool) {
    line(text, "");
    let run = if several { format!(" of {}", total.run) } else { String::new() };
    let content = format!(
        "{}% ({}) over {} rates; worst: {} {}%",
        signed(total.delta.value),
        interval(&total.delta),
        total.rates,
        total.worst.0,
        signed(total.worst.1)
    );
    wrapped(text, &format!("Geometric mean{run}: "), &content);
}

fn notes(text: &mut String, all: &Comparisons) {
    line(text, "");
    let content = format!(
        "{} against {}, negative is worse. A verdict takes an interval without 0, a difference beyond {} %, and a false discovery rate \
         below 5 % over all {} comparisons.",
        match (all.asked.paired, &all.runs[..]) {
            (true, _) => "A",
            (false, [_, other]) => &other.letter,
            _ => "others",
        },
        all.against(),
        all.asked.threshold,
        all.comparisons.len()
    );
    wrapped(text, "delta: ", &content);
    if all.comparisons.iter().any(|one| matches!(one.verdict, Verdict::Undecided(_))) {
        let content = "neither is shown; a difference of y would have been seen in four of five such comparisons.";
        wrapped(text, "undecided (y): ", content);
    }
    for note in &all.notes {
        wrapped(text, "Note: ", &format!("{note}."));
    }
    for (warning, cells) in told(&all.comparisons) {
        wrapped(text, "Note: ", &format!("{warning} ({cells})"));
    }
}
