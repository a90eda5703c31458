//! UnixBench's own files: their columns, the way back, and what programs that read UnixBench find
//! in them.

use analysis::Results;
use catalogue::Catalogue;
use journal::Journal;
use report::unixbench::{csv, log, page, report};

/// A report of UnixBench.
const REPORT: &str = include_str!("../../../../tests/vectors/unixbench_1copy_report.txt");

/// Two of its indexes, and what its scores with one decimal give.
const ROUNDED: [(&str, &str); 2] = [("3639.9", "3639.8"), ("1362.9", "1362.8")];

fn heading() -> Vec<(String, String)> {
    let rows = [
        ("System", "box: GNU/Linux"),
        ("CPU 0", "Old <One> (100.0 bogomips)\nx86-64, MMX"),
        ("", "12:00 up 1 day"),
    ];
    rows.map(|(name, text)| (name.to_owned(), text.to_owned())).to_vec()
}

fn results(journal: &Journal) -> Results {
    Results::new(journal, &Catalogue::load().unwrap(), None)
}

fn imported(text: &str) -> Journal {
    interop::import("report", text, &Catalogue::load().unwrap()).unwrap().remove(0)
}

/// That report as this tool writes it.
fn rewritten() -> String {
    report(&results(&imported(REPORT)), &heading())
}

#[test]
fn files_of_recorded_runs() {
    for run in ["classic", "index"] {
        let journal = journal::read(&testing::recorded(run)).unwrap();
        let results = results(&journal);
        insta::assert_snapshot!(format!("unixbench_{run}_text"), report(&results, &heading()));
        insta::assert_snapshot!(format!("unixbench_{run}_csv"), csv(&results).unwrap());
        let page = page(&results, &heading());
        assert!(
            page.contains("Old &lt;One&gt;")
                && results.figures.iter().all(|row| page.contains(&row.cell.label))
        );
    }
}

/// What is written is read again: the scores as printed from the text, the very same from the log
/// of passes.
#[test]
fn there_and_back() {
    let shown = |results: &Results| -> Vec<String> {
        let shown = results.figures.iter().map(|row| {
            let key = &row.cell.key;
            let score = row.score.value;
            format!(
                "{} {} {score:.1} {} {:.1} {}",
                key.test, key.copies, row.cell.unit, row.seconds, row.n
            )
        });
        shown.collect()
    };
    for run in ["classic", "index"] {
        let first = results(&journal::read(&testing::recorded(run)).unwrap());
        assert!(!first.figures.is_empty());
        assert_eq!(shown(&results(&imported(&report(&first, &heading())))), shown(&first));
    }
    let journal = journal::read(&testing::recorded("classic")).unwrap();
    let first = results(&journal);
    let log = log(&journal, &first);
    // A blank line before the first test, and two between tests.
    let heads = log.matches(&format!("\n\n\n{}\n", "#".repeat(56))).count();
    assert!(
        log.starts_with(&format!("\n{}\n", "#".repeat(56))) && heads == journal.cells.len() - 1,
        "{log}"
    );
    let again = results(&imported(&log));
    assert_eq!(again.figures.len(), first.figures.len());
    for (again, first) in again.figures.iter().zip(&first.figures) {
        let (again, first) = (again.score.value, first.score.value);
        assert!((again / first - 1.0).abs() < 1e-6, "{again} is not {first}");
    }
}

/// Every line but the heading's has UnixBench's columns.
#[test]
fn columns() {
    let text = rewritten();
    let lines: Vec<&str> = text.lines().collect();
    let scores: Vec<&&str> = lines.iter().filter(|line| line.ends_with(" samples)")).collect();
    assert_eq!(scores.len(), 12);
    for line in scores {
        assert_eq!((&line[40..41], &line[53..54], &line[59..61]), (" ", " ", " ("), "{line}");
        assert!(line[41..53].trim().parse::<f64>().is_ok(), "{line}");
    }
    let start = lines.iter().position(|line| line.ends_with("INDEX")).unwrap();
    let block = &lines[start..start + 15];
    assert!(block.iter().all(|line| line.len() == 75), "{block:#?}");
    assert_eq!(block[13].trim(), "========");
    assert!(!text.contains('±') && text.is_ascii());
}

/// The line's words.
fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Test, value, unit and samples of the lines that end in `(10.0 s, 7 samples)`, as
/// PerfKitBenchmarker and lkp find them.
fn scores(text: &str) -> Vec<(String, &str, &str, &str)> {
    let found = text.lines().filter_map(|line| match &words(line)[..] {
        [label @ .., value, unit, seconds, "s,", samples, "samples)"]
            if is_number(value) && is_number(seconds.strip_prefix('(')?) && is_number(samples) =>
        {
            Some((label.join(" "), *value, *unit, *samples))
        }
        _ => None,
    });
    found.collect()
}

/// The last words of lines about an index's score: awk's `$NF`, and what avocado and cloudharmony
/// keep.
fn last_words(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.contains("Index Score"))
        .filter_map(|line| words(line).pop())
        .collect()
}

/// The word before the last, on the line after the head of an index: lkp's throughput of a run of
/// one test.
fn throughput(text: &str) -> Option<&str> {
    let mut lines =
        text.lines().skip_while(|line| !(line.contains("Benchmarks") && line.ends_with(" INDEX")));
    let line = words(lines.nth(1)?);
    line.get(line.len() - 2).copied()
}

