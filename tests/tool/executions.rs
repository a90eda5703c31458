//! How commands are executed: with which set-ups and files, and what is known of them once they
//! fail, hang, or are interrupted. The shell lines have `hyperfine` and `ab` as functions.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::ab::awaited;
use testing::{Place, stderr};

/// A directory for shell lines.
struct Shell {
    place: Place,
    folder: tempfile::TempDir,
}

impl Shell {
    fn new() -> Shell {
        Shell { place: Place::new(), folder: tempfile::tempdir().unwrap() }
    }

    /// What a shell becomes that executes a line.
    fn command(&self, line: &str) -> Command {
        let tool = env!("CARGO_BIN_EXE_unixmark");
        let line = format!(
            "hyperfine() {{ '{tool}' hyperfine \"$@\"; }}; ab() {{ '{tool}' ab -q \"$@\"; }}; {line}"
        );
        let mut shell = Command::new("bash");
        shell.args(["-c", &line]).current_dir(self.folder.path());
        shell.env("UNIXMARK_RESULTS", self.place.results()).stdin(Stdio::null());
        shell
    }

    /// The tool itself, with the words of a shell line.
    fn exec(&self, words: &str) -> Command {
        self.command(&format!("exec '{}' {words}", env!("CARGO_BIN_EXE_unixmark")))
    }

    fn run(&self, line: &str) -> Output {
        self.command(line).output().unwrap()
    }

    /// The words of a file; none if there is no file.
    fn words(&self, name: &str) -> String {
        let text = fs::read_to_string(self.folder.path().join(name)).unwrap_or_default();
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    }
}

/// The order of the first blocks is drawn.
#[test]
fn a_block_that_fails_ends_the_run_after_its_own_cleanup() {
    const AROUND: &str = "-L x 1,2 -c 'echo c{x} >>log'";
    for (rest, logs) in [
        ("-s 'echo s{x} >>log; test {x} = 1' 'echo m{x} >>log'", ["s1 m1 c1 s2 c2", "s2 c2"]),
        ("-s 'echo s{x} >>log' 'echo m{x} >>log; test {x} = 1'", ["s1 m1 c1 s2 m2 c2", "s2 m2 c2"]),
        (
            "-s 'echo s{x} >>log' --timeout 1s 'echo m{x} >>log; test {x} = 1 || sleep 100'",
            ["s1 m1 c1 s2 m2 c2", "s2 m2 c2"],
        ),
        (
            "-s 'echo s{x} >>log' --same-output 'echo m{x} >>log; test {x} = 1'",
            ["s1 m1 c1 s2 m2 c2", "s2 m2 c2"],
        ),
    ] {
        for _ in 0..3 {
            let shell = Shell::new();

            let output = shell.run(&format!("ab -r 2 {AROUND} {rest}"));

            let log = shell.words("log");
            assert_eq!(output.status.code(), Some(3), "{rest}: {}", stderr(&output));
            assert!(logs.contains(&log.as_str()), "{rest}: {log}");
        }
    }
}

#[test]
fn a_cleanup_that_fails_after_a_command_is_named_with_it() {
    let shell = Shell::new();

    let output = shell.run("ab -r 2 -L x 1,2 -c 'exit 4{x}' 'exit 3'");

    let said = stderr(&output);
    assert!(said.contains("'exit 3' ended with exit status 3 and said nothing"), "{said}");
    assert!(said.contains("; afterwards --cleanup 'exit 4"), "{said}");
}

/// The program that samples executes the commands anew.
#[test]
fn a_command_is_sampled_with_its_own_set_up() {
    let shell = Shell::new();

    let line = "ab -r 2 --where -L x 1,2 -s 'echo {x} >tool' 'read n <tool; test $n = {x}'";
    let output = shell.run(line);

    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!stderr(&output).contains("ended with"), "{}", stderr(&output));
}

#[test]
fn inputs_are_files_and_devices() {
    for (line, printed) in [
        ("hyperfine -r 1 --input /dev/stdin --output ./out cat <in", "text"),
        ("hyperfine -r 2 --input /dev/stdin --output ./out cat 'cat -' <in", "text"),
        ("ln -s /dev/stdin link; ab -r 1 --input link --output ./out cat <in", "text"),
        ("hyperfine -r 1 --input /proc/self/fd/0 --output ./out cat <in", "text"),
        ("hyperfine -r 1 --input /dev/fd/7 --output ./out cat 7<in", "text"),
        (
            "hyperfine -r 1 --input in --output ./out 'cat; ls -l /proc/self/fd | grep -c /in$'",
            "text 1",
        ),
        ("hyperfine -r 1 --input /dev/null --output ./out 'wc -c'", "0"),
        ("hyperfine -r 1 --input /dev/zero --output ./out 'head -c 9 | wc -c'", "9"),
        ("mkdir d; cd d; hyperfine -r 1 --input ../in --output ../out cat", "text"),
    ] {
        let shell = Shell::new();
        fs::write(shell.folder.path().join("in"), "text\n").unwrap();

        let output = shell.run(line);

        assert!(output.status.success(), "{line}: {}", stderr(&output));
        assert_eq!(shell.words("out"), printed, "{line}");
    }
}

