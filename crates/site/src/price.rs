//! The prices and the power of systems, from a file, and the index for them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::entry::Entry;
use crate::measure::{INDEX, Levels, Measure, PER_UNIT};

/// The file: a list of systems.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    #[serde(default)]
    system: Vec<System>,
}

/// A system, by its host's name or a run's name in the site.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct System {
    host: String,
    /// An hour of it.
    per_hour: Option<f64>,
    /// The currency: EUR.
    #[serde(default)]
    currency: String,
    /// Its power.
    watts: Option<f64>,
}

impl Prices {
    /// Reads a file.
    ///
    /// # Errors
    /// It cannot be read, is not such a file, or has a price or a power that is not above 0.
    pub fn read(path: &Path) -> Result<Prices> {
        let why = || format!("{} cannot be read", path.display());
        let text = std::fs::read_to_string(path).with_context(why)?;
        let prices: Prices = toml::from_str(&text).with_context(why)?;
        for System { host, per_hour, currency, watts } in &prices.system {
            if per_hour.iter().chain(watts).any(|number| !(number.is_finite() && *number > 0.0)) {
                bail!("{}: per_hour and watts of '{host}' must be above 0", path.display());
            }
            if per_hour.is_some() && currency.is_empty() {
                bail!("{}: the price of '{host}' has no currency, such as EUR", path.display());
            }
        }
        Ok(prices)
    }

    /// Returns the index for what systems cost, by currency, and for what they draw.
    pub(crate) fn measures(&self, entries: &[Entry], measures: &[Measure]) -> Vec<Measure> {
        let Some(index) = measures.iter().find(|measure| measure.id == INDEX) else { return Vec::new() };
        let mut found: BTreeMap<String, Measure> = BTreeMap::new();
        for entry in entries {
            let Some(levels) = index.values.get(&entry.id) else { continue };
            let is_it = |system: &&System| system.host == entry.host || system.host == entry.id;
            for system in self.system.iter().filter(is_it) {
                let price = system.per_hour.map(|price| (format!("{} an hour", system.currency), price));
                let power = system.watts.map(|watts| ("watt".to_owned(), watts));
                for (per, number) in price.into_iter().chain(power) {
                    let per = words::clean(&per);
                    let make = || Measure {
                        id: format!("{INDEX} per {per}"),
                        label: format!("{} per {per}", index.label),
                        group: PER_UNIT,
                        values: BTreeMap::new(),
                        ..index.clone()
                    };
                    let measure = found.entry(per.clone()).or_insert_with(make);
                    measure.values.insert(entry.id.clone(), divided(levels, number));
                }
            }
        }
        found.into_values().collect()
    }
}

/// Returns every level over a number.
fn divided(levels: &Levels, by: f64) -> Levels {
    Levels { values: levels.values.map(|level| level.map(|one| one.map(|number| number / by))), ..*levels }
}
