//! `ab --build`: a build is one sample.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use testing::{Place, stderr};

/// A source whose build is a script, which sleeps as long as the layout that its seed drew takes.
const BUILD: &str = "printf '#!/bin/sh\\n# %s\\nexec sleep 0.00%s\\n' $UNIXMARK_SEED \
                     $((UNIXMARK_SEED % 5 + 2)) >tool && chmod +x tool";

fn sources(place: &Place) -> [PathBuf; 2] {
    ["base", "head"].map(|name| {
        let folder = place.root.path().join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("source"), name).unwrap();
        folder
    })
}

fn ab(place: &Place, build: &str, more: &[&str]) -> std::process::Output {
    let [base, head] = sources(place);
    let mut tool = place.unixmark("ab -q --format json --runs 40");
    tool.arg("--base").arg(base).arg("--head").arg(head).args(["--build", build]);
    tool.args(more).args(["--", "./tool"]).output().unwrap()
}

#[test]
fn a_build_is_one_sample_and_its_layout_is_no_difference() {
    let place = Place::new();

    let output = ab(&place, BUILD, &["--builds", "5"]);

    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let time = &report["comparisons"][0];
    assert_eq!(time["units"]["unit"], "build");
    assert_eq!((&time["units"]["a"], &time["units"]["b"]), (&5.into(), &5.into()));
    // Five builds of each side sleep 2 to 6 ms: the same on both sides.
    assert!(time["units"]["deviation_percent"].as_f64() > Some(5.0), "{time}");
    assert!(time["low"].as_f64() < Some(0.0) && time["high"].as_f64() > Some(0.0), "{time}");
    let source = place.root.path().join("base");
    assert_eq!(fs::read_dir(source).unwrap().count(), 1, "the source is as it was");
    assert_eq!(fs::read_dir(place.scratch()).unwrap().count(), 0, "no build is left");
}

/// Builds that sleep by their seed, and that fail from some seed on.
fn ab_in_budget(place: &Place, build: &str) -> std::process::Output {
    let [base, head] = sources(place);
    let mut tool = place.unixmark("ab -q --format json --precision 0.1% --budget 20s");
    tool.arg("--base").arg(base).arg("--head").arg(head).args(["--build", build]);
    tool.args(["--builds", "4", "--", "./tool"]).output().unwrap()
}

#[test]
fn more_builds_are_made_where_more_executions_would_not_narrow_the_interval() {
    let place = Place::new();
    // From build to build 10 ms, and hardly anything from execution to execution.
    let build = BUILD.replace("0.00%s", "0.0%s");

    let output = ab_in_budget(&place, &build);

    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let units = &report["comparisons"][0]["units"];
    assert!(units["a"].as_u64() > Some(4) && units["a"] == units["b"], "{units}");
    assert_eq!(fs::read_dir(place.scratch()).unwrap().count(), 0, "no build is left");

    // The first eight builds have these seeds.
    let output = ab_in_budget(&Place::new(), &format!("test $UNIXMARK_SEED -le 8 && {build}"));
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["comparisons"][0]["units"]["a"], 4);
    let warnings = report["warnings"].to_string();
    assert!(
        warnings.contains("one more build failed, so the run ended with the builds that it had: "),
        "{warnings}"
    );
}

/// A loop of three instructions that is `padding` bytes behind the beginning of a cache line: from 54 on
/// it lies across two.
#[cfg(target_arch = "x86_64")]
const LOOP: &str = r#"const char *volatile name = NAME;
int main(void)
{
    long n = 30000000, sum = 0;
    __asm__ volatile(".p2align 6\n\t.skip " PADDING ", 0x90\n"
                     "1:\tadd $1, %1\n\tdec %0\n\tjnz 1b" : "+r"(n), "+r"(sum) : : "cc");
    return sum == 1;
}
"#;

/// No line of a source has changed, and its loop lies across a cache line in one file. Builds whose
/// loops lie anywhere are not called different by that.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_loop_across_a_cache_line_is_no_difference_of_sources() {
    let place = Place::new();
    let folder = place.root.path();
    fs::write(folder.join("loop.c"), LOOP).unwrap();
    let link = |name: &str, padding: u32| {
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-O1", "loop.c", "-o", name, &format!("-DPADDING=\"{padding}\"")]);
        // Two equal files would be one build.
        compiler.arg(format!("-DNAME=\"{name}\""));
        assert!(compiler.current_dir(folder).status().unwrap().success(), "{name}");
    };
    for (number, padding) in [1, 10, 20, 30, 40, 57, 60, 62].into_iter().enumerate() {
        link(&format!("old-{number}"), padding);
        link(&format!("new-{number}"), padding);
    }

    let mut tool = place.unixmark("ab -q --format json --budget 10s --builds old-* new-*");
    let output = tool.current_dir(folder).output().unwrap();

    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let compared = &report["comparisons"][0];
    assert!(["same", "undecided"].contains(&compared["verdict"].as_str().unwrap()), "{compared}");
}

