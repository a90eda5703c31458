//! A run on the whole terminal: what is measured now, every sample as it comes, what is left.

use std::time::{Duration, Instant};

use super::{Line, Messages, Size, arrange, heading};
use crate::measuring::terminal::{COUNTING, SAMPLING};
use catalogue::NONE;
use journal::{Cell, Reading, Trial};
use machine::{Machine, Sensors};
use plan::Plan;
use runner::{Event, journal_cell};
use stats::Estimate;
use words::clock;

/// The number of samples that are drawn, the last ones.
const MAX_BARS: usize = 12;

/// Columns of the names of loads.
const LOAD_COLUMNS: std::ops::RangeInclusive<usize> = 4..=14;

/// The fewest columns of a test's name, and those of the other fields; the load's are counted.
const MIN_TEST_COLUMNS: usize = 20;
const COPIES_COLUMNS: usize = 6;
const SCORE_COLUMNS: usize = 10;
const UNIT_COLUMNS: usize = 7;
const HALF_WIDTH_COLUMNS: usize = 6;

/// The bars that a sample is drawn with, from the smallest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The screen of a run.
pub(crate) struct RunScreen {
    title: String,
    lines: Vec<Measured>,
    /// The line that is being measured.
    now: Option<usize>,
    /// The command, or another thing that is being done.
    command: String,
    block: u32,
    left: Duration,
    done: f64,
    start: Instant,
    messages: Messages,
    sensors: Sensors,
    /// The latest reading of the sensors.
    reading: String,
}

/// One cell and its trials.
struct Measured {
    cell: Cell,
    trials: Vec<Trial>,
    /// The score of each trial alone.
    scores: Vec<f64>,
    /// The score of all trials.
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
            start: Instant::now(),
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
                    self.estimate();
                }
                self.now = Some(*number);
                self.block = *block;
                self.left = *left;
                self.done = *done;
                self.command.clone_from(command);
            }
            Event::Building(more) => {
                self.command = format!("making {} of each", words::count(*more, "more build"));
            }
            Event::Counting => COUNTING.clone_into(&mut self.command),
            Event::Sampling => SAMPLING.clone_into(&mut self.command),
            Event::Slow(slow) => {
                self.command = format!("{} (running for {})", slow.command, words::clock(slow.time))
            }
            Event::Ended { cell, trial } => {
                self.lines[trial.cell].add(trial);
                if let Some(reason) = trial.error.as_ref().or(trial.skip.as_ref()) {
                    let kind = if trial.error.is_some() { "error" } else { "skipped" };
                    self.messages
                        .add(format!("{kind}: {} x {}: {reason}", cell.copies, cell.test.label));
                }
                let reading = self.sensors.read(self.start.elapsed().as_secs_f64());
                self.reading = show_reading(&reading);
            }
        }
    }

    /// Estimates the scores by the trials so far as the report will, with the drift that all of
    /// them show.
    fn estimate(&mut self) {
        let scores =
            analysis::estimates(self.lines.iter().map(|line| (&line.cell, &line.trials[..])));
        for line in &mut self.lines {
            line.score = scores.get(&line.cell.id).copied().unwrap_or(line.score);
        }
    }

    /// Draws the whole screen.
    pub(crate) fn draw(&self, size: Size) -> Vec<Line> {
        let left = format!("{:.0} %, at most {} left", self.done * 100.0, clock(self.left));
        let title = format!("{}  {}", self.title, clock(self.start.elapsed()));
        let mut head = heading(&title, self.done, &left);
        head.push(self.activity());
        let mut foot = self.messages.lines();
        foot.push(Line::dim(self.reading.as_str()));
        arrange(size.rows, head, |rows| self.table(size.columns, rows), foot)
    }

    /// The line on what is being done.
    fn activity(&self) -> Line {
        match self.now {
            Some(_) => Line::plain(format!("block {}  {}", self.block + 1, self.command)),
            None => Line::plain("preparing"),
        }
    }

    /// Lays out at most `rows` lines of the table, so that the one that is measured is among them.
    fn table(&self, columns: usize, rows: usize) -> Vec<Line> {
        // There is no column for loads if there is no load.
        let load_columns = self
            .lines
            .iter()
            .map(|line| line.cell.key.load.as_str())
            .filter(|load| *load != NONE)
            .map(|load| load.len().clamp(*LOAD_COLUMNS.start(), *LOAD_COLUMNS.end()))
            .max();
        let widths = field_widths(columns, load_columns.unwrap_or(0));
        let heads = ["Test", "Copies", "Load", "Score", "Unit", "±", "Trials"].map(str::to_owned);
        let mut table = vec![Line::bold(lay_out(&heads, &widths))];

        let room = rows.saturating_sub(1);
        let skipped = self.now.map_or(0, |now| (now + 1).saturating_sub(room));
        for (number, line) in self.lines.iter().enumerate().skip(skipped).take(room) {
            let text = lay_out(&line.row(), &widths);
            let is_measured = self.now == Some(number);
            table.push(if is_measured { Line::reversed(text) } else { Line::plain(text) });
        }
        table
    }
}

