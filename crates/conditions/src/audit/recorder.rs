//! The thread `trail`: takes records as fast as the kernel sends them, and samples what auditing
//! costs the machine.
//!
//! It works around two habits of the kernel (6.18). When the socket has been full for a tenth of a
//! second, the kernel drops its whole queue, and does not count that as lost unless it was started
//! with audit=1: so the thread has priority, the socket is large, and serial numbers are checked.
//! And a process that goes to sleep for room just when the queue is emptied sleeps until the next
//! record, or a whole minute if no other process makes one: so after a burst the thread makes one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::setpriority_process;

use crate::audit::clock::{monotonic_ns, thread_cpu_ns, wall_ms};
use crate::audit::file::{self, TrailFile};
use crate::audit::kernel::{MAX_RECORD_BYTES, MESSAGE, Records};
use crate::audit::kernel_log::KernelLog;
use crate::audit::record;
use crate::audit::samples::{Sample, Samples, awake_ns, family_cpu_ns, is_stopped, process_cpu_ns};
use crate::audit::system::System;
use crate::audit::tally::Tally;

/// Nanoseconds between samples.
const SAMPLE_INTERVAL_NS: u64 = 100_000_000;

/// The time for which the thread sleeps if no records come to it.
const IDLE_SLEEP: Duration = Duration::from_millis(50);

/// The messages that begin a trail, wake processes that sleep for room, and end the trail.
const BEGIN: &str = "op=unixmark-begin";
const WAKE: &str = "op=unixmark-wake";
const END: &str = "op=unixmark-end";

/// Silences in which sleepers are woken after a burst: the kernel wakes one at a time. A silence is
/// a time in which no record came ([`Records::next`]).
const WAKES_AFTER_BURST: u32 = 4;

/// Silences in a row after which a thread that should stop does, even if the end did not come.
const MAX_LAST_SILENCES: u32 = 40;

/// Nanoseconds after which a thread that should stop does, even if records still come.
const STOP_TIMEOUT_NS: u64 = 10_000_000_000;

/// The scheduler's priority, as in the auditd.conf that comes with auditd.
const NICE: i32 = -4;

