//! The thread `trail`: takes records as fast as the kernel sends them, and samples what auditing costs the machine.
//!
//! It works around two habits of the kernel (6.18). When the socket has been full for a tenth of a second, the kernel
//! drops its whole queue, and does not count that as lost unless it was started with audit=1: so the thread has
//! priority, the socket is large, and serial numbers are checked. And a process that goes to sleep for room just when
//! the queue is emptied sleeps until the next record, or a whole minute if no other process makes one: so after a burst
//! the thread makes one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::setpriority_process;

use crate::audit::clock::{monotonic, thread_time, wall_ms};
use crate::audit::file::{self, TrailFile};
use crate::audit::kernel::{LONGEST, MESSAGE, Records};
use crate::audit::kernel_log::KernelLog;
use crate::audit::record;
use crate::audit::samples::{Sample, Samples, awake, is_stopped, processor_time, processor_time_with_children};
use crate::audit::system::System;
use crate::audit::tally::Tally;

/// Nanoseconds between samples.
const SAMPLE: u64 = 100_000_000;

/// The time for which the thread sleeps if no records come to it.
const REST: Duration = Duration::from_millis(50);

/// The messages that begin a trail, wake processes that sleep for room, and end the trail.
const BEGIN: &str = "op=unixmark-begin";
const WAKE: &str = "op=unixmark-wake";
const END: &str = "op=unixmark-end";

/// Silences in which sleepers are woken after a burst: the kernel wakes one at a time.
const WAKES: u32 = 4;

/// Silences and nanoseconds after which a thread that should stop does, even if the end did not come.
const LAST_SILENCES: u32 = 40;
const STOP: u64 = 10_000_000_000;

/// The scheduler's priority, as in the auditd.conf that comes with auditd.
const NICE: i32 = -4;

/// Everything the thread works with.
pub(crate) struct Source {
    pub system: System,
    /// The socket where records arrive; `None` if auditd takes them.
    pub records: Option<Arc<dyn Records>>,
    /// The file they are written to.
    pub file: Option<TrailFile>,
    /// The log for those of others; `None` if another process receives all of them.
    pub kernel_log: Option<KernelLog>,
    /// The process that receives them, if that is not the tool.
    pub daemon: Option<u32>,
    /// The kernel's thread.
    pub kauditd: Option<u32>,
    /// Records that the kernel queues.
    pub backlog: u32,
    /// Their counts.
    pub tally: Tally,
}

/// The thread's record until it was stopped.
pub(crate) struct Recording {
    pub tally: Tally,
    /// The first is from the thread's start and the last from its end.
    pub samples: Samples,
    /// The number of times the kernel had no room for a record on the socket.
    pub overruns: u64,
    /// The reason why not everything was written, if so.
    pub written: Result<(), String>,
}

/// The thread; it ends when this is dropped.
pub(crate) struct Recorder {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Recording>>,
}

impl Recorder {
    /// Starts it.
    pub(crate) fn start(source: Source) -> Result<Recorder, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("trail".to_owned())
            .spawn(move || {
                // Without permission it has the priority of any other.
                let _ = setpriority_process(None, NICE);
                Worker { source, samples: Samples::default(), burst: 0, wakes: 0, ended: false }.record(&stopped)
            })
            .map_err(|error| format!("a thread for the trail cannot be started ({error})"))?;
        Ok(Recorder { stop, thread: Some(thread) })
    }

    /// Stops it when every record has come, and returns what it recorded; `None` if it was stopped before.
    pub(crate) fn finish(&mut self, system: &System) -> Option<Recording> {
        // Without the end it waits for silence.
        let _ = system.kernel.write(END);
        self.stop()
    }

    fn stop(&mut self) -> Option<Recording> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take()?.join().ok()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Makes the first record of a trail: from its serial number on none may be missing.
pub(crate) fn begin(system: &System) -> Result<(), String> {
    system.kernel.write(BEGIN).map_err(|error| format!("no record can be made: {error}"))
}

/// Returns true if a record is the last of a trail.
pub(crate) fn is_end(kind: u16, record: &[u8]) -> bool {
    kind == MESSAGE && record.windows(END.len()).any(|words| words == END.as_bytes())
}

/// The thread's own state.
struct Worker {
    source: Source,
    samples: Samples,
    /// Records since the last silence.
    burst: u32,
    /// The number of times that sleepers are still to be woken.
    wakes: u32,
    /// True if the last record came.
    ended: bool,
}

impl Worker {
    fn record(mut self, stop: &AtomicBool) -> Recording {
        let mut buffer = vec![0; LONGEST];
        let (mut overruns, mut silences) = (0, 0);
        let mut failure = Ok(());
        let (mut due, mut deadline) = (0, None);
        let records = self.source.records.clone();
        while !self.ended {
            let now = monotonic();
            if now >= due {
                self.sample(now);
                due = now + SAMPLE;
            }
            let stopping = stop.load(Ordering::Relaxed);
            if stopping && now > *deadline.get_or_insert(now + STOP) {
                break;
            }
            let next = match &records {
                Some(records) => records.next(&mut buffer),
                None if stopping => break,
                None => {
                    std::thread::sleep(REST);
                    continue;
                }
            };
            match next {
                Ok((kind, record)) => {
                    self.take(kind, record);
                    silences = 0;
                }
                Err(Errno::AGAIN) => {
                    self.rest();
                    silences += 1;
                    if stopping && silences >= LAST_SILENCES {
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
        self.sample(monotonic());
        let written = failure.and(self.source.file.map_or(Ok(()), TrailFile::finish));
        Recording { tally: self.source.tally, samples: self.samples, overruns, written }
    }

    /// Does what there is to do while no record comes.
    fn rest(&mut self) {
        if let Some(file) = &mut self.source.file {
            file.write();
        }
        // A burst of this size may have filled the queue.
        if self.burst > self.source.backlog / 4 {
            self.wakes = WAKES;
        }
        self.burst = 0;
        if self.wakes > 0 {
            self.wakes -= 1;
            let _ = self.source.system.kernel.write(WAKE);
        }
    }

    /// Counts and writes a record.
    fn take(&mut self, kind: u16, record: &[u8]) {
        let end = record.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let record = &record[..end];
        self.burst += 1;
        self.ended |= is_end(kind, record);
        let is_own = self.source.tally.take(kind, record, file::length(kind, record), wall_ms());
        if let Some(log) = self.source.kernel_log.as_mut().filter(|_| !is_own) {
            log.pass_on(kind, record);
        }
        // As in auditd's log, what only ends an event is left out.
        let is_written = kind >= 1000 && ![record::END, record::REPLACE, MESSAGE].contains(&kind);
        if let Some(file) = self.source.file.as_mut().filter(|_| is_written) {
            file.take(kind, record);
        }
    }

    fn sample(&mut self, at: u64) {
        let Source { system, kauditd, daemon, .. } = &self.source;
        let Ok(status) = system.kernel.status() else { return };
        let machine = &system.machine;
        let receiver = daemon.map(|pid| processor_time_with_children(machine, pid));
        self.samples.push(Sample {
            at,
            backlog: status.backlog,
            waited: status.waited.unwrap_or(0),
            kernel: kauditd.map_or(0, |pid| processor_time(machine, pid)),
            receiver: receiver.unwrap_or_else(thread_time),
            awake: awake(machine),
            stopped: daemon.is_some_and(|pid| is_stopped(machine, pid)),
        });
    }
}
