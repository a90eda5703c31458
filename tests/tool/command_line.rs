//! What a user types: wrong words, wrong places, and the words UnixBench's users know.

use std::os::unix::fs::PermissionsExt;

use testing::{Place, stderr, stdout};

/// The complaint about a command line, which must be refused as wrong usage.
fn refused(words: &str) -> String {
    let place = Place::new();
    let output = place.unixmark(words).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {}", stderr(&output));
    assert!(!place.results().exists(), "{words} left something in the results");
    stderr(&output)
}

#[test]
fn unknown_names_get_the_nearest() {
    assert!(refused("run syscal").contains("did you mean 'syscall'"));
    assert!(refused("run whetsone").contains("did you mean 'whetstone'"));
    assert!(refused("run qqqq").contains("`unixmark list tests` shows all"));
    assert!(refused("run --load nine").contains("there is no load 'nine'; did you mean 'none'?"));
    assert!(refused("run --condition x").contains("`unixmark list conditions` shows all"));
    assert!(refused("rum").contains("'run'"));
}

#[test]
fn a_way_in_for_each_question() {
    let bare = refused("");
    for command in
        ["run --budget 2m", "run --procedure classic", "doctor", "compare latest~1 latest"]
    {
        let line = bare.lines().find(|line| line.contains(&format!("unixmark {command}")));
        assert!(line.is_some(), "{bare}");
    }
    assert!(refused("dhry2reg").contains("try `unixmark run dhry2reg`"));
    assert!(refused("-c 1 -c 4 dhry2reg").contains("try `unixmark run -c 1 -c 4 dhry2reg`"));
    assert!(refused("nice=5").contains("try `unixmark cost nice=5`"));
    assert!(
        refused("run latency")
            .contains("'latency' is not a test but a verb; try `unixmark latency`")
    );
    // By meaning, where no name is like it.
    assert!(refused("run sqlite").contains("related: session-database"));
    for unlike in ["nosuchtest", "nothing"] {
        let complaint = refused(&format!("run {unlike}"));
        assert!(
            !complaint.contains("did you mean") && !complaint.contains("related"),
            "{complaint}"
        );
    }
}

#[test]
fn user_9_words_of_other_tools_get_ours() {
    for (words, advice) in [
        ("ab --json a b", "there is no option '--json'; try --format json, or --format brief"),
        ("report --csv", "there is no option '--csv'; try --format csv"),
        ("compare --svg a b", "there is no option '--svg'; try --format svg"),
        ("ab --why a b", "there is no option '--why'; try --where"),
        ("run --perf -- a", "there is no option '--perf'; try --where"),
        ("bench a b", "there is no verb 'bench'; try `unixmark ab 'COMMAND' 'COMMAND'`"),
        ("time a", "`unixmark run -- COMMAND` for one"),
    ] {
        let complaint = refused(words);

        assert!(complaint.contains(advice), "{words}: {complaint}");
        assert_eq!(complaint.lines().count(), 1, "{words}: {complaint}");
    }
    // There, it is not the same.
    assert!(!refused("list --perf").contains("--where"));
}

#[test]
fn boots_refuse_what_they_would_ignore() {
    for words in ["--against thp=never", "--sink auditd", "--backlog 64", "--fail-on 5%"] {
        let complaint = refused(&format!("cost boot:mitigations=off,auto --dry-run {words}"));
        let option = words.split(' ').next().unwrap();
        assert!(complaint.contains(option), "{complaint}");
    }
}

