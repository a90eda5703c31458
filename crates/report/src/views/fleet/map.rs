//! Every node in every test: as a table with colours, and as a chart.

use analysis::fleet::{Column as Test, FleetReport, Node, Value};
use catalogue::Metric;
use stats::Estimate;
use words::Unique;

use super::{name_in_full, shorten_name};
use crate::charts::key;
use crate::charts::rows::{MIN_DENSE_POINTS, Mark, MarkKind, Row, Rows, Tick};
use crate::charts::scale::Scale;
use crate::charts::svg::{TRIANGLE_DOWN, hue_class};
use crate::document::{Chart, Column, Columns, Field, Readers, RowKind, Table, Tone};

/// The map of a large fleet shows so many nodes.
const MAX_MAP_NODES: usize = 48;

/// Groups that have a lane of their own; the others share the last.
const MAX_LANES: usize = 4;

const LANE_HEIGHT_PX: f64 = 20.0;

/// The chart reaches at least so far on either side, in per cent.
const MIN_REACH_PERCENT: f64 = 5.0;

/// Deviations that may be marked on the axis of the chart in per cent, the most useful first.
const TICKS: [f64; 15] =
    [0.0, -2.0, 2.0, -10.0, 10.0, -50.0, 50.0, -5.0, 5.0, -20.0, 20.0, 100.0, 300.0, -90.0, 1000.0];

/// Deviations in per cent below and above which a figure has a worse or a better tone.
const WORSE_STEPS: [f64; 5] = [-2.0, -5.0, -10.0, -20.0, -40.0];
const BETTER_STEPS: [f64; 3] = [2.0, 5.0, 20.0];

const TABLE_REMARK: &str = "each figure in per cent from its group's typical node, worst nodes \
first; flagged nodes are bold";

/// Every node in every test, as deviations with colours; of a large fleet the flagged nodes and
/// others evenly.
pub(super) fn table(report: &FleetReport) -> Table {
    let nodes: Vec<&Node> =
        chosen_nodes(report).into_iter().map(|place| &report.nodes[place]).collect();

    let mut columns = Columns::new()
        .with(Column::words("Node"), |node: &&Node| Field::text(shorten_name(node)))
        .with(Column::number("all together"), |node| {
            deviation_field(node.deviation().value, String::new())
        });
    for (place, test) in report.columns.iter().enumerate() {
        columns = columns.with(Column::number(&name_in_full(test)), move |node: &&Node| match node
            .values[place]
        {
            Some(value) => deviation_field(value.deviation.value, describe_value(value, test)),
            None => Field::Missing,
        });
    }

    let mut table = columns.table(&nodes).shown(Readers::PAGE);
    for (row, node) in table.rows.iter_mut().zip(&nodes) {
        if is_flagged(node) {
            row.kind = RowKind::Strong;
        }
    }
    table.titled("Nodes and tests", TABLE_REMARK)
}

/// True if the node stands out at all tests together or at any.
fn is_flagged(node: &Node) -> bool {
    node.named.is_some() || node.values.iter().flatten().any(|value| value.named.is_some())
}

/// A deviation in per cent with its colour, and more about it.
fn deviation_field(percent: f64, more: String) -> Field {
    let worse = WORSE_STEPS.iter().filter(|step| percent < **step).count() as i8;
    let better = BETTER_STEPS.iter().filter(|step| percent > **step).count() as i8;
    let number = Field::Number(percent, words::signed);
    Field::Toned(Box::new(number), Tone(better - worse), more)
}

/// `1.2e6 lps, -3.4 % from its group's typical`.
fn describe_value(value: Value, test: &Test) -> String {
    let figure = words::compact(value.value.value);
    let deviation = words::signed(value.deviation.value);
    format!("{figure} {}, {deviation} % from its group's typical", test.cell.unit)
}

/// The places of the map's nodes, worst first.
fn chosen_nodes(report: &FleetReport) -> Vec<usize> {
    let count = report.nodes.len();
    if count <= MAX_MAP_NODES {
        return (0..count).rev().collect();
    }

    let mut flagged = report.outliers.iter().map(|outlier| outlier.node).unique();
    flagged.truncate(MAX_MAP_NODES * 2 / 3);
    let room = MAX_MAP_NODES - flagged.len();
    let evenly = (0..room).map(|step| step * (count - 1) / (room - 1).max(1));
    let mut places = flagged.into_iter().chain(evenly).unique();
    places.sort_unstable_by(|a, b| b.cmp(a));
    places
}

/// A row per test with a mark for every node.
pub(super) fn chart(report: &FleetReport) -> Chart {
    let mut rows = Vec::new();
    for (place, test) in report.columns.iter().enumerate() {
        let marks = report.nodes.iter().filter_map(|node| mark(node, place, test)).collect();
        rows.push(Row { label: name_in_full(test), is_strong: false, marks });
    }
    let values: Vec<f64> =
        rows.iter().flat_map(|row| &row.marks).map(|mark| mark.at.value).collect();

    let tests = words::count(rows.len(), "test");
    let drawing = Rows {
        label: format!(
            "Every node's figure in {tests}, in per cent from the fleet's median; the tables have \
             the figures"
        ),
        scale: Scale::asinh(&values, MIN_REACH_PERCENT),
        ticks: TICKS.map(tick).into(),
        lanes: vec![LANE_HEIGHT_PX; report.groups.len().clamp(1, MAX_LANES)],
        rows,
        ..Rows::default()
    };
    let drawing = (!values.is_empty()).then(|| drawing.draw());
    let caption = format!(
        "A dot per node, in per cent from the fleet's median, worse to the left; the scale is \
         linear in the middle and logarithmic beyond. A lane with {MIN_DENSE_POINTS} dots or more \
         shows their density instead. Flagged nodes stand out, with their names."
    );
    let title = "Every node in every test".to_owned();
    Chart { title, ..Chart::new(drawing, caption, legend(report)) }
}

fn tick(percent: f64) -> Tick {
    let below = match percent {
        0.0 => "median".to_owned(),
        _ => format!("{} %", words::signed(percent)),
    };
    Tick { at: percent, below, above: String::new() }
}

/// The groups that have a lane.
fn legend(report: &FleetReport) -> Vec<(maud::Markup, String)> {
    let has_shared_lane = report.groups.len() > MAX_LANES;
    let mut legend = Vec::new();
    for (lane, group) in report.groups.iter().enumerate().take(MAX_LANES) {
        let is_shared = has_shared_lane && lane + 1 == MAX_LANES;
        let name = if is_shared { "other groups".to_owned() } else { group.name.clone() };
        legend.push((key(lane), name));
    }
    legend
}

/// The mark of a node in the test at a place; `None` where it has no figure.
fn mark(node: &Node, place: usize, test: &Test) -> Option<Mark> {
    let value = node.values[place]?;
    let ratio = value.value.value / test.typical.value;
    let times_as_good = if test.cell.metric == Metric::Rate { ratio } else { 1.0 / ratio };
    let percent = 100.0 * (times_as_good - 1.0);
    if !percent.is_finite() {
        return None;
    }

    let lane = node.group.min(MAX_LANES - 1);
    let (class, kind) = match value.named {
        Some(_) => ("alarm".to_owned(), MarkKind::Flag),
        None => (hue_class(lane), MarkKind::Point),
    };
    Some(Mark {
        lane,
        class,
        shape: TRIANGLE_DOWN,
        kind,
        at: Estimate::alone(percent),
        words: vec![shorten_name(node)],
        title: format!("{}: {}", node.name, describe_value(value, test)),
    })
}
