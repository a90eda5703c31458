//! The report of one run: sections that every run has, around those of its subject.

use analysis::{Cost, Findings, Results};
use catalogue::Arithmetic;
use journal::{Build, Ended, Procedure, Role, View};
use serde_json::json;
use words::{Grouped, Unique};

use super::repeat::Repeat;
use super::shared::{missing, sentences, to_post};
use super::{
    ab, burnin, cost, counts, details, energy, executions, functions, latency, loads, modes,
    offered, power, reference, scaling, scores, shared, smooth,
};
use crate::charts::spread;
use crate::document::{Block, Chart, Document, List, Pair, Pairs, Readers};

/// The version of the report's keys.
const FORMAT: &str = "unixmark-report/4";

/// The tables whose rows are the lines of CSV.
const LINES: [&str; 8] = [
    "results",
    "comparisons",
    "controls",
    "burnin_figures",
    "scaling",
    "laws",
    "skipped",
    "errors",
];

/// The question of a run names at most so many tests or conditions.
const MAX_NAMED: usize = 4;

const TRIALS_CAPTION: &str = "Each trial's score against the median of its cell, over the time of \
the run: drift, outliers and second modes show here.";

/// The report of a run.
pub fn run(results: &Results) -> Document {
    let run = &results.run;
    let mut document = Document::new(FORMAT, &run.tool, &run.name, &LINES);
    document.run.clone_from(&run.name);
    document.question = question(results);
    document.about = measured_on(results);
    document.extend(lead(results));
    for state in states(results) {
        document.extend([Block::Text(Readers::PAGE, String::new(), state.to_owned())]);
    }

    // The sections of a cost say what differs: other figures of the same cells would contradict
    // them.
    if results.cost().is_none() {
        document.extend(scores::headlines(results));
    }
    // Whoever compares commands knows the machine, and wants the differences next to the answer, so
    // this comes below them.
    let is_ab = run.view == View::Ab;
    if !is_ab {
        document.extend([circumstances(results)]);
    }
    document.extend(data(results));
    document.table(scores::data(&results.figures, results.controls()));
    document.table(scores::index_data(results.indexes()));
    document.table(scores::gain_data(results.gains()));
    document.table(reference::data(results));

    document.extend(subject_blocks(results));
    if is_ab {
        document.extend([circumstances(results)]);
    }
    document.extend(reference::blocks(results));
    document.extend(details::blocks(results));
    document.extend(energy::blocks(results));
    document.extend(trials(results));
    document.extend(system(results));

    document.table(missing("skipped", "skipped", &results.skipped));
    document.table(missing("errors", "error", &results.errors));
    document.extend([Block::List(List {
        key: "warnings",
        lead: "Note: ",
        items: sentences(&results.warnings),
        ..List::default()
    })]);
    let name = words::shell(std::slice::from_ref(&run.name));
    document.extend(to_post(&[run], &format!("unixmark report {name}")));
    document
}

/// What programs get besides tables.
fn data(results: &Results) -> Vec<Block> {
    let facts = results.facts.iter().map(|fact| (fact.name.as_str(), fact.value.as_str()));
    vec![
        Block::Data("run", json!(results.run)),
        Block::Data("seconds", json!(results.seconds)),
        Block::Data("end", json!(end(results))),
        Block::Data("drift", json!(results.drift)),
        Block::Data("neighbours", json!(results.neighbours)),
        Block::Data("bill", json!(results.bill)),
        Block::Data("facts", facts.collect()),
        Block::Data("fact_table", json!(results.facts)),
    ]
}

/// How the run ended: it failed if nothing was measured, even if it came to its end.
fn end(results: &Results) -> Option<Ended> {
    match results.end {
        Some(Ended::Interrupted) | None => results.end,
        _ if !has_measured(results) => Some(Ended::Failed),
        end => end,
    }
}

fn has_measured(results: &Results) -> bool {
    !results.figures.is_empty() || results.burnin().is_some_and(|burnin| burnin.has_worked())
}

/// The question of the run: its comment, or else what was measured.
fn question(results: &Results) -> String {
    let comment = &results.run.comment;
    if !comment.is_empty() {
        return comment.clone();
    }
    match &results.findings {
        Findings::Cost(cost) => question_of_cost(results, cost),
        Findings::Scores { indexes, .. } => {
            let tests = results.figures.iter().map(|figure| figure.cell.label.as_str()).unique();
            match indexes.first() {
                Some(index) => index.name.clone(),
                None => words::listed(&tests, MAX_NAMED),
            }
        }
        Findings::Scaling(_) => "How it scales".to_owned(),
        Findings::BurnIn(_) | Findings::Power(_) => String::new(),
    }
}