#[test]
fn a_build_that_makes_no_sample_is_refused() {
    for (build, why) in [
        ("printf 'exec true' >tool; chmod +x tool", "the seed is not used"),
        ("true", "--build produced no ./tool for --base"),
        ("echo no compiler; false", "cannot be built with seed 1: `sh -c echo no compiler; false`"),
    ] {
        let place = Place::new();

        let output = ab(&place, build, &["--builds", "3"]);

        let said = stderr(&output);
        assert!(said.contains(why), "{said}");
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(!place.results().exists() || fs::read_dir(place.results()).unwrap().count() == 0);
    }
}

/// Without its seed, a build often has the path of its directory in it, so that no two are equal.
#[test]
fn builds_that_differ_in_no_instruction_are_warned_of() {
    let build = r#"printf 'const char *place = "%s"; int main(void) { return !*place; }' $PWD >tool.c
                   gcc -O1 $WITH_SEED tool.c -o tool"#;
    let with_seed = build
        .replace("$WITH_SEED", "-DSEED=$UNIXMARK_SEED")
        .replace("!*place", "*place ? 0 : SEED");
    let warning = "warning: ./tool has the same machine code in all builds of --base";
    for (build, is_warned) in [(build, true), (&with_seed, false)] {
        let place = Place::new();

        let output = ab(&place, build, &["--builds", "3"]);

        let said = stderr(&output);
        assert!(output.status.success(), "{said}");
        assert_eq!(said.contains(warning), is_warned, "{said}");
    }
}

/// Builds that are there already: a script each, which sleeps as long as its number says.
fn ready_builds(place: &Place, names: &[(&str, u32)]) {
    for (name, ms) in names {
        let script = format!("#!/bin/sh\n# {name}\necho '{{\"t\": {ms}}}'\nexec sleep 0.00{ms}\n");
        let path = place.root.path().join(name);
        fs::write(&path, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap();
    }
}

const READY: [(&str, u32); 7] = [
    ("old-1", 2),
    ("old-2", 3),
    ("old-3", 4),
    ("old-4", 5),
    ("new-1", 3),
    ("new-2", 4),
    ("new-3", 5),
];

#[test]
fn files_of_a_pattern_are_builds() {
    let place = Place::new();
    ready_builds(&place, &READY);
    for (words, label) in [
        (&[][..], "Command"),
        (&["--", "1"], "Command"),
        (&["--", "sh", "{build}"], "Command"),
        (&["--harness", "json", "--better", "lower:t"], "t"),
    ] {
        let mut tool = place.unixmark("ab -q --format json --runs 12 --builds ./old-* ./new-*");

        let output = tool.args(words).current_dir(place.root.path()).output().unwrap();

        assert!(output.status.success(), "{words:?}: {}", stderr(&output));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let one = &report["comparisons"][0];
        assert_eq!(one["condition"], "new-*", "{words:?}: {one}");
        assert_eq!(one["units"]["unit"], "build", "{words:?}: {one}");
        assert_eq!((&one["units"]["a"], &one["units"]["b"]), (&4.into(), &3.into()), "{words:?}");
        if label == "t" {
            assert_eq!(one["label"], "t");
            // Of the medians of 2, 3, 4, 5 and of 3, 4, 5.
            assert!(one["low"].as_f64() < Some(0.0) && one["high"].as_f64() > Some(0.0), "{one}");
        }
    }
}

#[test]
fn files_that_make_no_sample_are_refused() {
    let place = Place::new();
    ready_builds(&place, &READY);
    fs::copy(place.root.path().join("old-1"), place.root.path().join("twin-1")).unwrap();
    for (words, why) in [
        ("--builds old-* none-*", "'none-*' names 0 files"),
        ("--builds old-* new-[12]", "'new-[12]' names 2 files, and each side has 3 to 64 builds"),
        ("--builds old-* old-*", "are the same file"),
        ("--builds [to][wl][id]* new-*", "old-1 and"),
        ("--builds old-1 old-2 old-3", "quote the patterns"),
        ("--builds 8", "two quoted patterns"),
        ("--builds 8 -- ./tool", "two quoted patterns"),
        ("--builds [ new-*", "'[' is no pattern of files"),
    ] {
        let mut tool = place.unixmark("ab -q");
        let words: Vec<&str> = words.split(' ').collect();

        let output = tool.args(words).current_dir(place.root.path()).output().unwrap();

        assert!(stderr(&output).contains(why), "{why}: {}", stderr(&output));
        assert!(!output.status.success(), "{why}");
    }
}

#[test]
fn figures_that_builds_print_have_builds_as_samples() {
    let place = Place::new();
    let build = "printf '#!/bin/sh\\necho {\\\\\"t\\\\\": %s}\\n' $((UNIXMARK_SEED % 5 + 2)) >tool; \
                 chmod +x tool";

    let more = ["--builds", "5", "--harness", "json", "--better", "lower:t"];
    let output = ab(&place, build, &more);

    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let figure = &report["comparisons"][0];
    assert_eq!((&figure["label"], &figure["units"]["a"]), (&"t".into(), &5.into()), "{figure}");
}
