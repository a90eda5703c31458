//! The options of every verb that measures cells of the matrix of tests, copies, loads and
//! conditions: how much is measured, how often and how.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};

use super::Measuring;
use super::commands::{command_load, is_command};
use super::values::{Copies, caption, copies, duration, share};
use catalogue::{Catalogue, Test};
use measure::Ask;
use plan::{Effort, Kind, Matrix, Pin};

/// The options of every command that measures cells of the matrix.
#[derive(Debug, clap::Args)]
pub(crate) struct MatrixOptions {
    /// Number of copies: `2`, `1,2,4`, `1..9`, `max`, `2max`, `max/2`, `1..max` or shares of the
    /// processors, `25%,50%,100%`; repeatable
    #[arg(short, long, value_name = "N", value_parser = copies)]
    copies: Vec<Copies>,
    /// What runs in the background: one or more of `unixmark list loads`, or a quoted command;
    /// repeatable
    #[arg(long, value_name = "LOAD,…")]
    pub(crate) load: Vec<String>,
    /// Where copies run: one on each `core` first, filling each core (`smt`) or memory `node` in
    /// turn, or on this CPU
    #[arg(
        long,
        value_name = "none|core|smt|node|CPU",
        default_value = "none",
        hide_default_value = true
    )]
    pin: Pin,
    /// How to measure
    #[arg(long, value_enum, default_value_t = Kind::Standard)]
    procedure: Kind,
    /// Short for --procedure quick: a smoke run that shows only large differences
    #[arg(long, conflicts_with = "procedure")]
    quick: bool,
    /// Number of blocks (classic: passes per long test; short tests get a third); 0 means the
    /// default, as in UnixBench
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(..10_000))]
    iterations: Option<u32>,
    /// Start no new block after this time: 90s, 3m, 1h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    budget: Option<Duration>,
    /// Spread the blocks over this time, so that busy and calm spells of the machine are both in
    /// the figures: 1h
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "budget")]
    over: Option<Duration>,
    /// Measure until every interval is this narrow, as a share of its score: 1%
    #[arg(long, value_name = "SHARE", value_parser = share)]
    precision: Option<f64>,
    /// Seed of the random order [default: the time]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Do not ask before a change that lasts until the machine is restarted, and set what cannot be
    /// set back
    #[arg(long)]
    pub(crate) yes: bool,
    /// Run graphics tests on a private Xvfb server that is stopped afterwards
    #[arg(long)]
    xvfb: bool,
    /// Read energy from this command, which prints a line per reading: the joules so far
    #[arg(long, value_name = "COMMAND", value_parser = caption)]
    meter: Option<String>,
    #[command(flatten)]
    pub(crate) measuring: Measuring,
}

impl MatrixOptions {
    /// The request to measure a matrix as these options say.
    pub(crate) fn ask(&self, matrix: Matrix) -> Ask {
        let seed = self.seed.unwrap_or_else(new_seed);
        let matrix = Matrix { seed, pin: self.pin, ..matrix };
        Ask {
            matrix,
            meter: self.meter.clone(),
            xvfb: self.xvfb,
            may_last: self.yes,
            discard: self.measuring.results.is_nowhere(),
            ..Ask::default()
        }
    }

    /// The numbers of copies, `usual` unless the user names some; `max` stands for `cpus`.
    ///
    /// # Errors
    /// A range is empty or too long.
    pub(crate) fn copies(&self, cpus: u32, usual: impl FnOnce() -> Vec<u32>) -> Result<Vec<u32>> {
        if self.copies.is_empty() { Ok(usual()) } else { Copies::all(&self.copies, cpus) }
    }

    /// The loads; by default a single one that is no load.
    ///
    /// # Errors
    /// There is no such load.
    pub(crate) fn loads(&self, catalogue: &Catalogue) -> Result<Vec<Option<Arc<Test>>>> {
        if self.load.is_empty() { Ok(vec![None]) } else { loads(catalogue, &self.load) }
    }

    /// How much to measure.
    ///
    /// # Errors
    /// The classic procedure has a fixed length, and the user names another.
    pub(crate) fn effort(&self) -> Result<Effort> {
        let kind = if self.quick { Kind::Quick } else { self.procedure };
        let MatrixOptions { precision, budget, over, iterations, .. } = *self;
        if kind == Kind::Classic && (budget.is_some() || over.is_some() || precision.is_some()) {
            bail!(
                "the classic procedure has a fixed length; --budget, --over and --precision go with the standard one"
            );
        }
        // UnixBench's `-i 0` is its default.
        let blocks = iterations.filter(|number| *number > 0);
        Ok(Effort { kind, precision, budget, over, blocks, ..Effort::default() })
    }

    /// How much to measure, for verbs that have no classic procedure.
    ///
    /// # Errors
    /// The classic procedure is asked for.
    pub(crate) fn effort_in_blocks(&self) -> Result<Effort> {
        match self.effort()? {
            Effort { kind: Kind::Classic, .. } => {
                bail!(
                    "the classic procedure measures one test after the other; only `unixmark run` and `unixmark unixbench` \
                     have it; leave --procedure out"
                )
            }
            effort => Ok(effort),
        }
    }
}

/// The loads of lists of names, and after them quoted commands as loads.
///
/// # Errors
/// There is no such load.
pub(crate) fn loads(catalogue: &Catalogue, words: &[String]) -> Result<Vec<Option<Arc<Test>>>> {
    let (commands, lists): (Vec<&String>, Vec<&String>) =
        words.iter().partition(|word| is_command(word));
    let names: Vec<String> =
        lists.iter().flat_map(|list| list.split(',')).map(str::to_owned).collect();
    let mut loads = catalogue.expand_loads(&names)?;
    for command in commands {
        loads.push(Some(command_load(catalogue, command)?));
    }
    Ok(loads)
}

/// The seed of a run whose user sets none, by the clock.
pub(crate) fn new_seed() -> u64 {
    u64::from(jiff::Timestamp::now().subsec_nanosecond().unsigned_abs())
}

/// Adds a verb's own default to the help of a shared option.
pub(crate) fn with_default(arg: clap::Arg, default: &str) -> clap::Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.help(format!("{help} [default: {default}]"))
}
