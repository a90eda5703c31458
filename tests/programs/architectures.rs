//! The portable programs on architectures other than this machine's: compiled by Debian's cross
//! compilers, run by qemu's emulation of user programs, with every row of the catalogue; and on
//! systems other than Linux. What came of it is a table without a blank cell.

mod elsewhere;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use catalogue::{Catalogue, Need, Role, Test};
use runner::{Conclusion, Parser};
use testing::compiled::{Build, PORTABLE};

use crate::builds;
use crate::elf::Elf;
use crate::hand::{End, Hand, arguments};
use crate::rates::each;

/// An architecture, as `uname -m` names it, and what a program for it is.
struct Architecture {
    name: &'static str,
    compiler: &'static str,
    elf: Elf,
}

const fn architecture(
    name: &'static str,
    compiler: &'static str,
    bits: u32,
    big: bool,
    machine: u16,
) -> Architecture {
    Architecture { name, compiler, elf: Elf { bits, big, machine, interpreted: false } }
}

const ARCHITECTURES: [Architecture; 5] = [
    architecture("s390x", "s390x-linux-gnu-gcc", 64, true, 22),
    architecture("aarch64", "aarch64-linux-gnu-gcc", 64, false, 183),
    architecture("riscv64", "riscv64-linux-gnu-gcc", 64, false, 243),
    architecture("ppc64le", "powerpc64le-linux-gnu-gcc", 64, false, 21),
    architecture("armv7l", "arm-linux-gnueabihf-gcc", 32, false, 40),
];

const CHECKS: [&str; 3] = ["built", "answers", "ends"];

/// What emulation cannot do: the test, a part of what it says then, and the reason.
const IMPOSSIBLE: &[(&str, &str, &str)] = &[
    ("count-bpf", "tracepoint not found", UNTRACED),
    // Where the tracing file system is mounted.
    ("count-bpf", "Operation not permitted", UNTRACED),
    ("count-perf", "perf ended before", UNTRACED),
];
const UNTRACED: &str =
    "what is emulated runs in a namespace for users, whose root may not trace the kernel";

/// How a check of one test went.
enum Cell {
    Right,
    /// It cannot be had here, and why.
    Not(String),
    Wrong(String),
}

/// The catalogue's rows by program.
fn rows() -> BTreeMap<String, Vec<Arc<Test>>> {
    let mut programs: BTreeMap<String, Vec<Arc<Test>>> = BTreeMap::new();
    for test in Catalogue::load().unwrap().tests.into_iter().filter(|test| test.is_ours_in_c()) {
        programs.entry(test.binary().to_owned()).or_default().push(test);
    }
    programs
}

