//! `unixmark latency`: interactive tasks × loads. A preset of run, with the options that
//! Interbench's users know.
//!
//! Tasks and loads are tests of the catalogue. The options on scheduling become arguments of their
//! programs ([`task_args`], [`load_args`]), which ask the kernel for it.

use std::ffi::OsString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::measuring::job::carry_out;
use crate::measuring::options::{
    self, MatrixOptions, Rates, duration, has_rate, is_command, rates, with_default,
};
use crate::options::name;
use crate::status::{Status, usage};
use catalogue::{Catalogue, Condition, Metric, NONE, Test};
use machine::{self, Machine};
use measure::Ask;
use plan::{Arms, Matrix, Pin, Procedure, Purpose};

/// Interbench's name for the task or load that the user defines.
const CUSTOM: &str = "custom";

/// The real-time priority of -r: above what a desktop has, below the kernel's own threads.
const REAL_TIME_PRIORITY: u32 = 80;

/// The time per cell of --desktop: at least 300 keys are typed in it.
const DESKTOP_TIME: Duration = Duration::from_secs(16);

/// The highest value of a utilisation clamp: the kernel's capacity of one whole processor.
const MAX_CLAMP: u32 = 1024;

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| with_default(arg, "1")),
    // Interbench's -w names a load.
    mut_arg("load", |arg| with_default(arg.short('w'), "none and Interbench's eight")),
    mut_arg("iterations", |arg| with_default(arg, "3"))
)]
pub(crate) struct Arguments {
    /// Tasks, or groups of tasks [default: the four of Interbench, an older benchmark of
    /// responsiveness]
    #[arg(value_name = "TASK")]
    tasks: Vec<String>,
    /// Today's tasks and loads instead of Interbench's
    #[arg(long)]
    modern: bool,
    /// A desktop's sound, video, keys, frames and games beside a build and a copy, and what helps
    /// (10 minutes)
    #[arg(long, conflicts_with = "modern")]
    desktop: bool,
    /// Time per cell, shared by its blocks: 30, 1m [default: 24s]
    #[arg(short = 't', long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Leave out a load; repeatable
    #[arg(short = 'x', long = "without-load", value_name = "LOAD", value_delimiter = ',')]
    without_loads: Vec<String>,
    /// Add a task to those chosen by name; repeatable
    #[arg(short = 'W', long = "task", value_name = "TASK", value_delimiter = ',')]
    more_tasks: Vec<String>,
    /// Leave out a task; repeatable
    #[arg(short = 'X', long = "without-task", value_name = "TASK", value_delimiter = ',')]
    without_tasks: Vec<String>,
    /// States of the machine, drawn side by side: one or more of `unixmark list conditions`
    /// [default: none]
    #[arg(
        long,
        value_name = "CONDITION,…",
        value_delimiter = ',',
        default_value = "none",
        hide_default_value = true
    )]
    condition: Vec<String>,
    /// Rates of requests to offer, in per cent of what can be answered: 25%,50%,75%,100%,120%; for
    /// other tasks the share of the time for which `-w burn` works
    #[arg(long, value_name = "PERCENT", value_parser = rates)]
    at: Option<Rates>,
    /// Say which processes and interrupts held late frames up, by tracing the scheduler (root)
    #[arg(long)]
    why: bool,
    /// Number of processes, groups or jobs of a load [default: one per processor]
    #[arg(short = 'L', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..4096))]
    load_number: Option<u32>,
    /// Nice value of the task
    #[arg(short = 'B', long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    nice: Option<i32>,
    /// Nice value of the load
    #[arg(short = 'N', long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-20..=19))]
    load_nice: Option<i32>,
    /// Run everything on one processor, the first one allowed
    #[arg(short = 'u', long)]
    one_cpu: bool,
    /// Accepted for compatibility with Interbench: the speed of work is measured for every run
    #[arg(short = 'b', long, hide_short_help = true)]
    benchmark: bool,
    /// Operations of work per ms, to repeat the work of another run exactly [default: measured]
    #[arg(short = 'l', long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..1_000_000_000))]
    speed: Option<u64>,
    /// Show the result and keep no run; also -c without a number, as in Interbench
    #[arg(long)]
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
    #[command(flatten)]
    options: MatrixOptions,
    #[command(flatten)]
    scheduling: Scheduling,
    /// Measure how late the wake-ups of this command are, by tracing the scheduler (root)
    #[arg(last = true, value_name = "COMMAND")]
    words: Vec<OsString>,
}

