//! The kit of `programs/kit.h`, for tests in Rust: arguments, the window, and the report.
//!
//! There is no timer here: what these tests do comes in pieces that end with a round trip to the display server or the
//! GL driver, and a piece is noted when it is done. As there, a slice ends with the last piece that was completed in
//! it.

use std::ffi::c_long;
use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::process::{Pid, Signal, getpid, kill_process};
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};

use crate::server;

/// A second in ns.
pub const SECOND: u64 = 1_000_000_000;

/// As `programs/kit.c` has it.
const MOST_SLICES: u64 = 4096;

/// Pictures are so wide and high at most; a driver may allow less.
const LARGEST: u32 = 16384;

/// A child that must not outlive the program; 0 where there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Why there is no result.
#[derive(Debug)]
pub enum Stop {
    /// It cannot run here: why, and what would help.
    Skip(String),
    /// Something went wrong: what, with what, and what to try.
    Error(String),
}

impl Stop {
    /// Why.
    pub fn why(self) -> String {
        match self {
            Stop::Skip(why) | Stop::Error(why) => why,
        }
    }
}

/// One frame of an interactive test, in ns of CLOCK_MONOTONIC.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// When it was asked for.
    pub planned: u64,
    /// When the answer came.
    pub woke: u64,
    /// When all was done.
    pub done: u64,
}

/// What a program is told, and what it will tell.
pub struct Kit {
    arguments: Vec<(String, String, bool)>,
    input: Receiver<String>,
    /// Lines of the report.
    lines: Vec<String>,
    frames: Vec<Frame>,
    /// Time from asking for a frame to its deadline, in ns (0: there is none), and frames that were dropped.
    deadline: u64,
    dropped: u64,
    slices: Vec<(u64, u64, u64)>,
    /// Slices that are wanted, their length, and the end of the current one.
    wanted: u64,
    length: u64,
    edge: u64,
    /// Since when the current slice counts, what was done in it, and when the last of that was completed.
    from: u64,
    count: u64,
    last: u64,
    /// The display server, whose time on the processors is this test's.
    server: Option<Pid>,
    before: Option<Spent>,
}

/// Time on the processors so far, and what else `usage` tells.
struct Spent {
    own: Usage,
    children: Usage,
    /// User and system time of the display server, in ns.
    server: (i64, i64),
}

/// CLOCK_MONOTONIC in ns.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * SECOND + time.tv_nsec as u64
}

/// A line of another program's, without anything a terminal or a line-based protocol would act on.
pub fn printable(line: &str) -> String {
    line.trim().chars().map(|c| if c.is_control() { '?' } else { c }).take(120).collect()
}

/// Prints why there is no result.
pub fn say(stop: &Stop) -> ExitCode {
    let (line, code) = match stop {
        Stop::Skip(why) => (format!("skip {why}\n"), ExitCode::SUCCESS),
        Stop::Error(why) => (format!("error {why}\n"), ExitCode::FAILURE),
    };
    // Nobody may read any more.
    let _ = std::io::stdout().write_all(line.as_bytes());
    code
}

/// Has `child` killed where stdin closes before it has ended; none when it has.
pub fn guard(child: Option<Pid>) {
    CHILD.store(Pid::as_raw(child), Ordering::SeqCst);
}

/// Reads lines until stdin closes, which ends the program within a second, whatever it does.
fn listen() -> Receiver<String> {
    let (sender, input) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        if let Some(child) = Pid::from_raw(CHILD.load(Ordering::SeqCst)) {
            let _ = kill_process(child, Signal::KILL);
        }
        // Not exit(): it would take down a GL driver under the thread that draws.
        let _ = kill_process(getpid(), Signal::KILL);
    });
    input
}

impl Kit {
    /// Takes in the arguments, and places the process where they say so.
    ///
    /// # Errors
    /// A word is no `key=value`, or names something that only programs in C understand.
    pub fn new(words: Vec<String>) -> Result<Kit, Stop> {
        let split = |word: &String| {
            let (name, value) = word.split_once('=')?;
            Some((name.to_owned(), value.to_owned(), false))
        };
        let arguments = words
            .iter()
            .map(|word| split(word).ok_or_else(|| Stop::Error(format!("'{word}' is not an argument: try key=value"))))
            .collect::<Result<_, _>>()?;
        let mut kit = Kit {
            arguments,
            input: listen(),
            lines: Vec::new(),
            frames: Vec::new(),
            deadline: 0,
            dropped: 0,
            slices: Vec::new(),
            wanted: 0,
            length: 0,
            edge: 0,
            from: 0,
            count: 0,
            last: 0,
            server: None,
            before: None,
        };
        kit.place()?;
        Ok(kit)
    }

