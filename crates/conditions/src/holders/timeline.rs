//! A trace of the scheduler, read line by line, as one timeline for each measured copy: what kept it from running, and
//! when.

use std::collections::BTreeMap;
use std::ops::Range;

use journal::{Cause, Frame, Frames, Holders, Latency, Recorder, Schedule};

/// Causes that are no process and no interrupt: the numbers of those in `NAMES`.
const LATE: usize = 0;
const IDLE: usize = 1;
const OWN: usize = 2;
const UNKNOWN: usize = 3;
const NAMES: [&str; 4] =
    ["a late wake-up", "an idle processor that had to wake up", "work that took longer", "an unknown process"];

/// Causes of a worst frame that are kept.
const MOST: usize = 4;

/// Kernel threads of which each processor has one or more, `NAME/PROCESSOR…`.
const OF_PROCESSORS: [&str; 8] =
    ["kworker", "ksoftirqd", "migration", "rcuc", "rcuog", "rcuop", "cpuhp", "backlog_napi"];

/// One event of the scheduler or of an interrupt, on a processor.
#[derive(Debug, PartialEq, Eq)]
enum Event<'a> {
    /// A processor goes from one thread to another; the first is left in this state, or has ended.
    Switch {
        from: u32,
        left: Option<State>,
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
struct Line<'a> {
    /// ns of CLOCK_MONOTONIC.
    at: u64,
    cpu: usize,
    /// The thread that the processor runs, and its name.
    thread: u32,
    name: &'a str,
    event: Event<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
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

/// The times in which one copy did not run, and why.
struct Timeline {
    /// Its main thread.
    main: u32,
    /// Its threads, and the processor on which each runs or last ran.
    threads: BTreeMap<u32, (State, usize)>,
    /// When each cause began, and its number; ns of CLOCK_MONOTONIC, in order.
    changes: Vec<(u64, usize)>,
    /// Threads that were woken and have not run since, and when.
    woken: BTreeMap<u32, u64>,
    /// When each thread was woken and when it ran, but for the main thread, which waits for a command; ns of
    /// CLOCK_MONOTONIC.
    wakes: Vec<(u64, u64)>,
}

/// The timelines of all copies.
pub(super) struct Timelines {
    cpus: BTreeMap<usize, Cpu>,
    copies: Vec<Timeline>,
    /// The names of causes.
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// Lines that were understood.
    pub(super) events: u64,
}

impl Timelines {
    /// Begins the timelines of copies with these threads, the main thread first.
    pub(super) fn new<'a>(copies: impl IntoIterator<Item = &'a [u32]>) -> Timelines {
        let names: Vec<String> = NAMES.map(str::to_owned).to_vec();
        let numbers = names.iter().cloned().zip(0..).collect();
        let copies = copies.into_iter().map(Timeline::new).collect();
        Timelines { cpus: BTreeMap::new(), copies, names, numbers, events: 0 }
    }

    /// Takes in the next line of a trace; lines of other events are passed over.
    pub(super) fn read(&mut self, line: &str) {
        let Some(Line { at, cpu, thread, name, event }) = parse(line) else { return };
        self.events += 1;
        // Every line names the running thread; switches say when that changes.
        if !self.cpus.contains_key(&cpu) {
            let cause = self.number(class(name));
            self.cpus.insert(cpu, Cpu { thread, cause, interrupts: Vec::new() });
        }
        self.copies.iter_mut().for_each(|copy| copy.follow(at, cpu, &event));
        match event {
            Event::Switch { to, name, .. } => {
                let cause = self.number(class(name));
                self.cpus.insert(cpu, Cpu { thread: to, cause, interrupts: Vec::new() });
            }
            Event::Begin(name) => {
                let cause = self.number(&name);
                self.cpus.entry(cpu).and_modify(|cpu| cpu.interrupts.push(cause));
            }
            Event::End => drop(self.cpus.get_mut(&cpu).and_then(|cpu| cpu.interrupts.pop())),
            Event::Wake { .. } | Event::Move { .. } | Event::Fork { .. } => {}
        }
        for copy in &mut self.copies {
            let cause = copy.cause(&self.cpus);
            if copy.changes.last().is_none_or(|last| last.1 != cause) {
                copy.changes.push((at, cause));
            }
        }
    }

    fn number(&mut self, cause: &str) -> usize {
        if let Some(number) = self.numbers.get(cause) {
            return *number;
        }
        self.names.push(cause.to_owned());
        self.numbers.insert(cause.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Returns the wake-ups of copy `number` as frames, from `start` on, all within `traced`; ns of CLOCK_MONOTONIC.
    pub(super) fn wakes(&self, number: usize, start: u64, traced: &Range<u64>) -> Frames {
        let all = self.copies[number].wakes.iter().copied();
        let mut wakes: Vec<_> = all.filter(|(woken, _)| *woken >= start && traced.contains(woken)).collect();
        wakes.sort_unstable();
        let schedule = Schedule { planned: wakes.len() as u64, ..Schedule::default() };
        let mut recorder = Recorder::new(schedule);
        for (woken, ran) in wakes {
            let [planned, woke] = [woken, ran].map(|at| at - start);
            recorder.add(Frame { planned, sent: planned, woke, done: Some(woke) });
        }
        recorder.finish(None)
    }

    /// Returns what held up the late frames of copy `number`, and its worst ones; only those that begin within `traced`
    /// are known. `start` is when the frames' times begin. All in ns of CLOCK_MONOTONIC.
    pub(super) fn holders(&self, number: usize, frames: &Frames, start: u64, traced: &Range<u64>) -> Holders {
        let held = |span: Range<u64>, work| {
            let is_known = traced.contains(&(start + span.start));
            let span = start + span.start..start + if is_known { span.end } else { span.start };
            durations(&self.copies[number].changes, span, work)
        };
        let name = |cause: usize| self.names[cause].clone();
        let mut holders = Holders { late: frames.late.max(frames.overdue.len() as u64), ..Holders::default() };
        let mut causes = BTreeMap::<usize, (u64, u64)>::new();
        let late = frames.overdue.iter().map(|frame| held(frame.planned..frame.end(), frames.schedule.work));
        for held in late.filter(|held| !held.is_empty()) {
            holders.traced += 1;
            causes.entry(held[0].0).or_default().0 += 1;
            held.iter().for_each(|(cause, ns)| causes.entry(*cause).or_default().1 += ns);
        }
        holders.causes =
            causes.into_iter().map(|(cause, (frames, ns))| Cause { name: name(cause), frames, ns }).collect();
        holders.causes.sort_by_key(|cause| std::cmp::Reverse((cause.frames, cause.ns)));
        let worst = frames.worst.iter().map(|frame| match frames.schedule.latency {
            Latency::Wake => held(frame.sent..frame.woke, 0),
            Latency::Response | Latency::Overrun => held(frame.planned..frame.end(), frames.schedule.work),
        });
        let named = worst.map(|held| held.into_iter().take(MOST).map(|(cause, ns)| (name(cause), ns)).collect());
        holders.worst = named.collect();
        holders
    }
}

impl Timeline {
    /// Begins the timeline of a copy with these threads.
    fn new(threads: &[u32]) -> Timeline {
        Timeline {
            main: threads.first().copied().unwrap_or(0),
            threads: threads.iter().map(|thread| (*thread, (State::Asleep, 0))).collect(),
            changes: Vec::new(),
            woken: BTreeMap::new(),
            wakes: Vec::new(),
        }
    }

    /// Returns what the copy does now, or what keeps it: a thread of it that waits for a processor goes before one that
    /// runs.
    fn cause(&self, cpus: &BTreeMap<usize, Cpu>) -> usize {
        let in_state = |wanted| self.threads.values().find(|(state, _)| *state == wanted);
        let Some((state, cpu)) = in_state(State::Ready).or(in_state(State::Running)) else { return LATE };
        let Some(cpu) = cpus.get(cpu) else { return UNKNOWN };
        match (cpu.interrupts.last(), state) {
            (Some(interrupt), _) => *interrupt,
            (_, State::Running) => OWN,
            _ if self.threads.contains_key(&cpu.thread) => OWN,
            _ if cpu.thread == 0 => IDLE,
            _ => cpu.cause,
        }
    }

    /// Takes in an event on a processor.
    fn follow(&mut self, at: u64, on: usize, event: &Event<'_>) {
        match event {
            Event::Switch { from, left, to, .. } => {
                match left {
                    Some(state) => self.set(*from, (*state, on)),
                    None => drop(self.threads.remove(from)),
                }
                self.set(*to, (State::Running, on));
                let woken = self.woken.remove(to).filter(|_| *to != self.main);
                self.wakes.extend(woken.map(|woken| (woken, at)));
            }
            Event::Wake { thread, cpu } => match self.threads.get(thread) {
                Some((State::Asleep, _)) => {
                    self.woken.insert(*thread, at);
                    self.set(*thread, (State::Ready, *cpu));
                }
                Some((State::Ready, _)) => self.set(*thread, (State::Ready, *cpu)),
                Some((State::Running, _)) | None => {}
            },
            Event::Move { thread, cpu } => {
                self.threads.entry(*thread).and_modify(|state| state.1 = *cpu);
            }
            Event::Fork { parent, child } if self.threads.contains_key(parent) => {
                self.threads.insert(*child, (State::Asleep, on));
            }
            Event::Fork { .. } | Event::Begin(_) | Event::End => {}
        }
    }

    fn set(&mut self, thread: u32, state: (State, usize)) {
        self.threads.entry(thread).and_modify(|known| *known = state);
    }
}

/// Returns how long each cause lasted within `span`, longest first; of the task's own work what is beyond the `work` of
/// a frame. Nothing where there is none.
fn durations(changes: &[(u64, usize)], span: Range<u64>, work: u64) -> Vec<(usize, u64)> {
    let first = changes.partition_point(|(at, _)| *at <= span.start).saturating_sub(1);
    let mut sums = BTreeMap::<usize, u64>::new();
    for (number, (at, cause)) in changes.iter().enumerate().skip(first).take_while(|(_, (at, _))| *at < span.end) {
        let until = changes.get(number + 1).map_or(span.end, |next| next.0.min(span.end));
        *sums.entry(*cause).or_default() += until.saturating_sub((*at).max(span.start));
    }
    if let Some(sum) = sums.get_mut(&OWN) {
        *sum = sum.saturating_sub(work);
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, ns)| *ns > 0).collect();
    sums.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    sums
}

/// Returns what a line of tracefs's `trace` says: `TASK-PID [CPU] FLAGS SECONDS: EVENT: FIELDS`.
fn parse(line: &str) -> Option<Line<'_>> {
    let line = line.trim_end();
    // A process may be called `tmux: server`.
    let mut parts = line.match_indices(": ").map(|(at, _)| (&line[..at], &line[at + 2..]));
    let (head, kind, fields) = parts.find_map(|(head, rest)| {
        let (kind, fields) = rest.split_once(": ")?;
        KINDS.contains(&kind).then_some((head, kind, fields))
    })?;
    let (head, seconds) = head.rsplit_once(' ')?;
    let (task, cpu) = head.rsplit_once(" [")?;
    let (name, thread) = task.trim().rsplit_once('-')?;
    let (seconds, micros) = seconds.split_once('.')?;
    let at = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)? + micros.parse::<u64>().ok()? * 1000;
    let event = match kind {
        "sched_switch" => switch(fields)?,
        "sched_waking" | "sched_wakeup" | "sched_wakeup_new" => {
            Event::Wake { thread: number(fields, "pid=")?, cpu: cpu_of(fields, "target_cpu=")? }
        }
        "sched_migrate_task" => Event::Move { thread: number(fields, "pid=")?, cpu: cpu_of(fields, "dest_cpu=")? },
        "sched_process_fork" => Event::Fork { parent: number(fields, "pid=")?, child: number(fields, "child_pid=")? },
        "irq_handler_entry" => Event::Begin(format!("interrupt {}", fields.rsplit_once("name=")?.1)),
        "softirq_entry" => Event::Begin(format!("softirq {}", fields.rsplit_once("action=")?.1.trim_end_matches(']'))),
        _ => Event::End,
    };
    Some(Line { at, cpu: cpu.split_once(']')?.0.parse().ok()?, thread: thread.parse().ok()?, name, event })
}