#[test]
fn an_input_that_can_be_read_once_is_refused() {
    for (line, why) in [
        ("echo hi | ab --input /dev/stdin cat", "neither a regular file nor a device"),
        ("mkfifo f; ab --input f cat", "neither a regular file nor a device"),
        ("ab --input . cat", "it is a directory"),
        ("ab --input missing cat", "it does not exist"),
        ("script -qec \"'$0' ab --input /dev/tty cat\" /dev/null >&2", "it is a terminal"),
    ] {
        let shell = Shell::new();
        let line = line.replace("$0", env!("CARGO_BIN_EXE_unixmark"));

        let output = shell.run(&line);

        assert_eq!(output.status.code(), Some(2), "{line}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{line}: {}", stderr(&output));
    }
}

#[test]
fn an_output_may_be_an_open_file() {
    for line in [
        "hyperfine -r 2 --output /dev/fd/7 'echo hi' 7>out",
        "hyperfine -r 2 --output /proc/self/fd/7 'echo hi' 7>out",
        "ln -s /dev/stdout link; hyperfine -r 1 --output ./link 'echo hi' | head -1 >out",
        "hyperfine -r 1 --output >(cat >out; echo >end) 'echo hi'; until [ -e end ]; do :; done",
    ] {
        let shell = Shell::new();

        let output = shell.run(line);

        assert!(output.status.success(), "{line}: {}", stderr(&output));
        assert_eq!(shell.words("out"), "hi", "{line}");
    }
}

#[test]
fn a_named_pipe_has_one_writer_and_needs_a_reader() {
    let shell = Shell::new();

    let read = shell.run("mkfifo f; cat f >out & hyperfine -r 3 --output ./f 'echo hi'; wait");
    let unread = shell.run("hyperfine -r 3 --output ./f --timeout 0.2s 'echo hi'");

    assert!(read.status.success(), "{}", stderr(&read));
    assert_eq!(shell.words("out"), "hi hi hi");
    assert_eq!(unread.status.code(), Some(1));
    let why = "a named pipe that nobody has opened to read within 200ms (--timeout)";
    assert!(stderr(&unread).contains(why), "{}", stderr(&unread));
}

#[test]
fn what_is_executed_around_commands_has_their_time_limit() {
    let shell = Shell::new();
    for option in ["-c", "-p", "-C"] {
        for values in ["", "-L x 1,2"] {
            let line = format!("ab -r 2 --timeout 0.3s {option} 'sleep 100; : {{x}}' {values} :");

            let output = shell.run(&line);

            let why = "was still running after 0.3 s, its --timeout, and was ended";
            assert!(!output.status.success(), "{line}");
            assert!(stderr(&output).contains(why), "{line}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_set_up_beyond_the_patience_is_named() {
    let shell = Shell::new();

    let output = shell.run("ab -r 2 --patience 1s -s 'sleep 100' true");

    let why = "'sleep 100' was still running after 1 s, before anything was measured";
    assert!(stderr(&output).contains(why), "{}", stderr(&output));
}

#[test]
fn a_command_that_is_stopped_is_said_to_be() {
    let shell = Shell::new();

    let ended = shell.run("hyperfine -r 2 --timeout 0.5s 'kill -STOP $$'");
    let mut waiting = shell.exec("hyperfine --budget 1s 'kill -STOP $$' true");
    let mut tool = waiting.stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(tool.stderr.as_mut().unwrap()).read_line(&mut said).unwrap();
    kill_process(Pid::from_child(&tool), Signal::INT).unwrap();
    tool.wait().unwrap();

    let why = "was stopped by signal 19, and was ended after 0.5 s, its --timeout";
    assert!(stderr(&ended).contains(why), "{}", stderr(&ended));
    assert!(said.contains("'kill -STOP $$', started "), "{said}");
    assert!(said.contains(" ago, was stopped by a signal"), "{said}");
}

/// Commands that do not take turns are all in one trial.
#[test]
fn an_interrupted_run_keeps_the_commands_that_had_finished() {
    let shell = Shell::new();
    let stubborn = "'trap \"\" TERM; touch began; sleep 100; sleep 100'";
    let line = format!("hyperfine --sequential -r 3 'true 1' {stubborn} --export-csv times.csv");
    let mut tool = shell.exec(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    awaited(|| shell.folder.path().join("began").exists().then_some(()));

    kill_process(Pid::from_child(&tool), Signal::INT).unwrap();

    assert_eq!(tool.wait().unwrap().code(), Some(130));
    let times = fs::read_to_string(shell.folder.path().join("times.csv")).unwrap();
    assert_eq!(times.lines().count(), 2, "{times}");
    assert!(times.lines().nth(1).unwrap().starts_with("true 1,0.0"), "{times}");
}

#[test]
fn an_export_that_waits_for_a_reader_says_so() {
    let shell = Shell::new();

    let line = "mkfifo f; hyperfine -r 2 --export-csv f true 2>said & \
                until grep -q 'waiting until somebody reads f' said; do sleep 0.01; done; \
                cat f >out; wait";
    let output = shell.run(line);

    assert!(output.status.success(), "{}", stderr(&output));
    assert!(shell.words("out").starts_with("command,mean,"), "{}", shell.words("out"));
}

/// As below a home that is closed to the user.
#[test]
fn relative_paths_need_no_path_to_their_directory() {
    let shell = Shell::new();
    let tool = env!("CARGO_BIN_EXE_unixmark");
    // Root passes closed directories, but no path is longer than the kernel's limit.
    let deep = "n=$(printf 'd%.0s' {1..200}); for i in {1..25}; do mkdir $n; cd $n; done; ";
    let words = "-r 2 --input in --output ./out --export-csv f.csv cat";

    let output =
        shell.run(&format!("{deep} echo hi >in; '{tool}' hyperfine {words} && cat out f.csv"));

    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(printed.contains("\nhi\ncommand,mean,"), "{printed}");
}
