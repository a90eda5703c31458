//! Reports of a recorded run, compared with what they were. After a wanted change:
//! `INSTA_UPDATE=always cargo test -p unixmark-report golden`, and read the diff.

use analysis::Results;
use catalogue::Catalogue;
use report::{Format, Subject};

fn report(run: &str, format: Format) -> String {
    let results = Results::new(
        &journal::read(&testing::recorded(run)).unwrap(),
        &Catalogue::load().unwrap(),
        None,
    );
    report::render(Subject::Run(&results), format).unwrap()
}

/// The JSON report without facts, with one item of what is recorded per trial, second or worst
/// frame.
fn short_json(run: &str) -> String {
    let mut json: serde_json::Value = serde_json::from_str(&report(run, Format::Json)).unwrap();
    let object = json.as_object_mut().unwrap();
    object.remove("facts").unwrap();
    object.remove("fact_table").unwrap();
    for row in json["results"].as_array_mut().unwrap() {
        for key in ["samples", "over_time", "worst", "trials"] {
            if let Some(list) = row.get_mut(key).and_then(|list| list.as_array_mut()) {
                list.truncate(1);
            }
        }
        for key in ["/histogram", "/times/histogram"] {
            if let Some(text) = row.pointer_mut(key) {
                *text = serde_json::Value::from("…");
            }
        }
    }
    serde_json::to_string_pretty(&json).unwrap()
}

#[test]
fn an_index_with_an_error_and_a_skip() {
    insta::assert_snapshot!("index_text", report("index", Format::Text));
    insta::assert_snapshot!("index_csv", report("index", Format::Csv));
    insta::assert_snapshot!("index_markdown", report("index", Format::Markdown));
    insta::assert_snapshot!("index_json", report("index", Format::Json));
}

#[test]
fn a_classic_run() {
    insta::assert_snapshot!("classic_text", report("classic", Format::Text));
    insta::assert_snapshot!("classic_csv", report("classic", Format::Csv));
    insta::assert_snapshot!("classic_markdown", report("classic", Format::Markdown));
    insta::assert_snapshot!("classic_json", short_json("classic"));
}

/// A fake meter of 40 W: the machine at hand has none.
#[test]
fn a_run_with_energy() {
    insta::assert_snapshot!("energy_text", report("energy", Format::Text));
    insta::assert_snapshot!("energy_csv", report("energy", Format::Csv));
    insta::assert_snapshot!("energy_markdown", report("energy", Format::Markdown));
    insta::assert_snapshot!("energy_json", short_json("energy"));
}

/// `unixmark doctor --power` on a virtual machine with neighbours.
#[test]
fn what_comparisons_find() {
    insta::assert_snapshot!("power_text", report("power", Format::Text));
    insta::assert_snapshot!("power_markdown", report("power", Format::Markdown));
    let json: serde_json::Value = serde_json::from_str(&report("power", Format::Json)).unwrap();
    insta::assert_snapshot!("power_json", serde_json::to_string_pretty(&json["power"]).unwrap());
}

#[test]
fn interactive_tasks_beside_loads() {
    insta::assert_snapshot!("latency_text", report("latency", Format::Text));
    insta::assert_snapshot!("requests_text", report("requests", Format::Text));
    insta::assert_snapshot!("latency_csv", report("latency", Format::Csv));
    insta::assert_snapshot!("latency_markdown", report("latency", Format::Markdown));
    insta::assert_snapshot!("latency_json", short_json("latency"));
}

/// A notebook that throttles, and a server with a bad bit: made up, since the machines at hand have
/// neither. And one at hand, without sensors.
#[test]
fn burn_ins() {
    insta::assert_snapshot!("cooling_vm_text", report("cooling-vm", Format::Text));
    for run in ["cooling", "memory"] {
        insta::assert_snapshot!(format!("{run}_text"), report(run, Format::Text));
        insta::assert_snapshot!(format!("{run}_csv"), report(run, Format::Csv));
        insta::assert_snapshot!(format!("{run}_markdown"), report(run, Format::Markdown));
        let mut json: serde_json::Value = serde_json::from_str(&report(run, Format::Json)).unwrap();
        json["burnin"]["samples"].as_array_mut().unwrap().truncate(2);
        insta::assert_snapshot!(
            format!("{run}_json"),
            serde_json::to_string_pretty(&json).unwrap()
        );
    }
}

