//! The causes of late frames: the kernel's trace of switches, wake-ups and interrupts, read for each
//! copy's late frames.

mod timeline;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::tracing::{instance, per_cpu};
use super::{Ledger, Refusal};
use crate::audit::samples::children;
use journal::Copy;
use machine::Machine;
use processes::Signals;
use timeline::{KINDS, Timelines};

/// The buffer's name.
const INSTANCE: &str = "unixmark-why";

/// Buffers of all processors together, and of one at most, in KiB.
const ALL_KIB: usize = 256 << 10;
const MOST_KIB: usize = 24 << 10;

/// A trace that is being written.
pub struct Watch {
    instance: PathBuf,
    /// The threads of each program.
    programs: Vec<(u32, Vec<u32>)>,
}

impl Watch {
    /// Begins to trace for these programs.
    ///
    /// # Errors
    /// The kernel cannot trace this, or not with these rights.
    pub(super) fn begin(programs: &[u32], machine: &Machine, ledger: &mut Ledger) -> Result<Watch, Refusal> {
        let instance = instance(INSTANCE, machine, ledger)?;
        let failed = |path: &Path, error| {
            Refusal::Failed(format!("the scheduler cannot be traced: {} ({error})", path.display()))
        };
        let write = |name: &str, text: &str| {
            let path = instance.join(name);
            fs::write(&path, text).map_err(|error| failed(&path, error))
        };
        let cpus = per_cpu(&instance).map_err(|error| failed(&instance, error))?.len().max(1);
        write("tracing_on", "0")?;
        write("trace_clock", "mono")?;
        write("buffer_size_kb", &(ALL_KIB / cpus).min(MOST_KIB).to_string())?;
        for kind in KINDS {
            let group = if kind.starts_with("sched") { "sched" } else { "irq" };
            write(&format!("events/{group}/{kind}/enable"), "1")?;
        }
        write("tracing_on", "1")?;
        // After that, since what they start from now on is in the trace.
        let programs = programs.iter().map(|pid| (*pid, threads(machine, *pid))).collect();
        Ok(Watch { instance, programs })
    }

    /// Adds to each copy what held its late frames up, of which `start` is the beginning, in ns of CLOCK_MONOTONIC. A
    /// copy without frames has the wake-ups of the processes that it made.
    ///
    /// # Errors
    /// The trace cannot be read, or a signal came.
    pub fn end(self, copies: &mut [Copy], start: u64, signals: &Signals) -> Result<(), Refusal> {
        let failed =
            |error: std::io::Error| Refusal::Failed(format!("the trace of the scheduler cannot be read ({error})"));
        fs::write(self.instance.join("tracing_on"), "0").map_err(failed)?;
        let from = per_cpu(&self.instance).map_err(failed)?.iter().map(|stats| beginning(stats)).max().unwrap_or(0);
        let mut timelines = Timelines::new(self.programs.iter().map(|(_, threads)| threads.as_slice()));
        read(&self.instance.join("trace"), &mut timelines, signals).map_err(failed)?;
        if signals.stopped().is_some() {
            return Err(Refusal::Stopped);
        }
        if timelines.events == 0 {
            return Err("the trace of the scheduler has no event that is known".into());
        }
        // The trial may be repeated.
        fs::remove_dir(&self.instance).map_err(failed)?;
        for copy in copies {
            let number = self.programs.iter().position(|(pid, _)| Some(*pid) == copy.pid);
            let Some(number) = number else { continue };
            let traced = from..u64::MAX;
            if from > start {
                let lost = (from - start) as f64 / 1e9;
                copy.notes
                    .push(format!("the kernel's buffer was too small for the first {lost:.1} s; try a shorter --time"));
            }
            let frames = copy.frames.get_or_insert_with(|| Box::new(timelines.wakes(number, start, &traced)));
            frames.holders = Some(timelines.holders(number, frames, start, &traced));
        }
        Ok(())
    }
}

/// Reads a trace to its end, or until a signal comes.
fn read(path: &Path, timelines: &mut Timelines, signals: &Signals) -> std::io::Result<()> {
    let mut trace = BufReader::new(fs::File::open(path)?);
    // A process may be called by any bytes.
    let mut line = Vec::new();
    while signals.stopped().is_none() && trace.read_until(b'\n', &mut line)? > 0 {
        timelines.read(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(())
}

/// Returns since when nothing of a processor's buffer was overwritten, in ns of CLOCK_MONOTONIC.
fn beginning(stats: &str) -> u64 {
    let field = |name: &str| stats.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
    match field("overrun:") {
        Some(overrun) if overrun > 0.0 => (field("oldest event ts:").unwrap_or(f64::MAX) * 1e9) as u64,
        _ => 0,
    }
}

/// Returns the threads of a process and of those that it has started.
fn threads(machine: &Machine, pid: u32) -> Vec<u32> {
    let own: Vec<u32> =
        machine.list(&format!("/proc/{pid}/task")).iter().filter_map(|name| name.parse().ok()).collect();
    if own.is_empty() {
        return vec![pid];
    }
    own.into_iter().chain(children(machine, pid).into_iter().flat_map(|child| threads(machine, child))).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_what_was_not_overwritten_is_known() {
        let stats =
            |overrun: u32| format!("entries: 9\noverrun: {overrun}\noldest event ts: 27527.894811\nnow ts: 27528.2\n");
        assert_eq!(super::beginning(&stats(0)), 0);
        assert_eq!(super::beginning(&stats(3)), 27_527_894_811_000);
    }
}
