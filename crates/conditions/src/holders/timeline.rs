//! A trace of the scheduler, read line by line, as one timeline for each measured copy: what kept
//! it from running, and when.
//!
//! Each event changes the state of a processor (which thread it runs, and which interrupts it
//! handles) and the states of the copies' threads (running, ready, asleep). After each event, every
//! copy has one cause: an interrupt on its processor, another thread that runs where it is ready
//! to, its own work, or a wake-up that has not come. A timeline keeps the moments at which that
//! cause changed, so the causes of a late frame are those within its span, each with its duration.

use std::collections::BTreeMap;
use std::ops::Range;

use journal::{Cause, Frame, Frames, Holders, Latency, Recorder, Schedule};

/// Causes that are no process and no interrupt: their places in `FIXED_CAUSE_NAMES`.
const CAUSE_LATE_WAKE_UP: usize = 0;
const CAUSE_IDLE_CPU: usize = 1;
const CAUSE_OWN_WORK: usize = 2;
const CAUSE_UNKNOWN: usize = 3;
const FIXED_CAUSE_NAMES: [&str; 4] = [
    "a late wake-up",
    "an idle processor that had to wake up",
    "work that took longer",
    "an unknown process",
];

/// Causes of a worst frame that are kept.
const MAX_KEPT_CAUSES: usize = 4;

/// Kernel threads that every processor has, named `NAME/PROCESSOR…`.
const KERNEL_THREADS_PER_CPU: [&str; 8] =
    ["kworker", "ksoftirqd", "migration", "rcuc", "rcuog", "rcuop", "cpuhp", "backlog_napi"];

/// One event of the scheduler or of an interrupt, on a processor.
#[derive(Debug, PartialEq, Eq)]
enum Event<'a> {
    /// A processor goes from one thread to another; the first is left in this state, or has ended.
    Switch {
        from: u32,
        left: Option<ThreadState>,
        to: u32,
        name: &'a str,
    },
    /// A thread is woken for a processor, or moved to one.
    Wake {
        thread: u32,
        cpu: usize,
    },
    Move {
        thread: u32,
        cpu: usize,
    },
    /// A thread makes another.
    Fork {
        parent: u32,
        child: u32,
    },
    /// An interrupt or a softirq begins, or the innermost one ends.
    Begin(String),
    End,
}

/// One line of a trace.
#[derive(Debug, PartialEq, Eq)]
struct TraceLine<'a> {
    /// ns of CLOCK_MONOTONIC.
    at: u64,
    cpu: usize,
    /// The thread that the processor runs, and its name.
    thread: u32,
    name: &'a str,
    event: Event<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ThreadState {
    Running,
    Ready,
    Asleep,
}

/// The state of a processor.
struct Cpu {
    thread: u32,
    /// The number of the thread as a cause.
    cause: usize,
    interrupts: Vec<usize>,
}

/// A thread of a copy, with the processor on which it runs or last ran.
struct Thread {
    state: ThreadState,
    cpu: usize,
}

/// A moment at which a copy's cause changed.
struct Change {
    /// ns of CLOCK_MONOTONIC.
    at: u64,
    /// The number of the cause from then on.
    cause: usize,
}

/// A thread's wake-up; ns of CLOCK_MONOTONIC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WakeUp {
    woken: u64,
    ran: u64,
}

/// How long a cause lasted.
struct CauseDuration {
    cause: usize,
    ns: u64,
}

/// One copy's causes over time, and its threads' wake-ups.
struct Timeline {
    main_thread: u32,
    threads: BTreeMap<u32, Thread>,
    /// In the order of time.
    changes: Vec<Change>,
    /// Threads that were woken and have not run since, and when.
    woken: BTreeMap<u32, u64>,
    /// The wake-ups of all threads but the main one, which waits for a command.
    wake_ups: Vec<WakeUp>,
}

/// The timelines of all copies.
pub(super) struct Timelines {
    cpus: BTreeMap<usize, Cpu>,
    copies: Vec<Timeline>,
    /// The names of causes.
    names: Vec<String>,
    /// The numbers of causes: their places in `names`.
    numbers: BTreeMap<String, usize>,
    /// The number of events that were understood.
    pub(super) events: u64,
    /// The number of lines that could not be read.
    pub(super) unread: u64,
    /// The lines so far of an event that has newlines in its names.
    begun: String,
}