#[test]
fn user_5_boots_say_what_all_come_to() {
    let place = Place::new();
    let plan = |format: &str| {
        let words = "cost boot:mitigations=off syscall --boots 13 --dry-run";
        stdout(&place.unixmark(&format!("{words} --format {format}")).output().unwrap())
    };

    let (text, json) = (plan("text"), plan("json"));

    assert!(text.contains("in all: 12 boots that measure for"), "{text}");
    assert!(testing::flat(&text).contains("13 reboots, the way back included"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["rounds"].as_array().unwrap().len(), 6, "{json}");
    assert_eq!(json["reboots"], 13, "{json}");
    let [all, each] =
        [&json, &json["each_boot"]].map(|plan| plan["most_seconds"].as_f64().unwrap());
    assert!((all - 12.0 * each).abs() < 1e-6, "{json}");
}

#[test]
fn what_ends_with_a_number_has_a_word() {
    let place = Place::new();
    for (fake, words, code, reason) in [
        ("skip", "-q", 3, "skip: not measured: "),
        ("skip", "-q --strict", 3, "skip: not measured: "),
        ("crash", "-q", 3, "crash: not measured: "),
        ("honest", "-q --strict", 0, ""),
    ] {
        let output = place.fake(fake, words);
        assert_eq!(output.status.code(), Some(code), "{fake} {words}: {}", stderr(&output));
        assert!(stderr(&output).contains(reason), "{fake} {words}: {}", stderr(&output));
        assert_eq!(stdout(&output).is_empty(), code == 3, "{fake}: {}", stdout(&output));
    }
    let json = place.fake("honest", "-q --format json -m why=not");
    let report: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    assert_eq!(report["run"]["comment"], "why=not");
    assert!(stdout(&place.unixmark("list runs").output().unwrap()).contains("\"why=not\" run"));
}

#[test]
fn lists_for_people_and_programs() {
    let place = Place::new();
    let list = |words: &str| {
        let output = place.unixmark(&format!("list {words}")).output().unwrap();
        assert!(output.status.success(), "{words}: {}", stderr(&output));
        stdout(&output)
    };
    for words in [
        "",
        "tests --long",
        "tasks",
        "loads --long",
        "burnins",
        "watchers",
        "indexes",
        "conditions --long",
    ] {
        let wide = list(words).lines().filter(|line| line.chars().count() > 80).count();
        assert_eq!(wide, 0, "{words}");
    }
    let ids = |words: &str| {
        let rows: serde_json::Value =
            serde_json::from_str(&list(&format!("{words} --format json"))).unwrap();
        let ids = rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned());
        ids.collect::<Vec<String>>()
    };
    let (all, memory) = (ids("tests"), ids("tests memory"));
    assert_eq!(memory, ids("tests --group memory"));
    assert!(
        memory.len() > 10
            && memory.len() < all.len() / 4
            && memory.iter().all(|id| all.contains(id))
    );
    assert_eq!(ids("tests sqlite"), ["session-database"]);
    for (kind, id) in [
        ("tasks", "audio"),
        ("loads", "burn"),
        ("burnins", "burn-memory"),
        ("watchers", "count-perf"),
    ] {
        assert!(
            ids(kind).iter().any(|known| known == id) && !all.iter().any(|known| known == id),
            "{kind}"
        );
    }
    assert!(list("tests memory").contains("memory: Caches and memory"));
    assert!(ids("conditions --available").len() <= ids("conditions").len());
    assert!(refused("run watch-inotify").contains("it runs alongside tests for a condition"));
    assert!(refused("run burn-memory").contains("it is for `unixmark burnin`"));
    assert!(refused("list runs --group memory").contains("--group is for lists of tests"));
}

/// What could only be skipped, or was stopped before its first trial, is listed but neither
/// `latest` nor a comment's run.
#[test]
fn a_run_that_measured_nothing_is_not_the_latest() {
    let place = Place::new();
    let skipped = || assert_eq!(place.fake("skip", "-q -m before").status.code(), Some(3));
    let report =
        |words: &str| place.unixmark(&format!("report --format json {words}")).output().unwrap();
    skipped();
    let output = report("");
    assert_eq!(output.status.code(), Some(2), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("no run in") && stderr(&output).contains("measured anything"),
        "{}",
        stderr(&output)
    );
    assert_eq!(place.fake("honest", "-q -m before").status.code(), Some(0));
    let measured = place.newest();
    skipped();
    for words in ["", "latest", "before"] {
        let output = report(words);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["run"]["name"], *measured, "{words}");
        let passed_over = format!("{} measured nothing", place.newest());
        assert_eq!(
            stderr(&output).contains(&passed_over),
            words != "before",
            "{}",
            stderr(&output)
        );
    }
    assert!(stderr(&report("latest~1")).contains("the 1 run with a trial"));
    let list = stdout(&place.unixmark("list runs").output().unwrap());
    assert_eq!(list.matches("complete, measured nothing").count(), 2, "{list}");
}

