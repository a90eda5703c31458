//! The bench that spawns: turns a cell into executables, arguments and directories, under the
//! cell's condition.
//!
//! A condition that is entered gives a [`Staging`]: arguments, control groups, a directory, another
//! build or a starter for the programs. It applies to the copies, the load's own condition to the
//! load. Everything outside the cells (named scores, --cleanup, counting, sampling) is executed in
//! a short window and under no condition.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::printed;
use super::program::{Command, LANGUAGE};
use super::rounds::{Bench, Closing};
use super::supervisor::{Patience, Role, SHORT_WINDOW, Setup, Side, Supervisor};
use super::{Setting, Slow, sampled};
use build::{Programs, graphics};
use catalogue::{BuildStep, Condition, Copies, GRAPHICS, Test};
use conditions::{Entered, Experiment, Refusal, Staging};
use display::Variable;
use journal::{Copy, Fact, Profile, StartTimes, Trial};
use machine::Machine;
use plan::{Cell, Window};
use processes::Children;

/// A command that goes on for longer after its window is reported. With a budget it is the budget's
/// rest, but not less than the minimum.
const COMMAND_PATIENCE: Duration = Duration::from_secs(60);
const MIN_COMMAND_PATIENCE: Duration = Duration::from_secs(5);

/// The user's own language, which the user's commands keep.
static OWN_LANGUAGE: LazyLock<[Variable; 1]> =
    LazyLock::new(|| [(LANGUAGE, std::env::var(LANGUAGE).ok())]);

/// Measures trials on this machine. When it is dropped, the changes of conditions are undone, then
/// the guardian is dismissed.
pub struct Rig<'a> {
    setting: &'a Setting<'a>,
    supervisor: Supervisor<'a>,
    /// Scores that arguments name as `{ID}`, by this id.
    scores: BTreeMap<String, String>,
    /// The names of the figures that commands have printed.
    figures: printed::FigureNames,
    began: Instant,
    /// How often the memory of several sandboxes was read, by condition.
    memory_readings: BTreeMap<String, u32>,
}

/// The condition that drops programs of sandboxes from the page cache.
const COLD: &str = "cold";

/// The numbers of sandboxes, next to each other, whose memory is read.
const SANDBOXES: [u32; 3] = [1, 4, 16];

/// Their memory is read so often for a condition: it differs little from time to time, and 21
/// sandboxes take a while to start and to stop.
const MAX_MEMORY_READINGS: u32 = 1;

