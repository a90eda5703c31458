//! The cost of auditing up to a time: looked at while it is on, so that a window can be cut out
//! afterwards.

use machine::Machine;

use crate::audit::clock::thread_cpu_ns;

/// The cost of auditing up to a time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Sample {
    /// CLOCK_MONOTONIC.
    pub at_ns: u64,
    /// Records in the kernel's queue.
    pub backlog: u32,
    /// Time that processes waited for room.
    pub waited_ticks: u32,
    /// Processor time of the kernel's thread.
    pub kernel_ns: u64,
    /// Processor time of whoever receives the records.
    pub receiver_ns: u64,
    /// Time that the sampling thread ran or waited for a processor.
    pub awake_ns: u64,
    /// True if a signal had stopped the process that receives the records.
    pub is_stopped: bool,
}

/// Samples in the order of time.
#[derive(Debug, Default)]
pub(crate) struct Samples(Vec<Sample>);

impl Samples {
    pub(crate) fn push(&mut self, sample: Sample) {
        self.0.push(sample);
    }

    /// A figure at a time, on a straight line between the samples around it. Before the first
    /// sample it is the first one's, after the last the last one's; without samples it is 0.
    pub(crate) fn figure_at(&self, at_ns: u64, figure: impl Fn(&Sample) -> u64) -> f64 {
        let place = self.0.partition_point(|sample| sample.at_ns <= at_ns);
        let Some(before) = self.0.get(place.saturating_sub(1)) else { return 0.0 };

        match self.0.get(place) {
            Some(next) if before.at_ns <= at_ns && before.at_ns < next.at_ns => {
                let share = (at_ns - before.at_ns) as f64 / (next.at_ns - before.at_ns) as f64;
                figure(before) as f64 + share * (figure(next) as f64 - figure(before) as f64)
            }
            _ => figure(before) as f64,
        }
    }

    /// The growth of a figure from a time to the last sample.
    pub(crate) fn growth_since(&self, start_ns: u64, figure: impl Fn(&Sample) -> u64) -> f64 {
        let last = self.0.last().map_or(0.0, |last| figure(last) as f64);
        (last - self.figure_at(start_ns, figure)).max(0.0)
    }

    /// The longest time for which the thread slept, between two samples after a time.
    pub(crate) fn longest_sleep_ns(&self, start_ns: u64) -> u64 {
        let mut longest_ns = 0;
        for pair in self.0.windows(2) {
            let [before, after] = pair else { continue };
            if after.at_ns <= start_ns {
                continue;
            }

            let awake_ns = after.awake_ns.saturating_sub(before.awake_ns);
            longest_ns = longest_ns.max((after.at_ns - before.at_ns).saturating_sub(awake_ns));
        }

        longest_ns
    }

    /// True if the process that receives the records was stopped at any time after `start_ns`.
    pub(crate) fn was_stopped(&self, start_ns: u64) -> bool {
        self.0.iter().any(|sample| sample.at_ns > start_ns && sample.is_stopped)
    }

    pub(crate) fn longest_backlog(&self) -> u32 {
        self.0.iter().map(|sample| sample.backlog).max().unwrap_or(0)
    }
}

/// The kernel's thread that sends records. Threads of the kernel have no command line; a program
/// that is called like it has one.
pub(crate) fn find_kauditd(machine: &Machine) -> Option<u32> {
    pids(machine).find(|pid| {
        machine.read(&format!("/proc/{pid}/comm")).as_deref() == Some("kauditd")
            && machine.read(&format!("/proc/{pid}/cmdline")).is_none()
    })
}

/// The number of every process.
pub(crate) fn pids(machine: &Machine) -> impl Iterator<Item = u32> {
    machine.list("/proc").into_iter().filter_map(|name| name.parse().ok())
}

/// The processor time of a process, all threads together: the scheduler's own count.
pub(crate) fn process_cpu_ns(machine: &Machine, pid: u32) -> u64 {
    let mut sum_ns = 0;
    for thread in machine.list(&format!("/proc/{pid}/task")) {
        let schedstat =
            machine.read(&format!("/proc/{pid}/task/{thread}/schedstat")).unwrap_or_default();
        sum_ns += read_number(&schedstat, RAN_FIELD);
    }

    sum_ns
}

