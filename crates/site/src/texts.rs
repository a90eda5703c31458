//! The texts of a line, looked at one by one: a line may be long, and is not taken up.

use std::fmt::{Formatter, Result as Written};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// The longest text; the longest facts have a few hundred characters.
const MOST_LETTERS: usize = 4000;

/// Returns why a text in a line of JSON could be more than text, if one could; nothing of a line that is damaged.
pub(crate) fn unsafe_text(line: &str) -> Option<String> {
    serde_json::from_str(line).ok().and_then(|Texts(danger)| danger)
}

/// Why the first text is not safe that is not.
struct Texts(Option<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Texts, D::Error> {
        deserializer.deserialize_any(Look).map(Texts)
    }
}

struct Look;

impl<'de> Visitor<'de> for Look {
    type Value = Option<String>;

    fn expecting(&self, f: &mut Formatter<'_>) -> Written {
        f.write_str("JSON")
    }

    fn visit_str<E>(self, text: &str) -> Result<Option<String>, E> {
        Ok(danger(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Option<String>, A::Error> {
        let mut found = None;
        while let Some(Texts(danger)) = items.next_element()? {
            found = found.or(danger);
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Option<String>, A::Error> {
        let mut found = None;
        while let Some((Texts(key), Texts(value))) = items.next_entry()? {
            found = found.or(key).or(value);
        }
        Ok(found)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Option<String>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<String>, E> {
        Ok(None)
    }
}

/// Why a text could be more than that, if it could.
fn danger(text: &str) -> Option<String> {
    let opens =
        |(at, _): (usize, &str)| text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    let shown = || words::visible(&text.chars().take(40).collect::<String>());
    if text.chars().count() > MOST_LETTERS {
        Some(format!("a text of more than {MOST_LETTERS} characters: '{}…'", shown()))
    } else if text.match_indices('<').any(opens) {
        Some(format!("a text that could be markup: '{}'", shown()))
    } else if words::clean(text) != *text {
        Some(format!("a text with invisible characters: '{}'", shown()))
    } else {
        None
    }
}
