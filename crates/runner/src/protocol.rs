//! Parses the output of a program: the text protocol of `programs/kit.h`.
//!
//! ```text
//! ready                            the tool answers `go` and the window begins
//! slice 1000 2000 17               one for each slice, in ns of CLOCK_MONOTONIC
//! value wall 12.5 ms
//! usage 100 200 0 0 5 0 1 2 1500
//! done
//! ```
//!
//! Output is parsed strictly, line by line as it comes: moments must follow each other, lie in the
//! window and not repeat, since time that is claimed twice would be a higher rate. The first line
//! that breaks a rule ends the parse with [`Conclusion::Garbage`], and the program is killed. A
//! program of several threads says `copy N` before the report of each; the parser then has a
//! [`Copy`] for every thread.

use anyhow::{Context, Result, ensure};

use super::fields::{read_execution, read_finite, read_numbers, read_schedule, read_usage};
use catalogue::{Check, Test};
use journal::{Copy, Execution, Frame, Recorder, Region, Slice};

/// The result of a program's whole output.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// It measured: one copy, or one for each of its threads.
    Done(Vec<Copy>),
    /// It cannot run here, for this reason.
    Skip(String),
    /// It failed, for this reason.
    Error(String),
    /// It broke the protocol, in this way.
    Garbage(String),
}

/// A load's work so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pulse {
    /// The moment, in ns of CLOCK_MONOTONIC.
    pub ns: u64,
    /// The work done by then.
    pub count: u64,
}

/// A longer line is no line of the protocol.
const MAX_LINE_BYTES: usize = 64 << 10;

/// More lines than any honest program prints, frames and foreign lines aside.
const MAX_LINES: usize = 1 << 20;

/// Parses what a program prints. Frames become histograms as they come, so that an hour of them
/// takes no memory.
#[derive(Debug, Default)]
pub struct Parser {
    /// When the window opens, in ns of CLOCK_MONOTONIC. The caller sets it after `ready`.
    pub start: u64,
    /// The beginning of a line that has not ended yet.
    partial: Vec<u8>,
    /// True if it printed `ready`.
    pub is_ready: bool,
    /// The report before any `copy` line, or of thread 0.
    copy: Copy,
    /// The reports of the threads from 1 on.
    threads: Vec<Copy>,
    has_threads: bool,
    /// Lines so far that count against [`MAX_LINES`].
    line_count: usize,
    recorder: Option<Recorder>,
    /// The delay in ns that broke the limit of an interactive test, if one did.
    broke: Option<u64>,
    /// The last frame's planned moment.
    last_planned: u64,
    /// The latest moment in any frame, in ns of CLOCK_MONOTONIC.
    pub latest: u64,
    /// The progress of a load so far, in order.
    pub pulses: Vec<Pulse>,
    /// First words of lines that are left to the caller.
    pub foreign: &'static [&'static str],
    /// Foreign lines that the caller has not taken yet.
    pub lines: Vec<String>,
    end: Option<Conclusion>,
}

