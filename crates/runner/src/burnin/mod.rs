//! A burn-in: one program works until it is stopped, the sensors are read once a second, and what
//! the program prints goes to the journal at once.
//!
//! [`Session::burn`] starts the program as a load (`go 0 0 0`) and calls [`Session::step`] until
//! the burn-in is over: by its time, its number of passes, a signal, or a failure. A step waits
//! until the program prints or a second has passed, takes in the lines, and reads the sensors at
//! the end of a second. Cooling tests then rest: the program stops its work and the sensors are
//! read on.

mod lines;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;

use lines::{BurnLine, BurnLog};

use super::Outcome;
use super::program::{Command, Program};
use super::protocol::{Conclusion, violation};
use super::rig::{add_cycles_argument, check_needs};
use super::rounds::failed_trial;
use super::supervisor::{
    IN_THE_FUTURE, Processes, SHORT_WINDOW, Setup, Supervisor, Waited, cpu_time_ns, monotonic_ns,
    ns, reported_copies,
};
use build::Programs;
use catalogue::{Condition, Test};
use conditions::{Experiment, Refusal};
use journal::{
    BurnIn, Burned, Cell, Ended, Fault, Pass, Reading, Record, Sample, SensorKind, Stage, Trial,
    Warning, Writer,
};
use machine::{Machine, Sensors, noise, sample};

const SECOND_NS: u64 = 1_000_000_000;

/// The tool's seconds end a little after the program's, so that a sample has the beats of its own
/// second.
const TICK_DELAY_NS: u64 = SECOND_NS / 10;

/// The journal of a test of memory, which may take days, has a sample once in so many seconds.
const MEMORY_SAMPLE_SECONDS: u64 = 10;

/// Whether there are enough samples is asked once in so many seconds.
const SECONDS_BETWEEN_LOOKS: u64 = 5;

/// The program may take this long to report when its stdin has closed, since much memory takes long
/// to give back. Whoever pressed Ctrl-C waits less.
const MAX_REPORT_TIME: Duration = Duration::from_secs(30);
const MAX_REPORT_TIME_STOPPED: Duration = Duration::from_secs(5);

/// The setting of a burn-in.
pub struct BurnSetting<'a> {
    pub machine: &'a Machine,
    /// The program's row.
    pub test: &'a Test,
    /// The programs; `None` if the test is the user's own.
    pub programs: Option<&'a Programs>,
    /// The directory below which the program works.
    pub dir: &'a Path,
    /// Cycles of a dependent addition on this machine's cores, by which programs measure their
    /// clock.
    pub add_cycles: u32,
    /// The longest silence of a program.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back even if the tool is killed.
    pub screen: Option<&'a Path>,
    /// The plan; the sensors' limits are filled in.
    pub plan: BurnIn,
    /// Says by all samples whether the work may end before its time; `None` if it may not.
    pub is_enough: Option<IsEnough>,
}

/// Decides by samples whether there are enough.
pub type IsEnough = fn(&BurnIn, &[Sample]) -> bool;

