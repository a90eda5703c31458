//! Puts a hash of everything that makes pages into `PAGES`, so that none of an older version stays in a site. What makes the
//! figures is in the summaries' own hash.
#![allow(clippy::unwrap_used, reason = "a build script may fail by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

/// From the repository's root: the code from results to pages.
const FOLDERS: [&str; 3] = ["crates/words/src", "crates/report/src", "crates/site/src"];

fn main() {
    let root = Path::new("../..");
    let mut hash = FNV_OFFSET;
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        for path in files(&root.join(folder)) {
            let content = fs::read(&path).unwrap();
            for bytes in [&content.len().to_le_bytes()[..], &content] {
                hash = bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME));
            }
        }
    }
    println!("cargo::rustc-env=PAGES={hash:016x}");
}

/// The 64-bit FNV-1a hash (Fowler, Noll & Vo; RFC 9923): it guards against oversight, not against attack.
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

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
