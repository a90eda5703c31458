//! The texts of a journal's line: none may be more than text.

use serde_json::Value;

/// The longest text; the longest facts have a few hundred characters.
const MAX_CHARACTERS: usize = 4000;

/// The reason why a text in a line of JSON could be more than text; `None` if none could,
/// or the line is damaged.
pub(crate) fn unsafe_text(line: &str) -> Option<String> {
    value_danger(&serde_json::from_str(line).ok()?)
}

/// The danger of the first text of a value that is not safe.
fn value_danger(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text_danger(text),
        Value::Array(items) => items.iter().find_map(value_danger),
        Value::Object(items) => {
            items.iter().find_map(|(key, item)| text_danger(key).or_else(|| value_danger(item)))
        }
        _ => None,
    }
}

/// The reason why a text could be more than that.
fn text_danger(text: &str) -> Option<String> {
    let danger = if text.chars().count() > MAX_CHARACTERS {
        let start: String = text.chars().take(40).collect();
        return Some(format!(
            "a text of more than {MAX_CHARACTERS} characters: '{}…'",
            words::visible(&start)
        ));
    } else if text.match_indices('<').any(|(at, _)| opens_tag(&text[at + 1..])) {
        "a text that could be markup"
    } else if words::clean(text) != *text {
        "a text with invisible characters"
    } else {
        return None;
    };

    Some(format!("{danger}: '{}'", words::visible(&text.chars().take(40).collect::<String>())))
}

/// True if the text that follows a `<` can make it the beginning of a tag.
fn opens_tag(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c))
}
