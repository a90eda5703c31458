//! The real programs: they compile clean, run clean under sanitizers, give right answers, do the
//! work they claim, and keep to the protocol. Relations and counts, never speeds.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use catalogue::{Catalogue, Need, Processor, Test};

use testing::Machine;
use testing::compiled::{Build, SANITIZED, UNIXBENCH};

use crate::builds::{builds, measured, program};
use crate::hand::{AT_ONCE, Hand, SOON, answers, verify};

/// Every test whose program is in C; the others have tests/tool/graphics.rs.
fn tests() -> impl Iterator<Item = Arc<Test>> {
    Catalogue::load().unwrap().tests.into_iter().filter(|test| test.is_ours_in_c())
}

/// One test per binary.
fn binaries() -> Vec<Arc<Test>> {
    let mut seen = BTreeMap::new();
    for test in tests() {
        seen.entry(test.binary().to_owned()).or_insert(test);
    }
    seen.into_values().collect()
}

/// One rate test per binary; the others are in frames.rs, chains.rs and loads.rs.
fn rates() -> impl Iterator<Item = Arc<Test>> {
    binaries().into_iter().filter(|test| test.is_rate())
}

/// Whether what the program of the test needs is installed.
fn runnable(test: &Test) -> bool {
    test.needs
        .iter()
        .all(|need| if let Need::Tool { name, .. } = need { testing::has(name) } else { true })
}

/// Does `work` on every item, eight at a time: most of them wait for a window's end.
pub fn each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _shared = Machine::shared();
            work(item);
        }
    };
    std::thread::scope(|scope| (0..8).for_each(|_| drop(scope.spawn(worker))));
}

/// Returns `Ok` if a relation between counts holds in one of ten looks, or what the last one found:
/// a machine may be disturbed for seconds.
pub fn holds(mut look: impl FnMut() -> Result<(), String>) -> Result<(), String> {
    (0..9).fold(look(), |found, _| found.or_else(|_| look()))
}

#[test]
fn no_compiler_warns() {
    let items: Vec<_> = builds()
        .into_iter()
        .flat_map(|build| binaries().into_iter().map(move |test| (build, test)))
        .collect();
    each(&items, |(build, test)| drop(program(*build, test)));
}

/// Warnings that need the optimiser come with the usual standard; the next one is only read.
#[test]
fn the_next_c_standard_takes_every_program() {
    for build in builds().into_iter().filter(|build| build.flags == UNIXBENCH) {
        build.reads_as_gnu2x(&testing::kit(), &[]).unwrap();
        each(&binaries(), |test| {
            let units: Vec<String> = test.units().collect();
            build.reads_as_gnu2x(&units, &test.define).unwrap_or_else(|why| panic!("{why}"));
        });
    }
}

#[test]
#[ignore = "compiles all with sanitizers"]
fn every_test_gives_right_answers_under_sanitizers() {
    let tests: Vec<_> = tests().filter(|test| test.is_rate()).collect();
    each(&tests, |test| {
        let binary = program(Build { cc: "gcc", flags: SANITIZED }, test);
        if runnable(test) {
            answers(test, &binary, 50);
        }
    });
}

/// A row of each program; where all must run every row, and those whose work is the processor's
/// alone in other builds too.
#[test]
fn every_test_gives_right_answers_as_it_is_measured() {
    let all = testing::all_must_run();
    let wanted = |build: &Build, test: &Test| {
        let first = || rates().any(|first| first.id == test.id);
        let is_processor_s = ["cpu", "memory"].contains(&test.category.as_str());
        match build.flags {
            UNIXBENCH if build.cc != "clang" => all || first(),
            UNIXBENCH => is_processor_s || first(),
            _ => is_processor_s,
        }
    };
    let tests: Vec<_> = tests().filter(|test| test.is_rate()).collect();
    let rows = |build: Build| {
        tests.iter().filter(move |test| wanted(&build, test)).map(move |test| (build, test))
    };
    let items: Vec<_> = builds().into_iter().flat_map(rows).collect();
    let catalogue = Catalogue::load().unwrap();
    let processor = processor(&catalogue);
    each(&items, |(build, test)| {
        let binary = program(*build, test);
        if runnable(test) {
            let said = || answers(test, &binary, if all { 100 } else { 25 });
            holds(|| bounded(test, &said(), (&catalogue, processor)))
                .unwrap_or_else(|why| panic!("{build:?}: {why}"));
        }
    });
}

