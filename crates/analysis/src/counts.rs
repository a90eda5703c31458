//! Counts of what executions of commands did: ranges where executions differ, and comparison with another command.

use std::collections::BTreeMap;

use super::{Comparisons, Outcome};
use journal::{Cell, Journal};

/// The counts beside those of single system calls: name, name in reports, and unit.
const SUMS: [(&str, &str, &str); 10] = [
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
];

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
    /// The count itself, or its least and most.
    pub range: Range,
}

/// The least and the most of a count; equal if executions agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range {
    /// The least.
    pub low: u64,
    /// The most.
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
    /// Returns the name of a count for programs by that which users know, a sum's or a system call's.
    pub fn named(name: &str) -> String {
        let is_sum = SUMS.iter().any(|(sum, ..)| *sum == name);
        if is_sum { name.to_owned() } else { journal::Counts::of_call(name) }
    }

    /// Returns the names of all sums.
    pub fn sums() -> impl Iterator<Item = &'static str> {
        SUMS.iter().map(|(name, ..)| *name)
    }

    /// Returns the name in reports: `system calls`, `openat`.
    pub fn label(&self) -> &str {
        label(&self.name)
    }

    /// Returns the system call that it counts, if it does.
    pub fn call(&self) -> Option<&str> {
        journal::Counts::call(&self.name)
    }

    /// Returns the unit.
    pub fn unit(&self) -> &'static str {
        SUMS.iter().find(|(name, ..)| *name == self.name).map_or("calls", |(.., unit)| unit)
    }
}

fn label(name: &str) -> &str {
    let sum = SUMS.iter().find(|(sum, ..)| *sum == name).map(|(_, label, _)| *label);
    sum.or(journal::Counts::call(name)).unwrap_or(name)
}

impl Range {
    fn new(counts: &[u64]) -> Range {
        Range { low: counts.iter().copied().min().unwrap_or(0), high: counts.iter().copied().max().unwrap_or(0) }
    }

    /// Returns true if all executions agree.
    pub fn is_exact(self) -> bool {
        self.low == self.high
    }

    /// Returns the least and the most by which this exceeds `base` (negative if it falls short); `None` if the ranges
    /// overlap, which shows no difference.
    pub fn change(self, base: Range) -> Option<[i64; 2]> {
        let signed = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let change = [signed(self.low) - signed(base.high), signed(self.high) - signed(base.low)];
        (change[0] > 0 || change[1] < 0).then_some(change)
    }
}

impl Counts {
    /// Returns what a journal has of each command.
    pub(crate) fn all(journal: &Journal) -> Vec<Counts> {
        let counted = |cell: &Cell| {
            let own: Vec<_> = journal.counts.iter().filter(|counts| counts.cell == cell.id).collect();
            (!own.is_empty()).then(|| Counts::new(cell, &own))
        };
        journal.cells.iter().filter_map(counted).collect()
    }

    fn new(cell: &Cell, executions: &[&journal::Counts]) -> Counts {
        let mut found: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut largest = "";
        for (name, count) in executions.iter().flat_map(|one| &one.counts) {
            let (kind, process) = name.split_once(':').filter(|(kind, _)| *kind == "rss").unwrap_or((name, largest));
            largest = process;
            found.entry(kind).or_default().push(*count);
        }
        let count = |(name, mut counts): (&str, Vec<u64>)| {
            let missing = executions.len().saturating_sub(counts.len());
            let is_call = journal::Counts::call(name).is_some();
            // A call that an execution does not have was not made; a sum could not be read.
            counts.extend(std::iter::repeat_n(0, if is_call { missing } else { 0 }));
            (missing == 0 || is_call).then(|| Count { name: name.to_owned(), range: Range::new(&counts) })
        };
        let mut all: Vec<Count> = found.into_iter().filter_map(count).collect();
        all.sort_by_key(|count| SUMS.iter().position(|(name, ..)| *name == count.name).unwrap_or(SUMS.len()));
        let mut notes: Vec<String> = executions.iter().flat_map(|one| one.notes.clone()).collect();
        notes.dedup();
        Counts { cell: cell.clone(), all, largest: largest.to_owned(), notes }
    }

