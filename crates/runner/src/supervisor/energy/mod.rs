//! The energy that the machine takes during a window, by its own counters or by a meter of the
//! user's.
//!
//! Counters are read by the tool just before and just after a window
//! ([`Supervisor::count_energy`]), so it wakes then. A meter is a command that prints the joules so
//! far, line by line; a thread follows it for the whole run ([`Follower`]), and a window's energy
//! is looked up when it is over ([`Supervisor::metered_energy`]).

mod meter;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Result, bail};

use super::{Processes, Supervisor, Waited, monotonic_ns, ns};
use crate::program::{Command, Program};
use conditions::Refusal;
use journal::{Energy, Fact, Quantity};
use machine::EnergySource;
use meter::Follower;
use plan::Window;
use processes::Children;

/// Counters are read this long before a window and after it. They change about every millisecond.
const COUNTER_MARGIN: Duration = Duration::from_millis(1);

/// The idle machine is watched for this long, as often as a slow meter needs for two readings.
const IDLE_TIME: Duration = Duration::from_secs(1);
const MAX_IDLE_WAITS: u32 = 4;

/// A meter may take this long until its first reading.
const MAX_FIRST_READING_TIME: Duration = Duration::from_secs(5);

/// A meter may take this long to end after it has closed its output.
const MAX_EXIT_TIME: Duration = Duration::from_millis(20);

/// The source of energy readings.
#[derive(Debug, Default)]
pub(super) enum EnergyReader {
    #[default]
    Nowhere,
    /// The machine's own counters.
    Counters(machine::Energy),
    /// A command of the user's.
    Meter(Box<Meter>),
}

/// A command that prints the joules so far.
#[derive(Debug)]
pub(super) struct Meter {
    program: Program,
    follower: Follower,
    /// Windows whose energy was looked up.
    asked: usize,
    /// Of these, windows with too few readings.
    missed: usize,
    /// Why it is no longer read.
    broken: Option<String>,
}

/// A reading of the machine's counters.
struct CounterReading {
    /// The moment, in ns of CLOCK_MONOTONIC.
    at: u64,
    counters: machine::EnergyReading,
}

