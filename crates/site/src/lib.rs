//! Many runs as plain files that a browser shows without a server: from a directory, a zip, or any
//! place for static files.
//!
//! - `check`: whether a journal from somebody else may go in; `anonymous`: whose machine it was,
//!   taken out.
//! - `gather`: finds journals in any mixture of files, runs' directories and fleets.
//! - `reading`: the journals, read on all processors; those that `state` knows from the last time
//!   are not.
//! - `record`: the summary of a run that is kept beside its page (`r/ID.js`); `entry`: the part of
//!   it that lists and rankings need.
//! - `class`, `measure`, `board`: which runs may be ranked together, by what, and how.
//! - `hints`: which facts go with the differences between the systems of a class.
//! - `front`, `page`, `host`, `model`, `aside`: the pages. Tables stand in them; scripts
//!   (`assets/`) only filter and sort.
//! - `data`: the same for scripts, in files that a page loads by `<script>`: `file://` has no other
//!   way.
//!
//! A run's files are named after its journal's content (`name`), so that a link to it lasts, and
//! the same input gives the same bytes. A name that stands for a stranger's words is a hash of
//! them; decisions compare the words themselves.

mod anonymous;
mod aside;
mod board;
mod check;
mod class;
mod data;
mod entry;
mod files;
mod front;
mod gather;
mod hints;
mod host;
mod layout;
mod measure;
mod model;
mod name;
mod page;
mod reading;
mod record;
mod state;
mod texts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use analysis::Summary;
use board::Board;
use catalogue::Catalogue;
pub use check::check;
use files::Files;
use fleet::Refused;
use gather::Gathered;
use journal::Replaced;
use reading::Reading;
use state::{Keeper, Pages, State};

/// The order for a site.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Journals, runs' directories, fleets, and directories of such.
    pub sources: &'a [PathBuf],
    /// The site's directory.
    pub into: &'a Path,
    /// The title of its front page.
    pub title: &'a str,
    /// True if the owners of the machines are left out.
    pub anonymous: bool,
    /// The directory that keeps the state of the last build; without one all journals are read.
    pub cache: Option<&'a Path>,
}

/// The outcome of a build.
#[derive(Debug, Default)]
pub struct Built {
    /// Runs in the site.
    pub runs: usize,
    /// Those of them that were not in it before.
    pub new: usize,
    /// Journals that were read, and not known from the last time.
    pub read: usize,
    /// Files that are not part of it.
    pub left_out: Vec<Refused>,
    /// Counts of replacements that leave out the owners of the machines.
    pub replaced: Replaced,
}

/// A site as it is built: the order, the catalogue, and its files.
#[derive(Clone, Copy)]
struct Site<'a> {
    asked: &'a Asked<'a>,
    catalogue: &'a Catalogue,
    files: &'a Files,
}

/// Builds a site, or brings the one that is there up to date.
///
/// # Errors
/// No run is found, or the site cannot be written.
pub fn build(asked: &Asked<'_>, catalogue: &Catalogue) -> Result<Built> {
    let files = Files::open(asked.into)?;
    let site = Site { asked, catalogue, files: &files };
    let made_by = format!("{} {} {:?}", record::PAGES, Summary::made_by(), asked.anonymous);
    let keeper = asked.cache.and_then(|cache| Keeper::new(cache, asked.into, made_by));
    let (gathered, state) = rayon::join(
        || Gathered::new(asked.sources, asked.into, catalogue),
        || keeper.as_ref().map(Keeper::read).unwrap_or_default(),
    );
    let last = state.systems;
    let mut reading = Reading::new(state.columns, state.journals, state.entries);
    reading.read(&gathered.journals, site);
    let Reading { columns, journals, entries, mut built, .. } = reading;
    built.left_out.extend(gathered.left_out);
    built.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    if entries.is_empty() {
        bail!("no run was found in what was named; `unixmark list runs` shows where runs are");
    }

    built.runs = entries.len();
    let board = Board::new(entries.into_values().collect(), &columns, catalogue);
    let (csv, (data, systems)) = rayon::join(
        || files.write("runs.csv", front::csv(&board)?.as_bytes()),
        || {
            rayon::join(
                || data::write(&board, &files),
                || {
                    hints::write(&board, &columns, site)?;
                    write_pages(&board, site, last)
                },
            )
        },
    );
    csv?;
    data?;
    let systems = systems?;
    files.sweep()?;
    if let Some(keeper) = keeper {
        keeper.write(&State { columns, journals, systems, entries: board.entries });
    }
    Ok(built)
}

/// Writes all pages but those of runs; returns those of each system.
fn write_pages(
    board: &Board,
    site: Site<'_>,
    last: BTreeMap<String, Pages>,
) -> Result<BTreeMap<String, Pages>> {
    let Site { asked: Asked { title, .. }, files, .. } = site;
    layout::assets(files)?;
    let systems = host::write(board, site, last)?;
    files.write("index.html", front::page(board, title).as_bytes())?;
    files.write("runs.html", front::runs_page(board, title).as_bytes())?;
    files.write("models.html", model::page(board, title).as_bytes())?;
    files.write("compare.html", aside::page(title).as_bytes())?;
    Ok(systems)
}
