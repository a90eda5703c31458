// The files of the catalogue that hold tests, in the order of lists and reports: read here and by
// build.rs.

use std::borrow::Cow;
use std::io::Result;

/// A file of the catalogue: its name, and its text, which is part of the binary.
pub type Table = (&'static str, Result<Cow<'static, str>>);

#[cfg(not(debug_assertions))]
macro_rules! table {
    ($file:literal) => {
        ($file, Ok(std::borrow::Cow::Borrowed(include_str!(concat!("../../../catalogue/", $file)))))
    };
}

/// A tool for development reads the repository instead, so that a word in a row rebuilds nothing.
#[cfg(debug_assertions)]
macro_rules! table {
    ($file:literal) => {
        ($file, {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalogue/", $file);
            std::fs::read_to_string(path).map(std::borrow::Cow::Owned)
        })
    };
}

/// The tables of tests.
pub fn tests() -> [Table; 17] {
    [
        table!("tests.toml"),
        table!("cpu.toml"),
        table!("memory.toml"),
        table!("thread.toml"),
        table!("kernel.toml"),
        table!("will-it-scale.toml"),
        table!("calls.toml"),
        table!("lebench.toml"),
        table!("lmbench.toml"),
        table!("file.toml"),
        table!("session.toml"),
        table!("command.toml"),
        table!("2d.toml"),
        table!("3d.toml"),
        table!("interactive.toml"),
        table!("loads.toml"),
        table!("burn.toml"),
    ]
}
