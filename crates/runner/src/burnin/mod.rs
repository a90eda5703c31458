//! A burn-in: one program works until told, the sensors are read once a second, and whatever is said goes to the journal at once.

mod lines;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Result;

pub use lines::{Log, Told};

use super::program::Program;
use super::protocol::Said;
use super::trial::{Bench, Cast, Command, Failure, Scene, Waited, blame, cpu_time, monotonic};
use super::{NAMED_WINDOW, Outcome, can_run, wards};
use build::Programs;
use catalogue::{NONE, Test};
use journal::{BurnIn, Burned, Cell, Fault, Pass, Record, Sample, Stage, Trial, Warning, Writer};
use machine::{Machine, Noise, Reading, Sensors, is_of_processor, sample};

const SECOND: u64 = 1_000_000_000;

/// The tool's seconds end a little after the program's, so that a sample has the beats of its own second.
const LATER: u64 = SECOND / 10;

/// A test of memory may take days: of its seconds, so many go by between those that are kept.
const MEMORY_KEEPS: u64 = 10;

/// How long the program may take to report when its stdin has closed: much memory takes long to give back. Whoever pressed
/// Ctrl-C waits less.
const ENDS: Duration = Duration::from_secs(30);
const ENDS_AT_ONCE: Duration = Duration::from_secs(5);

/// What a burn-in needs.
pub struct BurnSetting<'a> {
    /// The machine under test.
    pub machine: &'a Machine,
    /// The program's row.
    pub test: &'a Test,
    /// The programs, or one of the user's own.
    pub programs: Option<&'a Programs>,
    /// `--program`: an executable in place of the catalogue's.
    pub own: Option<&'a Path>,
    /// Under which directory the program works.
    pub dir: &'a Path,
    /// How long a silent program is waited for.
    pub patience: Duration,
    /// The terminal that is drawn on as a whole, to be given back also where the tool is killed.
    pub screen: Option<PathBuf>,
    /// What to do; the sensors' limits are filled in.
    pub asked: BurnIn,
}

/// What happens during a burn-in, for whoever shows it.
#[derive(Debug)]
pub enum Burning<'a> {
    /// The program is about to be started, with this command line.
    Begin(String),
    /// A second has passed.
    Second(&'a Sample),
    /// The test of memory goes on to this.
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
/// The journal cannot be written, or there is no scratch directory. Whatever goes wrong with the program is an error trial in
/// the journal instead.
pub fn burn_in(setting: &BurnSetting<'_>, writer: &mut Writer, watch: &mut dyn FnMut(Burning<'_>)) -> Result<Outcome> {
    let (signals, scratch, mut guardian) = wards(setting.dir, setting.screen.as_deref())?;
    let BurnSetting { machine, test, patience, .. } = *setting;
    let mut bench = Bench { machine, signals: &signals, guardian: &mut guardian, patience };
    let sensors = Sensors::find(machine);
    let asked = BurnIn { limits: sensors.limits().clone(), ..setting.asked.clone() };
    writer.append(&Record::Cell(Box::new(Cell::new(0, test, 1, None, NONE))))?;
    writer.append(&Record::BurnIn(Box::new(asked.clone())))?;
    let folder = scratch.trial()?;
    let mut fire = Fire::new(&asked, sensors, writer, watch);
    let result = match command(setting, &folder) {
        Ok(command) => fire.run(&mut bench, test, command),
        Err(failure) => Err(failure.into()),
    };
    let trial = match result {
        Ok(trial) => Some(trial),
        Err(Stop::Journal(error)) => return Err(error),
        Err(Stop::Program(Failure::Stopped)) => None,
        Err(Stop::Program(Failure::Skip(reason))) => Some(Trial { skip: Some(reason), ..Trial::default() }),
        Err(Stop::Program(Failure::Error(reason) | Failure::Fatal(reason))) => {
            Some(Trial { error: Some(reason), ..Trial::default() })
        }
    };
    if let Some(trial) = trial {
        fire.writer.append(&Record::Trial(Box::new(trial)))?;
    }
    Ok(match bench.signals.stopped() {
        Some(signal) => Outcome::Stopped(signal),
        None => Outcome::Complete,
    })
}

