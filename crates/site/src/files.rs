//! The files of a site: written where they differ, removed where nothing needs them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};

use journal::MAX_JOURNAL_BYTES;

/// Folders of files that this tool made and may remove.
const OWN: [&str; 4] = ["r", "h", "e", "data"];

/// The file by which a site is known.
const MARK: &str = "data/site.js";

/// A site's directory.
#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
    /// The files in [`OWN`] at the beginning, as `r/NAME`: one look is cheaper than one at each
    /// file.
    before: HashSet<String>,
    needed: Mutex<HashSet<String>>,
}

impl Files {
    /// Opens the site at `root`.
    ///
    /// # Errors
    /// It holds files of something else, or cannot be made.
    pub(crate) fn open(root: &Path) -> Result<Files> {
        let why = || format!("{} cannot be made; try another directory", root.display());
        files::make_directories(root).with_context(why)?;
        let is_hidden =
            |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b".");
        let mut entries = fs::read_dir(root).with_context(why)?.flatten();
        if !root.join(MARK).is_file() && entries.any(|entry| !is_hidden(&entry)) {
            bail!("{} holds files of something else; try an empty directory", root.display());
        }

        let mut before = HashSet::new();
        for folder in OWN {
            files::make_directories(root.join(folder)).with_context(why)?;
            let entries = fs::read_dir(root.join(folder)).with_context(why)?.flatten();
            let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
            // Names of its own are plain; of others none is needed or removed.
            before.extend(
                files.filter_map(|entry| Some(format!("{folder}/{}", entry.file_name().to_str()?))),
            );
        }
        // The next build is to know the directory, also if this one fails.
        if !root.join(MARK).is_file() {
            files::write(root.join(MARK), "").with_context(why)?;
        }
        Ok(Files { root: root.to_path_buf(), before, needed: Mutex::default() })
    }

    /// A file's text, if it is there.
    pub(crate) fn read(&self, name: &str) -> Option<String> {
        files::read_text(&self.root.join(name), MAX_JOURNAL_BYTES).ok()
    }

    /// Keeps a file of an earlier build; returns true if it is there.
    pub(crate) fn keep(&self, name: &str) -> bool {
        if let Ok(mut needed) = self.needed.lock() {
            needed.insert(name.to_owned());
        }
        self.before.contains(name)
    }

    /// Writes a file unless it is there with the same bytes; returns whether it wrote.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        self.keep(name);
        let path = self.root.join(name);
        let is_same = fs::metadata(&path).is_ok_and(|there| there.len() == bytes.len() as u64)
            && files::read_regular(&path, bytes.len() as u64).is_ok_and(|there| there == bytes);
        if is_same {
            return Ok(false);
        }

        files::write_atomically(&path, bytes).with_context(|| {
            format!("{} cannot be written; make room or try another directory", path.display())
        })?;
        Ok(true)
    }

    /// Removes what an earlier site had and this one has not.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub(crate) fn sweep(&self) -> Result<()> {
        let needed = self.needed.lock().map(|needed| needed.clone()).unwrap_or_default();
        for name in self.before.difference(&needed) {
            let path = self.root.join(name);
            fs::remove_file(&path)
                .with_context(|| format!("{} cannot be removed", path.display()))?;
        }

        Ok(())
    }
}