    /// `cpu=` and `nice=`, as every program has them, for what is to come and all threads that it starts.
    fn place(&mut self) -> Result<(), Stop> {
        let refused = |what: &str, error: rustix::io::Errno| Stop::Skip(format!("the kernel refuses {what}: {error}"));
        if let Some(cpu) = self.whole("cpu", 0..=4095)? {
            let mut set = CpuSet::new();
            set.set(cpu as usize);
            rustix::thread::sched_setaffinity(None, &set).map_err(|error| refused("that processor", error))?;
        }
        if let Some(nice) = self.text("nice") {
            let value = nice.parse().map_err(|_| Stop::Error(format!("nice={nice} is not a whole number")))?;
            rustix::process::setpriority_process(None, value).map_err(|error| refused("that nice value", error))?;
        }
        Ok(())
    }

    /// The value of an argument, if it was given.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let mut value = None;
        for argument in self.arguments.iter_mut().filter(|argument| argument.0 == name) {
            argument.2 = true;
            value = Some(argument.1.clone());
        }
        value
    }

    fn whole(&mut self, name: &str, range: std::ops::RangeInclusive<u64>) -> Result<Option<u64>, Stop> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(Stop::Error(format!(
                "{name}={text} is not a whole number from {} to {}",
                range.start(),
                range.end()
            ))),
        }
    }

    /// A whole number within `range`, which is `missing` where it was not given.
    ///
    /// # Errors
    /// It is not such a number.
    pub fn number(&mut self, name: &str, missing: u64, range: std::ops::RangeInclusive<u64>) -> Result<u64, Stop> {
        Ok(self.whole(name, range)?.unwrap_or(missing))
    }

    /// The value of `size=`, in pixels, which is `missing` where it was not given.
    ///
    /// # Errors
    /// It is not a size.
    pub fn size(&mut self, missing: (u32, u32)) -> Result<(u32, u32), Stop> {
        let Some(text) = self.text("size") else { return Ok(missing) };
        size(&text).ok_or_else(|| {
            Stop::Error(format!(
                "size={text} is not a size: try WIDTHxHEIGHT, both from 1 to {LARGEST}, as size=300x300"
            ))
        })
    }

    /// Keeps a `value` line.
    pub fn value(&mut self, name: &str, number: f64, unit: &str) {
        self.lines.push(format!("value {name} {number} {unit}"));
    }

    /// Keeps a `check` line.
    pub fn check(&mut self, name: &str, number: f64) {
        self.lines.push(format!("check {name} {number}"));
    }

    /// Keeps a `note` line.
    pub fn note(&mut self, text: &str) {
        self.lines.push(format!("note {text}"));
    }

    /// Names the display server: what it uses of the processors is reported as a child's would be.
    pub fn server(&mut self, server: Option<Pid>) {
        self.server = server;
    }

    /// Says ready, hears go, and returns at the start of the window.
    ///
    /// # Errors
    /// An argument that nobody asked for, or a line that is no `go`.
    pub fn start(&mut self) -> Result<(), Stop> {
        self.refuse_unknown()?;
        let mut stdout = std::io::stdout();
        let told = stdout.write_all(b"ready\n").and_then(|()| stdout.flush());
        // Where nobody listens, stdin is closed too, and the process about to end.
        let line = told.ok().and_then(|()| self.input.recv().ok()).unwrap_or_default();
        let (start, length, wanted) = go(&line)?;
        (self.length, self.wanted) = (length, wanted);
        std::thread::sleep(Duration::from_nanos(start.saturating_sub(now())));
        self.before = Some(self.spent()?);
        // The edges are common to all copies, however late one wakes.
        self.edge = if start == 0 { now() } else { start } + length;
        (self.from, self.last) = (now(), now());
        Ok(())
    }

    fn refuse_unknown(&self) -> Result<(), Stop> {
        match self.arguments.iter().find(|argument| !argument.2) {
            None => Ok(()),
            Some((name, ..)) => Err(Stop::Skip(format!(
                "the graphics programs know no argument {name}=: leave out the condition or the option that gives it"
            ))),
        }
    }

    /// Notes that work worth `count` is completed; returns whether the window is still open.
    pub fn done(&mut self, count: u64) -> bool {
        let now = now();
        while now >= self.edge && (self.slices.len() as u64) < self.wanted {
            self.slices.push((self.from, self.last, self.count));
            (self.from, self.count) = (self.last, 0);
            self.edge += self.length;
        }
        self.count += count;
        self.last = now;
        (self.slices.len() as u64) < self.wanted
    }

    /// Measures pieces of work until the window closes; each says what it was worth.
    ///
    /// # Errors
    /// A piece failed.
    pub fn measure(&mut self, mut piece: impl FnMut() -> Result<u64, Stop>) -> Result<(), Stop> {
        self.start()?;
        while self.done(piece()?) {}
        Ok(())
    }

    /// Keeps a slice of a program that looks after the window itself.
    pub fn slice(&mut self, start: u64, end: u64, count: u64) {
        self.slices.push((start, end, count));
    }

    /// Keeps a frame.
    pub fn frame(&mut self, frame: Frame) {
        self.frames.push(frame);
    }

    /// Says what frames were to be: done so many ns after they were asked for (0: whenever); and how many were asked
    /// for and never done.
    pub fn plan(&mut self, deadline: u64, dropped: u64) {
        (self.deadline, self.dropped) = (deadline, dropped);
    }

    /// Prints the report.
    ///
    /// # Errors
    /// There is nothing to report.
    pub fn finish(self) -> Result<(), Stop> {
        if self.frames.is_empty() && self.slices.iter().all(|slice| slice.2 == 0) {
            return Err(Stop::Error(
                "nothing was completed in the whole window: try `--procedure classic`, whose windows are longer"
                    .to_owned(),
            ));
        }
        let mut report = String::new();
        for (start, end, count) in &self.slices {
            report += &format!("slice {start} {end} {count}\n");
        }
        if !self.frames.is_empty() {
            // Events: there is no period.
            report += &format!("plan 0 {} 0 {} response\n", self.deadline, self.frames.len() as u64 + self.dropped);
        }
        for Frame { planned, woke, done } in &self.frames {
            report += &format!("frame {planned} {woke} {done}\n");
        }
        for line in &self.lines {
            report += &format!("{line}\n");
        }
        if let Some(before) = &self.before {
            report += &usage(before, &self.spent()?);
        }
        report += "done\n";
        // Nobody may read any more.
        let _ = std::io::stdout().write_all(report.as_bytes());
        Ok(())
    }

    fn spent(&self) -> Result<Spent, Stop> {
        let why = |error: nix::Error| Stop::Error(format!("the kernel does not tell the usage of processors: {error}"));
        Ok(Spent {
            own: getrusage(UsageWho::RUSAGE_SELF).map_err(why)?,
            children: getrusage(UsageWho::RUSAGE_CHILDREN).map_err(why)?,
            server: self.server.and_then(server::time).unwrap_or_default(),
        })
    }
}

