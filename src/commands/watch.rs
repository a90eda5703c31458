//! `--watch`: a run on the whole terminal. Like every display it is drawn between trials only: nothing is while a window is
//! open.

use std::collections::VecDeque;
use std::io::{IsTerminal, Stderr};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Gauge, Paragraph, Row, Table, TableState};
use ratatui::{Frame, Terminal};

use crate::analysis;
use crate::catalogue::NONE;
use crate::journal::{Cell, Trial};
use crate::machine::Machine;
use crate::plan::{Plan, clock};
use crate::runner::{Event, journal_cell};
use crate::stats::Estimate;

/// Lines of what went wrong that stay on the screen.
const MESSAGES: usize = 3;

/// As many samples are drawn.
const LAST: usize = 12;

/// The bars that a sample is drawn with, from the smallest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The terminal while it is ours; given back when this goes.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stderr>>,
}

impl Screen {
    /// Returns the terminal that stderr is.
    ///
    /// # Errors
    /// It is none.
    pub(super) fn find() -> Result<PathBuf> {
        if !std::io::stderr().is_terminal() {
            bail!("--watch draws on a terminal, and stderr is none; try without it");
        }
        std::fs::read_link("/proc/self/fd/2").context("the terminal has no name; try without --watch")
    }

    /// Takes that terminal.
    ///
    /// # Errors
    /// It cannot be drawn on.
    pub(super) fn take() -> Result<Screen> {
        let why = "the terminal cannot be drawn on; try without --watch";
        execute!(std::io::stderr(), EnterAlternateScreen).context(why)?;
        Ok(Screen { terminal: Terminal::new(CrosstermBackend::new(std::io::stderr())).context(why)? })
    }

    /// Draws; a terminal that is gone is nobody's loss.
    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) {
        let _ = self.terminal.draw(draw);
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.terminal.show_cursor();
        let _ = execute!(std::io::stderr(), LeaveAlternateScreen);
    }
}

/// What is known of a run so far.
pub(super) struct Watch {
    title: String,
    lines: Vec<Measured>,
    now: Option<usize>,
    command: String,
    block: u32,
    left: Duration,
    done: f64,
    began: Instant,
    messages: VecDeque<String>,
    sensors: String,
}

/// One cell and its trials.
struct Measured {
    cell: Cell,
    trials: Vec<Trial>,
    /// The score after each trial, and of all.
    scores: Vec<f64>,
    score: Estimate,
}

impl Watch {
    /// Begins to watch the run `title` of `plan`.
    pub(super) fn new(title: &str, plan: &Plan) -> Watch {
        let cells = plan.cells.iter().enumerate().map(|(id, cell)| journal_cell(id, cell));
        Watch {
            title: title.to_owned(),
            lines: cells.map(Measured::new).collect(),
            now: None,
            command: String::new(),
            block: 0,
            left: plan.duration().1,
            done: 0.0,
            began: Instant::now(),
            messages: VecDeque::new(),
            sensors: String::new(),
        }
    }

    /// Takes in what happened.
    pub(super) fn see(&mut self, event: &Event<'_>, machine: &Machine) {
        match event {
            Event::Begin { number, block, command, left, done, .. } => {
                (self.now, self.block, self.left, self.done) = (Some(*number), *block, *left, *done);
                self.command.clone_from(command);
            }
            Event::Ended { cell, trial } => {
                self.lines[trial.cell].add(trial);
                if let Some(reason) = trial.error.as_ref().or(trial.skip.as_ref()) {
                    let kind = if trial.error.is_some() { "error" } else { "skipped" };
                    self.messages.push_back(format!("{kind}: {} x {}: {reason}", cell.copies, cell.test.label));
                    if self.messages.len() > MESSAGES {
                        self.messages.pop_front();
                    }
                }
                self.sensors = sensors(machine);
            }
        }
    }

    /// Draws the whole screen.
    pub(super) fn draw(&self, frame: &mut Frame<'_>) {
        let messages = u16::try_from(self.messages.len()).unwrap_or(0);
        let parts = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(messages),
            Constraint::Length(1),
        ]);
        let [head, bar, now, table, notes, foot] = parts.areas(frame.area());
        let elapsed = clock(self.began.elapsed());
        frame.render_widget(
            Line::from(vec![Span::from(self.title.as_str()).bold(), format!("  {elapsed}").into()]),
            head,
        );
        let label = format!("{:.0} %, at most {} left", self.done * 100.0, clock(self.left));
        frame.render_widget(Gauge::default().ratio(self.done.clamp(0.0, 1.0)).label(label).use_unicode(true), bar);
        frame.render_widget(self.running(), now);
        self.table(frame, table);
        let lines: Vec<Line<'_>> = self.messages.iter().map(|text| Line::from(text.as_str()).red()).collect();
        frame.render_widget(Paragraph::new(lines), notes);
        frame.render_widget(Line::from(self.sensors.as_str()).dim(), foot);
    }

    fn running(&self) -> Line<'_> {
        match self.now {
            Some(_) => Line::from(format!("block {}  {}", self.block + 1, self.command)),
            None => Line::from("preparing"),
        }
    }

    fn table(&self, frame: &mut Frame<'_>, area: Rect) {
        let rows = self.lines.iter().enumerate().map(|(number, line)| {
            let row = line.row();
            if self.now == Some(number) { row.style(Style::new().reversed()) } else { row }
        });
        let loads = self.lines.iter().map(|line| line.cell.load.as_str()).filter(|load| *load != NONE);
        // No column for loads where there is none.
        let load = loads.map(|load| load.len().clamp(4, 14)).max().unwrap_or(0);
        let lengths = [6, load, 10, 7, 6, LAST];
        let lengths = lengths.map(|length| Constraint::Length(u16::try_from(length).unwrap_or(0)));
        let widths = std::iter::once(Constraint::Min(20)).chain(lengths);
        let head = Row::new(["Test", "Copies", "Load", "Score", "Unit", "±", "Trials"]).bold();
        // The row that is measured stays in sight.
        let mut state = TableState::default().with_selected(self.now);
        frame.render_stateful_widget(Table::new(rows, widths).header(head), area, &mut state);
    }
}

