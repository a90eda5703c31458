//! All runs of a site in the order, and with the names, that its pages use.

use std::collections::{BTreeMap, HashMap};

use crate::class::Class;
use crate::measure::{Measure, measures};
use crate::price::Prices;
use crate::record::{FACETS, Record};
use catalogue::Catalogue;
use stats::{Estimate, rank_ranges};

/// The runs of a site.
#[derive(Debug)]
pub(crate) struct Board {
    /// By when they began.
    pub(crate) records: Vec<Record>,
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
    /// The place in [`Board::records`].
    pub(crate) record: usize,
    /// What it is ranked by.
    pub(crate) value: Estimate,
    /// The best and the worst place it may have.
    pub(crate) range: (usize, usize),
}

impl Board {
    pub(crate) fn new(mut records: Vec<Record>, prices: &Prices, catalogue: &Catalogue) -> Board {
        records.sort_by(|a, b| (&a.run().started, &a.id).cmp(&(&b.run().started, &b.id)));
        let mut measures = measures(&records, catalogue);
        measures.extend(prices.measures(&records, &measures));
        let is_system = |measure: &Measure| measure.id == "index.system";
        let most = || (0..measures.len()).rev().max_by_key(|place| measures[*place].values.len());
        let first = measures.iter().position(is_system).or_else(most).unwrap_or(0);
        let all: Vec<Class> = records.iter().map(|record| Class::of(record.run())).collect();
        let mut systems: BTreeMap<&Class, std::collections::BTreeSet<&str>> = BTreeMap::new();
        for (class, record) in all.iter().zip(&records) {
            let has = measures.get(first).is_some_and(|first| first.values.contains_key(&record.id));
            let known = systems.entry(class).or_default();
            if has {
                known.insert(record.system());
            }
        }
        let mut classes: Vec<(usize, Class)> =
            systems.into_iter().map(|(class, systems)| (systems.len(), class.clone())).collect();
        classes.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        let classes: Vec<Class> = classes.into_iter().map(|(_, class)| class).collect();
        let places: HashMap<&str, usize> = (0..).zip(&classes).map(|(place, class)| (&*class.id, place)).collect();
        let class_of = all.iter().map(|class| places[&*class.id]).collect();
        let differs = |name: &str| {
            let mut values = records.iter().filter_map(|record| record.summary.facts.text(name));
            values.next().is_some_and(|first| values.any(|value| value != first))
        };
        let facets = (0..FACETS.len()).filter(|place| differs(FACETS[*place].0)).collect();
        Board { class_of, classes, measures, first, facets, records }
    }

    /// Returns the latest run of each system of a class that has a value, best first.
    pub(crate) fn ranking(
        &self,
        class: usize,
        measure: &Measure,
        level: impl Fn(&crate::measure::Levels) -> Option<Estimate>,
    ) -> Vec<Ranked> {
        let mut latest: BTreeMap<&str, (usize, Estimate)> = BTreeMap::new();
        for (place, record) in self.records.iter().enumerate().filter(|(place, _)| self.class_of[*place] == class) {
            if let Some(value) = measure.values.get(&record.id).and_then(&level) {
                latest.insert(record.system(), (place, value));
            }
        }
        let mut found: Vec<(usize, Estimate)> = latest.into_values().collect();
        let better = |value: f64| if measure.is_lower_better { value } else { -value };
        found.sort_by(|a, b| better(a.1.value).total_cmp(&better(b.1.value)).then(a.0.cmp(&b.0)));
        let values: Vec<Estimate> = found.iter().map(|(_, value)| *value).collect();
        let ranked = |((record, value), range)| Ranked { record, value, range };
        found.into_iter().zip(rank_ranges(&values, measure.is_lower_better)).map(ranked).collect()
    }
}
