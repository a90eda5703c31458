//! Which processes use the processors.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Machine;

/// Processes that are named.
const NAMED: usize = 3;

/// A process: its name, and the ticks of processor time that it has used.
pub type Process = (String, u64);

/// Returns all processes but this one, by their numbers.
pub fn times(machine: &Machine) -> BTreeMap<u32, Process> {
    let numbers = machine.list("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    let others = numbers.filter(|number| *number != std::process::id());
    others.filter_map(|number| Some((number, process(&machine.read(&format!("/proc/{number}/stat"))?)?))).collect()
}

/// Reads a line such as `12 (a name) S 1 ...`, where the name may hold anything.
fn process(stat: &str) -> Option<Process> {
    let (start, rest) = stat.rsplit_once(')')?;
    let (_, name) = start.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u64>().ok();
    // User and system time are fields 14 and 15, counted from the number.
    Some((name.to_owned(), ticks(11)?.saturating_add(ticks(12)?)))
}

/// Returns the processes that used most in between, the busiest first: `cc1 (4711) 98 %`.
pub fn busiest(before: &BTreeMap<u32, Process>, after: &BTreeMap<u32, Process>, time: Duration) -> Vec<String> {
    let used = |(number, (name, ticks)): (&u32, &Process)| {
        let before = before.get(number).filter(|known| known.0 == *name)?.1;
        Some((ticks.saturating_sub(before), name.clone(), *number)).filter(|(used, ..)| *used > 0)
    };
    let mut all: Vec<(u64, String, u32)> = after.iter().filter_map(used).collect();
    all.sort_by(|a, b| b.cmp(a));
    let all_ticks = time.as_secs_f64() * rustix::param::clock_ticks_per_second() as f64;
    let words = |(used, name, number): (u64, String, u32)| {
        let share = 100.0 * used as f64 / all_ticks;
        format!("{} ({number}) {share:.0} %", words::visible(&name))
    };
    all.into_iter().take(NAMED).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_busiest_are_named() {
        let times = |ticks: [u64; 5]| -> BTreeMap<u32, Process> {
            let stat = |(number, ticks): (usize, u64)| {
                let line = format!("{number} (a) (b {number}) S 1 1 1 0 -1 4 1 0 0 0 {ticks} 5 0 0 20 0 1 0 9");
                (number as u32, process(&line).unwrap())
            };
            ticks.into_iter().enumerate().map(stat).collect()
        };
        let found = busiest(&times([1, 1, 1, 1, 1]), &times([21, 1, 5, 3, 2]), Duration::from_millis(200));
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(found[0].starts_with("a) (b 0 (0) ") && found[1].contains("(2)"), "{found:?}");
        assert!(process("").is_none() && process("1 (x) S").is_none());
    }
}
