//! The journal of a run: how it begins, how it ends, and what is reported then.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::alone::RunLock;
use super::job::Ending;
use crate::measuring::options::Measuring;
use crate::measuring::terminal::Loudness;
use crate::reports::{place, write_all};
use crate::status::Status;
use crate::terminal::{layout, print, say, say_error};
use ::report::{Format, Subject};
use analysis::{BurnIn, Comparison, Effect, Results};
use build::Programs;
use catalogue::{Catalogue, Test};
use journal::{End, Ended, FORMAT, Fact, Journal, Record, Run, Store, Warning, Writer, today};
use machine::Machine;
use runner::Outcome;
use words::{Grouped, Unique};

/// What is reported if two runs measure at once.
const SHARED: &str = "another unixmark was running on this machine; these figures are affected by it";

/// What is reported of figures that are not the machine's.
const EMULATED: &str = "an emulator ran the tool and its programs, so the figures say nothing about any real machine";

/// What a run begins with.
pub(crate) struct Start<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) store: &'a Store,
    pub(crate) options: &'a Measuring,
    /// Where the programs work.
    pub(crate) dir: &'a Path,
    /// What is to be built.
    pub(crate) tests: Vec<&'a Test>,
    /// Facts that are not the machine's, as those of the display.
    pub(crate) facts: Vec<Fact>,
    pub(crate) remarks: Vec<String>,
    /// What was asked for; the rest is filled in.
    pub(crate) run: Run,
}

/// A run that has begun.
pub(crate) struct Recording {
    pub(crate) writer: Writer,
    pub(crate) programs: Option<Programs>,
    /// The run's name.
    pub(crate) name: String,
    directory: PathBuf,
    began: Instant,
    /// Held until the end: the kernel releases it however the tool ends.
    lock: RunLock,
    /// Whether another run was seen at the begin, which is a remark once.
    was_shared: bool,
}

impl Recording {
    /// Begins a run: its directory, its programs, and the first lines of its journal.
    ///
    /// # Errors
    /// The run cannot be kept, or its programs cannot be built.
    pub(crate) fn start(start: Start<'_>) -> Result<Recording> {
        let Start { machine, store, options, dir, tests, .. } = start;
        let lock = if options.fleet.is_part() { RunLock::alone()? } else { RunLock::take() };
        let was_shared = lock.is_shared();
        let mut remarks: Vec<String> = was_shared.then(|| SHARED.to_owned()).into_iter().collect();
        let host = machine.read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned());
        let (name, directory) = store.create(&host, &today())?;
        let programs = (!tests.is_empty()).then(|| {
            Programs::prepare(machine, &tests, options.build).inspect_err(|_| {
                // Only an empty directory goes; nothing was measured.
                let _ = std::fs::remove_dir(&directory);
            })
        });
        let programs = programs.transpose()?;
        remarks.extend(programs.as_ref().and_then(|programs| programs.warning.clone()));
        remarks.extend(machine::emulation(machine).map(|what| format!("{EMULATED} ({what})")));
        remarks.extend(start.remarks);
        let mut writer = Writer::create(&directory)?;
        if options.fleet.emit {
            writer.emit();
        }
        let mut recording =
            Recording { writer, programs, name: name.clone(), directory, began: Instant::now(), lock, was_shared };
        let run = Run {
            format: FORMAT.to_owned(),
            name,
            fleet: options.fleet.attempt(&host),
            host,
            tool: concat!("unixmark ", env!("CARGO_PKG_VERSION")).to_owned(),
            started: jiff::Zoned::now().strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
            arguments: std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect(),
            cpus: machine::cpus_online(machine),
            build: recording.programs.as_ref().map(|programs| programs.build.clone()),
            ..start.run
        };
        recording.writer.append(&Record::Run(Box::new(run)))?;
        let facts = if options.all_facts { machine::all_facts } else { machine::facts };
        for fact in facts(machine, dir).into_iter().chain(start.facts) {
            recording.writer.append(&Record::Fact(fact))?;
        }
        for text in remarks {
            if options.loudness() != Loudness::Quiet {
                say(&format!("warning: {text}"));
            }
            recording.remark(text)?;
        }
        Ok(recording)
    }

    /// Adds a remark about the whole run.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(crate) fn remark(&mut self, text: String) -> Result<()> {
        self.writer.append(&Record::Warning(Warning { cell: None, text }))
    }

    /// Ends the journal, writes the reports, shows the result and returns what it comes to.
    ///
    /// # Errors
    /// The journal cannot be read.
    pub(crate) fn conclude(
        mut self,
        outcome: Result<Outcome>,
        catalogue: &Catalogue,
        options: &Measuring,
        gate: Option<f64>,
        ending: Option<Ending<'_>>,
    ) -> Result<Status> {
        let signal = outcome.as_ref().ok().and_then(|outcome| outcome.signal);
        let ended = self.finish(outcome.map(|outcome| outcome.ended));
        let journal = journal::read(&self.directory)?;
        let mut results = Results::new(&journal, catalogue, None);
        place(&mut results, &self.directory, catalogue, &[]);
        let written = write_all(&results, &self.directory);
        let shown = ending.map_or(Ok(()), |ending| ending(&journal, &results, &self.directory));
        let all_kept = [ended, written, shown].into_iter().filter_map(Result::err).fold(true, |_, error| {
            say_error("unixmark", &error);
            false
        });
        let found = verdict(&results, &journal, gate);
        if let Some(format) = options.shown().filter(|_| ending.is_none()) {
            self.publish(&results, format, options.loudness())?;
        }
        Ok(match (signal, found) {
            (Some(number), _) => {
                say(&format!("unixmark: stopped by signal {number}; what was measured until then is kept"));
                Status::Signal(number)
            }
            (None, Status::Fine) if !all_kept => Status::Failed,
            (None, Status::Fine) if options.strict && !results.skipped.is_empty() => {
                reasons(&results, "skipped, which --strict does not allow");
                Status::Failed
            }
            (None, found) => found,
        })
    }

    /// Writes the last lines of the journal.
    fn finish(&mut self, ended: Result<Ended>) -> Result<()> {
        if self.lock.is_shared() && !self.was_shared {
            // A journal that cannot be written shows below.
            let _ = self.remark(SHARED.to_owned());
        }
        self.writer.append(&Record::End(End { reason: ended?, seconds: self.began.elapsed().as_secs_f64() }))?;
        self.writer.sync()
    }

    /// Shows the result.
    fn publish(&self, results: &Results, format: Format, loudness: Loudness) -> Result<()> {
        let shown = print(&::report::render(Subject::Run(results), layout(format))?);
        if loudness != Loudness::Quiet {
            say(&format!(
                "\nThe run and its reports are in {}: report.html is a page with charts, run.jsonl the journal of \
                 everything that was measured, and run.json its summary.",
                self.directory.display()
            ));
        }
        shown.context("the report cannot be shown, but the run is kept")
    }
}

