//! One line of a report: what it is, by its words alone, however its white space came through.

/// Larger than any score, length or baseline of a machine to come.
pub(super) const ABSURD: f64 = 1e15;

/// Longer than any test's name.
const LONGEST_LABEL: usize = 120;

/// A line with a score: `Pipe Throughput  1635960.9 lps  (10.0 s, 7 samples)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScoreLine {
    pub label: String,
    pub value: f64,
    pub unit: String,
    /// Mean length of a pass.
    pub seconds: f64,
    pub samples: u32,
}

/// A line of the index: `Pipe Throughput  12440.0  1635960.9  1315.1`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IndexLine {
    pub label: String,
    /// Baseline, result and index; a test without a baseline has only a result.
    pub parts: Option<[f64; 3]>,
}

/// The last lines of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Total {
    /// `System Benchmarks Index Score  1362.9`, and version 4's `FINAL SCORE`.
    Index(f64),
    /// BYTE 3's `SUM of 6 items  6.5`.
    Sum(f64),
    /// BYTE 3's `AVERAGE  1.1`.
    Average(f64),
}

/// Returns a line with one blank where any white space is, and none at its ends.
pub(super) fn collapsed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a number that can be measured: finite, not negative, not absurd.
pub(super) fn number(text: &str) -> Option<f64> {
    // Rust also reads "inf" and "nan", which start with a letter.
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|number| plain && (0.0..=ABSURD).contains(number))
}

/// Returns the score of a line that has one.
pub(super) fn score(line: &str) -> Option<ScoreLine> {
    let (head, tail) = line.rsplit_once('(')?;
    let (seconds, samples) = tail.trim_end().strip_suffix(')')?.split_once(',')?;
    let seconds = counted(seconds, &["s", "sec", "secs", "seconds"])?;
    let samples = counted(samples, &["sample", "samples"])?;
    let mut words = head.split_whitespace().rev();
    let unit = words.next()?.to_owned();
    let value = number(words.next()?)?;
    let label = label(words)?;
    Some(ScoreLine { label, value, unit, seconds: number(seconds)?, samples: samples.parse().ok()? })
}

/// Returns true if a line was meant to have a score.
pub(super) fn is_like_a_score(line: &str) -> bool {
    line.contains('(') && line.to_ascii_lowercase().contains(" sample")
}

/// Returns the number of `N UNIT` or `NUNIT`.
fn counted<'a>(text: &'a str, units: &[&str]) -> Option<&'a str> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (count, unit) = text.split_at(at);
    units.contains(&unit.to_ascii_lowercase().as_str()).then(|| count.trim())
}

/// Joins the words that remain in reverse order.
fn label<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut words: Vec<&str> = words.collect();
    words.reverse();
    let label = words.join(" ");
    (!label.is_empty() && label.len() <= LONGEST_LABEL).then_some(label)
}

/// Returns true if a line heads an index.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.to_ascii_uppercase();
    let columns = ["BASELINE", "RESULT", "INDEX"].iter().all(|word| line.contains(word));
    columns || line.trim_matches(['#', ' ', '\t']) == "INDEX VALUES"
}

/// Returns the test of a line within an index.
pub(super) fn index(line: &str) -> Option<IndexLine> {
    let mut words = line.split_whitespace().rev();
    let (index, result, baseline) = (words.next()?, words.next()?, words.next()?);
    let parts = match (index, baseline) {
        ("---", "---") => {
            number(result)?;
            None
        }
        _ => Some([number(baseline)?, number(result)?, number(index)?]),
    };
    Some(IndexLine { label: label(words)?, parts })
}

/// Returns the score of an index.
pub(super) fn total(line: &str) -> Option<Total> {
    let upper = line.trim().to_ascii_uppercase();
    let value = number(upper.split_whitespace().next_back()?)?;
    if upper.contains("INDEX SCORE") || upper.starts_with("FINAL SCORE") {
        Some(Total::Index(value))
    } else if upper.starts_with("SUM OF") {
        Some(Total::Sum(value))
    } else if upper.starts_with("AVERAGE") {
        Some(Total::Average(value))
    } else {
        None
    }
}

/// Returns the version in `BYTE UNIX Benchmarks (Version 6.0.0)`.
pub(super) fn version(line: &str) -> Option<&str> {
    let at = line.to_ascii_lowercase().find("byte unix benchmarks (version ")?;
    let rest = line.get(at + "byte unix benchmarks (version ".len()..)?;
    let version = rest.split(')').next()?.trim();
    (!version.is_empty() && version.len() <= 40).then_some(version)
}

/// Returns the dates after `Benchmark Run:`.
pub(super) fn dates(line: &str) -> Option<&str> {
    let at = line.to_ascii_lowercase().find("benchmark run:")?;
    line.get(at + "benchmark run:".len()..)
}

