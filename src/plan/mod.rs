//! The plan: what will be measured, in which order, for how long. Pure; a seed makes it repeatable.
//!
//! The matrix test × copies × load × condition expands into cells, and cells into rounds. In the
//! standard procedure a round is a block: each cell once, in random order, so that drift hits all
//! cells alike. In the classic one a round is one pass of one cell, in UnixBench's order.

mod procedure;
mod show;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use crate::catalogue::{Catalogue, NONE, Test, nearest};

pub use procedure::{Kind, Procedure, Window};
pub use show::{clock, show};

/// What the user asked for, in the catalogue's words.
#[derive(Debug, Clone)]
pub struct Request {
    /// The tests, in order.
    pub tests: Vec<Arc<Test>>,
    /// The numbers of copies, in order.
    pub copies: Vec<u32>,
    /// The loads, in order.
    pub loads: Vec<String>,
    /// The conditions, in order.
    pub conditions: Vec<String>,
    /// How to measure.
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
}

/// One cell of the matrix and how it is measured.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The test.
    pub test: Arc<Test>,
    /// How many copies run at once.
    pub copies: u32,
    /// What runs in the background.
    pub load: String,
    /// What is switched on the machine.
    pub condition: String,
    /// The window of each trial.
    pub window: Window,
    /// Every argument of the program.
    pub args: Vec<String>,
    /// Trials that are wanted whatever the noise.
    pub least: u32,
}

/// What will be measured.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How to measure.
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// The cells: their place is their number.
    pub cells: Vec<Cell>,
}

/// Trials that belong together: a block, or one pass of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The block's or pass's number, from 0.
    pub block: u32,
    /// The cells to measure, in order.
    pub cells: Vec<usize>,
}

impl Plan {
    /// Expands a request.
    ///
    /// # Errors
    /// A load or condition that the catalogue does not have, or nothing to measure.
    pub fn new(request: &Request, catalogue: &Catalogue) -> Result<Plan> {
        for load in &request.loads {
            known("load", load, std::iter::once(NONE).chain(catalogue.tests.iter().map(|test| test.id.as_str())))?;
        }
        for condition in &request.conditions {
            known("condition", condition, catalogue.conditions.iter().map(|row| row.id.as_str()))?;
        }
        let mut cells = Vec::new();
        for condition in &request.conditions {
            for load in &request.loads {
                for copies in &request.copies {
                    for test in &request.tests {
                        cells.push(request.procedure.cell(test, *copies, load, condition));
                    }
                }
            }
        }
        if cells.is_empty() {
            bail!("there is nothing to measure: name a test or group; `unixmark list` shows them");
        }
        Ok(Plan { procedure: request.procedure.clone(), seed: request.seed, cells })
    }

    /// Returns the rounds in order. The classic procedure's end; the others' go on, and the runner
    /// stops them when every interval is narrow enough or the budget is spent.
    pub fn rounds(&self) -> Box<dyn Iterator<Item = Round> + '_> {
        if self.procedure.kind == Kind::Classic {
            return Box::new(
                self.cells
                    .iter()
                    .enumerate()
                    .flat_map(|(number, cell)| (0..cell.least).map(move |block| Round { block, cells: vec![number] })),
            );
        }
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        Box::new((0..self.procedure.most).map(move |block| {
            let mut cells: Vec<usize> = (0..self.cells.len()).collect();
            cells.shuffle(&mut random);
            Round { block, cells }
        }))
    }

    /// Returns how long the plan takes if nothing goes wrong: the least, and the most when every
    /// interval stays wide.
    #[must_use]
    pub fn duration(&self) -> (Duration, Duration) {
        let round = |trials: fn(&Cell, &Procedure) -> u32| {
            let time: f64 =
                self.cells.iter().map(|cell| cell.seconds() * f64::from(trials(cell, &self.procedure))).sum();
            let time = Duration::from_secs_f64(time);
            self.procedure.budget.map_or(time, |budget| budget.min(time))
        };
        (
            round(|cell, _| cell.least),
            round(|cell, procedure| if procedure.kind == Kind::Classic { cell.least } else { procedure.most }),
        )
    }
}

impl Cell {
    /// Returns the seconds that one trial takes, the time around its window included.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.window.length().as_secs_f64() + self.window.around.as_secs_f64()
    }
}

fn known<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    match nearest(name, names) {
        Some(near) => bail!("there is no {kind} '{name}'; did you mean '{near}'? `unixmark list {kind}s` shows all"),
        None => bail!("there is no {kind} '{name}'; `unixmark list {kind}s` shows all"),
    }
}
