//! `--counts`: what commands do is counted to the call, by name, whoever counts, and a difference
//! is found.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use testing::{Place, stderr, stdout};

/// Looks at a file, of which another command has one more.
const MANY: u32 = 1_000;

type Counts = BTreeMap<String, [u64; 2]>;

/// Returns a shell that asks this often for what a file is: one stat(2) each time.
fn looking(often: u32) -> String {
    format!("i=0; while [ $i -lt {often} ]; do [ -e / ]; i=$((i+1)); done")
}

/// Returns the counts of a report's commands by their names.
fn counts(report: &Value) -> Counts {
    let ends = |row: &Value| [0, 1].map(|end| row["count"][end].as_u64().unwrap());
    let rows = report["counts"].as_array().unwrap_or_else(|| panic!("{}", report["warnings"]));
    rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), ends(row))).collect()
}

/// The counts of a command by a tool that `words` start, without valgrind.
fn counted(place: &Place, words: &[&str], command: &[&str]) -> Counts {
    counts(&report(place, words, "", command))
}

/// The counts of a command by a tool that may use valgrind. Where the processor's counters can be
/// read, it does not.
fn counted_with_valgrind(place: &Place, command: &[&str]) -> Counts {
    counts(&report_of(place, Command::new(env!("CARGO_BIN_EXE_unixmark")), "", command))
}

/// The report of a command that is counted without valgrind. `words` are the command line that
/// starts the tool.
fn report(place: &Place, words: &[&str], options: &str, command: &[&str]) -> Value {
    let mut tool = Command::new(words[0]);
    tool.args(&words[1..]).env("PATH", place.path_without_valgrind());
    report_of(place, tool, options, command)
}

fn report_of(place: &Place, mut tool: Command, options: &str, command: &[&str]) -> Value {
    tool.env("UNIXMARK_RESULTS", place.results());
    // Cargo's LD_LIBRARY_PATH names folders that another user cannot read.
    tool.env_remove("LD_LIBRARY_PATH");
    tool.args("run --runs 1 -c 1 -q --counts --format json".split(' '))
        .args(options.split_whitespace())
        .arg("--dir")
        .arg(place.scratch());
    let output = tool.arg("--").args(command).output().unwrap();
    let report = serde_json::from_slice(&output.stdout);
    report.unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output)))
}

/// Compiles a program of `tests/cases/counts`; returns its path, `None` if the compiler cannot.
fn compiled(place: &Place, name: &str, flags: &[&str]) -> Option<String> {
    let program = place.root.path().join(name);
    let source = testing::file(format!("tests/cases/counts/{name}.c"));
    let mut compiler = Command::new("cc");
    let output = compiler.args(flags).arg("-o").arg(&program).arg(source).output().unwrap();
    if !output.status.success() {
        testing::skip(&format!("{name}.c cannot be compiled here: {}", stderr(&output)));
        return None;
    }
    Some(program.display().to_string())
}

/// Returns the number that follows a label in the words of valgrind, added up over processes.
fn valgrind_sum(tool: &str, label: &str, command: &[&str]) -> u64 {
    let mut valgrind = Command::new("valgrind");
    valgrind.args([tool, "--trace-children=yes", "--callgrind-out-file=/dev/null"]);
    if tool.ends_with("memcheck") {
        valgrind = Command::new("valgrind");
        valgrind.args([tool, "--trace-children=yes"]);
    }
    let output = valgrind.args(command).output().unwrap();
    let said = stderr(&output);
    let numbers = said.lines().filter_map(|line| line.split_once(label)).map(|(_, rest)| {
        let digits = rest.trim_start().split(' ').next().unwrap_or_default().replace(',', "");
        digits.parse::<u64>().unwrap_or_else(|_| panic!("{said}"))
    });
    numbers.sum()
}

