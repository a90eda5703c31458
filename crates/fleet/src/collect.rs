//! Gathering journals into a fleet's directory.

use std::fs::{self, ReadDir};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::state::{EMPTY_PART, Fleet, NODES_FOLDER, State};
use analysis::Results;
use archive::{self, encoded, hash};
use catalogue::Catalogue;
use files::{read_regular, write_whole};
use journal::{self, Attempt, Head, Journal, MAX_JOURNAL_BYTES, NodeId};

/// The longest part of a file's name for a node's name, and for a task's: two of them and the rest
/// are shorter than file systems' 255.
const MAX_NAME_BYTES: usize = 80;

/// The outcome for the files that were looked at.
#[derive(Debug, Default)]
pub struct Collected {
    /// Journals that were taken in or replaced by longer ones.
    pub taken: usize,
    /// Journals that the fleet had already.
    pub known: usize,
    /// The fleet run's name, if there is any.
    pub run: Option<String>,
    /// Files that were not taken in.
    pub refused: Vec<Refused>,
    /// Files in the directories that hold no journal and are not the tool's own, each with how it
    /// begins.
    pub others: Vec<Refused>,
}

impl Collected {
    /// Explains why nodes are missing by the refused files that are named after them.
    pub fn explain(&self, fleet: &mut Fleet) {
        for entry in fleet.entries.iter_mut().filter(|entry| entry.state == State::Missing) {
            let node = entry.id.node.as_str();
            let files = self.refused.iter().chain(&self.others).filter(|file| file.is_of(node));
            let reasons: Vec<String> =
                files.map(|file| format!("{}: {}", file.path.display(), file.reason)).collect();
            if !reasons.is_empty() {
                entry.reason = Some(format!("no journal of it: {}", reasons.join("; ")));
            }
        }
    }
}

/// A file or directory that is not part of a fleet or a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Its place.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl Refused {
    /// The entries of a directory.
    ///
    /// # Errors
    /// The directory itself, if it cannot be read.
    pub fn or_entries(path: &Path) -> Result<ReadDir, Refused> {
        let refused = |error| Refused {
            path: path.to_path_buf(),
            reason: format!("it cannot be read: {error}"),
        };
        fs::read_dir(path).map_err(refused)
    }

    /// True if the file, or a directory it lies in, is named after a node.
    fn is_of(&self, node: &str) -> bool {
        let named = |part: &std::ffi::OsStr| {
            let rest = part.to_str().and_then(|name| name.strip_prefix(node));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.path.iter().any(named)
    }
}

/// Takes in every journal at or below `sources` that belongs to the fleet run `name`; without a
/// name, to the one that is found first. With `redact` they no longer say whose machine it was.
/// Files are written whole or not at all, under names made of their content: collecting again, in
/// parallel or after a crash gives the same files.
///
/// # Errors
/// The fleet's directory cannot be written.
pub fn collect(
    sources: &[PathBuf],
    into: &Path,
    name: Option<&str>,
    redact: bool,
    catalogue: &Catalogue,
) -> Result<Collected> {
    let mut files = Vec::new();
    let mut collected = Collected { run: name.map(str::to_owned), ..Collected::default() };
    for source in sources {
        gather_files(source, &mut files, &mut collected);
    }

    files.sort();
    collected.others.sort_by(|a, b| a.path.cmp(&b.path));
    for path in files {
        match read_delivered(&path, redact) {
            Ok((attempt, part))
                if collected.run.as_ref().is_none_or(|name| *name == attempt.run) =>
            {
                collected.run.get_or_insert_with(|| attempt.run.clone());
                if store_journal(into, &attempt, &part, catalogue)? {
                    collected.taken += 1
                } else {
                    collected.known += 1
                }
            }
            Ok((attempt, _)) => {
                let reason = format!("it belongs to the fleet run '{}'", attempt.run);
                collected.refused.push(Refused { path, reason });
            }
            Err(reason) => collected.refused.push(Refused { path, reason: format!("{reason:#}") }),
        }
    }

    Ok(collected)
}

