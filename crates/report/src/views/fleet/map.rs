//! Every node in every test: as a table with colours, and as a chart.

use analysis::fleet::{Column as Test, FleetReport, Group, Node};
use catalogue::Metric;

use super::{overall, short, title};
use crate::charts::{key, strips};
use crate::document::{Block, Chart, Column, Columns, Field, RowKind, Show, Style, Tone};

/// Nodes that the map of a large fleet shows.
const MAP: usize = 48;

/// Every node in every test, as deviations with colours; of a large fleet the flagged nodes and others evenly.
pub(super) fn table(report: &FleetReport) -> Option<Block> {
    let places = chosen(report);
    let tone = |deviation: f64| match deviation {
        d if d < -40.0 => Tone(-5),
        d if d < -20.0 => Tone(-4),
        d if d < -10.0 => Tone(-3),
        d if d < -5.0 => Tone(-2),
        d if d < -2.0 => Tone(-1),
        d if d > 20.0 => Tone(3),
        d if d > 5.0 => Tone(2),
        d if d > 2.0 => Tone(1),
        _ => Tone(0),
    };
    let mut columns = Columns::new().with(Column::words("", "Node"), |node: &&Node| Field::text(short(node))).with(
        Column::number("", "all together"),
        move |node| {
            let value = overall(node).value;
            Field::Toned(Box::new(Field::Number(value, Style::Signed)), tone(value), String::new())
        },
    );
    for (place, test) in report.columns.iter().enumerate() {
        columns = columns.with(Column::number("", &title(test)), move |node: &&Node| {
            let Some(value) = node.values[place] else { return Field::Missing };
            let more = format!(
                "{} {}, {} % from its group's typical",
                words::compact(value.value.value),
                test.unit,
                words::signed(value.deviation.value)
            );
            Field::Toned(
                Box::new(Field::Number(value.deviation.value, Style::Signed)),
                tone(value.deviation.value),
                more,
            )
        });
    }
    let nodes: Vec<&Node> = places.iter().map(|place| &report.nodes[*place]).collect();
    let mut table = columns.of(&nodes).shown(Show::Pages).titled(
        "Nodes and tests",
        "each figure in per cent from its group's typical node, worst nodes first; flagged nodes are bold",
    );
    for (row, node) in table.rows.iter_mut().zip(&nodes) {
        if node.named.is_some() || node.values.iter().flatten().any(|value| value.named.is_some()) {
            row.kind = RowKind::Strong;
        }
    }
    table.unless_empty()
}

/// The nodes of the map, worst first.
fn chosen(report: &FleetReport) -> Vec<usize> {
    let count = report.nodes.len();
    if count <= MAP {
        return (0..count).rev().collect();
    }
    let mut places: Vec<usize> = Vec::new();
    for outlier in &report.outliers {
        if places.len() < MAP * 2 / 3 && !places.contains(&outlier.node) {
            places.push(outlier.node);
        }
    }
    let room = MAP - places.len();
    for step in 0..room {
        let place = step * (count - 1) / (room - 1).max(1);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort_unstable_by(|a, b| b.cmp(a));
    places
}

pub(super) fn chart(report: &FleetReport) -> Option<Block> {
    let row = |(place, test): (usize, &Test)| {
        let dot = |node: &Node| {
            let value = node.values[place]?;
            let ratio = value.value.value / test.typical.value;
            let at = 100.0 * (if test.metric == Metric::Rate { ratio } else { 1.0 / ratio } - 1.0);
            let (figure, deviation) = (words::compact(value.value.value), words::signed(value.deviation.value));
            at.is_finite().then(|| strips::Dot {
                lane: node.group.min(strips::LANES - 1),
                at,
                flagged: value.named.is_some(),
                title: format!("{}: {figure} {}, {deviation} % from its group's typical", node.name, test.unit),
                name: node.name.clone(),
            })
        };
        strips::Row { label: title(test), dots: report.nodes.iter().filter_map(dot).collect() }
    };
    let lanes = report.groups.len().clamp(1, strips::LANES);
    let rows = report.columns.iter().enumerate().map(row).collect();
    let panels = vec![(String::new(), strips::Chart { lanes, rows }.draw()?)];
    let legend = |(place, group): (usize, &Group)| {
        let others = place + 1 == strips::LANES && report.groups.len() > strips::LANES;
        (key(place), if others { "other groups".to_owned() } else { group.name.clone() })
    };
    let caption = format!(
        "A dot per node, in per cent from the fleet's median, worse to the left; the scale is linear in the middle and \
         logarithmic beyond. With {} nodes and more, their density. Flagged nodes stand out, with their names.",
        strips::DENSE
    );
    let legend = report.groups.iter().enumerate().take(strips::LANES).map(legend).collect();
    Some(Block::Chart(Chart { title: "Every node in every test".to_owned(), caption, legend, panels }))
}
