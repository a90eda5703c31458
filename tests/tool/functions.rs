//! `--where`: the functions in which commands spend their time are named, and those that differ.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testing::{Place, stderr};

/// A program whose functions take 1, 2 and 3 shares of its time; `MORE` is added to the second. All
/// use one that is inlined; with `ONCE` there is another, which is inlined in one place. With an
/// argument it first removes its own file.
const SOURCE: &str = "
#include <unistd.h>
#ifndef MORE
#define MORE 0
#endif
static volatile unsigned long sum;
__attribute__((always_inline)) static inline unsigned long work(unsigned long n)
{
    unsigned long own = n;
    while (n--)
        own = own * 3 + 1;
    return own;
}
#define WORK(name) __attribute__((noinline, aligned(64))) void name(long n) { sum = work(n); }
WORK(work_a) WORK(work_b) WORK(work_c)
__attribute__((always_inline)) static inline void work_once(long n) { sum = work(n); }
int main(int argc, char **argv)
{
    if (argc > 1)
        unlink(argv[0]);
    for (int i = 0; i < 200; i++) {
        work_a(15000);
        work_b(30000 + MORE);
        work_c(45000);
#ifdef ONCE
        work_once(45000);
#endif
    }
}
";

/// Compiles the program with some options; `None` where nothing compiles.
fn program(place: &Place, name: &str, options: &[&str]) -> Option<PathBuf> {
    compiled(place, SOURCE, name, options)
}

fn compiled(place: &Place, text: &str, name: &str, options: &[&str]) -> Option<PathBuf> {
    let source = place.root.path().join("work.c");
    std::fs::write(&source, text).unwrap();
    let path = place.root.path().join(name);
    let compiled =
        Command::new("cc").args(["-O1", "-o"]).arg(&path).arg(source).args(options).status();
    let Ok(status) = compiled else {
        testing::skip("there is no compiler");
        return None;
    };
    assert!(status.success());
    Some(path)
}

/// The report of a run with `--where`, without valgrind; `None` where the kernel lets nobody sample.
fn report(place: &Place, words: &str, commands: &[&Path]) -> Option<Value> {
    report_of(place, place.unixmark_without_valgrind(words), commands)
}

fn report_with_valgrind(place: &Place, words: &str, commands: &[&Path]) -> Option<Value> {
    report_of(place, place.unixmark(words), commands)
}

fn report_of(place: &Place, mut tool: Command, commands: &[&Path]) -> Option<Value> {
    let output = tool.args(commands).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let report = place.json("latest");
    let warnings = report["warnings"].to_string();
    if warnings.contains("spend their time is not known") {
        testing::skip(&warnings);
        return None;
    }
    Some(report)
}

fn rows<'r>(report: &'r Value, name: &str) -> Vec<&'r Value> {
    let rows = report["functions"].as_array().unwrap_or_else(|| panic!("{report}"));
    rows.iter().filter(|row| row["name"] == name).collect()
}

#[test]
fn the_function_that_takes_longer_is_named() {
    let place = Place::new();
    let (Some(old), Some(new)) =
        (program(&place, "old", &[]), program(&place, "new", &["-DMORE=30000"]))
    else {
        return;
    };

    let Some(report) = report(&place, "ab --where -q --runs 20", &[&old, &new]) else { return };

    // The time of work_b is doubled, which was a third of the whole.
    let [base, slower] = rows(&report, "work_b")[..] else { panic!("{report}") };
    assert_eq!((&base["change"], &slower["differs"]), (&Value::Null, &Value::Bool(true)));
    let [low, high] = ["change_low", "change_high"].map(|end| slower[end].as_f64().unwrap());
    assert!(low > 0.0 && high > 20.0, "{slower}");
    let sentence = report["sentences"][0].as_str().unwrap();
    assert!(sentence.contains("work_b adds "), "{sentence}");
    assert!(sentence.contains("% to the time ("), "{sentence}");

    let output = place.unixmark("report --format brief").arg(place.newest()).output().unwrap();
    let brief: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(brief["functions"][0]["function"], "work_b", "{brief}");
    assert_eq!(brief["functions"][0]["delta"], slower["change"], "{brief}");
    let schema = std::fs::read_to_string(testing::file("docs/report.schema.json")).unwrap();
    let schema = serde_json::from_str(&schema).unwrap();
    assert_eq!(testing::complaint_of(&brief, &schema, "brief"), None);
}

