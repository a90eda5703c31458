//! Classes of runs that may be ranked together: those of one procedure, one build and one baseline.

use crate::name::name_of;
use analysis::unlike;
use journal::{Procedure, Run};
use serde::{Deserialize, Serialize};

/// The differences of runs, in the plural.
const PARTS: [&str; 4] = [unlike::PROCEDURES, unlike::BUILDS, "baselines", unlike::PLACEMENTS];

/// The properties that runs must share before their figures stand in one list. Its serial form has
/// the values alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "[String; 4]", into = "[String; 4]")]
pub(crate) struct Class {
    /// Its name in addresses.
    pub(crate) id: String,
    /// The common value of each of [`PARTS`].
    values: [String; 4],
}

impl From<[String; 4]> for Class {
    fn from(values: [String; 4]) -> Class {
        Class { id: name_of(values.join("\0")), values }
    }
}

impl From<Class> for [String; 4] {
    fn from(class: Class) -> [String; 4] {
        class.values
    }
}

impl Class {
    pub(crate) fn new(run: &Run) -> Class {
        let procedure = match run.procedure {
            Procedure::Imported => format!("imported from {}", run.tool),
            procedure => format!("{procedure} procedure"),
        };
        let build = run.build.as_ref().map_or_else(String::new, |build| {
            let digits = build.hash.get(..12).unwrap_or(&build.hash);
            format!("{} build {digits}, {}", build.name, build.compiler)
        });
        let baseline = run
            .baseline
            .as_ref()
            .map_or(String::new(), |baseline| format!("index against {}", baseline.name));
        let pin = if run.pin.is_empty() {
            String::new()
        } else {
            format!("copies pinned by {}", run.pin)
        };

        Class::from([procedure, build, baseline, pin].map(|value| words::clean(&value)))
    }

    /// The common values, by their names in the plural.
    pub(crate) fn parts(&self) -> Vec<(&'static str, &str)> {
        PARTS.into_iter().zip(self.values.iter().map(String::as_str)).collect()
    }

    /// The procedure of the runs.
    pub(crate) fn procedure(&self) -> &str {
        &self.values[0]
    }

    /// The common values as a line.
    pub(crate) fn label(&self) -> String {
        let values = self.values.iter().map(String::as_str).filter(|value| !value.is_empty());
        values.collect::<Vec<_>>().join(", ")
    }
}
