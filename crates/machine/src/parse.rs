//! The small text formats of /proc and /sys, and figures as people read them.

/// A list of CPUs or nodes is cut here: no kernel has more, and a garbled range must not fill
/// the memory.
const MAX_CPUS: usize = 1 << 16;

/// The value of the first `key: value` line, trimmed; `None` where it is missing or empty.
pub fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim()).filter(|value| !value.is_empty())
    })
}

/// The numbers of a list such as `0-3,8,10-11`; parts that are not numbers are left out.
pub fn cpu_list(text: &str) -> Vec<usize> {
    let mut cpus: Vec<usize> =
        text.trim().split(',').filter_map(range).flatten().take(MAX_CPUS).collect();
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Returns such a list of numbers: `0,1,8`.
pub fn cpu_words(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<String>>().join(",")
}

fn range(part: &str) -> Option<std::ops::RangeInclusive<usize>> {
    let (first, last) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (last < MAX_CPUS).then_some(first..=last)
}

/// The choice in brackets of a line such as `always [madvise] never` or `none (full) lazy`.
pub fn chosen(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(['[', '('])?;
    rest.split_once([']', ')']).map(|(choice, _)| choice)
}

/// A path of /proc/self/mountinfo, where blanks and backslashes are written `\040`.
pub fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        match (first, octal(tail)) {
            (b'\\', Some(byte)) => {
                bytes.push(byte);
                rest = &tail[3..];
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }

    String::from_utf8_lossy(&bytes).into_owned()
}

/// The byte that three octal digits name.
fn octal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits.get(..3)?).ok()?;
    u8::from_str_radix(digits, 8).ok()
}

/// Kernel sizes such as `32K` or `16M`, in bytes.
pub fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match text.get(digits.len()..)?.trim() {
        "" => 1,
        "K" | "KB" => 1 << 10,
        "M" | "MB" => 1 << 20,
        "G" | "GB" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// The values of several CPUs or devices: one value where they agree, else each with its
/// number.
pub fn tally(values: impl IntoIterator<Item = String>) -> Option<String> {
    let mut counts = std::collections::BTreeMap::<String, usize>::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }

    if counts.len() == 1 {
        return counts.into_keys().next();
    }

    let groups: Vec<String> =
        counts.iter().map(|(value, count)| format!("{value} ×{count}")).collect();
    (!groups.is_empty()).then(|| groups.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus() {
        assert_eq!(cpu_list("0-3,8,10-11\n"), [0, 1, 2, 3, 8, 10, 11]);
        assert_eq!(cpu_list("x,5,7-,3-1"), [5]);
        assert!(cpu_list("0-18446744073709551615").is_empty());
    }

    #[test]
    fn fields_are_exact_names() {
        let text = "model\t: 2\nmodel name\t: AMD EPYC\nempty:\n";
        assert_eq!(field(text, "model"), Some("2"));
        assert_eq!(field(text, "model name"), Some("AMD EPYC"));
        assert_eq!(field(text, "empty"), None);
    }

    #[test]
    fn escapes_of_mountinfo() {
        assert_eq!(unescape(r"/a\040b\134c"), r"/a b\c");
        assert_eq!(unescape(r"/x\04"), r"/x\04");
        assert_eq!(unescape(r"/x\999"), r"/x\999");
    }

    #[test]
    fn sizes() {
        assert_eq!(size("48K"), Some(48 << 10));
        assert_eq!(size("4M"), Some(4 << 20));
        assert_eq!(size("many"), None);
        assert_eq!(size("99999999999999999G"), None);
    }

    #[test]
    fn tallies() {
        let text = |values: &[&str]| tally(values.iter().map(|v| v.to_string()));
        assert_eq!(text(&["a", "a"]).as_deref(), Some("a"));
        assert_eq!(text(&["b", "a", "b"]).as_deref(), Some("a ×1, b ×2"));
        assert_eq!(text(&[]), None);
    }

    #[test]
    fn the_choice_in_brackets() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none voluntary (full) lazy"), Some("full"));
        assert_eq!(chosen("always"), None);
    }
}
