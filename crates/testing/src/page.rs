//! A strict reader of pages: it proves that their markup is only what the renderer wrote. Every `<`
//! must start a tag whose attributes are quoted, every tag be closed in its turn, and tags and
//! attributes be among those that the renderer has: text that was not escaped breaks one of these.

use std::collections::BTreeSet;

const DOCTYPE: &str = "<!DOCTYPE html>";

/// A piece of a page.
#[derive(Debug)]
enum Token {
    Open(String, Vec<(String, String)>),
    Close(String),
    Text(String),
}

/// Reads a page strictly: every `<` starts a tag whose attributes are quoted, and every tag that
/// is opened is closed in its turn.
fn parse(page: &str) -> Vec<Token> {
    let mut rest = page.strip_prefix(DOCTYPE).unwrap_or(page);
    let mut tokens = Vec::new();
    let mut open: Vec<String> = Vec::new();
    while let Some(start) = rest.find('<') {
        let (text, from_tag) = rest.split_at(start);
        let end = tag_end(from_tag);
        let tag = &from_tag[1..end];
        rest = &from_tag[end + 1..];

        tokens.push(Token::Text(decode(text)));
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in its turn");
            tokens.push(Token::Close(name.to_owned()));
            continue;
        }

        let (name, attributes) = parse_tag(tag.trim_end_matches('/'));
        if !tag.ends_with('/') && name != "meta" && name != "link" {
            open.push(name.clone());
        }
        tokens.push(Token::Open(name, attributes));
    }

    assert!(open.is_empty() && rest.trim().is_empty(), "left open: {open:?}");
    tokens
}

/// The place of the `>` that ends a tag.
fn tag_end(text: &str) -> usize {
    let mut is_quoted = false;
    for (place, c) in text.char_indices() {
        is_quoted ^= c == '"';
        if c == '>' && !is_quoted {
            return place;
        }
    }

    panic!("a tag without an end: {text}");
}

/// The name of a tag, and its attributes.
fn parse_tag(tag: &str) -> (String, Vec<(String, String)>) {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut attributes = Vec::new();
    while !rest.trim().is_empty() {
        // The attributes without a value.
        let start = rest.trim_start();
        if let Some(after) = start.strip_prefix("open").or(start.strip_prefix("defer")) {
            rest = after;
            continue;
        }

        let (key, after) = rest.split_once("=\"").unwrap();
        let (value, after) = after.split_once('"').unwrap();
        attributes.push((key.trim().to_owned(), decode(value)));
        rest = after;
    }

    (name.to_owned(), attributes)
}

/// A text with characters in place of their names.
fn decode(text: &str) -> String {
    // The ampersand comes last, so that what it makes is not decoded again.
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    let mut unnamed = text.to_owned();
    let mut decoded = text.to_owned();
    for (name, character) in named {
        unnamed = unnamed.replace(name, "");
        decoded = decoded.replace(name, character);
    }

    assert!(!unnamed.contains('&'), "a bare ampersand in {text:?}");
    decoded
}

/// The text of a page outside its style sheet, one piece per line, with ordinary blanks in place of
/// those at which no line ends.
pub fn text(page: &str) -> String {
    let mut is_style = false;
    let mut text = String::new();
    for token in parse(page) {
        match token {
            Token::Open(name, _) => is_style |= name == "style",
            Token::Close(name) => is_style &= name != "style",
            Token::Text(piece) if !is_style => text += &(piece.replace('\u{a0}', " ") + "\n"),
            Token::Text(_) => {}
        }
    }

    text
}

/// Checks what holds for every page.
pub fn check(page: &str) {
    const TAGS: &str = "html head meta title style body header main footer section h1 h2 h3 p a b bdi small span ul ol li \
        dl dt dd div figure figcaption table caption thead tbody tfoot tr th td sup code details summary svg g path rect text";
    const KEYS: &str = "lang charset http-equiv content name class id href open aria-label aria-hidden role tabindex scope colspan \
        title viewBox d x y width height text-anchor";

    assert!(page.starts_with(DOCTYPE));
    check_markup(page, TAGS, KEYS);
    assert_eq!(page.matches("<h1>").count(), 1);
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
}

/// Checks what holds for every image: programs other than browsers can draw it, too.
pub fn check_image(image: &str) {
    const TAGS: &str = "svg style rect g path text title";
    const KEYS: &str =
        "xmlns class role aria-label aria-hidden overflow viewBox d x y width height text-anchor";

    check_markup(image, TAGS, KEYS);
    assert!(image.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""), "{image:.200}");
    assert!(!image.contains("var(") && !image.contains("@media"));
}

fn check_markup(page: &str, tags: &str, keys: &str) {
    let tags: BTreeSet<&str> = tags.split_whitespace().collect();
    let keys: BTreeSet<&str> = keys.split_whitespace().collect();
    for token in parse(page) {
        let Token::Open(name, attributes) = token else {
            continue;
        };

        assert!(tags.contains(name.as_str()), "<{name}>");
        for (key, value) in attributes {
            assert!(keys.contains(key.as_str()), "{key} of <{name}>");
            match key.as_str() {
                "d" | "x" | "y" | "width" | "height" | "viewBox" => check_coordinates(&value),
                "href" => {
                    let target = value.strip_prefix('#');
                    let has_target =
                        target.is_some_and(|id| page.contains(&format!("id=\"{id}\"")));
                    assert!(has_target, "{value}");
                }
                _ => {}
            }
        }
    }

    assert!(!page.contains("url("));
    assert!(!page.contains("@import"));
    assert!(!page.contains(disturbs_terminals));

    let text = text(page);
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    assert!(!words.any(|word| word == "NaN" || word == "inf"), "{text}");
}

/// True if a character controls a terminal, or the direction of text.
fn disturbs_terminals(c: char) -> bool {
    (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c)
}

fn check_coordinates(value: &str) {
    assert!(value.chars().all(|c| c.is_ascii_digit() || " .-MLaz".contains(c)), "{value}");
    assert!(value.chars().any(|c| c.is_ascii_digit()), "{value}");
}
