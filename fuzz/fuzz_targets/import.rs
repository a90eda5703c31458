//! What another suite printed: imported, and what comes of it written and read.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use catalogue::Catalogue;
use journal::FORMAT;
use libfuzzer_sys::fuzz_target;

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());

fuzz_target!(|bytes: &[u8]| {
    for mut journal in interop::import("file", bytes, &CATALOGUE).unwrap_or_default() {
        FORMAT.clone_into(&mut journal.run.format);
        let line = |record| serde_json::to_string(&record).unwrap() + "\n";
        let lines: String = journal.records().into_iter().map(line).collect();
        journal::parse(lines.as_bytes(), Path::new("import")).unwrap();
    }
});
