//! `unixmark doctor`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};
use clap::ValueEnum;

use super::clean::OLD;
use crate::measuring::options::{check_workplace, workplace};
use crate::options::{Form, Results};
use crate::status::{Status, usage};
use crate::terminal::{print, say};
use ::report::Subject;
use journal::{Finding, Severity};
use machine::{EnergySource, Machine, doctor};
use rustix::fs::Access;

/// What `--power` measures: tests that compute, call the kernel and make processes, with an arm that is slowed by next to
/// nothing and three that are slowed; its blocks take some four minutes.
const POWER: [&str; 7] = [
    "arg:slowed=0.01,arg:slowed=2,arg:slowed=5,arg:slowed=10",
    "dhry2reg",
    "pipe",
    "spawn",
    "-i",
    "12",
    "--comment=doctor --power",
];

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Measure, in four minutes, what comparisons find on this machine now: equal arms, and arms slowed by 2, 5 and 10 %
    #[arg(long)]
    power: bool,
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
    if let Some(asked) = arguments.results.asked().filter(|asked| !can_be_written(asked)) {
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

/// Measures what comparisons find.
fn power(arguments: &Arguments) -> Result<Status> {
    let mut words: Vec<OsString> = POWER.map(OsString::from).to_vec();
    let mut with = |option: &str, path: &Path| words.extend([option.into(), path.into()]);
    if let Some(results) = arguments.results.asked() {
        with("--results", &results);
    }
    if let Some(dir) = &arguments.dir {
        with("--dir", dir);
    }
    let format = arguments.form.format.to_possible_value();
    words.extend(format.iter().flat_map(|format| ["--format".into(), format.get_name().into()]));
    super::cost::power(words)
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
        Some(Finding {
            severity,
            name: name.to_owned(),
            what: format!("there is no place for {what}: {why}"),
            fix: fix.to_owned(),
        })
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

/// Whether reports will have energy.
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

/// Whether a directory can be written, or made.
fn can_be_written(path: &Path) -> bool {
    let there = path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    there.is_dir() && rustix::fs::access(there, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}
