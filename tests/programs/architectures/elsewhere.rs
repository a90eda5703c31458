//! What of the programs is Linux's alone: rows without `needs = ["linux"]` build and work without
//! it, those with it do not.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use catalogue::{Catalogue, Need, Test};

use testing::compiled::Build;

use super::each;
use crate::builds::program;
use crate::hand::{Hand, answers, arguments};

/// A C compiler with the headers and libraries of FreeBSD 14, as a Python package.
const ZIG: &str = "ziglang==0.17.1";

/// As if this were no Linux: what is Linux's alone is left out, and what is left runs here all the
/// same.
const NO_LINUX: Build = Build { cc: "gcc", flags: &["-O1", "-U__linux__"] };

/// Has a part for Linux alone, of the program or of an operation.
const PART: &str = "#ifdef __linux__";

fn rows() -> impl Iterator<Item = Arc<Test>> {
    Catalogue::load().unwrap().tests.into_iter().filter(|test| test.is_ours_in_c())
}

fn needs_linux(test: &Test) -> bool {
    test.needs.contains(&Need::Linux)
}

fn has_part(test: &Test) -> bool {
    test.units().any(|unit| {
        std::fs::read_to_string(testing::file("programs").join(unit)).unwrap().contains(PART)
    })
}

#[test]
#[ignore = "needs cross compilers and emulation"]
fn rows_of_a_program_with_a_part_for_linux_need_it_or_work_without_that_part() {
    // Programs that hold rows of both kinds; the others are whole or not at all (below).
    let portable: Vec<String> =
        rows().filter(|test| !needs_linux(test)).map(|test| test.program.clone()).collect();
    let rows: Vec<_> =
        rows().filter(|test| has_part(test) && portable.contains(&test.program)).collect();
    assert!(
        rows.iter().any(|test| needs_linux(test)) && rows.iter().any(|test| !needs_linux(test))
    );
    each(&rows, |test| {
        if needs_linux(test) {
            let why = refusal(test, &[]);
            assert!(why.starts_with("error unknown op="), "{} does not need Linux: {why}", test.id);
        } else {
            answers(test, &program(NO_LINUX, test), 20);
        }
    });
}

/// What a program says that does not become ready.
fn refusal(test: &Test, more: &[&str]) -> String {
    let mut program = Command::new(program(NO_LINUX, test));
    testing::stdout(&program.args(arguments(test, more)).stdin(Stdio::null()).output().unwrap())
}

#[test]
#[ignore = "needs cross compilers and emulation"]
fn what_every_program_takes_is_posix_or_a_skip() {
    let null = Catalogue::load().unwrap().test("null").unwrap().clone();
    for argument in ["cpu=0", "nice=19", "policy=other", "session=1", "prove_nice=1", "slowed=10"] {
        Hand::test(&null, &program(NO_LINUX, &null), &[argument]).go(20, 2);
    }
    for argument in [
        "slack=1",
        "timeslice=1000",
        "uclamp_min=1",
        "idle_latency=1",
        "cgroup=/",
        "seccomp=allow",
        "landlock=1",
    ] {
        let why = refusal(&null, &[argument]);
        assert!(why.starts_with("skip ") && why.contains("needs Linux"), "{argument}: {why}");
    }
    let why = refusal(&null, &["policy=batch"]);
    assert!(why.starts_with("error policy=batch is none of "), "{why}");
}

/// FreeBSD's own headers and libraries: slow, and a download of 100 MB.
#[test]
#[ignore = "needs cross compilers and emulation"]
fn every_program_builds_for_freebsd_or_its_rows_need_linux() {
    let Some(place) = testing::python_or_skip(ZIG) else { return };
    let zig = zig(&place);
    let mut programs: Vec<Arc<Test>> = Vec::new();
    for test in rows() {
        let is_known = |known: &Arc<Test>| {
            known.binary() == test.binary() && needs_linux(known) == needs_linux(&test)
        };
        if !programs.iter().any(is_known) {
            programs.push(test);
        }
    }
    let built: Vec<_> = programs
        .iter()
        .map(|test| {
            (test, zig.program(test.binary(), &test.units().collect::<Vec<_>>(), &test.define))
        })
        .collect();
    for (test, built) in &built {
        match built {
            Ok(_) => {
                assert!(
                    !needs_linux(test) || has_part(test),
                    "{} builds for FreeBSD: it needs no Linux",
                    test.id
                )
            }
            Err(why) => assert!(needs_linux(test), "{} needs Linux: {why}", test.id),
        }
    }
    let right = built.iter().filter(|(_, built)| built.is_ok()).count();
    println!("freebsd: {right} programs build, {} need Linux", built.len() - right);
    assert!(right > 20 && right < built.len());
}

/// Returns the compiler for FreeBSD in a Python's directory, where its own files go too.
fn zig(place: &Path) -> Build {
    let find = "import os, ziglang; print(os.path.dirname(ziglang.__file__))";
    let output = Command::new(place.join("bin/python")).args(["-c", find]).output().unwrap();
    let binary = Path::new(testing::stdout(&output).trim()).join("zig");
    let cache = place.join("cache");
    let caches =
        ["GLOBAL", "LOCAL"].map(|which| format!("ZIG_{which}_CACHE_DIR={}", cache.display()));
    let target = [
        "cc",
        "-target",
        "x86_64-freebsd",
        "-O1",
        "-lrt",
        "-lpthread",
        "-Wno-unused-command-line-argument",
    ];
    let words =
        caches.into_iter().chain([binary.display().to_string()]).chain(target.map(str::to_owned));
    let words = words.map(|word| &*word.leak()).collect::<Vec<&str>>();
    Build { cc: "env", flags: words.leak() }
}
