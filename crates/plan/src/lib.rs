//! The plan: what will be measured, in which order, for how long. Pure; a seed makes it repeatable.
//!
//! The matrix test × copies × load × condition expands into cells, and cells into rounds. In the
//! standard procedure a round is a block: each cell once, in random order, so that drift hits all
//! cells alike. In the classic one a round is one pass of one cell, in UnixBench's order.

mod pin;
mod procedure;
mod show;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use catalogue::{Catalogue, Condition, Copies, Means, Metric, NONE, Test};

pub use pin::{Border, Pin};
pub use procedure::{Kind, Procedure, Window};
pub use show::show;

/// What the user asked for, in the catalogue's words.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The tests, in order.
    pub tests: Vec<Arc<Test>>,
    /// The numbers of copies, in order.
    pub copies: Vec<u32>,
    /// The loads, in order.
    pub loads: Vec<Option<Arc<Test>>>,
    /// The conditions, in order.
    pub conditions: Vec<Arc<Condition>>,
    /// Whether the first condition is measured twice in every block, as a control.
    pub control: bool,
    /// How to measure.
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// Arguments for every test, after its own.
    pub test_args: Vec<String>,
    /// Arguments for every load, after its own.
    pub load_args: Vec<String>,
    /// How many processes or groups a load has, where that can be said.
    pub load_number: Option<u32>,
    /// The CPU weight of a cgroup of the load's own.
    pub load_weight: Option<u32>,
    /// The CPUs that copies take in turn; none where the scheduler chooses.
    pub pin: Vec<u32>,
}

/// What a cgroup is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// A CPU weight; 100 is usual.
    Weight(u32),
    /// Bytes of memory.
    Memory(u64),
}

