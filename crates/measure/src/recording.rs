//! Begins and ends the journal of a run.

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;

use super::gate::gates;
use super::lock::{is_another_running, lock_host};
use super::measured::{self, Discarded};
use super::{Ask, Measured, Observer, Setup};
use analysis::Results;
use build::Programs;
use catalogue::{Catalogue, Test};
use files::Lock;
use journal::{End, Ended, FORMAT, Fact, Record, Run, Store, Warning, Writer, today};
use machine::Machine;
use runner::Outcome;

/// The remark on a run that another one disturbed.
const SHARED: &str =
    "another unixmark was running on this machine; these figures are affected by it";

/// The remark on figures of an emulator.
const EMULATED: &str =
    "an emulator ran the tool and its programs, so the figures say nothing about any real machine";

/// The content of a journal's first lines that depends on the request.
#[derive(Default)]
pub(super) struct Head<'a> {
    /// The tests to be built.
    pub tests: Vec<&'a Test>,
    /// Facts that are not about the machine, such as those about the display.
    pub facts: Vec<Fact>,
    pub remarks: Vec<String>,
    /// The fields that the request decides; the others are filled in.
    pub run: Run,
    /// True if the run is removed after it was shown.
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
    /// Reserves the host until the end, for a part of a fleet run. The kernel releases it however
    /// the tool ends.
    _host_lock: Option<Lock>,
    /// True if another run was seen at the beginning, so that the remark is made once.
    was_shared: bool,
    discarded: Option<Discarded>,
}

impl Recording {
    /// Begins a run: its programs, its directory, and the first lines of its journal.
    ///
    /// # Errors
    /// The run cannot be kept, or its programs cannot be built.
    pub fn begin(
        machine: &Machine,
        setup: &Setup,
        head: Head<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Recording> {
        let Head { tests, .. } = head;
        let _host_lock = setup.fleet.is_some().then(lock_host).transpose()?;
        let was_shared = is_another_running();

        // Before there is a directory: compiling may fail, take long, and be ended by a signal.
        let programs = if tests.is_empty() {
            None
        } else {
            Some(Programs::prepare(machine, &tests, setup.build)?)
        };

        let host = machine.host_name();
        let discarded = head.discard.then(|| Discarded::new(&setup.dir)).transpose()?;
        let store = match &discarded {
            Some(discarded) => Store::at(Some(discarded.0.clone()))?,
            None => setup.store.clone(),
        };
        let (name, directory) = store.create(&host, &today())?;

        let mut writer = Writer::create(&directory)?;
        if setup.emit {
            writer.emit();
        }
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
        let mut recording = Recording {
            writer,
            programs,
            name,
            directory,
            began: Instant::now(),
            _host_lock,
            was_shared,
            discarded,
        };
        recording.writer.append(&Record::Run(Box::new(run)))?;
        let facts = if setup.all_facts { machine::all_facts } else { machine::facts };
        for fact in facts(machine, &setup.dir).into_iter().chain(head.facts) {
            recording.writer.append(&Record::Fact(fact))?;
        }

        let mut remarks: Vec<String> = Vec::new();
        remarks.extend(was_shared.then(|| SHARED.to_owned()));
        remarks.extend(recording.programs.as_ref().and_then(|programs| programs.warning.clone()));
        remarks.extend(machine::emulation(machine).map(|what| format!("{EMULATED} ({what})")));
        remarks.extend(head.remarks);
        for text in remarks {
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
    /// The journal cannot be read, or the run could not begin, and is not kept then.
    pub fn end(
        mut self,
        outcome: Result<Outcome>,
        catalogue: &Catalogue,
        strict: bool,
        ask: &Ask,
    ) -> Result<Measured> {
        let ended = self.write_end(outcome);
        let journal = journal::read(&self.directory)?;
        let is_empty = journal.trials.is_empty() && journal.samples.is_empty();
        let ended = match ended {
            Err(error) if is_empty => {
                let _ = std::fs::remove_dir_all(&self.directory);
                return Err(error);
            }
            ended => ended,
        };
        let results = Results::new(&journal, catalogue, None);

        let is_interrupted = results.end == Some(Ended::Interrupted);
        let judged_counts =
            if is_interrupted { Vec::new() } else { results.judge_counts(&ask.limits) };
        let mut failures = measured::failures(&journal, &results, &judged_counts, strict, ask);
        match &ended {
            Ok(outcome) => failures.extend(outcome.failures.iter().cloned()),
            Err(error) => failures.insert(0, format!("{error:#}")),
        }

        let gates = gates(ask);
        let (mut unseen, mut undirected) = (Vec::new(), Vec::new());
        let mut vague: Vec<String> =
            measured::sentences_of(analysis::Outcome::Undecided, &judged_counts).collect();
        if let Some(cost) = results.cost() {
            if !gates.is_empty() {
                vague.extend(measured::unjudged_figures(&results, cost));
            }
            for gate in &gates {
                unseen.extend(gate.unseen(cost));
                undirected.extend(gate.undirected(cost));
                vague.extend(gate.explain_missing(cost));
            }
        }
        Ok(Measured {
            directory: self.directory,
            gates,
            judged_counts,
            vague,
            unseen,
            undirected,
            is_gate_strict: ask.is_gate_strict,
            failures,
            ended: ended.ok(),
            journal,
            results,
            discarded: self.discarded,
        })
    }

    /// Writes the last lines of the journal.
    fn write_end(&mut self, outcome: Result<Outcome>) -> Result<Outcome> {
        if is_another_running() && !self.was_shared {
            // If this fails, so does the append below, which reports it.
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
