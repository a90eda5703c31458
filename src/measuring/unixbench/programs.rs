//! The tool called by the name of one of UnixBench's programs: `dhry2reg 10`, `fstime -c -t 20 -b
//! 256 -m 500`. It measures with the test's own program and prints what UnixBench's prints.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::stdin;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustix::fs::{FileType, fstat};

use super::environment::work_factor;
use super::{SCRIPT, set_work_factor};
use crate::measuring::options::{check_workplace, workplace};
use crate::status::Status;
use crate::terminal::{say_error, write_lines};
use build::Programs;
use catalogue::{Catalogue, Condition, Test};
use journal::Cell;
use machine::Machine;
use runner::single::{Outcome, Single};

/// UnixBench's programs that have a test of the same name.
pub(super) const TESTS: [&str; 18] = [
    "arithoh",
    "context1",
    "dhry2",
    "dhry2reg",
    "double",
    "execl",
    "float",
    "fstime",
    "hanoi",
    "int",
    "long",
    "pipe",
    "register",
    "short",
    "spawn",
    "syscall",
    "whetstone-double",
    LOOPER,
];

/// UnixBench's program that runs a command again and again, and a test that does so.
const LOOPER: &str = "looper";
const LOOPING_TEST: &str = "shell1";

/// UnixBench's own limit of the time.
const MAX_SECONDS: u64 = 3600;

/// The most disks that the test of `hanoi` moves.
const MAX_DISKS: u64 = 30;

/// A call of a program.
struct Call {
    /// The test, with what the words ask for.
    test: Test,
    seconds: u64,
    /// The directory it works in.
    folder: PathBuf,
}

/// Runs as the program of UnixBench's by whose name the tool was called; `None` if there is no such
/// program.
pub(crate) fn run_as_program(words: &[OsString]) -> Option<ExitCode> {
    let called = Path::new(words.first()?).file_name().and_then(OsStr::to_str)?;
    let name = TESTS.into_iter().find(|name| *name == called)?;
    Some(measure(name, &words[1..]).unwrap_or_else(|error| {
        say_error(name, &error);
        ExitCode::FAILURE
    }))
}

