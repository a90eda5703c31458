//! What sandboxes cost to start: from the times that trials noted, and the memory of several.
//!
//! A trial under `podman` starts a sandbox, starts the command in it and removes it; one under
//! `cold+podman` has dropped its programs from the page cache before. Both make one row. The
//! reference is the command outside, whose memory is subtracted from that of a sandbox. Before the
//! command runs, the program of unixmark that executes it must start, too: the time that this takes
//! outside is subtracted from the times of starts and of `exec`.

use crate::figures::executed;
use catalogue::NONE;
use journal::{Journal, StartTimes};
use stats::{Estimate, median_interval};

/// The condition under which a command is started cold; followed by `+` and a sandbox, that of a
/// sandbox started cold.
const COLD: &str = "cold";

/// One sandbox, or the command outside of any.
#[derive(Debug, Clone)]
pub struct SandboxStart {
    /// The name of its condition.
    pub name: String,
    /// The time from nothing until the first command in it was ready, in ms.
    pub warm_ms: Option<Estimate>,
    /// `warm_ms` after its programs were dropped from the page cache.
    pub cold_ms: Option<Estimate>,
    /// The time until a command was ready in one that runs, in ms; `None` if each command gets a
    /// sandbox of its own.
    pub exec_ms: Option<Estimate>,
    /// The time until nothing was left of it, in ms; `None` of the command outside.
    pub stop_ms: Option<Estimate>,
    /// How many ran together, and the memory of each in KiB, with its helpers and without the
    /// command.
    pub memory_kib: Vec<(u32, f64)>,
    /// Trials behind the warm start.
    pub n: usize,
}

/// Every condition whose start was noted, the command outside first.
pub(super) fn starts(journal: &Journal) -> Vec<SandboxStart> {
    let mut names: Vec<&str> = Vec::new();
    for cell in &journal.cells {
        let name = warm_name(&cell.key.condition);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| *name != NONE);

    let memory_outside = least_memory(&starts_under(journal, NONE));
    let overhead_ms = overhead_ms(journal);
    let mut rows = Vec::new();
    for name in names {
        let warm = starts_under(journal, name);
        let cold = starts_under(journal, &cold_name(name));
        if warm.is_empty() && cold.is_empty() {
            continue;
        }
        let keeps_running = warm.iter().any(|start| start.runs);
        let is_outside = name == NONE;
        rows.push(SandboxStart {
            name: name.to_owned(),
            warm_ms: median_of(&warm, |start| {
                (start.enter_ms + start.ready_ms - overhead_ms).max(0.0)
            }),
            cold_ms: median_of(&cold, |start| {
                (start.enter_ms + start.ready_ms - overhead_ms).max(0.0)
            }),
            exec_ms: median_of(&warm, |start| (start.ready_ms - overhead_ms).max(0.0))
                .filter(|_| keeps_running),
            stop_ms: median_of(&warm, |start| start.leave_ms).filter(|_| !is_outside),
            memory_kib: if is_outside {
                Vec::new()
            } else {
                memory_of_each(&least_memory(&warm), &memory_outside)
            },
            n: warm.len(),
        });
    }
    rows
}

/// The time outside until the command has run once, less the command's own time, in ms; 0 if
/// unknown.
fn overhead_ms(journal: &Journal) -> f64 {
    let trials = journal.trials.iter().filter(|trial| is_under(journal, trial.cell, NONE));
    let ready = median_of(&starts_under(journal, NONE), |start| start.ready_ms);
    let command_ms = executed::median_ms(trials);
    ready.zip(command_ms).map_or(0.0, |(ready, command_ms)| (ready.value - command_ms).max(0.0))
}

/// The name of a condition without its `cold`: that of its row.
fn warm_name(condition: &str) -> &str {
    match condition.strip_prefix(COLD) {
        Some("") => NONE,
        Some(rest) => rest.strip_prefix('+').unwrap_or(condition),
        None => condition,
    }
}

