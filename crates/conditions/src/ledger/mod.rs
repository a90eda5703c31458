//! The undo of each change: on the disk before the change is made.
//!
//! Each run has a ledger of its own, and holds it (flock(2)) together with its guardian. One that
//! nobody holds was left behind. A ledger is only ever added to, and removed when no step is left,
//! so nothing in it can be lost by a crash.
//!
//! 1. [`Ledger::record`] writes how to undo a change, and returns the number of that step.
//! 2. The change is made.
//! 3. [`Ledger::put_back`] takes the steps, newest first, and notes which are done. One that fails
//!    stays, for [`restore`].
//!
//! [`log`] is the text of a ledger, [`host`] the folder and the machine (another one in tests),
//! [`undo`] the steps, and [`proof`] looks whether they worked.

mod host;
mod log;
pub(crate) mod path_text;
mod proof;
#[cfg(test)]
mod tests;
mod undo;

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, Result, bail};
use processes::{Group, Signals};

use host::{Holding, Host};
use log::{Entry, FORMAT, Head, Log};

pub use host::{Here, remove_scratch, remove_tree};
pub use undo::Undo;

/// The beginning of the names of scratch directories.
pub const SCRATCH: &str = "unixmark-";

/// The undos of a run's changes.
#[derive(Debug)]
pub struct Ledger<H: Host = Here> {
    host: H,
    name: String,
    held: H::Held,
    log: Log,
}

/// A ledger that its run left behind, and its steps, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its file.
    pub path: PathBuf,
    /// The steps to take.
    pub steps: Vec<Undo>,
}

/// The ledgers of this user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Survey {
    /// Ledgers that were left behind.
    pub left: Vec<Leftover>,
    /// Files of runs that go on, or that are being cleaned up after.
    pub busy: Vec<PathBuf>,
    /// Sentences about ledgers that cannot be read or must not be believed.
    pub unreadable: Vec<String>,
}

/// The outcome of `restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Steps that were taken, in order.
    pub steps: Vec<Undo>,
    /// Sentences about steps that failed, which stay in their ledger.
    pub failed: Vec<String>,
    /// Files of runs that go on, or that are being cleaned up after.
    pub busy: Vec<PathBuf>,
    /// Sentences about ledgers that cannot be read or must not be believed.
    pub unreadable: Vec<String>,
}

/// The ledgers of this user.
///
/// # Errors
/// Their folder cannot be read.
pub fn survey() -> Result<Survey> {
    survey_at(&Here::new()?)
}

/// Undoes what runs have left behind.
///
/// # Errors
/// Their folder cannot be read.
pub fn restore() -> Result<Restored> {
    restore_at(&Here::new()?)
}

/// Drops the steps of a name, which stay undone for good; returns them.
///
/// # Errors
/// No ledger that was left behind has such a step, or one cannot be written.
pub fn forget(name: &str) -> Result<Vec<Undo>> {
    let (ledgers, _) = hold_leftovers(&Here::new()?)?;
    let mut forgotten = Vec::new();
    for ledger in ledgers {
        forgotten.extend(ledger.forget(name)?);
    }

    if forgotten.is_empty() {
        bail!(
            "no run has left a step '{name}' behind; `unixmark restore --list` shows what is to be undone"
        );
    }
    Ok(forgotten)
}

/// Holds every ledger that was left behind; returns those, with the rest of the survey.
fn hold_leftovers<H: Host + Clone>(host: &H) -> Result<(Vec<Ledger<H>>, Survey)> {
    let names =
        host.names().with_context(|| format!("{} cannot be read", host.path("").display()))?;

    let mut survey = Survey::default();
    let mut ledgers = Vec::new();
    for name in names {
        match Ledger::hold(host, &name) {
            // Its run was killed before it changed anything, or just before it removed the file.
            Ok(Holding::Held(mut ledger)) if ledger.is_done() => ledger.remove_if_done()?,
            Ok(Holding::Held(ledger)) => ledgers.push(ledger),
            Ok(Holding::Busy) => survey.busy.push(host.path(&name)),
            Ok(Holding::Gone) => {}
            Err(why) => survey.unreadable.push(format!("{why:#}")),
        }
    }

    Ok((ledgers, survey))
}

fn survey_at<H: Host + Clone>(host: &H) -> Result<Survey> {
    let (ledgers, mut survey) = hold_leftovers(host)?;
    for ledger in ledgers {
        let steps = ledger.log.pending().rev().map(|(_, step)| step.clone()).collect();
        survey.left.push(Leftover { path: host.path(&ledger.name), steps });
    }

    Ok(survey)
}

fn restore_at<H: Host + Clone>(host: &H) -> Result<Restored> {
    let (ledgers, Survey { busy, unreadable, .. }) = hold_leftovers(host)?;

    let mut restored = Restored { busy, unreadable, ..Restored::default() };
    for mut ledger in ledgers {
        let Undone { steps, failed } = ledger.undo(|_| true);
        restored.steps.extend(steps);
        restored.failed.extend(failed);
        if let Err(error) = ledger.remove_if_done() {
            restored.failed.push(format!("{error:#}"));
        }
    }

    Ok(restored)
}

