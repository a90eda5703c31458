//! The program that executes commands: what it reports of them, and that nothing of them is left,
//! whatever they do.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::builds::measured;
use super::hand::{AT_ONCE, Hand, SOON, is_alive};
use catalogue::Catalogue;
use testing::compiled::MEASURED;

/// Not one that a shell looks for first.
const PYTHON: &str = "/usr/bin/python3";

/// The fields of an execution line that these tests look at.
struct Executed {
    round: u64,
    start: u64,
    end: u64,
    user: u64,
    maxrss: u64,
    status: u64,
}

fn program(test: &str) -> PathBuf {
    measured(Catalogue::load().unwrap().test(test).unwrap())
}

/// Starts it with options and sections, each `run` or `prepare` and a command whose words are
/// parted by `|`.
fn started(options: &[&str], sections: &[(&str, &str)]) -> Hand {
    Hand::with(&program("command"), line(options, sections))
}

fn line(options: &[&str], sections: &[(&str, &str)]) -> Vec<String> {
    let mut words: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    words.push("--".to_owned());
    for (kind, command) in sections {
        let command: Vec<&str> = command.split('|').collect();
        words.extend([(*kind).to_owned(), command.len().to_string()]);
        words.extend(command.into_iter().map(str::to_owned));
    }
    words
}

/// Returns what it says of a window of 50 ms.
fn said(options: &[&str], sections: &[(&str, &str)]) -> String {
    let mut hand = started(options, sections);
    hand.say("go 0 50000000 1");
    let end = hand.end(SOON);
    hand.leaves_no_process_within(AT_ONCE);
    end.said
}

/// The executions of each copy.
fn executions(said: &str) -> Vec<Vec<Executed>> {
    let mut copies = vec![Vec::new()];
    for line in said.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse().unwrap();
        match words[0] {
            // The first is not announced where there is only one.
            "copy" if !copies.last().is_some_and(Vec::is_empty) => copies.push(Vec::new()),
            "execution" => copies.last_mut().unwrap().push(Executed {
                round: number(1),
                start: number(2),
                end: number(3),
                user: number(4),
                maxrss: number(10),
                status: number(11),
            }),
            _ => {}
        }
    }
    copies
}

fn last_line(said: &str) -> &str {
    said.lines().last().unwrap()
}

#[test]
fn arms_alternate_in_rounds_and_the_control_has_its_turns() {
    // Of 60 rounds some have a control of each, but once in 10^7.
    let options = ["control=2", "rounds=60"];
    let said = said(&options, &[("run", "true"), ("run", "sh|-c|:")]);
    assert_eq!(last_line(&said), "done");
    let copies = executions(&said);
    assert_eq!(copies.len(), 4);
    let rounds = copies[0].len();
    assert!(rounds == 60 && copies[1].len() == rounds, "{said}");
    // Each has a control, and a round has one of them at most.
    let mut controls: Vec<u64> = copies[2..].iter().flatten().map(|one| one.round).collect();
    controls.sort_unstable();
    assert!(controls.is_sorted_by(|one, next| one < next) && controls.len() <= rounds, "{said}");
    for (round, (first, second)) in copies[0].iter().zip(&copies[1]).enumerate() {
        assert_eq!((first.round, second.round), (round as u64, round as u64));
        assert!(first.end <= second.start || second.end <= first.start, "they overlap");
    }
    let mut all: Vec<&Executed> = copies.iter().flatten().collect();
    all.sort_by_key(|one| one.start);
    assert!(all.is_sorted_by_key(|one| one.round), "rounds mix");
    assert!(all.iter().all(|one| one.status == 0 && one.maxrss > 0));
}

#[test]
fn both_orders_come() {
    // Of 40 rounds all have one order once in 2^39.
    let mut hand = started(&[], &[("run", "true"), ("run", "true")]);
    hand.say("go 0 1000000000 1");
    let copies = executions(&hand.end(SOON).said);
    let first: Vec<bool> = copies[0]
        .iter()
        .zip(&copies[1])
        .map(|(first, second)| first.start < second.start)
        .collect();
    assert!(first.len() < 40 || (first.contains(&true) && first.contains(&false)));
}

#[test]
fn a_command_longer_than_the_window_is_executed_once_and_its_time_is_its_own() {
    let copies = executions(&said(
        &[],
        &[("run", "sh|-c|i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done; sleep 0.1")],
    ));
    let [only] = &copies[0][..] else { panic!("{} executions", copies[0].len()) };
    assert!(
        only.end - only.start >= 100_000_000 && only.user > 0 && only.user < only.end - only.start
    );
}

