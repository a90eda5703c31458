//! What every verb does with what it asks to be measured: plan, programs, runner, reports.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::measuring::options::Matrix;
use crate::measuring::recording::{Recording, Start};
use crate::measuring::terminal::{Loudness, RunDisplay};
use crate::reports::results;
use crate::status::{Status, usage};
use crate::terminal::{print_json, print_words, say};
use ::report::Format;
use analysis::Results;
use build::{Builds, Programs};
use catalogue::{Catalogue, Metric, Test};
use conditions::{Experiment, Settings};
use display::Display;
use journal::{Cell, Journal, Run, Store, Trial, View};
use machine::{EnergySource, Machine};
use plan::{Pin, Plan, Request};
use runner::{Event, Measured, Policy, Setting};

/// The half-width that is narrow enough unless the user sets another, as a share of a score.
const PRECISION: f64 = 0.01;

/// The longest time that a command may take to enter, prove or leave a condition, unless `--patience` gives it more.
const COMMANDS: Duration = Duration::from_secs(60);

/// What is done at the end of a run in place of its report: with its journal, its results and its directory.
pub(crate) type Ending<'a> = &'a dyn Fn(&Journal, &Results, &Path) -> Result<()>;

/// What a verb asks for.
pub(crate) struct Job<'a> {
    pub(crate) options: &'a Matrix,
    /// What to measure.
    pub(crate) request: Request,
    /// What reports show.
    pub(crate) view: View,
    /// The run whose scores are the baseline.
    pub(crate) baseline: Option<&'a str>,
    /// The indexes to show; the usual ones if this is empty.
    pub(crate) indexes: Vec<String>,
    /// Whether the run is only shown and not kept.
    pub(crate) print_only: bool,
    /// How conditions are kept.
    pub(crate) conditions: Settings,
    /// The loss, in per cent, that is measured again and then makes the command fail.
    pub(crate) gate: Option<f64>,
    /// UnixBench's way to show a run, if that is wanted.
    pub(crate) ending: Option<Ending<'a>>,
    /// What looks on beside the display.
    pub(crate) watch: Option<&'a dyn Fn(&Event<'_>)>,
}

impl<'a> Job<'a> {
    /// Returns a job without anything special.
    pub(crate) fn new(options: &'a Matrix, request: Request) -> Job<'a> {
        Job {
            options,
            request: Request { seed: options.seed(), pin: options.pin, ..request },
            view: View::Scores,
            baseline: None,
            indexes: Vec::new(),
            print_only: false,
            conditions: Settings::default(),
            gate: None,
            ending: None,
            watch: None,
        }
    }

    /// Makes the plan and carries it out, or with --dry-run shows it.
    ///
    /// # Errors
    /// There is nothing to measure, the run could not begin, or its journal could not be written.
    pub(crate) fn carry_out(mut self, catalogue: &Catalogue, machine: &Machine) -> Result<Status> {
        let request = std::mem::take(&mut self.request);
        let plan = Plan::new(request, catalogue, &machine::topology(machine)).map_err(usage)?;
        let is_dry = self.options.measuring.dry_run;
        if is_dry {
            skipped(&plan, machine).iter().for_each(|text| say(&format!("warning: {text}")));
            match self.options.measuring.format {
                None | Some(Format::Text) => print_words(&plan::show(&plan))?,
                Some(Format::Json) => print_json(&plan::to_json(&plan))?,
                Some(_) => return Err(usage(anyhow!("a plan is shown as text or json; try --format json"))),
            }
        }
        if let Some(advice) = plan.advice() {
            say(&format!("warning: {advice}"));
        }
        self.check_conditions(&plan, machine)?;
        if is_dry {
            return Ok(Status::Fine);
        }
        self.measure(&plan, catalogue, machine)
    }

    /// Says which conditions cannot be switched here, and which leave something behind; on a terminal asks before that.
    ///
    /// # Errors
    /// None of those that are asked about can be switched, or the user does not want it.
    fn check_conditions(&self, plan: &Plan, machine: &Machine) -> Result<()> {
        let all = &plan.request.conditions;
        let why: Vec<Option<String>> = all.iter().map(|one| conditions::missing(one, machine)).collect();
        let missing = all.iter().zip(&why).filter_map(|(one, why)| Some((&one.name, why.as_ref()?)));
        let missing: Vec<String> = missing.map(|(name, why)| format!("{name} is not available here: {why}")).collect();
        // Against a reference that is there nothing is compared if all others are missing, and without it neither.
        let compared = if self.view == View::Cost { &why[1..] } else { &why[..] };
        if compared.iter().all(Option::is_some) || (self.view == View::Cost && why[0].is_some()) {
            bail!("{}; `unixmark list conditions --available` shows what is", missing.join("; "));
        }
        missing.iter().for_each(|text| say(&format!("warning: {text}")));
        let mut lasting: Vec<&str> = all.iter().filter_map(|one| conditions::lasting(one, machine)).collect();
        lasting.dedup();
        lasting.iter().for_each(|text| say(&format!("warning: lasting change: {text}")));
        let asks = !lasting.is_empty() && !self.options.yes && !self.options.measuring.dry_run;
        if asks && std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
            say("Continue? [y/N]");
            let mut answer = String::new();
            std::io::stdin().read_line(&mut answer).context("the answer cannot be read; try --yes")?;
            if !answer.trim().eq_ignore_ascii_case("y") {
                bail!("nothing was changed and nothing was measured");
            }
        }
        Ok(())
    }

