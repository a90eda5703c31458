//! The output of a program: the text protocol of `programs/kit.h`, parsed strictly, line by line as it comes.

use anyhow::{Context, Result, ensure};

use super::fields::{execution, finite, named, schedule, usage};
use catalogue::{Check, Test};
use journal::{Copy, Execution, Frame, Recorder, Slice};

/// The conclusion of a program's output.
#[derive(Debug, Clone, PartialEq)]
pub enum Conclusion {
    /// It measured: one copy, or as many as it has threads.
    Done(Vec<Copy>),
    /// It cannot run here.
    Skip(String),
    /// It failed.
    Error(String),
    /// It broke the protocol.
    Garbage(String),
}

/// No line of the protocol is longer than this.
const LONGEST_LINE: usize = 64 << 10;

/// More lines than any honest program prints, frames aside.
const MOST_LINES: usize = 1 << 20;

/// Parses what a program prints. Frames become histograms as they come, so that an hour of them
/// takes no memory.
#[derive(Debug, Default)]
pub struct Parser {
    /// When the window opens, in ns of CLOCK_MONOTONIC: known only after `ready`.
    pub start: u64,
    partial: Vec<u8>,
    /// True if it printed `ready`.
    pub is_ready: bool,
    /// The report before any `copy` line, or by thread 0; then by the other threads.
    copy: Copy,
    threads: Vec<Copy>,
    has_threads: bool,
    count: usize,
    recorder: Option<Recorder>,
    broke: Option<u64>,
    /// The last frame's planned moment.
    planned: u64,
    /// The latest moment in any frame, in ns of CLOCK_MONOTONIC.
    pub latest: u64,
    /// The progress of a load so far: ns of CLOCK_MONOTONIC and count, in order.
    pub pulses: Vec<(u64, u64)>,
    /// The first words of lines that are someone else's to parse.
    pub foreign: &'static [&'static str],
    /// Such lines that were not taken yet.
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
                self.line(&String::from_utf8_lossy(line));
            } else {
                let mut whole = std::mem::take(&mut self.partial);
                whole.extend_from_slice(line);
                self.line(&String::from_utf8_lossy(&whole));
            }
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > LONGEST_LINE {
            self.end = Some(Conclusion::Garbage("it printed a line longer than 64 KiB".to_owned()));
            self.partial.clear();
        }
    }

    /// Returns true if it printed a line that ends its output.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true if it broke the protocol.
    pub fn is_broken(&self) -> bool {
        matches!(self.end, Some(Conclusion::Garbage(_)))
    }

    /// Returns true if it printed nothing at all.
    pub fn is_silent(&self) -> bool {
        !self.is_ready && self.end.is_none() && self.partial.is_empty()
    }

    /// Returns the result of all its output, once the program has ended.
    pub fn conclusion(&self) -> Conclusion {
        match &self.end {
            Some(Conclusion::Done(_)) => {
                let frames = self.recorder.clone().map(|recorder| Box::new(recorder.finish(self.broke)));
                if frames.as_ref().is_some_and(|frames| frames.done > frames.schedule.planned) {
                    return Conclusion::Garbage("it reports more frames than it planned".to_owned());
                }
                let first = Copy { frames, ..self.copy.clone() };
                Conclusion::Done(std::iter::once(first).chain(self.threads.iter().cloned()).collect())
            }
            Some(end) => end.clone(),
            None if !self.partial.is_empty() => Conclusion::Garbage(format!(
                "it ended in the middle of the line '{}'",
                short(&String::from_utf8_lossy(&self.partial))
            )),
            None => Conclusion::Garbage("it ended without printing `done`".to_owned()),
        }
    }

    fn line(&mut self, text: &str) {
        match &self.end {
            Some(Conclusion::Done(_)) => {
                self.end = Some(Conclusion::Garbage(format!("it printed '{}' after `done`", short(text))));
            }
            Some(_) => {}
            None => match self.word(text) {
                Ok(true) => {}
                Ok(false) => self.end = Some(Conclusion::Garbage(violation(text))),
                Err(why) => {
                    let why = format!("it printed '{}': {why} (docs/format.md)", short(text));
                    self.end = Some(Conclusion::Garbage(why));
                }
            },
        }
    }

    /// Takes a line; false if it does not begin with a word of the protocol, or with one that does not belong there.
    fn word(&mut self, text: &str) -> Result<bool> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "skip" => self.end = Some(Conclusion::Skip(clean(rest))),
            "error" => self.end = Some(Conclusion::Error(clean(rest))),
            "ready" if !self.is_ready && rest.is_empty() => self.is_ready = true,
            _ if !self.is_ready => return Ok(false),
            "frame" => self.frame(rest)?,
            "slice" => self.slice(rest)?,
            "pulse" => self.pulses.push(named(rest, ["NS", "COUNT"]).map(|[at, count]| (at, count))?),
            "plan" if self.recorder.is_none() => self.recorder = Some(Recorder::new(schedule(rest)?)),
            "value" => self.value(rest)?,
            "time" => self.time(rest)?,
            "copy" => self.thread(rest)?,
            "execution" => self.execution(rest)?,
            "check" => self.check(rest)?,
            "note" => self.copy.notes.push(clean(rest)),
            "usage" => self.copy.usage = Some(usage(rest)?),
            "done" if rest.is_empty() => self.end = Some(Conclusion::Done(Vec::new())),
            _ if self.foreign.contains(&word) => self.lines.push(text.to_owned()),
            _ => return Ok(false),
        }
        // An hour of frames or of a burn-in's seconds is honest.
        self.count += usize::from(word != "frame" && !self.foreign.contains(&word));
        ensure!(self.count <= MOST_LINES, "there are more lines than any window has");
        Ok(true)
    }

    /// The copy whose slices, values and times come now.
    fn current(&mut self) -> &mut Copy {
        self.threads.last_mut().unwrap_or(&mut self.copy)
    }

    /// Begins the next thread.
    fn thread(&mut self, rest: &str) -> Result<()> {
        let [number] = named(rest, ["NUMBER"])?;
        let next = if self.has_threads { self.threads.len() as u64 + 1 } else { 0 };
        ensure!(number == next, "NUMBER is not {next}, the next thread's");
        ensure!(number > 0 || self.copy.slices.is_empty(), "slices came before the first thread");
        if self.has_threads {
            self.threads.push(Copy::default());
        }
        self.has_threads = true;
        Ok(())
    }

    /// Counts single operations that took the same time.
    fn time(&mut self, rest: &str) -> Result<()> {
        let [ns, count] = named(rest, ["NS", "COUNT"])?;
        self.current().times.get_or_insert_default().record_many(ns, count);
        Ok(())
    }

    fn slice(&mut self, rest: &str) -> Result<()> {
        let [from, to, count] = named(rest, ["START_NS", "END_NS", "COUNT"])?;
        let start = self.start;
        let slices = &mut self.current().slices;
        // A program that claims time before the start, or the same time twice, is lying.
        ensure!(from >= start, "START_NS is before the window, which began at {start}");
        let earliest = slices.last().map_or(start, |last| start + last.end);
        ensure!(from >= earliest, "START_NS is before the end of the last slice");
        ensure!(to >= from, "END_NS is before START_NS");
        slices.push(Slice { start: from - start, end: to - start, count });
        Ok(())
    }

    fn execution(&mut self, rest: &str) -> Result<()> {
        let start = self.start;
        let found = execution(rest)?;
        let executions = &mut self.current().executions;
        let earliest = executions.last().map_or(start, |last| start + last.end);
        ensure!(found.start >= earliest, "START_NS is before the window or the end of the last execution");
        ensure!(found.end >= found.start, "END_NS is before START_NS");
        executions.push(Execution { start: found.start - start, end: found.end - start, ..found });
        Ok(())
    }

    fn frame(&mut self, rest: &str) -> Result<()> {
        const NAMES: [&str; 4] = ["PLANNED_NS", "WOKE_NS", "DONE_NS", "STAMP_NS"];
        let (planned, woke, done, sent) = if rest.split(' ').count() == NAMES.len() {
            let [planned, woke, done, sent] = named(rest, NAMES)?;
            (planned, woke, done, sent)
        } else {
            let [planned, woke, done] = named(rest, [NAMES[0], NAMES[1], NAMES[2]])?;
            (planned, woke, done, planned)
        };
        let recorder = self.recorder.as_mut().context("there is no plan before it")?;
        ensure!(planned >= self.planned.max(self.start), "PLANNED_NS is before the window or the last frame");
        ensure!(woke >= planned, "WOKE_NS is before PLANNED_NS");
        ensure!(done == 0 || done >= woke, "DONE_NS is before WOKE_NS");
        let end = woke.max(done);
        ensure!(recorder.can_take(end - planned), "it took longer than can be recorded");
        (self.planned, self.latest) = (planned, self.latest.max(end));
        let start = self.start;
        let since = |ns: u64| ns - start;
        recorder.add(Frame {
            planned: since(planned),
            sent: since(sent.clamp(planned, woke)),
            woke: since(woke),
            done: (done > 0).then(|| since(done)),
        });
        Ok(())
    }

    fn value(&mut self, rest: &str) -> Result<()> {
        let mut words = rest.splitn(3, ' ');
        let name = words.next().filter(|name| !name.is_empty()).context("NAME is missing")?;
        let number = finite("NUMBER", words.next())?;
        if name == "broke_ns" {
            // As many ns as a delay can have fit.
            self.broke = Some(number.max(0.0) as u64);
        }
        self.current().values.insert(name.to_owned(), (number, words.next().unwrap_or("").to_owned()));
        Ok(())
    }

    fn check(&mut self, rest: &str) -> Result<()> {
        let (name, number) = rest.split_once(' ').context("NUMBER is missing")?;
        self.copy.checks.insert(name.to_owned(), finite("NUMBER", Some(number))?);
        Ok(())
    }
}

/// The message about a line that breaks the protocol.
pub fn violation(line: &str) -> String {
    format!("it printed '{}', which is not part of the protocol (docs/format.md)", short(line))
}

/// A line without anything a terminal would act on.
pub fn clean(line: &str) -> String {
    line.trim_end().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The beginning of a line, cleaned.
pub fn short(line: &str) -> String {
    words::beginning(&clean(line), 60)
}

/// Compares a copy's answers with the catalogue's.
///
/// # Errors
/// An answer that is wrong or missing: a wrong answer is a failed measurement.
pub fn verify(copy: &Copy, test: &Test) -> Result<(), String> {
    for (name, right) in &test.checks {
        let answer = copy.checks.get(name).ok_or_else(|| format!("its check value '{name}' is missing"))?;
        if !right.accepts(*answer) {
            let Check { low, high } = right;
            let wanted = if low == high { format!("be {low}") } else { format!("lie in {low} to {high}") };
            return Err(format!("its check value '{name}' is {answer} and should {wanted}"));
        }
    }
    Ok(())
}