#[test]
fn functions_have_the_shares_of_their_work() {
    let place = Place::new();
    let Some(program) = program(&place, "program", &[]) else { return };

    let words = "run -c 1 --where -q --runs 20 --";
    let Some(report) = report(&place, words, &[&program]) else { return };

    // Starting takes a part of the time, too.
    for (name, least, most) in
        [("work_a", 5.0, 25.0), ("work_b", 20.0, 45.0), ("work_c", 35.0, 65.0)]
    {
        let [row] = rows(&report, name)[..] else { panic!("{name}: {report}") };
        assert_eq!(row["file"], "program");
        let share = row["share"].as_f64().unwrap();
        assert!(share > least && share < most, "{row}");
    }
}

#[test]
fn functions_that_are_inlined_are_named_where_both_programs_say_so() {
    const WITH: &[&str] = &["-DONCE", "-g"];
    const WITHOUT: &[&str] = &["-DONCE", "-g0"];

    for (options, inlined_rows, is_noted) in [([WITH, WITH], 2, false), ([WITH, WITHOUT], 0, true)]
    {
        let place = Place::new();
        let (Some(old), Some(new)) =
            (program(&place, "old", options[0]), program(&place, "new", options[1]))
        else {
            return;
        };

        let Some(report) = report(&place, "ab --where -q --runs 12", &[&old, &new]) else { return };

        assert_eq!(rows(&report, "work_once").len(), inlined_rows, "{report}");
        // What all use counts for them.
        assert_eq!(rows(&report, "work_c").len(), 2, "{report}");
        assert_eq!(rows(&report, "work").len(), 0, "{report}");
        let whole = whole_report(&place);
        let note = "inlined functions count for the functions around them";
        assert_eq!(whole.contains(note), is_noted, "{whole}");
    }
}

#[test]
fn a_program_that_removes_itself_is_replaced_or_is_stripped_is_named_by_its_file() {
    for (options, command, reason) in [
        (&[][..], "cp FROM COPY; COPY gone", "was it deleted while it ran?"),
        (&[], "cp FROM COPY; COPY", "was replaced after it was executed"),
        // It gets the age of the old one.
        (&[], "cp -p FROM COPY; COPY", "was replaced after it was executed"),
        (&["-s"], "COPY", "is stripped"),
    ] {
        let place = Place::new();
        let Some(program) = program(&place, "program", options) else { return };
        let copy = place.root.path().join("copy");
        std::fs::copy(&program, &copy).unwrap();
        let paths = |words: &str| {
            let [from, to] = [&program, &copy].map(|path| path.display().to_string());
            words.replace("FROM", &from).replace("COPY", &to)
        };

        let command = paths(command);
        let words = "run -c 1 --where -q --runs 5";
        let Some(report) = report(&place, words, &[Path::new(&command)]) else { return };

        let row = rows(&report, "[copy]");
        assert_eq!(row.len(), 1, "{report}");
        // The rest is cp's.
        assert!(row[0]["share"].as_f64() > Some(20.0), "{row:?}");
        let whole = whole_report(&place);
        assert!(whole.contains(reason), "{whole}");
    }
}

