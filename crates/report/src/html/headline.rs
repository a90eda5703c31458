//! The result in a few words: what stands at the top of the page.

use super::charts::{reason, series};
use super::svg::key;
use super::words::{clean, clock, command_line, number, range, times};
use crate::scaling::percent;
use crate::{copies, plus_minus};
use analysis::{Index, Results, Row, Scaling};
use catalogue::Arithmetic;
use stats::Estimate;

/// The facts that say in one line what was measured.
const LEAD: [&str; 7] = [
    "system.os",
    "kernel.release",
    "cpu.model",
    "memory.total",
    "system.virtualisation",
    "graphics.server",
    "graphics.gl_renderer",
];
/// Most tests whose scores stand at the top where there is no index.
const FEW: usize = 3;

/// Some big figures with one name.
pub(super) struct Headline {
    /// What they are.
    pub(super) name: String,
    /// One per level of copies.
    pub(super) figures: Vec<Figure>,
}

/// One big figure.
pub(super) struct Figure {
    /// The mark of its series.
    pub(super) key: String,
    /// `1 copy`.
    pub(super) copies: String,
    /// The figure.
    pub(super) value: String,
    /// Its unit; an index has none.
    pub(super) unit: String,
    /// Its half-width.
    pub(super) plus_minus: String,
    /// Its interval, or why there is none.
    pub(super) range: String,
    /// What else belongs to it.
    pub(super) more: String,
}

/// Returns the indexes at each level, or without any the scores of a few tests.
pub(super) fn headlines(results: &Results) -> Vec<Headline> {
    let mut headlines: Vec<Headline> = Vec::new();
    if results.cost().is_some() {
        // Its sentences stand there.
        return headlines;
    }
    for index in results.indexes() {
        add(&mut headlines, index_name(index), index_figure(results, index));
    }
    if results.run.is_scaling() {
        if results.scaling().len() <= FEW {
            headlines.extend(results.scaling().iter().filter_map(|test| scaling(results, test)));
        }
    } else if headlines.is_empty() && tests(results) <= FEW {
        for row in rates(results) {
            add(&mut headlines, super::tables::label(&row.cell), score_figure(results, row));
        }
    }
    headlines
}

/// The gain at most copies.
fn scaling(results: &Results, test: &Scaling) -> Option<Headline> {
    let (first, last) = test.levels.first().zip(test.levels.last())?;
    let mut figure = figure(results, last.copies, &last.gain, "one of the totals has no interval");
    figure.value = times(last.gain.value);
    figure.more = format!("efficiency {}, from {}", percent(last.efficiency.value), copies(first.copies));
    Some(Headline { name: format!("{}: gain", clean(&test.title())), figures: vec![figure] })
}

fn add(headlines: &mut Vec<Headline>, name: String, figure: Figure) {
    match headlines.iter_mut().find(|known| known.name == name) {
        Some(known) => known.figures.push(figure),
        None => headlines.push(Headline { name, figures: vec![figure] }),
    }
}

/// Latencies have a map of their own.
fn rates(results: &Results) -> impl Iterator<Item = &Row> {
    results.rows.iter().filter(|row| row.latency.is_none())
}

fn tests(results: &Results) -> usize {
    let mut labels: Vec<String> = rates(results).map(|row| super::tables::label(&row.cell)).collect();
    labels.sort_unstable();
    labels.dedup();
    labels.len()
}

fn index_name(index: &Index) -> String {
    match index.arithmetic {
        Arithmetic::Geometric => clean(&index.title()),
        Arithmetic::Arithmetic => format!("{}: average", clean(&index.title())),
    }
}

fn index_figure(results: &Results, index: &Index) -> Figure {
    let why = open_end(results, index);
    let more = match index.arithmetic {
        Arithmetic::Geometric => String::new(),
        Arithmetic::Arithmetic => format!("sum of {} items {}", index.parts.len(), number(index.sum)),
    };
    Figure { more, ..figure(results, index.copies, &index.score, &why) }
}

