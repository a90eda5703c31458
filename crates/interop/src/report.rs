//! Text reports: UnixBench 4 to 6, with any number of levels of copies, and BYTE 3.
//!
//! A report describes the system ([`Header`]), then each level: its dates and copies, a line for
//! each score, and a table of the index that ends in a total. [`lines`] shows a line of each kind.
//! Scores become cells; the date of the first level is that of the run.
//!
//! What the report printed as its indexes is kept ([`PrintedIndex`]), quoted as facts, and compared
//! with what its scores give here. Differences become warnings, as do lines among the scores that
//! are not understood.

use super::check::{PrintedIndex, PrintedRow, PrintedTotal};
use super::date::Period;
use super::draft::Draft;
use super::header::Header;
use super::lines::{self, Level, ScoreLine, Total};
use super::parts::Starts;
use super::plain::excerpt;
use super::text::Text;
use analysis::Results;
use anyhow::{Result, bail};
use journal::{Journal, Warning};

/// The index of BYTE's suite.
const BYTE_INDEX: &str = "byte3";

/// Beginnings of the versions whose tests and baselines are known. 6.1 is another project's.
const KNOWN_VERSIONS: [&str; 4] = ["3.", "4.", "5.", "6.0"];

/// What differs from 6.0 in the other versions of UnixBench: their first number, and the sentence
/// that follows their name.
const DIFFERENCES: [(&str, &str); 2] = [
    (
        "4",
        "has neither Pipe-based Context Switching nor Shell Scripts (1 concurrent) in its index, \
         and always runs one copy: its final score is not the index of UnixBench 5 and 6",
    ),
    (
        "5",
        "has the tests and baselines of 6.0, but compiles otherwise, its Whetstone counts processor \
         time, and its copies share files: part of what differs from 6.0 is the version's",
    ),
];

/// True if a line shows that its text is a report.
pub(super) fn is_report_line(line: &str) -> bool {
    let line = &lines::collapse_blanks(line);
    lines::parse_version(line).is_some()
        || lines::parse_level(line).is_some()
        || lines::parse_score(line).is_some()
}

pub(super) fn recognises(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_report_line)
}

/// Notes where reports begin: at their title, or where a level of copies or a test comes again
/// after another date.
pub(super) fn note_starts(text: &Text<'_>, starts: &mut Starts) {
    let mut copies = 1;
    for (number, line) in text.lines() {
        let line = lines::collapse_blanks(line);
        if lines::parse_version(&line).is_some() {
            starts.begin(number);
            copies = 1;
        } else if lines::parse_run_dates(&line).is_some() {
            starts.may_begin(number);
        } else if let Some(level) = lines::parse_level(&line) {
            copies = level.copies;
            starts.note_mark_or_begin(number, format!("level {copies}"));
        } else if let Some(score) = lines::parse_score(&line) {
            starts.note_mark(number, format!("{copies} {}", score.label.to_lowercase()));
        }
    }
}

/// Reads a text report.
///
/// # Errors
/// It is of a version that is not known.
pub(super) fn read_text(text: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    read(text.lines(), draft)
}

/// Reads the numbered lines of a report; without any score its journal has no cell.
///
/// # Errors
/// It is of a version that is not known.
pub(super) fn read<'t>(
    lines: impl Iterator<Item = (usize, &'t str)>,
    draft: Draft<'_>,
) -> Result<Vec<Journal>> {
    let mut reader = Reader::new(draft);
    for (number, line) in lines {
        reader.read_line(number, &lines::collapse_blanks(line));
    }

    if let Some(Version { line, name }) = &reader.version
        && !KNOWN_VERSIONS.iter().any(|known| name.starts_with(known))
    {
        bail!(
            "it comes from UnixBench '{}' (line {line}), whose tests unixmark does not know; BYTE 3, UnixBench 4, 5 and 6.0 can be read",
            excerpt(name)
        );
    }
    Ok(vec![reader.finish()])
}

/// A version, and the number of the line that has it.
struct Version {
    line: usize,
    name: String,
}

impl Version {
    /// The first of its numbers, in digits.
    fn major(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }

    /// A sentence about its differences from 6.0, if there are any.
    fn describe_differences(&self) -> Option<String> {
        let (_, differences) = DIFFERENCES.iter().find(|(major, _)| *major == self.major())?;
        Some(format!("UnixBench {} {differences}", self.name))
    }
}

/// The part of a report that a line is in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// The system, or the lines between two levels.
    Head,
    Scores,
    Index,
}

