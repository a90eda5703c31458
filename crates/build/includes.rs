// Which files a C file includes: for the build script, and for the tests' own builds.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a C file below `programs`, and all that it includes by `#include "…"`, as the compiler
/// finds them: beside the file that includes them, or in `programs`.
pub fn sources(programs: &Path, unit: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![programs.join(unit)];
    while let Some(path) = open.pop() {
        // What is missing is the compiler's to tell.
        let Ok(bytes) = fs::read(&path) else { continue };
        for name in included(&String::from_utf8_lossy(&bytes)) {
            let beside = path.with_file_name(name);
            let path = if beside.exists() { beside } else { programs.join(name) };
            if !found.contains_key(&path) {
                open.push(path);
            }
        }
        found.insert(path, bytes);
    }
    found
}

fn included(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("#include \"")?.split('"').next())
}
