//! The tables are lint-free: what a row names exists, and everything that exists has a row.
#![cfg(test)]

extern crate unixmark_catalogue as catalogue;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use catalogue::{Arithmetic, Catalogue, Copies, Means, Metric, Need, Role, Test};

fn catalogue() -> Catalogue {
    Catalogue::load().unwrap()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            if path.is_dir() { files(&path) } else { vec![path] }
        })
        .collect()
}

fn programs() -> PathBuf {
    testing::file("programs")
}

#[test]
fn names_are_unique_and_typeable() {
    let catalogue = catalogue();
    let mut seen = BTreeSet::new();
    // will-it-scale's own names have underscores.
    let theirs = |test: &Test| test.category == "will-it-scale";
    let (theirs, ours): (Vec<_>, Vec<_>) = catalogue.tests.iter().partition(|test| theirs(test));
    assert!(
        theirs.iter().all(|test| catalogue::is_typeable(&test.id) && seen.insert(test.id.clone()))
    );
    let groups = catalogue.groups.iter().map(|group| &group.id);
    for id in ours.iter().map(|test| &test.id).chain(groups) {
        assert!(seen.insert(id.clone()), "two rows are called {id}");
        assert!(
            id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || id == "context_switch1"),
            "{id} is awkward to type"
        );
        assert_ne!(id, "all", "`all` is every test");
    }
    assert_eq!(catalogue.switches[0].id, "none", "the first condition is none");
    assert!(!seen.contains("none"), "`none` is no load");
}

#[test]
fn every_row_is_documented() {
    let catalogue = catalogue();
    for test in &catalogue.tests {
        let words = test.doc.split_whitespace().count();
        assert!(words >= 12, "{}: say what it exercises and what it does not show", test.id);
        assert!(
            test.doc.contains("not") || test.doc.contains("no "),
            "{}: say what it does not show",
            test.id
        );
        assert!(!test.unit.is_empty() && !test.label.is_empty(), "{}", test.id);
    }
    assert!(catalogue.groups.iter().all(|group| !group.doc.trim().is_empty()));
}

#[test]
fn every_program_exists_and_no_c_file_is_an_orphan() {
    let mut used = BTreeSet::new();
    for test in &catalogue().tests {
        let library = test.library.iter().map(|library| format!("{library}.c"));
        for unit in test.units().chain(library) {
            assert!(
                programs().join(&unit).is_file(),
                "{}: programs/{unit} does not exist",
                test.id
            );
            used.insert(programs().join(unit));
        }
    }
    for file in
        files(&programs()).iter().filter(|file| file.extension().is_some_and(|end| end == "c"))
    {
        let kit = file.parent() == Some(&*programs());
        assert!(kit || used.contains(file), "{} belongs to no test", file.display());
    }
}

#[test]
fn scripts_and_data_exist() {
    for test in &catalogue().tests {
        for word in test.args.iter().chain(&test.command) {
            if let Some((_, name)) = word.split_once("{programs}/") {
                assert!(
                    programs().join(name).is_file(),
                    "{}: programs/{name} does not exist ({word})",
                    test.id
                );
            }
        }
    }
}

#[test]
fn a_binary_has_one_meaning() {
    let mut meanings: BTreeMap<String, (Vec<String>, Vec<String>)> = BTreeMap::new();
    // The graphics program is one for all of its tests.
    for test in catalogue().tests.iter().filter(|test| test.graphics().is_none()) {
        let meaning = (test.units().collect(), test.define.clone());
        let known = meanings.entry(test.binary().to_owned()).or_insert_with(|| meaning.clone());
        assert_eq!(*known, meaning, "{}: two programs are called {}", test.id, test.binary());
    }
}

#[test]
fn groups_name_tests_and_end() {
    let catalogue = catalogue();
    for group in &catalogue.groups {
        let tests = catalogue.expand(std::slice::from_ref(&group.id)).unwrap();
        assert!(!tests.is_empty(), "{} is empty", group.id);
    }
    let all = catalogue.expand(&["all".to_owned()]).unwrap();
    assert!(
        all.len() > 100 && all.iter().all(|test| test.is_rate()),
        "every test with a rate, and no load"
    );
    let index: Vec<String> = catalogue
        .expand(&["index".to_owned()])
        .unwrap()
        .iter()
        .map(|test| test.id.clone())
        .collect();
    assert_eq!(index.len(), 12);
    let baselined = catalogue.tests.iter().filter(|test| test.baseline.contains_key("system"));
    assert!(
        baselined.clone().count() == 12 && baselined.clone().all(|test| index.contains(&test.id))
    );
}

