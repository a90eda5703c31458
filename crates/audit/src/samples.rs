//! What auditing had cost by a time: looked at while it is on, so that a window can be cut out afterwards.

use machine::Machine;

/// What auditing had cost by a time.
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
    fn processor_time_of_this_process() {
        assert!(processor_time(&Machine::here(), std::process::id()) > 0);
        assert_eq!(processor_time(&Machine::here(), u32::MAX), 0);
    }
}
