//! The catalogue's tests, groups and indexes.

use serde_json::json;

use super::{Row, What};
use crate::measuring;
use catalogue::{Catalogue, NONE, Need, Role, Test};
use words::first_sentence;

/// Returns the tests of a kind: each under its category, with why it cannot run here.
pub(super) fn rows(what: What, catalogue: &Catalogue) -> Vec<Row> {
    let is_of = |test: &Test| match what {
        What::Tasks => test.is_task(),
        What::Loads => test.roles.contains(&Role::Load),
        What::Burnins => test.roles.contains(&Role::Burn),
        What::Watchers => test.roles.contains(&Role::Companion),
        _ => test.is_rate(),
    };
    let groups: Vec<(&str, Vec<String>)> =
        catalogue.groups.iter().map(|group| (group.id.as_str(), catalogue.names(group))).collect();
    let tests = catalogue.tests.iter().filter(|test| is_of(test)).map(|test| {
        let heading = if what == What::Tests { heading(test, catalogue) } else { String::new() };
        Row { heading, ..row(test, &groups) }
    });
    let none = Row {
        id: NONE.to_owned(),
        about: "nothing beyond what the machine does anyway".to_owned(),
        value: json!({"id": NONE}),
        ..Row::default()
    };
    (what == What::Loads).then_some(none).into_iter().chain(tests).collect()
}

/// A category with the group of its tests, or alone.
fn heading(test: &Test, catalogue: &Catalogue) -> String {
    let group = catalogue.groups.iter().find(|group| group.gathers(test));
    match group {
        Some(group) => {
            format!("{}: {}", group.id, first_sentence(&flat(&group.doc)))
        }
        None => format!("{}:", test.category),
    }
}

/// Returns a test's row; `groups` are all groups with their members.
fn row(test: &Test, groups: &[(&str, Vec<String>)]) -> Row {
    let own = groups.iter().filter(|(_, members)| members.contains(&test.id));
    let groups: Vec<&str> = own.map(|(id, _)| *id).collect();
    Row {
        id: test.id.clone(),
        about: format!("{} ({})", test.label, test.unit),
        doc: test.doc.clone(),
        missing: measuring::unmet(&test.needs),
        value: json!({
            "id": test.id, "label": test.label, "unit": test.unit, "category": test.category, "roles": test.roles,
            "groups": groups, "linux": test.needs.contains(&Need::Linux), "doc": flat(&test.doc),
        }),
        ..Row::default()
    }
}

/// Returns the groups, each with what it is for and how many tests it has.
pub(super) fn groups(catalogue: &Catalogue) -> Vec<Row> {
    let row = |group: &catalogue::Group| {
        let members = catalogue.names(group);
        let count = catalogue.expand(std::slice::from_ref(&group.id)).map_or(0, |tests| tests.len());
        let doc = flat(&group.doc);
        Row {
            heading: "Groups of tests, for run, scale, cost and latency:".to_owned(),
            id: group.id.clone(),
            about: format!("{} ({count})", first_sentence(&doc)),
            doc: format!("{doc} Members: {}", members.join(" ")),
            value: json!({"id": group.id, "members": members, "doc": doc}),
            ..Row::default()
        }
    };
    catalogue.groups.iter().map(row).collect()
}

pub(super) fn indexes(catalogue: &Catalogue) -> Vec<Row> {
    let row = |index: &catalogue::Index| Row {
        id: index.id.clone(),
        about: index.name.clone(),
        doc: index.doc.clone(),
        value: json!({"id": index.id, "name": index.name, "doc": flat(&index.doc)}),
        ..Row::default()
    };
    catalogue.indexes.iter().map(row).collect()
}

/// Returns a word, and the tests of the group of that name.
pub(super) fn names(word: &str, catalogue: &Catalogue) -> Vec<String> {
    let is_group = catalogue.groups.iter().any(|group| group.id == word);
    let members = is_group.then(|| catalogue.expand(&[word.to_owned()]).ok()).flatten();
    let members = members.into_iter().flatten().map(|test| test.id.clone());
    std::iter::once(word.to_owned()).chain(members).collect()
}

/// A paragraph in one line.
pub(super) fn flat(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}
