//! The programs of the catalogue, as compilers build them.

use std::path::PathBuf;

use catalogue::Test;
use testing::compiled::{Build, MEASURED, PLAIN, UNIXBENCH};

/// Returns the program of a test, compiled without a warning.
pub fn program(build: Build, test: &Test) -> PathBuf {
    let units: Vec<String> = test.units().collect();
    build.program(test.binary(), &units, &test.define).unwrap_or_else(|why| panic!("{why}"))
}

/// Returns the program of a test as it is measured.
pub fn measured(test: &Test) -> PathBuf {
    program(MEASURED, test)
}

/// Returns the builds whose programs are run: as they are measured; where all must run, by both
/// compilers with other flags too.
pub fn builds() -> Vec<Build> {
    if !testing::all_must_run() {
        return vec![MEASURED];
    }
    let compilers = ["gcc", "clang"].into_iter().filter(|cc| testing::has(cc));
    compilers.flat_map(|cc| [UNIXBENCH, PLAIN].map(|flags| Build { cc, flags })).collect()
}
