//! `unixmark cost boot:…` and `unixmark boots`: what words of the kernel's command line cost, or
//! another kernel does.
//!
//! Each arm is booted several times, in random order, and a boot counts as one value. So an
//! experiment outlives the process that began it: it is a folder with a file ([`Experiment`]), and
//! systemd, or the user, runs `unixmark boots FOLDER --go-on` once in every boot. [`go_on`] then
//!
//! 1. judges the boot that was asked for: was it the right system, and what was measured in it;
//! 2. asks for the next reboot or, after the last, shows the reports and cleans up.
//!
//! The file is on the disk before anything happens that the process may not survive. What the file
//! says, and the kernel's name for the present boot, are all that the next process knows.

mod arm;
mod experiment;
mod way;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use clap::FromArgMatches;

use crate::commands::command;
use crate::measuring::cost;
use crate::measuring::job::{PLAN_FORMATS, check_prepared, measure_and_keep};
use crate::measuring::options::{current_dir, new_seed};
use crate::options::{self, Form};
use crate::status::{Status, usage};
use crate::terminal::{layout, print, print_json, print_words, say};
use ::report::{Format, Subject};
use analysis::{Asked, Comparisons, Design, Results};
use catalogue::Catalogue;
use files::Lock;
use journal::Store;
use machine::Machine;
use measure::Measured;
use plan::Plan;
use serde_json::json;
use words::Wrapped;

use arm::{Arm, System, parse_arms};
use experiment::{Experiment, Next, Outcome, Pending, USUAL_ROUNDS, count_reboots};
use way::{Brake, Reboot};

/// The file in an experiment's folder that forbids any further reboot.
const STOP_FILE: &str = "stopped";

/// Why a boot that was asked for did not come.
const CALLED_OFF: &str = "the reboot was called off";

/// The last words of an interrupted measurement.
const INTERRUPTED: &str = "\
    unixmark: interrupted; the same command measures this boot again, --stop ends the experiment";

/// The interval at which the lock of an experiment is tried.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// The smallest difference between boots that counts, in per cent.
const THRESHOLD: f64 = 1.0;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The folder of the experiment, or its name in the results directory; `unixmark cost boot:…`
    /// says it
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Do what is next: measure this boot and reboot into the next, or show the reports after the
    /// last
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
    let format = arguments.form.format;
    let folder = find_folder(arguments)?;
    check_folder(&folder)?;
    if arguments.go_on {
        return go_on(&folder, format);
    }

    let experiment = match Experiment::load(&folder).map_err(usage) {
        Err(error) if arguments.stop => {
            // The file is lost, but the unit and the boot loader's entry may still be there.
            way::leave_any()?;
            return Err(error);
        }
        loaded => loaded?,
    };
    if arguments.stop {
        stop(&experiment, &folder)?;
    } else if let Some(left) = experiment.left()
        && !folder.join(STOP_FILE).exists()
    {
        let boots = words::count(left, "boot");
        say(&format!("unixmark: this goes on: at most {boots} left"));
    }
    report(&experiment, &folder, format)
}

/// The folder that the arguments name, by its path or by its name in the results directory.
fn find_folder(arguments: &Arguments) -> Result<PathBuf> {
    let named = &arguments.folder;
    let stored = arguments.results.store()?.root().join(named);
    let folder = if named.exists() { named } else { &stored };
    let why = format!("there is no experiment {}; name its folder", named.display());
    folder.canonicalize().context(why).map_err(usage)
}

/// Checks that nobody but root can write commands into an experiment: root executes them.
fn check_folder(folder: &Path) -> Result<()> {
    files::check_trusted(folder).map_err(|why| {
        let folder = folder.display();
        usage(anyhow!("{folder} cannot be trusted: {why}; keep it where only root can write"))
    })
}

