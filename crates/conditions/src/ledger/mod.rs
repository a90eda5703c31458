//! The undo of each change: on the disk before the change is made.
//!
//! Each run has a ledger of its own, and holds it (flock(2)) together with its guardian. One that nobody holds was left
//! behind. A ledger is only ever added to, and removed when no step is left, so nothing in it can be lost by a crash.

mod host;
mod log;
#[cfg(test)]
mod tests;
mod undo;

use std::fs::File;
use std::path::PathBuf;
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
    /// Those that were left behind.
    pub left: Vec<Leftover>,
    /// Files of runs that go on, or that are being cleaned up after.
    pub busy: Vec<PathBuf>,
    /// Sentences about those that cannot be read or must not be believed.
    pub unreadable: Vec<String>,
}

/// The outcome of `restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restored {
    /// Steps that were taken, in order.
    pub steps: Vec<Undo>,
    /// Sentences about steps that failed, which stay in their ledger.
    pub failed: Vec<String>,
    /// As in [`Survey`].
    pub busy: Vec<PathBuf>,
    /// As in [`Survey`].
    pub unreadable: Vec<String>,
}

/// Returns the ledgers of this user.
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
    let mut forgotten = Vec::new();
    for ledger in held_ledgers(&Here::new()?)?.0 {
        forgotten.extend(ledger.forget(name)?);
    }
    if forgotten.is_empty() {
        bail!("no run has left a step '{name}' behind; `unixmark restore --list` shows what is to be undone");
    }
    Ok(forgotten)
}

/// Holds every ledger that was left behind; returns those, with the rest of the survey.
fn held_ledgers<H: Host + Clone>(host: &H) -> Result<(Vec<Ledger<H>>, Survey)> {
    let mut survey = Survey::default();
    let mut ledgers = Vec::new();
    let names = host.names().with_context(|| format!("{} cannot be read", host.path("").display()))?;
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
    let (ledgers, mut survey) = held_ledgers(host)?;
    for ledger in ledgers {
        let steps = ledger.log.pending().rev().map(|(_, step)| step.clone()).collect();
        survey.left.push(Leftover { path: host.path(&ledger.name), steps });
    }
    Ok(survey)
}

fn restore_at<H: Host + Clone>(host: &H) -> Result<Restored> {
    let (ledgers, Survey { busy, unreadable, .. }) = held_ledgers(host)?;
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
    failed: Vec<String>,
}

impl Ledger {
    /// Makes the ledger of a run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn open() -> Result<Ledger> {
        let host = Here::new()?;
        let folder = host.folder().display().to_string();
        let name = format!("undo-{}-{:x}.jsonl", std::process::id(), moment());
        Ledger::create(host, name).with_context(|| {
            format!("{folder} cannot be written, and how to undo a change is recorded there first; make room or set XDG_STATE_HOME")
        })
    }

    /// Returns the ledger that another process handed over with its file.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn inherited(path: &std::path::Path, file: File) -> Result<Ledger> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ledger::read(Here::new()?, name, file)
    }

    /// Returns a handle that holds the ledger, for another process to inherit.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn handle(&self) -> std::io::Result<File> {
        self.held.try_clone()
    }

    /// Returns its file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.host.path(&self.name)
    }

    /// Has commands that undo something hear signals: the second one that asks the run to stop ends them.
    pub fn hear(&mut self, signals: Rc<Signals>) {
        self.host.signals = Some(signals);
    }
}

/// Nanoseconds that tell runs of the same process number apart.
fn moment() -> u128 {
    std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos())
}

impl<H: Host> Ledger<H> {
    fn create(host: H, name: String) -> Result<Ledger<H>> {
        let head =
            Head { format: FORMAT.to_owned(), pid: std::process::id(), boot: host.boot(), machine: host.machine() };
        let (log, text) = Log::new(head)?;
        let held = host.create(&name, text.as_bytes())?;
        Ok(Ledger { host, name, held, log })
    }

