//! The measures of a ranking: an index, or one test under one load and condition.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::entry::{Column, Columns, Entry};
use analysis::named;
use catalogue::{Catalogue, Metric, NONE, Test};
use journal::Key;
use stats::Estimate;

/// The index that is divided by prices and power.
pub(crate) const INDEX: &str = "index.system";

/// The group of those quotients.
pub(crate) const PER_UNIT: &str = "Price and power";

/// A column to rank by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measure {
    /// Its name in addresses: `index.system`, `pipe`, `audio/burn`.
    pub(crate) id: String,
    pub(crate) label: String,
    /// Its group in lists.
    pub(crate) group: &'static str,
    pub(crate) unit: String,
    pub(crate) is_lower_better: bool,
    /// True if its values are changes in per cent or points, which have a sign.
    pub(crate) is_change: bool,
    /// The runs that have it.
    pub(crate) values: BTreeMap<String, Levels>,
}

/// The levels of a measure: name in addresses, heading.
pub(crate) const LEVELS: [(&str, &str); 4] = [
    ("one", "1 copy"),
    ("all", "All copies"),
    ("quiet_one", "1 copy, undisturbed"),
    ("quiet_all", "All copies, undisturbed"),
];

/// The place of one copy among [`LEVELS`], and of all copies.
pub(crate) const ONE: usize = 0;
pub(crate) const ALL: usize = 1;

/// A run's values of a measure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels {
    /// The value at each of [`LEVELS`].
    pub(crate) values: [Option<Estimate>; LEVELS.len()],
    /// The most copies.
    pub(crate) copies: u32,
}

impl Levels {
    /// Takes in the value measured with `copies` copies.
    fn add(&mut self, copies: u32, value: Estimate, quiet: Option<Estimate>) {
        if !value.value.is_finite() {
            return;
        }
        if copies == 1 || copies > self.copies {
            let level = if copies == 1 { ONE } else { ALL };
            (self.values[level], self.values[level + 2]) = (Some(value), quiet);
        }
        self.copies = self.copies.max(copies);
    }

    /// Returns them for scripts: value, low and high of each; null for what there is not.
    pub(crate) fn json(&self) -> Value {
        json!(self.values.map(figure))
    }
}

/// An estimate with six digits; its ends are null where there are none.
fn figure(estimate: Option<Estimate>) -> Value {
    let digits = |number: f64| format!("{number:.5e}").parse::<f64>().ok().filter(|number| number.is_finite());
    estimate.map_or(Value::Null, |one| json!([digits(one.value), digits(one.low), digits(one.high)]))
}

/// Returns every measure of the runs, those that stand for whole systems first, then in the catalogue's order.
pub(crate) fn measures(entries: &[Entry], columns: &Columns, catalogue: &Catalogue) -> Vec<Measure> {
    let known: Vec<(usize, Measure)> = columns.iter().map(|column| Measure::from_column(column, catalogue)).collect();
    let mut found: BTreeMap<(u8, usize, &str), Measure> = BTreeMap::new();
    for entry in entries {
        for (place, value, quiet) in &entry.figures {
            let (Some(column), Some((place, measure))) = (columns.get_index(*place), known.get(*place)) else {
                continue;
            };
            // Indexes come first, then tests, then costs, then power.
            let (kind, copies) = match column {
                Column::Index { copies, .. } => (0, *copies),
                Column::Cell { key, .. } => (1, key.copies),
                Column::Cost { key, .. } => (2, key.copies),
                Column::PerWatt { copies, .. } => (3, *copies),
            };
            let measure = found.entry((kind, *place, &measure.id)).or_insert_with(|| measure.clone());
            measure.values.entry(entry.id.clone()).or_default().add(copies, *value, *quiet);
        }
    }
    found.into_values().collect()
}