#[test]
fn a_command_that_fails_is_named_with_its_status_and_its_last_words() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let bare = script("bare", "echo\n");
    let lost = script("lost", "#!/nonexistent\n");

    for (command, why) in [
        (
            "sh|-c|echo first >&2; echo >&2 the last; exit 7",
            "ended with exit status 7, saying 'the last'",
        ),
        ("sh|-c|kill -9 $$", "was killed by signal 9 and said nothing"),
        // A signal to the whole group, in which the command is executed.
        ("sh|-c|kill -INT 0", "was killed by signal 2 and said nothing"),
        ("sh|-c|trap 'kill 0' EXIT; true", "was killed by signal 15 and said nothing"),
        (
            "sh|-c|seq 900000 >&2; echo the end > /dev/stderr; exit 1",
            "ended with exit status 1, saying 'the end'",
        ),
        ("/nonexistent/command", "cannot be executed (No such file or directory)"),
        ("/tmp", "cannot be executed (Permission denied)"),
        (&bare, "needs a #! line, or a shell that executes it"),
        (
            &lost,
            "needs the interpreter that its #! line names, or the loader that its ELF header names",
        ),
    ] {
        let said = said(&[], &[("run", "true"), ("run", command)]);
        let last = last_line(&said);
        assert!(last.starts_with("error '") && last.contains(why), "{command}: {last}");
    }
    let ignored = said(&["ignore=all"], &[("run", "sh|-c|exit 3"), ("run", "sh|-c|kill -15 $$")]);
    let copies = executions(&ignored);
    assert!(
        copies[0].iter().all(|one| one.status == 3)
            && copies[1].iter().all(|one| one.status == 128 + 15)
    );
}

#[test]
fn what_prepares_is_not_timed_and_fails_for_itself() {
    let copies = executions(&said(&[], &[("prepare", "sleep|0.2"), ("run", "true")]));
    assert!(copies[0].iter().all(|one| one.end - one.start < 200_000_000));
    let said = said(&[], &[("prepare", "false"), ("run", "true")]);
    assert!(
        last_line(&said).starts_with("error --prepare 'false' ended with exit status 1"),
        "{said}"
    );
}

#[test]
fn statuses_that_may_be_are_named() {
    for (list, command, ends) in [
        ("ignore=1,3", "sh|-c|exit 3", "done"),
        ("ignore=1,3", "sh|-c|exit 1", "done"),
        ("ignore=1,3", "sh|-c|exit 2", "ended with exit status 2"),
        ("ignore=143", "sh|-c|kill -15 $$", "done"),
        ("ignore=1", "sh|-c|kill -10 $$", "was killed by signal 10"),
    ] {
        let said = said(&[list], &[("run", command)]);

        assert!(last_line(&said).contains(ends), "{list} {command}: {said}");
    }
}

#[test]
fn what_concludes_comes_after_each_execution_and_fails_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let say = |word: &str| format!("sh|-c|printf {word} >>{}", log.display());
    let said = said(&["rounds=2"], &[("conclude", &say("b")), ("run", &say("a")), ("run", "true")]);
    assert_eq!(last_line(&said), "done", "{said}");
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "abab");
    let said = self::said(&[], &[("conclude", "false"), ("run", "true")]);
    assert!(
        last_line(&said).starts_with("error --conclude 'false' ended with exit status 1"),
        "{said}"
    );
}

#[test]
fn a_device_is_an_output_like_a_file() {
    let said = said(&[], &[("output", "/dev/null"), ("run", "echo|x")]);

    assert_eq!(last_line(&said), "done", "{said}");
}

#[test]
fn commands_that_must_print_the_same_are_compared_line_by_line() {
    let same = said(&["same=1"], &[("run", "printf|a\\nb\\n"), ("run", "printf|a\\nb\\n")]);
    assert_eq!(last_line(&same), "done");
    for (other, why) in [
        ("printf|a\\nc\\n", "line 2 of the first is 'b', that of number 2 is 'c'"),
        ("printf|a\\n", "command 2 prints nothing after line 1, where command 1 prints 'b'"),
    ] {
        let said = said(&["same=1"], &[("run", "printf|a\\nb\\n"), ("run", other)]);
        assert!(last_line(&said).contains(why), "{said}");
    }
}

#[test]
fn input_output_and_folder_are_the_commands() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, "what it reads\n").unwrap();
    let [input, written] = [&input, &output].map(|path| path.display().to_string());
    let folder_option = format!("folder={}", folder.path().display());
    let sections = [("input", &*input), ("output", &*written), ("run", "sh|-c|cat; pwd")];
    let said = said(&[&folder_option], &sections);
    assert_eq!(last_line(&said), "done", "{said}");
    // Of many executions the last is there, from the start of the file.
    let expected = format!("what it reads\n{}\n", folder.path().canonicalize().unwrap().display());
    assert_eq!(std::fs::read_to_string(&output).unwrap(), expected);
    let begun = executions(&said)[0].len();
    assert!(begun > 1);
}

