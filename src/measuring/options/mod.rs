//! Options of the verbs that measure, each declared once.

mod commands;
mod fleet;
mod matrix;
mod values;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::Parser;

use crate::measuring::terminal::{Loudness, Screen};
use crate::options::{Comment, Results};
use crate::status::usage;
use ::report::Format;
use build::BuildKind;

pub(crate) use commands::{Commands, expanded};
pub(crate) use fleet::FleetPart;
pub(crate) use matrix::{Matrix, with_default};
pub(crate) use values::{bytes, caption, duration};

/// Returns the arguments that `words` stand for, as if they had been typed behind a verb.
///
/// # Errors
/// They are wrong usage.
pub(crate) fn typed<A: clap::Args>(words: Vec<OsString>) -> Result<A, clap::Error> {
    #[derive(clap::Parser)]
    struct Line<A: clap::Args> {
        #[command(flatten)]
        arguments: A,
    }
    let line = Line::<A>::try_parse_from(std::iter::once(OsString::from("unixmark")).chain(words))?;
    Ok(line.arguments)
}

/// The options of every measuring command.
#[derive(Debug, clap::Args)]
pub(crate) struct Measuring {
    /// How to build the programs [default: native if there is a compiler]
    #[arg(long, value_enum)]
    pub(crate) build: Option<BuildKind>,
    /// Where the measured programs work [default: /var/tmp, or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How long to wait for a program that stays silent
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub(crate) patience: Duration,
    /// Show the plan and its expected duration, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep the kernel's whole command line, which may hold addresses and keys, not only what can change a figure
    #[arg(long)]
    pub(crate) all_facts: bool,
    /// Exit with status 1 if a test was skipped
    #[arg(long)]
    pub(crate) strict: bool,
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
    pub(crate) comment: Comment,
    #[command(flatten)]
    pub(crate) results: Results,
    #[command(flatten)]
    pub(crate) fleet: FleetPart,
}

impl Measuring {
    /// How much to print.
    pub(crate) fn loudness(&self) -> Loudness {
        match (self.quiet || self.fleet.emit, self.verbose) {
            (true, _) => Loudness::Quiet,
            (_, true) => Loudness::Verbose,
            _ => Loudness::Normal,
        }
    }

    /// The format of the report to print at the end; `None` if none is.
    pub(crate) fn shown(&self) -> Option<Format> {
        self.format.or_else(|| (self.loudness() != Loudness::Quiet).then_some(Format::Text))
    }

    /// Returns the terminal to draw on as a whole, if that is wanted.
    ///
    /// # Errors
    /// There is no terminal.
    pub(crate) fn screen(&self) -> Result<Option<PathBuf>> {
        self.watch.then(Screen::find).transpose().map_err(usage)
    }

    /// Returns the directory the programs work in, as every process can name it.
    ///
    /// # Errors
    /// There is no such directory.
    pub(crate) fn dir(&self) -> Result<PathBuf> {
        let dir = workplace(self.dir.as_deref());
        let full = dir.canonicalize();
        let full = full.with_context(|| format!("the directory {} cannot be used; try --dir DIR", dir.display()));
        match full {
            Ok(full) if full.is_dir() => {
                let refused = |why| anyhow!("the directory {} cannot be used: {why}; try --dir DIR", full.display());
                check_workplace(&full).map_err(|why| usage(refused(why)))?;
                Ok(full)
            }
            Ok(full) => Err(usage(anyhow!("{} is not a directory; try --dir DIR", full.display()))),
            Err(error) => Err(usage(error)),
        }
    }
}

/// Where programs work unless the user says otherwise: on a file system that keeps files, if there is such a place.
pub(crate) fn workplace(wanted: Option<&Path>) -> &Path {
    let usual = Path::new("/var/tmp");
    wanted.unwrap_or(if usual.is_dir() { usual } else { Path::new("/tmp") })
}

/// Checks that nobody can have root's programs work on other files than their own, by a link in the place of a directory.
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
