//! `unixmark scale`: what more copies bring. A preset of run.

use std::time::Duration;

use anyhow::{Result, bail};

use super::measure::{self, Job, Options, duration};
use super::values::{Copies, copies, share};
use super::{Status, usage};
use catalogue::{Catalogue, Condition, Metric};
use journal::View;
use machine::{self, Machine};
use plan::{Kind, Pin, Plan, Procedure, Request};

/// The group that is measured where nothing is named.
const GROUP: &str = "scale";

/// Up to so many processors every number of copies is measured.
const EVERY: u32 = 8;

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(super) struct Arguments {
    /// Tests or groups [default: scale]
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// How many copies: `1..max`, `1,2,4` [default: 1..max, of more than 8 processors 1,2,3,4,6,8,12,16,… max]
    #[arg(short, long, value_name = "N", value_parser = copies)]
    copies: Vec<Copies>,
    /// Which processor each copy runs on
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    pin: Pin,
    /// Three blocks of very short windows: whether it works, and the grossest differences
    #[arg(long)]
    quick: bool,
    /// Blocks: each cell once, in random order [default: 3]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..10_000))]
    iterations: Option<u32>,
    /// Begin no further block after this time: 90s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Measure a cell until its interval is this narrow: 1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    precision: Option<f64>,
    /// What runs in the background
    #[arg(long, value_name = "L,…", value_delimiter = ',', default_value = "none")]
    load: Vec<String>,
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let plan = plan(arguments, &catalogue, &machine).map_err(usage)?;
    let job =
        Job { pin: arguments.pin, view: View::Scaling, ..Job::new(&arguments.options, &catalogue, &machine, &plan) };
    measure::carry_out(&job)
}

fn plan(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Plan> {
    let default = [GROUP.to_owned()];
    let tests = catalogue.expand(if arguments.names.is_empty() { &default } else { &arguments.names })?;
    if let Some(task) = tests.iter().find(|test| test.metric == Metric::Latency) {
        bail!(
            "{} is an interactive task, whose score is no throughput; try `unixmark run {} -c 1,2`",
            task.id,
            task.id
        );
    }
    let cpus = u32::try_from(machine::cpus_usable(machine)).unwrap_or(1);
    let copies = if arguments.copies.is_empty() { ladder(cpus) } else { Copies::all(&arguments.copies, cpus)? };
    can_start(machine, &copies)?;
    let kind = if arguments.quick { Kind::Quick } else { Kind::Standard };
    let request = Request {
        tests,
        copies,
        loads: catalogue.expand_loads(&arguments.load)?,
        conditions: vec![Condition::none()],
        procedure: Procedure::scale(kind, arguments.precision, arguments.budget, arguments.iterations),
        seed: arguments.options.seed(),
        pin: arguments.pin.order(&machine::topology(machine)),
        ..Request::default()
    };
    Plan::new(&request, catalogue)
}

/// The numbers of copies up to `most`: every one of few, and of many powers of two and one between each two.
fn ladder(most: u32) -> Vec<u32> {
    if most <= EVERY {
        return (1..=most).collect();
    }
    let powers = (0..31).map(|power| 1_u32 << power);
    let mut steps: Vec<u32> = powers.flat_map(|power| [power, power + power / 2]).filter(|step| *step < most).collect();
    steps.push(most);
    steps.dedup();
    steps
}

/// Refuses more copies than processes can be started.
fn can_start(machine: &Machine, copies: &[u32]) -> Result<()> {
    let most = copies.iter().copied().max().unwrap_or(1);
    match machine::copies_limit(machine) {
        Some(limit) if u64::from(most) > limit => bail!(
            "{most} copies are wanted and {limit} more processes can be started here; try --copies 1..{}, or raise the \
             limit (`ulimit -u`, or pids.max of the control group)",
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
        std::fs::write(folder.join("limits"), "Max processes             20                   20\n").unwrap();
        let machine = Machine::at(root.path());
        assert!(can_start(&machine, &[1, 20]).is_ok());
        let refused = can_start(&machine, &[1, 21]).unwrap_err().to_string();
        assert!(
            refused.contains("21 copies are wanted and 20 more processes") && refused.contains("1..20"),
            "{refused}"
        );
    }

    #[test]
    fn ladders() {
        assert_eq!(ladder(1), [1]);
        assert_eq!(ladder(8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(ladder(9), [1, 2, 3, 4, 6, 8, 9]);
        assert_eq!(ladder(64), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64]);
    }
}