    /// Returns a count by its name for programs: 0 of a system call that was not made, `None` of what was not counted.
    pub fn get(&self, name: &str) -> Option<Range> {
        let found = self.all.iter().find(|count| count.name == name).map(|count| count.range);
        found.or(journal::Counts::call(name).map(|_| Range::default()))
    }

    /// Returns the counts of this command and those of `base`, in order, each with both.
    pub fn beside<'a>(&'a self, base: &'a Counts) -> impl Iterator<Item = (&'a Count, Option<Range>, Option<Range>)> {
        let missing = base.all.iter().filter(|count| self.all.iter().all(|own| own.name != count.name));
        let mut all: Vec<&Count> = self.all.iter().chain(missing).collect();
        all.sort_by_key(|count| count.call().map(str::to_owned));
        all.into_iter().map(|count| (count, self.get(&count.name), base.get(&count.name)))
    }

    /// Returns each system call with the same count in every execution, and how many more than in `base` there are, the
    /// largest difference first.
    pub fn more_calls<'a>(&'a self, base: &'a Counts) -> Vec<(&'a str, i64)> {
        let exact = |(count, own, base): (&'a Count, Option<Range>, Option<Range>)| {
            let [least, most] = own?.change(base?)?;
            Some((count.call()?, least)).filter(|_| least == most)
        };
        let mut more: Vec<(&str, i64)> = self.beside(base).filter_map(exact).collect();
        more.sort_by_key(|(_, number)| std::cmp::Reverse(number.abs()));
        more
    }

    /// Judges this command against `base` by a limit; returns the outcome and a sentence with both names. Undecided if
    /// executions of either differ by more than the limit allows.
    fn judge(&self, base: &Counts, [name, base_name]: [&str; 2], limit: &CountLimit) -> (Outcome, String) {
        let label = label(&limit.name);
        let Some((own, other)) = self.get(&limit.name).zip(base.get(&limit.name)) else {
            let why = format!("{label}: not counted, so {name} cannot be judged; leave this limit out");
            return (Outcome::Failed, why);
        };
        let room = if limit.is_share { limit.size / 100.0 * other.high as f64 } else { limit.size };
        let allowed = format!("{}{}", limit.size, if limit.is_share { " %" } else { "" });
        if [own, other].iter().any(|range| (range.high - range.low) as f64 > room) {
            let why = format!(
                "{label}: {own} in {name}, {other} in {base_name}; executions of one command differ by more than the \
                 {allowed} allowed, so this limit decides nothing; try a wider one"
            );
            return (Outcome::Undecided, why);
        }
        if own.low as f64 - other.high as f64 <= room {
            let why = format!("{label}: {own} in {name}, {other} in {base_name}; {allowed} more allowed");
            return (Outcome::Passed, why);
        }
        let why =
            format!("{name} exceeds {base_name} in {label}: {own} instead of {other}, with {allowed} more allowed");
        (Outcome::Failed, why)
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.is_exact() { write!(f, "{}", self.low) } else { write!(f, "{} to {}", self.low, self.high) }
    }
}

impl super::Results {
    /// Returns the counts of a test's command under a condition.
    pub fn counts_under(&self, condition: &str) -> Option<&Counts> {
        self.counts.iter().find(|counts| counts.cell.key.condition == condition)
    }

    /// Returns what limits make of commands against the first, with a sentence for each.
    pub fn judged(&self, limits: &[CountLimit]) -> Vec<(Outcome, String)> {
        let Some((base, others)) = self.counts.split_first().filter(|(_, others)| !others.is_empty()) else {
            let why = "nothing was counted, so no limit can be judged; the report's warnings say why";
            return limits.first().map(|_| (Outcome::Failed, why.to_owned())).into_iter().collect();
        };
        let judged = |one: &Counts| {
            let names = [one, base].map(|counts| counts.cell.key.condition.as_str());
            limits.iter().map(|limit| one.judge(base, names, limit)).collect::<Vec<_>>()
        };
        others.iter().flat_map(judged).collect()
    }
}

