//! `unixmark site SOURCE… --into DIR`: many runs as plain files for a browser.

use std::path::PathBuf;

use anyhow::Result;

use crate::options::Results;
use crate::reports::find;
use crate::status::{Status, usage};
use crate::terminal::{print_words, say};
use catalogue::Catalogue;
use files::{Kind, check_trusted, directory};
use site::{Asked, build, check};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Runs (by name or path), fleet runs, journals, or directories that contain them [default: the
    /// results directory]; with --check, journals only
    #[arg(value_name = "SOURCE")]
    sources: Vec<String>,
    /// Directory of the site; an existing site is updated
    #[arg(long, value_name = "DIR", required_unless_present = "check")]
    into: Option<PathBuf>,
    /// Only check journals that others submit: each must be whole, consistent with its own counts,
    /// free of markup and within the bounds of a journal
    #[arg(long, conflicts_with_all = ["into", "title", "anonymous"])]
    check: bool,
    /// Title of the front page
    #[arg(long, value_name = "TEXT", default_value = "Results")]
    title: String,
    /// Remove what identifies the machines: hosts, users, paths, addresses, serial numbers and
    /// comments, from the journals too
    #[arg(long)]
    anonymous: bool,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let Arguments { sources, into, check: is_check, title, anonymous, results } = arguments;
    if *is_check && sources.is_empty() {
        return Err(usage(anyhow::anyhow!(
            "--check needs journals; try `unixmark site --check run.jsonl`"
        )));
    }

    let store = results.store()?;
    let mut paths = Vec::new();
    for name in sources {
        let path = PathBuf::from(name);
        paths.push(if path.exists() { path } else { find(&store, name)? });
    }
    if paths.is_empty() {
        paths.push(store.root().to_path_buf());
    }
    let Some(into) = into.as_ref().filter(|_| !*is_check) else {
        return check_journals(&paths, &catalogue);
    };

    // Without a trusted place for a cache, everything is read each time.
    let cache = directory(Kind::Cache)
        .ok()
        .map(|cache| cache.join("sites"))
        .filter(|cache| check_trusted(cache).is_ok());
    let asked =
        Asked { sources: &paths, into, title, anonymous: *anonymous, cache: cache.as_deref() };
    let built = build(&asked, &catalogue)?;

    for left_out in &built.left_out {
        say(&format!("left out: {}: {}", left_out.path.display(), left_out.reason));
    }
    if *anonymous {
        let replaced: Vec<String> = built
            .replaced
            .iter()
            .map(|(what, count)| format!("{what} {}", words::count(*count, "time")))
            .collect();
        let replaced = if replaced.is_empty() { "nothing".to_owned() } else { replaced.join(", ") };
        say(&format!(
            "replaced: {replaced}; and paths, directories and control groups wherever they stood"
        ));
    }
    let runs = words::count(built.runs, "run");
    let journals = words::count(built.read, "journal");
    say(&format!("{runs}, {} of them new; {journals} read", built.new));
    print_words(&format!("{}\n", into.join("index.html").display()))?;
    Ok(if built.left_out.is_empty() { Status::Fine } else { Status::Failed })
}

/// Says what speaks against journals that others submit.
fn check_journals(journals: &[PathBuf], catalogue: &Catalogue) -> Result<Status> {
    let mut status = Status::Fine;
    for path in journals {
        let complaints = check(path, catalogue);
        if complaints.is_empty() {
            print_words(&format!("{}: fine\n", path.display()))?;
        }
        for complaint in complaints {
            status = Status::Failed;
            say(&format!("{}: {complaint}", path.display()));
        }
    }
    Ok(status)
}