impl Bench for Rig<'_> {
    fn begin(&mut self) -> Vec<Fact> {
        self.supervisor.idle_power()
    }

    fn end(&mut self, tell: &mut dyn FnMut(&Slow)) -> Closing {
        let mut closing = self.clean_up_after_commands(tell);
        // After --cleanup, which may have been there to end a server.
        self.supervisor.end_servers();
        closing.remarks.extend(self.supervisor.end_energy());
        closing
    }

    fn measure(
        &mut self,
        cell: &Cell,
        tell: &mut dyn FnMut(&Slow),
    ) -> anyhow::Result<Result<Trial, Refusal>> {
        let budget = self.setting.plan.timed_budget();
        let left = budget.map_or(COMMAND_PATIENCE, |budget| budget.saturating_sub(self.elapsed()));
        let patience = Patience { time: left.max(MIN_COMMAND_PATIENCE), tell };

        let trial = self
            .trial_folder(cell)
            .and_then(|folder| self.measure_under_condition(cell, &folder, patience));
        let leaving = Instant::now();
        self.supervisor.experiment.leave()?;
        let leave_ms = milliseconds(leaving.elapsed());

        let Ok(mut trial) = trial else { return Ok(trial) };
        if let Some(start) = &mut trial.start {
            start.leave_ms = leave_ms;
            let memory = self.memory_of_several(cell);
            self.supervisor.experiment.leave()?;
            match memory {
                Ok(memory) => start.memory = memory,
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
        Ok(Ok(trial))
    }

    fn pause(&mut self) -> bool {
        let is_wanted = self.supervisor.signals.wants_pause() && self.signal().is_none();
        if is_wanted {
            self.supervisor.pause();
        }
        is_wanted
    }

    fn build(&mut self, step: &BuildStep) -> Result<(), Refusal> {
        let words: Vec<&str> = step.words.iter().map(String::as_str).collect();
        self.supervisor.execute(&words, &step.folder)?;
        Ok(())
    }

    fn count(&mut self, cell: &Cell) -> Result<Vec<Copy>, Refusal> {
        let Some(test) = cell.test.counting.as_deref() else {
            return Ok(Vec::new());
        };
        Ok(self.measure_outside_cells(test, &[], test.arms.max(1), None)?.copies)
    }

    fn sample(&mut self, cell: &Cell, time: Duration) -> Result<Vec<Profile>, Refusal> {
        let Some(test) = cell.test.sampling.as_deref() else {
            return Ok(Vec::new());
        };
        let time = format!("time={}", time.as_millis());
        let trial = self.measure_outside_cells(test, &[time], test.arms.max(1), None)?;
        let folder = self.supervisor.scratch.kept_folder(&kept_folder_name(test))?;
        Ok(sampled::read(&trial, &folder, self.setting.machine)?)
    }

    fn measure_named(&mut self, test: &Test) -> Result<f64, Refusal> {
        let score = self.measure_alone(test);
        let text = match &score {
            Ok(score) => format!("{score:.0}"),
            // Programs that are given 0 measure their own.
            Err(_) => "0".to_owned(),
        };
        self.scores.insert(test.id.clone(), text);
        score
    }

    fn command_line(&self, cell: &Cell) -> String {
        let program = if cell.test.is_foreign() { &cell.test.program } else { cell.test.binary() };
        let mut words = vec![program.to_owned()];
        words.extend(self.fill_in_arguments(&cell.test, &cell.args, cell.copies));
        words.join(" ")
    }

    fn rest(&mut self) -> bool {
        self.supervisor.rest()
    }

    fn sleep_until(&mut self, due: Duration) -> bool {
        self.supervisor.sleep(due.saturating_sub(self.elapsed()))
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.supervisor.paused.get())
    }

    fn signal(&self) -> Option<i32> {
        self.supervisor.signals.stopped()
    }
}

