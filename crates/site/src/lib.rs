//! Many runs as plain files that a browser shows without a server: from a directory, a zip, or any place for static files.
//!
//! - `check`: whether a journal from somebody else may go in; `anonymous`: whose machine it was, taken out.
//! - `gather`: finds journals in any mixture of files, runs' directories and fleets.
//! - `record`: what is kept of a run beside its page (`r/ID.js`), so that no journal is read twice.
//! - `class`, `measure`, `board`: which runs may be ranked together, by what, and how.
//! - `front`, `page`, `host`, `model`, `aside`, `picture`: the pages, and pictures for other pages. Tables stand in them; scripts (`assets/`) only filter and sort.
//! - `data`: the same for scripts, in files that a page loads by `<script>`: `file://` has no other way.
//!
//! A run's files are named after its journal's content, so that a link to it lasts, and the same input gives the same bytes.

mod anonymous;
mod aside;
mod board;
mod check;
mod class;
mod data;
mod files;
mod front;
mod gather;
mod host;
mod layout;
mod measure;
mod model;
mod page;
mod picture;
mod price;
mod record;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use analysis::Results;
use anonymous::{Replaced, anonymous};
use board::Board;
use catalogue::Catalogue;
pub use check::check;
use files::Files;
use gather::Gathered;
pub use gather::LeftOut;
pub use price::Prices;
use record::Record;

/// What a site is made of.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Journals, runs' directories, fleets, and directories of such.
    pub sources: &'a [PathBuf],
    /// The site's directory.
    pub into: &'a Path,
    /// What its front page is called.
    pub title: &'a str,
    /// Whether whose machines they are is left out.
    pub anonymous: bool,
    /// The address it will have, which pictures in other pages need; may be empty.
    pub url: &'a str,
    /// What systems cost and draw.
    pub prices: &'a Prices,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Built {
    /// Runs in the site.
    pub runs: usize,
    /// Those of them that were not in it before.
    pub new: usize,
    /// What is not part of it.
    pub left_out: Vec<LeftOut>,
    /// What was replaced to leave out whose machines they are, and how often.
    pub replaced: BTreeMap<&'static str, usize>,
}

/// Builds a site, or brings the one that is there up to date.
///
/// # Errors
/// No run is found, or the site cannot be written.
pub fn build(asked: &Asked<'_>, catalogue: &Catalogue) -> Result<Built> {
    let files = Files::open(asked.into)?;
    let gathered = Gathered::of(asked.sources, asked.into, catalogue);
    let (records, mut built) = read_all(&gathered.journals, asked, &files, catalogue)?;
    built.left_out.extend(gathered.left_out);
    built.left_out.sort_by(|a, b| a.path.cmp(&b.path));
    if records.is_empty() {
        bail!("no run was found in what was named; `unixmark list runs` shows where runs are");
    }
    built.runs = records.len();
    let board = Board::new(records, asked.prices, catalogue);
    layout::assets(&files)?;
    data::write(&board, &files)?;
    let hosts = host::write(&board, catalogue, &files)?;
    files.write("index.html", front::page(&board, asked.title).as_bytes())?;
    files.write("runs.html", front::runs(&board, asked.title, &hosts).as_bytes())?;
    files.write("runs.csv", front::csv(&board)?.as_bytes())?;
    files.write("models.html", model::page(&board, asked.title).as_bytes())?;
    files.write("compare.html", aside::page(asked.title).as_bytes())?;
    files.sweep()?;
    Ok(built)
}

/// Reads every journal, on all processors, and writes the pages of those that are new. Copies of a journal are one run.
fn read_all(
    journals: &[PathBuf],
    asked: &Asked<'_>,
    files: &Files,
    catalogue: &Catalogue,
) -> Result<(Vec<Record>, Built)> {
    type Part = (Vec<(Record, bool, Replaced)>, Vec<LeftOut>);
    let next = AtomicUsize::new(0);
    let work = || -> Part {
        let mut part = Part::default();
        while let Some(path) = journals.get(next.fetch_add(1, Ordering::Relaxed)) {
            match read(path, asked, files, catalogue) {
                Ok(found) => part.0.push(found),
                Err(error) => part.1.push(LeftOut { path: path.clone(), reason: format!("{error:#}") }),
            }
        }
        part
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(journals.len());
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().ok()).collect::<Option<_>>()
    })
    .context("the site cannot be built: internal error")?;
    let mut built = Built::default();
    let mut records = BTreeMap::new();
    for (found, left_out) in parts {
        built.left_out.extend(left_out);
        for (record, is_new, replaced) in found {
            built.new += usize::from(is_new);
            replaced.iter().for_each(|(what, count)| *built.replaced.entry(what).or_default() += count);
            records.insert(record.id.clone(), record);
        }
    }
    Ok((records.into_values().collect(), built))
}

/// Returns a run's record, whether it is new, and what was replaced in it; writes its files if they are not there.
fn read(path: &Path, asked: &Asked<'_>, files: &Files, catalogue: &Catalogue) -> Result<(Record, bool, Replaced)> {
    let mut bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut replaced = Replaced::new();
    if asked.anonymous {
        (bytes, replaced) = anonymous(journal::parse(&bytes[..], path)?)?;
    }
    let id = id(&bytes);
    let [script, page, journal_file, badge, chart] =
        ["js", "html", "jsonl", "svg", "chart.svg"].map(|end| format!("r/{id}.{end}"));
    let kept = [&script, &page, &journal_file, &badge].map(|name| files.keep(name));
    files.keep(&chart);
    if kept.iter().all(|is_there| *is_there)
        && let Some(record) = files.read(&script).as_deref().and_then(|script| Record::of_script(script, asked.url))
    {
        return Ok((record, false, replaced));
    }
    let results = Results::new(&journal::parse(&bytes[..], path)?, catalogue, None);
    let record = Record::new(&id, &results, bytes.len() as u64, asked.url)?;
    files.write(&page, page::page(&record, &results, asked.url)?.as_bytes())?;
    files.write(&journal_file, &bytes)?;
    files.write(&badge, picture::badge(&record).as_bytes())?;
    if let Some(drawn) = picture::chart(&record, &results) {
        files.write(&chart, drawn.as_bytes())?;
    }
    // Last: where it is, the others are.
    files.write(&script, record.script()?.as_bytes())?;
    Ok((record, true, replaced))
}

/// Returns a run's name in a site: half of the SHA-256 of its journal, as 16 digits.
fn id(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
