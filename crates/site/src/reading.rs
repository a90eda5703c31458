//! Reads journals, on all processors, and writes the pages of those that are new.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rayon::prelude::*;

use crate::anonymous::anonymous;
use crate::entry::{Columns, Entry};
use crate::files::Files;
use crate::name::name_of;
use crate::record::Record;
use crate::state::{Known, Stamp};
use crate::{Built, Site, page};
use analysis::Results;
use fleet::Refused;
use journal::Replaced;

/// The runs of a site as they are read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) columns: Columns,
    /// By the journals' paths, for the next time.
    pub(crate) journals: BTreeMap<String, Known>,
    /// By the runs' names in the site: copies of a journal are one run.
    pub(crate) entries: BTreeMap<String, Entry>,
    pub(crate) built: Built,
    last: LastBuild,
}

/// What the last build knew and this one has not taken over yet.
#[derive(Debug, Default)]
struct LastBuild {
    /// By the journals' paths.
    journals: BTreeMap<String, Known>,
    /// By the runs' names in the site.
    entries: HashMap<String, Entry>,
}

/// A journal that was read.
struct Read {
    path: PathBuf,
    stamp: Option<Stamp>,
    record: Record,
    is_new: bool,
    replaced: Replaced,
}

impl Reading {
    /// Begins with the knowledge of the last build.
    pub(crate) fn new(
        columns: Columns,
        journals: BTreeMap<String, Known>,
        entries: Vec<Entry>,
    ) -> Reading {
        let entries = entries.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
        Reading { columns, last: LastBuild { journals, entries }, ..Reading::default() }
    }

    /// Reads the journals that were changed since the last build, or are new.
    pub(crate) fn read(&mut self, journals: &[PathBuf], site: Site<'_>) {
        let unread: Vec<(&PathBuf, Option<Stamp>)> =
            journals.iter().filter_map(|path| self.take_over(path, site.files)).collect();
        self.built.read = unread.len();
        let references = archive::reference::entries(site.catalogue);
        let outcomes: Vec<_> = unread
            .into_par_iter()
            .map(|(path, stamp)| (path, read_journal(path, stamp, site, &references)))
            .collect();

        // Copies of a journal are one run.
        let new: HashSet<&str> = outcomes
            .iter()
            .filter_map(|(_, outcome)| outcome.as_ref().ok())
            .filter(|read| read.is_new)
            .map(|read| read.record.id.as_str())
            .collect();
        self.built.new = new.len();

        for (path, outcome) in outcomes {
            match outcome {
                Ok(read) => self.add(read),
                Err(error) => {
                    let reason = format!("{error:#}");
                    self.built.left_out.push(Refused { path: path.clone(), reason });
                }
            }
        }
    }

    /// Takes over a journal from the last build if it is unchanged and the run's files are there.
    /// The result is the journal if it must be read instead.
    fn take_over<'a>(
        &mut self,
        path: &'a PathBuf,
        files: &Files,
    ) -> Option<(&'a PathBuf, Option<Stamp>)> {
        let stamp = Stamp::read(path);
        let unread = Some((path, stamp));
        let known = absolute_name(path).and_then(|name| self.last.journals.remove_entry(&name));
        let Some((name, known)) = known.filter(|(_, known)| Some(known.stamp) == stamp) else {
            return unread;
        };

        if !self.entries.contains_key(&known.id) {
            let entry = self.last.entries.remove(&known.id);
            let entry = entry.filter(|_| keep_files(&known.id, files));
            let Some(entry) = entry else { return unread };
            self.entries.insert(known.id.clone(), entry);
        }
        self.count_replacements(&known.replaced);
        self.journals.insert(name, known);
        None
    }

    /// Adds a run that was read, and notes its journal for the next build.
    fn add(&mut self, read: Read) {
        let Read { path, stamp, record, replaced, .. } = read;
        self.count_replacements(&replaced);
        if let (Some(stamp), Some(name)) = (stamp, absolute_name(&path)) {
            self.journals.insert(name, Known { stamp, id: record.id.clone(), replaced });
        }
        let entry = Entry::new(&record, &mut self.columns);
        self.entries.insert(record.id, entry);
    }

    /// Adds the counts of a run's replacements.
    fn count_replacements(&mut self, replaced: &Replaced) {
        for (kind, count) in replaced {
            *self.built.replaced.entry(kind.clone()).or_default() += count;
        }
    }
}

/// The absolute path, if it is UTF-8.
fn absolute_name(path: &Path) -> Option<String> {
    std::path::absolute(path).ok()?.into_os_string().into_string().ok()
}

/// The files of a run: record, page and journal.
fn file_names(id: &str) -> [String; 3] {
    ["js", "html", "jsonl"].map(|end| format!("r/{id}.{end}"))
}

/// Keeps the files of a run that an earlier build left; false if one is missing.
fn keep_files(id: &str, files: &Files) -> bool {
    file_names(id).iter().all(|name| files.keep(name))
}

/// Reads a journal, and writes its run's files if they are not there.
fn read_journal(
    path: &Path,
    stamp: Option<Stamp>,
    site: Site<'_>,
    references: &[Results],
) -> Result<Read> {
    let Site { asked, catalogue, files } = site;
    let mut bytes = files::read_regular(path, journal::MAX_JOURNAL_BYTES)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    let mut replaced = Replaced::new();
    if asked.anonymous {
        (bytes, replaced) = anonymous(journal::parse(&bytes[..], path)?)?;
    }
    let id = name_of(&bytes);
    let read_as =
        |record, is_new| Read { path: path.to_path_buf(), stamp, record, is_new, replaced };
    if let Some(record) = Record::read(files, &id)
        && keep_files(&id, files)
    {
        return Ok(read_as(record, false));
    }

    let mut results = Results::new(&journal::parse(&bytes[..], path)?, catalogue, None);
    results.stand_among(references);
    let record = Record::new(&id, &results, bytes.len() as u64)?;
    let [script, page, journal] = file_names(&id);
    let is_new = !files.keep(&journal);
    files.write(&page, page::page(&record, &results)?.as_bytes())?;
    files.write(&journal, &bytes)?;
    // Last: where it is, the others are.
    files.write(&script, record.to_script()?.as_bytes())?;
    Ok(read_as(record, is_new))
}