#[test]
fn an_arm_may_work_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    let output = format!("{path}/out");
    let said = said(&[], &[("in", &path), ("output", &output), ("run", "pwd")]);
    assert_eq!(last_line(&said), "done", "{said}");
    let printed = std::fs::read_to_string(folder.path().join("out")).unwrap();
    assert_eq!(printed.trim_end(), folder.path().canonicalize().unwrap().display().to_string());
    let said = self::said(&[], &[("in", "/nonexistent"), ("run", "pwd")]);
    assert!(last_line(&said).starts_with("error cannot work in /nonexistent"), "{said}");
}

#[test]
fn a_warm_up_comes_once_in_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let command = format!("sh|-c|echo >>{}", log.display());
    let lines = || std::fs::read_to_string(&log).unwrap().lines().count();
    let mut hand = started(&["warmup=5"], &[("run", &command)]);
    assert_eq!(hand.line(), "ready");
    assert_eq!(lines(), 5);
    std::fs::write(hand.folder().join("begun"), "").unwrap();
    hand.say("go 0 50000000 1");
    let said = hand.end(SOON).said;
    assert_eq!(lines(), 5 + executions(&said)[0].len());
}

#[test]
fn what_outlives_a_command_is_ended_wherever_it_went() {
    let folder = tempfile::tempdir().unwrap();
    let pids = folder.path().join("pids");
    let command = format!(
        "sh|-c|(setsid sh -c 'echo $$ >>{0}; trap : TERM; sleep 1000; sleep 1000' &) ; until [ -s {0} ]; do :; done",
        pids.display()
    );
    let said = said(&[], &[("run", "true"), ("run", &command)]);
    // The note belongs to the command that left them, the second.
    let note = "copy 1\nnote processes outlived the command and were killed\n";
    assert_eq!(said.matches("note ").count(), 1, "{said}");
    assert!(said.contains(note), "{said}");
    let left = std::fs::read_to_string(&pids).unwrap();
    assert!(left.lines().count() > 0);
    assert!(left.lines().all(|pid| !is_alive(pid.parse().unwrap())), "{left}");
}

#[test]
fn nothing_is_left_when_stdin_closes_in_the_middle() {
    for command in
        ["sleep|1000", "sh|-c|trap '' TERM INT HUP; setsid sleep 1000 & sleep 1000; sleep 1000"]
    {
        let mut hand = started(&[], &[("run", command)]);
        hand.say("go 0 50000000 1");
        assert!(hand.waits(SOON, |hand| hand.children().len() == 1));
        hand.close();
        hand.end(AT_ONCE);
        hand.leaves_no_process_within(AT_ONCE);
    }
}

#[test]
fn hyperfine_597_orphans_that_ended_are_in_the_figures() {
    let spin = "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done";
    let command = format!(
        "sh|-c|(( {spin}; echo x >f ) &) ; until [ -e f ]; do sleep 0.01; done; rm f; sleep 0.05"
    );

    let said = said(&["rounds=1"], &[("run", &command)]);

    let user = executions(&said)[0][0].user;
    assert!(user > 30_000_000, "{user}: {said}");
}

#[test]
fn a_command_that_takes_too_long_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let command = format!("sh|-c|setsid sh -c 'echo $$ >{}; sleep 1000'", pid.display());

    let said = said(&["limit=300"], &[("run", &command)]);

    let why = "was still running after 0.3 s, its --timeout, and was ended";
    assert!(last_line(&said).contains(why), "{said}");
    assert!(!is_alive(std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap()));
}

#[test]
fn as_a_load_it_counts_commands_until_stdin_closes() {
    let mut hand = started(&[], &[("run", "true")]);
    hand.load();
    assert!(hand.mark().is_sorted());
    hand.close();
    let said = hand.end(AT_ONCE).said;
    let slice = said.lines().find(|line| line.starts_with("slice ")).unwrap();
    assert!(slice.rsplit(' ').next().unwrap().parse::<u64>().unwrap() > 0, "{said}");
}

#[test]
fn words_that_are_no_sections_are_refused() {
    for (words, why) in [
        (&["--", "walk", "1", "true"][..], "'walk' begins no section"),
        (&["--", "run", "0"], "'run' begins no section"),
        (&["--", "run", "3", "true"], "fewer than 3 words follow 'run 3'"),
        (&[], "no command"),
        (&["--", "run", "1", "true", "unknown"], "'unknown' begins no section"),
    ] {
        let mut hand = Hand::with(&program("command"), words);
        let said = hand.end(SOON).said;
        assert!(last_line(&said).starts_with("error ") && said.contains(why), "{words:?}: {said}");
    }
}

