//! The catalogue's tests, groups and indexes.

use serde_json::json;

use super::{Row, What};
use crate::measuring;
use catalogue::{Catalogue, NONE, Need, Role, Test};
use words::first_sentence;

/// The tests of a kind: each under its category, with why it cannot run here.
pub(super) fn rows(what: What, catalogue: &Catalogue) -> Vec<Row> {
    let groups: Vec<(&str, Vec<String>)> =
        catalogue.groups.iter().map(|group| (group.id.as_str(), catalogue.names(group))).collect();

    let mut rows = Vec::new();
    if what == What::Loads {
        rows.push(Row {
            id: NONE.to_owned(),
            about: "nothing beyond what the machine does anyway".to_owned(),
            value: json!({"id": NONE}),
            ..Row::default()
        });
    }
    for test in catalogue.tests.iter().filter(|test| is_listed(test, what)) {
        let mut row = test_row(test, &groups);
        if what == What::Tests {
            row.heading = heading(test, catalogue);
        }
        rows.push(row);
    }
    rows
}

fn is_listed(test: &Test, what: What) -> bool {
    match what {
        What::Tasks => test.is_task(),
        What::Loads => test.roles.contains(&Role::Load),
        What::Burnins => test.roles.contains(&Role::Burn),
        What::Watchers => test.roles.contains(&Role::Companion),
        _ => test.is_rate(),
    }
}

/// A category with the group of its tests, or alone.
fn heading(test: &Test, catalogue: &Catalogue) -> String {
    match catalogue.groups.iter().find(|group| group.gathers(test)) {
        Some(group) => format!("{}: {}", group.id, first_sentence(&in_one_line(&group.doc))),
        None => format!("{}:", test.category),
    }
}

/// The row of a test; `groups` are all groups with their members.
fn test_row(test: &Test, groups: &[(&str, Vec<String>)]) -> Row {
    let its_groups = groups.iter().filter(|(_, members)| members.contains(&test.id));
    let its_groups: Vec<&str> = its_groups.map(|(id, _)| *id).collect();
    Row {
        id: test.id.clone(),
        about: format!("{} ({})", test.label, test.unit),
        doc: test.doc.clone(),
        missing: measuring::unmet(&test.needs),
        value: json!({
            "id": test.id,
            "label": test.label,
            "unit": test.unit,
            "category": test.category,
            "roles": test.roles,
            "groups": its_groups,
            "linux": test.needs.contains(&Need::Linux),
            "doc": in_one_line(&test.doc),
        }),
        ..Row::default()
    }
}

/// The groups, each with what it is for and how many tests it has.
pub(super) fn groups(catalogue: &Catalogue) -> Vec<Row> {
    let mut rows = Vec::new();
    for group in &catalogue.groups {
        let members = catalogue.names(group);
        let tests = catalogue.expand(std::slice::from_ref(&group.id)).unwrap_or_default();
        let doc = in_one_line(&group.doc);
        rows.push(Row {
            heading: "Groups of tests, for run, scale, cost and latency:".to_owned(),
            id: group.id.clone(),
            about: format!("{} ({})", first_sentence(&doc), tests.len()),
            doc: format!("{doc} Members: {}", members.join(" ")),
            value: json!({"id": group.id, "members": members, "doc": doc}),
            ..Row::default()
        });
    }
    rows
}

pub(super) fn indexes(catalogue: &Catalogue) -> Vec<Row> {
    let mut rows = Vec::new();
    for index in &catalogue.indexes {
        rows.push(Row {
            id: index.id.clone(),
            about: index.name.clone(),
            doc: index.doc.clone(),
            value: json!({"id": index.id, "name": index.name, "doc": in_one_line(&index.doc)}),
            ..Row::default()
        });
    }
    rows
}

pub(super) fn in_one_line(paragraph: &str) -> String {
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}