/// Work that is optimised away is faster than the processor can be: by the clock that a program
/// measured beside it, none is. A tenth is allowed to the clock, which other guests of the machine
/// change in the middle.
fn bounded(
    test: &Test,
    said: &str,
    (catalogue, processor): (&Catalogue, Option<&Processor>),
) -> Result<(), String> {
    let value = |name: &str| {
        let mut lines = said
            .lines()
            .filter_map(|line| line.strip_prefix("value ")?.strip_prefix(name)?.strip_prefix(' '));
        lines.next()?.split(' ').next()?.parse::<f64>().ok()
    };
    let (Some(best), Some(clock)) = (value("best"), value("clock")) else {
        return Ok(());
    };
    // By hand no program is told of cores whose additions take two cycles.
    let cycles = best * clock * processor.map_or(1.0, |processor| processor.limits["add_latency"]);
    if cycles <= 1.0 / 512.0 {
        return Err(format!("{} does a unit of its work in {cycles} cycles", test.id));
    }
    let Some(figure) =
        catalogue.figures.iter().find(|figure| Some(&figure.id) == test.limit.as_ref())
    else {
        return Ok(());
    };
    let known = processor.and_then(|processor| processor.limits.get(&figure.id));
    // What one addition takes is known of every processor.
    let least = match known.or((figure.id == "add_latency").then_some(&1.0)) {
        Some(limit) if figure.is_cycles() => *limit,
        Some(limit) => 1.0 / limit,
        None => return Ok(()),
    };
    if cycles > least * 0.9 {
        return Ok(());
    }
    Err(format!("{} takes {cycles} cycles and cannot take less than {least}", test.id))
}

fn processor(catalogue: &Catalogue) -> Option<&Processor> {
    let facts = ::machine::facts(&::machine::Machine::here(), Path::new("/"));
    let fact =
        |name: &str| facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.clone());
    let x86 = || catalogue.processor(&fact("cpu.vendor")?, &fact("cpu.stepping")?);
    fact("cpu.core").and_then(|core| catalogue.core(&core)).or_else(x86)
}

/// The processor time of a window in ns: the program's own in user and kernel mode, and its
/// children's.
fn processor_ns(said: &str) -> Vec<f64> {
    let usage = said.lines().find_map(|line| line.strip_prefix("usage ")).unwrap();
    usage.split(' ').take(4).map(|number| number.parse().unwrap()).collect()
}

/// Told that an addition takes 16 cycles, a program finds a clock 16 times as fast, as a rate and
/// beside one; what it counts otherwise stays as it is.
#[test]
fn the_clock_is_by_what_an_addition_takes() {
    let catalogue = Catalogue::load().unwrap();
    let figure = |id: &str, more: &[&str]| {
        let said =
            Hand::test(catalogue.test(id).unwrap(), &measured(catalogue.test(id).unwrap()), more)
                .go(20, 4);
        let clock: Vec<&str> =
            said.lines().filter_map(|line| line.strip_prefix("value clock ")).collect();
        let count = verify(catalogue.test(id).unwrap(), &said) as f64;
        // Other work on the machine takes processor time, not counts for it.
        (
            count / processor_ns(&said)[..2].iter().sum::<f64>(),
            clock[0].split(' ').next().unwrap().parse::<f64>().unwrap(),
        )
    };
    let times =
        |now: f64, before: f64, wanted: f64| (wanted * 0.7..wanted * 1.4).contains(&(now / before));
    let found = holds(|| {
        for (id, of_counts) in [("core-clock", 16.0), ("int-add-chain", 1.0)] {
            let (usual, fake) = (figure(id, &[]), figure(id, &["add_cycles=16"]));
            if !times(fake.0, usual.0, of_counts) || !times(fake.1, usual.1, 16.0) {
                return Err(format!(
                    "{id}: counts and clock {usual:?}, told of 16 cycles {fake:?}"
                ));
            }
        }
        Ok(())
    });
    assert!(found.is_ok(), "{found:?}");
}

