//! Text from elsewhere, made safe to show.

/// True if a character moves the cursor, cannot be seen, or changes the direction of the text after
/// it.
fn disturbs(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Texts that begin a command anywhere in a line of a CI's log: GitHub's old form, Azure's,
/// TeamCity's.
const CI_COMMAND_MARKS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// A text as a terminal can show it, whatever it holds: characters that would disturb it are
/// written as escapes, `\u{1b}`.
pub fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if disturbs(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }

    shown
}

/// Lines as a log can show them, whatever they hold: visible, and with a backslash in texts that a
/// CI would take for a command to it, such as `::error::` at the beginning of a line, indented or
/// not.
pub fn log_lines(text: &str) -> String {
    text.split('\n').map(log_line).collect::<Vec<String>>().join("\n")
}

fn log_line(line: &str) -> String {
    let mut shown = visible(line);
    for mark in CI_COMMAND_MARKS {
        shown = shown.replace(mark, &mark.replacen("##", "#\\#", 1));
    }

    let start = shown.len() - shown.trim_start().len();
    if shown[start..].starts_with("::") {
        shown.insert(start, '\\');
    }
    shown
}

/// JSON in which the characters that [`visible`] escapes, and the marks of a CI's commands, are
/// escaped as JSON does it, so that its values stay the same.
pub fn json_text(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for c in json.chars() {
        if disturbs(c) && c != '\n' {
            let mut units = [0; 2];
            shown.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            shown.push(c);
        }
    }

    CI_COMMAND_MARKS
        .iter()
        .fold(shown, |shown, mark| shown.replace(mark, &mark.replacen('#', "\\u0023", 1)))
}

/// A text as a field of CSV, whatever it holds: one line as [`log_lines`] has them, with an
/// apostrophe before a text that a spreadsheet would take for a formula.
pub fn csv_field(text: &str) -> String {
    const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    let shown = log_line(text);
    if text.starts_with(FORMULA) { format!("'{shown}") } else { shown }
}

/// A text as a page can show it: line ends become blanks, and other characters that would disturb
/// it are left out.
pub fn clean(text: &str) -> String {
    let blank = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}');
    text.chars().map(|c| if blank(c) { ' ' } else { c }).filter(|c| !disturbs(*c)).collect()
}

/// A text in which the symbols that reports use are in ASCII, for terminals without UTF-8:
/// `+-` for `±`. Other letters stay.
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

/// A name, made [`visible`], in at most `max_characters`: of a longer one the beginning and the
/// end.
pub fn shortened(name: &str, max_characters: usize) -> String {
    let letters: Vec<char> = visible(name).chars().collect();
    let half = max_characters / 2;
    match letters.len() {
        0 => "(no name)".to_owned(),
        length if length > max_characters => letters[..half]
            .iter()
            .chain(&['…'])
            .chain(&letters[length - (max_characters - half - 1)..])
            .collect(),
        _ => letters.into_iter().collect(),
    }
}

/// Words quoted for a shell.
pub fn shell(words: &[String]) -> String {
    words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" ")
}

fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%~".contains(c);
    if !word.is_empty() && !word.starts_with('~') && word.chars().all(is_plain) {
        return word.to_owned();
    }

    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The first `max_characters` of a text, and an ellipsis if there are more.
pub fn beginning(text: &str, max_characters: usize) -> String {
    let start: String = text.chars().take(max_characters).collect();
    if start.len() < text.len() { start + "…" } else { start }
}

/// The first sentence of a paragraph, without its full stop.
pub fn first_sentence(paragraph: &str) -> &str {
    paragraph.split_once(". ").map_or(paragraph, |(first, _)| first).trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_move_the_cursor() {
        assert_eq!(visible("a\x1b[2Jb\u{202e}c\n µ"), r"a\u{1b}[2Jb\u{202e}c\n µ");
        assert!(('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').all(disturbs));
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\nd\u{0}\u{feff}"), "a[31mbc d");
        assert_eq!(clean("Größe 日本 🙂"), "Größe 日本 🙂");
    }

    #[test]
    fn no_line_is_a_command_to_a_ci() {
        let stays = "## System\n- std::fs::read: fine\n####\n\n";
        assert_eq!(log_lines(stays), stays);
        for line in [
            "::error::x",
            " \t::stop-commands::x",
            "a ##[group]x",
            "##vso[task.x]y",
            "\u{a0}::warning::",
            "a\r::x::",
        ] {
            let shown = log_lines(&format!("first\n{line}"));
            let last = shown.lines().last().unwrap();
            assert!(
                last.contains('\\') && !last.trim().starts_with("::") && !last.contains("##"),
                "{shown}"
            );
        }
    }

    #[test]
    fn json_holds_what_it_held() {
        let json = "{\n  \"a\": \"\u{9b}x\u{202e}\u{e0001} ##[group]\"\n}";
        let shown = r#"{
  "a": "\u009bx\u202e\udb40\udc01 \u0023#[group]"
}"#;
        assert_eq!(json_text(json), shown);
    }

    /// The characters are those that OWASP names for CSV injection.
    #[test]
    fn no_field_is_a_formula() {
        for text in ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1"] {
            let field = csv_field(text);
            assert!(field.starts_with('\'') && !field.contains(char::is_control), "{field}");
        }

        assert_eq!([csv_field("a=1"), csv_field("a\n=1"), csv_field("")], ["a=1", r"a\n=1", ""]);
        assert_eq!(csv_field("::error::x"), r"\::error::x");
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
