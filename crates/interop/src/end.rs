//! The end of a text.
//!
//! A file that was cut may end between the digits of a number, so a last line without a newline is
//! suspect. Its figures are read only if the format shows that no digit is missing: by the decimals
//! that it always prints ([`has_decimals`]), by the width of its columns ([`fills_its_columns`]),
//! or by what follows the number ([`ends_in_no_number`]).

use crate::text::Text;

/// What becomes of a last line without a newline, unless the function says that it is whole.
pub(super) enum End {
    /// The format has an end of its own, which its reader looks for.
    Marked,
    /// The text can be read without it.
    LeftOut(fn(&Text<'_>, &str) -> bool),
    /// The text cannot be read without it.
    Refused(fn(&Text<'_>, &str) -> bool),
}

/// Units that Go itself prints; those of a user's own metrics must be in an earlier line.
const GO_UNITS: [&str; 4] = ["ns/op", "B/op", "allocs/op", "MB/s"];

/// True if a line has no figure that could be cut.
pub(super) fn is_no_figure(line: &str) -> bool {
    !line.contains(|c: char| c.is_ascii_digit())
}

/// True if a line does not end in a number.
pub(super) fn ends_in_no_number(_: &Text<'_>, line: &str) -> bool {
    !line.trim_end().ends_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+'))
}

/// True if a line ends in no number, or in one with this number of decimals, which its format
/// always has.
pub(super) fn has_decimals(line: &str, decimals: usize) -> bool {
    let line = line.trim_end();
    let digits = line.bytes().rev().take_while(u8::is_ascii_digit).count();
    match line.as_bytes().get(..line.len() - digits).and_then(<[u8]>::last) {
        Some(b'.') => digits == decimals,
        _ => digits == 0 && !line.ends_with(['.', ',']),
    }
}

/// True if a line is at least as long as the one above it, in a table whose columns have fixed
/// widths.
pub(super) fn fills_its_columns(text: &Text<'_>, line: &str) -> bool {
    let above = text.raw.lines().rev().nth(1).unwrap_or_default();
    let length = |line: &str| line.trim_end().chars().count();
    length(line) >= length(above)
}

/// True if a line of `go test -bench` or libtest ends in a whole unit, or any other line in no
/// number.
pub(super) fn has_known_unit(text: &Text<'_>, line: &str) -> bool {
    let last = line.split_whitespace().next_back().unwrap_or_default();
    let mut earlier_words = text.raw.lines().rev().skip(1).flat_map(str::split_whitespace);
    if let Some((_, figure)) = line.rsplit_once("bench:") {
        // A spread in brackets follows libtest's unit.
        return figure.trim().is_empty()
            || figure.contains(')')
            || last.ends_with("/iter")
            || earlier_words.any(|word| word == last);
    }
    if !line.starts_with("Benchmark") {
        return ends_in_no_number(text, line);
    }
    ends_in_no_number(text, line)
        && (GO_UNITS.contains(&last) || earlier_words.any(|word| word == last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_its_decimals_is_whole() {
        for (line, expected) in [
            ("Time: 1.234", true),
            ("Time: 1.23", false),
            ("Time: 1.", false),
            ("Time: 1", false),
            ("(10.0 s, 7 samples)", true),
            ("user@host:~$", true),
        ] {
            assert_eq!(has_decimals(line, 3), expected, "{line}");
        }
    }

    #[test]
    fn a_unit_is_known_or_was_seen() {
        let text = Text::new("BenchmarkA-4 1 5 widgets/op\nBenchmarkB-4 1 5 x");
        for (line, expected) in [
            ("BenchmarkB-4 1 5 ns/op", true),
            ("BenchmarkB-4 1 5 widgets/op", true),
            ("BenchmarkB-4 1 5 widgets/o", false),
            ("BenchmarkB-4 1 5 B/o", false),
            ("BenchmarkB-4 1 5", false),
            ("test b ... bench:  1,510.25 ns/ite", false),
            ("test b ... bench:  1,510.25 ns/iter", true),
            ("test b ... bench:  1,510.25 ns/iter (+/- 2", false),
            ("test b ... bench:  1,510.25 ns/iter (+/- 20)", true),
            ("PASS", true),
            ("ok  \tp\t1.5s", true),
        ] {
            assert_eq!(has_known_unit(&text, line), expected, "{line}");
        }
    }
}
