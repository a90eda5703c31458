//! Runs about cost that are made up, on a machine that is.

use analysis::{Cost, Effect, Results, Verdict};
use catalogue::Catalogue;
use journal::{Cell, Copy, End, Ended, Journal, Key, Procedure, Run, Trial, View};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use stats::Estimate;
use testing::normal;

/// A machine as it was measured in facts/audit §6.2: from trial to trial the noise is correlated by
/// 0.8, it drifts, and now and then something else runs, which only slows.
pub struct Machine {
    pub random: Pcg64Mcg,
    /// Standard deviation of the noise, a share.
    pub noise: f64,
    /// Change of the logarithm per trial.
    pub drift: f64,
    /// How often a stall hits a trial.
    pub stalls: f64,
    pub state: f64,
    pub trials: u32,
    /// How much of its noise a trial has of the one before.
    pub kept: f64,
}

/// In which order a block is measured.
#[derive(Clone, Copy)]
pub enum Order {
    /// All cells in one random order.
    Whole,
    /// Test by test, its arms in random order.
    Tests,
}

impl Machine {
    pub fn new(seed: u64, noise: f64) -> Machine {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let drift = 2e-4 * normal(&mut random);
        let state = normal(&mut random);
        Machine { random, noise, drift, stalls: 0.0, state, trials: 0, kept: 0.8 }
    }

    pub fn stalling(self) -> Machine {
        Machine { stalls: 0.1, ..self }
    }

    /// The logarithm of how fast the next trial is.
    pub fn speed(&mut self) -> f64 {
        self.state = self.kept * self.state
            + (1.0 - self.kept * self.kept).sqrt() * normal(&mut self.random);
        self.trials += 1;
        let stall = if self.random.random::<f64>() < self.stalls {
            -0.3 * self.random.random::<f64>()
        } else {
            0.0
        };
        self.noise * self.state + self.drift * f64::from(self.trials) + stall
    }
}

/// A run that is made up.
#[derive(Clone)]
pub struct Made {
    pub journal: Journal,
    /// The control is in every block of this number.
    pub every: u32,
}

pub fn cell(id: usize, test: &str, condition: &str, control: bool) -> Cell {
    Cell {
        id,
        key: Key {
            test: test.to_owned(),
            copies: 1,
            load: "none".to_owned(),
            condition: condition.to_owned(),
        },
        label: format!("Test of {test}"),
        control,
        unit: "lps".to_owned(),
        timebase: 1.0,
        scale: 1.0,
        category: "system".to_owned(),
        ..Cell::default()
    }
}

impl Made {
    /// Tests under `conditions`; the first is the base and has a control.
    pub fn new(tests: usize, conditions: &[&str]) -> Made {
        let run = Run {
            format: "unixmark-run/1".to_owned(),
            name: "cost".to_owned(),
            procedure: Procedure::Standard,
            view: View::Cost,
            against: conditions[0].to_owned(),
            cpus: 2,
            ..Run::default()
        };
        let end = Some(End { reason: Ended::Complete, seconds: 60.0 });
        let mut journal = Journal { run, end, ..Journal::default() };
        for test in 0..tests {
            for (place, condition) in conditions.iter().enumerate() {
                let id = journal.cells.len();
                journal.cells.push(cell(id, &format!("t{test}"), condition, false));
                if place == 0 {
                    journal.cells.push(cell(id + 1, &format!("t{test}"), condition, true));
                }
            }
        }
        Made { journal, every: 4 }
    }

    /// Measures blocks of all cells, whose conditions change a test's logarithm by `effect`.
    pub fn measure(
        &mut self,
        machine: &mut Machine,
        blocks: std::ops::Range<u32>,
        order: Order,
        effect: impl Fn(&Cell) -> f64,
    ) {
        for block in blocks {
            let due = |cell: &&Cell| !cell.control || block % self.every == 0;
            let mut cells: Vec<&Cell> = self.journal.cells.iter().filter(due).collect();
            match order {
                Order::Whole => cells.shuffle(&mut machine.random),
                Order::Tests => {
                    cells
                        .chunk_by_mut(|a, b| a.key.test == b.key.test)
                        .for_each(|arms| arms.shuffle(&mut machine.random));
                }
            }
            let trials: Vec<Trial> = cells
                .iter()
                .map(|cell| {
                    let effect = if cell.key.condition == self.journal.run.against {
                        0.0
                    } else {
                        effect(cell)
                    };
                    let at = f64::from(machine.trials);
                    let count = (1e6 * (machine.speed() + effect).exp()).round() as u64;
                    let copies = vec![Copy {
                        slices: vec![[0, 1_000_000_000, count].into()],
                        ..Copy::default()
                    }];
                    Trial { cell: cell.id, block, at, copies, ..Trial::default() }
                })
                .collect();
            self.journal.trials.extend(trials);
        }
    }

    pub fn cost(&self, catalogue: &Catalogue) -> Cost {
        Results::new(&self.journal, catalogue, None).cost().unwrap().clone()
    }

    /// Each cell's trials.
    pub fn trials(&self) -> Vec<Vec<Trial>> {
        let of = |cell: &Cell| {
            self.journal.trials.iter().filter(|trial| trial.cell == cell.id).cloned().collect()
        };
        self.journal.cells.iter().map(of).collect()
    }
}

pub fn effects(cost: &Cost) -> Vec<&Effect> {
    cost.conditions.iter().flat_map(|condition| &condition.effects).collect()
}

pub fn is_decided(effect: &Effect) -> bool {
    !matches!(effect.comparison.verdict, Verdict::Same(_) | Verdict::Undecided(_))
}

pub fn covers(interval: &Estimate, log: f64) -> bool {
    let percent = 100.0 * log.exp_m1();
    interval.low <= percent && percent <= interval.high
}
