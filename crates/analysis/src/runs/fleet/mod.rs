//! Which nodes of a fleet are slow, at what, by how much, and what they have in common.
//!
//! Many nodes have each measured the same tests and delivered a summary of their run.
//! [`FleetReport::new`] goes through these steps:
//!
//! 1. The figures become a table of nodes and columns ([`table`]), as logarithms that are turned so
//!    that more is better: a rate as it is, a time or a latency upside down.
//! 2. Nodes of the same type of machine form a *group* ([`groups`]): only they are compared.
//! 3. Each node's deviation from what is typical of its group is judged ([`judge`]), in each column
//!    and over all; those beyond chance and beyond the threshold are *named* slow or fast.
//! 4. Facts that slow nodes share are looked for ([`facts`]), and what changed since an earlier
//!    fleet run ([`against`]).
//!
//! Deviations are reported in per cent, (node − typical) ÷ typical, and are negative where the node
//! is worse.

mod against;
mod energy;
mod facts;
mod groups;
mod judge;
mod notes;
mod report;
mod spread;
mod table;

use crate::findings::Summary;
use crate::products::comparison::Verdict;
use journal::{Cell, NodeId};
use stats::{Estimate, Method};

/// Fewest nodes of a group in which one may be called unlike the others.
pub const MIN_NODES: usize = 5;

/// What a node delivered.
#[derive(Debug, Clone, Copy)]
pub struct Delivered<'a> {
    /// The node, and the task if it has several.
    pub id: &'a NodeId,
    /// Its name in reports, which may hold any characters.
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
    /// All nodes.
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

/// The report on a fleet run.
#[derive(Debug, Clone, Default)]
pub struct FleetReport {
    /// The name of the fleet run.
    pub run: String,
    /// The criterion of groups, in words: `type of machine`, a fact's name, `nothing`.
    pub by: String,
    /// Deviations up to this many per cent were not named.
    pub threshold: f64,
    /// The groups, largest first.
    pub groups: Vec<Group>,
    /// The cells of which any node has a figure, in the order in which nodes first have them.
    pub columns: Vec<Column>,
    /// The nodes that delivered anything, best first; those without an overall value come last.
    pub nodes: Vec<Node>,
    /// The named nodes, gravest first: slow ones by their deviation, then the fast ones.
    pub outliers: Vec<Outlier>,
    /// Facts that slow nodes have in common, least p first.
    pub traits: Vec<Trait>,
    /// Facts that differ between nodes, in the order of reports, without those of a moment.
    pub differing: Vec<Differing>,
    /// The changes of the nodes since another fleet run.
    pub against: Option<Against>,
    /// What readers must know of the method on these data.
    pub notes: Vec<String>,
    /// Reasons for nodes to differ other than their speed: builds, procedures, runs cut short.
    pub warnings: Vec<String>,
}

/// Nodes that are compared with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What its nodes have in common, such as `AMD EPYC, 2 CPUs, KVM`.
    pub name: String,
    /// The number of its nodes.
    pub nodes: usize,
    /// The ratio of the group's typical node to the whole fleet's, as the geometric mean over the
    /// columns; `None` if there is only one group.
    pub overall: Option<f64>,
    /// True if it has enough nodes for one to be named.
    pub judged: bool,
}

/// One cell: a test at a number of copies, under a load and a condition.
#[derive(Debug, Clone)]
pub struct Column {
    /// The test with its copies, load and condition.
    pub cell: Cell,
    /// The number of nodes with a figure.
    pub nodes: usize,
    /// The figure of the whole fleet's median node, in the cell's unit, with its interval.
    pub typical: Estimate,
    /// The figure of each group's median node, in the order of the groups; `None` where no node of
    /// the group has one.
    pub typical_of: Vec<Option<Estimate>>,
    /// How the figures vary.
    pub spread: Spread,
}

/// How figures of one cell vary, as standard deviations in per cent. They are robust: a few slow
/// nodes hardly count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// From trial to trial on one node; NaN where no node has two trials.
    pub within: f64,
    /// From node to node of a group, without the share of trials; NaN where no group has three
    /// nodes.
    pub between: f64,
    /// From group to group, without the share of nodes; `None` if there is only one group.
    pub groups: Option<f64>,
}

