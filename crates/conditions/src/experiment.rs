//! A run that switches conditions, and leaves nothing behind.
//!
//! [`Experiment::begin`] takes the lock by which one run at a time may switch anything, refuses to
//! start over changes that an earlier run has left, and opens the run's ledger. Around each trial,
//! [`Experiment::enter`] switches the condition, [`Experiment::prove`] asks each switch whether it
//! was on, and [`Experiment::leave`] undoes the ledger, newest step first. If the run is killed,
//! its guardian undoes the same ledger: it holds the files of [`Experiment::handles`].

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::bail;

use super::{
    Commands, Entered, FinishedTrial, Ledger, Refusal, Settings, Undo, Watch, enter, lock, survey,
};
use catalogue::Condition;
use files::Lock;
use journal::{Evidence, Trial};
use machine::Machine;
use processes::Signals;

/// The means of a run to leave nothing behind: its ledger, and the lock of those that switch
/// conditions. A machine has one such experiment at a time.
pub struct Experiment {
    settings: Settings,
    /// `None` until it is opened; a run that switches nothing does without one where none can be
    /// made.
    ledger: Option<Ledger>,
    signals: Option<Rc<Signals>>,
    lock: Option<Lock>,
}

/// Files by which another process holds an experiment's ledger and its lock.
#[derive(Debug)]
pub struct Handles {
    /// The ledger's path; empty without one.
    pub path: PathBuf,
    pub ledger: Option<File>,
    /// The lock of those that switch conditions.
    pub lock: Option<File>,
}

impl Experiment {
    /// Starts an experiment.
    ///
    /// # Errors
    /// Another one is running, an earlier one was not put back, or the ledger cannot be written.
    pub fn begin(settings: Settings) -> anyhow::Result<Experiment> {
        let lock = lock()?;

        let survey = survey()?;
        if let Some(why) = survey.unreadable.first() {
            bail!("{why}");
        }
        if let Some(left) = survey.left.iter().find(|left| left.steps.iter().any(Undo::is_change)) {
            bail!(
                "an earlier run was killed and left changes behind ({}); `unixmark restore` undoes them",
                left.path.display()
            );
        }

        // Only to see that it can be written: it is made later, so that a run that is killed while
        // it compiles leaves none.
        Ledger::open()?.close()?;
        Ok(Experiment { settings, ledger: None, signals: None, lock: Some(lock) })
    }

    /// The experiment of a run that switches nothing.
    #[must_use]
    pub fn passive() -> Experiment {
        Experiment { settings: Settings::default(), ledger: None, signals: None, lock: None }
    }

    /// Makes the ledger, just before there is a guardian.
    ///
    /// # Errors
    /// The ledger cannot be written, and the run is to change something.
    pub fn open_ledger(&mut self) -> anyhow::Result<()> {
        match Ledger::open() {
            Ok(ledger) => self.ledger = Some(ledger),
            Err(error) if self.lock.is_some() => return Err(error),
            Err(_) => {}
        }
        Ok(())
    }

    /// The files that a process inherits in order to undo the ledger.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn handles(&self) -> std::io::Result<Handles> {
        let ledger = self.ledger.as_ref();
        Ok(Handles {
            path: ledger.map(Ledger::path).unwrap_or_default(),
            ledger: ledger.map(Ledger::handle).transpose()?,
            lock: self.lock.as_ref().map(Lock::handle).transpose()?,
        })
    }

    /// Has commands hear signals.
    pub fn hear_signals(&mut self, signals: Rc<Signals>) {
        if let Some(ledger) = &mut self.ledger {
            ledger.hear_signals(Rc::clone(&signals));
        }
        self.signals = Some(signals);
    }

    /// Records a scratch directory that is about to be made.
    ///
    /// # Errors
    /// A sentence: it cannot be recorded.
    pub fn record_scratch(&mut self, path: &Path) -> Result<(), String> {
        let Some(ledger) = &mut self.ledger else {
            return Ok(());
        };

        ledger.record(&Undo::RemoveScratch { path: path.to_path_buf() })?;
        Ok(())
    }

    /// Enters a condition for a trial in `folder`, with `scratch` for files other than the
    /// programs'. It must be left even if this fails.
    ///
    /// # Errors
    /// The condition is not available here, or did not work.
    pub fn enter(
        &mut self,
        condition: &Condition,
        machine: &Machine,
        scratch: &Path,
        folder: &Path,
    ) -> Result<Entered, Refusal> {
        self.settings.scratch = scratch.to_path_buf();
        let signals = self.signals.clone();
        let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
        enter(condition, machine, &self.settings, ledger, folder, signals.as_deref())
    }

    /// Begins to trace the scheduler for these programs; `None` unless that is asked for.
    ///
    /// # Errors
    /// The kernel cannot, or the ledger cannot be written.
    pub fn watch(&mut self, programs: &[u32], machine: &Machine) -> Result<Option<Watch>, Refusal> {
        if !self.settings.why {
            return Ok(None);
        }

        let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
        Watch::begin(programs, machine, ledger).map(Some)
    }

    /// Proves that a condition was on during a trial, and returns the evidence; `None` if nothing
    /// was switched for the programs.
    ///
    /// # Errors
    /// A switch is not proved, or a signal came.
    pub fn prove(
        &mut self,
        entered: &mut Entered,
        trial: &Trial,
        window: Range<u64>,
        companion: Option<f64>,
    ) -> Result<Option<Evidence>, Refusal> {
        if entered.proofs.is_empty() && entered.load_proofs.is_empty() {
            return Ok(None);
        }

        let ledger = self.ledger.as_mut().ok_or_else(no_ledger)?;
        let commands =
            Commands { ledger, signals: self.signals.as_deref(), limit: self.settings.patience };
        let evidence = entered.prove(&mut FinishedTrial { trial, window, companion, commands })?;

        // The load's proofs are checked, but are no evidence on the programs.
        Ok((!entered.proofs.is_empty()).then_some(evidence))
    }

    /// Undoes everything that was changed around a trial.
    ///
    /// # Errors
    /// Something could not be undone: the run must not go on.
    pub fn leave(&mut self) -> anyhow::Result<()> {
        self.ledger.as_mut().map_or(Ok(()), Ledger::put_back)
    }

    /// Undoes everything, and removes the scratch directory and the ledger.
    ///
    /// # Errors
    /// Something could not be undone.
    pub fn end(&mut self) -> anyhow::Result<()> {
        self.ledger.as_mut().map_or(Ok(()), Ledger::close)
    }
}

impl Drop for Experiment {
    /// A run that ended before its guardian was there has a ledger without steps.
    fn drop(&mut self) {
        if let Some(ledger) = &mut self.ledger {
            // The next run removes it.
            let _ = ledger.remove_if_done();
        }
    }
}

fn no_ledger() -> Refusal {
    Refusal::Failed("there is no ledger, so nothing may be changed".to_owned())
}