#[test]
fn a_comment_stands_for_its_newest_run() {
    let place = Place::new();
    for _ in 0..2 {
        assert_eq!(place.fake("honest", "-q -m before").status.code(), Some(0));
    }
    assert_eq!(place.json("before")["run"]["name"], place.json("latest")["run"]["name"]);
    let output = place.unixmark("report befor").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn words_that_are_no_text_and_words_said_twice() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new();
    let odd = place.root.path().join(std::ffi::OsStr::from_bytes(b"a b\xff'\"<"));
    std::fs::create_dir(&odd).unwrap();
    let mut tool = place.unixmark(
        "run -c 1,1 --load none,none --condition none,none -i 2 --procedure quick shell1",
    );
    let output = tool.arg("--dir").arg(&odd).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(place.json("latest")["results"].as_array().unwrap().len(), 1);
    assert!(refused("run --procedure classic --budget 1m").contains("has a fixed length"));
}

#[test]
fn a_figure_that_is_better_both_ways_is_refused() {
    let both_ways = "--harness json --better lower:a --better higher:a";
    for (verb, commands) in
        [("ab", "true echo"), ("ab --base . --head .", "-- true"), ("cost namespaces", "-- true")]
    {
        let said = refused(&format!("{verb} {both_ways} {commands}"));

        assert!(said.contains("--better says of 'a' that higher is better, and that lower is"));
    }
}

#[test]
fn a_value_that_begins_with_a_dash_is_no_command() {
    for (words, advice) in [
        (
            "ab -r -1 true echo",
            "'-1' is taken for an option; write -r=-1 to make it the value of -r",
        ),
        ("ab --timeout -1s true", "write --timeout=-1s"),
        ("ab --fail-on -5% true echo", "write --fail-on=-5%"),
        ("hyperfine --export-json -x.json true", "write --export-json=-x.json"),
        ("ab --fail-on=-5% true echo", "'-5%' is not a percentage above 0 and below 100"),
    ] {
        let said = refused(words);

        assert!(said.contains(advice), "{said}");
    }
}

#[test]
fn a_limit_on_open_files_is_named() {
    let place = Place::new();
    let shell = format!("ulimit -n 5; exec {} ab -r 2 true", env!("CARGO_BIN_EXE_unixmark"));
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &shell]).env("UNIXMARK_RESULTS", place.results());

    let said = stderr(&command.output().unwrap());

    assert!(said.contains("Too many open files"), "{said}");
    assert!(said.contains("raise it with `ulimit -n`"), "{said}");
}

#[test]
fn quiet_is_quiet_and_verbose_tells() {
    let place = Place::new();
    let output = place.fake("honest", "-q");
    assert!(stdout(&output).starts_with("honest: 20000"), "the answer: {}", stdout(&output));
    assert_eq!((stdout(&output).lines().count(), stderr(&output).as_str()), (1, ""));
    let output = place.fake("honest", "-v count=5");
    assert!(stderr(&output).contains("block 2: 1 x honest: "), "{}", stderr(&output));
    assert!(stderr(&output).contains("tests/fakes/honest count=5"), "{}", stderr(&output));
}