impl Timelines {
    /// Begins the timelines of copies with these threads, the main thread first.
    pub(super) fn new<'a>(copies: impl IntoIterator<Item = &'a [u32]>) -> Timelines {
        let names: Vec<String> = FIXED_CAUSE_NAMES.map(str::to_owned).to_vec();
        let numbers = names.iter().cloned().zip(0..).collect();
        Timelines {
            cpus: BTreeMap::new(),
            copies: copies.into_iter().map(Timeline::new).collect(),
            names,
            numbers,
            events: 0,
            unread: 0,
            begun: String::new(),
        }
    }

    /// Takes in the next line of a trace, which may be a part of an event: a process may have
    /// newlines in its name, and an event has up to four names.
    pub(super) fn read_line(&mut self, line: &str) {
        // Names are set to the right of 16 columns, so no event begins like a comment.
        let is_comment = line.starts_with('#') && self.begun.is_empty();
        if is_comment || is_remark(line) {
            return;
        }

        // No name is long enough for the time and the kind of an event, so two of them are of two
        // events, of which the first cannot be read.
        let has_lost_its_end = head_end(line).is_some() && head_end(&self.begun).is_some();
        if has_lost_its_end || self.begun.lines().count() >= MAX_EVENT_LINES {
            self.unread += self.begun.lines().count() as u64;
            self.begun.clear();
        }

        let mut event = std::mem::take(&mut self.begun);
        event += line;
        match parse_event(&event) {
            Some(line) => self.apply(line),
            None => self.begun = event,
        }
    }

    /// Changes the state of the processor and of the copies by an event.
    fn apply(&mut self, TraceLine { at, cpu, thread, name, event }: TraceLine<'_>) {
        self.events += 1;
        // The first line from a processor names the thread that it runs; switches say when that
        // changes.
        if !self.cpus.contains_key(&cpu) {
            let cause = self.cause_number(class_name(name));
            self.cpus.insert(cpu, Cpu { thread, cause, interrupts: Vec::new() });
        }

        for copy in &mut self.copies {
            copy.update_threads(at, cpu, &event);
        }

        match event {
            Event::Switch { to, name, .. } => {
                let cause = self.cause_number(class_name(name));
                self.cpus.insert(cpu, Cpu { thread: to, cause, interrupts: Vec::new() });
            }
            Event::Begin(name) => {
                let cause = self.cause_number(&name);
                self.cpus.entry(cpu).and_modify(|cpu| cpu.interrupts.push(cause));
            }
            Event::End => drop(self.cpus.get_mut(&cpu).and_then(|cpu| cpu.interrupts.pop())),
            Event::Wake { .. } | Event::Move { .. } | Event::Fork { .. } => {}
        }

        for copy in &mut self.copies {
            let cause = copy.current_cause(&self.cpus);
            if copy.changes.last().is_none_or(|last| last.cause != cause) {
                copy.changes.push(Change { at, cause });
            }
        }
    }

    /// The number of a cause, which gets one if it is new.
    fn cause_number(&mut self, cause: &str) -> usize {
        if let Some(number) = self.numbers.get(cause) {
            return *number;
        }

        self.names.push(cause.to_owned());
        self.numbers.insert(cause.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// The wake-ups of copy `number` as frames, from `start` on, all within `traced`; ns of
    /// CLOCK_MONOTONIC.
    pub(super) fn wake_up_frames(&self, number: usize, start: u64, traced: &Range<u64>) -> Frames {
        let mut wake_ups: Vec<WakeUp> = self.copies[number]
            .wake_ups
            .iter()
            .filter(|wake_up| wake_up.woken >= start && traced.contains(&wake_up.woken))
            .copied()
            .collect();
        wake_ups.sort_unstable();

        let schedule = Schedule { planned: wake_ups.len() as u64, ..Schedule::default() };
        let mut recorder = Recorder::new(schedule);
        for WakeUp { woken, ran } in wake_ups {
            let (planned, woke) = (woken - start, ran - start);
            recorder.add(Frame { planned, sent: planned, woke, done: Some(woke) });
        }

        recorder.finish(None)
    }

    /// The causes of the late frames of copy `number`, and of its worst ones; only frames that
    /// begin within `traced` are explained. `start` is when the frames' times begin. All in ns of
    /// CLOCK_MONOTONIC.
    pub(super) fn explain_frames(
        &self,
        number: usize,
        frames: &Frames,
        start: u64,
        traced: &Range<u64>,
    ) -> Holders {
        let copy = &self.copies[number];
        let work = frames.schedule.work;

        // `overdue` has the frames that were never done too, but is limited in length.
        let mut holders =
            Holders { late: frames.late.max(frames.overdue.len() as u64), ..Holders::default() };
        let mut causes = BTreeMap::<usize, Cause>::new();
        for frame in &frames.overdue {
            let span = start + frame.planned..start + frame.end();
            let durations = copy.explain(span, work, traced);
            let Some(longest) = durations.first() else { continue };

            // The frame counts for the cause that lasted longest; each cause gets its own time.
            holders.traced += 1;
            causes.entry(longest.cause).or_default().frames += 1;
            for CauseDuration { cause, ns } in durations {
                causes.entry(cause).or_default().ns += ns;
            }
        }

        for (cause_number, cause) in causes {
            holders.causes.push(Cause { name: self.names[cause_number].clone(), ..cause });
        }
        holders.causes.sort_by_key(|cause| std::cmp::Reverse((cause.frames, cause.ns)));

        for frame in &frames.worst {
            let mut durations = match frames.schedule.latency {
                Latency::Wake => copy.explain(start + frame.sent..start + frame.woke, 0, traced),
                Latency::Response | Latency::Overrun => {
                    copy.explain(start + frame.planned..start + frame.end(), work, traced)
                }
            };
            durations.truncate(MAX_KEPT_CAUSES);
            let named = durations
                .into_iter()
                .map(|duration| (self.names[duration.cause].clone(), duration.ns));
            holders.worst.push(named.collect());
        }

        holders
    }
}

impl Timeline {
    /// Begins the timeline of a copy with these threads.
    fn new(threads: &[u32]) -> Timeline {
        let asleep = |thread: &u32| (*thread, Thread { state: ThreadState::Asleep, cpu: 0 });
        Timeline {
            main_thread: threads.first().copied().unwrap_or(0),
            threads: threads.iter().map(asleep).collect(),
            changes: Vec::new(),
            woken: BTreeMap::new(),
            wake_ups: Vec::new(),
        }
    }

    /// The causes within a span, longest first, as [`cause_durations`] has them; none if the span
    /// does not begin within `traced`.
    fn explain(&self, span: Range<u64>, work: u64, traced: &Range<u64>) -> Vec<CauseDuration> {
        if !traced.contains(&span.start) {
            return Vec::new();
        }

        cause_durations(&self.changes, span, work)
    }

    /// The number of the cause that the copy has now: what it does, or what keeps it. A thread that
    /// waits for a processor goes before one that runs.
    fn current_cause(&self, cpus: &BTreeMap<usize, Cpu>) -> usize {
        let in_state = |state| self.threads.values().find(|thread| thread.state == state);
        let waiting = in_state(ThreadState::Ready);
        let Some(thread) = waiting.or_else(|| in_state(ThreadState::Running)) else {
            return CAUSE_LATE_WAKE_UP;
        };
        let Some(cpu) = cpus.get(&thread.cpu) else {
            return CAUSE_UNKNOWN;
        };

        match (cpu.interrupts.last(), thread.state) {
            (Some(interrupt), _) => *interrupt,
            (_, ThreadState::Running) => CAUSE_OWN_WORK,
            // It waits for another thread of the copy.
            _ if self.threads.contains_key(&cpu.thread) => CAUSE_OWN_WORK,
            _ if cpu.thread == 0 => CAUSE_IDLE_CPU,
            _ => cpu.cause,
        }
    }

    /// Changes the states of the copy's threads by an event on the processor `on`.
    fn update_threads(&mut self, at: u64, on: usize, event: &Event<'_>) {
        match event {
            Event::Switch { from, left, to, .. } => {
                match left {
                    Some(state) => self.set_thread(*from, *state, on),
                    None => drop(self.threads.remove(from)),
                }
                self.set_thread(*to, ThreadState::Running, on);
                let woken = self.woken.remove(to).filter(|_| *to != self.main_thread);
                self.wake_ups.extend(woken.map(|woken| WakeUp { woken, ran: at }));
            }
            Event::Wake { thread, cpu } => {
                match self.threads.get(thread).map(|thread| thread.state) {
                    Some(ThreadState::Asleep) => {
                        self.woken.insert(*thread, at);
                        self.set_thread(*thread, ThreadState::Ready, *cpu);
                    }
                    Some(ThreadState::Ready) => self.set_thread(*thread, ThreadState::Ready, *cpu),
                    Some(ThreadState::Running) | None => {}
                }
            }
            Event::Move { thread, cpu } => {
                self.threads.entry(*thread).and_modify(|thread| thread.cpu = *cpu);
            }
            Event::Fork { parent, child } if self.threads.contains_key(parent) => {
                self.threads.insert(*child, Thread { state: ThreadState::Asleep, cpu: on });
            }
            Event::Fork { .. } | Event::Begin(_) | Event::End => {}
        }
    }

    /// Sets the state of a thread, if it is one of the copy's.
    fn set_thread(&mut self, number: u32, state: ThreadState, cpu: usize) {
        if let Some(thread) = self.threads.get_mut(&number) {
            *thread = Thread { state, cpu };
        }
    }
}

/// The time that each cause lasted within `span`, longest first; the copy's own work counts only as
/// far as it exceeds the `work` of a frame. Causes that did not last are left out. All in ns.
fn cause_durations(changes: &[Change], span: Range<u64>, work: u64) -> Vec<CauseDuration> {
    // The cause that holds when the span begins has begun before it.
    let first = changes.partition_point(|change| change.at <= span.start).saturating_sub(1);
    let mut sums = BTreeMap::<usize, u64>::new();
    for (place, change) in changes.iter().enumerate().skip(first) {
        if change.at >= span.end {
            break;
        }

        let until = changes.get(place + 1).map_or(span.end, |next| next.at.min(span.end));
        let ns = until.saturating_sub(change.at.max(span.start));
        *sums.entry(change.cause).or_default() += ns;
    }

    if let Some(sum) = sums.get_mut(&CAUSE_OWN_WORK) {
        *sum = sum.saturating_sub(work);
    }

    let lasting = sums.into_iter().filter(|(_, ns)| *ns > 0);
    let mut durations: Vec<CauseDuration> =
        lasting.map(|(cause, ns)| CauseDuration { cause, ns }).collect();
    durations.sort_by_key(|duration| std::cmp::Reverse(duration.ns));
    durations
}

/// Names of 15 bytes that are nothing but newlines, and the event's own end.
const MAX_EVENT_LINES: usize = 4 * 15 + 1;

/// True if a line is a remark of the kernel on its buffers, which is longer than a part of a name.
fn is_remark(line: &str) -> bool {
    let line = line.trim_end();
    let is_lost = line.starts_with("CPU:") && line.ends_with(" EVENTS]");
    let is_buffer = line.starts_with("##### CPU ") && line.ends_with(" ####");
    is_lost || is_buffer
}

/// The place in a line where the head of an event ends: before `: EVENT: `.
fn head_end(line: &str) -> Option<usize> {
    // A process may be called `tmux: server`.
    line.match_indices(": ").map(|(at, _)| at).find(|at| {
        let kind = line[at + 2..].split_once(": ").map(|(kind, _)| kind);
        kind.is_some_and(|kind| TRACED_EVENTS.contains(&kind))
    })
}

/// Reads an event of tracefs's `trace`: `TASK-PID [CPU] FLAGS SECONDS: EVENT: FIELDS`.
fn parse_event(line: &str) -> Option<TraceLine<'_>> {
    let line = line.trim_end();
    let end = head_end(line)?;
    let (head, time) = line[..end].rsplit_once(' ')?;
    let (kind, fields) = line[end + 2..].split_once(": ")?;

    let (task, cpu) = head.rsplit_once(" [")?;
    let (name, thread) = task.trim().rsplit_once('-')?;
    // The kernel prints six digits after the point.
    let (seconds, micros) = time.split_once('.')?;
    let at = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?
        + micros.parse::<u64>().ok()? * 1000;

    let event = match kind {
        "sched_switch" => parse_switch(fields)?,
        "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => Event::Wake {
            thread: parse_number(fields, "pid=")?,
            cpu: parse_cpu(fields, "target_cpu=")?,
        },
        "sched_migrate_task" => Event::Move {
            thread: parse_number(fields, "pid=")?,
            cpu: parse_cpu(fields, "dest_cpu=")?,
        },
        "sched_process_fork" => parse_fork(fields)?,
        "irq_handler_entry" => {
            Event::Begin(format!("interrupt {}", fields.rsplit_once("name=")?.1))
        }
        "softirq_entry" => Event::Begin(format!(
            "softirq {}",
            fields.rsplit_once("action=")?.1.trim_end_matches(']')
        )),
        // `irq_handler_exit` or `softirq_exit`.
        _ => Event::End,
    };
    Some(TraceLine {
        at,
        cpu: cpu.split_once(']')?.0.parse().ok()?,
        thread: thread.parse().ok()?,
        name,
        event,
    })
}

