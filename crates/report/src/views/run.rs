//! The report of one run: what every run's has, around what the run is about.

use analysis::{Findings, Results};
use catalogue::Arithmetic;
use journal::{Ended, Procedure, View};
use serde_json::json;
use words::Grouped;

use super::repeat::Repeat;
use super::shared::{missing, sentences, to_post};
use super::{
    ab, burnin, cost, counts, details, energy, executions, latency, loads, offered, power, reference, scaling, scores,
    smooth,
};
use crate::charts::spread;
use crate::document::{Block, Chart, Document, List, Pair, Pairs, Readers};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-report/3";

/// The tables whose rows are the lines of CSV.
const LINES: [&str; 8] =
    ["results", "comparisons", "controls", "burnin_figures", "scaling", "laws", "skipped", "errors"];

/// Returns the report of a run.
pub fn run(results: &Results) -> Document {
    let run = &results.run;
    let mut document = Document::new(FORMAT, &run.tool, &run.name, &LINES);
    document.run.clone_from(&run.name);
    document.about = measured_on(results);
    document.extend(lead(results));
    document.extend(states(results).into_iter().map(|state| Block::Text(Readers::PAGE, String::new(), state)));
    // What differs is told in the blocks of a cost: other figures of the same cells would contradict it.
    if results.cost().is_none() {
        document.extend(scores::figures(results));
    }
    // Whoever compares commands knows the machine, and wants the table next to the answer.
    let heading = Some(heading(results));
    let (above, below) = if run.view == View::Ab { (None, heading) } else { (heading, None) };
    document.extend(above);
    let facts = results.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str()));
    document.extend([
        Block::Data("run", json!(run)),
        Block::Data("seconds", json!(results.seconds)),
        Block::Data("end", json!(results.end)),
        Block::Data("drift", json!(results.drift)),
        Block::Data("neighbours", json!(results.neighbours)),
        Block::Data("bill", json!(results.bill)),
        Block::Data("facts", facts.collect()),
        Block::Data("fact_table", json!(results.facts)),
    ]);
    document.table(scores::data(&results.figures, results.controls()));
    document.table(scores::index_data(results.indexes()));
    document.table(scores::gain_data(results.gains()));
    document.table(reference::data(results));
    document.extend(about(results));
    document.extend(below);
    document.extend(reference::blocks(results));
    document.extend(details::blocks(results));
    document.extend(energy::blocks(results));
    document.extend(trials(results));
    document.extend(system(results));
    document.table(missing("skipped", "skipped", &results.skipped));
    document.table(missing("errors", "error", &results.errors));
    let warnings = List { key: "warnings", lead: "Note: ", items: sentences(&results.warnings), ..List::default() };
    document.blocks.push(Block::List(warnings));
    document.extend(to_post(&[run], &format!("unixmark report {}", words::shell(std::slice::from_ref(&run.name)))));
    document
}

/// Returns comment, machine and day.
fn measured_on(results: &Results) -> String {
    let run = &results.run;
    let day = run.started.get(..10).unwrap_or_default().to_owned();
    let parts = [run.comment.clone(), results.facts.machine(), day];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<String>>().join(" · ")
}

/// Returns the subject of the run, in sentences.
fn lead(results: &Results) -> Option<Block> {
    match &results.findings {
        Findings::Cost(cost) if results.run.view == View::Ab => Some(Block::Lead(ab::sentences(results, cost))),
        Findings::Cost(cost) => Some(Block::Lead(cost::sentences(cost))),
        Findings::BurnIn(burnin) => Some(burnin::lead(burnin)),
        Findings::Power(power) => power.as_deref().map(|power| Block::Lead(power.sentences())),
        Findings::Scores { .. } | Findings::Scaling(_) => smooth::lead(results),
    }
}

/// Returns the blocks on the subject of the run.
fn about(results: &Results) -> Vec<Block> {
    match &results.findings {
        Findings::Scores { .. } => {
            let commands = [executions::blocks(results), counts::blocks(results)].concat();
            [scores::blocks(results), commands, responses(results)].concat()
        }
        Findings::Cost(cost) if results.run.view == View::Ab => ab::blocks(results, cost),
        Findings::Scaling(_) => [scores::blocks(results), scaling::blocks(results), responses(results)].concat(),
        Findings::Cost(cost) => cost::blocks(results, cost),
        Findings::BurnIn(burnin) => burnin::blocks(burnin),
        Findings::Power(power) => power::blocks(power.as_deref()),
    }
}

/// The results of interactive tasks, and of the loads.
fn responses(results: &Results) -> Vec<Block> {
    [offered::blocks(results), latency::blocks(results), loads::blocks(results)].concat()
}

