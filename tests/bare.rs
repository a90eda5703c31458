//! The tool where nothing else is: `make dist` does the same with the static one.
#![cfg(test)]

mod common;

use std::path::Path;
use std::process::Command;

use common::{stderr, stdout};

#[test]
fn it_measures_in_an_empty_root() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bare.sh");
    let output = Command::new("sh").arg(script).arg(env!("CARGO_BIN_EXE_unixmark")).output().unwrap();
    // Where it may make no root of its own it says so.
    match output.status.code() {
        Some(77) => testing::skip(&stdout(&output)),
        code => assert_eq!(code, Some(0), "{}{}", stdout(&output), stderr(&output)),
    }
}
