//! From what many nodes delivered to which of them are slow, at what, by how much, and what they have in common. Pure.
//!
//! All figures are compared as logarithms, turned so that more is better: a rate as it is, a time or a latency upside
//! down. Deviations are in per cent, (node − typical) ÷ typical of that, and negative where the node is worse.

mod against;
mod energy;
mod facts;
mod groups;
mod judge;
mod notes;
mod report;
mod spread;
mod table;

use super::Summary;
use super::compare::Verdict;
use journal::{Cell, NodeId};
use stats::{Estimate, Method};

/// Groups of fewer nodes are too few to call one of them unlike the others.
pub const FEWEST: usize = 5;

/// A node's delivery.
#[derive(Debug, Clone, Copy)]
pub struct Delivered<'a> {
    /// The owner of the part.
    pub id: &'a NodeId,
    /// Its name in reports: the node, and the task if it has several; it may hold anything.
    pub name: &'a str,
    /// True if its run was whole; the figures of one that was cut short are used, and marked.
    pub whole: bool,
    /// The summary of its run.
    pub summary: &'a Summary,
}

/// The nodes that a node is compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum By {
    /// Nodes of the same type of machine: processor, number of CPUs and model.
    #[default]
    Machine,
    /// Nodes with the same value of this fact.
    Fact(String),
    /// All of them.
    Nothing,
}

/// The settings of a report.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The criterion of groups.
    pub by: By,
    /// Deviations up to this many per cent are never named.
    pub threshold: f64,
}

/// A fleet run's report.
#[derive(Debug, Clone, Default)]
pub struct FleetReport {
    /// The fleet run's name.
    pub run: String,
    /// The criterion of groups, in words: `type of machine`, a fact's name, `nothing`.
    pub by: String,
    /// Deviations up to this many per cent were not named.
    pub threshold: f64,
    /// The groups, largest first.
    pub groups: Vec<Group>,
    /// The cells that any node has a figure of, in the order in which nodes first have them.
    pub columns: Vec<Column>,
    /// The nodes that delivered anything, best first, those without an overall value last.
    pub nodes: Vec<Node>,
    /// The named nodes, gravest first: slow ones by their deviation, then the fast ones.
    pub outliers: Vec<Outlier>,
    /// Facts that slow nodes have in common, least p first.
    pub traits: Vec<Trait>,
    /// Facts that are not the same on all nodes, in the order of reports, without those that are true of a moment only.
    pub differing: Vec<Differing>,
    /// The changes of the nodes since another fleet run.
    pub against: Option<Against>,
    /// Notes on the method on these data.
    pub notes: Vec<String>,
    /// Warnings of what may mislead: unlike builds or procedures, cut runs.
    pub warnings: Vec<String>,
}

/// Nodes that are compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The features that they share, such as `AMD EPYC, 2 CPUs, KVM`.
    pub name: String,
    /// Their number.
    pub nodes: usize,
    /// The group's typical node over the whole fleet's, as the geometric mean over the columns; none with one group.
    pub overall: Option<f64>,
    /// True if it has enough nodes for one to be named.
    pub judged: bool,
}

/// One cell: a test at a number of copies, under a load and a condition.
#[derive(Debug, Clone)]
pub struct Column {
    /// The cell.
    pub cell: Cell,
    /// The number of nodes with a figure.
    pub nodes: usize,
    /// The median node's figure over the whole fleet, in the unit, with its interval.
    pub typical: Estimate,
    /// The median node's figure of each group, in the order of the groups; none where no node of it has one.
    pub typical_of: Vec<Option<Estimate>>,
    /// The spread of the figures.
    pub spread: Spread,
}

/// How figures of one cell vary, as standard deviations in per cent, robust ones: slow nodes hardly count in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// From trial to trial on one node; NaN where no node has two trials.
    pub within: f64,
    /// From node to node of a group, without what trials make; NaN where no group has three nodes.
    pub between: f64,
    /// From group to group, without what nodes make; none with one group.
    pub groups: Option<f64>,
}

/// One node, or one task of a node that has several.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name, which may hold anything.
    pub name: String,
    /// The place of its group in the groups.
    pub group: usize,
    /// True if its run was whole.
    pub whole: bool,
    /// Its figures over its group's typical ones, as a geometric mean: below 1 it is slower. The interval is of its
    /// measurement alone. NaN without a figure.
    pub overall: Estimate,
    /// The p value of the overall deviation among its group's nodes; 1 where it is not judged.
    pub p: f64,
    /// Its q value over the whole report.
    pub q: f64,
    /// Set if it is unlike the others over all.
    pub named: Option<Named>,
    /// Its place in its group, from 1: the best and the worst that the intervals of all allow. (0, 0) without a figure.
    pub rank: (usize, usize),
    /// Its figures, in the order of the columns; none where it has none.
    pub values: Vec<Option<Value>>,
    /// The energy it took meanwhile, where that is known.
    pub taken: Option<Taken>,
}

