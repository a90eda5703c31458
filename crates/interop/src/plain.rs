//! A text as its benchmark wrote it: without what terminals, mails, CI services and other systems'
//! newlines added ([`to_plain`]), and with points for decimal commas ([`with_points`]).
//!
//! What others wrote also reaches a terminal in warnings and facts, so no control character may be
//! left in it: [`clean_text`] and [`to_printable`] see to that, [`excerpt`] that it is short.

use std::borrow::Cow;

use crate::lines::collapse_blanks;

/// Maximum characters of a line that a warning quotes.
const MAX_QUOTED_CHARS: usize = 60;

/// Minimum lines with `>` one after another that are taken for a quotation in a mail. UnixBench's
/// logs have single ones, `>>>> score: …`.
const MIN_QUOTED_LINES: usize = 3;

/// A text without the mark of its encoding, colours and other control characters, times before its
/// lines and the `> ` of mails, its lines ended by a newline alone.
pub(super) fn to_plain(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let text: String = strip_escapes(&text).chars().map(to_printable).collect();
    let text = strip_timestamps(&text).unwrap_or(text);
    strip_quotation_marks(&text)
}

/// A text out of JSON or XML on one line, without the control characters that these may escape.
pub(crate) fn clean_text(text: &str) -> String {
    collapse_blanks(&text.chars().map(to_printable).collect::<String>())
}

/// The start of a text, as a message quotes it.
pub(crate) fn excerpt(text: &str) -> String {
    words::beginning(text.trim(), MAX_QUOTED_CHARS)
}

/// A blank for a control character, and a newline for a carriage return; every other character as
/// it is.
pub(crate) fn to_printable(c: char) -> char {
    match c {
        '\r' => '\n',
        '\n' => c,
        _ if c.is_control() => ' ',
        _ => c,
    }
}

/// Takes out what sets a terminal's colours, cursor and title: `ESC [ … m` and the like, as
/// ECMA-48 has them.
fn strip_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains(['\u{1b}', '\u{9b}']) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let introducer = match c {
            '\u{9b}' => Some('['),
            '\u{1b}' => chars.next_if(|next| ('\u{20}'..='\u{7e}').contains(next)),
            _ => {
                plain.push(c);
                continue;
            }
        };
        match introducer {
            // Parameters, then one character that ends the sequence.
            Some('[') => {
                while chars.next_if(|next| ('\u{20}'..='\u{3f}').contains(next)).is_some() {}
                chars.next_if(|next| ('\u{40}'..='\u{7e}').contains(next));
            }
            // A title or a link goes on to a bell or to `ESC \`, whose ESC begins a sequence of its
            // own. One that does not end hides no further line.
            Some(']') => {
                while chars.next_if(|next| !matches!(next, '\u{7}' | '\u{1b}' | '\n')).is_some() {}
                chars.next_if_eq(&'\u{7}');
            }
            // A character set, by one more character.
            Some('(' | ')') => {
                chars.next_if(|next| ('\u{20}'..='\u{7e}').contains(next));
            }
            _ => {}
        }
    }
    Cow::Owned(plain)
}

/// Takes off the time before every line, as logs of CI services and containers have it; `None` if
/// any line has none.
fn strip_timestamps(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() {
            plain.push_str(line);
            continue;
        }
        let stamp = line.split([' ', '\n']).next()?;
        stamp.parse::<jiff::Timestamp>().ok()?;
        let after = &line[stamp.len()..];
        plain.push_str(after.strip_prefix(' ').unwrap_or(after));
    }
    Some(plain)
}

/// Takes the marks of quotation, `> `, off [`MIN_QUOTED_LINES`] or more lines that have them one
/// after another.
fn strip_quotation_marks(text: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut plain = String::with_capacity(text.len());
    for block in lines.chunk_by(|a, b| a.starts_with('>') == b.starts_with('>')) {
        let is_quotation = block.len() >= MIN_QUOTED_LINES && block[0].starts_with('>');
        for line in block {
            plain.push_str(if is_quotation { strip_quotation_mark(line) } else { line });
        }
    }
    plain
}

/// A line without the marks of all mails that quote one another: `> > text`.
fn strip_quotation_mark(mut line: &str) -> &str {
    while let Some(after) = line.strip_prefix('>').or_else(|| line.strip_prefix(" >")) {
        line = after;
    }
    line.strip_prefix(' ').unwrap_or(line)
}

/// A comma within a number.
struct DecimalComma<'t> {
    number: &'t str,
    /// Its byte in the line.
    at: usize,
    /// How many digits follow it.
    decimals: usize,
}

/// A text with points where its numbers have decimal commas, and the first number that shows them;
/// `None` if every comma may as well group thousands.
pub(super) fn with_points(text: &str) -> Option<(String, &str)> {
    let mut commas = text.lines().flat_map(decimal_commas);
    let first = commas.find(|comma| comma.decimals != 3)?;

    let mut points = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut end = 0;
        for comma in decimal_commas(line) {
            points.push_str(&line[end..comma.at]);
            points.push('.');
            end = comma.at + 1;
        }
        points.push_str(&line[end..]);
    }
    Some((points, first.number))
}

/// The decimal commas of a line. A line without any blank has none: it is a row of a table whose
/// columns have commas between them.
fn decimal_commas(line: &str) -> Vec<DecimalComma<'_>> {
    let words = line.split_whitespace();
    if words.clone().nth(1).is_none() {
        return Vec::new();
    }
    words.filter_map(|word| decimal_comma(line, word)).collect()
}

/// The decimal comma of a word such as `10,0`, `(10,0` or `12,5s`, if it has one. `word` is a part
/// of `line`.
fn decimal_comma<'t>(line: &'t str, word: &'t str) -> Option<DecimalComma<'t>> {
    let number = word.trim_start_matches(['(', '[']);
    let (whole, after) = number.split_once(',')?;
    let decimals = after.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = !whole.is_empty() && whole.bytes().all(|byte| byte.is_ascii_digit());
    let has_more = after[decimals..].contains(|c: char| c.is_ascii_digit() || c == '.');
    if !is_number || decimals == 0 || has_more {
        return None;
    }

    let start = number.as_ptr() as usize - line.as_ptr() as usize;
    let number = &number[..whole.len() + 1 + decimals];
    Some(DecimalComma { number, at: start + whole.len(), decimals })
}