#[test]
fn limits_are_known() {
    let catalogue = catalogue();
    let figures: BTreeSet<&str> =
        catalogue.figures.iter().map(|figure| figure.id.as_str()).collect();
    for test in &catalogue.tests {
        let known = |limit: &str| match limit.strip_prefix("test:") {
            Some(id) => catalogue.test(id).is_some(),
            None => limit == "link" || figures.contains(limit),
        };
        assert!(test.limit.as_deref().is_none_or(known), "{}: no limit {:?}", test.id, test.limit);
    }
    let mut cores = BTreeSet::new();
    for processor in &catalogue.processors {
        let name = &processor.name;
        assert!(processor.source.len() > 20, "{name}: where is it from?");
        assert_eq!(
            processor.cores.is_empty(),
            !processor.models.is_empty(),
            "{name}: models of x86, or cores"
        );
        // Two rows with one core, or a core that begins like another, would hide each other.
        for core in &processor.cores {
            assert_eq!(catalogue.core(core).map(|found| &found.name), Some(name), "{core}");
            assert!(cores.insert(core), "{name}: {core} twice");
        }
        assert!(
            processor.limits.contains_key("add_latency"),
            "{name}: the clock is measured by additions"
        );
        for (figure, value) in &processor.limits {
            assert!(
                figures.contains(figure.as_str()) && *value > 0.0,
                "{}: {figure}",
                processor.name
            );
        }
    }
    assert_eq!(
        catalogue.processor("AuthenticAMD", "25 1 1").map(|processor| processor.limits["flop64"]),
        Some(16.0)
    );
    assert!(
        catalogue.processor("GenuineIntel", "6 999 1").is_none()
            && catalogue.processor("", "").is_none()
    );
}

/// A test whose clock serves others reports GHz, and only rates lose their fractions.
#[test]
fn clocks_and_fractions_are_of_rates() {
    let catalogue = catalogue();
    for test in &catalogue.tests {
        let clock =
            test.clock.as_ref().map(|clock| catalogue.test(clock).map(|clock| clock.unit.as_str()));
        assert!(clock.is_none_or(|unit| unit == Some("GHz")), "{}: no test of a clock", test.id);
        assert!(
            !test.truncate || (test.metric == Metric::Rate && test.value.is_none()),
            "{}: truncate",
            test.id
        );
    }
}

/// Copies that are threads need the code for it, and everything that does not belong to UnixBench
/// is in a group of its kind.
#[test]
fn copies_and_groups_fit() {
    let catalogue = catalogue();
    let kinds = [
        "cpu",
        "memory",
        "thread",
        "kernel",
        "calls",
        "lebench",
        "lmbench",
        "disk",
        "session",
        "2d",
        "3d",
        "will-it-scale",
    ];
    let scale = catalogue.expand(&kinds.map(str::to_owned)).unwrap();
    for test in &catalogue.tests {
        let team = test.sources.iter().any(|unit| unit == "thread/team");
        assert!(!test.can_be(Copies::Threads) || team, "{}: its threads need thread/team", test.id);
        let display = test.graphics().is_some();
        assert!(!display || test.copies == Copies::One, "{}: a display is one", test.id);
        // Tests of files are the group `disk`.
        let is_of_kind = test.category == "file" || kinds.contains(&&*test.category);
        if is_of_kind && test.is_rate() {
            assert!(scale.iter().any(|known| known.id == test.id), "{} is in no group", test.id);
        }
    }
}

