//! Text from elsewhere, made safe to show.

/// Returns a text as a terminal can show it, whatever it holds: what moves the cursor or turns the direction of text
/// becomes U+FFFD.
#[must_use]
pub fn visible(text: &str) -> String {
    let strange = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars().map(|c| if strange(c) { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_name_cannot_move_the_cursor() {
        assert_eq!(super::visible("a\x1b[2Jb\u{202e}c µ"), "a\u{fffd}[2Jb\u{fffd}c µ");
    }
}
