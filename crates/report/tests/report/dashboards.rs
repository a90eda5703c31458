//! Formats of dashboards and CI: every figure of JSON, with its interval and its direction, as
//! their own readers read it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use analysis::{Asked, Comparisons, Design, Results};
use catalogue::Catalogue;
use report::{Format, Subject};
use serde_json::Value;

fn results(run: &str) -> Results {
    Results::new(
        &journal::read(&testing::recorded(run)).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    )
}

/// A subject in a format; why not, if it has no place there.
fn rendered(subject: Subject<'_>, format: Format) -> String {
    report::render(subject, format).unwrap_or_else(|refusal| refusal.to_string())
}

fn report(run: &str, format: Format) -> String {
    rendered(Subject::Run(&results(run)), format)
}

/// A recorded run and a later one that is twice as fast at everything.
fn comparison(run: &str) -> Comparisons {
    let before = journal::read(&testing::recorded(run)).unwrap();
    let mut after = before.clone();
    after.run.name.push_str("-again");
    after.cells.iter_mut().for_each(|cell| cell.scale *= 2.0);
    let catalogue = Catalogue::load().unwrap();
    let asked = Asked { design: Design::Apart, threshold: 1.0, conditions: None };
    Comparisons::new(
        [before, after].iter().map(|one| Results::new(one, &catalogue, None)).collect(),
        &asked,
    )
}

