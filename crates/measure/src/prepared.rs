//! A plan whose conditions were checked, and how it is carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Error, Result};

use super::recording::{Head, Recording};
use super::{Ask, Measured, Observer, Setup, add_cycles};
use analysis::Question;
use build::{Builds, Programs};
use catalogue::{Catalogue, Condition, Metric, Need, Test};
use conditions::{Experiment, Settings};
use display::Display;
use journal::{Cell, Run, Trial, View};
use machine::Machine;
use plan::{Effort, Matrix, Pin, Plan};
use runner::{Bench, Outcome, Policy, Rig, Setting};

/// The half-width that is narrow enough unless the user sets another, as a share of a score.
const PRECISION: f64 = 0.01;

/// The longest time that a command may take to enter, prove or leave a condition, unless the
/// user's patience is longer.
const COMMANDS: Duration = Duration::from_secs(60);

/// A run that can begin.
#[derive(Debug)]
pub struct Prepared<'a> {
    /// The cells, their order and their durations.
    pub plan: Plan,
    /// The warnings to show before the run.
    pub warnings: Vec<String>,
    /// The traces that conditions leave until the next reboot.
    pub lasting: Vec<String>,
    /// Why nothing can be measured or compared here.
    pub obstacle: Option<String>,
    /// The request.
    pub ask: Ask,
    /// The tables.
    pub catalogue: &'a Catalogue,
    /// The machine under test.
    pub machine: &'a Machine,
}

/// Expands what is asked into a plan, and checks its conditions. Nothing begins.
///
/// # Errors
/// There is nothing to measure, or not by this procedure, or too much for one run.
pub fn prepare<'a>(ask: Ask, catalogue: &'a Catalogue, machine: &'a Machine) -> Result<Prepared<'a>> {
    let plan = Plan::new(&ask.matrix, catalogue, &machine::topology(machine))?;
    let arms = &plan.arms;
    let reference = arms.reference.as_ref().and_then(|condition| missing(condition, machine));
    let others: Vec<_> = arms.others.iter().map(|condition| missing(condition, machine)).collect();
    let is_obstructed = reference.is_some() || others.iter().all(Option::is_some);
    let missing: Vec<String> = reference.into_iter().chain(others.into_iter().flatten()).collect();
    let mut warnings: Vec<String> = plan.advice().into_iter().collect();
    let untraced = machine::unmet(machine, &[Need::Root, Need::Tracefs]).filter(|_| ask.why);
    let obstacle = match untraced {
        Some(why) => {
            Some(format!("the scheduler cannot be traced, as --why and commands need: {why}; try a task without --why"))
        }
        None if is_obstructed => {
            let missing = missing.join("; ");
            Some(format!("{missing}; `unixmark list conditions --available` shows what is"))
        }
        None => None,
    };
    if obstacle.is_some() {
        return Ok(Prepared { plan, warnings, lasting: Vec::new(), obstacle, ask, catalogue, machine });
    }
    let lasting = arms.conditions().filter_map(|one| conditions::lasting(one, machine));
    let mut lasting: Vec<String> = lasting.map(str::to_owned).collect();
    lasting.dedup();
    warnings.extend(missing);
    warnings.extend(lasting.iter().map(|text| format!("lasting change: {text}")));
    Ok(Prepared { plan, warnings, lasting, obstacle: None, ask, catalogue, machine })
}

/// Returns the sentence that a condition is not available here; `None` if it is.
fn missing(condition: &Condition, machine: &Machine) -> Option<String> {
    let why = conditions::missing(condition, machine)?;
    Some(format!("{} is not available here: {why}", condition.name))
}

