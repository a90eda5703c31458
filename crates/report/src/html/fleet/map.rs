//! The map of nodes and tests: a deviation per cell, coloured by how large it is.

use super::super::words::{clean, number, range};
use super::{percent, title_of};
use analysis::fleet::{FleetReport, Named, Node, Value};

/// A map of more lines is no map: of a larger fleet it has every node that is named, and others evenly over the ranking.
const MOST: usize = 48;

/// Deviations in per cent that a colour reaches; the last reaches everything.
const STEPS: [f64; 5] = [2.0, 5.0, 10.0, 20.0, 40.0];

/// The same of nodes that are better than their group.
const BETTER: [f64; 3] = [2.0, 5.0, 20.0];

pub(crate) struct Map {
    pub(crate) head: Vec<String>,
    pub(crate) lines: Vec<Line>,
    /// Which nodes these are, where they are not all.
    pub(crate) remark: String,
    pub(crate) key: Vec<(&'static str, String)>,
}

/// A node's fields.
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) named: bool,
    /// Of all tests together, then one per test.
    pub(crate) fields: Vec<Field>,
}

/// A node's figure in a test.
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) class: String,
    pub(crate) figure: String,
    pub(crate) named: bool,
    pub(crate) title: String,
}

/// Returns the map; nothing where no node has a figure.
pub(super) fn map(report: &FleetReport) -> Option<Map> {
    if report.columns.is_empty() || report.nodes.is_empty() {
        return None;
    }
    let places = chosen(report);
    let remark = if places.len() < report.nodes.len() {
        format!(
            "{} of {} nodes: those that are named, and others evenly over the ranking",
            places.len(),
            report.nodes.len()
        )
    } else {
        String::new()
    };
    Some(Map {
        head: report.columns.iter().map(|column| clean(&title_of(report, column))).collect(),
        lines: places.iter().map(|place| line(report, &report.nodes[*place])).collect(),
        remark,
        key: key(),
    })
}

/// The nodes of the map, worst first.
fn chosen(report: &FleetReport) -> Vec<usize> {
    let count = report.nodes.len();
    if count <= MOST {
        return (0..count).rev().collect();
    }
    let mut places: Vec<usize> = Vec::new();
    for outlier in &report.outliers {
        if places.len() < MOST * 2 / 3 && !places.contains(&outlier.node) {
            places.push(outlier.node);
        }
    }
    let room = MOST - places.len();
    for step in 0..room {
        let place = step * (count - 1) / (room - 1).max(1);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places.sort_unstable_by(|a, b| b.cmp(a));
    places
}

fn line(report: &FleetReport, node: &Node) -> Line {
    let overall = 100.0 * (node.overall.value - 1.0);
    let name = clean(&node.name);
    let all = Field {
        class: class(overall),
        figure: percent(overall),
        named: node.named.is_some(),
        title: format!(
            "{name}: all tests together {} of its group's typical ({})",
            number(node.overall.value),
            range(&node.overall)
        ),
    };
    let fields = node.values.iter().zip(&report.columns).map(|(value, column)| {
        let about = format!("{name}: {}", clean(&title_of(report, column)));
        value.map_or_else(
            || Field { title: format!("{about}: no result"), ..Field::default() },
            |value| field(&about, &value, &column.unit),
        )
    });
    Line {
        named: node.named == Some(Named::Slow)
            || node.values.iter().flatten().any(|value| value.named == Some(Named::Slow)),
        fields: std::iter::once(all).chain(fields).collect(),
        name,
    }
}

fn field(about: &str, value: &Value, unit: &str) -> Field {
    let deviation = &value.deviation;
    let named =
        value.named.map_or_else(String::new, |named| format!(", named {} at q = {}", named.name(), number(value.q)));
    Field {
        class: class(deviation.value),
        figure: percent(deviation.value),
        named: value.named.is_some(),
        title: format!(
            "{about}: {} {} ({}); {} % ({}) from its group's typical{named}",
            number(value.value.value),
            clean(unit),
            range(&value.value),
            percent(deviation.value),
            range(deviation),
        ),
    }
}

fn class(deviation: f64) -> String {
    if !deviation.is_finite() {
        return "tn".to_owned();
    }
    if deviation > BETTER[0] {
        let step = BETTER.iter().filter(|least| deviation > **least).count();
        return format!("b{step}");
    }
    format!("t{}", STEPS.iter().position(|most| -deviation <= *most).unwrap_or(STEPS.len()))
}

/// The colours and what they mean, from the worst to the best.
fn key() -> Vec<(&'static str, String)> {
    vec![
        ("t5", "more than 40 % worse".to_owned()),
        ("t4", "20 to 40".to_owned()),
        ("t3", "10 to 20".to_owned()),
        ("t2", "5 to 10".to_owned()),
        ("t1", "2 to 5".to_owned()),
        ("t0", "within 2 %".to_owned()),
        ("b1", "2 to 5 better".to_owned()),
        ("b2", "5 to 20".to_owned()),
        ("b3", "more than 20 %".to_owned()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_goes_by_the_deviation() {
        let shown = [(0.0, "t0"), (-1.9, "t0"), (-2.1, "t1"), (-99.0, "t5"), (1.9, "t0"), (2.1, "b1"), (21.0, "b3")];
        for (deviation, name) in shown {
            assert_eq!(class(deviation), name, "{deviation}");
        }
        assert_eq!(class(f64::NAN), "tn");
    }
}
