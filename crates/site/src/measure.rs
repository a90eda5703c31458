//! The measures of a ranking: an index, or one test under one load and condition.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::entry::{Column, Columns, Entry};
use analysis::named;
use catalogue::{Catalogue, Metric, NONE, Test};
use journal::Key;
use stats::Estimate;

/// The index that is divided by power.
pub(crate) const INDEX: &str = "index.system";

/// The group of the measures that are an index divided by power.
pub(crate) const PER_WATT: &str = "Power";

/// What runs are ranked by.
#[derive(Debug, Clone, Default)]
pub(crate) struct Measure {
    /// Its name in addresses: `index.system`, `pipe`, `audio/burn`.
    pub(crate) id: String,
    pub(crate) label: String,
    /// Its group in lists.
    pub(crate) group: &'static str,
    pub(crate) unit: String,
    pub(crate) is_lower_better: bool,
    /// True if its values are changes in per cent or points, with a sign.
    pub(crate) is_change: bool,
    /// The values of each run that has it, by the run's name in the site.
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
pub(crate) const LEVEL_ONE: usize = 0;
pub(crate) const LEVEL_ALL: usize = 1;

/// A run's values of a measure.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels {
    /// The value at each of [`LEVELS`].
    pub(crate) values: [Option<Estimate>; LEVELS.len()],
    /// The largest number of copies.
    pub(crate) copies: u32,
}

impl Levels {
    /// Adds the value measured with `copies` copies. Of several numbers of copies the largest is
    /// that of all copies.
    fn add(&mut self, copies: u32, value: Estimate, quiet: Option<Estimate>) {
        if !value.value.is_finite() {
            return;
        }
        if copies == 1 || copies > self.copies {
            let level = if copies == 1 { LEVEL_ONE } else { LEVEL_ALL };
            (self.values[level], self.values[level + 2]) = (Some(value), quiet);
        }
        self.copies = self.copies.max(copies);
    }

    /// The values times `factor` for scripts: value, low and high of each; null for a level without
    /// one.
    pub(crate) fn json(&self, factor: f64) -> Value {
        json!(self.values.map(|value| estimate_json(value.map(|value| value.scaled(factor)))))
    }
}

/// The unit in which a measure is shown, and how many of it are one of the measure's own unit.
#[derive(Debug)]
pub(crate) struct ShownUnit {
    pub(crate) name: String,
    pub(crate) factor: f64,
}

/// Value, low and high of an estimate; null where there is no estimate, or an end is infinite.
fn estimate_json(estimate: Option<Estimate>) -> Value {
    match estimate {
        Some(Estimate { value, low, high }) => json!([value, low, high].map(to_six_digits)),
        None => Value::Null,
    }
}

fn to_six_digits(number: f64) -> Option<f64> {
    format!("{number:.5e}").parse().ok().filter(|number: &f64| number.is_finite())
}

/// Every measure of the runs: indexes, then tests, costs and power, each in the catalogue's order.
pub(crate) fn collect_measures(
    entries: &[Entry],
    columns: &Columns,
    catalogue: &Catalogue,
) -> Vec<Measure> {
    let column_measures: Vec<PlacedMeasure> =
        columns.iter().map(|column| PlacedMeasure::new(column, catalogue)).collect();
    let mut measures: BTreeMap<(u8, usize, &str), Measure> = BTreeMap::new();
    for entry in entries {
        for figure in &entry.figures {
            let (Some(column), Some(PlacedMeasure { place, measure })) =
                (columns.get_index(figure.column), column_measures.get(figure.column))
            else {
                continue;
            };
            let (kind, copies) = match column {
                Column::Index { copies, .. } => (0, *copies),
                Column::Cell { key, .. } => (1, key.copies),
                Column::Cost { key, .. } => (2, key.copies),
                Column::PerWatt { copies, .. } => (3, *copies),
            };
            let measure =
                measures.entry((kind, *place, &measure.id)).or_insert_with(|| measure.clone());
            let levels = measure.values.entry(entry.id.clone()).or_default();
            levels.add(copies, figure.value, figure.quiet);
        }
    }

    measures.into_values().collect()
}

/// The measure of a column, without values.
///
/// Columns have the same measure if and only if it has the same name. Its label is the catalogue's
/// where that has the test: no run decides what those of others are called, or which way is better.
struct PlacedMeasure {
    /// Its place among the measures of its kind, in the catalogue's order, unknown ones last.
    place: usize,
    measure: Measure,
}

impl PlacedMeasure {
    fn new(column: &Column, catalogue: &Catalogue) -> PlacedMeasure {
        match column {
            Column::Index { id, .. } => Self::of_index(id, catalogue),
            Column::PerWatt { source, .. } => Self::of_power(source, catalogue),
            Column::Cell { key, label, metric, unit } => {
                Self::of_cell(key, label, *metric, unit, catalogue)
            }
            Column::Cost { key, label, against, unit, is_lower_better } => {
                let names = CostNames { label, against, unit };
                Self::of_cost(key, names, *is_lower_better, catalogue)
            }
        }
    }

    fn of_index(id: &str, catalogue: &Catalogue) -> PlacedMeasure {
        let place = catalogue.indexes.iter().position(|index| index.id == id);
        let name = catalogue.index(id).map_or(id, |index| &index.name);
        let measure = Measure::new(format!("index.{id}"), format!("{name} index"), "Indexes");
        PlacedMeasure { place: place.unwrap_or(usize::MAX), measure }
    }

