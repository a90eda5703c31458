//! A plan whose conditions were checked, and how it is carried out.
//!
//! The order in [`Prepared::measure`] matters. First the experiment, which undoes what an earlier
//! run has left and takes the ledger; then programs and display, which may fail; then the journal;
//! and the bench last, whose guardian cleans up from then on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Error, Result, bail};

use super::recording::{Head, Recording};
use super::{Ask, Measured, Observer, Setup, add_cycles};
use analysis::cost;
use analysis::pairs::{Question, is_answered, wants_units};
use build::{Builds, Programs};
use catalogue::{Catalogue, Condition, Metric, Need, Test};
use conditions::{Experiment, Settings};
use display::Display;
use interop::harness::Harness;
use journal::{Cell, GivenCommand, Printed, Run, Trial, View};
use machine::Machine;
use plan::{Matrix, Pin, Plan};
use runner::{Bench, Outcome, Policy, Rig, Setting};

/// The advice about a setting that cannot be undone.
const ONE_WAY: &str = "\
    measure before and after it is set by hand, `unixmark run -m before` and `unixmark run -m after`, \
    then `unixmark compare before after`; or --yes sets it, and it stays";

/// The consequence of such a setting for a run that switches between conditions.
const CONTAMINATED: &str = "\
    once it is set, the reference is measured under it too, so this run does not show what it costs";

/// An interval of this half-width is narrow enough, as a share of the score, unless the user says
/// otherwise.
const DEFAULT_PRECISION: f64 = 0.01;

/// A command that enters, proves or leaves a condition may take this long, or as long as the user's
/// patience if that is longer.
const MIN_SWITCH_PATIENCE: Duration = Duration::from_secs(60);

/// A request as a plan, and what is to be said before it is carried out.
#[derive(Debug)]
pub struct Prepared<'a> {
    pub plan: Plan,
    /// Warnings to show before the run.
    pub warnings: Vec<String>,
    /// Changes that conditions leave until the next reboot.
    pub lasting: Vec<String>,
    /// Why nothing can be measured or compared here; `None` if the run can begin.
    pub obstacle: Option<String>,
    pub ask: Ask,
    pub catalogue: &'a Catalogue,
    pub machine: &'a Machine,
}

/// Expands a request into a plan, and checks its conditions. Nothing begins.
///
/// # Errors
/// There is nothing to measure, or not by this procedure, or too much for one run.
pub fn prepare<'a>(
    ask: Ask,
    catalogue: &'a Catalogue,
    machine: &'a Machine,
) -> Result<Prepared<'a>> {
    let plan = Plan::new(&ask.matrix, catalogue, &machine::topology(machine))?;
    let arms = &plan.arms;
    let mut warnings: Vec<String> = plan.advice().into_iter().collect();

    let reference =
        arms.reference.as_ref().and_then(|condition| explain_missing(condition, machine));
    let others: Vec<Option<String>> =
        arms.others.iter().map(|condition| explain_missing(condition, machine)).collect();
    let nothing_to_compare = reference.is_some() || others.iter().all(Option::is_some);
    let missing: Vec<String> = reference.into_iter().chain(others.into_iter().flatten()).collect();
    let no_tracing = machine::unmet(machine, &[Need::Root, Need::Tracefs]).filter(|_| ask.why);
    let obstacle = match no_tracing {
        Some(why) => Some(format!(
            "the scheduler cannot be traced, as --why and commands need: {why}; try a task without --why"
        )),
        None if nothing_to_compare => {
            let missing = missing.join("; ");
            Some(format!("{missing}; `unixmark list conditions --available` shows what is"))
        }
        None => None,
    };
    if obstacle.is_some() {
        return Ok(Prepared {
            plan,
            warnings,
            lasting: Vec::new(),
            obstacle,
            ask,
            catalogue,
            machine,
        });
    }

    let mut one_way: Vec<String> = arms
        .conditions()
        .flat_map(|condition| conditions::irreversible_settings(condition, machine))
        .collect();
    one_way.dedup();
    if !one_way.is_empty() && !ask.may_last {
        bail!("{}; {ONE_WAY}", one_way.join("; "));
    }

    let mut lasting: Vec<String> = arms
        .conditions()
        .filter_map(|condition| conditions::lasting_trace(condition, machine))
        .map(str::to_owned)
        .collect();
    lasting.extend(one_way.iter().map(|why| format!("{why}; {CONTAMINATED}")));
    lasting.dedup();

    warnings.extend(missing);
    warnings.extend(lasting.iter().map(|text| format!("lasting change: {text}")));
    Ok(Prepared { plan, warnings, lasting, obstacle: None, ask, catalogue, machine })
}