    fn measure(&self, plan: &Plan, catalogue: &Catalogue, machine: &Machine) -> Result<Status> {
        let options = &self.options.measuring;
        // A run that is not kept goes with this directory.
        let unkept = self.print_only.then(|| Unkept::make(&options.dir()?)).transpose()?;
        let store = match &unkept {
            Some(unkept) => Store::at(Some(unkept.0.clone()))?,
            None => options.results.store()?,
        };
        self.say_energy(machine);
        let run = self.run(plan, &store, catalogue)?;
        let (dir, screen) = (options.dir()?, options.screen()?);
        let patience = COMMANDS.max(options.patience);
        let experiment = match plan.changes_the_machine() {
            true => Experiment::begin(Settings { patience, ..self.conditions.clone() })?,
            false => Experiment::passive(),
        };
        let tests: Vec<&Test> = plan.tests().filter(|test| !test.is_foreign()).collect();
        let mut builds = builds(machine, plan, &tests)?;
        let graphics = plan.cells.iter().any(|cell| cell.test.graphics().is_some());
        let mut canvas = if self.options.xvfb && graphics { Display::private()? } else { Display::default() };
        let facts = if graphics { canvas.facts() } else { Vec::new() };
        let remarks = too_many_copies(machine, plan).into_iter().collect();
        let mut recording =
            Recording::start(Start { machine, store: &store, options, dir: &dir, tests, facts, remarks, run })?;
        builds.extend(recording.programs.clone().map(|programs| (String::new(), programs)));
        let suspects = self
            .gate
            .filter(|_| self.view == View::Cost)
            .map(|size| move |cells: &[Cell], trials: &[Vec<Trial>]| analysis::suspects(cells, trials, size));
        let setting = Setting {
            machine,
            plan,
            programs: &builds,
            display: &canvas,
            add_cycles: super::add_cycles(catalogue, machine),
            meter: self.options.meter.as_deref(),
            dir: &dir,
            patience: options.patience,
            screen,
            policy: Policy {
                enough: &|families| enough(plan, self.view, self.gate, families),
                suspects: suspects.as_ref().map(|suspects| suspects as _),
            },
        };
        // Messages before and after it stay on the terminal.
        let whole_screen = setting.screen.is_some();
        let mut shown = match self.ending {
            Some(_) => RunDisplay::as_unixbench(plan, options.loudness()),
            None => RunDisplay::new(plan, options.loudness(), whole_screen, &recording.name, machine)?,
        };
        let outcome = runner::run(&setting, experiment, &mut recording.writer, &mut |event| {
            self.watch.iter().for_each(|watch| watch(&event));
            shown.show(&event);
        });
        drop(shown);
        if let Some(text) = canvas.died() {
            say(&format!("warning: {text}"));
            recording.remark(text)?;
        }
        recording.conclude(outcome, catalogue, options, self.gate, self.ending)
    }

    /// Says once if energy could be known and is not.
    fn say_energy(&self, machine: &Machine) {
        if self.options.meter.is_some() || self.options.measuring.loudness() == Loudness::Quiet {
            return;
        }
        if let EnergySource::Denied { path, fix } = EnergySource::find(machine) {
            say(&format!("energy is not known: only root may read {path}; try `{fix}`"));
        }
    }

