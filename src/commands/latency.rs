//! `unixmark latency`: interactive tasks × loads. A preset of run, with the options that Interbench's users know.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::measure::{self, Job, Options, duration};
use super::{Status, usage};
use catalogue::{Catalogue, Condition, Metric, NONE, Test};
use machine::{self, Machine};
use plan::{Kind, Plan, Procedure, Request};

/// Interbench's name for its row of the user's own.
const CUSTOM: &str = "custom";

/// The priority of -r: above what a desktop has, below the kernel's own threads.
const REAL_TIME: u32 = 80;

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub(super) struct Arguments {
    /// Tasks or groups of them [default: Interbench's four]
    #[arg(value_name = "TASK")]
    tasks: Vec<String>,
    /// Today's tasks and loads in place of Interbench's
    #[arg(long)]
    modern: bool,
    /// One short block: whether it works, and the grossest differences
    #[arg(long)]
    quick: bool,
    /// Time per cell, shared by its blocks: 30 (s), 1m [default: 24]
    #[arg(short = 't', long, value_name = "TIME", value_parser = seconds)]
    time: Option<Duration>,
    /// Blocks: each cell once, in random order [default: 3]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..10_000))]
    iterations: Option<u32>,
    /// Only these loads; repeatable [default: none and Interbench's eight]
    #[arg(short = 'w', long = "load", value_name = "LOAD", value_delimiter = ',')]
    loads: Vec<String>,
    /// Leave out a load; repeatable
    #[arg(short = 'x', long = "without-load", value_name = "LOAD", value_delimiter = ',')]
    without_loads: Vec<String>,
    /// Add a task to those chosen by name; repeatable
    #[arg(short = 'W', long = "task", value_name = "TASK", value_delimiter = ',')]
    more_tasks: Vec<String>,
    /// Leave out a task; repeatable
    #[arg(short = 'X', long = "without-task", value_name = "TASK", value_delimiter = ',')]
    without_tasks: Vec<String>,
    /// How many hogs, ring members, groups or jobs a load has [default: one per processor]
    #[arg(short = 'L', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..4096))]
    load_number: Option<u32>,
    /// Nice value of the task
    #[arg(short = 'B', long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Option<i32>,
    /// Nice value of the load
    #[arg(short = 'N', long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    load_nice: Option<i32>,
    /// Everything on one processor, the first that is allowed
    #[arg(short = 'u', long)]
    one_cpu: bool,
    /// Accepted for Interbench's sake: the speed of work is measured anew for every run
    #[arg(short = 'b', long, hide_short_help = true)]
    benchmark: bool,
    /// Operations of work per ms, to repeat the very work of another run [default: measured]
    #[arg(short = 'l', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1_000_000_000))]
    speed: Option<u64>,
    /// Print only: keep no run
    #[arg(short = 'c', long)]
    console: bool,
    /// Real-time: audio and video at FIFO priority with locked memory
    #[arg(short = 'r', long)]
    real_time: bool,
    /// The custom task's share of a processor, in per cent
    #[arg(short = 'C', long, value_name = "PERCENT", requires = "custom_interval", value_parser = clap::value_parser!(u32).range(0..=100))]
    custom_cpu: Option<u32>,
    /// The custom task's period in microseconds
    #[arg(short = 'I', long, value_name = "US", requires = "custom_cpu", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    custom_interval: Option<u32>,
    /// A remark that reports show
    #[arg(short = 'm', long, value_name = "TEXT", default_value = "")]
    comment: String,
    #[command(flatten)]
    scheduling: Scheduling,
    #[command(flatten)]
    options: Options,
}

