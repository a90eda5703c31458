//! Options of the verbs that measure, each declared once.
//!
//! [`Measuring`] has those of every verb. [`MatrixOptions`] adds those of verbs that measure
//! tests under conditions and loads, [`Commands`] those about commands of the user's.

mod commands;
mod figures;
mod fleet;
mod matrix;
mod modes;
mod names;
mod parameters;
mod rates;
mod streams;
mod values;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::measuring::terminal::{Loudness, Screen};
use crate::options::{Comment, Detail, Results};
use crate::status::usage;
use ::report::{Extent, Format, Layout};
use build::BuildKind;
use machine::Machine;
use measure::Setup;

pub(crate) use commands::{
    Commands, Given, Manner, command_task, counted, current_dir, is_command, refuse_blank,
    refuse_blanks,
};
pub(crate) use figures::PrintedFigures;
pub(crate) use fleet::FleetPart;
pub(crate) use matrix::{MatrixOptions, loads, new_seed, with_default};
pub(crate) use modes::ModeOption;
pub(crate) use parameters::{Parameters, split_parameters};
pub(crate) use rates::{Rates, has_rate, rates};
pub(crate) use values::{Copies, bytes, caption, copies, duration, utf8};

/// The options of every measuring command.
#[derive(Debug, clap::Args)]
pub(crate) struct Measuring {
    /// How to build unixmark's own test programs [default: native if there is a compiler]
    #[arg(long, value_enum)]
    build: Option<BuildKind>,
    /// Directory in which tests work; commands of yours work in the current one [default: /var/tmp,
    /// or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Time-out for a program that prints nothing
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    pub(crate) patience: Duration,
    /// Show the plan and its expected duration, and measure nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Keep the kernel's whole command line, which may hold addresses and keys, not only what can
    /// change a figure
    #[arg(long)]
    all_facts: bool,
    /// Exit with status 1 if a test was skipped
    #[arg(long)]
    strict: bool,
    /// Format of the report that is printed at the end [default: text]
    #[arg(long, value_enum, conflicts_with = "emit")]
    pub(crate) format: Option<Format>,
    /// Print nothing but the answer, or the report that --format asks for, and errors
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Show each trial and its command
    #[arg(short, long)]
    verbose: bool,
    /// Show the run on the whole terminal
    #[arg(long, conflicts_with_all = ["quiet", "verbose", "emit"])]
    watch: bool,
    #[command(flatten)]
    detail: Detail,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    pub(crate) results: Results,
    #[command(flatten)]
    fleet: FleetPart,
}

impl Measuring {
    pub(crate) fn loudness(&self) -> Loudness {
        Loudness::new(self.quiet || self.fleet.emit, self.verbose)
    }

    /// The report to print at the end; `None` where the journal takes its place.
    pub(crate) fn shown(&self) -> Option<Layout> {
        match self.format {
            _ if self.fleet.emit => None,
            Some(format) => Some(self.detail.layout(format)),
            None if self.quiet => {
                Some(Layout { extent: Extent::Answer, ..self.detail.layout(Format::Text) })
            }
            None => Some(self.detail.layout(Format::Text)),
        }
    }

    /// Where and how a run is carried out and kept.
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

/// The setup of a run of this command line.
///
/// # Errors
/// A directory cannot be used.
pub(crate) fn setup(results: &Results, dir: Option<&Path>) -> Result<Setup> {
    let words = std::env::args_os().skip(1);
    let arguments = words.map(|word| word.to_string_lossy().into_owned()).collect();
    Ok(Setup { arguments, ..Setup::new(results.store()?, find_scratch(dir)?) })
}

/// The directory that the programs work in, by a path that holds for every process.
///
/// # Errors
/// There is no such directory, or others could change it under root.
fn find_scratch(dir: Option<&Path>) -> Result<PathBuf> {
    let dir = workplace(dir);
    let full = dir
        .canonicalize()
        .with_context(|| format!("the directory {} cannot be used; try --dir DIR", dir.display()))
        .map_err(usage)?;
    if !full.is_dir() {
        return Err(usage(anyhow!("{} is not a directory; try --dir DIR", full.display())));
    }
    check_workplace(&full).map_err(|why| {
        usage(anyhow!("the directory {} cannot be used: {why}; try --dir DIR", full.display()))
    })?;
    Ok(full)
}

/// The directory that programs work in: the one that is `wanted`, or else one on a file system that
/// keeps files, if such a place can be written, or else one in memory.
pub(crate) fn workplace(wanted: Option<&Path>) -> &Path {
    if let Some(wanted) = wanted {
        return wanted;
    }
    let usual = ["/var/tmp", "/tmp", "/dev/shm"].map(Path::new);
    let rights = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let writable = usual.into_iter().find(|place| rustix::fs::access(*place, rights).is_ok());
    // If none can be written, an error names the best known.
    writable.unwrap_or(usual[1])
}

/// Checks that others cannot have root's programs work on files of their choice, by a link in the
/// place of a directory.
///
/// # Errors
/// This user is root, and a directory on the way may be written by others; a sentence says whose it
/// is.
pub(crate) fn check_workplace(dir: &Path) -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    files::check_trusted(dir).map_err(|why| format!("{why}, and this is root"))
}

/// The absolute path of an executable of the user's.
///
/// # Errors
/// There is no such file, or it is a directory.
pub(crate) fn executable(path: &Path) -> Result<PathBuf> {
    let describe_error = || format!("{} cannot be run", path.display());
    let full = std::path::absolute(path).with_context(describe_error)?;
    if full.metadata().with_context(describe_error)?.is_dir() {
        bail!("{}: it is a directory", describe_error());
    }
    Ok(full)
}