/// will-it-scale's names, and those of any test that offers both kinds of copies.
#[test]
fn names_say_what_copies_are() {
    let catalogue = catalogue();
    for (name, ids) in [
        ("unlink2_threads", vec!["unlink2:as=threads"]),
        ("page_fault1_processes", vec!["page_fault1"]),
        ("mmap_threads", vec!["mmap:as=threads"]),
        ("mmap:as=threads", vec!["mmap:as=threads"]),
        ("mmap:as=processes", vec!["mmap"]),
        ("pipe:nice=5:as=threads", vec!["pipe:nice=5:as=threads"]),
        ("mutex_threads", vec!["mutex"]),
        ("context_switch1_processes", vec!["context1"]),
    ] {
        let tests = catalogue.expand(&[name.to_owned()]).unwrap();
        let found: Vec<&str> = tests.iter().map(|test| test.id.as_str()).collect();
        assert_eq!(found, ids, "{name}");
    }
    let threads = catalogue.expand(&["will-it-scale_threads".to_owned()]).unwrap();
    assert!(threads.iter().all(|test| test.copies == Copies::Threads));
    assert_eq!(threads.len(), catalogue.expand(&["will-it-scale".to_owned()]).unwrap().len());

    for (name, refusal) in [
        ("signal_threads", "signal cannot run as threads: its copies are processes"),
        ("mutex_processes", "mutex cannot run as processes: its copies are threads"),
        ("core-to-core_threads", "core-to-core cannot run as threads: it never has more"),
        ("mmap:as=fibres", "copies cannot be 'fibres'; try mmap:as=threads or mmap:as=processes"),
        ("nosuch_threads", "there is no test or group 'nosuch_threads'"),
    ] {
        let said = catalogue.expand(&[name.to_owned()]).unwrap_err().to_string();
        assert!(said.contains(refusal), "{name}: {said}");
    }
}

/// Each case of the table in C is a row, and each row one of its cases.
#[test]
fn will_it_scale_has_a_row_for_each_case() {
    let cases = std::fs::read_to_string(testing::file("programs/kernel/cases.h")).unwrap();
    let cases: BTreeSet<&str> =
        cases.lines().filter_map(|line| line.strip_prefix("CASE(")?.split(',').next()).collect();
    let catalogue = catalogue();
    let rows: BTreeSet<&str> = catalogue
        .tests
        .iter()
        .filter(|test| test.program == "kernel/contend")
        .map(|test| test.id.as_str())
        .collect();
    assert_eq!(rows, cases);
}

#[test]
fn baselines_belong_to_indexes() {
    let catalogue = catalogue();
    for test in &catalogue.tests {
        for (index, value) in &test.baseline {
            assert!(
                catalogue.indexes.iter().any(|row| row.id == *index),
                "{}: no index {index}",
                test.id
            );
            assert!(*value > 0.0);
        }
    }
    let byte3 = catalogue.indexes.iter().find(|index| index.id == "byte3").unwrap();
    assert_eq!(byte3.arithmetic, Arithmetic::Arithmetic);
    assert_eq!(
        catalogue.tests.iter().filter(|test| test.baseline.contains_key("byte3")).count(),
        6
    );
}

/// UnixBench's table (facts: labels, units, passes, lengths and baselines of 6.0.0).
#[test]
fn the_index_is_unixbench_s() {
    let catalogue = catalogue();
    for (id, label, unit, seconds, passes, baseline) in [
        ("dhry2reg", "Dhrystone 2 using register variables", "lps", 10, 10, 116_700.0),
        ("whetstone-double", "Double-Precision Whetstone", "MWIPS", 10, 10, 55.0),
        ("execl", "Execl Throughput", "lps", 30, 3, 43.0),
        ("fstime", "File Copy 1024 bufsize 2000 maxblocks", "KBps", 30, 3, 3960.0),
        ("fsbuffer", "File Copy 256 bufsize 500 maxblocks", "KBps", 30, 3, 1655.0),
        ("fsdisk", "File Copy 4096 bufsize 8000 maxblocks", "KBps", 30, 3, 5800.0),
        ("pipe", "Pipe Throughput", "lps", 10, 10, 12_440.0),
        ("context1", "Pipe-based Context Switching", "lps", 10, 10, 4000.0),
        ("spawn", "Process Creation", "lps", 30, 3, 126.0),
        ("shell1", "Shell Scripts (1 concurrent)", "lpm", 60, 3, 42.4),
        ("shell8", "Shell Scripts (8 concurrent)", "lpm", 60, 3, 6.0),
        ("syscall", "System Call Overhead", "lps", 10, 10, 15_000.0),
    ] {
        let test = catalogue.test(id).unwrap();
        assert_eq!((test.label.as_str(), test.unit.as_str()), (label, unit));
        assert_eq!((test.classic.seconds, test.classic.passes), (seconds, passes), "{id}");
        assert_eq!(test.baseline["system"], baseline, "{id}");
        assert_eq!(test.timebase, if unit == "lpm" { 60.0 } else { 1.0 }, "{id}");
    }
}