/// Forbids any further reboot, and removes what the experiment has added to the system.
fn stop(experiment: &Experiment, folder: &Path) -> Result<()> {
    forbid(folder)?;
    let boot = Machine::here().boot();
    let lock = wait_for_reboots(folder, &boot)?;
    way::leave(&experiment.way)?;

    // Only who has the lock knows that nobody has asked for one meanwhile.
    let pending = lock.and_then(|_| Experiment::load(folder).ok()?.pending(&boot));
    let folder = folder.display();
    if let Some(Pending::NotDown(_)) = pending {
        say(&format!(
            "unixmark: stopped; the reboot that was asked for last may still come, and none after \
             it; {folder} keeps the runs"
        ));
        return Ok(());
    }
    say(&format!(
        "unixmark: stopped; the machine stays as it is booted now, and {folder} keeps the runs"
    ));
    Ok(())
}

/// Forbids any further reboot: whoever goes on with the experiment looks for this file.
fn forbid(folder: &Path) -> Result<()> {
    files::write_whole(&folder.join(STOP_FILE), b"")
        .with_context(|| format!("{} cannot be written", folder.display()))
}

/// Waits until nobody is about to ask for a reboot, and returns the lock of the experiment. Without
/// it somebody measures this boot, who looks whether that is forbidden before the next one.
fn wait_for_reboots(folder: &Path, boot: &str) -> Result<Option<Lock>> {
    loop {
        let lock = lock(folder)?;
        let is_measured = || Experiment::load(folder).is_ok_and(|it| it.is_measured_in(boot));
        if lock.is_some() || is_measured() {
            return Ok(lock);
        }
        std::thread::sleep(LOCK_INTERVAL);
    }
}

/// The lock of whoever goes on with an experiment; `None` if another has it.
fn lock(folder: &Path) -> Result<Option<Lock>> {
    Lock::try_take(&folder.join("lock")).context("the experiment cannot be locked")
}

/// Begins the experiment that `unixmark cost boot:LIST` asks for.
pub(super) fn begin(arguments: &cost::Arguments, list: &str) -> Result<Status> {
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let options = &arguments.options;
    let is_dry_run = options.measuring.dry_run;

    let arms = parse_arms(list).map_err(usage)?;
    let usual_reboots = count_reboots(USUAL_ROUNDS, &arms);
    // Only a dry run, which reboots nothing, goes without --boots.
    let max_reboots = arguments
        .boots
        .or(is_dry_run.then_some(usual_reboots))
        .with_context(|| {
            let number = arms.len();
            format!(
                "this reboots the machine again and again; --boots {usual_reboots} allows that, \
                 for six rounds of {number} boots and the way back, and --dry-run shows the order"
            )
        })
        .map_err(usage)?;
    let system = System::here(&machine);
    let mut experiment = Experiment::new(arms, system, max_reboots, new_seed()).map_err(usage)?;

    let ask = cost::to_boot_ask(arguments, &catalogue, &machine).map_err(usage)?;
    let prepared = measure::prepare(ask, &catalogue, &machine).map_err(usage)?;
    check_prepared(&prepared)?;
    if is_dry_run {
        show_plan(&experiment, &prepared.plan, options.measuring.format)?;
        return Ok(Status::Fine);
    }

    if !rustix::process::geteuid().is_root() {
        let hint = "only root can reboot; try sudo, or --dry-run to see the order";
        return Err(usage(anyhow!(hint)));
    }
    experiment.way = way::find(arguments.reboot.as_deref()).map_err(usage)?;
    print_words(&describe_plan(&experiment, &prepared.plan))?;

    experiment.directory = current_dir()?;
    if experiment.directory.to_str().is_none() {
        let name = experiment.directory.display();
        return Err(usage(anyhow!(
            "{name} is not UTF-8, and cannot be kept over boots; change to another directory"
        )));
    }
    experiment.words = command_line()?;
    way::check_commands(&experiment.directory, &arguments.programs())?;

    let (_, folder) = options.measuring.results.store()?.create("boots", &journal::today())?;
    let folder = folder.canonicalize()?;
    check_folder(&folder)?;
    experiment.save(&folder)?;

    // From here on the system is changed, and whatever fails must undo that.
    let going = Brake::new(&folder).and_then(|brake| {
        install(&experiment, &folder)?;
        go_on_until(&brake, &folder, Format::Text)
    });
    if going.is_err() {
        let _ = way::leave(&experiment.way);
    }
    going
}