/// Indices of graphics in blocks of their own, by a software renderer, with a sub-test that x11perf
/// fails at.
#[test]
fn graphics() {
    insta::assert_snapshot!("graphics_text", report("graphics", Format::Text));
    insta::assert_snapshot!("graphics_csv", report("graphics", Format::Csv));
    insta::assert_snapshot!("graphics_markdown", report("graphics", Format::Markdown));
    insta::assert_snapshot!("graphics_json", short_json("graphics"));
}

#[test]
fn a_run_about_scaling() {
    insta::assert_snapshot!("scaling_text", report("scaling", Format::Text));
    insta::assert_snapshot!("scaling_csv", report("scaling", Format::Csv));
    insta::assert_snapshot!("scaling_markdown", report("scaling", Format::Markdown));
    insta::assert_snapshot!("scaling_json", short_json("scaling"));
}

/// Made up until there is one at hand, with a cell that failed.
#[test]
fn a_run_about_cost() {
    insta::assert_snapshot!("cost_text", report("cost", Format::Text));
    insta::assert_snapshot!("cost_csv", report("cost", Format::Csv));
    insta::assert_snapshot!("cost_markdown", report("cost", Format::Markdown));
    let mut json: serde_json::Value = serde_json::from_str(&report("cost", Format::Json)).unwrap();
    let json = json.as_object_mut().unwrap();
    json.retain(|key, _| {
        ["comparisons", "controls", "cost", "index", "gains"].contains(&key.as_str())
    });
    for list in ["comparisons", "controls"] {
        for row in json[list].as_array_mut().unwrap() {
            row["pairs"].as_array_mut().unwrap().truncate(1);
        }
    }
    insta::assert_snapshot!("cost_json", serde_json::to_string_pretty(&json).unwrap());
}

#[test]
fn no_line_of_text_is_wider_than_a_terminal() {
    for run in [
        "index",
        "energy",
        "classic",
        "latency",
        "scaling",
        "cost",
        "cooling",
        "cooling-vm",
        "memory",
    ] {
        for line in report(run, Format::Text).lines() {
            assert!(line.chars().count() <= 80, "{run}: {line}");
        }
    }
}

/// Every form shows every test with the same score, and every reason.
#[test]
fn the_forms_agree() {
    let json: serde_json::Value = serde_json::from_str(&report("index", Format::Json)).unwrap();
    for format in [Format::Text, Format::Html, Format::Csv, Format::Markdown] {
        let text = report("index", format);
        for row in json["results"].as_array().unwrap() {
            assert!(text.contains(row["label"].as_str().unwrap()), "{format:?}: {}", row["label"]);
            let value = row["value"].as_f64().unwrap();
            let half = (row["high"].as_f64().unwrap() - row["low"].as_f64().unwrap()) / 2.0;
            let people = words::known(format!("{value:.1}"), half);
            let shown = if format == Format::Csv { value.to_string() } else { people };
            assert!(text.contains(&shown), "{format:?}: {shown}");
        }
        for kind in ["skipped", "errors"] {
            for row in json[kind].as_array().unwrap() {
                // The text report wraps reasons, and HTML and Markdown escape.
                let words: Vec<&str> =
                    row["reason"].as_str().unwrap().split_whitespace().take(2).collect();
                let flat = testing::flat(&text);
                assert!(flat.contains(&words.join(" ")), "{format:?}: {words:?}");
            }
        }
    }
}

/// Small scores keep their figures in every form: 0.031 GB/s is not 0.0.
#[test]
fn no_form_loses_digits() {
    let mut journal = journal::read(&testing::recorded("index")).unwrap();
    journal.cells.iter_mut().for_each(|cell| cell.scale *= 2e-8);
    let results = Results::new(&journal, &Catalogue::load().unwrap(), None);
    for format in [Format::Text, Format::Html, Format::Markdown] {
        let text = report::render(Subject::Run(&results), format).unwrap();
        for row in &results.figures {
            let value = row.score.value;
            let decimals = if value < 0.001 { 6 } else { 4 };
            let shown = format!("{value:.decimals$}");
            assert!(value < 1.0 && text.contains(&shown), "{format:?}: {shown}");
        }
    }
}
