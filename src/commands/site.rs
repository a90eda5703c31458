//! `unixmark site DIR… --into WWW`: many runs as plain files for a browser.

use std::path::PathBuf;

use anyhow::Result;

use crate::measure::find;
use crate::options::Results;
use crate::status::Status;
use crate::terminal::{print, say};
use catalogue::Catalogue;
use site::{Asked, build};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Runs, fleets, journals, and directories of such; also names of runs [default: the results directory]
    #[arg(value_name = "DIR")]
    sources: Vec<String>,
    /// The site's directory; one that is there is brought up to date
    #[arg(long, value_name = "WWW")]
    into: PathBuf,
    /// What the front page is called
    #[arg(long, value_name = "TEXT", default_value = "Results")]
    title: String,
    /// Leave out whose machines they are: hosts, users, paths and comments, also in the journals to download
    #[arg(long)]
    anonymous: bool,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let Arguments { sources, into, title, anonymous, results } = arguments;
    let store = results.store()?;
    let named = |name: &String| {
        let path = PathBuf::from(name);
        if path.exists() { Ok(path) } else { find(&store, name) }
    };
    let mut sources: Vec<PathBuf> = sources.iter().map(named).collect::<Result<_>>()?;
    if sources.is_empty() {
        sources.push(store.root().to_path_buf());
    }
    let built = build(&Asked { sources: &sources, into, title, anonymous: *anonymous }, &catalogue)?;
    for left_out in &built.left_out {
        say(&format!("left out: {}: {}", left_out.path.display(), left_out.reason));
    }
    say(&format!("{}, {} of them new", words::count(built.runs, "run"), built.new));
    print(&format!("{}\n", into.join("index.html").display()))?;
    Ok(if built.left_out.is_empty() { Status::Fine } else { Status::Failed })
}
