//! `unixmark cost boot:…` and `unixmark boots`: what words of the kernel's command line cost, or another kernel does.
//! Each arm is booted several times, in an order of chance, and a boot counts as one value.

mod arm;
mod experiment;
mod way;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use clap::FromArgMatches;

use crate::commands::command;
use crate::measuring::cost;
use crate::measuring::job::{check, measure};
use crate::measuring::options::{current_dir, new_seed};
use crate::options::{self, Form};
use crate::status::{Status, usage};
use crate::terminal::{layout, print, print_words, say};
use ::report::{Format, Subject};
use analysis::{Asked, Comparisons, Design, Results};
use catalogue::Catalogue;
use files::Lock;
use journal::Store;
use machine::Machine;
use measure::Measured;

use arm::{Arm, System, arms};
use experiment::{Experiment, Next, Outcome, Pending, ROUNDS, reboots};

/// The file in an experiment's folder that allows no further reboot.
const STOP: &str = "stopped";

/// A difference smaller than this, in per cent, is none.
const THRESHOLD: f64 = 1.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the experiment, or its name in the results directory; `unixmark cost boot:…` says it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Do what is next: measure this boot and reboot into the next, or show the reports after the last
    #[arg(long)]
    go_on: bool,
    /// End it: remove its boot loader entry and its systemd unit, and do not reboot again
    #[arg(long, conflicts_with = "go_on")]
    stop: bool,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    results: options::Results,
}

/// Shows what an experiment has found so far, goes on with it, or ends it.
pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let (named, format) = (&arguments.folder, arguments.form.format);
    let stored = arguments.results.store()?.root().join(named);
    let folder = if named.exists() { named } else { &stored }.canonicalize();
    let why = || format!("there is no experiment {}; name its folder", named.display());
    let folder = folder.with_context(why).map_err(usage)?;
    check_folder(&folder)?;
    if arguments.go_on {
        return go_on(&folder, format);
    }
    let experiment = match Experiment::load(&folder).map_err(usage) {
        // Its unit and entry may be there without it.
        Err(error) if arguments.stop => {
            way::leave_any()?;
            return Err(error);
        }
        experiment => experiment?,
    };
    if arguments.stop {
        // Whatever goes on with it now reads this before it reboots.
        files::write_whole(&folder.join(STOP), b"")
            .with_context(|| format!("{} cannot be written", folder.display()))?;
        way::leave(&experiment.way)?;
        say(&format!(
            "unixmark: stopped; the machine stays as it is booted now, and {} keeps the runs",
            folder.display()
        ));
    } else if let Some(left) = experiment.left().filter(|_| !folder.join(STOP).exists()) {
        say(&format!("unixmark: this goes on: at most {} left", words::count(left, "boot")));
    }
    report(&experiment, &folder, format)
}

/// Checks that nobody else can write commands into an experiment, which root executes.
fn check_folder(folder: &Path) -> Result<()> {
    files::check_trusted(folder).map_err(|why| {
        usage(anyhow!("{} cannot be trusted: {why}; keep it where only root can write", folder.display()))
    })
}

