//! Lines for a terminal of 80 columns.

use std::fmt::Write;

use crate::visible;

/// Columns of a text report.
pub const WIDTH: usize = 80;

/// The columns of a text, where every character takes one.
pub fn width(text: &str) -> usize {
    text.chars().count()
}

/// A text that grows by lines of `room` columns and cannot move the cursor.
#[derive(Debug)]
pub struct Wrapped {
    /// Its lines.
    pub text: String,
    /// Columns of a line.
    pub room: usize,
}

impl Wrapped {
    /// An empty text.
    pub fn new(room: usize) -> Wrapped {
        Wrapped { text: String::new(), room }
    }

    /// Appends one line.
    pub fn line(&mut self, line: &str) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{}", visible(line.trim_end()));
    }

    /// Appends `content` in as many lines as it takes, the first after `lead`, the others under it.
    pub fn wrap(&mut self, lead: &str, content: &str) {
        for line in wrap(lead, content, self.room) {
            self.line(&line);
        }
    }
}

/// `content` in lines of `room` columns, the first after `lead`, the others under it. A word that
/// is longer than a line is broken; a lead that is longer than half a line is wrapped with the
/// rest.
pub fn wrap(lead: &str, content: &str, room: usize) -> Vec<String> {
    if width(lead) > room / 2 {
        return wrap("  ", &format!("{lead} {content}"), room);
    }

    let indent = width(lead);
    let mut lines = Vec::new();
    let mut current = lead.to_owned();
    let mut taken = indent;
    let mut empty = true;
    for word in content.split_whitespace() {
        let letters: Vec<char> = word.chars().collect();
        for piece in letters.chunks(room - indent) {
            if taken + usize::from(!empty) + piece.len() > room {
                lines.push(std::mem::replace(&mut current, " ".repeat(indent)));
                taken = indent;
                empty = true;
            }
            if !empty {
                current.push(' ');
                taken += 1;
            }
            current.extend(piece);
            taken += piece.len();
            empty = false;
        }
    }

    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_under_each_other() {
        assert_eq!(wrap("- ", "one two three", 9), ["- one two", "  three"]);
        assert_eq!(wrap("", "abcdefgh", 3), ["abc", "def", "gh"]);
        let mut text = Wrapped::new(WIDTH);
        text.line("a\x1bb  ");
        assert_eq!(text.text, "a\\u{1b}b\n");
    }
}
