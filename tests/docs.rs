//! The documents' `$` lines do what they say.

#![cfg(test)]

use std::os::unix::fs::symlink;
use std::path::Path;

/// In a directory that goes with the test, which is the home of what a user configures and where the guide's reader would have the repository.
#[test]
fn guide() {
    let place = tempfile::tempdir().unwrap();
    for folder in ["docs", "tests"] {
        symlink(testing::file(folder), place.path().join(folder)).unwrap();
    }
    std::env::set_current_dir(place.path()).unwrap();
    trycmd::TestCases::new()
        .env("UNIXMARK_RESULTS", place.path().join("results").to_str().unwrap())
        .env("XDG_CONFIG_HOME", place.path().join(".config").to_str().unwrap())
        .register_bin("unixmark", Path::new(env!("CARGO_BIN_EXE_unixmark")))
        .case("docs/guide.md")
        .run();
}
