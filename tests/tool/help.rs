//! What help and messages say to who does not know the words yet.

use testing::{Place, stderr, stdout};

/// UnixBench's `-i 0` is the default.
#[test]
fn no_number_of_blocks_is_the_usual_one() {
    let place = Place::new();
    let plan = |words: &str| {
        stdout(
            &place.unixmark(&format!("run pipe -c 1 --seed 1 --dry-run {words}")).output().unwrap(),
        )
    };
    assert_eq!(plan("-i 0"), plan(""));
    assert_ne!(plan("-i 3"), plan(""));
}

#[test]
fn names_of_others_are_explained_where_they_first_appear() {
    let place = Place::new();
    let help = |words: &str| {
        let text = stdout(&place.unixmark(&format!("{words} --help")).output().unwrap());
        testing::flat(&text)
    };
    assert!(help("run").contains("'George', a SPARCstation of 1995 that scores 10"));
    assert!(help("import").contains("its ancestor BYTE 3"));
    assert!(help("import").contains("Lbench, which measures at 1 to N threads"));
    assert!(help("compare").contains("Nitzberg's thesis of 1994 on what auditing costs"));
}

#[test]
fn wrong_numbers_get_a_right_one() {
    let place = Place::new();
    for (words, advice) in [
        ("run -c 1000000", "try max, one per processor"),
        ("latency -t 5x", "'5x' is not a duration; try 90, 90s, 3m or 1h"),
    ] {
        let output = place.unixmark(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(stderr(&output).contains(advice), "{words}: {}", stderr(&output));
    }
}

#[test]
fn the_index_has_a_trend_by_either_name() {
    let place = Place::new();
    let report = testing::file("tests/vectors/unixbench_1copy_report.txt");
    let imported = place.unixmark("import").arg(report).output().unwrap();
    assert!(imported.status.success(), "{}", stderr(&imported));
    let trend = |name: &str| place.unixmark(&format!("report --trend {name}")).output().unwrap();
    let index = trend("index");
    assert!(
        index.status.success() && stdout(&index) == stdout(&trend("system")),
        "{}",
        stderr(&index)
    );
    assert!(stdout(&index).contains("1362"), "{}", stdout(&index));
    assert!(stderr(&trend("nothing")).contains("`unixmark list indexes` the indexes"));
    // What the files of a run are.
    let runs = stdout(&place.unixmark("list runs --long").output().unwrap());
    let runs = testing::flat(&runs);
    assert!(runs.contains("run.jsonl is the journal, run.json its summary"), "{runs}");
}