/// Returns whether it is in vain to count here.
pub fn is_untraceable(place: &Place) -> bool {
    let mut tool = place.unixmark_without_valgrind("run --runs 1 -c 1 -q --counts -- true");
    let output = tool.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let warnings = place.json("latest")["warnings"].to_string();
    let is_untraceable = warnings.contains("could not be counted");
    if is_untraceable {
        testing::skip(&warnings);
    }
    is_untraceable
}

#[test]
fn a_call_more_in_a_thousand_is_found_and_named() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let [old, new] = [looking(MANY), looking(MANY + 1)];
    let names = ["-n", "old", "-n", "new"];
    let ab = |first: &str, second: &str, limits: &str| {
        let mut tool = place.unixmark_without_valgrind("ab --runs 1 --format markdown --quiet");
        tool.args(names).args(["--fail-on", limits]).args([first, second]).output().unwrap()
    };
    let failed = ab(&old, &new, "90%,syscalls:0,rss:90%");
    let said = stdout(&failed);
    assert_eq!(failed.status.code(), Some(1), "{said}{}", stderr(&failed));
    let (_, after) = said.split_once("+1 ").unwrap();
    let (call, _) = after.split_once(" per execution").unwrap();
    assert!(call.contains("stat"), "{said}");
    let row = said.lines().find(|line| line.starts_with(&format!("| new | {call} |"))).unwrap();
    assert!(row.ends_with("| +1 |"), "{row}");
    assert!(stderr(&failed).contains("new exceeds old in system calls: "), "{}", stderr(&failed));
    let fewer = ab(&new, &old, "syscalls:0");
    assert!(
        fewer.status.success() && stdout(&fewer).contains("−1 "),
        "{}{}",
        stdout(&fewer),
        stderr(&fewer)
    );
    let allowed = ab(&old, &new, "syscalls:1");
    assert!(allowed.status.success(), "{}", stderr(&allowed));
    let same = ab(&old, &looking(MANY), "syscalls:0");
    assert!(
        same.status.success() && stdout(&same).contains("system calls the same"),
        "{}",
        stdout(&same)
    );
}

#[test]
fn a_count_that_differs_from_execution_to_execution_is_a_range_and_fails_nothing() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let log = place.root.path().join("log");
    let growing = format!("echo >>{0}; while read -r line; do [ -e / ]; done <{0}", log.display());
    let ab = place
        .unixmark_without_valgrind("ab --runs 1 -q --fail-on syscalls:0 true")
        .arg(&growing)
        .output()
        .unwrap();
    assert!(
        ab.status.success() && stderr(&ab).contains("so this limit decides nothing"),
        "{}",
        stderr(&ab)
    );
    let report = place.json("latest");
    let [low, high] = counts(&report)["syscalls"];
    assert!(low < high, "{low} {high}");
}

#[test]
fn counts_of_two_runs_are_compared() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    for often in [MANY / 10, MANY / 10 + 1] {
        let mut run = place.unixmark_without_valgrind("run --runs 1 -c 1 -q --counts -n look");
        let output = run.arg(looking(often)).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let compare =
        |words: &str| place.unixmark(&format!("compare latest~1 latest {words}")).output().unwrap();
    let output = compare("--format markdown");
    let shown = stdout(&output);
    let is_there =
        shown.lines().any(|line| line.starts_with("| B: look |") && line.ends_with("| +1 |"));
    assert!(is_there && shown.contains("1 undecided; look +1 "), "{output:?}");
    let failed = compare("--fail-on syscalls:0 --format junit");
    assert_eq!(failed.status.code(), Some(1), "{}{}", stdout(&failed), stderr(&failed));
    assert!(
        stderr(&failed).contains("look in B exceeds look in A in system calls: "),
        "{}",
        stderr(&failed)
    );
    let case = "<testcase classname=\"unixmark.compare\" name=\"counts\"><failure message=\"look in B exceeds";
    assert!(stdout(&failed).contains(case), "{}", stdout(&failed));
    let allowed = compare("--fail-on syscalls:1");
    assert!(allowed.status.success(), "{}", stderr(&allowed));
    let unknown = place
        .unixmark("compare latest~1 latest --conditions none,nice=5 --fail-on syscalls:1")
        .output()
        .unwrap();
    assert_ne!(unknown.status.code(), Some(0));
}

