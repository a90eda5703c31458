//! Reports and logs of other suites: known files give their known scores, damaged ones no panic.
#![cfg(test)]

extern crate unixmark_interop as interop;

use std::sync::LazyLock;

use analysis::{Figure, Index, Results};
use catalogue::Catalogue;
use interop::import;
use journal::{Journal, Line, Record};
use proptest::prelude::*;
use proptest::sample::Index as Place;

const REPORT: &str = include_str!("../../../tests/vectors/unixbench_1copy_report.txt");
const BYTE: &str = include_str!("../../../tests/vectors/byte311_run1_report.txt");
const LOG: &str = include_str!("../../../tests/vectors/unixbench_two_levels.log");
const LBENCH: &str = include_str!("../../../tests/vectors/lbench_scaling.json");
const PAIR: &str = include_str!("../../../tests/vectors/audit_1994_pair1.json");
const PASSES: &str = include_str!("../../../tests/vectors/unixbench_score_1copy.json");

fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::load().unwrap());
    &CATALOGUE
}

fn imported(name: &str, text: &str) -> (Journal, Results) {
    let catalogue = catalogue();
    let journal = import(name, text, catalogue).unwrap().remove(0);
    let results = Results::new(&journal, catalogue, None);
    (journal, results)
}

fn row<'a>(results: &'a Results, test: &str, copies: u32) -> &'a Figure {
    results
        .figures
        .iter()
        .find(|row| row.cell.key.test == test && row.cell.key.copies == copies)
        .unwrap()
}

fn index<'a>(results: &'a Results, id: &str) -> &'a Index {
    results.indexes().iter().find(|index| index.id == id).unwrap()
}

fn rounded(number: f64) -> String {
    format!("{number:.1}")
}

/// Half of the last printed digit.
const HALF: f64 = 0.05;

/// The lines of a report's index: label and printed index.
fn printed<'a>(report: &'a str, heading: &str) -> Vec<(String, &'a str)> {
    let rows =
        report.split_once(heading).unwrap().1.lines().take_while(|line| !line.starts_with("==="));
    let row = |line: &'a str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (label, numbers) = words.split_at_checked(words.len().checked_sub(3)?)?;
        numbers[0].parse::<f64>().ok()?;
        Some((label.join(" "), numbers[2]))
    };
    rows.filter_map(row).collect()
}

#[test]
fn unixbench_report() {
    let (journal, results) = imported("report.txt", REPORT);
    assert_eq!(
        (journal.run.procedure.name(), journal.run.tool.as_str()),
        ("imported", "UnixBench")
    );
    assert_eq!((journal.run.cpus, journal.run.started.as_str()), (4, "2018-06-25T20:25:47Z"));
    assert_eq!(journal.end.as_ref().unwrap().reason, journal::Ended::Complete);
    assert_eq!(journal.warnings, []);
    let system = index(&results, "system");
    assert!(system.complete && system.copies == 1);
    // The scores are those that are printed: with one decimal they give 1362.848.
    assert_eq!(
        (rounded(system.score.value), system.printed(&results.facts)),
        ("1362.8".to_owned(), Some(1362.9))
    );
    assert_eq!(row(&results, "dhry2reg", 1).score.value, 30_971_628.9);
    for row in &results.figures {
        assert!(
            REPORT.contains(&format!("{:.1} {}", row.score.value, row.cell.unit)),
            "{}",
            row.cell.label
        );
    }
    let quoted = journal.facts.iter().find(|fact| fact.name == "imported.index.1.1").unwrap();
    assert_eq!(quoted.value, "System Benchmarks Index Score 1362.9");
    let lines = printed(REPORT, "Index Values");
    assert_eq!(lines.len(), 12);
    for (label, printed) in lines {
        let part = system
            .parts
            .iter()
            .find(|part| part.label == label)
            .unwrap_or_else(|| panic!("{label}"));
        let ends = [-HALF, HALF].map(|half| {
            rounded((part.score + half) * 10.0 / part.baseline).parse::<f64>().unwrap()
        });
        let printed: f64 = printed.parse().unwrap();
        assert!(
            ends[0] <= printed && printed <= ends[1],
            "{label}: {printed} is not within {ends:?}"
        );
    }
    let whetstone = row(&results, "whetstone-double", 1);
    assert_eq!(
        (rounded(whetstone.score.value), whetstone.seconds, whetstone.n),
        ("3928.1".to_owned(), 12.4, 7)
    );
}

