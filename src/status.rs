//! How a command ends: its exit code.

use std::fmt;
use std::process::ExitCode;

/// How a command ended, other than by an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// All is well.
    Fine,
    /// It was measured, but something failed.
    Failed,
    /// Nothing could be measured.
    Nothing,
    /// A signal ended it.
    Signal(i32),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        match status {
            Status::Fine => ExitCode::SUCCESS,
            Status::Failed => ExitCode::from(1),
            Status::Nothing => ExitCode::from(3),
            // Shells report a death by signal N as 128 + N.
            Status::Signal(number) => ExitCode::from(u8::try_from(128 + number).unwrap_or(u8::MAX)),
        }
    }
}

/// An error of usage rather than of measuring: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(anyhow::Error);

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
