//! fio's JSON (`--output-format=json`): rates, bandwidths and completion latencies of each job.

use super::{Draft, Heading, Journal, Result, Text, Value, date, list, number, string_at};

const VERSION: &str = "fio version";

/// Percentiles of the completion latency that are kept, by their names in the file.
const PERCENTILES: [(&str, &str); 2] = [("p50", "50.000000"), ("p99", "99.000000")];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.value().get(VERSION).is_some()
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let json = source.value();
    let version = string_at(json, &[VERSION]);
    let Some(number_of) = version.strip_prefix("fio-").filter(|version| version.starts_with("3.")) else {
        return Err(source.unknown(source.line_of(VERSION), "fio", &version, "version 3"));
    };
    draft.run.tool = format!("fio {number_of}");
    draft.started(number(json, &["timestamp"]).and_then(date::since_1970));
    options(json.get("global options"), "Options of all jobs", &mut draft);
    let mut names: Vec<String> = Vec::new();
    for job in list(json, "jobs").iter().chain(list(json, "client_stats")) {
        let name = string_at(job, &["jobname"]);
        let twins = names.iter().filter(|known| **known == name).count();
        names.push(name.clone());
        let name = if twins == 0 { name } else { format!("{name} #{}", twins + 1) };
        options(job.get("job options"), &format!("Options of {name}"), &mut draft);
        match number(job, &["error"]) {
            Some(error) if error > 0.0 => {
                draft.warn(format!("the job {name} failed with error {error}: it is left out"))
            }
            _ => put(job, &name, json.get("global options"), &mut draft),
        }
    }
    Ok(vec![draft.finish()])
}

/// Notes how jobs were set up.
fn options(options: Option<&Value>, label: &str, draft: &mut Draft<'_>) {
    let Some(Value::Object(options)) = options else { return };
    let pairs: Vec<String> = options.keys().map(|key| format!("{key}={}", string_at(&options[key], &[]))).collect();
    draft.fact(&format!("imported.{}", draft.invented(label)), label, "Imported", &pairs.join(" "));
}

/// Returns the number of clones whose figures are together; without group_reporting each has its own.
fn copies(job: &Value, global: Option<&Value>) -> u32 {
    let option = |key: &str| [job.get("job options"), global].into_iter().flatten().find_map(|all| all.get(key));
    let jobs = option("group_reporting").and(option("numjobs")).and_then(|jobs| number(jobs, &[]));
    jobs.map_or(1, |jobs| jobs.clamp(1.0, 65_536.0) as u32)
}

fn put(job: &Value, name: &str, global: Option<&Value>, draft: &mut Draft<'_>) {
    let copies = copies(job, global);
    for way in ["read", "write", "trim"] {
        if number(job, &[way, "total_ios"]).is_none_or(|count| count == 0.0) {
            continue;
        }
        let named = |what: &str| format!("{name} {way} {what}");
        draft.seconds = draft.seconds.max(number(job, &[way, "runtime"]).unwrap_or(0.0) / 1e3);
        draft.figure(&Heading::rate(named("iops"), "IOPS").at(copies), number(job, &[way, "iops"]));
        draft.figure(&Heading::rate(named("bw"), "KiB/s").at(copies), number(job, &[way, "bw"]));
        let clat = |path: &[&str]| number(job, &[&[way, "clat_ns"], path].concat()).map(|ns| ns / 1e3);
        draft.figure(&Heading::time(named("clat mean"), "us").at(copies), clat(&["mean"]));
        for (short, key) in PERCENTILES {
            draft.figure(&Heading::time(named(&format!("clat {short}")), "us").at(copies), clat(&["percentile", key]));
        }
    }
}
