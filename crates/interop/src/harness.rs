//! Figures that benchmark programs print, for `import` and for programs that unixmark executes.
//!
//! Where a format does not say which direction is better, a unit of work per second is
//! higher-is-better, and everything else is lower-is-better.

mod json;
mod lines;

use std::collections::BTreeMap;
use std::str::FromStr;

use anyhow::{Error, Result, bail, ensure};
use serde_json::{Deserializer, Value};

use crate::draft::{Draft, Heading, cleaned};
use crate::lines::ABSURD;
use crate::text::Text;
use catalogue::Metric;
use journal::{Journal, MOST_PRINTED, Printed};

/// Figures of a text; the largest suites have some thousands.
const MOST_MEASUREMENTS: usize = 10_000;

/// Values of a figure; of a program that prints more, neighbours are averaged.
const MOST_VALUES: usize = 1000;

/// Lines of a text at which its JSON is looked for.
const MOST_STARTS: usize = 100;

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
    /// A plain object `{"name": number}`: lower is better, without a unit.
    Json,
}

impl Kind {
    /// All kinds, in the order in which a text is tried.
    pub const ALL: [Kind; 7] =
        [Kind::Gbench, Kind::Pytest, Kind::Jmh, Kind::Nanobench, Kind::Json, Kind::Gobench, Kind::Criterion];

    /// Returns the word for it in options.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns its word and its program.
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Kind::Gobench => ("gobench", "go test -bench"),
            Kind::Gbench => ("gbench", "Google Benchmark"),
            Kind::Criterion => ("criterion", "criterion"),
            Kind::Pytest => ("pytest", "pytest-benchmark"),
            Kind::Jmh => ("jmh", "JMH"),
            Kind::Nanobench => ("nanobench", "nanobench"),
            Kind::Json => ("json", "JSON"),
        }
    }

    /// Adds what a text, or the JSON in it, holds of this kind.
    fn put(self, json: &Value, text: &str, to: &mut Measurements) {
        match self {
            Kind::Gbench => json::gbench(json, to),
            Kind::Pytest => json::pytest(json, to),
            Kind::Jmh => json::jmh(json, to),
            Kind::Nanobench => json::nanobench(json, to),
            Kind::Json => json::plain(json, to),
            Kind::Gobench => lines::gobench(text, to),
            Kind::Criterion => lines::criterion(text, to),
        }
    }
}

/// A benchmark program that is executed, by its kind; without one its output tells.
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
    /// Returns the figures that an execution of a round has printed; of one that it repeats, the median.
    ///
    /// # Errors
    /// There is none, or more than a journal may have.
    pub fn printed(self, text: &str, round: u64) -> Result<Vec<Printed>> {
        let all = measurements(self.0, text)?;
        ensure!(all.len() <= MOST_PRINTED, "it has more than {MOST_PRINTED} figures; select fewer benchmarks");
        let printed = |Measurement { name, unit, metric, values }: Measurement| {
            let rounds = vec![(round, stats::median(&values))];
            Printed { name, unit, metric, rounds }
        };
        Ok(all.into_iter().map(printed).collect())
    }
}

/// Units of what is counted and of memory.
const AMOUNTS: [&str; 6] = ["B/op", "allocs/op", "B", "bytes", "allocs", "allocations"];

/// A figure that a benchmark program printed, once or repeatedly.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// The program's own name for it, unique in a text: a benchmark's further figures have their
    /// units in it.
    pub name: String,
    /// Empty where the format has none.
    pub unit: String,
    /// Its direction: [`Metric::Rate`], [`Metric::Time`] or [`Metric::Amount`].
    pub metric: Metric,
    /// One value a repetition, from 0 up.
    pub values: Vec<f64>,
}

/// Measurements in the order in which they were first printed.
#[derive(Debug, Default)]
struct Measurements {
    all: Vec<Measurement>,
    numbers: BTreeMap<String, usize>,
    /// True if there were more than [`MOST_MEASUREMENTS`].
    overfull: bool,
}

impl Measurements {
    /// Adds values to the measurement of this name and unit, except those that cannot have been
    /// measured.
    fn add(&mut self, name: &str, unit: &str, metric: Metric, values: impl IntoIterator<Item = f64>) {
        let mut values = values.into_iter().filter(|value| (0.0..=ABSURD).contains(value)).peekable();
        if values.peek().is_none() {
            return;
        }
        let (name, unit) = (cleaned(name), cleaned(unit));
        let metric = if AMOUNTS.contains(&&*unit) { Metric::Amount } else { metric };
        let other_unit = self.numbers.get(&name).is_some_and(|number| self.all[*number].unit != unit);
        let name = if other_unit { format!("{name} {unit}") } else { name };
        let next = self.all.len();
        let number = match self.numbers.get(&name) {
            Some(number) => *number,
            None if next == MOST_MEASUREMENTS => {
                self.overfull = true;
                return;
            }
            None => {
                self.numbers.insert(name.clone(), next);
                self.all.push(Measurement { name, unit, metric, values: Vec::new() });
                next
            }
        };
        self.all[number].values.extend(values);
    }

