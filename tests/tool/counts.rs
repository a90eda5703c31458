//! `--counts`: what commands do is counted to the call, by name, whoever counts, and a difference is found.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use testing::{Place, stderr, stdout};

/// Looks at a file, of which another command has one more.
const MANY: u32 = 10_000;

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

/// Returns the counts of a command by a tool that `words` start.
fn counted(place: &Place, words: &[&str], command: &[&str]) -> Counts {
    let mut tool = Command::new(words[0]);
    tool.args(&words[1..]).env("UNIXMARK_RESULTS", place.results()).env("XDG_CACHE_HOME", place.scratch());
    // Cargo's names folders where nobody else can look for libraries.
    tool.env_remove("LD_LIBRARY_PATH");
    tool.args("run --quick -c 1 -i 1 -q --counts --format json --dir".split(' ')).arg(place.scratch());
    let output = tool.arg("--").args(command).output().unwrap();
    let report = serde_json::from_slice(&output.stdout);
    counts(&report.unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output))))
}

/// Returns whether it is in vain to count here.
pub fn is_untraceable(place: &Place) -> bool {
    let output = place.unixmark("run --quick -c 1 -i 1 -q --counts -- true").output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let warnings = place.json("latest")["warnings"].to_string();
    let is_untraceable = warnings.contains("could not be counted");
    if is_untraceable {
        testing::skip(&warnings);
    }
    is_untraceable
}

#[test]
fn a_call_more_in_ten_thousand_is_found_and_named() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let [old, new] = [looking(MANY), looking(MANY + 1)];
    let names = ["-n", "old", "-n", "new"];
    let ab = |first: &str, second: &str, limits: &str| {
        let mut tool = place.unixmark("ab --iterations 1 --format markdown --quiet");
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
    assert!(fewer.status.success() && stdout(&fewer).contains("−1 "), "{}{}", stdout(&fewer), stderr(&fewer));
    let allowed = ab(&old, &new, "syscalls:1");
    assert!(allowed.status.success(), "{}", stderr(&allowed));
    let same = ab(&old, &looking(MANY), "syscalls:0");
    assert!(same.status.success() && stdout(&same).contains("system calls the same"), "{}", stdout(&same));
}

#[test]
fn a_count_that_differs_from_execution_to_execution_is_a_range_and_fails_nothing() {
    let place = Place::new();
    if is_untraceable(&place) {
        return;
    }
    let log = place.root.path().join("log");
    let growing = format!("echo >>{0}; while read -r line; do [ -e / ]; done <{0}", log.display());
    let ab = place.unixmark("ab --iterations 1 -q --fail-on syscalls:0 true").arg(&growing).output().unwrap();
    assert!(ab.status.success() && stderr(&ab).contains("so this limit decides nothing"), "{}", stderr(&ab));
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
    for often in [MANY / 100, MANY / 100 + 1] {
        let mut run = place.unixmark("run --quick -c 1 -i 1 -q --counts -n look");
        let output = run.arg(looking(often)).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let compare = |words: &str| place.unixmark(&format!("compare latest~1 latest {words}")).output().unwrap();
    let output = compare("--format markdown");
    let shown = stdout(&output);
    let is_there = shown.lines().any(|line| line.starts_with("| B: look |") && line.ends_with("| +1 |"));
    assert!(is_there && shown.contains("1 undecided; look +1 "), "{output:?}");
    let failed = compare("--fail-on syscalls:0 --format junit");
    assert_eq!(failed.status.code(), Some(1), "{}{}", stdout(&failed), stderr(&failed));
    assert!(stderr(&failed).contains("look in B exceeds look in A in system calls: "), "{}", stderr(&failed));
    let case = "<testcase classname=\"unixmark.compare\" name=\"counts\"><failure message=\"look in B exceeds";
    assert!(stdout(&failed).contains(case), "{}", stdout(&failed));
    let allowed = compare("--fail-on syscalls:1");
    assert!(allowed.status.success(), "{}", stderr(&allowed));
    let unknown =
        place.unixmark("compare latest~1 latest --conditions none,nice=5 --fail-on syscalls:1").output().unwrap();
    assert_ne!(unknown.status.code(), Some(0));
}

#[test]
fn counts_are_those_of_strace() {
    let place = Place::new();
    if !["strace", "git", "tar", "cc"].iter().all(|command| testing::has(command)) || is_untraceable(&place) {
        return;
    }
    let folder = place.root.path();
    fs::write(folder.join("a.c"), "int main(void) { return 0; }\n").unwrap();
    assert!(Command::new("git").args(["init", "-q"]).arg(folder.join("repository")).status().unwrap().success());
    let [source, program, repository] = ["a.c", "a", "repository"].map(|name| folder.join(name).display().to_string());
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
            differences(&counts, &traced(folder, command))
        };
        let tries: Vec<String> = (0..5).map(|_| differ()).take_while(|differ| !differ.is_empty()).collect();
        assert!(tries.len() < 5, "{command:?}: {tries:?}");
    }
}

