//! Results on stdout and messages on stderr. Nothing else in the tool prints (ARCHITECTURE.md has
//! the exceptions): a stranger's file may hold codes that move a terminal's cursor, or lines that
//! look like commands to a CI.

use std::io::Write;

use ::report::{Format, Layout};
use anyhow::{Error, Result};
use serde::Serialize;
use terminal_size::terminal_size_of;

/// Prints a result to stdout as it is: what a program reads, or a report, in which texts are
/// harmless.
///
/// # Errors
/// Stdout is closed, or its disk is full.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Prints a result in words to stdout, in ASCII where the terminal has nothing else. Part of it may
/// be what others wrote.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_words(text: &str) -> Result<()> {
    print(&words::log_lines(&shown(text)))
}

/// Prints a result in JSON to stdout. Part of it may be what others wrote.
///
/// # Errors
/// As [`print`].
pub(crate) fn print_json(value: &impl Serialize) -> Result<()> {
    print(&(words::json_text(&serde_json::to_string_pretty(value)?) + "\n"))
}

/// True if the locale is of UTF-8. Without a locale it is assumed to be.
fn is_utf8() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|locale| !locale.is_empty())
        .unwrap_or_default()
        .to_lowercase();
    locale.is_empty() || locale.contains("utf-8") || locale.contains("utf8")
}

/// The layout of a report as the terminal can show it.
pub(crate) fn layout(format: Format) -> Layout {
    Layout { room: columns(), ascii: !is_utf8(), ..Layout::from(format) }
}

/// The columns of text on stdout: 80, or fewer where the terminal or `COLUMNS` has fewer.
pub(crate) fn columns() -> usize {
    /// Fewer do not make a page.
    const MIN_COLUMNS: usize = 40;
    let by_variable: Option<usize> =
        std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = by_variable.or_else(|| {
        let (columns, _) = terminal_size_of(std::io::stdout())?;
        Some(usize::from(columns.0))
    });
    columns.map_or(words::WIDTH, |columns| columns.clamp(MIN_COLUMNS, words::WIDTH))
}

/// A text as the terminal can show it.
pub(crate) fn shown(text: &str) -> String {
    if is_utf8() { text.to_owned() } else { words::ascii(text) }
}

/// Prints a message to stderr; that this is closed does not matter. Part of it may be what others
/// wrote: lines after the first are indented, so that none looks like another message. A message
/// may begin with an empty line.
pub(crate) fn say(message: &str) {
    let text = message.trim_start_matches('\n');
    let blank = &message[..message.len() - text.len()];
    say_lines(&format!("{blank}{}", text.replace('\n', "\n  ")));
}

/// Prints what went wrong, after the name of what could not do its work.
pub(crate) fn say_error(name: &str, error: &Error) {
    say(&format!("{name}: {error:#}"));
}

/// Prints lines to stderr as they are laid out; that this is closed does not matter.
pub(crate) fn say_lines(text: &str) {
    let _ = write_lines(text);
}

/// Prints lines to stderr that a program waits for.
///
/// # Errors
/// Stderr is closed.
pub(crate) fn write_lines(text: &str) -> std::io::Result<()> {
    writeln!(std::io::stderr(), "{}", words::log_lines(&shown(text)))
}
