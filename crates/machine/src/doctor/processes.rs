//! The processes that use the processors.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Machine;

/// Maximum processes that are named.
const MAX_NAMED_PROCESSES: usize = 3;

/// A process, with the ticks of processor time that it has used.
pub struct Process {
    name: String,
    ticks: u64,
}

/// All processes but this one, by their numbers.
pub fn read_processes(machine: &Machine) -> BTreeMap<u32, Process> {
    let mut processes = BTreeMap::new();
    for number in machine.list("/proc").iter().filter_map(|name| name.parse::<u32>().ok()) {
        if number == std::process::id() {
            continue;
        }
        // One that has ended since has no file.
        let stat = machine.read(&format!("/proc/{number}/stat"));
        if let Some(process) = stat.and_then(|stat| Process::parse(&stat)) {
            processes.insert(number, process);
        }
    }
    processes
}

impl Process {
    /// Reads a line such as `12 (a name) S 1 ...`, where the name may hold anything.
    fn parse(stat: &str) -> Option<Process> {
        let (start, after_name) = stat.rsplit_once(')')?;
        let (_, name) = start.split_once('(')?;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        // User and system time are fields 14 and 15, counted from the number.
        let user: u64 = fields.get(11)?.parse().ok()?;
        let system: u64 = fields.get(12)?.parse().ok()?;
        Some(Process { name: name.to_owned(), ticks: user.saturating_add(system) })
    }
}

/// The ticks that a process used; ordered by them, then by name and number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct UsedTicks<'p> {
    ticks: u64,
    name: &'p str,
    number: u32,
}

/// The processes that used most time between two readings, the busiest first: `cc1 (4711) 98 %`.
pub fn name_busiest(
    before: &BTreeMap<u32, Process>,
    after: &BTreeMap<u32, Process>,
    time: Duration,
) -> Vec<String> {
    let mut used: Vec<UsedTicks<'_>> = Vec::new();
    for (number, process) in after {
        // Another name: the number has gone to another process.
        let earlier = before.get(number).filter(|earlier| earlier.name == process.name);
        let ticks = earlier.map_or(0, |earlier| process.ticks.saturating_sub(earlier.ticks));
        if ticks > 0 {
            used.push(UsedTicks { ticks, name: &process.name, number: *number });
        }
    }
    used.sort_by(|a, b| b.cmp(a));

    let ticks_of_one_cpu = time.as_secs_f64() * rustix::param::clock_ticks_per_second() as f64;
    let mut busiest = Vec::new();
    for UsedTicks { ticks, name, number } in used.into_iter().take(MAX_NAMED_PROCESSES) {
        let percent = 100.0 * ticks as f64 / ticks_of_one_cpu;
        busiest.push(format!("{} ({number}) {percent:.0} %", words::visible(name)));
    }
    busiest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_busiest_are_named() {
        let times = |ticks: [u64; 5]| -> BTreeMap<u32, Process> {
            let stat = |(number, ticks): (usize, u64)| {
                let line = format!(
                    "{number} (a) (b {number}) S 1 1 1 0 -1 4 1 0 0 0 {ticks} 5 0 0 20 0 1 0 9"
                );
                (number as u32, Process::parse(&line).unwrap())
            };
            ticks.into_iter().enumerate().map(stat).collect()
        };
        let found = name_busiest(
            &times([1, 1, 1, 1, 1]),
            &times([21, 1, 5, 3, 2]),
            Duration::from_millis(200),
        );
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("a) (b 0 (0) ") && found[1].contains("(2)"), "{found:?}");
        assert!(Process::parse("").is_none() && Process::parse("1 (x) S").is_none());
    }
}