/// UnixBench's graphics tests (facts §1.10, baseline table).
#[test]
fn the_graphics_indices_are_unixbench_s() {
    let catalogue = catalogue();
    let parts = |index: &str| {
        catalogue.tests.iter().filter(|test| test.baseline.contains_key(index)).count()
    };
    assert_eq!((parts("2d"), parts("3d")), (6, 1));
    for test in catalogue.expand(&["2d".to_owned()]).unwrap() {
        assert_eq!(
            (test.classic.passes, test.unit.as_str(), test.timebase),
            (3, "score", 0.0),
            "{}",
            test.id
        );
        assert!(test.baseline.get("2d").is_none_or(|baseline| *baseline == 15.0));
        let tests = test.args.iter().find_map(|word| word.strip_prefix("tests=")).unwrap();
        assert_eq!(tests.split(',').count(), 4, "{}: four sub-tests", test.id);
    }
    let gears = catalogue.test("ubgears").unwrap();
    assert_eq!((gears.unit.as_str(), gears.baseline["3d"]), ("fps", 33.4));
    assert_eq!((gears.classic.seconds, gears.classic.passes), (20, 3));
    assert!(gears.args.contains(&"size=300x300".to_owned()));
    let graphics = catalogue.expand(&["graphics".to_owned()]).unwrap();
    assert_eq!((graphics.len(), catalogue.expand(&["gindex".to_owned()]).unwrap().len()), (7, 19));
}

#[test]
fn labels_are_found_however_they_are_printed() {
    let catalogue = catalogue();
    for (label, id) in [
        ("Pipebased Context Switching Test", "context1"),
        ("Recursion TestTower of Hanoi", "hanoi"),
        ("Execl Throughput Test", "execl"),
        ("Shell scripts (8 concurrent)", "shell8"),
        ("FILE COPY 1024  bufsize 2000 maxblocks", "fstime"),
        ("C Compiler Test", "C"),
    ] {
        assert_eq!(catalogue.by_label(label).map(|test| test.id.as_str()), Some(id), "{label}");
    }
    assert!(catalogue.by_label("Quantum Throughput").is_none());
}

#[test]
fn conditions_are_named_and_documented() {
    let catalogue = catalogue();
    let mut seen = BTreeSet::new();
    for switch in &catalogue.switches {
        let id = &switch.id;
        assert!(seen.insert(id.clone()), "two conditions are called {id}");
        assert!(
            id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
            "{id} is awkward to type"
        );
        assert!(!switch.label.is_empty(), "{id}");
        if switch.means == Means::Nothing {
            continue;
        }
        assert!(
            switch.doc.split_whitespace().count() >= 20,
            "{id}: say what it is and what it does not show"
        );
        assert!(
            switch.doc.contains("not") || switch.doc.contains("no "),
            "{id}: say what it does not show"
        );
        let levels: BTreeSet<&str> = switch.levels.iter().map(|level| level.id.as_str()).collect();
        assert_eq!(levels.len(), switch.levels.len(), "{id}: a level twice");
        assert!(
            levels.iter().all(|level| !level.contains(['+', ','])),
            "{id}: a level that no list can hold"
        );
        let sums = switch.levels.iter().flat_map(|level| &level.sum);
        assert!(
            sums.clone().all(|part| levels.contains(part.as_str())),
            "{id}: a sum of levels that it lacks"
        );
        if let Some(against) = &switch.against {
            catalogue.expand_conditions(std::slice::from_ref(against)).unwrap();
        }
    }
}

