//! `unixmark cost`: what conditions cost, test by test. A preset of run.
//!
//! Each test is measured under every condition and under the one that they are compared with
//! ([`find_arms`]). With `boot:` a boot of the machine is a condition: `boots` carries that out,
//! and each boot measures the same tests ([`to_boot_ask`]).

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail, ensure};

use crate::measuring::job::carry_out;
use crate::measuring::options::{
    Commands, Manner, MatrixOptions, ModeOption, PrintedFigures, Rates, bytes, rates, with_default,
};
use crate::options::percent;
use crate::status::{Status, usage};
use catalogue::{Catalogue, Condition, Copies};
use conditions::{Flush, Sink, TrailSettings};
use journal::View;
use machine::{self, Machine};
use measure::Ask;
use plan::{Arms, Matrix, Procedure, Purpose};

/// The tests that are measured by default.
const USUAL_GROUP: &str = "index";

/// The test of `--rate` by default.
const USUAL_RATE_TEST: &str = "opens";

/// The test of `--start` by default, which executes true(1).
const USUAL_START_TEST: &str = "command";

/// The condition under which programs are not in the page cache.
const COLD: &str = "cold";

/// The group of `--calls`.
const CALLS_GROUP: &str = "calls";

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| with_default(arg, "1")),
    mut_arg("iterations", |arg| with_default(arg, "12, and up to 48 until the intervals are narrow")),
    mut_arg("load", |arg| with_default(arg, "none")),
    mut_arg("quantile", |arg| arg.requires("harness"))
)]
pub(crate) struct Arguments {
    /// What to switch: `audit=all`, `thp=never,always`, `seccomp=allow+nice=5`; `unixmark list
    /// conditions` shows them. With boot: words of the kernel's command line, or kernels:
    /// `boot:mitigations=off,auto`, `boot:kernel=6.1.0,6.1.0-rt`
    #[arg(value_name = "CONDITION")]
    condition: String,
    /// Tests, groups or quoted commands [default: index]
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// What to compare with [default: the machine as found, or the condition's usual reference]
    #[arg(long, value_name = "CONDITION")]
    against: Option<String>,
    /// Measure system calls one by one
    #[arg(long)]
    calls: bool,
    /// Say what sandboxes (podman, crun, bubblewrap, nspawn) cost to start, cold and warm, to enter
    /// and to stop, and the memory of 1, 4 and 16 next to each other; then the command inside and
    /// outside [default command: true]
    #[arg(long, conflicts_with_all = ["calls", "rate", "against"])]
    start: bool,
    /// Offer events at these rates, in per cent of what the machine can do, and say from which on
    /// they are lost: 50%,100%, or six of 10%..120%
    #[arg(long, value_name = "PERCENT", value_parser = rates)]
    rate: Option<Rates>,
    /// Exit with status 1 if a test is significantly slower by at least this much and a repeat
    /// measurement, which --budget does not include, confirms it
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_on: Option<f64>,
    /// Exit with status 4 if a loss of that size is neither shown nor ruled out: too few blocks, or
    /// too much noise
    #[arg(long, requires = "fail_on")]
    strict_gate: bool,
    /// Where audit records go
    #[arg(long, value_enum, value_name = "SINK", default_value_t)]
    sink: Sink,
    /// When to flush the audit trail to disk
    #[arg(long, value_enum, value_name = "POLICY", default_value_t)]
    flush: Flush,
    /// Rotate the audit trail at this size: 200m, 4g
    #[arg(long, value_name = "SIZE", default_value = "1g", value_parser = bytes)]
    trail_limit: u64,
    /// Number of audit records the kernel may queue, unless the machine audits already; until a
    /// long queue is full, results look better than they are
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..1_000_000))]
    backlog: u32,
    /// Reboot the machine this often at most, the way back included, for `boot:`
    #[arg(long, value_name = "N")]
    pub(super) boots: Option<usize>,
    /// How to reboot: grub, systemd-boot, kexec, or a command that is given UNIXMARK_WORDS and
    /// UNIXMARK_KERNEL, and as UNIXMARK_ACTION boot, or back for the usual system [default: the
    /// first of the three that is possible]
    #[arg(long, value_name = "WAY|COMMAND", requires = "boots")]
    pub(super) reboot: Option<String>,
    /// A command of yours, executed as it is
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    figures: PrintedFigures,
    #[command(flatten)]
    mode: ModeOption,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    pub(super) options: MatrixOptions,
}

