//! `unixmark cost`: what conditions cost, test by test. A preset of run.

use std::ffi::OsString;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use crate::measuring::job::carry_out;
use crate::measuring::options::{Commands, MatrixOptions, Rates, bytes, rates, with_default};
use crate::options::percent;
use crate::status::{Status, usage};
use catalogue::{Catalogue, Condition, Copies};
use conditions::{Flush, Sink, TrailSettings};
use journal::View;
use machine::{self, Machine};
use measure::Ask;
use plan::{Arms, Matrix, Procedure, Purpose};

/// The tests that are measured by default.
const GROUP: &str = "index";

/// The test of `--rate` by default.
const OPENS: &str = "opens";

/// The group of `--calls`.
const CALLS: &str = "calls";

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| with_default(arg, "1")),
    mut_arg("iterations", |arg| with_default(arg, "12, and up to 48 until the intervals are narrow")),
    mut_arg("load", |arg| with_default(arg, "none"))
)]
pub(crate) struct Arguments {
    /// What to switch: `audit=all`, `thp=never,always`, `seccomp=allow+nice=5`; `unixmark list conditions` shows them.
    /// With boot: words of the kernel's command line, or kernels: `boot:mitigations=off,auto`,
    /// `boot:kernel=6.1.0,6.1.0-rt`
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
    /// Offer events at these rates, in per cent of what the machine can do, and say from which on they are lost:
    /// 50%,100%, or six of 10%..120%
    #[arg(long, value_name = "PERCENT", value_parser = rates)]
    rate: Option<Rates>,
    /// Exit with status 1 if a test is significantly slower by at least this much and a repeat measurement, which
    /// --budget does not include, confirms it
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_on: Option<f64>,
    /// Exit with status 4 if a loss of that size is neither shown nor ruled out: too few blocks, or too much noise
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
    /// How to reboot: grub, systemd-boot, kexec, or a command that is given UNIXMARK_WORDS and UNIXMARK_KERNEL, and as
    /// UNIXMARK_ACTION boot, or back for the usual system [default: the first of the three that is possible]
    #[arg(long, value_name = "WAY|COMMAND", requires = "boots")]
    pub(super) reboot: Option<String>,
    /// A command of yours, executed as it is
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    pub(super) options: MatrixOptions,
}

