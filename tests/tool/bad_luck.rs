//! Programs that crash, hang and lie, and a tool that is stopped and killed: each a clear message,
//! an error row, and nothing left behind.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use testing::{Place, fake, processes_with, stderr, stdout};

/// Runs a fake that must fail, and returns the reason in the report.
fn reason(name: &str) -> String {
    let place = Place::new();
    let began = Instant::now();
    let output = place.fake(name, "");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(began.elapsed() < Duration::from_secs(30));
    place.assert_clean();
    let report = place.json("latest");
    assert_eq!(report["errors"][0]["test"], name);
    assert!(report["results"].as_array().unwrap().is_empty());
    let reason = report["errors"][0]["reason"].as_str().unwrap().to_owned();
    assert_eq!(stdout(&output), "", "a report of nothing");
    assert!(stderr(&output).contains(&reason), "{}", stderr(&output));
    reason
}

#[test]
fn crashes() {
    assert_eq!(reason("crash"), "it was killed by SIGSEGV");
    assert_eq!(reason("crash-early"), "it ended with exit status 7, saying 'no such <device>'");
}

#[test]
fn hangs() {
    assert!(reason("hang").contains("still running"));
    assert!(reason("hang-early").contains("did not get ready within 1 s"));
    assert_eq!(processes_with("tests/fakes/hang"), Vec::<String>::new());
}

#[test]
fn garbage() {
    assert!(
        reason("garbage")
            .contains("it printed 'COUNT|12345|1|lps', which is not part of the protocol")
    );
    let early = reason("garbage-early");
    assert!(early.contains("it printed 'hello ?[31mworld'"), "{early}");
    assert!(reason("half").contains("ended in the middle of the line 'slice"));
    assert_eq!(reason("silent"), "it ended without printing `done`");
}

#[test]
fn lies() {
    assert_eq!(reason("future"), "it reports a time in the future");
    assert!(reason("lazy").contains("nothing was completed within its window"));
    assert!(reason("instant").contains("nothing was completed within its window"));
    assert!(reason("nan").contains("it printed 'check answer nan'"));
}

#[test]
fn reasons_of_its_own() {
    assert_eq!(reason("error"), "the device is broken: try another");
    let place = Place::new();
    let output = place.fake("skip", "");
    assert_eq!(output.status.code(), Some(3));
    let report = place.json("latest");
    assert_eq!(report["skipped"][0]["reason"], "there is no such device here");
    assert!(report["errors"].as_array().unwrap().is_empty());
}

#[test]
fn children_are_ended() {
    let place = Place::new();
    let output = place.fake("family", "");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    place.assert_clean();
    assert_eq!(processes_with(&place.scratch().display().to_string()), Vec::<String>::new());
}

/// Measures `syscall` with a cache of this place's and more variables.
fn measure_syscall(place: &Place, variables: &[(&str, &Path)]) -> Output {
    let mut tool = place.unixmark("run syscall -c 2 -i 2 --procedure quick --dir");
    tool.arg(place.scratch()).env("XDG_CACHE_HOME", place.root.path().join("cache"));
    tool.envs(variables.iter().copied()).output().unwrap()
}

