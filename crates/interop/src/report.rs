//! Text reports: UnixBench 4 to 6, with any number of levels of copies, and BYTE 3.

use super::check::{Printed, PrintedRow, PrintedTotal};
use super::date::Period;
use super::draft::{Draft, quoted};
use super::header::Header;
use super::lines::{self, ScoreLine, Total};
use super::text::Text;
use analysis::Results;
use anyhow::{Result, bail};
use journal::Journal;

/// Returns true if a line shows that its text is a report.
pub(super) fn is_report_line(line: &str) -> bool {
    let line = &lines::collapsed(line);
    lines::version(line).is_some() || lines::level(line).is_some() || lines::score(line).is_some()
}

/// Returns true if a text is a report.
pub(super) fn is_it(text: &Text<'_>) -> bool {
    text.raw.lines().any(is_report_line)
}

/// Returns what a text report holds; without any cell where it has no score.
///
/// # Errors
/// It is of a version that is not known.
pub(super) fn read_text(text: &Text<'_>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    read(text.lines(), draft)
}

/// Returns what the numbered lines of a report hold.
///
/// # Errors
/// It is of a version that is not known.
pub(super) fn read<'t>(lines: impl Iterator<Item = (usize, &'t str)>, draft: Draft<'_>) -> Result<Vec<Journal>> {
    let mut reader = Reader::new(draft);
    for (number, line) in lines {
        reader.line(number, &lines::collapsed(line));
    }
    if let Some((number, version)) = reader.version.as_ref().filter(|(_, version)| !is_known(version)) {
        bail!(
            "it comes from UnixBench '{}' (line {number}), whose tests unixmark does not know; BYTE 3, UnixBench 4, 5 and 6.0 can be read",
            quoted(version)
        );
    }
    Ok(vec![reader.finish()])
}

/// Returns true if a version is one of those whose tests and baselines are known: 6.1 is another project's.
fn is_known(version: &str) -> bool {
    ["3.", "4.", "5.", "6.0"].iter().any(|known| version.starts_with(known))
}

/// Returns the differences of a version's index and figures from those of 6.0.
fn apart(version: &str) -> Option<String> {
    let how = match version.split('.').next()? {
        "4" => {
            "has neither Pipe-based Context Switching nor Shell Scripts (1 concurrent) in its index, and always runs one copy: \
             its final score is not the index of UnixBench 5 and 6"
        }
        "5" => {
            "has the tests and baselines of 6.0, but compiles otherwise, its Whetstone counts processor time, and its copies \
             share files: part of what differs from 6.0 is the version's"
        }
        _ => return None,
    };
    Some(format!("UnixBench {version} {how}"))
}

/// The part of a report that a line is in.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    /// The system, or what stands between two levels.
    Head,
    Scores,
    Index,
}

