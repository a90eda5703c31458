//! Tables of runs of BYTE's suite, as those of the 1994 thesis on auditing are kept: several whole
//! runs in one file. Other keys are passed over:
//!
//! ```text
//! {
//!   "source": "Table 4.1",
//!   "audit_state": {"run1": "on", "run2": "off"},
//!   "run1": {
//!     "Pipe Throughput": {"value": 5092.5, "unit": "lps", "seconds": 10, "samples": 6},
//!     …
//!   },
//!   "run2": {…}
//! }
//! ```
//!
//! Tests stay in the order of the file, and a key that comes twice is an error in some places, so
//! the objects are read into [`Object`] instead of a map.

use std::fmt;

use anyhow::{Result, anyhow, bail};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

use super::draft::Draft;
use super::lines;
use super::plain::{clean_text, excerpt};
use super::text::quote_no_numbers;
use journal::Journal;

/// The index that is shown where a run has all its tests.
const BYTE_INDEX: &str = "byte3";

/// Spellings in the thesis's own table, and those of the reports.
const SPELLINGS: [(&str, &str); 4] = [
    ("Exec Throughput", "Execl Throughput"),
    ("w/o", "without"),
    ("(type = arith)", "(type = arithoh)"),
    ("Arithmetic (", "Arithmetic Test ("),
];

/// The keys and values of a JSON object, in the order of the file.
#[derive(Debug)]
pub(super) struct Object(Vec<(String, Node)>);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Node {
    Object(Object),
    Other(Value),
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> std::result::Result<Object, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Object;
            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> std::result::Result<Object, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Object(entries))
            }
        }
        from.deserialize_map(Keys)
    }
}

impl Object {
    /// The last value of a key, as everywhere in JSON.
    fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().rfind(|(name, _)| name == key).map(|(_, node)| node)
    }

    fn string_at(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Node::Other(Value::String(text))) => Some(text),
            _ => None,
        }
    }

    /// The number under a key, from 0 to `max`, if the key is there. The error describes any other
    /// value.
    fn number_at(&self, key: &str, max: f64) -> Result<Option<f64>, String> {
        let Some(node) = self.get(key) else {
            return Ok(None);
        };
        let number = match node {
            Node::Other(Value::Number(number)) => number.as_f64(),
            _ => None,
        };
        match number.filter(|number| (0.0..=max).contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(node.describe()),
        }
    }

    /// The runs in the order of their numbers, by their keys.
    fn runs(&self) -> Vec<(&str, &Node)> {
        let mut runs: Vec<(u32, &str, &Node)> = Vec::new();
        for (key, node) in &self.0 {
            if let Some(number) = key.strip_prefix("run").and_then(|number| number.parse().ok()) {
                runs.push((number, key, node));
            }
        }
        runs.sort_by_key(|(number, ..)| *number);
        runs.into_iter().map(|(_, key, node)| (key, node)).collect()
    }
}

/// The table that a text is; `None` if it is no JSON object with a run.
pub(super) fn find_table(text: &str) -> Option<Object> {
    let table = serde_json::from_str::<Object>(text)
        .or_else(|_| serde_json::from_str(&quote_no_numbers(text).text));
    table.ok().filter(|table| !table.runs().is_empty())
}

/// Makes a journal of each run, in the order of their numbers.
///
/// # Errors
/// A run has no test, or a test no value that could have been measured: the first of them, by name.
pub(super) fn read(table: &Object, draft: &Draft<'_>) -> Result<Vec<Journal>> {
    let runs = table.runs();
    if let Some(twins) = runs.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        bail!("it has {} twice; give each run a number of its own", twins[0].0);
    }
    runs.into_iter().map(|(name, run)| read_run(table, name, run, draft.clone())).collect()
}