/// A row has what its means needs, and nothing that it does not look at.
#[test]
fn conditions_have_what_they_are_switched_by() {
    let catalogue = catalogue();
    let mut companions = BTreeSet::new();
    for switch in &catalogue.switches {
        let (id, means) = (&switch.id, switch.means);
        assert_eq!(!switch.files.is_empty(), means == Means::File, "{id}: files");
        for level in &switch.levels {
            assert!(level.text.is_none() || means == Means::File, "{id}={}: a text", level.id);
            assert!(level.rules.is_none() || means == Means::Audit, "{id}={}: rules", level.id);
        }
        assert!(
            switch.args.is_empty()
                || matches!(means, Means::Argument | Means::Beside | Means::Seccomp),
            "{id}: args"
        );
        assert!(means != Means::Argument || !switch.args.is_empty(), "{id}: no args");
        let beside =
            usize::from(!switch.prefix.is_empty()) + usize::from(switch.companion.is_some());
        match means {
            Means::Beside => assert_eq!(beside, 1, "{id}: a prefix or a companion"),
            Means::Command => assert!(switch.companion.is_none(), "{id}: no companion"),
            _ => assert_eq!(beside, 0, "{id}: neither a prefix nor a companion"),
        }
        for part in [&switch.enter, &switch.verify, &switch.leave, &switch.absent] {
            assert_eq!(part.is_some(), means == Means::Command, "{id}: all four commands");
        }
        assert!(switch.counters.is_empty() || means == Means::Command, "{id}: counters");
        if !switch.args.is_empty() && switch.companion.is_none() {
            let asked_for = switch.args.iter().any(|word| word.contains("{level}"));
            assert_eq!(asked_for, !switch.levels.is_empty(), "{id}: its level goes nowhere");
        }
        if let Some(name) = &switch.companion {
            let test = catalogue.test(name).unwrap_or_else(|| panic!("{id}: there is no {name}"));
            assert_eq!(test.roles, [Role::Companion], "{id}: {name} is no companion");
            companions.insert(name.clone());
        }
    }
    let all = catalogue.tests.iter().filter(|test| test.roles.contains(&Role::Companion));
    assert_eq!(
        all.map(|test| test.id.clone()).collect::<BTreeSet<_>>(),
        companions,
        "companions of no condition"
    );
}

/// Rows that ask Linux for something need it: for files, groups and the like, and for arguments
/// that programs refuse elsewhere.
#[test]
fn conditions_need_linux_where_it_does_the_switching() {
    let only_linux = |word: &String| {
        let name = word.split('=').next().unwrap_or_default();
        ["place.c", "confine.c"].iter().any(|file| {
            let source = std::fs::read_to_string(programs().join(file)).unwrap();
            let (_, elsewhere) = source.split_once("const names[] = {").unwrap();
            elsewhere.split('}').next().unwrap().contains(&format!("\"{name}\""))
        })
    };
    for switch in &catalogue().switches {
        let expected = match switch.means {
            Means::Nothing | Means::Build => false,
            // Programs that are started inside something look at their namespace.
            Means::Command => !switch.prefix.is_empty(),
            Means::Argument | Means::Seccomp => switch.args.iter().any(only_linux),
            _ => true,
        };
        assert_eq!(switch.needs.contains(&Need::Linux), expected, "{}", switch.id);
    }
    for test in catalogue().tests.iter().filter(|test| test.graphics().is_some()) {
        assert!(
            test.needs.contains(&Need::Linux),
            "{}: the graphics program is Linux's alone",
            test.id
        );
    }
    let (tests, document) =
        (catalogue().tests, std::fs::read_to_string(testing::file("docs/porting.md")).unwrap());
    let portable = tests.iter().filter(|test| !test.needs.contains(&Need::Linux)).count();
    let says = format!("Of {} tests {portable} do not have it", tests.len());
    assert!(testing::flat(&document).contains(&says), "docs/porting.md: {says}");
}