/// Shows the boots, and what each measures.
fn show_plan(experiment: &Experiment, plan: &Plan, format: Option<Format>) -> Result<()> {
    match format {
        None | Some(Format::Text) => print_words(&describe_plan(experiment, plan)),
        Some(Format::Json) => {
            let (least, most) = duration_of_boots(experiment, plan);
            print_json(&json!({
                "rounds": experiment.rounds(),
                "reboots": experiment.planned_boots() + 1,
                "least_seconds": least.as_secs_f64(),
                "most_seconds": most.as_secs_f64(),
                "each_boot": plan::to_json(plan),
            }))
        }
        Some(_) => Err(usage(anyhow!(PLAN_FORMATS))),
    }
}

/// The rounds of boots, what each boot measures, and the time of all.
fn describe_plan(experiment: &Experiment, plan: &Plan) -> String {
    let mut text = "Each line is a round of boots:\n".to_owned();
    for round in experiment.rounds() {
        text += &format!("  {}\n", round.join(", "));
    }
    text += &format!("In each boot:\n{}", plan::show(plan));

    let boots = experiment.planned_boots();
    let (least, most) = duration_of_boots(experiment, plan);
    let [least, most] = [least, most].map(|time| words::duration(time.as_secs_f64()));
    let mut in_all = format!(
        "{boots} boots that measure for {least} to {most}, and the time of {} reboots, the way \
         back included",
        boots + 1
    );
    let spare = experiment.spare_boots();
    if spare > 0 {
        let times = words::count(spare, "time");
        in_all += &format!("; boots that fail are tried again, at most {times} in all");
    }
    let mut wrapped = Wrapped::new(words::WIDTH);
    wrapped.wrap("in all: ", &in_all);
    text + &wrapped.text
}

/// The time of measuring in all boots.
fn duration_of_boots(experiment: &Experiment, plan: &Plan) -> (Duration, Duration) {
    let boots = u32::try_from(experiment.planned_boots()).unwrap_or(u32::MAX);
    let (least, most) = plan.duration();
    (least.saturating_mul(boots), most.saturating_mul(boots))
}

/// Has systemd go on with the experiment at each boot, or says how else that can be done.
fn install(experiment: &Experiment, folder: &Path) -> Result<()> {
    let is_installed = way::install(folder, &experiment.directory)?;
    let name = folder.display();
    say(&if is_installed {
        format!("unixmark: systemd goes on at each boot; `unixmark boots {name} --stop` ends that")
    } else {
        format!(
            "unixmark: systemd is not here: have `unixmark boots {name} --go-on` run at each boot"
        )
    });
    Ok(())
}

/// The words of this command line, without the program's name.
fn command_line() -> Result<Vec<String>> {
    let own_words = crate::measuring::to_own_words(std::env::args_os().collect());
    let mut words = Vec::new();
    for word in own_words.into_iter().skip(1) {
        match word.into_string() {
            Ok(word) => words.push(word),
            Err(word) => bail!("{} is not UTF-8", word.display()),
        }
    }
    Ok(words)
}

/// Judges the boot that was asked for, if one was, and does what is next.
fn go_on(folder: &Path, format: Format) -> Result<Status> {
    go_on_until(&Brake::new(folder)?, folder, format)
}

