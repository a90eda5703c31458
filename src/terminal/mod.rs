//! What a person sees: results on stdout, messages on stderr, and the progress of a run.

mod burnin;
mod progress;
mod screen;
mod status_line;

use std::io::Write;

use anyhow::Result;

pub(crate) use burnin::BurnInDisplay;
pub(crate) use progress::RunDisplay;
pub(crate) use screen::Screen;
use status_line::StatusLine;

/// How much is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loudness {
    /// Nothing but errors.
    Quiet,
    /// A status line on a terminal, a line per block or test elsewhere.
    Normal,
    /// Each trial and its command.
    Verbose,
}

/// Prints a result to stdout.
///
/// # Errors
/// Stdout is closed, or its disk is full.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a message to stderr; that this is closed does not matter. Part of it may be what others wrote.
pub(crate) fn say(text: &str) {
    for line in text.split('\n') {
        let _ = writeln!(std::io::stderr(), "{}", words::visible(line));
    }
}
