//! A burn-in: one program works until it is stopped, the sensors are read once a second, and what the program prints
//! goes to the journal at once.

mod lines;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;

use lines::{Line, Log};

use super::Outcome;
use super::program::{Command, Program};
use super::protocol::{Conclusion, violation};
use super::rig::{SHORT_WINDOW, add_cycles_argument, can_run};
use super::rounds::refused;
use super::supervisor::{IN_THE_FUTURE, Processes, Setup, Supervisor, Waited, cpu_time, monotonic, ns, result};
use build::Programs;
use catalogue::{Condition, Test};
use conditions::{Experiment, Refusal};
use journal::{
    BurnIn, Burned, Cell, Ended, Fault, Pass, Reading, Record, Sample, SensorKind, Stage, Trial, Warning, Writer,
};
use machine::{Machine, Sensors, noise, sample};

const SECOND: u64 = 1_000_000_000;

/// The tool's seconds end a little after the program's, so that a sample has the beats of its own second.
const LATER: u64 = SECOND / 10;

/// A test of memory may take days: a sample is kept once in this many seconds.
const MEMORY_KEEPS: u64 = 10;

/// The longest time that the program may take to report when its stdin has closed: much memory takes long to give back.
/// Whoever pressed Ctrl-C waits less.
const ENDS: Duration = Duration::from_secs(30);
const ENDS_AT_ONCE: Duration = Duration::from_secs(5);

/// The setting of a burn-in.
pub struct BurnSetting<'a> {
    /// The machine under test.
    pub machine: &'a Machine,
    /// The program's row.
    pub test: &'a Test,
    /// The programs; `None` if the test is the user's own.
    pub programs: Option<&'a Programs>,
    /// Under which directory the program works.
    pub dir: &'a Path,
    /// Cycles of a dependent addition on this machine's cores, by which programs measure their clock.
    pub add_cycles: u32,
    /// The longest silence of a program.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back even if the tool is killed.
    pub screen: Option<&'a Path>,
    /// The plan; the sensors' limits are filled in.
    pub plan: BurnIn,
}

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

