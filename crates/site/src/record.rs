//! The record that a site keeps of a run beside its page: enough for every list and comparison, so that no journal is
//! read twice.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::class::Class;
use crate::files::Files;
use analysis::{CostTotal, Figure, Index, Results, Summary};
use journal::{Cell, Fact, Facts, Key, Run};
use stats::Estimate;

/// The maker of pages: a hash of the code from results to pages.
const PAGES: &str = env!("PAGES");

/// The function that a page's script has for a record, which makes the file loadable from anywhere.
const CALL: &str = "unixmark.run(";

/// The compiler of the programs, which is a fact of the build.
const COMPILER: &str = "build.compiler";

/// The facts by which runs can be told apart: name, and what the filter is called.
pub(crate) const FACETS: [(&str, &str); 18] = [
    ("cpu.model", "Processor"),
    ("cpu.topology", "Topology"),
    ("memory.total", "Memory"),
    ("system.virtualisation", "Virtualisation"),
    ("system.model", "Model"),
    ("system.container", "Container"),
    ("system.os", "Distribution"),
    ("kernel.release", "Kernel"),
    ("system.architecture", "Architecture"),
    ("software.libc", "C library"),
    (COMPILER, "Compiler"),
    ("software.shell", "Shell"),
    ("storage.file_system", "File system"),
    ("security.mitigations", "Mitigations"),
    ("cpu.governor", "Governor"),
    ("cpu.microcode", "Microcode"),
    ("graphics.gl_renderer", "Renderer"),
    (Fact::ENERGY, "Energy from"),
];

/// The place of the processor among them.
pub(crate) const MODEL: usize = 0;

/// A run in a site.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The maker of the pages, and their address.
    pages: String,
    /// Its name in the site, which stands for the journal's bytes.
    pub(crate) id: String,
    /// The class of the runs that it may be compared with.
    class: String,
    /// Its summary, without samples, and of the facts those of [`FACETS`].
    pub(crate) summary: Summary,
    /// The costs of conditions, of a run about that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) costs: Vec<Change>,
}

/// The change by a condition in a cell, or over the tests of an index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change {
    /// Its place in the matrix; the test of an index is `index.` and its name.
    #[serde(flatten)]
    pub(crate) key: Key,
    /// The test's or the index's name in reports.
    pub(crate) label: String,
    /// The condition that it is compared with.
    pub(crate) against: String,
    /// `%`, or `points` of deadlines met.
    pub(crate) unit: String,
    /// True if a smaller change is better: of times and latencies.
    pub(crate) is_lower_better: bool,
    /// It, with its interval.
    #[serde(flatten)]
    pub(crate) change: Estimate,
}

/// Returns what conditions cost: over each index, and in each cell by its first measure.
fn costs(results: &Results) -> Vec<Change> {
    let Some(cost) = results.cost() else { return Vec::new() };
    let change = |key: &Key, label: &str, unit: &str, is_lower_better: bool, change: Estimate| {
        let [label, against, unit] = [label, &cost.against, unit].map(str::to_owned);
        Change { key: key.clone(), label, against, unit, is_lower_better, change }
    };
    let mut costs: Vec<Change> = Vec::new();
    for condition in &cost.conditions {
        costs.extend(condition.totals.iter().map(|CostTotal { id, name: label, copies, load, mean }| {
            let (test, load, condition) = (format!("index.{id}"), load.clone(), condition.name.clone());
            let key = Key { test, copies: *copies, load, condition };
            change(&key, label, "%", false, mean.delta)
        }));
        for one in condition.effects.iter().map(|effect| &effect.comparison) {
            let Cell { key, label, .. } = &one.cell;
            if !costs.iter().any(|known| known.key == *key) {
                costs.push(change(key, label, one.measure.delta_unit(), one.lower_is_better(), one.change()));
            }
        }
    }
    costs
}