/// Returns the warnings that a reader must see before any figure.
fn states(results: &Results) -> Vec<String> {
    let mut states: Vec<&str> = Vec::new();
    match results.end {
        None => states.push("Incomplete: the run was cut short; only what was measured until then is shown."),
        Some(Ended::Interrupted) => {
            states.push("Incomplete: the run was interrupted; only what was measured until then is shown.");
        }
        Some(_) => {}
    }
    match results.run.procedure {
        Procedure::Quick => states.push("Quick run: a smoke test, with too few samples to compare."),
        Procedure::Imported => states.push("Imported: the figures are those that another suite printed."),
        _ => {}
    }
    if results.indexes().iter().any(|index| !index.complete && index.arithmetic == Arithmetic::Geometric) {
        states.push("Partial index: not every test of the index is in it.");
    }
    if results.figures.is_empty() && !results.burnin().is_some_and(|burnin| burnin.has_worked()) {
        states.push("Nothing was measured: the reasons are below.");
    }
    if matches!(results.findings, Findings::Scores { .. }) && results.listed().next().is_some() {
        if results.indexes().is_empty() {
            states.push("No index: no member of an index was measured without a load and a condition.");
        }
        if results.listed().all(|row| row.samples.len() < 2 && !row.score.bounded()) {
            states.push("No test has two trials: there are no intervals, and no spread over time.");
        }
    }
    states.into_iter().map(str::to_owned).collect()
}

/// Returns the tests and the procedure: at a terminal above all figures, on a page in a line below them.
fn heading(results: &Results) -> Block {
    let run = &results.run;
    let narrow = |narrow: &str, value: String| Pair { narrow: narrow.to_owned(), value, ..Pair::default() };
    let page = |label: &str, value: String| Pair { label: label.to_owned(), value, ..Pair::default() };
    let facts = results.facts.heading();
    let mut items = Vec::new();
    if !run.comment.is_empty() {
        // Pages have it under their title.
        items.push(narrow("Comment", run.comment.clone()));
    }
    items.extend(facts.map(|(title, fact)| narrow(title, fact.value.clone())));
    if let Some(build) = &run.build {
        items.push(narrow("Programs", format!("{} build, {}, {}", build.name, build.compiler, build.flags)));
        items.push(page("Build", format!("{}, {}", build.name, build.compiler)));
    }
    let mut how = vec![run.started.clone(), format!("{} procedure", run.procedure)];
    how.retain(|word| !word.is_empty());
    items.push(page("Procedure", run.procedure.to_string()));
    items.push(page("CPUs", run.cpus.to_string()));
    if !run.pin.is_empty() {
        how.push(format!("copies pinned by {}", run.pin));
        items.push(page("Pinned", format!("by {}", run.pin)));
    }
    items.push(page("Started", run.started.clone()));
    let took = words::duration(results.seconds);
    if results.seconds > 0.0 {
        how.push(took.clone());
    }
    items.push(page("Took", format!("{took}, {}", results.end.map_or("cut short", Ended::name))));
    items.push(narrow("Run", how.join(", ")));
    Block::Pairs(Pairs { key: "", title: String::new(), items })
}

/// The facts by group, and what is needed to repeat the run: for pages.
fn system(results: &Results) -> Vec<Block> {
    let mut blocks = vec![Block::section("System")];
    for (group, facts) in results.facts.iter().map(|fact| (&fact.group, fact)).grouped() {
        blocks.push(named(group, facts.into_iter().map(|fact| (fact.label.as_str(), fact.value.to_string()))));
    }
    let run = &results.run;
    let mut items = vec![("Run", run.name.clone()), ("Host", run.host.clone()), ("Tool", run.tool.clone())];
    if let Some(build) = &run.build {
        items.push(("Flags", build.flags.clone()));
        items.push(("Build", format!("{} {}", build.name, build.hash)));
    }
    items.push(("Seed", run.seed.to_string()));
    let repeat = Repeat::new(run);
    let command = [("Command line", repeat.command()), ("Left out of it", repeat.left_out)];
    items.extend(command.into_iter().filter(|(_, text)| !text.is_empty()));
    let again = ["unixmark", "report", &run.name, "--format", "html"].map(str::to_owned);
    items.push(("This report again", words::shell(&again)));
    blocks.push(named("To repeat it", items.into_iter()));
    blocks
}

/// Labels and values under a title.
fn named<'a>(title: &str, items: impl Iterator<Item = (&'a str, String)>) -> Block {
    let pair = |(label, value): (&str, String)| Pair { label: label.to_owned(), value, ..Pair::default() };
    Block::Pairs(Pairs { title: title.to_owned(), items: items.map(pair).collect(), ..Pairs::default() })
}

/// Every trial's score over time.
fn trials(results: &Results) -> [Block; 2] {
    let caption = "Each trial's score against the median of its cell, over the time of the run: drift, outliers and second \
                   modes show here.";
    let chart = Chart::new(None, caption, scores::legend(results, 0));
    [Block::section("Trials"), Block::Chart(Chart { panels: spread::panels(results), ..chart })]
}