/// A report on the way to a journal.
struct Reader<'a> {
    draft: Draft<'a>,
    header: Header,
    version: Option<Version>,
    part: Part,
    /// The copies of the level that is being read.
    copies: u32,
    first_period: Option<Period>,
    /// The printed indexes of every level of copies.
    printed: Vec<PrintedIndex>,
    /// The index that the lines belong to, if its heading names it.
    index: Option<String>,
}

impl<'a> Reader<'a> {
    fn new(draft: Draft<'a>) -> Reader<'a> {
        Reader {
            draft,
            header: Header::default(),
            version: None,
            part: Part::Head,
            copies: 1,
            first_period: None,
            printed: Vec::new(),
            index: None,
        }
    }

    /// Reads a line whose blanks are collapsed.
    fn read_line(&mut self, number: usize, line: &str) {
        if lines::is_rule(line) {
            return;
        }
        if let Some(name) = lines::parse_version(line) {
            self.version = Some(Version { line: number, name: name.to_owned() });
        } else if let Some(dates) = lines::parse_run_dates(line) {
            self.part = Part::Head;
            self.read_dates(dates);
        } else if let Some(level) = lines::parse_level(line) {
            self.part = Part::Scores;
            self.begin_level(level);
        } else if let Some(score) = lines::parse_score(line) {
            self.part = Part::Scores;
            self.add_score(score);
        } else if lines::is_index_heading(line) {
            self.part = Part::Index;
            self.index = self.find_index(line);
        } else if let Some(total) = lines::parse_total(line) {
            // Another category's index or the next level may follow, and each has its own head.
            self.part = Part::Head;
            self.add_total(total, line);
        } else {
            self.read_by_place(number, line);
        }
    }

    /// Reads a line that only its place explains.
    fn read_by_place(&mut self, number: usize, line: &str) {
        match self.part {
            Part::Index => match lines::parse_index_row(line) {
                Some(row) => {
                    let index = self.index.clone();
                    let label = row.label;
                    let row = row.numbers.map(|numbers| PrintedRow { index, label, numbers });
                    self.printed_index().rows.extend(row);
                }
                None => self.draft.skip_line(number, line),
            },
            Part::Scores => self.draft.skip_line(number, line),
            Part::Head if lines::is_like_a_score(line) => self.draft.skip_line(number, line),
            Part::Head if self.draft.has_no_cells() => {
                self.header.read_line(line, &mut self.draft);
            }
            Part::Head => {}
        }
    }

    fn read_dates(&mut self, dates: &str) {
        let Some(period) = Period::read(dates) else {
            self.draft.set_start_or_quote(dates, None);
            return;
        };
        let first = self.first_period.get_or_insert_with(|| period.clone());
        self.draft.seconds = first.seconds_until_end_of(&period);
        if *first == period
            && let Some(started) = period.to_rfc3339()
        {
            self.draft.run.started = started;
            self.draft.add_fact("imported.date", "Benchmark run", "Imported", dates);
        }
    }

    fn begin_level(&mut self, level: Level) {
        self.copies = level.copies;
        self.draft.run.cpus = level.cpus.unwrap_or(self.draft.run.cpus);
        // A level that the report has twice is judged by its last index.
        self.printed.retain(|printed| printed.copies != level.copies);
    }

    fn add_score(&mut self, score: ScoreLine) {
        let cell = self.draft.cell_for(&score.label, self.copies, &score.unit);
        self.draft.set_score(cell, score.value, score.seconds, score.samples);
    }

    fn add_total(&mut self, total: Total, line: &str) {
        let index = self.find_index(line).or_else(|| self.index.clone());
        let total = PrintedTotal { index, total, text: line.to_owned() };
        self.printed_index().totals.push(total);
    }

    /// The printed indexes of this level.
    fn printed_index(&mut self) -> &mut PrintedIndex {
        let copies = self.copies;
        let place = self.printed.iter().position(|printed| printed.copies == copies);
        let place = place.unwrap_or_else(|| {
            self.printed.push(PrintedIndex { copies, ..PrintedIndex::default() });
            self.printed.len() - 1
        });
        &mut self.printed[place]
    }

    /// The index whose name a line begins with.
    fn find_index(&self, line: &str) -> Option<String> {
        let line = line.trim().to_ascii_lowercase();
        let mut indexes = self.draft.catalogue.indexes.iter();
        let index = indexes.find(|index| line.starts_with(&index.name.to_ascii_lowercase()))?;
        Some(index.id.clone())
    }

    /// The journal, with warnings where the printed indexes differ from those that its scores give.
    fn finish(mut self) -> Journal {
        self.header.finish(&mut self.draft);
        self.quote_totals();

        let is_byte3 = self.is_byte3();
        let suite = if is_byte3 { "BYTE UNIX Benchmarks" } else { "UnixBench" };
        let suite_index = if is_byte3 { BYTE_INDEX } else { analysis::UNIXBENCH_INDEX };
        self.draft.run.tool = match &self.version {
            Some(version) => format!("{suite} {}", version.name),
            None => suite.to_owned(),
        };
        if let Some(note) = self.version.as_ref().and_then(Version::describe_differences) {
            self.draft.warn(note);
        }
        if is_byte3 {
            self.draft.run.indexes = vec![BYTE_INDEX.to_owned()];
        }

        let catalogue = self.draft.catalogue;
        let mut journal = self.draft.finish();
        // The indexes as unixmark computes them from the report's scores.
        let results = Results::new(&journal, catalogue, None);
        let mut differences = describe_missing_totals(&self.printed, &results, suite_index);
        for printed in &self.printed {
            differences.extend(printed.describe_differences(&results, catalogue, suite_index));
        }
        journal.warnings.extend(differences.into_iter().map(|text| Warning { cell: None, text }));
        journal
    }

    /// Notes the totals of the indexes as they are printed: from scores with one decimal they
    /// cannot always be computed to the last digit.
    fn quote_totals(&mut self) {
        for printed in &self.printed {
            for (number, total) in (1..).zip(&printed.totals) {
                let name = format!("imported.index.{}.{number}", printed.copies);
                let label = format!("Printed index of {}", words::copies(printed.copies));
                let text = total.text.trim_start_matches(['#', ' ']);
                self.draft.add_fact(&name, &label, "Imported", text);
            }
        }
    }

    /// True if this is a report of BYTE's suite. Without a version that is seen from the totals:
    /// only BYTE sums and averages.
    fn is_byte3(&self) -> bool {
        let major = self.version.as_ref().and_then(|version| version.major().parse::<u32>().ok());
        match major {
            Some(major) => major < 4,
            None => self
                .printed
                .iter()
                .flat_map(|printed| &printed.totals)
                .any(|total| !matches!(total.total, Total::Index(_))),
        }
    }
}

/// Sentences about the levels of copies that have scores of `suite_index`, for which the report has
/// no total at all.
fn describe_missing_totals(
    printed: &[PrintedIndex],
    results: &Results,
    suite_index: &str,
) -> Vec<String> {
    let mut missing = Vec::new();
    for index in results.indexes().iter().filter(|index| index.id == suite_index) {
        let has_total = printed
            .iter()
            .any(|printed| printed.copies == index.copies && !printed.totals.is_empty());
        if !has_total {
            missing.push(format!(
                "the report has no index of {}: it may be truncated, and tests may be missing",
                words::copies(index.copies)
            ));
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Catalogue;

    fn journal(text: &str) -> Journal {
        read((1..).zip(text.lines()), Draft::new("", &Catalogue::load().unwrap()))
            .unwrap()
            .remove(0)
    }

    fn has_warning(journal: &Journal, words: &str) -> bool {
        journal.warnings.iter().any(|warning| warning.text.contains(words))
    }

    const LEVELS: &str = "\
        Benchmark Run: Sat Nov 21 2026 03:18:59 - 03:19:32\n2 CPUs in system; running 1 parallel copy of tests\n\n\
        Pipe Throughput 24880.0 lps (10.0 s, 7 samples)\n\n\
        System Benchmarks Partial Index BASELINE RESULT INDEX\nPipe Throughput 12440.0 24880.0 20.0\n   ========\n\
        System Benchmarks Index Score (Partial Only) 20.0\n\n------------\n\
        Benchmark Run: Sat Nov 21 2026 03:19:32 - 03:19:58\n2 CPUs in system; running 2 parallel copies of tests\n\n\
        Pipe Throughput 37320.0 lps (10.0 s, 7 samples)\n\n\
        System Benchmarks Partial Index BASELINE RESULT INDEX\nPipe Throughput 12440.0 37320.0 30.0\n   ========\n\
        System Benchmarks Index Score (Partial Only) 30.0\n";

    #[test]
    fn levels_become_cells_of_their_copies() {
        let journal = journal(LEVELS);
        let cells: Vec<(&str, u32)> =
            journal.cells.iter().map(|cell| (cell.key.test.as_str(), cell.key.copies)).collect();
        assert_eq!(cells, [("pipe", 1), ("pipe", 2)]);
        let scores: Vec<f64> =
            journal.trials.iter().filter_map(|trial| Some(trial.score.as_ref()?.value)).collect();
        assert_eq!(scores, [24_880.0, 37_320.0]);
        assert_eq!(journal.run.cpus, 2);
        assert_eq!(journal.run.started, "2026-11-21T03:18:59Z");
        assert_eq!(journal.end.as_ref().map(|end| end.seconds), Some(59.0));
        assert_eq!(journal.warnings, []);
    }

    #[test]
    fn every_printed_number_is_checked() {
        for (from, to, words) in [
            (
                "Pipe Throughput 12440.0 24880.0 20.0",
                "Pipe Throughput 12440.0 24880.0 20.2",
                "prints the index 20.2",
            ),
            (
                "Pipe Throughput 12440.0 24880.0 20.0",
                "Pipe Throughput 12440.0 24881.0 20.0",
                "24881.0 in its index",
            ),
            (
                "Pipe Throughput 12440.0 24880.0 20.0",
                "Pipe Throughput 6220.0 24880.0 40.0",
                "divides by baselines of its own",
            ),
            (
                "Pipe Throughput 12440.0 24880.0 20.0",
                "Execl Throughput 43.0 24880.0 5786.0",
                "but no score of it",
            ),
            ("Only) 20.0", "Only) 20.2", "prints 20.2 as its index"),
            ("Only) 30.0", "Only) 30.2", "prints 30.2 as its index"),
            (
                "Pipe Throughput 24880.0 lps (10.0",
                "Pipe Throughput 24880.0 kps (10.0",
                "reported in kps",
            ),
            ("Pipe Throughput 24880.0 lps", "Pipe Throughput nan lps", "line 4 is not understood"),
            (
                "Benchmark Run: Sat Nov 21",
                "Benchmark Run: someday",
                "its date is not understood: 'someday 2026 03:18:59 - 03:19:32'",
            ),
            ("System Benchmarks Index Score (Partial Only) 30.0\n", "", "no index of 2 copies"),
        ] {
            let changed = journal(&LEVELS.replacen(from, to, 1));
            // The second level's date is still there, and would be taken for the first's.
            let changed = if from.starts_with("Bench") {
                journal(&LEVELS.replace(from, to))
            } else {
                changed
            };
            assert!(has_warning(&changed, words), "{words}: {:?}", changed.warnings);
        }
    }

    #[test]
    fn rounding_is_no_difference() {
        // 24880.04 and 20.0499 were measured: what is printed may be off by half its last digit.
        assert_eq!(
            journal(&LEVELS.replace("12440.0 24880.0 20.0", "12440.0 24880.0 19.96")).warnings,
            []
        );
    }

    #[test]
    fn version_four_has_one_copy_and_no_index() {
        let text = "BYTE UNIX Benchmarks (Version 4.1.0)\nSystem -- Linux box 2.4.18 i686\n\
            Start Benchmark Run: Tue Jan 7 10:00:00 CET 2003\n 1 interactive users.\n\
            Pipe Throughput 24880.0 lps (10.0 secs, 10 samples)\n\n                 INDEX VALUES\n\
            TEST                BASELINE     RESULT      INDEX\n\nPipe Throughput 12440.0 24880.0 20.0\n  =========\n\
            FINAL SCORE          20.0\n";
        let journal = journal(text);
        assert_eq!(
            (journal.run.tool.as_str(), journal.run.host.as_str()),
            ("UnixBench 4.1.0", "box")
        );
        assert_eq!(journal.run.started, "2003-01-07T10:00:00+01:00");
        assert_eq!((journal.cells[0].key.copies, journal.run.indexes.len()), (1, 0));
        assert!(
            journal.warnings.len() == 1
                && has_warning(&journal, "its final score is not the index of UnixBench 5 and 6")
        );
    }

    #[test]
    fn unknown_versions_are_refused() {
        for version in ["6.1.0", "7.0", "2.2", "x"] {
            let text = LEVELS.replace(
                "Benchmark Run: Sat",
                &format!("BYTE UNIX Benchmarks (Version {version})\nBenchmark Run: Sat"),
            );
            let error = read((1..).zip(text.lines()), Draft::new("", &Catalogue::load().unwrap()))
                .unwrap_err()
                .to_string();
            assert!(
                error.starts_with(&format!("it comes from UnixBench '{version}' (line ")),
                "{error}"
            );
        }
    }

    #[test]
    fn byte_is_seen_from_its_totals() {
        let text = "Execl Throughput Test 33.0 lps (9 secs, 6 samples)\n\
            Execl Throughput Test 33.0 lps (9 secs, 6 samples)\nSUM of 1 items 2.0\nAVERAGE 2.0\n";
        let journal = journal(text);
        assert_eq!(
            (journal.run.tool.as_str(), journal.run.indexes.join(" ")),
            ("BYTE UNIX Benchmarks", "byte3".to_owned())
        );
        assert_eq!(journal.cells.len(), 1);
        assert!(has_warning(&journal, "more than once"));
    }
}
