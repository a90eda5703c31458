//! `unixmark burnin`: does the cooling hold, does the memory keep what is written?

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::measuring::job::{conclude, keep};
use crate::measuring::options::{Measuring, bytes, duration, executable};
use crate::measuring::terminal::BurnInDisplay;
use crate::options::name;
use crate::status::{Status, usage};
use crate::terminal::print_words;
use catalogue::{Catalogue, Test};
use journal::{BurnIn, Burned};
use machine::{self, Machine, Sensors};
use measure::burn_in;
use words::{bytes as show_bytes, clock};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Keep every processor as hot as possible and watch whether its clock holds
    Cooling(Cooling),
    /// Write patterns to most of the memory and check that they stay intact
    Memory(Memory),
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
    /// How much memory: a size such as 4G, or a share of what can be used (the available memory, minus a twentieth of
    /// the total)
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "80%")]
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

/// The options of both.
#[derive(Debug, clap::Args)]
struct Common {
    /// Number of threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    copies: Option<u32>,
    /// Argument for the program, such as flip=all; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = argument)]
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

/// The largest share of the memory that may be used: what is available changes while it is read.
const MOST: f64 = 0.98;

fn duration_or_zero(text: &str) -> Result<Duration> {
    if ["0", "0s"].contains(&text) { Ok(Duration::ZERO) } else { duration(text) }
}

fn size(text: &str) -> Result<Size> {
    let why = || format!("'{text}' is not a size; try 80%, 512M or 4G");
    if let Some(share) = text.strip_suffix('%') {
        let share = share.trim().parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= 100.0);
        return share.map(|share| Size::Share(share / 100.0)).with_context(why);
    }
    bytes(text).map(Size::Bytes).ok().with_context(why)
}

fn argument(text: &str) -> Result<String> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_owned()),
        _ => bail!("'{text}' is not an argument; try KEY=VALUE"),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let (common, plan) = match &arguments.what {
        What::Cooling(cooling) => (&cooling.common, self::cooling(cooling, &machine)),
        What::Memory(memory) => (&memory.common, self::memory(memory, &machine).map_err(usage)?),
    };
    let test = test(&catalogue, plan.kind, common).map_err(usage)?;
    let plan = BurnIn { args: test.args.iter().chain(&plan.args).chain(&common.arg).cloned().collect(), ..plan };
    if common.measuring.dry_run {
        print_words(&show(&plan, &test, &machine))?;
        return Ok(Status::Fine);
    }
    let options = &common.measuring;
    let (setup, loudness) = (options.setup(&machine)?, options.loudness());
    let mut display = BurnInDisplay::new(&plan, loudness, setup.screen.is_some());
    let mut measured = burn_in(plan, &test, &setup, (&catalogue, &machine), &mut display)?;
    drop(display);
    let kept = keep(&mut measured, &catalogue);
    conclude(&measured, &[kept], loudness, options.shown())
}

fn test(catalogue: &Catalogue, kind: Burned, common: &Common) -> Result<Arc<Test>> {
    if let Some(path) = &common.program {
        return Ok(Arc::new(Test::foreign(&executable(path)?, &[])?));
    }
    let id = match kind {
        Burned::Cooling => "burn-cooling",
        Burned::Memory => "burn-memory",
    };
    catalogue.test(id).cloned().with_context(|| format!("there is no row '{id}' in the catalogue"))
}

fn cooling(arguments: &Cooling, machine: &Machine) -> BurnIn {
    let cpus = machine::cpus_allowed(machine);
    let threads = threads(&arguments.common, machine);
    let mut args = vec![format!("kind={}", name(arguments.kind)), format!("threads={threads}")];
    // A pinned thread measures the clock of its processor.
    args.extend(cpus.get(..threads as usize).map(|own| format!("cpu={}", machine::cpu_words(own))));
    BurnIn {
        kind: Burned::Cooling,
        threads,
        args,
        seconds: Some(arguments.time.as_secs_f64()),
        rest: arguments.rest.as_secs_f64(),
        ..BurnIn::default()
    }
}

fn memory(arguments: &Memory, machine: &Machine) -> Result<BurnIn> {
    let free = machine::memory_free(machine);
    let bytes = match (arguments.size, free) {
        (Size::Bytes(bytes), Some(free)) if bytes > free => bail!(
            "{} are more than the {} that can be used here without swapping others out; try --size 80%",
            show_bytes(bytes),
            show_bytes(free)
        ),
        (Size::Bytes(bytes), _) => bytes,
        // A share of whole bytes fits.
        (Size::Share(share), Some(free)) => (free as f64 * share.min(MOST)) as u64 >> 20 << 20,
        (Size::Share(_), None) => bail!("the kernel does not report how much memory is available; try --size 1G"),
    };
    ensure!(bytes != 0, "there is no memory left to test; end programs that use much of it");
    let threads = threads(&arguments.common, machine);
    let passes = arguments.passes.or(if arguments.time.is_none() { Some(1) } else { None });
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

fn threads(common: &Common, machine: &Machine) -> u32 {
    common.copies.unwrap_or_else(|| machine::cpus_usable(machine))
}

/// The plan in words, for `--dry-run`.
fn show(plan: &BurnIn, test: &Test, machine: &Machine) -> String {
    let time = |seconds: f64| clock(Duration::from_secs_f64(seconds));
    let threads = words::count(plan.threads, "thread");
    let mut text = match plan.kind {
        Burned::Cooling => {
            let rest = if plan.rest > 0.0 { format!(", then {} of rest", time(plan.rest)) } else { String::new() };
            format!("cooling: {threads} work for {}{rest}\n", time(plan.seconds.unwrap_or(0.0)))
        }
        Burned::Memory => {
            let passes = plan.passes.map(|passes| format!(", {}", words::count(passes, "pass"))).unwrap_or_default();
            let most = plan.seconds.map(|seconds| format!(", {} at most", time(seconds))).unwrap_or_default();
            format!("memory: {} by {threads}{passes}{most}\n", show_bytes(plan.bytes.unwrap_or(0)))
        }
    };
    text += &format!("program: {} {}\n", test.binary(), plan.args.join(" "));
    let sensors = Sensors::find(machine).summary();
    let none = "none: only the clock, which the program measures, shows throttling";
    text += &format!("sensors: {}\n", if sensors.is_empty() { none } else { &sensors });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("80%").unwrap(), Size::Share(0.8));
        assert_eq!(size("4096").unwrap(), Size::Bytes(4096));
        assert_eq!(size("4G").unwrap(), Size::Bytes(4 << 30));
        assert_eq!(size("512MiB").unwrap(), Size::Bytes(512 << 20));
        assert_eq!(size("2kB").unwrap(), Size::Bytes(2048));
        for text in ["", "0", "0%", "101%", "-1G", "G", "4X", "1e9", "99999999999999T", "5bbb", "2kibib", "80%%", "µ"]
        {
            assert!(format!("{:#}", size(text).unwrap_err()).contains("try 80%"), "{text}");
        }
    }
}