/// The events that are traced.
pub(super) const TRACED_EVENTS: [&str; 10] = [
    "sched_switch",
    "sched_waking",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
    "sched_process_fork",
    "irq_handler_entry",
    "irq_handler_exit",
    "softirq_entry",
    "softirq_exit",
];

fn parse_switch(fields: &str) -> Option<Event<'_>> {
    let (from, to) = fields.rsplit_once(" ==> next_comm=")?;
    let (name, _) = to.rsplit_once(" next_pid=")?;
    let left = match from.rsplit_once(" prev_state=")?.1.chars().next()? {
        'R' => Some(ThreadState::Ready),
        'X' | 'Z' => None,
        _ => Some(ThreadState::Asleep),
    };
    Some(Event::Switch {
        from: parse_number(from, "prev_pid=")?,
        left,
        to: parse_number(to, "next_pid=")?,
        name,
    })
}

/// Reads `comm=NAME pid=N child_comm=NAME child_pid=N`. A child has its parent's name at first, so
/// a name that looks like a field is not taken for one.
fn parse_fork(fields: &str) -> Option<Event<'_>> {
    let (names, child) = fields.rsplit_once(" child_pid=")?;
    let names = names.strip_prefix("comm=")?;
    let parent = names.match_indices(" pid=").find_map(|(at, key)| {
        let (pid, child_name) = names[at + key.len()..].split_once(" child_comm=")?;
        let has_parent_name = child_name == &names[..at];
        has_parent_name.then(|| pid.parse().ok())?
    })?;
    Some(Event::Fork { parent, child: child.parse().ok()? })
}

