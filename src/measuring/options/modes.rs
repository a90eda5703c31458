//! The kind of a test's copies: processes, or threads of one program.

use std::sync::Arc;

use anyhow::{Result, bail};

use catalogue::{Copies, Test};

/// A refusal names at most this many tests.
const MAX_NAMED_TESTS: usize = 5;

/// The option of the verbs that measure several copies.
#[derive(Debug, clap::Args)]
pub(crate) struct ModeOption {
    /// What copies are: processes, threads of one program that share all, or both next to each
    /// other [default: what a test has first: `unixmark list tests`]
    #[arg(long = "as", value_enum, value_name = "processes|threads|both")]
    mode: Option<Mode>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
#[value(rename_all = "lower")]
enum Mode {
    Processes,
    Threads,
    Both,
}

impl ModeOption {
    /// The tests with copies of the kind that is asked for; with both kinds, each test in
    /// every way it can run.
    ///
    /// # Errors
    /// A test cannot run that way, or none can run both ways.
    pub(crate) fn apply(&self, tests: Vec<Arc<Test>>) -> Result<Vec<Arc<Test>>> {
        match self.mode {
            None => Ok(tests),
            Some(Mode::Processes) => with_copies(&tests, Copies::Processes, "processes"),
            Some(Mode::Threads) => with_copies(&tests, Copies::Threads, "threads"),
            Some(Mode::Both) => with_both_kinds(&tests),
        }
    }
}

fn with_copies(tests: &[Arc<Test>], mode: Copies, word: &str) -> Result<Vec<Arc<Test>>> {
    let unable: Vec<&str> =
        tests.iter().filter(|test| !test.can_be(mode)).map(|test| test.id.as_str()).collect();
    match unable[..] {
        [] => tests.iter().map(|test| test.as_copies(mode)).collect(),
        [test] => bail!(
            "{test} cannot run as {word}; leave it out, or --as both measures each test in every way it can run"
        ),
        _ => bail!(
            "{} cannot run as {word}; leave them out (GROUP_{word} names those of a group that can), or --as both measures \
             each test in every way it can run",
            words::listed(&unable, MAX_NAMED_TESTS)
        ),
    }
}

/// True if a test can run as processes and as threads.
fn can_be_both(test: &Test) -> bool {
    test.can_be(Copies::Processes) && test.can_be(Copies::Threads)
}

fn with_both_kinds(tests: &[Arc<Test>]) -> Result<Vec<Arc<Test>>> {
    if !tests.iter().any(|test| can_be_both(test)) {
        bail!(
            "none of these tests can run both as processes and as threads; try one of `unixmark list tests will-it-scale`"
        );
    }

    let mut variants = Vec::new();
    for test in tests {
        if can_be_both(test) {
            variants.push(test.as_copies(Copies::Processes)?);
            variants.push(test.as_copies(Copies::Threads)?);
        } else {
            variants.push(Arc::clone(test));
        }
    }
    Ok(variants)
}
