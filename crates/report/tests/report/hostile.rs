//! A stranger's words in a journal are text in every format: they move no cursor, start no formula,
//! command no CI.

use std::path::Path;

use analysis::{Asked, Comparisons, Design, Results};
use catalogue::Catalogue;
use journal::Journal;
use report::{Format, Subject};
use serde_json::{Value, json};

/// Commands to GitHub and Azure, formulas, and characters that turn text around or set a terminal's
/// title.
const HOSTILE: [&str; 5] = [
    "\n::error::made up\n::stop-commands::x",
    "=cmd|' /C calc'!A0 \u{1b}]0;title\u{7}",
    "@SUM(A1) ##[add-mask]a ##vso[task.complete]",
    "\t=1 \u{9b}31m \u{202e}abc\u{2066}",
    "-1+1 \r::warning::x",
];

/// The texts of a journal that its reader takes as they are.
const TEXTS: [&str; 9] =
    ["name", "host", "comment", "tool", "value", "label", "text", "error", "unit"];

fn hostile(run: &str, text: &str) -> Journal {
    let recorded = std::fs::read_to_string(testing::recorded(run).join("run.jsonl")).unwrap();
    let mut lines: Vec<Value> =
        recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        // What figures are computed from stays.
        let is_cell = line["type"] == "cell";
        for key in TEXTS.into_iter().filter(|key| !is_cell || ["label", "unit"].contains(key)) {
            if let Some(Value::String(own)) = line.get_mut(key) {
                own.insert_str(0, text);
            }
        }
    }
    lines.insert(1, json!({"type": "warning", "text": text}));
    let bytes: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    journal::parse(bytes.as_bytes(), Path::new("hostile.jsonl")).unwrap()
}

fn check(format: Format, text: &str) {
    let turns =
        |c: &char| ('\u{202a}'..='\u{202e}').contains(c) || ('\u{2066}'..='\u{2069}').contains(c);
    let wrong = text.chars().find(|c| *c != '\n' && (c.is_control() || turns(c)));
    assert_eq!(wrong, None, "{format:?}");
    let command = text.lines().find(|line| line.trim_start().starts_with("::"));
    assert_eq!(command, None, "{format:?}");
    if format == Format::Csv {
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            for field in record.unwrap().iter().filter(|field| field.parse::<f64>().is_err()) {
                assert!(!field.starts_with(['=', '+', '-', '@', '\t', '\r']), "{field}");
            }
        }
    } else if ![Format::Html, Format::Svg].contains(&format) {
        assert!(!text.contains("##[") && !text.contains("##vso["), "{format:?}: {text}");
    }
}

#[test]
fn a_strangers_words_stay_words_in_every_format() {
    let catalogue = Catalogue::load().unwrap();
    let asked = Asked { design: Design::Apart, threshold: 1.0, conditions: None };
    for text in HOSTILE {
        for run in ["index", "cost"] {
            let results = Results::new(&hostile(run, text), &catalogue, None);
            let files = Format::FILES.map(|(format, _)| format);
            let programs = [
                Format::Bmf,
                Format::GithubBigger,
                Format::GithubSmaller,
                Format::Openmetrics,
                Format::Influx,
                Format::Svg,
            ];
            for format in files.into_iter().chain(programs) {
                // Of formats for one direction, one has no figure, and says so.
                let shown = report::render(Subject::Run(&results), format)
                    .unwrap_or_else(|refusal| refusal.to_string());
                check(format, &shown);
            }
            let all = Comparisons::new(vec![results.clone(), results], &asked);
            for format in files.into_iter().chain([Format::Commit, Format::Junit]) {
                check(
                    format,
                    &report::render(Subject::Comparison(&all, Some(&all.gate(5.0, None))), format)
                        .unwrap(),
                );
            }
        }
    }
}
