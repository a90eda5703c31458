//! Puts a hash of everything that makes a summary into `ANALYSIS`, so that no change of a statistic
//! leaves figures of an older one in force.
#![allow(clippy::unwrap_used, reason = "a build script may fail by panicking")]

mod sources;

fn main() {
    // The code from a journal to a summary, and the tables it reads: not for development, where a
    // word in a row rebuilds nothing.
    let folders = [
        "crates/stats/src",
        "crates/catalogue/src",
        "crates/journal/src",
        "crates/analysis/src",
        "catalogue",
    ];
    sources::stamp("ANALYSIS", &folders[..if cfg!(debug_assertions) { 4 } else { 5 }]);
}
