//! XML of others. The parser (roxmltree) goes down the elements by recursion, reserves memory by
//! the number of `<` and `=`, and compares each attribute with all before it in its element. So a
//! text is checked first: how deep it is, and how many elements and attributes it has
//! ([`check_size`]).

use anyhow::{Result, anyhow, bail};
use roxmltree::Document;

/// Maximum elements within each other; a result file has six.
const MAX_LEVELS: usize = 256;

/// Maximum attributes of an element; a result file has none.
const MAX_ATTRIBUTES: usize = 64;

/// Maximum elements, ends of elements and attributes of a file; a hundred systems with a thousand
/// results have fewer.
const MAX_NODES: usize = 1_000_000;

/// Markup within which nothing is a tag: how it begins and ends. The first that fits counts.
const OPAQUE: [(&str, &str); 4] =
    [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];

/// Parses a document.
///
/// # Errors
/// It is damaged or truncated, or has more of something than result files have; the line is named.
pub(crate) fn parse(text: &str) -> Result<Document<'_>> {
    check_size(text)?;
    Document::parse(text).map_err(|error| {
        let line = error.pos().row;
        anyhow!(
            "it is XML that is damaged or truncated at line {line}: {error}; import the whole file"
        )
    })
}

/// Checks that a text may be parsed. Up to its first mistake, at which the parser stops, it is read
/// here as the parser reads it.
fn check_size(text: &str) -> Result<()> {
    if text.bytes().filter(|byte| matches!(byte, b'<' | b'=')).count() > MAX_NODES {
        bail!(
            "it is XML with more than {MAX_NODES} elements and attributes; no result file has as many"
        );
    }

    let mut level = 0_usize;
    let mut at = 0;
    while let Some(start) = text[at..].find('<') {
        at += start;
        let markup = &text[at..];
        let opaque = OPAQUE.iter().find(|(begin, _)| markup.starts_with(begin));
        let length = match opaque {
            Some((begin, end)) => {
                markup[begin.len()..].find(end).map(|place| begin.len() + place + end.len())
            }
            None => {
                let tag = find_tag(markup);
                if let Some(tag) = &tag {
                    level = level_after(tag, level);
                    check_tag(tag, level, || text[..at].matches('\n').count() + 1)?;
                }
                tag.map(|tag| tag.text.len())
            }
        };
        let Some(length) = length else {
            return Ok(());
        };
        at += length;
    }
    Ok(())
}

/// The tag of an element, from `<` to `>`.
struct Tag<'t> {
    text: &'t str,
    attributes: usize,
}

/// The tag that a text begins with; `None` if it has no end. A `>` within quotes does not end it.
fn find_tag(text: &str) -> Option<Tag<'_>> {
    let mut quote = None;
    let mut attributes = 0;
    for (place, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (None, b'"' | b'\'') => {
                quote = Some(byte);
                attributes += 1;
            }
            (None, b'>') => return Some(Tag { text: &text[..=place], attributes }),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// The number of elements that are open after a tag.
fn level_after(tag: &Tag<'_>, level: usize) -> usize {
    if tag.text.starts_with("</") {
        level.saturating_sub(1)
    } else if tag.text.ends_with("/>") {
        level
    } else {
        level + 1
    }
}

fn check_tag(tag: &Tag<'_>, level: usize, line: impl Fn() -> usize) -> Result<()> {
    if tag.attributes > MAX_ATTRIBUTES {
        bail!(
            "it is XML with an element of more than {MAX_ATTRIBUTES} attributes, at line {}",
            line()
        );
    }
    if level > MAX_LEVELS {
        bail!(
            "it is XML with more than {MAX_LEVELS} elements within each other, at line {}",
            line()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize, open: &str, close: &str) -> String {
        format!("<r>{}{}</r>", open.repeat(levels), close.repeat(levels))
    }

    fn refused(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_would_overflow_the_parser_is_refused_before() {
        assert!(parse(&nested(255, "<a>", "</a>")).is_ok());
        assert!(parse(&format!("<r>{}</r>", "<a/>".repeat(5000))).is_ok());
        for hidden in [
            "<a>",
            "<a >\n",
            "<a b='/'>",
            "<a b=\"/>\">",
            "<a><!-- </a> -->",
            "<a><![CDATA[</a>]]>",
            "<a><?p </a>?>",
        ] {
            let refused = refused(&nested(5000, hidden, "</a>"));
            assert!(
                refused.contains("more than 256 elements within each other"),
                "{hidden}: {refused}"
            );
        }
    }

    #[test]
    fn attributes_and_nodes_are_counted() {
        let with = |count: usize| {
            format!("<r{}/>", (0..count).map(|n| format!(" a{n}=''")).collect::<String>())
        };
        assert!(parse(&with(64)).is_ok());
        assert!(refused(&with(65)).contains("more than 64 attributes, at line 1"));
        assert!(
            refused(&format!("<r>{}</r>", "=".repeat(MAX_NODES)))
                .contains("elements and attributes")
        );
    }
}
