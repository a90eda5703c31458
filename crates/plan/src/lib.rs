//! The plan: what will be measured, in which order, for how long. It is computed from its arguments
//! alone, and its random orders from a seed, so the same request gives the same plan.
//!
//! ```text
//! Matrix ── points ── Cell ── blocks ── Round
//! Purpose, Effort ── Preset ── Procedure ── Window
//! ```
//!
//! A [`Matrix`] of test × copies × load × condition expands into cells. The [`Procedure`] says how
//! a cell is measured: the [`Window`] of a trial, and how many trials. Cells then expand into
//! rounds. In the standard procedure a round is a block: each cell once, the tests in random order
//! and the arms of a test next to each other, so that drift hits all cells equally, and cells that
//! are compared most equally. In the classic procedure a round is one pass of one cell, in
//! UnixBench's order.

mod arms;
mod matrix;
mod pin;
mod point;
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

/// The error's beginning where a matrix has too many cells.
const TOO_MUCH: &str = "too much for one run; name fewer tests, copies, loads or conditions";

pub use arms::Arms;
pub use matrix::Matrix;
pub use pin::{Border, Pin};
pub use preset::{Kind, Preset, Purpose};
pub use procedure::{Effort, Procedure, Window};
pub use show::{show, to_json};

/// The time for sampling commands where there is no budget.
pub const SAMPLING_TIME: Duration = Duration::from_secs(30);

/// With fewer blocks some tests have no interval, and some differences no verdict.
const MIN_RELIABLE_BLOCKS: u32 = 6;

/// One cell of the matrix and how it is measured.
#[derive(Debug, Clone)]
pub struct Cell {
    pub test: Arc<Test>,
    /// The number of copies that run at once.
    pub copies: u32,
    /// The load in the background; `None` without a load.
    pub load: Option<Arc<Test>>,
    /// The state of the machine.
    pub condition: Arc<Condition>,
    /// True if this is a control: a condition once more.
    pub control: bool,
    /// The window of each trial.
    pub window: Window,
    /// All arguments of the program.
    pub args: Vec<String>,
    /// All arguments of the load.
    pub load_args: Vec<String>,
    /// The condition of the load alone.
    pub load_condition: Arc<Condition>,
    /// Trials that are wanted whatever the noise.
    pub min_trials: u32,
    pub max_trials: u32,
    /// The cell is measured in one of so many blocks: 1, or more if its trials are long.
    pub block_interval: u32,
    /// The CPU of each copy; empty if the scheduler chooses.
    pub cpus: Vec<u32>,
}

/// The plan of a run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// The conditions, and the reference among them.
    pub arms: Arms,
    /// The cells. A cell's number is its place here.
    pub cells: Vec<Cell>,
    /// Programs that conditions run alongside the measured ones.
    pub companions: Vec<Arc<Test>>,
    /// Tests whose scores the cells' arguments name as `{ID}`: measured once, before the first
    /// cell.
    pub named: Vec<Arc<Test>>,
    /// The borders that copies cross as their number grows.
    pub borders: Vec<Border>,
    /// True if trials note how long their condition took to start and to stop.
    pub times_starts: bool,
}

/// Trials that belong together: a block, or one pass of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Round {
    /// The number of the block or pass, from 0.
    pub block: u32,
    /// The numbers of the cells to measure, in order.
    pub cells: Vec<usize>,
}

impl Plan {
    /// Expands a matrix for a machine with this topology.
    ///
    /// # Errors
    /// There is an interactive test in the classic procedure, nothing to measure, or more cells
    /// than a journal may have.
    pub fn new(matrix: &Matrix, catalogue: &Catalogue, topology: &Topology) -> Result<Plan> {
        if matrix.procedure.effort.kind == Kind::Classic
            && let Some(test) = matrix.tests.iter().find(|test| test.metric == Metric::Latency)
        {
            bail!(
                "{} has no classic procedure: its frames are not passes; try the standard one",
                test.id
            );
        }

        let cpus = matrix.pin.order(topology);
        let points = matrix.points().filter(|point| matrix.is_measured(point));
        let cells: Vec<Cell> = points.map(|point| matrix.cell(&point, &cpus)).collect();
        if cells.is_empty() {
            bail!(
                "there is nothing to measure: name a test or group; `unixmark list tests` shows them"
            );
        }
        journal::check_cells(cells.iter().map(|cell| cell.copies)).context(TOO_MUCH)?;

        let max_copies = cells.iter().map(|cell| cell.copies).max().unwrap_or(1);
        Ok(Plan {
            procedure: matrix.procedure.clone(),
            seed: matrix.seed,
            arms: matrix.arms.clone(),
            named: find_named_tests(&cells, catalogue),
            companions: find_companions(&matrix.arms, catalogue),
            borders: matrix.pin.borders(topology, max_copies),
            times_starts: matrix.times_starts,
            cells,
        })
    }

