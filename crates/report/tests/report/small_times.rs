//! Times that would be "0.0000 s", such as pytest-benchmark's 2.2e-5 s and
//! JMH's 1.2e-7 s/op.

use analysis::{Asked, Comparisons, Results, Sorted};
use catalogue::{Catalogue, Metric};
use journal::{Cell, Journal, Key, Procedure, Run, Score, Trial};
use report::{Format, Subject};
use serde_json::Value;

/// An imported run of one test with a figure in a unit.
fn results(value: f64, unit: &str) -> Results {
    let cell = Cell {
        key: Key::plain("parse", 1),
        label: "parse".to_owned(),
        metric: Metric::Time,
        unit: unit.to_owned(),
        scale: 1.0,
        ..Cell::default()
    };
    let score = Score { value, ends: Some([value * 0.9, value * 1.1]), ..Score::default() };
    let journal = Journal {
        run: Run { procedure: Procedure::Imported, ..Run::default() },
        cells: vec![cell],
        trials: vec![Trial { score: Some(score), ..Trial::default() }],
        ..Journal::default()
    };
    Results::new(&journal, &Catalogue::load().unwrap(), None)
}

const CASES: [(f64, &str, &str, &str); 7] = [
    // value, unit, value and unit as people read them
    (2.2e-5, "s", "22.0", "µs"),
    (1.2e-7, "s/op", "120", "ns/op"),
    (4.2e-3, "s", "4.2", "ms"),
    (0.0031, "ms", "3.1", "µs"),
    (3e-14, "s", "0.03", "ps"),
    (0.5, "s", "0.5", "s"),
    // No unit of time: the figures stay.
    (2.2e-5, "MB/op", "0.000022", "MB/op"),
];

#[test]
fn imports_26_small_times_have_a_unit_in_which_they_have_figures() {
    for (value, unit, shown, shown_unit) in CASES {
        let results = results(value, unit);
        let subject = Subject::Run(&results);

        let text = report::render(subject, Format::Text).unwrap();
        let line = text.lines().find(|line| line.starts_with("parse ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(words[1].starts_with(shown), "{value} {unit}: {line}");
        assert_eq!(words[2], shown_unit, "{line}");

        let markdown = report::render(subject, Format::Markdown).unwrap();
        let line = markdown.lines().find(|line| line.starts_with("| parse ")).unwrap();
        assert!(line.starts_with(&format!("| parse | {shown}")), "{line}");
        assert!(line.contains(&format!("| {shown_unit} |")), "{line}");

        let html = report::render(subject, Format::Html).unwrap();
        assert!(html.contains(&format!(">{shown_unit}</td>")), "{value} {unit}");

        // Programs have the unit of the file.
        let json: Value =
            serde_json::from_str(&report::render(subject, Format::Json).unwrap()).unwrap();
        assert_eq!(json["results"][0]["value"], value);
        assert_eq!(json["results"][0]["unit"], unit);
    }
}

#[test]
fn imports_26_both_sides_of_a_comparison_have_the_unit_that_suits_the_larger() {
    for (value, unit, shown, shown_unit) in CASES {
        let runs = vec![results(value * 0.4, unit), results(value, unit)];
        let all = Comparisons::new(runs, &Asked { threshold: 1.0, ..Asked::default() });

        let text = report::render(Subject::Comparison(&all, None), Format::Text).unwrap();
        let line = text.lines().find(|line| line.starts_with("parse, ")).unwrap();
        assert!(line.starts_with(&format!("parse, {shown_unit} ")), "{value} {unit}: {line}");
        let is_time = unit != "MB/op";
        assert!(!is_time || line.contains(&format!(" {shown}")), "{line}");

        let systems = Subject::Systems(&all, Sorted::AsMeasured);
        let text = report::render(systems, Format::Text).unwrap();
        let title = format!("parse, {shown_unit} ");
        assert!(text.lines().any(|line| line.starts_with(&title)), "{title}: {text}");

        let json = report::render(Subject::Comparison(&all, None), Format::Json).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["comparisons"][0]["b"], value);
        assert_eq!(json["comparisons"][0]["unit"], unit);
    }
}
