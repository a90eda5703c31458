//! The causes of late frames: the kernel's trace of switches, wake-ups and interrupts, read for
//! each copy's late frames.
//!
//! [`Watch::begin`] starts the trace when the programs have started, [`Watch::end`] stops it after
//! their window and reads it. The buffer is written in a ring, so its beginning may be lost: only
//! what lies after that is explained.

mod timeline;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::tracing::{make_instance, read_cpu_stats};
use super::{Ledger, Refusal};
use crate::audit::samples::children;
use journal::Copy;
use machine::Machine;
use processes::Signals;
use timeline::{TRACED_EVENTS, Timelines};

/// The name of the trace's own buffer.
const TRACE_INSTANCE: &str = "unixmark-why";

/// The maximum size of the buffers of all processors together, and of one.
const MAX_BUFFERS_KIB: usize = 256 << 10;
const MAX_CPU_BUFFER_KIB: usize = 24 << 10;

/// A trace that is being written.
pub struct Watch {
    /// The directory of the trace's buffer in tracefs.
    instance: PathBuf,
    programs: Vec<TracedProgram>,
}

/// A measured program, with the threads that it had when the trace began.
struct TracedProgram {
    pid: u32,
    threads: Vec<u32>,
}

impl Watch {
    /// Starts the trace for the programs with these process ids.
    ///
    /// # Errors
    /// The kernel cannot trace this, or not with these rights.
    pub(super) fn begin(
        programs: &[u32],
        machine: &Machine,
        ledger: &mut Ledger,
    ) -> Result<Watch, Refusal> {
        let instance = make_instance(TRACE_INSTANCE, machine, ledger)?;
        let failed = |path: &Path, error| {
            Refusal::Failed(format!("the scheduler cannot be traced: {} ({error})", path.display()))
        };
        let write = |name: &str, text: &str| {
            let path = instance.join(name);
            files::overwrite(&path, text).map_err(|error| failed(&path, error))
        };

        let cpus = read_cpu_stats(&instance).map_err(|error| failed(&instance, error))?.len();
        let buffer_kib = (MAX_BUFFERS_KIB / cpus.max(1)).min(MAX_CPU_BUFFER_KIB);
        write("tracing_on", "0")?;
        // CLOCK_MONOTONIC, as the frames' times.
        write("trace_clock", "mono")?;
        write("buffer_size_kb", &buffer_kib.to_string())?;
        for kind in TRACED_EVENTS {
            let group = if kind.starts_with("sched") { "sched" } else { "irq" };
            write(&format!("events/{group}/{kind}/enable"), "1")?;
        }

        write("tracing_on", "1")?;
        // Threads are listed only now that the trace is on: those that start later are in it.
        let programs = programs
            .iter()
            .map(|pid| TracedProgram { pid: *pid, threads: list_threads(machine, *pid) })
            .collect();
        Ok(Watch { instance, programs })
    }

    /// Adds to each copy the causes of its late frames. The times of frames begin at `start_ns` of
    /// CLOCK_MONOTONIC. A copy without frames gets the wake-ups of the processes that it made, as
    /// frames.
    ///
    /// # Errors
    /// The trace cannot be read, or a signal came.
    pub fn end(self, copies: &mut [Copy], start_ns: u64, signals: &Signals) -> Result<(), Refusal> {
        let failed = |error: std::io::Error| {
            Refusal::Failed(format!("the trace of the scheduler cannot be read ({error})"))
        };
        files::overwrite(self.instance.join("tracing_on"), "0").map_err(failed)?;
        let stats = read_cpu_stats(&self.instance).map_err(failed)?;
        let first_ns = stats.iter().map(|stats| complete_since_ns(stats)).max().unwrap_or(0);

        let threads = self.programs.iter().map(|program| program.threads.as_slice());
        let mut timelines = Timelines::new(threads);
        read_trace(&self.instance.join("trace"), &mut timelines, signals).map_err(failed)?;
        if signals.stopped().is_some() {
            return Err(Refusal::Stopped);
        }
        if timelines.events == 0 {
            return Err("the trace of the scheduler has no event that is known".into());
        }
        // The trial may be repeated, and makes it again.
        fs::remove_dir(&self.instance).map_err(failed)?;

        let unread = timelines.unread;
        let traced = first_ns..u64::MAX;
        for copy in copies {
            let number = self.programs.iter().position(|program| Some(program.pid) == copy.pid);
            let Some(number) = number else { continue };

            if first_ns > start_ns {
                let lost_s = (first_ns - start_ns) as f64 / 1e9;
                copy.notes.push(format!(
                    "the kernel's buffer was too small for the first {lost_s:.1} s; try a shorter --time"
                ));
            }
            if unread > 0 {
                copy.notes.push(format!(
                    "{unread} lines of the kernel's trace could not be read, so causes may be missing"
                ));
            }

            let frames = copy.frames.get_or_insert_with(|| {
                Box::new(timelines.wake_up_frames(number, start_ns, &traced))
            });
            frames.holders = Some(timelines.explain_frames(number, frames, start_ns, &traced));
        }

        Ok(())
    }
}

/// Reads a trace to its end, or until a signal comes.
fn read_trace(path: &Path, timelines: &mut Timelines, signals: &Signals) -> std::io::Result<()> {
    let mut trace = BufReader::new(fs::File::open(path)?);
    // A process may be called by any bytes.
    let mut line = Vec::new();
    while signals.stopped().is_none() && trace.read_until(b'\n', &mut line)? > 0 {
        timelines.read_line(&String::from_utf8_lossy(&line));
        line.clear();
    }

    Ok(())
}

/// The time of CLOCK_MONOTONIC since which nothing of a processor's buffer was overwritten.
fn complete_since_ns(stats: &str) -> u64 {
    let field = |name: &str| {
        stats.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok())
    };
    let overwritten = field("overrun:").unwrap_or(0.0);
    if overwritten <= 0.0 {
        return 0;
    }

    let oldest_s = field("oldest event ts:").unwrap_or(f64::MAX);
    (oldest_s * 1e9) as u64
}

/// The threads of a process and of those that it has started.
fn list_threads(machine: &Machine, pid: u32) -> Vec<u32> {
    let own_threads: Vec<u32> = machine
        .list(&format!("/proc/{pid}/task"))
        .iter()
        .filter_map(|name| name.parse().ok())
        .collect();
    if own_threads.is_empty() {
        return vec![pid];
    }

    own_threads
        .into_iter()
        .chain(children(machine, pid).into_iter().flat_map(|child| list_threads(machine, child)))
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_was_not_overwritten_is_known() {
        let stats = |overrun: u32| {
            format!(
                "entries: 9\noverrun: {overrun}\noldest event ts: 27527.894811\nnow ts: 27528.2\n"
            )
        };
        assert_eq!(super::complete_since_ns(&stats(0)), 0);
        assert_eq!(super::complete_since_ns(&stats(3)), 27_527_894_811_000);
    }
}
