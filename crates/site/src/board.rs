//! All runs of a site in the order, and with the names, that its pages use.

use std::collections::{BTreeMap, HashMap};

use crate::class::Class;
use crate::entry::{Columns, Entry};
use crate::measure::{INDEX, Measure, measures};
use crate::price::Prices;
use crate::record::FACETS;
use catalogue::Catalogue;
use stats::{Estimate, rank_ranges};

/// The runs of a site.
#[derive(Debug)]
pub(crate) struct Board {
    /// By when they began.
    pub(crate) entries: Vec<Entry>,
    /// The class of each.
    pub(crate) class_of: Vec<usize>,
    /// The one with most systems first.
    pub(crate) classes: Vec<Class>,
    pub(crate) measures: Vec<Measure>,
    /// The measure that is shown first.
    pub(crate) first: usize,
    /// The places in [`FACETS`] of the facts that differ.
    pub(crate) facets: Vec<usize>,
}

/// A row of a ranking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ranked {
    /// The place in [`Board::entries`].
    pub(crate) entry: usize,
    /// The value it is ranked by.
    pub(crate) value: Estimate,
    /// The best and the worst place it may have.
    pub(crate) range: (usize, usize),
}

impl Board {
    pub(crate) fn new(mut entries: Vec<Entry>, columns: &Columns, prices: &Prices, catalogue: &Catalogue) -> Board {
        entries.sort_by(|a, b| (&a.started, &a.id).cmp(&(&b.started, &b.id)));
        let mut measures = measures(&entries, columns, catalogue);
        measures.extend(prices.measures(&entries, &measures));
        let most = || (0..measures.len()).rev().max_by_key(|place| measures[*place].values.len());
        let first = measures.iter().position(|measure| measure.id == INDEX).or_else(most).unwrap_or(0);
        let mut systems: BTreeMap<&Class, std::collections::BTreeSet<&str>> = BTreeMap::new();
        for entry in &entries {
            let has = measures.get(first).is_some_and(|first| first.values.contains_key(&entry.id));
            systems.entry(&entry.class).or_default().extend(has.then_some(&*entry.system));
        }
        let mut classes: Vec<(usize, Class)> =
            systems.into_iter().map(|(class, systems)| (systems.len(), class.clone())).collect();
        classes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let classes: Vec<Class> = classes.into_iter().map(|(_, class)| class).collect();
        let places: HashMap<&Class, usize> = (0..).zip(&classes).map(|(place, class)| (class, place)).collect();
        let class_of = entries.iter().map(|entry| places[&entry.class]).collect();
        let differs = |place: usize| {
            let mut values = entries.iter().filter_map(|entry| entry.fact(place));
            values.next().is_some_and(|first| values.any(|value| value != first))
        };
        let facets = (0..FACETS.len()).filter(|place| differs(*place)).collect();
        Board { class_of, classes, measures, first, facets, entries }
    }

    /// Returns the runs of a class with their places.
    pub(crate) fn entries_of(&self, class: usize) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(move |(place, _)| self.class_of[*place] == class)
    }

    /// Returns the latest run of each system of a class that has a value, best first.
    pub(crate) fn ranking(&self, class: usize, measure: &Measure, level: usize) -> Vec<Ranked> {
        let mut latest: BTreeMap<&str, (usize, Estimate)> = BTreeMap::new();
        for (place, entry) in self.entries_of(class) {
            if let Some(value) = measure.value(&entry.id, level) {
                latest.insert(&*entry.system, (place, value));
            }
        }
        let mut found: Vec<(usize, Estimate)> = latest.into_values().collect();
        let better = |value: f64| if measure.is_lower_better { value } else { -value };
        found.sort_by(|a, b| better(a.1.value).total_cmp(&better(b.1.value)).then(a.0.cmp(&b.0)));
        let values: Vec<Estimate> = found.iter().map(|(_, value)| *value).collect();
        let ranked = |((entry, value), range)| Ranked { entry, value, range };
        found.into_iter().zip(rank_ranges(&values, measure.is_lower_better)).map(ranked).collect()
    }
}
