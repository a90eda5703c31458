//! A text to import, and what its readers share: its lines with their numbers, its JSON, and the
//! errors that name a line.
//!
//! JSON may appear between other lines, and several documents in one text: [`documents`] finds
//! them. Writers that know no JSON print `NaN`, `1e999` or `2%` where a number should be, or a key
//! twice. Both are mended while a document is read, so that a reader meets the word as a text
//! ([`json_at`]) and the second key as `key #2` ([`WithTwins`]).
//!
//! Readers get a value in one of three forms, by what they do where there is none:
//! [`number_at`] gives NaN for what is no number, [`outcome_at`] the reason for the report, and
//! [`string_at`] an empty text.

use std::fmt::{self, Formatter};
use std::result::Result;

use anyhow::{Error, anyhow};
use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer, Map, Value};

use super::figure::{Outcome, json_outcome, shorten_name};
use super::lines;
use super::plain::{clean_text, excerpt};

/// Failed documents after which words in the place of numbers are no longer mended: each attempt
/// reads all the rest of the text.
const MAX_FAILURES: usize = 16;

/// A text, with its JSON if it is any.
pub(super) struct Text<'t> {
    pub raw: &'t str,
    pub json: Option<Value>,
    /// The line of the file at which it begins, from 1.
    first_line: usize,
}

/// A line that begins with a head.
pub(super) struct HeadedLine<'t> {
    /// Its number in the file, from 1.
    pub number: usize,
    pub line: &'t str,
    /// What follows the head.
    pub rest: &'t str,
}

/// A sentence that lines in some place are left out; `None` where all are blank.
pub(super) fn describe_left_out<'t>(
    lines: impl Iterator<Item = &'t str>,
    place: &str,
) -> Option<String> {
    let lines: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
    let first = excerpt(lines.first()?);
    let count = words::count(lines.len(), "line");
    let verb = if lines.len() == 1 { "is" } else { "are" };
    Some(format!("{count} {place} {verb} left out: '{first}'"))
}

/// The JSON in a text.
pub(super) struct Documents<'t> {
    /// The documents that are whole.
    pub found: Vec<Text<'t>>,
    /// What is wrong with the first of the others, and where.
    pub damage: Option<String>,
}

/// Finds the JSON documents of a text: each begins a line or follows another document.
pub(super) fn documents(raw: &str) -> Documents<'_> {
    let mut documents = Documents { found: Vec::new(), damage: None };
    let mut failures = 0;
    // Where the next document may begin, and where the line ends, in bytes.
    let (mut at, mut line_end) = (0, 0);
    for (number, line) in (1..).zip(raw.split_inclusive('\n')) {
        at = at.max(line_end);
        line_end += line.len();
        while at < line_end && raw[at..line_end].trim_start().starts_with(['{', '[']) {
            let text = &raw[at..];
            let json = if failures < MAX_FAILURES { json_at(text) } else { first_json(text) };
            match json {
                Ok((json, length)) => {
                    let raw = &text[..length];
                    documents.found.push(Text { raw, json: Some(json), first_line: number });
                    at += length;
                }
                Err(error) => {
                    failures += 1;
                    // A line may begin with a bracket and be no JSON.
                    if error.line() > 1 || error.is_eof() || begins_like_json(text) {
                        documents.damage.get_or_insert_with(|| describe_damage(&error, number));
                    }
                    // What is within it is no document of its own.
                    at = line_end.max(at + readable_bytes(text, &error));
                }
            }
        }
    }
    documents
}

/// True if a text begins with the first key of an object, or with an array of objects.
fn begins_like_json(text: &str) -> bool {
    let (start, _) = text.split_once(':').unwrap_or((text, ""));
    let start: String = start.chars().filter(|c| !c.is_whitespace()).take(3).collect();
    start.starts_with("{\"") || start == "[{\""
}

/// What is wrong with JSON that begins at a line, and where.
fn describe_damage(error: &serde_json::Error, first_line: usize) -> String {
    let line = first_line + error.line().max(1) - 1;
    let message = error.to_string();
    let reason = message.split(" at line ").next().unwrap_or_default();
    format!("{reason} at line {line} column {}", error.column())
}

/// The bytes of the lines before the one that is wrong.
fn readable_bytes(text: &str, error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return text.len();
    }
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    lines.map(str::len).sum()
}

