//! The record that a site keeps of a run beside its page: enough for every list and comparison, so
//! that no journal is read twice.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::class::Class;
use crate::files::Files;
use analysis::{Figure, Index, Results, Summary, cost};
use journal::{Cell, Fact, Facts, Key, Run, View};
use report::{Extent, Format, Layout, Subject};
use stats::Estimate;

/// The maker of pages: a hash of the code from results to pages.
pub(crate) const PAGES: &str = env!("PAGES");

/// The beginning of a record's file: as a call of a function in the page's script it can be loaded
/// from anywhere, a disk included.
const SCRIPT_BEGIN: &str = "unixmark.run(";

/// Characters of a line of an answer.
const MAX_ANSWER: usize = 2000;

/// The compiler of the programs, which is a fact of the build.
const COMPILER: &str = "build.compiler";

/// The facts by which runs can be filtered: a fact's name, and its filter's label.
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
pub(crate) const MODEL_FACET: usize = 0;

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
    /// What a comparison of commands found, in sentences; empty for other runs.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) answer: String,
}

/// The change by a condition in a cell, or over the tests of an index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Change {
    /// Its place in the matrix; of an index, `index.` and its name stand for the test.
    #[serde(flatten)]
    pub(crate) key: Key,
    /// The test's or the index's name in reports.
    pub(crate) label: String,
    /// The condition that it is compared with.
    pub(crate) against: String,
    /// `%`, or `points` of deadlines met.
    pub(crate) unit: String,
    /// True if a smaller change is better, as with times and latencies.
    pub(crate) is_lower_better: bool,
    /// The change itself, with its interval.
    #[serde(flatten)]
    pub(crate) change: Estimate,
}

/// The costs of conditions: over each index, and in each cell by its first measure.
fn condition_costs(results: &Results) -> Vec<Change> {
    let Some(cost) = results.cost() else {
        return Vec::new();
    };

    let mut costs: Vec<Change> = Vec::new();
    for condition in &cost.conditions {
        for cost::Total { id, name, copies, load, mean } in &condition.totals {
            costs.push(Change {
                key: Key {
                    test: format!("index.{id}"),
                    copies: *copies,
                    load: load.clone(),
                    condition: condition.name.clone(),
                },
                label: name.to_string(),
                against: cost.against.clone(),
                unit: "%".to_owned(),
                is_lower_better: false,
                change: mean.delta,
            });
        }

        for comparison in condition.effects.iter().map(|effect| &effect.comparison) {
            let Cell { key, label, .. } = &comparison.cell;
            // A figure whose better direction is unknown has no rank.
            let is_known = costs.iter().any(|cost| cost.key == *key);
            if is_known || comparison.direction().is_none() {
                continue;
            }
            costs.push(Change {
                key: key.clone(),
                label: label.clone(),
                against: cost.against.clone(),
                unit: comparison.measure.delta_unit().to_owned(),
                is_lower_better: comparison.lower_is_better(),
                change: comparison.change(),
            });
        }
    }

    costs
}

/// What a comparison of commands found; empty for other runs, and if nothing was compared.
fn answer(results: &Results) -> Result<String> {
    let has_comparison = results.cost().is_some_and(|cost| cost.effects().next().is_some());
    if results.run.view != View::Ab || !has_comparison {
        return Ok(String::new());
    }

    let extent = Extent::Answer;
    let layout = Layout { extent, room: MAX_ANSWER, ..Layout::from(Format::Text) };
    Ok(report::render(Subject::Run(results), layout)?.trim().replace('\n', " "))
}

impl Record {
    /// The record of a run whose journal has `bytes` bytes.
    ///
    /// # Errors
    /// It cannot be encoded: a defect.
    pub(crate) fn new(id: &str, results: &Results, bytes: u64) -> Result<Record> {
        let mut summary = Summary::from_results(results, bytes);
        for figure in &mut summary.figures {
            figure.samples.clear();
        }

        summary.facts = summary
            .facts
            .into_iter()
            .filter(|fact| FACETS.iter().any(|(name, _)| *name == fact.name))
            .collect::<Facts>();
        if let Some(build) = &results.run.build {
            let [name, label, group] = [COMPILER, "Compiler", "Software"].map(str::to_owned);
            summary.facts.push(Fact {
                name,
                label,
                group,
                value: build.compiler.clone(),
                quantity: None,
            });
        }

        let record = Record {
            pages: PAGES.to_owned(),
            id: id.to_owned(),
            class: Class::new(&results.run).id,
            summary,
            costs: condition_costs(results),
            answer: answer(results)?,
        };
        let value = serde_json::to_value(record).context("a run cannot be encoded")?;
        serde_json::from_value(clean_value(value)).context("a run cannot be encoded")
    }

    /// The record as a script, which calls a function with it.
    ///
    /// # Errors
    /// It cannot be encoded: a defect.
    pub(crate) fn to_script(&self) -> Result<String> {
        Ok(format!(
            "{SCRIPT_BEGIN}{});\n",
            serde_json::to_string(self).context("a run cannot be encoded")?
        ))
    }

    /// The record that is kept of a run, if this very tool made it.
    pub(crate) fn read(files: &Files, id: &str) -> Option<Record> {
        let script = files.read(&format!("r/{id}.js"))?;
        let text = script.strip_prefix(SCRIPT_BEGIN)?.strip_suffix(");\n")?;
        let record: Record = serde_json::from_str(text).ok()?;
        (record.pages == PAGES && record.summary.is_of(record.summary.journal_bytes))
            .then_some(record)
    }

    pub(crate) fn run(&self) -> &Run {
        &self.summary.run
    }

    /// The name that distinguishes the run's system from others: the host, unless that was taken
    /// out.
    pub(crate) fn system(&self) -> &str {
        if self.run().is_redacted() || self.run().host.is_empty() {
            &self.id
        } else {
            &self.run().host
        }
    }

    /// The system's name as it is shown.
    pub(crate) fn host(&self) -> &str {
        let Run { host, comment, .. } = self.run();
        [host.as_str(), comment]
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or("a machine without a name")
    }

    /// The system's processor, number of CPUs and distribution.
    pub(crate) fn describe_system(&self) -> String {
        let facts = &self.summary.facts;
        let cpus = words::count(self.run().cpus, "CPU");
        [facts.value("cpu.model"), Some(&cpus), facts.value("system.os")]
            .into_iter()
            .flatten()
            .collect::<Vec<&str>>()
            .join(", ")
    }

    /// The figures, but those of controls.
    pub(crate) fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.summary.figures.iter().filter(|figure| !figure.cell.control)
    }

    /// The system index at each number of copies, where all its tests were measured.
    pub(crate) fn system_indexes(&self) -> impl Iterator<Item = &Index> {
        self.summary.indexes.iter().filter(|index| index.complete && index.id == "system")
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

/// A value whose texts, keys included, cannot disturb the page on which they are shown.
fn clean_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(words::clean(&text)),
        Value::Array(items) => items.into_iter().map(clean_value).collect(),
        Value::Object(items) => {
            items.into_iter().map(|(key, item)| (words::clean(&key), clean_value(item))).collect()
        }
        other => other,
    }
}
