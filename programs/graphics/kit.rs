//! The kit of `programs/kit.h`, for tests in Rust: arguments, the window, and the report.
//!
//! There is no timer here: what these tests do comes in pieces that end with a round trip to the
//! display server or the GL driver, and a piece is noted when it is done. As there, a slice ends
//! with the last piece that was completed in it.
//!
//! A test reads its arguments, calls [`Kit::measure`] (or [`Kit::start`], and then
//! [`Kit::complete_piece`] or [`Kit::add_slice`]), and returns; `main` prints the report. A second
//! thread reads stdin meanwhile, and kills the process when it closes.

use std::ffi::c_long;
use std::io::{BufRead, Write};
use std::ops::RangeInclusive;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use rustix::process::{Pid, Signal, getpid, kill_process};
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};

use crate::server::{self, ProcessorTime};

pub const NS_PER_SECOND: u64 = 1_000_000_000;

/// As `programs/kit.c` has it.
const MAX_SLICES: u64 = 4096;

/// Of a picture, in pixels. A driver may allow less.
const MAX_SIDE: u32 = 16384;

/// The highest number of a processor.
const MAX_CPU: u64 = 4095;

/// Of another program's line that is quoted.
const MAX_QUOTED_CHARS: usize = 120;

/// The child that must not outlive the program; 0 where there is none.
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
    pub fn reason(self) -> String {
        match self {
            Stop::Skip(reason) | Stop::Error(reason) => reason,
        }
    }

    /// Prints the line that the tool reads in place of a report.
    pub fn print(&self) -> ExitCode {
        let (line, code) = match self {
            Stop::Skip(reason) => (format!("skip {reason}\n"), ExitCode::SUCCESS),
            Stop::Error(reason) => (format!("error {reason}\n"), ExitCode::FAILURE),
        };
        // Nobody may read any more.
        let _ = std::io::stdout().write_all(line.as_bytes());
        code
    }
}

/// What a program is told, and what it will report.
pub struct Kit {
    arguments: Vec<Argument>,
    input: Receiver<String>,

    window: Window,
    slices: Vec<Slice>,
    /// `value`, `check` and `note` lines.
    report_lines: Vec<String>,

    /// Its processor time counts as this test's.
    display_server: Option<Pid>,
    usage_at_start: Option<UsageSoFar>,
}

struct Argument {
    name: String,
    value: String,
    is_known: bool,
}

/// The slices that the tool asked for, and the one that is being filled. Times are CLOCK_MONOTONIC
/// in ns.
#[derive(Default)]
struct Window {
    slices: u64,
    slice_ns: u64,
    /// The planned end of the current slice.
    next_edge: u64,

    /// The current slice: since when it counts, the work completed in it, and when the last of that
    /// was.
    slice_start: u64,
    count: u64,
    last_completion: u64,
}

/// A line of the report: `slice START_NS END_NS COUNT`.
struct Slice {
    start: u64,
    end: u64,
    count: u64,
}

/// The line `go START_NS SLICE_NS SLICES`.
#[derive(Debug, PartialEq)]
struct Go {
    /// 0: at once.
    start: u64,
    slice_ns: u64,
    slices: u64,
}

/// What `usage` tells, from the start of the processes on.
struct UsageSoFar {
    own: Usage,
    children: Usage,
    display_server: ProcessorTime,
}

/// CLOCK_MONOTONIC in ns.
pub fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * NS_PER_SECOND + time.tv_nsec as u64
}

/// A line of another program's, without anything a terminal or a line-based protocol would act on.
pub fn printable(line: &str) -> String {
    line.trim()
        .chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .take(MAX_QUOTED_CHARS)
        .collect()
}

/// Has `child` killed if stdin closes before it has ended; `None` when it has.
pub fn kill_at_end_of_input(child: Option<Pid>) {
    CHILD.store(Pid::as_raw(child), Ordering::SeqCst);
}

