//! The card: its text fits a forum's 80 columns, and its JSON fits docs/card.schema.json.

use analysis::Results;
use catalogue::Catalogue;
use journal::{Finding, Severity};
use report::{Card, Format, Subject};
use serde_json::Value;

fn recorded(run: &str) -> Results {
    Results::new(&journal::read(&testing::recorded(run)).unwrap(), &Catalogue::load().unwrap(), None)
}

/// Rows of a recorded run under the names of the disk's tests, at 1000 operations a second each.
fn disk() -> Results {
    let mut disk = recorded("latency");
    let mut row = recorded("index").figures.remove(0);
    row.score = stats::Estimate { value: 1000.0, low: 900.0, high: 1100.0 };
    for name in ["disk-mix-4k:op=read", "disk-mix-4k:op=write", "disk-mix-4k", "disk-mix-1m"] {
        row.cell.key.test = name.to_owned();
        disk.figures.push(row.clone());
    }
    let latency = disk.figures.iter_mut().find(|row| row.latency.is_some()).unwrap();
    latency.cell.key.test = "cyclic".to_owned();
    disk
}

fn findings() -> Vec<Finding> {
    let finding = |severity, what: &str| Finding {
        severity,
        name: "cpu.governor".to_owned(),
        what: what.to_owned(),
        fix: "none".to_owned(),
    };
    vec![finding(Severity::Note, "a note"), finding(Severity::Disturbs, "the governor is powersave")]
}

fn card(format: Format) -> String {
    let (index, disk, findings) = (recorded("years"), disk(), findings());
    report::render(Subject::Card(&Card { index: &index, disk: &disk, steal: Some(0.025), findings: &findings }), format)
        .unwrap()
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
        let (index, disk) = (recorded(run), disk());
        let card = Card { index: &index, disk: &disk, steal: None, findings: &[] };
        let json: Value = serde_json::from_str(&report::render(Subject::Card(&card), Format::Json).unwrap()).unwrap();
        json["scores"].as_array().unwrap().clone()
    };
    let known = scores("energy");
    let power = known.last().unwrap();
    assert_eq!((&power["test"], &power["unit"]), (&"Power during the index".into(), &"W".into()));
    assert!((38.0..42.0).contains(&power["one"].as_f64().unwrap()), "{power}");
    assert!(!scores("index").iter().any(|score| score["unit"] == "W"));
}

#[test]
fn its_json_fits_the_schema() {
    let schema = std::fs::read_to_string(testing::file("docs/card.schema.json")).unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let json: Value = serde_json::from_str(&card(Format::Json)).unwrap();
    assert_eq!(complaint(&json, &schema, "card"), None);
    // By hand: 1000 blocks of 4096 bytes a second, half of them read.
    assert_eq!(json["disk"][0]["mixed_mb_s"], 4.096);
    assert_eq!(json["disk"][0]["mixed_read_mb_s"], 2.048);
    assert_eq!(json["disk"][3]["read_mb_s"], Value::Null, "what was not measured is not there");
    assert_eq!(json["scores"][0]["test"], "System index");
    // The check sees what is wrong.
    for (pointer, wrong) in [("/cpus", "two"), ("/disk/0/block", "8 KiB"), ("/format", "unixmark-card/0")] {
        let mut spoiled = json.clone();
        *spoiled.pointer_mut(pointer).unwrap() = wrong.into();
        assert!(complaint(&spoiled, &schema, "card").is_some(), "{pointer}");
    }
    let mut spoiled = json;
    spoiled.as_object_mut().unwrap().remove("verdict");
    assert!(complaint(&spoiled, &schema, "card").is_some());
}

/// What a value has against the parts of JSON Schema that the card's uses; `None` if it fits.
fn complaint(value: &Value, schema: &Value, place: &str) -> Option<String> {
    let kind = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64(),
        "null" => value.is_null(),
        other => panic!("{place}: an unknown type {other}"),
    };
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect::<Vec<_>>(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|name| kind(name)) {
        return Some(format!("{place} is {value} and not {kinds:?}"));
    }
    if schema.get("const").is_some_and(|wanted| wanted != value) {
        return Some(format!("{place} is {value}"));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        return Some(format!("{place} is {value}"));
    }
    if schema["minimum"].as_f64().is_some_and(|least| value.as_f64().is_some_and(|number| number < least)) {
        return Some(format!("{place} is {value}"));
    }
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.filter(|_| value.is_object()).find(|name| value.get(*name).is_none()) {
        return Some(format!("{place} has no {missing}"));
    }
    let known = schema["properties"].as_object();
    for (name, item) in value.as_object().into_iter().flatten() {
        let of = known.and_then(|known| known.get(name)).or(schema.get("additionalProperties"));
        let found = of.and_then(|schema| complaint(item, schema, &format!("{place}.{name}")));
        if found.is_some() {
            return found;
        }
    }
    let items = value.as_array().into_iter().flatten().enumerate();
    items.filter_map(|(number, item)| complaint(item, schema.get("items")?, &format!("{place}[{number}]"))).next()
}