impl Supervisor<'_> {
    /// Decides where energy is read: from `meter` if there is one, else from the machine.
    ///
    /// # Errors
    /// The meter cannot be started, or prints no reading.
    pub fn find_energy(&mut self, meter: Option<&str>) -> Result<()> {
        self.energy = match (meter, EnergySource::find(self.machine)) {
            (Some(command), _) => EnergyReader::Meter(Box::new(self.start_meter(command)?)),
            (None, EnergySource::Found(counters)) => EnergyReader::Counters(counters),
            (None, _) => EnergyReader::Nowhere,
        };
        Ok(())
    }

    fn start_meter(&mut self, command: &str) -> Result<Meter> {
        let args = ["-c", command].map(OsString::from).to_vec();
        let shell = Command { path: "/bin/sh".into(), args, folder: None, environment: &[] };
        let before = Children::now();
        let mut program = self.start(&shell).map_err(anyhow::Error::msg)?;
        self.own_children_since(&before);

        let follower = Follower::start(program.take_stdout()?)?;
        let mut meter = Meter { program, follower, asked: 0, missed: 0, broken: None };
        let deadline = monotonic_ns() + ns(MAX_FIRST_READING_TIME);
        while meter.follower.last_moment().is_none() && self.sleep(Duration::from_millis(5)) {
            let too_late = (monotonic_ns() > deadline)
                .then(|| format!("it printed nothing in {} s", MAX_FIRST_READING_TIME.as_secs()));
            if let Some(why) = meter.failure().or(too_late) {
                bail!(
                    "the meter `{command}` cannot be used: {why}; it prints a line per reading, the joules so far"
                );
            }
        }
        Ok(meter)
    }

    /// The source of energy readings and the power of the idle machine, as facts. Watches the
    /// machine for that, so nothing must run.
    pub fn idle_power(&mut self) -> Vec<Fact> {
        let source = match &self.energy {
            EnergyReader::Nowhere => return Vec::new(),
            EnergyReader::Counters(counters) => counters.name(),
            EnergyReader::Meter(_) => "meter".to_owned(),
        };

        let start = monotonic_ns();
        let before = self.energy.read_counters();
        let mut idle = None;
        for _ in 0..MAX_IDLE_WAITS {
            if idle.is_some() || !self.sleep(IDLE_TIME) {
                break;
            }
            idle = match &self.energy {
                EnergyReader::Meter(meter) => meter.follower.between(start, monotonic_ns()),
                reader => reader.counted_since(before.as_ref()),
            };
        }

        let watts = idle
            .and_then(|energy| energy.watts())
            .map(|watts| Quantity::new((watts * 1e3).round() / 1e3, "W"));
        let idle = watts.map(|watts| {
            Fact::new([Fact::IDLE, "Idle power", "Run"], watts.to_string(), Some(watts))
        });
        let source = Fact::new([Fact::ENERGY, "Energy", "Run"], source, None);
        [source].into_iter().chain(idle).collect()
    }

    /// The energy of a window by the machine's counters: waits for its end. `None` if there are no
    /// counters, or the programs end before the window does.
    ///
    /// # Errors
    /// A signal stops the run.
    pub(super) fn count_energy(
        &mut self,
        processes: &mut Processes,
        start: u64,
        window: Window,
    ) -> Result<Option<Energy>, Refusal> {
        let is_counted = matches!(self.energy, EnergyReader::Counters(_));
        if !is_counted || !self.wait_until(processes, start.saturating_sub(ns(COUNTER_MARGIN)))? {
            return Ok(None);
        }

        let before = self.energy.read_counters();
        let is_over = self.wait_until(processes, start + ns(window.length() + COUNTER_MARGIN))?;
        Ok(self.energy.counted_since(before.as_ref()).filter(|_| is_over))
    }

    /// Waits for a moment. True if it came before the programs ended.
    fn wait_until(&self, processes: &mut Processes, moment: u64) -> Result<bool, Refusal> {
        let left = Duration::from_nanos(moment.saturating_sub(monotonic_ns()));
        match self.wait(processes, left, Processes::have_copies_or_side_ended) {
            Waited::TooLong => Ok(true),
            Waited::Done => Ok(false),
            Waited::Stopped => Err(Refusal::Stopped),
        }
    }

    /// The energy of a window that is over, by the user's meter. `None` if there is no meter, or
    /// too few readings.
    pub fn metered_energy(&mut self, start: u64, window: Window) -> Option<Energy> {
        let EnergyReader::Meter(meter) = &mut self.energy else {
            return None;
        };

        meter.asked += 1;
        let energy = meter.follower.between(start, start + ns(window.length()));
        meter.missed += usize::from(energy.is_none());

        if meter.broken.is_none() {
            meter.broken = meter.failure();
            if meter.broken.is_some() {
                meter.program.end();
                // A guardian that is gone is noticed when the next program is registered.
                let _ = self.guardian.forget(&meter.program.group);
            }
        }
        energy
    }

    /// Ends the meter. Returns a remark if windows lack their energy.
    pub fn end_energy(&mut self) -> Option<String> {
        let EnergyReader::Meter(mut meter) = std::mem::take(&mut self.energy) else {
            return None;
        };

        let silence_ns = monotonic_ns().saturating_sub(meter.follower.last_moment().unwrap_or(0));
        meter.program.end();
        let _ = self.guardian.forget(&meter.program.group);

        let loss = format!("energy is not known of {} of {} windows", meter.missed, meter.asked);
        match meter.broken {
            _ if meter.missed == 0 => None,
            Some(why) => Some(format!("{loss}: the meter was stopped: {why}")),
            None if silence_ns > ns(MAX_FIRST_READING_TIME) => Some(format!(
                "{loss}: the meter printed nothing in the last {:.0} s of the run",
                silence_ns as f64 / 1e9
            )),
            None => Some(format!(
                "{loss}: the meter's readings cover less than half of them; let it print more \
                 often, or take longer windows (--procedure classic)"
            )),
        }
    }
}

impl EnergyReader {
    /// Reads the machine's counters, if they are the source.
    fn read_counters(&self) -> Option<CounterReading> {
        let EnergyReader::Counters(counters) = self else {
            return None;
        };

        // The moment is halfway through: on large machines a reading asks each package.
        let began = monotonic_ns();
        let reading = counters.read()?;
        Some(CounterReading { at: began + (monotonic_ns() - began) / 2, counters: reading })
    }

    /// The energy since an earlier reading of the machine's counters.
    fn counted_since(&self, before: Option<&CounterReading>) -> Option<Energy> {
        let EnergyReader::Counters(counters) = self else {
            return None;
        };

        let before = before?;
        let after = self.read_counters()?;
        let seconds = (after.at - before.at) as f64 / 1e9;
        let joules = counters.joules(&before.counters, &after.counters, seconds)?;
        Some(Energy::new(joules, seconds))
    }
}

impl Meter {
    /// The reason why the meter gives no more readings; `None` if it still does.
    fn failure(&mut self) -> Option<String> {
        let why = self.follower.failure()?;
        if !why.is_empty() {
            return Some(why);
        }

        // It may exit a little after it has closed its output.
        std::thread::sleep(MAX_EXIT_TIME);
        self.program.read_output();
        let event = if self.program.has_ended() { "it ended" } else { "it closed its output" };
        Some(self.program.failure().unwrap_or_else(|| event.to_owned()))
    }
}
