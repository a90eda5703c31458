//! A trace of the scheduler, read line by line, as one timeline for each measured copy: what kept it from running, and when.

use std::collections::BTreeMap;
use std::ops::Range;

use journal::{Cause, Frame, Frames, Holders, Latency, Recorder, Schedule};

/// What a copy's own instructions are called.
const OWN: &str = "the task's own work";

/// What keeps a copy that nothing has woken yet.
const ASLEEP: &str = "nothing woke it";

/// What keeps a copy that was woken for a processor that does nothing else.
const WAKING: &str = "waking an idle processor";

/// Causes of a worst frame that are kept.
const MOST: usize = 4;

/// One event of the scheduler or of an interrupt, on a processor.
#[derive(Debug, PartialEq, Eq)]
enum Event<'a> {
    /// A processor goes from one thread to another; the first is `ready` if it would run on.
    Switch {
        from: u32,
        ready: bool,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Ready,
    Asleep,
}

/// What a processor does.
#[derive(Default)]
struct Cpu {
    thread: u32,
    name: String,
    interrupts: Vec<String>,
}

/// What kept one copy from running.
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
    cpus: Vec<Cpu>,
    copies: Vec<Timeline>,
    /// The names of causes.
    names: Vec<String>,
    numbers: BTreeMap<String, usize>,
}

impl Timelines {
    /// Begins the timelines of copies with these threads, the main thread first.
    pub(super) fn new(copies: &[Vec<u32>]) -> Timelines {
        let timeline = |threads: &Vec<u32>| Timeline {
            main: threads.first().copied().unwrap_or(0),
            threads: threads.iter().map(|thread| (*thread, (State::Asleep, 0))).collect(),
            changes: Vec::new(),
            woken: BTreeMap::new(),
            wakes: Vec::new(),
        };
        let copies = copies.iter().map(timeline).collect();
        Timelines { cpus: Vec::new(), copies, names: Vec::new(), numbers: BTreeMap::new() }
    }

    /// Takes in the next line of a trace; lines of other events are passed over.
    pub(super) fn read(&mut self, line: &str) {
        let Some((at, cpu, event)) = parse(line) else { return };
        if cpu >= self.cpus.len() {
            self.cpus.resize_with(cpu + 1, Cpu::default);
        }
        for copy in &mut self.copies {
            copy.follow(at, cpu, &event);
        }
        let own = &mut self.cpus[cpu];
        match event {
            Event::Switch { to, name, .. } => {
                own.thread = to;
                name.clone_into(&mut own.name);
                own.interrupts.clear();
            }
            Event::Begin(name) => own.interrupts.push(name),
            Event::End => drop(own.interrupts.pop()),
            Event::Wake { .. } | Event::Move { .. } | Event::Fork { .. } => {}
        }
        for number in 0..self.copies.len() {
            let cause = self.cause(&self.copies[number]);
            let cause = self.number(cause);
            let changes = &mut self.copies[number].changes;
            if changes.last().is_none_or(|last| last.1 != cause) {
                changes.push((at, cause));
            }
        }
    }

    /// Returns what a copy does now, or what keeps it: a thread of it that waits for a processor goes before one that runs.
    fn cause(&self, copy: &Timeline) -> String {
        let of_state = |wanted| copy.threads.values().find(|(state, _)| *state == wanted);
        let Some((state, cpu)) = of_state(State::Ready).or(of_state(State::Running)) else { return ASLEEP.to_owned() };
        let Some(cpu) = self.cpus.get(*cpu) else { return WAKING.to_owned() };
        match (cpu.interrupts.last(), state) {
            (Some(interrupt), _) => interrupt.clone(),
            (_, State::Running) => OWN.to_owned(),
            _ if copy.threads.contains_key(&cpu.thread) => OWN.to_owned(),
            _ if cpu.thread == 0 => WAKING.to_owned(),
            _ => cpu.name.clone(),
        }
    }