    fn hold(host: &H, name: &str) -> Result<Holding<Ledger<H>>>
    where
        H: Clone,
    {
        let path = host.path(name);
        let found = host.hold(name).with_context(|| format!("{} is not believed", path.display()))?;
        let held = match found {
            Holding::Held(held) => held,
            Holding::Busy => return Ok(Holding::Busy),
            Holding::Gone => return Ok(Holding::Gone),
        };
        let ledger = Ledger::read(host.clone(), name.to_owned(), held)
            .with_context(|| format!("{} cannot be read; what it would undo is still changed", path.display()))?;
        let (theirs, ours) = (&ledger.log.head.machine, host.machine());
        if !theirs.is_empty() && !ours.is_empty() && *theirs != ours {
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

    /// Writes to the disk how a change is undone, before the change is made; returns the step's number.
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

    /// Records the processes of a command that is about to change something.
    ///
    /// # Errors
    /// As [`Ledger::record`].
    pub fn record_command(&mut self, name: &str, group: Group) -> Result<usize, String> {
        self.record(&Undo::EndGroup { name: name.to_owned(), group })
    }

    /// Notes that a step need not be taken any more. If that cannot be written, the step is taken for nothing some day.
    pub fn settle(&mut self, number: usize) {
        let _ = self.done(vec![number]);
    }

    /// Undoes every change to the system, newest first; the run's scratch directory stays.
    ///
    /// # Errors
    /// A step failed: it stays in the ledger.
    pub fn put_back(&mut self) -> Result<()> {
        let undone = self.undo(Undo::is_change);
        self.report(&undone)
    }

    /// Undoes everything, and removes the file.
    ///
    /// # Errors
    /// A step failed: it stays in the ledger.
    pub fn close(&mut self) -> Result<()> {
        let undone = self.undo(|_| true);
        self.remove_if_done()?;
        self.report(&undone)
    }

    /// Drops the steps of a name; returns them.
    ///
    /// # Errors
    /// The ledger cannot be written, or a command that still runs does not end.
    fn forget(mut self, name: &str) -> Result<Vec<Undo>> {
        let named = self.log.pending().filter(|(_, step)| step.name() == name);
        let (numbers, steps): (Vec<usize>, Vec<Undo>) = named.map(|(number, step)| (number, step.clone())).unzip();
        // A command that still runs could make a change that no ledger names.
        for step in steps.iter().filter(|step| step.blocks_older()) {
            self.take(step).map_err(|why| anyhow::anyhow!("{}: {why}", step.description()))?;
        }
        if !numbers.is_empty() {
            self.done(numbers).with_context(|| format!("{} cannot be written; make room", self.name))?;
            self.remove_if_done()?;
        }
        Ok(steps)
    }

    /// Takes steps, newest first.
    fn undo(&mut self, is_wanted: impl Fn(&Undo) -> bool) -> Undone {
        let wanted = self.log.pending().rev().filter(|(_, step)| is_wanted(step));
        let wanted: Vec<(usize, Undo)> = wanted.map(|(number, step)| (number, step.clone())).collect();
        let (mut done, mut undone) = (Vec::new(), Undone::default());
        // Most trials change nothing.
        if wanted.is_empty() {
            return undone;
        }
        let same_boot = self.log.head.boot == self.host.boot();
        for (number, step) in wanted {
            if !same_boot && !step.survives_a_reboot() {
                done.push(number);
                continue;
            }
            // A step that failed may leave something at work in the scratch directory, or mounted there.
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
        let _ = self.done(done);
        undone
    }

    /// Takes one step. A command that it needs is in the ledger while it runs.
    fn take(&mut self, step: &Undo) -> Result<(), String> {
        let Ledger { host, held, log, .. } = self;
        let before = log.steps.len();
        let taken = host.take(step, &mut |group| {
            // Undoing matters more than recording who undoes.
            let _ = append(host, held, log, Entry::Step(Undo::EndGroup { name: step.name(), group }));
            Ok(())
        });
        // The command has ended by now.
        let _ = self.done((before..self.log.steps.len()).collect());
        taken
    }

    fn done(&mut self, numbers: Vec<usize>) -> Result<()> {
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

    fn remove_if_done(&mut self) -> Result<()> {
        if self.is_done() {
            self.host.remove(&self.name, &self.held).with_context(|| format!("{} cannot be removed", self.name))?;
        }
        Ok(())
    }

    fn report(&self, undone: &Undone) -> Result<()> {
        if undone.failed.is_empty() {
            return Ok(());
        }
        bail!("{}", not_undone(&undone.failed))
    }
}

/// Returns the sentence about steps that failed.
#[must_use]
pub fn not_undone(failed: &[String]) -> String {
    format!(
        "not everything could be undone: {}; fix that, then run `unixmark restore` (`--forget` drops what can never be undone)",
        failed.join("; ")
    )
}

/// Adds an entry to a ledger, on the disk first.
fn append<H: Host>(host: &H, held: &H::Held, log: &mut Log, entry: Entry) -> Result<()> {
    let line = log.line(&entry)?;
    host.append(held, log.length, line.0.as_bytes())?;
    log.push(entry, line);
    Ok(())
}
