//! One bad file is left out and named; nothing waits for it, and the others are read.

use std::path::{Path, PathBuf};
use std::process::Output;

use testing::{Place, stderr, stdout};

/// Runs a command. It would wait for ever if it waited for what is in the other end of a pipe; the
/// pool ends a test that does.
fn unixmark(place: &Place, words: &str) -> Output {
    place.unixmark(words).output().unwrap()
}

/// Puts a good run and the bad ones into the results directory; returns why each of these is left
/// out.
fn fill(place: &Place) -> Vec<(&'static str, &'static str)> {
    let run = |name: &str| {
        std::fs::create_dir_all(place.results().join(name)).unwrap();
        place.results().join(name).join("run.jsonl")
    };
    let whole = std::fs::read_to_string(testing::recorded("latency").join("run.jsonl")).unwrap();
    std::fs::write(run("good"), &whole).unwrap();
    let pipe = rustix::fs::mkfifoat(rustix::fs::CWD, run("pipe"), rustix::fs::Mode::RWXU);
    pipe.unwrap();
    std::fs::create_dir_all(run("folder")).unwrap();
    // A whole journal, and then nothing for a terabyte.
    std::fs::write(run("long"), &whole).unwrap();
    std::fs::File::options().append(true).open(run("long")).unwrap().set_len(1 << 40).unwrap();
    std::fs::write(run("facts"), many_facts(&whole)).unwrap();
    std::fs::write(run("histogram"), forged(&whole)).unwrap();
    vec![
        ("pipe", "it is a named pipe, not a file"),
        ("folder", "it is a directory, not a file"),
        ("long", "more than 64 MiB"),
        ("facts", "it has more than 10000 facts, the most that a journal may have"),
        ("histogram", "its counts have another length than it says"),
    ]
}

fn many_facts(whole: &str) -> String {
    let (first, rest) = whole.split_once('\n').unwrap();
    let fact = |n: u32| {
        format!(
            "{{\"type\":\"fact\",\"name\":\"x{n}\",\"label\":\"\",\"group\":\"{n}\",\"value\":\"\"}}\n"
        )
    };
    format!("{first}\n{}{rest}", (0..66_779).map(fact).collect::<String>())
}

/// The header of a histogram with a length of 2^31 - 1, and nothing after it.
const HISTOGRAM: &str = "HISTFAAAAB542pNpmSxc////fwYIYIbSjCAxELD/ABEAAA06DW4=";

/// A journal whose histograms say that two gigabytes of counts follow.
fn forged(whole: &str) -> String {
    let mut parts = whole.split("\"HIST");
    let first = parts.next().unwrap().to_owned();
    parts
        .map(|part| part.split_once('"').unwrap().1)
        .fold(first, |text, rest| text + "\"" + HISTOGRAM + "\"" + rest)
}

#[test]
fn lists_go_on() {
    let place = Place::new();
    fill(&place);
    let listed = stdout(&unixmark(&place, "list runs"));
    assert!(
        listed.contains("it is a named pipe, not a file") && listed.contains("good"),
        "{listed}"
    );
}

#[test]
#[cfg(feature = "parquet")]
fn exports_go_on() {
    let place = Place::new();
    let bad = fill(&place);
    let archive = place.root.path().join("archive");
    let exported = unixmark(&place, &format!("export --parquet {}", archive.display()));
    let said = stderr(&exported);
    for (name, _) in bad.iter().filter(|(name, _)| *name != "long") {
        assert!(said.contains(&format!("/{name}/run.jsonl")), "{name}: {said}");
    }
    assert!(said.contains("exported: 1 run, ") || said.contains("exported: 2 runs, "), "{said}");
}

#[test]
fn sites_and_fleets_go_on() {
    let place = Place::new();
    let bad = fill(&place);
    let files: Vec<PathBuf> = std::iter::once("good")
        .chain(bad.iter().map(|(name, _)| *name))
        .map(|name| place.results().join(name).join("run.jsonl"))
        .collect();
    let named: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    let site = unixmark(
        &place,
        &format!("site {} --into {}", named.join(" "), place.root.path().join("site").display()),
    );
    let collect = unixmark(
        &place,
        &format!(
            "collect {} --into {} --run night",
            named.join(" "),
            place.root.path().join("fleet").display()
        ),
    );
    let check = unixmark(&place, &format!("site --check {}", named.join(" ")));
    for (output, what) in [(&site, "site"), (&collect, "collect"), (&check, "check")] {
        let said = stderr(output) + &stdout(output);
        for (name, why) in bad.iter().filter(|(name, _)| *name != "folder") {
            let line = said.lines().find(|line| line.contains(&format!("/{name}/")));
            let all = said.replace('\n', " ");
            assert!(line.is_some() && words(&all).contains(&words(why)), "{what}, {name}: {said}");
        }
        assert!(output.status.code().is_some(), "{what}: {said}");
    }
    assert!(Path::new(&place.root.path().join("site/index.html")).exists(), "{}", stderr(&site));
}

/// A text with single blanks, however it was wrapped.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

#[test]
fn reports_and_comparisons_say_why() {
    let place = Place::new();
    for (name, why) in
        fill(&place).into_iter().filter(|(name, _)| *name != "long" && *name != "folder")
    {
        let path = place.results().join(name).join("run.jsonl");
        for command in
            [format!("report {}", path.display()), format!("compare good {}", path.display())]
        {
            let output = unixmark(&place, &command);
            assert!(!output.status.success() && output.status.code().is_some(), "{command}");
            assert!(
                name == "pipe" || words(&stderr(&output)).contains(why),
                "{command}: {}",
                stderr(&output)
            );
        }
    }
}