    fn number(&mut self, cause: String) -> usize {
        if let Some(number) = self.numbers.get(&cause) {
            return *number;
        }
        self.names.push(cause.clone());
        self.numbers.insert(cause, self.names.len() - 1);
        self.names.len() - 1
    }

    /// Returns the wake-ups of copy `number` as frames, from `start` on, all within `traced`; ns of CLOCK_MONOTONIC.
    pub(super) fn wakes(&self, number: usize, start: u64, traced: &Range<u64>) -> Frames {
        let mut wakes = self.copies[number].wakes.clone();
        wakes.retain(|(woken, _)| *woken >= start && traced.contains(woken));
        wakes.sort_unstable();
        let schedule = Schedule { planned: wakes.len() as u64, ..Schedule::default() };
        let mut recorder = Recorder::new(schedule);
        for (woken, ran) in wakes {
            let [planned, woke] = [woken, ran].map(|at| at - start);
            recorder.add(Frame { planned, sent: planned, woke, done: Some(woke) });
        }
        recorder.finish(None)
    }

    /// Returns what held up the late frames of copy `number`, and its worst ones; only those that begin within `traced` are
    /// known. `start` is when the frames' times begin. All in ns of CLOCK_MONOTONIC.
    pub(super) fn holders(&self, number: usize, frames: &Frames, start: u64, traced: &Range<u64>) -> Holders {
        let held = |span: Range<u64>, work| {
            let is_known = traced.contains(&(start + span.start));
            let span = start + span.start..start + if is_known { span.end } else { span.start };
            durations(&self.copies[number].changes, span, self.numbers.get(OWN), work)
        };
        let mut holders = Holders { late: frames.overdue.len() as u64, ..Holders::default() };
        let mut causes = BTreeMap::<usize, (u64, u64)>::new();
        let late = frames.overdue.iter().map(|frame| held(frame.planned..frame.end(), frames.schedule.work));
        for held in late.filter(|held| !held.is_empty()) {
            holders.traced += 1;
            causes.entry(held[0].0).or_default().0 += 1;
            held.iter().for_each(|(cause, ns)| causes.entry(*cause).or_default().1 += ns);
        }
        let name = |cause: usize| self.names[cause].clone();
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
    /// Takes in an event on a processor.
    fn follow(&mut self, at: u64, on: usize, event: &Event<'_>) {
        match event {
            Event::Wake { thread, .. } if self.threads.get(thread).is_some_and(|state| state.0 == State::Asleep) => {
                self.woken.insert(*thread, at);
            }
            Event::Switch { to, .. } => {
                let woken = self.woken.remove(to).filter(|_| *to != self.main);
                self.wakes.extend(woken.map(|woken| (woken, at)));
            }
            _ => {}
        }
        match event {
            Event::Switch { from, ready, to, .. } => {
                let left = if *ready { State::Ready } else { State::Asleep };
                self.set(*from, |_| (left, on));
                self.set(*to, |_| (State::Running, on));
            }
            Event::Wake { thread, cpu } => self.set(*thread, |(state, old)| match state {
                State::Running => (state, old),
                _ => (State::Ready, *cpu),
            }),
            Event::Move { thread, cpu } => self.set(*thread, |(state, _)| (state, *cpu)),
            Event::Fork { parent, child } if self.threads.contains_key(parent) => {
                self.threads.insert(*child, (State::Asleep, on));
            }
            Event::Fork { .. } | Event::Begin(_) | Event::End => {}
        }
    }

    fn set(&mut self, thread: u32, change: impl Fn((State, usize)) -> (State, usize)) {
        if let Some(state) = self.threads.get_mut(&thread) {
            *state = change(*state);
        }
    }
}

/// Returns how long each cause lasted within `span`, longest first; of the task's `own` work what is beyond the `work` of a
/// frame. Nothing where there is none.
fn durations(changes: &[(u64, usize)], span: Range<u64>, own: Option<&usize>, work: u64) -> Vec<(usize, u64)> {
    let first = changes.partition_point(|(at, _)| *at <= span.start).saturating_sub(1);
    let mut sums = BTreeMap::<usize, u64>::new();
    for (number, (at, cause)) in changes.iter().enumerate().skip(first).take_while(|(_, (at, _))| *at < span.end) {
        let until = changes.get(number + 1).map_or(span.end, |next| next.0.min(span.end));
        *sums.entry(*cause).or_default() += until.saturating_sub((*at).max(span.start));
    }
    if let Some(sum) = own.and_then(|own| sums.get_mut(own)) {
        *sum = sum.saturating_sub(work);
    }
    let mut sums: Vec<_> = sums.into_iter().filter(|(_, ns)| *ns > 0).collect();
    sums.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    sums
}

/// Returns the moment (ns), processor and event of a line of tracefs's `trace`: `TASK-PID [CPU] FLAGS SECONDS: EVENT: FIELDS`.
fn parse(line: &str) -> Option<(u64, usize, Event<'_>)> {
    let (kind, at) = KINDS.iter().find_map(|kind| Some((*kind, line.find(&format!(": {kind}: "))?)))?;
    let fields = line[at + kind.len() + 4..].trim_end();
    let mut head = line[..at].rsplit(' ').filter(|word| !word.is_empty());
    let (seconds, micros) = head.next()?.split_once('.')?;
    let cpu = head.nth(1)?.trim_matches(['[', ']']).parse().ok()?;
    let at = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)? + micros.parse::<u64>().ok()? * 1000;
    let event = match kind {
        "sched_switch" => switch(fields)?,
        "sched_waking" | "sched_wakeup" => {
            Event::Wake { thread: number(fields, "pid=")?, cpu: cpu_of(fields, "target_cpu=")? }
        }
        "sched_migrate_task" => Event::Move { thread: number(fields, "pid=")?, cpu: cpu_of(fields, "dest_cpu=")? },
        "sched_process_fork" => Event::Fork { parent: number(fields, "pid=")?, child: number(fields, "child_pid=")? },
        "irq_handler_entry" => Event::Begin(format!("interrupt {}", fields.rsplit_once("name=")?.1.trim())),
        "softirq_entry" => {
            Event::Begin(format!("softirq {}", fields.rsplit_once("action=")?.1.trim().trim_end_matches(']')))
        }
        _ => Event::End,
    };
    Some((at, cpu, event))
}

