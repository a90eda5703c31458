//! Embeds the entries of the reference collection, in the order of their names.
#![allow(clippy::unwrap_used, reason = "a build script may fail by panicking")]

use std::path::Path;

fn main() {
    let folder = Path::new("../../reference").canonicalize().unwrap();
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let texts: Vec<String> = files.iter().map(|file| format!("include_str!({file:?})")).collect();
    let code = format!("const ENTRIES: [&str; {}] = [{}];\n", texts.len(), texts.join(", "));
    std::fs::write(Path::new(&std::env::var("OUT_DIR").unwrap()).join("reference.rs"), code)
        .unwrap();
}
