//! `unixmark scale`: what it measures, how copies are pinned, and what its reports say.

use journal::Trial;
use testing::{Place, fake, stderr, stdout};

/// The lines of a test's block in the text report.
fn block(text: &str, title: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| !line.starts_with(title));
    // The title may share its line with the first level.
    lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.contains('%'))
        .map(str::to_owned)
        .collect()
}

/// A catalogue with a fake program, and `scale` with it.
fn scale(place: &Place, program: &str, words: &str) -> std::process::Output {
    let table = place.root.path().join("catalogue.toml");
    let row = format!(
        "[[test]]\nid = \"mine\"\nlabel = \"Mine\"\nunit = \"op/s\"\ncategory = \"own\"\nprogram = \"{}\"\ndoc = \"own\"\n",
        fake(program).display()
    );
    std::fs::write(&table, row).unwrap();
    let words = format!("scale --quick --dir {} {words}", place.scratch().display());
    place.unixmark(&words).env("UNIXMARK_CATALOGUE", &table).output().unwrap()
}

#[test]
fn a_fake_program_gives_a_table() {
    let place = Place::new();
    let output = scale(&place, "honest", "mine -c 1,2,4 -i 2");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.lines()
            .any(|line| line.starts_with("Per copy") && line.ends_with("1        2        4")),
        "{text}"
    );
    let lines = block(&text, "Mine, op/s");
    assert!(
        lines[1].contains(" 2.00x ")
            && lines[2].contains(" 4.00x ")
            && lines[2].contains(" 100.0%"),
        "{text}"
    );
    let report = place.json("latest");
    assert_eq!(report["run"]["view"], "scaling");
    let level = &report["scaling"][2];
    assert_eq!((&level["copies"], &level["fairness"]), (&4.into(), &1.0.into()));
    assert!((level["total"].as_f64().unwrap() - 80_000.0).abs() < 1e-6, "{level}");
    assert_eq!(report["laws"][0]["sigma"]["value"], 0.0);
    place.assert_clean();
}

/// What each copy of each trial noted of its arguments.
fn arguments(place: &Place) -> Vec<Vec<String>> {
    let journal = journal::read(&place.journal()).unwrap();
    let notes = |trial: &Trial| trial.copies.iter().map(|copy| copy.notes.join(" ")).collect();
    journal.trials.iter().map(notes).collect()
}

#[test]
fn copies_take_processors_in_turn() {
    let place = Place::new();
    let output = scale(&place, "echo", "mine -c 3 -i 1 --pin core -q");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let topology = ::machine::topology(&::machine::Machine::here());
    let order = plan::Pin::Core.order(&topology);
    let wanted: Vec<String> =
        order.iter().cycle().take(3).map(|cpu| format!("cpu={cpu}")).collect();
    assert_eq!(arguments(&place), [wanted]);
    assert_eq!(place.json("latest")["run"]["pin"], "core");
    let place = Place::new();
    assert_eq!(scale(&place, "echo", "mine -c 2 -i 1 -q").status.code(), Some(0));
    assert_eq!(arguments(&place), [["", ""]]);
    let run = place.json("latest")["run"].clone();
    assert!(run.get("pin").is_none(), "{run}");
}

#[test]
fn a_processor_that_does_not_exist_is_refused() {
    let place = Place::new();
    let output = place.run("syscall:cpu=999 -c 1 -i 1 -q");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let reason = place.json("latest")["errors"][0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("cannot run on cpu 999"), "{reason}");
}

/// Real threads and processes: that it works, and no speed.
#[test]
fn real_programs_scale() {
    let place = Place::new();
    let output = place
        .unixmark(&format!(
            "scale core-clock mutex --copies 1,2 -i 2 --pin core --quick -q --dir {}",
            place.scratch().display()
        ))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = place.json("latest");
    let clock = |id: &str| {
        report["laws"].as_array().unwrap().iter().find(|law| law["test"] == id).unwrap()["clock"]
            .clone()
    };
    assert_eq!((clock("core-clock"), clock("mutex")), ("own".into(), "core-clock".into()));
    let levels = report["scaling"].as_array().unwrap();
    assert!(
        levels.len() == 4 && levels.iter().all(|level| level["normalised"].as_f64().unwrap() > 0.0),
        "{report}"
    );
    place.assert_clean();
}