/// A wrong answer is noticed: of a kernel of the processor, of memory that is not what was written,
/// of a block of a file.
#[test]
fn a_planted_error_is_found() {
    let catalogue = Catalogue::load().unwrap();
    for (id, check) in [
        ("float-fma", "right"),
        ("sin", "sum"),
        ("copy-l1", "after"),
        ("disk-read-4k", "wrong_blocks"),
    ] {
        let test = catalogue.test(id).unwrap();
        let binary = measured(test);
        for (word, good) in [("wrong=0", true), ("wrong=1", false)] {
            let said = Hand::test(test, &binary, &[word]).go(100, 2);
            if let Some(why) = said.lines().find(|line| line.starts_with("skip ")) {
                testing::skip(&format!("{id}: {why}"));
                continue;
            }
            let line = said
                .lines()
                .find_map(|line| line.strip_prefix(&format!("check {check} ")))
                .unwrap_or_else(|| panic!("{said}"));
            assert_eq!(
                test.checks[check].accepts(line.parse().unwrap()),
                good,
                "{id} {word}: {line}"
            );
        }
    }
}

/// Arrays for memory are smaller where it has no room for four times the largest cache, before they
/// are refused.
#[test]
fn arrays_shrink_before_they_are_refused() {
    let binary = measured(Catalogue::load().unwrap().test("triad-ram").unwrap());
    let said =
        |copies: u64| Hand::with(&binary, ["op=triad", "size=ram", &format!("copies={copies}")]);
    let refused = said(1_000_000).line();
    let numbers: Vec<u64> =
        refused.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [mib, available] = numbers[..] else { panic!("{refused}") };
    // A quarter of what is wanted is little more than the cache, and leaves room for what other
    // tests take or give back.
    let said = said(2 * available / mib).go(50, 1);
    assert!(said.contains("note each array has "), "{said}");
    let size: u64 = said
        .lines()
        .find_map(|line| line.strip_prefix("value size ")?.split(' ').next()?.parse().ok())
        .unwrap();
    assert!((mib << 20) / 6 < 3 * size && 3 * size < (mib << 20) / 2, "{said}");
}

/// Threads are copies: each is told, and what they count together is what one program does.
#[test]
fn threads_are_told_one_by_one() {
    let test = Catalogue::load().unwrap().test("atomic-shared").unwrap().clone();
    let binary = measured(&test);
    let said = Hand::with(&binary, ["threads=3", "cpu=0"]).go(100, 3);
    let copies: Vec<&str> = said.lines().filter(|line| line.starts_with("copy ")).collect();
    assert_eq!(copies, ["copy 0", "copy 1", "copy 2"], "{said}");
    assert_eq!(said.matches("slice ").count(), 9, "{said}");
}

/// A piece of work that outlasts the first slices leaves them without work and without length.
#[test]
fn slices_before_the_first_completion_are_empty() {
    let test = Catalogue::load().unwrap().test("move-50m").unwrap().clone();
    let said = Hand::test(&test, &measured(&test), &[]).go(1, 200);
    verify(&test, &said);
    let first = said.lines().find(|line| line.starts_with("slice ")).unwrap();
    let words: Vec<&str> = first.split(' ').collect();
    assert_eq!((words[1], words[3]), (words[2], "0"), "{said}");
}

#[test]
fn the_end_of_stdin_ends_every_program() {
    let tests: Vec<_> = rates().filter(|test| runnable(test)).collect();
    each(&tests, |test| {
        let binary = measured(test);
        // While it waits for go.
        let mut hand = Hand::test(test, &binary, &[]);
        hand.close();
        hand.end(AT_ONCE);
        // In the middle of a window of a hundred seconds.
        let mut hand = Hand::test(test, &binary, &[]);
        if hand.line() != "ready" {
            return;
        }
        hand.say("go 0 1000000000 100");
        hand.heard();
        hand.close();
        let said = hand.end(AT_ONCE).said;
        assert!(said == "ready\n", "{} reports an unfinished window: {said}", test.id);
    });
}

#[test]
fn a_load_reports_what_it_achieved() {
    let catalogue = Catalogue::load().unwrap();
    for id in ["syscall", "execl", "shell1", "whetstone-double"] {
        let test = catalogue.test(id).unwrap();
        let binary = measured(test);
        let mut hand = Hand::test(test, &binary, &[]);
        assert_eq!(hand.line(), "ready");
        hand.say("go 0 250000000 0");
        hand.works();
        hand.close();
        let said = hand.end(AT_ONCE).said;
        assert!(said.ends_with("done\n") && said.matches("slice ").count() == 1, "{id}: {said}");
        verify(test, &said);
    }
}

/// A script that fails is an error, not a fast pass.
#[test]
fn a_failing_script_is_noticed() {
    let test = Catalogue::load().unwrap().test("shell8").unwrap().clone();
    let binary = measured(&test);
    let script = testing::file("programs/shell/multi.sh").display().to_string();
    // The scripts write to the current directory: on /proc they cannot, whoever runs them.
    let mut child = Command::new(binary);
    child.args(["--", &script, "2"]).current_dir("/proc").stdin(Stdio::null());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.starts_with("error ") && said.contains("multi.sh ended with exit status"),
        "{said}"
    );
}