/// Adds every file at or below `path` that is or claims to be a journal to `files`, and the others
/// to `collected`.
fn gather_files(path: &Path, files: &mut Vec<PathBuf>, collected: &mut Collected) {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return;
    }

    let entries = match Refused::or_entries(path) {
        Ok(entries) => entries,
        Err(refused) => return collected.refused.push(refused),
    };
    let is_run = path.join(journal::FILE).exists();
    // A file that disappears meanwhile was put elsewhere by an engine.
    for path in entries.flatten().map(|entry| entry.path()) {
        // Links are not followed: they may lead round in a circle.
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };

        if metadata.is_dir() {
            gather_files(&path, files, collected);
        } else if metadata.is_file() {
            // Engines name what a node printed as they like, and keep other files beside it.
            match journal::head(&path) {
                _ if path.extension().is_some_and(|end| end == "jsonl") => files.push(path),
                Ok(Head::Run(..)) => files.push(path),
                Ok(Head::Other(first)) if !is_run && !is_own(&path) => {
                    let reason = match first.as_str() {
                        "" => "it is empty".to_owned(),
                        first => format!("it begins with '{first}'"),
                    };
                    collected.others.push(Refused { path, reason });
                }
                _ => {}
            }
        }
    }
}

/// True if it is a file of the tool's beside journals: a summary, a manifest, a lock.
fn is_own(path: &Path) -> bool {
    let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    hidden || path.extension().is_some_and(|end| end == "json")
}

/// A journal as it was at one moment: a node may be writing it.
type Delivered = (Vec<u8>, Journal);

/// Reads a journal, with the attempt that it is of.
fn read_delivered(path: &Path, redact: bool) -> Result<(Attempt, Delivered)> {
    let mut bytes = read_regular(path, MAX_JOURNAL_BYTES)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let mut journal = journal::parse(&bytes[..], path)?;
    let mut attempt = journal
        .run
        .fleet
        .clone()
        .context("it is not part of a fleet run: it was made without --fleet")?;
    if redact && !journal.is_redacted() {
        attempt.id.node = alias(&attempt.id.node);
        journal.redact();
        journal.run.fleet = Some(attempt.clone());
        bytes.clear();
        for record in journal.records() {
            serde_json::to_writer(&mut bytes, &record)?;
            bytes.push(b'\n');
        }
    }
    Ok((attempt, (bytes, journal)))
}

/// The name in place of a node's that is left out: for the same node always the same.
pub fn alias(node: &str) -> String {
    format!("node-{:08x}", hash(node) as u32)
}

/// Puts a journal into the fleet's directory, unless the one that is there is as long; true if it
/// did.
fn store_journal(
    into: &Path,
    attempt: &Attempt,
    (bytes, journal): &Delivered,
    catalogue: &Catalogue,
) -> Result<bool> {
    let folder = into.join(NODES_FOLDER);
    let target = folder.join(file_name(attempt, &journal.run.started, journal.run.seed));
    let why =
        || format!("{} cannot be written; make room or try another directory", target.display());
    files::make_directories(&folder).with_context(why)?;
    // The same attempt, gathered while it went on and again when it had ended: the longer one holds
    // the shorter.
    if fs::metadata(&target).is_ok_and(|there| there.len() >= bytes.len() as u64) {
        return Ok(false);
    }

    write_whole(&target, bytes).with_context(why)?;
    archive::keep(&Results::new(journal, catalogue, None), &target)?;
    Ok(true)
}

/// The name of an attempt's file: a hostile node name makes a strange one, and none that leads
/// anywhere else. A node that is requeued by an engine which does not count is told apart by when
/// it began.
fn file_name(attempt: &Attempt, started: &str, seed: u64) -> String {
    let Attempt { run, id: NodeId { node, task }, attempt } = attempt;
    let hash = hash(&format!("{run}\0{node}\0{task}\0{attempt}\0{started}\0{seed}"));
    format!("{}.{}.{attempt}.{hash:016x}.jsonl", encode_part(node), encode_part(task))
}

/// A node or a task as a part of a file's name.
fn encode_part(text: &str) -> String {
    match encoded(text, MAX_NAME_BYTES) {
        name if name.is_empty() => EMPTY_PART.to_owned(),
        name => name,
    }
}