/// Returns what a run comes to; what failed at its end is reported.
fn verdict(results: &Results, journal: &Journal, gate: Option<f64>) -> Status {
    let burnin = results.burnin();
    // Trials were reported when they failed; a burn-in is one.
    for missing in results.skipped.iter().chain(&results.errors).filter(|_| burnin.is_some()) {
        say(&format!("error: {}", missing.reason));
    }
    let losses = gate.zip(results.cost()).map_or_else(Vec::new, |(size, cost)| cost.losses(size));
    losses.iter().for_each(|loss| say(&format!("unixmark: {}", sentence(loss))));
    if results.figures.is_empty() && !burnin.is_some_and(BurnIn::has_worked) {
        reasons(results, "not measured");
        return Status::Nothing;
    }
    let errors = journal.trials.iter().filter(|trial| trial.error.is_some()).count();
    if errors > 0 {
        say(&format!("unixmark: {} failed; the report has the reasons", words::count(errors, "trial")));
    }
    if results.end == Some(Ended::Broke) {
        say("unixmark: the run ended at the first frame later than --break-over allows");
    }
    let is_bad = burnin.is_some_and(|burnin| !burnin.good);
    if is_bad {
        say("unixmark: the burn-in found something wrong; the report says what");
    }
    let failed =
        results.end == Some(Ended::Broke) || !losses.is_empty() || is_bad || !results.errors.is_empty() || errors > 0;
    if failed { Status::Failed } else { Status::Fine }
}

/// Says which tests failed or were skipped, and why: each reason once.
fn reasons(results: &Results, what: &str) {
    let gaps = results.skipped.iter().chain(&results.errors);
    for (reason, tests) in gaps.map(|gap| (&gap.reason, gap.key.test.as_str())).unique().into_iter().grouped() {
        say(&format!("unixmark: {}: {what}: {reason}", tests.join(", ")));
    }
}

/// A loss in a sentence.
fn sentence(effect: &Effect) -> String {
    let loss = &effect.comparison;
    let Comparison { cell, measure, delta, .. } = loss;
    let (word, unit) = (loss.verdict.word(), measure.delta_unit());
    format!(
        "{} x {} ({}) is {word} under {} by {:.1} {unit}",
        cell.key.copies,
        cell.key.test,
        measure.name(),
        cell.key.condition,
        -delta.value
    )
}
