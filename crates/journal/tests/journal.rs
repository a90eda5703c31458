//! A journal is whole at every length: cut at any byte it is a shorter run.
#![cfg(test)]

extern crate unixmark_journal as journal;

use std::io::Write;
use std::path::PathBuf;

use catalogue::Catalogue;
use journal::{Cell, Counts, Record, Trial, Writer};

fn recorded() -> PathBuf {
    testing::file("tests/runs/index/run.jsonl")
}

/// Writes `bytes` as a journal and reads it.
fn read(bytes: &[u8]) -> anyhow::Result<journal::Journal> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("run.jsonl"), bytes).unwrap();
    journal::read(folder.path())
}

#[test]
fn cut_at_every_byte() {
    let whole = std::fs::read(recorded()).unwrap();
    let full = read(&whole).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.jsonl");
    let (mut last, mut written) = (0, 0);
    // It grows: a file that is truncated and written is flushed each time.
    let mut file = std::fs::File::create(&path).unwrap();
    // A prime, so that every place within a line is among those tried.
    let step = if testing::all_must_run() { 1 } else { 13 };
    for length in (0..whole.len()).step_by(step).chain([whole.len()]) {
        file.write_all(&whole[written..length]).unwrap();
        written = length;
        let journal = journal::read(folder.path());
        if length < first {
            assert!(
                format!("{:#}", journal.unwrap_err()).contains("it has no whole line"),
                "at {length}"
            );
            continue;
        }
        let journal = journal.unwrap_or_else(|error| panic!("cut at {length}: {error:#}"));
        assert!(journal.trials.len() >= last, "a longer journal has no fewer trials");
        assert_eq!(journal.trials[..], full.trials[..journal.trials.len()]);
        last = journal.trials.len();
    }
    assert_eq!(last, full.trials.len());
}

/// What ssh printed before it is skipped, and marked.
#[test]
fn a_journal_behind_a_banner_in_any_serialisation_is_read() {
    let whole = std::fs::read_to_string(recorded()).unwrap();
    let full = read(whole.as_bytes()).unwrap();
    // With spaces, and the type last.
    let turned = |line: &str| {
        let serde_json::Value::Object(mut object) = serde_json::from_str(line).unwrap() else {
            panic!("{line}")
        };
        let kind = object.remove("type").unwrap();
        let rest: Vec<String> =
            object.iter().map(|(key, value)| format!("\"{key}\" : {value}")).collect();
        format!("{{ {}, \"type\" : {kind} }}\n", rest.join(", "))
    };
    let other: String = whole.lines().map(turned).collect();
    let banner = "\u{1b}[1mWelcome to n13\u{1b}[0m\n\nLast login: Sun Nov 22\n";
    for text in [&whole, &other] {
        let journal = read(format!("{banner}{text}").as_bytes()).unwrap();
        assert_eq!((&journal.run, &journal.trials), (&full.run, &full.trials));
        let mark = &journal.warnings[full.warnings.len()].text;
        assert_eq!(
            mark,
            "3 lines before the journal skipped, beginning with '[1mWelcome to n13[0m'"
        );
        assert_eq!(read(text.as_bytes()).unwrap().warnings, full.warnings);
    }
    let none = format!("{:#}", read(banner.as_bytes()).unwrap_err());
    assert!(none.contains("line 1: this is not a unixmark run"), "{none}");
    // A journal without its beginning is damaged, and no banner before another.
    let (_, headless) = whole.split_once('\n').unwrap();
    assert!(
        format!("{:#}", read(format!("{headless}{whole}").as_bytes()).unwrap_err())
            .contains("not a run")
    );
}