fn compared(run: &str, format: Format) -> String {
    rendered(Subject::Comparison(&comparison(run), None), format)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The numbers that programs find under a key; the second arm of a reference is none.
fn numbers(json: &Value, table: &str, key: &str) -> Vec<Value> {
    let rows = json[table].as_array().cloned().unwrap_or_default();
    rows.into_iter().filter(|row| row[key].is_number() && row["control"] != true).collect()
}

/// Each subject's JSON and the same in `format`.
fn subjects(format: Format) -> Vec<(String, Value, String)> {
    let runs = ["index", "latency", "graphics", "cost", "scaling"];
    let runs =
        runs.map(|run| (run.to_owned(), parsed(&report(run, Format::Json)), report(run, format)));
    let both = ["index", "latency", "cost", "energy"];
    let both = both.map(|run| {
        (format!("{run} compared"), parsed(&compared(run, Format::Json)), compared(run, format))
    });
    runs.into_iter().chain(both).collect()
}

/// The figures and the changes of JSON: each row with its value, its ends, and whether it is a
/// change.
fn rows(json: &Value) -> Vec<(Value, f64, [Value; 2], bool)> {
    let of = |table, key: &str, is_change| {
        let row = move |row: Value| {
            (
                row.clone(),
                row[key].as_f64().unwrap(),
                [&row["low"], &row["high"]].map(Clone::clone),
                is_change,
            )
        };
        numbers(json, table, key).into_iter().map(row).collect::<Vec<_>>()
    };
    [of("results", "value", false), of("comparisons", "delta", true)].concat()
}

/// What a Python script makes of a text.
fn python(place: &Path, script: &str, text: &str) -> String {
    let mut python = Command::new(place.join("bin/python"));
    let mut child =
        python.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{text}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bencher_has_each_figure_and_each_change() {
    for (subject, json, text) in subjects(Format::Bmf) {
        let rows = rows(&json);
        let all = parsed(&text);
        let metrics: Vec<(&String, &Value)> =
            all.as_object().unwrap().values().flat_map(|test| test.as_object().unwrap()).collect();
        assert_eq!(metrics.len(), rows.len(), "{subject}");
        for (row, value, [low, high], is_change) in rows {
            let measure = if is_change { "delta" } else { row["unit"].as_str().unwrap() };
            let own = |(name, metric): &&(&String, &Value)| {
                *name == measure && metric["value"].as_f64() == Some(value)
            };
            let (_, metric) =
                metrics.iter().find(own).unwrap_or_else(|| panic!("{subject}: {row}"));
            let ends = [low, high].iter().all(Value::is_number);
            assert_eq!(metric.get("lower_value").is_some(), ends, "{subject}: {metric}");
            let known = ["value", "lower_value", "upper_value"];
            assert!(
                metric
                    .as_object()
                    .unwrap()
                    .iter()
                    .all(|(key, value)| known.contains(&key.as_str()) && value.is_number())
            );
        }
    }
}

#[test]
fn energy_is_a_figure_where_it_was_read() {
    let json = parsed(&report("energy", Format::Json));
    let bencher = parsed(&report("energy", Format::Bmf));
    let metrics = report("energy", Format::Openmetrics);
    let rows = numbers(&json, "results", "watts");
    assert!(!rows.is_empty());
    for row in &rows {
        let name = |measure: &str| {
            let copies = row["copies"].as_u64().filter(|copies| *copies > 1);
            format!(
                "{} {measure}{}",
                row["test"].as_str().unwrap(),
                copies.map_or(String::new(), |many| format!(" x{many}"))
            )
        };
        assert_eq!(bencher[name("power")]["W"]["value"], row["watts"], "{bencher}");
        assert_eq!(bencher[name("power")]["W"]["upper_value"], row["watts_high"], "{bencher}");
        assert_eq!(bencher[name("energy")]["J"]["value"], row["joules_per_operation"], "{bencher}");
        assert!(metrics.contains(&format!(" {}\n", row["watts"])), "{metrics}");
    }
    let count = |start: &str| metrics.lines().filter(|line| line.starts_with(start)).count();
    let known = numbers(&json, "results", "joules_per_operation").len();
    assert_eq!(
        (count("unixmark_figure_watts{"), count("unixmark_figure_joules{")),
        (rows.len(), known),
        "{metrics}"
    );
    assert!(!report("index", Format::Openmetrics).contains("watts"));
}

/// The entries of a feed of GitHub's; none of one that is refused because all are in the other.
fn entries(text: &str) -> Vec<Value> {
    if text.contains("is better for all figures") {
        return Vec::new();
    }
    parsed(text).as_array().unwrap().clone()
}

#[test]
fn github_without_a_figure_of_its_direction_names_the_other() {
    for (run, format, advice) in [
        (
            "index",
            Format::GithubSmaller,
            "higher is better for all figures of this report; try --format github-bigger",
        ),
        (
            "ab",
            Format::GithubBigger,
            "lower is better for all figures of this report; try --format github-smaller",
        ),
    ] {
        let refused = report::render(Subject::Run(&results(run)), format).unwrap_err().to_string();

        assert_eq!(refused, advice);
    }
}

#[test]
fn github_without_any_direction_asks_for_it() {
    let mut journal = journal::read(&testing::recorded("index")).unwrap();
    journal.cells.iter_mut().for_each(|cell| cell.metric = catalogue::Metric::Unknown);
    let results = Results::new(&journal, &Catalogue::load().unwrap(), None);

    for format in [Format::GithubSmaller, Format::GithubBigger] {
        let refused = report::render(Subject::Run(&results), format).unwrap_err().to_string();

        assert!(
            refused.starts_with("it is not known whether higher or lower is better for"),
            "{refused}"
        );
        assert!(refused.contains("try --better higher:"), "{refused}");
    }
}

/// Its two tools take what is better when larger and what is better when smaller, which are all.
#[test]
fn github_has_each_figure_on_its_side() {
    for ((subject, json, bigger), (_, _, smaller)) in
        subjects(Format::GithubBigger).into_iter().zip(subjects(Format::GithubSmaller))
    {
        let sides = [&bigger, &smaller].map(|text| entries(text));
        let rows = rows(&json);
        assert_eq!(sides[0].len() + sides[1].len(), rows.len(), "{subject}");
        let names: std::collections::BTreeSet<&str> =
            sides.iter().flatten().map(|entry| entry["name"].as_str().unwrap()).collect();
        assert_eq!(names.len(), rows.len(), "{subject}: a name twice");
        for (row, value, _, is_change) in rows {
            let lower = row["lower_is_better"]
                .as_bool()
                .unwrap_or_else(|| ["time", "latency"].contains(&row["metric"].as_str().unwrap()));
            let own = |entry: &&Value| {
                entry["value"].as_f64() == Some(value)
                    && is_change == entry["name"].as_str().unwrap().ends_with(": delta")
            };
            assert!(sides[usize::from(lower)].iter().any(|entry| own(&entry)), "{subject}: {row}");
        }
    }
}

/// prometheus_client's parsers are Prometheus' own in Python: of OpenMetrics, and of what
/// node_exporter reads.
#[test]
#[ignore = "needs Python packages"]
fn prometheus_reads_each_figure() {
    let Some(place) = testing::python_or_skip("prometheus_client==0.23.1") else { return };
    let reader = "import sys, json
from prometheus_client.openmetrics.parser import text_string_to_metric_families as strict
from prometheus_client.parser import text_string_to_metric_families as plain
text = sys.stdin.read()
of = lambda read: [[m.name, m.unit, m.type, m.documentation, s.labels, s.value] for m in read(text) for s in m.samples]
print(json.dumps([of(strict), of(plain)]))";
    for (subject, json, text) in subjects(Format::Openmetrics) {
        let read = parsed(&python(&place, reader, &text));
        let samples = read[0].as_array().unwrap();
        assert_eq!(samples.len(), read[1].as_array().unwrap().len(), "{subject}");
        let rows = rows(&json);
        let expected: usize = rows
            .iter()
            .map(|(_, _, ends, _)| if ends.iter().all(Value::is_number) { 3 } else { 1 })
            .sum();
        assert_eq!(samples.len(), expected, "{subject}");
        for (row, value, _, is_change) in rows {
            let stem = if is_change { "unixmark_delta" } else { "unixmark_figure" };
            let own = |sample: &&Value| {
                let (name, unit, labels) =
                    (sample[0].as_str().unwrap(), sample[1].as_str().unwrap(), &sample[4]);
                let measure = row["measure"].as_str().unwrap_or("score");
                name == format!("{stem}_{unit}")
                    && ["test", "load", "condition"].iter().all(|axis| labels[axis] == row[axis])
                    && labels["copies"].as_str() == Some(row["copies"].to_string().as_str())
                    && labels["measure"].as_str().unwrap_or("score") == measure
            };
            let found: Vec<&Value> = samples.iter().filter(own).collect();
            let [sample] = found[..] else { panic!("{subject}: {row}: {found:?}") };
            let factor = match (is_change, row["unit"].as_str().unwrap()) {
                (true, _) => 1e-2,
                (_, "ns") => 1e-9,
                (_, "ms") => 1e-3,
                _ => 1.0,
            };
            assert!(
                (sample[5].as_f64().unwrap() / factor - value).abs() <= value.abs() * 1e-12,
                "{subject}: {row}: {sample}"
            );
            assert!(sample[2] == "gauge" && !sample[3].as_str().unwrap().is_empty(), "{sample}");
        }
    }
}

/// The name, the tags and the fields of a line, split where the protocol splits it.
fn influx_line(line: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => parts.last_mut().unwrap().extend(letters.next()),
            ',' | ' ' => parts.push(String::new()),
            letter => parts.last_mut().unwrap().push(letter),
        }
    }
    parts
}

