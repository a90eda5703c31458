//! The matrix test × copies × load × condition, point by point.

use std::sync::Arc;

use super::{Arms, Cell, Pin, Procedure};
use catalogue::{Condition, Copies, Metric, Test};

/// The matrix, and how to measure it. By default it has no test: one copy without a load, on the
/// machine as found.
#[derive(Debug, Clone)]
pub struct Matrix {
    /// The tests, in order.
    pub tests: Vec<Arc<Test>>,
    /// The numbers of copies, in order.
    pub copies: Vec<u32>,
    /// The loads, in order.
    pub loads: Vec<Option<Arc<Test>>>,
    /// The conditions, and which of them the others are compared with.
    pub arms: Arms,
    /// How to measure.
    pub procedure: Procedure,
    /// The seed of every random order.
    pub seed: u64,
    /// Arguments for every test, after its own.
    pub test_args: Vec<String>,
    /// Arguments for every load, after its own.
    pub load_args: Vec<String>,
    /// How many processes or groups a load has, if it has such a number.
    pub load_number: Option<u32>,
    /// The condition that every load runs under besides its own.
    pub load_condition: Arc<Condition>,
    /// The placement of copies.
    pub pin: Pin,
}

/// One point of the matrix.
pub(super) struct Point<'a> {
    pub test: &'a Arc<Test>,
    pub copies: u32,
    pub load: Option<&'a Arc<Test>>,
    pub condition: &'a Arc<Condition>,
    pub control: bool,
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
        }
    }
}

impl Matrix {
    /// The points of the matrix: conditions outermost, then loads, copies and tests; the control last.
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

    /// Returns true if a point is measured.
    pub(super) fn is_measured(&self, point: &Point<'_>) -> bool {
        // Interbench leaves these out too: a task that runs twice is not beside a load.
        let beside_itself =
            point.test.metric == Metric::Latency && point.load.is_some_and(|load| load.id == point.test.id);
        // There is never more than one copy of these: they are measured once, at the first level.
        let again = point.test.copies == Copies::One && point.copies != self.copies[0];
        !beside_itself && !again
    }

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

/// Every pair of the two, the first outermost.
fn product<A: Clone, B: Clone>(
    first: impl Iterator<Item = A>,
    second: impl IntoIterator<Item = B, IntoIter: Clone>,
) -> impl Iterator<Item = (A, B)> {
    let second = second.into_iter();
    first.flat_map(move |a| second.clone().map(move |b| (a.clone(), b)))
}
