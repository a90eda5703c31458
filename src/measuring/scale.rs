//! `unixmark scale`: how much more several copies of a test get done than one. A preset of run.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::measuring::job::carry_out;
use crate::measuring::options::{Commands, MatrixOptions, ModeOption, with_default};
use crate::status::{Status, usage};
use catalogue::{Catalogue, Metric};
use journal::View;
use machine::{self, Machine};
use measure::Ask;
use plan::{Matrix, Procedure, Purpose};

/// The group that is measured by default.
const USUAL_GROUP: &str = "scale";

/// Up to this many processors every number of copies is measured.
const MAX_FULL_LADDER: u32 = 8;

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| with_default(arg, "1..max; on more than 8 processors 1,2,3,4,6,8,12,16,… max")),
    mut_arg("iterations", |arg| with_default(arg, "6")),
    mut_arg("load", |arg| with_default(arg, "none"))
)]
pub(crate) struct Arguments {
    /// Tests, groups or quoted commands [default: scale]
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// A command of yours, executed as it is
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<OsString>,
    #[command(flatten)]
    mode: ModeOption,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: MatrixOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let options = &arguments.options;
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
    let Arguments { names, words, mode, commands, options } = arguments;
    let tests = mode.apply(commands.tests(catalogue, (names, words), USUAL_GROUP)?)?;
    if let Some(task) = tests.iter().find(|test| test.metric == Metric::Latency) {
        bail!(
            "{0} is an interactive task: it has no throughput to scale; try `unixmark run {0} -c 1,2`",
            task.id
        );
    }

    let cpus = machine::cpus_usable(machine);
    let copies = options.copies(cpus, || make_ladder(cpus))?;
    check_process_limit(machine, &copies)?;
    let effort = commands.effort(options.effort_in_blocks()?);
    let matrix = Matrix {
        tests,
        copies,
        loads: options.loads(catalogue)?,
        procedure: Procedure::new(Purpose::Scaling, effort),
        ..Matrix::default()
    };
    Ok(Ask { view: View::Scaling, time_unit: commands.time_unit, ..options.ask(matrix) })
}

/// The numbers of copies up to `max`: all of a few; of many, the powers of two, and the middle
/// between each two.
fn make_ladder(max: u32) -> Vec<u32> {
    if max <= MAX_FULL_LADDER {
        return (1..=max).collect();
    }
    let powers = (0..31).map(|exponent| 1_u32 << exponent);
    let mut steps: Vec<u32> =
        powers.flat_map(|power| [power, power + power / 2]).filter(|step| *step < max).collect();
    steps.push(max);
    // There is no number between 1 and 2.
    steps.dedup();
    steps
}

/// Refuses more copies than processes can be started.
fn check_process_limit(machine: &Machine, copies: &[u32]) -> Result<()> {
    let max_copies = copies.iter().copied().max().unwrap_or(1);
    match machine::copies_limit(machine) {
        Some(limit) if u64::from(max_copies) > limit => bail!(
            "{max_copies} copies are wanted, but only {limit} more processes can be started here; try --copies 1..{}, or raise \
             the limit (`ulimit -u`, or pids.max of the control group)",
            limit.max(1)
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_copies_than_processes_are_refused() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/self");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("status"), "Uid:\t1000\t1000\t1000\t1000\n").unwrap();
        std::fs::write(
            folder.join("limits"),
            "Max processes             20                   20\n",
        )
        .unwrap();
        let machine = Machine::at(root.path());

        assert!(check_process_limit(&machine, &[1, 20]).is_ok());
        let refused = check_process_limit(&machine, &[1, 21]).unwrap_err().to_string();

        assert!(refused.contains("21 copies are wanted, but only 20 more processes"), "{refused}");
        assert!(refused.contains("1..20"), "{refused}");
    }

    #[test]
    fn ladders() {
        assert_eq!(make_ladder(1), [1]);
        assert_eq!(make_ladder(8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(make_ladder(9), [1, 2, 3, 4, 6, 8, 9]);
        assert_eq!(make_ladder(64), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]);
    }
}
