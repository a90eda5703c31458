//! The tool called by the name of one of UnixBench's programs: `dhry2reg 10`, `fstime -c -t 20 -b 256 -m 500`. It
//! measures with the test's own program and prints what UnixBench's prints.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::stdin;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use rustix::fs::{FileType, fstat};

use super::environment::work_factor;
use super::{SCRIPT, with_factor};
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
    "arithoh", "context1", "dhry2", "dhry2reg", "double", "execl", "float", "fstime", "hanoi", "int", "long", "pipe",
    "register", "short", "spawn", "syscall", "whetstone-double", LOOPER,
];

/// Its program that runs a command again and again, and a test that does so.
const LOOPER: &str = "looper";
const LOOPING: &str = "shell1";

/// UnixBench's own limit, in seconds.
const LONGEST: u64 = 3600;

/// A call of one.
struct Call {
    /// The test, with what the words ask for.
    test: Test,
    seconds: u64,
    /// The directory it works in.
    folder: PathBuf,
}

/// Runs as the program of UnixBench's by whose name the tool was called; returns `None` if there is no such program.
pub(crate) fn called_as_program(words: &[OsString]) -> Option<ExitCode> {
    let name = Path::new(words.first()?).file_name().and_then(OsStr::to_str)?;
    let name = TESTS.into_iter().find(|known| *known == name)?;
    Some(measure(name, &words[1..]).unwrap_or_else(|error| {
        say_error(name, &error);
        ExitCode::FAILURE
    }))
}

fn measure(name: &str, words: &[OsString]) -> Result<ExitCode> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.context("an argument is not text in UTF-8; try plain letters")?;
    let catalogue = Catalogue::load()?;
    let Call { mut test, seconds, folder } = call(name, &words, &catalogue)?;
    let scratch = workplace(None);
    check_workplace(scratch).map_err(|why| anyhow!("{} cannot be used: {why}", scratch.display()))?;
    test.args.extend(input().filter(|_| name == LOOPER));
    let machine = Machine::here();
    let programs = Programs::prepare(&machine, &[&test], None)?;
    let time = Duration::from_secs(seconds);
    let single = Single { machine: &machine, test: &test, programs: &programs, time, folder: &folder, scratch };
    match single.measure()? {
        Outcome::Measured(copy) => {
            let cell = Cell::new(0, &test, 1, None, &Condition::none());
            let reported = analysis::reported(&cell, &copy);
            let decimals = if test.value.is_some() { 3 } else { 0 };
            let analysis::Reported { count, timebase, seconds } = reported;
            write_lines(&format!("COUNT|{count:.decimals$}|{timebase}|{}\nTIME|{seconds:.6}", test.unit))?;
            Ok(ExitCode::SUCCESS)
        }
        Outcome::Stopped(signal) => Ok(Status::Signal(signal).into()),
    }
}

/// Reads how a program is called.
fn call(name: &str, words: &[&str], catalogue: &Catalogue) -> Result<Call> {
    let id = if name == LOOPER { LOOPING } else { name };
    let mut test = Test::clone(catalogue.test(id).with_context(|| format!("there is no test {id}"))?);
    let mut folder = PathBuf::from(".");
    let seconds = match name {
        "fstime" => fstime(words, &mut test, &mut folder)?,
        // It takes no SECONDS: its own procedure lasts ten.
        "whetstone-double" => 10,
        _ => {
            let (time, rest) = words.split_first().ok_or_else(|| unclear(name))?;
            arguments(name, rest, &mut test)?;
            number(name, time, LONGEST)?
        }
    };
    Ok(Call { test, seconds, folder: std::path::absolute(folder)? })
}

/// Has the test do what the words after the time ask for.
fn arguments(name: &str, words: &[&str], test: &mut Test) -> Result<()> {
    match (name, words) {
        (LOOPER, [_, ..]) => {
            test.command = words.iter().map(|word| (*word).to_owned()).collect();
            test.needs.clear();
            if words[0].ends_with(SCRIPT) {
                *test = with_factor(test, work_factor()?);
            }
        }
        (LOOPER, []) => return Err(unclear(name)),
        ("hanoi", [disks, ..]) => {
            test.args = vec![format!("disks={}", number(name, disks, 30)?)];
            test.checks.remove("moved");
        }
        ("syscall", [mode, ..]) => {
            let modes = ["mix", "close", "getpid", "exec"];
            let mode = modes.into_iter().find(|known| mode.starts_with(&known[..1]));
            let mode = mode.ok_or_else(|| unclear(name))?;
            test.args = vec![format!("mode={mode}")];
        }
        _ => {}
    }
    Ok(())
}

/// Reads the options of the file program; returns its time.
fn fstime(words: &[&str], test: &mut Test, folder: &mut PathBuf) -> Result<u64> {
    let mut settings = BTreeMap::from([("mode", "copy".to_owned()), ("prime", "2".to_owned())]);
    settings.extend([("block", "1024".to_owned()), ("blocks", "2000".to_owned())]);
    let (mut seconds, mut words) = (30, words.iter());
    while let Some(word) = words.next() {
        let mode = [("-c", "copy"), ("-w", "write"), ("-r", "read")].into_iter().find(|(flag, _)| flag == word);
        if let Some((_, mode)) = mode {
            settings.insert("mode", mode.to_owned());
            continue;
        }
        let value = words.next().ok_or_else(|| unclear("fstime"))?;
        match *word {
            "-t" => seconds = number("fstime", value, LONGEST)?,
            "-b" => drop(settings.insert("block", (*value).to_owned())),
            "-m" => drop(settings.insert("blocks", (*value).to_owned())),
            "-d" => *folder = PathBuf::from(value),
            _ => return Err(unclear("fstime")),
        }
    }
    ensure!(folder.is_dir(), "{} is not a directory; try -d /tmp", folder.display());
    test.args = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    Ok(seconds)
}

fn number(name: &str, text: &str, most: u64) -> Result<u64> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => bail!("'{text}' is not a number from 1 to {most}; try `{}`", usage(name)),
    }
}

/// Returns the error that its words are not what a program takes.
fn unclear(name: &str) -> anyhow::Error {
    anyhow!("an argument is missing or unknown; try `{}`", usage(name))
}

/// Returns how a program is called.
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

/// Returns stdin by a name that a command can open, to read it from the start each time; none unless it is a file.
fn input() -> Option<String> {
    let is_file = fstat(stdin()).is_ok_and(|file| FileType::from_raw_mode(file.st_mode) == FileType::RegularFile);
    is_file.then(|| format!("stdin=/proc/{}/fd/0", std::process::id()))
}