#[test]
fn wrong_arguments_are_named() {
    let catalogue = Catalogue::load().unwrap();
    for (id, word, mark) in [
        ("pipe", "nonsense=1", "nonsense"),
        ("syscall", "mode=sideways", "mode"),
        ("hanoi", "disks=-1", "disks"),
        ("fstime", "block=lots", "block"),
        ("null", "nice=99", "nice"),
    ] {
        let test = catalogue.test(id).unwrap();
        let binary = measured(test);
        let said = Hand::with(&binary, [word]).end(SOON).said;
        assert!(said.starts_with("error ") && said.contains(mark), "{id} {word}: {said}");
    }
}

/// `pgms/fstime -d /tmp` works where others may write, who know the names of its files.
#[test]
fn a_link_under_the_name_of_a_file_is_not_followed() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "kept").unwrap();
    let test = Catalogue::load().unwrap().test("fstime").cloned().unwrap();
    let script = "ln -s \"$1\" dummy0-$$ && shift && exec \"$@\"";
    let mut words = ["-c", script, "sh"].map(str::to_owned).to_vec();
    words.extend([&victim, &measured(&test)].map(|path| path.display().to_string()));
    words.extend(crate::hand::arguments(&test, &[]));
    verify(&test, &Hand::with(Path::new("sh"), &words).go(50, 1));
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
}

/// UnixBench's arithmetic tests are optimised away; ours take longer the more they have to do.
#[test]
fn arithmetic_takes_longer_the_more_steps_it_has() {
    let catalogue = Catalogue::load().unwrap();
    for build in builds().into_iter().filter(|build| build.flags == UNIXBENCH) {
        let tests = ["arithoh", "short", "int", "long", "float", "double", "register"]
            .map(|id| catalogue.test(id).unwrap());
        each(&tests, |test| drop(program(build, test)));
        let _alone = Machine::alone();
        for test in tests {
            let count = |steps: &str| {
                verify(test, &Hand::test(test, &program(build, test), &[steps]).go(25, 2)) as f64
            };
            let relation = holds(|| {
                let ratio = count("steps=17") / count("steps=170");
                let right = (3.0..30.0).contains(&ratio);
                right
                    .then_some(())
                    .ok_or_else(|| format!("ten times the steps take {ratio} times as long"))
            });
            assert_eq!(relation, Ok(()), "{}, {}", build.cc, test.id);
        }
    }
}

/// The divisions are really in the code: a type with its divide takes longer than the empty loop.
#[test]
fn arithmetic_divides() {
    let catalogue = Catalogue::load().unwrap();
    let types = ["short", "int", "long", "float", "double", "register"]
        .map(|id| catalogue.test(id).unwrap());
    let empty = catalogue.test("arithoh").unwrap();
    each(&types, |test| drop((measured(test), measured(empty))));
    let _alone = Machine::alone();
    let count =
        |test: &Test| verify(test, &Hand::test(test, &measured(test), &[]).go(25, 2)) as f64;
    for test in types {
        let relation = holds(|| {
            let ratio = count(empty) / count(test);
            (ratio > 1.5).then_some(()).ok_or_else(|| format!("{ratio} times the empty loop"))
        });
        assert_eq!(relation, Ok(()), "{}", test.id);
    }
}

#[test]
fn counts_grow_with_the_window() {
    let catalogue = Catalogue::load().unwrap();
    let mut tests = catalogue.expand(&["index".to_owned()]).unwrap();
    tests.retain(|test| test.value.is_none() && test.id != "shell8");
    each(&tests, |test| drop(measured(test)));
    let _alone = Machine::alone();
    for test in &tests {
        let count =
            |slices| verify(test, &Hand::test(test, &measured(test), &[]).go(100, slices)) as f64;
        let relation = holds(|| {
            let (short, long) = (count(1), count(6));
            (long / short > 3.0)
                .then_some(())
                .ok_or_else(|| format!("{short} in 100 ms, {long} in 600 ms"))
        });
        assert_eq!(relation, Ok(()), "{}", test.id);
    }
}

