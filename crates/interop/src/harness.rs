//! Figures that benchmark programs print, for `import` and for programs that unixmark executes.
//!
//! A text goes through three steps: its JSON documents are found ([`documents`]), the kind of
//! program is chosen unless the user named it ([`choose_kind`]), and the kind's reader makes a
//! [`Reading`] of each run ([`Kind::read_runs`]). A text of no kind may be another suite's, which
//! only `import` reads: its cells become figures ([`read_suite`]). A text has several runs where
//! Go's configuration changes, or where documents of JSON have figures in common.
//!
//! Each figure has a direction: higher or lower is better. It is the format's where that has one,
//! as JMH's modes and Go's lines of units do; otherwise that of the unit ([`metric_of`]). If
//! neither shows it, it is unknown until the user gives it (`--better`).

mod benches;
mod distribution;
mod go;
mod json;
mod tail;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::str::FromStr;
use std::sync::LazyLock;

use anyhow::{Error, Result, bail, ensure};
use serde_json::Value;

use crate::Unrecognised;
use crate::bytes;
use crate::draft::Draft;
use crate::end;
use crate::figure::{Heading, MAX_MEASUREMENTS, Reading};
use crate::plain::to_plain;
use crate::text::{self, Text};
use catalogue::{Catalogue, unit};
use journal::{Cell, Journal, MAX_PRINTED_FIGURES, NoValue, Printed};
use words::Grouped;

pub use crate::figure::Measurement;
pub use tail::Tail;

/// The reason of a figure whose line has no newline.
const CUT: &str = "its line is cut off";

/// A kind of benchmark program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Go's `go test -bench`, with or without `-json`.
    Gobench,
    /// Google Benchmark's JSON.
    Gbench,
    /// The lines of criterion, and of libtest's benches.
    Criterion,
    /// pytest-benchmark's JSON.
    Pytest,
    /// JMH's JSON.
    Jmh,
    /// nanobench's JSON.
    Nanobench,
    /// A plain object `{"name": number}`, without units, or figures with names and units.
    Json,
}

impl Kind {
    /// All kinds, in the order in which a text is tried.
    pub const ALL: [Kind; 7] = [
        Kind::Gbench,
        Kind::Pytest,
        Kind::Jmh,
        Kind::Nanobench,
        Kind::Json,
        Kind::Gobench,
        Kind::Criterion,
    ];

    /// The word for the kind in options.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Gobench => "gobench",
            Kind::Gbench => "gbench",
            Kind::Criterion => "criterion",
            Kind::Pytest => "pytest",
            Kind::Jmh => "jmh",
            Kind::Nanobench => "nanobench",
            Kind::Json => "json",
        }
    }

    /// The name of the program in messages.
    fn program(self) -> &'static str {
        match self {
            Kind::Gobench => "go test -bench",
            Kind::Gbench => "Google Benchmark",
            Kind::Criterion => "criterion",
            Kind::Pytest => "pytest-benchmark",
            Kind::Jmh => "JMH",
            Kind::Nanobench => "nanobench",
            Kind::Json => "JSON",
        }
    }

    /// Reads the runs of this kind that a text and the JSON in it hold.
    fn read_runs(self, documents: &[Value], text: &str) -> Vec<Reading> {
        let read_document: fn(&Value) -> Reading = match self {
            Kind::Gobench => return go::read_gobench(text),
            Kind::Criterion => return number_runs(benches::read_criterion(text)),
            Kind::Gbench => json::read_gbench,
            Kind::Pytest => json::read_pytest,
            Kind::Jmh => json::read_jmh,
            Kind::Nanobench => json::read_nanobench,
            Kind::Json => json::read_plain,
        };
        let own = documents.iter().filter(|document| match self {
            Kind::Json => json::is_plain(document),
            kind => json::kind_of(document) == Some(kind),
        });
        number_runs(join_documents(own.map(read_document)))
    }
}