    /// The largest number of copies.
    pub fn most_copies(&self) -> u32 {
        self.cells.iter().map(|cell| cell.copies).max().unwrap_or(1)
    }

    /// Every test whose program is needed, some more than once.
    pub fn tests(&self) -> impl Iterator<Item = &Test> {
        let cells = self.cells.iter().flat_map(|cell| {
            let Cell { test, load, .. } = cell;
            let after = [test.counting.as_ref(), test.sampling.as_ref()];
            [Some(test), load.as_ref()].into_iter().chain(after).flatten()
        });
        cells.chain(&self.named).chain(&self.companions).map(|test| &**test)
    }

    /// The builds that conditions want in addition to the usual one: `cc=clang`, `build=portable`.
    pub fn builds(&self) -> BTreeSet<String> {
        let parts = self.cells.iter().flat_map(|cell| &cell.condition.parts);
        let builds = parts.filter(|(switch, _)| switch.means == Means::Build);
        builds.map(|(switch, level)| format!("{}={level}", switch.id)).collect()
    }

    /// True if a condition, of a cell or of its load, changes the machine.
    pub fn changes_the_machine(&self) -> bool {
        self.cells
            .iter()
            .any(|cell| !cell.condition.parts.is_empty() || !cell.load_condition.parts.is_empty())
    }

    /// The rounds in order: every pass of the classic procedure, else the maximum of blocks. The
    /// runner stops earlier when every interval is narrow enough, or the budget is spent.
    pub fn rounds(&self) -> Box<dyn Iterator<Item = Round> + '_> {
        if self.procedure.effort.kind == Kind::Classic {
            let passes = self.cells.iter().enumerate().flat_map(|(number, cell)| {
                (0..cell.min_trials).map(move |block| Round { block, cells: vec![number] })
            });
            return Box::new(passes);
        }

