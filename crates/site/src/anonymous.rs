//! A journal without whose machine it was: what says so in any of its texts is replaced, and counted.

use std::borrow::Cow;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use journal::{Journal, renamed};

/// Words in place of those that were taken out.
const USER: &str = "user";
const ADDRESS: &str = "ADDRESS";
const SERIAL: &str = "SERIAL";

/// Names shorter than this are replaced only where they stand as words: `vm` is in many.
const LONG: usize = 5;

/// Facts of a machine that no other has.
const OWN: [&str; 6] = ["serial", "uuid", "machine_id", "mac_address", "address", "hostid"];

/// Keys whose texts are digests or numbers of the tool's own.
const KEPT: [&str; 3] = ["hash", "format", "type"];

/// Counts of replacements by their kind: `hosts`, `addresses` …
pub(crate) type Replaced = BTreeMap<Cow<'static, str>, usize>;

/// Returns a journal's lines without whose machine it was, and what was replaced. The same host has the same alias.
///
/// # Errors
/// The journal cannot be encoded: a defect.
pub(crate) fn anonymous(mut journal: Journal) -> Result<(Vec<u8>, Replaced)> {
    let names = Names::new(&journal);
    let mut replaced = Replaced::new();
    let facts = journal.facts.iter().count();
    if !journal.run.comment.is_empty() {
        *replaced.entry("comments".into()).or_default() += 1;
    }
    let was_redacted = journal.run.is_redacted();
    if !was_redacted {
        // Counted here: redacting replaces most of them, and counts nothing.
        for record in journal.records() {
            names.walk(&mut serde_json::to_value(record).context("a journal cannot be encoded")?, &mut replaced);
        }
        journal.redact();
        journal.run.host.clone_from(&names.alias);
    }
    journal.run.comment.clear();
    let is_own = |name: &str| OWN.iter().any(|own| name.split('.').any(|part| part == *own));
    journal.facts = std::mem::take(&mut journal.facts).into_iter().filter(|fact| !is_own(&fact.name)).collect();
    let gone = facts - journal.facts.iter().count();
    if gone > 0 {
        *replaced.entry("facts".into()).or_default() += gone;
    }
    let (mut bytes, mut counted) = (Vec::new(), Replaced::new());
    for record in journal.records() {
        let mut value = serde_json::to_value(record).context("a journal cannot be encoded")?;
        names.walk(&mut value, if was_redacted { &mut replaced } else { &mut counted });
        serde_json::to_writer(&mut bytes, &value).context("a journal cannot be encoded")?;
        bytes.push(b'\n');
    }
    Ok((bytes, replaced))
}

/// The names that a journal may give away, the longest first, each with what stands for it.
struct Names {
    alias: String,
    all: Vec<(String, String, &'static str)>,
}

impl Names {
    fn new(journal: &Journal) -> Names {
        let host = &journal.run.host;
        let alias = fleet::alias(host).replace("node-", "host-");
        let mut all = Vec::new();
        if !journal.run.is_redacted() {
            let node = journal.run.fleet.as_ref().map(|attempt| attempt.id.node.clone());
            let short = host.split('.').next().map(str::to_owned);
            for name in [Some(host.clone()), short, node].into_iter().flatten() {
                all.push((name, alias.clone(), "hosts"));
            }
        }
        let user = journal.facts.value("system.user").and_then(|user| user.split([' ', '(']).next().map(str::to_owned));
        // Everybody has a root; others may be told by a number, `uid 1000`.
        all.extend(user.filter(|user| user != "root" && user != "uid").map(|user| (user, USER.to_owned(), "users")));
        all.retain(|(name, ..)| !name.is_empty());
        all.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len()));
        Names { alias, all }
    }

    fn walk(&self, value: &mut Value, replaced: &mut Replaced) {
        match value {
            Value::String(text) => *text = self.clean(text, replaced),
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, replaced)),
            Value::Object(items) => {
                let is_fact = items.get("type").is_some_and(|kind| kind == "fact");
                for (key, item) in items.iter_mut().filter(|(key, _)| !KEPT.contains(&key.as_str())) {
                    // Versions look like addresses; the names of facts are the tool's own.
                    let is_own = key == "compiler" || key == "tool" || (is_fact && key == "name");
                    if !is_own {
                        self.walk(item, replaced);
                    }
                }
            }
            _ => {}
        }
    }

    fn clean(&self, text: &str, replaced: &mut Replaced) -> String {
        let mut text = text.to_owned();
        for (name, alias, kind) in &self.all {
            let (found, count) = renamed(&text, name, alias, name.len() >= LONG);
            if count > 0 {
                *replaced.entry((*kind).into()).or_default() += count;
                text = found;
            }
        }
        let is_end = |c: char| c.is_whitespace() || "'\"()[],;=<>".contains(c);
        let mut clean = String::with_capacity(text.len());
        for part in text.split_inclusive(is_end) {
            let word = part.trim_end_matches(is_end);
            let stand_in = match word {
                _ if is_address(word) => Some(("addresses", ADDRESS)),
                _ if is_uuid(word) => Some(("serials", SERIAL)),
                _ => None,
            };
            match stand_in {
                Some((kind, text)) => {
                    *replaced.entry(kind.into()).or_default() += 1;
                    clean += text;
                    clean += &part[word.len()..];
                }
                None => clean += part,
            }
        }
        clean
    }
}

/// Returns true if a word is an address of the network or of mail: `10.0.0.1`, `fe80::1`, `52:54:00:12:34:56`,
/// `me@example.org`.
fn is_address(word: &str) -> bool {
    let bare = word.split(['/', '%']).next().unwrap_or_default();
    let is_v4 = bare.split(':').next().is_some_and(|host| host.parse::<std::net::Ipv4Addr>().is_ok());
    let is_v6 =
        bare.len() > 4 && bare.contains(':') && bare.trim_matches(['[', ']']).parse::<std::net::Ipv6Addr>().is_ok();
    let is_pair = |pair: &str| pair.len() == 2 && pair.chars().all(|c| c.is_ascii_hexdigit());
    let is_mac = bare.split([':', '-']).count() == 6 && bare.split([':', '-']).all(is_pair);
    let is_mail = word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    is_v4 || is_v6 || is_mac || is_mail
}

/// Returns true if a word is a UUID.
fn is_uuid(word: &str) -> bool {
    let word = word.rsplit('/').next().unwrap_or_default();
    let is_hex = |part: &str| part.chars().all(|c| c.is_ascii_hexdigit());
    word.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && word.split('-').all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_an_address() {
        for word in ["10.0.0.1", "10.0.0.1:22", "fe80::1%eth0", "52:54:00:12:34:56", "me@example.org", "192.168.1.0/24"]
        {
            assert!(is_address(word), "{word}");
        }
        for word in ["2.36", "6.18.44", "12:30:05", "a:b", "4.15.3", "read/write", "user@host", "0::"] {
            assert!(!is_address(word), "{word}");
        }
        assert!(is_uuid("UUID/123e4567-e89b-12d3-a456-426614174000") && !is_uuid("2026-11-21-01"));
    }
}