/// Starts the thread that hands on lines until stdin closes, and then kills the process, whatever
/// that does.
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
        let arguments = words.iter().map(|word| Argument::parse(word)).collect::<Result<_, _>>()?;
        let mut kit = Kit {
            arguments,
            input: listen(),
            window: Window::default(),
            slices: Vec::new(),
            report_lines: Vec::new(),
            display_server: None,
            usage_at_start: None,
        };

        kit.place()?;
        Ok(kit)
    }

    /// `cpu=` and `nice=`, as every program has them; threads that are started later inherit both.
    fn place(&mut self) -> Result<(), Stop> {
        if let Some(cpu) = self.given_number("cpu", 0..=MAX_CPU)? {
            let mut cpus = CpuSet::new();
            cpus.set(cpu as usize);
            rustix::thread::sched_setaffinity(None, &cpus)
                .map_err(|error| refused_by_kernel("that processor", error))?;
        }

        if let Some(nice) = self.argument("nice") {
            let value = nice
                .parse()
                .map_err(|_| Stop::Error(format!("nice={nice} is not a whole number")))?;
            rustix::process::setpriority_process(None, value)
                .map_err(|error| refused_by_kernel("that nice value", error))?;
        }
        Ok(())
    }

    /// The value of an argument, if it was given; the last one counts.
    pub fn argument(&mut self, name: &str) -> Option<String> {
        let mut value = None;
        for argument in self.arguments.iter_mut().filter(|argument| argument.name == name) {
            argument.is_known = true;
            value = Some(argument.value.clone());
        }
        value
    }

    fn given_number(
        &mut self,
        name: &str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, Stop> {
        let Some(text) = self.argument(name) else {
            return Ok(None);
        };

        match text.parse() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(Stop::Error(format!(
                "{name}={text} is not a whole number from {} to {}",
                range.start(),
                range.end()
            ))),
        }
    }

    /// The value of an argument that is a whole number.
    ///
    /// # Errors
    /// It is no such number, or out of range.
    pub fn number(
        &mut self,
        name: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<u64, Stop> {
        Ok(self.given_number(name, range)?.unwrap_or(default))
    }

    /// Width and height of `size=`, in pixels.
    ///
    /// # Errors
    /// It is not a size.
    pub fn size(&mut self, default: (u32, u32)) -> Result<(u32, u32), Stop> {
        let Some(text) = self.argument("size") else {
            return Ok(default);
        };
        parse_size(&text).ok_or_else(|| {
            Stop::Error(format!(
                "size={text} is not a size: try WIDTHxHEIGHT, both from 1 to {MAX_SIDE}, as size=300x300"
            ))
        })
    }

    pub fn report_value(&mut self, name: &str, number: f64, unit: &str) {
        self.report_lines.push(format!("value {name} {number} {unit}"));
    }

    pub fn report_check(&mut self, name: &str, number: f64) {
        self.report_lines.push(format!("check {name} {number}"));
    }

    pub fn report_note(&mut self, text: &str) {
        self.report_lines.push(format!("note {text}"));
    }

    /// Names the display server: its processor time is reported as a child's would be.
    pub fn set_display_server(&mut self, server: Option<Pid>) {
        self.display_server = server;
    }

    /// Says ready, hears go, and returns at the start of the window.
    ///
    /// # Errors
    /// An argument that nobody asked for, or a line that is no `go`.
    pub fn start(&mut self) -> Result<(), Stop> {
        self.refuse_unknown()?;
        let go = self.hear_go()?;
        std::thread::sleep(Duration::from_nanos(go.start.saturating_sub(now())));

        self.usage_at_start = Some(self.usage()?);
        let start = now();
        // The edges are common to all copies, however late one wakes.
        let planned_start = if go.start == 0 { start } else { go.start };
        self.window = Window {
            slices: go.slices,
            slice_ns: go.slice_ns,
            next_edge: planned_start + go.slice_ns,
            slice_start: start,
            count: 0,
            last_completion: start,
        };
        Ok(())
    }

    fn refuse_unknown(&self) -> Result<(), Stop> {
        match self.arguments.iter().find(|argument| !argument.is_known) {
            None => Ok(()),
            Some(Argument { name, .. }) => Err(Stop::Skip(format!(
                "the graphics programs know no argument {name}=: leave out the condition or the option that gives it"
            ))),
        }
    }

    fn hear_go(&self) -> Result<Go, Stop> {
        let mut stdout = std::io::stdout();
        let said = stdout.write_all(b"ready\n").and_then(|()| stdout.flush());

        // Where nobody listens, stdin is closed too, and the process about to end.
        let line = said.ok().and_then(|()| self.input.recv().ok()).unwrap_or_default();
        Go::parse(&line)
    }

    /// Notes that a piece of work worth `count` is completed; returns whether the window is still
    /// open.
    pub fn complete_piece(&mut self, count: u64) -> bool {
        let now = now();
        let window = &mut self.window;

        // Of edges that one piece spans, the first slice takes what was completed before, and the
        // others are empty. The piece counts in the slice in which it ends; after the last edge, in
        // none.
        while now >= window.next_edge && (self.slices.len() as u64) < window.slices {
            self.slices.push(Slice {
                start: window.slice_start,
                end: window.last_completion,
                count: window.count,
            });
            window.slice_start = window.last_completion;
            window.count = 0;
            window.next_edge += window.slice_ns;
        }

        window.count += count;
        window.last_completion = now;
        (self.slices.len() as u64) < window.slices
    }

    /// Does pieces of work until the window closes; each returns what it was worth.
    ///
    /// # Errors
    /// A piece failed.
    pub fn measure(&mut self, mut do_piece: impl FnMut() -> Result<u64, Stop>) -> Result<(), Stop> {
        self.start()?;
        while self.complete_piece(do_piece()?) {}
        Ok(())
    }

    /// Keeps a slice of a program that looks after the window itself.
    pub fn add_slice(&mut self, start: u64, end: u64, count: u64) {
        self.slices.push(Slice { start, end, count });
    }

    /// Prints the report.
    ///
    /// # Errors
    /// There is nothing to report.
    pub fn finish(self) -> Result<(), Stop> {
        if self.slices.iter().all(|slice| slice.count == 0) {
            return Err(Stop::Error(
                "nothing was completed in the whole window: try `--procedure classic`, whose windows are longer"
                    .to_owned(),
            ));
        }

        let mut report = String::new();
        for Slice { start, end, count } in &self.slices {
            report += &format!("slice {start} {end} {count}\n");
        }
        for line in &self.report_lines {
            report += &format!("{line}\n");
        }
        if let Some(before) = &self.usage_at_start {
            report += &usage_line(before, &self.usage()?);
        }
        report += "done\n";

        // Nobody may read any more.
        let _ = std::io::stdout().write_all(report.as_bytes());
        Ok(())
    }

    fn usage(&self) -> Result<UsageSoFar, Stop> {
        let display_server = self.display_server.and_then(server::processor_time);
        Ok(UsageSoFar {
            own: usage_of(UsageWho::RUSAGE_SELF)?,
            children: usage_of(UsageWho::RUSAGE_CHILDREN)?,
            display_server: display_server.unwrap_or_default(),
        })
    }
}