/// Fields of a thread's `schedstat` (Documentation/scheduler/sched-stats.rst), in ns.
const RAN_FIELD: usize = 0;
const WAITED_FIELD: usize = 1;

/// The number in a field of a line; 0 if there is none.
fn read_number(line: &str, field: usize) -> u64 {
    line.split_whitespace().nth(field).and_then(|word| word.parse().ok()).unwrap_or(0)
}

/// The processor time of a process and of those that it has started, as auditd has its plugins.
pub(crate) fn family_cpu_ns(machine: &Machine, pid: u32) -> u64 {
    let children = children(machine, pid).into_iter();
    process_cpu_ns(machine, pid) + children.map(|child| family_cpu_ns(machine, child)).sum::<u64>()
}

/// The processes that a process has started.
pub(crate) fn children(machine: &Machine, pid: u32) -> Vec<u32> {
    let mut children = Vec::new();
    for thread in machine.list(&format!("/proc/{pid}/task")) {
        let list = machine.read(&format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default();
        children.extend(list.split_whitespace().filter_map(|word| word.parse::<u32>().ok()));
    }

    children
}

/// The time in which the calling thread ran or waited for a processor.
pub(crate) fn awake_ns(machine: &Machine) -> u64 {
    let schedstat = machine.read("/proc/thread-self/schedstat").unwrap_or_default();
    thread_cpu_ns() + read_number(&schedstat, WAITED_FIELD)
}

/// True if a signal or a debugger has stopped a process.
pub(crate) fn is_stopped(machine: &Machine, pid: u32) -> bool {
    let text = machine.read(&format!("/proc/{pid}/stat")).unwrap_or_default();
    text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_samples() {
        let sample = |at_ns: u64, kernel_ns: u64| Sample { at_ns, kernel_ns, ..Sample::default() };
        let samples = Samples(vec![sample(100, 10), sample(200, 30), sample(300, 30)]);
        let used = |at_ns: u64| samples.figure_at(at_ns, |sample| sample.kernel_ns);
        assert_eq!([50, 100, 150, 200, 250, 400].map(used), [10.0, 10.0, 20.0, 30.0, 30.0, 30.0]);
        assert_eq!(samples.growth_since(150, |sample| sample.kernel_ns), 10.0);
        assert_eq!(Samples::default().figure_at(5, |sample| sample.kernel_ns), 0.0);
    }

    #[test]
    fn a_sleep_is_time_that_the_thread_neither_ran_nor_wanted_to() {
        let sample = |at_ns: u64, awake_ns: u64| Sample { at_ns, awake_ns, ..Sample::default() };
        let samples =
            Samples(vec![sample(100, 0), sample(200, 90), sample(900, 690), sample(1500, 700)]);
        let longest = |start_ns: u64| samples.longest_sleep_ns(start_ns);
        assert_eq!([0, 899, 1499, 1500].map(longest), [590, 590, 590, 0]);
        assert_eq!(Samples(samples.0[..3].to_vec()).longest_sleep_ns(200), 100);
        let stopped =
            Samples(vec![Sample { at_ns: 5, is_stopped: true, ..Sample::default() }, sample(9, 0)]);
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
        assert!(process_cpu_ns(&Machine::here(), std::process::id()) > 0);
        assert_eq!(process_cpu_ns(&Machine::here(), u32::MAX), 0);
        let root = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("7/task/7/schedstat", "5 0 0"),
            ("7/task/7/children", "8 "),
            ("8/task/8/schedstat", "3 0 0"),
        ] {
            crate::audit::tests::fake::write(root.path(), &format!("proc/{file}"), text);
        }
        let machine = Machine::at(root.path());
        assert_eq!((process_cpu_ns(&machine, 7), family_cpu_ns(&machine, 7)), (5, 8));
    }
}
