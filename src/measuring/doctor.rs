//! `unixmark doctor`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};

use super::clean::OLD;
use super::cost::arms;
use crate::measuring::job::{check, conclude, measure};
use crate::measuring::options::{Commands, check_workplace, new_seed, setup, workplace};
use crate::measuring::terminal::Loudness;
use crate::options::{Form, Results};
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::Subject;
use catalogue::Catalogue;
use journal::{Finding, Severity, View};
use machine::{EnergySource, Machine, doctor};
use measure::{Ask, Setup};
use plan::{Effort, Matrix, Procedure, Purpose};
use rustix::fs::Access;

/// The arms of `--power`: one is slowed by next to nothing, three are slowed.
const SLOWED: &str = "arg:slowed=0.01,arg:slowed=2,arg:slowed=5,arg:slowed=10";

/// Its tests compute, call the kernel and make processes; its blocks take some four minutes.
const TESTS: [&str; 3] = ["dhry2reg", "pipe", "spawn"];
const BLOCKS: u32 = 12;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Measure, in four minutes, what comparisons find on this machine now: equal arms, and arms slowed by 2, 5 and 10
    /// %
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
        return power(arguments);
    }
    let dir = workplace(arguments.dir.as_deref());
    if let Some(asked) = arguments.results.named_folder().filter(|asked| !can_be_written(asked)) {
        return Err(usage(anyhow!("{} cannot be written; try another --results DIR", asked.display())));
    }
    let mut findings = places(&arguments.results, dir);
    findings.extend(old_builds());
    let machine = Machine::here();
    findings.extend(doctor(&machine, dir));
    findings.push(energy(&machine));
    findings.sort_by_key(|finding| finding.severity);
    print(&::report::render(Subject::Doctor(&findings), arguments.form.layout())?)?;
    let spoils = findings.iter().filter(|finding| finding.severity == Severity::Spoils).count();
    if spoils > 0 {
        say(&format!("unixmark: {} will spoil a run here", words::count(spoils, "finding")));
        return Ok(Status::Failed);
    }
    Ok(Status::Fine)
}

/// Measures conditions that plant losses, and shows what was found of them.
fn power(arguments: &Arguments) -> Result<Status> {
    let (catalogue, machine) = (Catalogue::load()?, Machine::here());
    let ask = planted(&catalogue, &arguments.words)?;
    let prepared = measure::prepare(ask, &catalogue, &machine)?;
    check(&prepared)?;
    let setup = setup(&arguments.results, arguments.dir.as_deref())?;
    let setup = Setup { comment: "doctor --power".to_owned(), ..setup };
    let (measured, kept) = measure(&prepared, &setup, Loudness::Normal)?;
    conclude(&measured, &[kept], Loudness::Normal, Some(arguments.form.format))
}

/// Returns the ask for what conditions cost that plant losses in tests, or in the command of these words.
///
/// # Errors
/// The command cannot be executed.
pub(super) fn planted(catalogue: &Catalogue, words: &[OsString]) -> Result<Ask> {
    let names = if words.is_empty() { TESTS.map(str::to_owned).to_vec() } else { Vec::new() };
    let effort = Effort { blocks: Some(BLOCKS), ..Effort::default() };
    let matrix = Matrix {
        tests: Commands::default().tests(catalogue, (&names, words), "")?,
        arms: arms(SLOWED, None, catalogue)?,
        procedure: Procedure::new(Purpose::Cost, effort),
        seed: new_seed(),
        ..Matrix::default()
    };
    Ok(Ask { matrix, view: View::Power, ..Ask::default() })
}

/// The places where a run writes and that cannot be written, all at once, each with what names another.
fn places(results: &Results, dir: &Path) -> Vec<Finding> {
    let root = results.store().map(|store| store.root().to_path_buf());
    let scratch = check_workplace(dir).map(|()| dir.to_path_buf()).map_err(Error::msg);
    let (cache, state) = (build::cache_folder(), conditions::ledger_folder());
    let all = [
        ("places.results", "results", root, Severity::Spoils, "--results DIR, or set UNIXMARK_RESULTS"),
        ("places.scratch", "the programs' files", scratch, Severity::Spoils, "--dir DIR"),
        (
            "places.cache",
            "builds",
            cache,
            Severity::Spoils,
            "set XDG_CACHE_HOME, or --build portable, which needs none",
        ),
        ("places.state", "how a condition is undone", state, Severity::Note, "set XDG_STATE_HOME"),
    ];
    let finding = |(name, what, path, severity, fix): (&str, &str, Result<PathBuf>, Severity, &str)| {
        let why = match path {
            Ok(path) if can_be_written(&path) => return None,
            Ok(path) => format!("{} cannot be written", path.display()),
            Err(why) => format!("{why:#}"),
        };
        let what = format!("there is no place for {what}: {why}");
        Some(Finding { severity, name: name.to_owned(), what, fix: fix.to_owned() })
    };
    all.into_iter().filter_map(finding).collect()
}

/// Builds that only take room.
fn old_builds() -> Option<Finding> {
    let builds = build::stored().ok()?;
    let old: Vec<_> = builds.iter().filter(|build| !build.is_used && build.age >= OLD).collect();
    let bytes = words::bytes(old.iter().map(|build| build.bytes).sum());
    let folder = build::cache_folder().ok()?;
    (!old.is_empty()).then(|| Finding {
        severity: Severity::Note,
        name: "places.builds".to_owned(),
        what: format!("{} in {} not used for 30 days: {bytes}", words::count(old.len(), "build"), folder.display()),
        fix: "unixmark clean; XDG_CACHE_HOME names another place for them".to_owned(),
    })
}

/// Returns the finding on energy: its source, or the reason that reports will have none.
fn energy(machine: &Machine) -> Finding {
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

/// Returns true if a directory can be written, or made.
fn can_be_written(path: &Path) -> bool {
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    there.is_dir() && rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}
