//! What a program prints: the text protocol of `programs/kit.h`, parsed strictly, line by line as it comes.

use catalogue::Test;
use journal::{Copy, Frame, Latency, Recorder, Schedule, Usage};

/// How a program's output ended.
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

/// ns longer than any period, deadline or work: eleven days.
const LONGEST_TIME: u64 = 1_000_000_000_000_000;

/// More lines than any honest program prints, frames aside.
const MOST_LINES: usize = 1 << 20;

/// Parses what a program prints. Frames become histograms as they come, so that an hour of them
/// takes no memory.
#[derive(Debug, Default)]
pub struct Parser {
    /// The common start, from which times are counted.
    start: u64,
    partial: Vec<u8>,
    ready: bool,
    /// What is reported before any `copy` line, or by thread 0; then by the other threads.
    copy: Copy,
    threads: Vec<Copy>,
    has_threads: bool,
    count: usize,
    recorder: Option<Recorder>,
    broke: Option<u64>,
    /// The last frame's planned moment, and the latest moment in any frame.
    planned: u64,
    latest: u64,
    pulses: Vec<(u64, u64)>,
    /// The first words of lines that are someone else's to parse, and such lines that were not taken yet.
    foreign: &'static [&'static str],
    lines: Vec<String>,
    end: Option<Conclusion>,
}

impl Parser {
    /// Sets when the window opens, in ns of CLOCK_MONOTONIC: known only after `ready`.
    pub fn set_start(&mut self, start: u64) {
        self.start = start;
    }

    /// From now on keeps lines that begin with one of these words, for [`Parser::take_lines`].
    pub fn keep_lines(&mut self, words: &'static [&'static str]) {
        self.foreign = words;
    }

    /// Whether there are such lines that were not taken yet.
    #[must_use]
    pub fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// Returns such lines since the last time.
    pub fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

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

    /// Whether it printed `ready`.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether it printed a line that ends its output.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Whether it broke the protocol.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(self.end, Some(Conclusion::Garbage(_)))
    }

    /// Whether it printed nothing at all.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        !self.ready && self.end.is_none() && self.partial.is_empty()
    }

    /// The latest moment in any frame, in ns of CLOCK_MONOTONIC.
    #[must_use]
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// What a load had done so far: ns of CLOCK_MONOTONIC and count, in order.
    #[must_use]
    pub fn pulses(&self) -> &[(u64, u64)] {
        &self.pulses
    }

    /// Returns the result of all its output, once the program has ended.
    #[must_use]
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
            None => {
                if let Err(()) = self.word(text) {
                    self.end = Some(Conclusion::Garbage(violation(text)));
                }
            }
        }
    }

    fn word(&mut self, text: &str) -> Result<(), ()> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "skip" => self.end = Some(Conclusion::Skip(clean(rest))),
            "error" => self.end = Some(Conclusion::Error(clean(rest))),
            "ready" if !self.ready && rest.is_empty() => self.ready = true,
            _ if !self.ready => return Err(()),
            "frame" => self.frame(rest).ok_or(())?,
            "slice" => self.slice(rest).ok_or(())?,
            "pulse" => self.pulses.push(pulse(rest).ok_or(())?),
            "plan" if self.recorder.is_none() => self.recorder = Some(Recorder::new(schedule(rest).ok_or(())?)),
            "value" => self.value(rest).ok_or(())?,
            "time" => self.time(rest).ok_or(())?,
            "copy" => self.thread(rest).ok_or(())?,
            "check" => self.check(rest).ok_or(())?,
            "note" => self.copy.notes.push(clean(rest)),
            "usage" => self.copy.usage = Some(usage(rest).ok_or(())?),
            "done" if rest.is_empty() => self.end = Some(Conclusion::Done(Vec::new())),
            _ if self.foreign.contains(&word) => self.lines.push(text.to_owned()),
            _ => return Err(()),
        }
        // An hour of frames or of a burn-in's seconds is honest.
        self.count += usize::from(word != "frame" && !self.foreign.contains(&word));
        if self.count > MOST_LINES { Err(()) } else { Ok(()) }
    }

    /// The copy whose slices, values and times come now.
    fn current(&mut self) -> &mut Copy {
        self.threads.last_mut().unwrap_or(&mut self.copy)
    }

    /// What follows is the next thread's.
    fn thread(&mut self, rest: &str) -> Option<()> {
        let [number] = numbers(rest)?;
        let next = if self.has_threads { self.threads.len() as u64 + 1 } else { 0 };
        if number != next || (number == 0 && !self.copy.slices.is_empty()) {
            return None;
        }
        if self.has_threads {
            self.threads.push(Copy::default());
        }
        self.has_threads = true;
        Some(())
    }

    /// How many single operations took this long.
    fn time(&mut self, rest: &str) -> Option<()> {
        let [ns, count] = numbers(rest)?;
        self.current().times.get_or_insert_default().record_many(ns, count);
        Some(())
    }

    fn slice(&mut self, rest: &str) -> Option<()> {
        let [from, to, count] = numbers(rest)?;
        let start = self.start;
        let slices = &mut self.current().slices;
        let after = slices.last().map_or(start, |last| start + last.1);
        // A program that claims time before the start, or the same time twice, is lying.
        if from < after || to < from {
            return None;
        }
        slices.push((from - start, to - start, count));
        Some(())
    }

    fn frame(&mut self, rest: &str) -> Option<()> {
        let (planned, woke, done, sent) = match numbers::<3>(rest) {
            Some([planned, woke, done]) => (planned, woke, done, planned),
            None => {
                let [planned, woke, done, sent] = numbers(rest)?;
                (planned, woke, done, sent)
            }
        };
        if planned < self.planned.max(self.start) || woke < planned || (done > 0 && done < woke) {
            return None;
        }
        let (recorder, end) = (self.recorder.as_mut()?, woke.max(done));
        if !recorder.can_take(end - planned) {
            return None;
        }
        (self.planned, self.latest) = (planned, self.latest.max(end));
        let start = self.start;
        let since = |ns: u64| ns - start;
        recorder.add(Frame {
            planned: since(planned),
            sent: since(sent.clamp(planned, woke)),
            woke: since(woke),
            done: (done > 0).then(|| since(done)),
        });
        Some(())
    }

    fn value(&mut self, rest: &str) -> Option<()> {
        let mut words = rest.splitn(3, ' ');
        let (name, number) = (words.next()?, words.next()?.parse::<f64>().ok()?);
        if name.is_empty() || !number.is_finite() {
            return None;
        }
        if name == "broke_ns" {
            // As many ns as a delay can have fit.
            self.broke = Some(number.max(0.0) as u64);
        }
        self.current().values.insert(name.to_owned(), (number, words.next().unwrap_or("").to_owned()));
        Some(())
    }

    fn check(&mut self, rest: &str) -> Option<()> {
        let (name, number) = rest.split_once(' ')?;
        let number = number.parse::<f64>().ok().filter(|number| number.is_finite())?;
        self.copy.checks.insert(name.to_owned(), number);
        Some(())
    }
}

