//! A text to import, and what its readers share: its JSON, its lines, and where in it something stands.

use anyhow::{Error, Result, anyhow};
use serde_json::Value;

use super::lines;

/// A text, with its JSON if it is any.
pub(super) struct Text<'t> {
    pub raw: &'t str,
    pub json: Option<Value>,
}

impl<'t> Text<'t> {
    /// Returns the text with its JSON.
    ///
    /// # Errors
    /// It begins as JSON and is damaged or truncated: where.
    pub fn new(raw: &'t str) -> Result<Text<'t>> {
        if !raw.trim_start().starts_with(['{', '[']) {
            return Ok(Text { raw, json: None });
        }
        let broken = |error: serde_json::Error| {
            anyhow!("it is JSON that is damaged or truncated: {error}; import the whole file")
        };
        Ok(Text { raw, json: Some(serde_json::from_str(raw).map_err(broken)?) })
    }

    /// The lines with their numbers, from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &'t str)> {
        (1..).zip(self.raw.lines())
    }

    /// Returns true if any line begins so, after blanks.
    pub fn has_line(&self, start: &str) -> bool {
        self.raw.lines().any(|line| line.trim_start().starts_with(start))
    }

    /// Returns its JSON; null if it is none.
    pub fn value(&self) -> &Value {
        self.json.as_ref().unwrap_or(&Value::Null)
    }

    /// Returns the line of the first place of `words`; that of the end where there is none.
    pub fn line_of(&self, words: &str) -> usize {
        let before = self.raw.find(words).map_or(self.raw, |at| &self.raw[..at]);
        before.matches('\n').count() + 1
    }

    /// Returns the first line that begins with a head, with its number, and what follows the head.
    ///
    /// # Errors
    /// No line does.
    pub fn headed(&self, head: &str) -> Result<(usize, &'t str, &'t str)> {
        let found = self.lines().find_map(|(number, line)| Some((number, line, line.strip_prefix(head)?)));
        found.ok_or_else(|| self.cut(head))
    }

    /// Refuses a version that no reader knows.
    pub fn unknown(&self, line: usize, suite: &str, version: &str, known: &str) -> Error {
        let version = super::draft::quoted(version);
        anyhow!(
            "it comes from {suite} '{version}' (line {line}), whose output unixmark does not know; {known} can be read"
        )
    }

    /// Refuses a text that ends too early.
    pub fn cut(&self, missing: &str) -> Error {
        let last = self.raw.lines().count().max(1);
        anyhow!("it ends at line {last}, without {missing}: it is truncated; import the whole file")
    }

    /// Refuses a line that should have a figure.
    pub fn damaged(&self, number: usize, line: &str, wanted: &str) -> Error {
        anyhow!("it has no {wanted} in line {number}: '{}'", super::draft::quoted(line))
    }
}

/// Returns the text under a path of keys; empty if there is none.
pub(super) fn string_at(value: &Value, path: &[&str]) -> String {
    match path.iter().try_fold(value, |value, key| value.get(key)) {
        Some(Value::String(text)) => super::draft::cleaned(text),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// Returns the number under a path of keys, also where it is written as a text.
pub(super) fn number(value: &Value, path: &[&str]) -> Option<f64> {
    lines::number(&string_at(value, path))
}

/// Returns the elements of the array under a key.
pub(super) fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the word after another, as the number after `Avg:`.
pub(super) fn after<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    let mut words = line.split_whitespace();
    words.find(|one| *one == word)?;
    words.next()
}

/// Returns the number that a text begins with, whatever follows: `12.50ms`.
pub(super) fn leading(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    lines::number(&text[..end])
}
