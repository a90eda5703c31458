//! A fleet run as its directory has it: the results that each node delivered, and which of them are
//! missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use analysis::Summary;
use catalogue::Catalogue;
use files::{read_text, write_whole};
use journal::{Attempt, Ended, Head, MAX_JOURNAL_BYTES, NodeId};

/// The folder of journals in a fleet's directory.
pub(super) const NODES_FOLDER: &str = "nodes";

/// Stands for an empty node or task in the name of a file. A name that begins with a dot would be
/// taken for a half-written file.
pub(super) const EMPTY_PART: &str = "%";

/// The file that says which fleet run a directory is of.
pub(super) const MANIFEST: &str = "fleet.json";

/// The version of that file.
const FORMAT: &str = "unixmark-fleet/1";

/// The ends of journals that hold everything.
const WHOLE_ENDS: [Ended; 2] = [Ended::Complete, Ended::Budget];

/// The manifest.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Manifest {
    format: String,
    /// The fleet run's name.
    run: String,
    /// The nodes that should deliver.
    expected: BTreeSet<String>,
}

/// The state of a node's part of a fleet run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// A whole run is there.
    Whole,
    /// A run is there, but it was cut short, was interrupted, or failed.
    Partial,
    /// No whole run is there yet, and the engine still has the node's job, or the journal is not
    /// collected yet.
    Late,
    /// Nothing is there of a node that should deliver.
    #[default]
    Missing,
}

impl State {
    /// Its word in tables.
    pub fn name(self) -> &'static str {
        match self {
            State::Whole => "whole",
            State::Partial => "partial",
            State::Late => "late",
            State::Missing => "missing",
        }
    }
}

/// One task of one node.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Entry {
    /// Its node and task.
    #[serde(flatten)]
    pub id: NodeId,
    /// Whether its result is there and whole.
    pub state: State,
    /// Why the result is not whole.
    pub reason: Option<String>,
    /// Remarks: further attempts, another build than the others'.
    pub notes: Vec<String>,
    /// The attempt that counts, if there is any.
    pub attempt: Option<u32>,
    /// The journal of that attempt, below the fleet run's directory.
    pub journal: Option<PathBuf>,
    /// The summary of that journal.
    #[serde(skip)]
    pub summary: Option<Box<Summary>>,
}

/// A fleet run.
#[derive(Debug, Clone, Serialize)]
pub struct Fleet {
    /// Its name.
    pub run: String,
    /// Its parts, by node and task.
    pub entries: Vec<Entry>,
}

impl Fleet {
    /// Notes the nodes that should deliver, in addition to those noted before.
    ///
    /// # Errors
    /// The directory is of another fleet run, or cannot be written.
    pub fn expect(directory: &Path, run: &str, nodes: &[String]) -> Result<()> {
        Fleet::name(directory, Some(run))?;
        let mut manifest = read_manifest(directory)?.unwrap_or_default();
        manifest.format = FORMAT.to_owned();
        manifest.run = run.to_owned();
        manifest.expected.extend(nodes.iter().cloned());
        let target = directory.join(MANIFEST);
        let text = serde_json::to_string_pretty(&manifest)? + "\n";
        files::make_directories(directory)
            .and_then(|()| write_whole(&target, text.as_bytes()))
            .with_context(|| {
                format!(
                    "{} cannot be written; make room or try another directory",
                    target.display()
                )
            })
    }

    /// The name of the fleet run in `directory`; the name that is `asked` for, if any, where there
    /// is none yet.
    ///
    /// # Errors
    /// `directory` has a fleet run of another name than `asked`, or its manifest is damaged or of
    /// another version.
    pub fn name(directory: &Path, asked: Option<&str>) -> Result<Option<String>> {
        let known = read_manifest(directory)?.map(|manifest| manifest.run);
        if let (Some(known), Some(asked)) = (known.as_deref(), asked)
            && known != asked
        {
            bail!(
                "{} has the fleet run '{known}' and not '{asked}'; try another directory",
                directory.display()
            );
        }
        Ok(known.or_else(|| asked.map(str::to_owned)))
    }

