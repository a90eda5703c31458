//! The cost of auditing by a time: looked at while it is on, so that a window can be cut out afterwards.

use machine::Machine;

use crate::audit::clock::thread_time;

/// The cost of auditing by a time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sample {
    /// CLOCK_MONOTONIC in ns.
    pub at: u64,
    /// Records in the kernel's queue.
    pub backlog: u32,
    /// Ticks that processes waited for room.
    pub waited: u32,
    /// Processor time of the kernel's thread in ns.
    pub kernel: u64,
    /// Processor time of whoever receives the records in ns.
    pub receiver: u64,
    /// Time that the sampling thread ran or waited for a processor, in ns.
    pub awake: u64,
    /// Set if a signal had stopped the process that receives the records.
    pub stopped: bool,
}

/// Samples in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<Sample>);

impl Samples {
    pub(crate) fn push(&mut self, sample: Sample) {
        self.0.push(sample);
    }

    /// Returns a figure at the time `at`, on a straight line between the samples around it; 0 before the first.
    pub(crate) fn figure_at(&self, at: u64, figure: impl Fn(&Sample) -> u64) -> f64 {
        let after = self.0.partition_point(|sample| sample.at <= at);
        let (Some(before), next) = (self.0.get(after.saturating_sub(1)), self.0.get(after)) else { return 0.0 };
        match next {
            Some(next) if before.at <= at && before.at < next.at => {
                let share = (at - before.at) as f64 / (next.at - before.at) as f64;
                figure(before) as f64 + share * (figure(next) as f64 - figure(before) as f64)
            }
            _ => figure(before) as f64,
        }
    }

    /// Returns how much a figure grew from the time `start` to the last sample.
    pub(crate) fn since(&self, start: u64, figure: impl Fn(&Sample) -> u64) -> f64 {
        let last = self.0.last().map_or(0.0, |last| figure(last) as f64);
        (last - self.figure_at(start, figure)).max(0.0)
    }

    /// Returns the longest time after `start` for which the thread slept, in ns.
    pub(crate) fn longest_sleep(&self, start: u64) -> u64 {
        let pairs = self.0.windows(2).filter(|pair| pair[1].at > start);
        let slept =
            |pair: &[Sample]| (pair[1].at - pair[0].at).saturating_sub(pair[1].awake.saturating_sub(pair[0].awake));
        pairs.map(slept).max().unwrap_or(0)
    }

    /// Returns true if the process that receives the records was stopped at any time after `start`.
    pub(crate) fn was_stopped(&self, start: u64) -> bool {
        self.0.iter().any(|sample| sample.at > start && sample.stopped)
    }

    /// Returns the longest queue.
    pub(crate) fn longest_backlog(&self) -> u32 {
        self.0.iter().map(|sample| sample.backlog).max().unwrap_or(0)
    }
}

/// Returns the kernel's thread that sends records.
pub(crate) fn kauditd(machine: &Machine) -> Option<u32> {
    let is_kernel_thread = |pid: &u32| machine.read(&format!("/proc/{pid}/cmdline")).is_none();
    pids(machine)
        .find(|pid| machine.read(&format!("/proc/{pid}/comm")).as_deref() == Some("kauditd") && is_kernel_thread(pid))
}

/// Returns the number of every process.
pub(crate) fn pids(machine: &Machine) -> impl Iterator<Item = u32> {
    machine.list("/proc").into_iter().filter_map(|name| name.parse().ok())
}

/// Returns the processor time of a process in ns, all threads together: the scheduler's own count.
pub(crate) fn processor_time(machine: &Machine, pid: u32) -> u64 {
    let folder = format!("/proc/{pid}/task");
    let time = |thread: String| {
        machine.read(&format!("{folder}/{thread}/schedstat"))?.split_whitespace().next()?.parse::<u64>().ok()
    };
    machine.list(&folder).into_iter().filter_map(time).sum()
}

