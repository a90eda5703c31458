//! Phoronix Test Suite's result files (`composite.xml`): every system of the file becomes a run.

use super::{Draft, Heading, Journal, Result, Text, cleaned, date, ensure, lines};
use crate::xml;
use catalogue::Metric;
use roxmltree::Node;

const ROOT: &str = "PhoronixTestSuite";
const TOOL: &str = "Phoronix Test Suite";

/// The oldest and the newest version whose result files are known.
const VERSIONS: std::ops::RangeInclusive<u32> = 5..=10;

/// Systems of a file: each looks through all results.
const MOST_SYSTEMS: usize = 256;

/// Lists of the system's parts: the element, the fact and its title.
const PARTS: [(&str, &str, &str); 2] =
    [("Hardware", "imported.hardware", "Hardware"), ("Software", "imported.software", "Software")];

pub(crate) fn is_it(text: &Text<'_>) -> bool {
    text.raw.contains(&format!("<{ROOT}>"))
}

pub(crate) fn read(source: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    let document = xml::document(source.raw)?;
    let root = document.root_element();
    let line = |node: Node<'_, '_>| document.text_pos_at(node.range().start).row as usize;
    let client = descendant(root, "TestClient");
    let version = client.map_or_else(String::new, |node| content(Some(node)));
    let major = version.rsplit(" v").next().and_then(|number| number.split('.').next()?.parse().ok());
    if !major.is_some_and(|major: u32| VERSIONS.contains(&major)) {
        return Err(source.unknown(client.map_or(1, line), TOOL, &version, "versions 5 to 10"));
    }
    let systems: Vec<Node<'_, '_>> = children(root, "System").collect();
    ensure!(systems.len() <= MOST_SYSTEMS, "it has more than {MOST_SYSTEMS} systems; no result file has as many");
    let mut journals = Vec::new();
    for system in systems {
        let mut draft = draft.clone();
        let name = content(child(system, "Identifier"));
        draft.run.tool = format!("{TOOL} {}", version.rsplit(" v").next().unwrap_or_default());
        draft.host(&name);
        draft.started(date::plain(&content(child(system, "TimeStamp"))));
        draft.run.comment = content(descendant(root, "Title"));
        for (element, fact, title) in PARTS {
            draft.fact(fact, title, "Imported", &content(child(system, element)));
        }
        for part in content(child(system, "Software")).split(", ").chain(content(child(system, "Hardware")).split(", "))
        {
            part_of_system(part, &mut draft);
        }
        for result in children(root, "Result") {
            put(result, &name, line(result), &mut draft)?;
        }
        journals.push(draft.finish());
    }
    Ok(journals)
}

/// Notes one part of a system, such as `Kernel: 6.1.0`.
fn part_of_system(part: &str, draft: &mut Draft<'_>) {
    let Some((key, value)) = part.split_once(':') else { return };
    match key.trim() {
        "Processor" => draft.fact("cpu.model", "Model", "Processor", value),
        "Kernel" => draft.fact("kernel.release", "Release", "Kernel", value),
        "OS" => draft.fact("system.os", "Operating system", "System", value),
        "Compiler" => draft.fact("software.compiler", "Compiler", "Software", value),
        _ => {}
    }
}

/// Makes the cell of a result, unless the system has no figure of it.
fn put(result: Node<'_, '_>, system: &str, line: usize, draft: &mut Draft<'_>) -> Result<()> {
    let text_of = |key: &str| content(child(result, key));
    let entries = child(result, "Data").into_iter().flat_map(|data| children(data, "Entry"));
    let Some(entry) = { entries }.find(|entry| content(child(*entry, "Identifier")) == system) else { return Ok(()) };
    let label: Vec<String> =
        ["Title", "Description"].into_iter().map(text_of).filter(|text| !text.is_empty()).collect();
    let label = label.join(", ");
    // Each run of the test; without them what is printed of all.
    let raw = content(child(entry, "RawString"));
    let values: Vec<f64> = raw.split(':').filter_map(lines::number).collect();
    let value = content(child(entry, "Value"));
    let values = if values.is_empty() { lines::number(&value).into_iter().collect() } else { values };
    if values.is_empty() && value.is_empty() {
        draft.warn(format!("'{label}' (line {line}) failed there: it is left out"));
        return Ok(());
    }
    ensure!(!values.is_empty(), "it has '{value}' as the figure of '{label}' (line {line}); a number is needed");
    let metric = if text_of("Proportion") == "LIB" { Metric::Time } else { Metric::Rate };
    let unit = text_of("Scale");
    draft.figure(&Heading { label, copies: 1, unit: &unit, metric }, values);
    Ok(())
}

fn children<'a, 'd>(node: Node<'a, 'd>, name: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn child<'a, 'd>(node: Node<'a, 'd>, name: &'a str) -> Option<Node<'a, 'd>> {
    children(node, name).next()
}

fn descendant<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.descendants().find(|one| one.has_tag_name(name))
}

/// The text of an element; empty where there is none.
fn content(node: Option<Node<'_, '_>>) -> String {
    cleaned(node.and_then(|node| node.text()).unwrap_or_default())
}
