//! What sandboxes cost to start: from the times that trials noted, and the memory of several.
//!
//! A trial under `podman` starts a sandbox, starts the command in it and removes it; one under
//! `cold+podman` has dropped its programs from the page cache before. What is known of both is one
//! row. The reference is the command outside, whose memory is taken off that of a sandbox. Until
//! the command has run once, the program of unixmark that executes it has started, too: what that
//! takes outside is taken off the times of starts and of `exec`.

use crate::figures::executed;
use catalogue::NONE;
use journal::{Journal, StartTimes};
use stats::{Estimate, median_interval};

/// The condition under which a command is started cold, and before `+` a sandbox.
const COLD: &str = "cold";

/// One sandbox, or the command outside of any.
#[derive(Debug, Clone)]
pub struct SandboxStart {
    /// The name of its condition.
    pub name: String,
    /// From nothing until the first command in it was ready, in ms.
    pub warm_ms: Option<Estimate>,
    /// The same with its programs dropped from the page cache, in ms.
    pub cold_ms: Option<Estimate>,
    /// Until a command was ready in one that runs, in ms; `None` if each command gets its own.
    pub exec_ms: Option<Estimate>,
    /// Until nothing was left of it, in ms; `None` if it ends with its command.
    pub stop_ms: Option<Estimate>,
    /// The memory of each, next to so many, with its helpers and without the command, in KiB.
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

    let outside = memory(&of_condition(journal, NONE));
    let overhead_ms = overhead_ms(journal);
    let mut rows = Vec::new();
    for name in names {
        let warm = of_condition(journal, name);
        let cold = of_condition(journal, &cold_name(name));
        if warm.is_empty() && cold.is_empty() {
            continue;
        }
        let runs = warm.iter().any(|start| start.runs);
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
                .filter(|_| runs),
            stop_ms: median_of(&warm, |start| start.leave_ms).filter(|_| !is_outside),
            memory_kib: if is_outside {
                Vec::new()
            } else {
                share_of_each(&memory(&warm), &outside)
            },
            n: warm.len(),
        });
    }
    rows
}

/// The time outside until the command has run once, without the command's own, in ms; 0 if unknown.
fn overhead_ms(journal: &Journal) -> f64 {
    let trials = journal.trials.iter().filter(|trial| is_of(journal, trial.cell, NONE));
    let ready = median_of(&of_condition(journal, NONE), |start| start.ready_ms);
    let command_ms = executed::median_ms(trials);
    ready.zip(command_ms).map_or(0.0, |(ready, command_ms)| (ready.value - command_ms).max(0.0))
}

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

/// What the trials under a condition noted, the control's apart.
fn of_condition<'a>(journal: &'a Journal, condition: &str) -> Vec<&'a StartTimes> {
    let trials = journal.trials.iter().filter(|trial| is_of(journal, trial.cell, condition));
    trials.filter_map(|trial| trial.start.as_deref()).collect()
}

/// True of a cell under a condition, but not of the control.
fn is_of(journal: &Journal, cell: usize, condition: &str) -> bool {
    let cell = &journal.cells[cell];
    cell.key.condition == condition && !cell.control
}

fn median_of(starts: &[&StartTimes], time: impl Fn(&StartTimes) -> f64) -> Option<Estimate> {
    let times: Vec<f64> = starts.iter().map(|start| time(start)).collect();
    (!times.is_empty()).then(|| median_interval(&times))
}

/// The least memory that so many sandboxes held together, by their number.
fn memory(starts: &[&StartTimes]) -> Vec<(u32, u64)> {
    let mut least: Vec<(u32, u64)> = Vec::new();
    for (number, kib) in starts.iter().flat_map(|start| &start.memory) {
        match least.iter_mut().find(|known| known.0 == *number) {
            Some(known) => known.1 = known.1.min(*kib),
            None => least.push((*number, *kib)),
        }
    }
    least
}

fn share_of_each(inside: &[(u32, u64)], outside: &[(u32, u64)]) -> Vec<(u32, f64)> {
    let own = |number: u32| outside.iter().find(|known| known.0 == number).map(|known| known.1);
    let share = |(number, kib): &(u32, u64)| {
        let kib = *kib as f64 - own(*number)? as f64;
        Some((*number, kib / f64::from(*number)))
    };
    inside.iter().filter_map(share).collect()
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
