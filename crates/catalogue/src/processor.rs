//! The upper limits of processors, which reports show next to the scores of core-bound tests.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Catalogue;

/// One row of `catalogue/figures.toml`: what a figure of processors means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// The key in the rows of processors and in the `limit` of tests.
    pub id: String,
    /// Its unit: something per cycle, or cycles.
    pub unit: String,
    /// Its description.
    pub doc: String,
}

impl Figure {
    /// True if it is cycles per piece of work (fewer are better) rather than work per
    /// cycle.
    pub fn is_cycles(&self) -> bool {
        self.unit == "cycles"
    }
}

/// One row of `catalogue/processors.toml`: the processors of one make of core.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Processor {
    /// The make of core.
    pub name: String,
    /// The source of the limits.
    pub source: String,
    /// As /proc/cpuinfo of x86 has it; empty on others.
    #[serde(default)]
    pub vendor: String,
    /// As /proc/cpuinfo of x86 has it.
    #[serde(default)]
    pub family: u32,
    /// The models of x86, as ranges with both ends.
    #[serde(default)]
    pub models: Vec<(u32, u32)>,
    /// Beginnings of the fact `cpu.core`, on other architectures.
    #[serde(default)]
    pub cores: Vec<String>,
    /// Its limits, by [`Figure::id`].
    pub limits: BTreeMap<String, f64>,
}

impl Catalogue {
    /// The processor with cores of this make, which the fact `cpu.core` says.
    pub fn core(&self, core: &str) -> Option<&Processor> {
        self.processors
            .iter()
            .find(|row| row.cores.iter().any(|known| core.starts_with(known.as_str())))
    }

    /// The x86 processor of a vendor, by the family and the model in the fact `cpu.stepping`:
    /// `FAMILY MODEL STEPPING`.
    pub fn processor(&self, vendor: &str, stepping: &str) -> Option<&Processor> {
        let mut numbers = stepping.split(' ').map(str::parse::<u32>);
        let (family, model) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        self.processors.iter().find(|row| {
            row.vendor == vendor
                && row.family == family
                && row.models.iter().any(|(first, last)| (*first..=*last).contains(&model))
        })
    }
}
