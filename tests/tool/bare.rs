//! The tool where nothing else is: `make dist` does the same with the static one.

use std::process::Command;

use testing::{stderr, stdout};

#[test]
fn it_measures_in_an_empty_root() {
    let _machine = testing::Machine::shared();
    let script = testing::file("tests/bare.sh");
    let output =
        Command::new("sh").arg(script).arg(env!("CARGO_BIN_EXE_unixmark")).arg(testing::file("")).output().unwrap();
    // Where it may make no root of its own it says so.
    match output.status.code() {
        Some(77) => testing::skip(&stdout(&output)),
        code => assert_eq!(code, Some(0), "{}{}", stdout(&output), stderr(&output)),
    }
}
