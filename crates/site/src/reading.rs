//! Reading journals, on all processors, and writing the pages of those that are new.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rayon::prelude::*;

use crate::anonymous::{Replaced, anonymous};
use crate::entry::{Columns, Entry};
use crate::files::Files;
use crate::name::name_of;
use crate::record::Record;
use crate::state::{Known, Stamp};
use crate::{Built, Site, embed, page, picture};
use analysis::Results;
use fleet::Refused;

/// The runs of a site as they are read.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) columns: Columns,
    /// By the journals' paths, for the next time.
    pub(crate) journals: BTreeMap<String, Known>,
    /// By the runs' names in the site: copies of a journal are one run.
    pub(crate) entries: BTreeMap<String, Entry>,
    pub(crate) built: Built,
    /// The knowledge of the last build.
    last: (BTreeMap<String, Known>, HashMap<String, Entry>),
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
    pub(crate) fn new(columns: Columns, journals: BTreeMap<String, Known>, entries: Vec<Entry>) -> Reading {
        let entries = entries.into_iter().map(|entry| (entry.id.clone(), entry)).collect();
        Reading { columns, last: (journals, entries), ..Reading::default() }
    }

    /// Reads the journals that were changed since the last build, or are new.
    pub(crate) fn read(&mut self, journals: &[PathBuf], site: Site<'_>) {
        let unread: Vec<(&PathBuf, Option<Stamp>)> =
            journals.iter().filter_map(|path| self.unread(path, site.files)).collect();
        self.built.read = unread.len();
        let references = archive::reference::entries(site.catalogue);
        let found: Vec<_> =
            unread.into_par_iter().map(|(path, stamp)| (path, read(path, stamp, site, &references))).collect();
        let new = found.iter().filter_map(|(_, found)| found.as_ref().ok()).filter(|read| read.is_new);
        self.built.new = new.map(|read| &*read.record.id).collect::<HashSet<&str>>().len();
        for (path, found) in found {
            match found {
                Ok(found) => self.add(found),
                Err(error) => self.built.left_out.push(Refused { path: path.clone(), reason: format!("{error:#}") }),
            }
        }
    }

    /// Takes in what the last build knew of a journal, if that is as it was and the run's files are there; otherwise
    /// returns the journal.
    fn unread<'a>(&mut self, path: &'a PathBuf, files: &Files) -> Option<(&'a PathBuf, Option<Stamp>)> {
        let stamp = Stamp::read(path);
        let unread = Some((path, stamp));
        let known = absolute(path).and_then(|name| self.last.0.remove_entry(&name));
        let Some((name, known)) = known.filter(|(_, known)| Some(known.stamp) == stamp) else { return unread };
        if !self.entries.contains_key(&known.id) {
            let entry = self.last.1.remove(&known.id).filter(|entry| are_there(&known.id, entry.has_chart, files));
            let Some(entry) = entry else { return unread };
            self.entries.insert(known.id.clone(), entry);
        }
        self.note(&known.replaced);
        self.journals.insert(name, known);
        None
    }

    fn add(&mut self, read: Read) {
        let Read { path, stamp, record, replaced, .. } = read;
        self.note(&replaced);
        if let (Some(stamp), Some(name)) = (stamp, absolute(&path)) {
            self.journals.insert(name, Known { stamp, id: record.id.clone(), replaced });
        }
        let entry = Entry::new(&record, &mut self.columns);
        self.entries.insert(record.id, entry);
    }

    fn note(&mut self, replaced: &Replaced) {
        for (what, count) in replaced {
            *self.built.replaced.entry(what.clone()).or_default() += count;
        }
    }
}

/// A path as it is known by, if it can be written down.
fn absolute(path: &Path) -> Option<String> {
    std::path::absolute(path).ok()?.into_os_string().into_string().ok()
}

/// The files of a run: record, page, journal, badge, frame and chart.
fn names(id: &str) -> [String; 6] {
    let in_frame = format!("e/{id}.html");
    let [script, page, journal, badge, chart] =
        ["js", "html", "jsonl", "svg", "chart.svg"].map(|end| format!("r/{id}.{end}"));
    [script, page, journal, badge, in_frame, chart]
}

/// Returns true if an earlier build left a run's files, which are then kept.
fn are_there(id: &str, has_chart: bool, files: &Files) -> bool {
    let [script, page, journal, badge, frame, chart] = names(id);
    let chart = has_chart.then_some(chart);
    let mut needed = [script, page, journal, badge, frame].into_iter().chain(chart);
    needed.all(|name| files.keep(&name))
}

/// Reads a journal; writes its run's files if they are not there.
fn read(path: &Path, stamp: Option<Stamp>, site: Site<'_>, references: &[Results]) -> Result<Read> {
    let Site { asked, catalogue, files } = site;
    let mut bytes =
        files::read_regular(path, journal::MOST_BYTES).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut replaced = Replaced::new();
    if asked.anonymous {
        (bytes, replaced) = anonymous(journal::parse(&bytes[..], path)?)?;
    }
    let id = name_of(&bytes);
    let found = |record, is_new| Read { path: path.to_path_buf(), stamp, record, is_new, replaced };
    if let Some(record) = Record::read(files, &id, asked.url)
        && are_there(&id, record.has_chart(), files)
    {
        return Ok(found(record, false));
    }
    let mut results = Results::new(&journal::parse(&bytes[..], path)?, catalogue, None);
    results.stand_among(references);
    let record = Record::new(&id, &results, bytes.len() as u64, asked.url)?;
    let [script, page, journal, badge, frame, chart] = names(&id);
    let is_new = !files.keep(&journal);
    files.write(&page, page::page(&record, &results, asked.url)?.as_bytes())?;
    files.write(&journal, &bytes)?;
    files.write(&badge, picture::badge(&record).as_bytes())?;
    let drawn = picture::chart(&record, &results);
    files.write(&frame, embed::page(&record, drawn.as_deref()).as_bytes())?;
    if let Some(drawn) = drawn {
        files.write(&chart, drawn.as_bytes())?;
    }
    // Last: where it is, the others are.
    files.write(&script, record.script()?.as_bytes())?;
    Ok(found(record, is_new))
}