/// Begins the experiment that `unixmark cost boot:LIST` asks for.
pub(super) fn begin(arguments: &cost::Arguments, list: &str) -> Result<Status> {
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let options = &arguments.options;
    let arms = arms(list).map_err(usage)?;
    let six_rounds = reboots(ROUNDS, &arms);
    let usual = options.measuring.dry_run.then_some(six_rounds);
    let most = arguments.boots.or(usual).with_context(|| {
        format!(
            "this reboots the machine again and again; --boots {six_rounds} allows that, for six rounds of {} boots and the \
             way back, and --dry-run shows the order",
            arms.len()
        )
    });
    let mut experiment =
        Experiment::new(arms, System::here(&machine), most.map_err(usage)?, new_seed()).map_err(usage)?;
    let ask = cost::boot(arguments, &catalogue, &machine).map_err(usage)?;
    let prepared = measure::prepare(ask, &catalogue, &machine).map_err(usage)?;
    check(&prepared)?;
    if !options.measuring.dry_run {
        if !rustix::process::geteuid().is_root() {
            return Err(usage(anyhow!("only root can reboot; try sudo, or --dry-run to see the order")));
        }
        experiment.way = way::find(arguments.reboot.as_deref()).map_err(usage)?;
    }
    print_words(&format!("Each line is a round of boots:\n{}In each boot:\n", experiment.shown()))?;
    print_words(&plan::show(&prepared.plan))?;
    if options.measuring.dry_run {
        return Ok(Status::Fine);
    }
    experiment.directory = current_dir()?;
    experiment.words = command_line()?;
    let (_, folder) = options.measuring.results.store()?.create("boots", &journal::today())?;
    let folder = folder.canonicalize()?;
    check_folder(&folder)?;
    experiment.save(&folder)?;
    let name = folder.display();
    let is_installed = way::install(&folder, &experiment.directory);
    if is_installed.is_err() {
        let _ = way::leave(&experiment.way);
    }
    if is_installed? {
        say(&format!("unixmark: systemd goes on at each boot; `unixmark boots {name} --stop` ends that"));
    } else {
        say(&format!("unixmark: systemd is not here: have `unixmark boots {name} --go-on` run at each boot"));
    }
    let going = go_on(&folder, Format::Text);
    if going.is_err() {
        let _ = way::leave(&experiment.way);
    }
    going
}

/// Returns the words of this command line.
fn command_line() -> Result<Vec<String>> {
    let words = crate::measuring::words(std::env::args_os().collect()).into_iter().skip(1);
    words.map(|word| word.into_string().map_err(|word| anyhow!("{} is not UTF-8", word.display()))).collect()
}

/// Judges the boot that was asked for, if one was, and does what is next.
fn go_on(folder: &Path, format: Format) -> Result<Status> {
    let Some(_alone) = Lock::try_take(&folder.join("lock")).context("the experiment cannot be locked")? else {
        bail!("another unixmark goes on with this experiment; wait until it ends");
    };
    let mut experiment = Experiment::load(folder).map_err(usage)?;
    let machine = Machine::here();
    let now = machine.boot();
    if now.is_empty() {
        bail!("the kernel has no boot_id, by which reboots are counted");
    }
    let pending = experiment.pending(&now);
    if let Some(Pending { arm, is_up: true, is_broken }) = pending {
        // A reset before the next reboot is to boot as usual.
        way::forget(&experiment.way)?;
        let outcome = if is_broken {
            Ok(Outcome::Failed("the machine was restarted while it was measured".to_owned()))
        } else {
            experiment.begin(&now);
            experiment.save(folder)?;
            outcome(&experiment, arm, folder, &machine)
        };
        match outcome {
            Ok(outcome) => experiment.judge(outcome),
            Err(signal) => {
                say("unixmark: interrupted; the same command measures this boot again, --stop ends the experiment");
                return Ok(Status::Signal(signal));
            }
        }
        experiment.save(folder)?;
    }
    if folder.join(STOP).exists() {
        return end(&experiment, folder, format);
    }
    // It was asked for, but the machine never went down.
    if let Some(Pending { arm, is_up: false, .. }) = pending {
        return way::reboot(&experiment, arm.map(|arm| &experiment.arms[arm])).map(|()| Status::Fine);
    }
    loop {
        let slot = match experiment.next() {
            Next::Report => return end(&experiment, folder, format),
            Next::Slot(slot) => Some(slot),
            Next::Back => None,
        };
        let number = experiment.add(slot, now.clone());
        let arm = slot.map(|slot| experiment.arm(slot));
        say(&match arm {
            Some(arm) => format!("unixmark: boot {number} is of {}", arm.name),
            None => format!("unixmark: boot {number} is the way back"),
        });
        experiment.save(folder)?;
        match way::reboot(&experiment, arm) {
            Ok(()) => return Ok(Status::Fine),
            Err(error) => experiment.judge(Outcome::Failed(format!("{error:#}"))),
        }
        experiment.save(folder)?;
    }
}

