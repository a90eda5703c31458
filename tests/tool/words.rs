//! Strangers' words (journals, names of files) are only words on the terminal and in the log of a
//! CI.

use std::ffi::OsStr;

use serde_json::{Value, json};
use testing::{Place, stderr, stdout};

/// Moves the cursor, sets the title, rings, turns text around, and commands GitHub and Azure.
const HOSTILE: &str = "x\u{1b}]0;title\u{7}\u{202e}\n::error::made up\n  ::stop-commands::x\n##[group]a\r##vso[task.x]";

/// Runs the tool in a directory where strangers' files lie; both streams are as they may be seen
/// anywhere.
fn said(place: &Place, words: &[&str]) -> (i32, String) {
    let mut command = place.unixmark("");
    let output = command.args(words).current_dir(place.root.path()).output().unwrap();
    let all = stdout(&output) + &stderr(&output);
    let raw = all.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
    assert_eq!(raw, None, "{words:?}: {all}");
    let is_command = |line: &&str| {
        line.trim_start().starts_with("::") || line.contains("##[") || line.contains("##vso[")
    };
    assert_eq!(all.lines().find(is_command), None, "{words:?}");
    (output.status.code().unwrap(), all)
}

fn recorded() -> Vec<Value> {
    let text = std::fs::read_to_string(testing::recorded("index").join("run.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_strangers_words_stay_words() {
    let place = Place::new();
    let write = |name: &str, lines: &[Value]| {
        let text: String = lines.iter().map(|line| line.to_string() + "\n").collect();
        std::fs::write(place.root.path().join(name), text).unwrap();
    };
    let mut lines = recorded();
    lines[0]["format"] = json!(format!("unixmark-run/2{HOSTILE}"));
    write("format.jsonl", &lines);
    let mut lines = recorded();
    lines[0]["procedure"] = json!(HOSTILE);
    write("procedure.jsonl", &lines);
    let mut lines = recorded();
    for key in ["name", "host", "comment", "tool"] {
        lines[0][key] = json!(HOSTILE);
    }
    let cell = lines.iter().position(|line| line["type"] == "cell").unwrap();
    lines[cell]["test"] = json!(HOSTILE);
    lines.insert(1, json!({"type": "warning", "text": HOSTILE}));
    write("texts.jsonl", &lines);
    std::fs::create_dir(place.root.path().join("run")).unwrap();
    write("run/run.jsonl", &lines);
    // The name of a file may hold all of it but a slash.
    let named = format!("{HOSTILE}.jsonl");
    std::fs::copy(
        place.root.path().join("texts.jsonl"),
        place.root.path().join(OsStr::new(&named)),
    )
    .unwrap();
    let option = format!("--{HOSTILE}");

    for words in [
        &["report", "format.jsonl"][..],
        &["report", "procedure.jsonl"],
        &["report", "texts.jsonl"],
        &["report", "texts.jsonl", "--format", "json"],
        &["report", "texts.jsonl", "--format", "csv"],
        &["report", "texts.jsonl", "--format", "openmetrics"],
        &["report", "no such run\n::error::x"],
        &["report", &option],
        &["compare", "texts.jsonl", &named],
        &["site", "--check", "format.jsonl", "procedure.jsonl", "texts.jsonl", &named],
        &["site", ".", "--into", "www"],
        &["list", "runs", "--results", "."],
        &["list", "runs", "--results", ".", "--format", "json"],
        &["collect", ".", "--into", "fleet"],
        &["import", &named],
    ] {
        let (_, all) = said(&place, words);
        assert!(!all.is_empty(), "{words:?} said nothing");
    }
    // It is shown, not hidden.
    let (status, all) = said(&place, &["report", "format.jsonl"]);
    assert!(status == 3 && all.contains(r"\u{1b}]0;title\u{7}\u{202e}"), "{all}");
}

#[test]
fn no_line_of_a_message_looks_like_another_message() {
    let place = Place::new();
    let path = place.root.path().join("a\nb.jsonl: fine");
    std::fs::write(&path, "{}\n").unwrap();
    let output = place.unixmark("site --check").arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let all = stdout(&output) + &stderr(&output);
    assert!(all.lines().skip(1).all(|line| line.starts_with("  ")), "{all}");
}