/// The columns of each field; the first has those that the others leave.
fn field_widths(columns: usize, load_columns: usize) -> [usize; 7] {
    let others =
        [COPIES_COLUMNS, load_columns, SCORE_COLUMNS, UNIT_COLUMNS, HALF_WIDTH_COLUMNS, MAX_BARS];
    let taken: usize = others.iter().filter(|width| **width > 0).map(|width| width + 1).sum();
    let test_columns = columns.saturating_sub(taken).max(MIN_TEST_COLUMNS);
    let [copies, load, score, unit, half_width, bars] = others;
    [test_columns, copies, load, score, unit, half_width, bars]
}

/// The fields of a row next to each other, each cut to its width; one without columns is left out.
fn lay_out(fields: &[String; 7], widths: &[usize; 7]) -> String {
    let mut cut_fields = Vec::new();
    for (field, width) in fields.iter().zip(widths) {
        if *width > 0 {
            let cut: String = field.chars().take(*width).collect();
            cut_fields.push(format!("{cut:<width$}"));
        }
    }
    cut_fields.join(" ")
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

    fn row(&self) -> [String; 7] {
        let (value, half) = if self.trials.is_empty() {
            (String::new(), String::new())
        } else {
            (words::figure(self.score.value), words::plus_minus(self.score.halves()))
        };
        [
            self.cell.label.clone(),
            format!("{:>6}", self.cell.key.copies),
            if self.cell.key.load == NONE { String::new() } else { self.cell.key.load.clone() },
            format!("{value:>10}"),
            self.cell.unit.clone(),
            half,
            bars(&self.scores),
        ]
    }
}

/// A bar for each of the last samples.
fn bars(samples: &[f64]) -> String {
    let last = &samples[samples.len().saturating_sub(MAX_BARS)..];
    let min = last.iter().copied().fold(f64::INFINITY, f64::min);
    let max = last.iter().copied().fold(0.0, f64::max);

    // Bars begin at half of the smallest sample, so that noise of 1 % is not drawn as a cliff.
    let floor = min / 2.0;
    let span = (max - floor).max(f64::MIN_POSITIVE);
    last.iter()
        .map(|value| BARS[((value - floor) / span * 7.0).round().clamp(0.0, 7.0) as usize])
        .collect()
}

/// The sensors' readings in a line.
fn show_reading(reading: &Reading) -> String {
    let mut parts = Vec::new();
    if let Some((name, celsius)) = reading.hottest(None) {
        parts.push(format!("{name} {celsius:.0} °C"));
    }
    let clocks_mhz: Vec<f64> = reading.frequency.iter().map(|(_, mhz)| *mhz).collect();
    if !clocks_mhz.is_empty() {
        parts.push(format!("{:.0} MHz", stats::mean(&clocks_mhz)));
    }
    if let Some((name, watts)) = reading.power.iter().next() {
        parts.push(format!("{name} {watts:.0} W"));
    }
    if let Some(steal) = reading.steal {
        parts.push(format!("steal {steal:.1} %"));
    }
    parts.join("  ")
}

#[cfg(test)]
mod tests {
    use super::super::plain;
    use super::*;
    use catalogue::Catalogue;
    use journal::Copy;
    use journal::Topology;
    use plan::Matrix;

    fn plan() -> Plan {
        let catalogue = Catalogue::load().unwrap();
        let matrix = Matrix {
            tests: catalogue.expand(&["pipe".to_owned(), "syscall".to_owned()]).unwrap(),
            copies: vec![1, 2],
            seed: 1,
            ..Matrix::default()
        };
        Plan::new(&matrix, &catalogue, &Topology::default()).unwrap()
    }

    fn trial(cell: usize, count: u64) -> Trial {
        let slice = |number: u64| [number * 200_000_000, (number + 1) * 200_000_000, count].into();
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
        insta::assert_snapshot!(plain(&watch.draw(Size { columns: 80, rows: 12 })));
        let small = watch.draw(Size { columns: 80, rows: 7 });
        assert_eq!(small.len(), 7);
        assert!(
            small[4].text.starts_with("Pipe Throughput"),
            "the one that is measured: {small:?}"
        );
    }

    #[test]
    fn noise_is_no_cliff() {
        assert!(bars(&[100.0, 99.0]).ends_with(['▇', '█']));
        assert_eq!(bars(&[1.0, 100.0]), "▁█");
        assert_eq!(bars(&[]), "");
    }
}
