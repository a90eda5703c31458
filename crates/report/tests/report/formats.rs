//! Every subject in every format: it is rendered, and what reads that format reads it.

use analysis::{Asked, Comparisons, Design, Results, Summary, Trend};
use catalogue::Catalogue;
use journal::{Finding, Journal, Severity};
use report::{Format, Layout, Subject};

use crate::html::fleet;

fn journal(run: &str) -> Journal {
    journal::read(&testing::recorded(run)).unwrap()
}

fn results(journal: &Journal) -> Results {
    Results::new(journal, &Catalogue::load().unwrap(), None)
}

/// The recorded run and a later one, twice as fast.
fn two(run: &str) -> [Journal; 2] {
    let (before, mut after) = (journal(run), journal(run));
    after.run.name.push_str("-again");
    after.cells.iter_mut().for_each(|cell| cell.scale *= 2.0);
    [before, after]
}

fn comparison(run: &str, format: Format) -> String {
    let asked = Asked { design: Design::Apart, threshold: 1.0, conditions: None };
    let all = Comparisons::new(two(run).iter().map(results).collect(), &asked);
    report::render(Subject::Comparison(&all, Some(&all.gate(5.0, None))), format).unwrap()
}

fn trend(format: Format) -> String {
    let catalogue = Catalogue::load().unwrap();
    let summaries = two("index").map(|journal| Summary::new(&journal, &catalogue, 0));
    report::render(Subject::Trend(&Trend::new("pipe", &summaries)), format).unwrap()
}

fn doctor(format: Format) -> String {
    let finding = |severity, what: &str| Finding {
        severity,
        name: "cpu.governor".to_owned(),
        what: what.to_owned(),
        fix: "echo performance > \"/sys/…\", or none".to_owned(),
    };
    let long =
        "the governor <powersave> keeps the clock | low, so that figures scatter. ".repeat(3);
    let findings = [Severity::Spoils, Severity::Disturbs, Severity::Note]
        .map(|severity| finding(severity, &long));
    report::render(Subject::Doctor(&findings), format).unwrap()
}

/// What reads the format reads it, and `words` are in it.
fn check(subject: &str, format: Format, text: &str, words: &str) {
    let what = format!("{subject} as {format:?}");
    let plain = text.replace('\u{a0}', " ");
    assert!(plain.contains(words), "{what}: no {words}:\n{text:.2000}");
    assert!(text.ends_with('\n') && !text.contains("NaN"), "{what}");
    match format {
        Format::Text => {
            for line in text.lines() {
                assert!(line.chars().count() <= 80 && line == line.trim_end(), "{what}: {line:?}");
            }
        }
        Format::Html => testing::page::check(text),
        Format::Json => {
            let json: serde_json::Value = serde_json::from_str(text).unwrap();
            let format = json["format"].as_str().unwrap();
            assert!(
                format.starts_with("unixmark-") && format.contains(char::is_numeric),
                "{what}: {format}"
            );
        }
        Format::Csv => {
            // The reader refuses lines of unequal length.
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let heads = reader.headers().unwrap().clone();
            let distinct: std::collections::BTreeSet<&str> = heads.iter().collect();
            assert!(
                heads.len() > 1 && distinct.len() == heads.len() && !distinct.contains(""),
                "{what}: {heads:?}"
            );
            let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            assert!(
                !rows.is_empty()
                    && rows.iter().all(|row| row.iter().any(|field| !field.is_empty())),
                "{what}"
            );
        }
        Format::Markdown => markdown(&what, text),
        // Not of every subject: see dashboards.rs, commit.rs and junit.rs.
        _ => {}
    }
}

/// Rows have as many fields as their heading, and no heading is without content.
fn markdown(what: &str, text: &str) {
    let fields = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[0].starts_with('|') && pair[1].starts_with('|'))
    {
        assert_eq!(fields(pair[0]), fields(pair[1]), "{what}: {pair:?}");
    }
    let full: Vec<&str> = lines.iter().copied().filter(|line| !line.is_empty()).collect();
    for pair in full.windows(2) {
        assert!(!(pair[0].starts_with("## ") && pair[1].starts_with("## ")), "{what}: {pair:?}");
    }
    assert!(full.last().is_some_and(|line| !line.starts_with('#')), "{what}");
}

