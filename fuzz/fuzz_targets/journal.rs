//! A journal: read, and reported if it can be read.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use analysis::Results;
use catalogue::Catalogue;
use libfuzzer_sys::fuzz_target;
use report::{Format, Subject};

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());

fuzz_target!(|bytes: &[u8]| {
    if let Ok(journal) = journal::parse(bytes, Path::new("journal")) {
        let results = Results::new(&journal, &CATALOGUE, None);
        for format in [Format::Text, Format::Html, Format::Json] {
            report::render(Subject::Run(&results), format).unwrap();
        }
    }
});
