//! The parts put together.

use anyhow::Result;

use super::judge::{self, Deviation, Family, Judged, gravest_first, named};
use super::table::{Cell, Table, turned};
use super::{Asked, Column, Delivered, FleetReport, Group, Named, Node, Outlier, Taken, Value};
use super::{against, energy, facts, groups, notes, spread};
use catalogue::Metric;
use stats::{Estimate, Exact, NORMAL_975, mean, rank_ranges};
use words::Grouped;

impl FleetReport {
    /// Returns the report of what nodes delivered for the fleet run `run`, and what changed since `before`: a fleet
    /// run's name with what its nodes delivered.
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
        let (by, groups) = groups::grouped(delivered, &asked.by)?;
        let families: Vec<Family> = groups.into_iter().map(|(name, nodes)| family(name, nodes, &table)).collect();
        let columns: Vec<Column> = (0..table.columns.len()).map(|place| column(&table, &families, place)).collect();
        let mut report = FleetReport {
            run: run.to_owned(),
            by,
            threshold: asked.threshold,
            groups: families.iter().map(|family| group(family, &families, &columns)).collect(),
            columns,
            nodes: nodes(delivered, &table, &families),
            ..FleetReport::default()
        };
        let taken = energy::taken(delivered, &families, asked.threshold);
        report.nodes.iter_mut().zip(taken).for_each(|(node, taken)| node.taken = taken);
        report.name();
        let order = report.sort();
        report.outliers = report.found();
        let slow: Vec<bool> = {
            let mut slow = vec![false; delivered.len()];
            let found = report.outliers.iter().filter(|one| one.named == Named::Slow);
            found.for_each(|one| slow[order[one.node]] = true);
            slow
        };
        report.differing = facts::differing(&measured(delivered));
        // Against the others of their groups: what makes a group does not explain why some of it are slow.
        let with_slow: Vec<&Family> =
            families.iter().filter(|family| family.nodes.iter().any(|node| slow[*node])).collect();
        let beside: Vec<usize> = with_slow.iter().flat_map(|family| family.nodes.iter().copied()).collect();
        let (these, slow): (Vec<Delivered<'_>>, Vec<bool>) =
            beside.iter().map(|node| (delivered[*node], slow[*node])).unzip();
        report.traits = facts::traits(&these, &slow);
        if let Some((name, before)) = before {
            let places = against::Places { order: &order, families: &families };
            report.against = Some(against::against(name, before, delivered, &table, &places, asked.threshold));
        }
        report.notes = notes::notes(&report);
        report.warnings = notes::warnings(delivered);
        report.warnings.extend(before.into_iter().flat_map(|(_, before)| notes::since(before, delivered)));
        Ok(report)
    }

    /// The nodes whose energy is known with what they took, those that took most first.
    pub fn taken(&self) -> Vec<(&Node, Taken)> {
        let mut found: Vec<(&Node, Taken)> = self.nodes.iter().filter_map(|node| Some((node, node.taken?))).collect();
        found.sort_by(|a, b| b.1.excess.value.total_cmp(&a.1.excess.value));
        found
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
        let own = self.outliers.iter().filter(|one| one.named == named);
        let mut found = own.map(|one| (one.node, one)).grouped();
        // Stable: what is gravest stays first among the columns.
        found.iter_mut().for_each(|(_, all)| all.sort_by_key(|one| one.column.is_some()));
        found
    }

    /// Names what is beyond chance over the whole report, and beyond the threshold.
    fn name(&mut self) {
        let judged: Vec<bool> = self.groups.iter().map(|group| group.judged).collect();
        let (mut cells, mut nodes) = (Vec::new(), Vec::new());
        for node in self.nodes.iter().filter(|node| judged[node.group]) {
            cells.extend(node.values.iter().flatten().map(|value| value.p));
            nodes.extend(node.overall.value.is_finite().then_some(node.p));
        }
        let (cells, nodes) = judge::rates(&cells, &nodes);
        let (mut cells, mut nodes) = (cells.into_iter(), nodes.into_iter());
        let threshold = self.threshold;
        for node in self.nodes.iter_mut().filter(|node| judged[node.group]) {
            for value in node.values.iter_mut().flatten() {
                value.q = cells.next().unwrap_or(1.0);
                value.named = named(value.deviation.value, value.q, threshold);
            }
            if node.overall.value.is_finite() {
                node.q = nodes.next().unwrap_or(1.0);
                node.named = named(node.deviation().value, node.q, threshold);
            }
        }
    }

    /// Puts the nodes best first; returns where each was.
    fn sort(&mut self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        let key = |place: usize| {
            let value = self.nodes[place].overall.value;
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        };
        order.sort_by(|a, b| key(*b).total_cmp(&key(*a)).then_with(|| self.nodes[*a].name.cmp(&self.nodes[*b].name)));
        let mut nodes: Vec<Option<Node>> = std::mem::take(&mut self.nodes).into_iter().map(Some).collect();
        self.nodes = order.iter().filter_map(|place| nodes[*place].take()).collect();
        order
    }

