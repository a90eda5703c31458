//! A fleet report, put together from its parts.
//!
//! Nodes are numbered twice: in the order in which they were *delivered*, by which groups and
//! tables know them, and in the order of the *report*, best first, by which outliers know them.
//! [`FleetReport::sort_best_first`] returns the first by the second.

use anyhow::Result;

use super::judge::{
    self, Deviation, Deviations, JudgedGroup, judge_group, named, q_values, sort_gravest_first,
};
use super::table::{Cell, Table, to_log};
use super::{Asked, Column, Delivered, FleetReport, Group, Named, Node, Outlier};
use super::{Taken, Trait, Value};
use super::{against, energy, facts, groups, notes, spread};
use catalogue::Metric;
use stats::{Estimate, Exact, NORMAL_975, mean, rank_ranges};
use words::Grouped;

/// The rank of a node without a figure.
const NO_RANK: (usize, usize) = (0, 0);

impl FleetReport {
    /// The report on what nodes delivered for the fleet run `run`, and what changed since `before`:
    /// an earlier fleet run's name with what its nodes delivered.
    ///
    /// # Errors
    /// No node has the fact that should make the groups.
    pub fn new(
        run: &str,
        delivered: &[Delivered<'_>],
        before: Option<(&str, &[Delivered<'_>])>,
        asked: &Asked,
    ) -> Result<FleetReport> {
        let table = Table::new(delivered);
        let mut groups = Vec::new();
        for members in groups::group_nodes(delivered, &asked.by)? {
            let verdicts = judge_group(&table.cells(&members.nodes), members.nodes.len());
            groups.push(JudgedGroup { name: members.name, nodes: members.nodes, verdicts });
        }
        let columns: Vec<Column> =
            (0..table.columns.len()).map(|place| column(&table, &groups, place)).collect();

        let mut report = FleetReport {
            run: run.to_owned(),
            by: groups::criterion(&asked.by).to_owned(),
            threshold: asked.threshold,
            groups: groups.iter().map(|group| describe(group, groups.len(), &columns)).collect(),
            columns,
            nodes: nodes(delivered, &table, &groups),
            ..FleetReport::default()
        };
        let taken = energy::energy_taken(delivered, &groups, asked.threshold);
        for (node, taken) in report.nodes.iter_mut().zip(taken) {
            node.taken = taken;
        }
        report.add_names();
        let order = report.sort_best_first();
        report.outliers = report.named_deviations();

        report.differing = facts::differing(&with_figures(delivered));
        report.traits = traits(&report, delivered, &groups, &order);
        if let Some((name, before)) = before {
            let places = against::Places { order: &order, groups: &groups };
            report.against = Some(against::compare_with(
                name,
                before,
                delivered,
                &table,
                &places,
                asked.threshold,
            ));
        }

        report.notes = notes::notes(&report);
        report.warnings = notes::warnings(delivered);
        if let Some((_, before)) = before {
            report.warnings.extend(notes::warnings_since(before, delivered));
        }
        Ok(report)
    }

    /// The nodes whose energy is known with what they took, those that took most first.
    pub fn taken(&self) -> Vec<(&Node, Taken)> {
        let known = self.nodes.iter().filter_map(|node| Some((node, node.taken?)));
        let mut known: Vec<(&Node, Taken)> = known.collect();
        known.sort_by(|a, b| b.1.excess.value.total_cmp(&a.1.excess.value));
        known
    }

    /// The number of nodes with a figure.
    pub fn measured(&self) -> usize {
        self.nodes.iter().filter(|node| node.values.iter().any(Option::is_some)).count()
    }

    /// The slow nodes, gravest first, each with what it is slow at; all columns together first.
    pub fn slow(&self) -> Vec<(usize, Vec<&Outlier>)> {
        self.named(Named::Slow)
    }

    /// The nodes that are named as `named`, gravest first, each with what it is named for.
    pub fn named(&self, named: Named) -> Vec<(usize, Vec<&Outlier>)> {
        let outliers = self.outliers.iter().filter(|outlier| outlier.named == named);
        let mut by_node = outliers.map(|outlier| (outlier.node, outlier)).grouped();
        for (_, outliers) in &mut by_node {
            // Stable: the gravest stays first among the columns.
            outliers.sort_by_key(|outlier| outlier.column.is_some());
        }
        by_node
    }

    /// Names what is beyond chance over the whole report, and beyond the threshold.
    fn add_names(&mut self) {
        let is_judged: Vec<bool> = self.groups.iter().map(|group| group.judged).collect();
        let threshold = self.threshold;

        let mut p_of_cells = Vec::new();
        let mut p_of_nodes = Vec::new();
        for node in self.nodes.iter().filter(|node| is_judged[node.group]) {
            p_of_cells.extend(node.values.iter().flatten().map(|value| value.p));
            p_of_nodes.extend(node.overall.value.is_finite().then_some(node.p));
        }

        // The same nodes and values in the same order: each takes the next of its q values.
        let q = q_values(&p_of_cells, &p_of_nodes);
        let mut q_of_cells = q.cells.into_iter();
        let mut q_of_nodes = q.nodes.into_iter();
        for node in self.nodes.iter_mut().filter(|node| is_judged[node.group]) {
            for value in node.values.iter_mut().flatten() {
                value.q = q_of_cells.next().unwrap_or(1.0);
                value.named = named(value.deviation.value, value.q, threshold);
            }
            if node.overall.value.is_finite() {
                node.q = q_of_nodes.next().unwrap_or(1.0);
                node.named = named(node.deviation().value, node.q, threshold);
            }
        }
    }

    /// Puts the nodes best first; returns where each was.
    fn sort_best_first(&mut self) -> Vec<usize> {
        let nodes = std::mem::take(&mut self.nodes);
        let mut numbered: Vec<(usize, Node)> = nodes.into_iter().enumerate().collect();
        numbered.sort_by(|(_, a), (_, b)| {
            let value = |node: &Node| {
                let value = node.overall.value;
                if value.is_nan() { f64::NEG_INFINITY } else { value }
            };
            value(b).total_cmp(&value(a)).then_with(|| a.name.cmp(&b.name))
        });

        let (order, nodes) = numbered.into_iter().unzip();
        self.nodes = nodes;
        order
    }

    /// The deviations that have a name, gravest first.
    fn named_deviations(&self) -> Vec<Outlier> {
        let mut outliers = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            if let Some(named) = node.named {
                outliers.push(Outlier {
                    node: place,
                    column: None,
                    named,
                    deviation: node.deviation(),
                    p: node.p,
                    q: node.q,
                });
            }
            for (column, value) in node.values.iter().enumerate() {
                let Some(Value { deviation, p, q, named: Some(named), .. }) = *value else {
                    continue;
                };
                outliers.push(Outlier {
                    node: place,
                    column: Some(column),
                    named,
                    deviation,
                    p,
                    q,
                });
            }
        }
        sort_gravest_first(&mut outliers);
        outliers
    }
}

/// The facts that slow nodes share, against the others of their groups: what makes a group does not
/// explain why some of it are slow.
fn traits(
    report: &FleetReport,
    delivered: &[Delivered<'_>],
    groups: &[JudgedGroup],
    order: &[usize],
) -> Vec<Trait> {
    let mut is_slow = vec![false; delivered.len()];
    for outlier in report.outliers.iter().filter(|outlier| outlier.named == Named::Slow) {
        is_slow[order[outlier.node]] = true;
    }

    let mut nodes = Vec::new();
    let mut slow = Vec::new();
    for group in groups.iter().filter(|group| group.nodes.iter().any(|node| is_slow[*node])) {
        nodes.extend(group.nodes.iter().map(|node| delivered[*node]));
        slow.extend(group.nodes.iter().map(|node| is_slow[*node]));
    }
    facts::traits(&nodes, &slow)
}

/// The nodes that have figures, if any has: what is unknown of another is not a difference.
fn with_figures<'a>(delivered: &[Delivered<'a>]) -> Vec<Delivered<'a>> {
    let nodes = delivered.iter().copied().filter(|node| !node.summary.figures.is_empty());
    let nodes: Vec<Delivered<'a>> = nodes.collect();
    if nodes.is_empty() { delivered.to_vec() } else { nodes }
}