impl Node {
    /// Returns its overall ratio as a deviation in per cent.
    pub fn deviation(&self) -> Estimate {
        self.overall.map(|ratio| 100.0 * (ratio - 1.0))
    }
}

/// The energy that a node took for the same work as the others of its group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// Its mean power in W, the geometric mean over its tests.
    pub watts: f64,
    /// By how much an operation took more than with its group's typical node, in per cent, over all tests: positive is
    /// worse. The interval is of the measurement.
    pub excess: Estimate,
    /// The p value among its group's nodes with the same source of energy; 1 where it is not judged.
    pub p: f64,
    /// Its q value over all nodes.
    pub q: f64,
    /// Set if it is named: slow takes more than the others, fast less.
    pub named: Option<Named>,
}

/// A node's figure in one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The figure, in the column's unit.
    pub value: Estimate,
    /// How far it lies from its group's typical figure, in per cent, negative where it is worse; the interval is of the
    /// measurement (this node's and the typical one's), not of how nodes differ.
    pub deviation: Estimate,
    /// The two-sided p value among its group's nodes; 1 where it is not judged.
    pub p: f64,
    /// Its q value: the false discovery rate over all of the report at which it would be named.
    pub q: f64,
    /// Its verdict, if it is named.
    pub named: Option<Named>,
}

/// Which way a node is unlike its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Worse than the others.
    Slow,
    /// Better than the others.
    Fast,
}

impl Named {
    /// Its word in reports.
    pub fn name(self) -> &'static str {
        match self {
            Named::Slow => "slow",
            Named::Fast => "fast",
        }
    }
}

/// A node that is unlike its group at something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outlier {
    /// The place of the node in the report's nodes.
    pub node: usize,
    /// The place of the column; none where it is all of them together.
    pub column: Option<usize>,
    /// Which way.
    pub named: Named,
    /// How far, in per cent, negative where it is worse.
    pub deviation: Estimate,
    /// The p value.
    pub p: f64,
    /// The q value.
    pub q: f64,
}

/// A fact that slow nodes have in common more than others do.
#[derive(Debug, Clone, PartialEq)]
pub struct Trait {
    /// The fact, such as `cpu.microcode`.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The value in common.
    pub value: String,
    /// Slow nodes with it.
    pub slow_with: usize,
    /// Slow nodes.
    pub slow: usize,
    /// Other nodes with it.
    pub others_with: usize,
    /// Other nodes.
    pub others: usize,
    /// The one-sided p value of that many slow ones having it by chance (Fisher's exact test).
    pub p: f64,
    /// Its q value over all facts.
    pub q: f64,
}

/// A fact that is not the same on all nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Differing {
    /// The fact, such as `kernel.release`.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// The number of different values.
    pub distinct: usize,
    /// The values and on how many nodes each is, most first, at most twelve of them.
    pub values: Vec<(String, usize)>,
    /// Nodes where it is unknown.
    pub unknown: usize,
}

/// A fleet run against one before, node by node.
#[derive(Debug, Clone)]
pub struct Against {
    /// The name of the fleet run before.
    pub run: String,
    /// Nodes in both.
    pub pairs: usize,
    /// The changes of all cells that both have.
    pub changes: Vec<Change>,
    /// Nodes that changed unlike the others, gravest first; places are those of the report. Deviations are from the
    /// typical change.
    pub unlike: Vec<Outlier>,
    /// Nodes that are in the run before alone.
    pub only_before: Vec<String>,
    /// Nodes that are in this run alone.
    pub only_after: Vec<String>,
    /// Facts that changed on nodes of both, most nodes first.
    pub facts: Vec<FactChange>,
}

/// The change of one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The place of the column; none where it is all of them together.
    pub column: Option<usize>,
    /// Nodes that have it in both.
    pub nodes: usize,
    /// The change in per cent, negative is worse.
    pub delta: Estimate,
    /// The p value that there is none.
    pub p: f64,
    /// Its q value over all changes.
    pub q: f64,
    /// The method.
    pub method: Method,
    /// The verdict.
    pub verdict: Verdict,
}

/// A fact that changed from one value to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactChange {
    /// The fact.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Its value before.
    pub before: String,
    /// Its value now.
    pub after: String,
    /// On how many nodes.
    pub nodes: usize,
}
