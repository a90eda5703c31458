//! A run on the whole terminal: what is measured now, every sample as it comes, what is left.

use std::time::{Duration, Instant};

use super::{Line, Messages, Size, arrange, heading};
use catalogue::NONE;
use journal::{Cell, Reading, Trial};
use machine::{Machine, Sensors};
use plan::Plan;
use runner::{Event, journal_cell};
use stats::Estimate;
use words::clock;

/// The number of samples that are drawn.
const LAST: usize = 12;

/// The bars that a sample is drawn with, from the smallest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The screen of a run.
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
            Event::Counting { cell } => self.command = format!("counting what {} does", cell.test.label),
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
    pub(crate) fn draw(&self, size: Size) -> Vec<Line> {
        let left = format!("{:.0} %, at most {} left", self.done * 100.0, clock(self.left));
        let title = format!("{}  {}", self.title, clock(self.began.elapsed()));
        let mut head = heading(&title, self.done, &left);
        head.push(self.running());
        let mut foot = self.messages.lines();
        foot.push(Line::dim(self.reading.as_str()));
        arrange(size.rows, head, |rows| self.table(size.columns, rows), foot)
    }

    fn running(&self) -> Line {
        match self.now {
            Some(_) => Line::plain(format!("block {}  {}", self.block + 1, self.command)),
            None => Line::plain("preparing"),
        }
    }

    /// Returns the table in as many rows; the one that is measured stays in sight.
    fn table(&self, columns: usize, rows: usize) -> Vec<Line> {
        let loads = self.lines.iter().map(|line| line.cell.key.load.as_str()).filter(|load| *load != NONE);
        // No column for loads if there is none.
        let load = loads.map(|load| load.len().clamp(4, 14)).max();
        let room = rows.saturating_sub(1);
        let skipped = self.now.map_or(0, |now| (now + 1).saturating_sub(room));
        let head = ["Test", "Copies", "Load", "Score", "Unit", "±", "Trials"].map(str::to_owned);
        let shown = self.lines.iter().enumerate().skip(skipped).take(room).map(|(number, line)| {
            let text = laid_out(&line.row(), columns, load);
            if self.now == Some(number) { Line::reversed(text) } else { Line::plain(text) }
        });
        std::iter::once(Line::bold(laid_out(&head, columns, load))).chain(shown).collect()
    }
}

/// Returns the fields of a row side by side; the first gets the columns that the others leave.
fn laid_out(fields: &[String; 7], columns: usize, load: Option<usize>) -> String {
    let widths = [6, load.unwrap_or(0), 10, 7, 6, LAST];
    let others: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 1).sum();
    let first = columns.saturating_sub(others).max(20);
    let all = std::iter::once(first).chain(widths);
    let shown = fields.iter().zip(all).filter(|(_, width)| *width > 0);
    let cut = |(field, width): (&String, usize)| format!("{:<width$}", field.chars().take(width).collect::<String>());
    shown.map(cut).collect::<Vec<String>>().join(" ")
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

/// Returns a bar for each of the last samples.
fn bars(samples: &[f64]) -> String {
    let last = &samples[samples.len().saturating_sub(LAST)..];
    let (low, high) =
        last.iter().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(*value), high.max(*value)));
    // Bars begin at half of the smallest sample, so that noise of 1 % is not drawn as a cliff.
    let floor = low / 2.0;
    let place = |value: &f64| ((value - floor) / (high - floor).max(f64::MIN_POSITIVE) * 7.0).round().clamp(0.0, 7.0);
    last.iter().map(|value| BARS[place(value) as usize]).collect()
}

/// Returns the sensors' readings in a line.
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
        assert!(small[4].text.starts_with("Pipe Throughput"), "the one that is measured: {small:?}");
    }

    #[test]
    fn noise_is_no_cliff() {
        assert!(bars(&[100.0, 99.0]).ends_with(['▇', '█']));
        assert_eq!(bars(&[1.0, 100.0]), "▁█");
        assert_eq!(bars(&[]), "");
    }
}
