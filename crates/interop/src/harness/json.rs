//! The formats of benchmark programs that are JSON.
//!
//! [`kind_of`] says which program wrote a document, by keys that no other has. A function for each
//! makes a [`Reading`] of it: the time of every repetition where the file has them, otherwise the
//! median, otherwise the mean. What the program counts besides becomes figures of its own, named
//! `BENCHMARK COUNTER`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Kind, metric_of};
use crate::figure::{Heading, Outcome, Reading, json_number, json_outcome, shorten_name};
use crate::plain::{clean_text, excerpt};
use crate::text::{array_at, string_at};
use catalogue::{Metric, unit};
use journal::NoValue;
use words::Grouped;

/// The keys of the numbers that Google Benchmark itself writes for a benchmark; every other number
/// is a counter of the user's.
const GBENCH_KEYS: [&str; 12] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "allocs_per_iter",
    "max_bytes_used",
    "total_allocated_bytes",
    "net_heap_growth",
];

/// Aggregates of the times of repetitions that Google Benchmark itself makes; any other is the
/// user's own.
const BUILT_IN_AGGREGATES: [&str; 6] = ["mean", "median", "stddev", "cv", "BigO", "RMS"];

/// Ends of the names of aggregates. Before version 1.5 nothing else marks them.
const AGGREGATE_ENDS: [&str; 6] = ["_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"];

/// Counters of nanobench; they are 0 where the processor's cannot be read.
const NANOBENCH_COUNTERS: [&str; 6] = [
    "instructions",
    "cpucycles",
    "branchinstructions",
    "branchmisses",
    "pagefaults",
    "contextswitches",
];

/// Words that writers put in the place of a missing figure.
const EMPTY_WORDS: [&str; 7] = ["", "-", "--", "n/a", "na", "null", "none"];

/// Maximum number of processors that is believed.
const MAX_CPUS: u64 = 1 << 16;

/// Percentiles that are kept of JMH's samples: their keys in the file, and their names here.
const JMH_PERCENTILES: [(&str, &str); 2] = [("50.0", "p50"), ("99.0", "p99")];

/// The kind of program that wrote a document.
pub(super) fn kind_of(json: &Value) -> Option<Kind> {
    if has_element_with(json, "benchmarks", &["stats"]) {
        return Some(Kind::Pytest);
    }
    let gbench_keys = ["real_time", "error_occurred", "skipped"];
    // Whoever selects benchmarks may leave out the context.
    let has_context =
        json.get("context").is_some() || has_element_with(json, "benchmarks", &["cpu_time"]);
    if has_context && has_element_with(json, "benchmarks", &gbench_keys) {
        return Some(Kind::Gbench);
    }
    let results = json.as_array().map_or(&[][..], Vec::as_slice);
    if results.iter().any(|result| result.get("primaryMetric").is_some()) {
        return Some(Kind::Jmh);
    }
    if has_element_with(json, "results", &["median(elapsed)"]) {
        return Some(Kind::Nanobench);
    }
    if !named_figures(json).is_empty() {
        return Some(Kind::Json);
    }
    let has_number = json.as_object()?.values().any(is_number);
    (has_number && is_plain(json)).then_some(Kind::Json)
}

/// True if any element of the array under a key has one of `keys`.
fn has_element_with(json: &Value, array: &str, keys: &[&str]) -> bool {
    array_at(json, array).iter().any(|element| keys.iter().any(|key| element.get(key).is_some()))
}

/// The program that wrote a document without any figure.
pub(super) fn writer_without_figures(json: &Value) -> Option<&'static str> {
    let is_empty = |key: &str| json[key].as_array().is_some_and(Vec::is_empty);
    if is_empty("benchmarks") && json.get("context").is_some() {
        Some("Google Benchmark")
    } else if is_empty("benchmarks") && json.get("machine_info").is_some() {
        Some("pytest-benchmark")
    } else if is_empty("benchmarks") {
        Some("Google Benchmark or pytest-benchmark")
    } else if is_empty("results") {
        Some("hyperfine or nanobench")
    } else {
        None
    }
}

