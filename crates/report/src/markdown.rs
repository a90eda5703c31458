//! The Markdown report: tables to paste into an issue or a page.

use std::fmt::Write;

use super::burnin::{figures, tables, title};
use super::cost::{self, Room, Table};
use super::details::{Sheet, sheets};
use super::scaling;
use super::tasks::{NOT_INTERBENCH, Task, figure_of, share_of, tasks, told};
use super::{Footnotes, copies, plus_minus, seconds, share};
use analysis::{BurnIn, Cost, Latency, Missing, Results, Row};

/// Returns the report.
pub(super) fn render(results: &Results) -> String {
    let mut text = String::new();
    let mut notes = Footnotes::default();
    // Writing to a String cannot fail.
    let _ = writeln!(text, "# {}\n", escaped(&results.run.name));
    let _ = writeln!(
        text,
        "{}, {} procedure, {}\n",
        escaped(&results.run.tool),
        results.run.procedure,
        results.run.started
    );
    if let Some(burnin) = results.burnin() {
        self::burnin(&mut text, burnin);
    }
    if let Some(cost) = results.cost() {
        self::cost(&mut text, results, cost);
        end(&mut text, results, &notes);
        return text;
    }
    for level in results.lists() {
        let _ = writeln!(text, "## {}\n", copies(level));
        for index in results.indexes().iter().filter(|index| index.copies == level) {
            let _ = writeln!(
                text,
                "**{}: {:.1}** ({})\n",
                escaped(&index.title()),
                index.score.value,
                plus_minus(&index.score)
            );
        }
        self::level(&mut text, results, level, &mut notes);
    }
    if !results.gains().is_empty() {
        let _ = writeln!(text, "## Gain\n\n| test | copies | gain | ± |\n|---|---|---:|---:|");
        for gain in results.gains() {
            let _ = writeln!(
                text,
                "| {} | {} to {} | {:.2} | {} |",
                escaped(&gain.label),
                gain.from,
                gain.to,
                gain.gain.value,
                plus_minus(&gain.gain)
            );
        }
        text.push('\n');
    }
    if results.run.is_scaling() {
        self::scaling(&mut text, results, &mut notes);
    }
    for sheet in sheets(results) {
        self::sheet(&mut text, &sheet, &mut notes);
    }
    for task in tasks(results) {
        self::task(&mut text, &task, &mut notes);
    }
    end(&mut text, results, &notes);
    text
}

/// The system, the notes and the warnings.
fn end(text: &mut String, results: &Results, notes: &Footnotes) {
    let _ = writeln!(text, "## System\n\n| fact | value |\n|---|---|");
    for fact in &results.facts {
        let _ = writeln!(text, "| {} | {} |", escaped(&fact.label), escaped(&fact.value));
    }
    text.push('\n');
    for (number, note) in notes.texts.iter().enumerate() {
        let _ = writeln!(text, "{}. {}", number + 1, escaped(note));
    }
    for warning in &results.warnings {
        let _ = writeln!(text, "\n> {}", escaped(&warning.to_string()));
    }
    if results.has_latencies() {
        let _ = writeln!(text, "\n> {}", escaped(NOT_INTERBENCH));
    }
}

/// What conditions cost.
fn cost(text: &mut String, results: &Results, cost: &Cost) {
    for sentence in cost::sentences(cost) {
        let _ = writeln!(text, "**{}**\n", escaped(&sentence));
    }
    let room = Room::Wide;
    if let Some(matrix) = cost::matrix(cost, room) {
        cost_table(text, &matrix);
    }
    for condition in &cost.conditions {
        cost_table(text, &cost::of_condition(cost, condition, room));
        if let Some(beyond) = cost::beyond_table(cost, condition) {
            cost_table(text, &beyond);
        }
    }
    let after = cost::totals(cost, room).into_iter().chain(cost::storage(cost, room)).chain(cost::loads(cost, room));
    after.chain(cost::control(cost)).for_each(|table| cost_table(text, &table));
    let _ = writeln!(text, "A/A floor: {}.\n", escaped(&cost::floor(cost)));
    for (condition, proofs) in cost::evidence(cost) {
        let _ = writeln!(text, "## What proves {}\n", escaped(condition));
        proofs.iter().for_each(|proof| item(text, proof));
        text.push('\n');
    }
    let missing = cost::missing(results, cost);
    if !missing.is_empty() {
        let _ = writeln!(text, "## Not measured\n");
        missing.iter().for_each(|(what, reason)| item(text, &format!("{what}: {reason}")));
        text.push('\n');
    }
    let _ = writeln!(text, "## How to read it\n");
    cost::notes(cost).iter().for_each(|note| item(text, note));
    text.push('\n');
}