/// Everything the thread works with.
pub(crate) struct Source {
    pub system: System,
    /// The socket where records arrive; `None` if auditd takes them.
    pub records: Option<Arc<dyn Records>>,
    /// The file that records are written to.
    pub file: Option<TrailFile>,
    /// The log for other programs' records; `None` if another process receives all records.
    pub kernel_log: Option<KernelLog>,
    /// The process that receives the records, if that is not the tool.
    pub daemon: Option<u32>,
    /// The kernel's thread that sends records.
    pub kauditd: Option<u32>,
    /// The number of records that the kernel queues.
    pub backlog: u32,
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
    pub(crate) fn start(source: Source) -> Result<Recorder, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("trail".to_owned())
            .spawn(move || {
                // Without permission it has the priority of any other.
                let _ = setpriority_process(None, NICE);
                Worker::new(source).record(&stopped)
            })
            .map_err(|error| format!("a thread for the trail cannot be started ({error})"))?;
        Ok(Recorder { stop, thread: Some(thread) })
    }

    /// Stops the thread when every record has come, and returns what it recorded; `None` if it was
    /// stopped before.
    pub(crate) fn finish(&mut self, system: &System) -> Option<Recording> {
        // If the last record cannot be made, the thread waits for silence.
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
pub(crate) fn write_first_record(system: &System) -> Result<(), String> {
    system.kernel.write(BEGIN).map_err(|error| format!("no record can be made: {error}"))
}

/// True if a record is the last of a trail.
pub(crate) fn is_end(kind: u16, record: &[u8]) -> bool {
    kind == MESSAGE && record.windows(END.len()).any(|words| words == END.as_bytes())
}

/// The thread's own state.
struct Worker {
    source: Source,
    samples: Samples,
    /// Records since the last silence.
    burst: u32,
    /// Silences since the last record.
    silences: u32,
    /// The number of times that sleepers are still to be woken.
    wakes: u32,
    /// The number of times the kernel had no room for a record on the socket.
    overruns: u64,
    /// True if the last record came.
    has_ended: bool,
}

impl Worker {
    fn new(source: Source) -> Worker {
        Worker {
            source,
            samples: Samples::default(),
            burst: 0,
            silences: 0,
            wakes: 0,
            overruns: 0,
            has_ended: false,
        }
    }

    /// Takes records until the last one, or until it is stopped and no more come.
    fn record(mut self, stop: &AtomicBool) -> Recording {
        let received = self.receive(stop);

        self.sample(monotonic_ns());
        let written = self.source.file.map_or(Ok(()), TrailFile::finish);
        Recording {
            tally: self.source.tally,
            samples: self.samples,
            overruns: self.overruns,
            written: received.and(written),
        }
    }

    fn receive(&mut self, stop: &AtomicBool) -> Result<(), String> {
        let records = self.source.records.clone();
        let mut buffer = vec![0; MAX_RECORD_BYTES];
        let mut next_sample_ns = 0;
        let mut deadline_ns = None;
        while !self.has_ended {
            let now_ns = monotonic_ns();
            if now_ns >= next_sample_ns {
                self.sample(now_ns);
                next_sample_ns = now_ns + SAMPLE_INTERVAL_NS;
            }

            let is_stopping = stop.load(Ordering::Relaxed);
            if is_stopping && now_ns > *deadline_ns.get_or_insert(now_ns + STOP_TIMEOUT_NS) {
                break;
            }

            let Some(records) = &records else {
                if is_stopping {
                    break;
                }
                std::thread::sleep(IDLE_SLEEP);
                continue;
            };
            match records.next(&mut buffer) {
                Ok((kind, record)) => self.take(kind, record),
                Err(Errno::AGAIN) => {
                    self.use_silence();
                    if is_stopping && self.silences >= MAX_LAST_SILENCES {
                        break;
                    }
                }
                Err(Errno::NOBUFS) => self.overruns += 1,
                Err(Errno::INTR) => {}
                Err(error) => return Err(format!("records could not be received: {error}")),
            }
        }

        Ok(())
    }

    /// Does what there is to do while no record comes.
    fn use_silence(&mut self) {
        self.silences += 1;
        if let Some(file) = &mut self.source.file {
            file.write();
        }

        // A burst of this size may have filled the queue.
        if self.burst > self.source.backlog / 4 {
            self.wakes = WAKES_AFTER_BURST;
        }
        self.burst = 0;
        if self.wakes > 0 {
            self.wakes -= 1;
            // If that fails, sleepers are woken by the next record or by their own timeout.
            let _ = self.source.system.kernel.write(WAKE);
        }
    }

    /// Counts and writes a record.
    fn take(&mut self, kind: u16, record: &[u8]) {
        let end = record.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let record = &record[..end];
        self.burst += 1;
        self.silences = 0;
        self.has_ended |= is_end(kind, record);

        let length = file::line_length(kind, record);
        let is_own = self.source.tally.count(kind, record, length, wall_ms());
        if let Some(log) = self.source.kernel_log.as_mut().filter(|_| !is_own) {
            log.pass_on(kind, record);
        }

        // As in auditd's log, what only ends an event is left out.
        let is_written = kind >= 1000 && ![record::END, record::REPLACE, MESSAGE].contains(&kind);
        if let Some(file) = self.source.file.as_mut().filter(|_| is_written) {
            file.add(kind, record);
        }
    }

    fn sample(&mut self, at_ns: u64) {
        let Source { system, kauditd, daemon, .. } = &self.source;
        let Ok(status) = system.kernel.status() else {
            return;
        };

        let machine = &system.machine;
        let daemon_ns = daemon.map(|pid| family_cpu_ns(machine, pid));
        self.samples.push(Sample {
            at_ns,
            backlog: status.backlog,
            waited_ticks: status.waited.unwrap_or(0),
            kernel_ns: kauditd.map_or(0, |pid| process_cpu_ns(machine, pid)),
            // Without a daemon it is this thread that receives the records.
            receiver_ns: daemon_ns.unwrap_or_else(thread_cpu_ns),
            awake_ns: awake_ns(machine),
            is_stopped: daemon.is_some_and(|pid| is_stopped(machine, pid)),
        });
    }
}