#[test]
#[ignore = "needs strace"]
fn counts_are_those_of_strace() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let folder = place.root.path();
    fs::write(folder.join("a.c"), "int main(void) { return 0; }\n").unwrap();
    assert!(
        Command::new("git")
            .args(["init", "-q"])
            .arg(folder.join("repository"))
            .status()
            .unwrap()
            .success()
    );
    let [source, program, repository] =
        ["a.c", "a", "repository"].map(|name| folder.join(name).display().to_string());
    for command in [
        &["ls", "/"][..],
        &["tar", "-cf", "/dev/null", "-C", "/", "etc/hostname", "etc/passwd"],
        &["cc", "-o", &program, &source],
        &["git", "-C", &repository, "status"],
        &["/usr/bin/python3", "-S", "-c", "1"],
    ] {
        // Compilers draw the names of their files by chance, again where one is taken.
        let differ = || {
            let counts = counted(&place, &[env!("CARGO_BIN_EXE_unixmark")], command);
            differences(&counts, &strace_counts(&place, command))
        };
        let tries: Vec<String> =
            (0..5).map(|_| differ()).take_while(|differ| !differ.is_empty()).collect();
        assert!(tries.len() < 5, "{command:?}: {tries:?}");
    }
}

/// The calls of a command by their names, as strace counts them, and their `total`.
fn strace_counts(place: &Place, command: &[&str]) -> BTreeMap<String, u64> {
    let table = place.root.path().join("table");
    // Commands of the tool die of an interrupt, also where a shell has its jobs in the background
    // ignore it.
    let mut strace = Command::new("env");
    strace.args(["--default-signal=INT", "strace"]);
    strace.args(["-f", "-c", "-o"]).arg(&table).args(command).env_remove("LD_LIBRARY_PATH");
    // The PATH of the counted command: one that is found through a link may read the link, too.
    strace.env("PATH", place.path_without_valgrind());
    // Some look at what their stderr is: the tool's commands have a pipe.
    let output = strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    assert!(output.unwrap().status.success());
    let table = fs::read_to_string(table).unwrap();
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<&str>>());
    let calls = rows.filter(|words| words.len() > 4 && words[0].parse::<f64>().is_ok());
    calls.map(|words| ((*words.last().unwrap()).to_owned(), words[3].parse().unwrap())).collect()
}

/// Returns which calls, or how many in all, strace counts otherwise.
fn differences(counts: &Counts, strace: &BTreeMap<String, u64>) -> String {
    let own = |name: &str| {
        let name = if name == "total" { "syscalls".to_owned() } else { format!("call:{name}") };
        counts.get(&name).copied().unwrap_or_default()
    };
    let is_other = |(name, count): &(&String, &u64)| !(own(name)[0]..=own(name)[1]).contains(count);
    let unknown = counts
        .keys()
        .filter_map(|name| name.strip_prefix("call:"))
        .filter(|name| !strace.contains_key(*name));
    let differ = strace
        .iter()
        .filter(is_other)
        .map(|(name, count)| format!("{name} {count}, not {:?}", own(name)));
    differ.chain(unknown.map(str::to_owned)).collect::<Vec<String>>().join("; ")
}