#[test]
fn damage_is_reported_with_its_line() {
    let whole = std::fs::read_to_string(recorded()).unwrap();
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    lines[3] = "{\"type\":\"fact\",\"name\":3}".to_owned();
    let text = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    assert!(
        format!("{:#}", read(text(&lines).as_bytes()).unwrap_err())
            .contains("line 4: a damaged line")
    );
    lines[3] = "{\"type\":\"weather\",\"sky\":\"grey\"}".to_owned();
    let journal = read(text(&lines).as_bytes()).unwrap();
    assert!(
        journal
            .warnings
            .last()
            .unwrap()
            .text
            .contains("1 line of a kind unknown to this version was ignored")
    );
    lines[0] = lines[0].replace("unixmark-run/1", "unixmark-run/9");
    assert!(
        format!("{:#}", read(text(&lines).as_bytes()).unwrap_err())
            .contains("try a newer unixmark")
    );
    assert!(format!("{:#}", read(b"hello\n").unwrap_err()).contains("not a unixmark run"));
    assert!(read(b"").is_err() && read(&[0xff, 0xfe, b'\n']).is_err());
}

#[test]
fn an_unknown_field_is_passed_over() {
    let whole = std::fs::read_to_string(recorded()).unwrap();
    let newer =
        whole.replace("{\"type\":\"trial\",", "{\"type\":\"trial\",\"of_the_future\":[1,2],");
    assert_ne!(newer, whole);
    assert_eq!(read(newer.as_bytes()).unwrap().trials, read(whole.as_bytes()).unwrap().trials);
}

#[test]
fn a_cell_says_what_its_test_and_condition_are() {
    let catalogue = Catalogue::load().unwrap();
    let names = ["audit=never-on", "audit=all", "thp=never+audit=all"].map(str::to_owned);
    let conditions = catalogue.expand_conditions(&names).unwrap();
    let cell = |test: &str, condition: usize| {
        Cell::new(0, catalogue.test(test).unwrap(), 1, None, &conditions[condition])
    };

    let of_conditions = [0, 1, 2].map(|place| cell("syscall", place));
    let is_first = of_conditions.each_ref().map(|cell| cell.first);
    let phrases = of_conditions.each_ref().map(|cell| cell.phrase.as_deref());

    assert_eq!(is_first, [true, false, false]);
    assert_eq!(phrases, [None, Some("Auditing every system call"), None]);
    assert!(cell("fstime", 1).truncate);
    assert!(cell("call-getpid", 1).calls);
    assert!(!cell("pipe", 1).calls);
    assert_eq!(cell("mutex", 1).clock.as_deref(), Some("core-clock"));
    assert_eq!(cell("pipe", 1).clock, None);
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let known = read(&std::fs::read(recorded()).unwrap()).unwrap();
    let mut writer = Writer::create(folder.path()).unwrap();
    writer.append(&Record::Run(Box::new(known.run.clone()))).unwrap();
    for cell in &known.cells {
        writer.append(&Record::Cell(Box::new(cell.clone()))).unwrap();
    }
    let odd = Trial {
        cell: 0,
        error: Some("quotes \" and \n lines, \u{1f980}".to_owned()),
        ..Trial::default()
    };
    for trial in known.trials.iter().chain([&odd]) {
        writer.append(&Record::Trial(Box::new(trial.clone()))).unwrap();
    }
    let counts = Counts { counts: [("call:openat".to_owned(), 3)].into(), ..Counts::default() };
    writer.append(&Record::Counts(counts.clone())).unwrap();
    writer.sync().unwrap();
    let again = journal::read(folder.path()).unwrap();
    assert_eq!(again.counts, [counts]);
    assert_eq!(again.trials[..known.trials.len()], known.trials[..]);
    assert_eq!(again.trials.last(), Some(&odd));
    assert!(Writer::create(folder.path()).is_err(), "a journal is never written over");
    writer.append(&Record::Counts(Counts { cell: 999, ..Counts::default() })).unwrap();
    let refused = format!("{:#}", journal::read(folder.path()).unwrap_err());
    assert!(refused.ends_with("counts of cell 999, which is not in the journal"), "{refused}");
}