/// Shows what was found, and removes what the experiment has added to the system.
fn end(experiment: &Experiment, folder: &Path, format: Format) -> Result<Status> {
    let shown = report(experiment, folder, format);
    way::leave(&experiment.way)?;
    shown
}

/// Returns what a boot came to, once it is measured.
///
/// # Errors
/// The signal that interrupted that.
fn outcome(experiment: &Experiment, arm: Option<usize>, folder: &Path, machine: &Machine) -> Result<Outcome, i32> {
    let usual = Arm::usual();
    let own = arm.map_or(&usual, |arm| &experiment.arms[arm]);
    let outcome = match own.check(&System::here(machine), &experiment.usual, &experiment.arms) {
        Err(why) => Outcome::Failed(why),
        Ok(()) if arm.is_none() => Outcome::Run(String::new()),
        Ok(()) => match measure_boot(experiment, own, folder, machine) {
            Ok(measured) => match measured.signal() {
                Some(signal) => return Err(signal),
                None if measured.is_empty() => Outcome::Failed(measured.failures.join("; ")),
                None => Outcome::Run(measured.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()),
            },
            Err(error) => Outcome::Failed(format!("{error:#}")),
        },
    };
    if let Outcome::Failed(why) = &outcome {
        say(&format!("unixmark: {why}"));
    }
    Ok(outcome)
}

/// Measures a boot into a run in the experiment's folder.
fn measure_boot(experiment: &Experiment, arm: &Arm, folder: &Path, machine: &Machine) -> Result<Measured> {
    std::env::set_current_dir(&experiment.directory)
        .with_context(|| format!("{} is gone", experiment.directory.display()))?;
    let words = std::iter::once("unixmark").chain(experiment.words.iter().map(String::as_str));
    let matches = command().try_get_matches_from(words).map_err(|error| anyhow!("{error}"))?;
    let cost = matches.subcommand_matches("cost").context("the experiment is of another verb")?;
    let arguments = cost::Arguments::from_arg_matches(cost).map_err(|error| anyhow!("{error}"))?;
    let catalogue = Catalogue::load()?;
    let prepared = measure::prepare(cost::boot(&arguments, &catalogue, machine)?, &catalogue, machine)?;
    check(&prepared)?;
    let measuring = &arguments.options.measuring;
    let setup = measuring.setup(machine)?;
    let setup = measure::Setup {
        store: Store::at(Some(folder.to_path_buf()))?,
        comment: arm.name.clone(),
        arguments: experiment.words.clone(),
        screen: None,
        ..setup
    };
    let (measured, kept) = measure(&prepared, &setup, measuring.loudness())?;
    kept.map(|()| measured)
}

/// Shows what each arm costs against the first, and which boots came to nothing.
fn report(experiment: &Experiment, folder: &Path, format: Format) -> Result<Status> {
    let store = Store::at(Some(folder.to_path_buf()))?;
    let catalogue = Catalogue::load()?;
    let failures = experiment.failures();
    failures.iter().for_each(|why| say(&format!("unixmark: {why}")));
    let mut has_shown = false;
    for other in 1..experiment.arms.len() {
        let [base, changed] = [0, other].map(|arm| &experiment.arms[arm].name);
        let names = experiment.pairs(other);
        if names.is_empty() {
            say(&format!("unixmark: no round has both {base} and {changed}"));
            continue;
        }
        let read = |name: &String| Ok(Results::new(&journal::read(&store.find(name)?)?, &catalogue, None));
        let results = names.iter().map(read).collect::<Result<Vec<Results>>>()?;
        let asked = Asked { design: Design::Turns, threshold: THRESHOLD, conditions: None };
        let comparisons = Comparisons::new(results, &asked);
        if format == Format::Text {
            print_words(&format!("Boots with {changed} (B), compared with {base} (A)\n\n"))?;
        }
        print(&::report::render(Subject::Comparison(&comparisons, None), layout(format))?)?;
        has_shown = true;
    }
    Ok(match (has_shown, failures.is_empty()) {
        (false, _) => Status::Nothing,
        (true, false) => Status::Failed,
        (true, true) => Status::Fine,
    })
}