    /// Returns the named nodes, gravest first.
    fn found(&self) -> Vec<Outlier> {
        let mut found = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let Node { p, q, .. } = *node;
            let overall =
                |named: Named| Outlier { node: place, column: None, named, deviation: node.deviation(), p, q };
            found.extend(node.named.map(overall));
            for (column, value) in node.values.iter().enumerate() {
                let Some(Value { deviation, p, q, named: Some(named), .. }) = *value else { continue };
                found.push(Outlier { node: place, column: Some(column), named, deviation, p, q });
            }
        }
        gravest_first(&mut found);
        found
    }
}

/// The nodes that have figures, if any has: what is unknown of another is not a difference.
fn measured<'a>(delivered: &[Delivered<'a>]) -> Vec<Delivered<'a>> {
    let some: Vec<Delivered<'a>> = delivered.iter().copied().filter(|node| !node.summary.figures.is_empty()).collect();
    if some.is_empty() { delivered.to_vec() } else { some }
}

fn family(name: String, nodes: Vec<usize>, table: &Table<'_>) -> Family {
    let verdicts = judge::group(&table.cells(&nodes), nodes.len());
    Family { name, nodes, verdicts }
}

fn group(family: &Family, families: &[Family], columns: &[Column]) -> Group {
    let logs: Vec<f64> = (family.verdicts.columns.iter().zip(columns))
        .map(|(judged, column)| judged.centre - turned(column.cell.metric, column.typical.value))
        .filter(|log| log.is_finite())
        .collect();
    let overall = (families.len() > 1 && !logs.is_empty()).then(|| mean(logs).exponential());
    Group { name: family.name.clone(), nodes: family.nodes.len(), overall, judged: family.verdicts.any() }
}

/// A logarithm turned back into a figure.
fn figure(metric: Metric, log: f64, error: f64) -> Estimate {
    let value = if metric == Metric::Rate { log.exponential() } else { (-log).exponential() };
    Estimate::within(value, NORMAL_975 * error)
}

fn column(table: &Table<'_>, families: &[Family], place: usize) -> Column {
    let about = table.columns[place];
    let all: Vec<Option<Cell>> = table.rows.iter().map(|row| row[place]).collect();
    let (centre, error) = judge::typical(&all);
    let judged: Vec<&Judged> = families.iter().map(|family| &family.verdicts.columns[place]).collect();
    let cells: Vec<Vec<Option<Cell>>> =
        families.iter().map(|family| family.nodes.iter().map(|node| all[*node]).collect()).collect();
    let typical_of =
        |judged: &&Judged| judged.centre.is_finite().then(|| figure(about.cell.metric, judged.centre, judged.error));
    Column {
        cell: about.cell.clone(),
        nodes: all.iter().flatten().count(),
        typical: figure(about.cell.metric, centre, error),
        typical_of: judged.iter().map(typical_of).collect(),
        spread: spread::spread(&cells, &judged),
    }
}

/// The nodes in the order in which they were delivered.
fn nodes(delivered: &[Delivered<'_>], table: &Table<'_>, families: &[Family]) -> Vec<Node> {
    let mut nodes: Vec<Option<Node>> = vec![None; delivered.len()];
    for (group, family) in families.iter().enumerate() {
        let together = &family.verdicts.together.deviations;
        let ratio = |one: Deviation| Estimate::within(one.value.exponential(), NORMAL_975 * one.own);
        let overall: Vec<Option<Estimate>> = together.iter().map(|one| one.map(ratio)).collect();
        let known: Vec<Estimate> = overall.iter().flatten().copied().collect();
        let mut ranks = rank_ranges(&known, false).into_iter();
        for (member, place) in family.nodes.iter().enumerate() {
            let value = |column: usize| {
                let deviation = family.verdicts.columns[column].deviations[member]?;
                let value = table.rows[*place][column]?.figure;
                Some(Value { value, deviation: deviation.percent(), p: deviation.p, q: 1.0, named: None })
            };
            nodes[*place] = Some(Node {
                name: delivered[*place].name.to_owned(),
                group,
                whole: delivered[*place].whole,
                overall: overall[member].unwrap_or(Estimate::alone(f64::NAN)),
                p: together[member].map_or(1.0, |one| one.p),
                q: 1.0,
                named: None,
                rank: overall[member].and_then(|_| ranks.next()).unwrap_or((0, 0)),
                values: (0..table.columns.len()).map(value).collect(),
                taken: None,
            });
        }
    }
    // Every node is in one group.
    nodes.into_iter().flatten().collect()
}