/// [`go_on`] with a brake, which stops reboots only: the present boot is judged all the same.
fn go_on_until(brake: &Brake, folder: &Path, format: Format) -> Result<Status> {
    let Some(_lock) = lock(folder)? else {
        bail!("another unixmark is running this experiment; wait until it ends");
    };
    let mut experiment = Experiment::load(folder).map_err(usage)?;
    let machine = Machine::here();
    let boot = machine.boot();
    if boot.is_empty() {
        bail!("the kernel has no boot_id, by which reboots are counted");
    }

    match experiment.pending(&boot) {
        Some(Pending::Booted(arm)) => {
            // Should the machine be reset while it is measured, it is to boot as usual.
            way::forget(&experiment.way)?;
            experiment.begin(&boot);
            experiment.save(folder)?;
            match measure_outcome(&experiment, arm, folder, &machine) {
                Ok(outcome) => experiment.judge(outcome),
                Err(signal) => {
                    say(INTERRUPTED);
                    return Ok(Status::Signal(signal));
                }
            }
            experiment.save(folder)?;
        }
        Some(Pending::BrokenOff) => {
            way::forget(&experiment.way)?;
            let why = "the machine was restarted while it was measured";
            experiment.judge(Outcome::Failed(why.to_owned()));
            experiment.save(folder)?;
        }
        // The reboot did not come: it is asked for once more.
        Some(Pending::NotDown(arm)) if !brake.is_stopped() => {
            let arm = arm.map(|arm| &experiment.arms[arm]);
            let Some(why) = ask_for_reboot(&experiment, arm, brake) else {
                return Ok(Status::Fine);
            };
            experiment.judge(Outcome::Failed(why));
            experiment.save(folder)?;
        }
        Some(Pending::NotDown(_)) | None => {}
    }
    reboot_into_next(&mut experiment, &boot, brake, (folder, format))
}

/// Asks for the next reboot or, after the last, ends the experiment. A boot that cannot even be
/// asked for has failed, and the one after it is tried.
fn reboot_into_next(
    experiment: &mut Experiment,
    boot: &str,
    brake: &Brake,
    (folder, format): (&Path, Format),
) -> Result<Status> {
    loop {
        // `--stop` may have come while this boot was measured, or while a reboot failed.
        if brake.is_stopped() {
            return end(experiment, folder, format);
        }
        if let Some(signal) = brake.signal() {
            return interrupt(experiment, folder, signal);
        }
        let slot = match experiment.next() {
            Next::Slot(slot) => Some(slot),
            Next::Back => None,
            Next::Report => return end(experiment, folder, format),
        };
        let number = experiment.add(slot, boot.to_owned());
        let arm = slot.map(|slot| experiment.arm(slot));
        say(&match arm {
            Some(arm) => format!("unixmark: boot {number} is of {}", arm.name),
            None => format!("unixmark: boot {number} is the way back"),
        });

        // On the disk before the machine goes down.
        experiment.save(folder)?;
        let Some(why) = ask_for_reboot(experiment, arm, brake) else {
            return Ok(Status::Fine);
        };
        experiment.judge(Outcome::Failed(why));
        experiment.save(folder)?;
    }
}

/// Asks for a reboot, and returns why it is not coming; `None` if it is.
fn ask_for_reboot(experiment: &Experiment, arm: Option<&Arm>, brake: &Brake) -> Option<String> {
    match way::reboot(experiment, arm, brake) {
        Ok(Reboot::Coming) => None,
        Ok(Reboot::CalledOff) => Some(CALLED_OFF.to_owned()),
        Err(error) => Some(format!("{error:#}")),
    }
}

/// Ends an experiment that a signal keeps from rebooting, so that no later boot goes on with it.
fn interrupt(experiment: &Experiment, folder: &Path, signal: i32) -> Result<Status> {
    forbid(folder)?;
    way::leave(&experiment.way)?;
    let folder = folder.display();
    say(&format!(
        "unixmark: interrupted (signal {signal}): the machine is not rebooted, nothing of the \
         experiment stays in the system, and {folder} keeps the runs"
    ));
    Ok(Status::Signal(signal))
}

/// Shows what was found, and removes what the experiment has added to the system.
fn end(experiment: &Experiment, folder: &Path, format: Format) -> Result<Status> {
    let status = report(experiment, folder, format);
    // Even a report that fails leaves the system clean.
    way::leave(&experiment.way)?;
    status
}