#[test]
fn root_and_nobody_count_the_same() {
    let place = Place::new();
    if !rustix::process::geteuid().is_root() || !testing::has("setpriv") {
        return testing::skip("only root can be another user");
    }
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let table = testing::file("catalogue/tests.toml");
    if !Command::new(nobody[0])
        .args(&nobody[1..])
        .args(["test", "-r"])
        .arg(table)
        .status()
        .unwrap()
        .success()
    {
        return testing::skip("nobody else can read the repository here");
    }
    if is_untraceable(&place) {
        return;
    }
    let others = Place::new();
    for folder in [others.root.path(), &others.scratch()] {
        fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
    }
    // It may lie where nobody else can go.
    let tool = others.root.path().join("unixmark");
    fs::copy(env!("CARGO_BIN_EXE_unixmark"), &tool).unwrap();
    let tool = tool.display().to_string();
    let cache = format!("XDG_CACHE_HOME={}", others.scratch().display());
    let nobody = [&["env", &cache], &nobody[..], &[&tool]].concat();
    // One child after the other: two that end at once send the shell one signal.
    for command in [
        &["ls", "/"][..],
        &["sh", "-c", "ls /; sort /etc/passwd; stat /etc/passwd; wc -l /etc/passwd"],
    ] {
        // Addresses are drawn at random, and others take the processor.
        let is_by_chance = |name: &str| {
            let of_memory = ["rss", "faults", "switches", "allocations", "allocated"];
            of_memory.contains(&name) || name.starts_with("instructions")
        };
        let counts = |place: &Place, words: &[&str]| {
            let all = counted(place, words, command);
            all.into_iter().filter(|(name, _)| !is_by_chance(name)).collect::<Counts>()
        };
        let mut of_root = counts(&place, &[env!("CARGO_BIN_EXE_unixmark")]);
        for (name, [low, high]) in counts(&others, &nobody) {
            let [least, most] = of_root
                .remove(&name)
                .unwrap_or_else(|| panic!("{command:?}: root makes no {name}"));
            assert!(
                low <= most && least <= high,
                "{command:?}: {name} {low} to {high}, for root {least} to {most}"
            );
        }
        assert!(of_root.is_empty(), "{command:?}: root alone makes {of_root:?}");
    }
}

#[test]
fn what_cannot_be_counted_is_said() {
    let place = Place::new();
    for (words, why) in [
        (&["ab", "true", "false", "--fail-on", "openat"][..], "'openat' is not a percentage"),
        (
            &["ab", "true", "false", "--fail-on", "opennat:0"],
            "'opennat' is not a system call, a percentile such as p99, or one of syscalls",
        ),
        (
            &["ab", "true", "false", "--fail-on", "rss:much"],
            "'much' is not a limit for rss; try rss:0 or rss:5%",
        ),
        (&["ab", "true", "false", "--fail-on", "1%,2%"], "two limits for the time, 1% and 2%"),
        (&["run", "pipe", "--counts"], "--counts is for commands, and there is none"),
    ] {
        let output = place.unixmark(words[0]).args(&words[1..]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    // It fails where it is traced.
    let shy = "grep -q 'TracerPid:.0$' /proc/self/status";
    let ab = place.unixmark("ab --runs 1 -q --fail-on syscalls:0 true").arg(shy).output().unwrap();
    assert_eq!(ab.status.code(), Some(1), "{}", stderr(&ab));
    assert!(
        stderr(&ab).contains("nothing was counted, so no limit can be judged"),
        "{}",
        stderr(&ab)
    );
    assert!(
        place.json("latest")["warnings"]
            .to_string()
            .contains("what the commands do could not be counted")
    );
}

#[test]
#[ignore = "needs valgrind"]
fn instructions_are_those_of_callgrind() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let Some(program) = compiled(&place, "allocating", &[]) else { return };
    let own = |times: &str| {
        let counts = counted_with_valgrind(&place, &[&program, times]);
        let Some([low, high]) = counts.get("instructions:valgrind") else {
            return None; // the processor's counters can be read here
        };
        assert_eq!(low, high);
        Some(*low)
    };
    // What the loader does depends on the environment, which is another here.
    let callgrind =
        |times: &str| valgrind_sum("--tool=callgrind", "Collected :", &[&program, times]);

    let Some(more) = own("900") else { return };
    let fewer = own("400").unwrap();

    assert_eq!(more - fewer, callgrind("900") - callgrind("400"));
}

#[test]
#[ignore = "needs valgrind"]
fn instructions_of_forked_processes_are_counted_once() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let Some(program) = compiled(&place, "allocating", &[]) else { return };
    let own = |words: &[&str]| {
        let counts = counted_with_valgrind(&place, words);
        counts.get("instructions:valgrind").map(|[low, _]| *low)
    };

    let Some(alone) = own(&[&program, "2000"]) else { return };
    let both = own(&[&program, "2000", "fork"]).unwrap();

    let twice = 2 * alone;
    assert!(both.abs_diff(twice) < twice / 20, "{both} is not twice {alone}");
}