fn cold_name(warm: &str) -> String {
    if warm == NONE { COLD.to_owned() } else { format!("{COLD}+{warm}") }
}

/// The start times that the trials under a condition noted, without those of the control.
fn starts_under<'a>(journal: &'a Journal, condition: &str) -> Vec<&'a StartTimes> {
    let trials = journal.trials.iter().filter(|trial| is_under(journal, trial.cell, condition));
    trials.filter_map(|trial| trial.start.as_deref()).collect()
}

/// True if the cell of this number is under the condition, and is not the control.
fn is_under(journal: &Journal, cell: usize, condition: &str) -> bool {
    let cell = &journal.cells[cell];
    cell.key.condition == condition && !cell.control
}

fn median_of(starts: &[&StartTimes], time: impl Fn(&StartTimes) -> f64) -> Option<Estimate> {
    let times: Vec<f64> = starts.iter().map(|start| time(start)).collect();
    (!times.is_empty()).then(|| median_interval(&times))
}

/// For each number of sandboxes, the least memory that so many held together, in KiB.
fn least_memory(starts: &[&StartTimes]) -> Vec<(u32, u64)> {
    let mut least: Vec<(u32, u64)> = Vec::new();
    for (number, kib) in starts.iter().flat_map(|start| &start.memory) {
        match least.iter_mut().find(|known| known.0 == *number) {
            Some(known) => known.1 = known.1.min(*kib),
            None => least.push((*number, *kib)),
        }
    }
    least
}

/// The memory of each sandbox by their number, less that of as many commands outside.
fn memory_of_each(inside: &[(u32, u64)], outside: &[(u32, u64)]) -> Vec<(u32, f64)> {
    let mut memory = Vec::new();
    for (number, kib) in inside {
        let Some((_, kib_outside)) = outside.iter().find(|known| known.0 == *number) else {
            continue;
        };
        let kib = *kib as f64 - *kib_outside as f64;
        memory.push((*number, kib / f64::from(*number)));
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::{Cell, Key, Trial};

    fn trial(cell: usize, [enter, ready, leave]: [f64; 3], memory: &[(u32, u64)]) -> Trial {
        let start = StartTimes {
            enter_ms: enter,
            ready_ms: ready,
            leave_ms: leave,
            runs: enter > 100.0,
            memory: memory.to_vec(),
        };
        Trial { cell, start: Some(Box::new(start)), ..Trial::default() }
    }

    #[test]
    fn a_row_has_the_warm_and_the_cold_start_of_a_sandbox() {
        let mut journal = Journal::default();
        for (id, condition) in ["none", "podman", "cold+podman", "bubblewrap"].iter().enumerate() {
            let key = Key { condition: (*condition).to_owned(), ..Key::plain("command", 1) };
            journal.cells.push(Cell { id, key, ..Cell::default() });
        }
        for _ in 0..8 {
            journal.trials.extend([
                trial(0, [0.0, 1.0, 0.0], &[(1, 100), (4, 400)]),
                trial(1, [300.0, 50.0, 90.0], &[(1, 20_100), (4, 60_400)]),
                trial(2, [600.0, 100.0, 90.0], &[]),
                trial(3, [1.0, 4.0, 1.0], &[(1, 600), (4, 2000)]),
            ]);
        }

        let rows = starts(&journal);

        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, ["none", "podman", "bubblewrap"]);
        let podman = &rows[1];
        assert_eq!(podman.warm_ms.unwrap().value, 350.0);
        assert_eq!(podman.cold_ms.unwrap().value, 700.0);
        assert_eq!(podman.exec_ms.unwrap().value, 50.0);
        assert_eq!(podman.stop_ms.unwrap().value, 90.0);
        assert_eq!(podman.memory_kib, [(1, 20_000.0), (4, 15_000.0)]);
        assert!(rows[2].exec_ms.is_none());
        assert_eq!(rows[2].memory_kib, [(1, 500.0), (4, 400.0)]);
    }
}
