//! hyperfine's JSON (`--export-json`): the times of each command, in seconds.

use analysis::Figure;
use anyhow::{Result, bail};
use journal::Execution;
use serde_json::{Value, json};

use crate::subject::Subject;

const NS: f64 = 1e9;

/// Returns the times of a run's commands.
///
/// # Errors
/// The subject is no run, or no command was measured.
pub(super) fn render(subject: Subject<'_>) -> Result<String> {
    let Subject::Run(results) = subject else {
        bail!("this format has the times of a run's commands; try --format json")
    };
    let found: Vec<Value> = results.figures.iter().filter_map(result).collect();
    if found.is_empty() {
        bail!("no command was measured, and this format has the times of commands; try --format json");
    }
    Ok(words::json_text(&json!({ "results": found }).to_string()) + "\n")
}

fn result(figure: &Figure) -> Option<Value> {
    let all = &figure.executed.as_ref()?.all;
    let seconds = |number: fn(&Execution) -> u64| all.iter().map(move |one| number(one) as f64 / NS);
    let times: Vec<f64> = seconds(Execution::wall).collect();
    let mean = stats::mean(times.iter().copied());
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    let key = &figure.cell.key;
    Some(json!({
        "command": if figure.cell.in_turn { &key.condition } else { &figure.cell.label },
        "mean": mean,
        "stddev": (times.len() > 1).then(|| (squares / (times.len() as f64 - 1.0)).sqrt()),
        "median": stats::median(&times),
        "user": stats::mean(seconds(|one| one.user)),
        "system": stats::mean(seconds(|one| one.system)),
        "min": times.iter().copied().fold(f64::INFINITY, f64::min),
        "max": times.iter().copied().fold(0.0, f64::max),
        "times": times,
        "memory_usage_byte": all.iter().map(|one| one.maxrss_kib.saturating_mul(1024)).collect::<Vec<u64>>(),
        "exit_codes": all.iter().map(|one| one.status).collect::<Vec<u64>>(),
    }))
}