impl Arguments {
    /// The programs of the user's commands, as they are named.
    pub(super) fn programs(&self) -> Vec<String> {
        let after_dashes = self.words.first().map(|word| word.to_string_lossy().into_owned());
        let quoted = self.names.iter().filter_map(|name| name.split_whitespace().next());
        after_dashes.into_iter().chain(quoted.map(str::to_owned)).collect()
    }

    /// The list after `boot:`; `None` where no boots are compared.
    pub(super) fn boot_list(&self) -> Option<&str> {
        self.condition.strip_prefix("boot:")
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let options = &arguments.options;
    if arguments.boots.is_some() {
        return Err(usage(anyhow!(
            "--boots goes with boot:; try `unixmark cost boot:mitigations=off --boots 13`"
        )));
    }
    carry_out(options, &arguments.commands.report_exports(), |catalogue, machine| {
        to_ask(arguments, catalogue, machine).map_err(usage)
    })
}

/// The request that the arguments make.
pub(super) fn to_ask(
    arguments: &Arguments,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<Ask> {
    let options = &arguments.options;
    let conditions = match arguments.start {
        true => with_cold_starts(&arguments.condition, catalogue)?,
        false => arguments.condition.clone(),
    };
    let arms = find_arms(&conditions, arguments.against.as_deref(), catalogue)?;
    if arguments.start {
        check_sandboxes(&arms)?;
    }

    let effort = arguments.commands.effort(options.effort_in_blocks()?);
    let matrix = Matrix {
        arms,
        procedure: Procedure::new(Purpose::Cost, effort),
        times_starts: arguments.start,
        ..find_work(arguments, catalogue, machine)?
    };
    arguments.figures.add_to(Ask {
        view: View::Cost,
        trail: trail_settings(arguments),
        gate: arguments.fail_on,
        is_gate_strict: arguments.strict_gate,
        time_unit: arguments.commands.time_unit,
        ..options.ask(matrix)
    })
}

/// A list of conditions with what --start compares: each sandbox, the command outside with its
/// programs dropped from the page cache, and each sandbox with the same. Of a condition with
/// several levels the first is the whole sandbox; the others are its parts.
fn with_cold_starts(names: &str, catalogue: &Catalogue) -> Result<String> {
    let mut sandboxes = Vec::new();
    for name in names.split(',') {
        let levels = catalogue.expand_conditions(&[name.to_owned()])?;
        sandboxes.extend(levels.first().map(|level| level.name.clone()));
    }

    let cold_sandboxes: Vec<String> =
        sandboxes.iter().map(|name| format!("{COLD}+{name}")).collect();
    Ok([sandboxes, vec![COLD.to_owned()], cold_sandboxes].concat().join(","))
}

/// Refuses a condition that is no sandbox: it has nothing to start.
fn check_sandboxes(arms: &Arms) -> Result<()> {
    for condition in &arms.others {
        // A sandbox puts words before those of a command.
        let has_prefix = condition.parts.iter().any(|(switch, _)| !switch.prefix.is_empty());
        ensure!(
            has_prefix || condition.name == COLD,
            "{} is no sandbox that --start could time; try podman, crun, bubblewrap or nspawn, or leave --start out",
            condition.name
        );
    }
    Ok(())
}

fn trail_settings(arguments: &Arguments) -> TrailSettings {
    TrailSettings {
        sink: arguments.sink,
        flush: arguments.flush,
        limit: arguments.trail_limit,
        backlog: arguments.backlog,
    }
}

/// The request that each boot of an experiment over boots carries out.
///
/// # Errors
/// An option does not go with `boot:`, or a test, load or number of copies is unknown.
pub(super) fn to_boot_ask(
    arguments: &Arguments,
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<Ask> {
    let has_exports = !arguments.commands.report_exports().is_empty();
    if has_exports
        || arguments.against.is_some()
        || arguments.rate.is_some()
        || arguments.fail_on.is_some()
        || arguments.figures.harness.is_some()
    {
        bail!(
            "--export-…, --against, --rate, --fail-on and --harness do not go with boot:; leave them out: the arms of its list are \
             compared with the first"
        );
    }
    if trail_settings(arguments) != TrailSettings::default() {
        bail!(
            "--sink, --flush, --trail-limit and --backlog are for audit conditions; a boot measures no audit trail"
        );
    }
    let options = &arguments.options;
    let effort = arguments.commands.effort(options.effort_in_blocks()?);
    let procedure = Procedure::new(Purpose::Scores, effort);
    Ok(options.ask(Matrix { procedure, ..find_work(arguments, catalogue, machine)? }))
}

/// The tests, copies and loads of the arguments, in a matrix that has nothing else.
fn find_work(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Matrix> {
    let Arguments { options, commands, figures, .. } = arguments;
    check_names(arguments, catalogue)?;

    let usual = match arguments.rate {
        Some(_) => USUAL_RATE_TEST,
        None if arguments.start => USUAL_START_TEST,
        None => USUAL_GROUP,
    };
    let mut names = arguments.names.clone();
    if arguments.calls {
        names.push(CALLS_GROUP.to_owned());
    }
    let manner = Manner { is_read: figures.harness.is_some(), ..Manner::default() };
    let tests = commands.tests_in(catalogue, (&names, &arguments.words), (usual, manner))?;
    if manner.is_read
        && let Some(test) = tests.iter().find(|test| !test.is_command())
    {
        bail!(
            "--harness reads what commands print, and {} is a test; name commands alone",
            test.id
        );
    }

    let tests = arguments.mode.apply(tests)?;
    let tests = match &arguments.rate {
        Some(rates) => rates.expand(&tests, "unixmark cost CONDITION opens --rate 10%..120%")?,
        None => tests,
    };

    let copies = options.copies(machine::cpus_online(machine), || vec![1])?;
    if !copies.contains(&1)
        && let Some(test) = tests.iter().find(|test| test.copies == Copies::One)
    {
        bail!("{} never has more than one copy; add 1 to --copies", test.id);
    }
    if manner.is_read && copies != [1] {
        bail!("--harness reads what one copy prints; leave --copies out");
    }
    Ok(Matrix { tests, copies, loads: options.loads(catalogue)?, ..Matrix::default() })
}

/// Refuses a condition among the tests: conditions are one word, so it was meant to be part of it.
fn check_names(arguments: &Arguments, catalogue: &Catalogue) -> Result<()> {
    for name in &arguments.names {
        let name_alone = std::slice::from_ref(name);
        let is_condition = name.contains('=') && catalogue.expand_conditions(name_alone).is_ok();
        if is_condition && catalogue.expand(name_alone).is_err() {
            bail!(
                "'{name}' is a condition; conditions are separated by commas: try `unixmark cost {},{name} …`",
                arguments.condition
            );
        }
    }
    Ok(())
}

/// The conditions of a list, and the one that they are compared with: by default the one that their
/// rows name.
///
/// # Errors
/// There is no such condition, or nothing to compare.
pub(super) fn find_arms(list: &str, against: Option<&str>, catalogue: &Catalogue) -> Result<Arms> {
    let names: Vec<String> = list.split(',').map(str::to_owned).collect();
    let mut others = catalogue.expand_conditions(&names)?;
    let reference = match against {
        Some(name) => name.to_owned(),
        None => usual_reference(&others)?,
    };
    let [reference] = &catalogue.expand_conditions(&[reference])?[..] else {
        bail!("--against takes one condition at one level; name one, without a list of levels");
    };

    others.retain(|condition| condition.name != reference.name);
    if others.is_empty() {
        let name = &reference.name;
        bail!("there is nothing to compare {name} with; name another condition or --against");
    }
    Ok(Arms::compared(Arc::clone(reference), others))
}

/// The name of the condition that all of these are compared with, unless the user names another.
fn usual_reference(conditions: &[Arc<Condition>]) -> Result<String> {
    let mut names: Vec<&str> = conditions.iter().map(|condition| condition.against()).collect();
    names.dedup();
    match names[..] {
        [name] => Ok(name.to_owned()),
        _ => {
            bail!(
                "these conditions are compared with different ones ({}); choose one with --against",
                names.join(", ")
            )
        }
    }
}