/// A call has one price, and the calls beside it have theirs from rows that need no others.
#[test]
fn every_call_has_one_price() {
    let tests = catalogue().tests;
    let mut priced = BTreeSet::new();
    for name in tests.iter().flat_map(|test| &test.prices) {
        assert!(priced.insert(name), "two rows price {name}");
    }
    for test in &tests {
        assert!(
            test.beside.is_empty() || !test.prices.is_empty(),
            "{}: `beside` without `prices`",
            test.id
        );
        assert!(test.prices.is_empty() || test.is_rate(), "{}: a price is a time", test.id);
        for name in &test.beside {
            let row = tests.iter().find(|row| row.prices.contains(name));
            assert!(
                row.is_some_and(|row| row.beside.is_empty()),
                "{}: {name} has no price of its own",
                test.id
            );
        }
    }
}

/// A word that is no switch is another level of the one before it; one that begins with a switch is
/// not.
#[test]
fn conditions_are_told_from_levels() {
    let words = "thp=never,always,bpf+seccomp=argument,namespaces,nice=5+thp=never,always";
    let names: Vec<String> = words.split(',').map(str::to_owned).collect();
    let found = catalogue().expand_conditions(&names).unwrap();
    let found: Vec<&str> = found.iter().map(|condition| condition.name.as_str()).collect();
    let all = [
        "thp=never",
        "thp=always",
        "bpf+seccomp=argument",
        "namespaces",
        "nice=5+thp=never",
        "nice=5+thp=always",
    ];
    assert_eq!(found, all);
}

#[test]
fn a_group_with_the_tests_of_an_index_stands_for_it() {
    let catalogue = catalogue();
    let id = |name: &str| catalogue.index(name).map(|index| index.id.as_str());
    assert_eq!(
        [id("index"), id("system"), id("byte3")],
        [Some("system"), Some("system"), Some("byte3")]
    );
    assert_eq!([id("oldsystem"), id("pipe"), id("nothing")], [None; 3]);
}

#[test]
fn unknown_words_suggest_what_is_about_them() {
    let catalogue = catalogue();
    let tests = |word: &str| catalogue.expand(&[word.to_owned()]).unwrap_err().to_string();
    let conditions =
        |word: &str| catalogue.expand_conditions(&[word.to_owned()]).unwrap_err().to_string();
    assert!(
        tests("network").contains("`unixmark list tests network` shows related ones"),
        "{}",
        tests("network")
    );
    assert!(tests("sqlite").contains("related: session-database"), "{}", tests("sqlite"));
    assert!(conditions("pages").contains("related: thp"), "{}", conditions("pages"));
    for nothing in [tests("nosuchtest"), tests("nothing"), conditions("nosuch")] {
        assert!(!nothing.contains("related") && !nothing.contains("did you mean"), "{nothing}");
    }
}

/// By the path that a setting has once links were followed.
#[test]
fn settings_that_go_one_way_are_known() {
    let catalogue = catalogue();
    let switch = catalogue.switches.iter().find(|switch| switch.id == "file").unwrap();
    for (file, text, goes_one_way) in [
        ("/proc/4711/setgroups", "deny", true),
        ("/proc/4711/loginuid", "1000", true),
        ("/proc/sys/kernel/unprivileged_bpf_disabled", "1", true),
        ("/proc/sys/kernel/unprivileged_bpf_disabled", "0x1", true),
        ("/proc/sys/kernel/unprivileged_bpf_disabled", "2", false),
        ("/proc/sys/kernel/yama/ptrace_scope", "3", true),
        ("/proc/sys/kernel/yama/ptrace_scope", "2", false),
        ("/proc/sys/kernel/kexec_load_disabled", "1", true),
        ("/proc/sys/kernel/modules_disabled", "1", true),
        ("/sys/kernel/security/lockdown", "integrity", true),
        ("/sys/kernel/security/lockdown", "confidentiality", true),
        ("/sys/devices/system/cpu/smt/control", "forceoff", true),
        ("/sys/devices/system/cpu/smt/control", "off", false),
        ("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1", true),
        ("/sys/fs/cgroup/a/b/cgroup.type", "threaded", true),
        ("/proc/sys/vm/swappiness", "10", false),
        ("/proc/4711/oom_score_adj", "5", false),
    ] {
        assert_eq!(switch.one_way(file, text).is_some(), goes_one_way, "{file}={text}");
    }
}
