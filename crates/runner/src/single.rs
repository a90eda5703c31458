//! One copy of one test, measured once and not journalled, as when a program of UnixBench is called
//! by itself.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, bail};

use super::program::Command;
use super::rig::check_needs;
use super::supervisor::{SHORT_WINDOW, Setup, Supervisor};
use build::Programs;
use catalogue::Test;
use conditions::{Entered, Experiment, Refusal};
use journal::Copy;
use machine::Machine;
use plan::Window;

/// A program may be silent this long before it is ready: it runs its command once, however slow
/// that is.
const MAX_SILENCE: Duration = Duration::from_secs(600);

/// A measurement of one copy of a test.
pub struct Single<'a> {
    pub machine: &'a Machine,
    /// The test. Nothing is filled in in its arguments and its command.
    pub test: &'a Test,
    pub programs: &'a Programs,
    /// The length of the window.
    pub time: Duration,
    /// The directory where the program works.
    pub folder: &'a Path,
    /// The directory in which the tool makes its scratch directory.
    pub scratch: &'a Path,
}

/// The end of a single measurement.
#[derive(Debug)]
pub enum Outcome {
    Measured(Box<Copy>),
    /// This signal ended it.
    Stopped(i32),
}

impl Single<'_> {
    /// Measures the copy.
    ///
    /// # Errors
    /// The test cannot run here, or failed; the sentence says why.
    pub fn measure(&self) -> Result<Outcome> {
        let mut supervisor =
            Supervisor::new(self.machine, MAX_SILENCE, self.scratch, None, Experiment::passive())?;

        let window = Window { slice: self.time, slices: 1, ..SHORT_WINDOW };
        let mut args: Vec<OsString> = self.test.args.iter().map(OsString::from).collect();
        if !self.test.command.is_empty() {
            args.push("--".into());
            args.extend(self.test.command.iter().map(OsString::from));
        }
        let path = self.programs.executable(self.test, 0)?;
        let command = Command { path, args, folder: Some(self.folder), environment: &[] };
        let setup = Setup::alone(self.test, command, window);

        let measured = check_needs(self.machine, self.test)
            .and_then(|()| supervisor.measure(&setup, &mut Entered::default(), None))
            .map(|trial| trial.copies.into_iter().next().unwrap_or_default());
        match measured {
            Ok(copy) => Ok(Outcome::Measured(Box::new(copy))),
            Err(Refusal::Stopped) => {
                Ok(Outcome::Stopped(supervisor.signals.stopped().unwrap_or(0)))
            }
            Err(refusal) => bail!("{refusal}"),
        }
    }
}