impl Measure {
    /// Returns the measure of a column, without values, and its place among those of its kind, in the
    /// catalogue's order, unknown ones last. Columns have the same measure if and only if it has the
    /// same name, and its label is the catalogue's where that knows it: no run decides what those of
    /// others are called, or which way is better.
    fn from_column(column: &Column, catalogue: &Catalogue) -> (usize, Measure) {
        match column {
            Column::Index { id, .. } => {
                let place = catalogue.indexes.iter().position(|kind| kind.id == *id).unwrap_or(usize::MAX);
                let name = catalogue.index(id).map_or(id, |index| &index.name);
                (place, Measure::new(format!("index.{id}"), format!("{name} index"), "Indexes"))
            }
            Column::PerWatt { source, .. } => {
                let name = catalogue.index("system").map_or("", |index| &index.name);
                let id = format!("{INDEX} per watt by {source}");
                (0, Measure::new(id, format!("{name} index per watt by {source}"), PER_UNIT))
            }
            Column::Cell { key, label, metric, unit } => {
                let known = test(key, catalogue).filter(|(_, test)| (test.metric, &test.unit) == (*metric, unit));
                let own = format!(";{};{};{metric:?}", part(label), part(unit));
                let id = id(key) + if known.is_some() { "" } else { &own };
                let label = known.map_or(label, |(_, test)| &test.label);
                let measure = Measure::new(id, named(label, &key.load, &key.condition), group(key, *metric));
                let is_lower_better = *metric != Metric::Rate;
                let place = known.map_or(usize::MAX, |(place, _)| place);
                (place, Measure { unit: unit.clone(), is_lower_better, ..measure })
            }
            Column::Cost { key, label, against, unit, is_lower_better } => {
                let known = test(key, catalogue);
                let index = key.test.strip_prefix("index.").and_then(|id| catalogue.index(id));
                let way = if *is_lower_better { "lower" } else { "higher" };
                let own = format!(";{};{};{way}", part(label), part(unit));
                let is_of_test = known.is_some_and(|(_, test)| *is_lower_better == (test.metric != Metric::Rate));
                let is_known = unit == "%" && (is_of_test || (index.is_some() && !is_lower_better));
                let id = cost_id(key, against) + if is_known { "" } else { &own };
                let name = known.map(|(_, test)| &test.label).or(index.map(|index| &index.name)).unwrap_or(label);
                let measure = Measure::new(id, cost_label(key, name, against), "Cost of a condition");
                let (unit, is_lower_better) = (unit.clone(), *is_lower_better);
                // Those of indexes, which no test is, before those of tests.
                let unknown = if index.is_some() { 0 } else { usize::MAX };
                let place = known.map_or(unknown, |(place, _)| place + 1);
                (place, Measure { unit, is_lower_better, is_change: true, ..measure })
            }
        }
    }

    /// Returns the value that a run has at a level.
    pub(crate) fn value(&self, run: &str, level: usize) -> Option<Estimate> {
        self.values.get(run)?.values[level]
    }

    /// Returns a measure of which more is better, without a unit.
    fn new(id: String, label: String, group: &'static str) -> Measure {
        Measure { id, label, group, ..Measure::default() }
    }
}

/// Returns a test of the catalogue with its place there.
fn test<'a>(key: &Key, catalogue: &'a Catalogue) -> Option<(usize, &'a Test)> {
    catalogue.tests.iter().map(AsRef::as_ref).enumerate().find(|(_, test)| test.id == key.test)
}

/// Returns a stranger's word as part of a name: what separates parts is escaped, and it is no index.
fn part(word: &str) -> String {
    let word = word.replace('%', "%25").replace('/', "%2F").replace(';', "%3B");
    if word.starts_with("index.") { word.replacen('.', "%2E", 1) } else { word }
}

/// Returns the name of a cell in addresses.
pub(crate) fn id(key: &Key) -> String {
    let Key { test, load, condition, .. } = key;
    if key.is_plain() { part(test) } else { format!("{}/{}/{}", part(test), part(load), part(condition)) }
}

/// Returns the name of a cost in addresses; a run has but one condition that the others are compared with.
fn cost_id(key: &Key, against: &str) -> String {
    let [load, condition, against] = [&key.load, &key.condition, against].map(part);
    // Also of an index.
    format!("cost/{}/{load}/{condition}/{against}", key.test.replace('%', "%25").replace('/', "%2F"))
}

/// `Pipe Throughput, cost of audit`; what it is compared with is told where that is not the machine as found.
fn cost_label(key: &Key, label: &str, against: &str) -> String {
    let against = if against == NONE { String::new() } else { format!(" against {against}") };
    format!("{}, cost of {}{against}", named(label, &key.load, NONE), key.condition)
}

fn group(key: &Key, metric: Metric) -> &'static str {
    match metric {
        _ if key.condition != NONE => "Under a condition",
        Metric::Latency => "Latency",
        _ if key.load != NONE => "Under a load",
        _ => "Tests",
    }
}