impl Prepared<'_> {
    /// Checks that something can be measured here.
    ///
    /// # Errors
    /// The obstacle.
    pub fn check(&self) -> Result<()> {
        self.obstacle.clone().map_or(Ok(()), |obstacle| Err(Error::msg(obstacle)))
    }

    /// Returns which tests will be skipped here, a sentence for each reason.
    pub fn skipped(&self) -> Vec<String> {
        let mut by_reason: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for test in self.plan.tests() {
            if let Some(why) = machine::unmet(self.machine, &test.needs) {
                by_reason.entry(why).or_default().insert(&test.id);
            }
        }
        let names = |tests| words::listed(&Vec::from_iter(tests), 5);
        let reasons = by_reason.into_iter();
        reasons.map(|(why, tests)| format!("to be skipped: {}: {why}", names(tests))).collect()
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
            let patience = COMMANDS.max(setup.patience);
            let trail = self.ask.trail.clone();
            Experiment::begin(Settings { patience, trail, why, ..Settings::default() })?
        } else {
            Experiment::passive()
        };
        let tests: Vec<&Test> = plan.tests().filter(|test| !test.is_foreign()).collect();
        let mut builds = builds(self.machine, plan, &tests)?;
        let draws = plan.cells.iter().any(|cell| cell.test.graphics().is_some());
        let mut display = if self.ask.xvfb && draws { Display::private()? } else { Display::default() };
        let facts = if draws { display.facts() } else { Vec::new() };
        let remarks = too_many_copies(self.machine, plan).into_iter().collect();
        let head = Head { tests, facts, remarks, ..self.head() };
        let mut recording = Recording::begin(self.machine, setup, head, observer)?;
        let usual = recording.programs.clone();
        builds.extend(usual.map(|programs| (String::new(), programs)));
        let harness = self.ask.harness.map(|harness| move |text: &str, round| harness.printed(text, round));
        let setting = Setting {
            machine: self.machine,
            plan,
            programs: &builds,
            display: &display,
            add_cycles: add_cycles(self.catalogue, self.machine),
            meter: self.ask.meter.as_deref(),
            figures: harness.as_ref().map(|figures| figures as _),
            dir: &setup.dir,
            patience: setup.patience,
            screen: setup.screen.as_deref(),
        };
        let rig = Rig::new(&setting, experiment);
        let outcome = rig.and_then(|rig| self.run(rig, &mut recording, observer));
        if let Some(text) = display.died() {
            recording.warn(text, observer)?;
        }
        recording.end(outcome, self.catalogue, setup.strict, &self.ask)
    }

    /// Measures on a bench that needs neither programs nor rights.
    ///
    /// # Errors
    /// The journal cannot be begun or read.
    pub fn measure_on(&self, bench: impl Bench, setup: &Setup, observer: &mut dyn Observer) -> Result<Measured> {
        self.check()?;
        let mut recording = Recording::begin(self.machine, setup, self.head(), observer)?;
        let outcome = self.run(bench, &mut recording, observer);
        recording.end(outcome, self.catalogue, setup.strict, &self.ask)
    }

    /// Carries out the plan on a bench.
    fn run(&self, bench: impl Bench, recording: &mut Recording, observer: &mut dyn Observer) -> Result<Outcome> {
        let gate = self.ask.gate.filter(|_| self.ask.view != View::Ab);
        let suspects =
            gate.map(|size| move |cells: &[Cell], trials: &[Vec<Trial>]| analysis::suspects(cells, trials, size));
        let policy = Policy {
            enough: &|families| self.enough(families),
            suspects: suspects.as_ref().map(|suspects| suspects as _),
        };
        runner::run(&self.plan, policy, bench, &mut recording.writer, &mut |event| observer.happened(&event))
    }

    /// Returns which families of cells were measured narrowly enough: costs where arms are
    /// compared, else scores.
    fn enough(&self, families: &[Vec<runner::Measured<'_>>]) -> Vec<bool> {
        let precision = self.plan.procedure.effort.precision;
        match self.plan.arms.reference {
            Some(_) if self.ask.view == View::Ab => {
                let question = self.question();
                families.iter().map(|family| analysis::is_answered(family, &question)).collect()
            }
            Some(_) => families.iter().map(|family| analysis::enough_cost(family, precision)).collect(),
            None => analysis::enough(families, precision.unwrap_or(PRECISION)),
        }
    }

    /// Returns what commands that are executed in turn are to answer.
    fn question(&self) -> Question {
        let Effort { precision, budget, .. } = self.plan.procedure.effort;
        Question {
            precision: precision.unwrap_or(PRECISION),
            threshold: self.ask.gate,
            budget: budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64()),
        }
    }

    /// Returns what was asked for, as the journal's first line has it.
    fn head(&self) -> Head<'_> {
        let Ask { matrix, indexes, baseline, view, discard, time_unit, .. } = &self.ask;
        let against = self.plan.arms.reference.as_ref();
        let run = Run {
            procedure: matrix.procedure.effort.kind.into(),
            seed: matrix.seed,
            indexes: indexes.clone(),
            settings: settings(&self.ask, &self.plan),
            baseline: baseline.clone(),
            view: *view,
            threshold: (*view == View::Ab).then(|| 100.0 * self.question().precision),
            time_unit: *time_unit,
            against: against.map(|condition| condition.name.clone()).unwrap_or_default(),
            pin: if matrix.pin == Pin::None { String::new() } else { matrix.pin.to_string() },
            borders: self.plan.borders.clone(),
            ..Run::default()
        };
        Head { run, discard: *discard, ..Head::default() }
    }
}

/// Returns what changes the figures and is neither a coordinate of a cell nor a fact: arguments for
/// all tests and loads, those of a program of the user's, and how long interactive tests were
/// watched in a block.
fn settings(ask: &Ask, plan: &Plan) -> Vec<String> {
    let Matrix { test_args, load_args, load_number, load_condition, procedure, .. } = &ask.matrix;
    let foreign = plan.tests().filter(|test| test.is_foreign());
    let foreign = foreign.flat_map(|test| test.args.clone());
    let frames = words::seconds(procedure.preset.frames.as_secs_f64());
    let has_frames = plan.tests().any(|test| test.metric == Metric::Latency);
    let frames = has_frames.then(|| format!("{frames} of frames a block"));
    let load = load_args.iter().map(|arg| format!("load {arg}"));
    let number = load_number.map(|number| format!("load number={number}"));
    let condition = (!load_condition.parts.is_empty()).then(|| format!("load {}", load_condition.name));
    let load = load.chain(number).chain(condition);
    let traced = ask.why.then(|| "the scheduler traced".to_owned());
    foreign.chain(test_args.iter().cloned()).chain(load).chain(frames).chain(traced).collect()
}

/// Returns the programs by the builds that conditions want.
fn builds(machine: &Machine, plan: &Plan, tests: &[&Test]) -> Result<Builds> {
    let names = plan.builds().into_iter();
    names.map(|name| Ok((name.clone(), Programs::named(machine, tests, &name)?))).collect()
}

/// Returns the warning of more copies than processes are allowed.
fn too_many_copies(machine: &Machine, plan: &Plan) -> Option<String> {
    let limit = machine::copies_limit(machine)?;
    let most = plan.most_copies();
    (u64::from(most) > limit)
        .then(|| format!("{most} copies are wanted, but only about {limit} processes are allowed here"))
}