/// Returns what the program that counts says of commands, by copy: the values by their names.
fn counts(commands: &[&str]) -> Vec<BTreeMap<String, u64>> {
    let sections: Vec<(&str, &str)> = commands.iter().map(|command| ("run", *command)).collect();
    let mut hand = Hand::with(&program("command-counts"), line(&[], &sections));
    if !hand.is_ready() {
        return Vec::new();
    }
    hand.say("go 0 50000000 1");
    let said = hand.end(SOON).said;
    assert_eq!(last_line(&said), "done", "{said}");
    hand.leaves_no_process_within(AT_ONCE);
    let mut copies = Vec::new();
    for words in said.lines().map(|line| line.split(' ').collect::<Vec<&str>>()) {
        match words[..] {
            ["slice", ..] => copies.push(BTreeMap::new()),
            ["value", name, number, _] => {
                copies.last_mut().unwrap().insert(name.to_owned(), number.parse().unwrap());
            }
            _ => {}
        }
    }
    copies
}

#[test]
fn a_call_more_is_counted() {
    let dd = |count| format!("dd|if=/dev/zero|of=/dev/null|bs=1|count={count}|status=none");
    let [one, other] = &counts(&[&dd(10_000), &dd(10_001)])[..] else {
        return;
    };
    let differ: Vec<&String> = other.keys().filter(|name| one[*name] != other[*name]).collect();
    let calls: Vec<&&String> = differ.iter().filter(|name| name.starts_with("call:")).collect();
    assert_eq!((calls.len(), one.len()), (2, other.len()), "a read and a write: {differ:?}");
    assert!(calls.iter().all(|name| one[**name] + 1 == other[**name]));
    assert_eq!(one["syscalls"] + 2, other["syscalls"]);
    let more = ["bytes_read", "bytes_written"].map(|name| other[name] - one[name]);
    assert_eq!(more, [1, 1]);
}

#[test]
fn processes_and_threads_are_told_apart_and_all_are_counted() {
    let shell = "sh|-c|(true & true & wait); /bin/true; exec /bin/true";
    let Some(found) = counts(&[shell]).pop() else {
        return;
    };
    // The outer subshell may be the shell's own process.
    assert!([3, 4].contains(&found["processes"]) && found["threads"] == 0, "{found:?}");
    let (_, memory) = found.iter().find(|(name, _)| name.starts_with("rss:")).unwrap();
    assert!(*memory > 100 && found["faults"] > 10 && found["switches"] > 0, "{found:?}");
}

#[test]
fn a_command_that_cannot_be_executed_is_said_to_be_so() {
    for (command, why) in [
        ("/nonexistent/command", "ended with exit status 127, saying 'No such file or directory'"),
        ("sh|-c|exit 4", "ended with exit status 4"),
        ("sh|-c|kill -9 $$", "was killed by signal 9"),
    ] {
        let mut hand = Hand::with(&program("command-counts"), line(&[], &[("run", command)]));
        if !hand.is_ready() {
            return;
        }
        hand.say("go 0 50000000 1");
        let said = hand.end(SOON).said;
        assert!(last_line(&said).contains(why), "{said}");
    }
}

#[test]
fn threads_that_become_another_program_keep_their_calls() {
    let source = "import os, threading; threading.Thread(target=lambda: os.execv('/bin/true', ['true'])).start(); \
                  threading.Event().wait()";
    if !Path::new(PYTHON).exists() {
        return testing::skip("there is no /usr/bin/python3");
    }
    let Some(found) = counts(&[&format!("{PYTHON}|-S|-c|{source}")]).pop() else {
        return;
    };
    let execve = format!("call:{}", machine::call_number("execve").unwrap());
    assert!(found[&execve] >= 2 && found["threads"] == 1 && found["processes"] == 0, "{found:?}");
}

#[test]
fn what_outlives_a_command_is_counted_no_more_and_ended() {
    let Some(found) = counts(&["sh|-c|sleep 1000 & setsid sleep 1000 &"]).pop() else {
        return;
    };
    assert_eq!(found["processes"], 2, "{found:?}");
}

/// The processor's counters, by a fake in their place: there may be none here.
#[test]
fn instructions_and_cycles_come_from_the_processor() {
    let units = [
        "count.c",
        "arms.c",
        "complaints.c",
        "emulate.c",
        "process.c",
        "region.c",
        "trace.c",
        "../../tests/programs/counters.c",
    ];
    let units = units.map(|unit| format!("command/{unit}"));
    let program = MEASURED.program("count", &units, &[]).unwrap_or_else(|why| panic!("{why}"));
    let mut hand = Hand::with(&program, line(&[], &[("run", "true"), ("run", "true")]));
    hand.say("go 0 50000000 1");
    let said = hand.end(SOON).said;
    let (first, second) = said.split_once("\ncopy 1\n").unwrap();
    assert!(first.ends_with("\nvalue instructions 1234567\nvalue cycles 7654321"), "{said}");
    assert!(last_line(second) == "done" && !second.contains("value instructions"), "{said}");
}