/// Reads `WIDTHxHEIGHT`.
fn size(text: &str) -> Option<(u32, u32)> {
    let side = |word: &str| word.parse().ok().filter(|side| (1..=LARGEST).contains(side));
    let (width, height) = text.split_once('x')?;
    Some((side(width)?, side(height)?))
}

/// Reads `go START SLICE SLICES`.
fn go(line: &str) -> Result<(u64, u64, u64), Stop> {
    let numbers: Option<Vec<u64>> =
        line.strip_prefix("go ").and_then(|rest| rest.split(' ').map(|word| word.parse().ok()).collect());
    match numbers.as_deref() {
        Some([_, _, 0]) => Err(Stop::Skip("the graphics programs cannot be loads: leave --load out".to_owned())),
        Some([start, length, slices]) if *length > 0 && *slices <= MOST_SLICES => Ok((*start, *length, *slices)),
        _ => Err(Stop::Error(format!("'{line}' is not a line I wait for: try 'go START_NS SLICE_NS SLICES'"))),
    }
}

fn usage(before: &Spent, after: &Spent) -> String {
    let time = |of: fn(&Usage) -> nix::sys::time::TimeVal, after: &Usage, before: &Usage| {
        of(after).num_nanoseconds() - of(before).num_nanoseconds()
    };
    let both = |of: fn(&Usage) -> c_long| of(&after.own) - of(&before.own) + of(&after.children) - of(&before.children);
    let times = [
        time(Usage::user_time, &after.own, &before.own),
        time(Usage::system_time, &after.own, &before.own),
        time(Usage::user_time, &after.children, &before.children) + after.server.0 - before.server.0,
        time(Usage::system_time, &after.children, &before.children) + after.server.1 - before.server.1,
    ];
    let counts = [
        both(Usage::minor_page_faults),
        both(Usage::major_page_faults),
        both(Usage::voluntary_context_switches),
        both(Usage::involuntary_context_switches),
        after.own.max_rss(),
    ];
    let times = times.map(|time| time.max(0).to_string());
    let words = [times.as_slice(), &counts.map(|count| count.max(0).to_string())].concat();
    format!("usage {}\n", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_sides() {
        assert_eq!(size("640x480"), Some((640, 480)));
        for wrong in ["", "640", "640x", "x480", "0x480", "640x-1", "640x16385", "640x480x2", "640x99999999999"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn go_is_three_numbers() {
        assert!(matches!(go("go 5 1000 4"), Ok((5, 1000, 4))));
        assert!(matches!(go("go 0 0 0"), Err(Stop::Skip(_))), "it is not a load");
        for wrong in ["", "go", "go 1 2", "go 1 0 4", "go 1 2 3 4", "go -1 2 3", "go 1 2 5000", "stop"] {
            assert!(matches!(go(wrong), Err(Stop::Error(_))), "{wrong}");
        }
    }
}