/// True of an object whose values may all be figures, as far as they are there, and of figures with
/// names and units.
pub(super) fn is_plain(json: &Value) -> bool {
    let object = json.as_object().filter(|object| !object.is_empty());
    object.is_some_and(|object| object.values().all(may_be_figure))
        || !named_figures(json).is_empty()
}

/// The figures of a list of `{"name": …, "unit": …, "value": …}`, as programs write it for
/// github-action-benchmark, or the one that stands alone; none of any other document.
fn named_figures(json: &Value) -> &[Value] {
    let figures = json.as_array().map_or(std::slice::from_ref(json), Vec::as_slice);
    let is_figure = |figure: &Value| has_name(figure) && is_number(&figure["value"]);
    if figures.iter().any(is_figure) { figures } else { &[] }
}

fn has_name(figure: &Value) -> bool {
    !string_at(figure, &["name"]).is_empty()
}

/// A sentence about the first value of an object that cannot be a figure.
pub(super) fn describe_obstacle(json: &Value) -> Option<String> {
    let (key, value) = json.as_object()?.iter().find(|(_, value)| !may_be_figure(value))?;
    let reason = json_outcome(value).err()?;
    let key = excerpt(&clean_text(key));
    Some(format!("'{key}' in its JSON is no number: {}", reason.reason()))
}

/// True of a number, or of a word for one that is not finite. A finite number in quotes does not
/// count: objects of other things have these.
fn is_number(value: &Value) -> bool {
    json_number(value).is_some() && !is_quoted_number(value)
}

/// True of a number, also in quotes, and of what writers put where they have none: null, a word
/// such as "n/a", a list.
fn may_be_figure(value: &Value) -> bool {
    match value {
        Value::Number(_) | Value::Null | Value::Bool(_) => true,
        Value::String(text) => {
            let text = text.trim();
            let is_like_number =
                text.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit());
            let is_empty = EMPTY_WORDS.iter().any(|word| text.eq_ignore_ascii_case(word));
            is_like_number || is_empty || json_number(value).is_some()
        }
        Value::Array(elements) => {
            elements.iter().all(|element| element.is_number() || element.is_null())
        }
        Value::Object(_) => false,
    }
}

/// True of a finite number in quotes, `"1"`.
fn is_quoted_number(value: &Value) -> bool {
    value.as_str().is_some_and(|word| word.parse::<f64>().is_ok_and(f64::is_finite))
}

/// Reads Google Benchmark: the times, and the user's counters, of each repetition; of a benchmark
/// that has only aggregates the median. A statistic of the user's is a figure of its own. What
/// failed or was skipped has its message.
pub(super) fn read_gbench(json: &Value) -> Reading {
    let benchmarks = array_at(json, "benchmarks");
    let names: BTreeSet<&str> =
        benchmarks.iter().filter_map(|entry| entry["name"].as_str()).collect();
    let mut entries: Vec<GbenchEntry<'_>> =
        benchmarks.iter().map(|entry| GbenchEntry::new(entry, &names)).collect();
    rename_twins(&mut entries);
    let with_repetitions: BTreeSet<&str> = entries
        .iter()
        .filter(|entry| entry.aggregate.is_none())
        .map(|entry| entry.name.as_str())
        .collect();
    let with_median: BTreeSet<&str> = entries
        .iter()
        .filter(|entry| entry.aggregate == Some("median"))
        .map(|entry| entry.name.as_str())
        .collect();

    let mut reading = read_gbench_context(&json["context"]);
    for entry in &entries {
        let name = entry.name.as_str();
        let is_kept = match entry.aggregate {
            None => true,
            Some("median") => !with_repetitions.contains(name),
            Some("mean") => !with_repetitions.contains(name) && !with_median.contains(name),
            Some(_) => false,
        };
        if is_kept {
            entry.add_to(&mut reading);
        }
    }
    reading
}

