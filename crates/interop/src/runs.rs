//! Tables of runs of BYTE's suite, as those of the 1994 thesis on auditing are kept: several whole runs in one file.
//!
//! `{"run1": {LABEL: {"value": 5092.5, "unit": "lps", "seconds": 10, "samples": 6}, …}, "run2": …, "source": …,
//! "audit_state": {"run1": "on", …}}`; other keys are passed over.

use std::fmt;

use anyhow::{Result, bail};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;

use super::draft::{Draft, cleaned, quoted};
use super::lines;
use journal::Journal;

/// The index that is shown where a run has all its tests.
const BYTE: &str = "byte3";

/// Names of tests in the thesis's own table, and in the reports.
const SLIPS: [(&str, &str); 4] = [
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
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> std::result::Result<Object, M::Error> {
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

    fn string(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Node::Other(Value::String(text))) => Some(text),
            _ => None,
        }
    }

    /// The runs by their numbers.
    fn runs(&self) -> Vec<(&str, &Node)> {
        let number = |key: &str| key.strip_prefix("run")?.parse::<u32>().ok();
        let mut runs: Vec<(u32, &str, &Node)> =
            self.0.iter().filter_map(|(key, node)| Some((number(key)?, key.as_str(), node))).collect();
        runs.sort_by_key(|run| run.0);
        runs.into_iter().map(|(_, key, node)| (key, node)).collect()
    }
}

/// Returns the runs that a text is; nothing of any other text.
pub(super) fn table(text: &str) -> Option<Object> {
    let object = |text: &str| serde_json::from_str::<Object>(text).ok();
    object(text).or_else(|| object(&with_words(text))).filter(|table| !table.runs().is_empty())
}

/// Puts quotes round what some writers of JSON put for numbers that are none, so that their places can be told.
fn with_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Every second part is a string, as long as an escaped quote does not end one.
    let mut inside = false;
    for part in text.split_inclusive('"') {
        let escaped = part.trim_end_matches('"').chars().rev().take_while(|c| *c == '\\').count() % 2 == 1;
        if inside {
            out += part;
        } else {
            let part = part.replace("-Infinity", "Infinity").replace("Infinity", "\"Infinity\"");
            out += &part.replace("NaN", "\"NaN\"");
        }
        inside = if inside { escaped } else { part.ends_with('"') };
    }
    out
}

/// Returns each run of the table as a journal, in the order of their numbers.
///
/// # Errors
/// A run has no test, or a test no value that could have been measured: the first of them, by name.
pub(super) fn read(table: &Object, draft: &Draft<'_>) -> Result<Vec<Journal>> {
    let runs = table.runs();
    if let Some(twice) = runs.windows(2).find(|two| two[0].0 == two[1].0) {
        bail!("it has {} twice; give each run a number of its own", twice[0].0);
    }
    runs.into_iter().map(|(name, run)| journal(table, name, run, draft.clone())).collect()
}

fn journal(table: &Object, name: &str, run: &Node, mut draft: Draft<'_>) -> Result<Journal> {
    let tests = match run {
        Node::Object(tests) if !tests.0.is_empty() => &tests.0,
        _ => bail!(
            "it has no test in {name}; a run is an object of tests, each with its value, unit, seconds and samples"
        ),
    };
    let source = cleaned(table.string("source").unwrap_or_default());
    let state = match table.get("audit_state") {
        Some(Node::Object(states)) => cleaned(states.string(name).unwrap_or_default()),
        _ => String::new(),
    };
    let auditing = if state.is_empty() { String::new() } else { format!("auditing {state}") };
    let words = [source.as_str(), name, &auditing];
    draft.run.comment = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<&str>>().join("; ");
    "BYTE UNIX Benchmarks".clone_into(&mut draft.run.tool);
    draft.fact("imported.source", "Source", "Imported", &source);
    draft.fact("imported.auditing", "Auditing", "Imported", &state);
    for (label, test) in tests {
        put(&mut draft, name, &cleaned(label), test)?;
    }
    let catalogue = draft.catalogue;
    let mut journal = draft.finish();
    let has = |id: &str| journal.cells.iter().any(|cell| cell.key.test == id);
    if catalogue.tests.iter().filter(|test| test.baseline.contains_key(BYTE)).all(|test| has(&test.id)) {
        journal.run.indexes = vec![BYTE.to_owned()];
    }
    Ok(journal)
}

/// Makes the cell of a test and its trial.
fn put(draft: &mut Draft<'_>, run: &str, label: &str, test: &Node) -> Result<()> {
    let wrong = |what: &str, key: &str, wanted: &str| {
        anyhow::anyhow!("it has {what} as the {key} of '{}' in {run}; {wanted}", quoted(label))
    };
    let Node::Object(test) = test else {
        return Err(wrong("no object", "figures", "a test is an object of value, unit, seconds and samples"));
    };
    let number = |key: &str, most: f64| match test.get(key) {
        None => Ok(None),
        Some(Node::Other(Value::Number(number))) if number.as_f64().is_some_and(|one| (0.0..=most).contains(&one)) => {
            Ok(number.as_f64())
        }
        Some(node) => Err(wrong(&node.shown(), key, &format!("it must be a number from 0 to {most:e}"))),
    };
    let wanted = "every test needs what it measured, as \"value\": 12.5";
    let value = number("value", lines::ABSURD)?.ok_or_else(|| wrong("nothing", "value", wanted))?;
    let unit = match test.get("unit") {
        None => String::new(),
        Some(Node::Other(Value::String(unit))) => cleaned(unit),
        Some(node) => return Err(wrong(&node.shown(), "unit", "it must be a text such as \"lps\"")),
    };
    let seconds = number("seconds", lines::ABSURD)?.unwrap_or(0.0);
    let samples = number("samples", f64::from(u32::MAX))?.unwrap_or(1.0) as u32;
    let known = SLIPS.iter().fold(label.to_owned(), |label, (slip, right)| label.replace(slip, right));
    let cell = draft.cell(&known, 1, &unit);
    // Reports show the file's own words, so that they can be laid beside it.
    if let Some(cell) = draft.cell_mut(cell) {
        label.clone_into(&mut cell.label);
    }
    draft.put_score(cell, value, seconds, samples);
    Ok(())
}

impl Node {
    /// The value as a message quotes it.
    fn shown(&self) -> String {
        match self {
            Node::Object(_) => "an object".to_owned(),
            Node::Other(value) => quoted(&cleaned(&value.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_by_their_names() {
        let of = |text: &str| -> Option<Vec<String>> {
            Some(table(text)?.runs().into_iter().map(|(name, _)| name.to_owned()).collect())
        };
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(of(r#"{"run10": {}, "note": [1], "run9": {"a": 1}}"#), names(&["run9", "run10"]));
        for other in ["", "{}", "[]", r#"{"run": {}}"#, r#"{"runs": {}}"#, r#"{"run1": {}"#, r#"{"threads": [1]}"#] {
            assert_eq!(of(other), None, "{other}");
        }
    }

    #[test]
    fn words_for_no_number_are_quoted_outside_of_texts() {
        let text = r#"{"a \" NaN": NaN, "b\\": -Infinity, "NaN": [Infinity, 1]}"#;
        assert_eq!(with_words(text), r#"{"a \" NaN": "NaN", "b\\": "Infinity", "NaN": ["Infinity", 1]}"#);
        assert!(table(&text.replace("b\\\\", "run1")).is_some());
    }
}
