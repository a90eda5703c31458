//! Every subject in every format: it is rendered, and what reads that format reads it.

use analysis::{Asked, Comparisons, Design, Results, Summary, Trend};
use catalogue::Catalogue;
use journal::{Finding, Journal, Severity};
use report::Format;

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
    report::comparison(&all, Some(&all.gate(5.0, None)), format).unwrap()
}

fn trend(format: Format) -> String {
    let catalogue = Catalogue::load().unwrap();
    let summaries = two("index").map(|journal| Summary::new(&journal, &catalogue, 0));
    report::trend(&Trend::new("pipe", &summaries), format).unwrap()
}

fn doctor(format: Format) -> String {
    let finding = |severity, what: &str| Finding {
        severity,
        name: "cpu.governor".to_owned(),
        what: what.to_owned(),
        fix: "echo performance > \"/sys/…\", or none".to_owned(),
    };
    let long = "the governor <powersave> keeps the clock | low, so that figures scatter. ".repeat(3);
    let findings = [Severity::Spoils, Severity::Disturbs, Severity::Note].map(|severity| finding(severity, &long));
    report::doctor(&findings, format).unwrap()
}

/// What reads the format reads it, and `words` are in it.
fn check(subject: &str, format: Format, text: &str, words: &str) {
    let what = format!("{subject} as {format:?}");
    assert!(text.contains(words), "{what}: no {words}:\n{text:.2000}");
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
            assert!(format.starts_with("unixmark-") && format.contains(char::is_numeric), "{what}: {format}");
        }
        Format::Csv => {
            // The reader refuses lines of unequal length.
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            let heads = reader.headers().unwrap().clone();
            let distinct: std::collections::BTreeSet<&str> = heads.iter().collect();
            assert!(heads.len() > 1 && distinct.len() == heads.len() && !distinct.contains(""), "{what}: {heads:?}");
            let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
            assert!(!rows.is_empty() && rows.iter().all(|row| row.iter().any(|field| !field.is_empty())), "{what}");
        }
        Format::Markdown => markdown(&what, text),
    }
}

/// Rows have as many fields as their heading, and no heading is without content.
fn markdown(what: &str, text: &str) {
    let fields = |line: &str| line.replace("\\\\", "").replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = text.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair[0].starts_with('|') && pair[1].starts_with('|')) {
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
    let runs = ["index", "classic", "latency", "scaling", "cost", "cooling", "cooling-vm", "memory", "graphics"];
    for (format, _) in Format::FILES {
        for run in runs {
            let results = results(&journal(run));
            let label = match results.rows.first() {
                Some(row) => row.cell.label.clone(),
                // Programs know a burn-in by its test.
                None => results.burnin().unwrap().verdict.split(':').next().unwrap().to_owned(),
            };
            let text = report::report(&results, format).unwrap();
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