/// Measures the boot that the machine is in, if it came up as `arm` wants it; the way back, which
/// has no arm, is only checked.
///
/// # Errors
/// The signal that interrupted the measurement.
fn measure_outcome(
    experiment: &Experiment,
    arm: Option<usize>,
    folder: &Path,
    machine: &Machine,
) -> Result<Outcome, i32> {
    let usual = Arm::usual();
    let expected = arm.map_or(&usual, |arm| &experiment.arms[arm]);
    let check = expected.check(&System::here(machine), &experiment.usual, &experiment.arms);

    let outcome = if let Err(why) = check {
        Outcome::Failed(why)
    } else if arm.is_none() {
        Outcome::Run(String::new())
    } else {
        match measure_boot(experiment, expected, folder, machine) {
            Ok(measured) => judge_run(&measured)?,
            Err(error) => Outcome::Failed(format!("{error:#}")),
        }
    };
    if let Outcome::Failed(why) = &outcome {
        say(&format!("unixmark: {why}"));
    }
    Ok(outcome)
}

/// The outcome of a boot by its run, or the signal that interrupted the run.
fn judge_run(measured: &Measured) -> Result<Outcome, i32> {
    if let Some(signal) = measured.signal() {
        return Err(signal);
    }
    if measured.is_empty() {
        return Ok(Outcome::Failed(measured.failures.join("; ")));
    }
    let name = measured.directory.file_name().unwrap_or_default();
    Ok(Outcome::Run(name.to_string_lossy().into_owned()))
}

/// Measures this boot into a run in the experiment's folder, as the command line says that began
/// the experiment.
fn measure_boot(
    experiment: &Experiment,
    arm: &Arm,
    folder: &Path,
    machine: &Machine,
) -> Result<Measured> {
    std::env::set_current_dir(&experiment.directory)
        .with_context(|| format!("{} is gone", experiment.directory.display()))?;
    let words = std::iter::once("unixmark").chain(experiment.words.iter().map(String::as_str));
    let matches = command().try_get_matches_from(words).map_err(|error| anyhow!("{error}"))?;
    let cost = matches.subcommand_matches("cost").context("the experiment is of another verb")?;
    let arguments = cost::Arguments::from_arg_matches(cost).map_err(|error| anyhow!("{error}"))?;

    let catalogue = Catalogue::load()?;
    let ask = cost::to_boot_ask(&arguments, &catalogue, machine)?;
    let prepared = measure::prepare(ask, &catalogue, machine)?;
    check_prepared(&prepared)?;

    let measuring = &arguments.options.measuring;
    let setup = measure::Setup {
        store: Store::at(Some(folder.to_path_buf()))?,
        comment: arm.name.clone(),
        arguments: experiment.words.clone(),
        screen: None,
        ..measuring.setup(machine)?
    };
    let (measured, kept) = measure_and_keep(&prepared, &setup, measuring.loudness())?;
    kept.map(|()| measured)
}

/// Shows what each arm costs against the first, and which boots failed.
fn report(experiment: &Experiment, folder: &Path, format: Format) -> Result<Status> {
    let store = Store::at(Some(folder.to_path_buf()))?;
    let catalogue = Catalogue::load()?;
    let failures = experiment.failures();
    for failure in &failures {
        say(&format!("unixmark: {failure}"));
    }

    let base = &experiment.arms[0].name;
    let mut has_shown = false;
    for (number, arm) in experiment.arms.iter().enumerate().skip(1) {
        let changed = &arm.name;
        let runs = experiment.pairs(number);
        if runs.is_empty() {
            say(&format!("unixmark: no round has both {base} and {changed}"));
            continue;
        }

        let mut results = Vec::new();
        for run in &runs {
            let journal = journal::read(&store.find(run)?)?;
            results.push(Results::new(&journal, &catalogue, None));
        }
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