/// Returns that of a process and of those that it has started, as auditd has its plugins.
pub(crate) fn processor_time_with_children(machine: &Machine, pid: u32) -> u64 {
    let children = children(machine, pid).into_iter().map(|child| processor_time_with_children(machine, child));
    processor_time(machine, pid) + children.sum::<u64>()
}

/// Returns the processes that a process has started.
pub(crate) fn children(machine: &Machine, pid: u32) -> Vec<u32> {
    let threads = machine.list(&format!("/proc/{pid}/task"));
    let read = |thread: String| machine.read(&format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
    let lists: Vec<String> = threads.into_iter().map(read).collect();
    lists.iter().flat_map(|list| list.split_whitespace()).filter_map(|word| word.parse().ok()).collect()
}

/// Returns the time in which the calling thread ran or waited for a processor, in ns.
pub(crate) fn awake(machine: &Machine) -> u64 {
    let text = machine.read("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    thread_time() + waited.unwrap_or(0)
}

/// Returns true if a signal or a debugger has stopped a process.
pub(crate) fn is_stopped(machine: &Machine, pid: u32) -> bool {
    let text = machine.read(&format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_samples() {
        let sample = |at: u64, kernel: u64| Sample { at, kernel, ..Sample::default() };
        let samples = Samples(vec![sample(100, 10), sample(200, 30), sample(300, 30)]);
        let used = |at: u64| samples.figure_at(at, |sample| sample.kernel);
        assert_eq!([50, 100, 150, 200, 250, 400].map(used), [10.0, 10.0, 20.0, 30.0, 30.0, 30.0]);
        assert_eq!(samples.since(150, |sample| sample.kernel), 10.0);
        assert_eq!(Samples::default().figure_at(5, |sample| sample.kernel), 0.0);
    }

    #[test]
    fn a_sleep_is_time_that_the_thread_neither_ran_nor_wanted_to() {
        let sample = |at: u64, awake: u64| Sample { at, awake, ..Sample::default() };
        let samples = Samples(vec![sample(100, 0), sample(200, 90), sample(900, 690), sample(1500, 700)]);
        let longest = |start: u64| samples.longest_sleep(start);
        assert_eq!([0, 899, 1499, 1500].map(longest), [590, 590, 590, 0]);
        assert_eq!(Samples(samples.0[..3].to_vec()).longest_sleep(200), 100);
        let stopped = Samples(vec![Sample { at: 5, stopped: true, ..Sample::default() }, sample(9, 0)]);
        assert!(stopped.was_stopped(4) && !stopped.was_stopped(5));
    }

    #[test]
    fn who_is_stopped() {
        let root = tempfile::tempdir().unwrap();
        for (pid, stat) in [(1, "1 (a) b) T 0 1"), (2, "2 (T) S 0"), (3, "3 (x) t 1")] {
            crate::audit::tests::fake::write(root.path(), &format!("/proc/{pid}/stat"), stat);
        }
        let machine = Machine::at(root.path());
        assert_eq!([1, 2, 3, 4].map(|pid| is_stopped(&machine, pid)), [true, false, true, false]);
        assert!(!is_stopped(&Machine::here(), std::process::id()));
    }

    #[test]
    fn processor_time_of_this_process() {
        assert!(processor_time(&Machine::here(), std::process::id()) > 0);
        assert_eq!(processor_time(&Machine::here(), u32::MAX), 0);
        let root = tempfile::tempdir().unwrap();
        for (file, text) in
            [("7/task/7/schedstat", "5 0 0"), ("7/task/7/children", "8 "), ("8/task/8/schedstat", "3 0 0")]
        {
            crate::audit::tests::fake::write(root.path(), &format!("proc/{file}"), text);
        }
        let machine = Machine::at(root.path());
        assert_eq!((processor_time(&machine, 7), processor_time_with_children(&machine, 7)), (5, 8));
    }
}
