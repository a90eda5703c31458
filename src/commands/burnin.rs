//! `unixmark burnin`: does the cooling hold, does the memory keep what is written?

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::burning::Display;
use super::measure::{self, Manner, Opening, absolute, conclude, duration};
use super::run::own_test;
use super::values::bytes;
use super::{Status, print, usage};
use catalogue::{Catalogue, Test};
use journal::{BurnIn, Burned, Procedure, Run};
use machine::{self, Machine, Sensors};
use runner::{BurnSetting, burn_in};
use words::{bytes as show_bytes, clock};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Keep every processor as hot as it gets, and see whether its clock holds
    Cooling(Cooling),
    /// Write patterns all over the memory and see whether they stay
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
    /// How long to watch it cool down afterwards; 0 for not at all
    #[arg(long, value_name = "TIME", value_parser = maybe_no_time, default_value = "1m")]
    rest: Duration,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
struct Memory {
    /// How much memory: bytes, as 4G, or a share of what may be taken (what is available, less a twentieth of the whole)
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "80%")]
    size: Size,
    /// How long at most [default: until one pass is over]
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// End after so many passes [default: 1; with --for, as many as there is time for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    passes: Option<u64>,
    #[command(flatten)]
    common: Common,
}

/// What both have.
#[derive(Debug, clap::Args)]
struct Common {
    /// How many threads [default: one per processor]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65536))]
    copies: Option<u32>,
    /// An argument for the program, as flip=all; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = word)]
    arg: Vec<String>,
    /// An executable of your own that says what programs/burn/burn.h has
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
    #[command(flatten)]
    manner: Manner,
}

/// What the processors are kept busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Kind {
    /// Whole numbers
    Scalar,
    /// The widest vectors of floating-point numbers
    Vector,
    /// Memory beyond the caches
    Memory,
    /// All of them in turn
    Mix,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Scalar => "scalar",
            Kind::Vector => "vector",
            Kind::Memory => "memory",
            Kind::Mix => "mix",
        }
    }
}

/// How much memory.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Size {
    Share(f64),
    Bytes(u64),
}

/// Of the memory that may be taken, a little is left even where all is asked for: it changes while it is looked at.
const MOST: f64 = 0.98;

fn maybe_no_time(text: &str) -> Result<Duration> {
    if ["0", "0s"].contains(&text) { Ok(Duration::ZERO) } else { duration(text) }
}

fn size(text: &str) -> Result<Size> {
    let why = || format!("'{text}' is no size; try 80%, 512M or 4G");
    if let Some(share) = text.strip_suffix('%') {
        let share = share.trim().parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= 100.0);
        return share.map(|share| Size::Share(share / 100.0)).with_context(why);
    }
    bytes(text).map(Size::Bytes).ok().with_context(why)
}

fn word(text: &str) -> Result<String> {
    match text.split_once('=') {
        Some((key, _)) if !key.is_empty() => Ok(text.to_owned()),
        _ => bail!("'{text}' is no argument; try KEY=VALUE"),
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let (common, asked) = match &arguments.what {
        What::Cooling(cooling) => (&cooling.common, self::cooling(cooling, &machine)),
        What::Memory(memory) => (&memory.common, self::memory(memory, &machine).map_err(usage)?),
    };
    let test = test(&catalogue, asked.kind, common.program.as_deref())?;
    let asked = BurnIn { args: test.args.iter().chain(&asked.args).chain(&common.arg).cloned().collect(), ..asked };
    if common.manner.dry_run {
        print(&show(&asked, &test, &machine))?;
        return Ok(Status::Fine);
    }
    burn(common, asked, &test, &catalogue, &machine)
}

fn burn(common: &Common, asked: BurnIn, test: &Test, catalogue: &Catalogue, machine: &Machine) -> Result<Status> {
    let manner = &common.manner;
    let own = common.program.as_deref().map(absolute).transpose().map_err(usage)?;
    let (store, dir, loudness) = (manner.results.store()?, manner.dir()?, manner.loudness());
    let screen = manner.screen()?;
    let mut open = measure::open(Opening {
        machine,
        store: &store,
        manner,
        dir: &dir,
        tests: if own.is_some() { Vec::new() } else { vec![test] },
        facts: Vec::new(),
        warnings: Vec::new(),
        run: Run { procedure: Procedure::Burnin, ..Run::default() },
    })?;
    let mut display = Display::new(&asked, loudness, screen.is_some(), &open.name)?;
    let setting = BurnSetting {
        machine,
        test,
        programs: open.programs.as_ref(),
        own: own.as_deref(),
        dir: &dir,
        patience: manner.patience,
        screen,
        plan: asked,
    };
    let outcome = burn_in(&setting, &mut open.writer, &mut |event| display.show(&event));
    display.finish();
    conclude(open, outcome, catalogue, loudness, None)
}

fn test(catalogue: &Catalogue, kind: Burned, own: Option<&Path>) -> Result<Arc<Test>> {
    if let Some(path) = own {
        return Ok(Arc::new(own_test(path, &[])?));
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
    let mut args = vec![format!("kind={}", arguments.kind.name()), format!("threads={threads}")];
    // A thread that stays where it is tells the clock of that processor.
    let own: Vec<String> = cpus.iter().take(threads as usize).map(usize::to_string).collect();
    if own.len() == threads as usize {
        args.push(format!("cpu={}", own.join(",")));
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

fn memory(arguments: &Memory, machine: &Machine) -> Result<BurnIn> {
    let free = machine::memory_free(machine);
    let bytes = match (arguments.size, free) {
        (Size::Bytes(bytes), Some(free)) if bytes > free => bail!(
            "{} are more than the {} that may be taken here without pushing others out; try --size 80%",
            show_bytes(bytes),
            show_bytes(free)
        ),
        (Size::Bytes(bytes), _) => bytes,
        // A share of whole bytes fits.
        (Size::Share(share), Some(free)) => (free as f64 * share.min(MOST)) as u64 >> 20 << 20,
        (Size::Share(_), None) => bail!("the kernel does not tell how much memory is available; try --size 1G"),
    };
    if bytes == 0 {
        bail!("there is no memory here that may be taken; end something that takes much");
    }
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
    common.copies.unwrap_or_else(|| u32::try_from(machine::cpus_usable(machine)).unwrap_or(1))
}

/// What would be done, for `--dry-run`.
fn show(asked: &BurnIn, test: &Test, machine: &Machine) -> String {
    let time = |seconds: f64| clock(Duration::from_secs_f64(seconds));
    let threads = if asked.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", asked.threads) };
    let mut text = match asked.kind {
        Burned::Cooling => {
            let rest = if asked.rest > 0.0 { format!(", then {} of rest", time(asked.rest)) } else { String::new() };
            format!("cooling: {threads} work for {}{rest}\n", time(asked.seconds.unwrap_or(0.0)))
        }
        Burned::Memory => {
            let passes = match asked.passes {
                Some(1) => ", 1 pass".to_owned(),
                Some(passes) => format!(", {passes} passes"),
                None => String::new(),
            };
            let most = asked.seconds.map(|seconds| format!(", {} at most", time(seconds))).unwrap_or_default();
            format!("memory: {} by {threads}{passes}{most}\n", show_bytes(asked.bytes.unwrap_or(0)))
        }
    };
    text += &format!("program: {} {}\n", test.binary(), asked.args.join(" "));
    let sensors = Sensors::find(machine).summary();
    let none = "none: throttling is told by the clock alone, which the program measures";
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
