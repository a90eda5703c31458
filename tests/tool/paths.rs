//! Paths that users name, and names that are not text.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

use serde_json::Value;
use testing::{Place, stderr, stdout};

/// hyperfine #306: the path was found wrong only at the end.
#[test]
fn hyperfine_306_an_export_that_cannot_be_written_is_said_before_anything_is_measured() {
    let place = Place::new();
    let folder = place.root.path();
    fs::write(folder.join("file"), "kept").unwrap();
    let table = [
        ("none/x", "none does not exist"),
        ("./", "it is a directory"),
        ("file/x", "Not a directory"),
    ];
    for option in ["--export-json", "--export-markdown", "--export-csv", "--output"] {
        for (path, why) in table {
            let words = format!("ab -N true echo {option} {path}");
            let output = place.unixmark(&words).current_dir(folder).output().unwrap();

            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{words}");
            assert!(said.contains(&format!("{path} cannot be written; try another")), "{said}");
            assert!(said.contains(why), "{words}: {said}");
            assert!(!place.results().exists(), "{words}");
        }
    }
    assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "kept");
}

#[test]
fn exports_into_one_file_are_refused() {
    let place = Place::new();
    let words = "ab -N true echo --export-csv same --export-json ./same";
    let output = place.unixmark(words).current_dir(place.root.path()).output().unwrap();

    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("./same and same are one file"), "{}", stderr(&output));
    assert!(!place.results().exists());
}

/// hyperfine #640: `-` is stdout, which has nothing else then.
#[test]
fn hyperfine_640_an_export_to_stdout_can_be_read_from_there() {
    let place = Place::new();
    for path in ["-", "/dev/stdout"] {
        let words = format!("ab -N -r 2 true echo --export-json {path}");
        let output = place.unixmark(&words).current_dir(place.root.path()).output().unwrap();

        assert!(output.status.success(), "{}", stderr(&output));
        let times: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(times["results"].as_array().unwrap().len(), 2);
        assert!(!place.root.path().join("-").exists());
    }
}

#[test]
fn a_reader_of_an_export_that_goes_away_is_said() {
    let place = Place::new();
    let mut command = place.unixmark("ab -q -N -r 2 true echo --export-json -");
    let mut ab = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(ab.stdout.take());

    let output = ab.wait_with_output().unwrap();

    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert!(said.contains("stdout cannot be written"), "{said}");
    assert!(said.contains("its reader has closed it"), "{said}");
}

/// N16 of the second look: one such name, and `list runs` panicked.
#[test]
fn n16_names_that_are_not_text_are_listed_and_reported() {
    let place = Place::new();
    let name = OsStr::from_bytes(b"odd-\xff\xfe");
    let folder = place.results().join(name);
    fs::create_dir_all(&folder).unwrap();
    fs::copy(testing::recorded("index").join("run.jsonl"), folder.join("run.jsonl")).unwrap();
    for words in ["list runs", "list runs --format json", "report latest"] {
        let output = place.unixmark(words).output().unwrap();
        assert!(output.status.success(), "{words}: {}", stderr(&output));
    }
    let listed = place.unixmark("list runs").output().unwrap();
    assert!(stdout(&listed).contains("odd-"), "{}", stdout(&listed));
    for words in ["site --into site", "collect --into fleet", "export --into archive"] {
        let mut command = place.unixmark(words);
        let output = command.current_dir(place.root.path()).arg(place.results()).output().unwrap();
        assert!(output.status.code().is_some_and(|code| code < 4), "{words}: {}", stderr(&output));
    }
}

/// N12 of the second look: the run ended, and its own journal could not be read.
#[test]
fn n12_figures_whose_names_change_are_named_and_the_journal_can_be_read() {
    let place = Place::new();
    let script = place.root.path().join("names");
    let names = "printf '{\"steady\": 5'; for i in $(seq 400); do printf ', \"f%s_%s\": 1' $$ $i; \
        done; echo '}'";
    fs::write(&script, names).unwrap();
    let command = format!("sh {}", script.display());
    let mut ab = place.unixmark("ab --harness json -r 50 -n a -n b");

    let output = ab.args([&command, &command]).output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let newest = place.newest();
    let report = place.unixmark(&format!("report {newest}")).output().unwrap();
    let text = testing::flat(&stdout(&report));
    assert!(report.status.success() && text.contains("in 1 of 1 figure"), "{text}");
    assert!(text.contains("keep process numbers and addresses out of the names"), "{text}");
}
