//! A run as lists and rankings need it: less than its record, so that tens of thousands are read at
//! once.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};

use crate::class::Class;
use crate::record::{Change, FACETS, Record};
use catalogue::Metric;
use journal::{Cell, Key, View};
use stats::Estimate;

/// The subject of a figure.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Column {
    /// A complete index at a number of copies.
    Index { id: String, copies: u32 },
    /// The system index per watt by a kind of source: the power of a package is not comparable with
    /// that of a socket in the wall.
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
    /// The name that distinguishes its system from others: the host, unless that was taken out.
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
    pub(crate) figures: Vec<EntryFigure>,
    /// True if it compares commands, which have no rank among systems.
    pub(crate) is_of_commands: bool,
    /// What it found, in sentences, if it has compared commands.
    pub(crate) answer: String,
}

/// A figure of a run. Its serial form is short, since a site has many.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(from = "(usize, Estimate, Option<Estimate>)", into = "(usize, Estimate, Option<Estimate>)")]
pub(crate) struct EntryFigure {
    /// The place of its subject in [`Columns`].
    pub(crate) column: usize,
    pub(crate) value: Estimate,
    /// The value of the undisturbed trials, where it is known.
    pub(crate) quiet: Option<Estimate>,
}

impl From<(usize, Estimate, Option<Estimate>)> for EntryFigure {
    fn from((column, value, quiet): (usize, Estimate, Option<Estimate>)) -> EntryFigure {
        EntryFigure { column, value, quiet }
    }
}

impl From<EntryFigure> for (usize, Estimate, Option<Estimate>) {
    fn from(figure: EntryFigure) -> Self {
        (figure.column, figure.value, figure.quiet)
    }
}

impl Entry {
    /// The entry of a record, whose figures' subjects are added to `columns`.
    pub(crate) fn new(record: &Record, columns: &mut Columns) -> Entry {
        let is_of_commands = record.run().view == View::Ab;
        let mut figures = Vec::new();
        let mut add = |column: Column, value: Estimate, quiet: Option<Estimate>| {
            let (column, _) = columns.insert_full(column);
            figures.push(EntryFigure { column, value, quiet });
        };
        // Commands have no rank among systems: they differ more than these do.
        let costs = if is_of_commands { &[][..] } else { &record.costs[..] };
        let cells = record.figures().filter(|_| !is_of_commands);

        // An index that is not complete is one of other tests than the others'.
        for index in record.summary.indexes.iter().filter(|index| index.complete) {
            let column = Column::Index { id: index.id.clone(), copies: index.copies };
            add(column, index.score, index.quiet);
        }
        if let Some(source) = record.summary.facts.energy_source() {
            for index in record.system_indexes() {
                if let Some(watts) = &index.watts {
                    let source = source.to_owned();
                    let column = Column::PerWatt { source, copies: index.copies };
                    add(column, index.score.over(watts), None);
                }
            }
        }
        for Change { key, label, against, unit, is_lower_better, change } in costs.iter().cloned() {
            add(Column::Cost { key, label, against, unit, is_lower_better }, change, None);
        }
        for figure in cells {
            // The cost of its condition says more than the figure alone, and a figure whose better
            // direction is unknown has no rank.
            let has_cost = record.costs.iter().any(|cost| cost.key == figure.cell.key);
            if has_cost || figure.cell.metric == Metric::Unknown {
                continue;
            }
            let Cell { key, label, metric, unit, .. } = figure.cell.clone();
            let quiet = figure.quiet.as_ref().map(|quiet| quiet.score);
            add(Column::Cell { key, label, metric, unit }, figure.score, quiet);
        }

        let run = record.run();
        Entry {
            id: record.id.clone(),
            name: run.name.clone(),
            started: run.started.clone(),
            system: record.system().to_owned(),
            host: record.host().to_owned(),
            about: record.describe_system(),
            facts: FACETS
                .iter()
                .map(|(name, _)| record.summary.facts.value(name).map(str::to_owned))
                .collect(),
            class: Class::new(run),
            marks: record.marks().into_iter().map(str::to_owned).collect(),
            figures,
            is_of_commands,
            answer: record.answer.clone(),
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
