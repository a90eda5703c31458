//! Every node in every test: as a table with colours, and as a chart.

use analysis::fleet::{Column as Test, FleetReport, Group, Node, Value};
use catalogue::Metric;
use stats::Estimate;
use words::Unique;

use super::{short, title};
use crate::charts::rows::{DENSE, Form, Mark, Row, Rows, Tick};
use crate::charts::scale::Scale;
use crate::charts::{key, svg::hue};
use crate::document::{Chart, Column, Columns, Field, Readers, RowKind, Table, Tone};

/// Nodes that the map of a large fleet shows.
const MAP: usize = 48;

/// Groups that have a lane of their own; the others share the last.
const LANES: usize = 4;

/// Deviations that may be marked on the axis of the chart in per cent, the most useful first.
const TICKS: [f64; 15] =
    [0.0, -2.0, 2.0, -10.0, 10.0, -50.0, 50.0, -5.0, 5.0, -20.0, 20.0, 100.0, 300.0, -90.0, 1000.0];

/// Every node in every test, as deviations with colours; of a large fleet the flagged nodes and others evenly.
pub(super) fn table(report: &FleetReport) -> Table {
    let places = chosen(report);
    let mut columns = Columns::new()
        .with(Column::words("Node"), |node: &&Node| Field::text(short(node)))
        .with(Column::number("all together"), |node| deviating(node.deviation().value, String::new()));
    for (place, test) in report.columns.iter().enumerate() {
        columns = columns.with(Column::number(&title(test)), move |node: &&Node| {
            let Some(value) = node.values[place] else { return Field::Missing };
            deviating(value.deviation.value, from_typical(value, test))
        });
    }
    let nodes: Vec<&Node> = places.iter().map(|place| &report.nodes[*place]).collect();
    let mut table = columns.table(&nodes).shown(Readers::PAGE).titled(
        "Nodes and tests",
        "each figure in per cent from its group's typical node, worst nodes first; flagged nodes are bold",
    );
    for (row, node) in table.rows.iter_mut().zip(&nodes) {
        if node.named.is_some() || node.values.iter().flatten().any(|value| value.named.is_some()) {
            row.kind = RowKind::Strong;
        }
    }
    table
}

/// A deviation in per cent with its colour, and more about it.
fn deviating(percent: f64, more: String) -> Field {
    let worse = [-2.0, -5.0, -10.0, -20.0, -40.0].iter().filter(|least| percent < **least).count() as i8;
    let better = [2.0, 5.0, 20.0].iter().filter(|least| percent > **least).count() as i8;
    Field::Toned(Box::new(Field::Number(percent, words::signed)), Tone(better - worse), more)
}

/// `1.2e6 lps, -3.4 % from its group's typical`.
fn from_typical(value: Value, test: &Test) -> String {
    let (figure, deviation) = (words::compact(value.value.value), words::signed(value.deviation.value));
    format!("{figure} {}, {deviation} % from its group's typical", test.cell.unit)
}

/// The nodes of the map, worst first.
fn chosen(report: &FleetReport) -> Vec<usize> {
    let count = report.nodes.len();
    if count <= MAP {
        return (0..count).rev().collect();
    }
    let mut flagged = report.outliers.iter().map(|outlier| outlier.node).unique();
    flagged.truncate(MAP * 2 / 3);
    let room = MAP - flagged.len();
    let even = (0..room).map(|step| step * (count - 1) / (room - 1).max(1));
    let mut places = flagged.into_iter().chain(even).unique();
    places.sort_unstable_by(|a, b| b.cmp(a));
    places
}

pub(super) fn chart(report: &FleetReport) -> Chart {
    let rows = report.columns.iter().enumerate().map(|(place, test)| {
        let marks = report.nodes.iter().filter_map(|node| mark(node, place, test)).collect();
        Row { label: title(test), strong: false, marks }
    });
    let rows: Vec<Row> = rows.collect();
    let values: Vec<f64> = rows.iter().flat_map(|row| &row.marks).map(|mark| mark.at.value).collect();
    let text = |at: f64| if at == 0.0 { "median".to_owned() } else { format!("{} %", words::signed(at)) };
    let tests = words::count(rows.len(), "test");
    let drawing = Rows {
        label: format!(
            "Every node's figure in {tests}, in per cent from the fleet's median; the tables have the figures"
        ),
        scale: Scale::asinh(&values, 5.0),
        ticks: TICKS.map(|at| Tick { at, below: text(at), above: String::new() }).into(),
        lanes: vec![20.0; report.groups.len().clamp(1, LANES)],
        rows,
        ..Rows::default()
    };
    let legend = |(place, group): (usize, &Group)| {
        let others = place + 1 == LANES && report.groups.len() > LANES;
        (key(place), if others { "other groups".to_owned() } else { group.name.clone() })
    };
    let caption = format!(
        "A dot per node, in per cent from the fleet's median, worse to the left; the scale is linear in the middle and \
         logarithmic beyond. A lane with {DENSE} dots or more shows their density instead. Flagged nodes stand out, with their names."
    );
    let legend = report.groups.iter().enumerate().take(LANES).map(legend).collect();
    let drawing = values.first().map(|_| drawing.draw());
    Chart { title: "Every node in every test".to_owned(), ..Chart::new(drawing, caption, legend) }
}

/// Returns the mark of a node in the test at a place; `None` where it has no figure.
fn mark(node: &Node, place: usize, test: &Test) -> Option<Mark> {
    let value = node.values[place]?;
    let ratio = value.value.value / test.typical.value;
    let at = 100.0 * (if test.cell.metric == Metric::Rate { ratio } else { 1.0 / ratio } - 1.0);
    let lane = node.group.min(LANES - 1);
    let flagged = value.named.is_some();
    at.is_finite().then(|| Mark {
        lane,
        class: if flagged { "alarm".to_owned() } else { hue(lane) },
        shape: 4,
        form: if flagged { Form::Flag } else { Form::Point },
        at: Estimate::alone(at),
        words: vec![short(node)],
        title: format!("{}: {}", node.name, from_typical(value, test)),
    })
}