/// One cell of the matrix and how it is measured.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The test.
    pub test: Arc<Test>,
    /// How many copies run at once.
    pub copies: u32,
    /// What runs in the background, if anything does.
    pub load: Option<Arc<Test>>,
    /// What is switched on the machine.
    pub condition: Arc<Condition>,
    /// Whether it is the second arm of the condition that others are compared with.
    pub control: bool,
    /// The window of each trial.
    pub window: Window,
    /// Every argument of the program.
    pub args: Vec<String>,
    /// Every argument of the load.
    pub load_args: Vec<String>,
    /// What cgroups of the load's own are made for.
    pub load_cgroups: Vec<Limit>,
    /// Trials that are wanted whatever the noise.
    pub least: u32,
    /// The CPU of each copy; none where the scheduler chooses.
    pub cpus: Vec<u32>,
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
    /// What conditions run beside the programs.
    pub companions: Vec<Arc<Test>>,
    /// Tests whose scores the cells' arguments name as `{ID}`: measured once, before the first cell.
    pub named: Vec<Arc<Test>>,
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
    /// An interactive test in the classic procedure, or nothing to measure.
    pub fn new(request: &Request, catalogue: &Catalogue) -> Result<Plan> {
        if request.procedure.kind == Kind::Classic
            && let Some(test) = request.tests.iter().find(|test| test.metric == Metric::Latency)
        {
            bail!("{} has no classic procedure: its frames are no passes; try the standard one", test.id);
        }
        let mut cells = Vec::new();
        let again = request.conditions.first().filter(|_| request.control);
        for (place, condition) in request.conditions.iter().chain(again).enumerate() {
            for load in &request.loads {
                for copies in &request.copies {
                    for test in &request.tests {
                        // Interbench leaves these out too: a task that runs twice is not a load of its own.
                        if test.metric == Metric::Latency && load.as_ref().is_some_and(|load| load.id == test.id) {
                            continue;
                        }
                        // What is only ever one is measured once, at the first level.
                        if test.copies == Copies::One && *copies != request.copies[0] {
                            continue;
                        }
                        let copies = if test.copies == Copies::One { &1 } else { copies };
                        let mut cell = request.procedure.cell(test, *copies, load.as_ref(), condition);
                        cell.control = place == request.conditions.len();
                        cell.cpus = request.pin.iter().cycle().take(cell.copies as usize).copied().collect();
                        cell.args.extend(request.test_args.iter().cloned());
                        cell.load_args.extend(request.load_args.iter().cloned());
                        if let Some((name, number)) =
                            load.as_ref().and_then(|load| load.number.as_ref()).zip(request.load_number)
                        {
                            cell.load_args.push(format!("{name}={number}"));
                        }
                        if load.is_some() {
                            cell.load_cgroups.extend(request.load_weight.map(Limit::Weight));
                        }
                        cells.push(cell);
                    }
                }
            }
        }
        if cells.is_empty() {
            bail!("there is nothing to measure: name a test or group; `unixmark list` shows them");
        }
        let named = named(&cells, catalogue);
        let companions = companions(&request.conditions, catalogue);
        Ok(Plan { procedure: request.procedure.clone(), seed: request.seed, cells, companions, named })
    }

    /// Returns every test whose program is needed, some of them more than once.
    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        let cells = self.cells.iter().flat_map(|cell| std::iter::once(&*cell.test).chain(cell.load.as_deref()));
        cells.chain(self.named.iter().chain(&self.companions).map(|test| &**test))
    }

    /// Returns the builds that conditions want besides the usual one, each once: `cc=clang`, `build=portable`.
    #[must_use]
    pub fn builds(&self) -> BTreeSet<String> {
        let parts = self.cells.iter().flat_map(|cell| &cell.condition.parts);
        let builds = parts.filter(|(switch, _)| switch.means == Means::Build);
        builds.map(|(switch, level)| format!("{}={level}", switch.id)).collect()
    }

    /// Whether anything is to be switched.
    #[must_use]
    pub fn switches(&self) -> bool {
        self.cells.iter().any(|cell| !cell.condition.parts.is_empty())
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
        // What must be measured before anything is switched has blocks of its own.
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..self.cells.len()).partition(|number| self.cells[*number].condition.is_first());
        let least = if first.is_empty() { 0 } else { self.procedure.least };
        Box::new(blocks(first, 0..least, self.seed ^ 1).chain(blocks(rest, 0..self.procedure.most, self.seed)))
    }

    /// Returns the blocks of a second look at `cells`, numbered from `first`: as many as a first look has at least.
    pub fn second_look(&self, cells: Vec<usize>, first: u32) -> impl Iterator<Item = Round> + use<> {
        blocks(cells, first..first + self.procedure.least, self.seed ^ 2)
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
        // A load is steady after a little more than the time it must be so.
        let settle = if self.load.is_some() { self.window.settle.as_secs_f64() + 0.25 } else { 0.0 };
        self.window.length().as_secs_f64() + self.window.around.as_secs_f64() + settle
    }

    /// Returns the argument that pins `count` copies, from the `first` on; nothing where the scheduler chooses.
    #[must_use]
    pub fn pinned(&self, first: u32, count: u32) -> Option<String> {
        let cpus = self.cpus.get(first as usize..first as usize + count as usize)?;
        Some(format!("cpu={}", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")))
    }

    /// How many copies one program is: all of them where they are its threads.
    #[must_use]
    pub fn threads(&self) -> u32 {
        if self.test.copies == Copies::Threads { self.copies } else { 1 }
    }

    /// The name of what runs in the background.
    #[must_use]
    pub fn load_name(&self) -> &str {
        self.load.as_ref().map_or(NONE, |load| &load.id)
    }
}

/// Blocks of cells: each once, in random order.
fn blocks(cells: Vec<usize>, numbers: Range<u32>, seed: u64) -> impl Iterator<Item = Round> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    numbers.map(move |block| {
        let mut cells = cells.clone();
        cells.shuffle(&mut random);
        Round { block, cells }
    })
}

/// What conditions run beside the programs.
fn companions(conditions: &[Arc<Condition>], catalogue: &Catalogue) -> Vec<Arc<Test>> {
    let ids =
        conditions.iter().flat_map(|condition| &condition.parts).filter_map(|(switch, _)| switch.companion.as_ref());
    ids.filter_map(|id| catalogue.test(id)).cloned().collect()
}

/// The tests that arguments name.
fn named(cells: &[Cell], catalogue: &Catalogue) -> Vec<Arc<Test>> {
    let names = |test: &&Arc<Test>| {
        let name = format!("{{{}}}", test.id);
        cells.iter().flat_map(|cell| cell.args.iter().chain(&cell.load_args)).any(|arg| arg.contains(&name))
    };
    catalogue.tests.iter().filter(names).cloned().collect()
}