/// Renames twins: entries with the same name, threads and number of repetition, which two
/// benchmarks of one name have. Each gets its label, or its number where labels do not distinguish
/// them.
fn rename_twins(entries: &mut [GbenchEntry<'_>]) {
    for twins in find_twins(entries) {
        let labels: Vec<String> =
            twins.iter().map(|places| string_at(entries[places[0]].json, &["label"])).collect();
        let have_own_labels = labels.iter().collect::<BTreeSet<_>>().len() == labels.len();

        for (number, (places, label)) in (1..).zip(twins.iter().zip(&labels)) {
            let end = match (have_own_labels, label.as_str()) {
                (true, "") => String::new(),
                (true, label) => format!(" ({label})"),
                (false, _) if number == 1 => String::new(),
                (false, _) => format!(" #{number}"),
            };
            for place in places {
                entries[*place].name += &end;
            }
        }
    }
}

/// Groups of benchmarks that share their name and number of threads. Each group has two or more
/// benchmarks, and a benchmark is the places of its entries, one of each repetition. Entries are
/// dealt out by their order: of those with the same number of repetition, the first is the first
/// benchmark's, the second the second's.
fn find_twins(entries: &[GbenchEntry<'_>]) -> Vec<Vec<Vec<usize>>> {
    let mut repetitions = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        if let (Some(repetition), None) = (entry.json["repetition_index"].as_u64(), entry.aggregate)
        {
            let key = (entry.name.clone(), entry.json["threads"].as_u64());
            repetitions.push((key, (repetition, place)));
        }
    }

    let mut all_twins = Vec::new();
    for (_, repetitions) in repetitions.into_iter().grouped() {
        let mut twins: Vec<Vec<usize>> = Vec::new();
        for (_, places) in repetitions.into_iter().grouped() {
            // There are as many benchmarks as the repetition with the most entries has.
            twins.resize(twins.len().max(places.len()), Vec::new());
            for (twin, place) in twins.iter_mut().zip(places) {
                twin.push(place);
            }
        }
        if twins.len() > 1 {
            all_twins.push(twins);
        }
    }
    all_twins
}

/// An entry of Google Benchmark's list.
struct GbenchEntry<'j> {
    json: &'j Value,
    /// The benchmark's name, without that of the aggregate.
    name: String,
    /// The name of what was computed from several repetitions, such as `median`; `None` of a single
    /// one.
    aggregate: Option<&'j str>,
}