    /// Reads the fleet run in `directory`: the same files give the same entries.
    ///
    /// # Errors
    /// It has none, or cannot be read.
    pub fn read(directory: &Path, catalogue: &Catalogue) -> Result<Fleet> {
        let Manifest { run, expected, .. } = read_known_manifest(directory)?;
        let (parts, unreadable) = read_parts(journal_paths(directory)?, catalogue, &run);
        let usual = usual_build(&parts);
        let mut entries: Vec<Entry> = parts
            .into_iter()
            .map(|(id, parts)| entry_of_parts(id, parts, usual.as_deref(), &expected))
            .collect();
        for broken in unreadable.into_iter().map(unreadable_entry) {
            match entries.iter_mut().find(|entry| entry.id == broken.id) {
                Some(entry) => entry.notes.extend(broken.reason),
                None => entries.push(broken),
            }
        }

        let nodes: BTreeSet<String> = entries.iter().map(|entry| entry.id.node.clone()).collect();
        entries
            .extend(expected.into_iter().filter(|node| !nodes.contains(node)).map(missing_entry));
        entries.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Fleet { run, entries })
    }

    /// True if every node has delivered a whole run.
    pub fn is_complete(&self) -> bool {
        self.entries.iter().all(|entry| entry.state == State::Whole)
    }
}

/// A journal that was delivered.
struct DeliveredPart {
    attempt: Attempt,
    path: PathBuf,
    summary: Summary,
    /// Why the run is not whole; `None` if it is.
    fault: Option<String>,
}

impl DeliveredPart {
    fn build(&self) -> Option<&String> {
        self.summary.run.build.as_ref().map(|build| &build.hash)
    }
}

/// The manifest of a directory that should have one.
fn read_known_manifest(directory: &Path) -> Result<Manifest> {
    read_manifest(directory)?.ok_or_else(|| NoFleet(directory.to_path_buf()).into())
}

/// A directory that was named as a fleet's and is not.
#[derive(Debug)]
pub struct NoFleet(PathBuf);

impl std::fmt::Display for NoFleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} has no fleet run; `unixmark collect … --into {0}` makes one",
            self.0.display()
        )
    }
}

impl std::error::Error for NoFleet {}

fn read_manifest(directory: &Path) -> Result<Option<Manifest>> {
    let path = directory.join(MANIFEST);
    let text = match read_text(&path, MAX_JOURNAL_BYTES) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
    };
    let manifest: Manifest =
        serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
    if manifest.format != FORMAT {
        bail!(
            "{} is of the format '{}'; this version reads '{FORMAT}'",
            path.display(),
            manifest.format
        );
    }
    Ok(Some(manifest))
}

/// The journals of a fleet run.
#[derive(Debug, Default)]
pub struct Journals {
    /// One of each task of each node, and all that cannot be read.
    pub counting: Vec<PathBuf>,
    /// Further attempts.
    pub superseded: Vec<PathBuf>,
}

/// The journals in a fleet's directory that count, and the others, without reading nodes that made
/// only one attempt.
///
/// # Errors
/// The directory has no fleet run, or cannot be read.
pub fn journals(directory: &Path, catalogue: &Catalogue) -> Result<Journals> {
    let Manifest { run, .. } = read_known_manifest(directory)?;
    let mut tasks: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in journal_paths(directory)? {
        tasks.entry(owner_name(&path)).or_default().push(path);
    }

    let mut journals = Journals::default();
    for paths in tasks.into_values() {
        if paths.len() == 1 {
            journals.counting.extend(paths);
            continue;
        }

        let (parts, unreadable) = read_parts(paths, catalogue, &run);
        journals.counting.extend(unreadable.into_iter().map(|(path, _)| path));
        for mut attempts in parts.into_values() {
            sort_attempts(&mut attempts);
            let mut paths = attempts.into_iter().map(|part| part.path);
            journals.counting.extend(paths.next());
            journals.superseded.extend(paths);
        }
    }

    journals.counting.sort();
    Ok(journals)
}

fn journal_paths(directory: &Path) -> Result<Vec<PathBuf>> {
    let folder = directory.join(NODES_FOLDER);
    let why = || format!("{} cannot be read", folder.display());
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(why),
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<std::io::Result<_>>().with_context(why)?;
    // Files that a killed collector left behind end otherwise.
    paths.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    paths.sort();
    Ok(paths)
}

/// The node and the task that a journal's file is named after: NODE.TASK of
/// NODE.TASK.ATTEMPT.HASH.jsonl.
fn owner_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.rsplitn(4, '.').last().unwrap_or_default().to_owned()
}

/// The attempts at each task of each node.
type Parts = BTreeMap<NodeId, Vec<DeliveredPart>>;

/// Reads the parts of the fleet run `run`. The second value is the paths that cannot be read, each
/// with its error.
fn read_parts(
    paths: Vec<PathBuf>,
    catalogue: &Catalogue,
    run: &str,
) -> (Parts, Vec<(PathBuf, anyhow::Error)>) {
    let mut parts = Parts::new();
    let mut unreadable = Vec::new();
    for path in paths {
        match read_part(path.clone(), catalogue, run) {
            Ok(part) => parts.entry(part.attempt.id.clone()).or_default().push(part),
            Err(error) => unreadable.push((path, error)),
        }
    }

    (parts, unreadable)
}

