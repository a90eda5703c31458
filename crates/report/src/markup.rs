//! HTML and SVG. Text and attributes are escaped as they enter, and elements are whole: there is no other way to write any.

use std::fmt::Write;

/// Elements that end a line.
const LINES: [&str; 12] = ["details", "div", "figure", "h1", "h2", "h3", "li", "p", "section", "style", "table", "tr"];

/// A piece of markup.
#[derive(Debug, Clone, Default)]
pub struct Markup(String);

/// Returns an element; attributes without a value are left out.
pub(crate) fn element(tag: &'static str, attributes: &[(&'static str, &str)], inside: impl Into<Markup>) -> Markup {
    let mut text = format!("<{tag}");
    for (name, value) in attributes.iter().filter(|(_, value)| !value.is_empty()) {
        // Writing to a String cannot fail.
        let _ = write!(text, r#" {name}="{}""#, escaped(value));
    }
    let end = if LINES.contains(&tag) { "\n" } else { "" };
    let _ = write!(text, ">{}</{tag}>{end}", inside.into().0);
    Markup(text)
}

impl Markup {
    /// Returns markup of the program's own.
    pub(crate) fn fixed(markup: &'static str) -> Markup {
        Markup(markup.to_owned())
    }

    /// Returns it, or nothing unless `wanted`.
    pub(crate) fn only_if(self, wanted: bool) -> Markup {
        if wanted { self } else { Markup::default() }
    }

    /// Adds more after it.
    pub(crate) fn push(&mut self, more: impl Into<Markup>) {
        self.0 += &more.into().0;
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns it as text.
    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl From<&str> for Markup {
    fn from(text: &str) -> Markup {
        Markup(escaped(text))
    }
}

impl From<&String> for Markup {
    fn from(text: &String) -> Markup {
        Markup(escaped(text))
    }
}

impl<const N: usize> From<[Markup; N]> for Markup {
    fn from(parts: [Markup; N]) -> Markup {
        parts.into_iter().collect()
    }
}

impl FromIterator<Markup> for Markup {
    fn from_iter<I: IntoIterator<Item = Markup>>(parts: I) -> Markup {
        Markup(parts.into_iter().map(Markup::into_string).collect())
    }
}

/// Returns text that markup and attributes take literally.
fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for c in words::clean(value).chars() {
        match c {
            '&' => text.push_str("&#38;"),
            '<' => text.push_str("&#60;"),
            '>' => text.push_str("&#62;"),
            '"' => text.push_str("&#34;"),
            '\'' => text.push_str("&#39;"),
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("<b a=\"1\">&'\u{7}"), "&#60;b a=&#34;1&#34;&#62;&#38;&#39;");
    }
}