        // Conditions that must be measured before anything is switched have blocks of their own.
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..self.cells.len()).partition(|number| self.cells[*number].condition.is_first());
        let first_blocks = if first.is_empty() { 0 } else { self.procedure.min_blocks };
        let first = self.blocks(first, 0..first_blocks, self.seed ^ 1);
        let rest = self.blocks(rest, 0..self.procedure.max_blocks, self.seed);
        Box::new(first.chain(rest))
    }

    /// The blocks of a second look at `cells`, numbered from `first`: the minimum of a first look.
    pub fn second_look(&self, cells: Vec<usize>, first: u32) -> impl Iterator<Item = Round> {
        self.blocks(cells, first..first + self.procedure.min_blocks, self.seed ^ 2)
    }

    /// Blocks of these cells: the tests in random order, and the arms of a test (conditions,
    /// copies, loads, processes and threads) next to each other, in random order too, since cells
    /// that are compared must lie close in time.
    fn blocks(
        &self,
        cells: Vec<usize>,
        numbers: Range<u32>,
        seed: u64,
    ) -> impl Iterator<Item = Round> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for number in cells {
            families
                .entry(catalogue::family(&self.cells[number].test.id))
                .or_default()
                .push(number);
        }
        let mut families: Vec<Vec<usize>> = families.into_values().collect();

        numbers.map(move |block| {
            families.shuffle(&mut random);
            families.iter_mut().for_each(|arms| arms.shuffle(&mut random));
            let cells = families
                .iter()
                .flatten()
                .copied()
                .filter(|number| block % self.cells[*number].block_interval == 0)
                // Of cells that one program measures together, the first stands for all.
                .filter(|number| self.arms(*number)[0] == *number)
                .collect();
            Round { block, cells }
        })
    }

    /// The cells that one program measures together, in its order: a cell alone, or the arms of
    /// commands that are executed alternately.
    pub fn arms(&self, number: usize) -> Vec<usize> {
        let cell = &self.cells[number];
        if cell.test.arms == 0 {
            return vec![number];
        }

        let is_arm = |other: &Cell| {
            other.test.id == cell.test.id
                && other.copies == cell.copies
                && other.load.as_ref().map(|load| &load.id)
                    == cell.load.as_ref().map(|load| &load.id)
        };
        (0..self.cells.len()).filter(|other| is_arm(&self.cells[*other])).collect()
    }

    /// The time that the plan takes if nothing goes wrong: the minimum, and the maximum if every
    /// interval stays wide.
    pub fn duration(&self) -> (Duration, Duration) {
        (self.time_of_trials(|cell| cell.min_trials), self.time_of_trials(|cell| cell.max_trials))
    }

    /// The time of so many trials of each cell, within the limits that the user has set.
    fn time_of_trials(&self, trials: impl Fn(&Cell) -> u32) -> Duration {
        let seconds: f64 =
            self.cells.iter().map(|cell| cell.seconds() * f64::from(trials(cell))).sum();

        let mut time = Duration::from_secs_f64(seconds);
        if let Some(over) = self.procedure.effort.over {
            time = over.max(time);
        }
        if let Some(budget) = self.procedure.effort.budget {
            // Sampling takes all that is left.
            time = if self.is_sampled() { budget } else { budget.min(time) };
        } else if self.is_sampled() {
            time += SAMPLING_TIME;
        }
        time
    }

    /// True if commands are sampled when all is timed.
    pub fn is_sampled(&self) -> bool {
        self.cells.iter().any(|cell| cell.test.sampling.is_some())
    }

    /// The time in which executions are timed: half of the budget where commands are sampled, too,
    /// else all of it.
    pub fn timed_budget(&self) -> Option<Duration> {
        let budget = self.procedure.effort.budget?;
        Some(if self.is_sampled() { budget / 2 } else { budget })
    }

    /// The time for sampling each of so many tests, when the run has lasted `elapsed`: what is left
    /// of the budget.
    pub fn sampling_time(&self, elapsed: Duration, tests: usize) -> Duration {
        let Some(budget) = self.procedure.effort.budget else {
            return SAMPLING_TIME;
        };
        budget.saturating_sub(elapsed) / u32::try_from(tests.max(1)).unwrap_or(u32::MAX)
    }

    /// How many blocks fit into the budget, at least 1; `None` without a budget.
    pub fn affordable_blocks(&self) -> Option<u32> {
        let budget = self.timed_budget()?.as_secs_f64();
        Some((budget / self.block_seconds()).max(1.0) as u32)
    }

    /// What to try if the budget is too small for intervals; `None` if it is not.
    pub fn advice(&self) -> Option<String> {
        let blocks = self.affordable_blocks()?;
        // Commands that are executed alternately have many rounds in a block.
        let has_rounds = self.cells.iter().any(|cell| cell.test.arms >= 2);
        if blocks >= MIN_RELIABLE_BLOCKS || has_rounds {
            return None;
        }

        let enough =
            Duration::from_secs_f64((f64::from(MIN_RELIABLE_BLOCKS) * self.block_seconds()).ceil());
        Some(format!(
            "this budget allows about {}, and reliable intervals need {MIN_RELIABLE_BLOCKS}; try --budget {}s, or fewer tests or copies",
            words::count(blocks as usize, "block"),
            enough.as_secs()
        ))
    }

    /// The seconds of an average block: cells that are not in all blocks count in part.
    fn block_seconds(&self) -> f64 {
        let max_blocks = f64::from(self.procedure.max_blocks.max(1));
        let share = |cell: &Cell| f64::from(cell.max_trials) / max_blocks;
        self.cells
            .iter()
            .map(|cell| cell.seconds() * share(cell))
            .sum::<f64>()
            .max(f64::MIN_POSITIVE)
    }
}

impl Cell {
    /// The seconds that one trial takes, with the time around its window.
    pub fn seconds(&self) -> f64 {
        // It takes a little longer than `settle` until a load has been steady for so long.
        let settle =
            if self.load.is_some() { self.window.settle.as_secs_f64() + 0.25 } else { 0.0 };
        self.window.length().as_secs_f64() + self.window.around.as_secs_f64() + settle
    }

