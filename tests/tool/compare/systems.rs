//! `compare --side-by-side` and `--why`: one column a system, and hints at what makes them differ.

use serde_json::Value;
use testing::{stderr, stdout};

use super::made::{Made, json, place, text};

/// A run of a few tests of the index, where `starts` is what starting programs comes to.
fn made(name: &str, seed: u64, libc: &str, starts: f64) -> Made {
    let made =
        Made::new(name, seed).rate("execl", 3e3 * starts, 24).rate("shell1", 5e3 * starts, 24);
    let made = made
        .rate("syscall", 1e6, 24)
        .rate("pipe", 8e5, 24)
        .rate("dhry2reg", 5e7, 24)
        .rate("fstime", 4e5, 24);
    made.fact("software.libc", libc).fact("kernel.release", "6.1")
}

fn row<'a>(report: &'a Value, test: &str) -> &'a Value {
    report["systems"].as_array().unwrap().iter().find(|row| row["test"] == test).unwrap()
}

#[test]
fn systems_stand_side_by_side() {
    let extra = made("c", 3, "glibc", 0.5).rate("hanoi", 7e6, 24);
    let place = place(&[made("a", 1, "glibc", 1.0), made("b", 2, "glibc", 1.0), extra]);
    let report = json(&place, "a b c --side-by-side");
    let execl = row(&report, "execl");
    assert_eq!(
        (&execl["scores"]["C"]["mark"], &execl["scores"]["C"]["rank"]),
        (&"worst".into(), &serde_json::json!([3, 3]))
    );
    // A and B are ties: they have no order.
    for letter in ["A", "B"] {
        let score = &execl["scores"][letter];
        assert_eq!(
            (&score["mark"], &score["rank"]),
            (&Value::Null, &serde_json::json!([1, 2])),
            "{score}"
        );
    }
    let hanoi = row(&report, "hanoi");
    assert!(hanoi["scores"]["A"].is_null() && hanoi["scores"]["C"]["rank"].is_null());
    // Six tests that all have, one that only C has, and the index.
    assert_eq!(report["systems"].as_array().unwrap().len(), 8, "what one lacks is left in");
    for format in ["text", "html", "markdown", "csv", "commit"] {
        let shown = text(&place, &format!("a b c --side-by-side --format {format}"));
        assert!(shown.contains("execl") || shown.contains("Test of execl"), "{format}: {shown}");
    }
    assert!(text(&place, "a b c --side-by-side").contains("1–2"));
}

#[test]
fn rows_are_sorted_by_any_column() {
    let place = place(&[
        made("a", 1, "glibc", 1.0),
        made("b", 2, "glibc", 0.5),
        made("c", 3, "glibc", 2.0),
    ]);
    let order = |by: &str| -> Vec<String> {
        let report = json(&place, &format!("a b c --side-by-side --sort {by}"));
        let rows = report["systems"].as_array().unwrap();
        // The index stands above the tests.
        assert_eq!(rows[0]["test"], "system");
        rows[1..].iter().map(|row| row["test"].as_str().unwrap().to_owned()).collect()
    };
    let mut by_name = order("test");
    by_name.sort();
    assert_eq!(order("test"), by_name);
    let firsts = |by: &str| {
        order(by)[..2].iter().filter(|test| ["execl", "shell1"].contains(&test.as_str())).count()
    };
    assert_eq!((firsts("spread"), firsts("b"), firsts("c")), (2, 2, 0), "C is best at them");
    let wrong = place.unixmark("compare a b c --side-by-side --sort Z").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        stderr(&wrong)
            .contains("'Z' is not a column; --sort takes test, spread, or a run: A, B, C")
    );
}

#[test]
fn why_names_what_goes_with_the_differences() {
    let place = place(&[
        made("a", 1, "glibc", 1.0),
        made("b", 2, "musl", 0.6),
        made("c", 3, "glibc", 1.0),
        made("d", 4, "musl", 0.6),
        made("e", 5, "glibc", 1.0),
    ]);
    let report = json(&place, "a b c d e --why");
    let hints = report["why"]["hints"].as_array().unwrap();
    assert_eq!(hints.len(), 1, "{hints:#?}");
    assert_eq!(
        (&hints[0]["name"], &hints[0]["reach"], &hints[0]["rests_on"]),
        (&"software.libc".into(), &"starts".into(), &2.into())
    );
    let shown = text(&place, "a b c d e --side-by-side --why");
    let words = testing::flat(&shown);
    assert!(words.contains("Why they may differ") && words.contains("exec and shell"), "{words}");
    // Of systems that are alike nothing is named.
    let none = place.unixmark("compare a c e --why").output().unwrap();
    assert!(!stdout(&none).contains("based on"), "{}", stdout(&none));
    let report = json(&place, "a c e --why");
    assert_eq!(report["why"]["hints"].as_array().unwrap().len(), 0);
}
