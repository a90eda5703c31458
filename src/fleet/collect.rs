//! Gathering journals into a fleet's directory.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::analysis::Results;
use crate::archive;
use crate::catalogue::Catalogue;
use crate::journal::{self, Attempt, Journal, write_whole};

/// Where a fleet's directory has its journals.
pub(super) const NODES: &str = "nodes";

/// What became of the files that were looked at.
#[derive(Debug, Default)]
pub struct Collected {
    /// Journals that were taken in or replaced by longer ones.
    pub taken: usize,
    /// Journals that the fleet had already.
    pub known: usize,
    /// The fleet run's name, if there is any.
    pub run: Option<String>,
    /// What was not taken in.
    pub refused: Vec<Refused>,
}

/// A file that is no part of the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Where it lies.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Takes in every journal at or below `sources` that is of the fleet run `name`; without a name, of the one that is found
/// first. Files are written whole or not at all, under names made of what they hold: collecting again, in parallel or after a
/// crash gives the same files.
///
/// # Errors
/// A source cannot be read, or the fleet's directory cannot be written.
pub fn collect(sources: &[PathBuf], into: &Path, name: Option<&str>, catalogue: &Catalogue) -> Result<Collected> {
    let mut files = Vec::new();
    for source in sources {
        gather(source, &mut files)?;
    }
    files.sort();
    let mut collected = Collected { run: name.map(str::to_owned), ..Collected::default() };
    for path in files {
        match identity(&path) {
            Ok((attempt, journal)) if collected.run.as_ref().is_none_or(|name| *name == attempt.run) => {
                collected.run.get_or_insert_with(|| attempt.run.clone());
                if store(&path, into, &attempt, &journal, catalogue)? {
                    collected.taken += 1
                } else {
                    collected.known += 1
                }
            }
            Ok((attempt, _)) => {
                let reason = format!("it is of the fleet run '{}'", attempt.run);
                collected.refused.push(Refused { path, reason });
            }
            Err(reason) => collected.refused.push(Refused { path, reason: format!("{reason:#}") }),
        }
    }
    Ok(collected)
}

/// Every file at or below `path` that is or claims to be a journal.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let why = || format!("{} cannot be read", path.display());
    if !fs::metadata(path).with_context(why)?.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(path).with_context(why)? {
        let path = entry.with_context(why)?.path();
        // Links are not followed: they may lead round in a circle.
        let kind = fs::symlink_metadata(&path).with_context(why)?.file_type();
        if kind.is_dir() {
            gather(&path, files)?;
        } else if kind.is_file() && (path.extension().is_some_and(|end| end == "jsonl") || begins_as_one(&path)) {
            files.push(path);
        }
    }
    Ok(())
}

/// Whether a file begins as journals do: engines name what a node printed as they like, and keep other files beside it.
fn begins_as_one(path: &Path) -> bool {
    const BEGIN: &[u8] = br#"{"type":"run","#;
    let mut bytes = [0; BEGIN.len()];
    fs::File::open(path).and_then(|mut file| file.read_exact(&mut bytes)).is_ok() && bytes == BEGIN
}

/// Which attempt a journal is of.
fn identity(path: &Path) -> Result<(Attempt, Journal)> {
    let journal = journal::read(path)?;
    let attempt = journal.run.fleet.clone().context("it is of no fleet run: it was made without --fleet")?;
    Ok((attempt, journal))
}

/// Puts a journal into the fleet's directory, unless what is there is as long; returns whether it did.
fn store(path: &Path, into: &Path, attempt: &Attempt, journal: &Journal, catalogue: &Catalogue) -> Result<bool> {
    let folder = into.join(NODES);
    let target = folder.join(file_name(attempt, &journal.run.started, journal.run.seed));
    let why = || format!("{} cannot be written; make room or try another directory", target.display());
    fs::create_dir_all(&folder).with_context(why)?;
    let length = fs::metadata(path).with_context(|| format!("{} cannot be read", path.display()))?.len();
    // The same attempt, gathered while it went on and again when it had ended: the longer one holds the shorter.
    if fs::metadata(&target).is_ok_and(|there| there.len() >= length) {
        return Ok(false);
    }
    let bytes = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    write_whole(&target, &bytes).with_context(why)?;
    archive::keep(&Results::new(journal, catalogue, None), &target)?;
    Ok(true)
}

/// The name of an attempt's file: a hostile node name makes a strange one, and none that leads anywhere else. A node that is
/// requeued by an engine which does not count is told apart by when it began.
fn file_name(attempt: &Attempt, started: &str, seed: u64) -> String {
    let plain = |text: &str| -> String {
        let bytes = text.bytes().take(80).map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(byte).to_string(),
            byte => format!("%{byte:02x}"),
        });
        // A name that begins with a dot would be taken for a half-written file.
        Some(bytes.collect::<String>()).filter(|plain| !plain.is_empty()).unwrap_or_else(|| "%".to_owned())
    };
    let Attempt { run, node, task, attempt } = attempt;
    let hash = hash(&format!("{run}\0{node}\0{task}\0{attempt}\0{started}\0{seed}"));
    format!("{}.{}.{attempt}.{hash:016x}.jsonl", plain(node), plain(task))
}

/// FNV-1a of 64 bits: names of equal beginnings stay apart.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
