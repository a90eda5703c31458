//! From a cell to what is spawned for a trial: executables, arguments, directories, and what its condition asks for.

use std::path::{Path, PathBuf};

use super::Run;
use super::cgroup::Cgroup;
use super::trial::{Command, Failure, Scene};
use build::{Programs, graphics};
use catalogue::{Copies, GRAPHICS, Test};
use conditions::{Entered, Staging};
use journal::Trial;
use plan::Cell;

fn error(error: anyhow::Error) -> Failure {
    Failure::Error(format!("{error:#}"))
}

impl<'a> Run<'a> {
    /// Measures one trial of a cell under its condition, which is left whatever happens.
    ///
    /// # Errors
    /// What the condition changed could not be put back: the run must not go on.
    pub(super) fn measure(&mut self, cell: &Cell) -> anyhow::Result<Result<Trial, Failure>> {
        let trial = self.folder(cell).and_then(|folder| self.under_condition(cell, &folder));
        if let Some(experiment) = &mut self.experiment {
            experiment.leave()?;
        }
        Ok(trial)
    }

    fn folder(&self, cell: &Cell) -> Result<PathBuf, Failure> {
        let test = &cell.test;
        if test.keep { self.scratch.kept(test.binary()) } else { self.scratch.trial() }.map_err(error)
    }

    fn under_condition(&mut self, cell: &Cell, folder: &Path) -> Result<Trial, Failure> {
        let mut entered = match &mut self.experiment {
            Some(experiment) if !cell.condition.parts.is_empty() => {
                let scratch = self.scratch.kept("condition").map_err(error)?;
                experiment.enter(&cell.condition, self.setting.machine, &scratch, folder)?
            }
            _ => Entered::default(),
        };
        let staging = std::mem::take(&mut entered.staging);
        let folder = staging.folder.as_deref().unwrap_or(folder);
        let background = match &cell.load {
            None => folder.to_path_buf(),
            Some(load) if staging.folder.is_some() => {
                let own = folder.join(format!("load-{}", load.id));
                std::fs::create_dir_all(&own).map_err(|why| error(why.into()))?;
                own
            }
            Some(load) => self.scratch.kept(&format!("load-{}", load.id)).map_err(error)?,
        };
        let cgroups = self.cgroups(cell)?;
        let load = cell
            .load
            .as_deref()
            .map(|load| self.load(cell, load, &background, &cgroups, &staging).map_err(|why| why.of_load(load)));
        let companion = staging.companion.as_ref().map(|companion| self.companion(cell, companion, folder));
        let scene = Scene {
            test: &cell.test,
            copies: self.copies(cell, folder, &staging)?,
            load: load.transpose()?,
            companion: companion.transpose()?,
            window: cell.window,
            threads: cell.threads(),
        };
        self.bench.measure(&scene, &mut entered)
    }

    pub(super) fn command_line(&self, cell: &Cell) -> String {
        let program = self.setting.own.map_or_else(|| PathBuf::from(cell.test.binary()), Path::to_path_buf);
        let mut words = vec![program.display().to_string()];
        words.extend(self.words(&cell.test, &cell.args, cell.copies));
        words.join(" ")
    }

    /// The words for a program: a row's arguments with what they name, and the command it is to run.
    pub(super) fn words(&self, test: &Test, args: &[String], copies: u32) -> Vec<String> {
        let folder = self.programs("").map(|programs| programs.folder().display().to_string()).unwrap_or_default();
        let filled = |word: &String| {
            let word = word.replace("{programs}", &folder).replace("{copies}", &copies.to_string());
            self.given.iter().fold(word, |word, (name, number)| word.replace(&format!("{{{name}}}"), number))
        };
        let name = test.graphics().map(str::to_owned);
        let mut words: Vec<String> = name.into_iter().chain(args.iter().map(filled)).collect();
        if !test.command.is_empty() {
            words.push("--".to_owned());
            words.extend(test.command.iter().map(filled));
        }
        words
    }