fn command<'f>(setting: &BurnSetting<'_>, folder: &'f Path) -> Result<Command<'f>, Failure> {
    can_run(setting.test)?;
    let path = match (setting.own, setting.programs) {
        (Some(own), _) => own.to_path_buf(),
        (None, Some(programs)) => programs.executable(setting.test, 0).map_err(|error| format!("{error:#}"))?,
        (None, None) => return Err(Failure::Error("its program was not built".to_owned())),
    };
    Ok(Command { path, args: setting.asked.args.clone(), folder, environment: &[] })
}

/// Why a burn-in has no result: the program's fault, or the journal's, which ends the run.
enum Stop {
    Program(Failure),
    Journal(anyhow::Error),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Program(failure)
    }
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Stop {
        Stop::Journal(error)
    }
}

/// A burn-in that goes on.
struct Fire<'a> {
    asked: &'a BurnIn,
    sensors: Sensors,
    writer: &'a mut Writer,
    watch: &'a mut dyn FnMut(Burning<'_>),
    /// When the work began, and when it was stopped.
    start: u64,
    rested: Option<u64>,
    /// When the program said anything last.
    heard: u64,
    /// Whole seconds that have passed, and the last at which the sensors were read.
    seconds: u64,
    /// The second of the last sample of a test of memory that was kept.
    kept: u64,
    /// What was told since the last sample, and the last reading.
    sample: Sample,
    reading: Reading,
    passes: u64,
}

