//! The matrix test × copies × load × condition, and its points.

use std::sync::Arc;

use super::point::Point;
use super::{Arms, Cell, Pin, Procedure};
use catalogue::{Condition, Copies, Metric, Test};

/// The matrix, and how to measure it. The default has one copy without a load on the machine as
/// found, and no test.
#[derive(Debug, Clone)]
pub struct Matrix {
    pub tests: Vec<Arc<Test>>,
    /// The numbers of copies.
    pub copies: Vec<u32>,
    /// The loads; `None` is no load.
    pub loads: Vec<Option<Arc<Test>>>,
    /// The conditions, and the reference among them.
    pub arms: Arms,
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// Arguments for every test, after its own.
    pub test_args: Vec<String>,
    /// Arguments for every load, after its own.
    pub load_args: Vec<String>,
    /// The number of processes or groups of every load that has such a number.
    pub load_number: Option<u32>,
    /// A condition for every load, in addition to its own.
    pub load_condition: Arc<Condition>,
    /// The placement of copies.
    pub pin: Pin,
    /// True if trials note how long their condition took to start and to stop.
    pub times_starts: bool,
}

impl Default for Matrix {
    fn default() -> Matrix {
        Matrix {
            tests: Vec::new(),
            copies: vec![1],
            loads: vec![None],
            arms: Arms::default(),
            procedure: Procedure::default(),
            seed: 0,
            test_args: Vec::new(),
            load_args: Vec::new(),
            load_number: None,
            load_condition: Condition::none(),
            pin: Pin::default(),
            times_starts: false,
        }
    }
}

impl Matrix {
    /// The points of the matrix: conditions outermost, then loads, copies and tests; the control
    /// last.
    pub(super) fn points(&self) -> impl Iterator<Item = Point<'_>> {
        let arms = product(product(self.arms.each(), &self.loads), &self.copies);
        let points = product(arms, &self.tests);
        points.map(|((((condition, control), load), copies), test)| Point {
            test,
            copies: *copies,
            load: load.as_ref(),
            condition,
            control,
        })
    }

    /// True if a point is measured.
    pub(super) fn is_measured(&self, point: &Point<'_>) -> bool {
        // A task is no load for itself. Interbench leaves these points out too.
        let is_own_load = point.test.metric == Metric::Latency
            && point.load.is_some_and(|load| load.id == point.test.id);
        // Tests of a single copy are measured once, at the first level.
        let is_repeated = point.test.copies == Copies::One && point.copies != self.copies[0];
        !is_own_load && !is_repeated
    }

    /// The cell of a point. `cpus` are taken round-robin by its copies.
    pub(super) fn cell(&self, point: &Point<'_>, cpus: &[u32]) -> Cell {
        let mut cell = self.procedure.cell(point);
        cell.cpus = cpus.iter().cycle().take(cell.copies as usize).copied().collect();
        cell.args.extend(self.test_args.iter().cloned());
        cell.load_args.extend(self.load_args.iter().cloned());

        let number = point.load.and_then(|load| load.number.as_ref()).zip(self.load_number);
        cell.load_args.extend(number.map(|(name, number)| format!("{name}={number}")));
        if point.load.is_some() {
            cell.load_condition = Arc::new(cell.load_condition.and(&self.load_condition));
        }
        cell
    }
}

/// Every pair of an element of each, those of the first outermost.
fn product<A: Clone, B: Clone>(
    first: impl Iterator<Item = A>,
    second: impl IntoIterator<Item = B, IntoIter: Clone>,
) -> impl Iterator<Item = (A, B)> {
    let second = second.into_iter();
    first.flat_map(move |a| second.clone().map(move |b| (a.clone(), b)))
}
