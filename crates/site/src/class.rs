//! Which runs may be ranked together: those of one procedure, one build and one baseline.

use crate::name::name_of;
use analysis::unlike;
use journal::{Procedure, Run};
use serde::{Deserialize, Serialize};

/// What runs differ in, in the plural.
const PARTS: [&str; 4] = [unlike::PROCEDURES, unlike::BUILDS, "baselines", unlike::PLACEMENTS];

/// What runs must have in common before their figures stand in one list. Its serial form has the values alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "[String; 4]", into = "[String; 4]")]
pub(crate) struct Class {
    /// Its name in addresses.
    pub(crate) id: String,
    /// What is common, for each of [`PARTS`].
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
    pub(crate) fn of(run: &Run) -> Class {
        let procedure = match run.procedure {
            Procedure::Imported => format!("imported from {}", run.tool),
            procedure => format!("{procedure} procedure"),
        };
        let build = run.build.as_ref().map_or_else(String::new, |build| {
            let digits = build.hash.get(..12).unwrap_or(&build.hash);
            format!("{} build {digits}, {}", build.name, build.compiler)
        });
        let baseline =
            run.baseline.as_ref().map_or(String::new(), |baseline| format!("index against {}", baseline.name));
        let pin = if run.pin.is_empty() { String::new() } else { format!("copies pinned by {}", run.pin) };
        Class::from([procedure, build, baseline, pin].map(|value| words::clean(&value)))
    }

    /// What is common, by what it is called in the plural where runs differ in it.
    pub(crate) fn parts(&self) -> Vec<(&'static str, &str)> {
        PARTS.into_iter().zip(self.values.iter().map(String::as_str)).collect()
    }

    /// How the runs were made.
    pub(crate) fn procedure(&self) -> &str {
        &self.values[0]
    }

    /// What the runs have in common, as a line.
    pub(crate) fn label(&self) -> String {
        let values = self.values.iter().map(String::as_str).filter(|value| !value.is_empty());
        values.collect::<Vec<_>>().join(", ")
    }
}