#[test]
fn a_printed_index_that_is_not_ours_is_told() {
    let told = |from: &str, to: &str| {
        let (journal, _) = imported("", &REPORT.replacen(from, to, 1));
        journal.warnings.into_iter().map(|warning| warning.text).collect::<Vec<_>>().join("\n")
    };
    assert!(told("Score 1362.9", "Score 1363.2").contains("prints 1363.2 as its index of 1 copy"));
    assert!(
        told("8238.2 653.8", "8238.2 655.0")
            .contains("prints the index 655.0 for Process Creation")
    );
    assert!(
        told("Creation 126.0", "Creation 63.0")
            .contains("baselines of its own (Process Creation by 63 instead of 126)")
    );
}

#[test]
fn byte_report() {
    let (journal, results) = imported("report.txt", BYTE);
    assert_eq!(journal.run.tool, "BYTE UNIX Benchmarks 3.11");
    assert_eq!(
        (journal.run.host.as_str(), journal.run.started.as_str()),
        ("mcsexp", "1994-07-08T09:37:08-04:00")
    );
    assert_eq!(journal.run.indexes, ["byte3"]);
    assert_eq!(journal.warnings, []);
    let byte = index(&results, "byte3");
    assert_eq!(
        (rounded(byte.sum), rounded(byte.score.value)),
        ("6.5".to_owned(), "1.1".to_owned())
    );
    assert!(byte.complete);
    let lines = printed(BYTE, "INDEX VALUES");
    assert_eq!(lines.len(), 6);
    let of: Vec<String> = ["double", "dhry2", "execl", "fscopy30", "context1", "shell8"]
        .iter()
        .map(|test| rounded(byte.parts.iter().find(|part| part.test == *test).unwrap().index.value))
        .collect();
    assert_eq!(of, lines.iter().map(|(_, printed)| (*printed).to_owned()).collect::<Vec<_>>());
    assert_eq!(row(&results, "hanoi", 1).score.value, 508.4);
}

#[test]
fn every_test_of_byte_is_in_the_catalogue() {
    let (journal, _) = imported("", BYTE);
    let catalogue = catalogue();
    assert_eq!(journal.cells.len(), 27);
    for cell in &journal.cells {
        assert!(catalogue.test(&cell.key.test).is_some(), "{}", cell.label);
    }
}

#[test]
fn a_report_is_read_alike_however_it_came_through() {
    let (journal, _) = imported("", REPORT);
    let spaced: String =
        REPORT.lines().map(|line| format!("\t{}   \r\n", line.replace(' ', "  "))).collect();
    for text in [spaced, format!("\u{feff}{REPORT}"), REPORT.replace("7 samples", "7 Samples")] {
        let (other, _) = imported("", &text);
        assert_eq!(
            (other.cells, other.trials, other.warnings),
            (journal.cells.clone(), journal.trials.clone(), vec![])
        );
    }
    let (_, results) = imported("", &REPORT.replace("Pipe-based Context", "PIPE BASED  CONTEXT"));
    assert_eq!(rounded(index(&results, "system").score.value), "1362.8");
}

#[test]
fn an_unknown_test_is_kept_outside_the_index() {
    let text = REPORT.replacen("Execl Throughput", "Mystery Throughput", 1);
    let (journal, results) = imported("", &text);
    let mystery = row(&results, "mystery-throughput", 1);
    assert_eq!((mystery.score.value, mystery.cell.category.as_str()), (3117.6, "misc"));
    assert_eq!(index(&results, "system").parts.len(), 11);
    assert!(journal.warnings.iter().any(|warning| warning.text.contains("'Mystery Throughput'")));
}

