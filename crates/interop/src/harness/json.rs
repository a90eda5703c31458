//! The formats of benchmark programs that are JSON.

use serde_json::Value;

use super::{Kind, Measurements};
use crate::text::{list, string_at};
use catalogue::Metric;

/// The numbers that Google Benchmark itself writes of a benchmark; every other number is a counter of the user's.
const GBENCH: [&str; 10] = [
    "family_index", "per_family_instance_index", "repetitions", "repetition_index", "threads", "iterations",
    "real_time", "cpu_time", "allocs_per_iter", "max_bytes_used",
];

/// Counters of nanobench; they are 0 where the processor's cannot be read.
const NANOBENCH: [&str; 6] =
    ["instructions", "cpucycles", "branchinstructions", "branchmisses", "pagefaults", "contextswitches"];

/// Returns the kind of program that wrote it.
pub(super) fn kind(json: &Value) -> Option<Kind> {
    let first = |key: &str, inner: &str| list(json, key).iter().any(|one| one.get(inner).is_some());
    if first("benchmarks", "stats") {
        Some(Kind::Pytest)
    } else if json.get("context").is_some() && first("benchmarks", "real_time") {
        Some(Kind::Gbench)
    } else if json.as_array().is_some_and(|all| all.iter().any(|one| one.get("primaryMetric").is_some())) {
        Some(Kind::Jmh)
    } else if first("results", "median(elapsed)") {
        Some(Kind::Nanobench)
    } else {
        let object = json.as_object().filter(|object| !object.is_empty());
        object.is_some_and(|object| object.values().all(Value::is_number)).then_some(Kind::Json)
    }
}

/// Adds the times, and the user's counters, of each repetition; of a file of aggregates the
/// medians. A benchmark that failed is left out.
pub(super) fn gbench(json: &Value, to: &mut Measurements) {
    let all = list(json, "benchmarks").iter().filter(|one| one["error_occurred"] != true);
    let is_single = |one: &Value| one.get("run_type").is_none_or(|kind| kind == "iteration");
    let singles = all.clone().any(is_single);
    let is_kept = |one: &&Value| if singles { is_single(one) } else { one["aggregate_name"] == "median" };
    for one in all.filter(is_kept) {
        let name = [string_at(one, &["run_name"]), string_at(one, &["name"])].into_iter().find(|name| !name.is_empty());
        let (name, unit) = (name.unwrap_or_default(), string_at(one, &["time_unit"]));
        to.add(&name, &unit, Metric::Time, one["real_time"].as_f64());
        for (key, value) in one.as_object().into_iter().flatten().filter(|(key, _)| !GBENCH.contains(&key.as_str())) {
            let rate = key.ends_with("per_second") || key.ends_with("/s");
            to.add(&name, key, if rate { Metric::Rate } else { Metric::Time }, value.as_f64());
        }
    }
}

/// Adds the time of every round; of a file without them the means.
pub(super) fn pytest(json: &Value, to: &mut Measurements) {
    for one in list(json, "benchmarks") {
        let rounds = list(&one["stats"], "data");
        let mean = if rounds.is_empty() { one["stats"]["mean"].as_f64() } else { None };
        to.add(&string_at(one, &["fullname"]), "s", Metric::Time, rounds.iter().filter_map(Value::as_f64).chain(mean));
    }
}

/// Adds the primary and secondary figures, of every iteration of every fork where the file has
/// them. A secondary one in the primary's unit has its direction; any other is lower-is-better.
pub(super) fn jmh(json: &Value, to: &mut Measurements) {
    for one in json.as_array().into_iter().flatten() {
        let parameters = one["params"].as_object().into_iter().flatten();
        let parameters: String = parameters.map(|(key, value)| format!(":{key}={}", string_at(value, &[]))).collect();
        let name = format!("{}{parameters}", string_at(one, &["benchmark"]));
        let primary = &one["primaryMetric"];
        let unit = string_at(primary, &["scoreUnit"]);
        let metric = if one["mode"] == "thrpt" { Metric::Rate } else { Metric::Time };
        to.add(&name, &unit, metric, iterations(primary));
        for (key, secondary) in one["secondaryMetrics"].as_object().into_iter().flatten() {
            let other = string_at(secondary, &["scoreUnit"]);
            let metric = if other == unit { metric } else { Metric::Time };
            to.add(&format!("{name} {key}"), &other, metric, iterations(secondary));
        }
    }
}

/// Returns the values of all iterations; without them the score.
fn iterations(metric: &Value) -> Vec<f64> {
    let forks = list(metric, "rawData").iter().filter_map(Value::as_array);
    let values: Vec<f64> = forks.flatten().filter_map(Value::as_f64).collect();
    if values.is_empty() { metric["score"].as_f64().into_iter().collect() } else { values }
}

/// Adds the time, and the counters that could be read, of a unit of work in each epoch.
pub(super) fn nanobench(json: &Value, to: &mut Measurements) {
    for one in list(json, "results") {
        let (name, work) = (string_at(one, &["name"]), string_at(one, &["unit"]));
        let batch = one["batch"].as_f64().filter(|batch| *batch > 0.0).unwrap_or(1.0);
        for key in ["elapsed"].into_iter().chain(NANOBENCH) {
            let unit = if key == "elapsed" { format!("s/{work}") } else { format!("{key}/{work}") };
            let epochs = list(one, "measurements").iter().filter_map(|epoch| epoch[key].as_f64());
            let epochs: Vec<f64> = epochs.map(|value| value / batch).collect();
            let median = one[format!("median({key})")].as_f64().map(|value| value / batch);
            let values = if epochs.is_empty() { median.into_iter().collect() } else { epochs };
            if key == "elapsed" || values.iter().any(|value| *value > 0.0) {
                to.add(&name, &unit, Metric::Time, values);
            }
        }
    }
}

/// Adds the numbers of an object.
pub(super) fn plain(json: &Value, to: &mut Measurements) {
    for (name, value) in json.as_object().into_iter().flatten() {
        to.add(name, "", Metric::Time, value.as_f64());
    }
}
