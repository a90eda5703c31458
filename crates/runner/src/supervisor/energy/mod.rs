//! The energy that the machine takes during a window: by its own counters, or by a meter of the user's.

mod meter;

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Processes, Supervisor, Waited, monotonic, ns};
use crate::program::{Command, Program};
use conditions::Refusal;
use journal::{Energy, Fact, Quantity};
use machine::EnergySource;
use meter::Follower;
use plan::Window;

/// The time before a window, and after it, at which counters are read. They change about every millisecond.
const BESIDE: Duration = Duration::from_millis(1);

/// The time for which the machine is watched before anything runs, and the most waits for a slow meter.
const IDLE: Duration = Duration::from_secs(1);
const IDLE_TRIES: u32 = 4;

/// The longest time that a meter may take until its first reading.
const FIRST: Duration = Duration::from_secs(5);

/// The longest time that a meter may take to end after its output.
const CLOSED: Duration = Duration::from_millis(20);

/// The source of energy readings.
#[derive(Debug, Default)]
pub(super) enum Source {
    /// Nowhere.
    #[default]
    Nowhere,
    /// The machine's own counters.
    Counters(machine::Energy),
    /// A command of the user's.
    Meter(Box<Meter>),
}

/// A command that prints how many joules have passed it.
#[derive(Debug)]
pub(super) struct Meter {
    program: Program,
    follower: Follower,
    /// Windows that it was asked for, and those of which it knew too little.
    asked: usize,
    missed: usize,
    /// Why it is no longer read.
    broken: Option<String>,
}