impl<'j> GbenchEntry<'j> {
    /// Reads an entry of a list that has these names.
    fn new(json: &'j Value, names: &BTreeSet<&str>) -> GbenchEntry<'j> {
        let full_name = json["name"].as_str().unwrap_or_default();
        let aggregate = match json["run_type"].as_str() {
            Some("aggregate") => json["aggregate_name"].as_str().or(Some("")),
            Some(_) => None,
            None => aggregate_by_name(json, full_name, names),
        };
        let run_name = json["run_name"].as_str().filter(|name| !name.is_empty());
        let without_aggregate = || full_name.strip_suffix(aggregate?);
        let name = run_name
            .or_else(|| Some(without_aggregate()?.trim_end_matches('_')))
            .unwrap_or(full_name);
        let is_users_statistic = aggregate
            .is_some_and(|name| !name.is_empty() && !BUILT_IN_AGGREGATES.contains(&name))
            && json["aggregate_unit"] != "percentage";
        match aggregate.filter(|_| is_users_statistic) {
            Some(statistic) => {
                GbenchEntry { json, name: format!("{name} {statistic}"), aggregate: None }
            }
            None => GbenchEntry { json, name: name.to_owned(), aggregate },
        }
    }

    fn add_to(&self, reading: &mut Reading) {
        let threads = self.json["threads"].as_u64().and_then(|count| count.try_into().ok());
        let copies: u32 = threads.unwrap_or(1);
        let time_unit = string_at(self.json, &["time_unit"]);
        let time_unit = if time_unit.is_empty() { "ns" } else { &time_unit };
        let time = Heading::time(&self.name, time_unit).with_copies(copies);
        if let Some(gap) = self.find_gap() {
            reading.add_outcome(&time, Err(gap));
            return;
        }

        reading.add_outcome(&time, json_outcome(&self.json["real_time"]));
        for (key, value) in self.json.as_object().into_iter().flatten() {
            if GBENCH_KEYS.contains(&key.as_str()) || is_quoted_number(value) {
                continue;
            }
            if let Some(outcome) = json_number(value) {
                let label = format!("{} {key}", self.name);
                let heading = Heading { label, copies, unit: key, metric: metric_of(key) };
                reading.add_outcome(&heading, outcome);
            }
        }
    }

    /// The reason why the entry has no figure, if it has one.
    fn find_gap(&self) -> Option<NoValue> {
        if self.json["error_occurred"] == true {
            return Some(NoValue::Failed(self.text_or("error_message", "an error occurred")));
        }
        if self.json["skipped"] == true {
            return Some(NoValue::Skipped(self.text_or("skip_message", "it gives no reason")));
        }
        None
    }

    /// The text under a key; `default` where it is empty.
    fn text_or(&self, key: &str, default: &str) -> String {
        let text = string_at(self.json, &[key]);
        if text.is_empty() { default.to_owned() } else { text }
    }
}

/// The aggregate that an entry of a version before 1.5 is, by the end of its name. A benchmark may
/// have such a name, too: it is an aggregate if the list has the benchmark itself or another of its
/// aggregates, or if it has no time.
fn aggregate_by_name<'j>(json: &Value, name: &'j str, names: &BTreeSet<&str>) -> Option<&'j str> {
    let end = AGGREGATE_ENDS.into_iter().find(|end| name.ends_with(end))?;
    let benchmark = name.strip_suffix(end)?;
    let has_others = names.contains(benchmark)
        || AGGREGATE_ENDS
            .iter()
            .filter(|other| **other != end)
            .any(|other| names.contains(format!("{benchmark}{other}").as_str()));
    // Without the underscore that the end begins with.
    (has_others || json.get("real_time").is_none()).then(|| &name[benchmark.len() + 1..])
}

/// Reads the machine and the start of a run, with warnings about how it was built and set up.
fn read_gbench_context(context: &Value) -> Reading {
    let mut reading = Reading::default();
    reading.host = string_at(context, &["host_name"]);
    reading.date = string_at(context, &["date"]);
    reading.cpus = cpu_count(&context["num_cpus"]);
    let executable = string_at(context, &["executable"]);
    reading.add_fact("imported.executable", "Executable", "Imported", &executable);

    if context["library_build_type"] == "debug" {
        let note = "Google Benchmark's library was built for debugging, which its times may show";
        reading.notes.push(note.to_owned());
    }
    if context["cpu_scaling_enabled"] == true {
        let note = "frequency scaling was on, so the times may be noisy";
        reading.notes.push(note.to_owned());
    }
    reading
}

/// The number of processors that a value is; 0 if it cannot be one.
fn cpu_count(value: &Value) -> usize {
    value.as_u64().filter(|count| *count <= MAX_CPUS).map_or(0, |count| count as usize)
}

