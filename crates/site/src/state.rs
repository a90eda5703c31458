//! The state of a site's last build, kept in the user's cache, so that unchanged journals are not
//! read again, and the pages of systems with unchanged runs are not made again. Without it
//! everything is read, and the site is the same.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::entry::{Columns, Entry};
use archive::hash;
use journal::Replaced;

/// A file that was changed less than this before it was read may be changed again without a trace:
/// the coarsest file systems note times to two seconds.
const MIN_AGE: Duration = Duration::from_secs(2);

/// More than the first line of a state has; of another file no more than this is read.
const MAX_HEAD_BYTES: u64 = 64 << 10;

/// The first line of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    /// The maker, and its options.
    made_by: String,
    /// The site's directory.
    into: PathBuf,
    /// A hash of the rest.
    hash: u64,
}

/// What shows that a file was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    bytes: u64,
    modified: Duration,
    /// Device, inode, and the seconds and nanoseconds of ctime, which no program can set back.
    place: [i64; 4],
}

/// A journal that was read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// Its stamp before it was read.
    pub(crate) stamp: Stamp,
    /// The run's name in the site.
    pub(crate) id: String,
    /// Counts of replacements that leave out the owner of the machine.
    pub(crate) replaced: Replaced,
}

/// The files of a system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pages {
    /// A name that stands for all of their content.
    pub(crate) of: String,
    pub(crate) names: Vec<String>,
}

/// The journals that were read, and the pages that were made.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// The subjects of the entries' figures.
    pub(crate) columns: Columns,
    /// By the absolute path.
    pub(crate) journals: BTreeMap<String, Known>,
    /// By the system's name in the site.
    pub(crate) systems: BTreeMap<String, Pages>,
    /// In the order in which the runs began.
    pub(crate) entries: Vec<Entry>,
}

/// The file of a site's state, and its maker.
#[derive(Debug)]
pub(crate) struct Keeper {
    file: PathBuf,
    made_by: String,
    into: PathBuf,
}

impl Keeper {
    /// The keeper, in the directory `cache`, of the state of the site at `into`; `made_by` names
    /// the tool that makes the site, and its options. `None` if there is no site, or its path is
    /// not UTF-8.
    pub(crate) fn new(cache: &Path, into: &Path, made_by: String) -> Option<Keeper> {
        let into = into.canonicalize().ok()?;
        let file = cache.join(format!("{:016x}.json", hash(into.to_str()?)));
        Some(Keeper { file, made_by, into })
    }

    /// The state that was kept; an empty one if it was made by another tool or for other
    /// options, or is damaged.
    pub(crate) fn read(&self) -> State {
        self.try_read().unwrap_or_default()
    }

    fn try_read(&self) -> Option<State> {
        let text = files::read_text(&self.file, u64::MAX).ok()?;
        let (head, body) = text.split_once('\n')?;
        let head: Head = serde_json::from_str(head).ok()?;
        if head != self.head(body) {
            return None;
        }

        serde_json::from_str(body).ok()
    }

    /// Keeps the state, and removes those of sites that are gone.
    pub(crate) fn write(&self, state: &State) {
        // Without a state the next build takes longer, that is all.
        let _ = self.try_write(state);
    }

    fn try_write(&self, state: &State) -> anyhow::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        files::make_private_directories(folder)?;
        let body = serde_json::to_string(state)?;
        let head = serde_json::to_string(&self.head(&body))?;
        files::write_atomically(&self.file, format!("{head}\n{body}").as_bytes())?;

        for entry in fs::read_dir(folder)?.flatten() {
            let path = entry.path();
            if read_head(&path).is_some_and(|head| !head.into.exists()) {
                fs::remove_file(&path)?;
            }
        }

        Ok(())
    }

    /// The first line of a file whose rest is `body`.
    fn head(&self, body: &str) -> Head {
        Head { made_by: self.made_by.clone(), into: self.into.clone(), hash: hash(body) }
    }
}

/// The first line of the file at `path`, if that is a site's state.
fn read_head(path: &Path) -> Option<Head> {
    let mut line = String::new();
    BufReader::new(files::open_regular(path).ok()?.take(MAX_HEAD_BYTES))
        .read_line(&mut line)
        .ok()?;
    serde_json::from_str(&line).ok()
}

impl Stamp {
    /// The stamp of a file now; `None` where a later change might not show in it.
    pub(crate) fn read(path: &Path) -> Option<Stamp> {
        let metadata = fs::metadata(path).ok()?;
        let (place, changed) = place_and_change(&metadata);
        let modified = metadata.modified().ok()?;
        let latest = modified.max(SystemTime::UNIX_EPOCH + changed);
        let is_old = SystemTime::now().duration_since(latest).is_ok_and(|age| age > MIN_AGE);
        let modified = modified.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        is_old.then_some(Stamp { bytes: metadata.len(), modified, place })
    }
}

#[cfg(unix)]
fn place_and_change(metadata: &Metadata) -> ([i64; 4], Duration) {
    use std::os::unix::fs::MetadataExt;
    let (seconds, nanoseconds) = (metadata.ctime(), metadata.ctime_nsec());
    let changed =
        Duration::new(seconds.try_into().unwrap_or(0), nanoseconds.try_into().unwrap_or(0));
    ([metadata.dev().cast_signed(), metadata.ino().cast_signed(), seconds, nanoseconds], changed)
}

#[cfg(not(unix))]
fn place_and_change(_: &Metadata) -> ([i64; 4], Duration) {
    ([0; 4], Duration::ZERO)
}