fn question_of_cost(results: &Results, cost: &Cost) -> String {
    let mut names: Vec<&str> = Vec::new();
    if results.run.view == View::Ab {
        names.push(&cost.against);
    }
    names.extend(cost.conditions.iter().map(|condition| condition.name.as_str()));

    match results.run.view {
        View::Ab => words::either(&names, MAX_NAMED),
        _ if names.len() == 1 => format!("What {} costs", names[0]),
        _ => format!("What {} cost", words::listed(&names, MAX_NAMED)),
    }
}

/// The machine, the day and the name of the run.
fn measured_on(results: &Results) -> String {
    let run = &results.run;
    let day = run.started.get(..10).unwrap_or_default().to_owned();
    let mut parts = vec![results.facts.machine(), day, run.name.clone()];
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The answer to the question of the run, in sentences.
pub(super) fn lead(results: &Results) -> Option<Block> {
    match &results.findings {
        Findings::Cost(cost) if results.run.view == View::Ab => {
            Some(Block::Lead(ab::sentences(results, cost)))
        }
        Findings::Cost(cost) => Some(Block::Lead(cost::sentences(cost))),
        Findings::BurnIn(burnin) => Some(burnin::lead(burnin)),
        Findings::Power(power) => power.as_deref().map(|power| Block::Lead(power.sentences())),
        Findings::Scaling(_) if results.scaling().iter().any(|test| test.modes.is_some()) => {
            modes::lead(results)
        }
        Findings::Scores { .. } | Findings::Scaling(_) => {
            smooth::lead(results).or_else(|| executions::lead(results))
        }
    }
}

/// What has no result, and why.
pub(super) fn not_measured(results: &Results) -> Vec<String> {
    let mut reasons = Vec::new();
    for (kind, gap) in shared::gaps(results) {
        let name = shared::name(&gap.label, &gap.key);
        reasons.push(format!("{name}: {kind}: {}", gap.reason));
    }
    reasons
}

/// The sections on the subject of the run.
fn subject_blocks(results: &Results) -> Vec<Block> {
    match &results.findings {
        Findings::Scores { .. } => [
            scores::blocks(results),
            executions::blocks(results),
            counts::blocks(results),
            functions::blocks(results),
            response_blocks(results),
        ]
        .concat(),
        Findings::Scaling(_) => {
            [scores::blocks(results), scaling::blocks(results), response_blocks(results)].concat()
        }
        Findings::Cost(cost) if results.run.view == View::Ab => ab::blocks(results, cost),
        Findings::Cost(cost) => cost::blocks(results, cost),
        Findings::BurnIn(burnin) => burnin::blocks(burnin),
        Findings::Power(power) => power::blocks(power.as_deref()),
    }
}

/// The sections on interactive tasks, and on the loads.
fn response_blocks(results: &Results) -> Vec<Block> {
    [offered::blocks(results), latency::blocks(results), loads::blocks(results)].concat()
}

/// What a reader must know before any figure.
fn states(results: &Results) -> Vec<&'static str> {
    let mut states = Vec::new();
    match results.end {
        None => states
            .push("Incomplete: the run was cut short; only what was measured until then is shown."),
        Some(Ended::Interrupted) => states.push(
            "Incomplete: the run was interrupted; only what was measured until then is shown.",
        ),
        Some(_) => {}
    }
    match results.run.procedure {
        Procedure::Quick => {
            states.push("Quick run: a smoke test, with too few samples to compare.");
        }
        Procedure::Imported => {
            states.push("Imported: the figures are those that another suite printed.");
        }
        _ => {}
    }

    let has_partial_index = results
        .indexes()
        .iter()
        .any(|index| !index.complete && index.arithmetic == Arithmetic::Geometric);
    if has_partial_index {
        states.push("Partial index: not every test of the index is in it.");
    }
    if !has_measured(results) {
        states.push("Nothing was measured: the reasons are below.");
    }

    let has_scores =
        matches!(results.findings, Findings::Scores { .. }) && results.listed().next().is_some();
    if has_scores && results.indexes().is_empty() {
        states.push("No index: no member of an index was measured without a load and a condition.");
    }
    if has_scores && results.listed().all(|row| row.samples.len() < 2 && !row.score.bounded()) {
        states.push("No test has two trials: there are no intervals, and no spread over time.");
    }
    states
}

