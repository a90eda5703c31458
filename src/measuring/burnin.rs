//! `unixmark burnin`: does the cooling hold, does the memory keep what is written, how long does a
//! burst last?
//!
//! Each question has a plan of its own ([`plan_cooling`], [`plan_memory`], [`plan_burst`]): the
//! threads, the time and the arguments of one program, which [`carry_out`] executes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::measuring::job::{conclude, place_and_keep};
use crate::measuring::options::{Measuring, bytes, duration, executable};
use crate::measuring::terminal::{BurnInDisplay, Loudness};
use crate::options::name;
use crate::status::{Status, usage};
use crate::terminal::print_words;
use ::report::Layout;
use catalogue::{Catalogue, Test};
use journal::{BurnIn, Burned};
use machine::{self, Machine, Sensors};
use measure::{Setup, burn_in};
use words::{bytes as show_bytes, clock};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(Debug, clap::Subcommand)]
enum Question {
    /// Keep every processor as hot as possible and watch whether its clock holds
    Cooling(Cooling),
    /// Write patterns to most of the memory and check that they stay intact
    Memory(Memory),
    /// Keep every processor busy and find how long full speed lasts, where processors are sold with
    /// a credit
    Burst(Burst),
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
struct Cooling {
    /// The kind of work
    #[arg(long, value_enum, default_value_t = Kind::Mix)]
    kind: Kind,
    /// How long to work
    #[arg(long = "for", value_name = "TIME", value_parser = duration, default_value = "5m")]
    time: Duration,
    /// How long to watch it cool down afterwards; 0 to skip that
    #[arg(long, value_name = "TIME", value_parser = duration_or_zero, default_value = "1m")]
    rest: Duration,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
struct Memory {
    /// How much memory: a size such as 4G, or a share of what can be used (the available memory,
    /// minus a twentieth of the total)
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "80%")]
    size: Size,
    /// Stop after this time [default: after one pass]
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Stop after this many passes [default: 1; with --for, as many as there is time for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    passes: Option<u64>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
struct Burst {
    /// How long to work at most; it ends once the speed after a burst is known
    #[arg(long = "for", value_name = "TIME", value_parser = duration, default_value = "3m")]
    time: Duration,
    #[command(flatten)]
    common: Common,
}

/// The options of all burn-ins.
#[derive(Debug, clap::Args)]
struct Common {
    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    copies: Option<u32>,
    /// Argument for the program, such as flip=all; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_argument)]
    arg: Vec<String>,
    /// Run an executable of your own that speaks the protocol of programs/burn/burn.h
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    #[command(flatten)]
    measuring: Measuring,
}

/// The work of the processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Integer arithmetic
    Scalar,
    /// The widest vectors of floating-point numbers
    Vector,
    /// Memory beyond the caches
    Memory,
    /// All of them in turn
    Mix,
}

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Size {
    Share(f64),
    Bytes(u64),
}

/// How long a burst is looked for at most, without options.
const USUAL_BURST_TIME: Duration = Duration::from_secs(180);

/// The largest share of the memory that may be used: what is available changes while it is read.
const MAX_MEMORY_SHARE: f64 = 0.98;

fn duration_or_zero(text: &str) -> Result<Duration> {
    if ["0", "0s"].contains(&text) { Ok(Duration::ZERO) } else { duration(text) }
}

fn parse_size(text: &str) -> Result<Size> {
    let size = match text.strip_suffix('%') {
        Some(number) => {
            let percent = number.trim().parse::<f64>().ok();
            percent
                .filter(|percent| *percent > 0.0 && *percent <= 100.0)
                .map(|percent| Size::Share(percent / 100.0))
        }
        None => bytes(text).map(Size::Bytes).ok(),
    };
    size.with_context(|| format!("'{text}' is not a size; try 80%, 512M or 4G"))
}

fn parse_argument(text: &str) -> Result<String> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_owned()),
        _ => bail!("'{text}' is not an argument; try KEY=VALUE"),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let (common, plan) = match &arguments.question {
        Question::Cooling(cooling) => (&cooling.common, plan_cooling(cooling, &machine)),
        Question::Memory(memory) => (&memory.common, plan_memory(memory, &machine).map_err(usage)?),
        Question::Burst(burst) => {
            let threads = count_threads(&burst.common, &machine);
            (&burst.common, plan_burst(threads, burst.time))
        }
    };
    let test = find_program(&catalogue, plan.kind, common).map_err(usage)?;
    // The user's come last: of arguments with one name the last counts.
    let args = test.args.iter().chain(&plan.args).chain(&common.arg).cloned().collect();
    let plan = BurnIn { args, ..plan };

    let options = &common.measuring;
    if options.dry_run {
        print_words(&show_plan(&plan, &test, &machine))?;
        return Ok(Status::Fine);
    }
    let shown = Shown { loudness: options.loudness(), layout: options.shown() };
    carry_out(plan, &test, &options.setup(&machine)?, (&catalogue, &machine), shown)
}

