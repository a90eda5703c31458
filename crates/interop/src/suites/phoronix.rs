//! Phoronix Test Suite's result files (`composite.xml`): every system of the file becomes a run.

use std::collections::BTreeMap;

use super::{
    Draft, Heading, Journal, Outcome, Result, Starts, Text, clean_text, date, ensure, parse_outcome,
};
use crate::figure;
use crate::text::describe_left_out;
use crate::xml;
use catalogue::{Metric, unit};
use journal::NoValue;
use roxmltree::{Document, Node};

const ROOT: &str = "PhoronixTestSuite";
const TOOL: &str = "Phoronix Test Suite";

/// Formats of display whose results are figures; in old files results have none.
const BAR_FORMATS: [&str; 4] = ["", "BAR_GRAPH", "HORIZONTAL_BAR_GRAPH", "BAR_ANALYZE_GRAPH"];

/// The oldest and the newest version whose result files are known.
const VERSIONS: std::ops::RangeInclusive<u32> = 5..=10;

/// Maximum systems of a file: for each, all results are looked through.
const MAX_SYSTEMS: usize = 256;

/// Elements with lists of a system's parts, each with the name and label of its fact.
const PART_LISTS: [(&str, &str, &str); 2] =
    [("Hardware", "imported.hardware", "Hardware"), ("Software", "imported.software", "Software")];

pub(crate) fn recognises(text: &Text<'_>) -> bool {
    text.raw.contains(&format!("<{ROOT}>"))
        && ["<SuiteInformation>", "<TestInformation>"].iter().all(|other| !text.raw.contains(other))
}

pub(crate) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    for (number, line) in text.lines() {
        if line.contains("<?xml") {
            starts.may_begin(number);
        }
        if line.contains(&format!("<{ROOT}>")) {
            starts.note_mark_or_begin(number, ROOT.to_owned());
        }
    }
}

/// Reads every system of the file as a run.
pub(crate) fn read(source: &Text<'_>, mut draft: Draft<'_>) -> Result<Vec<Journal>> {
    let start = if source.raw.contains("<?xml") { "<?xml" } else { "<PhoronixTestSuite>" };
    let whole = source.between(start, "</PhoronixTestSuite>");
    if let Some(whole) = &whole {
        warn_of_lines_around(source, whole, &mut draft);
    }

    let source = whole.as_ref().unwrap_or(source);
    let document = xml::parse(source.raw)?;
    let file = File { source, document: &document, root: document.root_element() };
    let version = file.check()?;

    draft.run.tool = format!("{TOOL} {}", version.rsplit(" v").next().unwrap_or_default());
    draft.run.comment = content(descendant(file.root, "Title"));
    let (figures, others): (Vec<Node<'_, '_>>, Vec<Node<'_, '_>>) = children(file.root, "Result")
        .partition(|result| BAR_FORMATS.contains(&display_format(*result).as_str()));
    let labels = label_results(&figures);
    let mut journals = Vec::new();
    for system in children(file.root, "System") {
        let mut draft = draft.clone();
        add_system(system, &mut draft);

        for result in &others {
            let (title, format) = (content(child(*result, "Title")), display_format(*result));
            let line = file.line_of(*result);
            draft
                .warn(format!("'{title}' (line {line}) is no figure but {format}: it is left out"));
        }
        let name = content(child(system, "Identifier"));
        for (result, label) in figures.iter().zip(&labels) {
            add_result(*result, label, &name, file.line_of(*result), &mut draft);
        }
        journals.push(draft.finish());
    }
    Ok(journals)
}

/// Warns of lines before and after the document, which are left out.
fn warn_of_lines_around(source: &Text<'_>, document: &Text<'_>, draft: &mut Draft<'_>) {
    let (before, after) = source.raw.split_once(document.raw).unwrap_or_default();
    for (lines, place) in [(before, "before the XML"), (after, "after the XML")] {
        if let Some(note) = describe_left_out(lines.lines(), place) {
            draft.warn(note);
        }
    }
}

/// A result file whose XML is sound.
struct File<'f, 't> {
    source: &'f Text<'t>,
    document: &'f Document<'t>,
    root: Node<'f, 't>,
}

impl File<'_, '_> {
    /// The line of the text in which a node begins.
    fn line_of(&self, node: Node<'_, '_>) -> usize {
        let row = self.document.text_pos_at(node.range().start).row as usize;
        row + self.source.first_line() - 1
    }

    /// Returns the version, of a file that has systems, not too many, and is of a known one.
    fn check(&self) -> Result<String> {
        let systems = children(self.root, "System").count();
        ensure!(
            systems > 0,
            "it is a part of a result of the {TOOL}, without its systems; import composite.xml beside it"
        );
        // Versions before 5 have it among what is known of a system.
        let of_system = || child(child(self.root, "System")?, "Version");
        let client = descendant(self.root, "TestClient").or_else(of_system);
        let version = client.map_or_else(String::new, |node| content(Some(node)));
        if !is_known(&version) {
            let line = client.map_or(1, |client| self.line_of(client));
            let known = "versions 5 to 10";
            return Err(self.source.unknown_version_error(line, TOOL, &version, known));
        }
        ensure!(
            systems <= MAX_SYSTEMS,
            "it has more than {MAX_SYSTEMS} systems; no result file has as many"
        );
        Ok(version)
    }
}