/// The JSON at the start of a text, and its length in bytes. A word in the place of a number, such
/// as NaN or 1e999, becomes a text.
///
/// # Errors
/// The text begins with no JSON, or with JSON that is damaged or truncated.
pub(super) fn json_at(text: &str) -> serde_json::Result<(Value, usize)> {
    let error = match first_json(text) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let wrong_line = text.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    if !wrong_line.split_inclusive(is_delimiter).any(|token| is_no_number(trim_token(token))) {
        return Err(error);
    }

    let quoted = quote_no_numbers(text);
    let (json, end) = first_json(&quoted.text)?;
    // Each word within the document has two quotes that the text has not.
    let added = 2 * quoted.ends.partition_point(|word_end| *word_end <= end);
    Ok((json, end - added))
}

/// The JSON at the start of a text as it is written, and its length in bytes.
fn first_json(text: &str) -> serde_json::Result<(Value, usize)> {
    let mut documents = Deserializer::from_str(text).into_iter::<WithTwins>();
    let WithTwins(json) = match documents.next() {
        Some(json) => json?,
        None => serde_json::from_str(text)?,
    };
    Ok((json, documents.byte_offset()))
}

/// A document whose outermost objects keep all of their values: a key that comes again gets a
/// number, `a #2`.
struct WithTwins(Value);

impl<'de> Deserialize<'de> for WithTwins {
    fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<WithTwins, D::Error> {
        reader.deserialize_any(TwinReader).map(WithTwins)
    }
}

struct TwinReader;

impl<'de> Visitor<'de> for TwinReader {
    type Value = Value;

    fn expecting(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.write_str("any JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((key, value)) = entries.next_entry::<String, Value>()? {
            let twin = |number: u32| format!("{key} #{number}");
            let name = words::free_name([key.clone()], twin, |name| !object.contains_key(name));
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(WithTwins(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Value::Array(array))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
}

/// A text in which words in the place of numbers have quotes.
pub(super) struct Quoted {
    pub text: String,
    /// The byte after each of these words and its second quote.
    ends: Vec<usize>,
}

/// Puts quotes round words in the place of numbers, so that the text can be read as JSON. What is
/// within JSON's own texts is left alone.
pub(super) fn quote_no_numbers(text: &str) -> Quoted {
    let mut quoted = Quoted { text: String::with_capacity(text.len()), ends: Vec::new() };
    // Every second part is a text, as long as an escaped quote does not end one.
    let mut is_inside = false;
    for part in text.split_inclusive('"') {
        let backslashes = part.trim_end_matches('"').bytes().rev().take_while(|c| *c == b'\\');
        let is_escaped = backslashes.count() % 2 == 1;
        if is_inside {
            quoted.text += part;
            is_inside = is_escaped;
            continue;
        }
        for token in part.split_inclusive(is_delimiter) {
            let word = trim_token(token);
            if !is_no_number(word) {
                quoted.text += token;
                continue;
            }
            quoted.text += &format!("\"{word}\"");
            quoted.ends.push(quoted.text.len());
            quoted.text += &token[word.len()..];
        }
        is_inside = part.ends_with('"');
    }
    quoted
}

/// True for what JSON has around its numbers and words.
fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ':' | '[' | ']' | '{' | '}' | '"')
}

fn trim_token(token: &str) -> &str {
    token.trim_end_matches(is_delimiter)
}

/// True for NaN, Infinity, -inf, 1e999 and the like, and for a share, as the `2%` that Google
/// Benchmark wrote for its RMS in 2017 (google/benchmark#379).
fn is_no_number(word: &str) -> bool {
    let is_share = word.strip_suffix('%').is_some_and(|share| share.parse::<f64>().is_ok());
    is_share || word.parse::<f64>().is_ok_and(|number| !number.is_finite())
}

impl<'t> Text<'t> {
    /// A text that is no JSON.
    pub fn new(raw: &'t str) -> Text<'t> {
        Text { raw, json: None, first_line: 1 }
    }

    /// Another document at the same place.
    pub fn with_json(&self, json: Value) -> Text<'t> {
        Text { raw: self.raw, json: Some(json), first_line: self.first_line }
    }

    /// Divides the text at lines, given by their numbers in order. What is before the first of them
    /// becomes a text, too.
    pub fn split(&self, starts: &[usize]) -> Vec<Text<'t>> {
        let mut starts = starts.iter().peekable();
        let mut texts = Vec::new();
        // The text that is being passed over: its first line, and where it begins and ends in
        // bytes.
        let (mut first_line, mut begin, mut end) = (self.first_line, 0, 0);
        for (number, line) in (self.first_line..).zip(self.raw.split_inclusive('\n')) {
            if starts.next_if_eq(&&number).is_some() {
                if begin < end {
                    texts.push(Text { raw: &self.raw[begin..end], json: None, first_line });
                }
                (first_line, begin) = (number, end);
            }
            end += line.len();
        }
        texts.push(Text { raw: &self.raw[begin..], json: None, first_line });
        texts
    }

