//! The answer for programs: `--format brief` and JSON without samples, against the schema in docs/.

use analysis::Results;
use catalogue::Catalogue;
use report::{Ending, Extent, Format, Layout, Subject};
use serde_json::Value;
use testing::complaint_of;

const RUNS: [&str; 8] =
    ["ab", "index", "classic", "cost", "latency", "scaling", "energy", "graphics"];

fn results(run: &str) -> Results {
    let journal = journal::read(&testing::recorded(run)).unwrap();
    Results::new(&journal, &Catalogue::load().unwrap(), None)
}

fn brief(results: &Results, ending: Ending<'_>) -> Value {
    let text = report::brief(results, ending).unwrap();
    assert!(text.len() <= 1001, "{} bytes: {text}", text.len());
    serde_json::from_str(&text).unwrap()
}

fn json(results: &Results, has_details: bool) -> String {
    let layout = Layout { has_details, ..Layout::from(Format::Json) };
    report::render(Subject::Run(results), layout).unwrap()
}

fn schema() -> Value {
    let text = std::fs::read_to_string(testing::file("docs/report.schema.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn both_forms_fit_the_schema() {
    let schema = schema();
    for run in RUNS {
        let results = results(run);

        let brief = brief(&results, Ending::default());
        let [short, whole] =
            [false, true].map(|details| serde_json::from_str(&json(&results, details)).unwrap());

        assert_eq!(complaint_of(&brief, &schema, "brief"), None, "{run}");
        assert_eq!(complaint_of(&short, &schema, "report"), None, "{run}");
        assert_eq!(complaint_of(&whole, &schema, "report"), None, "{run}");
    }
}

#[test]
fn the_schema_sees_what_is_wrong() {
    let schema = schema();
    let right = brief(&results("ab"), Ending::default());

    for (key, wrong) in
        [("verdict", Value::from("slow")), ("status", Value::from(-1)), ("more", Value::Null)]
    {
        let mut spoiled = right.clone();
        spoiled[key] = wrong;
        assert!(complaint_of(&spoiled, &schema, "brief").is_some(), "{key}");
    }
}

#[test]
fn the_brief_form_has_the_answer_the_status_and_the_place() {
    let ending = Ending {
        path: Some(std::path::Path::new("/runs/vm-01")),
        status: Some(1),
        reason: "time: 28.6 % slower under new",
    };

    let brief = brief(&results("ab"), ending);

    assert_eq!((&brief["of"], &brief["test"]), (&"new".into(), &"time".into()));
    assert_eq!((&brief["verdict"], &brief["unit"]), (&"slower".into(), &"%".into()));
    assert!(brief["low"].as_f64().unwrap() > 0.0, "of times, + is slower: {brief}");
    assert_eq!((&brief["status"], &brief["path"]), (&1.into(), &"/runs/vm-01".into()));
    assert_eq!(brief["reason"], ending.reason);
    assert!(brief["sentence"].as_str().unwrap().starts_with("new is slower than old by"));
}

/// Of many comparisons the gravest speaks, and the others are left out from the end.
#[test]
fn the_gravest_comparison_speaks() {
    let brief = brief(&results("cost"), Ending::default());

    assert_eq!(brief["verdict"], "slower");
    assert_eq!(brief["others_left_out"], true);
}

#[test]
fn what_measured_nothing_failed() {
    let mut results = results("ab");
    results.figures.clear();
    results.findings = analysis::Findings::default();

    let brief = brief(&results, Ending { status: Some(3), ..Ending::default() });
    let json: Value = serde_json::from_str(&json(&results, false)).unwrap();

    assert_eq!((&brief["verdict"], &brief["status"]), (&"failed".into(), &3.into()));
    assert_eq!(json["end"], "failed");
}

#[test]
fn json_of_two_commands_is_short_without_samples() {
    let results = results("ab");

    let [short, whole] = [json(&results, false), json(&results, true)];

    assert!(short.len() < 10_000, "{} bytes", short.len());
    for key in ["\"samples\"", "\"pairs\"", "\"facts\"", "\"controls\""] {
        assert!(!short.contains(key), "{key}");
        assert!(whole.contains(key), "{key}");
    }
}

fn short(run: &str) -> String {
    let layout = Layout { extent: Extent::Short, ..Layout::from(Format::Text) };
    report::render(Subject::Run(&results(run)), layout).unwrap()
}

#[test]
fn short_reports() {
    insta::assert_snapshot!("ab_short", short("ab"));
    insta::assert_snapshot!("cost_short", short("cost"));
    insta::assert_snapshot!("latency_short", short("latency"));
}

#[test]
fn a_short_report_of_two_commands_fits_a_small_terminal() {
    let text = short("ab");

    assert!(text.lines().count() <= 14, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for of_the_tool in ["cc (", "Mitigations", "procedure"] {
        assert!(!text.contains(of_the_tool), "{of_the_tool}: {text}");
    }
}

#[test]
fn the_answer_alone_is_the_sentence() {
    let layout = Layout { extent: Extent::Answer, ..Layout::from(Format::Text) };

    let text = report::render(Subject::Run(&results("ab")), layout).unwrap();

    assert!(text.starts_with("new is slower than old by 28.6 %"), "{text}");
    assert_eq!(text.trim().lines().count(), 3, "{text}");
}
