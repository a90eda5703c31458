//! The texts of a journal's line: none may be more than text.

use serde_json::Value;

/// The longest text; the longest facts have a few hundred characters.
const MOST_LETTERS: usize = 4000;

/// Returns the reason why a text in a line of JSON could be more than text; `None` if none could, or
/// the line is damaged.
pub(crate) fn unsafe_text(line: &str) -> Option<String> {
    danger_in(&serde_json::from_str(line).ok()?)
}

/// Returns the danger of the first text of a value that is not safe.
fn danger_in(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => danger(text),
        Value::Array(items) => items.iter().find_map(danger_in),
        Value::Object(items) => items.iter().find_map(|(key, item)| danger(key).or_else(|| danger_in(item))),
        _ => None,
    }
}

/// Returns the reason why a text could be more than that.
fn danger(text: &str) -> Option<String> {
    let what = if text.chars().count() > MOST_LETTERS {
        let start: String = text.chars().take(40).collect();
        return Some(format!("a text of more than {MOST_LETTERS} characters: '{}…'", words::visible(&start)));
    } else if text.match_indices('<').any(|(at, _)| opens_tag(&text[at + 1..])) {
        "a text that could be markup"
    } else if words::clean(text) != *text {
        "a text with invisible characters"
    } else {
        return None;
    };
    Some(format!("{what}: '{}'", words::visible(&text.chars().take(40).collect::<String>())))
}

/// Returns true if what follows a `<` can make it the beginning of a tag.
fn opens_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c))
}
