//! Counts of what executions of commands did: ranges where executions differ, and comparison with
//! another command.

use std::collections::BTreeMap;

use crate::products::comparison::Outcome;
use journal::{Cell, Journal};
use words::Unique as _;

/// The counts beside those of single system calls: name, name in reports, and unit.
const SUMS: [(&str, &str, &str); 13] = [
    ("syscalls", "system calls", "calls"),
    ("processes", "processes started", "processes"),
    ("threads", "threads started", "threads"),
    ("bytes_read", "bytes read", "B"),
    ("bytes_written", "bytes written", "B"),
    ("rss", "memory of the largest process", "KiB"),
    ("faults", "page faults", "faults"),
    ("switches", "voluntary switches", "switches"),
    ("instructions", "instructions", "instructions"),
    ("cycles", "cycles", "cycles"),
    (BY_VALGRIND, "instructions by valgrind", "instructions"),
    ("allocations", "allocations", "allocations"),
    ("allocated", "bytes allocated", "B"),
];

/// The instructions of the processor's counters.
const INSTRUCTIONS: &str = "instructions";

/// Instructions as valgrind counts them where the counters are hidden. A limit of instructions is
/// judged by them, but never by one against the other.
const BY_VALGRIND: &str = "instructions:valgrind";

/// The counts of a command over the executions that were counted.
#[derive(Debug, Clone)]
pub struct Counts {
    /// The cell of the command.
    pub cell: Cell,
    /// The counts: sums, then system calls by their names.
    pub all: Vec<Count>,
    /// The name of the process that used the most memory, in the last execution that was counted.
    pub largest: String,
    /// The program's remarks on them, each once.
    pub notes: Vec<String>,
}

/// A count of all executions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Count {
    /// The name for programs: `syscalls`, `rss`, `call:openat`.
    pub name: String,
    pub range: Range,
}

/// The smallest and the largest count; equal if executions agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    pub low: u64,
    pub high: u64,
}

/// A limit: how much a count may exceed the first command's.
#[derive(Debug, Clone, PartialEq)]
pub struct CountLimit {
    /// The count's name for programs.
    pub name: String,
    /// By how much.
    pub size: f64,
    /// True if that is in per cent.
    pub is_share: bool,
}

impl Count {
    /// The name of a count for programs, from the one that users know: a sum's or a system call's.
    pub fn to_name(name: &str) -> String {
        let is_sum = SUMS.iter().any(|(sum, ..)| *sum == name);
        if is_sum { name.to_owned() } else { journal::Counts::of_call(name) }
    }

    /// The names of all sums that can have a limit.
    pub fn sums() -> impl Iterator<Item = &'static str> {
        SUMS.iter().map(|(name, ..)| *name).filter(|name| *name != BY_VALGRIND)
    }

    /// The name in reports: `system calls`, `openat`.
    pub fn label(&self) -> &str {
        label(&self.name)
    }

    /// The system call that it counts, if it does.
    pub fn call(&self) -> Option<&str> {
        journal::Counts::call(&self.name)
    }

    /// True of instructions that valgrind has counted.
    pub fn is_by_valgrind(&self) -> bool {
        self.name == BY_VALGRIND
    }

    /// The unit.
    pub fn unit(&self) -> &'static str {
        SUMS.iter().find(|(name, ..)| *name == self.name).map_or("calls", |(.., unit)| unit)
    }
}

pub(crate) fn label(name: &str) -> &str {
    let sum = SUMS.iter().find(|(sum, ..)| *sum == name).map(|(_, label, _)| *label);
    sum.or(journal::Counts::call(name)).unwrap_or(name)
}

impl Range {
    pub(super) fn new(counts: &[u64]) -> Range {
        Range {
            low: counts.iter().copied().min().unwrap_or(0),
            high: counts.iter().copied().max().unwrap_or(0),
        }
    }

    /// True if all executions agree.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }

    fn width(self) -> f64 {
        (self.high - self.low) as f64
    }

    /// The smallest and the largest number by which this exceeds `base` (negative if it falls
    /// short); `None` if the ranges overlap, which shows no difference.
    pub fn change(self, base: Range) -> Option<[i64; 2]> {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let smallest = signed(self.low) - signed(base.high);
        let largest = signed(self.high) - signed(base.low);
        (smallest > 0 || largest < 0).then_some([smallest, largest])
    }
}

