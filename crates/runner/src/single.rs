//! One copy of one test, measured once and not journalled: what a program of UnixBench does when it is called by
//! itself.

use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::program::Command;
use super::rig::{SHORT_WINDOW, can_run};
use super::supervisor::{Setup, Supervisor};
use build::Programs;
use catalogue::Test;
use conditions::{Entered, Experiment, Refusal};
use journal::Copy;
use machine::Machine;
use plan::Window;

/// The longest time that a program may take to be ready: a command is run once before that, however slow it is.
const PATIENCE: Duration = Duration::from_secs(600);

/// One copy of a test to measure.
pub struct Single<'a> {
    /// The machine.
    pub machine: &'a Machine,
    /// The test, with its arguments and its command as they are handed over.
    pub test: &'a Test,
    /// Its program.
    pub programs: &'a Programs,
    /// For how long.
    pub time: Duration,
    /// The directory where the program works.
    pub folder: &'a Path,
    /// The directory in which the tool makes its scratch directory.
    pub scratch: &'a Path,
}

/// The end of a single measurement.
#[derive(Debug)]
pub enum Outcome {
    /// It was measured.
    Measured(Box<Copy>),
    /// A signal ended it.
    Stopped(i32),
}

impl Single<'_> {
    /// Measures it.
    ///
    /// # Errors
    /// It cannot run here, or failed: a sentence says why.
    pub fn measure(&self) -> Result<Outcome> {
        let mut supervisor = Supervisor::new(self.machine, PATIENCE, self.scratch, None, Experiment::passive())?;
        let window = Window { slice: self.time, slices: 1, ..SHORT_WINDOW };
        let mut args = self.test.args.clone();
        if !self.test.command.is_empty() {
            args.push("--".to_owned());
            args.extend(self.test.command.iter().cloned());
        }
        let path = self.programs.executable(self.test, 0)?;
        let command = Command { path, args, folder: self.folder, environment: &[] };
        let setup = Setup::alone(self.test, command, window);
        let measured = can_run(self.machine, self.test)
            .and_then(|()| supervisor.measure(&setup, &mut Entered::default()))
            .map(|trial| trial.copies.into_iter().next().unwrap_or_default());
        match measured {
            Ok(copy) => Ok(Outcome::Measured(Box::new(copy))),
            Err(Refusal::Stopped) => Ok(Outcome::Stopped(supervisor.signals.stopped().unwrap_or(0))),
            Err(refusal) => bail!("{refusal}"),
        }
    }
}