fn read_run(table: &Object, name: &str, run: &Node, mut draft: Draft<'_>) -> Result<Journal> {
    let tests = match run {
        Node::Object(tests) if !tests.0.is_empty() => &tests.0,
        _ => bail!(
            "it has no test in {name}; a run is an object of tests, each with its value, unit, seconds and samples"
        ),
    };

    let source = clean_text(table.string_at("source").unwrap_or_default());
    let audit_state = match table.get("audit_state") {
        Some(Node::Object(states)) => clean_text(states.string_at(name).unwrap_or_default()),
        _ => String::new(),
    };
    let auditing =
        if audit_state.is_empty() { String::new() } else { format!("auditing {audit_state}") };
    let mut comment = vec![source.as_str(), name, &auditing];
    comment.retain(|words| !words.is_empty());
    draft.run.comment = comment.join("; ");
    "BYTE UNIX Benchmarks".clone_into(&mut draft.run.tool);
    draft.add_fact("imported.source", "Source", "Imported", &source);
    draft.add_fact("imported.auditing", "Auditing", "Imported", &audit_state);
    for (label, test) in tests {
        add_test(&mut draft, name, &clean_text(label), test)?;
    }

    let catalogue = draft.catalogue;
    let mut journal = draft.finish();
    let has_all_tests = catalogue
        .tests
        .iter()
        .filter(|test| test.baseline.contains_key(BYTE_INDEX))
        .all(|test| journal.cells.iter().any(|cell| cell.key.test == test.id));
    if has_all_tests {
        journal.run.indexes = vec![BYTE_INDEX.to_owned()];
    }
    Ok(journal)
}

/// Adds the cell of a test, with its score. Errors name the test and its `run`.
fn add_test(draft: &mut Draft<'_>, run: &str, label: &str, test: &Node) -> Result<()> {
    let wrong = |found: &str, key: &str, wanted: &str| {
        anyhow!("it has {found} as the {key} of '{}' in {run}; {wanted}", excerpt(label))
    };
    let Node::Object(test) = test else {
        let wanted = "a test is an object of value, unit, seconds and samples";
        return Err(wrong("no object", "figures", wanted));
    };
    let number = |key: &str, max: f64| {
        test.number_at(key, max)
            .map_err(|found| wrong(&found, key, &format!("it must be a number from 0 to {max:e}")))
    };

    let wanted = "every test needs what it measured, as \"value\": 12.5";
    let value =
        number("value", lines::MAX_NUMBER)?.ok_or_else(|| wrong("nothing", "value", wanted))?;
    let unit = match test.get("unit") {
        None => String::new(),
        Some(Node::Other(Value::String(unit))) => clean_text(unit),
        Some(node) => {
            return Err(wrong(&node.describe(), "unit", "it must be a text such as \"lps\""));
        }
    };
    let seconds = number("seconds", lines::MAX_NUMBER)?.unwrap_or(0.0);
    let samples = number("samples", f64::from(u32::MAX))?.unwrap_or(1.0) as u32;

    let known_label =
        SPELLINGS.iter().fold(label.to_owned(), |label, (own, usual)| label.replace(own, usual));
    let cell = draft.cell_for(&known_label, 1, &unit);
    // Reports show the file's own words, so that they can be laid next to it.
    if let Some(cell) = draft.cell_mut(cell) {
        label.clone_into(&mut cell.label);
    }
    draft.set_score(cell, value, seconds, samples);
    Ok(())
}

impl Node {
    /// The value as a message quotes it.
    fn describe(&self) -> String {
        match self {
            Node::Object(_) => "an object".to_owned(),
            Node::Other(value) => excerpt(&clean_text(&value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_by_their_names() {
        let found = |text: &str| -> Option<Vec<String>> {
            Some(find_table(text)?.runs().into_iter().map(|(name, _)| name.to_owned()).collect())
        };
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(
            found(r#"{"run10": {}, "note": [1], "run9": {"a": 1}}"#),
            names(&["run9", "run10"])
        );
        for other in [
            "",
            "{}",
            "[]",
            r#"{"run": {}}"#,
            r#"{"runs": {}}"#,
            r#"{"run1": {}"#,
            r#"{"threads": [1]}"#,
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }

    #[test]
    fn words_for_no_number_are_quoted_outside_of_texts() {
        let text = r#"{"a \" NaN": NaN, "b\\": -Infinity, "NaN": [Infinity, 1]}"#;
        assert_eq!(
            quote_no_numbers(text).text,
            r#"{"a \" NaN": "NaN", "b\\": "-Infinity", "NaN": ["Infinity", 1]}"#
        );
        assert!(find_table(&text.replace("b\\\\", "run1")).is_some());
    }
}
