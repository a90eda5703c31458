//! What sandboxes cost to start: a sentence, and a row for each.

use analysis::{Cost, SandboxStart};
use catalogue::NONE;
use serde_json::json;
use stats::Estimate;
use words::figure;

use crate::document::{Column, Columns, Field, Readers, Table, ends_after, interval};

const KIB_PER_MIB: f64 = 1024.0;

/// The answer: what each sandbox takes to start, compared with the fastest; `None` if starts were
/// not timed.
pub(super) fn sentence(starts: &[SandboxStart]) -> Option<String> {
    let mut sandboxes: Vec<(&SandboxStart, Estimate)> = starts
        .iter()
        .filter(|start| start.name != NONE)
        .filter_map(|start| Some((start, start.warm_ms?)))
        .collect();
    sandboxes.sort_by(|a, b| a.1.value.total_cmp(&b.1.value));
    let ((fastest, least), others) = sandboxes.split_first()?;

    let mut clauses: Vec<String> =
        others.iter().rev().map(|(start, warm)| clause(start, warm, fastest, least)).collect();
    let memory = memory_of_one(fastest)
        .map_or_else(String::new, |mib| format!(" and holds {} MiB", figure(mib)));
    clauses.push(format!("a {} sandbox in {}{memory}", fastest.name, time(least)));
    let first = clauses[0].replacen(" in ", " starts in ", 1);
    clauses[0] = first;
    Some(format!("{}.", clauses.join("; ")))
}

/// One sandbox against the fastest.
fn clause(
    start: &SandboxStart,
    warm: &Estimate,
    fastest: &SandboxStart,
    least: &Estimate,
) -> String {
    let times = figure(warm.value / least.value);
    let more = memory_of_one(start)
        .zip(memory_of_one(fastest))
        .map(|(own, other)| own - other)
        .filter(|more| *more > 0.0)
        .map_or_else(String::new, |more| format!(", and holds {} MiB more", figure(more)));
    format!(
        "a {} sandbox in {}, {times} times as long as {}{more}",
        start.name,
        time(warm),
        fastest.name
    )
}

/// `310 ms (290 to 340)`; few starts have no interval.
fn time(ms: &Estimate) -> String {
    format!("{} ms{}", figure(ms.value), ends_after(ms, figure))
}

fn memory_of_one(start: &SandboxStart) -> Option<f64> {
    Some(start.memory_kib.first()?.1 / KIB_PER_MIB)
}

/// A row for each sandbox and one for the command outside; `None` if starts were not timed.
pub(super) fn table(cost: &Cost) -> Option<Table> {
    if cost.starts.is_empty() {
        return None;
    }

    let mut columns = Columns::new()
        .with(Column::words("Until a command ran, ms").keyed("sandbox"), |start: &SandboxStart| {
            let name = if start.name == NONE { "outside" } else { &start.name };
            Field::text(name)
        })
        .and(times("cold", "cold_ms", |start| start.cold_ms))
        .and(times("warm", "warm_ms", |start| start.warm_ms))
        .and(times("exec", "exec_ms", |start| start.exec_ms))
        .and(times("stop", "stop_ms", |start| start.stop_ms));
    let numbers =
        cost.starts.iter().map(|start| &start.memory_kib).max_by_key(|memory| memory.len());
    for (number, _) in numbers.into_iter().flatten().copied() {
        let heading = format!("MiB, of {number}");
        columns = columns
            .with(Column::number(&heading).wide(8).shown(Readers::PEOPLE), move |start| {
                Field::maybe(memory_next_to(start, number), figure)
            });
    }
    let columns = columns.data(|start| {
        let memory: Vec<_> = start
            .memory_kib
            .iter()
            .map(|(number, kib)| json!({"sandboxes": number, "kib_each": kib}))
            .collect();
        json!({"memory": memory, "n": start.n})
    });
    Some(columns.table(&cost.starts).keyed("starts"))
}

fn memory_next_to(start: &SandboxStart, number: u32) -> Option<f64> {
    let found = start.memory_kib.iter().find(|known| known.0 == number)?;
    Some(found.1 / KIB_PER_MIB)
}

/// The column of a time, with its interval.
fn times<'a>(
    heading: &str,
    key: &'static str,
    of: fn(&SandboxStart) -> Option<Estimate>,
) -> Columns<'a, SandboxStart> {
    Columns::new()
        .with(Column::number(heading).keyed(key).main().wide(7), move |start| {
            Field::estimate(of(start), figure)
        })
        .with(Column::words("95 %").shown(Readers::PEOPLE), move |start| {
            of(start).map_or(Field::Nothing, |ms| Field::Text(interval(&ms, figure)))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(name: &str, warm_ms: Estimate, kib: f64) -> SandboxStart {
        SandboxStart {
            name: name.to_owned(),
            warm_ms: Some(warm_ms),
            cold_ms: None,
            exec_ms: None,
            stop_ms: None,
            memory_kib: vec![(1, kib)],
            n: 3,
        }
    }

    #[test]
    fn few_starts_have_no_interval() {
        let podman = Estimate { value: 310.0, low: 290.0, high: 340.0 };
        let starts = vec![
            start("bubblewrap", Estimate::alone(14.0), 512.0),
            start("podman", podman, 20.0 * 1024.0),
        ];

        let sentence = sentence(&starts).unwrap();

        assert_eq!(
            sentence,
            "a podman sandbox starts in 310 ms (290 to 340), 22.1 times as long as bubblewrap, and \
             holds 19.5 MiB more; a bubblewrap sandbox in 14.0 ms and holds 0.500 MiB."
        );
    }
}
