//! `--watch`: a run or a burn-in on the whole terminal.

mod burnin;
mod run;

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use terminal_size::terminal_size_of;

use super::status_line::{bar, can_draw, write};

pub(super) use burnin::BurnInScreen;
pub(super) use run::RunScreen;

/// Errors and warnings that stay on the screen, the latest.
const MAX_MESSAGES: usize = 4;

/// Columns of the bar that shows how much is done.
const BAR_WIDTH: usize = 30;

/// Takes the whole terminal, without its cursor.
const TAKE: &str = "\x1b[?1049h\x1b[?25l";

/// Gives the terminal back.
const GIVE_BACK: &str = "\x1b[?25h\x1b[?1049l";

/// The terminal while it is ours; given back when this is dropped.
pub(crate) struct Screen {
    /// Set when a pause has given the terminal back.
    continued: Arc<AtomicBool>,
}

/// The size of the terminal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    columns: usize,
    rows: usize,
}

/// A line of the screen, and how it is shown (ECMA-48, SGR).
#[derive(Debug, Clone)]
pub(crate) struct Line {
    text: String,
    style: &'static str,
}

impl Line {
    fn plain(text: impl Into<String>) -> Line {
        Line { text: text.into(), style: "" }
    }

    fn bold(text: impl Into<String>) -> Line {
        Line { text: text.into(), style: "\x1b[1m" }
    }

    fn dim(text: impl Into<String>) -> Line {
        Line { text: text.into(), style: "\x1b[2m" }
    }

    fn red(text: impl Into<String>) -> Line {
        Line { text: text.into(), style: "\x1b[31m" }
    }

    fn reversed(text: impl Into<String>) -> Line {
        Line { text: text.into(), style: "\x1b[7m" }
    }

    /// The line as it is shown in this many columns: a longer one is cut.
    fn show(&self, columns: usize) -> String {
        let text: String = words::visible(&self.text).chars().take(columns).collect();
        format!("{}{}\x1b[0m\x1b[K", self.style, super::shown(&text))
    }
}

impl Screen {
    /// The path of the terminal that stderr is.
    ///
    /// # Errors
    /// Stderr is no terminal, or none that can be drawn on.
    pub(crate) fn find() -> Result<PathBuf> {
        ensure!(
            std::io::stderr().is_terminal(),
            "--watch needs a terminal, and stderr is not one; try without it"
        );
        ensure!(
            can_draw(),
            "--watch needs a terminal that it can draw on, and TERM names none; try without it"
        );
        std::fs::read_link("/proc/self/fd/2")
            .context("the terminal has no name; try without --watch")
    }

    /// Takes the terminal.
    ///
    /// # Errors
    /// The kernel refuses a signal handler, which notes that a pause has given the terminal back.
    pub(crate) fn take() -> Result<Screen> {
        let continued = processes::continued()?;
        write(TAKE);
        Ok(Screen { continued })
    }

    /// Draws the lines that `draw` returns for the terminal's size; that it is gone does not
    /// matter.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(Size) -> Vec<Line>) {
        let size = terminal_size_of(std::io::stderr()).map_or(
            Size { columns: 80, rows: 24 },
            |(columns, rows)| Size { columns: usize::from(columns.0), rows: usize::from(rows.0) },
        );
        let lines = draw(size);
        let texts: Vec<String> =
            lines.iter().take(size.rows).map(|line| line.show(size.columns)).collect();
        let take_again = if self.continued.swap(false, Ordering::Relaxed) { TAKE } else { "" };
        write(&format!("{take_again}\x1b[H{}\x1b[J", texts.join("\r\n")));
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        write(GIVE_BACK);
    }
}

/// The latest errors and warnings.
#[derive(Default)]
struct Messages(VecDeque<String>);

impl Messages {
    fn add(&mut self, text: String) {
        self.0.push_back(text);
        if self.0.len() > MAX_MESSAGES {
            self.0.pop_front();
        }
    }

    fn lines(&self) -> Vec<Line> {
        self.0.iter().map(|text| Line::red(text.as_str())).collect()
    }
}

/// Two lines: a title, and how much is done.
fn heading(title: &str, done: f64, left: &str) -> Vec<Line> {
    vec![Line::bold(title), Line::plain(format!("{} {left}", bar(done, BAR_WIDTH)))]
}

/// Puts `head` at the top, `foot` at the bottom, and between them the lines that `body` has for the
/// rows that are left.
fn arrange(
    rows: usize,
    head: Vec<Line>,
    body: impl FnOnce(usize) -> Vec<Line>,
    foot: Vec<Line>,
) -> Vec<Line> {
    let room = rows.saturating_sub(head.len() + foot.len());
    let mut body = body(room);
    body.resize(room, Line::plain(""));
    [head, body, foot].concat()
}

/// The lines as a terminal of 80 columns shows them, without styles.
#[cfg(test)]
fn plain(lines: &[Line]) -> String {
    lines
        .iter()
        .map(|line| format!("|{:<80}|\n", line.text.chars().take(80).collect::<String>()))
        .collect()
}