/// True if the files of a version such as `Phoronix Test Suite v10.8.4` are known.
fn is_known(version: &str) -> bool {
    let number = version.rsplit(" v").next().unwrap_or_default();
    let major = number.split('.').next().and_then(|major| major.parse().ok());
    major.is_some_and(|major: u32| VERSIONS.contains(&major))
}

/// Adds the host, the start and the facts of a system.
fn add_system(system: Node<'_, '_>, draft: &mut Draft<'_>) {
    draft.set_host(&content(child(system, "Identifier")));
    let date = content(child(system, "TimeStamp"));
    draft.set_start_or_quote(&date, date::from_any_form(&date));
    for (element, fact, label) in PART_LISTS {
        draft.add_fact(fact, label, "Imported", &content(child(system, element)));
    }
    for element in ["Software", "Hardware"] {
        for part in content(child(system, element)).split(", ") {
            add_part(part, draft);
        }
    }
}

/// Adds one part of a system, such as `Kernel: 6.1.0`, if it is a fact of its own.
fn add_part(part: &str, draft: &mut Draft<'_>) {
    let Some((key, value)) = part.split_once(':') else {
        return;
    };
    match key.trim() {
        "Processor" => draft.add_fact("cpu.model", "Model", "Processor", value),
        "Kernel" => draft.add_fact("kernel.release", "Release", "Kernel", value),
        "OS" => draft.add_fact("system.os", "Operating system", "System", value),
        "Compiler" => draft.add_fact("software.compiler", "Compiler", "Software", value),
        _ => {}
    }
}

/// A label for each result: title and description, and where several have these, also an element in
/// which they differ.
fn label_results(results: &[Node<'_, '_>]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for result in results {
        let mut parts = vec![content(child(*result, "Title"))];
        parts.push(content(child(*result, "Description")));
        parts.retain(|part| !part.is_empty());
        labels.push(parts.join(", "));
    }
    for element in ["Scale", "Arguments", "Identifier"] {
        labels = lengthen_twins(labels, results, element);
    }
    labels
}

/// Adds an element of the results to labels that several have, where it differs among these.
fn lengthen_twins(labels: Vec<String>, results: &[Node<'_, '_>], element: &str) -> Vec<String> {
    let mut twins: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, label) in labels.iter().enumerate() {
        twins.entry(label).or_default().push(place);
    }

    let mut longer = labels.clone();
    for places in twins.into_values().filter(|places| places.len() > 1) {
        let texts: Vec<String> =
            places.iter().map(|place| content(child(results[*place], element))).collect();
        if texts.iter().all(|text| *text == texts[0]) {
            continue;
        }
        for (place, text) in places.into_iter().zip(texts) {
            longer[place] = format!("{} ({text})", labels[place]);
        }
    }
    longer
}

fn display_format(result: Node<'_, '_>) -> String {
    content(child(result, "DisplayFormat"))
}

/// Adds the cell of a result, unless the system has no entry in it.
fn add_result(result: Node<'_, '_>, label: &str, system: &str, line: usize, draft: &mut Draft<'_>) {
    let mut entries = child(result, "Data").into_iter().flat_map(|data| children(data, "Entry"));
    let Some(entry) = entries.find(|entry| content(child(*entry, "Identifier")) == system) else {
        return;
    };

    // Each run of the test; without them the value that is printed for all.
    let runs = content(child(entry, "RawString"));
    let value = content(child(entry, "Value"));
    let mut outcomes: Vec<Outcome> =
        runs.split(':').filter(|word| !word.is_empty()).map(parse_outcome).collect();
    if outcomes.iter().all(Result::is_err) {
        outcomes = figure::parse_number(&value).map(Ok).into_iter().collect();
    }
    if outcomes.is_empty() {
        let reason = match value.as_str() {
            "" => "it failed there".to_owned(),
            value => format!("its value '{value}' is not a number"),
        };
        outcomes = vec![Err(NoValue::Failed(format!("{reason} (line {line})")))];
    }

    let unit = content(child(result, "Scale"));
    let metric = match content(child(result, "Proportion")).as_str() {
        "LIB" => Metric::Time,
        "" if unit::metric(&unit) == Metric::Time => Metric::Time,
        // "HIB", or a test that gives neither direction nor a unit of time.
        _ => Metric::Rate,
    };
    let heading = Heading { label: label.to_owned(), copies: 1, unit: &unit, metric };
    draft.add_outcomes(&heading, outcomes);
}

fn children<'a, 'd>(node: Node<'a, 'd>, name: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(move |child| child.has_tag_name(name))
}

fn child<'a, 'd>(node: Node<'a, 'd>, name: &'a str) -> Option<Node<'a, 'd>> {
    children(node, name).next()
}

fn descendant<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.descendants().find(|descendant| descendant.has_tag_name(name))
}

/// The text of an element; empty where there is none.
fn content(node: Option<Node<'_, '_>>) -> String {
    clean_text(node.and_then(|node| node.text()).unwrap_or_default())
}