#[test]
fn a_table_of_runs() {
    let journals = import("pair.json", PAIR, catalogue()).unwrap();
    let [on, off] = &journals[..] else { panic!("two runs") };
    assert!(
        on.run.comment.contains("S. Nitzberg") && on.run.comment.ends_with("; run1; auditing on")
    );
    assert!(off.run.comment.ends_with("; run2; auditing off"));
    let vector: serde_json::Value = serde_json::from_str(PAIR).unwrap();
    let published = imported("", BYTE).0;
    for (journal, name) in [(on, "run1"), (off, "run2")] {
        assert_eq!((journal.cells.len(), journal.run.procedure.name()), (27, "imported"));
        for (cell, trial) in journal.cells.iter().zip(&journal.trials) {
            let test = &vector[name][&cell.label];
            let score = trial.score.as_ref().unwrap();
            assert_eq!(
                (Some(score.value), Some(cell.unit.as_str())),
                (test["value"].as_f64(), test["unit"].as_str())
            );
            assert_eq!(Some(u64::from(score.samples)), test["samples"].as_u64());
        }
        let order = |journal: &Journal| {
            journal.cells.iter().map(|cell| cell.key.test.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            order(journal),
            order(&published),
            "in the order of the file, which is the report's"
        );
    }
    // BYTE's own arithmetic: sums of unrounded indexes, and their ratio.
    let sums = journals
        .iter()
        .map(|run| index(&Results::new(run, catalogue(), None), "byte3").sum)
        .collect::<Vec<_>>();
    assert_eq!(
        (format!("{:.4}", sums[0]), format!("{:.4}", sums[1])),
        ("6.4829".to_owned(), "6.8917".to_owned())
    );
    assert_eq!(format!("{:.4}", sums[0] / sums[1]), "0.9407");
}

#[test]
fn a_table_of_other_runs() {
    let text = r#"{"run12": {"Exec Throughput": {"value": 1}, "Dhrystone 2 w/o register variables": {"value": 2, "unit": "lps"}},
        "x": {"run1": 5}, "run4": {"Arithmetic (type = arith)": {"value": 0, "unit": "lps"}, "New": {"value": 7, "more": []}}}"#;
    let journals = import("host-2026-01-02-01.json", text, catalogue()).unwrap();
    let tests: Vec<Vec<&str>> = journals
        .iter()
        .map(|journal| journal.cells.iter().map(|cell| cell.key.test.as_str()).collect())
        .collect();
    assert_eq!(tests, [["arithoh", "new"], ["execl", "dhry2"]]);
    assert_eq!(journals[0].run.comment, "run4");
    assert_eq!(
        (journals[0].run.host.as_str(), journals[0].run.started.as_str()),
        ("host", "2026-01-02T00:00:00Z")
    );
    assert_eq!(journals[1].cells[0].label, "Exec Throughput");
}