impl Arguments {
    /// The first word of the groups that are measured where no tasks or loads are named, as in
    /// `classic-tasks`.
    fn group_prefix(&self) -> &'static str {
        match (self.modern, self.desktop) {
            (true, _) => "modern",
            (_, true) => "desktop",
            _ => "classic",
        }
    }
}

/// The scheduling that the kernel is asked for, of tasks and loads.
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
    /// Time slice the task requests, in microseconds (Linux 6.12)
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    timeslice: Option<u32>,
    /// Time slice the load requests, in microseconds
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(100..=100_000))]
    load_timeslice: Option<u32>,
    /// Utilisation clamp of the task: MIN,MAX of 1024
    #[arg(long, value_name = "MIN,MAX", value_parser = parse_clamp)]
    uclamp: Option<Clamp>,
    /// Utilisation clamp of the load
    #[arg(long, value_name = "MIN,MAX", value_parser = parse_clamp)]
    load_uclamp: Option<Clamp>,
    /// Slack of the task's timers, in ns [default: the kernel's 50000]
    #[arg(long, value_name = "NS", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    slack: Option<u32>,
    /// Lock the task's memory
    #[arg(long)]
    lock: bool,
    /// Bound the latency of idle states, in microseconds
    #[arg(long, value_name = "US", value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    idle_latency: Option<u32>,
    /// Run the load on this processor only
    #[arg(long, value_name = "CPU")]
    pin_load: Option<u32>,
    /// Where the load is scheduled: with the task, in its own session, or in a cgroup with a CPU
    /// weight (default 100)
    #[arg(long, value_name = "same|session|cgroup[:WEIGHT]", value_parser = parse_placement, default_value = "same")]
    placement: Placement,
    /// What wakes the task: its own timer, or another process
    #[arg(long, value_enum)]
    wake: Option<Wake>,
    /// Measure a frame's work in the task's CPU time instead of operations
    #[arg(long)]
    cpu_time: bool,
    /// Stop at the first frame that is this late, and stop kernel tracing: 5ms
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

/// The place where a load is scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    Same,
    Session,
    Cgroup(u32),
}

/// The bounds of a utilisation clamp, in 1024ths of a processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Clamp {
    min: u32,
    max: u32,
}

/// Reads `MIN,MAX`.
fn parse_clamp(text: &str) -> Result<Clamp> {
    read_clamp(text)
        .filter(|clamp| clamp.min <= clamp.max && clamp.max <= MAX_CLAMP)
        .with_context(|| format!("'{text}' is not a clamp; try 512,1024"))
}

fn read_clamp(text: &str) -> Option<Clamp> {
    let (min, max) = text.split_once(',')?;
    Some(Clamp { min: min.trim().parse().ok()?, max: max.trim().parse().ok()? })
}

