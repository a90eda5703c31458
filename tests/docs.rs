//! The documents' `$` lines do what they say.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

#[test]
fn guide() {
    let results = tempfile::tempdir().unwrap();
    trycmd::TestCases::new()
        .env("UNIXMARK_RESULTS", results.path().to_str().unwrap())
        .register_bin("unixmark", std::path::Path::new(env!("CARGO_BIN_EXE_unixmark")))
        .case("docs/guide.md")
        .run();
}