impl Parser {
    /// Parses a piece of output.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = &after[1..];
            if self.partial.is_empty() {
                self.take_line(&String::from_utf8_lossy(line));
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.take_line(&String::from_utf8_lossy(&whole));
            }
        }

        self.partial.extend_from_slice(rest);
        if self.partial.len() > MAX_LINE_BYTES {
            self.end = Some(Conclusion::Garbage("it printed a line longer than 64 KiB".to_owned()));
            self.partial.clear();
        }
    }

    /// True if a line has ended the output.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// True if the program broke the protocol.
    pub fn is_broken(&self) -> bool {
        matches!(self.end, Some(Conclusion::Garbage(_)))
    }

    /// True if the program has printed nothing at all.
    pub fn is_silent(&self) -> bool {
        !self.is_ready && self.end.is_none() && self.partial.is_empty()
    }

    /// The result of the whole output, once the program has ended.
    pub fn conclusion(&self) -> Conclusion {
        match &self.end {
            Some(Conclusion::Done(_)) => self.conclude_report(),
            Some(end) => end.clone(),
            None if !self.partial.is_empty() => Conclusion::Garbage(format!(
                "it ended in the middle of the line '{}'",
                short(&String::from_utf8_lossy(&self.partial))
            )),
            None => Conclusion::Garbage("it ended without printing `done`".to_owned()),
        }
    }

    /// The reports of a program that executed several commands until one failed, one for each
    /// command; none of another program.
    pub fn reports_until_failure(&self) -> Vec<Copy> {
        if !self.has_threads {
            return Vec::new();
        }

        std::iter::once(&self.copy).chain(&self.threads).cloned().collect()
    }

    fn conclude_report(&self) -> Conclusion {
        let frames = self.recorder.clone().map(|recorder| Box::new(recorder.finish(self.broke)));
        if frames.as_ref().is_some_and(|frames| frames.done > frames.schedule.planned) {
            return Conclusion::Garbage("it reports more frames than it planned".to_owned());
        }

        let first = Copy { frames, ..self.copy.clone() };
        Conclusion::Done(std::iter::once(first).chain(self.threads.iter().cloned()).collect())
    }

    fn take_line(&mut self, text: &str) {
        match &self.end {
            Some(Conclusion::Done(_)) => {
                self.end =
                    Some(Conclusion::Garbage(format!("it printed '{}' after `done`", short(text))));
            }
            Some(_) => {}
            None => match self.parse_line(text) {
                Ok(true) => {}
                Ok(false) => self.end = Some(Conclusion::Garbage(violation(text))),
                Err(why) => {
                    let why = format!("it printed '{}': {why} (docs/format.md)", short(text));
                    self.end = Some(Conclusion::Garbage(why));
                }
            },
        }
    }

    /// Parses a line. False if its first word is not one of the protocol, or not allowed there.
    fn parse_line(&mut self, text: &str) -> Result<bool> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "skip" => self.end = Some(Conclusion::Skip(clean(rest))),
            "error" => self.end = Some(Conclusion::Error(clean(rest))),
            "ready" if !self.is_ready && rest.is_empty() => self.is_ready = true,
            _ if !self.is_ready => return Ok(false),
            "frame" => self.add_frame(rest)?,
            "slice" => self.add_slice(rest)?,
            "pulse" => {
                let [ns, count] = read_numbers(rest, ["NS", "COUNT"])?;
                self.pulses.push(Pulse { ns, count });
            }
            "plan" if self.recorder.is_none() => {
                self.recorder = Some(Recorder::new(read_schedule(rest)?))
            }
            "value" => self.add_value(rest)?,
            "time" => self.add_times(rest)?,
            "copy" => self.begin_thread(rest)?,
            "execution" => self.add_execution(rest)?,
            "unit" => self.add_unit(rest)?,
            "region" => self.add_region(rest)?,
            "check" => self.add_check(rest)?,
            "note" => self.current_copy().notes.push(clean(rest)),
            "usage" => self.copy.usage = Some(read_usage(rest)?),
            "done" if rest.is_empty() => self.end = Some(Conclusion::Done(Vec::new())),
            _ if self.foreign.contains(&word) => self.lines.push(text.to_owned()),
            _ => return Ok(false),
        }

        // Not counted: an hour of frames, or the seconds of a burn-in of days, are honest.
        self.line_count += usize::from(word != "frame" && !self.foreign.contains(&word));
        ensure!(self.line_count <= MAX_LINES, "there are more lines than any window has");
        Ok(true)
    }

    /// The copy that the lines since the last `copy` line report of.
    fn current_copy(&mut self) -> &mut Copy {
        self.threads.last_mut().unwrap_or(&mut self.copy)
    }

    /// Begins the report of a thread. They are numbered from 0, and the first is `self.copy`.
    fn begin_thread(&mut self, rest: &str) -> Result<()> {
        let [number] = read_numbers(rest, ["NUMBER"])?;
        let next = if self.has_threads { self.threads.len() as u64 + 1 } else { 0 };
        ensure!(number == next, "NUMBER is not {next}, the next thread's");
        ensure!(number > 0 || self.copy.slices.is_empty(), "slices came before the first thread");

        if self.has_threads {
            self.threads.push(Copy::default());
        }
        self.has_threads = true;
        Ok(())
    }

    /// Adds a bucket of the histogram: COUNT operations took NS each.
    fn add_times(&mut self, rest: &str) -> Result<()> {
        let [ns, count] = read_numbers(rest, ["NS", "COUNT"])?;
        self.current_copy().times.get_or_insert_default().record_many(ns, count);
        Ok(())
    }

    fn add_slice(&mut self, rest: &str) -> Result<()> {
        let [from, to, count] = read_numbers(rest, ["START_NS", "END_NS", "COUNT"])?;
        let start = self.start;
        let slices = &mut self.current_copy().slices;

        // A program that claims time before the start, or the same time twice, is lying.
        ensure!(from >= start, "START_NS is before the window, which began at {start}");
        let earliest = slices.last().map_or(start, |last| start + last.end);
        ensure!(from >= earliest, "START_NS is before the end of the last slice");
        ensure!(to >= from, "END_NS is before START_NS");

        slices.push(Slice { start: from - start, end: to - start, count });
        Ok(())
    }

    /// Adds the build that a round executed.
    fn add_unit(&mut self, rest: &str) -> Result<()> {
        let [round, number] = read_numbers(rest, ["ROUND", "UNIT"])?;
        let unit = u32::try_from(number).ok().filter(|unit| *unit > 0);
        let unit = unit.context("UNIT is not a number from 1")?;

        let copy = self.current_copy();
        let is_executed = copy.executions.last().is_some_and(|last| last.round == round);
        ensure!(is_executed, "ROUND is not that of the last execution");
        copy.units.push((round, unit));
        Ok(())
    }

    /// Adds the part of the last execution that its command has marked.
    fn add_region(&mut self, rest: &str) -> Result<()> {
        let [round, from, to] = read_numbers(rest, ["ROUND", "START_NS", "END_NS"])?;
        let start = self.start;

        let last = self.current_copy().executions.last_mut();
        let execution = last.filter(|last| last.round == round);
        let execution = execution.context("ROUND is not that of the last execution")?;
        ensure!(
            from >= start + execution.start && to <= start + execution.end && from <= to,
            "START_NS or END_NS is outside the execution"
        );
        execution.region = Some(Region { start: from - start, end: to - start });
        Ok(())
    }

    fn add_execution(&mut self, rest: &str) -> Result<()> {
        let start = self.start;
        let execution = read_execution(rest)?;
        let executions = &mut self.current_copy().executions;

        let earliest = executions.last().map_or(start, |last| start + last.end);
        ensure!(
            execution.start >= earliest,
            "START_NS is before the window or the end of the last execution"
        );
        ensure!(execution.end >= execution.start, "END_NS is before START_NS");

        executions.push(Execution {
            start: execution.start - start,
            end: execution.end - start,
            ..execution
        });
        Ok(())
    }

    fn add_frame(&mut self, rest: &str) -> Result<()> {
        const NAMES: [&str; 4] = ["PLANNED_NS", "WOKE_NS", "DONE_NS", "STAMP_NS"];
        let [planned, woke, done, sent] = if rest.split(' ').count() == NAMES.len() {
            read_numbers(rest, NAMES)?
        } else {
            // Without a stamp, the wake-up was sent at the planned moment.
            let [planned, woke, done] = read_numbers(rest, [NAMES[0], NAMES[1], NAMES[2]])?;
            [planned, woke, done, planned]
        };

        let recorder = self.recorder.as_mut().context("there is no plan before it")?;
        ensure!(
            planned >= self.last_planned.max(self.start),
            "PLANNED_NS is before the window or the last frame"
        );
        ensure!(woke >= planned, "WOKE_NS is before PLANNED_NS");
        ensure!(done == 0 || done >= woke, "DONE_NS is before WOKE_NS");
        let end = woke.max(done);
        ensure!(recorder.can_take(end - planned), "it took longer than can be recorded");

        self.last_planned = planned;
        self.latest = self.latest.max(end);
        recorder.add(Frame {
            planned: planned - self.start,
            sent: sent.clamp(planned, woke) - self.start,
            woke: woke - self.start,
            done: (done > 0).then(|| done - self.start),
        });
        Ok(())
    }

    fn add_value(&mut self, rest: &str) -> Result<()> {
        let mut words = rest.splitn(3, ' ');
        let name = words.next().filter(|name| !name.is_empty()).context("NAME is missing")?;
        let number = read_finite("NUMBER", words.next())?;
        let unit = words.next().unwrap_or("").to_owned();

        if name == "broke_ns" {
            // The ns of any delay fit a u64.
            self.broke = Some(number.max(0.0) as u64);
        }
        self.current_copy().values.insert(name.to_owned(), (number, unit));
        Ok(())
    }

    fn add_check(&mut self, rest: &str) -> Result<()> {
        let (name, number) = rest.split_once(' ').context("NUMBER is missing")?;
        self.copy.checks.insert(name.to_owned(), read_finite("NUMBER", Some(number))?);
        Ok(())
    }
}

/// The message about a line that breaks the protocol.
pub fn violation(line: &str) -> String {
    format!("it printed '{}', which is not part of the protocol (docs/format.md)", short(line))
}

/// A line without trailing space, each control character replaced: a terminal would act on them.
pub fn clean(line: &str) -> String {
    line.trim_end().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The beginning of a line, cleaned.
pub fn short(line: &str) -> String {
    words::beginning(&clean(line), 60)
}

/// Compares a copy's answers with those of the catalogue.
///
/// # Errors
/// An answer is wrong or missing, which makes the measurement a failure.
pub fn verify(copy: &Copy, test: &Test) -> Result<(), String> {
    for (name, right) in &test.checks {
        let answer =
            copy.checks.get(name).ok_or_else(|| format!("its check value '{name}' is missing"))?;
        if !right.accepts(*answer) {
            let Check { low, high } = right;
            let wanted =
                if low == high { format!("be {low}") } else { format!("lie in {low} to {high}") };
            return Err(format!("its check value '{name}' is {answer} and should {wanted}"));
        }
    }
    Ok(())
}
