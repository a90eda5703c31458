//! `unixmark quiet`: a command on a quiet machine. What spoils measurements is switched, the command runs, and all is
//! put back; or the two are compared.

use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};

use crate::measuring::cost::arms;
use crate::measuring::job::carry_out;
use crate::measuring::options::{Commands, MatrixOptions};
use crate::measuring::terminal::Loudness;
use crate::status::{Status, usage};
use crate::terminal::say;
use catalogue::{Catalogue, Condition};
use conditions::{Experiment, Settings, missing};
use journal::View;
use machine::Machine;
use measure::Ask;
use plan::{Matrix, Procedure, Purpose};
use runner::Supervisor;

/// Settings that steady a machine, and change no result of a program.
const KNOBS: [&str; 7] = [
    "governor=performance", "energy-preference=performance", "boost=off", "turbo=off", "aslr=0", "numa-balancing=0",
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
    /// Compare the command's time and its spread with all settings, with each alone and with none; the options of
    /// measuring are for this
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
        return carry_out(&arguments.options, &arguments.commands.exports(), |catalogue, machine| {
            ask(arguments, catalogue, machine).map_err(usage)
        });
    }
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let (settings, left_out) = settings(arguments, &catalogue, &machine).map_err(usage)?;
    let condition = joined(&settings, &catalogue)?;
    if arguments.options.measuring.loudness() != Loudness::Quiet {
        say(&format!("unixmark: quiet by {}", condition.name));
        if !left_out.is_empty() {
            let names = left_out.join(", ");
            say(&format!("unixmark: not switched: {names}; `unixmark list conditions` says why"));
        }
    }
    if arguments.options.measuring.dry_run {
        return Ok(Status::Fine);
    }
    let setup = arguments.options.measuring.setup(&machine)?;
    let experiment = Experiment::begin(Settings { patience: setup.patience, ..Settings::default() })?;
    let mut supervisor = Supervisor::new(&machine, setup.patience, &setup.dir, None, experiment)?;
    let ended = supervisor.run_under(&condition, &arguments.words).map_err(|why| anyhow!("{why}"))?;
    // It ended by a code or by a signal.
    let code = ended.code().map(|code| Status::Own(u8::try_from(code).unwrap_or(u8::MAX)));
    Ok(code.unwrap_or_else(|| Status::Signal(ended.signal().unwrap_or_default())))
}

/// Returns what compares the command on the quiet machine, and under each setting alone, with the machine as it is.
fn ask(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Ask> {
    let settings = settings(arguments, catalogue, machine)?.0;
    let mut names = vec![joined(&settings, catalogue)?.name.clone()];
    if settings.len() > 1 {
        names.extend(settings.iter().map(|setting| setting.name.clone()));
    }
    let options = &arguments.options;
    let matrix = Matrix {
        tests: arguments.commands.tests(catalogue, (&[], &arguments.words), "")?,
        copies: options.copies(machine::cpus_online(machine), || vec![1])?,
        loads: options.loads(catalogue)?,
        arms: arms(&names.join(","), None, catalogue)?,
        procedure: Procedure::new(Purpose::Cost, arguments.commands.effort(options.effort_in_blocks()?)),
        ..Matrix::default()
    };
    Ok(Ask { view: View::Cost, time_unit: arguments.commands.time_unit, ..options.ask(matrix) })
}

/// Returns the settings that can be switched here, and the names of those that cannot.
///
/// # Errors
/// One that was asked for is not there, or none is.
fn settings(
    arguments: &Arguments,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<(Vec<Arc<Condition>>, Vec<String>)> {
    // Commas are between conditions.
    let shield = arguments.shield.iter().map(|cpus| format!("shield={}", cpus.replace(',', ":")));
    let wanted: Vec<String> =
        shield.chain(arguments.with.iter().flat_map(|with| with.split('+').map(str::to_owned))).collect();
    let mut settings = catalogue.expand_conditions(&wanted)?;
    if let Some(why) = settings.iter().find_map(|setting| missing(setting, machine)) {
        bail!("{why}");
    }
    let mut left_out = Vec::new();
    let is_chosen = |knob: &&str| wanted.iter().any(|name| name.split('=').next() == knob.split('=').next());
    let knobs: Vec<String> = KNOBS.iter().filter(|knob| !is_chosen(knob)).map(|knob| (*knob).to_owned()).collect();
    for knob in catalogue.expand_conditions(&knobs)? {
        match missing(&knob, machine) {
            None => settings.push(knob),
            Some(_) => left_out.push(knob.name.clone()),
        }
    }
    ensure!(!settings.is_empty(), "nothing can be switched here, or not by you; `unixmark list conditions` says why");
    Ok((settings, left_out))
}

fn joined(settings: &[Arc<Condition>], catalogue: &Catalogue) -> Result<Arc<Condition>> {
    let names: Vec<&str> = settings.iter().map(|setting| setting.name.as_str()).collect();
    let mut conditions = catalogue.expand_conditions(&[names.join("+")])?;
    conditions.pop().ok_or_else(|| anyhow!("there is nothing to switch"))
}