/// Reads a part of the fleet run `run`.
fn read_part(path: PathBuf, catalogue: &Catalogue, run: &str) -> Result<DeliveredPart> {
    let summary = archive::summary(&path, catalogue)?;
    let attempt = summary
        .run
        .fleet
        .clone()
        .with_context(|| format!("{} is not part of a fleet run", path.display()))?;
    if attempt.run != run {
        bail!("{} belongs to the fleet run '{}'", path.display(), attempt.run);
    }

    Ok(DeliveredPart { fault: fault(&summary), summary, attempt, path })
}

/// Why a run is not whole.
fn fault(summary: &Summary) -> Option<String> {
    match summary.end {
        None => Some(format!(
            "its journal was cut short after {}",
            words::count(summary.trials, "trial")
        )),
        Some(end) if !WHOLE_ENDS.contains(&end) => Some(format!(
            "its run ended as '{}' after {}",
            end.name(),
            words::count(summary.trials, "trial")
        )),
        // The run ended, but it may have measured nothing. A burn-in has no figures either.
        Some(_) if summary.figures.is_empty() => {
            let first = summary.errors.first().or(summary.skipped.first());
            first.map(|missing| format!("nothing of it could be measured: {}", missing.reason))
        }
        Some(_) => None,
    }
}

/// The build that most nodes have; of several that are as frequent, the one with the lowest hash.
fn usual_build(parts: &Parts) -> Option<String> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for build in parts.values().flatten().filter_map(DeliveredPart::build) {
        *counts.entry(build).or_default() += 1;
    }

    let max_count = counts.values().max().copied()?;
    counts.into_iter().find(|(_, count)| *count == max_count).map(|(build, _)| build.clone())
}

/// Puts the attempt that counts first: the first that is whole, else the first.
fn sort_attempts(parts: &mut [DeliveredPart]) {
    parts.sort_by_cached_key(|part| {
        (
            part.fault.is_some(),
            part.attempt.attempt,
            part.summary.run.started.clone(),
            part.path.clone(),
        )
    });
}

/// The node or the task from its part of a file's name; the beginning of a long one, which was cut.
fn decode_part(name: &str) -> String {
    if name == EMPTY_PART { String::new() } else { archive::decoded(name) }
}

fn entry_of_parts(
    id: NodeId,
    mut parts: Vec<DeliveredPart>,
    usual: Option<&str>,
    expected: &BTreeSet<String>,
) -> Entry {
    sort_attempts(&mut parts);
    let mut notes = Vec::new();
    if parts.len() > 1 {
        notes.push(format!(
            "{} attempts were delivered; attempt {} counts",
            parts.len(),
            parts[0].attempt.attempt
        ));
    }
    // Sorted above; a group has one part at least.
    let part = parts.swap_remove(0);
    if let Ok(Head::Run(_, lines @ 1..)) = journal::head(&part.path) {
        notes.push(format!("{} before its journal skipped", words::count(lines, "line")));
    }
    if part.build().is_some_and(|build| Some(build.as_str()) != usual) {
        notes.push("its programs are a different build from most nodes'".to_owned());
    }
    if !expected.is_empty() && !expected.contains(&id.node) {
        notes.push("not in --expect".to_owned());
    }
    Entry {
        id,
        state: if part.fault.is_some() { State::Partial } else { State::Whole },
        reason: part.fault,
        notes,
        attempt: Some(part.attempt.attempt),
        journal: part.path.file_name().map(|name| Path::new(NODES_FOLDER).join(name)),
        summary: Some(Box::new(part.summary)),
    }
}

/// The entry of a journal that cannot be read; its file's name says whose it is.
fn unreadable_entry((path, error): (PathBuf, anyhow::Error)) -> Entry {
    let owner = owner_name(&path);
    let (node, task) = owner.rsplit_once('.').unwrap_or((&owner, ""));
    Entry {
        id: NodeId { node: decode_part(node), task: decode_part(task) },
        state: State::Partial,
        reason: Some(format!("{error:#}")),
        journal: path.file_name().map(|name| Path::new(NODES_FOLDER).join(name)),
        ..Entry::default()
    }
}

/// The entry of a node without a journal.
fn missing_entry(node: String) -> Entry {
    Entry {
        id: NodeId { node, task: String::new() },
        reason: Some("no journal of it was found".to_owned()),
        ..Entry::default()
    }
}
