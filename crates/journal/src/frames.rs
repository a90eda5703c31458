//! The frames of an interactive test: histograms and the worst of them, in place of every frame.
//!
//! A frame is planned for a moment; its thread is woken, runs, and has done its work some time
//! later. [`Recorder`] takes frames in one by one and keeps what [`Frames`] has. Two things are
//! easily missed. A frame that comes late can hide others that should have come meanwhile
//! (coordinated omission, as Tene calls it), so slots without a frame are counted with the wait
//! that they would have had. And the last frame may be followed by slots until the end of the
//! schedule.

use serde::{Deserialize, Serialize};

use stats::Histogram;

/// The latency that a test is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Latency {
    /// From the planned moment, or from when it was sent, to the first instruction.
    #[default]
    Wake,
    /// From the planned moment to done.
    Response,
    /// The overrun: `done` comes later than the work alone would take.
    Overrun,
}

/// The schedule of a program's frames.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schedule {
    /// ns from frame to frame; 0 for events and for frames that follow each other.
    pub period: u64,
    /// ns from the planned moment to the deadline; 0: there is none.
    pub deadline: u64,
    /// ns of work in a frame.
    pub work: u64,
    /// Frames that were planned.
    pub planned: u64,
    /// The latency that the test is about.
    pub latency: Latency,
}

/// One frame, in ns since the trial's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// When it was to begin.
    pub planned: u64,
    /// When its wake-up was sent, by another process; else `planned`.
    pub sent: u64,
    /// When its thread ran.
    pub woke: u64,
    /// When its work was done; `None` where it was too late to begin.
    pub done: Option<u64>,
}

impl Frame {
    /// The latency of the frame in ns; `None` for a frame that was dropped, unless the latency is
    /// that of its wake-up.
    pub fn latency(&self, schedule: &Schedule) -> Option<u64> {
        match schedule.latency {
            Latency::Wake => Some(self.woke.saturating_sub(self.sent)),
            Latency::Response => Some(self.done?.saturating_sub(self.planned)),
            Latency::Overrun => {
                Some(self.done?.saturating_sub(self.planned.saturating_add(schedule.work)))
            }
        }
    }

    /// When the frame was over, in ns since the trial's start.
    pub fn end(&self) -> u64 {
        self.done.unwrap_or(self.woke)
    }
}

/// All frames of a copy. Times are in ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    /// The schedule of the frames.
    pub schedule: Schedule,
    /// Frames that were done.
    pub done: u64,
    /// Frames that were done after their deadline.
    pub late: u64,
    /// The latency that the test is about.
    pub latency: Histogram,
    /// `latency`, and for each slot whose frame was dropped the time until the next frame that came
    /// was over: the wait of whoever asks at every planned moment (Tene's coordinated omission).
    pub corrected: Histogram,
    /// From the planned moment to done.
    pub response: Histogram,
    /// The differences in latency between a frame and the previous one.
    pub jitter: Histogram,
    /// The longest latency in each second of the window.
    pub seconds: Vec<u64>,
    /// The frames with the longest latencies, longest first.
    pub worst: Vec<Frame>,
    /// The last second of frames, if a limit was broken: the program then reports no others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<Frame>,
    /// The delay that broke the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke: Option<u64>,
    /// The causes of the late frames, where the scheduler was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holders: Option<Holders>,
    /// The first frames that were done after their deadline, or given up after it. They are not in
    /// the journal.
    #[serde(skip)]
    pub overdue: Vec<Frame>,
}

/// The causes of a copy's late frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Holders {
    /// The number of late frames, without slots that had no frame.
    pub late: u64,
    /// The number of late frames that the trace explains.
    pub traced: u64,
    /// The causes of the late frames, the most frequent first.
    pub causes: Vec<Cause>,
    /// The causes of each of the worst frames, longest first, with ns; empty where the trace does
    /// not reach back to it.
    pub worst: Vec<Vec<(String, u64)>>,
}

/// A process, an interrupt or another thing that delayed late frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// A process's or an interrupt's name, or words.
    pub name: String,
    /// The number of late frames that it delayed longer than anything else did.
    pub frames: u64,
    /// The time by which it delayed late frames, together.
    pub ns: u64,
}

const MAX_WORST_FRAMES: usize = 32;

/// Enough for a second of frames at the shortest period; also the limit for overdue frames.
const MAX_KEPT_FRAMES: usize = 20_000;

/// The number of slots that may pass during a plausible frame.
const MAX_PASSED_SLOTS: u64 = 10_000_000;

/// The shortest period that [`Recorder::can_take`] reckons with, in ns.
const MIN_SLOT_NS: u64 = 1000;

/// Seconds whose longest latency is kept: twelve days.
const MAX_SECONDS: usize = 1 << 20;

/// Takes in frames one by one.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    frames: Frames,
    /// The frame that was added last.
    previous: Option<Frame>,
    /// The first planned moment.
    first_planned: u64,
}