/// Returns why an index has no interval: the test that has none, unless none has.
fn open_end(results: &Results, index: &Index) -> String {
    let Some(part) = index.parts.iter().find(|part| !part.index.bounded()) else { return "no interval".to_owned() };
    let why = reason(results, &part.test, index.copies);
    let all = index.parts.len() > 1 && index.parts.iter().all(|part| !part.index.bounded());
    if all { why.to_owned() } else { format!("{}: {why}", part.label) }
}

fn score_figure(results: &Results, row: &Row) -> Figure {
    let why = reason(results, &row.cell.key.test, row.cell.key.copies);
    Figure { unit: clean(&row.cell.unit), ..figure(results, row.cell.key.copies, &row.score, &why) }
}

fn figure(results: &Results, level: u32, score: &Estimate, why: &str) -> Figure {
    Figure {
        key: key(series(results, level)),
        copies: copies(level),
        value: number(score.value),
        unit: String::new(),
        plus_minus: plus_minus(score),
        range: if score.bounded() { range(score) } else { clean(why) },
        more: String::new(),
    }
}

/// Returns what a reader must know before any figure, in plain words.
pub(super) fn states(results: &Results) -> Vec<String> {
    let mut states = Vec::new();
    match results.end.map(journal::Ended::name) {
        None => states.push("Cut short: this is what it had measured by then."),
        Some("interrupted") => states.push("Interrupted: this is what it had measured by then."),
        Some(_) => {}
    }
    match results.run.procedure.name() {
        "quick" => states.push("Quick run: it shows that things work; its figures are too few to compare."),
        "imported" => states.push("Imported: the figures are those that another suite printed."),
        _ => {}
    }
    if results.cost().is_none() && results.indexes().iter().any(|index| !index.complete) {
        states.push("Partial index: not every test of the index is in it.");
    }
    if results.rows.is_empty() && !results.burnin().is_some_and(|burnin| burnin.has_worked()) {
        states.push("Nothing was measured: the reasons are below.");
    } else if results.indexes().is_empty()
        && rates(results).next().is_some()
        && !results.run.is_scaling()
        && results.cost().is_none()
    {
        states.push("No index: none of the tests measured has a baseline.");
    }
    states.into_iter().map(str::to_owned).collect()
}

/// Returns what was measured, in a line.
pub(super) fn lead(results: &Results) -> Vec<String> {
    let fact = |name: &&str| results.facts.iter().find(|fact| fact.name == **name);
    LEAD.iter().filter_map(fact).map(|fact| clean(&fact.value)).collect()
}

/// Returns how it was measured, beneath the figures.
pub(super) fn manner(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let mut manner = vec![("Procedure", clean(run.procedure.name()))];
    if let Some(build) = &results.run.build {
        manner.push(("Build", clean(&format!("{}, {}", build.name, build.compiler))));
    }
    manner.push(("CPUs", run.cpus.to_string()));
    if !run.pin.is_empty() {
        manner.push(("Pinned", clean(&format!("by {}", run.pin))));
    }
    manner.push(("Started", clean(&run.started)));
    manner.push(("Took", format!("{}, {}", clock(results.seconds), ended(results))));
    manner
}

fn ended(results: &Results) -> String {
    match results.end.map(journal::Ended::name) {
        None => "cut short".to_owned(),
        Some("budget") => "its whole budget".to_owned(),
        Some(reason) => clean(reason),
    }
}

/// Returns what is needed to repeat the run and its report.
pub(super) fn record(results: &Results) -> Vec<(&'static str, String)> {
    let run = &results.run;
    let mut record = vec![("Run", clean(&run.name)), ("Host", clean(&run.host)), ("Tool", clean(&run.tool))];
    if let Some(build) = &results.run.build {
        record.push(("Compiler", clean(&build.compiler)));
        record.push(("Flags", clean(&build.flags)));
        record.push(("Build", clean(&format!("{} {}", build.name, build.hash))));
    }
    record.push(("Seed", run.seed.to_string()));
    if !run.arguments.is_empty() {
        record.push(("Command line", format!("unixmark {}", command_line(&run.arguments))));
    }
    let again = ["unixmark", "report", &run.name, "--format", "html"].map(str::to_owned);
    record.push(("This report again", command_line(&again)));
    record
}
