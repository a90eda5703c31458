//! The plan: what will be measured, in which order, for how long. Pure; a seed makes it repeatable.
//!
//! The matrix test × copies × load × condition expands into cells, and cells into rounds. In the
//! standard procedure a round is a block: each cell once, the tests in random order and the arms of
//! a test next to each other, so that drift hits all cells alike and those that are compared most
//! alike. In the classic one a round is one pass of one cell, in UnixBench's order.

mod arms;
mod matrix;
mod pin;
mod preset;
mod procedure;
mod show;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

use catalogue::{Catalogue, Condition, Copies, Means, Metric, NONE, Test};
use journal::Topology;

const TOO_MUCH: &str = "too much for one run; name fewer tests, copies, loads or conditions";

pub use arms::Arms;
pub use matrix::Matrix;
pub use pin::{Border, Pin};
pub use preset::{Preset, Purpose};
pub use procedure::{Effort, Kind, Procedure, Window};
pub use show::{show, to_json};

/// The fewest blocks that give every test an interval, and every difference a verdict.
const FEWEST: u32 = 6;

/// One cell of the matrix and how it is measured.
#[derive(Debug, Clone)]
pub struct Cell {
    /// The test.
    pub test: Arc<Test>,
    /// The number of copies that run at once.
    pub copies: u32,
    /// The load in the background; `None` without a load.
    pub load: Option<Arc<Test>>,
    /// The state of the machine.
    pub condition: Arc<Condition>,
    /// True if it is the second arm of the condition that others are compared with.
    pub control: bool,
    /// The window of each trial.
    pub window: Window,
    /// Every argument of the program.
    pub args: Vec<String>,
    /// Every argument of the load.
    pub load_args: Vec<String>,
    /// The condition of the load alone.
    pub load_condition: Arc<Condition>,
    /// Trials that are wanted whatever the noise.
    pub least: u32,
    /// Trials at most.
    pub most: u32,
    /// Every how many blocks it is measured: 1, or more if its trials are long.
    pub every: u32,
    /// The CPU of each copy; empty if the scheduler chooses.
    pub cpus: Vec<u32>,
}