#[test]
#[ignore = "needs cross compilers and emulation"]
fn every_program_does_the_same_on_every_architecture() {
    let wanted = std::env::var("ARCHITECTURES").unwrap_or_default();
    let is_wanted =
        |name: &str| wanted.is_empty() || wanted.split_whitespace().any(|one| one == name);

    let mut failures = Vec::new();
    for architecture in ARCHITECTURES {
        let architecture = &architecture;
        if !is_wanted(architecture.name) || !testing::has(architecture.compiler) {
            continue;
        }
        if let Err(why) = emulates(architecture) {
            testing::skip(&why);
            continue;
        }
        let (table, wrong) = matrix(architecture);
        println!("{table}");
        failures.extend(wrong);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Whether programs of the architecture can be run here, or why not.
fn emulates(architecture: &Architecture) -> Result<(), String> {
    let program = built(architecture, Catalogue::load().unwrap().test("null").unwrap());
    let output = emulated(architecture, &program).stdin(Stdio::null()).output().unwrap();
    if output.status.code() == Some(77) { Err(testing::stdout(&output)) } else { Ok(()) }
}

fn built(architecture: &Architecture, test: &Test) -> PathBuf {
    builds::program(Build { cc: architecture.compiler, flags: PORTABLE }, test)
}

fn emulated(architecture: &Architecture, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.arg(testing::file("tests/emulate.sh")).arg(architecture.name).arg(program);
    command
}

/// Does every check of every program; returns the table, and what went wrong.
fn matrix(architecture: &Architecture) -> (String, Vec<String>) {
    let items: Vec<(String, Vec<Arc<Test>>)> = rows().into_iter().collect();
    let lines = Mutex::new(BTreeMap::new());
    each(&items, |(name, tests)| {
        let cells = program(architecture, tests);
        lines.lock().unwrap().insert(name.clone(), cells);
    });
    let lines = lines.into_inner().unwrap();
    let (mut notes, mut wrong) = (Vec::new(), Vec::new());
    let mut table = format!("{}\n{:<16}", architecture.name, "program");
    CHECKS.iter().for_each(|check| write!(table, "{check:<16}").unwrap());
    for (name, cells) in &lines {
        write!(table, "\n{name:<16}").unwrap();
        for (check, tests) in CHECKS.iter().zip(cells) {
            let right = tests.iter().filter(|(_, cell)| matches!(cell, Cell::Right)).count();
            let mut text = if right > 0 { format!("{right} right") } else { String::new() };
            for (id, cell) in tests {
                match cell {
                    Cell::Right => {}
                    Cell::Not(why) => write!(text, " [{}]", note(&mut notes, why)).unwrap(),
                    Cell::Wrong(why) => {
                        text.push_str(" WRONG");
                        wrong.push(format!("{} {id} {check}: {why}", architecture.name));
                    }
                }
            }
            assert!(!text.is_empty(), "{} {name} {check}: a blank cell", architecture.name);
            write!(table, "{:<16}", text.trim_start()).unwrap();
        }
    }
    table.push_str(
        "\ndisk ran with direct=0: qemu 7.2 does not hand on what statx(2) says of direct access\n",
    );
    notes.iter().enumerate().for_each(|(i, why)| writeln!(table, "[{}] {why}", i + 1).unwrap());
    (table, wrong)
}

/// The number of a reason among those already given.
fn note(notes: &mut Vec<String>, why: &str) -> usize {
    let found = notes.iter().position(|note| note == why);
    found.unwrap_or_else(|| {
        notes.push(why.to_owned());
        notes.len() - 1
    }) + 1
}

/// The cells of one program, in the order of `CHECKS`, each with the tests that were looked at.
fn program(architecture: &Architecture, tests: &[Arc<Test>]) -> [Vec<(String, Cell)>; 3] {
    let first = &tests[0];
    let binary = built(architecture, first);
    let elf = Elf::of(&std::fs::read(&binary).unwrap());
    let right = elf == Some(architecture.elf);
    let built = if right { Cell::Right } else { Cell::Wrong(format!("it is {elf:?}")) };
    let answered = tests.iter().map(|test| (test.id.clone(), answers(architecture, test, &binary)));
    let answered = answered.collect();
    let ends = ends(architecture, first, &binary);
    [vec![(first.id.clone(), built)], answered, vec![(first.id.clone(), ends)]]
}

fn start(architecture: &Architecture, test: &Test, binary: &Path) -> Hand {
    let mut command = emulated(architecture, binary);
    command.args(arguments(test, &small(test)));
    Hand::start(command)
}

/// Sizes that suit an emulator.
fn small(test: &Test) -> Vec<&'static str> {
    if test.roles.contains(&Role::Load) && test.program.starts_with("load/") {
        return crate::loads::small_words(test).to_vec();
    }
    match test.binary() {
        "memory" => vec!["size=40m", "threads=1", "patterns=own-address"],
        "cooling" => vec!["threads=1"],
        "disk" => vec!["direct=0"],
        _ => Vec::new(),
    }
}

/// Two slices of a tenth of a second, or of two seconds where these were too short for one piece of
/// work.
fn answers(architecture: &Architecture, test: &Test, binary: &Path) -> Cell {
    if let Some(tool) = tools(test).find(|tool| !testing::has(tool)) {
        return Cell::Not(format!("it needs `{tool}`, which is not installed"));
    }
    let mut cell = Cell::Wrong(String::new());
    for milliseconds in [100, 2000, 8000] {
        cell = window(architecture, test, binary, milliseconds);
        match &cell {
            Cell::Wrong(why) if why.contains("no work in its whole window") => {}
            _ => break,
        }
    }
    match cell {
        Cell::Wrong(why) => impossible(test, &why).unwrap_or(Cell::Wrong(why)),
        cell => cell,
    }
}

/// The commands that a test needs.
fn tools(test: &Test) -> impl Iterator<Item = &str> {
    test.needs.iter().filter_map(|need| {
        if let Need::Tool { name, .. } = need { Some(name.as_str()) } else { None }
    })
}

fn impossible(test: &Test, why: &str) -> Option<Cell> {
    let known = IMPOSSIBLE.iter().find(|(id, part, _)| *id == test.id && why.contains(part));
    known.map(|(_, _, reason)| Cell::Not((*reason).to_owned()))
}

fn window(architecture: &Architecture, test: &Test, binary: &Path, milliseconds: u64) -> Cell {
    let mut hand = start(architecture, test, binary);
    // A program that watches others sees nothing here: it begins and ends, as a load does.
    let watches = test.roles.contains(&Role::Companion);
    let slices = if watches { 0 } else { 2 };
    hand.say(&format!("go 0 {} {slices}", milliseconds * 1_000_000));
    if watches {
        // `ready` and three pulses.
        (0..4).for_each(|_| _ = hand.next_line());
        hand.close();
    }
    let End { status, said, complaint } = hand.end(Duration::from_secs(120));
    let mut parser = Parser::default();
    parser.feed(said.as_bytes());
    let wrong = |what: &str| Cell::Wrong(format!("{what}: {status} {said}{complaint}"));
    match parser.conclusion() {
        Conclusion::Done(copies) if status.success() => {
            let count: u64 =
                copies.iter().flat_map(|copy| &copy.slices).map(|slice| slice.count).sum();
            let answered = test.checks.iter().all(|(name, right)| {
                copies
                    .iter()
                    .any(|copy| copy.checks.get(name).is_some_and(|number| right.accepts(*number)))
            });
            match (answered, count > 0 || watches) {
                (true, true) => Cell::Right,
                (false, _) => wrong("an answer is wrong"),
                (_, false) => wrong("no work in its whole window"),
            }
        }
        Conclusion::Skip(why) => {
            Cell::Not(why.replace(&hand.folder().display().to_string(), "its directory"))
        }
        Conclusion::Error(why) => wrong(&why),
        _ => wrong("it broke the protocol"),
    }
}

/// Whether it ends when stdin closes: before it was told to go, and in the middle of a long window.
fn ends(architecture: &Architecture, test: &Test, binary: &Path) -> Cell {
    for words in [None, Some("go 0 1000000000 100")] {
        let mut hand = start(architecture, test, binary);
        // `ready`, or why it cannot run here.
        hand.next_line();
        if let Some(words) = words {
            hand.say(words);
            hand.heard();
        }
        hand.close();
        if !hand.waits(Duration::from_secs(30), Hand::has_ended) {
            return Cell::Wrong(format!(
                "it goes on for half a minute after {words:?} and the end of stdin"
            ));
        }
    }
    Cell::Right
}
