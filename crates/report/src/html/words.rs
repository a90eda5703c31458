//! Numbers and foreign strings as the page prints them.

use std::time::Duration;

use stats::Estimate;

/// What stands for a number that is none, or an end that does not exist.
pub(super) const NOTHING: &str = "–";

/// Returns a string of the journal without what could disturb the text around it: control
/// characters, and those that turn the direction of the text after them.
pub(super) fn clean(text: &str) -> String {
    text.chars()
        .filter_map(|c| match c {
            '\t' | '\n' | '\r' | '\u{2028}' | '\u{2029}' => Some(' '),
            c if c.is_control() => None,
            '\u{061c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => None,
            '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{ffff}' | '\u{e0000}'..='\u{e007f}' => None,
            c => Some(c),
        })
        .collect()
}

/// Returns a number with the text report's single decimal, and with more for small ones.
pub(super) fn number(value: f64) -> String {
    match value.abs() {
        size if size.is_nan() => NOTHING.to_owned(),
        f64::INFINITY => if value > 0.0 { "∞" } else { "−∞" }.to_owned(),
        0.0 => "0".to_owned(),
        size if !(1e-3..1e12).contains(&size) => format!("{value:.2e}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        size if size >= 0.09995 => format!("{value:.3}"),
        _ => format!("{value:.4}"),
    }
}

/// Returns the end of an interval.
pub(super) fn end(value: f64) -> String {
    if value.is_finite() { number(value) } else { NOTHING.to_owned() }
}

/// Returns the interval as `980.1 to 1020.4`, or that there is none.
pub(super) fn range(estimate: &Estimate) -> String {
    if estimate.bounded() {
        format!("{} to {}", number(estimate.low), number(estimate.high))
    } else {
        "no interval".to_owned()
    }
}

/// Returns a gain: `1.93×`.
pub(super) fn times(value: f64) -> String {
    if value.is_finite() { format!("{}×", number(value)) } else { NOTHING.to_owned() }
}

/// Returns a duration as people say it.
pub(super) fn clock(seconds: f64) -> String {
    Duration::try_from_secs_f64(seconds).map_or_else(|_| NOTHING.to_owned(), words::clock)
}

/// Returns the length of a window.
pub(super) fn window(seconds: f64) -> String {
    if seconds.is_finite() { super::super::seconds(seconds) } else { NOTHING.to_owned() }
}

/// Returns words as a shell would take them.
pub(super) fn command_line(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=+./:,@%~".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    clean(&words.iter().map(quoted).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_figures() {
        let shown = [
            (1593.62, "1593.6"),
            (9.9999, "10.0"),
            (6.0, "6.00"),
            (0.123_45, "0.123"),
            (0.012_34, "0.0123"),
            (1.5e-9, "1.50e-9"),
            (3e15, "3.00e15"),
            (0.0, "0"),
            (f64::NAN, "–"),
            (f64::NEG_INFINITY, "−∞"),
        ];
        for (value, text) in shown {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn strings_lose_what_disturbs() {
        assert_eq!(clean("a\u{1b}[31mb\u{202e}c\nd\u{0}\u{feff}"), "a[31mbc d");
        assert_eq!(clean("Größe 日本 🙂"), "Größe 日本 🙂");
    }

    #[test]
    fn words_are_quoted_for_a_shell() {
        let words = ["unixmark", "run", "a b", "it's", ""].map(str::to_owned);
        assert_eq!(command_line(&words), r"unixmark run 'a b' 'it'\''s' ''");
    }
}