    /// The argument that pins `count` copies, from the `first` on; `None` if the scheduler chooses.
    pub fn pinned(&self, first: u32, count: u32) -> Option<String> {
        let cpus = self.cpus.get(first as usize..first as usize + count as usize)?;
        Some(format!("cpu={}", cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")))
    }

    /// The number of copies that one process runs: all of them if copies are threads, else 1.
    pub fn threads(&self) -> u32 {
        if self.test.copies == Copies::Threads { self.copies } else { 1 }
    }

    /// The number of copies that one process reports: its threads, or the arms of a comparison and
    /// their controls.
    pub fn reports(&self) -> u32 {
        if self.test.arms > 0 { self.test.arms + self.test.controls() } else { self.threads() }
    }

    /// The name of the load in the background.
    pub fn load_name(&self) -> &str {
        self.load.as_ref().map_or(NONE, |load| &load.id)
    }
}

/// The programs that conditions run alongside the measured ones.
fn find_companions(arms: &Arms, catalogue: &Catalogue) -> Vec<Arc<Test>> {
    arms.conditions()
        .flat_map(|condition| &condition.parts)
        .filter_map(|(switch, _)| switch.companion.as_ref())
        .filter_map(|id| catalogue.test(id))
        .cloned()
        .collect()
}

/// The tests whose scores the cells' arguments name as `{ID}`.
fn find_named_tests(cells: &[Cell], catalogue: &Catalogue) -> Vec<Arc<Test>> {
    let is_named = |test: &&Arc<Test>| {
        let name = format!("{{{}}}", test.id);
        cells
            .iter()
            .flat_map(|cell| cell.args.iter().chain(&cell.load_args))
            .any(|arg| arg.contains(&name))
    };
    catalogue.tests.iter().filter(is_named).cloned().collect()
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
        Arms::compared(
            Condition::none(),
            catalogue().expand_conditions(&words(&[condition])).unwrap(),
        )
    }

    fn shown(matrix: Matrix) -> Vec<String> {
        let plan = Plan::new(&matrix, &catalogue(), &Topology::default()).unwrap();
        let name = |cell: &Cell| {
            let again = if cell.control { " again" } else { "" };
            format!(
                "{} x{} {} {}{again}",
                cell.test.id,
                cell.copies,
                cell.load_name(),
                cell.condition.name
            )
        };
        plan.cells.iter().map(name).collect()
    }

    #[test]
    fn the_matrix_has_conditions_outermost_and_tests_innermost() {
        let cells =
            shown(matrix(&["pipe", "spawn"], &[1, 2], &["none", "burn"], &["none", "nice=5"]));
        assert_eq!(cells.len(), 16);
        assert_eq!(cells[..3], ["pipe x1 none none", "spawn x1 none none", "pipe x2 none none"]);
        assert_eq!((&*cells[4], &*cells[8]), ("pipe x1 burn none", "pipe x1 none nice=5"));
        let many = matrix(&["pipe"], &(1..=1001).collect::<Vec<u32>>(), &["none"], &["none"]);
        let refused = Plan::new(&many, &catalogue(), &Topology::default()).unwrap_err();
        assert!(format!("{refused:#}").contains("1000 different numbers of copies"), "{refused:#}");
        let control =
            Matrix { arms: compared("nice=5"), ..matrix(&["pipe"], &[1], &["none"], &[]) };
        assert_eq!(
            shown(control),
            ["pipe x1 none none", "pipe x1 none nice=5", "pipe x1 none none again"]
        );
    }

    #[test]
    fn tasks_do_not_run_beside_themselves_nor_single_tests_twice() {
        assert_eq!(
            shown(matrix(&["audio", "video"], &[1], &["video"], &["none"])),
            ["audio x1 video none"]
        );
        let single =
            catalogue().tests.iter().find(|test| test.copies == Copies::One).unwrap().id.clone();
        assert_eq!(
            shown(matrix(&[&single], &[2, 4], &["none"], &["none"])),
            [format!("{single} x1 none none")]
        );
        let none =
            Plan::new(&matrix(&[], &[1], &["none"], &["none"]), &catalogue(), &Topology::default());
        assert!(none.unwrap_err().to_string().starts_with("there is nothing to measure"));
    }

    /// Arms 3 s apart share half of their noise, and arms 25 s apart none.
    #[test]
    fn a_block_shuffles_tests_and_then_the_arms_of_each() {
        let asked =
            matrix(&["pipe", "spawn", "syscall"], &[1, 2], &["none", "burn"], &["none", "nice=5"]);
        let plan =
            Plan::new(&Matrix { seed: 5, ..asked }, &catalogue(), &Topology::default()).unwrap();
        let blocks: Vec<Round> = plan.rounds().collect();
        assert_eq!(blocks.len(), 32);
        let (mut families, mut arms) = (BTreeSet::new(), BTreeSet::new());
        for block in &blocks {
            let mut every = block.cells.clone();
            every.sort_unstable();
            assert_eq!(every, (0..24).collect::<Vec<_>>(), "each once");
            let mut order: Vec<&str> =
                block.cells.iter().map(|number| &*plan.cells[*number].test.id).collect();
            order.dedup();
            assert_eq!(order.len(), 3, "arms apart: {order:?}");
            families.insert(order);
            let pipe = |number: &&usize| plan.cells[**number].test.id == "pipe";
            arms.insert(block.cells.iter().filter(pipe).copied().collect::<Vec<_>>());
        }
        assert_eq!(
            (families.len(), arms.len() > 28),
            (6, true),
            "every order of three, and most of eight once"
        );
        let again: Vec<Round> = plan.rounds().collect();
        assert_eq!(blocks, again, "the seed repeats it");
        let second: Vec<Round> = plan.second_look(vec![0, 1, 3], 32).collect();
        assert_eq!((second.len(), second[0].block, second[0].cells.len()), (16, 32, 3));
    }

    #[test]
    fn long_trials_are_in_every_third_block() {
        let asked = matrix(&["pipe", "audio", "2d-rects"], &[1, 2], &["none"], &["none"]);
        let plan = Plan::new(&asked, &catalogue(), &Topology::default()).unwrap();
        let trials =
            |number: usize| plan.rounds().filter(|block| block.cells.contains(&number)).count();
        for (number, cell) in plan.cells.iter().enumerate() {
            let wanted = if cell.test.id == "pipe" { 32 } else { 11 };
            assert_eq!(
                (trials(number), cell.max_trials as usize),
                (wanted, wanted),
                "{}",
                cell.test.id
            );
        }
        let cost = |effort| Matrix {
            arms: compared("nice=5"),
            procedure: Procedure::new(Purpose::Cost, effort),
            ..matrix(&["pipe"], &[1], &["none"], &[])
        };
        let control = |effort| {
            let plan = Plan::new(&cost(effort), &catalogue(), &Topology::default()).unwrap();
            plan.rounds()
                .filter(|block| block.cells.iter().any(|number| plan.cells[*number].control))
                .count()
        };
        assert_eq!(control(Effort::default()), 12, "of 48");
        assert_eq!(control(Effort { blocks: Some(5), ..Effort::default() }), 5);
        let fixed =
            Procedure::new(Purpose::Scores, Effort { blocks: Some(4), ..Effort::default() });
        let asked = Matrix { procedure: fixed, ..matrix(&["audio"], &[1], &["none"], &["none"]) };
        let plan = Plan::new(&asked, &catalogue(), &Topology::default()).unwrap();
        assert!(
            plan.rounds().all(|block| block.cells == [0]),
            "blocks that the user counts have every cell"
        );
    }

    #[test]
    fn a_warm_up_is_the_test_s_own_and_comes_before_what_is_counted() {
        let plan = |test: &str, procedure| {
            let asked = Matrix { procedure, ..matrix(&[test], &[1], &["none"], &["none"]) };
            Plan::new(&asked, &catalogue(), &Topology::default()).unwrap().cells[0].window
        };
        let window = |test: &str, effort: Effort| {
            let Window { slice, slices, warmup, .. } =
                plan(test, Procedure::new(Purpose::Scores, effort));
            (slice.as_millis(), slices, warmup)
        };
        let standard = Effort::default();
        assert_eq!(window("pipe", standard), (50, 5, 0));
        assert_eq!(window("shell8", standard), (50, 20, 0), "its loops are long");
        let (slice, slices, warmup) = window("context1", standard);
        assert!(warmup > 0 && (slice, slices) == (50, 5 + warmup), "{warmup}");
        assert_eq!(window("context1", Effort { kind: Kind::Classic, ..standard }), (1000, 10, 0));
        let Window { slice, slices, warmup, .. } =
            plan("pipe", Procedure::new(Purpose::Cost, standard));
        assert_eq!(
            (slice.as_millis(), slices, warmup),
            (125, 8, 2),
            "auditing's queues are filled in any test"
        );
    }

    #[test]
    fn copies_are_pinned_in_turn_and_borders_follow() {
        let pinned =
            Matrix { pin: Pin::Cpu(3), ..matrix(&["pipe"], &[1, 2], &["none"], &["none"]) };
        let plan = Plan::new(&pinned, &catalogue(), &Topology::default()).unwrap();
        assert_eq!((plan.most_copies(), &plan.cells[1].cpus[..]), (2, &[3, 3][..]));
        assert_eq!(plan.cells[1].pinned(0, 2).as_deref(), Some("cpu=3,3"));
        assert_eq!(plan.borders.last().unwrap().1, "more copies than processors");
    }
}