/// The plan of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// How to measure.
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// The conditions, and which of them the others are compared with.
    pub arms: Arms,
    /// The cells: their place is their number.
    pub cells: Vec<Cell>,
    /// Programs that conditions run beside the measured ones.
    pub companions: Vec<Arc<Test>>,
    /// Tests whose scores the cells' arguments name as `{ID}`: measured once, before the first cell.
    pub named: Vec<Arc<Test>>,
    /// The borders that copies cross as they become more.
    pub borders: Vec<Border>,
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
    /// Expands a matrix for a machine with this topology.
    ///
    /// # Errors
    /// An interactive test in the classic procedure, nothing to measure, or more cells than a journal may have.
    pub fn new(matrix: &Matrix, catalogue: &Catalogue, topology: &Topology) -> Result<Plan> {
        if matrix.procedure.effort.kind == Kind::Classic
            && let Some(test) = matrix.tests.iter().find(|test| test.metric == Metric::Latency)
        {
            bail!("{} has no classic procedure: its frames are not passes; try the standard one", test.id);
        }
        let cpus = matrix.pin.order(topology);
        let points = matrix.points().filter(|point| matrix.is_measured(point));
        let cells: Vec<Cell> = points.map(|point| matrix.cell(&point, &cpus)).collect();
        if cells.is_empty() {
            bail!("there is nothing to measure: name a test or group; `unixmark list tests` shows them");
        }
        journal::check_cells(cells.iter().map(|cell| cell.copies)).context(TOO_MUCH)?;
        let most = cells.iter().map(|cell| cell.copies).max().unwrap_or(1);
        Ok(Plan {
            procedure: matrix.procedure.clone(),
            seed: matrix.seed,
            arms: matrix.arms.clone(),
            named: named(&cells, catalogue),
            companions: companions(&matrix.arms, catalogue),
            borders: matrix.pin.borders(topology, most),
            cells,
        })
    }

    /// Returns the largest number of copies.
    pub fn most_copies(&self) -> u32 {
        self.cells.iter().map(|cell| cell.copies).max().unwrap_or(1)
    }

    /// Returns every test whose program is needed, some of them more than once.
    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        let cells = self.cells.iter().flat_map(|cell| {
            let Cell { test, load, .. } = cell;
            [Some(test), load.as_ref(), test.counting.as_ref()].into_iter().flatten()
        });
        cells.chain(&self.named).chain(&self.companions).map(|test| &**test)
    }

    /// Returns the builds that conditions want in addition to the usual one, each once: `cc=clang`, `build=portable`.
    pub fn builds(&self) -> BTreeSet<String> {
        let parts = self.cells.iter().flat_map(|cell| &cell.condition.parts);
        let builds = parts.filter(|(switch, _)| switch.means == Means::Build);
        builds.map(|(switch, level)| format!("{}={level}", switch.id)).collect()
    }

    /// Returns true if the machine is changed, by a condition of a cell or its load.
    pub fn changes_the_machine(&self) -> bool {
        self.cells.iter().any(|cell| !cell.condition.parts.is_empty() || !cell.load_condition.parts.is_empty())
    }

    /// Returns the rounds in order: every pass of the classic procedure, else the most blocks, of which the runner may
    /// measure fewer: once every interval is narrow enough, or the budget is spent.
    pub fn rounds(&self) -> Box<dyn Iterator<Item = Round> + '_> {
        if self.procedure.effort.kind == Kind::Classic {
            let passes = self
                .cells
                .iter()
                .enumerate()
                .flat_map(|(number, cell)| (0..cell.least).map(move |block| Round { block, cells: vec![number] }));
            return Box::new(passes);
        }
        // What must be measured before anything is switched has blocks of its own.
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..self.cells.len()).partition(|number| self.cells[*number].condition.is_first());
        let least = if first.is_empty() { 0 } else { self.procedure.least };
        let seed = self.seed;
        Box::new(self.blocks(first, 0..least, seed ^ 1).chain(self.blocks(rest, 0..self.procedure.most, seed)))
    }

    /// Returns the blocks of a second look at `cells`, numbered from `first`: as many as a first look has at least.
    pub fn second_look(&self, cells: Vec<usize>, first: u32) -> impl Iterator<Item = Round> {
        self.blocks(cells, first..first + self.procedure.least, self.seed ^ 2)
    }

    /// Returns blocks of these cells: the tests in random order, and the arms of a test (conditions, copies, loads)
    /// next to each other, in random order too, since what is compared must lie close in time.
    fn blocks(&self, cells: Vec<usize>, numbers: Range<u32>, seed: u64) -> impl Iterator<Item = Round> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for number in cells {
            families.entry(&self.cells[number].test.id).or_default().push(number);
        }
        let mut families: Vec<Vec<usize>> = families.into_values().collect();
        numbers.map(move |block| {
            families.shuffle(&mut random);
            families.iter_mut().for_each(|arms| arms.shuffle(&mut random));
            let is_due = |number: &usize| block % self.cells[*number].every == 0;
            let due = families.iter().flatten().copied().filter(is_due);
            Round { block, cells: due.filter(|number| self.arms(*number)[0] == *number).collect() }
        })
    }

    /// Returns the cells that one program measures together, in its order: a cell alone, or the arms of commands that
    /// are executed in turn.
    pub fn arms(&self, number: usize) -> Vec<usize> {
        let cell = &self.cells[number];
        if cell.test.arms == 0 {
            return vec![number];
        }
        let is_arm = |other: &Cell| {
            let load = |cell: &Cell| cell.load.as_ref().map(|load| load.id.clone());
            (&other.test.id, other.copies, load(other)) == (&cell.test.id, cell.copies, load(cell))
        };
        (0..self.cells.len()).filter(|other| is_arm(&self.cells[*other])).collect()
    }

    /// Returns how long the plan takes if nothing goes wrong: the least, and the most when every
    /// interval stays wide.
    pub fn duration(&self) -> (Duration, Duration) {
        let time = |trials: fn(&Cell) -> u32| {
            let time: f64 = self.cells.iter().map(|cell| cell.seconds() * f64::from(trials(cell))).sum();
            let time = Duration::from_secs_f64(time);
            let time = self.procedure.effort.over.map_or(time, |over| over.max(time));
            self.procedure.effort.budget.map_or(time, |budget| budget.min(time))
        };
        (time(|cell| cell.least), time(|cell| cell.most))
    }

    /// Returns how many blocks fit into the budget, at least 1; `None` without a budget.
    pub fn affordable(&self) -> Option<u32> {
        let budget = self.procedure.effort.budget?.as_secs_f64();
        Some((budget / self.block_seconds()).max(1.0) as u32)
    }

    /// Returns what to try if the budget is too small for intervals; `None` if it is not.
    pub fn advice(&self) -> Option<String> {
        // Commands that are executed in turn have many rounds in a block.
        let is_alone = |cell: &Cell| cell.test.arms < 2;
        let affordable = self.affordable().filter(|_| self.cells.iter().all(is_alone));
        let blocks = affordable.filter(|blocks| *blocks < FEWEST)?;
        let enough = Duration::from_secs_f64((f64::from(FEWEST) * self.block_seconds()).ceil());
        Some(format!(
            "this budget allows about {}, and reliable intervals need {FEWEST}; try --budget {}s, or fewer tests or copies",
            words::count(blocks as usize, "block"),
            enough.as_secs()
        ))
    }

    /// The seconds of a block; cells that are not in all blocks count in part.
    fn block_seconds(&self) -> f64 {
        let share = |cell: &Cell| f64::from(cell.most) / f64::from(self.procedure.most.max(1));
        self.cells.iter().map(|cell| cell.seconds() * share(cell)).sum::<f64>().max(f64::MIN_POSITIVE)
    }
}

