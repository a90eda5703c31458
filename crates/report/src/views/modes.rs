//! Copies as threads next to copies as processes: where they part, in sentences and as a table.

use analysis::{ModeComparison, ModeLevel, Results, Scaling};
use journal::Key;
use serde_json::json;
use stats::Estimate;
use words::{coefficient, copies, gain};

use crate::document::{Block, Column, Columns, Field, Readers, Table, interval};

/// A test as threads, next to the same as processes.
struct Pair<'a> {
    threads: &'a Scaling,
    processes: &'a Scaling,
    comparison: &'a ModeComparison,
}

/// A row of the table.
struct Line<'a> {
    pair: &'a Pair<'a>,
    level: ModeLevel,
    is_first: bool,
}

/// The answer, a sentence for each test; `None` if nothing was measured both ways.
pub(super) fn lead(results: &Results) -> Option<Block> {
    let sentences: Vec<String> = pairs(results.scaling()).iter().map(sentence).collect();
    (!sentences.is_empty()).then_some(Block::Lead(sentences))
}

/// The table of both ways, if something was measured both ways.
pub(super) fn table(tests: &[Scaling]) -> Option<Table> {
    let pairs = pairs(tests);
    let mut lines = Vec::new();
    for pair in &pairs {
        for (place, level) in pair.comparison.levels.iter().enumerate() {
            lines.push(Line { pair, level: *level, is_first: place == 0 });
        }
    }
    if lines.is_empty() {
        return None;
    }

    let table = Columns::new()
        .with(Column::data("test"), |line: &Line<'_>| Field::text(&line.pair.processes.key.test))
        .with(Column::words("Threads and processes").keyed("label"), |line| {
            let title = if line.is_first { line.pair.processes.title() } else { String::new() };
            Field::Worded(title, line.pair.processes.label.as_str().into())
        })
        .with(Column::number("Copies").keyed("copies").wide(7), |line| {
            Field::Count(line.level.copies.into())
        })
        .data(|line| {
            let Key { load, condition, .. } = &line.pair.processes.key;
            let parts_at = line.pair.comparison.parts_at;
            json!({"load": load, "condition": condition, "parts_at": parts_at})
        })
        .with(Column::number("threads ÷ processes").keyed("ratio").main().wide(8), |line| {
            Field::Estimate(line.level.ratio, gain)
        })
        .with(Column::words("95 %").shown(Readers::PEOPLE), |line| {
            Field::Text(interval(&line.level.ratio, gain))
        })
        .with(Column::words("").shown(Readers::PEOPLE), |line| {
            let is_apart = line.pair.comparison.parts_at.is_some_and(|at| at <= line.level.copies);
            Field::text(if is_apart { "apart" } else { "" })
        })
        .table(&lines)
        .keyed("modes");
    Some(table)
}

/// The same test as processes, of threads that were compared with it.
pub(super) fn processes_of<'a>(threads: &Scaling, tests: &'a [Scaling]) -> Option<&'a Scaling> {
    threads.modes.as_ref()?;
    let family = |test: &Scaling| {
        let Key { test, load, condition, .. } = &test.key;
        [catalogue::family(test), load, condition].map(str::to_owned)
    };
    tests.iter().find(|test| test.modes.is_none() && family(test) == family(threads))
}

fn pairs<'a>(tests: &'a [Scaling]) -> Vec<Pair<'a>> {
    let pair = |threads: &'a Scaling| {
        let comparison = threads.modes.as_ref()?;
        Some(Pair { threads, processes: processes_of(threads, tests)?, comparison })
    };
    tests.iter().filter_map(pair).collect()
}

fn sentence(pair: &Pair<'_>) -> String {
    let title = pair.processes.title();
    let Some(last) = pair.comparison.levels.last() else { return title };
    let ratio = format!("{} ({})", gain(last.ratio.value), range(&last.ratio, gain));
    let laws = laws_in_words(pair);
    match pair.comparison.parts_at {
        Some(at) if at == last.copies => format!(
            "{title}: threads and processes part at {}, with which threads do {ratio} of what processes do{laws}",
            copies(at)
        ),
        Some(at) => format!(
            "{title}: threads and processes part at {}; with {} threads do {ratio} of what processes do{laws}",
            copies(at),
            last.copies
        ),
        None => format!(
            "{title}: threads and processes do not part; with {} threads do {ratio} of what processes do{laws}",
            copies(last.copies)
        ),
    }
}

/// Both laws' serial shares; empty where one has no law.
fn laws_in_words(pair: &Pair<'_>) -> String {
    let sigma = |test: &Scaling| {
        let sigma = test.law?.sigma;
        Some(format!("{} ({})", coefficient(sigma.value), range(&sigma, coefficient)))
    };
    match (sigma(pair.threads), sigma(pair.processes)) {
        (Some(threads), Some(processes)) => {
            format!("; sigma is {threads} as threads and {processes} as processes")
        }
        _ => String::new(),
    }
}

/// The ends of an interval, as a sentence has them.
fn range(estimate: &Estimate, words: fn(f64) -> String) -> String {
    format!("{} to {}", words(estimate.low), words(estimate.high))
}
