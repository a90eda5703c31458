//! `unixmark bill`: of a loop whose calls are known, and of what strace counts of the same.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testing::{Place, stderr};

use super::counts::is_untraceable;

/// Looks at a file, which is a call each time: many more than a shell makes to start and to end.
const LOOP: &str = "i=0; while [ $i -lt 2000 ]; do [ -e / ]; i=$((i+1)); done";

/// Returns the bill that the tool makes of a command or of a table of its calls. A tracer stops
/// each call: that is dear on a busy machine, too.
fn bill(place: &Place, words: &[&str]) -> Value {
    let mut tool = place.unixmark("bill strace --quick -i 6 -q --format json --dir");
    // Cargo's names folders where nobody else can look for libraries.
    let output =
        tool.env_remove("LD_LIBRARY_PATH").arg(place.scratch()).args(words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn runs(place: &Place) -> usize {
    std::fs::read_dir(place.results()).unwrap().count()
}

/// Returns the rows of a table without those of page faults, which strace does not count.
fn calls(bill: &Value) -> Vec<&Value> {
    bill["calls"].as_array().unwrap().iter().filter(|row| row["call"] != "faults").collect()
}

fn time(bill: &Value, what: &str) -> f64 {
    let rows = bill["times"].as_array().unwrap();
    rows.iter()
        .find(|row| row["what"] == what)
        .and_then(|row| row["us"].as_f64())
        .unwrap_or_else(|| panic!("{bill}"))
}

fn table_of_strace(folder: &Path) -> String {
    let table = folder.join("table");
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-c", "-o"])
        .arg(&table)
        .args(["sh", "-c", LOOP])
        .env_remove("LD_LIBRARY_PATH");
    assert!(strace.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap().success());
    table.display().to_string()
}

#[test]
fn a_command_pays_most_for_what_it_does_most_whoever_counts_it() {
    if !testing::all_must_run() {
        return testing::skip(
            "measuring all prices of a shell takes a minute (make test-all does)",
        );
    }
    let _host = testing::host();
    let place = Place::new();
    if !testing::has("strace") || is_untraceable(&place) {
        return;
    }
    let before = runs(&place);
    let own = bill(&place, &["--", "sh", "-c", LOOP]);
    assert_eq!(runs(&place), before + 2, "the command, and the prices");
    let rows = own["calls"].as_array().unwrap();
    let first = rows[0]["call"].as_str().unwrap();
    assert!(first.contains("stat") && rows[0]["count"][0].as_u64() >= Some(2000), "{own}");
    let added: Vec<f64> = rows.iter().filter_map(|row| row["added_us"].as_f64()).collect();
    assert!(added.len() > 10 && added.is_sorted_by(|a, b| a >= b), "{added:?}");
    let sum: f64 = added.iter().sum();
    assert!((sum - time(&own, "predicted")).abs() <= 1e-9 * sum.abs(), "{own}");
    let rest = time(&own, "measured") - time(&own, "predicted");
    assert!((rest - time(&own, "not explained")).abs() < 1e-6, "{own}");
    let table = table_of_strace(place.root.path());
    let traced = bill(&place, &["--counts", &table, "--time", "0.1s"]);
    assert_eq!(runs(&place), before + 2, "nothing is executed, and prices are kept");
    assert_eq!(calls(&traced), calls(&own));
    assert_eq!(traced["times"].as_array().unwrap().len(), 1, "{traced}");
}

#[test]
fn what_makes_no_bill_is_refused_before_anything_is_measured() {
    let place = Place::new();
    let text = place.root.path().join("text");
    std::fs::write(&text, "it took 12 seconds\n").unwrap();
    let text = text.display().to_string();
    for (words, why) in [
        (&["seccomp=allow"][..], "--counts"),
        (&["no-such-condition", "--", "true"], "no-such-condition"),
        (&["seccomp=allow", "--time", "3", "--", "true"], "cannot be used with"),
        (&["seccomp=allow", "-c", "2", "--", "true"], "leave --copies and --load out"),
        (&["seccomp=allow", "--runs", "2", "--", "true"], "are not for bills"),
        (&["seccomp=allow", "--counts", "/no/such/file"], "/no/such/file cannot be read"),
        (&["seccomp=allow", "--counts", &text], "it has no table of system calls"),
        (&["seccomp=allow", "--counts", &text, "--time", "soon"], "'soon' is not a duration"),
    ] {
        let output = place.unixmark("bill").args(words).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    assert!(!place.results().exists());
}
