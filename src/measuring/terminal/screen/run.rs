//! A run on the whole terminal: what is measured now, every sample as it comes, what is left.

use std::time::{Duration, Instant};

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Row, Table, TableState};

use super::{Messages, heading};
use catalogue::NONE;
use journal::{Cell, Reading, Trial};
use machine::{Machine, Sensors};
use plan::Plan;
use runner::{Event, journal_cell};
use stats::Estimate;
use words::clock;

/// How many samples are drawn.
const LAST: usize = 12;

/// The bars that a sample is drawn with, from the smallest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// What is known of a run so far.
pub(crate) struct RunScreen {
    title: String,
    lines: Vec<Measured>,
    now: Option<usize>,
    command: String,
    block: u32,
    left: Duration,
    done: f64,
    began: Instant,
    messages: Messages,
    sensors: Sensors,
    reading: String,
}

/// One cell and its trials.
struct Measured {
    cell: Cell,
    trials: Vec<Trial>,
    /// The score after each trial, and of all.
    scores: Vec<f64>,
    score: Estimate,
}

impl RunScreen {
    /// Begins to watch the run `title` of `plan`.
    pub(crate) fn new(title: &str, plan: &Plan, machine: &Machine) -> RunScreen {
        let cells = plan.cells.iter().enumerate().map(|(id, cell)| journal_cell(id, cell));
        RunScreen {
            title: title.to_owned(),
            lines: cells.map(Measured::new).collect(),
            now: None,
            command: String::new(),
            block: 0,
            left: plan.duration().1,
            done: 0.0,
            began: Instant::now(),
            messages: Messages::default(),
            sensors: Sensors::find(machine),
            reading: String::new(),
        }
    }

    /// Takes in what happened.
    pub(crate) fn update(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { number, block, command, left, done, .. } => {
                if *block != self.block {
                    self.judge();
                }
                (self.now, self.block, self.left, self.done) = (Some(*number), *block, *left, *done);
                self.command.clone_from(command);
            }
            Event::Ended { cell, trial } => {
                self.lines[trial.cell].add(trial);
                if let Some(reason) = trial.error.as_ref().or(trial.skip.as_ref()) {
                    let kind = if trial.error.is_some() { "error" } else { "skipped" };
                    self.messages.add(format!("{kind}: {} x {}: {reason}", cell.copies, cell.test.label));
                }
                self.reading = shown(&self.sensors.read(self.began.elapsed().as_secs_f64()));
            }
        }
    }

    /// Judges the trials so far as the report will, with the drift that all of them show.
    fn judge(&mut self) {
        let found = analysis::estimates(self.lines.iter().map(|line| (&line.cell, &line.trials[..])));
        for line in &mut self.lines {
            line.score = found.get(&line.cell.id).copied().unwrap_or(line.score);
        }
    }

    /// Draws the whole screen.
    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        let parts = Layout::vertical([
            Constraint::Length(2),
            Constraint::Length(1),
            Constraint::Min(3),
            Constraint::Length(self.messages.height()),
            Constraint::Length(1),
        ]);
        let [head, now, table, notes, foot] = parts.areas(frame.area());
        let left = format!("{:.0} %, at most {} left", self.done * 100.0, clock(self.left));
        heading(frame, head, &format!("{}  {}", self.title, clock(self.began.elapsed())), self.done, left);
        frame.render_widget(self.running(), now);
        self.table(frame, table);
        self.messages.draw(frame, notes);
        frame.render_widget(Line::from(self.reading.as_str()).dim(), foot);
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
        let loads = self.lines.iter().map(|line| line.cell.key.load.as_str()).filter(|load| *load != NONE);
        // No column for loads if there is none.
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
        let alone = analysis::estimate(&self.cell, std::slice::from_ref(trial));
        if self.trials.is_empty() {
            self.score = alone;
        }
        self.trials.push(trial.clone());
        self.scores.push(alone.value);
    }

    fn row(&self) -> Row<'_> {
        let (value, half) = if self.trials.is_empty() {
            (String::new(), String::new())
        } else {
            (words::figure(self.score.value), words::plus_minus(self.score.spread()))
        };
        Row::new([
            self.cell.label.clone(),
            format!("{:>6}", self.cell.key.copies),
            if self.cell.key.load == NONE { String::new() } else { self.cell.key.load.clone() },
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

/// What the machine's sensors read now, in a line.
fn shown(reading: &Reading) -> String {
    let clocks: Vec<f64> = reading.frequency.iter().map(|(_, mhz)| *mhz).collect();
    let mean = stats::mean(&clocks);
    let parts = [
        reading.hottest(None).map(|(name, celsius)| format!("{name} {celsius:.0} °C")),
        (!clocks.is_empty()).then(|| format!("{mean:.0} MHz")),
        reading.power.iter().next().map(|(name, watts)| format!("{name} {watts:.0} W")),
        reading.steal.map(|steal| format!("steal {steal:.1} %")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;
    use catalogue::{Catalogue, Condition};
    use journal::Copy;
    use journal::Topology;
    use plan::Request;

    fn plan() -> Plan {
        let catalogue = Catalogue::load().unwrap();
        let request = Request {
            tests: catalogue.expand(&["pipe".to_owned(), "syscall".to_owned()]).unwrap(),
            copies: vec![1, 2],
            loads: vec![None],
            conditions: vec![Condition::none()],
            seed: 1,
            ..Request::default()
        };
        Plan::new(request, &catalogue, &Topology::default()).unwrap()
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
        let mut watch = RunScreen::new("vm-2026-11-21-01", &plan, &machine);
        let begin = |block: u32| {
            let (left, command) = (Duration::from_secs(42), "pipe".to_owned());
            Event::Begin { cell: &plan.cells[0], number: 0, block, command, left, done: 0.3 }
        };
        watch.update(&begin(1));
        for count in [200_000, 210_000, 100_000] {
            watch.update(&Event::Ended { cell: &plan.cells[0], trial: &trial(0, count) });
        }
        let failed = Trial { cell: 1, error: Some("it crashed".to_owned()), ..Trial::default() };
        watch.update(&Event::Ended { cell: &plan.cells[1], trial: &failed });
        watch.update(&begin(2));
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