#[test]
#[ignore = "needs valgrind"]
fn allocations_are_those_of_memcheck() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let Some(program) = compiled(&place, "allocating", &[]) else { return };

    let counts = counted(&place, &[env!("CARGO_BIN_EXE_unixmark")], &[&program, "100"]);

    let memcheck = valgrind_sum("--tool=memcheck", "total heap usage:", &[&program, "100"]);
    assert_eq!(counts["allocations"], [memcheck; 2]);
    // 10, 1 to 9901, 21, 15, 6, 128 and 100 bytes.
    let bytes = (0..100).map(|i| 10 + 100 * i + 1 + 21 + 15 + 6 + 128 + 100).sum::<u64>();
    assert_eq!(counts["allocated"], [bytes; 2]);
}

#[test]
#[ignore = "needs valgrind"]
fn addresses_are_not_drawn_at_random() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let python = ["/usr/bin/python3", "-S", "-c", "print({'a', 'b', 'c'})"];
    let names = ["faults", "instructions:valgrind", "allocations", "allocated"];
    // A kernel that takes a page of python's from memory adds a fault.
    let varying = || {
        let counts = counted_with_valgrind(&place, &python);
        assert!(counts.contains_key("allocations"), "{counts:?}");
        let is_one_number = |name: &&str| counts.get(*name).is_none_or(|[low, high]| low == high);
        names.into_iter().filter(|name| !is_one_number(name)).collect::<Vec<&str>>()
    };
    let is_found = (0..3).any(|_| varying().is_empty());
    assert!(is_found, "the counts of python vary in each of three countings");
}

#[test]
fn programs_that_take_no_library_are_named() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let tool = [env!("CARGO_BIN_EXE_unixmark")];
    let Some(program) = compiled(&place, "allocating", &["-static"]) else { return };

    let report = report(&place, &tool, "", &["sh", "-c", &format!("{program} 3; true")]);

    assert!(!counts(&report).contains_key("allocations"));
    let said = report.to_string();
    assert!(
        said.contains("allocations were not counted: allocating is statically linked"),
        "{said}"
    );
}

#[test]
fn without_ptrace_and_counters_the_rest_is_counted() {
    let place = Place::new();
    let Some(deny) = compiled(&place, "deny", &[]) else { return };

    let report = report(&place, &[&deny, env!("CARGO_BIN_EXE_unixmark")], "", &["ls", "/"]);

    let counts = counts(&report);
    assert!(!counts.contains_key("syscalls"), "{counts:?}");
    for name in ["faults", "switches", "allocations", "allocated"] {
        assert!(counts.contains_key(name), "{name}: {counts:?}");
    }
    let said = report.to_string();
    assert!(said.contains("memory were not counted: tracing is not allowed here"), "{said}");
    assert!(said.contains("addresses are drawn at random here"), "{said}");
}

