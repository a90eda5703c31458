//! The tool as UnixBench's `Run`: its variables, its files, its exit codes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use testing::{Place, stderr, stdout};

/// `Run` in a directory with blanks and quotes in its name.
struct Bench {
    place: Place,
    folder: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let place = Place::new();
        let folder = place.root.path().join("it's a \"bench\"");
        fs::create_dir(&folder).unwrap();
        symlink(assert_cmd::cargo::cargo_bin("unixmark"), folder.join("Run")).unwrap();
        Bench { place, folder }
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.folder.join("Run"));
        command.current_dir(&self.folder).env("UNIXMARK_RESULTS", self.place.results());
        command.env("UNIXMARK_PROCEDURE", "quick").args(words.split_whitespace());
        command
    }

    fn run(&self, words: &str, variables: &[(&str, &str)]) -> Output {
        self.command(words).envs(variables.iter().copied()).output().unwrap()
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder.join(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

#[test]
fn files_and_the_way_back() {
    let bench = Bench::new();
    let output = bench.run("-q -b -i 1 -c 2 -c 1 syscall pipe", &[("UB_OUTPUT_CSV", "true")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let files = bench.files("results");
    let base = files[0].clone();
    assert!(base.ends_with("-01"), "{base}");
    assert_eq!(files, ["", ".csv", ".html", ".log"].map(|ending| format!("{base}{ending}")));
    let path = bench.folder.join("results").join(&base);
    let text = fs::read_to_string(&path).unwrap();
    assert!(stdout(&output).ends_with(&text) && !text.contains("CPU 0"));
    assert!(stderr(&output).contains("quick procedure") && stderr(&output).contains("/report.txt has intervals"));
    let measured = bench.place.json("latest");
    let mut import = bench.place.unixmark("import");
    assert!(import.arg(&path).output().unwrap().status.success());
    let imported = bench.place.json("latest");
    let scores = |run: &serde_json::Value| -> Vec<String> {
        let rows = run["results"].as_array().unwrap().iter();
        let mut rows: Vec<String> = rows
            .map(|row| format!("{} {} {:.1}", row["test"], row["copies"], row["value"].as_f64().unwrap()))
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(scores(&measured).len(), 4);
    assert_eq!(scores(&imported), scores(&measured));
    // A second run has the next number; a name of one's own is used as it is, and its log grows.
    bench.run("-q -i 1 -c 1 syscall", &[]);
    assert!(bench.files("results").iter().any(|name| name.ends_with("-02.log")));
    let named = [("UB_RESULTDIR", "mine"), ("UB_OUTPUT_FILE_NAME", "a 'b'"), ("UB_TMPDIR", "work")];
    bench.run("-q -i 1 -c 1 syscall", &named);
    let log = || fs::read_to_string(bench.folder.join("mine/a 'b'.log")).unwrap();
    let first = log();
    bench.run("-q -i 1 -c 1 syscall", &named);
    assert!(log().len() > first.len() && log().starts_with(&first));
    assert_eq!(bench.files("mine"), ["a 'b'", "a 'b'.html", "a 'b'.log"]);
    assert!(bench.files("work").is_empty());
}

#[test]
fn refusals() {
    let bench = Bench::new();
    let file = bench.folder.join("file");
    fs::write(&file, "").unwrap();
    for (words, variables, why) in [
        ("nothing", ("UB_OUTPUT_CSV", ""), "no test or group 'nothing'"),
        ("-c 0 pipe", ("UB_OUTPUT_CSV", ""), "0 copies"),
        ("-i x pipe", ("UB_OUTPUT_CSV", ""), "'x'"),
        ("-z pipe", ("UB_OUTPUT_CSV", ""), "'-z'"),
        ("pipe", ("UB_BINDIR", "/opt"), "unset UB_BINDIR"),
        ("pipe", ("UB_GCC_OPTIONS", "-O1"), "unset UB_GCC_OPTIONS"),
        ("pipe", ("UB_RESULTDIR", "file/results"), "set UB_RESULTDIR"),
        ("pipe", ("UB_TMPDIR", "file/tmp"), "set UB_TMPDIR"),
        ("pipe", ("UB_OUTPUT_FILE_NAME", "../up"), "set that instead"),
        ("pipe", ("MULTI_SH_WORK_FACTOR", "0"), "not a number from 1"),
        ("pipe", ("UNIXMARK_PROCEDURE", "slow"), "'slow'"),
    ] {
        let output = bench.run(words, &[variables]);
        assert_eq!(output.status.code(), Some(1), "{words} {variables:?}");
        assert!(stderr(&output).contains(why), "{why}: {}", stderr(&output));
    }
    assert!(!bench.place.results().exists());
}

/// The classic procedure shows its passes; what was measured until Ctrl-C is kept.
#[test]
fn stopped_in_the_middle() {
    let bench = Bench::new();
    let mut command = bench.command("-i 1 -c 1 syscall");
    let mut tool = command.env("UNIXMARK_PROCEDURE", "classic").stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(tool.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let mut begin = vec![0; "1 x System Call Overhead  1".len()];
    out.read_exact(&mut begin).unwrap();
    assert_eq!((line.as_str(), String::from_utf8(begin).unwrap().as_str()), ("\n", "1 x System Call Overhead  1"));
    let id = rustix::process::Pid::from_child(&tool);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(tool.wait().unwrap().code(), Some(130));
    // Nothing was measured, so there is no report: only the log that was begun.
    let files = bench.files("results");
    assert!(files.len() == 1 && files[0].ends_with("-01.log"), "{files:?}");
}

/// Each script sorts as many texts, and removes them.
#[test]
fn work_factor() {
    let bench = Bench::new();
    let output = bench.run("-q -i 1 -c 1 shell1", &[("MULTI_SH_WORK_FACTOR", "3")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(bench.files("tmp").is_empty());
    let run = bench.place.json("latest");
    assert!(run.to_string().contains("MULTI_SH_WORK_FACTOR=3"));
    assert!(run["results"][0]["value"].as_f64().unwrap() > 0.0);
}
