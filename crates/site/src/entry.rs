//! A run as lists and rankings need it: less than its record, so that tens of thousands are read at once.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::record::{FACETS, Record};
use catalogue::Metric;
use journal::{Cell, Key};
use stats::Estimate;

/// The subject of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Column {
    /// A complete index at a number of copies.
    Index { id: String, copies: u32 },
    /// The system index for each W by a kind of source, as those of a package and of a socket in the wall are not
    /// alike.
    PerWatt { source: String, copies: u32 },
    /// A cell.
    Cell { key: Key, label: String, metric: Metric, unit: String },
    /// The cost of a condition in a cell, or over the tests of an index.
    Cost { key: Key, label: String, against: String, unit: String, is_lower_better: bool },
}

/// The columns of all runs; each run names its own by their places here.
pub(crate) type Columns = IndexSet<Column>;

/// A run in the lists of a site.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Its name in the site.
    pub(crate) id: String,
    /// Its name where it was recorded.
    pub(crate) name: String,
    pub(crate) started: String,
    /// The name that tells its system from others: the host, unless that was taken out.
    pub(crate) system: String,
    /// The name that people have for its system.
    pub(crate) host: String,
    /// The first facts of its system.
    pub(crate) about: String,
    /// The value of each of [`FACETS`], where it is known.
    facts: Vec<Option<String>>,
    pub(crate) class: Class,
    /// Warnings about all of its figures.
    pub(crate) marks: Vec<String>,
    pub(crate) has_chart: bool,
    /// Place of the column, value, and undisturbed value.
    pub(crate) figures: Vec<(usize, Estimate, Option<Estimate>)>,
}

impl Entry {
    /// Returns the entry of a record, adding what its figures are of to `columns`.
    pub(crate) fn new(record: &Record, columns: &mut Columns) -> Entry {
        let mut figures = Vec::new();
        for index in &record.summary.indexes {
            // Of other tests than the others' it is another index.
            if index.complete {
                let column = Column::Index { id: index.id.clone(), copies: index.copies };
                figures.push((columns.insert_full(column).0, index.score, index.quiet));
            }
        }
        let source = record.summary.facts.energy_source();
        for (source, index) in source.into_iter().flat_map(|source| record.system_indexes().map(move |of| (source, of)))
        {
            let Some(watts) = &index.watts else { continue };
            let column = Column::PerWatt { source: source.to_owned(), copies: index.copies };
            figures.push((columns.insert_full(column).0, index.score.over(watts), None));
        }
        for cost in &record.costs {
            let (key, label) = (cost.key.clone(), cost.label.clone());
            let (against, unit, is_lower_better) = (cost.against.clone(), cost.unit.clone(), cost.is_lower_better);
            let column = Column::Cost { key, label, against, unit, is_lower_better };
            figures.push((columns.insert_full(column).0, cost.change, None));
        }
        // What its condition costs says more than the figure alone.
        let has_cost = |key: &Key| record.costs.iter().any(|cost| cost.key == *key);
        for figure in record.figures().filter(|figure| !has_cost(&figure.cell.key)) {
            let Cell { key, label, metric, unit, .. } = figure.cell.clone();
            let quiet = figure.quiet.as_ref().map(|quiet| quiet.score);
            figures.push((columns.insert_full(Column::Cell { key, label, metric, unit }).0, figure.score, quiet));
        }
        let run = record.run();
        Entry {
            id: record.id.clone(),
            name: run.name.clone(),
            started: run.started.clone(),
            system: record.system().to_owned(),
            host: record.host().to_owned(),
            about: record.about(),
            facts: FACETS.iter().map(|(name, _)| record.summary.facts.value(name).map(str::to_owned)).collect(),
            class: Class::new(run),
            marks: record.marks().into_iter().map(str::to_owned).collect(),
            has_chart: record.has_chart(),
            figures,
        }
    }

    /// The day on which it began.
    pub(crate) fn date(&self) -> &str {
        self.started.get(..10).unwrap_or("")
    }

    /// The value of one of [`FACETS`], by its place there.
    pub(crate) fn fact(&self, place: usize) -> Option<&str> {
        self.facts.get(place)?.as_deref()
    }
}
