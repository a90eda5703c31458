//! `unixmark card`: what a person with a new machine wants to know, in three minutes.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::measuring::job::Job;
use crate::measuring::options::{Matrix, typed, workplace};
use crate::options::{Comment, Form, Results};
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::{Card, Subject};
use analysis::Results as Found;
use catalogue::{Catalogue, Condition, Test};
use journal::{Finding, Journal};
use machine::{Machine, doctor};
use plan::{Procedure, Request};
use words::Unique;

/// What the scores are of, and the time they have.
const INDEX: [&str; 3] = ["index", "copy-ram", "latency-ram"];
const INDEX_TIME: &str = "100s";

/// What the disk and the scheduler are asked, and the time they have.
const DISK: [&str; 13] = [
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
const DISK_TIME: &str = "40s";

/// How long wake-ups are watched in a block.
const WAKE_UPS: Duration = Duration::from_secs(3);

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Where the measured programs work, and so which disk is measured [default: /var/tmp, or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// A smoke run of one block, to see what a card looks like
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    comment: Comment,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    results: Results,
}

/// A part of the card that was measured: its journal and what it came to.
type Part = RefCell<Option<(Journal, Found)>>;

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let cpus = u32::try_from(machine::cpus_online(&machine)).unwrap_or(1);
    let mut findings: Vec<Finding> = doctor(&machine, workplace(arguments.dir.as_deref()));
    findings.sort_by_key(|finding| finding.severity);
    let (index, disk) = (Part::default(), Part::default());
    let all: Vec<u32> = [1, cpus].into_iter().unique();
    let parts = [(&INDEX[..], INDEX_TIME, all, &index), (&DISK[..], DISK_TIME, vec![1], &disk)];
    let mut status = Status::Fine;
    for (names, time, copies, part) in parts {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let tests = catalogue.expand(&names).map_err(usage)?;
        match measure(arguments, tests, copies, time, part, (&catalogue, &machine))? {
            Status::Fine => {}
            Status::Signal(number) => return Ok(Status::Signal(number)),
            // What cannot be measured here is a gap in the card.
            _ => status = Status::Failed,
        }
    }
    let (index, disk) = (index.take(), disk.take());
    let (journal, index) = index.context("the card has no scores: nothing could be measured")?;
    let (_, disk) = disk.context("the card has no disk figures: nothing could be measured")?;
    let card = Card { index: &index, disk: &disk, steal: analysis::steal(&journal), findings: &findings };
    print(&::report::render(Subject::Card(&card), arguments.form.layout())?)?;
    say(
        "\nNothing was sent anywhere. A network is not measured: what it does depends on the other end (iperf3 measures it).",
    );
    Ok(status)
}

/// Measures a part and keeps what it came to.
fn measure(
    arguments: &Arguments,
    tests: Vec<Arc<Test>>,
    copies: Vec<u32>,
    time: &str,
    part: &Part,
    (catalogue, machine): (&Catalogue, &Machine),
) -> Result<Status> {
    let mut words: Vec<OsString> = vec!["--build=portable".into()];
    let quick = ["--quick".into(), "--iterations=1".into()];
    words.extend(if arguments.quick { quick.to_vec() } else { vec![format!("--budget={time}").into()] });
    let mut with = |option: &str, value: &Path| words.extend([option.into(), value.into()]);
    if let Some(dir) = &arguments.dir {
        with("--dir", dir);
    }
    if let Some(results) = arguments.results.asked() {
        with("--results", &results);
    }
    words.push(format!("--comment={}", arguments.comment.comment).into());
    let matrix: Matrix = typed(words).context("the card cannot be measured: internal error")?;
    let procedure = Procedure::new(matrix.effort()?);
    let request = Request {
        tests,
        copies,
        loads: vec![None],
        conditions: vec![Condition::none()],
        procedure: Procedure { frames: procedure.frames.min(WAKE_UPS), ..procedure },
        ..Request::default()
    };
    let ending = |journal: &Journal, results: &Found, _: &Path| {
        part.replace(Some((journal.clone(), results.clone())));
        Ok(())
    };
    Job { ending: Some(&ending), ..Job::new(&matrix, request) }.carry_out(catalogue, machine)
}