#[test]
fn every_subject_in_every_format() {
    let runs = [
        "index",
        "classic",
        "latency",
        "scaling",
        "cost",
        "cooling",
        "cooling-vm",
        "memory",
        "graphics",
    ];
    for (format, _) in Format::FILES {
        for run in runs {
            let results = results(&journal(run));
            let label = match results.figures.first() {
                Some(row) => row.cell.label.clone(),
                // Programs know a burn-in by its test.
                None => results.burnin().unwrap().verdict.split(':').next().unwrap().to_owned(),
            };
            let text = report::render(Subject::Run(&results), format).unwrap();
            check(run, format, &text, if format == Format::Text { "" } else { &label });
        }
        for run in ["index", "latency", "cost"] {
            check(&format!("a comparison of {run}"), format, &comparison(run, format), "");
        }
        let word = if format == Format::Csv { "node0005" } else { "never started" };
        check("a fleet", format, &fleet::rendered(&fleet::names(12), &[(5, 0.8)], 2, format), word);
        check("a trend", format, &trend(format), "-again");
        check("doctor", format, &doctor(format), "cpu.governor");
    }
}

/// Terminals with few columns and without UTF-8 get every figure that others get.
#[test]
fn narrow_terminals_and_those_without_utf8_can_show_it() {
    for run in ["index", "latency", "scaling", "cost", "cooling", "memory", "graphics"] {
        let results = results(&journal(run));
        let text = |room, ascii| {
            report::render(
                Subject::Run(&results),
                Layout { room, ascii, ..Layout::from(Format::Text) },
            )
            .unwrap()
        };
        let plain = text(80, true);
        assert!(plain.is_ascii(), "{run}: {:?}", plain.chars().find(|c| !c.is_ascii()));
        for room in [80, 60, 40] {
            for line in text(room, false).lines().chain(text(room, true).lines()) {
                assert!(line.chars().count() <= room, "{run} in {room}: {line:?}");
            }
        }
        let figures = |text: &str| {
            let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            // Bars and rules have the width of the page.
            words.retain(|word| {
                word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('.')
            });
            words.sort();
            words.dedup();
            words
        };
        let (wide, narrow) = (figures(&text(80, false)), figures(&text(60, false)));
        let lost: Vec<&String> = wide.iter().filter(|word| !narrow.contains(word)).collect();
        // Long words are broken.
        assert!(lost.len() * 20 < wide.len(), "{run}: {lost:?}");
    }
}

/// Footnotes that have no room beside their rows share lines below the table.
#[test]
fn footnotes_without_room_share_a_line() {
    let mut results = results(&journal("index"));
    let remark =
        |number: u64| analysis::Remark::SomeRounds { rounds: 1, of: 2, reason: number.to_string() };
    let remarks: Vec<analysis::Remark> = (0..12).map(remark).collect();
    for row in &mut results.figures {
        row.warnings.clone_from(&remarks);
    }
    let text = report::render(Subject::Run(&results), Format::Text).unwrap();
    let alone = |line: &str| {
        line.trim_start().starts_with("[1,2,3") && !line.contains(|c: char| c.is_alphabetic())
    };
    assert!(!text.lines().any(alone), "{text}");
    let marks = "[1,2,3,4,5,6,7,8,9,10,11,12] ";
    assert_eq!(
        text.matches(marks).count(),
        results.levels().len(),
        "a line for each level: {text}"
    );
    let line = text.lines().find(|line| line.starts_with(marks)).unwrap();
    assert!(line.contains("Pipe Throughput, Process"), "{line}");
}

/// What names a baseline is as long as it likes.
#[test]
fn a_long_heading_has_a_line_of_its_own() {
    let catalogue = Catalogue::load().unwrap();
    let name = "imported-2018-06-25-01-of-a-long-name".to_owned();
    let baseline =
        journal::Baseline { name: name.clone(), ..results(&journal("index")).as_baseline() };
    let text = report::render(
        Subject::Run(&Results::new(&journal("index"), &catalogue, Some(&baseline))),
        Format::Text,
    )
    .unwrap();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let flat = testing::flat(&text);
    assert!(
        flat.contains(&format!("against {name} Partial Index BASELINE RESULT INDEX")),
        "{text}"
    );
}
