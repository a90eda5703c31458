// Which files a C file includes: for the build script, and for the tests' own builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A C file below `programs`, and all that it includes by `#include "…"`, where the compiler finds
/// them: in the folder of the file that includes them, or else in `programs`.
pub fn sources(programs: &Path, unit: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut pending = vec![programs.join(unit)];
    while let Some(path) = pending.pop() {
        // The compiler reports a file that is missing.
        let Ok(bytes) = fs::read(&path) else { continue };
        for name in included(&String::from_utf8_lossy(&bytes)) {
            let in_same_folder = path.with_file_name(name);
            let file = if in_same_folder.exists() { in_same_folder } else { programs.join(name) };
            if !found.contains_key(&file) {
                pending.push(file);
            }
        }
        found.insert(path, bytes);
    }
    found
}

fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("#include \"")?.split('"').next())
}