/// Reads `same`, `session` or `cgroup[:WEIGHT]`.
fn parse_placement(text: &str) -> Result<Placement> {
    match text.split_once(':').unwrap_or((text, "100")) {
        ("same", "100") => Ok(Placement::Same),
        ("session", "100") => Ok(Placement::Session),
        ("cgroup", weight) => match weight.parse() {
            Ok(weight @ 1..=10_000) => Ok(Placement::Cgroup(weight)),
            _ => bail!("'{weight}' is not a weight; try 1 to 10000 (the default is 100)"),
        },
        _ => bail!("'{text}' is not a placement; try same, session or cgroup:20"),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    carry_out(&arguments.options, &[], |catalogue, machine| {
        to_ask(arguments, catalogue, machine).map_err(usage)
    })
}

/// The request that the arguments make.
pub(super) fn to_ask(
    arguments: &Arguments,
    catalogue: &mut Catalogue,
    machine: &Machine,
) -> Result<Ask> {
    define_work(catalogue, arguments);
    check_priority(arguments)?;

    let Arguments { options, scheduling, .. } = arguments;
    let cpus = machine::cpus_usable(machine);
    let first_cpu = machine::first_usable(machine);
    let procedure = Procedure::new(Purpose::Latency, options.effort_in_blocks()?);
    let time = arguments.time.or(arguments.desktop.then_some(DESKTOP_TIME));
    let tasks = find_tasks(arguments, catalogue)?;
    let matrix = Matrix {
        loads: find_loads(arguments, &tasks, catalogue)?,
        tests: tasks,
        copies: options.copies(cpus, || vec![1])?,
        arms: Arms::apart(catalogue.expand_conditions(&arguments.condition)?),
        procedure: match time {
            Some(time) => procedure.with_time(time),
            None => procedure,
        },
        test_args: task_args(arguments),
        load_args: load_args(arguments, first_cpu),
        load_number: arguments.load_number,
        load_condition: match scheduling.placement {
            Placement::Cgroup(weight) => catalogue.condition(&format!("weight={weight}"))?,
            Placement::Same | Placement::Session => Condition::none(),
        },
        ..Matrix::default()
    };

    let mut ask = options.ask(matrix);
    ask.discard |= arguments.console;
    // The wake-ups of a command are seen by a trace of the scheduler alone.
    ask.why = arguments.why || !arguments.words.is_empty();
    if arguments.one_cpu && ask.matrix.pin == Pin::None {
        ask.matrix.pin = Pin::Cpu(first_cpu);
    }
    Ok(ask)
}

/// Checks that a priority of the task goes with a real-time policy.
fn check_priority(arguments: &Arguments) -> Result<()> {
    let Scheduling { policy, priority, .. } = arguments.scheduling;
    let is_real_time = matches!(policy, Some(Policy::Fifo | Policy::Rr)) || arguments.real_time;
    if priority.is_some() && !is_real_time {
        bail!("--priority is for real-time policies; add --policy fifo");
    }
    Ok(())
}

/// Gives the custom task the numbers of -C and -I, and every test with a speed that of -l.
fn define_work(catalogue: &mut Catalogue, arguments: &Arguments) {
    let custom = arguments.custom_cpu.zip(arguments.custom_interval);
    for test in &mut catalogue.tests {
        if test.id == CUSTOM
            && let Some((percent, period)) = custom
        {
            let work = u64::from(period) * u64::from(percent) / 100;
            Arc::make_mut(test).args.extend([format!("period={period}"), format!("work={work}")]);
        }

        let has_speed = test.args.iter().any(|arg| arg.starts_with("speed="));
        if has_speed && let Some(speed) = arguments.speed {
            let test = Arc::make_mut(test);
            test.args.retain(|arg| !arg.starts_with("speed="));
            test.args.push(format!("speed={speed}"));
        }
    }
}

/// The tasks to measure. As in Interbench, a custom task is added once it is defined.
///
/// # Errors
/// There is no such task, or it is not interactive.
fn find_tasks(arguments: &Arguments, catalogue: &Catalogue) -> Result<Vec<Arc<Test>>> {
    let has_command = !arguments.words.is_empty();
    let mut names = fold_all(arguments.tasks.iter().chain(&arguments.more_tasks));
    if names.is_empty() && !has_command {
        names.push(format!("{}-tasks", arguments.group_prefix()));
        if arguments.real_time && arguments.group_prefix() == "classic" {
            names = vec!["audio".to_owned(), "video".to_owned()];
        }
        if arguments.custom_cpu.is_some() {
            names.push(CUSTOM.to_owned());
        }
    }

    let left_out = catalogue.expand(&fold_all(&arguments.without_tasks))?;
    let mut tests = catalogue.expand(&names)?;
    tests.retain(|test| !left_out.iter().any(|out| out.id == test.id));
    if let Some(rates) = &arguments.at
        && tests.iter().any(|test| has_rate(test))
    {
        tests = rates.expand(&tests, "unixmark latency requests-open --at 25%,50%")?;
    }
    if has_command {
        tests.push(options::command_task(catalogue, &arguments.words)?);
    }

    if let Some(test) = tests.iter().find(|test| test.metric != Metric::Latency) {
        bail!(
            "{0} is not an interactive task: its score is a rate; try `unixmark run {0} --load …`",
            test.id
        );
    }
    Ok(tests)
}

/// The loads to measure under. --at gives them rates, too, where no task has one.
fn find_loads(
    arguments: &Arguments,
    tasks: &[Arc<Test>],
    catalogue: &Catalogue,
) -> Result<Vec<Option<Arc<Test>>>> {
    let mut names = Vec::new();
    for word in &arguments.options.load {
        names.push(if is_command(word) { word.clone() } else { fold_case(word) });
    }
    if names.is_empty() {
        names.push(NONE.to_owned());
        names.push(format!("{}-loads", arguments.group_prefix()));
        if arguments.custom_cpu.is_some() {
            names.push(CUSTOM.to_owned());
        }
    }

    let left_out = catalogue.expand_loads(&fold_all(&arguments.without_loads))?;
    let left_out: Vec<Option<&str>> = left_out.iter().map(load_id).collect();
    let mut loads = options::loads(catalogue, &names)?;
    loads.retain(|load| !left_out.contains(&load_id(load)));

    match &arguments.at {
        Some(rates) if !tasks.iter().any(|task| has_rate(task)) => rates.expand_loads(loads),
        _ => Ok(loads),
    }
}

/// The id of a load; `None` of no load.
fn load_id(load: &Option<Arc<Test>>) -> Option<&str> {
    load.as_ref().map(|test| test.id.as_str())
}

/// Interbench takes names in any case.
fn fold_case(name: &str) -> String {
    name.to_lowercase()
}

fn fold_all<'n>(names: impl IntoIterator<Item = &'n String>) -> Vec<String> {
    names.into_iter().map(|name| fold_case(name)).collect()
}

