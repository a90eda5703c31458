//! `unixmark doctor`: what on this machine would distort results, and how to fix it.
//!
//! Findings are those of the crate machine and those that depend on the command line: places that
//! cannot be written, old builds, the source of energy. With --power, losses are planted and
//! measured, to show which sizes a comparison finds here.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};

use super::clean::MIN_OLD_AGE;
use super::cost::find_arms;
use crate::measuring::job::{check_prepared, conclude, measure_and_keep};
use crate::measuring::options::{Commands, check_workplace, new_seed, setup, workplace};
use crate::measuring::terminal::Loudness;
use crate::options::{Form, Results};
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::Subject;
use catalogue::Catalogue;
use files::is_noexec;
use journal::{Finding, Severity, View};
use machine::{EnergySource, Machine, doctor};
use measure::{Ask, Setup};
use plan::{Effort, Matrix, Procedure, Purpose};
use rustix::fs::Access;

/// The conditions of `--power`, by per cent: one is slowed by next to nothing, three are slowed.
const SLOWED: &str = "arg:slowed=0.01,arg:slowed=2,arg:slowed=5,arg:slowed=10";

/// The tests of `--power`: they compute, call the kernel and make processes. Its blocks take some
/// four minutes.
const POWER_TESTS: [&str; 3] = ["dhry2reg", "pipe", "spawn"];
const POWER_BLOCKS: u32 = 12;

/// The place of builds, among the findings.
const CACHE_PLACE: &str = "places.cache";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Measure, in four minutes, what comparisons find on this machine now: equal arms, and arms
    /// slowed by 2, 5 and 10 %
    #[arg(long)]
    power: bool,
    /// Measure that with a command of yours in place of the tests of unixmark
    #[arg(last = true, value_name = "COMMAND", requires = "power")]
    words: Vec<OsString>,
    /// Where the measured programs would work [default: /var/tmp, or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    if arguments.power {
        return measure_power(arguments);
    }
    let dir = workplace(arguments.dir.as_deref());
    if let Some(results) = arguments.results.named_folder().filter(|path| !can_be_written(path)) {
        return Err(usage(anyhow!(
            "{} cannot be written; try another --results DIR",
            results.display()
        )));
    }

    let machine = Machine::here();
    let mut findings = check_places(&arguments.results, dir);
    findings.extend(find_old_builds());
    findings.extend(doctor(&machine, dir));
    findings.push(describe_energy(&machine));
    findings.sort_by_key(|finding| finding.severity);
    print(&::report::render(Subject::Doctor(&findings), arguments.form.layout())?)?;

    let spoils = findings.iter().filter(|finding| finding.severity == Severity::Spoils).count();
    if spoils > 0 {
        say(&format!("unixmark: {} will spoil a run here", words::count(spoils, "finding")));
        return Ok(Status::Failed);
    }
    Ok(Status::Fine)
}

/// Measures conditions that plant losses, and shows which were found.
fn measure_power(arguments: &Arguments) -> Result<Status> {
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let ask = to_power_ask(&catalogue, &arguments.words)?;
    let prepared = measure::prepare(ask, &catalogue, &machine)?;
    check_prepared(&prepared)?;

    let setup = setup(&arguments.results, arguments.dir.as_deref())?;
    let setup = Setup { comment: "doctor --power".to_owned(), ..setup };
    let (measured, kept) = measure_and_keep(&prepared, &setup, Loudness::Normal)?;
    conclude(&measured, &[kept], Loudness::Normal, Some(arguments.form.layout()))
}

/// The request to measure conditions that plant losses in tests, or in the command of these words.
///
/// # Errors
/// The command cannot be executed.
pub(super) fn to_power_ask(catalogue: &Catalogue, words: &[OsString]) -> Result<Ask> {
    let names = match words {
        [] => POWER_TESTS.map(str::to_owned).to_vec(),
        _ => Vec::new(),
    };
    let effort = Effort { blocks: Some(POWER_BLOCKS), ..Effort::default() };
    let matrix = Matrix {
        tests: Commands::default().tests(catalogue, (&names, words), "")?,
        arms: find_arms(SLOWED, None, catalogue)?,
        procedure: Procedure::new(Purpose::Cost, effort),
        seed: new_seed(),
        ..Matrix::default()
    };
    Ok(Ask { matrix, view: View::Power, ..Ask::default() })
}