/// What `LC_ALL=C` tools say of the data, against the shape UnixBench's has.
#[test]
fn the_shell_tests_data_has_unixbench_s_shape() {
    let text = std::fs::read_to_string(testing::file("programs/shell/sort.txt")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let mut distinct = lines.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let lengths = |from: usize, to: usize| {
        lines.iter().filter(|line| (from..to).contains(&line.len())).count()
    };
    assert_eq!(
        (text.len(), lines.len(), text.split_whitespace().count(), distinct.len()),
        (8546, 362, 1200, 273)
    );
    assert_eq!(
        [lengths(0, 20), lengths(20, 40), lengths(40, 60), lengths(60, 80), lengths(80, 1000)],
        [196, 90, 56, 19, 1]
    );
    assert_eq!(lines.iter().map(|line| line.len()).max(), Some(82));
    let with: Vec<&&str> = lines.iter().filter(|line| line.contains("the")).collect();
    assert_eq!((with.len(), with.iter().map(|line| line.len() + 1).sum::<usize>()), (35, 924));
    assert!(text.is_ascii());
    let mut od = Command::new("sh");
    let od = od
        .args(["-c", "LC_ALL=C sort sort.txt | od"])
        .current_dir(testing::file("programs/shell"))
        .output();
    let od = String::from_utf8(od.unwrap().stdout).unwrap();
    assert_eq!((od.lines().count(), od.len()), (536, 34_013));
}

/// The portable programs answer to their names, from a multi-call binary of less than 4 MB: every
/// row's with its arguments where all must run, else a quarter of the programs. Four runs at once,
/// since a run waits most of its time; what was too slow beside others is run again alone.
#[test]
fn the_portable_build_has_every_program() {
    let every = || Catalogue::load().unwrap().tests.into_iter().filter(|test| test.is_rate());
    let some = || rates().step_by(4);
    let all: Vec<_> = if testing::all_must_run() { every().collect() } else { some().collect() };
    let parts: Vec<Vec<String>> = (0..4)
        .map(|part| all.iter().skip(part).step_by(4).map(|test| test.id.clone()).collect())
        .collect();
    let slow = Mutex::new(Vec::new());
    each(&parts, |part| slow.lock().unwrap().extend(portable(part)));
    let slow = slow.into_inner().unwrap();
    assert!(slow.len() < 10, "{slow:?}");
    if !slow.is_empty() {
        let _alone = Machine::alone();
        assert!(portable(&slow).is_empty(), "{slow:?}");
    }
}

/// Runs tests with the portable build; returns those that completed nothing within their window.
fn portable(tests: &[String]) -> Vec<String> {
    let place = testing::Place::new();
    let cache = place.root.path().join("cache");
    let mut tool = place.unixmark("run -c 1 -i 1 -q --procedure quick --build portable --dir");
    let output =
        tool.arg(place.scratch()).args(tests).env("XDG_CACHE_HOME", &cache).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", testing::stderr(&output));
    let report = place.json("latest");
    let told = ["results", "skipped", "errors"].map(|rows| report[rows].as_array().unwrap().len());
    assert_eq!(told.iter().sum::<usize>(), tests.len(), "{report}");
    assert_eq!(report["run"]["build"]["name"], "portable");
    let folder = testing::build(&cache, "portable-");
    for program in std::fs::read_dir(folder.join("bin")).unwrap() {
        assert!(program.unwrap().metadata().unwrap().len() < 4 << 20);
    }
    let slow = |error: &serde_json::Value| {
        assert!(
            error["reason"].as_str().unwrap().contains("no work in its whole window"),
            "{error}"
        );
        error["test"].as_str().unwrap().to_owned()
    };
    report["errors"].as_array().unwrap().iter().map(slow).collect()
}

/// What a slowed program wastes is a share of its own processor time and of that of the children it
/// waits for.
#[test]
fn what_is_wasted_counts_children() {
    let test = Catalogue::load().unwrap().test("spawn").unwrap().clone();
    // The program's own processor time, as a multiple of its children's.
    let own = |arguments: &[&str]| {
        let said = Hand::test(&test, &measured(&test), arguments).go(100, 5);
        let ns = processor_ns(&said);
        (ns[0] + ns[1]) / (ns[2] + ns[3])
    };
    holds(|| {
        let _alone = Machine::alone();
        let (plain, slowed) = (own(&[]), own(&["slowed=50"]));
        // Half is wasted: as much as it and its children work. If only its own work counted, its
        // time would merely double.
        let told = format!("{plain} times its children's becomes {slowed}");
        if slowed > 2.0 * plain + 0.5 { Ok(()) } else { Err(told) }
    })
    .unwrap();
}