impl Recorder {
    /// Begins a recording.
    pub fn new(schedule: Schedule) -> Recorder {
        let frames = Frames { schedule, ..Frames::default() };
        Recorder { frames, previous: None, first_planned: u64::MAX }
    }

    /// True if a frame that ended this many ns after its planned moment is plausible: each slot
    /// that passed meanwhile takes time to count.
    pub fn can_take(&self, ns: u64) -> bool {
        ns / self.frames.schedule.period.max(MIN_SLOT_NS) < MAX_PASSED_SLOTS
    }

    /// Takes in the next frame; its planned moment must not lie before the last one's.
    pub fn add(&mut self, frame: Frame) {
        let schedule = self.frames.schedule;
        let ns_until_end = frame.end().saturating_sub(frame.planned);
        let is_overdue = schedule.deadline > 0 && ns_until_end > schedule.deadline;
        if is_overdue && self.frames.overdue.len() < MAX_KEPT_FRAMES {
            self.frames.overdue.push(frame);
        }

        self.record_omitted(frame.planned);
        if frame.done.is_some() {
            self.frames.done += 1;
            self.frames.response.record(ns_until_end);
            self.frames.late += u64::from(is_overdue);
        }
        match frame.latency(&schedule) {
            Some(latency) => self.record_latency(frame, latency),
            // Whoever asked for a dropped frame waited until it was given up.
            None => self.frames.corrected.record(ns_until_end),
        }

        if self.frames.last.len() < MAX_KEPT_FRAMES {
            self.frames.last.push(frame);
        }
        self.first_planned = self.first_planned.min(frame.planned);
        self.previous = Some(frame);
    }

    fn record_latency(&mut self, frame: Frame, latency: u64) {
        let schedule = self.frames.schedule;
        let previous = self.previous.and_then(|previous| previous.latency(&schedule));
        if let Some(previous) = previous {
            self.frames.jitter.record(latency.abs_diff(previous));
        }
        self.frames.latency.record(latency);
        self.frames.corrected.record(latency);
        self.keep_if_longest_of_second(frame.planned, latency);
        self.keep_if_among_worst(frame, latency);
    }

    /// Records the slots between the previous frame and `until` that had no frame: whoever asked
    /// for one waited until the previous frame was over.
    fn record_omitted(&mut self, until: u64) {
        let period = self.frames.schedule.period;
        let Some(previous) = self.previous else { return };

        let mut planned = previous.planned + period;
        while period > 0 && planned < until && planned < previous.end() {
            self.frames.corrected.record(previous.end() - planned);
            planned += period;
        }
    }

    fn keep_if_longest_of_second(&mut self, planned: u64, latency: u64) {
        // A window of a year has fewer seconds than a usize can count.
        let second = (planned / 1_000_000_000) as usize;
        if second >= self.frames.seconds.len() && second < MAX_SECONDS {
            self.frames.seconds.resize(second + 1, 0);
        }
        if let Some(longest) = self.frames.seconds.get_mut(second) {
            *longest = latency.max(*longest);
        }
    }

    fn keep_if_among_worst(&mut self, frame: Frame, latency: u64) {
        let schedule = self.frames.schedule;
        let worst = &mut self.frames.worst;
        let place = worst.partition_point(|other| other.latency(&schedule).unwrap_or(0) >= latency);
        if place < MAX_WORST_FRAMES {
            worst.insert(place, frame);
            worst.truncate(MAX_WORST_FRAMES);
        }
    }

    /// What was recorded; the frames of the last second only if a limit `broke`.
    pub fn finish(mut self, broke: Option<u64>) -> Frames {
        if let Some(last) = self.previous {
            let slots = self.slots_after_last() + 1;
            let period = self.frames.schedule.period;
            self.record_omitted(last.planned.saturating_add(period.saturating_mul(slots)));
        }

        self.frames.broke = broke;
        if broke.is_none() {
            self.frames.last = Vec::new();
        }
        self.frames
    }

    /// The number of slots of the schedule after the last frame.
    fn slots_after_last(&self) -> u64 {
        let schedule = &self.frames.schedule;
        let Some(last) = self.previous.filter(|_| schedule.period > 0) else {
            return 0;
        };

        // The nearest slot.
        let last_slot = (last.planned - self.first_planned + schedule.period / 2) / schedule.period;
        schedule.planned.saturating_sub(last_slot + 1)
    }
}

impl Frames {
    pub(crate) fn histograms(&self) -> [&Histogram; 4] {
        [&self.latency, &self.corrected, &self.response, &self.jitter]
    }

    /// The number of frames that were planned and never done.
    pub fn dropped(&self) -> u64 {
        self.schedule.planned.saturating_sub(self.done)
    }

    /// The number of frames that were done in time.
    pub fn met(&self) -> u64 {
        self.done - self.late.min(self.done)
    }
}