/// Makes runs of the documents of one text: a document of the same machine that has no figure in
/// common with the run before it is a part of that run.
fn join_documents(documents: impl Iterator<Item = Reading>) -> Vec<Reading> {
    let mut runs: Vec<Reading> = Vec::new();
    for document in documents {
        match runs.last_mut() {
            Some(last)
                if !last.shares_figures_with(&document)
                    && !last.is_of_another_machine_than(&document) =>
            {
                last.merge(document);
            }
            _ => runs.push(document),
        }
    }
    runs
}

/// Labels all runs of one text but the first: `run 2` and so on.
fn number_runs(mut runs: Vec<Reading>) -> Vec<Reading> {
    for (number, run) in (1..).zip(&mut runs).skip(1) {
        run.label = format!("run {number}");
    }
    runs
}

/// A benchmark program that is executed, by its kind; `None` if its output shows the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Harness(Option<Kind>);

impl FromStr for Harness {
    type Err = Error;

    fn from_str(word: &str) -> Result<Harness> {
        match Kind::ALL.into_iter().find(|kind| kind.name() == word) {
            None if word != "auto" => {
                let known = Kind::ALL.map(Kind::name).join(", ");
                bail!("'{word}' is not a kind of benchmark program; use auto, {known}")
            }
            kind => Ok(Harness(kind)),
        }
    }
}

impl Harness {
    /// The figures that one execution of a round printed, in any encoding that `import` reads. A
    /// figure that is printed repeatedly has its median. With a `tail`, each list of numbers and
    /// each histogram becomes a figure: its quantile.
    ///
    /// # Errors
    /// There is no figure, or more than a journal may have. With a `tail`, there is no list or
    /// histogram, or one has too few values or is damaged.
    pub fn printed(
        self,
        content: &(impl AsRef<[u8]> + ?Sized),
        round: u64,
        tail: Option<Tail>,
    ) -> Result<Vec<Printed>> {
        let text = bytes::to_text(content.as_ref())?;
        let figures = measurements_with(self.0, &text, tail)?;
        ensure!(
            figures.len() <= MAX_PRINTED_FIGURES,
            "it has more than {MAX_PRINTED_FIGURES} figures; select fewer benchmarks"
        );
        Ok(figures.into_iter().map(|figure| printed_in_round(figure, round)).collect())
    }
}

fn printed_in_round(figure: Measurement, round: u64) -> Printed {
    let Measurement { name, unit, metric, copies, values, gaps } = figure;
    let median = (!values.is_empty()).then(|| (round, stats::median(&values)));
    // One reason for each execution is enough.
    let gap = gaps.into_iter().next().map(|gap| (round, gap));
    Printed {
        name,
        unit,
        metric,
        copies: Some(copies).filter(|copies| *copies != 1),
        rounds: median.into_iter().collect(),
        gaps: gap.into_iter().collect(),
    }
}

/// The figures that a benchmark program printed. Without a `kind`, the text shows it. JSON may
/// appear between other lines of the text.
///
/// # Errors
/// The text has no figure of the kind, or of any kind, or more than ten thousand.
pub fn measurements(kind: Option<Kind>, text: &str) -> Result<Vec<Measurement>> {
    measurements_with(kind, text, None)
}

/// The figures of [`measurements`]. With a `tail`, each list of numbers and each histogram in JSON
/// becomes a figure: its quantile.
fn measurements_with(
    kind: Option<Kind>,
    text: &str,
    tail: Option<Tail>,
) -> Result<Vec<Measurement>> {
    let text = to_plain(text);
    let text = output_of_events(&text).unwrap_or(text);
    let text = &with_whole_end(&text);

    let documents = match tail {
        Some(tail) => tail.reduce_documents(documents(text))?,
        None => documents(text),
    };
    let runs = match read_runs(kind, &documents, text) {
        // The text is of no kind, so it may be another suite's. What is said there about it goes
        // before `error`.
        Err(error) if kind.is_none() && choose_kind(&documents, text).is_none() => {
            read_suite(text).map_err(|refusal| refusal.unwrap_or(error))?
        }
        runs => runs?,
    };
    Ok(runs.into_iter().flat_map(Reading::into_measurements).collect())
}

