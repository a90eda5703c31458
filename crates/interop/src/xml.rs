//! XML of others. Its parser goes down the elements by recursion, makes room for what a text seems to have, and
//! compares each attribute with all before it in its element: so that is bounded first.

use anyhow::{Result, anyhow, bail};
use roxmltree::Document;

/// Elements within elements; a result file has six.
const MOST_LEVELS: usize = 256;

/// Attributes of an element; a result file has none.
const MOST_ATTRIBUTES: usize = 64;

/// Elements and attributes of a file, with the ends of elements; a hundred systems and a thousand results have fewer.
const MOST_NODES: usize = 1_000_000;

/// Returns a document.
///
/// # Errors
/// It is damaged or truncated, or has more of something than result files have; the line is named.
pub(crate) fn document(text: &str) -> Result<Document<'_>> {
    check(text)?;
    Document::parse(text).map_err(|error| {
        let line = error.pos().row;
        anyhow!("it is XML that is damaged or truncated at line {line}: {error}; import the whole file")
    })
}

/// Checks that a text may be parsed. Up to its first mistake, at which the parser stops, it is read here as it is
/// there.
fn check(text: &str) -> Result<()> {
    if text.bytes().filter(|byte| matches!(byte, b'<' | b'=')).count() > MOST_NODES {
        bail!("it is XML with more than {MOST_NODES} elements and attributes; no result file has as many");
    }
    let (mut rest, mut level) = (text, 0_usize);
    while let Some(start) = rest.find('<') {
        rest = &rest[start..];
        let passed_over = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
        let end = match passed_over.iter().find(|(begin, _)| rest.starts_with(begin)) {
            Some((begin, end)) => rest[begin.len()..].find(end).map(|at| begin.len() + at + end.len()),
            None => tag(rest, text, &mut level)?,
        };
        let Some(end) = end else { return Ok(()) };
        rest = &rest[end..];
    }
    Ok(())
}

/// Returns the length of the tag that `rest` of a text begins with, and moves `level` up or down; `None` if it has no
/// end.
fn tag(rest: &str, text: &str, level: &mut usize) -> Result<Option<usize>> {
    let line = || text[..text.len() - rest.len()].matches('\n').count() + 1;
    let (mut quote, mut attributes) = (None, 0);
    let closes = |byte: u8| match (quote, byte) {
        (None, b'"' | b'\'') => {
            (quote, attributes) = (Some(byte), attributes + 1);
            false
        }
        (None, _) => byte == b'>',
        (Some(open), _) => {
            quote = quote.filter(|_| open != byte);
            false
        }
    };
    let Some(end) = rest.bytes().position(closes) else { return Ok(None) };
    if attributes > MOST_ATTRIBUTES {
        bail!("it is XML with an element of more than {MOST_ATTRIBUTES} attributes, at line {}", line());
    }
    if rest.starts_with("</") {
        *level = level.saturating_sub(1);
    } else if !rest[..end].ends_with('/') {
        *level += 1;
    }
    if *level > MOST_LEVELS {
        bail!("it is XML with more than {MOST_LEVELS} elements within each other, at line {}", line());
    }
    Ok(Some(end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize, open: &str, close: &str) -> String {
        format!("<r>{}{}</r>", open.repeat(levels), close.repeat(levels))
    }

    fn refused(text: &str) -> String {
        document(text).unwrap_err().to_string()
    }

    #[test]
    fn what_would_overflow_the_parser_is_refused_before() {
        assert!(document(&nested(255, "<a>", "</a>")).is_ok());
        assert!(document(&format!("<r>{}</r>", "<a/>".repeat(5000))).is_ok());
        for hidden in
            ["<a>", "<a >\n", "<a b='/'>", "<a b=\"/>\">", "<a><!-- </a> -->", "<a><![CDATA[</a>]]>", "<a><?p </a>?>"]
        {
            let refused = refused(&nested(5000, hidden, "</a>"));
            assert!(refused.contains("more than 256 elements within each other"), "{hidden}: {refused}");
        }
    }

    #[test]
    fn attributes_and_nodes_are_counted() {
        let with = |count: usize| format!("<r{}/>", (0..count).map(|n| format!(" a{n}=''")).collect::<String>());
        assert!(document(&with(64)).is_ok());
        assert!(refused(&with(65)).contains("more than 64 attributes, at line 1"));
        assert!(refused(&format!("<r>{}</r>", "=".repeat(MOST_NODES))).contains("elements and attributes"));
    }
}