/// One text of all lines of the whole report.
fn whole_report(place: &Place) -> String {
    let whole = place.unixmark("report --long latest").output().unwrap();
    let whole = String::from_utf8_lossy(&whole.stdout);
    whole.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn stripped_builds_of_two_names_are_compared() {
    let place = Place::new();
    let (Some(old), Some(new)) =
        (program(&place, "old", &["-s"]), program(&place, "new", &["-s", "-DMORE=30000"]))
    else {
        return;
    };

    let Some(report) = report(&place, "ab --where -q --runs 20", &[&old, &new]) else { return };

    // The time of a third is doubled; what has no name is in both.
    let [_, slower] = rows(&report, "[old, new]")[..] else { panic!("{report}") };
    assert_eq!(slower["differs"], Value::Bool(true), "{slower}");
    assert!(slower["base"].as_f64() > Some(50.0), "{slower}");
}

#[test]
fn a_function_that_was_renamed_is_in_one_command_only() {
    let place = Place::new();
    let (Some(old), Some(new)) =
        (program(&place, "old", &[]), program(&place, "new", &["-Dwork_c=work_d"]))
    else {
        return;
    };

    let Some(_) = report(&place, "ab --where -q --runs 20", &[&old, &new]) else { return };

    let whole = whole_report(&place);
    assert!(whole.contains("work_d, in which the first command spends no time, adds"), "{whole}");
    assert!(whole.contains("work_c, in which this command spends no time, saves"), "{whole}");
}

#[test]
fn a_program_that_its_setup_copies_has_names() {
    let place = Place::new();
    let Some(program) = program(&place, "program", &[]) else { return };
    let copy = place.root.path().join("copy");
    // Without blanks, as words of the command line are split here.
    let setup = place.root.path().join("setup.sh");
    let text = format!("#!/bin/sh\ncp {} {}\n", program.display(), copy.display());
    std::fs::write(&setup, text).unwrap();

    std::fs::set_permissions(&setup, Permissions::from_mode(0o755)).unwrap();

    let words = format!("ab --where -q --runs 5 --setup {}", setup.display());
    let Some(report) = report(&place, &words, &[&copy, &program]) else { return };

    let row = rows(&report, "work_c")[0];
    // Of three functions, it takes half of the time.
    assert!(row["share"].as_f64() > Some(15.0), "{report}");
}

/// The instructions of a function in its two commands, each the same in all executions.
fn instructions(report: &Value, name: &str) -> Vec<u64> {
    let mut exact = Vec::new();
    for row in rows(report, name) {
        let [low, high] = [0, 1].map(|end| row["instructions"][end].as_u64());
        assert_eq!(low, high, "{row}");
        exact.push(low.unwrap_or_else(|| panic!("{row}")));
    }
    exact
}

#[test]
#[ignore = "needs valgrind"]
fn instructions_of_functions_are_exact() {
    let place = Place::new();
    let (Some(old), Some(new)) =
        (program(&place, "old", &[]), program(&place, "new", &["-DMORE=600"]))
    else {
        return;
    };

    let Some(report) = report_with_valgrind(&place, "ab --where -q --runs 6", &[&old, &new]) else {
        return;
    };

    let [a, b, c] = ["work_a", "work_b", "work_c"].map(|name| instructions(&report, name));
    // A step is as many instructions wherever it is: 200 calls with 15000 steps more each.
    let [of_calls, of_more] = [b[0] - a[0], b[1] - b[0]];
    assert_eq!(c[0] - b[0], of_calls);
    assert_eq!(of_more, of_calls / 15_000 * 600);
    assert_eq!((a[0], c[0]), (a[1], c[1]));
    assert_eq!(b[0], by_callgrind(&place, &old, "work_b"));
    let different: Vec<&Value> = report["functions"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["instructions_differ"] == true)
        .map(|row| &row["name"])
        .collect();
    assert_eq!(different, ["work_b"], "{report}");
    let sentence = report["sentences"][0].as_str().unwrap();
    let expected = " % to the instructions, no other function differs";
    assert!(sentence.contains("by valgrind's count, work_b adds 0."), "{sentence}");
    assert!(sentence.contains(expected), "{sentence}");
    let table = whole_report(&place);
    assert!(table.contains("of the time now change 95 % instructions"), "{table}");
}

/// The instructions of a function itself as callgrind reports them.
fn by_callgrind(place: &Place, program: &Path, name: &str) -> u64 {
    let counts = place.root.path().join("callgrind.out");
    let option = format!("--callgrind-out-file={}", counts.display());
    let status = Command::new("valgrind")
        .args(["-q", "--tool=callgrind", "--compress-strings=no", &option])
        .arg(program)
        .status();
    assert!(status.unwrap().success());

    let text = std::fs::read_to_string(counts).unwrap();
    let function = format!("\nfn={name}\n");
    // A function may be in several pieces, each of which ends with an empty line.
    let pieces = text.split(&function).skip(1);
    let costs = pieces.flat_map(|piece| piece.lines().take_while(|line| !line.is_empty()));
    costs.map(|line| line.split(' ').next_back().unwrap().parse::<u64>().unwrap()).sum()
}

#[test]
#[ignore = "needs valgrind"]
fn inlined_functions_have_the_instructions_of_their_code() {
    let place = Place::new();
    let Some(program) = program(&place, "program", &["-DONCE", "-g"]) else { return };

    let words = "run -c 1 --where -q --runs 5 --";
    let Some(report) = report_with_valgrind(&place, words, &[&program]) else { return };

    let [once] = instructions(&report, "work_once")[..] else { panic!("{report}") };
    assert!(once > 0, "{report}");
}

#[test]
#[ignore = "needs valgrind"]
fn instructions_are_those_of_all_processes() {
    let place = Place::new();
    let Some(program) = program(&place, "program", &[]) else { return };
    let program = program.display();
    // A shell that starts it twice, of which it becomes the second.
    let twice = format!("sh -c '{program}; exec {program}'");

    let words = "run -c 1 --where -q --runs 5 --";
    let Some(once) = report_with_valgrind(&place, words, &[Path::new(&program.to_string())]) else {
        return;
    };
    let words = "run -c 1 --where -q --runs 5";
    let Some(twice) = report_with_valgrind(&place, words, &[Path::new(&twice)]) else { return };

    let [once, twice] = [&once, &twice].map(|report| instructions(report, "work_c")[0]);
    assert_eq!(twice, 2 * once);
}

#[test]
#[ignore = "needs valgrind"]
fn where_valgrind_counts_nothing_the_report_says_why() {
    let place = Place::new();
    let Some(program) = program(&place, "program", &[]) else { return };
    let program = program.display().to_string();
    // Valgrind puts a library of its own before the program's.
    let unwilling = format!("sh -c 'case $LD_PRELOAD in *vgpreload*) exit 3;; esac; {program}'");

    for (options, command, reason) in [
        ("--region --runs 5", &program, "valgrind cannot count a region"),
        ("--budget 1s", &program, "valgrind would need about "),
        ("--runs 5", &unwilling, "under valgrind, a command ended with exit status 3"),
    ] {
        let words = format!("run -c 1 --where -q {options}");
        let Some(report) = report_with_valgrind(&place, &words, &[Path::new(command)]) else {
            return;
        };

        let row = rows(&report, "work_c")[0];
        assert_eq!(row["instructions"], Value::Null, "{row}");
        assert!(row["share"].as_f64() > Some(20.0), "{row}");
        let whole = whole_report(&place);
        let note = format!("the instructions of functions were not counted: {reason}");
        assert!(whole.contains(&note), "{whole}");
    }
}

#[test]
fn without_valgrind_functions_are_sampled_all_the_same() {
    let place = Place::new();
    let Some(program) = program(&place, "program", &[]) else { return };

    let words = "run -c 1 --where -q --runs 5 --";
    let Some(report) = report(&place, words, &[&program]) else { return };

    let whole = whole_report(&place);
    assert!(whole.contains("valgrind is not installed; try `apt install valgrind`"), "{whole}");
    assert!(rows(&report, "work_c")[0]["share"].as_f64() > Some(30.0));
}

/// An interpreter with Python's perf trampoline: for each function of a script it makes a copy of
/// code that calls the evaluator, and names the copy in a map.
const INTERPRETER: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
typedef long evaluator(long steps);
typedef long trampoline(evaluator *evaluate, long steps);
static FILE *map;
static char *next;
__attribute__((section("copies"), noinline)) long copied(evaluator *evaluate, long steps)
{
    return evaluate(steps) + 1;
}
extern char __start_copies[], __stop_copies[];
static volatile long sum;
__attribute__((noinline)) void add(long number)
{
    sum += number;
}
__attribute__((noinline)) long evaluate(long steps)
{
    while (steps--)
        add(steps);
    return sum;
}
static trampoline *make(const char *name)
{
    const size_t size = (size_t)(__stop_copies - __start_copies);
    trampoline *made = (trampoline *)next;
    memcpy(next, __start_copies, size);
    fprintf(map, "%lx %zx py::%s:/src/shop.py\n", (unsigned long)next, size, name);
    next += size;
    return made;
}
int main(void)
{
    char path[64];
    trampoline *parse, *render;
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    map = fopen(path, "w");
    next = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    parse = make("parse");
    render = make("Shop.render");
    fclose(map);
    __builtin___clear_cache((char *)parse, next);
    for (int i = 0; i < 10; i++) {
        parse(evaluate, 3000000);
        render(evaluate, 1000000);
    }
}
"#;

#[test]
fn functions_of_python_are_named_by_its_trampolines() {
    let place = Place::new();
    let options = ["-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"];
    let Some(python) = compiled(&place, INTERPRETER, "python3.12", &options) else { return };

    let words = "run -c 1 --where -q --runs 8 --";
    let report = report(&place, words, &[&python]);
    remove_maps();
    let Some(report) = report else { return };

    // The evaluator's time counts for the function that it executes.
    for (name, least, most) in [("py::parse", 50.0, 90.0), ("py::Shop.render", 10.0, 45.0)] {
        let [row] = rows(&report, name)[..] else { panic!("{name}: {report}") };
        let share = row["share"].as_f64().unwrap();
        assert!(share > least && share < most, "{row}");
    }
    assert!(!whole_report(&place).contains("functions of the python interpreter are named"));
}

/// Removes the maps that the interpreter has left.
fn remove_maps() {
    for entry in std::fs::read_dir("/tmp").unwrap().flatten() {
        let path = entry.path();
        let is_map = path.extension().is_some_and(|extension| extension == "map");
        if is_map && std::fs::read_to_string(&path).is_ok_and(|map| map.contains(":/src/shop.py")) {
            let _ = std::fs::remove_file(path);
        }
    }
}
