//! `unixmark latency` with real tasks and loads: what it reports, how it ends, and that nothing
//! stays behind.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testing::{Place, fake, processes_with, stderr, stdout};

/// `latency` in the place's scratch directory: one block of a second per cell unless `words` say
/// more.
fn latency(place: &Place, words: &str) -> Output {
    let scratch = place.scratch();
    place
        .unixmark(&format!("latency --dir {} -i 1 -t 1 -l 500000 {words}", scratch.display()))
        .output()
        .unwrap()
}

/// The same as a process of its own.
fn start(place: &Place, words: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_unixmark"))
        .env("UNIXMARK_RESULTS", place.results())
        .args(["latency", "--dir", place.scratch().to_str().unwrap(), "-i", "1", "-l", "500000"])
        .args(words.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn result<'a>(report: &'a Value, test: &str, load: &str) -> &'a Value {
    let found = |row: &&Value| row["test"] == test && row["load"] == load;
    report["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(found)
        .unwrap_or_else(|| panic!("{test} {load}: {report:#}"))
}

/// The process in this place whose command line has `word`, once it is there.
fn process(place: &Place, word: &str) -> Pid {
    let mark = place.root.path().file_name().unwrap().to_str().unwrap().to_owned();
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        for found in processes_with(&mark) {
            let (pid, command) = found.split_once(": ").unwrap();
            if command.contains(word)
                && !command.contains("latency")
                && !command.contains("guardian")
            {
                return Pid::from_raw(pid.parse().unwrap()).unwrap();
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("no process with {word}");
}

#[test]
fn each_state_of_the_machine_has_its_curve() {
    let _host = testing::host();
    let place = Place::new();
    let output = latency(
        &place,
        "requests-open --at 20%,40% -w none --condition none,nice=5,arg:slack=1000 --format json",
    );
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let sentences: Vec<&str> =
        report["sentences"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let names = [
        "loop without",
        "loop, condition nice=5 without",
        "loop, condition arg:slack=1000 without",
    ];
    assert_eq!(sentences.len(), 3, "{sentences:?}");
    assert!(
        sentences.iter().zip(names).all(|(sentence, name)| sentence.contains(name)),
        "{sentences:?}"
    );
    let offered = report["offered"].as_array().unwrap();
    assert_eq!(offered.len(), 6, "{report}");
    let figures = ["offered", "answered", "p50"];
    assert!(offered.iter().all(|at| figures.iter().all(|key| at[*key].is_f64())), "{offered:?}");
}

#[test]
fn tasks_beside_loads() {
    let place = Place::new();
    let output = latency(
        &place,
        "-W cyclic -W audio -w none -w burn -B -5 -N 5 -m a_remark --seed 1 --long",
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.assert_clean();
    let report = place.json("latest");
    assert_eq!(report["run"]["comment"], "a_remark");
    let cyclic = result(&report, "cyclic", "none");
    assert_eq!((&cyclic["metric"], &cyclic["unit"]), (&"latency".into(), &"ms".into()));
    assert_eq!(cyclic["planned"], 999);
    let percentiles = cyclic["percentiles"].as_object().unwrap();
    assert!(percentiles["p50"].as_f64().unwrap() > 0.0 && !percentiles.contains_key("p99.9"));
    assert!(cyclic["max"].as_f64() >= percentiles["p95"].as_f64());
    assert!(cyclic.get("background").is_none());
    let beside = result(&report, "audio", "burn");
    assert!(beside["background"]["throughput"].as_f64().unwrap() > 0.0);
    assert!(beside["background"]["achieved"].as_f64().unwrap() > 0.0);
    // Nineteen frames carry a median at most; the value is never called a p99.
    assert_eq!(beside["value_is"], "p50");
    assert!(beside["warnings"].to_string().contains("too few frames for a p99"));

    let text = stdout(&output);
    assert!(
        text.contains("Audio: wake-up latency in ms")
            && text.contains("Interbench's figures are not comparable")
    );
    assert!(text.contains("Comment:"), "{text}");
    assert!(!text.contains("Audio: smooth"), "nineteen frames show nothing of the kind: {text}");
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert!(wide.is_none(), "{wide:?}");
}

#[test]
fn the_tool_keeps_still_and_stays_ordinary() {
    let place = Place::new();
    let mut child = start(&place, "-t 3 -W cyclic -w burn --policy fifo -q");
    process(&place, "/task");
    std::thread::sleep(Duration::from_millis(200));
    // Field 41 of stat is the policy: 0 is SCHED_OTHER.
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
    let policy = stat.rsplit(") ").next().unwrap().split(' ').nth(38).unwrap().to_owned();
    assert_eq!(policy, "0", "{stat}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let journal = std::fs::read_to_string(place.journal()).unwrap();
    let trial = journal.lines().find(|line| line.contains("\"type\":\"trial\"")).unwrap();
    let trial: Value = serde_json::from_str(trial).unwrap();
    assert!(
        trial["tool_cpu_s"].as_f64().unwrap() < 0.1,
        "of 3 s, with reading 3000 frames after them"
    );
}

#[test]
fn a_load_or_a_task_that_is_killed_is_an_error_row() {
    for (victim, reason) in
        [("burn", "its load burn failed"), ("audio", "it was killed by SIGKILL")]
    {
        let place = Place::new();
        let child = start(&place, "-t 20 -W audio -w burn");
        let pid = match victim {
            "burn" => process(&place, "/burn"),
            _ => process(&place, "/task"),
        };
        std::thread::sleep(Duration::from_millis(1500));
        let began = Instant::now();
        kill_process(pid, Signal::KILL).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(began.elapsed() < Duration::from_secs(10));
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        let report = place.json("latest");
        assert!(
            report["errors"][0]["reason"].as_str().unwrap().contains(reason),
            "{}",
            report["errors"]
        );
        place.assert_clean();
        assert_eq!(processes_with(place.root.path().to_str().unwrap()), Vec::<String>::new());
    }
}

#[test]
fn control_c_ends_real_time_tasks_and_loads_within_a_second() {
    let place = Place::alone();
    let child = start(&place, "-t 60 -W gaming -w burn --policy fifo --load-policy rr");
    process(&place, "/task");
    std::thread::sleep(Duration::from_millis(2500));
    let began = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}: a second, and one for a busy machine",
        began.elapsed()
    );
    assert_eq!(output.status.code(), Some(130));
    place.assert_clean();
    assert_eq!(processes_with(place.root.path().to_str().unwrap()), Vec::<String>::new());
}

#[test]
fn a_tool_that_is_killed_leaves_nothing() {
    let _host = testing::host();
    if !std::fs::read_dir("/sys/fs/cgroup").is_ok_and(|mut groups| groups.next().is_some()) {
        return testing::skip("no control groups are mounted here");
    }
    let place = Place::new();
    let mut child = start(&place, "-t 60 -W video -w write -w compile --placement cgroup:20");
    process(&place, "/task");
    std::thread::sleep(Duration::from_millis(1500));
    // Under version 2 the group lies elsewhere.
    let groups = Path::new("/sys/fs/cgroup/cpu");
    let (start, end) = (format!("unixmark-{}-", child.id()), "-kept-load-condition-weight");
    let has_group = || {
        let names =
            groups.read_dir().into_iter().flatten().flatten().map(|entry| entry.file_name());
        names
            .filter_map(|name| name.into_string().ok())
            .any(|name| name.starts_with(&start) && name.ends_with(end))
    };
    assert!(has_group() || !groups.exists(), "the load has a cgroup");
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    let left = || {
        !processes_with(place.root.path().to_str().unwrap()).is_empty()
            || std::fs::read_dir(place.scratch()).unwrap().next().is_some()
            || has_group()
            || Path::new("/var/lib/unixmark/undo.jsonl").exists()
    };
    while left() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    place.assert_clean();
    assert!(!left());
}

#[test]
fn what_is_denied_is_a_reason_or_a_note() {
    let place = Place::new();
    // Without the right to real-time: the policy asked for is a skip, the studio's own a note.
    let scratch = place.scratch();
    let words =
        format!("latency --dir {} -i 1 -t 1 -l 500000 -W audio-pro -w none -q", scratch.display());
    for (more, skipped) in [("", false), ("--policy rr -W audio", true)] {
        let status = Command::new("prlimit")
            .args([
                "--rtprio=0",
                "setpriv",
                "--bounding-set=-sys_nice,-ipc_lock",
                "--inh-caps=-sys_nice,-ipc_lock",
            ])
            .args(["--", env!("CARGO_BIN_EXE_unixmark")])
            .env("UNIXMARK_RESULTS", place.results())
            .args(words.split_whitespace().chain(more.split_whitespace()))
            .status()
            .unwrap();
        let report = place.json("latest");
        if skipped {
            let reasons = report["skipped"].to_string();
            assert!(reasons.contains("audio") && reasons.contains("was refused"), "{reasons}");
        } else {
            assert_eq!(status.code(), Some(0));
            let warnings = result(&report, "audio-pro", "none")["warnings"].to_string();
            assert!(
                warnings.contains("was refused") && warnings.contains("measured without"),
                "{warnings}"
            );
        }
    }
}

#[test]
fn placements_and_policies() {
    let _host = testing::host();
    let place = Place::new();
    for words in [
        "-w burn --placement session",
        "-w burn --placement cgroup:20",
        "-w memload-cgroup",
        "-w evict",
        "-w burn --load-policy idle --timeslice 1000",
        "-w burn -u --slack 1",
        "-w none --policy deadline",
        "-w none --wake futex",
        "-w none --wake timerfd --cpu-time --lock",
    ] {
        let output = latency(&place, &format!("-W audio -q {words}"));
        let report = place.json("latest");
        if report["skipped"].to_string().contains("cgroup here") {
            testing::skip(&report["skipped"][0]["reason"].to_string());
            continue;
        }
        assert_eq!(
            output.status.code(),
            Some(0),
            "{words}: {} {}",
            stderr(&output),
            report["skipped"]
        );
        assert_eq!(report["results"].as_array().unwrap().len(), 1, "{words}");
    }
    place.assert_clean();
    let output = latency(&place, "-W audio -q --uclamp 0,1024 -w none");
    let report = place.json("latest");
    if report["skipped"].to_string().contains("uclamp was refused") {
        return testing::skip(&report["skipped"][0]["reason"].to_string());
    }
    assert_eq!(output.status.code(), Some(0), "{report:#}");
}

#[test]
fn a_broken_limit_ends_the_run() {
    let place = Place::new();
    let output = latency(&place, "-t 30 -W cyclic -w burn --break-over 1us");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = place.json("latest");
    assert_eq!(report["end"], "broke");
    let row = result(&report, "cyclic", "burn");
    assert!(row["warnings"].to_string().contains("a frame was"), "{}", row["warnings"]);
    assert!(!row["worst"].as_array().unwrap().is_empty());
}

/// Tasks and loads of the user's own, among them ones that crash and hang.
#[test]
fn tables_of_the_user_s_own() {
    let place = Place::new();
    let table = place.root.path().join("catalogue.toml");
    let row = |id: &str, program: &str, more: &str| {
        format!(
            "[[test]]\nid = \"{id}\"\nlabel = \"{id}\"\nunit = \"ms\"\ncategory = \"own\"\nprogram = \"{program}\"\ndoc = \"own\"\n{more}\n"
        )
    };
    let text = [
        row(
            "mine",
            "interactive/task",
            "metric = \"latency\"\nargs = [\"period=30000\", \"work=100\", \"speed={work-speed}\"]",
        ),
        row("hangs", fake("hang").to_str().unwrap(), "roles = [\"load\"]"),
        row("dies", fake("crash").to_str().unwrap(), "roles = [\"load\"]"),
    ];
    std::fs::write(&table, text.concat()).unwrap();
    let scratch = place.scratch();
    let run = |words: &str| {
        let words = format!(
            "latency --dir {} -i 1 -t 1 -l 500000 --patience 2s {words}",
            scratch.display()
        );
        place.unixmark(&words).env("UNIXMARK_CATALOGUE", &table).output().unwrap()
    };
    let output = run("-W mine -w none -w hangs -w dies");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let report = place.json("latest");
    assert_eq!(result(&report, "mine", "none")["planned"], 32);
    let errors = report["errors"].to_string();
    assert!(
        errors.contains("its load hangs failed") && errors.contains("its load dies failed"),
        "{errors}"
    );
    place.assert_clean();
    std::fs::write(&table, row("audio", "interactive/task", "")).unwrap();
    let output = run("-W audio -w none");
    assert!(
        output.status.code() != Some(0) && stderr(&output).contains("the name of another"),
        "{}",
        stderr(&output)
    );
}