/// An event of a burn-in, for the display.
#[derive(Debug)]
pub enum BurnEvent<'a> {
    /// The program is about to be started, with this command line.
    Begin(String),
    /// A second has passed.
    Second(&'a Sample),
    /// The memory test enters this stage.
    Stage(&'a Stage),
    /// A word was not what was written.
    Fault(&'a Fault),
    /// A pass is over.
    Pass(&'a Pass),
    /// Something the user should know.
    Warning(&'a str),
    /// The work stops, for the machine to cool.
    Resting,
}

/// Carries out a burn-in: findings go to the journal, events to `watch`.
///
/// # Errors
/// The journal cannot be written, or the scratch directory cannot be made. Whatever goes wrong with
/// the program becomes an error trial in the journal.
pub fn burn_in(
    setting: &BurnSetting<'_>,
    writer: &mut Writer,
    watch: &mut dyn FnMut(BurnEvent<'_>),
) -> Result<Outcome> {
    let BurnSetting { machine, test, .. } = *setting;
    let (patience, screen) = (setting.patience, setting.screen);
    let mut supervisor =
        Supervisor::new(machine, patience, setting.dir, screen, Experiment::passive())?;
    let sensors = Sensors::find(machine);
    let plan = BurnIn { limits: sensors.limits.clone(), ..setting.plan.clone() };
    writer.append(&Record::Cell(Box::new(Cell::new(0, test, 1, None, &Condition::none()))))?;
    writer.append(&Record::BurnIn(Box::new(plan.clone())))?;

    let folder = supervisor.scratch.empty_trial_folder()?;
    let mut session = Session::new(&plan, sensors, writer, watch);
    session.is_enough = setting.is_enough;
    let burned = match make_command(setting, &folder) {
        Ok(command) => session.run(&mut supervisor, test, command),
        Err(failure) => Err(failure.into()),
    };
    let trial = match burned {
        Ok(trial) => Some(trial),
        Err(Stop::Journal(error)) => return Err(error),
        Err(Stop::Program(Refusal::Stopped)) => None,
        Err(Stop::Program(refusal)) => Some(failed_trial(refusal)),
    };
    if let Some(trial) = trial {
        session.writer.append(&Record::Trial(Box::new(trial)))?;
    }

    let signal = supervisor.signals.stopped();
    let ended = if signal.is_some() { Ended::Interrupted } else { Ended::Complete };
    Ok(Outcome { ended, signal, failures: Vec::new() })
}

fn make_command<'f>(setting: &BurnSetting<'_>, folder: &'f Path) -> Result<Command<'f>, Refusal> {
    check_needs(setting.machine, setting.test)?;

    let path = match setting.programs {
        _ if setting.test.is_foreign() => PathBuf::from(&setting.test.program),
        Some(programs) => programs.executable(setting.test, 0)?,
        None => return Err("its program was not built".into()),
    };
    let args = setting
        .plan
        .args
        .iter()
        .cloned()
        .chain(add_cycles_argument(setting.test, setting.add_cycles))
        .map(OsString::from)
        .collect();
    Ok(Command { path, args, folder: Some(folder), environment: &[] })
}

/// Why a burn-in has no result: the program failed, or the journal cannot be written.
enum Stop {
    Program(Refusal),
    Journal(anyhow::Error),
}

impl From<Refusal> for Stop {
    fn from(failure: Refusal) -> Stop {
        Stop::Program(failure)
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Stop {
        Stop::Journal(error)
    }
}

/// A burn-in in progress.
struct Session<'a> {
    plan: &'a BurnIn,
    sensors: Sensors,
    writer: &'a mut Writer,
    watch: &'a mut dyn FnMut(BurnEvent<'_>),
    log: BurnLog,
    /// The moment when the work began. This moment and the next two are in ns of CLOCK_MONOTONIC.
    start: u64,
    /// The moment when the program was asked to rest.
    rested: Option<u64>,
    /// The moment of the program's last line.
    last_line: u64,
    /// Whole seconds that have passed: the sensors were read at the end of the last.
    seconds: u64,
    /// The second of the last sample in the journal.
    last_sample_second: u64,
    /// The report since the last sample.
    sample: Sample,
    /// The last reading of the sensors.
    reading: Reading,
    /// Passes that are over.
    passes: u64,
    is_enough: Option<IsEnough>,
    /// Every sample, for [`IsEnough`].
    samples: Vec<Sample>,
    /// The second in which it is asked next.
    next_look: u64,
}

impl<'a> Session<'a> {
    fn new(
        plan: &'a BurnIn,
        sensors: Sensors,
        writer: &'a mut Writer,
        watch: &'a mut dyn FnMut(BurnEvent<'_>),
    ) -> Session<'a> {
        Session {
            plan,
            sensors,
            writer,
            watch,
            log: BurnLog::default(),
            start: 0,
            rested: None,
            last_line: 0,
            seconds: 0,
            last_sample_second: 0,
            sample: Sample::default(),
            reading: Reading::default(),
            passes: 0,
            is_enough: None,
            samples: Vec::new(),
            next_look: 0,
        }
    }

    fn run(
        &mut self,
        supervisor: &mut Supervisor<'_>,
        test: &Test,
        command: Command<'_>,
    ) -> Result<Trial, Stop> {
        let mut words = vec![command.path.display().to_string()];
        words.extend(command.args.iter().map(|word| word.display().to_string()));
        (self.watch)(BurnEvent::Begin(words.join(" ")));

        let mut processes = Processes::default();
        processes.copies.push(supervisor.start(&command).map_err(Refusal::from)?);
        let burned = self.burn(supervisor, test, &mut processes);
        supervisor.end(&mut processes);
        burned
    }

    /// Has the program work and rest as planned, and makes a trial of its report.
    fn burn(
        &mut self,
        supervisor: &mut Supervisor<'_>,
        test: &Test,
        processes: &mut Processes,
    ) -> Result<Trial, Stop> {
        processes.copies[0].output.foreign = lines::WORDS;
        let setup =
            Setup { test, copies: Vec::new(), sides: Vec::new(), window: SHORT_WINDOW, threads: 1 };
        supervisor.wait_until_ready(&setup, processes, None)?;

        // The first sample is of the machine before it works.
        self.reading = self.sensors.read(0.0);
        let noise_before = sample(supervisor.machine);
        let tool_cpu_before = cpu_time_ns();
        self.start = monotonic_ns();
        self.last_line = self.start;
        self.add_sample(0.0, self.reading.clone())?;

        let program = &mut processes.copies[0];
        program.output.start = self.start;
        // A load's slice begins at `mark`: at once, so that it has all the work.
        program.send("go 0 0 0\nmark\n");
        let ended = loop {
            match self.step(supervisor, processes) {
                Ok(true) => {}
                Ok(false) => break self.finish(supervisor, &mut processes.copies[0]),
                Err(stop) => break Err(stop),
            }
        };
        self.add_last_sample()?;
        ended?;

        let copy = read_result(&processes.copies[0], test, supervisor.signals.stopped().is_some())?;
        let noise = noise(&noise_before, &sample(supervisor.machine));
        let tool_cpu = cpu_time_ns().saturating_sub(tool_cpu_before);
        Ok(Trial {
            copies: vec![copy],
            noise: Some(noise),
            tool_cpu_s: Some(tool_cpu as f64 / 1e9),
            ..Trial::default()
        })
    }

    /// Waits until a second has passed or the program prints, and deals with that. False if the
    /// burn-in is over.
    fn step(
        &mut self,
        supervisor: &Supervisor<'_>,
        processes: &mut Processes,
    ) -> Result<bool, Stop> {
        let second_end = self.next_second_end();
        let until = self.deadline().map_or(second_end, |deadline| deadline.min(second_end));
        let limit = Duration::from_nanos(until.saturating_sub(monotonic_ns()));
        let waited = supervisor.wait(processes, limit, |processes| {
            processes.all().any(|program| program.has_ended() || !program.output.lines.is_empty())
        });

        let program = &mut processes.copies[0];
        self.take_lines(program)?;
        let now = monotonic_ns();
        if self.log.latest() > now {
            return Err(Refusal::from(IN_THE_FUTURE).into());
        }
        if now >= second_end {
            self.end_second(now)?;
        }

        if waited == Waited::Stopped && supervisor.signals.stopped().is_none() {
            // The user pauses the run, and with it the work.
            program.signal(Signal::STOP);
            supervisor.pause();
            program.signal(Signal::CONT);
            self.last_line = monotonic_ns();
            return Ok(true);
        }
        if waited == Waited::Stopped || program.has_ended() || self.is_over(program, now) {
            return Ok(false);
        }

        if now - self.last_line > ns(supervisor.patience) {
            let seconds = supervisor.patience.as_secs();
            let text = format!(
                "it printed nothing for {seconds} s and was killed; --patience waits longer"
            );
            return Err(Refusal::from(text).into());
        }
        Ok(true)
    }

    fn next_second_end(&self) -> u64 {
        self.start + (self.seconds + 1) * SECOND_NS + TICK_DELAY_NS
    }

    /// The planned end of the work, or of the rest after it.
    fn deadline(&self) -> Option<u64> {
        if let Some(rested) = self.rested {
            return Some(rested + (self.plan.rest * 1e9) as u64);
        }

        let work_ns = (self.plan.seconds? * 1e9) as u64;
        Some(self.start + work_ns + TICK_DELAY_NS)
    }

    /// True if the burn-in is over. If only its work is, has the program rest.
    fn is_over(&mut self, program: &mut Program, now: u64) -> bool {
        if self.plan.passes.is_some_and(|passes| self.passes >= passes) || self.has_enough() {
            return true;
        }
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return false;
        }
        if self.rested.is_some() || self.plan.rest <= 0.0 {
            return true;
        }

        program.send("rest\n");
        self.rested = Some(now);
        (self.watch)(BurnEvent::Resting);
        false
    }

    /// True if the samples until now are enough; asked once in [`SECONDS_BETWEEN_LOOKS`].
    fn has_enough(&mut self) -> bool {
        let Some(is_enough) = self.is_enough.filter(|_| self.seconds >= self.next_look) else {
            return false;
        };

        self.next_look = self.seconds + SECONDS_BETWEEN_LOOKS;
        is_enough(self.plan, &self.samples)
    }

    /// Records the lines that the program has printed, with the seconds since the start. A line
    /// that breaks the protocol ends the burn-in.
    fn take_lines(&mut self, program: &mut Program) -> Result<(), Stop> {
        let lines = std::mem::take(&mut program.output.lines);
        let now = monotonic_ns();
        if !lines.is_empty() {
            self.last_line = now;
        }

        let at = self.seconds_since_start(now);
        for text in lines {
            let line =
                self.log.parse(&text, self.start).ok_or_else(|| Refusal::from(violation(&text)))?;
            self.sample.faults = self.log.faults;
            self.record(line, at)?;
        }
        Ok(())
    }

    /// Records a line that was read `at` this second since the work began.
    fn record(&mut self, line: BurnLine, at: f64) -> Result<()> {
        match line {
            BurnLine::Beat(beat) => self.sample.beats.push(beat),
            BurnLine::MoreFaults => {}
            BurnLine::Stage(stage) => {
                (self.watch)(BurnEvent::Stage(&stage));
                self.sample.stage = Some(stage);
            }
            BurnLine::Fault(fault) => {
                let fault = Fault { at, temperature: self.hottest_sensor(), ..fault };
                self.writer.append(&Record::Fault(Box::new(fault.clone())))?;
                (self.watch)(BurnEvent::Fault(&fault));
            }
            BurnLine::Pass(pass) => {
                let pass = Pass { at, ..pass };
                self.passes = pass.pass;
                self.writer.append(&Record::Pass(pass.clone()))?;
                (self.watch)(BurnEvent::Pass(&pass));
            }
            BurnLine::Shrunk { bytes, why } => {
                let bytes = words::bytes(bytes);
                let text = format!(
                    "after {at:.0} s the program gave memory back ({why}) and went on with {bytes}"
                );
                self.writer.append(&Record::Warning(Warning { cell: None, text: text.clone() }))?;
                (self.watch)(BurnEvent::Warning(&text));
            }
        }
        Ok(())
    }

    /// The name and temperature of the hottest sensor: one of the memory, else of the processor,
    /// else any.
    fn hottest_sensor(&self) -> Option<(String, f64)> {
        [Some(SensorKind::Memory), Some(SensorKind::Processor), None]
            .into_iter()
            .find_map(|kind| self.reading.hottest(kind))
            .map(|(name, celsius)| (name.to_owned(), celsius))
    }

    /// Reads the sensors at the end of a second. The sample goes to the journal and the display;
    /// that of a test of memory, in most seconds, to the display alone.
    fn end_second(&mut self, now: u64) -> Result<()> {
        self.seconds = (now - self.start - TICK_DELAY_NS) / SECOND_NS;
        let at = self.seconds_since_start(now);
        self.reading = self.sensors.read(at);

        let is_due = self.plan.kind != Burned::Memory
            || self.seconds >= self.last_sample_second + MEMORY_SAMPLE_SECONDS;
        if is_due {
            self.last_sample_second = self.seconds;
            return self.add_sample(at, self.reading.clone());
        }

        let sample = Sample { at, sensors: self.reading.clone(), ..self.sample.clone() };
        (self.watch)(BurnEvent::Second(&sample));
        Ok(())
    }

    /// Adds the report since the last sample to the journal, with this reading.
    fn add_sample(&mut self, at: f64, sensors: Reading) -> Result<()> {
        let next = Sample {
            stage: self.sample.stage.clone(),
            faults: self.sample.faults,
            ..Sample::default()
        };

        let sample = std::mem::replace(&mut self.sample, next);
        let sample = Sample { at, resting: self.rested.is_some(), sensors, ..sample };
        self.writer.append(&Record::Sample(Box::new(sample.clone())))?;
        (self.watch)(BurnEvent::Second(&sample));
        if self.is_enough.is_some() {
            self.samples.push(sample);
        }
        Ok(())
    }

    /// Adds the report since the last whole second.
    fn add_last_sample(&mut self) -> Result<()> {
        let now = monotonic_ns();
        // Sensors are read once a second at most.
        let reading = if now >= self.next_second_end() {
            self.sensors.read(self.seconds_since_start(now))
        } else {
            Reading::default()
        };
        self.add_sample(self.seconds_since_start(now), reading)
    }

    /// Has the program report and end.
    fn finish(&mut self, supervisor: &Supervisor<'_>, program: &mut Program) -> Result<(), Stop> {
        program.close_stdin();
        let is_stopped = supervisor.signals.stopped().is_some();
        let limit = if is_stopped { MAX_REPORT_TIME_STOPPED } else { MAX_REPORT_TIME };
        let began = Instant::now();
        while !program.has_ended() && began.elapsed() < limit {
            program.read_output();
            std::thread::sleep(Duration::from_millis(2));
        }
        // Once more: its last words may have come after its end was noticed.
        program.read_output();
        self.take_lines(program)?;
        if program.has_ended() {
            return Ok(());
        }

        if supervisor.signals.stopped().is_some() {
            return Err(Refusal::Stopped.into());
        }
        let why = "it did not end when its stdin was closed, and was killed";
        Err(Refusal::from(why).into())
    }

    /// Seconds since the work began, in whole milliseconds.
    fn seconds_since_start(&self, now: u64) -> f64 {
        (now.saturating_sub(self.start) as f64 / 1e6).round() / 1e3
    }
}

/// The program's report.
fn read_result(program: &Program, test: &Test, is_stopped: bool) -> Result<journal::Copy, Refusal> {
    let is_garbage = matches!(program.output.conclusion(), Conclusion::Garbage(_));
    // A program whose stdin closes at the wrong moment may end without a word.
    if is_stopped && is_garbage && !program.output.is_broken() && program.failure().is_none() {
        return Err(Refusal::Stopped);
    }

    let copy = reported_copies(program)?.swap_remove(0);
    // Wrong results are counted; only a missing count is a failure.
    if let Some(missing) = test.checks.keys().find(|name| !copy.checks.contains_key(*name)) {
        return Err(format!("its check value '{missing}' is missing").into());
    }
    Ok(copy)
}