/// How the kernel is asked to schedule tasks and loads.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Scheduling")]
struct Scheduling {
    /// Policy of the task
    #[arg(long, value_enum)]
    policy: Option<Policy>,
    /// Real-time priority of the task, 1 to 99
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    priority: Option<u32>,
    /// Policy of the load
    #[arg(long, value_enum)]
    load_policy: Option<Policy>,
    /// Real-time priority of the load, 1 to 99
    #[arg(long, value_name = "N", requires = "load_policy", value_parser = clap::value_parser!(u32).range(1..=99))]
    load_priority: Option<u32>,
    /// Slice that the task asks for, in microseconds (Linux 6.12)
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    timeslice: Option<u32>,
    /// Slice that the load asks for, in microseconds
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    load_timeslice: Option<u32>,
    /// Utilisation clamp of the task: MIN,MAX of 1024
    #[arg(long, value_name = "MIN,MAX", value_parser = clamp)]
    uclamp: Option<(u32, u32)>,
    /// Utilisation clamp of the load
    #[arg(long, value_name = "MIN,MAX", value_parser = clamp)]
    load_uclamp: Option<(u32, u32)>,
    /// Slack of the task's timers, in ns [default: the kernel's 50000]
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    slack: Option<u32>,
    /// Lock the task's memory
    #[arg(long)]
    lock: bool,
    /// Bound the latency of idle states, in microseconds
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    idle_latency: Option<u32>,
    /// The task runs on this processor only
    #[arg(long, value_name = "CPU")]
    pin: Option<u32>,
    /// The load runs on this processor only
    #[arg(long, value_name = "CPU")]
    pin_load: Option<u32>,
    /// Where the load is scheduled: beside the task, in a session, or in a cgroup of a CPU weight (of 100)
    #[arg(long, value_name = "same|session|cgroup[:WEIGHT]", value_parser = placement, default_value = "same")]
    placement: Placement,
    /// What wakes the task: its own timer, or another process
    #[arg(long, value_enum)]
    wake: Option<Wake>,
    /// A frame's work is time on the task's CPU clock, not a number of operations
    #[arg(long)]
    cpu_time: bool,
    /// Stop at the first frame that comes this much late, and stop kernel tracing: 5ms
    #[arg(long, value_name = "TIME", value_parser = duration)]
    break_over: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Policy {
    Other,
    Batch,
    Idle,
    Fifo,
    Rr,
    Deadline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Wake {
    Timer,
    Timerfd,
    Futex,
    Eventfd,
    Pipe,
}

/// Where a load runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    Same,
    Session,
    Cgroup(u32),
}

/// A number is seconds, as Interbench has it.
fn seconds(text: &str) -> Result<Duration> {
    match text.parse::<u32>() {
        Ok(0) => bail!("a cell of no time measures nothing; try 24"),
        Ok(seconds) => Ok(Duration::from_secs(seconds.into())),
        Err(_) => duration(text),
    }
}

fn clamp(text: &str) -> Result<(u32, u32)> {
    let parse = |part: &str| part.trim().parse::<u32>().ok().filter(|value| *value <= 1024);
    let parts = text.split_once(',').and_then(|(low, high)| Some((parse(low)?, parse(high)?)));
    parts.filter(|(low, high)| low <= high).with_context(|| format!("'{text}' is no clamp; try 512,1024"))
}

fn placement(text: &str) -> Result<Placement> {
    match text.split_once(':').unwrap_or((text, "100")) {
        ("same", "100") => Ok(Placement::Same),
        ("session", "100") => Ok(Placement::Session),
        ("cgroup", weight) => match weight.parse() {
            Ok(weight @ 1..=10_000) => Ok(Placement::Cgroup(weight)),
            _ => bail!("'{weight}' is no weight; try 1 to 10000, where 100 is usual"),
        },
        _ => bail!("'{text}' is no placement; try same, session or cgroup:20"),
    }
}

/// The name of a value on the command line, which is the kit's name for it too.
fn name(value: impl clap::ValueEnum) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let mut catalogue = Catalogue::load()?;
    define_custom(&mut catalogue, arguments);
    let machine = Machine::here();
    let plan = plan(arguments, &catalogue, &machine).map_err(usage)?;
    let job = Job {
        comment: &arguments.comment,
        console: arguments.console,
        ..Job::new(&arguments.options, &catalogue, &machine, &plan)
    };
    measure::carry_out(&job)
}

/// Gives the custom task the numbers of -C and -I, and every task the speed of -l.
fn define_custom(catalogue: &mut Catalogue, arguments: &Arguments) {
    let custom = arguments.custom_cpu.zip(arguments.custom_interval);
    for test in &mut catalogue.tests {
        if let Some((percent, period)) = custom.filter(|_| test.id == CUSTOM) {
            let work = u64::from(period) * u64::from(percent) / 100;
            Arc::make_mut(test).args.extend([format!("period={period}"), format!("work={work}")]);
        }
        if let Some(speed) = arguments.speed.filter(|_| test.args.iter().any(|arg| arg.starts_with("speed="))) {
            let test = Arc::make_mut(test);
            test.args.retain(|arg| !arg.starts_with("speed="));
            test.args.push(format!("speed={speed}"));
        }
    }
}

