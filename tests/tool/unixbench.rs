//! The tool as UnixBench's `Run`: its variables, its files, its exit codes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use testing::{Place, stderr, stdout};

/// `Run` in a directory with blanks and quotes in its name.
struct Bench {
    place: Place,
    folder: PathBuf,
}

impl Bench {
    fn new() -> Bench {
        let place = Place::new();
        let folder = place.root.path().join("it's a \"bench\"");
        fs::create_dir(&folder).unwrap();
        symlink(testing::built_program("unixmark"), folder.join("Run")).unwrap();
        Bench { place, folder }
    }

    fn command(&self, words: &str) -> Command {
        let mut command = Command::new(self.folder.join("Run"));
        command.current_dir(&self.folder).env("UNIXMARK_RESULTS", self.place.results());
        command.env("UNIXMARK_PROCEDURE", "quick").args(words.split_whitespace());
        command
    }

    fn run(&self, words: &str, variables: &[(&str, &str)]) -> Output {
        self.command(words).envs(variables.iter().copied()).output().unwrap()
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.folder.join(folder)).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn files_and_the_way_back() {
    let bench = Bench::new();
    let output = bench.run("-q -b -i 1 -c 2 -c 1 syscall pipe", &[("UB_OUTPUT_CSV", "true")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let files = bench.files("results");
    let base = files[0].clone();
    assert!(base.ends_with("-01"), "{base}");
    assert_eq!(files, ["", ".csv", ".html", ".log"].map(|ending| format!("{base}{ending}")));
    let path = bench.folder.join("results").join(&base);
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        stdout(&output).ends_with(&format!("{}\n{text}", "=".repeat(72)))
            && !text.contains("CPU 0")
    );
    assert_eq!(masked(&text), format!("{HEAD}{LEVEL}{LEVEL}"));
    assert!(
        stderr(&output).contains("quick procedure")
            && stderr(&output).contains("/report.txt has the same figures")
    );
    // Two passes of one copy and two of two, each copy with its process.
    let log = fs::read_to_string(path.with_file_name(format!("{base}.log"))).unwrap();
    let pids: Vec<u32> = log
        .lines()
        .filter_map(|line| line.strip_prefix("# pid: "))
        .map(|pid| pid.parse().unwrap())
        .collect();
    let distinct: std::collections::BTreeSet<&u32> = pids.iter().collect();
    assert!(
        pids.len() == log.matches("# COUNT0: ").count() && distinct.len() == pids.len(),
        "{log}"
    );
    let measured = bench.place.json("latest");
    let mut import = bench.place.unixmark("import");
    assert!(import.arg(&path).output().unwrap().status.success());
    let imported = bench.place.json("latest");
    let scores = |run: &serde_json::Value| -> Vec<String> {
        let rows = run["results"].as_array().unwrap().iter();
        let mut rows: Vec<String> = rows
            .map(|row| {
                format!("{} {} {:.1}", row["test"], row["copies"], row["value"].as_f64().unwrap())
            })
            .collect();
        rows.sort();
        rows
    };
    assert_eq!(scores(&measured).len(), 4);
    assert_eq!(scores(&imported), scores(&measured));
    // A second run has the next number; a name of one's own is used as it is, and its log grows.
    bench.run("-q -i 1 -c 1 syscall", &[]);
    assert!(bench.files("results").iter().any(|name| name.ends_with("-02.log")));
    let named = [("UB_RESULTDIR", "mine"), ("UB_OUTPUT_FILE_NAME", "a 'b'"), ("UB_TMPDIR", "work")];
    bench.run("-q -i 1 -c 1 syscall", &named);
    let log = || fs::read_to_string(bench.folder.join("mine/a 'b'.log")).unwrap();
    let first = log();
    bench.run("-q -i 1 -c 1 syscall", &named);
    assert!(log().len() > first.len() && log().starts_with(&first));
    assert_eq!(bench.files("mine"), ["a 'b'", "a 'b'.html", "a 'b'.log"]);
    assert!(bench.files("work").is_empty());
}

/// The head of what UnixBench 6.0.0 prints for these options with numbers masked; the second line
/// is not in it.
const HEAD: &str = " BYTE UNIX Benchmarks (Version #)
 (measured by unixmark # with its quick procedure)

 System: HOST
 OS: HOST
 Machine: HOST
 Language: HOST
 # up TIME # user, load average: #, #, #; runlevel

";

/// What it prints for each number of copies.
const LEVEL: &str = "\
------------------------------------------------------------------------
Benchmark Run: DAY # # # - #
# CPUs in system; running # parallel COPIES of tests

Pipe Throughput # lps (# s, # samples)
System Call Overhead # lps (# s, # samples)

System Benchmarks Partial Index BASELINE RESULT INDEX
Pipe Throughput # # #
System Call Overhead # # #
 ========
System Benchmarks Index Score (Partial Only) #

";

/// A report with `#` for every number, one blank for any number of them, and without what depends
/// on the machine or the day.
fn masked(text: &str) -> String {
    text.lines().map(|line| masked_line(line) + "\n").collect()
}

fn masked_line(line: &str) -> String {
    let known = ["System: ", "OS: ", "Machine: ", "Language: "]
        .into_iter()
        .find(|name| line.trim().starts_with(name));
    if let Some(name) = known {
        return format!(" {name}HOST");
    }
    let numbers = line
        .replace("copies of", "COPIES of")
        .replace("copy of", "COPIES of")
        .replace("users", "user");
    let mut masked = String::new();
    for c in numbers.chars() {
        match c {
            '0'..='9' if masked.ends_with('#') => {}
            '0'..='9' => masked.push('#'),
            ' ' if masked.ends_with(' ') => {}
            c => masked.push(c),
        }
    }
    let mut masked = ["#.#", "#:#", "#.#"]
        .iter()
        .fold(masked, |text, part| text.replace(part, "#").replace(part, "#"));
    if let Some((date, rest)) =
        masked.strip_prefix("Benchmark Run: ").and_then(|rest| rest.split_once(" #"))
    {
        assert_eq!(date.len(), "Sun Nov".len(), "{line}");
        masked = format!("Benchmark Run: DAY #{rest}");
    }
    match (masked.split_once(" up "), masked.split_once(", # user")) {
        (Some((before, _)), Some((_, after))) => {
            format!("{before} up TIME # user{after}").trim_end().to_owned()
        }
        _ => masked,
    }
}

#[test]
fn refusals() {
    let bench = Bench::new();
    let file = bench.folder.join("file");
    fs::write(&file, "").unwrap();
    for (words, variables, why) in [
        ("nothing", ("UB_OUTPUT_CSV", ""), "no test or group 'nothing'"),
        ("-c 0 pipe", ("UB_OUTPUT_CSV", ""), "0 copies"),
        ("-i x pipe", ("UB_OUTPUT_CSV", ""), "'x'"),
        ("-z pipe", ("UB_OUTPUT_CSV", ""), "'-z'"),
        ("pipe", ("UB_BINDIR", "/opt"), "unset UB_BINDIR"),
        ("pipe", ("UB_GCC_OPTIONS", "-O1"), "unset UB_GCC_OPTIONS"),
        ("pipe", ("UB_RESULTDIR", "file/results"), "set UB_RESULTDIR"),
        ("pipe", ("UB_TMPDIR", "file/tmp"), "set UB_TMPDIR"),
        ("pipe", ("UB_OUTPUT_FILE_NAME", "../up"), "set that instead"),
        ("pipe", ("MULTI_SH_WORK_FACTOR", "0"), "not a number from 1"),
        ("pipe", ("UNIXMARK_PROCEDURE", "slow"), "'slow'"),
    ] {
        let output = bench.run(words, &[variables]);
        assert_eq!(output.status.code(), Some(1), "{words} {variables:?}");
        assert!(stderr(&output).contains(why), "{why}: {}", stderr(&output));
    }
    assert!(!bench.place.results().exists());
}

/// The classic procedure shows its passes; what was measured until Ctrl-C is kept.
#[test]
fn stopped_in_the_middle() {
    let bench = Bench::new();
    let mut command = bench.command("-i 1 -c 1 syscall");
    let mut tool =
        command.env("UNIXMARK_PROCEDURE", "classic").stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(tool.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    let mut begin = vec![0; "1 x System Call Overhead  1".len()];
    out.read_exact(&mut begin).unwrap();
    assert_eq!(
        (line.as_str(), String::from_utf8(begin).unwrap().as_str()),
        ("\n", "1 x System Call Overhead  1")
    );
    let id = rustix::process::Pid::from_child(&tool);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    assert_eq!(tool.wait().unwrap().code(), Some(130));
    // Nothing was measured, so there is no report: only the log that was begun.
    let files = bench.files("results");
    assert!(files.len() == 1 && files[0].ends_with("-01.log"), "{files:?}");
}

/// What was measured before a kill that nothing can catch is in the log, pass by pass.
#[test]
fn killed_in_the_middle() {
    let bench = Bench::new();
    let mut tool =
        bench.command("-q -i 50 -c 1 syscall pipe").stdout(Stdio::null()).spawn().unwrap();
    let passes = || {
        let folder = fs::read_dir(bench.folder.join("results")).into_iter().flatten();
        let logs =
            folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some());
        logs.map(|log| fs::read_to_string(log).unwrap().matches("# COUNT0: ").count())
            .sum::<usize>()
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while passes() < 2 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    let some = passes() >= 2;
    tool.kill().unwrap();
    tool.wait().unwrap();
    assert!(some && passes() < 100);
}

/// Runs and reports may share a directory, where both have names by host and date.
#[test]
fn one_directory_for_both() {
    let bench = Bench::new();
    let together = [("UNIXMARK_RESULTS", "results")];
    for number in [1, 3] {
        let output = bench.run("-q -i 1 -c 1 syscall", &together);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let texts = bench
            .files("results")
            .iter()
            .filter(|name| name.ends_with(&format!("-{number:02}.log")))
            .count();
        assert_eq!(texts, 1, "{:?}", bench.files("results"));
    }
}

/// Where others may write too, links to anywhere can lie under the names that come next.
#[test]
fn links_in_the_results_directory_are_not_followed() {
    let bench = Bench::new();
    let results = bench.folder.join("results");
    fs::create_dir(&results).unwrap();
    let own = |name: &str| bench.folder.join(name);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let base = format!("{}-{}", host.trim(), jiff::Zoned::now().strftime("%Y-%m-%d"));
    for ending in ["", ".log"] {
        symlink(own("planted"), results.join(format!("{base}-01{ending}"))).unwrap();
    }
    let output = bench.run("-q -i 1 -c 1 syscall", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        !own("planted").exists()
            && bench.files("results").iter().any(|name| name.ends_with("-02.log"))
    );
    // A name of one's own: the log grows and must be what it seems; the rest is replaced.
    fs::write(own("kept"), "kept").unwrap();
    let named = [("UB_OUTPUT_FILE_NAME", "mine")];
    symlink(own("kept"), results.join("mine.html")).unwrap();
    assert_eq!(bench.run("-q -i 1 -c 1 syscall", &named).status.code(), Some(0));
    assert!(fs::symlink_metadata(results.join("mine.html")).unwrap().is_file());
    fs::remove_file(results.join("mine.log")).unwrap();
    symlink(own("kept"), results.join("mine.log")).unwrap();
    let output = bench.run("-q -i 1 -c 1 syscall", &named);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("mine.log cannot be written"), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(own("kept")).unwrap(), "kept");
}

/// A directory for scripts that call UnixBench's programs.
#[test]
fn programs_by_their_names() {
    let bench = Bench::new();
    let place = &bench.place;
    let tree = bench.folder.join("tree");
    for _ in 0..2 {
        assert!(
            place.unixmark("unixbench --install").arg(&tree).output().unwrap().status.success()
        );
    }
    let version = Command::new(tree.join("Run")).arg("--help").output().unwrap();
    assert!(stdout(&version).contains("UB_RESULTDIR"));
    let program = |words: &str| {
        let mut words = words.split_whitespace();
        let mut command = Command::new(tree.join("pgms").join(words.next().unwrap()));
        command.current_dir(&bench.folder).args(words).env("TMPDIR", bench.folder.join("tmp"));
        command
    };
    let dc = fs::File::open(testing::file("programs/shell/dc.txt")).unwrap();
    // A directory that others have made under the name of this user's own is no concern of theirs.
    let squatted =
        bench.folder.join("tmp").join(format!("unixmark-{}", rustix::process::geteuid().as_raw()));
    fs::create_dir_all(&squatted).unwrap();
    fs::create_dir(bench.folder.join("fs")).unwrap();
    let calls = [
        ("dhry2reg 1", "1", "lps"),
        ("syscall 1 getpid", "1", "lps"),
        ("context1 1", "1", "lps"),
        ("spawn 1", "1", "lps"),
        ("execl 1", "1", "lps"),
        ("hanoi 1 5", "1", "lps"),
        ("looper 1 cat", "60", "lpm"),
        ("looper 1 tree/pgms/multi.sh 1", "60", "lpm"),
        ("fstime -w -t 1 -b 256 -m 500 -d fs", "0", "KBps"),
    ];
    let started = calls.map(|call| {
        let mut command = program(call.0);
        command.stdin(dc.try_clone().unwrap()).stdout(Stdio::piped()).stderr(Stdio::piped());
        (call, command.spawn().unwrap())
    });
    for ((words, timebase, unit), child) in started {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{words}");
        let printed = stderr(&output);
        let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split('|').collect()).collect();
        assert_eq!(
            (lines.len(), lines[0][0], &lines[0][2..], lines[1][0]),
            (2, "COUNT", &[timebase, unit][..], "TIME")
        );
        assert!(lines[0][1].parse::<u64>().unwrap() > 0, "{printed}");
        assert!((0.1..1.5).contains(&lines[1][1].parse::<f64>().unwrap()), "{words}: {printed}");
    }
    assert!(bench.files("fs").is_empty());
    for (words, why) in [
        ("pipe", "try `pipe SECONDS`"),
        ("pipe x", "'x' is not a number from 1 to 3600"),
        ("syscall 1 quark", "[mix|close|getpid|exec]"),
        ("fstime -z", "-d DIRECTORY"),
        ("fstime -d nowhere -t 1", "nowhere is not a directory"),
        ("looper 1", "COMMAND"),
        ("looper 1 false", "false ended with exit status 1"),
    ] {
        let output = program(words).output().unwrap();
        assert_eq!(
            (output.status.code(), stderr(&output).contains(why)),
            (Some(1), true),
            "{}",
            stderr(&output)
        );
    }
    // UnixBench's own directory is not touched.
    let own = tempfile::tempdir_in(&bench.folder).unwrap();
    fs::write(own.path().join("Run"), "").unwrap();
    let refused = place.unixmark("unixbench --install").arg(own.path()).output().unwrap();
    assert!(!refused.status.success() && stderr(&refused).contains("not a link"));
}

/// Each script sorts as many texts, and removes them.
#[test]
fn work_factor() {
    let bench = Bench::new();
    let output = bench.run("-q -i 1 -c 1 shell1", &[("MULTI_SH_WORK_FACTOR", "3")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(bench.files("tmp").is_empty());
    let run = bench.place.json("latest");
    assert!(run.to_string().contains("MULTI_SH_WORK_FACTOR=3"));
    assert!(run["results"][0]["value"].as_f64().unwrap() > 0.0);
}