impl Argument {
    /// Reads `key=value`.
    fn parse(word: &str) -> Result<Argument, Stop> {
        let Some((name, value)) = word.split_once('=') else {
            return Err(Stop::Error(format!("'{word}' is not an argument: try key=value")));
        };
        Ok(Argument { name: name.to_owned(), value: value.to_owned(), is_known: false })
    }
}

impl Go {
    fn parse(line: &str) -> Result<Go, Stop> {
        let words = line.strip_prefix("go ").map(|words| words.split(' '));
        let numbers: Option<Vec<u64>> =
            words.and_then(|words| words.map(|word| word.parse().ok()).collect());

        match numbers.as_deref() {
            Some([_, _, 0]) => Err(Stop::Skip(
                "the graphics programs cannot be loads: leave --load out".to_owned(),
            )),
            Some(&[start, slice_ns, slices]) if slice_ns > 0 && slices <= MAX_SLICES => {
                Ok(Go { start, slice_ns, slices })
            }
            _ => Err(Stop::Error(format!(
                "'{line}' is not a line I wait for: try 'go START_NS SLICE_NS SLICES'"
            ))),
        }
    }
}

fn refused_by_kernel(what: &str, error: rustix::io::Errno) -> Stop {
    Stop::Skip(format!("the kernel refuses {what}: {error}"))
}

/// Reads `WIDTHxHEIGHT`.
fn parse_size(text: &str) -> Option<(u32, u32)> {
    let (width, height) = text.split_once('x')?;
    Some((parse_side(width)?, parse_side(height)?))
}

fn parse_side(text: &str) -> Option<u32> {
    text.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side))
}

fn usage_of(who: UsageWho) -> Result<Usage, Stop> {
    getrusage(who).map_err(|error| {
        Stop::Error(format!("the kernel does not tell the usage of processors: {error}"))
    })
}

/// The line `usage`, with the numbers in the order in which `programs/kit.h` has them.
fn usage_line(before: &UsageSoFar, after: &UsageSoFar) -> String {
    let server_user_ns = after.display_server.user_ns - before.display_server.user_ns;
    let server_system_ns = after.display_server.system_ns - before.display_server.system_ns;
    let times = [
        ns_between(before.own.user_time(), after.own.user_time()),
        ns_between(before.own.system_time(), after.own.system_time()),
        ns_between(before.children.user_time(), after.children.user_time()) + server_user_ns,
        ns_between(before.children.system_time(), after.children.system_time()) + server_system_ns,
    ];

    let grown = |count: fn(&Usage) -> c_long| {
        count(&after.own) - count(&before.own) + count(&after.children) - count(&before.children)
    };
    let counts = [
        grown(Usage::minor_page_faults),
        grown(Usage::major_page_faults),
        grown(Usage::voluntary_context_switches),
        grown(Usage::involuntary_context_switches),
        after.own.max_rss(),
    ];

    // A `c_long` has 32 bits where a pointer has, so that the two kinds of numbers meet as words.
    let time_words = times.map(|ns| ns.max(0).to_string());
    let count_words = counts.map(|count| count.max(0).to_string());
    format!("usage {} {}\n", time_words.join(" "), count_words.join(" "))
}

fn ns_between(before: TimeVal, after: TimeVal) -> i64 {
    after.num_nanoseconds() - before.num_nanoseconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_sides() {
        assert_eq!(parse_size("640x480"), Some((640, 480)));
        for wrong in [
            "",
            "640",
            "640x",
            "x480",
            "0x480",
            "640x-1",
            "640x16385",
            "640x480x2",
            "640x99999999999",
        ] {
            assert_eq!(parse_size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn go_is_three_numbers() {
        let read = Go::parse("go 5 1000 4").ok();
        assert_eq!(read, Some(Go { start: 5, slice_ns: 1000, slices: 4 }));
        assert!(matches!(Go::parse("go 0 0 0"), Err(Stop::Skip(_))), "it is not a load");
        for wrong in
            ["", "go", "go 1 2", "go 1 0 4", "go 1 2 3 4", "go -1 2 3", "go 1 2 5000", "stop"]
        {
            assert!(matches!(Go::parse(wrong), Err(Stop::Error(_))), "{wrong}");
        }
    }
}
