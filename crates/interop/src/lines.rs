//! One line of a text report of UnixBench or BYTE, recognised by its words alone, however its white
//! space came through. Each parser gives `None` for a line of any other kind:
//!
//! ```text
//! BYTE UNIX Benchmarks (Version 6.0.0)                                    parse_version
//! Benchmark Run: Sat Nov 21 2026 03:12:55 - 03:14:35                      parse_run_dates
//! 4 CPUs in system; running 2 parallel copies of tests                    parse_level
//! Pipe Throughput                 1635960.9 lps   (10.0 s, 7 samples)     parse_score
//! System Benchmarks Index Values     BASELINE       RESULT    INDEX       is_index_heading
//! Pipe Throughput                     12440.0    1635960.9   1315.1       parse_index_row
//! System Benchmarks Index Score                              1362.9       parse_total
//! ```

/// Maximum score, length or baseline that is believed: more than that of any machine to come.
pub(super) const MAX_NUMBER: f64 = 1e15;

/// Maximum bytes of a label; no test's name has as many.
const MAX_LABEL_BYTES: usize = 120;

/// Maximum bytes of a version.
const MAX_VERSION_BYTES: usize = 40;

const VERSION_START: &str = "byte unix benchmarks (version ";

const DATES_START: &str = "benchmark run:";

/// A line with a score: `Pipe Throughput  1635960.9 lps  (10.0 s, 7 samples)`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScoreLine {
    pub label: String,
    pub value: f64,
    pub unit: String,
    /// The mean length of a pass.
    pub seconds: f64,
    pub samples: u32,
}

/// A line of the index: `Pipe Throughput  12440.0  1635960.9  1315.1`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct IndexRow {
    pub label: String,
    /// Baseline, result and index; `None` for a test without a baseline, which has a result alone.
    pub numbers: Option<[f64; 3]>,
}

/// The last line of an index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Total {
    /// `System Benchmarks Index Score  1362.9`, and version 4's `FINAL SCORE`.
    Index(f64),
    /// BYTE 3's `SUM of 6 items  6.5`.
    Sum(f64),
    /// BYTE 3's `AVERAGE  1.1`.
    Average(f64),
}

/// The number of processors, if UnixBench knows it, and the number of copies that it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level {
    pub cpus: Option<usize>,
    pub copies: u32,
}

/// A line with one blank in the place of any white space, and none at its ends.
pub(super) fn collapse_blanks(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The number that a text is, if it can have been measured: finite, not negative, and
/// [`MAX_NUMBER`] at most.
pub(super) fn measured_number(text: &str) -> Option<f64> {
    // Rust also reads "inf" and "nan", which start with a letter.
    let is_plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    text.parse().ok().filter(|number| is_plain && (0.0..=MAX_NUMBER).contains(number))
}

pub(super) fn parse_score(line: &str) -> Option<ScoreLine> {
    let (head, passes) = line.rsplit_once('(')?;
    let (seconds, samples) = passes.trim_end().strip_suffix(')')?.split_once(',')?;
    let seconds = strip_unit(seconds, &["s", "sec", "secs", "seconds"])?;
    let samples = strip_unit(samples, &["sample", "samples"])?;

    let mut words = head.split_whitespace().rev();
    let unit = words.next()?.to_owned();
    let value = measured_number(words.next()?)?;
    let label = join_label(words)?;
    Some(ScoreLine {
        label,
        value,
        unit,
        seconds: measured_number(seconds)?,
        samples: samples.parse().ok()?,
    })
}

/// True if a line was meant to have a score.
pub(super) fn is_like_a_score(line: &str) -> bool {
    line.contains('(') && line.to_ascii_lowercase().contains(" sample")
}

/// The number in `N UNIT` or `NUNIT`, as it is written, if the unit is one of `units`.
fn strip_unit<'a>(text: &'a str, units: &[&str]) -> Option<&'a str> {
    let text = text.trim();
    let at = text.find(|c: char| c.is_ascii_alphabetic())?;
    let (count, unit) = text.split_at(at);
    units.contains(&unit.to_ascii_lowercase().as_str()).then(|| count.trim())
}

/// The label whose words come from the last to the first.
fn join_label<'a>(words: impl Iterator<Item = &'a str>) -> Option<String> {
    let mut words: Vec<&str> = words.collect();
    words.reverse();
    let label = words.join(" ");
    (!label.is_empty() && label.len() <= MAX_LABEL_BYTES).then_some(label)
}

pub(super) fn is_index_heading(line: &str) -> bool {
    let line = line.to_ascii_uppercase();
    let has_columns = ["BASELINE", "RESULT", "INDEX"].iter().all(|word| line.contains(word));
    has_columns || line.trim_matches(['#', ' ', '\t']) == "INDEX VALUES"
}

pub(super) fn parse_index_row(line: &str) -> Option<IndexRow> {
    let mut words = line.split_whitespace().rev();
    let (index, result, baseline) = (words.next()?, words.next()?, words.next()?);
    let numbers = match (index, baseline) {
        ("---", "---") => {
            measured_number(result)?;
            None
        }
        _ => Some([measured_number(baseline)?, measured_number(result)?, measured_number(index)?]),
    };
    Some(IndexRow { label: join_label(words)?, numbers })
}

