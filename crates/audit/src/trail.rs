//! The thread `trail`: takes records as fast as the kernel sends them, and looks at what auditing costs the machine meanwhile.
//!
//! Two ways of the kernel's (6.18) are met here. When the socket has been full for a tenth of a second, it drops its whole
//! queue, and does not count that as lost unless it was started with audit=1: so the thread is early, the socket is large,
//! and serial numbers are checked. And a process that goes to sleep for room just when the queue is emptied sleeps until the
//! next record, or a whole minute where no other process makes one: so after a burst the thread makes one.

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, recv};
use rustix::process::setpriority_process;
use rustix::time::{ClockId, Timespec, clock_gettime};

use crate::netlink::{Control, HEADER, LONGEST, SAID};
use crate::parse;
use crate::sink::{self, Sink};
use crate::tally::Tally;

/// Nanoseconds between looks at the backlog and the clocks.
const SAMPLE: u64 = 100_000_000;

/// How long silence is before the thread looks at what else there is to do.
const SILENCE: Duration = Duration::from_millis(50);

/// What is said to begin a trail, to wake processes that sleep for room, and to end it.
const BEGIN: &str = "op=unixmark-begin";
const WAKE: &str = "op=unixmark-wake";
const END: &str = "op=unixmark-end";

/// Silences in which sleepers are woken after a burst: the kernel wakes one at a time.
const WAKES: u32 = 4;

/// Silences and nanoseconds after which a thread that is told to stop does, though the end was not heard.
const LAST_SILENCES: u32 = 40;
const STOP: u64 = 10_000_000_000;

/// The scheduler's priority, as in the auditd.conf that comes with auditd.
const NICE: i32 = -4;

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
    pub sink: u64,
}

/// What the thread has.
pub(crate) struct Source {
    /// Where records arrive; none where auditd takes them.
    pub socket: Option<OwnedFd>,
    /// Where they are written.
    pub sink: Option<Sink>,
    /// The process that receives them, where that is not the tool.
    pub daemon: Option<u32>,
    /// The kernel's thread.
    pub kauditd: Option<u32>,
    /// Records that the kernel queues.
    pub backlog: u32,
    /// What counts them.
    pub tally: Tally,
}

/// What it heard until it was stopped.
pub(crate) struct Heard {
    pub tally: Tally,
    /// In order, the first from its start and the last from its end.
    pub samples: Vec<Sample>,
    /// How often the kernel had no room for a record on the socket.
    pub overruns: u64,
    /// Whether everything was written.
    pub written: Result<(), String>,
    /// Kept open: the kernel would print what it has nobody to send to.
    _socket: Option<OwnedFd>,
}

/// The thread; it ends when this is dropped.
pub(crate) struct Trail {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Heard>>,
}

