//! `unixmark card`: what a person with a new machine wants to know, in three minutes.
//!
//! A card is one run of fixed tests and the findings of the doctor. With --burst, a burn-in follows
//! that finds how long full speed lasts.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::measuring::burnin::{Shown, find_burst};
use crate::measuring::job::{check_prepared, conclude, measure_and_keep};
use crate::measuring::options::{FleetPart, new_seed, setup, workplace};
use crate::measuring::terminal::Loudness;
use crate::options::{Comment, Form, Redact, Results};
use crate::reports::put_among_references;
use crate::status::Status;
use crate::terminal::say;
use ::report::{Extent, Format, Layout};
use build::BuildKind;
use catalogue::{Catalogue, Copies};
use journal::{Finding, View};
use machine::{Machine, doctor};
use measure::{Ask, Setup};
use plan::{Effort, Kind, Matrix, Procedure, Purpose};
use words::Unique;

/// The tests of the scores, at one copy and at one per processor.
const SCORE_TESTS: [&str; 3] = ["index", "copy-ram", "latency-ram"];

/// The tests of the disk and the scheduler, at one copy.
const SINGLE_TESTS: [&str; 13] = [
    "disk-mix-4k:op=read",
    "disk-mix-4k:op=write",
    "disk-mix-4k",
    "disk-mix-64k:op=read",
    "disk-mix-64k:op=write",
    "disk-mix-64k",
    "disk-mix-512k:op=read",
    "disk-mix-512k:op=write",
    "disk-mix-512k",
    "disk-mix-1m:op=read",
    "disk-mix-1m:op=write",
    "disk-mix-1m",
    "cyclic",
];

/// The time of all tests together.
const BUDGET: Duration = Duration::from_secs(140);

/// The time for which wake-ups are watched in a block, at most.
const MAX_WAKE_UP_TIME: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where the measured programs work, and so which disk is measured [default: /var/tmp, or /tmp
    /// if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A smoke test of one block, to see what a card looks like
    #[arg(long)]
    quick: bool,
    /// Find how long full speed lasts, too, where processors are sold with a credit: up to three
    /// minutes more
    #[arg(long)]
    burst: bool,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    redact: Redact,
    #[command(flatten)]
    results: Results,
    #[command(flatten)]
    fleet: FleetPart,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let ask = to_ask(arguments, &catalogue, &machine)?;
    let prepared = measure::prepare(ask, &catalogue, &machine)?;
    check_prepared(&prepared)?;

    let FleetPart { emit, .. } = arguments.fleet;
    let setup = Setup {
        build: Some(BuildKind::Portable),
        comment: arguments.comment.comment.clone(),
        fleet: arguments.fleet.attempt(&machine.host_name()),
        emit,
        ..setup(&arguments.results, arguments.dir.as_deref())?
    };
    let loudness = Loudness::new(emit, false);
    let (mut measured, kept) = measure_and_keep(&prepared, &setup, loudness)?;
    if arguments.redact.redact {
        measured.journal.redact();
        measured.results = analysis::Results::new(&measured.journal, &catalogue, None);
        put_among_references(&mut measured.results, &catalogue);
    }

    let layout = Layout { extent: Extent::Short, ..arguments.form.layout() };
    let status = conclude(&measured, &[kept], loudness, (!emit).then_some(layout))?;
    if !emit {
        say(
            "No data left this machine. A network is not measured: what it does depends on the other end (iperf3 measures it).",
        );
    }
    if !arguments.burst || emit || matches!(status, Status::Signal(_)) {
        return Ok(status);
    }

    // The card is the document; the report of the burst is for people alone.
    let layout = (layout.format == Format::Text).then_some(layout);
    let threads = machine::cpus_usable(&machine);
    let shown = Shown { loudness, layout };
    let burst_status = find_burst(threads, &setup, (&catalogue, &machine), shown)?;
    Ok(if status == Status::Fine { burst_status } else { status })
}

/// The request to measure a card.
fn to_ask(arguments: &Arguments, catalogue: &Catalogue, machine: &Machine) -> Result<Ask> {
    let mut findings: Vec<Finding> = doctor(machine, workplace(arguments.dir.as_deref()));
    findings.sort_by_key(|finding| finding.severity);

    let mut tests = catalogue.expand(&SCORE_TESTS.map(str::to_owned))?;
    for mut test in catalogue.expand(&SINGLE_TESTS.map(str::to_owned))? {
        Arc::make_mut(&mut test).copies = Copies::One;
        tests.push(test);
    }

    let effort = match arguments.quick {
        true => Effort { kind: Kind::Quick, blocks: Some(1), ..Effort::default() },
        false => Effort { budget: Some(BUDGET), ..Effort::default() },
    };
    let mut procedure = Procedure::new(Purpose::Scores, effort);
    procedure.preset.frames = procedure.preset.frames.min(MAX_WAKE_UP_TIME);

    // More copies than there are processors to use would measure the same again.
    let copies: Vec<u32> = [1, machine::cpus_usable(machine)].into_iter().unique();
    let matrix = Matrix { tests, copies, procedure, seed: new_seed(), ..Matrix::default() };
    Ok(Ask { matrix, view: View::Card, findings, ..Ask::default() })
}
