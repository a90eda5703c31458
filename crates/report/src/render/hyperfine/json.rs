//! hyperfine's JSON (`--export-json`).

use anyhow::Result;
use indexmap::IndexMap;
use serde::Serialize;

use super::{Benchmark, benchmarks, run};
use crate::subject::Subject;

#[derive(Serialize)]
struct Export<'a> {
    results: Vec<Entry<'a>>,
}

/// The fields, in hyperfine's order.
#[derive(Serialize)]
struct Entry<'a> {
    command: &'a str,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
    times: &'a [f64],
    memory_usage_byte: Vec<u64>,
    exit_codes: Vec<u64>,
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    parameters: IndexMap<&'a str, &'a str>,
}

impl<'a> From<&'a Benchmark<'_>> for Entry<'a> {
    fn from(benchmark: &'a Benchmark<'_>) -> Entry<'a> {
        let Benchmark { given, executions, times, mean, median, user, system, min, max, .. } =
            benchmark;
        let parameters = given.parameters.iter();
        Entry {
            command: &given.command,
            mean: *mean,
            stddev: benchmark.deviation,
            median: *median,
            user: *user,
            system: *system,
            min: *min,
            max: *max,
            times,
            memory_usage_byte: executions
                .iter()
                .map(|execution| execution.maxrss_kib.saturating_mul(1024))
                .collect(),
            exit_codes: executions.iter().map(|execution| execution.status).collect(),
            parameters: parameters.map(|one| (one.name.as_str(), one.value.as_str())).collect(),
        }
    }
}

/// The times of a run's commands.
///
/// # Errors
/// As [`run`] and [`benchmarks`].
pub(crate) fn render(subject: Subject<'_>) -> Result<String> {
    let benchmarks = benchmarks(run(subject)?)?;
    let results = benchmarks.iter().map(Entry::from).collect();
    let text = serde_json::to_string_pretty(&Export { results })?;
    Ok(words::json_text(&text) + "\n")
}
