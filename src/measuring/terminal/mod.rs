//! The progress of a run on stderr.

mod burnin;
mod display;
mod passes;
mod progress;
mod screen;
mod status_line;

use crate::terminal::{print, say, shown};

pub(crate) use burnin::BurnInDisplay;
pub(crate) use display::{Form, RunDisplay};
pub(crate) use screen::Screen;
pub(crate) use status_line::StatusLine;

/// What is said while commands are counted and sampled, when all executions are timed.
const COUNTING: &str = "counting what the commands do";
const SAMPLING: &str = "sampling where the commands spend their time";

/// The amount that is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// Nothing but errors.
    Quiet,
    /// A status line on a terminal, a line per block or test elsewhere.
    Normal,
    /// Each trial and its command.
    Verbose,
}

impl Loudness {
    /// Returns how much is printed with the options -q and -v.
    pub(crate) fn new(quiet: bool, verbose: bool) -> Loudness {
        match (quiet, verbose) {
            (true, _) => Loudness::Quiet,
            (_, true) => Loudness::Verbose,
            _ => Loudness::Normal,
        }
    }
}
