//! `unixmark cost`: what conditions cost, test by test. A preset of run.

use std::time::Duration;

use anyhow::{Result, bail};

use super::measure::{self, Job, Options, duration};
use super::values::{Copies, bytes, copies, percent};
use super::{Status, usage};
use catalogue::{Catalogue, Copies as Kinds};
use conditions::{Flush, Settings, Sink, TrailSettings};
use journal::View;
use machine::{self, Machine};
use plan::{Kind, Pin, Plan, Procedure, Request};

/// What is measured where nothing is named.
const GROUP: &str = "index";

/// What `--calls` measures.
const CALLS: &str = "calls";

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(super) struct Arguments {
    /// What to switch: `audit=all`, `thp=never,always`, `seccomp=allow+nice=5`; `unixmark list conditions` shows them
    #[arg(value_name = "CONDITION")]
    condition: String,
    /// Tests or groups [default: index]
    #[arg(value_name = "TEST|GROUP")]
    names: Vec<String>,
    /// What to compare with [default: the machine as found, or what the condition's row says]
    #[arg(long, value_name = "CONDITION")]
    against: Option<String>,
    /// Measure system calls one by one
    #[arg(long)]
    calls: bool,
    /// How many copies, or users: `1`, `1,2,4` or `max` [default: 1]
    #[arg(short, long, value_name = "N", value_parser = copies)]
    copies: Vec<Copies>,
    /// What runs in the background
    #[arg(long, value_name = "L,…", value_delimiter = ',', default_value = "none")]
    load: Vec<String>,
    /// Eight blocks of short windows: the grossest differences
    #[arg(long)]
    quick: bool,
    /// Blocks: each arm once, in random order [default: 12, and up to 48 until the intervals are narrow]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..10_000))]
    iterations: Option<u32>,
    /// Begin no further block after this time: 90s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Exit with 1 where a test is slower by this or more, beyond doubt and again at a second look
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_on: Option<f64>,
    /// Where records of auditing go
    #[arg(long, value_enum, value_name = "SINK", default_value_t)]
    sink: Sink,
    /// When a trail is flushed to the disk
    #[arg(long, value_enum, value_name = "POLICY", default_value_t)]
    flush: Flush,
    /// Begin a trail anew after so many bytes: 200m, 4g
    #[arg(long, value_name = "SIZE", default_value = "1g", value_parser = bytes)]
    trail_limit: u64,
    /// Records of auditing that the kernel may queue; a long queue flatters what is measured before it is full
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(64..1_000_000))]
    backlog: u32,
    /// Which processor each copy runs on
    #[arg(long, value_enum, value_name = "WHERE", default_value_t)]
    pin: Pin,
    #[command(flatten)]
    options: Options,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let plan = plan(arguments, &catalogue, &machine).map_err(usage)?;
    let trail = TrailSettings {
        sink: arguments.sink,
        flush: arguments.flush,
        limit: arguments.trail_limit,
        backlog: arguments.backlog,
    };
    let job = Job {
        pin: arguments.pin,
        view: View::Cost,
        conditions: Settings { trail, ..Settings::default() },
        gate: arguments.fail_on,
        ..Job::new(&arguments.options, &catalogue, &machine, &plan)
    };
    measure::carry_out(&job)
}

fn plan(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Plan> {
    let mut names = arguments.names.clone();
    if arguments.calls {
        names.push(CALLS.to_owned());
    }
    if names.is_empty() {
        names.push(GROUP.to_owned());
    }
    let tests = catalogue.expand(&names)?;
    let asked: Vec<String> = arguments.condition.split(',').map(str::to_owned).collect();
    let mut conditions = catalogue.expand_conditions(&asked)?;
    let against = match &arguments.against {
        Some(name) => name.clone(),
        None => baseline(&conditions)?,
    };
    let [against] = &catalogue.expand_conditions(&[against])?[..] else {
        bail!("--against takes one condition at one level");
    };
    conditions.retain(|condition| condition.name != against.name);
    if conditions.is_empty() {
        bail!("there is nothing to compare {} with; name another condition or --against", against.name);
    }
    conditions.insert(0, against.clone());
    let cpus = u32::try_from(machine::cpus_online(machine)).unwrap_or(1);
    let copies = if arguments.copies.is_empty() { vec![1] } else { Copies::all(&arguments.copies, cpus)? };
    if let Some(test) = tests.iter().find(|test| test.copies == Kinds::One).filter(|_| copies.iter().all(|n| *n > 1)) {
        bail!("{} is only ever one; add 1 to --copies", test.id);
    }
    let kind = if arguments.quick { Kind::Quick } else { Kind::Standard };
    let request = Request {
        tests,
        copies,
        loads: catalogue.expand_loads(&arguments.load)?,
        conditions,
        control: true,
        procedure: Procedure::cost(kind, arguments.budget, arguments.iterations),
        seed: arguments.options.seed(),
        pin: arguments.pin.order(&machine::topology(machine)),
        ..Request::default()
    };
    Plan::new(&request, catalogue)
}

/// What all of the conditions are compared with.
fn baseline(conditions: &[std::sync::Arc<catalogue::Condition>]) -> Result<String> {
    let mut names: Vec<&str> = conditions.iter().map(|condition| condition.against()).collect();
    names.dedup();
    match names[..] {
        [name] => Ok(name.to_owned()),
        _ => {
            bail!("these conditions are compared with different ones ({}); say which with --against", names.join(", "))
        }
    }
}
