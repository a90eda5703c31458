//! `unixmark card`: what a person with a new machine wants to know, in three minutes.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use crate::measuring::job::{self, check, conclude};
use crate::measuring::options::{new_seed, setup, workplace};
use crate::measuring::terminal::Loudness;
use crate::options::{Comment, Form, Results};
use crate::status::Status;
use crate::terminal::{print, say};
use ::report::{Card, Subject};
use build::BuildKind;
use catalogue::Catalogue;
use journal::Finding;
use machine::{Machine, doctor};
use measure::{Ask, Measured, Setup};
use plan::{Effort, Kind, Matrix, Procedure, Purpose};
use words::Unique;

/// The tests of the scores, and their time.
const INDEX: [&str; 3] = ["index", "copy-ram", "latency-ram"];
const INDEX_TIME: Duration = Duration::from_secs(100);

/// The tests of the disk and the scheduler, and their time.
const DISK: [&str; 13] = [
    "disk-mix-4k:op=read", "disk-mix-4k:op=write", "disk-mix-4k", "disk-mix-64k:op=read", "disk-mix-64k:op=write",
    "disk-mix-64k", "disk-mix-512k:op=read", "disk-mix-512k:op=write", "disk-mix-512k", "disk-mix-1m:op=read",
    "disk-mix-1m:op=write", "disk-mix-1m", "cyclic",
];
const DISK_TIME: Duration = Duration::from_secs(40);

/// The time for which wake-ups are watched in a block.
const WAKE_UPS: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where the measured programs work, and so which disk is measured [default: /var/tmp, or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A smoke test of one block, to see what a card looks like
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let cpus = machine::cpus_online(&machine);
    let mut findings: Vec<Finding> = doctor(&machine, workplace(arguments.dir.as_deref()));
    findings.sort_by_key(|finding| finding.severity);
    let copies: Vec<u32> = [1, cpus].into_iter().unique();
    let (index, first) = measure(arguments, (&INDEX, copies, INDEX_TIME), &catalogue, &machine)?;
    if let Status::Signal(_) = first {
        return Ok(first);
    }
    let (disk, second) = measure(arguments, (&DISK, vec![1], DISK_TIME), &catalogue, &machine)?;
    if let Status::Signal(_) = second {
        return Ok(second);
    }
    let steal = analysis::steal(&index.journal);
    let card = Card { index: &index.results, disk: &disk.results, steal, findings: &findings };
    print(&::report::render(Subject::Card(&card), arguments.form.layout())?)?;
    say(
        "\nNo data left this machine. A network is not measured: what it does depends on the other end (iperf3 measures it).",
    );
    // What cannot be measured here is a gap in the card.
    let is_whole = first == Status::Fine && second == Status::Fine;
    Ok(if is_whole { Status::Fine } else { Status::Failed })
}

/// Measures and keeps a part of the card; returns it and what it comes to.
fn measure(
    arguments: &Arguments,
    (names, copies, time): (&[&str], Vec<u32>, Duration),
    catalogue: &Catalogue,
    machine: &Machine,
) -> Result<(Measured, Status)> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let effort = match arguments.quick {
        true => Effort { kind: Kind::Quick, blocks: Some(1), ..Effort::default() },
        false => Effort { budget: Some(time), ..Effort::default() },
    };
    let mut procedure = Procedure::new(Purpose::Scores, effort);
    procedure.preset.frames = procedure.preset.frames.min(WAKE_UPS);
    let tests = catalogue.expand(&names)?;
    let matrix = Matrix { tests, copies, procedure, seed: new_seed(), ..Matrix::default() };
    let ask = Ask { matrix, ..Ask::default() };
    let prepared = measure::prepare(ask, catalogue, machine)?;
    check(&prepared)?;
    let setup = setup(&arguments.results, arguments.dir.as_deref())?;
    let comment = arguments.comment.comment.clone();
    let setup = Setup { build: Some(BuildKind::Portable), comment, ..setup };
    let (measured, kept) = job::measure(&prepared, &setup, Loudness::Normal)?;
    let status = conclude(&measured, &[kept], Loudness::Normal, None)?;
    Ok((measured, status))
}