/// Returns processors and copies of `4 CPUs in system; running 1 parallel copy of tests`; UnixBench
/// may say "unknown" of the processors.
pub(super) fn level(line: &str) -> Option<(Option<usize>, u32)> {
    let lower = line.to_ascii_lowercase();
    let (before, after) = lower.split_once("in system")?;
    let cpus = before.split_whitespace().next()?.parse().ok();
    let mut words = after.split_whitespace().skip_while(|word| *word != "running").skip(1);
    let copies = words.next()?.parse().ok().filter(|copies| *copies > 0)?;
    Some((cpus, copies))
}

/// Returns true if a line only decorates.
pub(super) fn is_rule(line: &str) -> bool {
    line.chars().all(|c| c.is_whitespace() || "-=#*".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores() {
        let wide = score("Shell Scripts (1 concurrent)                   5817.0 lpm   (60.0 s, 2 samples)").unwrap();
        let collapsed = score("Shell Scripts (1 concurrent) 5817.0 lpm(60.0s,2 sample) \t").unwrap();
        assert_eq!(wide, collapsed);
        assert_eq!((wide.label.as_str(), wide.unit.as_str()), ("Shell Scripts (1 concurrent)", "lpm"));
        assert_eq!((wide.value, wide.seconds, wide.samples), (5817.0, 60.0, 2));
        assert_eq!(score("Execl Throughput Test 37.8 lps (9 secs, 6 samples)  ").unwrap().seconds, 9.0);
    }

    #[test]
    fn broken_scores() {
        for line in [
            "",
            "(",
            "Pipe Throughput 5.0 lps (10.0 s, 7 samples",
            "Pipe Throughput 5.0 lps (10.0 s, x samples)",
            "Pipe Throughput 5.0 lps (10.0 m, 7 samples)",
            "Pipe Throughput 5.0 lps (10.0 s, -7 samples)",
            "Pipe Throughput nan lps (10.0 s, 7 samples)",
            "Pipe Throughput 1e999 lps (10.0 s, 7 samples)",
            "Pipe Throughput 1e16 lps (10.0 s, 7 samples)",
            "Pipe Throughput -5.0 lps (10.0 s, 7 samples)",
            "Pipe Throughput inf lps (10.0 s, 7 samples)",
            "5.0 lps (10.0 s, 7 samples)",
        ] {
            assert_eq!(score(line), None, "{line}");
        }
    }

    #[test]
    fn indexes() {
        let line = index("File Copy 256 bufsize 500 maxblocks 1655.0 229505.4 1386.7").unwrap();
        assert_eq!(line.label, "File Copy 256 bufsize 500 maxblocks");
        assert_eq!(line.parts, Some([1655.0, 229_505.4, 1386.7]));
        assert_eq!(index("Arithoh   ---  5.0  ---").unwrap().parts, None);
        assert_eq!(index("1655.0 229505.4 1386.7"), None);
        assert_eq!(index("System Call Overhead 15000.0 29"), None);
        assert!(is_heading("System Benchmarks Index Values BASELINE RESULT INDEX"));
        assert!(is_heading("#### TEST BASELINE RESULT INDEX") && is_heading("#### INDEX VALUES"));
        assert!(!is_heading("Index"));
    }

    #[test]
    fn totals() {
        assert_eq!(total("System Benchmarks Index Score (Partial Only)   496.3"), Some(Total::Index(496.3)));
        assert_eq!(total("     FINAL SCORE      137.7"), Some(Total::Index(137.7)));
        assert_eq!(total("SUM of 6 items 6.5"), Some(Total::Sum(6.5)));
        assert_eq!(total("AVERAGE 1.1"), Some(Total::Average(1.1)));
        assert_eq!(total("load average: 0.07, 0.11, 0.09"), None);
        assert_eq!(total("System Benchmarks Index Score"), None);
    }

    #[test]
    fn heads() {
        assert_eq!(version("   BYTE UNIX Benchmarks (Version 6.0.0)"), Some("6.0.0"));
        assert_eq!(version("BYTE UNIX Benchmarks (Version 3.11"), Some("3.11"));
        assert_eq!(version("BYTE UNIX Benchmarks"), None);
        assert_eq!(level("4 CPUs in system; running 1 parallel copy of tests"), Some((Some(4), 1)));
        assert_eq!(level("1 CPU in system; running 16 parallel copies of tests"), Some((Some(1), 16)));
        assert_eq!(level("unknown CPUs in system; running 1 parallel copy of tests"), Some((None, 1)));
        assert_eq!(level("4 CPUs in system; running 0 parallel copies of tests"), None);
        assert_eq!(level("4 CPUs in system; running"), None);
    }
}