/// Measures once, and prints the count and the time as UnixBench's programs do.
fn measure(name: &str, words: &[OsString]) -> Result<ExitCode> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.context("an argument is not text in UTF-8; try plain letters")?;
    let catalogue = Catalogue::load()?;
    let Call { mut test, seconds, folder } = read_call(name, &words, &catalogue)?;
    let scratch = workplace(None);
    check_workplace(scratch)
        .map_err(|why| anyhow!("{} cannot be used: {why}", scratch.display()))?;
    if name == LOOPER {
        test.args.extend(stdin_argument());
    }

    let machine = Machine::here();
    let programs = Programs::prepare(&machine, &[&test], None)?;
    let time = Duration::from_secs(seconds);
    let single = Single {
        machine: &machine,
        test: &test,
        programs: &programs,
        time,
        folder: &folder,
        scratch,
    };
    match single.measure()? {
        Outcome::Measured(copy) => {
            let cell = Cell::new(0, &test, 1, None, &Condition::none());
            let reported = analysis::Reported::new(&cell, &copy);
            let decimals = if test.value.is_some() { 3 } else { 0 };
            let analysis::Reported { count, timebase, seconds } = reported;
            write_lines(&format!(
                "COUNT|{count:.decimals$}|{timebase}|{}\nTIME|{seconds:.6}",
                test.unit
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Stopped(signal) => Ok(Status::Signal(signal).into()),
    }
}

/// Reads the words after a program's name.
fn read_call(name: &str, words: &[&str], catalogue: &Catalogue) -> Result<Call> {
    let id = if name == LOOPER { LOOPING_TEST } else { name };
    let mut test =
        Test::clone(catalogue.test(id).with_context(|| format!("there is no test {id}"))?);
    let mut folder = PathBuf::from(".");
    let seconds = match name {
        "fstime" => read_fstime_options(words, &mut test, &mut folder)?,
        // It takes no SECONDS: its own procedure lasts ten.
        "whetstone-double" => 10,
        _ => {
            let (time, rest) = words.split_first().ok_or_else(|| misuse_error(name))?;
            apply_arguments(name, rest, &mut test)?;
            parse_number(name, time, MAX_SECONDS)?
        }
    };
    Ok(Call { test, seconds, folder: std::path::absolute(folder)? })
}

/// Has the test do what the words after the time ask for.
fn apply_arguments(name: &str, words: &[&str], test: &mut Test) -> Result<()> {
    match (name, words) {
        (LOOPER, [script, ..]) => {
            test.command = words.iter().map(|word| (*word).to_owned()).collect();
            // They are the tools of the script, which this command replaces.
            test.needs.clear();
            // Only the script has a work factor, so no other command fails for a wrong variable.
            if script.ends_with(SCRIPT) {
                set_work_factor(test, work_factor()?);
            }
        }
        (LOOPER, []) => return Err(misuse_error(name)),
        ("hanoi", [disks, ..]) => {
            test.args = vec![format!("disks={}", parse_number(name, disks, MAX_DISKS)?)];
            // The catalogue's answer is that for ten disks.
            test.checks.remove("moved");
        }
        ("syscall", [mode, ..]) => {
            // UnixBench's program looks at the first letter only.
            let modes = ["mix", "close", "getpid", "exec"];
            let mode = modes.into_iter().find(|known| mode.starts_with(&known[..1]));
            let mode = mode.ok_or_else(|| misuse_error(name))?;
            test.args = vec![format!("mode={mode}")];
        }
        _ => {}
    }
    Ok(())
}

/// Reads the options of `fstime` into `test` and `folder`; returns its time in seconds.
fn read_fstime_options(words: &[&str], test: &mut Test, folder: &mut PathBuf) -> Result<u64> {
    // No option sets `prime`: each phase of UnixBench's preparation takes two seconds.
    let mut settings = BTreeMap::from(
        [("mode", "copy"), ("prime", "2"), ("block", "1024"), ("blocks", "2000")]
            .map(|(name, value)| (name, value.to_owned())),
    );
    let mut seconds = 10;

    let mut words = words.iter();
    while let Some(word) = words.next() {
        let mode = match *word {
            "-c" => Some("copy"),
            "-w" => Some("write"),
            "-r" => Some("read"),
            _ => None,
        };
        if let Some(mode) = mode {
            settings.insert("mode", mode.to_owned());
            continue;
        }

        let value = words.next().ok_or_else(|| misuse_error("fstime"))?;
        match *word {
            "-t" => seconds = parse_number("fstime", value, MAX_SECONDS)?,
            "-b" => drop(settings.insert("block", (*value).to_owned())),
            "-m" => drop(settings.insert("blocks", (*value).to_owned())),
            "-d" => *folder = PathBuf::from(value),
            _ => return Err(misuse_error("fstime")),
        }
    }
    ensure!(folder.is_dir(), "{} is not a directory; try -d /tmp", folder.display());

    test.args = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(seconds)
}

fn parse_number(name: &str, text: &str, max: u64) -> Result<u64> {
    match text.parse() {
        Ok(number) if (1..=max).contains(&number) => Ok(number),
        _ => bail!("'{text}' is not a number from 1 to {max}; try `{}`", usage(name)),
    }
}

/// The error that a program does not take these words.
fn misuse_error(name: &str) -> anyhow::Error {
    anyhow!("an argument is missing or unknown; try `{}`", usage(name))
}

/// A program's name and the words that it takes.
fn usage(name: &str) -> String {
    let words = match name {
        "fstime" => "[-c|-r|-w] [-t SECONDS] [-b BUFFER_SIZE] [-m MAX_BLOCKS] [-d DIRECTORY]",
        LOOPER => "SECONDS COMMAND [ARGUMENT]...",
        "hanoi" => "SECONDS [DISKS]",
        "syscall" => "SECONDS [mix|close|getpid|exec]",
        _ => "SECONDS",
    };
    format!("{name} {words}")
}

/// The argument that names stdin, so that each command opens it and reads it from the start; `None`
/// unless it is a file.
fn stdin_argument() -> Option<String> {
    let is_file = fstat(stdin())
        .is_ok_and(|file| FileType::from_raw_mode(file.st_mode) == FileType::RegularFile);
    is_file.then(|| format!("stdin=/proc/{}/fd/0", std::process::id()))
}