/// UnixBench's context switching where the scheduler has no choice; with one processor there is no
/// second.
#[test]
fn context_switching_by_place() {
    let place = Place::new();
    let run = |cpus: &str| {
        let mut command = std::process::Command::new("taskset");
        command.args(["-c", cpus]).arg(testing::built_program("unixmark"));
        command.args("run --quick -c max -i 1 -q context1-one context1-two".split(' '));
        let output = command.env("UNIXMARK_RESULTS", place.results()).output().unwrap();
        (output.status.code(), place.json("latest"))
    };
    let (status, one) = run("0");
    assert_eq!((status, one["results"].as_array().unwrap().len()), (Some(0), 1), "{one}");
    assert!(
        one["skipped"][0]["reason"].as_str().unwrap().contains("processors of two cores"),
        "{one}"
    );
    if std::thread::available_parallelism().unwrap().get() < 2 {
        return testing::skip("there is one processor");
    }
    let (status, both) = run("0-1");
    let reasons = both["skipped"].as_array().unwrap();
    if reasons.iter().any(|skipped| skipped["reason"].as_str().unwrap().contains("two cores")) {
        return testing::skip("the first two processors are one core");
    }
    assert_eq!((status, both["results"].as_array().unwrap().len()), (Some(0), 2), "{both}");
    assert!(
        both["results"].as_array().unwrap().iter().all(|row| row["value"].as_f64().unwrap() > 0.0)
    );
}

/// What is planned for tests as processes, as threads and as both, and what is refused.
#[test]
fn copies_are_processes_or_threads() {
    let place = Place::new();
    for (words, status, expected) in [
        (
            "scale mmap page_fault1_threads --as both -c 50%,100%,2 --dry-run",
            0,
            &["mmap  ", "mmap:as=threads  ", "page_fault1  ", "page_fault1:as=threads  "][..],
        ),
        ("run pipe --as threads -c 2 --dry-run", 0, &["pipe:as=threads  "]),
        ("cost nice=5 unlink2_threads --dry-run", 0, &["unlink2:as=threads  "]),
        ("run mutex mmap --as both -c 2 --dry-run", 0, &["mutex  ", "mmap:as=threads  "]),
        ("run signal mmap --as threads --dry-run", 2, &["signal cannot run as threads; leave it"]),
        ("scale mutex signal --as both --dry-run", 2, &["none of these tests can run both"]),
        ("run mmap --as fibres", 2, &["[possible values: processes, threads, both]"]),
        ("run unlink2_thread", 2, &["there is no test or group 'unlink2_thread'; did you mean"]),
        ("list tests unlink2_threads", 0, &["unlink2"]),
    ] {
        let output = place.unixmark(words).output().unwrap();
        let said = stdout(&output) + &stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{words}: {said}");
        for part in expected {
            assert!(said.contains(part), "{words}: no '{part}' in {said}");
        }
    }
}

/// Both curves, both laws, and where they part.
#[test]
fn threads_are_compared_with_processes() {
    let place = Place::new();
    let scratch = place.scratch().display().to_string();
    let words = format!("scale getppid1 --as both -c 1,2 -i 6 --dir {scratch}");

    let output = place.unixmark(&words).output().unwrap();

    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("getppid1: getppid: threads and processes "), "{text}");
    let report = place.json("latest");
    let modes = report["modes"].as_array().unwrap();
    assert_eq!(modes.len(), 2, "{report}");
    for (row, copies) in modes.iter().zip([1, 2]) {
        assert_eq!((&row["test"], &row["copies"]), (&"getppid1".into(), &copies.into()));
        assert!(row["ratio"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["ratio_low"].as_f64() <= row["ratio"].as_f64(), "{row}");
    }
    let laws = report["laws"].as_array().unwrap();
    let tests: Vec<&str> = laws.iter().map(|law| law["test"].as_str().unwrap()).collect();
    assert_eq!(tests, ["getppid1", "getppid1:as=threads"]);
    place.assert_clean();
}