impl Trail {
    /// Starts it.
    pub(crate) fn start(source: Source) -> Result<Trail, String> {
        let control = Control::open().map_err(|error| format!("auditing cannot be asked ({error})"))?;
        if let Some(socket) = &source.socket {
            set_socket_timeout(socket, Timeout::Recv, Some(SILENCE)).map_err(|error| error.to_string())?;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("trail".to_owned())
            .spawn(move || {
                // Where that is not permitted, it is as early as any other.
                let _ = setpriority_process(None, NICE);
                Listener { source, control, samples: Vec::new(), burst: 0, wakes: 0, ended: false }.listen(&told)
            })
            .map_err(|error| format!("a thread for the trail cannot be started ({error})"))?;
        Ok(Trail { stop, thread: Some(thread) })
    }

    /// Stops it when it has heard all that there was, and returns that; nothing where that was done before.
    pub(crate) fn finish(&mut self, control: &Control) -> Option<Heard> {
        // Without the end it waits for silence.
        let _ = end(control);
        self.stop()
    }

    fn stop(&mut self) -> Option<Heard> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Has the first record made of a trail.
pub(crate) fn begin(control: &Control) -> Result<(), Errno> {
    control.say(BEGIN)
}

/// Has the last record made that a trail is to have.
pub(crate) fn end(control: &Control) -> Result<(), Errno> {
    control.say(END)
}

/// Whether a record is that one.
pub(crate) fn is_end(kind: u16, record: &[u8]) -> bool {
    kind == SAID && record.windows(END.len()).any(|words| words == END.as_bytes())
}

/// What the thread works with.
struct Listener {
    source: Source,
    control: Control,
    samples: Vec<Sample>,
    /// Records since it was silent.
    burst: u32,
    /// How often sleepers are still to be woken.
    wakes: u32,
    /// Whether the last record came.
    ended: bool,
}

impl Listener {
    fn listen(mut self, stop: &AtomicBool) -> Heard {
        let mut buffer = vec![0; LONGEST];
        let (mut overruns, mut silences) = (0, 0);
        let mut failure = Ok(());
        let (mut next, mut deadline) = (0, None);
        while !self.ended {
            let now = nanoseconds(clock_gettime(ClockId::Monotonic));
            if now >= next {
                self.sample(now);
                next = now + SAMPLE;
            }
            let stopping = stop.load(Ordering::Relaxed);
            if stopping && now > *deadline.get_or_insert(now + STOP) {
                break;
            }
            match self.receive(&mut buffer) {
                Ok(length) => {
                    self.take(&buffer[..length]);
                    silences = 0;
                }
                Err(Errno::AGAIN) => {
                    self.rest();
                    silences += 1;
                    if stopping && (silences >= LAST_SILENCES || self.source.socket.is_none()) {
                        break;
                    }
                }
                Err(Errno::NOBUFS) => overruns += 1,
                Err(Errno::INTR) => {}
                Err(error) => {
                    failure = Err(format!("records could not be received: {error}"));
                    break;
                }
            }
        }
        self.sample(nanoseconds(clock_gettime(ClockId::Monotonic)));
        let written = failure.and(self.source.sink.map_or(Ok(()), Sink::finish));
        Heard { tally: self.source.tally, samples: self.samples, overruns, written, _socket: self.source.socket }
    }

    /// What is done while nothing comes.
    fn rest(&mut self) {
        if let Some(sink) = &mut self.source.sink {
            sink.write();
        }
        // So many records may have filled the queue.
        if self.burst > self.source.backlog / 4 {
            self.wakes = WAKES;
        }
        self.burst = 0;
        if self.wakes > 0 {
            self.wakes -= 1;
            let _ = self.control.say(WAKE);
        }
    }

    /// Waits for a record.
    fn receive(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        match &self.source.socket {
            Some(socket) => recv(socket, buffer, RecvFlags::empty()).map(|(length, _)| length),
            None => {
                std::thread::sleep(SILENCE);
                Err(Errno::AGAIN)
            }
        }
    }

    /// Counts and writes a record. Its length is that of what came: the one in its header is not to be trusted.
    fn take(&mut self, message: &[u8]) {
        let Some((header, record)) = message.split_at_checked(HEADER) else { return };
        let kind = u16::from_ne_bytes([header[4], header[5]]);
        let end = record.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let record = &record[..end];
        let now = nanoseconds(clock_gettime(ClockId::Realtime)) / 1_000_000;
        self.burst += 1;
        self.ended |= is_end(kind, record);
        self.source.tally.take(kind, record, sink::length(kind, record), now);
        // As auditd does, what only ends an event is left out.
        let is_written = kind >= 1000 && ![parse::END, parse::REPLACE, SAID].contains(&kind);
        if let Some(sink) = self.source.sink.as_mut().filter(|_| is_written) {
            sink.take(kind, record);
        }
    }

    fn sample(&mut self, at: u64) {
        let Ok(status) = self.control.status() else { return };
        let own = || nanoseconds(clock_gettime(ClockId::ThreadCPUTime));
        self.samples.push(Sample {
            at,
            backlog: status.backlog,
            waited: status.waited.unwrap_or(0),
            kernel: self.source.kauditd.map_or(0, processor_time),
            sink: self.source.daemon.map_or_else(own, processor_time),
        });
    }
}

/// What had been used by the time `at`, in a straight line between the samples around it.
pub(crate) fn used(samples: &[Sample], at: u64, of: impl Fn(&Sample) -> u64) -> f64 {
    let after = samples.partition_point(|sample| sample.at <= at);
    let (Some(before), next) = (samples.get(after.saturating_sub(1)), samples.get(after)) else { return 0.0 };
    match next {
        Some(next) if before.at <= at && before.at < next.at => {
            let share = (at - before.at) as f64 / (next.at - before.at) as f64;
            of(before) as f64 + share * (of(next) as f64 - of(before) as f64)
        }
        _ => of(before) as f64,
    }
}

/// Processor time of a process in ns, all threads together: the scheduler's own count.
pub(crate) fn processor_time(pid: u32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let of = |path: std::path::PathBuf| {
        let text = fs::read_to_string(path.join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    threads.flatten().filter_map(|thread| of(thread.path())).sum()
}

/// A time in ns.
pub(crate) fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_samples() {
        let sample = |at: u64, kernel: u64| Sample { at, kernel, ..Sample::default() };
        let samples = [sample(100, 10), sample(200, 30), sample(300, 30)];
        let used = |at: u64| used(&samples, at, |sample| sample.kernel);
        assert_eq!([50, 100, 150, 200, 250, 400].map(used), [10.0, 10.0, 20.0, 30.0, 30.0, 30.0]);
        assert_eq!(super::used(&[], 5, |sample| sample.kernel), 0.0);
    }

    #[test]
    fn processor_time_of_this_process() {
        assert!(processor_time(std::process::id()) > 0);
        assert_eq!(processor_time(u32::MAX), 0);
    }
}