pub(super) fn parse_total(line: &str) -> Option<Total> {
    let upper = line.trim().to_ascii_uppercase();
    let value = measured_number(upper.split_whitespace().next_back()?)?;
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

/// `6.0.0` of `BYTE UNIX Benchmarks (Version 6.0.0)`.
pub(super) fn parse_version(line: &str) -> Option<&str> {
    let at = line.to_ascii_lowercase().find(VERSION_START)?;
    let version = line.get(at + VERSION_START.len()..)?.split(')').next()?.trim();
    (!version.is_empty() && version.len() <= MAX_VERSION_BYTES).then_some(version)
}

/// What follows `Benchmark Run:`, as it is written.
pub(super) fn parse_run_dates(line: &str) -> Option<&str> {
    let at = line.to_ascii_lowercase().find(DATES_START)?;
    line.get(at + DATES_START.len()..)
}

/// The level in `4 CPUs in system; running 1 parallel copy of tests`. UnixBench may write "unknown"
/// for the processors.
pub(super) fn parse_level(line: &str) -> Option<Level> {
    let lower = line.to_ascii_lowercase();
    let (before, after) = lower.split_once("in system")?;
    let cpus = before.split_whitespace().next()?.parse().ok();
    let mut words = after.split_whitespace().skip_while(|word| *word != "running").skip(1);
    let copies = words.next()?.parse().ok().filter(|copies| *copies > 0)?;
    Some(Level { cpus, copies })
}

/// True if a line only decorates.
pub(super) fn is_rule(line: &str) -> bool {
    line.chars().all(|c| c.is_whitespace() || "-=#*".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_whatever_their_blanks() {
        let wide = parse_score(
            "Shell Scripts (1 concurrent)                   5817.0 lpm   (60.0 s, 2 samples)",
        )
        .unwrap();
        let collapsed =
            parse_score("Shell Scripts (1 concurrent) 5817.0 lpm(60.0s,2 sample) \t").unwrap();
        assert_eq!(wide, collapsed);
        assert_eq!(
            (wide.label.as_str(), wide.unit.as_str()),
            ("Shell Scripts (1 concurrent)", "lpm")
        );
        assert_eq!((wide.value, wide.seconds, wide.samples), (5817.0, 60.0, 2));
        assert_eq!(
            parse_score("Execl Throughput Test 37.8 lps (9 secs, 6 samples)  ").unwrap().seconds,
            9.0
        );
    }

    #[test]
    fn a_line_without_a_number_that_can_be_is_no_score() {
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
            assert_eq!(parse_score(line), None, "{line}");
        }
    }

    #[test]
    fn indexes_are_recognised_by_their_last_three_words() {
        let line =
            parse_index_row("File Copy 256 bufsize 500 maxblocks 1655.0 229505.4 1386.7").unwrap();
        assert_eq!(line.label, "File Copy 256 bufsize 500 maxblocks");
        assert_eq!(line.numbers, Some([1655.0, 229_505.4, 1386.7]));
        assert_eq!(parse_index_row("Arithoh   ---  5.0  ---").unwrap().numbers, None);
        assert_eq!(parse_index_row("1655.0 229505.4 1386.7"), None);
        assert_eq!(parse_index_row("System Call Overhead 15000.0 29"), None);
        assert!(is_index_heading("System Benchmarks Index Values BASELINE RESULT INDEX"));
        assert!(
            is_index_heading("#### TEST BASELINE RESULT INDEX")
                && is_index_heading("#### INDEX VALUES")
        );
        assert!(!is_index_heading("Index"));
    }

    #[test]
    fn totals_are_recognised_by_their_words() {
        assert_eq!(
            parse_total("System Benchmarks Index Score (Partial Only)   496.3"),
            Some(Total::Index(496.3))
        );
        assert_eq!(parse_total("     FINAL SCORE      137.7"), Some(Total::Index(137.7)));
        assert_eq!(parse_total("SUM of 6 items 6.5"), Some(Total::Sum(6.5)));
        assert_eq!(parse_total("AVERAGE 1.1"), Some(Total::Average(1.1)));
        assert_eq!(parse_total("load average: 0.07, 0.11, 0.09"), None);
        assert_eq!(parse_total("System Benchmarks Index Score"), None);
    }

    #[test]
    fn versions_and_levels_are_read() {
        assert_eq!(parse_version("   BYTE UNIX Benchmarks (Version 6.0.0)"), Some("6.0.0"));
        assert_eq!(parse_version("BYTE UNIX Benchmarks (Version 3.11"), Some("3.11"));
        assert_eq!(parse_version("BYTE UNIX Benchmarks"), None);
        assert_eq!(
            parse_level("4 CPUs in system; running 1 parallel copy of tests"),
            Some(Level { cpus: Some(4), copies: 1 })
        );
        assert_eq!(
            parse_level("1 CPU in system; running 16 parallel copies of tests"),
            Some(Level { cpus: Some(1), copies: 16 })
        );
        assert_eq!(
            parse_level("unknown CPUs in system; running 1 parallel copy of tests"),
            Some(Level { cpus: None, copies: 1 })
        );
        assert_eq!(parse_level("4 CPUs in system; running 0 parallel copies of tests"), None);
        assert_eq!(parse_level("4 CPUs in system; running"), None);
    }
}
