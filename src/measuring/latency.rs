//! `unixmark latency`: interactive tasks × loads. A preset of run, with the options that Interbench's users know.

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::measuring::job::carry_out;
use crate::measuring::options::{self, MatrixOptions, Rates, duration, has_rate, is_command, rates, with_default};
use crate::options::name;
use crate::status::{Status, usage};
use catalogue::{Catalogue, Condition, Metric, NONE, Test};
use machine::{self, Machine};
use measure::Ask;
use plan::{Arms, Matrix, Pin, Procedure, Purpose};

/// Interbench's name for the task or load that the user defines.
const CUSTOM: &str = "custom";

/// The priority of -r: above what a desktop has, below the kernel's own threads.
const REAL_TIME: u32 = 80;

/// The time per cell of --desktop: at least 300 keys are typed in it.
const DESKTOP: Duration = Duration::from_secs(16);

#[derive(Debug, clap::Args)]
#[command(
    args_override_self = true,
    mut_arg("copies", |arg| with_default(arg, "1")),
    // Interbench's -w names a load.
    mut_arg("load", |arg| with_default(arg.short('w'), "none and Interbench's eight")),
    mut_arg("iterations", |arg| with_default(arg, "3"))
)]
pub(crate) struct Arguments {
    /// Tasks, or groups of tasks [default: the four of Interbench, an older benchmark of responsiveness]
    #[arg(value_name = "TASK")]
    tasks: Vec<String>,
    /// Today's tasks and loads instead of Interbench's
    #[arg(long)]
    modern: bool,
    /// A desktop's sound, video, keys, frames and games beside a build and a copy, and what helps (10 minutes)
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
    /// States of the machine, drawn side by side: one or more of `unixmark list conditions` [default: none]
    #[arg(long, value_name = "CONDITION,…", value_delimiter = ',', default_value = "none", hide_default_value = true)]
    condition: Vec<String>,
    /// Rates of requests to offer, in per cent of what can be answered: 25%,50%,75%,100%,120%; for other tasks the
    /// share of the time for which `-w burn` works
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
    /// Returns how the groups of tasks and loads begin that are measured where none are named.
    fn preset(&self) -> &'static str {
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
    /// Run the load on this processor only
    #[arg(long, value_name = "CPU")]
    pin_load: Option<u32>,
    /// Where the load is scheduled: with the task, in its own session, or in a cgroup with a CPU weight (default 100)
    #[arg(long, value_name = "same|session|cgroup[:WEIGHT]", value_parser = placement, default_value = "same")]
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

fn clamp(text: &str) -> Result<(u32, u32)> {
    let parse = |part: &str| part.trim().parse::<u32>().ok().filter(|value| *value <= 1024);
    let parts = text.split_once(',').and_then(|(low, high)| Some((parse(low)?, parse(high)?)));
    parts.filter(|(low, high)| low <= high).with_context(|| format!("'{text}' is not a clamp; try 512,1024"))
}

fn placement(text: &str) -> Result<Placement> {
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
    let options = &arguments.options;
    carry_out(options, &[], |catalogue, machine| ask(arguments, catalogue, machine).map_err(usage))
}

/// Returns what the arguments ask for.
pub(super) fn ask(arguments: &Arguments, catalogue: &mut Catalogue, machine: &Machine) -> Result<Ask> {
    define_work(catalogue, arguments);
    let (options, scheduling) = (&arguments.options, &arguments.scheduling);
    let real_time = matches!(scheduling.policy, Some(Policy::Fifo | Policy::Rr)) || arguments.real_time;
    if scheduling.priority.is_some() && !real_time {
        bail!("--priority is for real-time policies; add --policy fifo");
    }
    let cpus = machine::cpus_usable(machine);
    let procedure = Procedure::new(Purpose::Latency, options.effort_in_blocks()?);
    let tasks = tasks(arguments, catalogue)?;
    let matrix = Matrix {
        loads: loads(arguments, &tasks, catalogue)?,
        tests: tasks,
        copies: options.copies(cpus, || vec![1])?,
        arms: Arms::apart(catalogue.expand_conditions(&arguments.condition)?),
        procedure: match arguments.time.or(arguments.desktop.then_some(DESKTOP)) {
            Some(time) => procedure.with_time(time),
            None => procedure,
        },
        test_args: task_args(arguments),
        load_args: load_args(arguments, machine::first_usable(machine)),
        load_number: arguments.load_number,
        load_condition: match scheduling.placement {
            Placement::Cgroup(weight) => catalogue.condition(&format!("weight={weight}"))?,
            Placement::Same | Placement::Session => Condition::none(),
        },
        ..Matrix::default()
    };
    let mut ask =
        Ask { discard: arguments.console, why: arguments.why || !arguments.words.is_empty(), ..options.ask(matrix) };
    if arguments.one_cpu && ask.matrix.pin == Pin::None {
        ask.matrix.pin = Pin::Cpu(machine::first_usable(machine));
    }
    Ok(ask)
}

/// Gives the custom task the numbers of -C and -I, and every test with a speed that of -l.
fn define_work(catalogue: &mut Catalogue, arguments: &Arguments) {
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

/// The tasks to measure. As in Interbench, a custom task is added once it is defined.
fn tasks(arguments: &Arguments, catalogue: &Catalogue) -> Result<Vec<Arc<Test>>> {
    let mut names: Vec<String> = arguments.tasks.iter().chain(&arguments.more_tasks).map(|name| folded(name)).collect();
    if names.is_empty() && arguments.words.is_empty() {
        names.push(format!("{}-tasks", arguments.preset()));
        if arguments.real_time && arguments.preset() == "classic" {
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
    if let Some(rates) = arguments.at.as_ref().filter(|_| tests.iter().any(|test| has_rate(test))) {
        tests = rates.expand(&tests, "unixmark latency requests-open --at 25%,50%")?;
    }
    if !arguments.words.is_empty() {
        tests.push(options::task(catalogue, &arguments.words)?);
    }
    if let Some(test) = tests.iter().find(|test| test.metric != Metric::Latency) {
        bail!("{0} is not an interactive task: its score is a rate; try `unixmark run {0} --load …`", test.id);
    }
    Ok(tests)
}

fn loads(arguments: &Arguments, tasks: &[Arc<Test>], catalogue: &Catalogue) -> Result<Vec<Option<Arc<Test>>>> {
    let fold = |word: &String| if is_command(word) { word.clone() } else { folded(word) };
    let mut names: Vec<String> = arguments.options.load.iter().map(fold).collect();
    if names.is_empty() {
        names.push(NONE.to_owned());
        names.push(format!("{}-loads", arguments.preset()));
        if arguments.custom_cpu.is_some() {
            names.push(CUSTOM.to_owned());
        }
    }
    let without: Vec<String> = arguments.without_loads.iter().map(|name| folded(name)).collect();
    let left_out = catalogue.expand_loads(&without)?;
    let id = |load: &Option<Arc<Test>>| load.as_ref().map(|test| test.id.clone());
    let mut loads = options::loads(catalogue, &names)?;
    loads.retain(|load| !left_out.iter().any(|out| id(out) == id(load)));
    match &arguments.at {
        Some(rates) if !tasks.iter().any(|task| has_rate(task)) => rates.expand_loads(loads),
        _ => Ok(loads),
    }
}

/// Interbench takes names in any case.
fn folded(name: &str) -> String {
    name.to_lowercase()
}

fn task_args(arguments: &Arguments) -> Vec<String> {
    let scheduling = &arguments.scheduling;
    let mut args = Vec::new();
    let mut add = |name: &str, value: Option<String>| args.extend(value.map(|value| format!("{name}={value}")));
    if arguments.real_time {
        add("policy", Some(name(Policy::Fifo)));
        add("priority", Some(REAL_TIME.to_string()));
        add("lock", Some("1".to_owned()));
    }
    add("policy", scheduling.policy.map(name));
    add("priority", scheduling.priority.map(|priority| priority.to_string()));
    add("nice", arguments.nice.map(|nice| nice.to_string()));
    add("timeslice", scheduling.timeslice.map(|slice| slice.to_string()));
    add("uclamp_min", scheduling.uclamp.map(|clamp| clamp.0.to_string()));
    add("uclamp_max", scheduling.uclamp.map(|clamp| clamp.1.to_string()));
    add("slack", scheduling.slack.map(|slack| slack.to_string()));
    add("lock", scheduling.lock.then(|| "1".to_owned()));
    add("idle_latency", scheduling.idle_latency.map(|bound| bound.to_string()));
    add("wake", scheduling.wake.map(name));
    add("unit", scheduling.cpu_time.then(|| "cpu".to_owned()));
    add("break_over", scheduling.break_over.map(|limit| limit.as_micros().max(1).to_string()));
    args
}

fn load_args(arguments: &Arguments, first: u32) -> Vec<String> {
    let scheduling = &arguments.scheduling;
    let mut args = Vec::new();
    let mut add = |name: &str, value: Option<String>| args.extend(value.map(|value| format!("{name}={value}")));
    add("policy", scheduling.load_policy.map(name));
    add("priority", scheduling.load_priority.map(|priority| priority.to_string()));
    add("uclamp_min", scheduling.load_uclamp.map(|clamp| clamp.0.to_string()));
    add("uclamp_max", scheduling.load_uclamp.map(|clamp| clamp.1.to_string()));
    add("nice", arguments.load_nice.map(|nice| nice.to_string()));
    add("timeslice", scheduling.load_timeslice.map(|slice| slice.to_string()));
    add("cpu", scheduling.pin_load.or(arguments.one_cpu.then_some(first)).map(|cpu| cpu.to_string()));
    add("session", (scheduling.placement == Placement::Session).then(|| "1".to_owned()));
    args
}