/// The sentence that a condition is not available here; `None` if it is.
fn explain_missing(condition: &Condition, machine: &Machine) -> Option<String> {
    let why = conditions::unavailable_reason(condition, machine)?;
    Some(format!("{} is not available here: {why}", condition.name))
}

impl Prepared<'_> {
    /// Reads the figures that an execution has printed; where the user said whether more or less is
    /// better (`--better`), with that direction.
    fn read_printed(&self, harness: Harness, text: &[u8], round: u64) -> Result<Vec<Printed>> {
        let mut printed = harness.printed(text, round, self.ask.tail)?;
        for figure in &mut printed {
            for better in &self.ask.better {
                better.apply(&figure.name, &figure.unit, &mut figure.metric);
            }
        }
        Ok(printed)
    }

    /// Checks that something can be measured here.
    ///
    /// # Errors
    /// There is an [obstacle](Prepared::obstacle).
    pub fn check(&self) -> Result<()> {
        self.obstacle.clone().map_or(Ok(()), |obstacle| Err(Error::msg(obstacle)))
    }

    /// A sentence for each reason why tests will be skipped here, with the tests.
    pub fn skipped(&self) -> Vec<String> {
        /// Of more tests, only the number is given.
        const MAX_LISTED_TESTS: usize = 5;

        let mut by_reason: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for test in self.plan.tests() {
            if let Some(why) = machine::unmet(self.machine, &test.needs) {
                by_reason.entry(why).or_default().insert(&test.id);
            }
        }

        let mut sentences = Vec::new();
        for (why, tests) in by_reason {
            let tests = words::listed(&Vec::from_iter(tests), MAX_LISTED_TESTS);
            sentences.push(format!("to be skipped: {tests}: {why}"));
        }
        sentences
    }

    /// Measures with the programs, on this machine.
    ///
    /// # Errors
    /// A condition or a program cannot be made ready, or the journal cannot be begun or read.
    pub fn measure(&self, setup: &Setup, observer: &mut dyn Observer) -> Result<Measured> {
        self.check()?;

        let plan = &self.plan;
        let why = self.ask.why;
        let experiment = if why || plan.changes_the_machine() {
            let patience = MIN_SWITCH_PATIENCE.max(setup.patience);
            let trail = self.ask.trail.clone();
            let may_last = self.ask.may_last;
            Experiment::begin(Settings { patience, trail, why, may_last, ..Settings::default() })?
        } else {
            Experiment::passive()
        };

        let tests: Vec<&Test> = plan.tests().filter(|test| !test.is_foreign()).collect();
        let mut builds = Builds::new();
        for name in plan.builds() {
            let programs = Programs::prepare_named(self.machine, &tests, &name)?;
            builds.insert(name, programs);
        }

        let draws = plan.cells.iter().any(|cell| cell.test.graphics().is_some());
        let mut display =
            if self.ask.xvfb && draws { Display::private()? } else { Display::default() };
        let facts = if draws { display.facts() } else { Vec::new() };

        let remarks = warn_of_copies(self.machine, plan).into_iter().collect();
        let head = Head { tests, facts, remarks, ..self.head() };
        let mut recording = Recording::begin(self.machine, setup, head, observer)?;
        // The usual build has no name.
        let usual = recording.programs.clone();
        builds.extend(usual.map(|programs| (String::new(), programs)));

        let read_printed = self
            .ask
            .harness
            .map(|harness| move |text: &[u8], round| self.read_printed(harness, text, round));
        let setting = Setting {
            machine: self.machine,
            plan,
            programs: &builds,
            display: &display,
            add_cycles: add_cycles(self.catalogue, self.machine),
            meter: self.ask.meter.as_deref(),
            figures: read_printed.as_ref().map(|read| read as _),
            dir: &setup.dir,
            patience: setup.patience,
            screen: setup.screen.as_deref(),
        };
        let rig = Rig::new(&setting, experiment);
        let outcome = rig.and_then(|rig| self.run(rig, &mut recording, observer));
        if let Some(text) = display.end_reason() {
            recording.warn(text, observer)?;
        }
        recording.end(outcome, self.catalogue, setup.strict, &self.ask)
    }

    /// Measures on the caller's bench, such as the tests' simulated one, without programs,
    /// conditions and display.
    ///
    /// # Errors
    /// The journal cannot be begun or read.
    pub fn measure_on(
        &self,
        bench: impl Bench,
        setup: &Setup,
        observer: &mut dyn Observer,
    ) -> Result<Measured> {
        self.check()?;
        let mut recording = Recording::begin(self.machine, setup, self.head(), observer)?;
        let outcome = self.run(bench, &mut recording, observer);
        recording.end(outcome, self.catalogue, setup.strict, &self.ask)
    }

    /// Carries out the plan on a bench, and asks the analysis when trials are enough.
    fn run(
        &self,
        bench: impl Bench,
        recording: &mut Recording,
        observer: &mut dyn Observer,
    ) -> Result<Outcome> {
        let gate = self.ask.gate.filter(|_| self.ask.view != View::Ab);
        let suspects = gate.map(|size| {
            move |cells: &[Cell], trials: &[Vec<Trial>]| cost::suspects(cells, trials, size)
        });
        let policy = Policy {
            enough: &|families| self.enough(families),
            wants_units: Some(&|family| wants_units(family, &self.question())),
            suspects: suspects.as_ref().map(|suspects| suspects as _),
        };
        runner::run(&self.plan, policy, bench, &mut recording.writer, &mut |event| {
            observer.happened(&event)
        })
    }

    /// For each family of cells, true if it was measured precisely enough: its costs if arms are
    /// compared, else its scores.
    fn enough(&self, families: &[Vec<runner::Measured<'_>>]) -> Vec<bool> {
        let precision = self.plan.procedure.effort.precision;
        match self.plan.arms.reference {
            Some(_) if self.ask.view == View::Ab => {
                let question = self.question();
                families.iter().map(|family| is_answered(family, &question)).collect()
            }
            Some(_) => families.iter().map(|family| cost::is_precise(family, precision)).collect(),
            None => analysis::enough(families, precision.unwrap_or(DEFAULT_PRECISION)),
        }
    }

    /// The question about commands that are executed alternately.
    fn question(&self) -> Question {
        let budget = self.plan.timed_budget();
        Question {
            precision: self.plan.procedure.effort.precision.unwrap_or(DEFAULT_PRECISION),
            threshold: self.ask.gate,
            tail_threshold: self.ask.tail_gate,
            budget: budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64()),
        }
    }

    /// The fields of the journal's first line that the request and the plan decide.
    fn head(&self) -> Head<'_> {
        let Ask { matrix, indexes, baseline, view, findings, discard, time_unit, sort, .. } =
            &self.ask;
        let reference = self.plan.arms.reference.as_ref();
        let run = Run {
            procedure: matrix.procedure.effort.kind.into(),
            seed: matrix.seed,
            indexes: indexes.clone(),
            settings: list_settings(&self.ask, &self.plan),
            baseline: baseline.clone(),
            view: *view,
            findings: findings.clone(),
            threshold: (*view == View::Ab).then(|| 100.0 * self.question().precision),
            time_unit: *time_unit,
            sort: *sort,
            has_reference: self.ask.has_reference,
            commands: given_commands(&matrix.tests),
            against: reference.map(|condition| condition.name.clone()).unwrap_or_default(),
            pin: if matrix.pin == Pin::None { String::new() } else { matrix.pin.to_string() },
            borders: self.plan.borders.clone(),
            ..Run::default()
        };
        Head { run, discard: *discard, ..Head::default() }
    }
}

