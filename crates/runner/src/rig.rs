//! The bench that spawns: from a cell to its executables, arguments, directories, and what its condition asks for.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::Setting;
use super::printed;
use super::program::{Command, LANGUAGE};
use super::rounds::Bench;
use super::supervisor::{Role, Setup, Side, Supervisor};
use build::{Programs, graphics};
use catalogue::{Condition, Copies, GRAPHICS, Test};
use conditions::{Entered, Experiment, Refusal, Staging};
use display::Variable;
use journal::{Copy, Fact, Trial};
use machine::Machine;
use plan::{Cell, Window};

/// The window of programs that run outside all cells.
pub(super) const SHORT_WINDOW: Window = Window {
    slice: Duration::from_millis(100),
    slices: 2,
    warmup: 0,
    around: Duration::ZERO,
    rest: false,
    settle: Duration::ZERO,
};

/// The user's own language, which the user's commands keep.
static OWN: LazyLock<[Variable; 1]> = LazyLock::new(|| [(LANGUAGE, std::env::var(LANGUAGE).ok())]);

/// Measures trials on this machine. What conditions changed is undone before the guardian is dismissed.
pub struct Rig<'a> {
    setting: &'a Setting<'a>,
    supervisor: Supervisor<'a>,
    /// Scores that arguments name as `{ID}`.
    named: BTreeMap<String, String>,
    began: Instant,
}