#[test]
fn every_form_of_report() {
    let place = Place::new();
    assert_eq!(place.fake("honest", "").status.code(), Some(0));
    let folder = place.journal().parent().unwrap().to_path_buf();
    for (form, file) in [
        ("text", "report.txt"),
        ("html", "report.html"),
        ("json", "report.json"),
        ("csv", "report.csv"),
        ("markdown", "report.md"),
    ] {
        let again = place.unixmark(&format!("report --samples --format {form}")).output().unwrap();
        assert_eq!(stdout(&again), std::fs::read_to_string(folder.join(file)).unwrap(), "{form}");
        assert!(stdout(&again).contains("honest"), "{form}");
    }
    // 2 trials of slices of 50 ms with 1000 each.
    assert_eq!(place.json("latest")["results"][0]["value"], 20_000.0);
}

/// From the fourth run of a kind on a report says where another would come out; runs of another
/// procedure do not count.
#[test]
fn earlier_runs_say_where_another_would_come_out() {
    let place = Place::new();
    for count in [1000, 1010, 990] {
        assert_eq!(place.fake("honest", &format!("count={count}")).status.code(), Some(0));
    }
    let another = || place.json("latest")["results"][0]["another"].clone();
    assert!(another()["runs"].is_null(), "{}", another());
    assert_eq!(place.fake("honest", "count=1000").status.code(), Some(0));
    let found = another();
    assert_eq!(found["runs"], 4);
    let end = |key: &str| found[key].as_f64().unwrap() / 20_000.0;
    assert!((0.9..0.99).contains(&end("low")) && (1.01..1.1).contains(&end("high")), "{found}");
    let output = place.fake("honest", "--procedure standard -i 2");
    let text = testing::flat(&stdout(&output));
    let shown = "Run-to-run variation is shown once there are 3 earlier comparable runs";
    assert!(text.contains(shown), "{text}");
    assert!(another()["runs"].is_null(), "{}", another());
}

/// Every form of report, without what says whose machine it was.
#[test]
fn what_is_posted_names_nobody() {
    let place = Place::new();
    assert_eq!(place.fake("honest", "").status.code(), Some(0));
    let host = place.json("latest")["run"]["host"].as_str().unwrap().to_owned();
    for form in ["text", "html", "json", "csv", "markdown"] {
        let page =
            stdout(&place.unixmark(&format!("report --redact --format {form}")).output().unwrap());
        let secrets =
            [place.scratch().display().to_string(), testing::fake("honest").display().to_string()];
        assert!(secrets.iter().all(|secret| !page.contains(secret)), "{form}");
        assert!(!page.contains(&format!("{host}-2")) && page.contains("host-2"), "{form}");
        assert!(!page.contains("system.user") && !page.contains("limits.cgroup.path"), "{form}");
    }
    let line = std::fs::read_to_string("/proc/cmdline").unwrap_or_default();
    let journal = std::fs::read_to_string(place.journal()).unwrap();
    if let Some((_, init)) = line.trim().split_once(" -- ") {
        assert!(!journal.contains(init), "init's arguments are nobody's business");
    }
}

/// Text is what the terminal can show; what programs read stays.
#[test]
fn text_is_as_narrow_and_as_plain_as_the_terminal() {
    let place = Place::new();
    assert_eq!(place.fake("honest", "").status.code(), Some(0));
    let shown = |words: &str, locale: &str| {
        let mut tool = place.unixmark(words);
        stdout(&tool.env("COLUMNS", "60").env("LC_ALL", locale).output().unwrap())
    };
    for words in ["report", "list tests --long", "run syscall --dry-run"] {
        let (plain, full) = (shown(words, "C"), shown(words, "C.UTF-8"));
        assert!(plain.is_ascii() && plain.lines().count() > 5, "{words}: {plain}");
        let long = plain.lines().chain(full.lines()).find(|line| line.chars().count() > 60);
        assert!(words.contains("dry-run") || long.is_none(), "{words}: {long:?}");
    }
    assert!(shown("report", "C.UTF-8").contains('±') && shown("report", "C").contains("+-"));
    assert_eq!(shown("report --format json", "C"), shown("report --format json", "C.UTF-8"));
}

