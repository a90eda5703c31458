//! `unixmark compare RUN RUN …`.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use super::values::percent;
use super::{Results, Status, print, say, usage};
use crate::analysis::{self, Comparison, Comparisons};
use crate::catalogue::Catalogue;
use crate::journal;
use crate::report::compare::{Format, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The runs; every one is compared with the first
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    runs: Vec<String>,
    /// The runs were made in turn, A1 B1 A2 B2 …: compare the A of each round with its B
    #[arg(long)]
    paired: bool,
    /// Call no difference that is smaller than this (deadlines met: in percentage points)
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    threshold: f64,
    /// Exit with 1 where anything is slower or worse beyond doubt, and its estimate by this or more
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_on: Option<f64>,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    count(arguments).map_err(usage)?;
    let store = arguments.results.store()?;
    let paths: Vec<PathBuf> = arguments.runs.iter().map(|name| store.find(name)).collect::<Result<_>>()?;
    distinct(&arguments.runs, &paths).map_err(usage)?;
    let catalogue = Catalogue::load()?;
    let read = |path: &PathBuf| Ok(analysis::Results::new(&journal::read(path)?, &catalogue, None));
    let results = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    let comparisons = Comparisons::new(results, arguments.paired, arguments.threshold);
    print(&render(&comparisons, arguments.format)?)?;
    Ok(status(&comparisons, arguments.fail_on))
}

/// Two runs at least; whole rounds, and two of them, of runs that alternated.
fn count(arguments: &Arguments) -> Result<()> {
    match (arguments.paired, arguments.runs.len()) {
        (false, 0..=1) => bail!("a comparison takes two runs; `unixmark list runs` shows them"),
        (true, 0..=3) => bail!("--paired takes two rounds or more, as A1 B1 A2 B2; six or more carry exact intervals"),
        (true, count) if !count.is_multiple_of(2) => {
            bail!("--paired takes whole rounds, as A1 B1 A2 B2, and {count} runs are odd")
        }
        _ => Ok(()),
    }
}

/// A run is not compared with itself.
fn distinct(names: &[String], paths: &[PathBuf]) -> Result<()> {
    let mut known: Vec<(PathBuf, &String)> = Vec::new();
    for (name, path) in names.iter().zip(paths) {
        // The journal itself may be named.
        let path = if path.is_dir() { path.join(journal::FILE) } else { path.clone() };
        let path = path.canonicalize().with_context(|| format!("{} cannot be read", path.display()))?;
        if let Some((_, other)) = known.iter().find(|(one, _)| *one == path) {
            bail!("'{other}' and '{name}' are the same run; name another, as latest~1");
        }
        known.push((path, name));
    }
    Ok(())
}

/// A gate is closed by losses beyond doubt, by estimates of that size; and by having compared nothing at all.
fn status(comparisons: &Comparisons, fail_on: Option<f64>) -> Status {
    if comparisons.comparisons.is_empty() {
        say("unixmark: these runs have nothing in common that could be compared");
        return Status::Nothing;
    }
    let Some(size) = fail_on else { return Status::Fine };
    let losses = comparisons.losses(size);
    for loss in &losses {
        say(&format!("unixmark: {}", sentence(loss)));
    }
    if !comparisons.missing.is_empty() {
        say(&format!("unixmark: {} could not be compared, and do not count", comparisons.missing.len()));
    }
    if losses.is_empty() { Status::Fine } else { Status::Failed }
}

/// Says a loss in a sentence.
pub(super) fn sentence(loss: &Comparison) -> String {
    let cell = &loss.cell;
    format!(
        "{} ({}, {} copies, load {}, condition {}) is {} in {} by {:.1} {}",
        cell.test,
        loss.measure.name(),
        cell.copies,
        cell.load,
        cell.condition,
        loss.verdict.word(),
        loss.run,
        -loss.delta.value,
        loss.measure.delta_unit()
    )
}