/// Reads pytest-benchmark: the time of every round; without rounds the median, without that the
/// mean.
pub(super) fn read_pytest(json: &Value) -> Reading {
    let machine = &json["machine_info"];
    let mut reading = Reading::default();
    reading.host = string_at(machine, &["node"]);
    reading.date = string_at(json, &["datetime"]);
    reading.cpus = cpu_count(&machine["cpu"]["count"]);
    for (name, label, group, path) in [
        ("cpu.model", "Model", "Processor", &["cpu", "brand_raw"][..]),
        ("system.architecture", "Architecture", "System", &["machine"]),
        ("system.os", "Operating system", "System", &["system"]),
        ("kernel.release", "Release", "Kernel", &["release"]),
        ("software.python", "Python", "Software", &["python_version"]),
    ] {
        reading.add_fact(name, label, group, &string_at(machine, path));
    }

    for benchmark in array_at(json, "benchmarks") {
        let heading = Heading::time(string_at(benchmark, &["fullname"]), "s");
        let stats = &benchmark["stats"];
        match array_at(stats, "data") {
            // As `--benchmark-save` writes it.
            [] => {
                let median = json_number(&stats["median"]);
                let outcome = median.unwrap_or_else(|| json_outcome(&stats["mean"]));
                reading.add_outcome(&heading, outcome);
            }
            rounds => reading.add_outcomes(&heading, rounds.iter().map(json_outcome)),
        }
    }
    reading
}

/// Reads JMH: the primary and secondary figures, of every iteration of every fork where the file
/// has them. Where a benchmark was run in several modes, its name has the mode.
pub(super) fn read_jmh(json: &Value) -> Reading {
    let results: Vec<JmhResult<'_>> =
        json.as_array().into_iter().flatten().map(JmhResult::new).collect();
    let mut modes: BTreeMap<(&str, u32), BTreeSet<&str>> = BTreeMap::new();
    for result in &results {
        modes.entry((result.name.as_str(), result.threads)).or_default().insert(result.mode);
    }

    let mut reading = Reading::default();
    for (key, label) in [("jdkVersion", "JDK"), ("vmName", "Java VM"), ("jmhVersion", "JMH")] {
        let value = results.first().map_or(String::new(), |first| string_at(first.json, &[key]));
        let name = format!("software.{}", key.to_lowercase());
        reading.add_fact(&name, label, "Software", &value);
    }
    for result in &results {
        let has_several_modes = modes[&(result.name.as_str(), result.threads)].len() > 1;
        let name = match has_several_modes {
            true => format!("{} ({})", result.name, result.mode),
            false => result.name.clone(),
        };
        result.add_to(&name, &mut reading);
    }
    reading
}

/// A benchmark of JMH in one mode.
struct JmhResult<'j> {
    json: &'j Value,
    /// The benchmark's name with its parameters.
    name: String,
    threads: u32,
    /// `thrpt` for a rate; `avgt`, `sample` and `ss` for times.
    mode: &'j str,
}

