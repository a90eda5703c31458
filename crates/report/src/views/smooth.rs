//! Interactive tasks in sentences: which stay smooth alongside which load, and which remedy for a
//! load helps.

use analysis::Results;
use catalogue::NONE;

use super::tasks::{Task, TaskRow, Tasks, describe_load};
use super::{holders, offered};
use crate::document::Block;

/// From this share of deadlines met on, in per cent, a task is smooth.
const MIN_SMOOTH_PERCENT: f64 = 99.0;

/// The deadlines that show it: of 300 with one miss in a hundred, 95 % have one (Hanley and
/// Lippman-Hand 1983).
const MIN_DEADLINES: u64 = 300;

/// A sentence for each task that has deadlines, for what held frames up, and for each remedy.
pub(super) fn lead(results: &Results) -> Option<Block> {
    let Tasks { tasks, loads } = Tasks::new(results);

    // A server at several rates has one sentence for all.
    let mut sentences = offered::sentences(results);
    let has_servers = !sentences.is_empty();
    let others = tasks.iter().filter(|task| !has_servers || !task.is_offered());
    sentences.extend(others.filter_map(describe_smoothness));
    sentences.extend(holders::sentence(&tasks));
    sentences.extend(loads.iter().filter_map(|load| describe_remedy(&tasks, load)));
    sentences.extend(advise_remedy(&tasks, &loads));

    (!sentences.is_empty()).then_some(Block::Lead(sentences))
}

/// `Video: smooth without a load and alongside write; misses deadlines: 98 % alongside burn.`
fn describe_smoothness(task: &Task<'_>) -> Option<String> {
    let (mut smooth, mut too_few, mut missed) = (Vec::new(), Vec::new(), Vec::new());
    for row in &task.rows {
        let Some(met) = row.latency.deadlines_met.map(|met| met.value) else { continue };
        if !met.is_finite() {
            continue;
        }
        let load = describe_load(row.load());
        if met < MIN_SMOOTH_PERCENT {
            missed.push(format!("{} % {load}", words::share(100.0 - met)));
        } else if has_enough_deadlines(row) {
            smooth.push(load);
        } else {
            too_few.push(load);
        }
    }

    let lists = join_lists(&[
        ("smooth", smooth),
        ("too few frames to call it smooth", too_few),
        ("misses deadlines:", missed),
    ])?;
    Some(format!("{}: {lists}.", task.title()))
}

fn has_enough_deadlines(row: &TaskRow<'_>) -> bool {
    row.latency.planned >= MIN_DEADLINES
}

/// The lists that are not empty, each after its lead; `None` if all are empty.
fn join_lists(lists: &[(&str, Vec<String>)]) -> Option<String> {
    let mut parts = Vec::new();
    for (lead, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        parts.push(format!("{lead} {}", words::listed(names, names.len())));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Which tasks are smooth, or less late, where a load has more arguments: `compile:nice=19`. `None`
/// if the load has none, or no task ran both with and without them.
fn describe_remedy(tasks: &[Task<'_>], load: &str) -> Option<String> {
    let (plain_load, remedy) = load.split_once(':')?;

    let (mut cured, mut better, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        let (Some(before), Some(after)) = (task.row_under(plain_load), task.row_under(load)) else {
            continue;
        };
        let is_cured = !is_smooth(&before) && is_smooth(&after) && has_enough_deadlines(&after);
        let is_better = after.figure.score.high < before.figure.score.low;
        let list = match (is_cured, is_better) {
            (true, _) => &mut cured,
            (false, true) => &mut better,
            (false, false) => &mut others,
        };
        list.push(task.title());
    }

    let lists = join_lists(&[
        ("now smooth:", cured),
        ("shorter delays:", better),
        ("no clear difference:", others),
    ])?;
    Some(format!("{remedy} for {plain_load}: {lists}."))
}

/// The command that measures what may help where deadlines are missed most, if no remedy for that
/// load was measured: the load at the lowest priority, or the row of the catalogue that is its
/// remedy.
fn advise_remedy(tasks: &[Task<'_>], loads: &[&str]) -> Option<String> {
    let mut worst: Option<(f64, &Task<'_>, &str)> = None;
    for task in tasks {
        for row in task.rows.iter().filter(|row| row.load() != NONE && !is_smooth(row)) {
            let met = row.latency.deadlines_met.map_or(f64::NAN, |met| met.value);
            let has_remedy = loads.iter().any(|load| is_remedy(load, row.load()));
            if !has_remedy && worst.is_none_or(|(least, _, _)| met < least) {
                worst = Some((met, task, row.load()));
            }
        }
    }

    let (_, task, load) = worst?;
    let remedy = match load {
        "write-slow" => "write-strict".to_owned(),
        _ => format!("{load}:nice=19"),
    };
    let words =
        ["unixmark", "latency", &task.key.test, "-w", load, "-w", &remedy].map(str::to_owned);
    Some(format!("What may help is measured by `{}`.", words::shell(&words)))
}

/// True if `load` is `plain` with a remedy, or if that has one itself.
fn is_remedy(load: &str, plain: &str) -> bool {
    let is_variant = load.split_once(':').is_some_and(|(before, _)| before == plain);
    is_variant || plain.contains(':') || (load, plain) == ("write-strict", "write-slow")
}

/// True of a task without deadlines, too.
fn is_smooth(row: &TaskRow<'_>) -> bool {
    row.latency.deadlines_met.is_none_or(|met| met.value >= MIN_SMOOTH_PERCENT)
}
