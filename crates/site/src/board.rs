//! All runs of a site in the order, and with the names, that its pages use.
//!
//! Runs are in the order in which they began. Those that may be compared are in one class; classes
//! come in the order of their number of systems with the first measure. In a ranking each system
//! has its latest run that has the value, and a range of ranks, since values whose intervals
//! overlap are not ordered.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::class::Class;
use crate::entry::{Columns, Entry};
use crate::measure::{INDEX, Measure, collect_measures};
use crate::record::FACETS;
use catalogue::Catalogue;
use stats::{Estimate, rank_ranges};

/// The runs of a site.
#[derive(Debug)]
pub(crate) struct Board {
    /// In the order in which they began.
    pub(crate) entries: Vec<Entry>,
    /// The place in `classes` of each entry's class.
    pub(crate) class_of: Vec<usize>,
    /// The class with the most systems first.
    pub(crate) classes: Vec<Class>,
    pub(crate) measures: Vec<Measure>,
    /// The place of the measure that is shown first.
    pub(crate) first: usize,
    /// The places in [`FACETS`] of the facts that differ.
    pub(crate) facets: Vec<usize>,
}

/// The place of the measure that is shown first: the system index, or else the one that most runs
/// have.
fn first_measure(measures: &[Measure]) -> usize {
    let index = measures.iter().position(|measure| measure.id == INDEX);
    // In reverse, since `max_by_key` takes the last of equals, and the first is to count.
    let widest = (0..measures.len()).rev().max_by_key(|place| measures[*place].values.len());
    index.or(widest).unwrap_or(0)
}

/// The classes of the runs, by the number of their systems that have the first measure, most first.
fn order_classes(entries: &[Entry], first: Option<&Measure>) -> Vec<Class> {
    let mut systems_by_class: BTreeMap<&Class, BTreeSet<&str>> = BTreeMap::new();
    for entry in entries {
        let systems = systems_by_class.entry(&entry.class).or_default();
        if first.is_some_and(|first| first.values.contains_key(&entry.id)) {
            systems.insert(&entry.system);
        }
    }

    let mut counted: Vec<CountedClass> = Vec::new();
    for (class, systems) in systems_by_class {
        counted.push(CountedClass { systems: systems.len(), class: class.clone() });
    }
    counted.sort_by(|a, b| b.systems.cmp(&a.systems).then_with(|| a.class.cmp(&b.class)));
    counted.into_iter().map(|counted| counted.class).collect()
}

/// A class with the number of its systems that have the first measure.
struct CountedClass {
    systems: usize,
    class: Class,
}

/// A run's value in a ranking.
struct RankedValue {
    /// The run's place in [`Board::entries`].
    entry: usize,
    value: Estimate,
}

/// A row of a ranking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked {
    /// The run's place in [`Board::entries`].
    pub(crate) entry: usize,
    /// The value by which it is ranked.
    pub(crate) value: Estimate,
    /// The best and the worst rank that it may have.
    pub(crate) range: (usize, usize),
}

impl Board {
    /// The board of these runs, whose figures are in `columns`.
    pub(crate) fn new(mut entries: Vec<Entry>, columns: &Columns, catalogue: &Catalogue) -> Board {
        entries.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));

        let measures = collect_measures(&entries, columns, catalogue);
        let first = first_measure(&measures);
        let classes = order_classes(&entries, measures.get(first));
        let places: HashMap<&Class, usize> =
            (0..).zip(&classes).map(|(place, class)| (class, place)).collect();
        let class_of = entries.iter().map(|entry| places[&entry.class]).collect();

        let differs = |place: usize| {
            let mut values = entries.iter().filter_map(|entry| entry.fact(place));
            values.next().is_some_and(|first| values.any(|value| value != first))
        };
        let facets = (0..FACETS.len()).filter(|place| differs(*place)).collect();
        Board { class_of, classes, measures, first, facets, entries }
    }

    /// The runs of a class with their places.
    pub(crate) fn entries_of(&self, class: usize) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(move |(place, _)| self.class_of[*place] == class)
    }

    /// The ranking of a class, best first: of each system the latest run that has the value.
    pub(crate) fn ranking(&self, class: usize, measure: &Measure, level: usize) -> Vec<Ranked> {
        let mut latest: BTreeMap<&str, RankedValue> = BTreeMap::new();
        for (place, entry) in self.entries_of(class) {
            if let Some(value) = measure.value(&entry.id, level) {
                latest.insert(&*entry.system, RankedValue { entry: place, value });
            }
        }

        // The smaller, the better the rank.
        let order_of = |estimate: Estimate| {
            if measure.is_lower_better { estimate.value } else { -estimate.value }
        };
        let mut best_first: Vec<RankedValue> = latest.into_values().collect();
        best_first.sort_by(|a, b| {
            order_of(a.value).total_cmp(&order_of(b.value)).then(a.entry.cmp(&b.entry))
        });

        let values: Vec<Estimate> = best_first.iter().map(|ranked| ranked.value).collect();
        let ranges = rank_ranges(&values, measure.is_lower_better);
        let rows = best_first.into_iter().zip(ranges);
        rows.map(|(RankedValue { entry, value }, range)| Ranked { entry, value, range }).collect()
    }
}