/// The outcome of undoing.
#[derive(Default)]
struct Undone {
    steps: Vec<Undo>,
    /// Sentences about steps that failed.
    failed: Vec<String>,
}

impl Undone {
    /// # Errors
    /// A step failed.
    fn into_result(self) -> Result<()> {
        if !self.failed.is_empty() {
            bail!("{}", not_undone(&self.failed));
        }

        Ok(())
    }
}

impl Ledger {
    /// Makes the ledger of a run.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn open() -> Result<Ledger> {
        let host = Here::new()?;
        let folder = host.folder().display().to_string();
        let name = format!("undo-{}-{:x}.jsonl", std::process::id(), moment());
        Ledger::create(host, name).with_context(|| {
            let advice = place_advice();
            format!("{folder} cannot be written, and how to undo a change is recorded there first; make room{advice}")
        })
    }

    /// The ledger that another process handed over with its file.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn inherited(path: &Path, file: File) -> Result<Ledger> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ledger::read(Here::new()?, name, file)
    }

    /// A handle that holds the ledger, for another process to inherit.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn handle(&self) -> std::io::Result<File> {
        self.held.try_clone()
    }

    /// The ledger's file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.host.path(&self.name)
    }

    /// Has commands that undo something hear signals: the second one that asks the run to stop ends
    /// them.
    pub fn hear_signals(&mut self, signals: Rc<Signals>) {
        self.host.signals = Some(signals);
    }
}

/// What to do where the folder of ledgers cannot be written: root's stays where it is.
fn place_advice() -> &'static str {
    if rustix::process::geteuid().is_root() {
        " or make it writable: root's ledgers are nowhere else"
    } else {
        " or set XDG_STATE_HOME"
    }
}

/// Nanoseconds since 1970, by which names differ of runs that have the same process number.
pub(crate) fn moment() -> u128 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos())
}

impl<H: Host> Ledger<H> {
    fn create(host: H, name: String) -> Result<Ledger<H>> {
        let head = Head {
            format: FORMAT.to_owned(),
            pid: std::process::id(),
            boot: host.boot(),
            machine: host.machine(),
        };
        let (log, text) = Log::new(head)?;
        let held = host.create(&name, text.as_bytes())?;
        Ok(Ledger { host, name, held, log })
    }

    fn hold(host: &H, name: &str) -> Result<Holding<Ledger<H>>>
    where
        H: Clone,
    {
        let path = host.path(name);
        let holding =
            host.hold(name).with_context(|| format!("{} is not believed", path.display()))?;
        let held = match holding {
            Holding::Held(held) => held,
            Holding::Busy => return Ok(Holding::Busy),
            Holding::Gone => return Ok(Holding::Gone),
        };

        let ledger = Ledger::read(host.clone(), name.to_owned(), held).with_context(|| {
            format!("{} cannot be read; what it would undo is still changed", path.display())
        })?;
        let (its_machine, this_machine) = (&ledger.log.head.machine, host.machine());
        let has_names = !its_machine.is_empty() && !this_machine.is_empty();
        if has_names && *its_machine != this_machine {
            bail!(
                "{} is of another machine, which shares this directory; run `unixmark restore` there",
                path.display()
            );
        }
        Ok(Holding::Held(ledger))
    }

    fn read(host: H, name: String, held: H::Held) -> Result<Ledger<H>> {
        let log = Log::parse(&host.read(&held)?).map_err(anyhow::Error::msg)?;
        Ok(Ledger { host, name, held, log })
    }

    /// Writes to the disk how a change is undone, before the change is made; returns the step's
    /// number.
    ///
    /// # Errors
    /// A sentence: it could not be written, so the change must not be made.
    pub fn record(&mut self, step: &Undo) -> Result<usize, String> {
        let number = self.log.steps.len();
        self.append(Entry::Step(step.clone())).map_err(|error| {
            format!("its undo cannot be recorded ({error:#}), so nothing was changed; make room where {} is", self.name)
        })?;
        Ok(number)
    }