/// The runs of a text of another suite, such as sysbench or fio, as `import` reads them.
///
/// # Errors
/// `None` if the text's format is not known or it has no figure; otherwise why it cannot be read.
fn read_suite(text: &str) -> Result<Vec<Reading>, Option<Error>> {
    static CATALOGUE: LazyLock<Result<Catalogue>> = LazyLock::new(Catalogue::load);

    let Ok(catalogue) = &*CATALOGUE else {
        return Err(None);
    };
    let journals = crate::import("", text, catalogue)
        .map_err(|refusal| (!refusal.is::<Unrecognised>()).then_some(refusal))?;
    let mut runs: Vec<Reading> = journals.iter().map(read_journal).collect();
    runs.retain(|run| !run.figures().is_empty());
    if runs.is_empty() { Err(None) } else { Ok(number_runs(runs)) }
}

/// The figures of an imported run that were printed as such.
fn read_journal(journal: &Journal) -> Reading {
    let mut reading = Reading::default();
    for trial in &journal.trials {
        let Some(cell) = journal.cells.get(trial.cell) else {
            continue;
        };
        let outcome = match (&trial.score, &trial.error, &trial.skip) {
            (Some(score), ..) => Ok(score.value),
            (_, Some(reason), _) => Err(NoValue::Failed(reason.clone())),
            (_, _, Some(reason)) => Err(NoValue::Skipped(reason.clone())),
            // Counts of copies, which are no figures yet.
            _ => continue,
        };
        let Cell { label, unit, metric, key, .. } = cell;
        let heading = Heading { label: label.clone(), copies: key.copies, unit, metric: *metric };
        reading.add_outcome(&heading, outcome);
    }
    reading
}

/// A text whose last line gets its newline if the line shows that it is whole. Readers of lines
/// take one without a newline for cut.
fn with_whole_end(text: &str) -> Cow<'_, str> {
    let last = text.rsplit_once('\n').map_or(text, |(_, last)| last);
    let is_whole = end::is_no_figure(last) || end::has_known_unit(&Text::new(text), last);
    if last.is_empty() || !is_whole { Cow::Borrowed(text) } else { Cow::Owned(format!("{text}\n")) }
}

/// Reads the runs that have figures.
///
/// # Errors
/// As of [`measurements`].
fn read_runs(kind: Option<Kind>, documents: &[Value], text: &str) -> Result<Vec<Reading>> {
    let kind = kind.or_else(|| choose_kind(documents, text));
    let mut runs = kind.map_or(Vec::new(), |kind| kind.read_runs(documents, text));
    ensure!(
        !runs.iter().any(|run| run.is_overfull),
        "it has more than {MAX_MEASUREMENTS} figures; select fewer benchmarks"
    );
    runs.retain(|run| !run.figures().is_empty());
    if runs.is_empty() {
        bail!(describe_missing_figures(kind, documents, text));
    }
    Ok(runs)
}

/// Why a text has no figure of a kind, and what to do.
fn describe_missing_figures(kind: Option<Kind>, documents: &[Value], text: &str) -> String {
    // Where a text is of another kind, its emptiness and its values say nothing about this one.
    if choose_kind(documents, text).is_none() {
        if let Some(reason) = describe_empty(documents, text) {
            return reason;
        }
        let obstacle = documents.iter().find_map(json::describe_obstacle);
        if let Some(obstacle) = obstacle.filter(|_| kind == Some(Kind::Json)) {
            return format!("{obstacle}; print an object of {{\"name\": number}}");
        }
    }
    let format = kind.map_or("any benchmark program that is known", Kind::program);
    format!("it has no figures in the format of {format}; check what the program prints")
}

/// A sentence about a text that is a result without any figure; `None` if it is none.
fn describe_empty(documents: &[Value], text: &str) -> Option<String> {
    let writer = documents.iter().find_map(json::writer_without_figures);
    let writer = writer.or_else(|| name_writer_of_lines(text))?;
    Some(format!(
        "it is a result of {writer} without a figure; check which benchmarks were selected"
    ))
}

/// The program whose text has no figure, by lines that only its output has.
fn name_writer_of_lines(text: &str) -> Option<&'static str> {
    if text.lines().any(benches::is_of_libtest) {
        Some("cargo bench")
    } else if text.lines().any(go::is_of_go) {
        Some("go test")
    } else {
        None
    }
}