    fn of_power(source: &str, catalogue: &Catalogue) -> PlacedMeasure {
        let name = catalogue.index("system").map_or("", |index| &index.name);
        let id = format!("{INDEX} per watt by {source}");
        let label = format!("{name} index per watt by {source}");
        PlacedMeasure { place: 0, measure: Measure::new(id, label, PER_WATT) }
    }

    fn of_cell(
        key: &Key,
        label: &str,
        metric: Metric,
        unit: &str,
        catalogue: &Catalogue,
    ) -> PlacedMeasure {
        let known = find_test(key, catalogue)
            .filter(|(_, test)| test.metric == metric && test.unit == unit);
        let mut id = id(key);
        if known.is_none() {
            id += &format!(";{};{};{metric:?}", escape_part(label), escape_part(unit));
        }

        let label = known.map_or(label, |(_, test)| &test.label);
        let label = named(label, &key.load, &key.condition);
        let measure = Measure {
            unit: unit.to_owned(),
            is_lower_better: metric.is_lower_better(),
            ..Measure::new(id, label, group_of(key, metric))
        };
        PlacedMeasure { place: known.map_or(usize::MAX, |(place, _)| place), measure }
    }

    fn of_cost(
        key: &Key,
        names: CostNames<'_>,
        is_lower_better: bool,
        catalogue: &Catalogue,
    ) -> PlacedMeasure {
        let CostNames { label, against, unit } = names;
        let test = find_test(key, catalogue);
        let index = key.test.strip_prefix("index.").and_then(|id| catalogue.index(id));

        // The catalogue's direction, in per cent, or else the run's own.
        let is_of_test =
            test.is_some_and(|(_, test)| is_lower_better == test.metric.is_lower_better());
        let is_of_index = index.is_some() && !is_lower_better;
        let mut id = cost_id(key, against);
        if unit != "%" || !(is_of_test || is_of_index) {
            let direction = if is_lower_better { "lower" } else { "higher" };
            id += &format!(";{};{};{direction}", escape_part(label), escape_part(unit));
        }

        let name = match (test, index) {
            (Some((_, test)), _) => test.label.as_str(),
            (None, Some(index)) => index.name.as_str(),
            (None, None) => label,
        };
        let measure = Measure {
            unit: unit.to_owned(),
            is_lower_better,
            is_change: true,
            ..Measure::new(id, cost_label(key, name, against), "Cost of a condition")
        };
        // Those of indexes are before those of tests.
        let place = match (test, index) {
            (Some((place, _)), _) => place + 1,
            (None, Some(_)) => 0,
            (None, None) => usize::MAX,
        };
        PlacedMeasure { place, measure }
    }
}

/// The words of a run about a cost: the test's or index's name, the condition that it is compared
/// with, and its unit.
struct CostNames<'c> {
    label: &'c str,
    against: &'c str,
    unit: &'c str,
}

impl Measure {
    /// The unit that suits the largest value: small times have figures in a smaller one.
    pub(crate) fn shown_unit(&self) -> ShownUnit {
        let levels = self.values.values().flat_map(|levels| levels.values);
        let largest = levels.flatten().map(|value| value.value.abs()).fold(0.0, f64::max);
        match words::suited_unit(largest, &self.unit) {
            Some((name, factor)) if !self.is_change => ShownUnit { name, factor },
            _ => ShownUnit { name: self.unit.clone(), factor: 1.0 },
        }
    }

    /// The value that a run has at a level.
    pub(crate) fn value(&self, run: &str, level: usize) -> Option<Estimate> {
        self.values.get(run)?.values[level]
    }

    /// A measure of which more is better, without a unit.
    fn new(id: String, label: String, group: &'static str) -> Measure {
        Measure { id, label, group, ..Measure::default() }
    }
}

/// A test of the catalogue with its place there.
fn find_test<'a>(key: &Key, catalogue: &'a Catalogue) -> Option<(usize, &'a Test)> {
    catalogue.tests.iter().map(AsRef::as_ref).enumerate().find(|(_, test)| test.id == key.test)
}

/// A stranger's word as part of a name: what separates parts is escaped, and so is a beginning
/// that would make it an index.
fn escape_part(word: &str) -> String {
    let word = word.replace('%', "%25").replace('/', "%2F").replace(';', "%3B");
    if word.starts_with("index.") { word.replacen('.', "%2E", 1) } else { word }
}

/// The name of a cell in addresses.
pub(crate) fn id(key: &Key) -> String {
    let Key { test, load, condition, .. } = key;
    if key.is_plain() {
        escape_part(test)
    } else {
        format!("{}/{}/{}", escape_part(test), escape_part(load), escape_part(condition))
    }
}

/// The name of a cost in addresses: test, load, condition, and the condition that it is compared
/// with.
fn cost_id(key: &Key, against: &str) -> String {
    let [load, condition, against] = [&key.load, &key.condition, against].map(escape_part);
    // Without [`escape_part`], since the test may be an index, whose beginning that escapes.
    let test = key.test.replace('%', "%25").replace('/', "%2F");
    format!("cost/{test}/{load}/{condition}/{against}")
}

/// The label of a cost: `Pipe Throughput, cost of audit`. It names what the condition is compared
/// with, unless that is the machine as found.
fn cost_label(key: &Key, label: &str, against: &str) -> String {
    let against = if against == NONE { String::new() } else { format!(" against {against}") };
    format!("{}, cost of {}{against}", named(label, &key.load, NONE), key.condition)
}

fn group_of(key: &Key, metric: Metric) -> &'static str {
    match metric {
        _ if key.condition != NONE => "Under a condition",
        Metric::Latency => "Latency",
        _ if key.load != NONE => "Under a load",
        _ => "Tests",
    }
}