/// Everything that changes the figures and is neither a coordinate of a cell nor a fact: arguments
/// for tests and loads, and the time for which interactive tests are watched in a block.
fn list_settings(ask: &Ask, plan: &Plan) -> Vec<String> {
    let Matrix { test_args, load_args, load_number, load_condition, procedure, .. } = &ask.matrix;
    let mut settings: Vec<String> = Vec::new();

    for test in plan.tests().filter(|test| test.is_foreign()) {
        settings.extend(test.args.iter().cloned());
    }
    settings.extend(test_args.iter().cloned());

    settings.extend(load_args.iter().map(|arg| format!("load {arg}")));
    settings.extend(load_number.map(|number| format!("load number={number}")));
    if !load_condition.parts.is_empty() {
        settings.push(format!("load {}", load_condition.name));
    }

    if plan.tests().any(|test| test.metric == Metric::Latency) {
        let time = words::seconds(procedure.preset.frames.as_secs_f64());
        settings.push(format!("{time} of frames a block"));
    }
    if ask.why {
        settings.push("the scheduler traced".to_owned());
    }
    settings
}

/// The commands whose names in reports are not the whole command.
fn given_commands(tests: &[Arc<Test>]) -> Vec<GivenCommand> {
    tests.iter().flat_map(|test| &test.commands).filter_map(GivenCommand::new).collect()
}

/// The warning if more copies are wanted than processes are allowed.
fn warn_of_copies(machine: &Machine, plan: &Plan) -> Option<String> {
    let limit = machine::copies_limit(machine)?;
    let copies = plan.most_copies();
    (u64::from(copies) > limit).then(|| {
        format!("{copies} copies are wanted, but only about {limit} processes are allowed here")
    })
}