#[test]
fn runs_are_found_by_name() {
    let place = Place::new();
    for count in [1, 2] {
        assert_eq!(place.fake("honest", &format!("count={count}")).status.code(), Some(0));
    }
    let value = |run: &str| place.json(run)["results"][0]["value"].as_f64().unwrap();
    assert_eq!((value("latest"), value("latest~1")), (40.0, 20.0));
    let journal = place
        .results()
        .join(place.json("latest~1")["run"]["name"].as_str().unwrap())
        .join("run.jsonl");
    let list = || stdout(&place.unixmark("list runs").output().unwrap());
    // A line for when and how, and more for the command.
    assert_eq!(list().lines().filter(|line| line.ends_with(" complete")).count(), 2, "{}", list());
    // A journal from elsewhere without its last line, and with what a terminal would act on.
    let text = std::fs::read_to_string(&journal).unwrap();
    let (rest, _) = text.trim_end().rsplit_once('\n').unwrap();
    std::fs::write(&journal, rest.replacen("--dir", "\\u001b[31m", 1) + "\n").unwrap();
    assert!(list().contains(" unfinished\n") && !list().contains('\u{1b}'), "{}", list());
    let complaint = |run: &str| {
        let output = place.unixmark(&format!("report {run}")).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        stderr(&output)
    };
    assert!(complaint("latest~2").contains("goes back further than the 2 runs with a trial"));
    assert!(complaint("nothing-at-all").contains("there is no run 'nothing-at-all'"));
}

