//! hyperfine's JSON (`--export-json`): every command's times, each a trial. An execution that ended
//! with another exit code than 0 has no time, since it may have ended before its work was done.

use super::{Draft, Heading, Journal, Result, Text, Value, array_at, distinct_name, string_at};
use crate::figure::{Outcome, json_number, json_outcome};
use journal::NoValue;

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    results_of(text.json_or_null()).iter().any(|result| {
        let has_times = result.get("mean").is_some() || result.get("times").is_some();
        result.get("command").is_some() && has_times
    })
}

/// The results of a whole file, or of what `jq .results` makes of one.
fn results_of(document: &Value) -> &[Value] {
    document.as_array().map_or_else(|| array_at(document, "results"), Vec::as_slice)
}

pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    "hyperfine".clone_into(&mut draft.run.tool);
    let results = results_of(source.json_or_null());
    let commands: Vec<String> =
        results.iter().map(|result| string_at(result, &["command"])).collect();
    let mut names: Vec<String> = Vec::new();
    for (result, command) in results.iter().zip(&commands) {
        let is_twin = commands.iter().filter(|other| *other == command).count() > 1;
        let name = name_result(result, command, is_twin);
        let label = distinct_name(name.clone(), &mut names);
        if label != name {
            draft.warn(format!("several results are called '{name}': this one is '{label}'"));
        }
        let heading = Heading::time(label, "s");
        let times = times_of(result);
        draft.seconds += times.iter().flatten().sum::<f64>();
        draft.add_outcomes(&heading, times);
    }
    Ok(vec![draft.finish()])
}

/// The name of a result: its command, and each parameter whose value the command does not show (one
/// of `--prepare`, say); every parameter if several results have the same command. Before version
/// 1.11 there was one parameter at most, without its name.
fn name_result(result: &Value, command: &str, is_twin: bool) -> String {
    let mut name = command.to_owned();
    let parameters = result["parameters"].as_object().into_iter().flatten();
    let parameters = parameters.map(|(key, value)| (key.as_str(), value));
    let only = result.get("parameter").filter(|value| !value.is_null());
    for (key, value) in parameters.chain(only.map(|value| ("parameter", value))) {
        let value = string_at(value, &[]);
        if is_twin || !command.contains(&value) {
            name += &format!(" ({key} = {value})");
        }
    }
    name
}

/// The time of each execution. A merged or shortened file lacks these: then one time stands for all
/// executions, the median or else the mean, and there is none if any execution failed.
fn times_of(result: &Value) -> Vec<Outcome> {
    let codes = array_at(result, "exit_codes");
    let times = array_at(result, "times");
    if times.is_empty() {
        let summary =
            json_number(&result["median"]).unwrap_or_else(|| json_outcome(&result["mean"]));
        return match codes.iter().find(|code| **code != 0) {
            Some(code) => vec![Err(describe_failure(code))],
            None => vec![summary],
        };
    }

    let mut outcomes = Vec::new();
    for (execution, time) in times.iter().enumerate() {
        outcomes.push(match codes.get(execution) {
            Some(code) if *code != 0 => Err(describe_failure(code)),
            _ => json_outcome(time),
        });
    }
    outcomes
}

fn describe_failure(code: &Value) -> NoValue {
    NoValue::Failed(match code.as_i64() {
        Some(code) => format!("it ended with exit status {code}"),
        None => "a signal ended it".to_owned(),
    })
}