fn item(text: &mut String, content: &str) {
    let _ = writeln!(text, "- {}", escaped(content));
}

fn cost_table(text: &mut String, table: &Table) {
    let remark = if table.remark.is_empty() { String::new() } else { format!("{}\n\n", escaped(&table.remark)) };
    let line = |fields: &mut dyn Iterator<Item = &String>| {
        fields.map(|field| escaped(field)).collect::<Vec<String>>().join(" | ")
    };
    let names = line(&mut table.head.iter().map(|column| &column.name));
    let sides: String = table
        .head
        .iter()
        .enumerate()
        .map(|(place, column)| if place == 0 || column.words { "---|" } else { "---:|" })
        .collect();
    let _ = writeln!(text, "## {}\n\n{remark}| {names} |\n|{sides}", escaped(&table.name));
    for row in &table.rows {
        let _ = writeln!(text, "| {} |", line(&mut row.iter()));
    }
    text.push('\n');
}

/// Faults that a page has room for.
const FAULTS: usize = 100;

fn burnin(text: &mut String, burnin: &BurnIn) {
    let _ = writeln!(text, "## {}\n\n{}\n", escaped(&title(burnin)), escaped(&burnin.verdict));
    let _ = writeln!(text, "| figure | value | ± |\n|---|---:|---:|");
    for figure in figures(burnin) {
        let _ = writeln!(text, "| {} | {} | {} |", figure.name, escaped(&figure.value), figure.plus_minus);
    }
    text.push('\n');
    for table in tables(burnin, FAULTS) {
        let _ = writeln!(text, "**{}**\n", table.name);
        let _ = writeln!(text, "| {} |\n|---{}|", table.head.join(" | "), "|---:".repeat(table.head.len() - 1));
        for row in &table.rows {
            let cells: Vec<String> = row.iter().map(|cell| escaped(cell)).collect();
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text.push('\n');
        if !table.remark.is_empty() {
            let _ = writeln!(text, "{}\n", table.remark);
        }
    }
}

fn level(text: &mut String, results: &Results, level: u32, notes: &mut Footnotes) {
    let _ = writeln!(text, "| test | score | unit | ± | trials | window | notes |\n|---|---:|---|---:|---:|---:|---|");
    for row in results.listed().filter(|row| row.cell.key.copies == level) {
        let _ = writeln!(
            text,
            "| {} | {:.1} | {} | {} | {} | {} | {} |",
            name(row),
            row.score.value,
            escaped(&row.cell.unit),
            plus_minus(&row.score),
            row.n,
            seconds(row.seconds),
            notes.marks(&crate::texts(&row.warnings))
        );
    }
    for (kind, list) in [("skipped", &results.skipped), ("error", &results.errors)] {
        let here = |missing: &&Missing| missing.key.copies == level && !missing.latency && !results.run.is_scaling();
        for missing in list.iter().filter(here) {
            let _ = writeln!(text, "| {} | | | | | | {kind}: {} |", escaped(&missing.label), escaped(&missing.reason));
        }
    }
    text.push('\n');
}

/// A table with a row per cell.
fn sheet(text: &mut String, sheet: &Sheet, notes: &mut Footnotes) {
    let _ = writeln!(text, "## {}\n\n{}\n", sheet.title, sheet.caption);
    let _ = writeln!(text, "| test | copies | {} | notes |", sheet.head.join(" | "));
    let _ = writeln!(text, "|---|---:|{}---|", "---:|".repeat(sheet.head.len()));
    for line in &sheet.lines {
        let fields: Vec<String> = line.fields.iter().map(|field| escaped(field)).collect();
        let (label, marks) = (escaped(&line.label), notes.marks(line.note.as_slice()));
        let _ = writeln!(text, "| {label} | {} | {} | {marks} |", line.copies, fields.join(" | "));
    }
    text.push('\n');
}

/// How tests scale: figures per copy, totals by level, and the law.
fn scaling(text: &mut String, results: &Results, notes: &mut Footnotes) {
    let (tests, levels) = (results.scaling(), scaling::levels(results.scaling()));
    if !tests.is_empty() {
        let head: Vec<String> = levels.iter().map(u32::to_string).collect();
        let _ = writeln!(
            text,
            "## Per copy\n\n| test | unit | {} |\n|---|---|{}",
            head.join(" | "),
            "---:|".repeat(head.len())
        );
        for test in tests {
            let figure = |copies: &u32| {
                let level = test.levels.iter().find(|level| level.copies == *copies);
                level.map_or_else(|| "-".to_owned(), |level| scaling::short(level.per_copy.value))
            };
            let figures: Vec<String> = levels.iter().map(figure).collect();
            let _ =
                writeln!(text, "| {} | {} | {} |", escaped(&test.title()), escaped(&test.unit), figures.join(" | "));
        }
        let _ = writeln!(
            text,
            "\n## Gain and efficiency\n\n| test | copies | total | unit | ± | gain | ± | step | efficiency | fair | GHz |\n\
             |---|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|"
        );
        for test in tests {
            for place in 0..test.levels.len() {
                let [total, half, rest @ ..] = scaling::fields(test, place);
                let name = if place == 0 { escaped(&test.title()) } else { String::new() };
                let (copies, unit) = (escaped(&scaling::copies(test, place)), escaped(&test.total_unit));
                let _ = writeln!(text, "| {name} | {copies} | {total} | {unit} | {half} | {} |", rest.join(" | "));
            }
        }
        let _ = writeln!(
            text,
            "\n## Universal Scalability Law\n\n| test | sigma | | kappa | | peak | | notes |\n|---|---:|---|---:|---|---:|---|---|"
        );
        for test in tests {
            let mut fields: Vec<String> =
                scaling::parameters(test).into_iter().flat_map(|(_, value, range)| [value, range]).collect();
            fields.resize(6, String::new());
            let _ = writeln!(
                text,
                "| {} | {} | {} |",
                escaped(&test.title()),
                fields.join(" | "),
                notes.marks(&test.notes)
            );
        }
        let _ = writeln!(text, "\n{}\n", scaling::LEGEND);
    }
    let gaps = scaling::gaps(results);
    for gap in &gaps {
        let _ = writeln!(text, "- {}, {}: {}: {}", escaped(&gap.label), gap.copies, gap.kind, escaped(&gap.reason));
    }
    if !gaps.is_empty() {
        text.push('\n');
    }
}

/// Returns a row's name, with what ran beside it, and how that fared, or was switched on.
fn name(row: &Row) -> String {
    let mut name = escaped(&row.cell.label);
    if row.cell.key.load != "none" {
        name += &format!(" load={}", escaped(&row.cell.key.load));
    }
    if let Some(load) = &row.load {
        name += &format!(" ({} % of its throughput alone)", share(load.achieved));
    }
    if row.cell.key.condition != "none" {
        name += &format!(" condition={}", escaped(&row.cell.key.condition));
    }
    name
}

/// A table with a row per load.
fn task(text: &mut String, task: &Task<'_>, notes: &mut Footnotes) {
    let _ = writeln!(text, "## {}: {} in ms\n", escaped(&task.title()), task.what());
    let _ = writeln!(text, "| load | mean | spread | max | p50 | p99 | ± | % CPU | % met | load % | notes |");
    let _ = writeln!(text, "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|");
    for (row, latency) in &task.rows {
        let _ =
            writeln!(text, "| {} | {} |", delays(row, latency).join(" | "), notes.marks(&crate::texts(&row.warnings)));
    }
    for (kind, missing) in &task.missing {
        let (load, reason) = (escaped(&missing.key.load), escaped(&missing.reason));
        let _ = writeln!(text, "| {load} | | | | | | | | | | {kind}: {reason} |");
    }
    text.push('\n');
}

fn delays(row: &Row, latency: &Latency) -> [String; 10] {
    let histogram = &latency.histogram;
    [
        escaped(&row.cell.key.load),
        told(latency, histogram.mean()),
        told(latency, histogram.deviation()),
        told(latency, histogram.max()),
        figure_of(latency.percentile("p50")),
        // A note says which percentile the value is where it is not p99.
        figure_of(latency.percentile("p99")),
        plus_minus(&row.score),
        share_of(latency.cpu_received),
        share_of(latency.deadlines_met),
        row.load.as_ref().map_or_else(|| "-".to_owned(), |load| share(load.achieved)),
    ]
}

/// Returns text that Markdown and HTML take literally.
pub(super) fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in value.chars() {
        match c {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    text
}