#[test]
fn a_baseline_of_ones_own() {
    let place = Place::new();
    assert_eq!(place.run("syscall -c 1 -i 2 -q").status.code(), Some(0));
    let report =
        stdout(&place.unixmark("report latest --baseline latest --format json").output().unwrap());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert!((report["index"][0]["score"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    assert!(report["index"][0]["name"].as_str().unwrap().starts_with("System Benchmarks against "));
}

#[test]
fn results_that_cannot_be_written_are_refused_first() {
    let place = Place::new();
    let file = place.root.path().join("file");
    std::fs::write(&file, "").unwrap();
    let words = format!("--results {}/results", file.display());
    let output = place.fake("honest", &words);
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("cannot be made; try --results DIR"), "{}", stderr(&output));
    let output = place.fake("honest", "--dir /nonexistent");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("/nonexistent cannot be used; try --dir DIR"),
        "{}",
        stderr(&output)
    );
    assert!(!place.results().exists());
}

/// Everything at once, and what names another place.
#[test]
fn places_that_cannot_be_written() {
    let place = Place::new();
    // What is a file is no directory, for root either.
    let home = place.root.path().join("home");
    std::fs::create_dir(&home).unwrap();
    [".local", ".cache"].iter().for_each(|name| std::fs::write(home.join(name), "").unwrap());
    let home = home.display().to_string();
    let odd = place.unixmark(&format!("doctor --results {home}/.local/results")).output().unwrap();
    assert_eq!(odd.status.code(), Some(2), "{}", stderr(&odd));
    assert!(
        stderr(&odd).contains("/results cannot be written; try another --results DIR"),
        "{}",
        stderr(&odd)
    );
    let tool = |words: &str, home: &str| {
        let mut tool = place.unixmark(words);
        for name in ["UNIXMARK_RESULTS", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"] {
            tool.env_remove(name);
        }
        tool.env("HOME", home).env("TMPDIR", place.root.path()).output().unwrap()
    };
    let output = tool("doctor --format json", &home);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let names = report["findings"].to_string();
    for name in ["places.results", "places.cache"] {
        assert!(names.contains(name), "{name}: {names}");
    }
    let scratch = place.scratch().display().to_string();
    let words = format!("run syscall --quick -c 1 -i 1 --build portable --dir {scratch}");
    let output = tool(&format!("{words} --results {}", place.results().display()), &home);
    assert_eq!(
        output.status.code(),
        Some(0),
        "portable programs need no cache: {}",
        stderr(&output)
    );
    // No home at all.
    let output = tool(&words, "/nonexistent");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("there is no home directory, so results are kept in"),
        "{}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains(&place.root.path().display().to_string()),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_compiler_that_is_missing_or_fails() {
    let place = Place::new();
    let run = |cc: &str, words: &str| {
        let scratch = place.scratch();
        let mut tool = place.unixmark(&format!(
            "run syscall -c 1 -i 2 --procedure quick --dir {} {words}",
            scratch.display()
        ));
        tool.env("XDG_CACHE_HOME", place.root.path().join("cache")).env("CC", cc).output().unwrap()
    };
    let output = run("/nonexistent/cc", "--build native");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("try --build portable"), "{}", stderr(&output));
    let output = run("/nonexistent/cc", "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("the portable programs ran"), "{}", stderr(&output));
    assert_eq!(place.json("latest")["run"]["build"]["name"], "portable");
    let broken = place.root.path().join("broken-cc");
    std::fs::write(
        &broken,
        "#!/bin/sh\n[ \"$1\" = --version ] && echo broken 1.0 && exit\necho 'out of luck' >&2\nexit 1\n",
    )
    .unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = run(broken.to_str().unwrap(), "");
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("out of luck") && stderr(&output).contains("--build portable"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_limit_on_processes_is_an_error_row() {
    let place = Place::new();
    // A user of its own has no other processes to count.
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(place.root.path(), mode.clone()).unwrap();
    std::fs::set_permissions(place.scratch(), mode).unwrap();
    let script = format!(
        "export HOME={0} UNIXMARK_RESULTS={0}/results; exec {1} run spawn -c 1,40 -i 2 --procedure quick --build portable --dir {0}/scratch",
        place.root.path().display(),
        env!("CARGO_BIN_EXE_unixmark"),
    );
    let output = std::process::Command::new("prlimit")
        .args([
            "--nproc=14",
            "setpriv",
            "--reuid=64321",
            "--regid=64321",
            "--clear-groups",
            "sh",
            "-c",
            &script,
        ])
        .output()
        .unwrap();
    if stderr(&output).contains("setpriv:")
        || stderr(&output).contains("prlimit:")
        || stderr(&output).contains("Permission denied")
    {
        return testing::skip(&format!(
            "it needs root and a tool that others may run: {}",
            stderr(&output)
        ));
    }
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    let report = place.json("latest");
    assert_eq!(report["results"][0]["copies"], 1);
    assert_eq!(report["errors"][0]["copies"], 40);
    assert!(
        report["errors"][0]["reason"].as_str().unwrap().contains("limit on processes"),
        "{report}"
    );
}

#[test]
fn closed_pipes_are_no_error() {
    for words in ["list", "man", "completions bash", "--help"] {
        let tool = env!("CARGO_BIN_EXE_unixmark");
        let output = std::process::Command::new("sh")
            .args(["-c", &format!("{tool} {words} | head -c 1; exit 0")])
            .output()
            .unwrap();
        assert!(!stderr(&output).contains("panicked"), "{words}: {}", stderr(&output));
    }
}

#[test]
fn derived_texts() {
    let place = Place::new();
    for (words, mark) in [
        ("list tests --long", "dhry2reg"),
        ("list groups", "oldsystem"),
        ("list loads", "none"),
        ("list conditions", "none"),
        ("list indexes", "BYTE 3.11"),
        ("completions zsh", "#compdef unixmark"),
        ("man", ".TH UNIXMARK 1 "),
        ("--version", "unixmark "),
    ] {
        let output = place.unixmark(words).output().unwrap();
        assert!(output.status.success(), "{words}");
        assert!(stdout(&output).contains(mark), "{words}: {}", stdout(&output));
    }
}