/// As a power cut leaves a file that was not yet on the disk, or as anybody may have changed it.
#[test]
fn a_program_that_is_not_as_it_was_made_is_made_again() {
    let place = Place::new();
    let cache = place.root.path().join("cache");
    let measured = || {
        let output = measure_syscall(&place, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    };
    measured();
    let folder = testing::build(&cache, "native-");
    let wrong = "#!/bin/sh\nexit 1\n";
    for (name, wrong) in
        [("bin/syscall", ""), ("bin/syscall", wrong), ("copy-1/syscall", wrong), ("src/kit.h", "")]
    {
        let path = folder.join(name);
        let right = std::fs::read(&path).unwrap();
        std::fs::write(&path, wrong).unwrap();
        measured();
        assert!(std::fs::read(&path).unwrap() == right, "{name}");
    }
}

/// As it must be for nothing to be missing after a power cut.
#[test]
fn a_program_is_on_the_disk_before_it_has_its_name() {
    if !testing::has("strace") {
        return;
    }
    let place = Place::new();
    let trace = place.root.path().join("trace");
    let mut tool = Command::new("strace");
    tool.args(["-f", "-y", "-e", "trace=fsync,/^rename", "-o"])
        .arg(&trace)
        .arg(env!("CARGO_BIN_EXE_unixmark"));
    tool.args("run syscall pipe -c 1 -i 1 -q --procedure quick --dir".split(' '))
        .arg(place.scratch());
    tool.env("UNIXMARK_RESULTS", place.results())
        .env("XDG_CACHE_HOME", place.root.path().join("cache"));
    assert!(tool.status().unwrap().success());
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(
        testing::synced_first(&trace, "/bin/syscall") && testing::synced_first(&trace, "/bin/pipe"),
        "{trace}"
    );
}

#[test]
fn a_wrong_answer_is_a_failed_measurement() {
    let place = Place::new();
    let (liar, compiler) = (place.root.path().join("liar"), place.root.path().join("cc"));
    let text = "#!/bin/sh\necho ready\nread go s l n\nsleep 0.5\necho slice $s $((s+l)) 5\necho check works 0\necho done\n";
    std::fs::write(&liar, text).unwrap();
    let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo liar && exit\nwhile [ \"$1\" != -o ]; do shift; done\n";
    std::fs::write(&compiler, format!("{text}cp '{}' \"$2\"\n", liar.display())).unwrap();
    std::fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let output = measure_syscall(&place, &[("CC", &compiler)]);
    assert_eq!(output.status.code(), Some(3));
    let report = place.json("latest");
    assert_eq!(report["errors"][0]["reason"], "its check value 'works' is 0 and should be 1");
}

/// Starts a long run and waits until it measures.
#[expect(
    clippy::zombie_processes,
    reason = "the callers wait for it; where they cannot, the test has failed"
)]
fn long_run(place: &Place, words: &str) -> std::process::Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
    command.args(["run", "-c", "2", "--dir"]).arg(place.scratch()).args(words.split_whitespace());
    command.env("UNIXMARK_RESULTS", place.results()).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let journals = std::fs::read_dir(place.results()).into_iter().flatten().flatten();
        let measured = journals
            .filter_map(|run| std::fs::read_to_string(run.path().join("run.jsonl")).ok())
            .any(|text| text.contains("\"type\":\"trial\""));
        if measured || Instant::now() > deadline {
            assert!(measured, "nothing was measured");
            return child;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn ctrl_c_leaves_a_partial_report() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let place = Place::alone();
        let child = long_run(&place, "syscall shell8 context1");
        let began = Instant::now();
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        // The run would last minutes.
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(output.status.code(), Some(code));
        assert!(stdout(&output).contains("the run was interrupted"), "{}", stdout(&output));
        place.assert_clean();
        assert_eq!(place.json("latest")["end"], "interrupted");
        assert_eq!(processes_with(&place.scratch().display().to_string()), Vec::<String>::new());
    }
}

#[test]
fn sigkill_leaves_nothing_but_the_journal() {
    for test in ["shell8", "context1", "execl", "fstime"] {
        let place = Place::new();
        let mut child = long_run(&place, test);
        std::thread::sleep(Duration::from_millis(400));
        kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        child.wait().unwrap();
        place.assert_gone(Duration::from_secs(2));
        assert_eq!(place.cut_short()["results"][0]["test"], test);
    }
}

#[test]
fn a_tool_killed_while_it_builds_leaves_nothing_in_the_cache() {
    let place = Place::new();
    let cache = place.root.path().join("cache");
    // Slow enough to be met at every stage of its work.
    let slow = place.root.path().join("slow-cc");
    std::fs::write(
        &slow,
        "#!/bin/sh\n[ \"$1\" = --version ] && exec cc \"$@\"\ncc \"$@\"; sleep 0.05\n",
    )
    .unwrap();
    std::fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let start = |words: &str| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_unixmark"));
        tool.args(["run", "-q", "-c", "1", "--procedure", "quick", "--dir"]).arg(place.scratch());
        tool.args(words.split(' ')).env("UNIXMARK_RESULTS", place.results());
        tool.env("XDG_CACHE_HOME", &cache).env("CC", &slow).stderr(Stdio::null()).spawn().unwrap()
    };
    let unfinished = || {
        let files = testing::contents(&cache.join("unixmark")).into_iter().map(|(path, _)| path);
        files.filter(|path| path.display().to_string().contains("partial")).collect::<Vec<_>>()
    };
    let mut left = 0;
    for round in 0..8 {
        let mut tool = start("syscall pipe context1 spawn execl dhry2reg whetstone-double");
        std::thread::sleep(Duration::from_millis(30 + 60 * round));
        kill_process(Pid::from_child(&tool), Signal::KILL).unwrap();
        tool.wait().unwrap();
        left += unfinished().len();
    }
    assert!(left > 0, "no round was killed while it built");
    let mark = cache.display().to_string();
    while !processes_with(&mark).is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(start("syscall pipe -i 1").wait().unwrap().success());
    assert_eq!(unfinished(), Vec::<std::path::PathBuf>::new());
    // What is there is whole: programs by their own names, and each runs.
    let names = std::fs::read_dir(testing::build(&cache, "native-").join("bin")).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.ends_with(|c: char| c.is_ascii_digit()) || name == "context1"),
        "{names:?}"
    );
}

