//! A strict reader of pages: it proves that their markup is only what the renderer wrote.

use std::collections::BTreeSet;

/// A piece of a page.
#[derive(Debug)]
enum Token {
    Open(String, Vec<(String, String)>),
    Close(String),
    Text(String),
}

/// Reads a page strictly: every `<` starts a tag whose attributes are quoted, and every tag that
/// is opened is closed in its turn.
fn parsed(page: &str) -> Vec<Token> {
    let mut rest = page.strip_prefix("<!DOCTYPE html>").unwrap();
    let mut tokens = Vec::new();
    let mut open: Vec<String> = Vec::new();
    while let Some(place) = rest.find('<') {
        tokens.push(Token::Text(decoded(&rest[..place])));
        let end = tag_end(&rest[place..]);
        let tag = &rest[place + 1..place + end];
        rest = &rest[place + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in its turn");
            tokens.push(Token::Close(name.to_owned()));
            continue;
        }
        let (name, attributes) = attributes(tag.trim_end_matches('/'));
        if !tag.ends_with('/') && name != "meta" && name != "link" {
            open.push(name.clone());
        }
        tokens.push(Token::Open(name, attributes));
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "left open: {open:?}");
    tokens
}

fn tag_end(text: &str) -> usize {
    let mut quoted = false;
    let end = text.char_indices().find(|(_, c)| {
        quoted ^= *c == '"';
        *c == '>' && !quoted
    });
    end.unwrap().0
}

fn attributes(tag: &str) -> (String, Vec<(String, String)>) {
    let (name, mut rest) = tag.split_once(' ').unwrap_or((tag, ""));
    let mut found = Vec::new();
    while !rest.trim().is_empty() {
        // `open` and `defer` are the attributes without a value.
        if let Some((_, after)) = ["open", "defer"]
            .iter()
            .find_map(|name| rest.trim_start().split_once(name).filter(|(before, _)| before.is_empty()))
        {
            rest = after;
            continue;
        }
        let (key, after) = rest.split_once("=\"").unwrap();
        let (value, after) = after.split_once('"').unwrap();
        found.push((key.trim().to_owned(), decoded(value)));
        rest = after;
    }
    (name.to_owned(), found)
}

fn decoded(text: &str) -> String {
    let named = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    let left = named.iter().fold(text.to_owned(), |text, (from, _)| text.replace(from, ""));
    assert!(!left.contains('&'), "a bare ampersand in {text:?}");
    named.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The text of a page outside its style sheet, one piece per line.
pub fn text(page: &str) -> String {
    let mut style = false;
    let mut text = String::new();
    for token in parsed(page) {
        match token {
            Token::Open(name, _) => style |= name == "style",
            Token::Close(name) => style &= name != "style",
            Token::Text(part) if !style => text += &(part + "\n"),
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
    let (tags, keys): (BTreeSet<&str>, BTreeSet<&str>) =
        (TAGS.split_whitespace().collect(), KEYS.split_whitespace().collect());
    for token in parsed(page) {
        let Token::Open(name, attributes) = token else { continue };
        assert!(tags.contains(name.as_str()), "<{name}>");
        for (key, value) in attributes {
            assert!(keys.contains(key.as_str()), "{key} of <{name}>");
            match key.as_str() {
                "d" | "x" | "y" | "width" | "height" | "viewBox" => coordinates(&value),
                "href" => {
                    assert!(value.starts_with('#') && page.contains(&format!("id=\"{}\"", &value[1..])), "{value}")
                }
                _ => {}
            }
        }
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
    let disturbs = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!page.contains(disturbs));
    assert_eq!(page.matches("<h1>").count(), 1);
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'\""));
    let text = text(page);
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    assert!(!words.any(|word| word == "NaN" || word == "inf"), "{text}");
}

fn coordinates(value: &str) {
    assert!(value.chars().all(|c| c.is_ascii_digit() || " .-MLaz".contains(c)), "{value}");
    assert!(value.chars().any(|c| c.is_ascii_digit()), "{value}");
}