#[test]
#[ignore = "needs valgrind"]
fn valgrind_counts_where_tracing_is_not_allowed() {
    let place = Place::new();
    let Some(deny) = compiled(&place, "deny", &[]) else { return };
    let mut tool = Command::new(deny);
    tool.arg(env!("CARGO_BIN_EXE_unixmark"));

    let counts = counts(&report_of(&place, tool, "", &["ls", "/"]));

    let names = ["instructions", "instructions:valgrind"];
    assert!(names.iter().any(|name| counts.contains_key(*name)), "{counts:?}");
}

#[test]
fn without_valgrind_it_is_said_what_to_install() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }

    let report = report(&place, &[env!("CARGO_BIN_EXE_unixmark")], "", &["/bin/ls", "/"]);

    let is_counted = counts(&report).contains_key("instructions");
    let says = report.to_string().contains("valgrind is not installed; try `apt install valgrind`");
    assert_ne!(is_counted, says, "{report}");
}

#[test]
#[ignore = "needs valgrind"]
fn limits_of_instructions_and_allocations_hold_on_every_runner() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let Some(program) = compiled(&place, "allocating", &[]) else { return };
    let ab = |limits: &str, first: u32, second: u32| {
        let mut tool = place.unixmark("ab --iterations 1 --quiet --fail-on");
        let commands = [first, second].map(|times| format!("{program} {times}"));
        tool.arg(limits).args(commands).output().unwrap()
    };
    let both = "90%,instructions:1%,allocations:0";

    let same = ab(both, 3000, 3000);
    assert!(same.status.success(), "{}", stderr(&same));

    let more = ab(both, 3000, 3001);
    assert_eq!(more.status.code(), Some(1), "{}", stderr(&more));
    assert!(stderr(&more).contains("exceeds"), "{}", stderr(&more));
    assert!(stderr(&more).contains("in allocations: "), "{}", stderr(&more));

    let longer = ab("90%,instructions:1%", 3000, 3300);
    assert_eq!(longer.status.code(), Some(1), "{}", stderr(&longer));
    assert!(stderr(&longer).contains(" in instructions"), "{}", stderr(&longer));
}

#[test]
fn a_region_is_timed_and_counted_alone() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let tool = [env!("CARGO_BIN_EXE_unixmark")];
    let script = testing::file("tests/cases/counts/region.py").display().to_string();
    let command = ["/usr/bin/python3", "-S", &script, "1000"];
    let wall = |report: &Value| report["executions"][0]["wall_ms"].as_f64().unwrap();

    let region = report(&place, &tool, "--region", &command);
    let whole = report(&place, &tool, "", &command);

    // It sleeps 350 ms outside.
    assert!(wall(&region) + 340.0 < wall(&whole), "{} {}", wall(&region), wall(&whole));
    let stats = |report: &Value| {
        let all = counts(report);
        let calls = ["call:stat", "call:newfstatat", "call:statx"];
        calls.iter().filter_map(|name| all.get(*name)).map(|[low, _]| *low).sum::<u64>()
    };
    assert_eq!(stats(&region), 1);
    assert!(stats(&whole) > 3);
    assert!(region.to_string().contains("times are those of the region"), "{region}");
}

#[test]
fn a_command_without_a_region_is_measured_whole_and_the_report_says_so() {
    let place = Place::new();
    let tool = [env!("CARGO_BIN_EXE_unixmark")];

    let report = report(&place, &tool, "--region", &["sleep", "0.1"]);

    let wall = report["executions"][0]["wall_ms"].as_f64().unwrap();
    assert!(wall > 99.0, "{report}");
    assert!(report.to_string().contains("did not write its region, so all of it was measured"));
}

#[test]
fn a_shell_marks_the_region_of_what_it_starts() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let tool = [env!("CARGO_BIN_EXE_unixmark")];
    let script = "cat /dev/null; echo >&$UNIXMARK_READY; cat /dev/null; cat /dev/null; \
                  echo >&$UNIXMARK_DONE; cat /dev/null";

    let counts = counts(&report(&place, &tool, "--region", &["sh", "-c", script]));

    assert_eq!(counts["processes"], [2, 2]);
}