    /// Makes a directory that `undo` removes. One that is there already is somebody else's, and
    /// stays.
    ///
    /// # Errors
    /// A sentence: it cannot be recorded or made.
    pub fn make_directory(&mut self, undo: &Undo, path: &Path) -> Result<(), String> {
        let number = self.record(undo)?;
        files::make_directory(path).map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                self.settle(number);
            }
            format!("{} cannot be made ({error})", path.display())
        })
    }

    /// Records the processes of a command that is about to change something.
    ///
    /// # Errors
    /// A sentence: it could not be written, so the command must not be started.
    pub fn record_command(&mut self, name: &str, group: Group) -> Result<usize, String> {
        self.record(&Undo::EndGroup { name: name.to_owned(), group })
    }

    /// Notes that a step need not be taken any more. If that cannot be written, the step is taken
    /// for nothing some day.
    pub fn settle(&mut self, number: usize) {
        let _ = self.mark_done(vec![number]);
    }

    /// Undoes every change to the system, newest first; the run's scratch directory stays.
    ///
    /// # Errors
    /// A step failed: it stays in the ledger.
    pub fn put_back(&mut self) -> Result<()> {
        self.undo(Undo::is_change).into_result()
    }

    /// Undoes everything, and removes the file.
    ///
    /// # Errors
    /// A step failed: it stays in the ledger.
    pub fn close(&mut self) -> Result<()> {
        let undone = self.undo(|_| true);
        self.remove_if_done()?;
        undone.into_result()
    }

    /// Drops the steps of a name; returns them.
    ///
    /// # Errors
    /// The ledger cannot be written, or a command that still runs does not end.
    fn forget(mut self, name: &str) -> Result<Vec<Undo>> {
        let named = self.log.pending().filter(|(_, step)| step.name() == name);
        let (numbers, steps): (Vec<usize>, Vec<Undo>) =
            named.map(|(number, step)| (number, step.clone())).unzip();

        // A command that still runs could make a change that no ledger names.
        for step in steps.iter().filter(|step| step.blocks_older()) {
            self.take(step).map_err(|why| anyhow::anyhow!("{}: {why}", step.description()))?;
        }

        if !numbers.is_empty() {
            self.mark_done(numbers)
                .with_context(|| format!("{} cannot be written; make room", self.name))?;
            self.remove_if_done()?;
        }
        Ok(steps)
    }

    /// Takes the steps that are wanted, newest first.
    fn undo(&mut self, is_wanted: impl Fn(&Undo) -> bool) -> Undone {
        let wanted: Vec<(usize, Undo)> = self
            .log
            .pending()
            .rev()
            .filter(|(_, step)| is_wanted(step))
            .map(|(number, step)| (number, step.clone()))
            .collect();
        let mut undone = Undone::default();
        // Most trials change nothing, and need not ask for the boot.
        if wanted.is_empty() {
            return undone;
        }

        let is_same_boot = self.log.head.boot == self.host.boot();
        let mut done = Vec::new();
        for (number, step) in wanted {
            // The reboot has undone it.
            if !is_same_boot && !step.survives_a_reboot() {
                done.push(number);
                continue;
            }
            // A step that failed may leave something at work in the scratch directory, or mounted
            // there.
            if !step.is_change() && !undone.failed.is_empty() {
                continue;
            }

            match self.take(&step) {
                Ok(()) => {
                    done.push(number);
                    undone.steps.push(step);
                }
                Err(why) => {
                    undone.failed.push(format!("{}: {why}", step.description()));
                    if step.blocks_older() {
                        break;
                    }
                }
            }
        }

        // If that cannot be written, the steps are taken again some day, which does no harm.
        let _ = self.mark_done(done);
        undone
    }

    /// Takes one step. A command that it needs is in the ledger while it runs.
    fn take(&mut self, step: &Undo) -> Result<(), String> {
        let Ledger { host, held, log, .. } = self;
        let first_command = log.steps.len();
        let taken = host.take(step, &mut |group| {
            let command = Undo::EndGroup { name: step.name(), group };
            // Undoing matters more than recording who undoes.
            let _ = append(host, held, log, Entry::Step(command));
            Ok(())
        });

        // Its commands have ended by now.
        let _ = self.mark_done((first_command..self.log.steps.len()).collect());
        taken
    }

    /// Notes that steps need not be taken any more.
    fn mark_done(&mut self, numbers: Vec<usize>) -> Result<()> {
        if numbers.is_empty() {
            return Ok(());
        }

        let written = self.append(Entry::Done(numbers.clone()));
        self.log.set_done(&numbers);
        written
    }

    fn append(&mut self, entry: Entry) -> Result<()> {
        append(&self.host, &self.held, &mut self.log, entry)
    }

    fn is_done(&self) -> bool {
        self.log.pending().next().is_none()
    }

    /// Removes its file if no step is left.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(crate) fn remove_if_done(&mut self) -> Result<()> {
        if self.is_done() {
            self.host
                .remove(&self.name, &self.held)
                .with_context(|| format!("{} cannot be removed", self.name))?;
        }
        Ok(())
    }
}

/// The sentence about steps that failed.
#[must_use]
pub fn not_undone(failed: &[String]) -> String {
    format!(
        "not everything could be undone: {}; fix that, then run `unixmark restore` (`--forget` drops what can never be undone)",
        failed.join("; ")
    )
}

/// Adds an entry to a ledger, on the disk first.
fn append<H: Host>(host: &H, held: &H::Held, log: &mut Log, entry: Entry) -> Result<()> {
    let line = log.next_line(&entry)?;
    host.append(held, log.length, line.text.as_bytes())?;
    log.push(entry, line);
    Ok(())
}