/// The message about a line that breaks the protocol.
pub fn violation(line: &str) -> String {
    format!("it printed '{}', which is not part of the protocol (docs/format.md)", short(line))
}

/// Reads exactly N whole numbers.
pub fn numbers<const N: usize>(rest: &str) -> Option<[u64; N]> {
    let mut found = [0; N];
    let mut words = rest.split(' ');
    for place in &mut found {
        *place = words.next()?.parse().ok()?;
    }
    words.next().is_none().then_some(found)
}

fn pulse(rest: &str) -> Option<(u64, u64)> {
    numbers(rest).map(|[at, count]| (at, count))
}

fn schedule(rest: &str) -> Option<Schedule> {
    let (rest, latency) = rest.rsplit_once(' ')?;
    let [period, deadline, work, planned] = numbers(rest)?;
    let latency = match latency {
        "wake" => Latency::Wake,
        "response" => Latency::Response,
        "overrun" => Latency::Overrun,
        _ => return None,
    };
    let sane = (period == 0 || (1000..LONGEST_TIME).contains(&period)) && deadline.max(work) < LONGEST_TIME;
    sane.then_some(Schedule { period, deadline, work, planned, latency })
}

fn usage(rest: &str) -> Option<Usage> {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let [user, system, child_user, child_system, minor_faults, major_faults, voluntary, involuntary, maxrss_kib] =
        numbers(rest)?;
    Some(Usage {
        user: seconds(user),
        system: seconds(system),
        child_user: seconds(child_user),
        child_system: seconds(child_system),
        minor_faults,
        major_faults,
        voluntary,
        involuntary,
        maxrss_kib,
    })
}

/// A line without anything a terminal would act on.
pub fn clean(line: &str) -> String {
    line.trim_end().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The beginning of a line, cleaned.
pub fn short(line: &str) -> String {
    let mut text: String = clean(line).chars().take(60).collect();
    if line.trim_end().chars().count() > 60 {
        text.push('…');
    }
    text
}

/// Compares a copy's answers with the catalogue's.
///
/// # Errors
/// An answer that is wrong or missing: a wrong answer is a failed measurement.
pub fn verify(copy: &Copy, test: &Test) -> Result<(), String> {
    for (name, right) in &test.checks {
        match copy.checks.get(name) {
            None => return Err(format!("its check value '{name}' is missing")),
            Some(answer) if !right.accepts(*answer) => {
                return Err(if right.low == right.high {
                    format!("its check value '{name}' is {answer} and should be {}", right.low)
                } else {
                    format!("its check value '{name}' is {answer} and should lie in {} to {}", right.low, right.high)
                });
            }
            Some(_) => {}
        }
    }
    Ok(())
}