/// The events that are traced.
pub(super) const KINDS: [&str; 10] = [
    "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_migrate_task", "sched_process_fork",
    "irq_handler_entry", "irq_handler_exit", "softirq_entry", "softirq_exit",
];

fn switch(fields: &str) -> Option<Event<'_>> {
    let (from, to) = fields.rsplit_once(" ==> next_comm=")?;
    let (name, _) = to.rsplit_once(" next_pid=")?;
    let left = match from.rsplit_once(" prev_state=")?.1.chars().next()? {
        'R' => Some(State::Ready),
        'X' | 'Z' => None,
        _ => Some(State::Asleep),
    };
    Some(Event::Switch { from: number(from, "prev_pid=")?, left, to: number(to, "next_pid=")?, name })
}

/// Returns the name of a process without the processor and the number of a kernel thread: `kworker` of `kworker/1:2`,
/// and `nvme0q1` of `irq/24-nvme0q1`.
fn class(name: &str) -> &str {
    match name.split_once('/') {
        Some((class, _)) if OF_PROCESSORS.contains(&class) => class,
        Some(("irq", rest)) => rest.split_once('-').map_or(name, |(_, device)| device),
        _ => name,
    }
}

/// Returns the number of a field, the last of this name that stands as a word.
fn number(fields: &str, key: &str) -> Option<u32> {
    let word = fields.rsplit(' ').find_map(|word| word.strip_prefix(key))?;
    word.parse().ok()
}