struct Reader<'a> {
    draft: Draft<'a>,
    header: Header,
    /// The version, and the line that has it.
    version: Option<(usize, String)>,
    part: Part,
    copies: u32,
    first: Option<Period>,
    /// The printed indexes of every level of copies.
    printed: Vec<Printed>,
    /// The index that the lines belong to, where its heading tells.
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
            first: None,
            printed: Vec::new(),
            index: None,
        }
    }

    fn line(&mut self, number: usize, line: &str) {
        if lines::is_rule(line) {
            return;
        }
        if let Some(version) = lines::version(line) {
            self.version = Some((number, version.to_owned()));
        } else if let Some(dates) = lines::dates(line) {
            self.part = Part::Head;
            self.period(dates);
        } else if let Some((cpus, copies)) = lines::level(line) {
            self.level(cpus, copies);
        } else if let Some(score) = lines::score(line) {
            self.part = Part::Scores;
            self.score(score);
        } else if lines::is_heading(line) {
            self.part = Part::Index;
            self.index = self.index_named(line);
        } else if let Some(total) = lines::total(line) {
            // Another category's index, or the next level, may follow; both say so.
            self.part = Part::Head;
            self.total(total, line);
        } else {
            self.other(number, line);
        }
    }

    /// Reads a line that only its place explains.
    fn other(&mut self, number: usize, line: &str) {
        match self.part {
            Part::Index => match lines::index(line) {
                Some(row) => {
                    let (index, copies) = (self.index.clone(), self.copies);
                    self.printed(copies).rows.extend(row.parts.map(|parts| PrintedRow {
                        index,
                        label: row.label,
                        parts,
                    }));
                }
                None => self.draft.unread(number, line),
            },
            _ if lines::is_like_a_score(line) => self.draft.unread(number, line),
            Part::Scores => self.draft.unread(number, line),
            Part::Head if self.draft.is_empty() => self.header.line(line, &mut self.draft),
            Part::Head => {}
        }
    }

    fn period(&mut self, text: &str) {
        let Some(period) = Period::read(text) else { return };
        let first = self.first.get_or_insert_with(|| period.clone());
        self.draft.seconds = first.until(&period);
        if let (true, Some(started)) = (*first == period, period.rfc3339()) {
            self.draft.run.started = started;
            self.draft.fact("imported.date", "Benchmark run", "Imported", text);
        }
    }

    fn level(&mut self, cpus: Option<usize>, copies: u32) {
        self.part = Part::Scores;
        self.copies = copies;
        self.draft.run.cpus = cpus.unwrap_or(self.draft.run.cpus);
        // A level that is there twice is judged by its last index.
        self.printed.retain(|printed| printed.copies != copies);
    }

    fn score(&mut self, line: ScoreLine) {
        let cell = self.draft.cell(&line.label, self.copies, &line.unit);
        self.draft.put_score(cell, line.value, line.seconds, line.samples);
    }

    fn total(&mut self, total: Total, line: &str) {
        let text = line.to_owned();
        let (index, copies) = (self.index_named(line).or_else(|| self.index.clone()), self.copies);
        self.printed(copies).totals.push(PrintedTotal { index, total, text });
    }

    fn printed(&mut self, copies: u32) -> &mut Printed {
        let place = self.printed.iter().position(|printed| printed.copies == copies).unwrap_or_else(|| {
            self.printed.push(Printed { copies, ..Printed::default() });
            self.printed.len() - 1
        });
        &mut self.printed[place]
    }

    /// Returns the index whose name a line begins with.
    fn index_named(&self, line: &str) -> Option<String> {
        let line = line.trim().to_ascii_lowercase();
        let named = |name: &str| line.starts_with(&name.to_ascii_lowercase());
        self.draft.catalogue.indexes.iter().find(|index| named(&index.name)).map(|index| index.id.clone())
    }

    fn finish(mut self) -> Journal {
        self.header.finish(&mut self.draft);
        self.quote();
        let byte3 = self.is_byte3();
        let suite = if byte3 { "BYTE UNIX Benchmarks" } else { "UnixBench" };
        let version = self.version.map(|(_, version)| version);
        version.as_deref().and_then(apart).into_iter().for_each(|note| self.draft.warn(note));
        self.draft.run.tool = version.map_or_else(|| suite.to_owned(), |version| format!("{suite} {version}"));
        let own = if byte3 { "byte3" } else { "system" };
        if byte3 {
            self.draft.run.indexes = vec![own.to_owned()];
        }
        let catalogue = self.draft.catalogue;
        let mut journal = self.draft.finish();
        let results = Results::new(&journal, catalogue, None);
        let mut warnings = Vec::new();
        for index in results.indexes().iter().filter(|index| index.id == own) {
            if !self.printed.iter().any(|printed| printed.copies == index.copies && !printed.totals.is_empty()) {
                warnings.push(format!(
                    "the report has no index of {}: it may be truncated, and tests may be missing",
                    words::copies(index.copies)
                ));
            }
        }
        warnings.extend(self.printed.iter().flat_map(|printed| printed.check(&results, catalogue, own)));
        journal.warnings.extend(warnings.into_iter().map(|text| journal::Warning { cell: None, text }));
        journal
    }

    /// Notes the indexes as they are printed: from scores with one decimal they cannot always be
    /// computed to the last digit.
    fn quote(&mut self) {
        for printed in &self.printed {
            for (number, total) in (1..).zip(&printed.totals) {
                let name = format!("imported.index.{}.{number}", printed.copies);
                let label = format!("Printed index of {}", words::copies(printed.copies));
                self.draft.fact(&name, &label, "Imported", total.text.trim_start_matches(['#', ' ']));
            }
        }
    }

    /// Returns true if this is a report of BYTE's suite; without a version, only that one sums and averages.
    fn is_byte3(&self) -> bool {
        match self.version.as_ref().and_then(|(_, version)| version.split('.').next()?.parse::<u32>().ok()) {
            Some(major) => major < 4,
            None => {
                let totals = self.printed.iter().flat_map(|printed| &printed.totals);
                totals.into_iter().any(|total| !matches!(total.total, Total::Index(_)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Catalogue;

    fn journal(text: &str) -> Journal {
        read((1..).zip(text.lines()), Draft::new("", &Catalogue::load().unwrap())).unwrap().remove(0)
    }

    fn told(journal: &Journal, words: &str) -> bool {
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
    fn levels() {
        let journal = journal(LEVELS);
        let cells: Vec<(&str, u32)> =
            journal.cells.iter().map(|cell| (cell.key.test.as_str(), cell.key.copies)).collect();
        assert_eq!(cells, [("pipe", 1), ("pipe", 2)]);
        let scores: Vec<f64> = journal.trials.iter().filter_map(|trial| Some(trial.score.as_ref()?.value)).collect();
        assert_eq!(scores, [24_880.0, 37_320.0]);
        assert_eq!(journal.run.cpus, 2);
        assert_eq!(journal.run.started, "2026-11-21T03:18:59Z");
        assert_eq!(journal.end.as_ref().map(|end| end.seconds), Some(59.0));
        assert_eq!(journal.warnings, []);
    }

    #[test]
    fn every_printed_number_is_checked() {
        for (from, to, words) in [
            ("Pipe Throughput 12440.0 24880.0 20.0", "Pipe Throughput 12440.0 24880.0 20.2", "prints the index 20.2"),
            ("Pipe Throughput 12440.0 24880.0 20.0", "Pipe Throughput 12440.0 24881.0 20.0", "24881.0 in its index"),
            (
                "Pipe Throughput 12440.0 24880.0 20.0",
                "Pipe Throughput 6220.0 24880.0 40.0",
                "divides by baselines of its own",
            ),
            ("Pipe Throughput 12440.0 24880.0 20.0", "Execl Throughput 43.0 24880.0 5786.0", "but no score of it"),
            ("Only) 20.0", "Only) 20.2", "prints 20.2 as its index"),
            ("Only) 30.0", "Only) 30.2", "prints 30.2 as its index"),
            ("Pipe Throughput 24880.0 lps (10.0", "Pipe Throughput 24880.0 kps (10.0", "reported in kps"),
            ("Pipe Throughput 24880.0 lps", "Pipe Throughput nan lps", "line 4 is not understood"),
            ("Benchmark Run: Sat Nov 21", "Benchmark Run: someday", "has no time stamp"),
            ("System Benchmarks Index Score (Partial Only) 30.0\n", "", "no index of 2 copies"),
        ] {
            let changed = journal(&LEVELS.replacen(from, to, 1));
            // The second level's date is still there, and would be taken for the first's.
            let changed = if from.starts_with("Bench") { journal(&LEVELS.replace(from, to)) } else { changed };
            assert!(told(&changed, words), "{words}: {:?}", changed.warnings);
        }
    }

    #[test]
    fn rounding_is_no_difference() {
        // 24880.04 and 20.0499 were measured: what is printed may be off by half its last digit.
        assert_eq!(journal(&LEVELS.replace("12440.0 24880.0 20.0", "12440.0 24880.0 19.96")).warnings, []);
    }

    #[test]
    fn version_four() {
        let text = "BYTE UNIX Benchmarks (Version 4.1.0)\nSystem -- Linux box 2.4.18 i686\n\
            Start Benchmark Run: Tue Jan 7 10:00:00 CET 2003\n 1 interactive users.\n\
            Pipe Throughput 24880.0 lps (10.0 secs, 10 samples)\n\n                 INDEX VALUES\n\
            TEST                BASELINE     RESULT      INDEX\n\nPipe Throughput 12440.0 24880.0 20.0\n  =========\n\
            FINAL SCORE          20.0\n";
        let journal = journal(text);
        assert_eq!((journal.run.tool.as_str(), journal.run.host.as_str()), ("UnixBench 4.1.0", "box"));
        assert_eq!(journal.run.started, "2003-01-07T10:00:00+01:00");
        assert_eq!((journal.cells[0].key.copies, journal.run.indexes.len()), (1, 0));
        assert!(journal.warnings.len() == 1 && told(&journal, "its final score is not the index of UnixBench 5 and 6"));
    }

    #[test]
    fn unknown_versions_are_refused() {
        for version in ["6.1.0", "7.0", "2.2", "x"] {
            let text = LEVELS.replace(
                "Benchmark Run: Sat",
                &format!("BYTE UNIX Benchmarks (Version {version})\nBenchmark Run: Sat"),
            );
            let error =
                read((1..).zip(text.lines()), Draft::new("", &Catalogue::load().unwrap())).unwrap_err().to_string();
            assert!(error.starts_with(&format!("it comes from UnixBench '{version}' (line ")), "{error}");
        }
    }

    #[test]
    fn byte_without_its_banner() {
        let text = "Execl Throughput Test 33.0 lps (9 secs, 6 samples)\n\
            Execl Throughput Test 33.0 lps (9 secs, 6 samples)\nSUM of 1 items 2.0\nAVERAGE 2.0\n";
        let journal = journal(text);
        assert_eq!(
            (journal.run.tool.as_str(), journal.run.indexes.join(" ")),
            ("BYTE UNIX Benchmarks", "byte3".to_owned())
        );
        assert_eq!(journal.cells.len(), 1);
        assert!(told(&journal, "more than once"));
    }
}