/// A group as it is reported, one of `groups`.
fn describe(group: &JudgedGroup, groups: usize, columns: &[Column]) -> Group {
    let logs = group.verdicts.columns.iter().zip(columns).map(|(deviations, column)| {
        deviations.centre - to_log(column.cell.metric, column.typical.value)
    });
    let logs: Vec<f64> = logs.filter(|log| log.is_finite()).collect();
    let has_overall = groups > 1 && !logs.is_empty();
    Group {
        name: group.name.clone(),
        nodes: group.nodes.len(),
        overall: has_overall.then(|| mean(logs).exponential()),
        judged: group.verdicts.are_any(),
    }
}

/// The figure whose logarithm, turned so that more is better, is `log`.
fn from_log(metric: Metric, log: f64, error: f64) -> Estimate {
    let value = if metric == Metric::Rate { log.exponential() } else { (-log).exponential() };
    Estimate::within(value, NORMAL_975 * error)
}

fn column(table: &Table<'_>, groups: &[JudgedGroup], place: usize) -> Column {
    let cell = &table.columns[place].cell;
    let cells: Vec<Option<Cell>> = table.rows.iter().map(|row| row[place]).collect();
    let cells_by_group: Vec<Vec<Option<Cell>>> =
        groups.iter().map(|group| group.nodes.iter().map(|node| cells[*node]).collect()).collect();
    let deviations: Vec<&Deviations> =
        groups.iter().map(|group| &group.verdicts.columns[place]).collect();

    let typical_of = deviations.iter().map(|group| {
        let has_typical = group.centre.is_finite();
        has_typical.then(|| from_log(cell.metric, group.centre, group.error))
    });
    let (centre, error) = judge::typical(&cells);
    Column {
        cell: cell.clone(),
        nodes: cells.iter().flatten().count(),
        typical: from_log(cell.metric, centre, error),
        typical_of: typical_of.collect(),
        spread: spread::spread(&cells_by_group, &deviations),
    }
}