/// The name of a process without the processor and the number of a kernel thread: `kworker`
/// of `kworker/1:2`, and `nvme0q1` of `irq/24-nvme0q1`.
fn class_name(name: &str) -> &str {
    match name.split_once('/') {
        Some((class, _)) if KERNEL_THREADS_PER_CPU.contains(&class) => class,
        Some(("irq", rest)) => rest.split_once('-').map_or(name, |(_, device)| device),
        _ => name,
    }
}

/// The number of a field, the last of this name that stands as a word.
fn parse_number(fields: &str, key: &str) -> Option<u32> {
    let word = fields.rsplit(' ').find_map(|word| word.strip_prefix(key))?;
    word.parse().ok()
}

fn parse_cpu(fields: &str, key: &str) -> Option<usize> {
    usize::try_from(parse_number(fields, key)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task of thread 7 that is woken at 10 ms while `hog` runs, waits 3 ms for it, is
    /// interrupted for 0.5 ms, and is preempted for 1 ms.
    const TRACE: &str = "\
# tracer: nop
          <idle>-0       [001] d..2.     0.001000: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=my hog next_pid=66 next_prio=9
          my hog-66      [001] dNh2.     0.010000: sched_waking: comm=task pid=7 prio=120 target_cpu=001
          my hog-66      [001] d..2.     0.013000: sched_switch: prev_comm=my hog prev_pid=66 prev_prio=9 prev_state=S ==> next_comm=task next_pid=7 next_prio=120
            task-7       [001] d.h1.     0.014000: irq_handler_entry: irq=24 name=virtio0-input.0
            task-7       [001] d.h1.     0.014500: irq_handler_exit: irq=24 ret=handled
            task-7       [001] d..2.     0.015000: sched_switch: prev_comm=task prev_pid=7 prev_prio=120 prev_state=R+ ==> next_comm=kworker/1:2 next_pid=40 next_prio=120
     kworker/1:2-40      [001] d..2.     0.016000: sched_switch: prev_comm=kworker/1:2 prev_pid=40 prev_prio=120 prev_state=I ==> next_comm=task next_pid=7 next_prio=120
            task-7       [001] d..2.     0.018000: sched_switch: prev_comm=task prev_pid=7 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
";

    fn timelines(trace: &str) -> Timelines {
        read(trace, &[7])
    }

    fn read(trace: &str, threads: &[u32]) -> Timelines {
        let mut timelines = Timelines::new([threads]);
        trace.split_inclusive('\n').for_each(|line| timelines.read_line(line));
        timelines
    }

    fn frames(overdue: &[Frame]) -> Frames {
        let schedule =
            Schedule { work: 3_500_000, latency: Latency::Response, ..Schedule::default() };
        Frames { schedule, overdue: overdue.to_vec(), worst: overdue.to_vec(), ..Frames::default() }
    }

    fn frame(planned: u64, done: u64) -> Frame {
        Frame { planned, sent: planned, woke: planned, done: Some(done) }
    }

    fn causes(holders: &Holders) -> Vec<(&str, u64, u64)> {
        holders
            .causes
            .iter()
            .map(|cause| (cause.name.as_str(), cause.frames, cause.ns / 1000))
            .collect()
    }

    #[test]
    fn each_part_of_a_late_frame_has_its_cause() {
        let late = frames(&[frame(10_000_000, 18_000_000)]);
        let holders = timelines(TRACE).explain_frames(0, &late, 0, &(0..u64::MAX));
        let expected =
            [("my hog", 1, 3000), ("kworker", 0, 1000), ("interrupt virtio0-input.0", 0, 500)];
        assert_eq!(causes(&holders), expected, "its own work is what was planned");
        assert_eq!(holders.worst[0][0], ("my hog".to_owned(), 3_000_000));
    }

    #[test]
    fn a_frame_that_began_before_the_trace_is_not_explained() {
        let late = frames(&[frame(1_000_000, 9_000_000), frame(10_000_000, 18_000_000)]);
        let holders = timelines(TRACE).explain_frames(0, &late, 0, &(5_000_000..u64::MAX));
        assert_eq!((holders.traced, holders.worst[0].len()), (1, 0));
    }

    #[test]
    fn a_thread_that_slept_and_a_processor_that_was_idle_are_told_apart() {
        let woken_late = "\
          <idle>-0       [000] d..2.     0.005000: sched_waking: comm=task pid=7 prio=120 target_cpu=000
          <idle>-0       [000] d..2.     0.006000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=task next_pid=7 next_prio=120
";
        let before = "          <idle>-0       [000] d..2.     0.001000: softirq_exit: vec=7 [action=SCHED]\n";
        let late = frames(&[frame(2_000_000, 7_000_000)]);
        let holders =
            timelines(&format!("{before}{woken_late}")).explain_frames(0, &late, 0, &(0..u64::MAX));
        assert_eq!(
            causes(&holders),
            [
                (FIXED_CAUSE_NAMES[CAUSE_LATE_WAKE_UP], 1, 3000),
                (FIXED_CAUSE_NAMES[CAUSE_IDLE_CPU], 0, 1000)
            ]
        );
    }

    #[test]
    fn threads_that_a_copy_makes_are_its_own() {
        let trace = "\
            task-7       [000] .....     0.001000: sched_process_fork: comm=task pid=7 child_comm=task child_pid=8
            task-7       [000] d..2.     0.002000: sched_waking: comm=task pid=8 prio=120 target_cpu=001
            hog-66       [001] d..2.     0.000500: sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> next_comm=hog next_pid=66 next_prio=9
            hog-66       [001] d..2.     0.004000: sched_switch: prev_comm=hog prev_pid=66 prev_prio=1 prev_state=S ==> next_comm=task next_pid=8 next_prio=9
";
        let holders = timelines(trace).explain_frames(
            0,
            &frames(&[frame(2_000_000, 4_000_000)]),
            0,
            &(0..u64::MAX),
        );
        assert_eq!(causes(&holders), [("hog", 1, 2000)]);
    }

    #[test]
    fn a_command_has_the_wake_ups_of_what_it_starts() {
        let started = read(TRACE, &[1, 7]);
        let frames = started.wake_up_frames(0, 2_000_000, &(0..u64::MAX));
        assert_eq!(
            (frames.done, frames.worst[0].planned, frames.worst[0].woke),
            (1, 8_000_000, 11_000_000)
        );
        assert_eq!(
            started.wake_up_frames(0, 2_000_000, &(11_000_000..u64::MAX)).done,
            0,
            "before the trace"
        );
        assert_eq!(
            started.wake_up_frames(0, 11_000_000, &(0..u64::MAX)).done,
            0,
            "before the window"
        );
        assert_eq!(
            timelines(TRACE).wake_up_frames(0, 0, &(0..u64::MAX)).done,
            0,
            "what executes a command waits for it"
        );
    }

    #[test]
    fn lines_that_are_no_events_are_passed_over() {
        for line in [
            "",
            "# entries-in-buffer/entries-written: 1/1 #P:2",
            "a-1 [x] d 1.2: softirq_exit: vec=1",
            ": sched_switch: ",
        ] {
            assert_eq!(parse_event(line), None, "{line}");
        }
        let line = parse_event("tmux: server-1 [0] d 1.000002: softirq_exit: vec=1").unwrap();
        let expected = TraceLine {
            at: 1_000_002_000,
            cpu: 0,
            thread: 1,
            name: "tmux: server",
            event: Event::End,
        };
        assert_eq!(line, expected);
    }

    /// A name of blanks, newlines and what looks like a field, wherever an event has a name.
    #[test]
    fn a_process_is_blamed_whatever_it_is_called() {
        for name in [
            "\n",
            "a\nb",
            "\nlooks pid=7 ",
            "x\n# y",
            " pid=9 prio=1\n",
            "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        ] {
            let timelines = timelines(&TRACE.replace("my hog", name));

            let late = frames(&[frame(10_000_000, 18_000_000)]);
            let holders = timelines.explain_frames(0, &late, 0, &(0..u64::MAX));
            let expected =
                [(name, 1, 3000), ("kworker", 0, 1000), ("interrupt virtio0-input.0", 0, 500)];
            assert_eq!(causes(&holders), expected, "{name:?}");
            assert_eq!((timelines.events, timelines.unread), (8, 0), "{name:?}");
        }
    }

    #[test]
    fn a_child_is_its_parent_s_whatever_that_is_called() {
        for name in ["task", "x pid=9", "\n pid=9", "a child_comm=b", " child_pid=1"] {
            let fields = format!("comm={name} pid=7 child_comm={name} child_pid=8");
            assert_eq!(parse_fork(&fields), Some(Event::Fork { parent: 7, child: 8 }), "{name:?}");
        }
    }

    #[test]
    fn an_event_that_was_cut_spoils_no_other_and_is_counted() {
        let cut =
            "            task-7       [001] d..2.     0.012000: sched_waking: comm=task pid\n";
        let (before, after) = TRACE.split_at(TRACE.find("            task-7 ").unwrap());
        let lost = "CPU:1 [LOST 12 EVENTS]\n##### CPU 1 buffer started ####\n";

        let timelines = timelines(&[before, cut, lost, after].concat());

        assert_eq!((timelines.events, timelines.unread), (8, 1));
    }

    #[test]
    fn who_runs_before_the_first_switch_is_known_from_any_line() {
        let trace = "\
            hog-66      [000] d..2.     0.001000: sched_waking: comm=task pid=7 prio=120 target_cpu=000
            hog-66      [000] d..2.     0.004000: sched_switch: prev_comm=hog prev_pid=66 prev_prio=1 prev_state=S ==> next_comm=task next_pid=7 next_prio=9
";
        let holders = timelines(trace).explain_frames(
            0,
            &frames(&[frame(1_000_000, 4_000_000)]),
            0,
            &(0..u64::MAX),
        );
        assert_eq!(causes(&holders), [("hog", 1, 3000)]);
    }

    #[test]
    fn a_number_that_is_used_again_is_no_longer_the_copy_s() {
        let trace = TRACE.replace("prev_state=R+", "prev_state=X");
        let holders = timelines(&trace).explain_frames(
            0,
            &frames(&[frame(15_000_000, 19_000_000)]),
            0,
            &(0..u64::MAX),
        );
        assert_eq!(causes(&holders), [(FIXED_CAUSE_NAMES[CAUSE_LATE_WAKE_UP], 1, 4000)]);
    }

    #[test]
    fn kernel_threads_are_told_by_their_kind_and_interrupts_by_their_device() {
        for (name, class) in [
            ("kworker/u8:3-events", "kworker"),
            ("irq/24-nvme0q1", "nvme0q1"),
            ("foo/1bar", "foo/1bar"),
        ] {
            assert_eq!(super::class_name(name), class);
        }
    }
}