/// Carries out a burn-in: all that is found goes to the journal, events to `watch`.
///
/// # Errors
/// The journal cannot be written, or there is no scratch directory. Whatever goes wrong with the program is an error
/// trial in the journal instead.
pub fn burn_in(
    setting: &BurnSetting<'_>,
    writer: &mut Writer,
    watch: &mut dyn FnMut(BurnEvent<'_>),
) -> Result<Outcome> {
    let BurnSetting { machine, test, .. } = *setting;
    let (patience, screen) = (setting.patience, setting.screen);
    let mut supervisor = Supervisor::new(machine, patience, setting.dir, screen, Experiment::passive())?;
    let sensors = Sensors::find(machine);
    let plan = BurnIn { limits: sensors.limits.clone(), ..setting.plan.clone() };
    writer.append(&Record::Cell(Box::new(Cell::new(0, test, 1, None, &Condition::none()))))?;
    writer.append(&Record::BurnIn(Box::new(plan.clone())))?;
    let folder = supervisor.scratch.trial()?;
    let mut session = Session::new(&plan, sensors, writer, watch);
    let result = match command(setting, &folder) {
        Ok(command) => session.run(&mut supervisor, test, command),
        Err(failure) => Err(failure.into()),
    };
    let trial = match result {
        Ok(trial) => Some(trial),
        Err(Stop::Journal(error)) => return Err(error),
        Err(Stop::Program(Refusal::Stopped)) => None,
        Err(Stop::Program(refusal)) => Some(refused(refusal)),
    };
    if let Some(trial) = trial {
        session.writer.append(&Record::Trial(Box::new(trial)))?;
    }
    let signal = supervisor.signals.stopped();
    Ok(Outcome::new(if signal.is_some() { Ended::Interrupted } else { Ended::Complete }, signal))
}

fn command<'f>(setting: &BurnSetting<'_>, folder: &'f Path) -> Result<Command<'f>, Refusal> {
    can_run(setting.machine, setting.test)?;
    let path = match setting.programs {
        _ if setting.test.is_foreign() => PathBuf::from(&setting.test.program),
        Some(programs) => programs.executable(setting.test, 0)?,
        None => return Err("its program was not built".into()),
    };
    let args = setting.plan.args.iter().cloned().chain(add_cycles_argument(setting.test, setting.add_cycles)).collect();
    Ok(Command { path, args, folder, environment: &[] })
}

/// Why a burn-in has no result: the program's fault, or the journal's, which ends the run.
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
    log: Log,
    /// The moments when the work began and was stopped.
    start: u64,
    rested: Option<u64>,
    /// The moment of the program's last line.
    last_line: u64,
    /// Whole seconds that have passed, and the last at which the sensors were read.
    seconds: u64,
    /// The second of the last sample of a test of memory that was kept.
    kept: u64,
    /// The report since the last sample, and the last reading.
    sample: Sample,
    reading: Reading,
    passes: u64,
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
            log: Log::default(),
            start: 0,
            rested: None,
            last_line: 0,
            seconds: 0,
            kept: 0,
            sample: Sample::default(),
            reading: Reading::default(),
            passes: 0,
        }
    }

    fn run(&mut self, supervisor: &mut Supervisor<'_>, test: &Test, command: Command<'_>) -> Result<Trial, Stop> {
        let mut words = vec![command.path.display().to_string()];
        words.extend(command.args.iter().cloned());
        (self.watch)(BurnEvent::Begin(words.join(" ")));
        let mut processes = Processes::default();
        processes.copies.push(supervisor.start(&command).map_err(Refusal::from)?);
        let result = self.burn(supervisor, test, &mut processes);
        supervisor.end(&mut processes);
        result
    }

    fn burn(&mut self, supervisor: &mut Supervisor<'_>, test: &Test, processes: &mut Processes) -> Result<Trial, Stop> {
        processes.copies[0].output.foreign = lines::WORDS;
        let setup = Setup { test, copies: Vec::new(), sides: Vec::new(), window: SHORT_WINDOW, threads: 1 };
        supervisor.wait_until_ready(&setup, processes)?;
        // What the machine is like before it works.
        self.reading = self.sensors.read(0.0);
        let before = (sample(supervisor.machine), cpu_time());
        self.start = monotonic();
        self.last_line = self.start;
        self.keep(0.0, self.reading.clone())?;
        let program = &mut processes.copies[0];
        program.output.start = self.start;
        // The slice it reports is that of all its work.
        program.send("go 0 0 0\nmark\n");
        let ended = loop {
            match self.step(supervisor, processes) {
                Ok(true) => {}
                Ok(false) => break self.finish(supervisor, &mut processes.copies[0]),
                Err(stop) => break Err(stop),
            }
        };
        self.keep_last()?;
        ended?;
        let copy = program_result(&processes.copies[0], test, supervisor.signals.stopped().is_some())?;
        let noise = noise(&before.0, &sample(supervisor.machine));
        let tool = cpu_time().saturating_sub(before.1) as f64 / 1e9;
        Ok(Trial { copies: vec![copy], noise: Some(noise), tool_cpu_s: Some(tool), ..Trial::default() })
    }

    /// Waits until a second has passed or the program prints; returns whether the burn-in continues.
    fn step(&mut self, supervisor: &Supervisor<'_>, processes: &mut Processes) -> Result<bool, Stop> {
        let next = self.next();
        let until = self.deadline().map_or(next, |deadline| deadline.min(next));
        let limit = Duration::from_nanos(until.saturating_sub(monotonic()));
        let awake =
            |processes: &Processes| processes.all().any(|program| program.ended() || !program.output.lines.is_empty());
        let waited = supervisor.wait(processes, limit, awake);
        let program = &mut processes.copies[0];
        self.take_lines(program)?;
        let now = monotonic();
        if self.log.latest() > now {
            return Err(Refusal::from(IN_THE_FUTURE).into());
        }
        if now >= next {
            self.tick(now)?;
        }
        if waited == Waited::Stopped && supervisor.signals.stopped().is_none() {
            // The user pauses the run, and with it the work.
            program.signal(Signal::STOP);
            supervisor.pause();
            program.signal(Signal::CONT);
            self.last_line = monotonic();
            return Ok(true);
        }
        if waited == Waited::Stopped || program.ended() || self.is_over(program, now) {
            return Ok(false);
        }
        if now - self.last_line > ns(supervisor.patience) {
            let seconds = supervisor.patience.as_secs();
            let text = format!("it printed nothing for {seconds} s and was killed; --patience waits longer");
            return Err(Refusal::from(text).into());
        }
        Ok(true)
    }

    /// Returns the end of the next second.
    fn next(&self) -> u64 {
        self.start + (self.seconds + 1) * SECOND + LATER
    }

    /// Returns the end of the work, or of the rest after it.
    fn deadline(&self) -> Option<u64> {
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        match self.rested {
            Some(rested) => Some(rested + ns(self.plan.rest)),
            None => self.plan.seconds.map(|seconds| self.start + ns(seconds) + LATER),
        }
    }

    /// Returns true if all is done; has the program rest if that comes next.
    fn is_over(&mut self, program: &mut Program, now: u64) -> bool {
        if self.plan.passes.is_some_and(|passes| self.passes >= passes) {
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

    /// Takes in what the program printed.
    fn take_lines(&mut self, program: &mut Program) -> Result<(), Stop> {
        let lines = std::mem::take(&mut program.output.lines);
        let now = monotonic();
        if !lines.is_empty() {
            self.last_line = now;
        }
        let at = self.seconds_since_start(now);
        for text in lines {
            let line = self.log.parse(&text, self.start).ok_or_else(|| Refusal::from(violation(&text)))?;
            self.sample.faults = self.log.faults;
            self.record(line, at)?;
        }
        Ok(())
    }

    fn record(&mut self, line: Line, at: f64) -> Result<()> {
        match line {
            Line::Beat(beat) => self.sample.beats.push(beat),
            Line::MoreFaults => {}
            Line::Stage(stage) => {
                (self.watch)(BurnEvent::Stage(&stage));
                self.sample.stage = Some(stage);
            }
            Line::Fault(fault) => {
                let fault = Fault { at, temperature: self.hottest(), ..fault };
                self.writer.append(&Record::Fault(Box::new(fault.clone())))?;
                (self.watch)(BurnEvent::Fault(&fault));
            }
            Line::Pass(pass) => {
                let pass = Pass { at, ..pass };
                self.passes = pass.pass;
                self.writer.append(&Record::Pass(pass.clone()))?;
                (self.watch)(BurnEvent::Pass(&pass));
            }
            Line::Shrunk(bytes, why) => {
                let bytes = words::bytes(bytes);
                let text = format!("after {at:.0} s the program gave memory back ({why}) and went on with {bytes}");
                self.writer.append(&Record::Warning(Warning { cell: None, text: text.clone() }))?;
                (self.watch)(BurnEvent::Warning(&text));
            }
        }
        Ok(())
    }

    /// The memory's own sensor that is hottest, or the processor's.
    fn hottest(&self) -> Option<(String, f64)> {
        let hottest =
            |kind: Option<SensorKind>| self.reading.hottest(kind).map(|(name, celsius)| (name.to_owned(), celsius));
        let kinds = [Some(SensorKind::Memory), Some(SensorKind::Processor), None];
        kinds.into_iter().find_map(hottest)
    }

    /// A second has passed.
    fn tick(&mut self, now: u64) -> Result<()> {
        self.seconds = (now - self.start - LATER) / SECOND;
        let at = self.seconds_since_start(now);
        self.reading = self.sensors.read(at);
        if self.plan.kind == Burned::Cooling || self.seconds >= self.kept + MEMORY_KEEPS {
            self.kept = self.seconds;
            return self.keep(at, self.reading.clone());
        }
        let sample = Sample { at, sensors: self.reading.clone(), ..self.sample.clone() };
        (self.watch)(BurnEvent::Second(&sample));
        Ok(())
    }

    /// Keeps a sample.
    fn keep(&mut self, at: f64, sensors: Reading) -> Result<()> {
        let next = Sample { stage: self.sample.stage.clone(), faults: self.sample.faults, ..Sample::default() };
        let sample = std::mem::replace(&mut self.sample, next);
        let sample = Sample { at, resting: self.rested.is_some(), sensors, ..sample };
        self.writer.append(&Record::Sample(Box::new(sample.clone())))?;
        (self.watch)(BurnEvent::Second(&sample));
        Ok(())
    }

    /// Keeps what came after the last second.
    fn keep_last(&mut self) -> Result<()> {
        let now = monotonic();
        // Nobody asks the sensors more often than once a second.
        let reading =
            if now >= self.next() { self.sensors.read(self.seconds_since_start(now)) } else { Reading::default() };
        self.keep(self.seconds_since_start(now), reading)
    }

    /// Has the program report and end.
    fn finish(&mut self, supervisor: &Supervisor<'_>, program: &mut Program) -> Result<(), Stop> {
        program.close_stdin();
        let limit = if supervisor.signals.stopped().is_some() { ENDS_AT_ONCE } else { ENDS };
        let began = Instant::now();
        while !program.ended() && began.elapsed() < limit {
            program.read_output();
            std::thread::sleep(Duration::from_millis(2));
        }
        // What it prints and how it ends may come in two pieces.
        program.read_output();
        self.take_lines(program)?;
        if program.ended() {
            return Ok(());
        }
        let stopped = supervisor.signals.stopped().map(|_| Refusal::Stopped);
        Err(stopped.unwrap_or_else(|| "it did not end when its stdin was closed, and was killed".into()).into())
    }

    /// Seconds since the work began.
    fn seconds_since_start(&self, now: u64) -> f64 {
        (now.saturating_sub(self.start) as f64 / 1e6).round() / 1e3
    }
}

/// Returns what the program reported.
fn program_result(program: &Program, test: &Test, stopped: bool) -> Result<journal::Copy, Refusal> {
    let is_garbage = matches!(program.output.conclusion(), Conclusion::Garbage(_));
    // A program whose stdin closes at the wrong moment may end without a word.
    if stopped && is_garbage && !program.output.is_broken() && program.failure().is_none() {
        return Err(Refusal::Stopped);
    }
    let copy = result(program)?.swap_remove(0);
    // Wrong results are counted; only a missing count is a failure.
    if let Some(missing) = test.checks.keys().find(|name| !copy.checks.contains_key(*name)) {
        return Err(format!("its check value '{missing}' is missing").into());
    }
    Ok(copy)
}
