//! The end of a command: its exit code.

use std::fmt;
use std::process::ExitCode;

/// The meaning of exit codes, for help and manual.
pub(crate) const CODES: [(&str, &str); 9] = [
    ("0", "Fine"),
    (
        "1",
        "Measured, but something failed, was flagged or regressed; with `--strict` also if a test was skipped. `doctor`: \
         something will spoil a run. `fleet status` and `collect`: a node has not delivered. `bisect`: the commit is less \
         than 99 % certain",
    ),
    ("2", "Wrong usage: an option, a test, a run or a directory that does not exist"),
    ("3", "Could not measure, or could not do what was asked"),
    (
        "4",
        "With `--strict-gate`: the loss that `--fail-on` looks for is neither shown nor ruled out",
    ),
    ("any", "With `quiet`: that of the command"),
    ("125", "With `ab --bisect`: undecided, so that `git bisect` skips the commit"),
    ("255", "With `ab --bisect`: wrong usage, or could not measure, which ends `git bisect run`"),
    ("128 + N", "Ended by signal N; 130 is Ctrl-C. What was measured until then is kept"),
];

/// The end of a command, other than by an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is well.
    Fine,
    /// It was measured, but something failed.
    Failed,
    /// Nothing could be measured.
    Nothing,
    /// A gate cannot tell.
    Unseen,
    /// It was measured, but what `git bisect run` asks is not decided.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only what measures is asked this")
    )]
    Undecided,
    /// As a command of the user's ended.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only what measures runs commands")
    )]
    Own(u8),
    /// A signal ended it.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "only what measures waits for signals")
    )]
    Signal(i32),
}

impl Status {
    /// The exit code.
    pub(crate) fn code(self) -> u8 {
        match self {
            Status::Fine => 0,
            Status::Failed => 1,
            Status::Nothing => 3,
            Status::Unseen => 4,
            Status::Own(code) => code,
            // git skips the revision.
            Status::Undecided => 125,
            // Shells report a death by signal N as 128 + N.
            Status::Signal(number) => u8::try_from(128 + number).unwrap_or(u8::MAX),
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(status.code())
    }
}

/// An error of usage rather than of measuring: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(anyhow::Error);

impl Usage {
    pub(crate) fn cause(&self) -> &anyhow::Error {
        &self.0
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#}", self.0)
    }
}

impl std::error::Error for Usage {}

/// Marks an error as wrong usage.
pub(crate) fn usage(error: anyhow::Error) -> anyhow::Error {
    Usage(error).into()
}