/// Arguments of a program, `NAME=VALUE`; of one name the last counts.
#[derive(Default)]
struct ProgramArgs(Vec<String>);

impl ProgramArgs {
    /// Adds an argument that the user has given a value.
    fn add(&mut self, name: &str, value: Option<impl fmt::Display>) {
        if let Some(value) = value {
            self.0.push(format!("{name}={value}"));
        }
    }
}

/// The arguments of a task's program. The user's own come after those of -r, and so replace them.
fn task_args(arguments: &Arguments) -> Vec<String> {
    let scheduling = &arguments.scheduling;
    let break_over_us = scheduling.break_over.map(|limit| limit.as_micros().max(1));
    let mut args = ProgramArgs::default();
    if arguments.real_time {
        args.add("policy", Some(name(Policy::Fifo)));
        args.add("priority", Some(REAL_TIME_PRIORITY));
        args.add("lock", Some(1));
    }
    args.add("policy", scheduling.policy.map(name));
    args.add("priority", scheduling.priority);
    args.add("nice", arguments.nice);
    args.add("timeslice", scheduling.timeslice);
    args.add("uclamp_min", scheduling.uclamp.map(|clamp| clamp.min));
    args.add("uclamp_max", scheduling.uclamp.map(|clamp| clamp.max));
    args.add("slack", scheduling.slack);
    args.add("lock", scheduling.lock.then_some(1));
    args.add("idle_latency", scheduling.idle_latency);
    args.add("wake", scheduling.wake.map(name));
    args.add("unit", scheduling.cpu_time.then_some("cpu"));
    args.add("break_over", break_over_us);
    args.0
}

/// The arguments of a load's program; with -u it runs on `first_cpu`, unless it is pinned.
fn load_args(arguments: &Arguments, first_cpu: u32) -> Vec<String> {
    let scheduling = &arguments.scheduling;
    let cpu = scheduling.pin_load.or(arguments.one_cpu.then_some(first_cpu));
    let has_session = scheduling.placement == Placement::Session;
    let mut args = ProgramArgs::default();
    args.add("policy", scheduling.load_policy.map(name));
    args.add("priority", scheduling.load_priority);
    args.add("uclamp_min", scheduling.load_uclamp.map(|clamp| clamp.min));
    args.add("uclamp_max", scheduling.load_uclamp.map(|clamp| clamp.max));
    args.add("nice", arguments.load_nice);
    args.add("timeslice", scheduling.load_timeslice);
    args.add("cpu", cpu);
    args.add("session", has_session.then_some(1));
    args.0
}
