//! Finds journals in any mixture of files, runs' directories and fleets.

use std::fs;
use std::path::{Path, PathBuf};

use catalogue::Catalogue;
use fleet::Refused;

/// The journals at and below the places that were named.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// Files that should be journals, sorted, each once.
    pub(crate) journals: Vec<PathBuf>,
    pub(crate) left_out: Vec<Refused>,
}

impl Gathered {
    /// Searches `sources`, except the site itself at `site`, which has copies of the journals.
    pub(crate) fn new(sources: &[PathBuf], site: &Path, catalogue: &Catalogue) -> Gathered {
        let mut gathered = Gathered::default();
        let site = site.canonicalize().ok();
        for source in sources {
            if source.is_dir() {
                gathered.look_in(source, site.as_deref(), catalogue);
            } else {
                gathered.journals.push(source.clone());
            }
        }

        gathered.journals.sort();
        gathered.journals.dedup();
        gathered
    }

    fn look_in(&mut self, folder: &Path, site: Option<&Path>, catalogue: &Catalogue) {
        if site.is_some_and(|site| folder.canonicalize().is_ok_and(|folder| folder == site)) {
            return;
        }
        // Of a fleet run only the attempt that counts for each node and task is taken.
        if fs::symlink_metadata(folder.join("nodes")).is_ok_and(|nodes| nodes.is_dir())
            && let Ok(fleet) = fleet::journals(folder, catalogue)
        {
            self.journals.extend(fleet.counting);
            return;
        }

        let entries = match Refused::or_entries(folder) {
            Ok(entries) => entries,
            Err(refused) => return self.left_out.push(refused),
        };
        for path in entries.flatten().map(|entry| entry.path()) {
            // Links are not followed: they may lead round in a circle. Files that begin with a dot
            // are half written.
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                continue;
            };

            let is_hidden =
                path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if metadata.is_dir() {
                self.look_in(&path, site, catalogue);
            } else if metadata.is_file()
                && !is_hidden
                && path.extension().is_some_and(|end| end == "jsonl")
            {
                self.journals.push(path);
            }
        }
    }
}