impl Measured {
    fn new(cell: Cell) -> Measured {
        Measured { cell, trials: Vec::new(), scores: Vec::new(), score: Estimate::alone(f64::NAN) }
    }

    fn add(&mut self, trial: &Trial) {
        if trial.copies.is_empty() {
            return;
        }
        self.trials.push(trial.clone());
        self.scores.push(analysis::estimate(&self.cell, std::slice::from_ref(trial)).value);
        self.score = analysis::estimate(&self.cell, &self.trials);
    }

    fn row(&self) -> Row<'_> {
        let (value, half) = if self.trials.is_empty() {
            (String::new(), String::new())
        } else {
            (crate::report::figure(self.score.value), crate::report::plus_minus(&self.score))
        };
        Row::new([
            self.cell.label.clone(),
            format!("{:>6}", self.cell.copies),
            if self.cell.load == NONE { String::new() } else { self.cell.load.clone() },
            format!("{value:>10}"),
            self.cell.unit.clone(),
            half,
            bars(&self.scores),
        ])
    }
}

/// A bar per sample, the last of them, from the smallest to the largest.
fn bars(samples: &[f64]) -> String {
    let last = &samples[samples.len().saturating_sub(LAST)..];
    let (low, high) =
        last.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    // Bars begin at nothing where samples differ by much, so that noise of 1 % is not drawn as a cliff.
    let floor = low - 0.5 * low;
    let place = |value: &f64| ((value - floor) / (high - floor).max(f64::MIN_POSITIVE) * 7.0).round().clamp(0.0, 7.0);
    last.iter().map(|value| BARS[place(value) as usize]).collect()
}

/// What the machine's own instruments say now, in a line.
fn sensors(machine: &Machine) -> String {
    machine.read("/proc/loadavg").map(|load| format!("load {load}")).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use ratatui::backend::TestBackend;

    use super::*;
    use crate::catalogue::Catalogue;
    use crate::journal::Copy;
    use crate::plan::{Kind, Procedure, Request};

    fn plan() -> Plan {
        let catalogue = Catalogue::load().unwrap();
        let request = Request {
            tests: catalogue.expand(&["pipe".to_owned(), "syscall".to_owned()]).unwrap(),
            copies: vec![1, 2],
            loads: vec![None],
            conditions: vec![NONE.to_owned()],
            procedure: Procedure::new(Kind::Standard, None, None, None),
            seed: 1,
            test_args: Vec::new(),
            load_args: Vec::new(),
            load_number: None,
            load_weight: None,
            pin: Vec::new(),
        };
        Plan::new(&request, &catalogue).unwrap()
    }

    fn trial(cell: usize, count: u64) -> Trial {
        let slice = |number: u64| (number * 200_000_000, (number + 1) * 200_000_000, count);
        Trial {
            cell,
            copies: vec![Copy { slices: (0..5).map(slice).collect(), ..Copy::default() }],
            ..Trial::default()
        }
    }

    #[test]
    fn a_run_at_80_columns() {
        let plan = plan();
        let machine = Machine::at("/nonexistent");
        let mut watch = Watch::new("vm-2026-11-21-01", &plan);
        let (left, command) = (Duration::from_secs(42), "pipe".to_owned());
        watch.see(&Event::Begin { cell: &plan.cells[0], number: 0, block: 2, command, left, done: 0.3 }, &machine);
        for count in [200_000, 210_000, 100_000] {
            watch.see(&Event::Ended { cell: &plan.cells[0], trial: &trial(0, count) }, &machine);
        }
        let failed = Trial { cell: 1, error: Some("it crashed".to_owned()), ..Trial::default() };
        watch.see(&Event::Ended { cell: &plan.cells[1], trial: &failed }, &machine);
        let mut terminal = Terminal::new(TestBackend::new(80, 12)).unwrap();
        terminal.draw(|frame| watch.draw(frame)).unwrap();
        insta::assert_snapshot!(terminal.backend().to_string());
    }

    #[test]
    fn noise_is_no_cliff() {
        assert!(bars(&[100.0, 99.0]).ends_with(['▇', '█']));
        assert_eq!(bars(&[1.0, 100.0]), "▁█");
        assert_eq!(bars(&[]), "");
    }
}