    /// Returns all.
    ///
    /// # Errors
    /// There are none, or too many.
    fn finish(mut self, what: &str) -> Result<Vec<Measurement>> {
        ensure!(!self.overfull, "it has more than {MOST_MEASUREMENTS} figures; select fewer benchmarks");
        ensure!(!self.all.is_empty(), "it has no figures in the format of {what}; check what the program prints");
        for one in &mut self.all {
            let together = one.values.len().div_ceil(MOST_VALUES);
            let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
            one.values = one.values.chunks(together).map(mean).collect();
        }
        Ok(self.all)
    }
}

/// Returns the figures that a benchmark program printed, each name once. Without a `kind`, the
/// text tells. JSON may stand between other lines of the text.
///
/// # Errors
/// The text has no figure of the kind, or of any kind, or more than ten thousand.
pub fn measurements(kind: Option<Kind>, text: &str) -> Result<Vec<Measurement>> {
    let joined = output_of_events(text);
    let text = joined.as_deref().unwrap_or(text);
    // A program may log a plain object beside its figures: that is taken where nothing else is.
    let of_a_program = |json: &Value| {
        let found = json::kind(json).filter(|found| *found != Kind::Json);
        found.is_some_and(|found| kind.is_none_or(|kind| kind == found))
    };
    let mut found = embedded(text, of_a_program);
    let mut kind = kind.or_else(|| kind_of(found.as_ref(), text));
    if found.is_none() && kind.is_none_or(|kind| kind == Kind::Json) {
        found = embedded(text, |json| json::kind(json) == Some(Kind::Json));
        kind = kind.or_else(|| found.as_ref().and_then(json::kind));
    }
    let Some(kind) = kind else { return Measurements::default().finish("any benchmark program that is known") };
    read_kind(kind, found.as_ref(), text)
}

fn read_kind(kind: Kind, json: Option<&Value>, text: &str) -> Result<Vec<Measurement>> {
    let mut all = Measurements::default();
    kind.put(json.unwrap_or(&Value::Null), text, &mut all);
    all.finish(kind.words().1)
}

/// Returns the kind of a text.
fn kind_of(json: Option<&Value>, text: &str) -> Option<Kind> {
    match json {
        Some(json) => json::kind(json),
        None if lines::is_gobench(text) => Some(Kind::Gobench),
        None => lines::is_criterion(text).then_some(Kind::Criterion),
    }
}

/// Returns the first JSON that starts a line of the text and is `wanted`.
fn embedded(text: &str, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
    let mut at = 0;
    let starts = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at - line.len()
    });
    let starts = starts.filter(|start| text[*start..].starts_with(['{', '['])).take(MOST_STARTS);
    let json = |start: usize| Deserializer::from_str(&text[start..]).into_iter().next()?.ok();
    starts.filter_map(json).find(wanted)
}

/// Returns the output within the events of `go test -json`; nothing of any other text.
pub(crate) fn output_of_events(text: &str) -> Option<String> {
    let event = |line: &str| serde_json::from_str::<Value>(line).ok().filter(|event| event["Action"].is_string());
    event(text.lines().next()?)?;
    let outputs = text.lines().filter_map(event);
    Some(outputs.filter_map(|event| event["Output"].as_str().map(str::to_owned)).collect())
}

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    kind_of(text.json.as_ref(), text.raw).is_some()
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.json.as_ref();
    let Some(kind) = kind_of(json, source.raw) else { return Ok(Vec::new()) };
    kind.words().1.clone_into(&mut draft.run.tool);
    // Names of tests lose the signs in which `a+b` and `a*b` differ.
    let mut twins: BTreeMap<String, usize> = BTreeMap::new();
    for Measurement { name, unit, metric, values } in read_kind(kind, json, source.raw)? {
        let count = twins.entry(draft.invented(&name)).or_default();
        *count += 1;
        let label = if *count == 1 { name } else { format!("{name} #{count}") };
        draft.figure(&Heading { label, copies: 1, unit: &unit, metric }, values);
    }
    Ok(vec![draft.finish()])
}