#[test]
fn influx_has_each_figure_and_each_change() {
    for (subject, json, text) in subjects(Format::Influx) {
        let lines: Vec<Vec<String>> = text.lines().map(influx_line).collect();
        let rows = rows(&json);
        assert_eq!(lines.len(), rows.len(), "{subject}");
        for (row, value, [low, high], is_change) in rows {
            let name = if is_change { "unixmark_delta" } else { "unixmark_figure" };
            let tags = ["test", "load", "condition"]
                .map(|axis| format!("{axis}={}", row[axis].as_str().unwrap()));
            let mut parts = vec![
                name.to_owned(),
                format!("value={value}"),
                format!("copies={}", row["copies"]),
            ];
            parts.extend(tags);
            if let (Some(low), Some(high)) = (low.as_f64(), high.as_f64()) {
                parts.extend([format!("low={low}"), format!("high={high}")]);
            }
            let own = lines.iter().filter(|line| parts.iter().all(|part| line.contains(part)));
            assert_eq!(own.count(), 1, "{subject}: {parts:?} in {text}");
        }
        assert!(
            lines.iter().all(|line| line.last().unwrap().parse::<i64>().is_ok()),
            "{subject}: {text}"
        );
    }
}

#[test]
fn what_has_no_figures_says_so() {
    for format in [
        Format::Bmf,
        Format::GithubBigger,
        Format::GithubSmaller,
        Format::Influx,
        Format::Openmetrics,
    ] {
        let refused = report::render(Subject::Doctor(&[]), format).unwrap_err().to_string();
        assert!(refused.contains("no figure"), "{refused}");
    }
}

#[test]
fn a_run_about_cost() {
    for (name, format) in [
        ("bmf", Format::Bmf),
        ("github_smaller", Format::GithubSmaller),
        ("openmetrics", Format::Openmetrics),
    ] {
        insta::assert_snapshot!(format!("cost_{name}"), report("cost", format));
    }
}
