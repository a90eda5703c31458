//! Which runs may be ranked together: those of one procedure, one build and one baseline.

use archive::hash;
use journal::{Procedure, Run};

/// What runs must have in common before their figures stand in one list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    /// Its name in addresses.
    pub(crate) id: String,
    /// What it is, and what it is called in the plural where runs differ in it.
    pub(crate) parts: [(&'static str, String); 4],
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
        let parts = [("procedures", procedure), ("builds", build), ("baselines", baseline), ("places of copies", pin)];
        let parts = parts.map(|(what, value)| (what, words::clean(&value)));
        let text = parts.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\0");
        Class { id: short(&text), parts }
    }

    /// What the runs have in common, as a line.
    pub(crate) fn label(&self) -> String {
        let parts = self.parts.iter().map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
        parts.collect::<Vec<_>>().join(", ")
    }
}

/// Returns eight digits that stand for a text in addresses.
pub(crate) fn short(text: &str) -> String {
    format!("{:08x}", hash(text) as u32)
}
