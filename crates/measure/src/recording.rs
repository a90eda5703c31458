//! The journal of a run: how it begins and how it ends.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;

use super::lock::{alone, is_shared};
use super::measured::{self, Discarded};
use super::{Ask, Measured, Observer, Setup};
use analysis::Results;
use build::Programs;
use catalogue::{Catalogue, Test};
use files::Lock;
use journal::{End, FORMAT, Fact, Record, Run, Store, Warning, Writer, today};
use machine::Machine;
use runner::Outcome;

/// The remark on a run that another one disturbed.
const SHARED: &str = "another unixmark was running on this machine; these figures are affected by it";

/// The remark on figures that are not the machine's.
const EMULATED: &str = "an emulator ran the tool and its programs, so the figures say nothing about any real machine";

/// The content of a journal's first lines.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// The tests to be built.
    pub tests: Vec<&'a Test>,
    /// Facts that are not the machine's, as those of the display.
    pub facts: Vec<Fact>,
    pub remarks: Vec<String>,
    /// The settings; the rest is filled in.
    pub run: Run,
    /// True if the run is removed once it was shown.
    pub discard: bool,
}

/// A run that has begun.
pub(super) struct Recording {
    pub writer: Writer,
    pub programs: Option<Programs>,
    /// The run's name.
    pub name: String,
    directory: PathBuf,
    began: Instant,
    /// Held until the end: the kernel releases it however the tool ends.
    _alone: Option<Lock>,
    /// True if another run was seen at the begin, which is a remark once.
    was_shared: bool,
    discarded: Option<Discarded>,
}

impl Recording {
    /// Begins a run: its directory, its programs, and the first lines of its journal.
    ///
    /// # Errors
    /// The run cannot be kept, or its programs cannot be built.
    pub fn begin(machine: &Machine, setup: &Setup, head: Head<'_>, observer: &mut dyn Observer) -> Result<Recording> {
        let Head { tests, .. } = head;
        let _alone = setup.fleet.is_some().then(alone).transpose()?;
        let was_shared = is_shared();
        let host = machine.host_name();
        let discarded = head.discard.then(|| Discarded::new(&setup.dir)).transpose()?;
        let (name, directory) = match &discarded {
            Some(discarded) => Store::at(Some(discarded.0.clone()))?,
            None => setup.store.clone(),
        }
        .create(&host, &today())?;
        let prepare = |tests: Vec<&Test>| {
            // Only an empty directory goes; nothing was measured.
            Programs::prepare(machine, &tests, setup.build).inspect_err(|_| drop(std::fs::remove_dir(&directory)))
        };
        let programs = Some(tests).filter(|tests| !tests.is_empty()).map(prepare).transpose()?;
        let mut writer = Writer::create(&directory)?;
        if setup.emit {
            writer.emit();
        }
        let shared = was_shared.then(|| SHARED.to_owned());
        let emulated = machine::emulation(machine).map(|what| format!("{EMULATED} ({what})"));
        let built = programs.as_ref().and_then(|programs| programs.warning.clone());
        let run = Run {
            format: FORMAT.to_owned(),
            name: name.clone(),
            fleet: setup.fleet.clone(),
            host,
            tool: concat!("unixmark ", env!("CARGO_PKG_VERSION")).to_owned(),
            started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            arguments: setup.arguments.clone(),
            comment: setup.comment.clone(),
            cpus: machine::cpus_online(machine) as usize,
            build: programs.as_ref().map(|programs| programs.build.clone()),
            ..head.run
        };
        let began = Instant::now();
        let mut recording = Recording { writer, programs, name, directory, began, _alone, was_shared, discarded };
        recording.writer.append(&Record::Run(Box::new(run)))?;
        let facts = if setup.all_facts { machine::all_facts } else { machine::facts };
        for fact in facts(machine, &setup.dir).into_iter().chain(head.facts) {
            recording.writer.append(&Record::Fact(fact))?;
        }
        for text in shared.into_iter().chain(built).chain(emulated).chain(head.remarks) {
            recording.warn(text, observer)?;
        }
        observer.began(&recording.name)?;
        Ok(recording)
    }

    /// Adds a remark about the whole run.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn warn(&mut self, text: String, observer: &mut dyn Observer) -> Result<()> {
        observer.warned(&text);
        self.writer.append(&Record::Warning(Warning { cell: None, text }))
    }

    /// Ends the journal and returns what was measured.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub fn end(mut self, outcome: Result<Outcome>, catalogue: &Catalogue, strict: bool, ask: &Ask) -> Result<Measured> {
        let ended = self.write_end(outcome);
        let journal = journal::read(&self.directory)?;
        let results = Results::new(&journal, catalogue, None);
        let mut failures = measured::failures(&journal, &results, strict, ask);
        if let Err(error) = &ended {
            failures.insert(0, format!("{error:#}"));
        }
        let (directory, _discarded, ended) = (self.directory, self.discarded, ended.ok());
        let unseen = ask.gate.and_then(|size| results.cost()?.unseen(size));
        let vague = measured::counted(&results, ask, analysis::Outcome::Undecided).collect();
        let is_gate_strict = ask.is_gate_strict;
        Ok(Measured { directory, journal, results, ended, failures, unseen, is_gate_strict, vague, _discarded })
    }

    /// Writes the last lines of the journal.
    fn write_end(&mut self, outcome: Result<Outcome>) -> Result<Outcome> {
        if is_shared() && !self.was_shared {
            // A journal that cannot be written shows below.
            let text = SHARED.to_owned();
            let _ = self.writer.append(&Record::Warning(Warning { cell: None, text }));
        }
        let outcome = outcome?;
        let seconds = self.began.elapsed().as_secs_f64();
        self.writer.append(&Record::End(End { reason: outcome.ended, seconds }))?;
        self.writer.sync()?;
        Ok(outcome)
    }
}