impl Record {
    /// Returns the record of a run whose journal has `bytes` bytes.
    ///
    /// # Errors
    /// It cannot be encoded: a defect.
    pub(crate) fn new(id: &str, results: &Results, bytes: u64, url: &str) -> Result<Record> {
        let mut summary = Summary::from_results(results, bytes);
        summary.figures.iter_mut().for_each(|figure| figure.samples.clear());
        let is_facet = |name: &str| FACETS.iter().any(|(facet, _)| *facet == name);
        summary.facts = summary.facts.into_iter().filter(|fact| is_facet(&fact.name)).collect::<Facts>();
        if let Some(build) = &results.run.build {
            let [name, label, group] = [COMPILER, "Compiler", "Software"].map(str::to_owned);
            summary.facts.push(Fact { name, label, group, value: build.compiler.clone(), quantity: None });
        }
        let (class, costs) = (Class::new(&results.run).id, costs(results));
        let record = Record { pages: made_by(url), id: id.to_owned(), class, summary, costs };
        let value = serde_json::to_value(record).context("a run cannot be encoded")?;
        serde_json::from_value(cleaned(value)).context("a run cannot be encoded")
    }

    /// Returns the record as a script.
    ///
    /// # Errors
    /// It cannot be encoded: a defect.
    pub(crate) fn script(&self) -> Result<String> {
        Ok(format!("{CALL}{});\n", serde_json::to_string(self).context("a run cannot be encoded")?))
    }

    /// Returns the record that is kept of a run, if this very tool made it for this address.
    pub(crate) fn read(files: &Files, id: &str, url: &str) -> Option<Record> {
        let script = files.read(&format!("r/{id}.js"))?;
        let text = script.strip_prefix(CALL)?.strip_suffix(");\n")?;
        let record: Record = serde_json::from_str(text).ok()?;
        (record.pages == made_by(url) && record.summary.is_of(record.summary.journal_bytes)).then_some(record)
    }

    pub(crate) fn run(&self) -> &Run {
        &self.summary.run
    }

    /// The name that tells its system from others: the host, unless that was taken out.
    pub(crate) fn system(&self) -> &str {
        if self.run().is_redacted() || self.run().host.is_empty() { &self.id } else { &self.run().host }
    }

    /// The name that people have for its system.
    pub(crate) fn host(&self) -> &str {
        let Run { host, comment, .. } = self.run();
        [host.as_str(), comment].into_iter().find(|name| !name.is_empty()).unwrap_or("a machine without a name")
    }

    /// The first facts of its system.
    pub(crate) fn about(&self) -> String {
        let fact = |name: &str| self.summary.facts.value(name).map(str::to_owned);
        let cpus = words::count(self.run().cpus, "CPU");
        [fact("cpu.model"), Some(cpus), fact("system.os")].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The figures that stand for themselves.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.summary.figures.iter().filter(|figure| !figure.cell.control)
    }

    /// The system index at each number of copies, where all its tests were measured.
    pub(crate) fn system_indexes(&self) -> impl Iterator<Item = &Index> {
        self.summary.indexes.iter().filter(|index| index.complete && index.id == "system")
    }

    /// Returns true if it has a chart: of its index by test.
    pub(crate) fn has_chart(&self) -> bool {
        self.summary.indexes.iter().any(|index| index.id == "system")
    }

    /// Warnings about all of its figures.
    pub(crate) fn marks(&self) -> Vec<&'static str> {
        let mut marks = Vec::new();
        match self.summary.end {
            None => marks.push("cut short"),
            Some(journal::Ended::Interrupted) => marks.push("interrupted"),
            Some(_) => {}
        }
        match self.run().procedure {
            journal::Procedure::Quick => marks.push("quick run"),
            journal::Procedure::Imported => marks.push("imported"),
            _ => {}
        }
        if !self.summary.errors.is_empty() {
            marks.push("errors");
        }
        marks
    }
}

/// Returns the maker of pages for an address.
pub(crate) fn made_by(url: &str) -> String {
    format!("{PAGES} {url}").trim_end().to_owned()
}

/// A value in which no text disturbs the page it is shown on.
fn cleaned(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(words::clean(&text)),
        Value::Array(items) => items.into_iter().map(cleaned).collect(),
        Value::Object(items) => items.into_iter().map(|(key, item)| (words::clean(&key), cleaned(item))).collect(),
        other => other,
    }
}
