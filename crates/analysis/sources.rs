//! A hash of sources, for the build scripts that stamp what was made by them.

use std::fs;
use std::path::{Path, PathBuf};

/// The 64-bit FNV-1a hash (Fowler, Noll & Vo; RFC 9923): it guards against oversight, not against
/// attack.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// Puts a hash of every file in `folders`, which begin at the repository's root, into the
/// environment variable `variable` of the crate that is built.
pub fn stamp(variable: &str, folders: &[&str]) {
    let root = Path::new("../..");
    let mut hash = FNV_OFFSET;
    for folder in folders {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        for path in files(&root.join(folder)) {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().as_bytes();
            let content = fs::read(&path).unwrap();
            // Lengths keep apart what would read the same if joined.
            for bytes in [&name.len().to_le_bytes(), name, &content.len().to_le_bytes(), &content] {
                hash = bytes
                    .iter()
                    .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
            }
        }
    }
    println!("cargo::rustc-env={variable}={hash:016x}");
}

/// Every file below `folder`, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