impl Bench for Rig<'_> {
    /// Returns the power that the machine takes while nothing runs.
    fn begin(&mut self) -> Vec<Fact> {
        self.supervisor.idle_power()
    }

    fn end(&mut self) -> Option<String> {
        let remarks = self.supervisor.end_energy().into_iter().chain(self.clean());
        Some(remarks.collect::<Vec<String>>().join("; ")).filter(|remarks| !remarks.is_empty())
    }

    fn measure(&mut self, cell: &Cell) -> anyhow::Result<Result<Trial, Refusal>> {
        let trial = self.folder(cell).and_then(|folder| self.under_condition(cell, &folder));
        self.supervisor.experiment.leave()?;
        Ok(trial)
    }

    fn pause(&mut self) -> bool {
        let is_wanted = self.supervisor.signals.wants_pause() && self.signal().is_none();
        if is_wanted {
            self.supervisor.pause();
        }
        is_wanted
    }

    fn count(&mut self, cell: &Cell) -> Result<Vec<Copy>, Refusal> {
        let Some(test) = cell.test.counting.as_deref() else { return Ok(Vec::new()) };
        Ok(self.start_once(test, &[], test.arms.max(1))?.copies)
    }

    fn measure_named(&mut self, test: &Test) -> Result<f64, Refusal> {
        let number = self.measure_alone(test);
        // 0 has each program measure its own.
        let text = number.as_ref().map_or_else(|_| "0".to_owned(), |number| format!("{number:.0}"));
        self.named.insert(test.id.clone(), text);
        number
    }

    fn command_line(&self, cell: &Cell) -> String {
        let program = if cell.test.is_foreign() { &cell.test.program } else { cell.test.binary() };
        let mut words = vec![program.to_owned()];
        words.extend(self.arguments(&cell.test, &cell.args, cell.copies));
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
    /// Returns a bench that is ready to measure.
    ///
    /// # Errors
    /// There is no scratch directory or no guardian, or the meter gives no reading.
    pub fn new(setting: &'a Setting<'a>, experiment: Experiment) -> anyhow::Result<Rig<'a>> {
        let Setting { machine, patience, dir, .. } = *setting;
        let mut supervisor = Supervisor::new(machine, patience, dir, setting.screen, experiment)?;
        supervisor.find_energy(setting.meter)?;
        Ok(Rig { setting, supervisor, named: BTreeMap::new(), began: Instant::now() })
    }

    /// Measures one copy of a test in a short window and returns its value.
    fn measure_alone(&mut self, test: &Test) -> Result<f64, Refusal> {
        let folder = self.supervisor.scratch.trial()?;
        let path = self.executable(test, 0, &Staging::default())?;
        let args = self.arguments(test, &test.args, 1);
        let command = Command { path, args, folder: &folder, environment: &[] };
        // A rate needs longer than what is found before the window.
        let window = Window { slices: 5, ..SHORT_WINDOW };
        let setup = Setup::alone(test, command, window);
        let trial = self.supervisor.measure(&setup, &mut Entered::default())?;
        let value = test.value.as_deref().and_then(|name| trial.copies.first()?.values.get(name));
        Ok(value.map_or(0.0, |value| value.0))
    }

    /// Has commands cleaned up after, unless the run is stopped; returns what failed.
    fn clean(&mut self) -> Option<String> {
        let cells = self.setting.plan.cells.iter().filter(|cell| cell.test.cleans);
        let mut tests: Vec<&Test> = cells.map(|cell| &*cell.test).collect();
        tests.dedup_by_key(|test| &test.id);
        let mut failures = Vec::new();
        for test in tests {
            if let Err(why) = self.start_once(test, &["end=1".to_owned()], 1)
                && why != Refusal::Stopped
            {
                failures.push(format!("cleaning up after {} failed: {why}", test.label));
            }
        }
        (!failures.is_empty()).then(|| failures.join("; "))
    }

    /// Starts a command's program outside all cells, with `more` arguments; it reports `threads` copies.
    fn start_once(&mut self, test: &Test, more: &[String], threads: u32) -> Result<Trial, Refusal> {
        let folder = self.supervisor.scratch.kept(&kept_name(test))?;
        let path = self.executable(test, 0, &Staging::default())?;
        let args = self.arguments(test, &[&test.args, more].concat(), 1);
        let command = Command { path, args, folder: &folder, environment: self.environment(test) };
        let setup = Setup { threads, ..Setup::alone(test, command, SHORT_WINDOW) };
        self.supervisor.measure(&setup, &mut Entered::default())
    }

    fn folder(&self, cell: &Cell) -> Result<PathBuf, Refusal> {
        let scratch = &self.supervisor.scratch;
        Ok(if cell.test.keep { scratch.kept(&kept_name(&cell.test)) } else { scratch.trial() }?)
    }

    fn under_condition(&mut self, cell: &Cell, folder: &Path) -> Result<Trial, Refusal> {
        let mut entered = self.enter(&cell.condition, "condition", folder)?;
        let of_load = self.enter(&cell.load_condition, "load-condition", folder)?;
        let load_staging = entered.add_load(of_load, self.setting.machine)?;
        let staging = std::mem::take(&mut entered.staging);
        let folder = staging.folder.as_deref().unwrap_or(folder);
        let background = self.load_folder(cell, &load_staging)?;
        let load = cell.load.as_deref().map(|load| {
            let load_side = self.load(cell, load, &background, &load_staging);
            load_side.map_err(|failure| Role::Load.blame(load, failure))
        });
        let companion = staging.companion.as_ref().map(|companion| self.companion(cell, companion, folder));
        let setup = Setup {
            test: &cell.test,
            copies: self.copies(cell, folder, &staging)?,
            sides: load.into_iter().chain(companion).collect::<Result<_, _>>()?,
            window: cell.window,
            threads: cell.reports(),
        };
        let mut trial = self.supervisor.measure(&setup, &mut entered)?;
        if let Some(figures) = self.setting.figures {
            let names: Vec<&str> = self.setting.plan.arms.conditions().map(|arm| arm.name.as_str()).collect();
            printed::add(&mut trial, folder, &names, figures)?;
        }
        Ok(trial)
    }

    /// Enters a condition, with the scratch directory of this name for what is not the programs'.
    fn enter(&mut self, condition: &Condition, scratch: &str, folder: &Path) -> Result<Entered, Refusal> {
        if condition.parts.is_empty() {
            return Ok(Entered::default());
        }
        let scratch = self.supervisor.scratch.kept(scratch)?;
        self.supervisor.experiment.enter(condition, self.setting.machine, &scratch, folder)
    }

    /// Returns the directory where the cell's load works: in the file system of its condition, else in one that is kept
    /// for the run.
    fn load_folder(&self, cell: &Cell, staging: &Staging) -> Result<PathBuf, Refusal> {
        let Some(load) = &cell.load else { return Ok(PathBuf::new()) };
        let name = format!("load-{}", load.id);
        let Some(folder) = &staging.folder else { return Ok(self.supervisor.scratch.kept(&name)?) };
        let folder = folder.join(name);
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(folder)
    }

    /// Returns the arguments of a program: a row's, with what they name filled in, and the command it is to run.
    fn arguments(&self, test: &Test, args: &[String], copies: u32) -> Vec<String> {
        let folder = self.programs("").map(|programs| programs.folder().display().to_string()).unwrap_or_default();
        let filled = |word: &String| {
            let word = word.replace("{programs}", &folder).replace("{copies}", &copies.to_string());
            self.named.iter().fold(word, |word, (name, number)| word.replace(&format!("{{{name}}}"), number))
        };
        let name = test.graphics().map(str::to_owned);
        let mut words: Vec<String> = name.into_iter().chain(args.iter().map(filled)).collect();
        words.extend(add_cycles_argument(test, self.setting.add_cycles));
        if !test.command.is_empty() {
            words.push("--".to_owned());
            words.extend(test.command.iter().map(filled));
        }
        words
    }

    /// Returns what a program's environment has in place of the tool's.
    fn environment(&self, test: &Test) -> &'a [Variable] {
        match test.graphics() {
            Some(_) => &self.setting.display.environment,
            None if test.is_command() => &*OWN,
            None => &[],
        }
    }

    fn copies<'f>(&self, cell: &Cell, folder: &'f Path, staging: &Staging) -> Result<Vec<Command<'f>>, Refusal>
    where
        'a: 'f,
    {
        can_run(self.setting.machine, &cell.test)?;
        let environment = self.environment(&cell.test);
        let mut own = cell.args.clone();
        own.extend(staging.args.iter().cloned());
        own.extend(joined(&[&staging.cgroups[..], &staging.own_cgroups].concat()));
        if cell.test.copies == Copies::Threads {
            own.push(format!("threads={}", cell.copies));
        }
        (0..cell.copies / cell.threads())
            .map(|copy| {
                let path = self.executable(&cell.test, copy, staging)?;
                let mut args = own.clone();
                args.extend(cell.pinned(copy * cell.threads(), cell.threads()));
                let args = self.arguments(&cell.test, &args, cell.copies);
                Ok(prefixed(staging, Command { path, args, folder, environment }))
            })
            .collect()
    }

    /// Returns the cell's load: it has an executable of its own, as copies have.
    fn load<'f, 't>(
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
        can_run(self.setting.machine, load)?;
        let mut args = cell.load_args.clone();
        args.extend(staging.args.iter().cloned());
        args.extend(joined(&staging.cgroups));
        let path = self.executable(load, cell.copies, staging)?;
        let args = self.arguments(load, &args, 1);
        let command = prefixed(staging, Command { path, args, folder, environment: self.environment(load) });
        Ok(Side { role: Role::Load, test: load, command })
    }

    /// Returns the program that a condition runs beside the others: a test of the catalogue, by the usual build.
    fn companion<'f>(
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
        can_run(self.setting.machine, test)?;
        let args = self.arguments(test, &test.args.iter().chain(args).cloned().collect::<Vec<_>>(), 1);
        let path = self.executable(test, cell.copies + 1, &Staging::default())?;
        let command = Command { path, args, folder, environment: &[] };
        Ok(Side { role: Role::Companion, test, command })
    }

    fn executable(&self, test: &Test, copy: u32, staging: &Staging) -> Result<PathBuf, Refusal> {
        if test.is_foreign() {
            return Ok(PathBuf::from(&test.program));
        }
        if test.graphics().is_some() {
            return match (graphics(), &staging.build) {
                (_, Some(_)) => Err(Refusal::Unavailable("its program is not C and has only one build".to_owned())),
                (Some(path), None) => Ok(path),
                (None, None) => Err(Refusal::Unavailable(format!("{GRAPHICS} is missing: put it next to unixmark"))),
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

/// Returns the name of the directory that is kept for a test: its program's, or a command's own.
fn kept_name(test: &Test) -> String {
    if !test.is_command() {
        return test.binary().to_owned();
    }
    let mut hasher = DefaultHasher::new();
    test.id.hash(&mut hasher);
    format!("{}-{:016x}", test.binary(), hasher.finish())
}

/// Returns a program as its condition has it started.
fn prefixed<'f>(staging: &Staging, command: Command<'f>) -> Command<'f> {
    let Some((starter, words)) = staging.prefix.split_first() else { return command };
    let mut args = words.to_vec();
    args.push(command.path.display().to_string());
    args.extend(command.args);
    Command { path: PathBuf::from(starter), args, ..command }
}

/// Returns the argument that tells a program of the kit how many cycles an addition takes; `None` if it is one.
pub fn add_cycles_argument(test: &Test, add_cycles: u32) -> Option<String> {
    (test.is_ours_in_c() && add_cycles != 1).then(|| format!("add_cycles={add_cycles}"))
}

/// The argument by which a program joins control groups.
fn joined(paths: &[PathBuf]) -> Option<String> {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    (!paths.is_empty()).then(|| format!("cgroup={}", paths.join(":")))
}

/// Checks that what a test needs is there.
///
/// # Errors
/// The test is skipped: the reason says what is missing.
pub(super) fn can_run(machine: &Machine, test: &Test) -> Result<(), Refusal> {
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
            add_cycles_argument(&foreign, 2).is_none() && add_cycles_argument(graphics, 2).is_none(),
            "neither knows the argument"
        );
    }
}