impl<'a> Rig<'a> {
    /// Makes a bench that is ready to measure.
    ///
    /// # Errors
    /// The scratch directory cannot be made, the guardian cannot be started, or the meter gives no
    /// reading.
    pub fn new(setting: &'a Setting<'a>, experiment: Experiment) -> anyhow::Result<Rig<'a>> {
        let Setting { machine, patience, dir, .. } = *setting;
        let mut supervisor = Supervisor::new(machine, patience, dir, setting.screen, experiment)?;
        supervisor.find_energy(setting.meter)?;
        Ok(Rig {
            setting,
            supervisor,
            scores: BTreeMap::new(),
            figures: printed::FigureNames::default(),
            began: Instant::now(),
            memory_readings: BTreeMap::new(),
        })
    }

    /// Measures one copy of a test in a short window and returns its value; 0 of a test without.
    fn measure_alone(&mut self, test: &Test) -> Result<f64, Refusal> {
        let folder = self.supervisor.scratch.empty_trial_folder()?;
        let path = self.executable(test, 0, &Staging::default())?;
        let args = os_words(self.fill_in_arguments(test, &test.args, 1));
        let command = Command { path, args, folder: Some(&folder), environment: &[] };

        // A value may be a rate in the window (`opens-capacity`), which needs a longer one than a
        // value that is known before the window.
        let window = Window { slices: 5, ..SHORT_WINDOW };
        let setup = Setup::alone(test, command, window);
        let trial = self.supervisor.measure(&setup, &mut Entered::default(), None)?;

        let value = test.value.as_deref().and_then(|name| trial.copies.first()?.values.get(name));
        Ok(value.map_or(0.0, |(number, _unit)| *number))
    }

    /// Executes the commands of --cleanup, unless the run is stopped.
    fn clean_up_after_commands(&mut self, tell: &mut dyn FnMut(&Slow)) -> Closing {
        let cells = self.setting.plan.cells.iter().filter(|cell| cell.test.cleans);
        let mut tests: Vec<&Test> = cells.map(|cell| &*cell.test).collect();
        tests.dedup_by_key(|test| &test.id);

        let mut closing = Closing::default();
        for test in tests {
            match self.clean_up_after(test, tell) {
                Ok(()) => {}
                Err(Refusal::Stopped) => closing.is_cut_short = true,
                Err(why) => closing.failures.push(why.to_string()),
            }
        }
        closing.failures.dedup();
        closing
    }

    /// Executes a test's --cleanup, and again after a pause, which ends it.
    fn clean_up_after(&mut self, test: &Test, tell: &mut dyn FnMut(&Slow)) -> Result<(), Refusal> {
        loop {
            let patience = Patience { time: COMMAND_PATIENCE, tell: &mut *tell };
            match self.measure_outside_cells(test, &["end=1".to_owned()], 1, Some(patience)) {
                Err(Refusal::Stopped) if self.pause() => {}
                cleaned => return cleaned.map(drop),
            }
        }
    }

    /// Measures a trial of a test of commands outside the cells, with `more` arguments. Its program
    /// reports `threads` copies.
    fn measure_outside_cells(
        &mut self,
        test: &Test,
        more: &[String],
        threads: u32,
        patience: Option<Patience<'_>>,
    ) -> Result<Trial, Refusal> {
        let folder = self.supervisor.scratch.kept_folder(&kept_folder_name(test))?;
        let path = self.executable(test, 0, &Staging::default())?;
        let args = self.fill_in_arguments(test, &[&test.args, more].concat(), 1);
        let command = self.place_program(test, path, args, &folder, &Staging::default());
        let setup = Setup { threads, ..Setup::alone(test, command, SHORT_WINDOW) };
        self.supervisor.measure(&setup, &mut Entered::default(), patience)
    }

    /// The directory in which a cell's copies work: kept for the run, or empty for each trial.
    fn trial_folder(&self, cell: &Cell) -> Result<PathBuf, Refusal> {
        let scratch = &self.supervisor.scratch;
        let folder = if cell.test.keep {
            scratch.kept_folder(&kept_folder_name(&cell.test))?
        } else {
            scratch.empty_trial_folder()?
        };
        Ok(folder)
    }

    /// Enters the conditions of a cell and of its load, and measures a trial. The caller leaves the
    /// conditions.
    fn measure_under_condition(
        &mut self,
        cell: &Cell,
        folder: &Path,
        patience: Patience<'_>,
    ) -> Result<Trial, Refusal> {
        let mut entered = self.enter(&cell.condition, "condition", folder)?;
        let load_entered = self.enter(&cell.load_condition, "load-condition", folder)?;
        let load_staging = entered.add_load(load_entered, self.setting.machine)?;
        let staging = std::mem::take(&mut entered.staging);
        let start_time = staging.start_time;
        let folder = staging.folder.as_deref().unwrap_or(folder);

        let load_folder = self.load_folder(cell, &load_staging)?;
        let load = cell.load.as_deref().map(|load| {
            self.load_side(cell, load, &load_folder, &load_staging)
                .map_err(|failure| Role::Load.blame(load, failure))
        });
        let companion = staging
            .companion
            .as_ref()
            .map(|companion| self.companion_side(cell, companion, folder));
        // Before the sides are unwrapped: if the copies cannot run, that is the reason to report.
        let copies = self.copy_commands(cell, folder, &staging)?;
        let setup = Setup {
            test: &cell.test,
            copies,
            sides: load.into_iter().chain(companion).collect::<Result<_, _>>()?,
            window: cell.window,
            threads: cell.reports(),
        };

        let mut trial = self.supervisor.measure(&setup, &mut entered, Some(patience))?;
        if self.setting.plan.times_starts {
            let enter_ms = milliseconds(start_time);
            let ready_ms = milliseconds(self.supervisor.ready_time);
            let runs = cell.condition.parts.iter().any(|(switch, _)| switch.stays);
            trial.start =
                Some(Box::new(StartTimes { enter_ms, ready_ms, runs, ..StartTimes::default() }));
        }
        if let Some(figures) = self.setting.figures {
            let arms = self.setting.plan.arms.conditions().map(|arm| arm.name.as_str());
            let names: Vec<&str> =
                if cell.test.arms > 0 { arms.collect() } else { vec![&cell.test.label] };
            printed::add(&mut trial, folder, &names, figures, &mut self.figures)?;
        }
        Ok(trial)
    }

    /// The memory in KiB of each number of [`SANDBOXES`] of a cell's condition; empty after its
    /// first trial. If one cannot be entered or read, the caller leaves those that were entered.
    fn memory_of_several(&mut self, cell: &Cell) -> Result<Vec<(u32, u64)>, Refusal> {
        // A sandbox takes the same memory whether or not its programs are in the page cache.
        if cell.condition.parts.iter().any(|(switch, _)| switch.id == COLD) {
            return Ok(Vec::new());
        }
        let readings = self.memory_readings.entry(cell.condition.name.clone()).or_default();
        *readings += 1;
        if *readings > MAX_MEMORY_READINGS {
            return Ok(Vec::new());
        }

        let folder = self.trial_folder(cell)?;
        let mut memory = Vec::new();
        for number in SANDBOXES {
            let before = Children::now();
            let mut prefixes = Vec::new();
            for _ in 0..number {
                let entered = self.enter(&cell.condition, "condition", &folder)?;
                prefixes.push(os_words(entered.staging.prefix));
            }
            let kib =
                self.supervisor.read_sandbox_memory((&cell.test, &folder), &prefixes, &before)?;
            let left = self.supervisor.experiment.leave();
            left.map_err(|error| Refusal::Fatal(format!("{error:#}")))?;
            memory.extend(kib.map(|kib| (number, kib)));
        }
        Ok(memory)
    }

    /// Enters a condition. `scratch` names the directory for its own files; the programs work in
    /// `folder`.
    fn enter(
        &mut self,
        condition: &Condition,
        scratch: &str,
        folder: &Path,
    ) -> Result<Entered, Refusal> {
        if condition.parts.is_empty() {
            return Ok(Entered::default());
        }
        let scratch = self.supervisor.scratch.kept_folder(scratch)?;

        let before = Children::now();
        let entered =
            self.supervisor.experiment.enter(condition, self.setting.machine, &scratch, folder);
        self.supervisor.own_children_since(&before);
        entered
    }

    /// The directory where the cell's load works, kept for the run: in the file system of its
    /// condition, if that has one.
    fn load_folder(&self, cell: &Cell, staging: &Staging) -> Result<PathBuf, Refusal> {
        let Some(load) = &cell.load else {
            return Ok(PathBuf::new());
        };
        let name = format!("load-{}", load.id);
        let Some(folder) = &staging.folder else {
            return Ok(self.supervisor.scratch.kept_folder(&name)?);
        };

        let folder = folder.join(name);
        files::make_private_directories(&folder)
            .with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(folder)
    }

    /// All arguments of a test's program: `args` and the command that it runs, with their
    /// placeholders filled in, and what every program of the kit has to know.
    fn fill_in_arguments(&self, test: &Test, args: &[String], copies: u32) -> Vec<String> {
        let mut words: Vec<String> = test.graphics().map(str::to_owned).into_iter().collect();
        words.extend(args.iter().map(|word| self.fill_in(word, test, copies)));
        words.extend(add_cycles_argument(test, self.setting.add_cycles));
        if !test.command.is_empty() {
            words.push("--".to_owned());
            words.extend(test.command.iter().map(|word| self.fill_in(word, test, copies)));
        }
        words
    }

    /// Fills in `{programs}`, `{copies}` and the scores that a word names as `{ID}`.
    fn fill_in(&self, word: &str, test: &Test, copies: u32) -> String {
        // What users type is executed as it is.
        if test.is_command() {
            return word.to_owned();
        }

        let programs = self.programs("").map(|programs| programs.folder().display().to_string());
        let mut word = word
            .replace("{programs}", &programs.unwrap_or_default())
            .replace("{copies}", &copies.to_string());
        for (id, score) in &self.scores {
            word = word.replace(&format!("{{{id}}}"), score);
        }
        word
    }

    /// The variables in which a program's environment differs from the tool's.
    fn environment(&self, test: &Test) -> &'a [Variable] {
        match test.graphics() {
            Some(_) => &self.setting.display.environment,
            None if test.is_command() => &*OWN_LANGUAGE,
            None => &[],
        }
    }

    /// A program with its arguments, in the directory where it works.
    ///
    /// Commands work where the tool does, by inheritance: the path of that directory may lead
    /// elsewhere by now, or be denied. In a container (`staging.prefix`) the program works in
    /// `folder`, which the container has mounted, and goes to the tool's directory by its path.
    fn place_program<'f>(
        &self,
        test: &Test,
        path: PathBuf,
        args: Vec<String>,
        folder: &'f Path,
        staging: &Staging,
    ) -> Command<'f>
    where
        'a: 'f,
    {
        let environment = self.environment(test);
        let mut args = os_words(args);
        if !test.is_command() {
            return Command { path, args, folder: Some(folder), environment };
        }

        if !staging.prefix.is_empty() {
            let tool_folder = std::env::current_dir().unwrap_or_default();
            args.insert(0, path_argument("folder=", &tool_folder));
            return Command { path, args, folder: Some(folder), environment };
        }

        if test.keep {
            args.insert(0, path_argument("directory=", folder));
        }
        Command { path, args, folder: None, environment }
    }

    /// The commands of a cell's copies.
    fn copy_commands<'f>(
        &self,
        cell: &Cell,
        folder: &'f Path,
        staging: &Staging,
    ) -> Result<Vec<Command<'f>>, Refusal>
    where
        'a: 'f,
    {
        check_needs(self.setting.machine, &cell.test)?;

        let mut common_args = cell.args.clone();
        common_args.extend(staging.args.iter().cloned());
        common_args.extend(cgroup_argument(&[&staging.cgroups[..], &staging.own_cgroups].concat()));
        if cell.test.copies == Copies::Threads {
            common_args.push(format!("threads={}", cell.copies));
        }

        let mut commands = Vec::new();
        for copy in 0..cell.copies / cell.threads() {
            let path = self.executable(&cell.test, copy, staging)?;
            let mut args = common_args.clone();
            args.extend(cell.pinned(copy * cell.threads(), cell.threads()));
            let args = self.fill_in_arguments(&cell.test, &args, cell.copies);
            let command = self.place_program(&cell.test, path, args, folder, staging);
            commands.push(add_prefix(staging, command));
        }
        Ok(commands)
    }

    /// The cell's load. Like each copy it has an executable of its own.
    fn load_side<'f, 't>(
        &self,
        cell: &Cell,
        load: &'t Test,
        folder: &'f Path,
        staging: &Staging,
    ) -> Result<Side<'f>, Refusal>
    where
        't: 'f,
        'a: 'f,
    {
        check_needs(self.setting.machine, load)?;

        let mut args = cell.load_args.clone();
        args.extend(staging.args.iter().cloned());
        args.extend(cgroup_argument(&staging.cgroups));
        let path = self.executable(load, cell.copies, staging)?;
        let args = self.fill_in_arguments(load, &args, 1);
        let command = add_prefix(staging, self.place_program(load, path, args, folder, staging));
        Ok(Side { role: Role::Load, test: load, command })
    }

    /// The companion that a condition asks for: a test of the catalogue, in the usual build.
    fn companion_side<'f>(
        &self,
        cell: &Cell,
        (id, args): &(String, Vec<String>),
        folder: &'f Path,
    ) -> Result<Side<'f>, Refusal>
    where
        'a: 'f,
    {
        let companions = &self.setting.plan.companions;
        let Some(test) = companions.iter().find(|test| test.id == *id) else {
            return Err(format!("its condition's {id} was not built").into());
        };
        check_needs(self.setting.machine, test)?;

        let args = [&test.args[..], args].concat();
        let args = os_words(self.fill_in_arguments(test, &args, 1));
        let path = self.executable(test, cell.copies + 1, &Staging::default())?;
        let command = Command { path, args, folder: Some(folder), environment: &[] };
        Ok(Side { role: Role::Companion, test, command })
    }

    /// The path of the executable that is this copy's own.
    fn executable(&self, test: &Test, copy: u32, staging: &Staging) -> Result<PathBuf, Refusal> {
        if test.is_foreign() {
            return Ok(PathBuf::from(&test.program));
        }
        if test.graphics().is_some() {
            return match (graphics(), &staging.build) {
                (_, Some(_)) => Err(Refusal::Unavailable(
                    "its program is not C and has only one build".to_owned(),
                )),
                (Some(path), None) => Ok(path),
                (None, None) => Err(Refusal::Unavailable(format!(
                    "{GRAPHICS} is missing: put it next to unixmark"
                ))),
            };
        }

        let build = staging.build.as_deref().unwrap_or_default();
        let programs = self.programs(build).ok_or("its program was not built")?;
        Ok(programs.executable(test, copy)?)
    }

    /// The programs of a build; the usual one has no name.
    fn programs(&self, build: &str) -> Option<&Programs> {
        self.setting.programs.get(build)
    }
}

