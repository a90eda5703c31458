//! The card: its text fits a forum's 80 columns, and its JSON fits docs/card.schema.json.

use analysis::{Before, Reference, Results};
use catalogue::Catalogue;
use journal::{Finding, Key, Severity, View};
use report::{Extent, Format, Layout, Subject};
use serde_json::Value;

fn recorded(run: &str) -> Results {
    Results::new(
        &journal::read(&testing::recorded(run)).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    )
}

/// The card of a recorded run: with rows under the names of the disk's tests, at 1000 operations a
/// second each, and wake-ups.
fn made(run: &str) -> Results {
    let mut card = recorded(run);
    card.run.view = View::Card;
    card.run.findings = findings();
    card.steal = Some(0.025);
    card.before = Some(Before {
        run: "vm-2026-11-28-01".to_owned(),
        seconds: 4.0 * 3600.0,
        ratio: 1.0 / 1.7,
        figures: 3,
    });
    card.references = vec![Reference {
        key: Key::plain("index.system", 1),
        label: "System Benchmarks Index Score".to_owned(),
        procedure: "imported".to_owned(),
        alike: false,
        of: 2,
        better_than: (1, 1),
        nearest: "old".to_owned(),
        entries: vec![("old".to_owned(), 10.0), ("new".to_owned(), 3000.0)],
    }];

    let mut row = card.figures[0].clone();
    row.cell.key.copies = 1;
    row.score = stats::Estimate { value: 1000.0, low: 900.0, high: 1100.0 };
    for name in ["disk-mix-4k:op=read", "disk-mix-4k:op=write", "disk-mix-4k", "disk-mix-1m"] {
        row.cell.key.test = name.to_owned();
        card.figures.push(row.clone());
    }
    let mut wake_up = recorded("latency").figures.into_iter().find(|row| row.latency.is_some());
    if let Some(row) = &mut wake_up {
        row.cell.key.test = "cyclic".to_owned();
    }
    card.figures.extend(wake_up);
    card
}

fn findings() -> Vec<Finding> {
    let finding = |severity, what: &str| Finding {
        severity,
        name: "cpu.governor".to_owned(),
        what: what.to_owned(),
        fix: "none".to_owned(),
    };
    vec![
        finding(Severity::Note, "a note"),
        finding(Severity::Disturbs, "the governor is powersave"),
    ]
}

fn card(format: Format) -> String {
    let layout = Layout { extent: Extent::Short, ..format.into() };
    report::render(Subject::Run(&made("years")), layout).unwrap()
}

#[test]
fn its_text_is_for_a_forum() {
    let text = card(Format::Text);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!("card_text", text);
    insta::assert_snapshot!("card_markdown", card(Format::Markdown));
}

/// By the fake meter of 40 W.
#[test]
fn power_is_on_it_where_it_is_known() {
    let scores = |run: &str| -> Vec<Value> {
        let json = report::render(Subject::Run(&made(run)), Format::Json).unwrap();
        let json: Value = serde_json::from_str(&json).unwrap();
        json["scores"].as_array().unwrap().clone()
    };
    let known = scores("energy");
    let power = known.last().unwrap();
    assert_eq!((&power["test"], &power["unit"]), (&"Power during the index".into(), &"W".into()));
    assert!((38.0..42.0).contains(&power["one"].as_f64().unwrap()), "{power}");
    assert!(!scores("index").iter().any(|score| score["unit"] == "W"));
}

/// User review of 2026-11, person 4: no page of a card had a chart.
#[test]
fn its_page_has_one_chart_and_no_long_list_of_facts() {
    let page = card(Format::Html);

    assert_eq!(page.matches("<figure").count(), 1, "{page}");
    assert!(page.contains("<title>What vm can do"), "{page}");
}

/// The whole of a card is the report of any run.
#[test]
fn its_whole_is_that_of_its_run() {
    let whole = report::render(Subject::Run(&made("years")), Format::Text).unwrap();

    assert!(whole.contains("System Benchmarks Index Values"), "{whole}");
}

#[test]
fn its_json_fits_the_schema() {
    let schema = std::fs::read_to_string(testing::file("docs/card.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let json: Value = serde_json::from_str(&card(Format::Json)).unwrap();
    assert_eq!(testing::complaint(&json, &schema), None);
    // By hand: 1000 blocks of 4096 bytes a second, half of them read.
    assert_eq!(json["disk"][0]["mixed_mb_s"], 4.096);
    assert_eq!(json["disk"][0]["mixed_read_mb_s"], 2.048);
    assert_eq!(json["disk"][3]["read_mb_s"], Value::Null, "what was not measured is not there");
    assert_eq!(json["scores"][0]["test"], "System index");
    // The check sees what is wrong.
    for (pointer, wrong) in
        [("/cpus", "two"), ("/disk/0/block", "8 KiB"), ("/format", "unixmark-card/0")]
    {
        let mut spoiled = json.clone();
        *spoiled.pointer_mut(pointer).unwrap() = wrong.into();
        assert!(testing::complaint(&spoiled, &schema).is_some(), "{pointer}");
    }
    let mut spoiled = json;
    spoiled.as_object_mut().unwrap().remove("verdict");
    assert!(testing::complaint(&spoiled, &schema).is_some());
}