impl<'j> JmhResult<'j> {
    fn new(json: &'j Value) -> JmhResult<'j> {
        let mut name = string_at(json, &["benchmark"]);
        for (key, value) in json["params"].as_object().into_iter().flatten() {
            name += &format!(":{key}={}", string_at(value, &[]));
        }
        let threads = json["threads"].as_u64().and_then(|count| count.try_into().ok());
        let mode = json["mode"].as_str().unwrap_or_default();
        JmhResult { json, name, threads: threads.unwrap_or(1).max(1), mode }
    }

    /// Adds the figures under a name. A secondary one in the primary's unit has its direction.
    fn add_to(&self, name: &str, reading: &mut Reading) {
        let copies = self.threads;
        let primary = &self.json["primaryMetric"];
        let unit = string_at(primary, &["scoreUnit"]);
        // scalajs-benchmark calls rates averages of times.
        let is_rate = self.mode == "thrpt" || metric_of(&unit) == Metric::Rate;
        let metric = if is_rate { Metric::Rate } else { Metric::Time };
        let heading = Heading { label: name.to_owned(), copies, unit: &unit, metric };
        reading.add_outcomes(&heading, jmh_iterations(primary));

        // Samples are times of single calls, whose tail is what the mode is for.
        for (key, percentile) in JMH_PERCENTILES {
            let value = &primary["scorePercentiles"][key];
            if let Some(outcome) = json_number(value).filter(|_| self.mode == "sample") {
                let label = format!("{name} {percentile}");
                let heading = Heading { label, copies, unit: &unit, metric };
                reading.add_outcome(&heading, outcome);
            }
        }

        for (key, secondary) in self.json["secondaryMetrics"].as_object().into_iter().flatten() {
            let own_unit = string_at(secondary, &["scoreUnit"]);
            let metric = match metric_of(&own_unit) {
                _ if own_unit == unit => metric,
                // A profiler's rate, such as that of allocations, follows the program's.
                Metric::Rate => Metric::Unknown,
                metric => metric,
            };
            let label = format!("{name} {key}");
            let heading = Heading { label, copies, unit: &own_unit, metric };
            reading.add_outcomes(&heading, jmh_iterations(secondary));
        }
    }
}

/// The values of all iterations of all forks; without them the score.
fn jmh_iterations(metric: &Value) -> Vec<Outcome> {
    let forks = array_at(metric, "rawData").iter().filter_map(Value::as_array);
    let values: Vec<Outcome> = forks.flatten().map(json_outcome).collect();
    if values.is_empty() { vec![json_outcome(&metric["score"])] } else { values }
}

/// Reads nanobench: the time of a unit of work in each epoch, and the counters that could be read.
/// Where a file has several titles, a name has its own.
pub(super) fn read_nanobench(json: &Value) -> Reading {
    let results = array_at(json, "results");
    let titles: BTreeSet<String> =
        results.iter().map(|result| string_at(result, &["title"])).collect();

    let mut reading = Reading::default();
    for result in results {
        let mut name = string_at(result, &["name"]);
        if titles.len() > 1 {
            name = format!("{}: {name}", string_at(result, &["title"]));
        }
        let work = string_at(result, &["unit"]);

        let time_unit = format!("s/{work}");
        let time = Heading::time(&name, &time_unit);
        reading.add_outcomes(&time, nanobench_epochs(result, "elapsed"));
        for counter in NANOBENCH_COUNTERS {
            let unit = format!("{counter}/{work}");
            let label = format!("{name} {unit}");
            let heading = Heading { label, copies: 1, unit: &unit, metric: Metric::Amount };
            let values = nanobench_epochs(result, counter);
            if values.iter().any(|value| *value != Ok(0.0)) {
                reading.add_outcomes(&heading, values);
            }
        }
    }
    reading
}

/// The values of a measure in all epochs, or their median, per unit of work.
fn nanobench_epochs(result: &Value, key: &str) -> Vec<Outcome> {
    let epochs = array_at(result, "measurements").iter();
    let mut values: Vec<Outcome> = epochs.filter_map(|epoch| json_number(&epoch[key])).collect();
    if values.is_empty() {
        values.extend(json_number(&result[format!("median({key})")]));
    }

    // The number of units of work in an iteration.
    let batch = result["batch"].as_f64().filter(|batch| *batch > 0.0).unwrap_or(1.0);
    values.into_iter().map(|value| Ok(value? / batch)).collect()
}

/// Reads figures with names and units, or the numbers of an object, also where they are texts. An
/// object has no units; a name may show the direction.
pub(super) fn read_plain(json: &Value) -> Reading {
    let mut reading = Reading::default();
    let named = named_figures(json);
    for (number, figure) in (1..).zip(named) {
        if !has_name(figure) {
            reading.notes.push(format!("element {number} of its list has no name: it is left out"));
            continue;
        }
        let [label, unit] = ["name", "unit"].map(|key| string_at(figure, &[key]));
        let metric = match unit.as_str() {
            "" => unit::metric_of_name(&label),
            unit => metric_of(unit),
        };
        let heading = Heading { label, copies: 1, unit: &unit, metric };
        reading.add_outcome(&heading, json_outcome(&figure["value"]));
    }
    if !named.is_empty() {
        return reading;
    }

    for (name, value) in json.as_object().into_iter().flatten() {
        let label = shorten_name(name);
        let metric = unit::metric_of_name(&label);
        let heading = Heading { label, copies: 1, unit: "", metric };
        reading.add_outcome(&heading, json_outcome(value));
    }
    reading
}