/// The name of the directory that is kept for a test. Tests of one program share it. Commands,
/// which all have one program, do not: a hash of the id, which may be any text, distinguishes
/// theirs.
fn kept_folder_name(test: &Test) -> String {
    if !test.is_command() {
        return test.binary().to_owned();
    }

    let mut hasher = DefaultHasher::new();
    test.id.hash(&mut hasher);
    format!("{}-{:016x}", test.binary(), hasher.finish())
}

fn os_words(words: Vec<String>) -> Vec<OsString> {
    words.into_iter().map(OsString::from).collect()
}

/// An argument that is a path, which need not be UTF-8.
fn path_argument(name: &str, path: &Path) -> OsString {
    let mut word = OsString::from(name);
    word.push(path);
    word
}

/// A command as its condition starts it: by the starter of `staging`, if there is one.
fn add_prefix<'f>(staging: &Staging, command: Command<'f>) -> Command<'f> {
    let Some((starter, words)) = staging.prefix.split_first() else {
        return command;
    };

    let mut args = os_words(words.to_vec());
    args.push(command.path.into_os_string());
    args.extend(command.args);
    Command { path: PathBuf::from(starter), args, ..command }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The argument that tells a program of the kit how many cycles an addition takes; `None` if it
/// takes one, which programs assume.
pub fn add_cycles_argument(test: &Test, add_cycles: u32) -> Option<String> {
    (test.is_ours_in_c() && add_cycles != 1).then(|| format!("add_cycles={add_cycles}"))
}