/// The sixth word from the end of lines with samples: avocado's value.
fn sixth_from_the_end(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.contains("BYTE UNIX Benchmarks"));
    lines
        .filter(|line| line.contains("samples)"))
        .filter_map(|line| words(line).into_iter().rev().nth(5))
        .collect()
}

/// The numbers at the ends of lines: beakerlib's `grep -o`.
fn final_numbers(text: &str) -> Vec<&str> {
    let numbers = text.lines().filter_map(|line| words(line).pop());
    numbers.filter(|word| is_number(word)).collect()
}

/// What stands between a label and `samples)`: porta-popper's sed.
fn between<'a>(text: &'a str, label: &str) -> Vec<&'a str> {
    let rests = text.lines().filter_map(|line| line.strip_prefix(label)?.strip_suffix(" samples)"));
    rests.filter_map(|rest| words(rest).into_iter().next()).collect()
}

/// Every number after the label of the whole index: what a hoster's monitoring averages.
fn index_scores(text: &str) -> Vec<&str> {
    let rests =
        text.split("System Benchmarks Index Score").skip(1).filter_map(|rest| rest.lines().next());
    rests.map(str::trim).filter(|rest| is_number(rest)).collect()
}

/// The seventh word of lines with `Score`: Yardstick's and qtip's awk, which is right for partial
/// runs alone.
fn seventh(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| line.contains("Score"))
        .map(|line| words(line).get(6).copied().unwrap_or(""))
        .collect()
}

/// The word before the unit: what the Phoronix Test Suite takes.
fn before_unit(text: &str) -> Vec<&str> {
    let before = |line| {
        let words = words(line);
        let unit = words.iter().position(|word| ["lps", "MWIPS"].contains(word))?;
        words.get(unit.checked_sub(1)?).copied()
    };
    text.lines().filter_map(before).collect()
}

/// Begin and end of a level as PerfKitBenchmarker and lkp look for them.
fn periods(text: &str) -> Vec<(&str, &str)> {
    let is_clock =
        |word: &str| word.split(':').count() == 3 && word.split(':').all(|part| part.len() == 2);
    let found = text.lines().filter_map(|line| match &words(line)[..] {
        ["Benchmark", "Run:", .., from, "-", to] if is_clock(from) && is_clock(to) => {
            Some((*from, *to))
        }
        _ => None,
    });
    found.collect()
}

#[test]
fn readers_find_what_they_find_in_unixbench() {
    let text = rewritten();
    assert_eq!(scores(REPORT).len(), 12);
    assert_eq!(scores(&text), scores(REPORT));
    assert_eq!((last_words(REPORT), last_words(&text)), (vec!["1362.9"], vec!["1362.8"]));
    assert_eq!((throughput(REPORT), throughput(&text)), (Some("30971628.9"), Some("30971628.9")));
    // The recorded report has lost the line that avocado starts at; ours has not.
    assert!(sixth_from_the_end(REPORT).is_empty());
    assert_eq!(
        sixth_from_the_end(&text),
        scores(REPORT).iter().map(|score| score.1).collect::<Vec<_>>()
    );
    // The indexes of twelve tests and the score; a processor's line does not end in a number.
    assert_eq!(final_numbers(REPORT).len(), 13);
    let report = ROUNDED
        .iter()
        .fold(REPORT.to_owned(), |report, (printed, ours)| report.replace(printed, ours));
    assert_eq!(final_numbers(&text), final_numbers(&report));
    let dhrystone = "Dhrystone 2 using register variables";
    assert_eq!(
        (between(REPORT, dhrystone), between(&text, dhrystone)),
        (vec!["30971628.9"], vec!["30971628.9"])
    );
    assert_eq!((index_scores(REPORT), index_scores(&text)), (vec!["1362.9"], vec!["1362.8"]));
    // Wrong over a whole index on both.
    assert_eq!((seventh(REPORT), seventh(&text)), (vec![""], vec![""]));
    assert_eq!(before_unit(REPORT).len(), 7);
    assert_eq!(before_unit(&text), before_unit(REPORT));
    // And so has it lost the date's form.
    assert!(periods(REPORT).is_empty());
    assert_eq!(periods(&text).len(), 1);
}

#[test]
fn readers_of_partial_and_wide_results() {
    let results = results(&journal::read(&testing::recorded("index")).unwrap());
    let text = report(&results, &[]);
    let [one, two] = &periods(&text)[..] else { panic!("{text}") };
    assert!(one.0 <= one.1 && two.0 <= two.1);
    assert_eq!(seventh(&text), last_words(&text));
    assert!(seventh(&text).iter().all(|word| is_number(word)));
    // Neither a gain nor anything else may go into the average.
    assert!(index_scores(&text).is_empty());
    let wide = csv(&results).unwrap();
    let rows: Vec<Vec<&str>> = wide.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["Concurrency", "1", "2"]);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    let printed = scores(&text);
    for (label, value) in rows[0].iter().zip(&rows[1]).skip(1) {
        assert!(
            printed.iter().any(|score| (score.0.as_str(), score.1) == (label, value)),
            "{label} {value}"
        );
    }
}