impl<'a> Fire<'a> {
    fn new(
        asked: &'a BurnIn,
        sensors: Sensors,
        writer: &'a mut Writer,
        watch: &'a mut dyn FnMut(Burning<'_>),
    ) -> Fire<'a> {
        Fire {
            asked,
            sensors,
            writer,
            watch,
            start: 0,
            rested: None,
            heard: 0,
            seconds: 0,
            kept: 0,
            sample: Sample::default(),
            reading: Reading::default(),
            passes: 0,
        }
    }

    fn run(&mut self, bench: &mut Bench<'_>, test: &Test, command: Command<'_>) -> Result<Trial, Stop> {
        let mut words = vec![command.path.display().to_string()];
        words.extend(command.args.iter().cloned());
        (self.watch)(Burning::Begin(words.join(" ")));
        let mut cast = Cast::default();
        cast.copies.push(bench.start(&command).map_err(Failure::Error)?);
        let result = self.burn(bench, test, &mut cast);
        for program in cast.all_mut() {
            program.end();
            let _ = bench.guardian.forget(program.group());
        }
        result
    }

    fn burn(&mut self, bench: &mut Bench<'_>, test: &Test, cast: &mut Cast) -> Result<Trial, Stop> {
        cast.copies[0].speech_mut().expect_burnin();
        let scene = Scene { test, copies: Vec::new(), load: None, companion: None, window: NAMED_WINDOW, threads: 1 };
        bench.wait_until_ready(&scene, cast)?;
        // What the machine is like before it works.
        self.reading = self.sensors.read(0.0);
        let before = (sample(bench.machine), cpu_time());
        self.start = monotonic();
        self.heard = self.start;
        self.keep(0.0, self.reading.clone())?;
        let program = &mut cast.copies[0];
        program.begin(self.start);
        // The slice it reports is that of all its work.
        program.tell("go 0 0 0\nmark\n");
        let ended = loop {
            match self.step(bench, cast) {
                Ok(true) => {}
                Ok(false) => break self.finish(bench, &mut cast.copies[0]),
                Err(stop) => break Err(stop),
            }
        };
        self.keep_last()?;
        ended?;
        let copy = concluded(&cast.copies[0], test, bench.signals.stopped().is_some())?;
        let noise = Noise::between(&before.0, &sample(bench.machine));
        let tool = cpu_time().saturating_sub(before.1) as f64 / 1e9;
        Ok(Trial { copies: vec![copy], noise: Some(noise), tool_cpu_s: Some(tool), ..Trial::default() })
    }

    /// Waits until a second has passed or something is said; returns whether it goes on.
    fn step(&mut self, bench: &Bench<'_>, cast: &mut Cast) -> Result<bool, Stop> {
        let next = self.next();
        let until = self.deadline().map_or(next, |deadline| deadline.min(next));
        let limit = Duration::from_nanos(until.saturating_sub(monotonic()));
        let awake = |cast: &Cast| cast.copies.iter().any(|program| program.ended() || program.speech().is_pending());
        let waited = bench.wait(cast, limit, awake);
        let program = &mut cast.copies[0];
        self.take_in(program)?;
        let now = monotonic();
        if program.speech_mut().burnin().is_some_and(|log| log.latest() > now) {
            return Err(Failure::Error("it reports time that has not passed yet".to_owned()).into());
        }
        if now >= next {
            self.tick(now)?;
        }
        if waited == Waited::Stopped || program.ended() || self.is_over(program, now) {
            return Ok(false);
        }
        if now - self.heard > u64::try_from(bench.patience.as_nanos()).unwrap_or(u64::MAX) {
            let seconds = bench.patience.as_secs();
            let text = format!("it said nothing for {seconds} s and was killed; --patience waits longer");
            return Err(Failure::Error(text).into());
        }
        Ok(true)
    }

    /// When the next second ends.
    fn next(&self) -> u64 {
        self.start + (self.seconds + 1) * SECOND + LATER
    }

    /// When the work, or the rest after it, is over.
    fn deadline(&self) -> Option<u64> {
        let ns = |seconds: f64| (seconds * 1e9) as u64;
        match self.rested {
            Some(rested) => Some(rested + ns(self.asked.rest)),
            None => self.asked.seconds.map(|seconds| self.start + ns(seconds) + LATER),
        }
    }

    /// Whether it has done what was asked; has the program rest where that comes next.
    fn is_over(&mut self, program: &mut Program, now: u64) -> bool {
        if self.asked.passes.is_some_and(|passes| self.passes >= passes) {
            return true;
        }
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return false;
        }
        if self.rested.is_some() || self.asked.rest <= 0.0 {
            return true;
        }
        program.tell("rest\n");
        self.rested = Some(now);
        (self.watch)(Burning::Resting);
        false
    }

    /// Takes in what the program said.
    fn take_in(&mut self, program: &mut Program) -> Result<()> {
        let Some(log) = program.speech_mut().burnin() else { return Ok(()) };
        self.sample.faults = log.faults();
        let told = log.told();
        if !told.is_empty() {
            self.heard = monotonic();
        }
        let at = self.at(monotonic());
        for told in told {
            self.one(told, at)?;
        }
        Ok(())
    }

    fn one(&mut self, told: Told, at: f64) -> Result<()> {
        match told {
            Told::Beat(beat) => self.sample.beats.push(beat),
            Told::Faults => {}
            Told::Stage(stage) => {
                (self.watch)(Burning::Stage(&stage));
                self.sample.stage = Some(stage);
            }
            Told::Fault(fault) => {
                let fault = Fault { at, temperature: self.hottest(), ..fault };
                self.writer.append(&Record::Fault(Box::new(fault.clone())))?;
                (self.watch)(Burning::Fault(&fault));
            }
            Told::Pass(pass) => {
                let pass = Pass { at, ..pass };
                self.passes = pass.pass;
                self.writer.append(&Record::Pass(pass.clone()))?;
                (self.watch)(Burning::Pass(&pass));
            }
            Told::Shrunk(bytes, why) => {
                let bytes = words::bytes(bytes);
                let text = format!("after {at:.0} s the program gave memory back ({why}) and went on with {bytes}");
                self.writer.append(&Record::Warning(Warning { cell: None, text: text.clone() }))?;
                (self.watch)(Burning::Warning(&text));
            }
        }
        Ok(())
    }

    /// The memory's own sensor that is hottest, or the processor's.
    fn hottest(&self) -> Option<(String, f64)> {
        let of_memory = |name: &str| name.starts_with("jc42") || name.starts_with("spd5118");
        let most = |wanted: &dyn Fn(&str) -> bool| {
            let sensors = self.reading.temperature.iter().filter(|(name, _)| wanted(name));
            sensors.max_by(|a, b| a.1.total_cmp(b.1)).map(|(name, celsius)| (name.clone(), *celsius))
        };
        most(&of_memory).or_else(|| most(&is_of_processor)).or_else(|| most(&|_| true))
    }

    /// A second has passed.
    fn tick(&mut self, now: u64) -> Result<()> {
        self.seconds = (now - self.start - LATER) / SECOND;
        let at = self.at(now);
        self.reading = self.sensors.read(at);
        if self.asked.kind == Burned::Cooling || self.seconds >= self.kept + MEMORY_KEEPS {
            self.kept = self.seconds;
            return self.keep(at, self.reading.clone());
        }
        let sample = Sample { at, sensors: self.reading.clone(), ..self.sample.clone() };
        (self.watch)(Burning::Second(&sample));
        Ok(())
    }

    /// Keeps a sample.
    fn keep(&mut self, at: f64, sensors: Reading) -> Result<()> {
        let next = Sample { stage: self.sample.stage.clone(), faults: self.sample.faults, ..Sample::default() };
        let sample = std::mem::replace(&mut self.sample, next);
        let sample = Sample { at, resting: self.rested.is_some(), sensors, ..sample };
        self.writer.append(&Record::Sample(Box::new(sample.clone())))?;
        (self.watch)(Burning::Second(&sample));
        Ok(())
    }

    /// Keeps what came after the last second.
    fn keep_last(&mut self) -> Result<()> {
        let now = monotonic();
        // Nobody asks the sensors more often than once a second.
        let reading = if now >= self.next() { self.sensors.read(self.at(now)) } else { Reading::default() };
        self.keep(self.at(now), reading)
    }

    /// Has the program report and end.
    fn finish(&mut self, bench: &Bench<'_>, program: &mut Program) -> Result<(), Stop> {
        program.hush();
        let limit = if bench.signals.stopped().is_some() { ENDS_AT_ONCE } else { ENDS };
        let began = Instant::now();
        while !program.ended() && began.elapsed() < limit {
            program.listen();
            std::thread::sleep(Duration::from_millis(2));
        }
        // What it says and how it ends may come in two pieces.
        program.listen();
        self.take_in(program)?;
        if program.ended() {
            return Ok(());
        }
        match bench.signals.stopped() {
            Some(_) => Err(Failure::Stopped.into()),
            None => Err(Failure::Error("it did not end when told to and was killed".to_owned()).into()),
        }
    }

    /// Seconds since the work began.
    fn at(&self, now: u64) -> f64 {
        (now.saturating_sub(self.start) as f64 / 1e6).round() / 1e3
    }
}

/// Returns what the program reported.
fn concluded(program: &Program, test: &Test, stopped: bool) -> Result<journal::Copy, Failure> {
    let copy = match program.speech().conclusion() {
        Said::Done(mut copies) => copies.swap_remove(0),
        Said::Skip(reason) => return Err(Failure::Skip(reason)),
        Said::Error(reason) => return Err(Failure::Error(reason)),
        // A program whose stdin closes at the wrong moment may end without a word.
        Said::Garbage(_) if stopped && !program.speech().is_broken() && program.failure().is_none() => {
            return Err(Failure::Stopped);
        }
        Said::Garbage(why) => return Err(Failure::Error(blame(program, why))),
    };
    if let Some(why) = program.failure() {
        return Err(Failure::Error(why));
    }
    // What is found wrong is counted; only that nobody counted would be a failure.
    if let Some(missing) = test.checks.keys().find(|name| !copy.checks.contains_key(*name)) {
        return Err(Failure::Error(format!("its check value '{missing}' is missing")));
    }
    Ok(copy)
}