    /// Returns what was asked for, as the journal's first line has it.
    fn run(&self, plan: &Plan, store: &Store, catalogue: &Catalogue) -> Result<Run> {
        let baseline = self.baseline.map(|name| results(store, catalogue, name, None)).transpose()?;
        Ok(Run {
            procedure: plan.procedure().kind.into(),
            seed: plan.request.seed,
            indexes: self.indexes.clone(),
            settings: settings(plan),
            comment: self.options.measuring.comment.comment.clone(),
            baseline: baseline.map(|results| results.as_baseline()),
            view: self.view,
            against: plan.reference().map(|condition| condition.name.clone()).unwrap_or_default(),
            pin: if plan.request.pin == Pin::None { String::new() } else { plan.request.pin.to_string() },
            borders: plan.borders.clone(),
            ..Run::default()
        })
    }
}

/// Returns which tests will be skipped here, by the reason.
fn skipped(plan: &Plan, machine: &Machine) -> Vec<String> {
    let mut by_reason: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for test in plan.tests() {
        if let Some(why) = machine::unmet(machine, &test.needs) {
            by_reason.entry(why).or_default().insert(&test.id);
        }
    }
    let text = |(why, tests): (String, BTreeSet<&str>)| {
        format!("to be skipped: {}: {why}", words::listed(&Vec::from_iter(tests), 5))
    };
    by_reason.into_iter().map(text).collect()
}

/// Which families of cells were measured narrowly enough.
fn enough(plan: &Plan, view: View, gate: Option<f64>, families: &[Vec<Measured<'_>>]) -> Vec<bool> {
    let precision = plan.procedure().precision;
    if view == View::Ab {
        let budget = plan.procedure().budget.map_or(f64::INFINITY, |budget| budget.as_secs_f64());
        let question = analysis::Question { precision: precision.unwrap_or(PRECISION), threshold: gate, budget };
        return families.iter().map(|family| analysis::is_answered(family, &question)).collect();
    }
    if view == View::Cost {
        return families.iter().map(|family| analysis::enough_cost(family, precision)).collect();
    }
    analysis::enough(families, precision.unwrap_or(PRECISION))
}

/// What changes the figures and is neither a coordinate of a cell nor a fact: arguments for all tests and loads, those of a
/// program of the user's, and how long interactive tests were watched in a block.
fn settings(plan: &Plan) -> Vec<String> {
    let Request { test_args, load_args, load_number, load_weight, procedure, .. } = &plan.request;
    let foreign = plan.tests().filter(|test| test.is_foreign()).flat_map(|test| test.args.clone());
    let frames = plan.tests().any(|test| test.metric == Metric::Latency);
    let frames = frames.then(|| format!("{} of frames a block", words::seconds(procedure.frames.as_secs_f64())));
    let load = load_args.iter().map(|arg| format!("load {arg}"));
    let number = load_number.map(|number| format!("load number={number}"));
    let weight = load_weight.map(|weight| format!("load weight={weight}"));
    foreign.chain(test_args.iter().cloned()).chain(load).chain(number).chain(weight).chain(frames).collect()
}

/// The programs by the builds that conditions want.
fn builds(machine: &Machine, plan: &Plan, tests: &[&Test]) -> Result<Builds> {
    let named = |name: String| Ok((name.clone(), Programs::named(machine, tests, &name)?));
    plan.builds().into_iter().map(named).collect()
}

/// Warns of more copies than processes are allowed.
fn too_many_copies(machine: &Machine, plan: &Plan) -> Option<String> {
    let limit = machine::copies_limit(machine)?;
    let most = u64::from(plan.most_copies());
    (most > limit).then(|| format!("{most} copies are wanted, but only about {limit} processes are allowed here"))
}

/// The results directory of a run that is only shown.
struct Unkept(PathBuf);

impl Unkept {
    fn make(dir: &Path) -> Result<Unkept> {
        let path = dir.join(format!("unixmark-unkept-{}", std::process::id()));
        std::fs::create_dir(&path).with_context(|| format!("{} cannot be made; try --dir DIR", path.display()))?;
        Ok(Unkept(path))
    }
}

impl Drop for Unkept {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
