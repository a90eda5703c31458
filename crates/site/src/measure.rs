//! What a site ranks by: an index, or one test under one load and condition.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::entry::{Column, Entry};
use analysis::named;
use catalogue::{Catalogue, Metric, NONE};
use journal::Key;
use stats::Estimate;

/// The index that is divided by prices and power.
pub(crate) const INDEX: &str = "index.system";

/// What those quotients are listed under.
pub(crate) const PER_UNIT: &str = "Price and power";

/// A column to rank by.
#[derive(Debug, Clone)]
pub(crate) struct Measure {
    /// Its name in addresses: `index.system`, `pipe`, `audio/burn`.
    pub(crate) id: String,
    pub(crate) label: String,
    /// What it is listed under.
    pub(crate) group: &'static str,
    pub(crate) unit: String,
    pub(crate) is_lower_better: bool,
    /// Whether its values are changes in per cent or points, which have a sign.
    pub(crate) is_change: bool,
    /// The runs that have it.
    pub(crate) values: BTreeMap<String, Levels>,
}

/// A run's values of a measure; quiet: undisturbed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels {
    /// At one copy.
    pub(crate) one: Option<Estimate>,
    /// At the most copies, if there are more.
    pub(crate) all: Option<Estimate>,
    pub(crate) quiet_one: Option<Estimate>,
    pub(crate) quiet_all: Option<Estimate>,
    /// How many copies the most are.
    pub(crate) copies: u32,
}

impl Levels {
    /// Takes in the value measured with `copies` copies.
    fn add(&mut self, copies: u32, value: Estimate, quiet: Option<Estimate>) {
        if !value.value.is_finite() {
            return;
        }
        if copies == 1 {
            (self.one, self.quiet_one) = (Some(value), quiet);
        } else if copies > self.copies {
            (self.all, self.quiet_all) = (Some(value), quiet);
        }
        self.copies = self.copies.max(copies);
    }

    /// Returns them for scripts: value, low and high of each, in the order of the fields; null for what there is not.
    pub(crate) fn json(&self) -> Value {
        let [one, all, quiet_one, quiet_all] = [self.one, self.all, self.quiet_one, self.quiet_all].map(figure);
        json!([one, all, quiet_one, quiet_all])
    }
}

/// An estimate with six digits; its ends are null where there are none.
fn figure(estimate: Option<Estimate>) -> Value {
    let digits = |number: f64| format!("{number:.5e}").parse::<f64>().ok().filter(|number| number.is_finite());
    estimate.map_or(Value::Null, |one| json!([digits(one.value), digits(one.low), digits(one.high)]))
}

/// Returns every measure of the runs, those that stand for whole systems first, then in the catalogue's order.
pub(crate) fn measures(entries: &[Entry], columns: &[Column], catalogue: &Catalogue) -> Vec<Measure> {
    let tests: HashMap<&str, usize> = (0..).zip(&catalogue.tests).map(|(place, test)| (&*test.id, place)).collect();
    // Indexes come first, then tests, those that the catalogue does not know last, then costs, then power.
    let order = |column: &Column| match column {
        Column::Index { id, .. } => {
            (0, catalogue.indexes.iter().position(|kind| kind.id == *id).unwrap_or(0), id.clone())
        }
        Column::Cell { key, .. } => (1, tests.get(&*key.test).copied().unwrap_or(usize::MAX), id(key)),
        // Those of indexes, which no test is, before those of tests.
        Column::Cost { key, against, .. } => {
            (2, tests.get(&*key.test).map_or(0, |place| place + 1), cost_id(key, against))
        }
        Column::PerWatt { source, .. } => (3, 0, source.clone()),
    };
    let orders: Vec<_> = columns.iter().map(order).collect();
    let mut found: BTreeMap<&(u8, usize, String), Measure> = BTreeMap::new();
    for entry in entries {
        for (place, value, quiet) in &entry.figures {
            let (Some(column), Some(order)) = (columns.get(*place), orders.get(*place)) else { continue };
            let measure = found.entry(order).or_insert_with(|| Measure::of(column, catalogue));
            // The same name with another unit would be another test.
            let copies = match column {
                Column::Index { copies, .. } | Column::PerWatt { copies, .. } => *copies,
                Column::Cell { key, unit, .. } if measure.unit == *unit => key.copies,
                Column::Cost { key, unit, .. } if measure.unit == *unit => key.copies,
                Column::Cell { .. } | Column::Cost { .. } => continue,
            };
            measure.values.entry(entry.id.clone()).or_default().add(copies, *value, *quiet);
        }
    }
    found.into_values().collect()
}

impl Measure {
    /// Returns the measure of a column, without values.
    fn of(column: &Column, catalogue: &Catalogue) -> Measure {
        match column {
            Column::Index { id, .. } => Measure {
                id: format!("index.{id}"),
                label: format!("{} index", catalogue.index(id).map_or(id, |index| &index.name)),
                group: "Indexes",
                unit: String::new(),
                is_lower_better: false,
                is_change: false,
                values: BTreeMap::new(),
            },
            Column::PerWatt { source, .. } => Measure {
                id: format!("{INDEX} per watt by {source}"),
                label: format!(
                    "{} index per watt by {source}",
                    catalogue.index("system").map_or("", |index| &index.name)
                ),
                group: PER_UNIT,
                unit: String::new(),
                is_lower_better: false,
                is_change: false,
                values: BTreeMap::new(),
            },
            Column::Cell { key, label, metric, unit } => Measure {
                id: id(key),
                label: named(label, &key.load, &key.condition),
                group: group(key, *metric),
                unit: unit.clone(),
                is_lower_better: *metric != Metric::Rate,
                is_change: false,
                values: BTreeMap::new(),
            },
            Column::Cost { key, label, against, unit, is_lower_better } => Measure {
                id: cost_id(key, against),
                label: cost_label(key, label, against),
                group: "Cost of a condition",
                unit: unit.clone(),
                is_lower_better: *is_lower_better,
                is_change: true,
                values: BTreeMap::new(),
            },
        }
    }
}

/// What a cell is called in addresses.
pub(crate) fn id(key: &Key) -> String {
    if key.is_plain() { key.test.clone() } else { format!("{}/{}/{}", key.test, key.load, key.condition) }
}

/// What a cost is called in addresses; a run has but one condition that the others are compared with.
fn cost_id(key: &Key, against: &str) -> String {
    format!("cost/{}/{}/{}/{against}", key.test, key.load, key.condition)
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