/// A compiler may work for minutes on what nobody waits for any more.
#[test]
fn a_compiler_ends_with_the_tool_whichever_signal_ends_that() {
    let place = Place::new();
    let compiler = place.root.path().join("slow-cc");
    let started = place.root.path().join("started");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec cc \"$@\"\n\
         sh -c 'echo >{}; sleep 4321.7; true'; exit 1\n",
        started.display()
    );
    std::fs::write(&compiler, script).unwrap();
    std::fs::set_permissions(&compiler, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let wait_until = |holds: &dyn Fn() -> bool| {
        while !holds() {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    for signal in [Signal::TERM, Signal::HUP, Signal::KILL] {
        let mut tool = place
            .unixmark("ab -q --runs 2 true true")
            .env("XDG_CACHE_HOME", place.root.path().join("cache"))
            .env("CC", &compiler)
            .spawn()
            .unwrap();
        wait_until(&|| started.exists());

        kill_process(Pid::from_child(&tool), signal).unwrap();
        tool.wait().unwrap();

        wait_until(&|| processes_with(&started.display().to_string()).is_empty());
        std::fs::remove_file(&started).unwrap();
        let kept = std::fs::read_dir(place.results()).map_or(0, Iterator::count);
        assert_eq!(kept, 0, "{signal:?}");
    }
}

#[test]
fn a_run_that_cannot_begin_is_not_kept() {
    let place = Place::new();
    for words in ["run -c 1 -q syscall", "ab -q --runs 2 true true", "burnin cooling --for 2s"] {
        // Nobody can make a directory there.
        let output = place.unixmark(words).args(["--dir", "/proc"]).output().unwrap();

        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{words}: {said}");
        assert!(said.contains("cannot be made; try --dir DIR"), "{words}: {said}");
        let kept = std::fs::read_dir(place.results()).map_or(0, Iterator::count);
        assert_eq!(kept, 0, "{words}: {said}");
    }
}

#[test]
fn sigkill_with_a_relative_scratch_directory() {
    let place = Place::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
    command.args(["run", "-c", "1", "-q", "--dir", "scratch", "--program"]).arg(fake("honest"));
    command.env("UNIXMARK_RESULTS", place.results()).current_dir(place.root.path());
    let mut child = command.spawn().unwrap();
    while std::fs::read_dir(place.scratch()).unwrap().count() == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(2);
    while Instant::now() < deadline && std::fs::read_dir(place.scratch()).unwrap().count() > 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    place.assert_clean();
}

#[test]
fn a_guardian_removes_scratch_directories_only() {
    use std::os::unix::process::CommandExt;
    let place = Place::new();
    for (folder, stays) in [("precious", true), ("unixmark-1-2", false)] {
        let path = place.root.path().join(folder);
        std::fs::create_dir(&path).unwrap();
        let mut guardian = Command::new(env!("CARGO_BIN_EXE_unixmark"));
        assert!(
            guardian
                .arg0("unixmark-guardian")
                .arg(&path)
                .arg("")
                .stdin(Stdio::null())
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(path.exists(), stays, "{folder}");
    }
}

#[test]
fn two_runs_at_once_are_told_apart_and_warned_of() {
    let place = Place::new();
    let first = long_run(&place, "syscall");
    let output = place.fake("honest", "");
    assert!(
        stderr(&output).contains("another unixmark was running on this machine"),
        "{}",
        stderr(&output)
    );
    kill_process(Pid::from_child(&first), Signal::INT).unwrap();
    first.wait_with_output().unwrap();
    assert_eq!(std::fs::read_dir(place.results()).unwrap().count(), 2);
}

#[test]
fn a_full_disk_stops_the_run_and_keeps_what_was_measured() {
    let place = Place::new();
    let disk = place.root.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=20m", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return testing::skip("mounting a tmpfs needs root");
    }
    // Once the run's directory is there, fill the disk; the next line of the journal fails.
    let mut command = Command::new(env!("CARGO_BIN_EXE_unixmark"));
    command
        .args(["run", "-c", "1", "-i", "20", "--dir"])
        .arg(place.scratch())
        .arg("--program")
        .arg(fake("honest"));
    command.arg("--results").arg(&disk).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let fill = disk.join("fill");
    while !std::fs::read_dir(&disk).unwrap().flatten().any(|run| {
        std::fs::read_to_string(run.path().join("run.jsonl"))
            .is_ok_and(|text| text.contains("\"type\":\"trial\""))
    }) {
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = Command::new("dd")
        .args(["if=/dev/zero", "bs=4k"])
        .arg(format!("of={}", fill.display()))
        .output();
    let output = child.wait_with_output().unwrap();
    let report = place
        .unixmark(&format!("report latest --results {} --format json", disk.display()))
        .output()
        .unwrap();
    Command::new("umount").arg(&disk).status().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("No space left on device"), "{}", stderr(&output));
    assert!(stdout(&output).contains("honest"), "the partial report is shown");
    assert!(stdout(&report).contains("\"test\": \"honest\""), "the journal reads");
    place.assert_clean();
}