    fn copies<'f>(&self, cell: &Cell, folder: &'f Path, staging: &Staging) -> Result<Vec<Command<'f>>, Failure>
    where
        'a: 'f,
    {
        can_run(&cell.test)?;
        let environment = if cell.test.graphics().is_some() { self.setting.display.environment() } else { &[] };
        let mut own = cell.args.clone();
        own.extend(staging.args.iter().cloned());
        own.extend(joined(&staging.cgroups));
        if cell.test.copies == Copies::Threads {
            own.push(format!("threads={}", cell.copies));
        }
        (0..cell.copies / cell.threads())
            .map(|copy| {
                let path = match self.setting.own {
                    Some(own) => own.to_path_buf(),
                    None => self.executable(&cell.test, copy, staging)?,
                };
                let mut args = own.clone();
                args.extend(cell.pinned(copy * cell.threads(), cell.threads()));
                let args = self.words(&cell.test, &args, cell.copies);
                Ok(started(staging, Command { path, args, folder, environment }))
            })
            .collect()
    }

    /// Makes the cgroups that the cell's load is to run in; they go with what is returned.
    fn cgroups(&mut self, cell: &Cell) -> Result<Vec<Cgroup>, Failure> {
        if cell.load_cgroups.len() > 1 && machine::cgroups_above(self.setting.machine, "cpu").0 {
            // Version 2 has one tree, and a process is in one group of it.
            return Err(Failure::Skip(
                "its load has a memory cgroup already; try --placement same or session".to_owned(),
            ));
        }
        let mut made = Vec::new();
        for limit in &cell.load_cgroups {
            let cgroup = Cgroup::make(self.setting.machine, *limit).map_err(Failure::Skip)?;
            self.bench.guardian.watch_cgroup(cgroup.path()).map_err(error)?;
            made.push(cgroup);
        }
        Ok(made)
    }

    /// The load has an executable of its own, as copies have.
    fn load<'f, 't>(
        &self,
        cell: &Cell,
        load: &'t Test,
        folder: &'f Path,
        cgroups: &[Cgroup],
        staging: &Staging,
    ) -> Result<(&'t Test, Command<'f>), Failure> {
        can_run(load)?;
        let mut args = cell.load_args.clone();
        args.extend(staging.args.iter().cloned());
        let mut paths: Vec<PathBuf> = cgroups.iter().map(|cgroup| cgroup.path().to_path_buf()).collect();
        paths.extend(staging.cgroups.iter().cloned());
        args.extend(joined(&paths));
        let path = self.executable(load, cell.copies, staging)?;
        let args = self.words(load, &args, 1);
        Ok((load, started(staging, Command { path, args, folder, environment: &[] })))
    }

    /// What a condition runs beside the programs is a test of the catalogue, by the usual build.
    fn companion<'f>(
        &self,
        cell: &Cell,
        (id, args): &(String, Vec<String>),
        folder: &'f Path,
    ) -> Result<(&'a Test, Command<'f>), Failure> {
        let companions = &self.setting.plan.companions;
        let Some(test) = companions.iter().find(|test| test.id == *id) else {
            return Err(Failure::Error(format!("its condition's {id} was not built")));
        };
        can_run(test)?;
        let args = self.words(test, &test.args.iter().chain(args).cloned().collect::<Vec<_>>(), 1);
        let path = self.executable(test, cell.copies + 1, &Staging::default())?;
        Ok((test, Command { path, args, folder, environment: &[] }))
    }

    pub(super) fn executable(&self, test: &Test, copy: u32, staging: &Staging) -> Result<PathBuf, Failure> {
        if test.graphics().is_some() {
            return match (graphics(), &staging.build) {
                (_, Some(_)) => Err(Failure::Skip("its program is no C and has one build only".to_owned())),
                (Some(path), None) => Ok(path),
                (None, None) => Err(Failure::Skip(format!("{GRAPHICS} is not there: put it beside unixmark"))),
            };
        }
        let build = staging.build.as_deref().unwrap_or_default();
        let programs = self.programs(build).ok_or_else(|| Failure::Error("its program was not built".to_owned()))?;
        programs.executable(test, copy).map_err(error)
    }

    /// The programs of a build; the usual one has no name.
    fn programs(&self, build: &str) -> Option<&Programs> {
        self.setting.programs.get(build)
    }
}

/// A program as its condition has it started.
fn started<'f>(staging: &Staging, command: Command<'f>) -> Command<'f> {
    let Some((starter, words)) = staging.prefix.split_first() else { return command };
    let mut args = words.to_vec();
    args.push(command.path.display().to_string());
    args.extend(command.args);
    Command { path: PathBuf::from(starter), args, ..command }
}

/// The argument by which a program joins control groups.
fn joined(paths: &[PathBuf]) -> Option<String> {
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    (!paths.is_empty()).then(|| format!("cgroup={}", paths.join(":")))
}

pub(super) fn can_run(test: &Test) -> Result<(), Failure> {
    match missing_tool(&test.needs) {
        Some((tool, package)) => {
            let help = package.map_or_else(String::new, |package| format!("; install the package {package}"));
            Err(Failure::Skip(format!("it needs `{tool}`, which is not installed here{help}")))
        }
        None => Ok(()),
    }
}

/// Returns the first of `needs` that asks for a tool that is not on the PATH, and the package that has it.
fn missing_tool(needs: &[String]) -> Option<(&str, Option<&str>)> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let there = |tool: &str| {
        std::env::split_paths(&path)
            .any(|folder| rustix::fs::access(folder.join(tool), rustix::fs::Access::EXEC_OK).is_ok())
    };
    let tools = needs.iter().filter_map(|need| need.strip_prefix("tool:"));
    let mut named =
        tools.map(|tool| tool.split_once(':').map_or((tool, None), |(tool, package)| (tool, Some(package))));
    named.find(|(tool, _)| !there(tool))
}