impl Comparisons {
    /// Returns the counts of the commands of later runs beside those of the same commands in the first, with the runs'
    /// letters.
    pub fn counts(&self) -> Vec<(&str, &Counts, &Counts)> {
        let Some((first, others)) = self.runs.split_first().filter(|_| !self.asked.is_paired()) else {
            return Vec::new();
        };
        let like = |one: &Counts| first.results.counts.iter().find(|base| base.cell.key == one.cell.key);
        let all = others.iter().flat_map(|run| run.results.counts.iter().map(move |one| (run.letter.as_str(), one)));
        all.filter_map(|(letter, one)| Some((letter, one, like(one)?))).collect()
    }

    /// Returns what limits make of these, with a sentence for each.
    pub fn judged(&self, limits: &[CountLimit]) -> Vec<(Outcome, String)> {
        let all = self.counts();
        if let ([limit, ..], []) = (limits, &all[..]) {
            let why = format!(
                "the runs have no counts of the same command, so {} cannot be judged; try `unixmark run --counts`",
                label(&limit.name)
            );
            return vec![(Outcome::Failed, why)];
        }
        let judged = |(letter, one, base): (&str, &Counts, &Counts)| {
            let names = [letter, self.against()].map(|run| format!("{} in {run}", one.cell.label));
            let [name, base_name] = names.each_ref().map(String::as_str);
            limits.iter().map(|limit| one.judge(base, [name, base_name], limit)).collect::<Vec<_>>()
        };
        all.into_iter().flat_map(judged).collect()
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
        CountLimit { name: Count::named(name), size, is_share }
    }

    #[test]
    fn executions_that_differ_make_a_range() {
        let one =
            counts("a", &[&[("syscalls", 9), ("call:stat", 1), ("rss:cc1", 70)], &[("syscalls", 8), ("rss:ld", 60)]]);
        let ranges: Vec<(&str, u64, u64)> =
            one.all.iter().map(|count| (count.label(), count.range.low, count.range.high)).collect();
        assert_eq!(ranges, [("system calls", 8, 9), ("memory of the largest process", 60, 70), ("stat", 0, 1)]);
        assert_eq!((&*one.largest, one.get("call:never"), one.get("cycles")), ("ld", Some(Range::default()), None));
    }

    #[test]
    fn a_sum_that_not_every_execution_has_is_none() {
        let one = counts("a", &[&[("instructions", 9)], &[]]);
        assert_eq!(one.get("instructions"), None);
    }

    #[test]
    fn system_calls_are_named_by_their_differences() {
        let base = counts("old", &[&[("call:openat", 5), ("call:mmap", 3), ("call:futex", 1), ("call:brk", 2)]]);
        let one = counts("new", &[&[("call:openat", 8), ("call:mmap", 2), ("call:brk", 2), ("call:statx", 1)]]);
        assert_eq!(one.more_calls(&base), [("openat", 3), ("futex", -1), ("mmap", -1), ("statx", 1)]);
        let vague = counts("new", &[&[("call:openat", 8)], &[("call:openat", 9)]]);
        assert_eq!(vague.more_calls(&base).iter().find(|(name, _)| *name == "openat"), None);
        assert_eq!(vague.get("call:openat").unwrap().change(base.get("call:openat").unwrap()), Some([3, 4]));
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
        assert_eq!(outcome("syscalls", [9, 9, 9], [11, 11, 11], &limit("syscalls", 2.0, false)), Outcome::Passed);
        let one_percent = limit("instructions", 1.0, true);
        let of_instructions = |own| outcome("instructions", [1000, 1001, 1002], own, &one_percent);
        assert_eq!(of_instructions([1005, 1006, 1004]), Outcome::Passed);
        assert_eq!(of_instructions([1050, 1049, 1051]), Outcome::Failed);
        assert_eq!(of_instructions([1050, 1100, 1051]), Outcome::Undecided);
        let (unknown, why) = judged("syscalls", [9, 9, 9], [9, 9, 9], &one_percent);
        assert!(unknown == Outcome::Failed && why.starts_with("instructions: not counted"), "{why}");
        assert_eq!(outcome("call:stat", [0, 0, 0], [1, 1, 1], &limit("stat", 0.0, false)), Outcome::Failed);
    }
}