impl Supervisor<'_> {
    /// Finds out where energy can be read: from `meter`, if there is one, else from the machine.
    ///
    /// # Errors
    /// The meter cannot be started, or prints no reading.
    pub fn find_energy(&mut self, meter: Option<&str>) -> Result<()> {
        self.energy = match (meter, EnergySource::find(self.machine)) {
            (Some(command), _) => Source::Meter(Box::new(self.start_meter(command)?)),
            (None, EnergySource::Found(counters)) => Source::Counters(counters),
            (None, _) => Source::Nowhere,
        };
        Ok(())
    }

    fn start_meter(&mut self, command: &str) -> Result<Meter> {
        let args = ["-c", command].map(str::to_owned).to_vec();
        let shell = Command { path: "/bin/sh".into(), args, folder: Path::new("."), environment: &[] };
        let mut program = self.start(&shell).map_err(anyhow::Error::msg)?;
        let follower = Follower::start(program.take_stdout()?)?;
        let mut meter = Meter { program, follower, asked: 0, missed: 0, broken: None };
        let deadline = monotonic() + ns(FIRST);
        while meter.follower.last().is_none() && self.sleep(Duration::from_millis(5)) {
            let late = (monotonic() > deadline).then(|| format!("it printed nothing in {} s", FIRST.as_secs()));
            if let Some(why) = meter.failure().or(late) {
                bail!("the meter `{command}` cannot be used: {why}; it prints a line per reading, the joules so far");
            }
        }
        Ok(meter)
    }

    /// Watches the machine while nothing runs; returns what that came to, and where it is known from, as facts.
    pub fn idle_power(&mut self) -> Vec<Fact> {
        let from = match &self.energy {
            Source::Nowhere => return Vec::new(),
            Source::Counters(counters) => counters.name(),
            Source::Meter(_) => "meter".to_owned(),
        };
        let (start, before) = (monotonic(), self.energy.read());
        let mut idle = None;
        for _ in 0..IDLE_TRIES {
            if idle.is_some() || !self.sleep(IDLE) {
                break;
            }
            idle = match &self.energy {
                Source::Meter(meter) => meter.follower.between(start, monotonic()),
                source => source.since(before.as_ref()),
            };
        }
        let watts = idle.and_then(|energy| energy.watts()).map(|watts| Quantity::new((watts * 1e3).round() / 1e3, "W"));
        let idle = watts.map(|watts| Fact::new([Fact::IDLE, "Idle power", "Run"], watts.to_string(), Some(watts)));
        [Fact::new([Fact::ENERGY, "Energy", "Run"], from, None)].into_iter().chain(idle).collect()
    }

    /// Reads the machine's counters just before a window and just after it; `None` if there are none, or the programs
    /// end before that.
    ///
    /// # Errors
    /// A signal stops the run.
    pub(super) fn count_energy(
        &mut self,
        processes: &mut Processes,
        start: u64,
        window: Window,
    ) -> Result<Option<Energy>, Refusal> {
        let is_counted = matches!(self.energy, Source::Counters(_));
        if !is_counted || !self.wait_until(processes, start.saturating_sub(ns(BESIDE)))? {
            return Ok(None);
        }
        let before = self.energy.read();
        let is_over = self.wait_until(processes, start + ns(window.length() + BESIDE))?;
        Ok(self.energy.since(before.as_ref()).filter(|_| is_over))
    }

    /// Waits for a moment; returns whether it came before the programs ended.
    fn wait_until(&self, processes: &mut Processes, moment: u64) -> Result<bool, Refusal> {
        let left = Duration::from_nanos(moment.saturating_sub(monotonic()));
        match self.wait(processes, left, |all| all.copies.iter().all(Program::ended) || all.side_ended()) {
            Waited::TooLong => Ok(true),
            Waited::Done => Ok(false),
            Waited::Stopped => Err(Refusal::Stopped),
        }
    }

    /// Returns what the user's meter said of a window that is over; `None` if there is none, or it says too little.
    pub fn metered_energy(&mut self, start: u64, window: Window) -> Option<Energy> {
        let Source::Meter(meter) = &mut self.energy else { return None };
        meter.asked += 1;
        let energy = meter.follower.between(start, start + ns(window.length()));
        meter.missed += usize::from(energy.is_none());
        if meter.broken.is_none() {
            meter.broken = meter.failure();
            if meter.broken.is_some() {
                meter.program.end();
                // That the guardian is gone shows when the next program is registered.
                let _ = self.guardian.forget(&meter.program.group);
            }
        }
        energy
    }

    /// Ends the meter; returns what a reader must know of it.
    pub fn end_energy(&mut self) -> Option<String> {
        let Source::Meter(mut meter) = std::mem::take(&mut self.energy) else { return None };
        let silent = monotonic().saturating_sub(meter.follower.last().unwrap_or(0));
        meter.program.end();
        let _ = self.guardian.forget(&meter.program.group);
        let of = format!("energy is not known of {} of {} windows", meter.missed, meter.asked);
        match meter.broken {
            _ if meter.missed == 0 => None,
            Some(why) => Some(format!("{of}: the meter was stopped: {why}")),
            None if silent > ns(FIRST) => {
                Some(format!("{of}: the meter printed nothing in the last {:.0} s of the run", silent as f64 / 1e9))
            }
            None => Some(format!(
                "{of}: the meter's readings cover less than half of them; let it print more often, or take longer windows \
                 (--procedure classic)"
            )),
        }
    }
}

impl Source {
    /// Reads the machine's counters.
    fn read(&self) -> Option<(u64, machine::EnergyReading)> {
        let Source::Counters(counters) = self else { return None };
        let began = monotonic();
        let reading = counters.read()?;
        // Halfway between: on large machines a reading asks each package.
        Some((began + (monotonic() - began) / 2, reading))
    }

    /// Returns what the machine's counters have counted since.
    fn since(&self, before: Option<&(u64, machine::EnergyReading)>) -> Option<Energy> {
        let Source::Counters(counters) = self else { return None };
        let ((from, before), (to, after)) = (before?, self.read()?);
        let seconds = (to - from) as f64 / 1e9;
        Some(Energy::new(counters.joules(before, &after, seconds)?, seconds))
    }
}

impl Meter {
    /// Returns why it cannot be read any more, if it cannot.
    fn failure(&mut self) -> Option<String> {
        let why = self.follower.failure()?;
        if !why.is_empty() {
            return Some(why);
        }
        // How it ends may come a little after its last output.
        std::thread::sleep(CLOSED);
        self.program.read_output();
        let ended = if self.program.ended() { "it ended" } else { "it closed its output" };
        Some(self.program.failure().unwrap_or_else(|| ended.to_owned()))
    }
}
