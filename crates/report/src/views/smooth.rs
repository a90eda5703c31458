//! Interactive tasks in sentences: which stay smooth beside which load, and which remedy for a load helps.

use analysis::Results;

use super::tasks::{Beside, Task, beside, tasks};
use crate::document::Block;

/// From this share of deadlines met on, in per cent, a task is smooth.
const SMOOTH: f64 = 99.0;

/// The fewest deadlines that show it: of 300 with one miss in a hundred, 95 % have one (Hanley and Lippman-Hand 1983).
const ENOUGH: u64 = 300;

/// Returns a sentence for each task that has deadlines: the loads beside which it is smooth.
pub(super) fn lead(results: &Results) -> Option<Block> {
    let (tasks, loads) = tasks(results);
    // A server at several rates has one sentence for all.
    let servers = super::offered::sentences(results);
    let others = tasks.iter().filter(|task| servers.is_empty() || !task.is_offered()).filter_map(smooth);
    let smooth = servers.iter().cloned().chain(others);
    let helps = loads.iter().filter_map(|load| helps(&tasks, load));
    let sentences: Vec<String> = smooth.chain(super::holders::sentence(&tasks)).chain(helps).collect();
    (!sentences.is_empty()).then_some(Block::Lead(sentences))
}

/// `Video: smooth without a load and alongside write; misses deadlines: 98 % alongside burn.`
fn smooth(task: &Task<'_>) -> Option<String> {
    let [mut smooth, mut vague, mut missed] = [const { Vec::new() }; 3];
    for (row, latency) in &task.rows {
        let Some(met) = latency.deadlines_met.map(|met| met.value).filter(|met| met.is_finite()) else { continue };
        let load = beside(&row.cell.key.load);
        match met >= SMOOTH {
            true if latency.planned >= ENOUGH => smooth.push(load),
            true => vague.push(load),
            false => missed.push(format!("{} % {load}", words::share(100.0 - met))),
        }
    }
    let parts = [("smooth", smooth), ("too few frames to call it smooth", vague), ("misses deadlines:", missed)];
    Some(format!("{}: {}.", task.title(), listed(parts)?))
}

/// Returns the lists with what each is; nothing if all are empty.
fn listed<const N: usize>(lists: [(&str, Vec<String>); N]) -> Option<String> {
    let lists = lists.into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> =
        lists.map(|(what, names)| format!("{what} {}", words::listed(&names, names.len()))).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns which tasks are smooth, or less late, where a load has more arguments: `compile:nice=19`.
fn helps(tasks: &[Task<'_>], load: &str) -> Option<String> {
    let (plain, remedy) = load.split_once(':')?;
    let (mut cured, mut better, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for task in tasks {
        let Some((before, after)) = task.under(plain).zip(task.under(load)) else { continue };
        let is_smooth = |(_, latency): &Beside<'_>| latency.deadlines_met.is_none_or(|met| met.value >= SMOOTH);
        let list = match after.0.score.high < before.0.score.low {
            _ if !is_smooth(&before) && is_smooth(&after) && after.1.planned >= ENOUGH => &mut cured,
            true => &mut better,
            false => &mut others,
        };
        list.push(task.title());
    }
    let found = [("now smooth:", cured), ("shorter delays:", better), ("no clear difference:", others)];
    listed(found).map(|found| format!("{remedy} for {plain}: {found}."))
}
