//! `unixmark quiet`: a command on a quiet machine. What spoils measurements is switched, the
//! command runs, and all is put back; or the two are compared.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};

use crate::measuring::cost::find_arms;
use crate::measuring::job::carry_out;
use crate::measuring::options::{Commands, MatrixOptions, refuse_blank};
use crate::measuring::terminal::Loudness;
use crate::status::{Status, usage};
use crate::terminal::say;
use catalogue::{Catalogue, Condition};
use conditions::{Experiment, Refusal, Settings, irreversible_settings, unavailable_reason};
use journal::View;
use machine::Machine;
use measure::Ask;
use plan::{Matrix, Procedure, Purpose};
use runner::Supervisor;

/// Settings that steady a machine, and change no result of a program.
const STEADYING_SETTINGS: [&str; 7] = [
    "governor=performance",
    "energy-preference=performance",
    "boost=off",
    "turbo=off",
    "aslr=0",
    "numa-balancing=0",
    "ksm=0",
];

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(crate) struct Arguments {
    /// Reserve these processors for the command: 1, 2-3
    #[arg(long, value_name = "CPUS")]
    shield: Option<String>,
    /// Further settings, as `unixmark list conditions` shows them: smt=off+thp=never
    #[arg(long, value_name = "CONDITION")]
    with: Option<String>,
    /// Compare the command's time and its spread with all settings, with each alone and with none;
    /// the options of measuring are for this
    #[arg(long)]
    prove: bool,
    /// The command
    #[arg(last = true, required = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.prove {
        return carry_out(
            &arguments.options,
            &arguments.commands.report_exports(),
            |catalogue, machine| to_ask(arguments, catalogue, machine).map_err(usage),
        );
    }

    // Before anything is switched.
    let first_word = arguments.words[0].to_string_lossy();
    refuse_blank("the first word after --", &first_word).map_err(usage)?;
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let QuietSettings { settings, left_out } =
        find_settings(arguments, &catalogue, &machine).map_err(usage)?;
    let condition = join(&settings, &catalogue)?;
    if arguments.options.measuring.loudness() != Loudness::Quiet {
        say(&format!("unixmark: quiet by {}", condition.name));
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            say(&format!("unixmark: not switched: {names}; `unixmark list conditions` says why"));
        }
    }

    let may_last = arguments.options.yes;
    let one_way = irreversible_settings(&condition, &machine);
    if !may_last && !one_way.is_empty() {
        let why = one_way.join("; ");
        return Err(usage(anyhow!("{why}; --yes sets it all the same, and it stays")));
    }
    if arguments.options.measuring.dry_run {
        return Ok(Status::Fine);
    }
    execute_quietly(arguments, &condition, &machine)
}

/// Executes the command under a condition, which is undone afterwards; returns the command's
/// status.
fn execute_quietly(
    arguments: &Arguments,
    condition: &Arc<Condition>,
    machine: &Machine,
) -> Result<Status> {
    let setup = arguments.options.measuring.setup(machine)?;
    let may_last = arguments.options.yes;
    let settings = Settings { patience: setup.patience, may_last, ..Settings::default() };
    let experiment = Experiment::begin(settings)?;
    let mut supervisor = Supervisor::new(machine, setup.patience, &setup.dir, None, experiment)?;

    let ended = match (supervisor.run_under(condition, &arguments.words), supervisor.signal()) {
        // The signal came while the condition was entered, so the command has not run.
        (Err(Refusal::Stopped), Some(signal)) => return Ok(Status::Signal(signal)),
        (ended, _) => ended.map_err(|why| anyhow!("{why}"))?,
    };
    // A process ends by a code or by a signal.
    match ended.code() {
        Some(code) => Ok(Status::Own(u8::try_from(code).unwrap_or(u8::MAX))),
        None => Ok(Status::Signal(ended.signal().unwrap_or_default())),
    }
}

/// The request to compare the command on the quiet machine, and under each setting alone, with the
/// machine as it is.
fn to_ask(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Ask> {
    let Arguments { options, commands, .. } = arguments;
    let QuietSettings { settings, .. } = find_settings(arguments, catalogue, machine)?;
    let mut names = vec![join(&settings, catalogue)?.name.clone()];
    if settings.len() > 1 {
        names.extend(settings.iter().map(|setting| setting.name.clone()));
    }

    let effort = commands.effort(options.effort_in_blocks()?);
    let matrix = Matrix {
        tests: commands.tests(catalogue, (&[], &arguments.words), "")?,
        copies: options.copies(machine::cpus_online(machine), || vec![1])?,
        loads: options.loads(catalogue)?,
        arms: find_arms(&names.join(","), None, catalogue)?,
        procedure: Procedure::new(Purpose::Cost, effort),
        ..Matrix::default()
    };
    Ok(Ask { view: View::Cost, time_unit: commands.time_unit, ..options.ask(matrix) })
}

/// The settings that make a machine quiet.
struct QuietSettings {
    /// Those that can be switched here.
    settings: Vec<Arc<Condition>>,
    /// The names of those that cannot.
    left_out: Vec<String>,
}

/// Finds the settings that the user names, and the usual ones for which the user names no level.
///
/// # Errors
/// One that the user names cannot be switched here, or none can.
fn find_settings(
    arguments: &Arguments,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<QuietSettings> {
    let mut names = Vec::new();
    if let Some(cpus) = &arguments.shield {
        // Commas are between conditions.
        names.push(format!("shield={}", cpus.replace(',', ":")));
    }
    if let Some(with) = &arguments.with {
        names.extend(with.split('+').map(str::to_owned));
    }
    let mut settings = catalogue.expand_conditions(&names)?;
    if let Some(why) = settings.iter().find_map(|setting| unavailable_reason(setting, machine)) {
        bail!("{why}");
    }

    let named_switches: Vec<&str> = names.iter().map(|name| switch_of(name)).collect();
    let usual: Vec<String> = STEADYING_SETTINGS
        .iter()
        .filter(|setting| !named_switches.contains(&switch_of(setting)))
        .map(|setting| (*setting).to_owned())
        .collect();
    let mut left_out = Vec::new();
    for setting in catalogue.expand_conditions(&usual)? {
        match unavailable_reason(&setting, machine) {
            None => settings.push(setting),
            Some(_) => left_out.push(setting.name.clone()),
        }
    }
    ensure!(
        !settings.is_empty(),
        "nothing can be switched here, or not by you; `unixmark list conditions` says why"
    );
    Ok(QuietSettings { settings, left_out })
}

/// The switch of a setting, `SWITCH=LEVEL`.
fn switch_of(setting: &str) -> &str {
    setting.split('=').next().unwrap_or(setting)
}

/// One condition that switches all settings.
fn join(settings: &[Arc<Condition>], catalogue: &Catalogue) -> Result<Arc<Condition>> {
    let names: Vec<&str> = settings.iter().map(|setting| setting.name.as_str()).collect();
    let mut conditions = catalogue.expand_conditions(&[names.join("+")])?;
    conditions.pop().ok_or_else(|| anyhow!("there is nothing to switch"))
}