/// A place where a run writes.
struct Place<'t> {
    /// Its name among the findings.
    name: &'t str,
    /// The things that are written there.
    things: &'t str,
    /// Its path, or the reason why there is none.
    path: Result<PathBuf>,
    severity: Severity,
    /// The way to name another.
    fix: &'t str,
}

/// A finding for each place where a run writes and that cannot be used.
fn check_places(results: &Results, dir: &Path) -> Vec<Finding> {
    // Root's ledgers are in one place, which no variable moves.
    let is_root = rustix::process::geteuid().is_root();
    let state_fix = if is_root { "make it writable, or make room" } else { "set XDG_STATE_HOME" };
    let places = [
        Place {
            name: "places.results",
            things: "results",
            path: results.store().map(|store| store.root().to_path_buf()),
            severity: Severity::Spoils,
            fix: "--results DIR, or set UNIXMARK_RESULTS",
        },
        Place {
            name: "places.scratch",
            things: "the programs' files",
            path: check_workplace(dir).map(|()| dir.to_path_buf()).map_err(Error::msg),
            severity: Severity::Spoils,
            fix: "--dir DIR",
        },
        Place {
            name: CACHE_PLACE,
            things: "builds",
            path: build::cache_folder(),
            severity: Severity::Spoils,
            fix: "set XDG_CACHE_HOME",
        },
        Place {
            name: "places.state",
            things: "how a condition is undone",
            path: conditions::ledger_folder(),
            severity: Severity::Note,
            fix: state_fix,
        },
    ];
    places.into_iter().filter_map(check_place).collect()
}

/// The finding on a place that cannot be used; `None` if it can.
fn check_place(place: Place<'_>) -> Option<Finding> {
    let why = match place.path {
        Ok(path) if place.name == CACHE_PLACE && is_noexec(&path) => {
            format!("{} is on a noexec mount, and they are executed there", path.display())
        }
        Ok(path) if can_be_written(&path) => return None,
        Ok(path) => format!("{} cannot be written", path.display()),
        Err(why) => format!("{why:#}"),
    };
    Some(Finding {
        severity: place.severity,
        name: place.name.to_owned(),
        what: format!("there is no place for {}: {why}", place.things),
        fix: place.fix.to_owned(),
    })
}

/// A note on the builds that `unixmark clean` would remove.
fn find_old_builds() -> Option<Finding> {
    // Without a cache there are none, and another finding says why.
    let mut builds = build::stored().ok()?;
    builds.retain(|build| !build.is_used && build.age >= MIN_OLD_AGE);
    if builds.is_empty() {
        return None;
    }

    let bytes = words::bytes(builds.iter().map(|build| build.bytes).sum());
    let folder = build::cache_folder().ok()?;
    let what = format!(
        "{} in {} not used for 30 days: {bytes}",
        words::count(builds.len(), "build"),
        folder.display()
    );
    Some(Finding {
        severity: Severity::Note,
        name: "places.builds".to_owned(),
        what,
        fix: "unixmark clean; XDG_CACHE_HOME names another place for them".to_owned(),
    })
}

/// A note on energy: its source, or the reason that reports will have none.
fn describe_energy(machine: &Machine) -> Finding {
    let (what, fix) = match EnergySource::find(machine) {
        EnergySource::Found(energy) => (format!("energy is read from {}", energy.name()), "none needed".to_owned()),
        EnergySource::Denied { path, fix } => (format!("only root may read {path}: reports have no energy"), fix),
        EnergySource::Missing => (
            "neither powercap nor hwmon has energy or power, as in most virtual machines: reports have no energy"
                .to_owned(),
            "none needed; `unixmark run --meter COMMAND` reads a meter of yours".to_owned(),
        ),
    };
    Finding { severity: Severity::Note, name: "energy".to_owned(), what, fix }
}

/// True if a directory can be written, or made.
fn can_be_written(path: &Path) -> bool {
    let existing = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    // The last ancestor of a relative path is empty.
    let existing = if existing.as_os_str().is_empty() { Path::new(".") } else { existing };
    existing.is_dir() && rustix::fs::access(existing, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}
