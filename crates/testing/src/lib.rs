//! What the tests of several crates share.
#![allow(clippy::unwrap_used, reason = "only tests use it")]

pub mod page;
mod skip;

use std::path::{Path, PathBuf};

pub use skip::{all_must_run, has, is_root, skip};

/// The path of a file of the repository.
pub fn file(path: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    folder.ancestors().nth(2).unwrap_or(folder).join(path)
}

/// The directory of a recorded run.
pub fn recorded(run: &str) -> PathBuf {
    file("tests/runs").join(run)
}