/// The argument by which a program joins control groups.
fn cgroup_argument(paths: &[PathBuf]) -> Option<String> {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    (!paths.is_empty()).then(|| format!("cgroup={}", paths.join(":")))
}

/// Checks that the machine has what a test needs.
///
/// # Errors
/// The test is skipped; the reason says what is missing.
pub(super) fn check_needs(machine: &Machine, test: &Test) -> Result<(), Refusal> {
    machine::unmet(machine, &test.needs).map_or(Ok(()), |why| Err(Refusal::Unavailable(why)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_kit_are_told_what_an_addition_takes() {
        let catalogue = catalogue::Catalogue::load().unwrap();
        let test = |id: &str| catalogue.test(id).unwrap();
        assert_eq!(add_cycles_argument(test("core-clock"), 2).as_deref(), Some("add_cycles=2"));
        assert_eq!(add_cycles_argument(test("core-clock"), 1), None, "as usual");
        let foreign = Test::foreign(Path::new("/usr/bin/true"), &[]).unwrap();
        let graphics = catalogue.tests.iter().find(|test| test.graphics().is_some()).unwrap();
        assert!(
            add_cycles_argument(&foreign, 2).is_none()
                && add_cycles_argument(graphics, 2).is_none(),
            "neither knows the argument"
        );
    }
}