impl Counts {
    /// The counts of each command that a journal has some of.
    pub(crate) fn all(journal: &Journal) -> Vec<Counts> {
        let mut all = Vec::new();
        for cell in &journal.cells {
            let executions: Vec<&journal::Counts> =
                journal.counts.iter().filter(|counts| counts.cell == cell.id).collect();
            if !executions.is_empty() {
                all.push(Counts::new(cell, &executions));
            }
        }
        all
    }

    fn new(cell: &Cell, executions: &[&journal::Counts]) -> Counts {
        let mut counts_by_name: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut largest = "";
        for (name, count) in executions.iter().flat_map(|execution| &execution.counts) {
            // The memory of the largest process has that process's name: `rss:cc1`.
            let name = match name.split_once(':') {
                Some(("rss", process)) => {
                    largest = process;
                    "rss"
                }
                _ => name,
            };
            counts_by_name.entry(name).or_default().push(*count);
        }

        let mut all = Vec::new();
        for (name, mut counts) in counts_by_name {
            if counts.len() < executions.len() {
                // A sum that an execution does not have could not be read; a call was not made.
                if journal::Counts::call(name).is_none() {
                    continue;
                }
                counts.push(0);
            }
            all.push(Count { name: name.to_owned(), range: Range::new(&counts) });
        }
        all.sort_by_key(|count| {
            SUMS.iter().position(|(name, ..)| *name == count.name).unwrap_or(SUMS.len())
        });
        let notes = executions.iter().flat_map(|execution| execution.notes.clone()).unique();
        Counts { cell: cell.clone(), all, largest: largest.to_owned(), notes }
    }

    /// A count by its name for programs: 0 of a system call that was not made, `None` of what was
    /// not counted.
    pub fn get(&self, name: &str) -> Option<Range> {
        if let Some(count) = self.all.iter().find(|count| count.name == name) {
            return Some(count.range);
        }
        journal::Counts::call(name).map(|_| Range::default())
    }

    /// The counts that this command or `base` has, in order, each with the ranges of both.
    pub fn paired_with<'a>(
        &'a self,
        base: &'a Counts,
    ) -> impl Iterator<Item = (&'a Count, Option<Range>, Option<Range>)> {
        let missing =
            base.all.iter().filter(|count| self.all.iter().all(|own| own.name != count.name));
        let mut all: Vec<&Count> = self.all.iter().chain(missing).collect();
        all.sort_by_key(|count| count.call().map(str::to_owned));
        all.into_iter().map(|count| (count, self.get(&count.name), base.get(&count.name)))
    }

    /// Each system call with the same count in every execution, and how many more than in `base`
    /// there are, the largest difference first.
    pub fn more_calls<'a>(&'a self, base: &'a Counts) -> Vec<(&'a str, i64)> {
        let mut calls = Vec::new();
        for (count, own, base) in self.paired_with(base) {
            let change = own.zip(base).and_then(|(own, base)| own.change(base));
            if let (Some(call), Some([smallest, largest])) = (count.call(), change)
                && smallest == largest
            {
                calls.push((call, smallest));
            }
        }
        calls.sort_by_key(|(_, number)| std::cmp::Reverse(number.abs()));
        calls
    }

    /// Judges this command against `base` by a limit; returns the outcome and a sentence with both
    /// names. Undecided if executions of either differ by more than the limit allows.
    pub(crate) fn judge(
        &self,
        base: &Counts,
        [name, base_name]: [&str; 2],
        limit: &CountLimit,
    ) -> (Outcome, String) {
        let are_by_valgrind = limit.name == INSTRUCTIONS
            && [self, base].iter().all(|counts| counts.get(BY_VALGRIND).is_some());
        let count_name = if are_by_valgrind { BY_VALGRIND } else { &limit.name };
        let label = label(count_name);
        let Some((count, base_count)) = self.get(count_name).zip(base.get(count_name)) else {
            return (Outcome::Failed, refuse([self, base], [name, base_name], label));
        };

        let allowed_more = limit.above(base_count);
        if [count, base_count].iter().any(|range| range.width() > allowed_more) {
            let why = format!(
                "{label}: {count} in {name}, {base_count} in {base_name}; executions of one command differ by more than the \
                 {limit} allowed, so this limit decides nothing; try a wider one"
            );
            return (Outcome::Undecided, why);
        }
        if count.low as f64 - base_count.high as f64 <= allowed_more {
            let why = format!(
                "{label}: {count} in {name}, {base_count} in {base_name}; {limit} more allowed"
            );
            return (Outcome::Passed, why);
        }
        let why = format!(
            "{name} exceeds {base_name} in {label}: {count} instead of {base_count}, with {limit} more allowed"
        );
        (Outcome::Failed, why)
    }
}