/// The events that are traced.
pub(super) const KINDS: [&str; 9] = [
    "sched_switch", "sched_waking", "sched_wakeup", "sched_migrate_task", "sched_process_fork", "irq_handler_entry",
    "irq_handler_exit", "softirq_entry", "softirq_exit",
];

fn switch(fields: &str) -> Option<Event<'_>> {
    let (from, to) = fields.rsplit_once(" ==> next_comm=")?;
    let (name, _) = to.rsplit_once(" next_pid=")?;
    let (_, state) = from.rsplit_once(" prev_state=")?;
    let ready = state.starts_with('R');
    Some(Event::Switch { from: number(from, "prev_pid=")?, ready, to: number(to, "next_pid=")?, name: class(name) })
}

/// Returns the name of a process without the processor and the number of a kernel's thread: `kworker` of `kworker/1:2`.
fn class(name: &str) -> &str {
    match name.split_once('/') {
        Some((class, rest)) if rest.trim_start_matches('u').starts_with(|first: char| first.is_ascii_digit()) => class,
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

    /// A task of thread 7 that is woken at 10 ms while `hog` runs, waits 3 ms for it, is interrupted for 0.5 ms, and is preempted
    /// for 1 ms.
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
        let mut timelines = Timelines::new(&[threads.to_vec()]);
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
        assert_eq!(causes(&holders), [(ASLEEP, 1, 3000), (WAKING, 0, 1000)]);
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
        assert!(matches!(parse("a-1 [0] d 1.000002: softirq_exit: vec=1"), Some((1_000_002_000, 0, Event::End))));
    }
}
