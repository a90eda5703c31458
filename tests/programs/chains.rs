//! The interactive tests of several processes: their frames are in order, and nothing of them outlives a dead stage or the
//! tool. Relations only, never speeds.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tempfile::TempDir;

const PROGRAMS: [&str; 4] = ["game_frame", "input_chain", "terminal_echo", "app_launch"];

/// No calibration: the work is as many operations as a slow machine does in the time.
const SPEED: &str = "speed=100000";

/// The programs, compiled once.
fn binaries() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| compile("-O2")).path()
}

fn compile(flags: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let compilers: Vec<Child> = PROGRAMS.iter().map(|program| compiler(program, flags, folder.path())).collect();
    for compiler in compilers {
        let output = compiler.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    folder
}

fn compiler(program: &str, flags: &str, folder: &Path) -> Child {
    let mut command = Command::new("cc");
    command.current_dir(testing::file("programs"));
    command.args(flags.split(' ')).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", "."]);
    command.args([format!("interactive/{program}.c").as_str(), "interactive/chain.c", "interactive/frames.c"]);
    command.arg("interactive/world.c").args(testing::kit()).arg("-o").arg(folder.join(program));
    command.args(["-Wl,--as-needed", "-lm"]).stderr(Stdio::piped()).spawn().unwrap()
}

/// A program by hand, in a directory of its own that it leaves empty.
struct Hand {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Hand {
    fn start(binary: PathBuf, args: &[&str]) -> Hand {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut command = Command::new(binary);
        command.args(args).current_dir(folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Hand { child, stdin, stdout, folder }
    }

    fn of(program: &str, args: &[&str]) -> Hand {
        Hand::start(binaries().join(program), args)
    }

    /// Returns whether it can run here; a skip where it cannot.
    fn is_ready(&mut self) -> bool {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        assert!(line == "ready\n" || line.starts_with("skip "), "{line}");
        if line != "ready\n" {
            testing::skip(&line);
        }
        line == "ready\n"
    }

    fn say(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Waits for its end, which must come in time; returns what it said.
    fn end(mut self, limit: Duration) -> String {
        let begun = Instant::now();
        // Meanwhile, as a long report does not fit into the pipe.
        let reader = std::thread::spawn(move || {
            let mut said = String::new();
            self.stdout.read_to_string(&mut said).map(|_| said)
        });
        while self.child.try_wait().unwrap().is_none() {
            if begun.elapsed() > limit {
                self.child.kill().unwrap();
                panic!("it was still running after {limit:?}");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let (said, mut complaint) = (reader.join().unwrap().unwrap(), String::new());
        self.child.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert_eq!(complaint, "", "{said}");
        assert_eq!(std::fs::read_dir(self.folder.path()).unwrap().count(), 0, "it left files behind");
        said
    }
}

/// A window of a second on a machine that is busy with other tests.
const SOON: Duration = Duration::from_secs(30);

/// The end of what has no reason to go on: more than the second or two that is promised, on such a machine.
const AT_ONCE: Duration = Duration::from_secs(5);

/// The processes whose parent is `parent`, from the fields of /proc/PID/stat.
fn children(parent: u32) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(text) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        let Some((head, tail)) = text.rsplit_once(')') else { continue };
        let fields: Vec<&str> = tail.split_whitespace().collect();
        if fields[0] != "Z" && fields[1] == parent.to_string() {
            found.push(head.split_once(' ').unwrap().0.parse().unwrap());
        }
    }
    found
}

fn kill(process: u32, signal: &str) {
    Command::new("kill").args([signal, &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}

fn numbers(line: &str) -> Vec<u64> {
    line.split(' ').filter_map(|word| word.parse().ok()).collect()
}

/// Checks a report of a window of 2 slices; returns the plan and the frames.
fn verify(program: &str, said: &str) -> (Vec<u64>, Vec<Vec<u64>>) {
    assert_eq!(said.lines().last(), Some("done"), "{program}: {said}");
    let of = |word: &str| -> Vec<&str> {
        said.lines()
            .filter_map(|line| line.split_once(' '))
            .filter(|(first, _)| *first == word)
            .map(|(_, rest)| rest)
            .collect()
    };
    let plan = of("plan");
    assert!(plan.len() == 1 && plan[0].ends_with(" response"), "{program}: {said}");
    let slices: Vec<_> = of("slice").into_iter().map(numbers).collect();
    let frames: Vec<_> = of("frame").into_iter().map(numbers).collect();
    assert_eq!(slices.len(), 2, "{program}: {said}");
    let start = slices[0][0];
    for frame in &frames {
        assert!(frame.len() == if program == "input_chain" { 4 } else { 3 }, "{program}: {frame:?}");
        assert!(start <= frame[0] && frame[0] <= frame[1], "{program}: {frame:?}");
        assert!(frame[2] == 0 || frame[1] <= frame[2], "{program}: {frame:?}");
        // The stamp is kept in units of 16 ns, as the other moments are.
        assert!(frame.len() == 3 || (frame[0] <= frame[3] && frame[3] <= frame[1]), "{program}: {frame:?}");
    }
    assert!(frames.windows(2).all(|pair| pair[0][0] < pair[1][0]), "{program}: {frames:?}");
    let done = frames.iter().filter(|frame| frame[2] > 0).count() as u64;
    assert_eq!(slices.iter().map(|slice| slice[2]).sum::<u64>(), done, "{program}");
    (numbers(plan[0]), frames)
}

/// Runs it for a second, in two slices.
fn measure(binary: PathBuf, program: &str, args: &[&str]) -> Option<(Vec<u64>, Vec<Vec<u64>>)> {
    let mut hand = Hand::start(binary, args);
    if !hand.is_ready() {
        return None;
    }
    hand.say("go 0 500000000 2");
    Some(verify(program, &hand.end(SOON)))
}

#[test]
fn frames_are_planned_and_in_order() {
    let _shared = testing::Machine::shared();
    let plans = BTreeMap::from([
        ("game_frame", [0, 0, 8_000_000]),
        ("input_chain", [0, 33_333_000, 2_100_000]),
        ("terminal_echo", [0, 20_000_000, 200_000]),
        ("app_launch", [250_000_000, 0, 5_000_000]),
    ]);
    for program in PROGRAMS {
        let Some((plan, frames)) = measure(binaries().join(program), program, &[SPEED]) else { continue };
        assert_eq!(plan[..3], plans[program], "{program}");
        assert!(frames.len() as u64 <= plan[3], "{program}: {plan:?}");
        assert!(!frames.is_empty(), "{program}");
        match program {
            // Uncapped: a frame is due as soon as the one before is shown.
            "game_frame" => assert!(frames.windows(2).all(|pair| pair[1][0].abs_diff(pair[0][2]) < 16)),
            // (1 s - 20 ms of jitter - 20 ms of deadline) / 50 ms
            "terminal_echo" => assert_eq!(plan[3], 19),
            "app_launch" => assert_eq!(plan[3], 4),
            _ => assert!(plan[3] > 30 && plan[3] < 90, "{plan:?}"),
        }
    }
}

#[test]
fn events_are_the_same_for_the_same_seed() {
    let _shared = testing::Machine::shared();
    let gaps = |seed: &str| -> Vec<u64> {
        let (_, frames) = measure(binaries().join("input_chain"), "input_chain", &[SPEED, seed]).unwrap();
        frames.windows(2).map(|pair| pair[1][0] - pair[0][0]).collect()
    };
    let (one, again, other) = (gaps("seed=1"), gaps("seed=1"), gaps("seed=2"));
    // A busy machine may serve fewer of them.
    assert!(one.iter().zip(&again).all(|(a, b)| a == b), "{one:?} {again:?}");
    assert_ne!(one[0], other[0]);
}

#[test]
fn a_cap_holds_frames_back() {
    let _shared = testing::Machine::shared();
    let args = [SPEED, "main=100", "render=100", "worker=100", "cap=20000"];
    let (plan, frames) = measure(binaries().join("game_frame"), "game_frame", &args).unwrap();
    assert_eq!(plan[0], 0);
    assert!(frames.len() <= 51 && frames.windows(2).all(|pair| pair[1][0] - pair[0][0] >= 20_000_000), "{frames:?}");
}

/// As loads they work until stdin closes, and report what they did since the mark.
#[test]
fn they_are_loads_too() {
    let _shared = testing::Machine::shared();
    for program in PROGRAMS {
        let mut hand = Hand::of(program, &[SPEED]);
        if !hand.is_ready() {
            continue;
        }
        hand.say("go 0 0 0");
        let mut line = String::new();
        while !(line.starts_with("pulse ") && numbers(&line)[1] > 0) {
            line.clear();
            assert!(hand.stdout.read_line(&mut line).unwrap() > 0, "{program} ended");
            line.truncate(line.trim_end().len());
        }
        hand.say("mark");
        std::thread::sleep(Duration::from_millis(900));
        hand.stdin = None;
        let said = hand.end(SOON);
        let slices: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("slice ")).map(numbers).collect();
        assert!(slices.len() == 1 && slices[0][2] > 0, "{program}: {said}");
        assert!(said.ends_with("done\n"), "{program}: {said}");
    }
}

/// Whichever stage dies, in a window or as a load, that is an error at once.
#[test]
fn a_stage_that_dies_is_an_error() {
    let _shared = testing::Machine::shared();
    for program in PROGRAMS {
        for (stage, go) in [(0, "go 0 1000000000 60"), (1, "go 0 1000000000 60"), (2, "go 0 1000000000 0")] {
            let mut hand = Hand::of(program, &[SPEED]);
            if !hand.is_ready() {
                continue;
            }
            hand.say(go);
            std::thread::sleep(Duration::from_millis(60));
            kill_one(&mut hand, stage);
            let said = hand.end(AT_ONCE);
            let last = said.lines().last().unwrap_or("");
            assert!(last.starts_with("error ") && last.contains(" ended "), "{program} {stage}: {said}");
        }
    }
}

/// Kills one of its children, and again where that had ended by itself before.
fn kill_one(hand: &mut Hand, number: usize) {
    let begun = Instant::now();
    while hand.child.try_wait().unwrap().is_none() && begun.elapsed() < AT_ONCE {
        let stages = children(hand.child.id());
        if let Some(stage) = stages.get(number % stages.len().max(1)) {
            kill(*stage, "-KILL");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

/// Neither the end of stdin nor the death of the program leaves anything behind, whatever the stages are doing.
#[test]
fn nothing_outlives_the_tool() {
    let _shared = testing::Machine::shared();
    for program in PROGRAMS {
        for stops in [false, true] {
            let mut hand = Hand::of(program, &[SPEED, "policy=batch"]);
            if !hand.is_ready() {
                continue;
            }
            hand.say("go 0 1000000000 100");
            std::thread::sleep(Duration::from_millis(100));
            let stages = children(hand.child.id());
            if stops {
                stages.iter().for_each(|stage| kill(*stage, "-STOP"));
            }
            hand.stdin = None;
            assert_eq!(hand.end(AT_ONCE), "", "{program}");
            let begun = Instant::now();
            while stages.iter().any(|stage| is_alive(*stage)) {
                assert!(begun.elapsed() < AT_ONCE, "{program}: {stages:?} are left");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}

/// Whether it is neither gone nor a zombie that nobody has reaped yet.
fn is_alive(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|text| text.rsplit_once(')').is_some_and(|(_, rest)| !rest.starts_with(" Z")))
}

/// An argument that they have no use for does not break them; what they cannot do is a skip or an error.
#[test]
fn arguments_of_other_tasks_are_taken() {
    let _shared = testing::Machine::shared();
    let last = |program: &str, arg: &str| Hand::of(program, &[SPEED, arg]).end(SOON);
    for program in PROGRAMS {
        let args = [SPEED, "unit=cpu", "footprint=256", "policy=fifo", "priority=50", "fallback=1", "lock=1"];
        measure(binaries().join(program), program, &args);
        assert!(last(program, "wake=eventfd").starts_with("skip wake=eventfd is for tasks with a period"), "{program}");
    }
    assert!(last("game_frame", "policy=deadline").starts_with("skip the deadline policy"));
    assert!(last("terminal_echo", "jitter=30000").starts_with("error jitter=30000 "));
    assert!(last("app_launch", "files=0").starts_with("error files=0 "));
}

#[test]
fn they_are_clean_under_sanitizers() {
    let _shared = testing::Machine::shared();
    let folder = compile("-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all");
    for program in PROGRAMS {
        measure(folder.path().join(program), program, &[SPEED]);
    }
    measure(folder.path().join("app_launch"), "app_launch", &[SPEED, "cold=1"]);
}
