//! Text from elsewhere, made safe to show.

/// Whether a character moves the cursor, is not seen, or turns the direction of the text after it.
fn disturbs(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns a text as a terminal can show it, whatever it holds: what would disturb it becomes U+FFFD.
#[must_use]
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if disturbs(c) { '\u{fffd}' } else { c }).collect()
}

/// Returns a text as a page can show it: line ends become blanks, and what else would disturb it is left out.
#[must_use]
pub fn clean(text: &str) -> String {
    let blank = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if blank(c) { ' ' } else { c }).filter(|c| !disturbs(*c)).collect()
}

/// Returns a text in which the symbols that reports use are in ASCII, for terminals without UTF-8: `+-` for `±`. Other
/// letters stay.
#[must_use]
pub fn ascii(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '±' => plain.push_str("+-"),
            '∞' => plain.push_str("inf"),
            '—' | '–' | '−' => plain.push('-'),
            '’' | '‘' => plain.push('\''),
            '“' | '”' => plain.push('"'),
            '…' => plain.push_str("..."),
            '×' => plain.push('x'),
            '÷' => plain.push('/'),
            '·' => plain.push('*'),
            '√' => plain.push_str("sqrt"),
            '≤' => plain.push_str("<="),
            '≥' => plain.push_str(">="),
            '→' => plain.push_str("->"),
            'σ' => plain.push('s'),
            'µ' | 'μ' => plain.push('u'),
            '²' => plain.push('2'),
            '°' => plain.push(' '),
            '█' => plain.push('#'),
            '░' => plain.push('.'),
            '\u{a0}' | '\u{202f}' => plain.push(' '),
            c => plain.push(c),
        }
    }
    plain
}

/// Returns a name in at most `most` characters, whatever it holds: the beginning and the end of a long one.
#[must_use]
pub fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = visible(name).chars().collect();
    let half = most / 2;
    match letters.len() {
        0 => "(no name)".to_owned(),
        length if length > most => {
            letters[..half].iter().chain(&['…']).chain(&letters[length - (most - half - 1)..]).collect()
        }
        _ => letters.into_iter().collect(),
    }
}

/// Returns words as a shell would take them.
#[must_use]
pub fn shell(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%~".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The first sentence of a paragraph, without its full stop.
#[must_use]
pub fn first_sentence(paragraph: &str) -> &str {
    paragraph.split_once(". ").map_or(paragraph, |(first, _)| first).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_move_the_cursor() {
        assert_eq!(visible("a\x1b[2Jb\u{202e}c µ"), "a\u{fffd}[2Jb\u{fffd}c µ");
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\nd\u{0}\u{feff}"), "a[31mbc d");
        assert_eq!(clean("Größe 日本 🙂"), "Größe 日本 🙂");
    }

    #[test]
    fn long_names_keep_their_ends() {
        assert_eq!([shortened("n7", 24), shortened("", 24)], ["n7", "(no name)"]);
        let long = shortened(&format!("{}7", "n".repeat(500)), 24);
        assert!(long.chars().count() == 24 && long.ends_with("n7") && long.contains('…'), "{long}");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["unixmark", "run", "a b", "it's", ""].map(str::to_owned);
        assert_eq!(shell(&words), r"unixmark run 'a b' 'it'\''s' ''");
    }
}