#[test]
fn a_table_of_runs_with_what_is_no_figure_is_refused() {
    let refused = |from: &str, to: &str| {
        assert!(PAIR.contains(from), "{from}");
        import("", &PAIR.replacen(from, to, 1), catalogue()).unwrap_err().to_string()
    };
    let value = r#""value": 5092.5"#;
    for (to, told) in [
        (
            r#""was": 1"#,
            "it has nothing as the value of 'System Call Overhead Test' in run2; every test needs",
        ),
        (
            r#""value": "fast""#,
            r#"it has "fast" as the value of 'System Call Overhead Test' in run2"#,
        ),
        (r#""value": NaN"#, r#"it has "NaN" as the value of 'System Call Overhead Test' in run2"#),
        (r#""value": null"#, "it has null as the value"),
        (r#""value": -5"#, "it has -5 as the value of 'System Call Overhead Test' in run2"),
        (r#""value": 1e300"#, "it has 1e+300 as the value of 'System Call Overhead Test' in run2"),
    ] {
        let found = refused(value, to);
        assert!(found.contains(told), "{to}: {found}");
    }
    for (text, told) in [
        (r#"{"run1": {}}"#, "it has no test in run1"),
        (r#"{"run1": 5}"#, "it has no test in run1"),
        (r#"{"run1": {"a": 5}}"#, "it has no object as the figures of 'a' in run1"),
        (r#"{"run1": {"a": {"value": 1, "unit": 5}}}"#, "it has 5 as the unit of 'a' in run1"),
        (
            r#"{"run1": {"a": {"value": 1, "seconds": -1}}}"#,
            "it has -1 as the seconds of 'a' in run1",
        ),
        (r#"{"run1": {"a": {"value": 1}}, "run1": {"a": {"value": 1}}}"#, "it has run1 twice"),
    ] {
        let found = import("", text, catalogue()).unwrap_err().to_string();
        assert!(found.contains(told), "{text}: {found}");
    }
}

/// The published passes as the log that UnixBench writes of them.
fn published() -> (String, serde_json::Value) {
    let vector: serde_json::Value = serde_json::from_str(PASSES).unwrap();
    let mut log = format!("{}\nProcess Creation -- 1 copy\n\n", "#".repeat(56));
    for (number, pass) in (1..).zip(vector["passes"].as_array().unwrap()) {
        let (count, elapsed) = (&pass["count"], &pass["elapsed"]);
        log.push_str(&format!(
            "#### Pass {number}\n\n# COUNT0: {count}\n# COUNT1: 1\n# COUNT2: lps\n"
        ));
        log.push_str(&format!("# elapsed: {elapsed}\n# pid: 1\n# status: 0\n\n"));
    }
    (log, vector["expected"].clone())
}

#[test]
fn published_score() {
    let (log, expected) = published();
    let (journal, results) = imported("", &log);
    assert_eq!(journal.trials.len(), 3, "the dropped pass is kept");
    let spawn = row(&results, "spawn", 1);
    assert_eq!(expected["score"], 8188.34084738901);
    assert!((spawn.score.value - 8_188.340_847_389_01).abs() < 1e-9, "{}", spawn.score.value);
    assert!((spawn.seconds - expected["time"].as_f64().unwrap()).abs() < 1e-9);
    assert_eq!(spawn.n as u64, expected["iterations"].as_u64().unwrap());
}

#[test]
fn log_of_two_levels() {
    let (journal, results) = imported("example-2026-01-02-01.log", LOG);
    assert_eq!(
        (journal.run.host.as_str(), journal.run.started.as_str()),
        ("example", "2026-01-02T00:00:00Z")
    );
    // Score, mean time and passes kept, computed apart from this code when the log was made up.
    let expected = [
        ("syscall", 1, 928_024.548_180_308, 10.003_085_333_333_3, 3),
        ("fstime", 1, 435_717.004_734_724, 30.0, 2),
        ("whetstone-double", 1, 3_033.273_584_115_02, 10.841, 2),
        ("shell1", 1, 3_177.339_379_055_75, 60.018_685, 2),
        ("syscall", 2, 1_855_996.046_139_56, 10.004_202_333_333_3, 3),
        ("fstime", 2, 868_884.182_991_612, 30.0, 2),
        ("whetstone-double", 2, 6_118.575_474_859_4, 11.051_75, 2),
        ("shell1", 2, 6_385.772_846_368_23, 60.038_260_75, 2),
    ];
    assert_eq!(results.figures.len(), expected.len());
    for (test, copies, score, seconds, kept) in expected {
        let row = row(&results, test, copies);
        assert!(
            (row.score.value / score - 1.0).abs() < 1e-12,
            "{test} {copies}: {}",
            row.score.value
        );
        assert!((row.seconds - seconds).abs() < 1e-9, "{test} {copies}: {}", row.seconds);
        assert_eq!(row.n, kept, "{test} {copies}");
    }
    assert!(
        journal.warnings.iter().all(|warning| warning.cell.is_none()),
        "{:?}",
        journal.warnings
    );
    assert_eq!(journal.trials.len(), 24);
}

#[test]
fn a_journal_survives_being_written() {
    for text in [REPORT, BYTE, LOG] {
        let (journal, _) = imported("a-2026-01-02-01.log", text);
        for record in journal.trials.iter().map(|trial| Record::Trial(Box::new(trial.clone()))) {
            let line = serde_json::to_string(&record).unwrap();
            assert!(
                matches!(Line::read(line.as_bytes()).unwrap(), Line::Known(read) if read == record)
            );
        }
    }
}

/// Every trial with a result, by test and copies, its score as it is printed.
fn measured(journal: &Journal) -> Vec<String> {
    let mut journal = journal.clone();
    for score in journal.trials.iter_mut().filter_map(|trial| trial.score.as_mut()) {
        score.value = rounded(score.value).parse().unwrap();
    }
    let usable = journal.trials.iter().filter(|trial| trial.error.is_none());
    let named = |cell: usize| {
        format!("{} {}", journal.cells[cell].key.test, journal.cells[cell].key.copies)
    };
    usable.map(|trial| format!("{} {trial:?}", named(trial.cell))).collect()
}

#[test]
fn a_cut_file_gives_what_it_has_and_says_so() {
    for whole in [REPORT, BYTE, LOG] {
        let all = measured(&imported("", whole).0);
        let line_ends = whole.match_indices('\n').map(|(at, _)| at);
        for cut in line_ends.flat_map(|at| [at.saturating_sub(3), at]) {
            let Ok(mut journals) = import("", &whole[..cut], catalogue()) else {
                continue;
            };
            let journal = journals.remove(0);
            let part = measured(&journal);
            assert_eq!(part, all[..part.len()], "cut at {cut}");
            let told = journal.warnings.iter().any(|warning| {
                ["no index of", "ends before", "not understood"]
                    .iter()
                    .any(|words| warning.text.contains(words))
            });
            let whole_block =
                whole[..cut].lines().rfind(|line| !line.is_empty()).is_some_and(ends_a_block);
            assert!(
                told || part.len() == all.len() || whole_block || !indexed(&journal),
                "cut at {cut}: {part:?}"
            );
        }
    }
}

/// Whether a report of these cells has an index at its end.
fn indexed(journal: &Journal) -> bool {
    let id = journal.run.indexes.first().map_or("system", String::as_str);
    journal
        .cells
        .iter()
        .any(|cell| catalogue().test(&cell.key.test).unwrap().baseline.contains_key(id))
}

/// Whether a log that ends here has all of what it began.
fn ends_a_block(line: &str) -> bool {
    line.starts_with(">>>>")
        || line.starts_with("####")
        || line.starts_with("==>")
        || line.contains(" -- ")
}

/// Imports a text that may be anything, and looks at what came of it.
fn survives(text: &str) {
    let catalogue = catalogue();
    match import("host-2026-01-02-01.log", text, catalogue) {
        Err(error) => assert!(error.to_string().starts_with("it "), "{error}"),
        Ok(journals) => journals.iter().for_each(|journal| {
            let results = Results::new(journal, catalogue, None);
            assert!(!results.figures.is_empty());
            assert!(
                results
                    .figures
                    .iter()
                    .all(|row| row.score.value.is_finite() && row.seconds.is_finite())
            );
            assert!(
                results
                    .indexes()
                    .iter()
                    .all(|index| index.score.value.is_finite() && index.sum.is_finite())
            );
            assert!(journal.cells.iter().enumerate().all(|(number, cell)| cell.id == number));
        }),
    }
}

#[test]
fn absurd_numbers_are_no_scores() {
    for absurd in
        ["nan", "inf", "-1", "1e999", "-0", "99999999999999999999", "0x10", "1_000", "٣", ""]
    {
        let text = REPORT.replacen("2465754.7", absurd, 1);
        let (journal, _) = imported("", &text);
        assert_eq!(journal.cells.len(), 11, "{absurd}");
        assert!(
            journal
                .warnings
                .iter()
                .any(|warning| warning.text.contains("line 15 is not understood")),
            "{absurd}"
        );
        survives(&LOG.replace("# elapsed: 1", &format!("# elapsed: {absurd}")));
    }
}

fn file() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just(REPORT), Just(BYTE), Just(LOG), Just(LBENCH), Just(PAIR)]
}

/// Words that are awkward where a number or a label is expected.
const AWKWARD: &[&str] = &[
    "nan",
    "1e999",
    "-1",
    "0",
    "999999999999999999999",
    "1e-300",
    "(",
    ")",
    ",",
    "--",
    "#",
    "---",
    "\u{0}",
    "é",
    "",
    "\n",
];

fn awkward() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(AWKWARD).prop_map(str::to_owned), ".{0,4}"]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn arbitrary_text(text in "(.|\\n){0,200}") {
        survives(&text);
    }

    #[test]
    fn arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn mutated_words(text in file(), words in proptest::collection::vec((any::<Place>(), awkward()), 1..20)) {
        let mut parts: Vec<String> = text.split_inclusive([' ', '\n']).map(str::to_owned).collect();
        for (place, word) in words {
            let place = place.index(parts.len());
            let end = parts[place].chars().last().unwrap();
            parts[place] = format!("{word}{end}");
        }
        survives(&parts.concat());
    }

    #[test]
    fn shuffled_lines(text in file(), keep in proptest::collection::vec(any::<Place>(), 1..80)) {
        let lines: Vec<&str> = text.lines().collect();
        survives(&keep.iter().map(|place| lines[place.index(lines.len())]).collect::<Vec<_>>().join("\n"));
    }

    #[test]
    fn cut_bytes(text in file(), from in any::<Place>(), to in any::<Place>()) {
        let (from, to) = (from.index(text.len()), to.index(text.len()));
        survives(&format!("{}{}", &text[..from], &text[to..]));
    }
}