/// The nodes in the order in which they were delivered.
fn nodes(delivered: &[Delivered<'_>], table: &Table<'_>, groups: &[JudgedGroup]) -> Vec<Node> {
    let mut nodes: Vec<Option<Node>> = vec![None; delivered.len()];
    for (number, group) in groups.iter().enumerate() {
        let together = &group.verdicts.together.by_node;
        let overall: Vec<Option<Estimate>> =
            together.iter().map(|deviation| deviation.map(to_ratio)).collect();
        let known: Vec<Estimate> = overall.iter().flatten().copied().collect();
        let mut ranks = rank_ranges(&known, false).into_iter();

        for (member, place) in group.nodes.iter().enumerate() {
            let row = &table.rows[*place];
            let values = group.verdicts.columns.iter().zip(row);
            nodes[*place] = Some(Node {
                name: delivered[*place].name.to_owned(),
                group: number,
                whole: delivered[*place].whole,
                overall: overall[member].unwrap_or(Estimate::alone(f64::NAN)),
                p: together[member].map_or(1.0, |deviation| deviation.p),
                q: 1.0,
                named: None,
                rank: overall[member].and_then(|_| ranks.next()).unwrap_or(NO_RANK),
                values: values.map(|(column, cell)| value(column.by_node[member], *cell)).collect(),
                taken: None,
            });
        }
    }
    // Every node is in one group.
    nodes.into_iter().flatten().collect()
}

/// A deviation as the node's ratio to the typical one, with the interval of its own measurement.
fn to_ratio(deviation: Deviation) -> Estimate {
    Estimate::within(deviation.value.exponential(), NORMAL_975 * deviation.own_error)
}

/// A figure that is not named yet.
fn value(deviation: Option<Deviation>, cell: Option<Cell>) -> Option<Value> {
    let deviation = deviation?;
    Some(Value {
        value: cell?.figure,
        deviation: deviation.to_percent(),
        p: deviation.p,
        q: 1.0,
        named: None,
    })
}