/// One node, or one task of a node that has several.
#[derive(Debug, Clone)]
pub struct Node {
    /// Its name, which may hold any characters.
    pub name: String,
    /// The place of its group in [`FleetReport::groups`].
    pub group: usize,
    /// True if its run was whole.
    pub whole: bool,
    /// The ratio of its figures to its group's typical ones, as a geometric mean: below 1 it is
    /// slower. The interval is of its own measurement alone. NaN without a figure.
    pub overall: Estimate,
    /// The p value of the overall deviation among its group's nodes; 1 where it is not judged.
    pub p: f64,
    /// Its q value over the whole report.
    pub q: f64,
    /// Set if the node is unlike the others over all columns.
    pub named: Option<Named>,
    /// Its rank in its group, from 1: the best and the worst that the intervals of all allow.
    /// `(0, 0)` without a figure.
    pub rank: (usize, usize),
    /// Its figures by column; `None` where it has none.
    pub values: Vec<Option<Value>>,
    /// The energy that it took, where that is known.
    pub taken: Option<Taken>,
}

impl Node {
    /// The overall ratio as a deviation in per cent.
    pub fn deviation(&self) -> Estimate {
        self.overall.map(|ratio| 100.0 * (ratio - 1.0))
    }
}

/// The energy that a node took for the same work as the others of its group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Taken {
    /// Its power in W, the geometric mean over its tests.
    pub watts: f64,
    /// The energy that an operation took beyond that of the group's typical node, in per cent, over
    /// all tests: positive is worse. The interval is of the measurement.
    pub excess: Estimate,
    /// The p value among its group's nodes with the same source of energy; 1 where it is not
    /// judged.
    pub p: f64,
    /// Its q value over all nodes.
    pub q: f64,
    /// Set if the node is unlike the others: `Slow` takes more than they do, `Fast` less.
    pub named: Option<Named>,
}

/// A node's figure in one column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The figure, in the column's unit.
    pub value: Estimate,
    /// The distance from the group's typical figure, in per cent, negative where the node is worse.
    /// The interval is of the measurement (this node's and the typical one's), not of how nodes
    /// differ.
    pub deviation: Estimate,
    /// The two-sided p value among its group's nodes; 1 where it is not judged.
    pub p: f64,
    /// The q value: the false discovery rate over the whole report at which it would be named.
    pub q: f64,
    /// Set if the figure is unlike the others.
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
    /// The word for it in reports.
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
    /// The place of the node in [`FleetReport::nodes`].
    pub node: usize,
    /// The place of the column; `None` of all columns together.
    pub column: Option<usize>,
    /// Whether it is slow or fast.
    pub named: Named,
    /// The deviation in per cent, negative where the node is worse.
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
    /// The value that they have.
    pub value: String,
    /// The number of slow nodes with this value.
    pub slow_with: usize,
    /// The number of slow nodes.
    pub slow: usize,
    /// The number of other nodes with this value.
    pub others_with: usize,
    /// The number of other nodes.
    pub others: usize,
    /// The one-sided p value of as many slow nodes having the value by chance (Fisher's exact
    /// test).
    pub p: f64,
    /// The q value over all facts.
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
    /// The values with the number of nodes that have each, most first; at most twelve of them.
    pub values: Vec<(String, usize)>,
    /// The number of nodes where it is unknown.
    pub unknown: usize,
}

/// A fleet run against an earlier one, node by node.
#[derive(Debug, Clone)]
pub struct Against {
    /// The name of the earlier fleet run.
    pub run: String,
    /// The number of nodes in both.
    pub pairs: usize,
    /// The changes of all cells that both have.
    pub changes: Vec<Change>,
    /// Nodes that changed unlike the others, gravest first. Places are those of the report,
    /// deviations are from the typical change.
    pub unlike: Vec<Outlier>,
    /// Nodes that are only in the earlier run.
    pub only_before: Vec<String>,
    /// Nodes that are only in this run.
    pub only_after: Vec<String>,
    /// Facts that changed on nodes of both, most nodes first.
    pub facts: Vec<FactChange>,
}

/// The change of one cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The place of the column; `None` of all columns together.
    pub column: Option<usize>,
    /// The number of nodes that have the cell in both.
    pub nodes: usize,
    /// The change in per cent; negative is worse.
    pub delta: Estimate,
    /// The p value of no change.
    pub p: f64,
    /// The q value over all changes.
    pub q: f64,
    /// How the interval was computed.
    pub method: Method,
    /// What the change amounts to.
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
    /// The number of nodes on which it changed so.
    pub nodes: usize,
}
