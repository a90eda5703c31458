//! A run in progress as UnixBench shows it: a line per test, with the numbers of its passes.

use super::print;
use super::progress::Progress;
use runner::Event;

/// The lines of passes; what fails or is skipped is said as ever.
pub(crate) struct Passes {
    /// The subject of the last line.
    line: String,
    messages: Progress,
}

impl Passes {
    pub(super) fn new(messages: Progress) -> Passes {
        Passes { line: String::new(), messages }
    }

    pub(super) fn show(&mut self, event: &Event<'_>) {
        let Event::Begin { cell, block, .. } = event else {
            return self.messages.show(event);
        };
        let line = format!("{} x {}", cell.copies, cell.test.label);
        // That nobody reads it does not matter.
        if self.line != line {
            self.end();
            let _ = print(&format!("\n{line} "));
            self.line = line;
        }
        let _ = print(&format!(" {}", block + 1));
    }

    fn end(&self) {
        if !self.line.is_empty() {
            let _ = print("\n");
        }
    }
}

impl Drop for Passes {
    fn drop(&mut self) {
        self.end();
    }
}
