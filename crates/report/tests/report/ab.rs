//! Two commands that alternated, in every format: on a machine that other processes disturbed (the
//! second is slow at first, fails in one of 17 executions, and leaves a process then), with figures
//! that the commands print (`--harness`), with counts (`--counts`), and with eight builds of each
//! side, while other guests of the host slowed blocks of the run by up to a half.

use analysis::{Asked, Comparisons, Measure, Results};
use catalogue::Catalogue;
use report::{Format, Subject};

/// Medians of all executions in ms, of the first command and of the second.
const OLD: f64 = 13.725_356;
const NEW: f64 = 17.653_967;

fn results(run: &str) -> Results {
    let journal = journal::read(&testing::recorded(run)).unwrap();
    Results::new(&journal, &Catalogue::load().unwrap(), None)
}

fn report_of(run: &str, format: Format) -> String {
    report::render(Subject::Run(&results(run)), format).unwrap()
}

fn report(format: Format) -> String {
    report_of("ab", format)
}

fn json() -> serde_json::Value {
    serde_json::from_str(&report(Format::Json)).unwrap()
}

/// What the JSON report says of comparisons and executions, with one item of each list of values.
fn json_of_pairs(run: &str) -> String {
    let mut json: serde_json::Value = serde_json::from_str(&report_of(run, Format::Json)).unwrap();
    let json = json.as_object_mut().unwrap();
    json.retain(|key, _| {
        ["comparisons", "controls", "cost", "counts", "executions", "missing"]
            .contains(&key.as_str())
    });
    for list in json.values_mut().filter_map(serde_json::Value::as_array_mut) {
        for values in list.iter_mut().filter_map(serde_json::Value::as_object_mut) {
            for (_, value) in values.iter_mut() {
                if let Some(value) = value.as_array_mut() {
                    value.truncate(1);
                }
            }
        }
    }
    serde_json::to_string_pretty(json).unwrap()
}

#[test]
fn recorded_runs_of_ab_in_every_format() {
    for (run, name) in [
        ("ab", "ab"),
        ("ab-harness", "ab_harness"),
        ("ab-counts", "ab_counts"),
        ("ab-builds", "ab_builds"),
    ] {
        for (format, form) in [
            (Format::Text, "text"),
            (Format::Markdown, "markdown"),
            (Format::Csv, "csv"),
            (Format::GithubSmaller, "github"),
            (Format::Commit, "commit"),
        ] {
            insta::assert_snapshot!(format!("{name}_{form}"), report_of(run, format));
        }
        insta::assert_snapshot!(format!("{name}_json"), json_of_pairs(run));
    }
}

/// User review of 2026-11, persons 1 and 9: a dashboard would have shown a gain where the verdict
/// was a loss.
#[test]
fn one_value_per_arm_in_every_format() {
    let json = json();
    for (pointer, expected) in [
        ("/results/0/value", OLD),
        ("/results/1/value", NEW),
        ("/executions/0/wall_ms", OLD),
        ("/executions/1/wall_ms", NEW),
        ("/comparisons/0/a", OLD),
        ("/comparisons/0/b", NEW),
    ] {
        assert_eq!(json.pointer(pointer).unwrap(), expected, "{pointer}");
    }
    assert_eq!(json["executions"][1]["memory_mib"], json["comparisons"][2]["b"]);

    for (format, figures) in [
        (Format::Text, ["13.7", "17.7"]),
        (Format::Markdown, ["13.7", "17.7"]),
        (Format::Html, ["13.7", "17.7"]),
        (Format::Csv, ["13.725356", "17.653967"]),
        (Format::Bmf, ["13.725356", "17.653967"]),
        (Format::GithubSmaller, ["13.725356", "17.653967"]),
        (Format::Influx, ["13.725356", "17.653967"]),
        (Format::Openmetrics, ["0.013725356", "0.017653967"]),
        (Format::Commit, ["13.7", "17.7"]),
        (Format::Hyperfine, ["0.013725356", "0.017653967"]),
    ] {
        let text = report(format);
        for figure in figures {
            assert!(text.contains(figure), "{figure} in {format:?}:\n{text}");
        }
    }
}

/// User review of 2026-11, person 4: Whetstone was 9600 in the report and 8900 in `compare`.
#[test]
fn compare_shows_what_the_reports_of_the_runs_show() {
    let of = |run: &str| {
        let journal = journal::read(&testing::recorded(run)).unwrap();
        Results::new(&journal, &Catalogue::load().unwrap(), None)
    };
    let value = |results: &Results, key: &journal::Key| {
        results.figures.iter().find(|figure| figure.cell.key == *key).unwrap().score.value
    };
    let [a, b] = [of("index"), of("zen4")];
    let asked = Asked { threshold: 1.0, ..Asked::default() };

    let all = Comparisons::new(vec![a.clone(), b.clone()], &asked);

    assert!(!all.comparisons.is_empty());
    for one in all.comparisons.iter().filter(|one| one.measure == Measure::Score) {
        assert_eq!(one.a, value(&a, &one.cell.key), "{}", one.cell.label);
        assert_eq!(one.b, value(&b, &one.cell.key), "{}", one.cell.label);
    }
}

/// User review of 2026-11, the pages: "below 8.1 / %" and "longer -- / budget" were broken.
#[test]
fn no_line_of_a_page_ends_before_a_percent_or_within_an_option() {
    let page = report(Format::Html);

    assert!(page.contains("slower than old by 28.6\u{a0}% (17.9 to 42.3)"), "{page:.4000}");
    assert!(page.contains("<span class=\"whole\">--"), "{page}");
}

/// sharkdp/hyperfine#19, #108 and #729, which `ab` left out of its reports.
#[test]
fn what_was_noted_is_shown_in_every_format_at_the_right_command() {
    let notes = [
        "5 of 93 executions failed (exit status 3)",
        "processes outlived the command and were killed",
        "the first execution took",
    ];
    for format in [Format::Text, Format::Markdown, Format::Html, Format::Json, Format::Csv] {
        // Text wraps its lines.
        let text = report(format).split_whitespace().collect::<Vec<&str>>().join(" ");
        for note in notes {
            assert!(text.contains(note), "{note} in {format:?}:\n{text}");
        }
    }
    assert!(report(Format::GithubSmaller).contains(notes[0]));

    let json = json();
    let warnings = |row: usize| json["results"][row]["warnings"].to_string();
    for note in notes {
        assert!(!warnings(0).contains(note), "{note}");
        assert!(warnings(1).contains(note), "{note}");
    }
}
