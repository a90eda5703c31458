//! fio's JSON (`--output-format=json`): rates, bandwidths and latencies of each job, and of its
//! syncs.

use super::{
    Draft, Heading, Journal, Outcome, Result, Text, Value, array_at, date, distinct_name,
    number_at, outcome_at, string_at,
};
use journal::NoValue;

const VERSION: &str = "fio version";

/// Maximum clones that are believed.
const MAX_CLONES: f64 = 65_536.0;

/// The number of percentiles that fio gives unless `percentile_list` names others, and the keys of
/// those among them that are kept.
const DEFAULT_PERCENTILES: usize = 17;
const KEPT_PERCENTILES: [&str; 2] = ["50.000000", "99.000000"];

/// The ways in which a job reads and writes; with unified_rw_reporting all are reported as one.
const WAYS: [&str; 4] = ["read", "write", "trim", "mixed"];

/// How a version gives latencies.
#[derive(Clone, Copy)]
struct LatencyForm {
    /// The end of the keys after `clat` and `lat`.
    suffix: &'static str,
    per_us: f64,
}

impl LatencyForm {
    /// That of a version; `None` of one that is not known.
    fn of_version(number: &str) -> Option<LatencyForm> {
        match number.split_once('.')?.0 {
            "3" => Some(LatencyForm { suffix: "_ns", per_us: 1e3 }),
            "2" => Some(LatencyForm { suffix: "", per_us: 1.0 }),
            _ => None,
        }
    }
}

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.json_or_null().get(VERSION).is_some()
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.json_or_null();
    let version = string_at(json, &[VERSION]);
    // `fio-3.33`, and `fio 2.0.8`.
    let number = version.strip_prefix("fio").unwrap_or_default().trim_start_matches(['-', ' ']);
    let Some(form) = LatencyForm::of_version(number) else {
        let line = source.line_of(VERSION);
        return Err(source.unknown_version_error(line, "fio", &version, "versions 2 and 3"));
    };
    draft.run.tool = format!("fio {number}");
    draft.set_start(number_at(json, &["timestamp"]).and_then(date::from_unix_seconds));

    let global = json.get("global options");
    add_options(global, "Options of all jobs", &mut draft);
    let mut names: Vec<String> = Vec::new();
    for json in array_at(json, "jobs").iter().chain(array_at(json, "client_stats")) {
        let name = string_at(json, &["jobname"]);
        let name = distinct_name(name, &mut names);
        add_options(json.get("job options"), &format!("Options of {name}"), &mut draft);
        let error = number_at(json, &["error"]).filter(|error| *error > 0.0);
        if let Some(error) = error.filter(|_| WAYS.iter().all(|way| count_done(json, way) == 0.0)) {
            let what = "before it read or wrote anything";
            draft.warn(format!("the job {name} failed with error {error} {what}"));
        }
        let failure = error.map(|error| NoValue::Failed(format!("it failed with error {error}")));
        Job { json, name, copies: count_clones(json, global), form, failure }.add_to(&mut draft);
    }
    Ok(vec![draft.finish()])
}

/// Adds how jobs were set up, as a fact.
fn add_options(options: Option<&Value>, label: &str, draft: &mut Draft<'_>) {
    let Some(Value::Object(options)) = options else {
        return;
    };
    let pairs: Vec<String> =
        options.iter().map(|(key, value)| format!("{key}={}", string_at(value, &[]))).collect();
    let name = format!("imported.{}", draft.invent_name(label));
    draft.add_fact(&name, label, "Imported", &pairs.join(" "));
}

/// The number of clones whose figures are together; without group_reporting each has its own.
fn count_clones(job: &Value, global: Option<&Value>) -> u32 {
    let option = |key: &str| {
        let mut options = [job.get("job options"), global].into_iter().flatten();
        options.find_map(|options| options.get(key))
    };
    if option("group_reporting").is_none() {
        return 1;
    }
    let clones = option("numjobs").and_then(|clones| number_at(clones, &[]));
    clones.map_or(1, |clones| clones.clamp(1.0, MAX_CLONES) as u32)
}

/// The keys of the percentiles that are kept: all that somebody has asked for.
fn kept_percentiles(percentiles: &Value) -> Vec<&str> {
    let keys = percentiles.as_object().into_iter().flat_map(|percentiles| percentiles.keys());
    // Old versions fill the list with zeros.
    let is_rank = |key: &&str| key.parse::<f64>().is_ok_and(|rank| rank > 0.0);
    let keys: Vec<&str> = keys.map(String::as_str).filter(is_rank).collect();
    if keys.len() == DEFAULT_PERCENTILES { KEPT_PERCENTILES.to_vec() } else { keys }
}

/// The operations of a job in a way, or its bytes in the older files that do not count operations.
fn count_done(job: &Value, way: &str) -> f64 {
    let count = |key| number_at(job, &[way, key]);
    count("total_ios").or_else(|| count("io_bytes")).unwrap_or(0.0)
}

/// A job, under a name that no other has.
struct Job<'j> {
    json: &'j Value,
    name: String,
    copies: u32,
    form: LatencyForm,
    /// Why the job failed, if it did: the outcome of all its figures.
    failure: Option<NoValue>,
}

impl Job<'_> {
    /// The outcome of a figure, or the job's failure if it failed.
    fn outcome_or_failure(&self, outcome: Option<Outcome>) -> Option<Outcome> {
        self.failure.clone().map(Err).or(outcome)
    }

    /// Adds the figures of each way in which the job did anything, and of its syncs.
    fn add_to(&self, draft: &mut Draft<'_>) {
        for way in WAYS {
            if count_done(self.json, way) == 0.0 {
                continue;
            }
            let label = format!("{} {way}", self.name);
            let ms = number_at(self.json, &[way, "runtime"]).unwrap_or(0.0);
            draft.seconds = draft.seconds.max(ms / 1e3);
            for (key, unit) in [("iops", "IOPS"), ("bw", "KiB/s")] {
                let heading = Heading::rate(format!("{label} {key}"), unit);
                let outcome = self.outcome_or_failure(outcome_at(self.json, &[way, key]));
                draft.add_outcomes(&heading.with_copies(self.copies), outcome);
            }
            self.add_latency(self.latency(way, "clat"), &format!("{label} clat"), draft);
            // Options say which of the two has percentiles.
            let whole = self.latency(way, "lat");
            if whole.get("percentile").is_some() {
                self.add_latency(whole, &format!("{label} lat"), draft);
            }
        }
        if count_done(self.json, "sync") > 0.0 {
            let latency = self.latency("sync", "lat");
            self.add_latency(latency, &format!("{} sync lat", self.name), draft);
        }
    }

    fn latency(&self, way: &str, name: &str) -> &Value {
        &self.json[way][format!("{name}{}", self.form.suffix)]
    }

    /// Adds the mean and the percentiles of a latency.
    fn add_latency(&self, latency: &Value, label: &str, draft: &mut Draft<'_>) {
        let mut figures = vec![("mean".to_owned(), outcome_at(latency, &["mean"]))];
        for key in kept_percentiles(&latency["percentile"]) {
            let rank = key.trim_end_matches('0').trim_end_matches('.');
            figures.push((format!("p{rank}"), outcome_at(latency, &["percentile", key])));
        }

        for (name, time) in figures {
            let heading = Heading::time(format!("{label} {name}"), "us");
            let us =
                self.outcome_or_failure(time).map(|time| time.map(|time| time / self.form.per_us));
            draft.add_outcomes(&heading.with_copies(self.copies), us);
        }
    }
}