/// As [`describe_empty`], of a text whose documents are not known yet.
pub(crate) fn describe_empty_text(text: &str) -> Option<String> {
    describe_empty(&documents(text), text)
}

/// The kind of a text. A program may log a plain object next to its figures, so that counts only
/// where nothing else does.
fn choose_kind(documents: &[Value], text: &str) -> Option<Kind> {
    let kinds: Vec<Kind> = documents.iter().filter_map(json::kind_of).collect();
    if let Some(kind) = kinds.iter().find(|kind| **kind != Kind::Json) {
        return Some(*kind);
    }
    if go::is_gobench(text) {
        return Some(Kind::Gobench);
    }
    if benches::is_criterion(text) {
        return Some(Kind::Criterion);
    }
    kinds.first().copied()
}

/// The lines of a text that have their newlines.
fn whole_lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'))
}

/// The documents of JSON in a text. An array of objects that is of no kind stands for its elements.
fn documents(text: &str) -> Vec<Value> {
    let found = text::documents(text).found.into_iter();
    let mut queue: VecDeque<Value> = found.filter_map(|document| document.json).collect();
    let mut documents = Vec::new();
    while let Some(document) = queue.pop_front() {
        let holds_objects =
            document.as_array().is_some_and(|elements| elements.iter().all(Value::is_object));
        let is_known = json::kind_of(&document).is_some();
        match document {
            Value::Array(elements) if holds_objects && !is_known => {
                for element in elements.into_iter().rev() {
                    queue.push_front(element);
                }
            }
            document => documents.push(document),
        }
    }
    documents
}

/// The output within the events of `go test -json`, package by package, since the events of
/// several may alternate; `None` of any other text. Lines before the first event are passed over:
/// Go prints some while it downloads.
pub(crate) fn output_of_events(text: &str) -> Option<String> {
    let mut lines = text.lines().filter(|line| line.starts_with('{'));
    let first = parse_event(lines.next()?)?;
    let events = std::iter::once(first).chain(lines.filter_map(parse_event));
    let outputs = events.filter_map(|event| {
        let output = event["Output"].as_str()?.to_owned();
        Some((text::string_at(&event, &["Package"]), output))
    });
    let whole: String = outputs.grouped().into_iter().flat_map(|(_, outputs)| outputs).collect();
    Some(whole + &cut_output(text).unwrap_or_default())
}

/// The beginning of the output in a last event that was cut.
fn cut_output(text: &str) -> Option<String> {
    let last = text.lines().next_back().filter(|line| line.starts_with('{'))?;
    if parse_event(last).is_some() {
        return None;
    }
    let (_, output) = last.split_once("\"Output\":\"")?;
    let output = output.trim_end_matches('"').replace("\\t", "\t").replace("\\n", "\n");
    Some(output.trim_end_matches('\\').to_owned())
}

fn parse_event(line: &str) -> Option<Value> {
    let json = serde_json::from_str::<Value>(line).ok()?;
    json["Action"].is_string().then_some(json)
}

/// The kind of program that wrote a document.
pub(crate) fn kind_of_document(json: &Value) -> Option<Kind> {
    json::kind_of(json)
}

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    match &text.json {
        Some(json) => json::kind_of(json).is_some(),
        None => go::is_gobench(text.raw) || benches::is_criterion(text.raw),
    }
}

pub(crate) fn read(source: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    let documents = match &source.json {
        Some(json) => vec![json.clone()],
        None => documents(source.raw),
    };
    let Some(kind) = choose_kind(&documents, source.raw) else {
        return Ok(Vec::new());
    };

    let mut journals = Vec::new();
    for reading in read_runs(Some(kind), &documents, &with_whole_end(source.raw))? {
        let mut draft = draft.clone();
        kind.program().clone_into(&mut draft.run.tool);
        draft.run.comment.clone_from(&reading.label);
        draft.add_reading(reading);
        journals.push(draft.finish());
    }
    Ok(journals)
}

/// The direction of a figure whose format has none, by its unit.
fn metric_of(unit: &str) -> catalogue::Metric {
    unit::metric(unit)
}