fn plan(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Plan> {
    let first = machine::first_usable(machine);
    let real_time = matches!(arguments.scheduling.policy, Some(Policy::Fifo | Policy::Rr)) || arguments.real_time;
    if arguments.scheduling.priority.is_some() && !real_time {
        bail!("--priority is for real-time policies; try --policy fifo beside it");
    }
    let kind = if arguments.quick { Kind::Quick } else { Kind::Standard };
    let procedure = Procedure::latency(kind, arguments.time, arguments.iterations);
    let request = Request {
        tests: tasks(arguments, catalogue)?,
        copies: vec![1],
        loads: loads(arguments, catalogue)?,
        conditions: vec![Condition::none()],
        procedure,
        seed: arguments.options.seed(),
        test_args: task_words(arguments, first),
        load_args: load_words(arguments, first),
        load_number: arguments.load_number,
        load_weight: match arguments.scheduling.placement {
            Placement::Cgroup(weight) => Some(weight),
            Placement::Same | Placement::Session => None,
        },
        ..Request::default()
    };
    Plan::new(&request, catalogue)
}

/// The tasks that were asked for. As in Interbench, a custom task is one more once it is defined.
fn tasks(arguments: &Arguments, catalogue: &Catalogue) -> Result<Vec<Arc<Test>>> {
    let mut names: Vec<String> = arguments.tasks.iter().chain(&arguments.more_tasks).map(|name| folded(name)).collect();
    if names.is_empty() {
        names.push(if arguments.modern { "modern-tasks" } else { "classic-tasks" }.to_owned());
        if arguments.real_time && !arguments.modern {
            names = vec!["audio".to_owned(), "video".to_owned()];
        }
        if arguments.custom_cpu.is_some() {
            names.push(CUSTOM.to_owned());
        }
    }
    let without: Vec<String> = arguments.without_tasks.iter().map(|name| folded(name)).collect();
    let left_out = catalogue.expand(&without)?;
    let mut tests = catalogue.expand(&names)?;
    tests.retain(|test| !left_out.iter().any(|out| out.id == test.id));
    if let Some(test) = tests.iter().find(|test| test.metric != Metric::Latency) {
        bail!("{} is no interactive task: its score is a rate; try `unixmark run {} --load …`", test.id, test.id);
    }
    Ok(tests)
}

fn loads(arguments: &Arguments, catalogue: &Catalogue) -> Result<Vec<Option<Arc<Test>>>> {
    let mut names: Vec<String> = arguments.loads.iter().map(|name| folded(name)).collect();
    if names.is_empty() {
        names.push(NONE.to_owned());
        names.push(if arguments.modern { "modern-loads" } else { "classic-loads" }.to_owned());
        if arguments.custom_cpu.is_some() {
            names.push(CUSTOM.to_owned());
        }
    }
    let without: Vec<String> = arguments.without_loads.iter().map(|name| folded(name)).collect();
    let left_out = catalogue.expand_loads(&without)?;
    let id = |load: &Option<Arc<Test>>| load.as_ref().map(|test| test.id.clone());
    let mut loads = catalogue.expand_loads(&names)?;
    loads.retain(|load| !left_out.iter().any(|out| id(out) == id(load)));
    Ok(loads)
}

/// Interbench takes names in any case.
fn folded(name: &str) -> String {
    name.to_lowercase()
}

fn task_words(arguments: &Arguments, first: u32) -> Vec<String> {
    let asked = &arguments.scheduling;
    let mut words = Vec::new();
    let mut say = |name: &str, value: Option<String>| words.extend(value.map(|value| format!("{name}={value}")));
    if arguments.real_time {
        say("policy", Some(name(Policy::Fifo)));
        say("priority", Some(REAL_TIME.to_string()));
        say("lock", Some("1".to_owned()));
    }
    say("policy", asked.policy.map(name));
    say("priority", asked.priority.map(|priority| priority.to_string()));
    say("nice", arguments.nice.map(|nice| nice.to_string()));
    say("timeslice", asked.timeslice.map(|slice| slice.to_string()));
    say("uclamp_min", asked.uclamp.map(|clamp| clamp.0.to_string()));
    say("uclamp_max", asked.uclamp.map(|clamp| clamp.1.to_string()));
    say("slack", asked.slack.map(|slack| slack.to_string()));
    say("lock", asked.lock.then(|| "1".to_owned()));
    say("idle_latency", asked.idle_latency.map(|bound| bound.to_string()));
    say("cpu", asked.pin.or(arguments.one_cpu.then_some(first)).map(|cpu| cpu.to_string()));
    say("wake", asked.wake.map(name));
    say("unit", asked.cpu_time.then(|| "cpu".to_owned()));
    say("break_over", asked.break_over.map(|limit| limit.as_micros().max(1).to_string()));
    words
}

fn load_words(arguments: &Arguments, first: u32) -> Vec<String> {
    let asked = &arguments.scheduling;
    let mut words = Vec::new();
    let mut say = |name: &str, value: Option<String>| words.extend(value.map(|value| format!("{name}={value}")));
    say("policy", asked.load_policy.map(name));
    say("priority", asked.load_priority.map(|priority| priority.to_string()));
    say("uclamp_min", asked.load_uclamp.map(|clamp| clamp.0.to_string()));
    say("uclamp_max", asked.load_uclamp.map(|clamp| clamp.1.to_string()));
    say("nice", arguments.load_nice.map(|nice| nice.to_string()));
    say("timeslice", asked.load_timeslice.map(|slice| slice.to_string()));
    say("cpu", asked.pin_load.or(arguments.one_cpu.then_some(first)).map(|cpu| cpu.to_string()));
    say("session", (asked.placement == Placement::Session).then(|| "1".to_owned()));
    words
}
