//! The frames of an interactive test: histograms and the worst of them, in place of every frame.

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
    /// Returns the latency of the frame in ns; nothing where it has none.
    pub fn latency(&self, schedule: &Schedule) -> Option<u64> {
        match schedule.latency {
            Latency::Wake => Some(self.woke.saturating_sub(self.sent)),
            Latency::Response => Some(self.done?.saturating_sub(self.planned)),
            Latency::Overrun => Some(self.done?.saturating_sub(self.planned.saturating_add(schedule.work))),
        }
    }

    /// Returns when it was over, in ns since the trial's start.
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
    /// The same with every frame that was dropped meanwhile: what the first that came would have waited, had it been
    /// asked for at each planned moment (Tene's coordinated omission).
    pub corrected: Histogram,
    /// From the planned moment to done.
    pub response: Histogram,
    /// By how much the latency differs from that of the frame before.
    pub jitter: Histogram,
    /// The longest latency in each second of the window.
    pub seconds: Vec<u64>,
    /// The frames with the longest latencies, longest first.
    pub worst: Vec<Frame>,
    /// The last second of frames, where a limit was broken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<Frame>,
    /// The delay that broke the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broke: Option<u64>,
    /// The causes of the late frames, where the scheduler was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holders: Option<Holders>,
    /// The frames that were done after their deadline, or never, while they are at hand.
    #[serde(skip)]
    pub overdue: Vec<Frame>,
}

/// The causes of a copy's late frames.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Holders {
    /// Late frames; slots without a frame are not among them.
    pub late: u64,
    /// Those of them that the trace explains.
    pub traced: u64,
    /// Their causes, the most frequent first.
    pub causes: Vec<Cause>,
    /// The causes of each of the worst frames, longest first, with ns; empty where the trace does not reach back to it.
    pub worst: Vec<Vec<(String, u64)>>,
}

/// A process, an interrupt or another thing that held late frames up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Its name.
    pub name: String,
    /// Frames that it held up longer than anything else did.
    pub frames: u64,
    /// ns that it held all of them up.
    pub ns: u64,
}

/// The number of worst frames that are kept.
const WORST: usize = 32;

/// Most frames of the last second that are kept, more than the shortest period has; and most late ones.
const LAST: usize = 20_000;

/// Takes in frames one by one.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    frames: Frames,
    before: Option<Frame>,
    /// The first planned moment.
    first: u64,
}

impl Recorder {
    /// Begins a recording.
    pub fn new(schedule: Schedule) -> Recorder {
        Recorder { frames: Frames { schedule, ..Frames::default() }, before: None, first: u64::MAX }
    }

    /// Returns true if a frame that ended this many ns after its planned moment is plausible: at most ten million slots
    /// may have passed meanwhile.
    pub fn can_take(&self, ns: u64) -> bool {
        ns / self.frames.schedule.period.max(1000) < 10_000_000
    }

    /// Takes in the next frame; its planned moment must not lie before the last one's.
    pub fn add(&mut self, frame: Frame) {
        let schedule = self.frames.schedule;
        let is_late = schedule.deadline > 0 && frame.end().saturating_sub(frame.planned) > schedule.deadline;
        if is_late && self.frames.overdue.len() < LAST {
            self.frames.overdue.push(frame);
        }
        self.omitted_before(frame.planned);
        if let Some(done) = frame.done {
            self.frames.done += 1;
            let response = done.saturating_sub(frame.planned);
            self.frames.response.record(response);
            self.frames.late += u64::from(schedule.deadline > 0 && response > schedule.deadline);
        }
        if let Some(latency) = frame.latency(&schedule) {
            if let Some(before) = self.before.and_then(|before| before.latency(&schedule)) {
                self.frames.jitter.record(latency.abs_diff(before));
            }
            self.frames.latency.record(latency);
            self.frames.corrected.record(latency);
            self.second(frame.planned, latency);
            self.rank(frame, latency);
        } else {
            // It was dropped itself, after so long.
            self.frames.corrected.record(frame.end().saturating_sub(frame.planned));
        }
        if self.frames.last.len() < LAST {
            self.frames.last.push(frame);
        }
        self.first = self.first.min(frame.planned);
        self.before = Some(frame);
    }

    /// Counts the slots between the frame before and `until` that were passed over: each would have
    /// waited until that frame was over.
    fn omitted_before(&mut self, until: u64) {
        let (Some(before), period) = (self.before, self.frames.schedule.period) else { return };
        let mut planned = before.planned + period;
        while period > 0 && planned < until && planned < before.end() {
            self.frames.corrected.record(before.end() - planned);
            planned += period;
        }
    }

    fn second(&mut self, planned: u64, latency: u64) {
        // A window of a year has fewer seconds than a usize can count.
        let second = (planned / 1_000_000_000) as usize;
        if second >= self.frames.seconds.len() && second < 1 << 20 {
            self.frames.seconds.resize(second + 1, 0);
        }
        if let Some(longest) = self.frames.seconds.get_mut(second) {
            *longest = latency.max(*longest);
        }
    }

    fn rank(&mut self, frame: Frame, latency: u64) {
        let schedule = self.frames.schedule;
        let worst = &mut self.frames.worst;
        let place = worst.partition_point(|known| known.latency(&schedule).unwrap_or(0) >= latency);
        if place < WORST {
            worst.insert(place, frame);
            worst.truncate(WORST);
        }
    }

    /// Returns what was recorded; the frames themselves only where a limit was `broke`n.
    pub fn finish(mut self, broke: Option<u64>) -> Frames {
        if let Some(before) = self.before {
            let end = before.planned.saturating_add(self.frames.schedule.period.saturating_mul(self.left() + 1));
            self.omitted_before(end);
        }
        self.frames.broke = broke;
        if broke.is_none() {
            self.frames.last = Vec::new();
        }
        self.frames
    }

    /// Slots of the schedule after the last frame.
    fn left(&self) -> u64 {
        let schedule = &self.frames.schedule;
        let Some(before) = self.before.filter(|_| schedule.period > 0) else { return 0 };
        let seen = (before.planned - self.first + schedule.period / 2) / schedule.period + 1;
        schedule.planned.saturating_sub(seen)
    }
}

impl Frames {
    /// Returns all its histograms.
    pub(crate) fn histograms(&self) -> [&Histogram; 4] {
        [&self.latency, &self.corrected, &self.response, &self.jitter]
    }

    /// Frames that were planned and never done.
    pub fn dropped(&self) -> u64 {
        self.schedule.planned.saturating_sub(self.done)
    }

    /// Frames that were done in time.
    pub fn met(&self) -> u64 {
        self.done - self.late.min(self.done)
    }
}