impl Cell {
    /// Returns the seconds that one trial takes, the time around its window included.
    pub fn seconds(&self) -> f64 {
        // A load is steady after a little more than the time it must be so.
        let settle = if self.load.is_some() { self.window.settle.as_secs_f64() + 0.25 } else { 0.0 };
        self.window.length().as_secs_f64() + self.window.around.as_secs_f64() + settle
    }

    /// Returns the argument that pins `count` copies, from the `first` on; `None` if the scheduler chooses.
    pub fn pinned(&self, first: u32, count: u32) -> Option<String> {
        let cpus = self.cpus.get(first as usize..first as usize + count as usize)?;
        Some(format!("cpu={}", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")))
    }

    /// How many copies one program is: all of them where they are its threads.
    pub fn threads(&self) -> u32 {
        if self.test.copies == Copies::Threads { self.copies } else { 1 }
    }

    /// Returns how many copies one program reports: its threads, or the arms of a comparison and the control.
    pub fn reports(&self) -> u32 {
        if self.test.arms > 0 { self.test.arms + 1 } else { self.threads() }
    }

    /// The name of what runs in the background.
    pub fn load_name(&self) -> &str {
        self.load.as_ref().map_or(NONE, |load| &load.id)
    }
}

/// Returns the programs that conditions run beside the measured ones.
fn companions(arms: &Arms, catalogue: &Catalogue) -> Vec<Arc<Test>> {
    let parts = arms.conditions().flat_map(|condition| &condition.parts);
    let ids = parts.filter_map(|(switch, _)| switch.companion.as_ref());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        Catalogue::load().unwrap()
    }

    fn words(list: &[&str]) -> Vec<String> {
        list.iter().map(|word| (*word).to_owned()).collect()
    }

    fn matrix(tests: &[&str], copies: &[u32], loads: &[&str], conditions: &[&str]) -> Matrix {
        let catalogue = catalogue();
        Matrix {
            tests: catalogue.expand(&words(tests)).unwrap(),
            copies: copies.to_vec(),
            loads: catalogue.expand_loads(&words(loads)).unwrap(),
            arms: Arms::apart(catalogue.expand_conditions(&words(conditions)).unwrap()),
            ..Matrix::default()
        }
    }

    fn compared(condition: &str) -> Arms {
        Arms::compared(Condition::none(), catalogue().expand_conditions(&words(&[condition])).unwrap())
    }

    fn shown(matrix: Matrix) -> Vec<String> {
        let plan = Plan::new(&matrix, &catalogue(), &Topology::default()).unwrap();
        let name = |cell: &Cell| {
            let again = if cell.control { " again" } else { "" };
            format!("{} x{} {} {}{again}", cell.test.id, cell.copies, cell.load_name(), cell.condition.name)
        };
        plan.cells.iter().map(name).collect()
    }

    #[test]
    fn the_matrix_has_conditions_outermost_and_tests_innermost() {
        let cells = shown(matrix(&["pipe", "spawn"], &[1, 2], &["none", "burn"], &["none", "nice=5"]));
        assert_eq!(cells.len(), 16);
        assert_eq!(cells[..3], ["pipe x1 none none", "spawn x1 none none", "pipe x2 none none"]);
        assert_eq!((&*cells[4], &*cells[8]), ("pipe x1 burn none", "pipe x1 none nice=5"));
        let many = matrix(&["pipe"], &(1..=1001).collect::<Vec<u32>>(), &["none"], &["none"]);
        let refused = Plan::new(&many, &catalogue(), &Topology::default()).unwrap_err();
        assert!(format!("{refused:#}").contains("1000 different numbers of copies"), "{refused:#}");
        let control = Matrix { arms: compared("nice=5"), ..matrix(&["pipe"], &[1], &["none"], &[]) };
        assert_eq!(shown(control), ["pipe x1 none none", "pipe x1 none nice=5", "pipe x1 none none again"]);
    }

    #[test]
    fn tasks_do_not_run_beside_themselves_nor_single_tests_twice() {
        assert_eq!(shown(matrix(&["audio", "video"], &[1], &["video"], &["none"])), ["audio x1 video none"]);
        let single = catalogue().tests.iter().find(|test| test.copies == Copies::One).unwrap().id.clone();
        assert_eq!(shown(matrix(&[&single], &[2, 4], &["none"], &["none"])), [format!("{single} x1 none none")]);
        let none = Plan::new(&matrix(&[], &[1], &["none"], &["none"]), &catalogue(), &Topology::default());
        assert!(none.unwrap_err().to_string().starts_with("there is nothing to measure"));
    }

    /// Arms 3 s apart share half of their noise, and arms 25 s apart none.
    #[test]
    fn a_block_shuffles_tests_and_then_the_arms_of_each() {
        let asked = matrix(&["pipe", "spawn", "syscall"], &[1, 2], &["none", "burn"], &["none", "nice=5"]);
        let plan = Plan::new(&Matrix { seed: 5, ..asked }, &catalogue(), &Topology::default()).unwrap();
        let blocks: Vec<Round> = plan.rounds().collect();
        assert_eq!(blocks.len(), 32);
        let (mut families, mut arms) = (BTreeSet::new(), BTreeSet::new());
        for block in &blocks {
            let mut every = block.cells.clone();
            every.sort_unstable();
            assert_eq!(every, (0..24).collect::<Vec<_>>(), "each once");
            let mut order: Vec<&str> = block.cells.iter().map(|number| &*plan.cells[*number].test.id).collect();
            order.dedup();
            assert_eq!(order.len(), 3, "arms apart: {order:?}");
            families.insert(order);
            let pipe = |number: &&usize| plan.cells[**number].test.id == "pipe";
            arms.insert(block.cells.iter().filter(pipe).copied().collect::<Vec<_>>());
        }
        assert_eq!((families.len(), arms.len() > 28), (6, true), "every order of three, and most of eight once");
        let again: Vec<Round> = plan.rounds().collect();
        assert_eq!(blocks, again, "the seed repeats it");
        let second: Vec<Round> = plan.second_look(vec![0, 1, 3], 32).collect();
        assert_eq!((second.len(), second[0].block, second[0].cells.len()), (16, 32, 3));
    }

    #[test]
    fn long_trials_are_in_every_third_block() {
        let asked = matrix(&["pipe", "audio", "2d-rects"], &[1, 2], &["none"], &["none"]);
        let plan = Plan::new(&asked, &catalogue(), &Topology::default()).unwrap();
        let trials = |number: usize| plan.rounds().filter(|block| block.cells.contains(&number)).count();
        for (number, cell) in plan.cells.iter().enumerate() {
            let wanted = if cell.test.id == "pipe" { 32 } else { 11 };
            assert_eq!((trials(number), cell.most as usize), (wanted, wanted), "{}", cell.test.id);
        }
        let cost = |effort| Matrix {
            arms: compared("nice=5"),
            procedure: Procedure::new(Purpose::Cost, effort),
            ..matrix(&["pipe"], &[1], &["none"], &[])
        };
        let control = |effort| {
            let plan = Plan::new(&cost(effort), &catalogue(), &Topology::default()).unwrap();
            plan.rounds().filter(|block| block.cells.iter().any(|number| plan.cells[*number].control)).count()
        };
        assert_eq!(control(Effort::default()), 12, "of 48");
        assert_eq!(control(Effort { blocks: Some(5), ..Effort::default() }), 5);
        let fixed = Procedure::new(Purpose::Scores, Effort { blocks: Some(4), ..Effort::default() });
        let asked = Matrix { procedure: fixed, ..matrix(&["audio"], &[1], &["none"], &["none"]) };
        let plan = Plan::new(&asked, &catalogue(), &Topology::default()).unwrap();
        assert!(plan.rounds().all(|block| block.cells == [0]), "blocks that the user counts have every cell");
    }

    #[test]
    fn a_warm_up_is_the_test_s_own_and_comes_before_what_is_counted() {
        let plan = |test: &str, procedure| {
            let asked = Matrix { procedure, ..matrix(&[test], &[1], &["none"], &["none"]) };
            Plan::new(&asked, &catalogue(), &Topology::default()).unwrap().cells[0].window
        };
        let window = |test: &str, effort: Effort| {
            let Window { slice, slices, warmup, .. } = plan(test, Procedure::new(Purpose::Scores, effort));
            (slice.as_millis(), slices, warmup)
        };
        let standard = Effort::default();
        assert_eq!(window("pipe", standard), (50, 5, 0));
        assert_eq!(window("shell8", standard), (50, 20, 0), "its loops are long");
        let (slice, slices, warmup) = window("context1", standard);
        assert!(warmup > 0 && (slice, slices) == (50, 5 + warmup), "{warmup}");
        assert_eq!(window("context1", Effort { kind: Kind::Classic, ..standard }), (1000, 10, 0));
        let Window { slice, slices, warmup, .. } = plan("pipe", Procedure::new(Purpose::Cost, standard));
        assert_eq!((slice.as_millis(), slices, warmup), (125, 8, 2), "auditing's queues are filled in any test");
    }

    #[test]
    fn copies_are_pinned_in_turn_and_borders_follow() {
        let pinned = Matrix { pin: Pin::Cpu(3), ..matrix(&["pipe"], &[1, 2], &["none"], &["none"]) };
        let plan = Plan::new(&pinned, &catalogue(), &Topology::default()).unwrap();
        assert_eq!((plan.most_copies(), &plan.cells[1].cpus[..]), (2, &[3, 3][..]));
        assert_eq!(plan.cells[1].pinned(0, 2).as_deref(), Some("cpu=3,3"));
        assert_eq!(plan.borders.last().unwrap().1, "more copies than processors");
    }
}