/// How a burn-in is shown.
pub(super) struct Shown {
    pub loudness: Loudness,
    /// The report at the end.
    pub layout: Option<Layout>,
}

fn carry_out(
    plan: BurnIn,
    test: &Test,
    setup: &Setup,
    (catalogue, machine): (&Catalogue, &Machine),
    shown: Shown,
) -> Result<Status> {
    let mut display = BurnInDisplay::new(&plan, shown.loudness, setup.screen.is_some());
    let mut measured = burn_in(plan, test, setup, (catalogue, machine), &mut display)?;
    // It gives the terminal back before anything is printed.
    drop(display);

    let kept = place_and_keep(&mut measured, catalogue);
    conclude(&measured, &[kept], shown.loudness, shown.layout)
}

/// Finds how long a burst lasts, as `unixmark burnin burst` does without options.
pub(super) fn find_burst(
    threads: u32,
    setup: &Setup,
    (catalogue, machine): (&Catalogue, &Machine),
    shown: Shown,
) -> Result<Status> {
    let plan = plan_burst(threads, USUAL_BURST_TIME);
    let test = find_catalogue_program(catalogue, plan.kind)?;
    carry_out(plan, &test, setup, (catalogue, machine), shown)
}

/// The program of a burn-in: that of --program, or the catalogue's.
fn find_program(catalogue: &Catalogue, kind: Burned, common: &Common) -> Result<Arc<Test>> {
    match &common.program {
        Some(path) => Ok(Arc::new(Test::foreign(&executable(path)?, &[])?)),
        None => find_catalogue_program(catalogue, kind),
    }
}

fn find_catalogue_program(catalogue: &Catalogue, kind: Burned) -> Result<Arc<Test>> {
    let id = match kind {
        Burned::Cooling | Burned::Burst => "burn-cooling",
        Burned::Memory => "burn-memory",
    };
    catalogue.test(id).cloned().with_context(|| format!("there is no row '{id}' in the catalogue"))
}

fn plan_cooling(arguments: &Cooling, machine: &Machine) -> BurnIn {
    let threads = count_threads(&arguments.common, machine);
    let mut args = vec![format!("kind={}", name(arguments.kind)), format!("threads={threads}")];
    // A pinned thread measures the clock of its processor; more threads than there are processors
    // are not pinned.
    if let Some(cpus) = machine::cpus_allowed(machine).get(..threads as usize) {
        args.push(format!("cpu={}", machine::cpu_words(cpus)));
    }
    BurnIn {
        kind: Burned::Cooling,
        threads,
        args,
        seconds: Some(arguments.time.as_secs_f64()),
        rest: arguments.rest.as_secs_f64(),
        ..BurnIn::default()
    }
}

/// Plans integer arithmetic, whose rate is that of the processors. Threads are not pinned: where
/// they run is no part of the question.
fn plan_burst(threads: u32, time: Duration) -> BurnIn {
    BurnIn {
        kind: Burned::Burst,
        threads,
        args: vec!["kind=scalar".to_owned(), format!("threads={threads}")],
        seconds: Some(time.as_secs_f64()),
        ..BurnIn::default()
    }
}

