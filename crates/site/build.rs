//! Puts a hash of everything that makes pages into `PAGES`, so that none of an older version stays
//! in a site. What makes the figures is in the summaries' own hash.
#![allow(clippy::unwrap_used, reason = "a build script may fail by panicking")]

#[path = "../analysis/sources.rs"]
mod sources;

fn main() {
    // The code from results to pages.
    sources::stamp(
        "PAGES",
        &["crates/words/src", "crates/report/src", "crates/site/src", "reference"],
    );
}
