//! What a program says: the text protocol of `programs/kit.h`, read strictly, line by line as it comes.

use super::burnin::Log;
use catalogue::Test;
use journal::{Copy, Frame, Latency, Recorder, Schedule, Usage};

/// The end of a program's speech.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// It measured: one copy, or as many as it has threads.
    Done(Vec<Copy>),
    /// It cannot run here.
    Skip(String),
    /// It failed.
    Error(String),
    /// It broke the protocol.
    Garbage(String),
}

/// A line longer than this is no part of any speech.
const LONGEST_LINE: usize = 64 << 10;

/// ns longer than any period, deadline or work: eleven days.
const LONGEST_TIME: u64 = 1_000_000_000_000_000;

/// More lines than any honest program prints, frames aside.
const MOST_LINES: usize = 1 << 20;

/// Takes in what a program prints. Frames become histograms as they come, so that an hour of them
/// takes no memory.
#[derive(Debug, Default)]
pub struct Speech {
    /// The common start, from which times are counted.
    start: u64,
    partial: Vec<u8>,
    ready: bool,
    /// What it told of before any `copy` line, or of thread 0; then of the other threads.
    copy: Copy,
    threads: Vec<Copy>,
    has_threads: bool,
    lines: usize,
    recorder: Option<Recorder>,
    broke: Option<u64>,
    /// The last frame's planned moment, and the latest moment that any frame tells of.
    planned: u64,
    latest: u64,
    pulses: Vec<(u64, u64)>,
    /// What a burn-in says while it goes on; nothing else may say it.
    burnin: Option<Box<Log>>,
    end: Option<Said>,
}

impl Speech {
    /// Says when the window opens: known only after `ready`.
    pub fn begin(&mut self, start: u64) {
        self.start = start;
    }

    /// Has it say what a burn-in says.
    pub fn expect_burnin(&mut self) {
        self.burnin = Some(Box::default());
    }

    /// What a burn-in has said while it went on.
    pub fn burnin(&mut self) -> Option<&mut Log> {
        self.burnin.as_deref_mut()
    }

    /// Whether a burn-in has said anything that nobody has asked for yet.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.burnin.as_ref().is_some_and(|log| log.is_pending())
    }

    /// Takes in a piece of output.
    pub fn hear(&mut self, bytes: &[u8]) {
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
            self.end = Some(Said::Garbage("it printed a line without an end".to_owned()));
            self.partial.clear();
        }
    }

    /// Whether it said `ready`.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Whether it said anything that ends its speech.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Whether it broke the protocol.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        matches!(self.end, Some(Said::Garbage(_)))
    }

    /// Whether it said nothing at all.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        !self.ready && self.end.is_none() && self.partial.is_empty()
    }

    /// The latest moment that a frame tells of, in ns of CLOCK_MONOTONIC.
    #[must_use]
    pub fn latest(&self) -> u64 {
        self.latest
    }

    /// What a load had done so far: ns of CLOCK_MONOTONIC and count, in order.
    #[must_use]
    pub fn pulses(&self) -> &[(u64, u64)] {
        &self.pulses
    }

    /// Returns what all of it came to, once the program has ended.
    #[must_use]
    pub fn conclusion(&self) -> Said {
        match &self.end {
            Some(Said::Done(_)) => {
                let frames = self.recorder.clone().map(|recorder| Box::new(recorder.finish(self.broke)));
                if frames.as_ref().is_some_and(|frames| frames.done > frames.schedule.planned) {
                    return Said::Garbage("it reports more frames than it had planned".to_owned());
                }
                let first = Copy { frames, ..self.copy.clone() };
                Said::Done(std::iter::once(first).chain(self.threads.iter().cloned()).collect())
            }
            Some(said) => said.clone(),
            None if !self.partial.is_empty() => Said::Garbage(format!(
                "it ended in the middle of the line '{}'",
                short(&String::from_utf8_lossy(&self.partial))
            )),
            None => Said::Garbage("it ended without saying `done`".to_owned()),
        }
    }

    fn line(&mut self, text: &str) {
        match &self.end {
            Some(Said::Done(_)) => {
                self.end = Some(Said::Garbage(format!("it went on after `done` with '{}'", short(text))));
            }
            Some(_) => {}
            None => {
                if let Err(()) = self.word(text) {
                    self.end = Some(Said::Garbage(format!(
                        "it printed '{}', which is no part of the protocol (docs/format.md)",
                        short(text)
                    )));
                }
            }
        }
    }

    fn word(&mut self, text: &str) -> Result<(), ()> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match word {
            "skip" => self.end = Some(Said::Skip(clean(rest))),
            "error" => self.end = Some(Said::Error(clean(rest))),
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
            "done" if rest.is_empty() => self.end = Some(Said::Done(Vec::new())),
            _ if Log::knows(word) => {
                self.burnin.as_mut().and_then(|log| log.take(word, rest, self.start)).ok_or(())?;
            }
            _ => return Err(()),
        }
        // An hour of frames or of a burn-in's seconds is honest.
        self.lines += usize::from(word != "frame" && !Log::knows(word));
        if self.lines > MOST_LINES { Err(()) } else { Ok(()) }
    }

    /// The copy that slices, values and times are of.
    fn current(&mut self) -> &mut Copy {
        self.threads.last_mut().unwrap_or(&mut self.copy)
    }

    /// What follows is of the next thread.
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

    /// So many single operations took so long.
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