fn plan_memory(arguments: &Memory, machine: &Machine) -> Result<BurnIn> {
    let bytes = choose_memory(arguments.size, machine)?;
    let threads = count_threads(&arguments.common, machine);
    let usual_passes = arguments.time.is_none().then_some(1);
    let passes = arguments.passes.or(usual_passes);

    let mut args = vec![format!("size={bytes}"), format!("threads={threads}")];
    args.extend(passes.map(|passes| format!("passes={passes}")));
    Ok(BurnIn {
        kind: Burned::Memory,
        threads,
        args,
        seconds: arguments.time.map(|time| time.as_secs_f64()),
        bytes: Some(bytes),
        passes,
        ..BurnIn::default()
    })
}

/// The bytes of memory to test: a size that fits here, or a share of what can be used, in whole
/// MiB.
///
/// # Errors
/// There is less memory, none, or nobody knows how much.
fn choose_memory(size: Size, machine: &Machine) -> Result<u64> {
    let bytes = match (size, machine::memory_free(machine)) {
        (Size::Bytes(bytes), Some(free)) if bytes > free => bail!(
            "{} are more than the {} that can be used here without swapping others out; try --size 80%",
            show_bytes(bytes),
            show_bytes(free)
        ),
        (Size::Bytes(bytes), _) => bytes,
        (Size::Share(share), Some(free)) => {
            (free as f64 * share.min(MAX_MEMORY_SHARE)) as u64 >> 20 << 20
        }
        (Size::Share(_), None) => {
            bail!("the kernel does not report how much memory is available; try --size 1G")
        }
    };
    ensure!(bytes != 0, "there is no memory left to test; end programs that use much of it");
    Ok(bytes)
}

fn count_threads(common: &Common, machine: &Machine) -> u32 {
    common.copies.unwrap_or_else(|| machine::cpus_usable(machine))
}

/// The plan in words, for `--dry-run`.
fn show_plan(plan: &BurnIn, test: &Test, machine: &Machine) -> String {
    let work = describe_work(plan);
    let (binary, args) = (test.binary(), plan.args.join(" "));
    let sensors = match Sensors::find(machine).summary() {
        none if none.is_empty() => {
            "none: only the clock, which the program measures, shows throttling".to_owned()
        }
        sensors => sensors,
    };
    format!("{work}\nprogram: {binary} {args}\nsensors: {sensors}\n")
}

/// The work of a burn-in, and how long it takes.
fn describe_work(plan: &BurnIn) -> String {
    let threads = words::count(plan.threads, "thread");
    let time = plan.seconds.map(show_seconds);
    match plan.kind {
        Burned::Cooling => {
            let time = time.unwrap_or_else(|| show_seconds(0.0));
            let rest = match plan.rest {
                seconds if seconds > 0.0 => format!(", then {} of rest", show_seconds(seconds)),
                _ => String::new(),
            };
            format!("cooling: {threads} work for {time}{rest}")
        }
        Burned::Burst => {
            let time = time.unwrap_or_else(|| show_seconds(0.0));
            format!("burst: {threads} work for {time} at most")
        }
        Burned::Memory => {
            let size = show_bytes(plan.bytes.unwrap_or(0));
            let passes = plan.passes.map(|passes| format!(", {}", words::count(passes, "pass")));
            let end = time.map(|time| format!(", {time} at most"));
            let [passes, end] = [passes, end].map(Option::unwrap_or_default);
            format!("memory: {size} by {threads}{passes}{end}")
        }
    }
}

fn show_seconds(seconds: f64) -> String {
    clock(Duration::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, size) in [
            ("80%", Size::Share(0.8)),
            ("4096", Size::Bytes(4096)),
            ("4G", Size::Bytes(4 << 30)),
            ("512MiB", Size::Bytes(512 << 20)),
            ("2kB", Size::Bytes(2048)),
        ] {
            assert_eq!(parse_size(text).unwrap(), size, "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in [
            "",
            "0",
            "0%",
            "101%",
            "-1G",
            "G",
            "4X",
            "1e9",
            "99999999999999T",
            "5bbb",
            "2kibib",
            "80%%",
            "µ",
        ] {
            let why = format!("{:#}", parse_size(text).unwrap_err());
            assert!(why.contains("try 80%"), "{text}: {why}");
        }
    }
}