fn cpu_of(fields: &str, key: &str) -> Option<usize> {
    usize::try_from(number(fields, key)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task of thread 7 that is woken at 10 ms while `hog` runs, waits 3 ms for it, is interrupted for 0.5 ms, and is
    /// preempted for 1 ms.
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
        trace.split_inclusive('\n').for_each(|line| timelines.read(line));
        timelines
    }

    fn frames(overdue: &[Frame]) -> Frames {
        let schedule = Schedule { work: 3_500_000, latency: Latency::Response, ..Schedule::default() };
        Frames { schedule, overdue: overdue.to_vec(), worst: overdue.to_vec(), ..Frames::default() }
    }

    fn frame(planned: u64, done: u64) -> Frame {
        Frame { planned, sent: planned, woke: planned, done: Some(done) }
    }

    fn causes(holders: &Holders) -> Vec<(&str, u64, u64)> {
        holders.causes.iter().map(|cause| (cause.name.as_str(), cause.frames, cause.ns / 1000)).collect()
    }

    #[test]
    fn each_part_of_a_late_frame_has_its_cause() {
        let late = frames(&[frame(10_000_000, 18_000_000)]);
        let holders = timelines(TRACE).holders(0, &late, 0, &(0..u64::MAX));
        let expected = [("my hog", 1, 3000), ("kworker", 0, 1000), ("interrupt virtio0-input.0", 0, 500)];
        assert_eq!(causes(&holders), expected, "its own work is what was planned");
        assert_eq!(holders.worst[0][0], ("my hog".to_owned(), 3_000_000));
    }

    #[test]
    fn a_frame_that_began_before_the_trace_is_not_explained() {
        let late = frames(&[frame(1_000_000, 9_000_000), frame(10_000_000, 18_000_000)]);
        let holders = timelines(TRACE).holders(0, &late, 0, &(5_000_000..u64::MAX));
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
        let holders = timelines(&format!("{before}{woken_late}")).holders(0, &late, 0, &(0..u64::MAX));
        assert_eq!(causes(&holders), [(NAMES[LATE], 1, 3000), (NAMES[IDLE], 0, 1000)]);
    }

    #[test]
    fn threads_that_a_copy_makes_are_its_own() {
        let trace = "\
            task-7       [000] .....     0.001000: sched_process_fork: comm=task pid=7 child_comm=task child_pid=8
            task-7       [000] d..2.     0.002000: sched_waking: comm=task pid=8 prio=120 target_cpu=001
            hog-66       [001] d..2.     0.000500: sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=S ==> next_comm=hog next_pid=66 next_prio=9
            hog-66       [001] d..2.     0.004000: sched_switch: prev_comm=hog prev_pid=66 prev_prio=1 prev_state=S ==> next_comm=task next_pid=8 next_prio=9
";
        let holders = timelines(trace).holders(0, &frames(&[frame(2_000_000, 4_000_000)]), 0, &(0..u64::MAX));
        assert_eq!(causes(&holders), [("hog", 1, 2000)]);
    }

    #[test]
    fn a_command_has_the_wake_ups_of_what_it_starts() {
        let started = read(TRACE, &[1, 7]);
        let frames = started.wakes(0, 2_000_000, &(0..u64::MAX));
        assert_eq!((frames.done, frames.worst[0].planned, frames.worst[0].woke), (1, 8_000_000, 11_000_000));
        assert_eq!(started.wakes(0, 2_000_000, &(11_000_000..u64::MAX)).done, 0, "before the trace");
        assert_eq!(started.wakes(0, 11_000_000, &(0..u64::MAX)).done, 0, "before the window");
        assert_eq!(timelines(TRACE).wakes(0, 0, &(0..u64::MAX)).done, 0, "what executes a command waits for it");
    }

    #[test]
    fn lines_that_are_no_events_are_passed_over() {
        for line in [
            "",
            "# entries-in-buffer/entries-written: 1/1 #P:2",
            "a-1 [x] d 1.2: softirq_exit: vec=1",
            ": sched_switch: ",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
        let line = parse("tmux: server-1 [0] d 1.000002: softirq_exit: vec=1").unwrap();
        let expected = Line { at: 1_000_002_000, cpu: 0, thread: 1, name: "tmux: server", event: Event::End };
        assert_eq!(line, expected);
    }

    #[test]
    fn who_runs_before_the_first_switch_is_known_from_any_line() {
        let trace = "\
            hog-66      [000] d..2.     0.001000: sched_waking: comm=task pid=7 prio=120 target_cpu=000
            hog-66      [000] d..2.     0.004000: sched_switch: prev_comm=hog prev_pid=66 prev_prio=1 prev_state=S ==> next_comm=task next_pid=7 next_prio=9
";
        let holders = timelines(trace).holders(0, &frames(&[frame(1_000_000, 4_000_000)]), 0, &(0..u64::MAX));
        assert_eq!(causes(&holders), [("hog", 1, 3000)]);
    }

    #[test]
    fn a_number_that_is_used_again_is_no_longer_the_copy_s() {
        let trace = TRACE.replace("prev_state=R+", "prev_state=X");
        let holders = timelines(&trace).holders(0, &frames(&[frame(15_000_000, 19_000_000)]), 0, &(0..u64::MAX));
        assert_eq!(causes(&holders), [(NAMES[LATE], 1, 4000)]);
    }

    #[test]
    fn kernel_threads_are_told_by_their_kind_and_interrupts_by_their_device() {
        for (name, class) in
            [("kworker/u8:3-events", "kworker"), ("irq/24-nvme0q1", "nvme0q1"), ("foo/1bar", "foo/1bar")]
        {
            assert_eq!(super::class(name), class);
        }
    }
}
