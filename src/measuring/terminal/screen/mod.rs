//! `--watch`: a run or a burn-in on the whole terminal.

mod burnin;
mod run;

use std::collections::VecDeque;
use std::io::{IsTerminal, Stderr};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, bail};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Stylize;
use ratatui::text::Line;
use ratatui::widgets::{Gauge, Paragraph};
use ratatui::{Frame, Terminal};

pub(super) use burnin::BurnInScreen;
pub(super) use run::RunScreen;

/// Lines of what went wrong that stay on the screen.
const MESSAGES: usize = 4;

/// The terminal while it is ours; given back when this is dropped.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
    /// Set when a pause has given the terminal back.
    continued: Arc<AtomicBool>,
}

impl Screen {
    /// Returns the terminal that stderr is.
    ///
    /// # Errors
    /// It is not one.
    pub(crate) fn find() -> Result<PathBuf> {
        if !std::io::stderr().is_terminal() {
            bail!("--watch needs a terminal, and stderr is not one; try without it");
        }
        std::fs::read_link("/proc/self/fd/2").context("the terminal has no name; try without --watch")
    }

    /// Takes that terminal.
    ///
    /// # Errors
    /// It cannot be drawn on.
    pub(crate) fn take() -> Result<Screen> {
        let why = "the terminal cannot be drawn on; try without --watch";
        execute!(std::io::stderr(), EnterAlternateScreen).context(why)?;
        let terminal = Terminal::new(CrosstermBackend::new(std::io::stderr())).context(why)?;
        Ok(Screen { terminal, continued: processes::continued()? })
    }

    /// Draws; that the terminal is gone does not matter.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) {
        if self.continued.swap(false, Ordering::Relaxed) {
            let _ = execute!(std::io::stderr(), EnterAlternateScreen);
            let _ = self.terminal.clear();
        }
        let _ = self.terminal.draw(draw);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.terminal.show_cursor();
        let _ = execute!(std::io::stderr(), LeaveAlternateScreen);
    }
}

/// What went wrong last.
#[derive(Default)]
struct Messages(VecDeque<String>);

impl Messages {
    fn add(&mut self, text: String) {
        self.0.push_back(text);
        if self.0.len() > MESSAGES {
            self.0.pop_front();
        }
    }

    /// Lines that they take.
    fn height(&self) -> u16 {
        u16::try_from(self.0.len()).unwrap_or(0)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect) {
        let lines: Vec<Line<'_>> = self.0.iter().map(|text| Line::from(text.as_str()).red()).collect();
        frame.render_widget(Paragraph::new(lines), area);
    }
}

/// Two lines: a title, and how much is done.
fn heading(frame: &mut Frame<'_>, area: Rect, title: &str, done: f64, left: String) {
    let [head, bar] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(area);
    frame.render_widget(Line::from(title).bold(), head);
    frame.render_widget(Gauge::default().ratio(done.clamp(0.0, 1.0)).label(left).use_unicode(true), bar);
}