impl Arguments {
    /// Returns what follows `boot:`, where boots are compared.
    pub(super) fn boot_list(&self) -> Option<&str> {
        self.condition.strip_prefix("boot:")
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let options = &arguments.options;
    if arguments.boots.is_some() {
        return Err(usage(anyhow!("--boots is for boot:, such as `unixmark cost boot:mitigations=off --boots 13`")));
    }
    carry_out(options, &arguments.commands.exports(), |catalogue, machine| {
        ask(arguments, catalogue, machine).map_err(usage)
    })
}

/// Returns what the arguments ask for.
pub(super) fn ask(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Ask> {
    let options = &arguments.options;
    let arms = arms(&arguments.condition, arguments.against.as_deref(), catalogue)?;
    let procedure = Procedure::new(Purpose::Cost, arguments.commands.effort(options.effort_in_blocks()?));
    let matrix = Matrix { arms, procedure, ..matrix(arguments, catalogue, machine)? };
    Ok(Ask {
        view: View::Cost,
        trail: trail(arguments),
        gate: arguments.fail_on,
        is_gate_strict: arguments.strict_gate,
        time_unit: arguments.commands.time_unit,
        ..options.ask(matrix)
    })
}

fn trail(arguments: &Arguments) -> TrailSettings {
    TrailSettings {
        sink: arguments.sink,
        flush: arguments.flush,
        limit: arguments.trail_limit,
        backlog: arguments.backlog,
    }
}

/// Returns what is measured in each boot of an experiment over boots.
///
/// # Errors
/// An option does not go with `boot:`, or a test, load or number of copies is unknown.
pub(super) fn boot(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Ask> {
    let exports = !arguments.commands.exports().is_empty();
    if exports || arguments.against.is_some() || arguments.rate.is_some() || arguments.fail_on.is_some() {
        bail!(
            "--export-…, --against, --rate and --fail-on do not go with boot:; leave them out: the arms of its list are \
             compared with the first"
        );
    }
    if trail(arguments) != TrailSettings::default() {
        bail!("--sink, --flush, --trail-limit and --backlog are for audit conditions; a boot measures no audit trail");
    }
    let options = &arguments.options;
    let procedure = Procedure::new(Purpose::Scores, arguments.commands.effort(options.effort_in_blocks()?));
    Ok(options.ask(Matrix { procedure, ..matrix(arguments, catalogue, machine)? }))
}

/// Returns the tests, copies and loads of the arguments.
fn matrix(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Matrix> {
    let options = &arguments.options;
    check_names(arguments, catalogue)?;
    let usual = if arguments.rate.is_some() { OPENS } else { GROUP };
    let tests = arguments.commands.tests(catalogue, (&names(arguments), &arguments.words), usual)?;
    let tests = match &arguments.rate {
        Some(rates) => rates.expand(&tests, "unixmark cost CONDITION opens --rate 10%..120%")?,
        None => tests,
    };
    let cpus = machine::cpus_online(machine);
    let copies = options.copies(cpus, || vec![1])?;
    if let Some(test) = tests.iter().find(|test| test.copies == Copies::One).filter(|_| !copies.contains(&1)) {
        bail!("{} never has more than one copy; add 1 to --copies", test.id);
    }
    Ok(Matrix { tests, copies, loads: options.loads(catalogue)?, ..Matrix::default() })
}

/// Conditions stand in one word, so one that stands among the tests was meant to belong to it.
fn check_names(arguments: &Arguments, catalogue: &Catalogue) -> Result<()> {
    let is_condition = |name: &&String| name.contains('=') && catalogue.expand_conditions(&[(*name).clone()]).is_ok();
    let is_test = |name: &String| catalogue.expand(std::slice::from_ref(name)).is_ok();
    match arguments.names.iter().find(|name| is_condition(name) && !is_test(name)) {
        Some(name) => bail!(
            "'{name}' is a condition; conditions are separated by commas: try `unixmark cost {},{name} …`",
            arguments.condition
        ),
        None => Ok(()),
    }
}

fn names(arguments: &Arguments) -> Vec<String> {
    let calls = arguments.calls.then(|| CALLS.to_owned());
    arguments.names.iter().cloned().chain(calls).collect()
}

/// Returns conditions, and the one they are compared with: by default the one their rows name.
///
/// # Errors
/// There is no such condition, or nothing to compare.
pub(super) fn arms(names: &str, against: Option<&str>, catalogue: &Catalogue) -> Result<Arms> {
    let names: Vec<String> = names.split(',').map(str::to_owned).collect();
    let mut others = catalogue.expand_conditions(&names)?;
    let against = against.map_or_else(|| usual_reference(&others), |name| Ok(name.to_owned()))?;
    let [reference] = &catalogue.expand_conditions(&[against])?[..] else {
        bail!("--against takes one condition at one level");
    };
    others.retain(|condition| condition.name != reference.name);
    if others.is_empty() {
        let name = &reference.name;
        bail!("there is nothing to compare {name} with; name another condition or --against");
    }
    Ok(Arms::compared(Arc::clone(reference), others))
}

/// Returns what all of the conditions are compared with.
fn usual_reference(conditions: &[Arc<Condition>]) -> Result<String> {
    let mut names: Vec<&str> = conditions.iter().map(|condition| condition.against()).collect();
    names.dedup();
    match names[..] {
        [name] => Ok(name.to_owned()),
        _ => {
            bail!("these conditions are compared with different ones ({}); choose one with --against", names.join(", "))
        }
    }
}