/// Returns the calls of a command by their names, as strace counts them.
fn traced(folder: &Path, command: &[&str]) -> BTreeMap<String, u64> {
    let (table, errors) = (folder.join("table"), folder.join("errors"));
    // Commands of the tool die of an interrupt, also where a shell has its jobs in the background ignore it.
    let mut strace = Command::new("env");
    strace.args(["--default-signal=INT", "strace"]);
    strace.args(["-f", "-c", "-o"]).arg(&table).args(command).env_remove("LD_LIBRARY_PATH");
    // Some look at what their stderr is.
    strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(errors).unwrap());
    assert!(strace.status().unwrap().success());
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
    let unknown =
        counts.keys().filter_map(|name| name.strip_prefix("call:")).filter(|name| !strace.contains_key(*name));
    let differ = strace.iter().filter(is_other).map(|(name, count)| format!("{name} {count}, not {:?}", own(name)));
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
    if !Command::new(nobody[0]).args(&nobody[1..]).args(["test", "-r"]).arg(table).status().unwrap().success() {
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
    let nobody = [&nobody[..], &[&tool]].concat();
    // One child after the other: two that end at once send the shell one signal.
    for command in [&["ls", "/"][..], &["sh", "-c", "ls /; sort /etc/passwd; stat /etc/passwd; wc -l /etc/passwd"]] {
        // Addresses are drawn at random, and others take the processor.
        let is_by_chance = |name: &str| ["rss", "faults", "switches"].contains(&name);
        let counts = |place: &Place, words: &[&str]| {
            let all = counted(place, words, command);
            all.into_iter().filter(|(name, _)| !is_by_chance(name)).collect::<Counts>()
        };
        let mut of_root = counts(&place, &[env!("CARGO_BIN_EXE_unixmark")]);
        for (name, [low, high]) in counts(&others, &nobody) {
            let [least, most] = of_root.remove(&name).unwrap_or_else(|| panic!("{command:?}: root makes no {name}"));
            assert!(low <= most && least <= high, "{command:?}: {name} {low} to {high}, for root {least} to {most}");
        }
        assert!(of_root.is_empty(), "{command:?}: root alone makes {of_root:?}");
    }
}

#[test]
fn what_cannot_be_counted_is_said() {
    let place = Place::new();
    for (words, why) in [
        (&["ab", "true", "false", "--fail-on", "openat"][..], "'openat' is not a percentage"),
        (&["ab", "true", "false", "--fail-on", "opennat:0"], "'opennat' is neither a system call nor one of syscalls"),
        (&["ab", "true", "false", "--fail-on", "rss:much"], "'much' is not a limit for rss; try rss:0 or rss:5%"),
        (&["ab", "true", "false", "--fail-on", "1%,2%"], "two limits for the time, 1% and 2%"),
        (&["run", "pipe", "--counts"], "--counts is for commands, and there is none"),
    ] {
        let output = place.unixmark(words[0]).args(&words[1..]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{words:?}: {}", stderr(&output));
    }
    // It fails where it is traced.
    let shy = "grep -q 'TracerPid:.0$' /proc/self/status";
    let ab = place.unixmark("ab --iterations 1 -q --fail-on syscalls:0 true").arg(shy).output().unwrap();
    assert_eq!(ab.status.code(), Some(1), "{}", stderr(&ab));
    assert!(stderr(&ab).contains("nothing was counted, so no limit can be judged"), "{}", stderr(&ab));
    assert!(place.json("latest")["warnings"].to_string().contains("what ab does could not be counted"));
}
