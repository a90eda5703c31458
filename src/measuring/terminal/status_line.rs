//! Lines at the bottom of a terminal that are rewritten in place.

use std::io::{IsTerminal, Write};

use terminal_size::terminal_size_of;

use super::say;

/// Columns if the terminal does not report its size.
const COLUMNS: usize = 80;

/// Clears from the cursor to the end of the screen.
const CLEAR: &str = "\r\x1b[J";

/// The lines; they are gone when this is dropped.
#[derive(Default)]
pub(crate) struct StatusLine {
    lines: Vec<String>,
}

impl StatusLine {
    /// Returns one for stderr; `None` if nothing can be drawn there.
    pub fn new() -> Option<StatusLine> {
        can_draw().then(StatusLine::default)
    }

    /// Shows these lines instead of the last ones.
    pub fn set(&mut self, lines: Vec<String>) {
        let columns = terminal_size_of(std::io::stderr())
            .map_or(COLUMNS, |(columns, _)| usize::from(columns.0));
        let erase = self.erase();
        // A line that the terminal breaks would leave its rest behind.
        self.lines = lines
            .iter()
            .map(|line| {
                super::shown(&words::visible(line))
                    .chars()
                    .take(columns.saturating_sub(1))
                    .collect()
            })
            .collect();
        write(&(erase + &self.lines.join("\n")));
    }

    /// Prints a message above the lines.
    pub fn say(&mut self, text: &str) {
        write(&self.erase());
        say(text);
        write(&self.lines.join("\n"));
    }

    /// Returns the sequence that takes the cursor back to where the lines begin, and clears them.
    fn erase(&self) -> String {
        match self.lines.len() {
            0 | 1 => CLEAR.to_owned(),
            lines => format!("\x1b[{}A{CLEAR}", lines - 1),
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        write(&self.erase());
    }
}

/// Returns true if stderr is a terminal that knows escape codes.
pub(super) fn can_draw() -> bool {
    let is_smart = std::env::var_os("TERM").is_some_and(|name| !name.is_empty() && name != "dumb");
    is_smart && std::io::stderr().is_terminal()
}

/// A terminal that is gone does not matter.
pub(super) fn write(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
}

/// Returns a bar of `width` columns, filled to a share of 0 to 1.
pub(super) fn bar(share: f64, width: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
    "█".repeat(full) + &"░".repeat(width - full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_lines_are_erased_as_there_were() {
        let line = |lines: &[&str]| StatusLine {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        };
        assert_eq!(line(&["a", "b", "c"]).erase(), "\x1b[2A\r\x1b[J");
        assert_eq!((line(&["a"]).erase(), line(&[]).erase()), (CLEAR.to_owned(), CLEAR.to_owned()));
    }

    #[test]
    fn bars() {
        assert_eq!([bar(0.0, 4), bar(0.5, 4), bar(2.0, 4)], ["░░░░", "██░░", "████"]);
    }
}