impl CountLimit {
    /// The number by which a count may exceed `base`.
    fn above(&self, base: Range) -> f64 {
        if self.is_share { self.size / 100.0 * base.high as f64 } else { self.size }
    }
}

impl std::fmt::Display for CountLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.size, if self.is_share { " %" } else { "" })
    }
}

/// The sentence that a count of one of two commands, which is called `label`, is not known. What
/// the program said of it is its reason.
fn refuse(both: [&Counts; 2], [name, base_name]: [&str; 2], label: &str) -> String {
    let counted_by = both.map(|counts| match counts.get(INSTRUCTIONS) {
        Some(_) => Some("the processor"),
        None => counts.get(BY_VALGRIND).map(|_| "valgrind"),
    });
    if let ([Some(counter), Some(base_counter)], INSTRUCTIONS) = (counted_by, label) {
        return format!(
            "instructions: those of {name} were counted by {counter}, those of {base_name} by {base_counter}, so they \
             cannot be compared; count both on one machine"
        );
    }

    // The program's notes name what is missing: `allocations were not counted: ls is …`.
    let subject = if label == "bytes allocated" { "allocations" } else { label };
    let notes = both.iter().flat_map(|counts| &counts.notes);
    let mut missing = notes.filter_map(|note| note.split_once(" not counted: "));
    let reason = missing.find(|(what, _)| what.contains(subject));
    let reason = reason.map_or(String::new(), |(_, reason)| format!(" ({reason})"));
    format!("{label}: not counted{reason}, so {name} cannot be judged; leave this limit out")
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_exact() {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{} to {}", self.low, self.high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(name: &str, executions: &[&[(&str, u64)]]) -> Counts {
        let own = |counts: &&[(&str, u64)]| journal::Counts {
            counts: counts.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            ..journal::Counts::default()
        };
        let executions: Vec<journal::Counts> = executions.iter().map(own).collect();
        let mut cell = Cell::default();
        cell.key.condition = name.to_owned();
        Counts::new(&cell, &executions.iter().collect::<Vec<_>>())
    }

    fn limit(name: &str, size: f64, is_share: bool) -> CountLimit {
        CountLimit { name: Count::to_name(name), size, is_share }
    }

    #[test]
    fn executions_that_differ_make_a_range() {
        let one = counts(
            "a",
            &[
                &[("syscalls", 9), ("call:stat", 1), ("rss:cc1", 70)],
                &[("syscalls", 8), ("rss:ld", 60)],
            ],
        );
        let ranges: Vec<(&str, u64, u64)> = one
            .all
            .iter()
            .map(|count| (count.label(), count.range.low, count.range.high))
            .collect();
        assert_eq!(
            ranges,
            [("system calls", 8, 9), ("memory of the largest process", 60, 70), ("stat", 0, 1)]
        );
        assert_eq!(
            (&*one.largest, one.get("call:never"), one.get("cycles")),
            ("ld", Some(Range::default()), None)
        );
    }

    #[test]
    fn a_sum_that_not_every_execution_has_is_none() {
        let one = counts("a", &[&[("instructions", 9)], &[]]);
        assert_eq!(one.get("instructions"), None);
    }

    #[test]
    fn instructions_by_valgrind_are_judged_against_no_others() {
        let by_valgrind = counts("old", &[&[("instructions:valgrind", 1000)]]);
        let by_processor = counts("new", &[&[("instructions", 2000)]]);
        let one_percent = limit("instructions", 1.0, true);
        let judge = |own: &Counts, base: &Counts| own.judge(base, ["new", "old"], &one_percent);

        let (outcome, why) = judge(&by_valgrind, &by_valgrind);
        assert_eq!(outcome, Outcome::Passed, "{why}");
        assert!(why.starts_with("instructions by valgrind: 1000 in new"), "{why}");

        let (outcome, why) = judge(&by_processor, &by_valgrind);
        assert_eq!(outcome, Outcome::Failed, "{why}");
        assert_eq!(
            why,
            "instructions: those of new were counted by the processor, those of old by valgrind, so they cannot be \
             compared; count both on one machine"
        );
    }

    #[test]
    fn a_limit_of_what_was_not_counted_says_why() {
        let mut one = counts("new", &[&[("syscalls", 1)]]);
        one.notes = vec![
            "instructions were not counted: valgrind is not installed".to_owned(),
            "allocations were not counted: ls is statically linked".to_owned(),
        ];
        for (name, why) in [
            (
                "allocations",
                "allocations: not counted (ls is statically linked), so new cannot be judged",
            ),
            (
                "allocated",
                "bytes allocated: not counted (ls is statically linked), so new cannot be judged",
            ),
            (
                "instructions",
                "instructions: not counted (valgrind is not installed), so new cannot be judged",
            ),
            ("faults", "page faults: not counted, so new cannot be judged"),
        ] {
            let (outcome, said) = one.judge(&one, ["new", "old"], &limit(name, 0.0, false));

            assert_eq!(outcome, Outcome::Failed);
            assert!(said.starts_with(why), "{said}");
        }
    }

    #[test]
    fn system_calls_are_named_by_their_differences() {
        let base = counts(
            "old",
            &[&[("call:openat", 5), ("call:mmap", 3), ("call:futex", 1), ("call:brk", 2)]],
        );
        let one = counts(
            "new",
            &[&[("call:openat", 8), ("call:mmap", 2), ("call:brk", 2), ("call:statx", 1)]],
        );
        assert_eq!(
            one.more_calls(&base),
            [("openat", 3), ("futex", -1), ("mmap", -1), ("statx", 1)]
        );
        let vague = counts("new", &[&[("call:openat", 8)], &[("call:openat", 9)]]);
        assert_eq!(vague.more_calls(&base).iter().find(|(name, _)| *name == "openat"), None);
        assert_eq!(
            vague.get("call:openat").unwrap().change(base.get("call:openat").unwrap()),
            Some([3, 4])
        );
    }

    #[test]
    fn a_limit_is_exceeded_by_more_than_it_allows_and_not_by_a_range() {
        let three = |counts: [u64; 3], name| counts.map(|count| (name, count));
        let of = |label: &str, name, all: [u64; 3]| {
            let [a, b, c] = three(all, name);
            counts(label, &[&[a], &[b], &[c]])
        };
        let judged = |name: &'static str, base, own, limit: &CountLimit| {
            of("new", name, own).judge(&of("old", name, base), ["new", "old"], limit)
        };
        let outcome = |name, base, own, limit: &CountLimit| judged(name, base, own, limit).0;
        let calls = limit("syscalls", 0.0, false);
        assert_eq!(outcome("syscalls", [9, 9, 9], [9, 9, 9], &calls), Outcome::Passed);
        assert_eq!(outcome("syscalls", [9, 9, 9], [8, 8, 8], &calls), Outcome::Passed);
        let why = judged("syscalls", [9, 9, 9], [11, 11, 11], &calls);
        let more = "new exceeds old in system calls: 11 instead of 9, with 0 more allowed";
        assert_eq!(why, (Outcome::Failed, more.to_owned()));
        let vague = judged("syscalls", [9, 9, 9], [11, 12, 11], &calls);
        let differ = "system calls: 11 to 12 in new, 9 in old; executions of one command differ by more than the 0 allowed, \
                      so this limit decides nothing; try a wider one";
        assert_eq!(vague, (Outcome::Undecided, differ.to_owned()));
        assert_eq!(outcome("syscalls", [7, 9, 9], [11, 11, 11], &calls), Outcome::Undecided);
        assert_eq!(
            outcome("syscalls", [9, 9, 9], [11, 11, 11], &limit("syscalls", 2.0, false)),
            Outcome::Passed
        );
        let one_percent = limit("instructions", 1.0, true);
        let of_instructions = |own| outcome("instructions", [1000, 1001, 1002], own, &one_percent);
        assert_eq!(of_instructions([1005, 1006, 1004]), Outcome::Passed);
        assert_eq!(of_instructions([1050, 1049, 1051]), Outcome::Failed);
        assert_eq!(of_instructions([1050, 1100, 1051]), Outcome::Undecided);
        let (unknown, why) = judged("syscalls", [9, 9, 9], [9, 9, 9], &one_percent);
        assert!(
            unknown == Outcome::Failed && why.starts_with("instructions: not counted"),
            "{why}"
        );
        assert_eq!(
            outcome("call:stat", [0, 0, 0], [1, 1, 1], &limit("stat", 0.0, false)),
            Outcome::Failed
        );
    }
}