/// The machine, the build and the procedure: at a terminal above all figures, on a page in a line
/// below them.
fn circumstances(results: &Results) -> Block {
    let run = &results.run;
    let mut items = Vec::new();
    if !run.comment.is_empty() {
        // Pages have it as their title.
        items.push(terminal_pair("Comment", run.comment.clone()));
    }
    for (title, fact) in results.facts.heading() {
        items.push(terminal_pair(title, fact.value.clone()));
    }
    if let Some(Build { name, compiler, flags, .. }) = build_of(results) {
        items.push(terminal_pair("Programs", format!("{name} build, {compiler}, {flags}")));
        items.push(page_pair("Build", format!("{name}, {compiler}")));
    }

    // A terminal has the rest in one line, a page a pair for each.
    let took = words::duration(results.seconds);
    let mut line = vec![run.started.clone()];
    if !is_of_commands(results) {
        line.push(format!("{} procedure", run.procedure));
        items.push(page_pair("Procedure", run.procedure.to_string()));
    }
    items.push(page_pair("CPUs", run.cpus.to_string()));
    if !run.pin.is_empty() {
        line.push(format!("copies pinned by {}", run.pin));
        items.push(page_pair("Pinned", format!("by {}", run.pin)));
    }
    items.push(page_pair("Started", run.started.clone()));
    if results.seconds > 0.0 {
        line.push(took.clone());
    }
    let ended = results.end.map_or("cut short", Ended::name);
    items.push(page_pair("Took", format!("{took}, {ended}")));
    line.retain(|part| !part.is_empty());
    items.push(terminal_pair("Run", line.join(", ")));
    // Scores have it among their notes.
    if let Some(before) = results.before.as_ref().filter(|_| is_of_commands(results)) {
        let value = scores::describe_commands_before(before);
        items.push(Pair {
            label: "Earlier".to_owned(),
            narrow: "Earlier".to_owned(),
            value,
            ..Pair::default()
        });
    }

    Block::Pairs(Pairs { key: "", title: String::new(), items })
}

fn terminal_pair(name: &str, value: String) -> Pair {
    Pair { narrow: name.to_owned(), value, ..Pair::default() }
}

fn page_pair(name: &str, value: String) -> Pair {
    Pair { label: name.to_owned(), value, ..Pair::default() }
}

/// How unixmark's own programs were built, if any of them was measured.
fn build_of(results: &Results) -> Option<&Build> {
    results.run.build.as_ref().filter(|_| !is_of_commands(results))
}

/// True if commands of the user's are all that was measured.
fn is_of_commands(results: &Results) -> bool {
    let figures = &results.figures;
    let has_commands_alone =
        !figures.is_empty() && figures.iter().all(|figure| figure.cell.role != Role::Test);
    results.run.view == View::Ab || has_commands_alone
}

/// The facts by group, and what is needed to repeat the run: for pages.
fn system(results: &Results) -> Vec<Block> {
    let mut blocks = vec![Block::section("System")];
    for (group, facts) in results.facts.iter().map(|fact| (&fact.group, fact)).grouped() {
        let items = facts.iter().map(|fact| page_pair(&fact.label, fact.value.to_string()));
        blocks.push(titled_pairs(group, items.collect()));
    }
    blocks.push(titled_pairs("To repeat it", what_repeats_it(results)));
    blocks
}

fn what_repeats_it(results: &Results) -> Vec<Pair> {
    let run = &results.run;
    let mut items = vec![
        page_pair("Run", run.name.clone()),
        page_pair("Host", run.host.clone()),
        page_pair("Tool", run.tool.clone()),
    ];
    if let Some(build) = build_of(results) {
        items.push(page_pair("Flags", build.flags.clone()));
        items.push(page_pair("Build", format!("{} {}", build.name, build.hash)));
    }
    items.push(page_pair("Seed", run.seed.to_string()));

    let repeat = Repeat::new(run);
    let command = repeat.command();
    if !command.is_empty() {
        items.push(page_pair("Command line", command));
    }
    if !repeat.left_out.is_empty() {
        items.push(page_pair("Left out of it", repeat.left_out));
    }
    let again = ["unixmark", "report", &run.name, "--format", "html"].map(str::to_owned);
    items.push(page_pair("This report again", words::shell(&again)));
    items
}

fn titled_pairs(title: &str, items: Vec<Pair>) -> Block {
    Block::Pairs(Pairs { title: title.to_owned(), items, ..Pairs::default() })
}

/// Every trial's score over time.
fn trials(results: &Results) -> [Block; 2] {
    let chart = Chart::new(None, TRIALS_CAPTION, scores::legend(results, 0));
    let panels = spread::draw_panels(results);
    [Block::section("Trials"), Block::Chart(Chart { panels, ..chart })]
}
