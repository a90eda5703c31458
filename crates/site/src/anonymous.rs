//! A journal without whose machine it was, for a site that everybody reads: redacted, and then
//! every text that is left, too.

use anyhow::{Context, Result};
use serde_json::Value;

use journal::{Journal, Redactor, Replaced};

/// Keys whose texts are digests or numbers of the tool's own.
const KEPT_KEYS: [&str; 3] = ["hash", "format", "type"];

/// Returns a journal's lines without whose machine it was, and what was replaced. The same host has
/// the same alias.
///
/// # Errors
/// The journal cannot be encoded: a defect.
pub(crate) fn anonymous(mut journal: Journal) -> Result<(Vec<u8>, Replaced)> {
    let alias = match journal.is_redacted() {
        true => journal.run.host.clone(),
        false => fleet::alias(&journal.run.host).replace("node-", "host-"),
    };
    let mut redactor = Redactor::new(&journal, &alias, true);
    if !journal.run.comment.is_empty() {
        *redactor.replaced.entry("comments".into()).or_default() += 1;
        journal.run.comment.clear();
    }
    journal.redact_with(&mut redactor);

    let mut bytes = Vec::new();
    for record in journal.records() {
        let mut value = serde_json::to_value(record).context("a journal cannot be encoded")?;
        redact_texts(&mut value, &mut redactor);
        serde_json::to_writer(&mut bytes, &value).context("a journal cannot be encoded")?;
        bytes.push(b'\n');
    }
    Ok((bytes, redactor.replaced))
}

/// Redacts every text in a value.
fn redact_texts(value: &mut Value, redactor: &mut Redactor) {
    match value {
        Value::String(text) => *text = redactor.redacted(text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_texts(item, redactor)),
        Value::Object(items) => {
            let is_fact = items.get("type").is_some_and(|kind| kind == "fact");
            for (key, item) in items.iter_mut() {
                // Versions look like addresses; the names of facts are the tool's own.
                let is_own = key == "compiler" || key == "tool" || (is_fact && key == "name");
                if !is_own && !KEPT_KEYS.contains(&key.as_str()) {
                    redact_texts(item, redactor);
                }
            }
        }
        _ => {}
    }
}
