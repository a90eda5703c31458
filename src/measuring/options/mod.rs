//! Options of the verbs that measure, each declared once.

mod commands;
mod fleet;
mod matrix;
mod parameters;
mod rates;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::measuring::terminal::{Loudness, Screen};
use crate::options::{Comment, Results};
use crate::status::usage;
use ::report::Format;
use build::BuildKind;
use machine::Machine;
use measure::Setup;

pub(crate) use commands::{Commands, counted, current_dir, is_command, task};
pub(crate) use fleet::FleetPart;
pub(crate) use matrix::{MatrixOptions, loads, new_seed, with_default};
pub(crate) use parameters::{Parameters, joined};
pub(crate) use rates::{Rates, has_rate, rates};
pub(crate) use values::{Copies, bytes, caption, copies, duration};

/// The options of every measuring command.
#[derive(Debug, clap::Args)]
pub(crate) struct Measuring {
    /// How to build unixmark's own test programs [default: native if there is a compiler]
    #[arg(long, value_enum)]
    build: Option<BuildKind>,
    /// Directory in which tests work; commands of yours work in the current one [default: /var/tmp, or /tmp if that is
    /// missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Time-out for a program that prints nothing
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    patience: Duration,
    /// Show the plan and its expected duration, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep the kernel's whole command line, which may hold addresses and keys, not only what can change a figure
    #[arg(long)]
    all_facts: bool,
    /// Exit with status 1 if a test was skipped
    #[arg(long)]
    strict: bool,
    /// Format of the report that is printed at the end [default: text]
    #[arg(long, value_enum, conflicts_with = "emit")]
    pub(crate) format: Option<Format>,
    /// Print nothing but errors, and the report if --format asks for one
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show each trial and its command
    #[arg(short, long)]
    verbose: bool,
    /// Show the run on the whole terminal
    #[arg(long, conflicts_with_all = ["quiet", "verbose"])]
    watch: bool,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    pub(crate) results: Results,
    #[command(flatten)]
    fleet: FleetPart,
}

impl Measuring {
    /// Returns how much to print.
    pub(crate) fn loudness(&self) -> Loudness {
        Loudness::new(self.quiet || self.fleet.emit, self.verbose)
    }

    /// The format of the report to print at the end; `None` if none is.
    pub(crate) fn shown(&self) -> Option<Format> {
        self.format.or_else(|| (self.loudness() != Loudness::Quiet).then_some(Format::Text))
    }

    /// Returns where and how a run is carried out and kept.
    ///
    /// # Errors
    /// A directory cannot be used, or there is no terminal to draw on.
    pub(crate) fn setup(&self, machine: &Machine) -> Result<Setup> {
        let setup = setup(&self.results, self.dir.as_deref())?;
        Ok(Setup {
            build: self.build,
            patience: self.patience,
            all_facts: self.all_facts,
            strict: self.strict,
            comment: self.comment.comment.clone(),
            fleet: self.fleet.attempt(&machine.host_name()),
            emit: self.fleet.emit,
            screen: self.watch.then(Screen::find).transpose().map_err(usage)?,
            ..setup
        })
    }
}

/// Returns the setup of a run of this command line.
///
/// # Errors
/// A directory cannot be used.
pub(crate) fn setup(results: &Results, dir: Option<&Path>) -> Result<Setup> {
    let words = std::env::args_os().skip(1);
    let arguments = words.map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(Setup { arguments, ..Setup::new(results.store()?, scratch(dir)?) })
}

/// Returns the directory the programs work in, as every process can name it.
///
/// # Errors
/// There is no such directory.
fn scratch(dir: Option<&Path>) -> Result<PathBuf> {
    let dir = workplace(dir);
    let full = dir.canonicalize();
    let full = full
        .with_context(|| format!("the directory {} cannot be used; try --dir DIR", dir.display()))
        .map_err(usage)?;
    if !full.is_dir() {
        return Err(usage(anyhow!("{} is not a directory; try --dir DIR", full.display())));
    }
    check_workplace(&full)
        .map_err(|why| usage(anyhow!("the directory {} cannot be used: {why}; try --dir DIR", full.display())))?;
    Ok(full)
}

/// Where programs work unless the user says otherwise: on a file system that keeps files, if there is such a place.
pub(crate) fn workplace(wanted: Option<&Path>) -> &Path {
    let usual = Path::new("/var/tmp");
    wanted.unwrap_or(if usual.is_dir() { usual } else { Path::new("/tmp") })
}

/// Checks that nobody can have root's programs work on other files than their own, by a link in the place of a
/// directory.
///
/// # Errors
/// This user is root, and a directory on the way may be written by others; a sentence says whose it is.
pub(crate) fn check_workplace(dir: &Path) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    files::check_trusted(dir).map_err(|why| format!("{why}, and this is root"))
}

/// Returns the absolute path of an executable of the user's.
///
/// # Errors
/// There is no such file.
pub(crate) fn executable(path: &Path) -> Result<PathBuf> {
    let why = || format!("{} cannot be run", path.display());
    let full = std::path::absolute(path).with_context(why)?;
    if full.metadata().with_context(why)?.is_dir() {
        bail!("{} cannot be run: it is a directory", path.display());
    }
    Ok(full)
}