    /// The text from the first `start` to the end of the last `end`; `None` if either is missing.
    pub fn between(&self, start: &str, end: &str) -> Option<Text<'t>> {
        let from = self.raw.find(start)?;
        let to = self.raw.rfind(end).map(|at| at + end.len()).filter(|to| from < *to)?;
        let first_line = self.first_line + self.raw[..from].matches('\n').count();
        Some(Text { raw: &self.raw[from..to], json: None, first_line })
    }

    pub fn first_line(&self) -> usize {
        self.first_line
    }

    pub fn last_line(&self) -> usize {
        self.first_line + self.raw.lines().count().max(1) - 1
    }

    /// The lines with their numbers in the file.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        (self.first_line..).zip(self.raw.lines())
    }

    /// True if any line begins so, after blanks.
    pub fn has_line(&self, start: &str) -> bool {
        self.raw.lines().any(|line| line.trim_start().starts_with(start))
    }

    pub fn json_or_null(&self) -> &Value {
        self.json.as_ref().unwrap_or(&Value::Null)
    }

    /// The number of the first line with `words`; of the last line where none has them.
    pub fn line_of(&self, words: &str) -> usize {
        let before = self.raw.find(words).map_or(self.raw, |at| &self.raw[..at]);
        before.matches('\n').count() + self.first_line
    }

    /// The first line that begins with a head, without blanks before it.
    ///
    /// # Errors
    /// No line does: the text is called truncated.
    pub fn find_headed(&self, head: &str) -> Result<HeadedLine<'t>, Error> {
        for (number, line) in self.lines() {
            if let Some(rest) = line.strip_prefix(head) {
                return Ok(HeadedLine { number, line, rest });
            }
        }
        Err(self.truncated_error(head))
    }

    /// The error about a version that no reader knows; `known` names those that can be read.
    pub fn unknown_version_error(
        &self,
        line: usize,
        suite: &str,
        version: &str,
        known: &str,
    ) -> Error {
        let version = excerpt(version);
        anyhow!(
            "it comes from {suite} '{version}' (line {line}), whose output unixmark does not know; {known} can be read"
        )
    }

    /// The error about a text that ends too early.
    pub fn truncated_error(&self, missing: &str) -> Error {
        let last = self.last_line();
        anyhow!("it ends at line {last}, without {missing}: it is truncated; import the whole file")
    }

    /// The error about a line that should have a figure.
    pub fn damaged_line_error(&self, number: usize, line: &str, wanted: &str) -> Error {
        anyhow!("it has no {wanted} in line {number}: '{}'", excerpt(line))
    }
}

/// The text under a path of keys, on one line; empty if there is none.
pub(super) fn string_at(value: &Value, path: &[&str]) -> String {
    match value_at(value, path) {
        // Shortened first of all, since a text may be all of a file.
        Some(Value::String(text)) => clean_text(&shorten_name(text)),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    }
}

/// The number under a path of keys, also where it is written as a text: not negative, or NaN for a
/// word such as `Infinity`. `None` for anything else.
pub(super) fn number_at(value: &Value, path: &[&str]) -> Option<f64> {
    let text = string_at(value, path);
    lines::measured_number(&text).or_else(|| is_no_number(&text).then_some(f64::NAN))
}

/// The number under a path of keys, or the reason why what is there is none; `None` where nothing,
/// or an empty text, is there.
pub(super) fn outcome_at(value: &Value, path: &[&str]) -> Option<Outcome> {
    let found = value_at(value, path)?;
    (found.as_str() != Some("")).then(|| json_outcome(found))
}

fn value_at<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// The elements of the array under a key; none if there is no array.
pub(super) fn array_at<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The word after another, as `12` after `Avg:` in `Avg: 12`, also where it fills the blanks
/// between them: `Avg:12345678`.
pub(super) fn word_after<'t>(line: &'t str, word: &str) -> Option<&'t str> {
    let mut words = line.split_whitespace();
    let rest = words.find_map(|other| other.strip_prefix(word))?;
    if rest.is_empty() { words.next() } else { Some(rest) }
}

/// The number at the start of a text, whatever follows: 12.5 of `12.50ms`.
pub(super) fn leading_number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    lines::measured_number(&text[..end])
}
