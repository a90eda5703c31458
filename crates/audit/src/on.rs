//! Auditing while it is on: entered in an order in which nothing is lost and nobody else is audited, and proved afterwards.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::time::{ClockId, clock_getres, clock_gettime};

use crate::auditd::Auditd;
use crate::netlink::{Control, Lever, Status};
use crate::rule::{Rule, field};
use crate::scope::{self, LoginUid, SENTINEL};
use crate::sink::Sink;
use crate::state::{self, Found, State};
use crate::syntax::Text;
use crate::tally::Tally;
use crate::trail::{Heard, Source, Trail, nanoseconds, used};
use crate::{Context, Sink as Goal, Undo, Window, add};
use journal::Evidence;

/// How long the queue may take to empty after a trial.
const DRAIN: Duration = Duration::from_secs(10);

/// Auditing, on.
pub(crate) struct On {
    control: Control,
    found: Found,
    receiver: Receiver,
    trail: Trail,
    auditd: Option<Auditd>,
    /// What was set, to see whether it stayed.
    set: Status,
    /// All rules, the machine's own too.
    rules: Vec<Rule>,
    /// Whether every system call is audited, so that there must be events.
    loaded: Loaded,
    /// Wall clock less CLOCK_MONOTONIC, in ns.
    offset: i128,
    notes: Vec<String>,
    /// Whether the trail cannot be written any more.
    full: bool,
    _heard: Option<Heard>,
    _login_uid: LoginUid,
}

/// Who receives the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Receiver {
    /// The tool.
    Us,
    /// A daemon that was there before; the tool listens besides.
    Theirs(u32),
    /// auditd, started for the trial.
    Auditd(u32),
}

/// How many rules there are.
#[derive(Debug, Clone, Copy, Default)]
struct Loaded {
    rules: usize,
    wanted: usize,
    every_call: bool,
}

impl On {
    /// Switches auditing on: receiver, rules, the programs' login uid, and only then the switch.
    pub(crate) fn enter(control: Control, state: &State, text: Text, context: &mut Context<'_>) -> Result<On, String> {
        scope::is_free()?;
        let found = Found::from(state.status);
        context.ledger.record(Undo::Restore(found))?;
        let mut notes = text.notes.clone();
        notes.extend(first_time());
        set_limits(&control, context.settings.backlog)?;
        let offset = wall_clock();
        let mut auditd = None;
        let (receiver, source) = receive(&control, state, context, &mut auditd, offset)?;
        let trail = Trail::start(source)?;
        if state.status.enabled == 0 {
            add(&control, &scope::nobody_else())
                .map_err(|error| format!("a rule `task,never` is not taken: {error}"))?;
        } else {
            notes.push("auditing was on before: other processes go on being audited".to_owned());
        }
        notes.extend(about_others(state, receiver));
        let loaded = load(&control, &text, receiver, &mut notes)?;
        // Before the switch, so that it leaves no event of the tool's own.
        let login_uid = LoginUid::take()?;
        if state.status.enabled == 0 {
            state::mark()?;
            control.set(Lever::Enabled, 1).map_err(|error| format!("auditing cannot be switched on: {error}"))?;
        }
        // The first record of all: from its serial number on none may be missing, and auditd 3.0 loses it when it starts.
        crate::trail::begin(&control).map_err(|error| format!("no record can be made: {error}"))?;
        let (set, rules) = (status(&control)?, listed(&control)?);
        let (_heard, _login_uid) = (None, login_uid);
        let full = false;
        let on =
            On { control, found, receiver, trail, auditd, set, rules, loaded, offset, notes, full, _heard, _login_uid };
        on.check()?;
        Ok(on)
    }

    /// Whether everything is as it was set.
    fn check(&self) -> Result<(), String> {
        let now = status(&self.control)?;
        let pid = match self.receiver {
            Receiver::Us => std::process::id(),
            Receiver::Theirs(pid) | Receiver::Auditd(pid) => pid,
        };
        if now.enabled != 1 {
            return Err(format!("enabled is {} and should be 1; another process changed it", now.enabled));
        }
        if now.pid != pid {
            return Err(format!(
                "process {} receives the records and {pid} should; another process changed it",
                now.pid
            ));
        }
        if (now.failure, now.rate_limit, now.backlog_limit, now.backlog_wait_time)
            != (self.set.failure, self.set.rate_limit, self.set.backlog_limit, self.set.backlog_wait_time)
        {
            return Err("another process changed the limits of auditing".to_owned());
        }
        if listed(&self.control)? != self.rules {
            return Err("another process changed the rules".to_owned());
        }
        let ours = self.rules.iter().filter(|rule| rule.list != crate::rule::list::TASK && is_ours(rule)).count();
        if ours != self.loaded.rules {
            return Err(format!("{ours} rules are listed and {} were loaded", self.loaded.rules));
        }
        Ok(())
    }

    /// Waits until the queue is empty; returns seconds since `end`.
    fn drain(&mut self, end: u64) -> f64 {
        if !state::drained(&self.control, DRAIN) {
            self.notes.push(format!("the queue was not empty {} s after the trial", DRAIN.as_secs()));
        }
        let now = nanoseconds(clock_gettime(ClockId::Monotonic));
        now.saturating_sub(end) as f64 / 1e9
    }

    /// What the trail was in the window.
    fn measure(&mut self, heard: &mut Heard, window: Window, drained: f64) -> Result<journal::Trail, String> {
        if let Some(auditd) = &mut self.auditd {
            auditd.finish(&mut heard.tally)?;
        }
        let missing = self.missing(heard);
        let now = status(&self.control)?;
        let tick = nanoseconds(clock_getres(ClockId::RealtimeCoarse)) as f64;
        let wall = |time: u64| (i128::from(time) + self.offset) as f64 / 1e6;
        let counted = heard.tally.window(wall(window.start), wall(window.end), (tick / 1e6).max(1.0));
        let (all_events, all_bytes) = heard.tally.all();
        let used = |of: fn(&crate::trail::Sample) -> u64| {
            let last = heard.samples.last().map_or(0.0, |last| of(last) as f64);
            (last - used(&heard.samples, window.start, of)).max(0.0)
        };
        let by_tally = self.receiver == Receiver::Us;
        let at_end = crate::trail::used(&heard.samples, window.end, |sample| u64::from(sample.backlog));
        Ok(journal::Trail {
            seconds: window.end.saturating_sub(window.start) as f64 / 1e9,
            events: counted.events,
            records: counted.records,
            bytes: counted.bytes,
            all_events,
            all_bytes,
            lost: u64::from(now.lost.wrapping_sub(self.set.lost)) + missing,
            waited_s: used(|sample| u64::from(sample.waited)) * tick / 1e9,
            backlog: heard.samples.iter().map(|sample| sample.backlog).max().unwrap_or(0),
            queued: if by_tally { counted.queued } else { (at_end.round() as u64).min(counted.records) },
            drain_s: if by_tally { counted.drain_s } else { drained },
            kernel_cpu_s: used(|sample| sample.kernel) / 1e9,
            sink_cpu_s: used(|sample| sample.sink) / 1e9,
        })
    }

    /// Events that the kernel dropped without counting them.
    fn missing(&mut self, heard: &Heard) -> u64 {
        let missing = heard.tally.missing();
        // A limited rate is counted; and who only listens knows no better than that it did not hear.
        if missing == 0 || self.set.rate_limit > 0 {
            return 0;
        }
        if let Receiver::Theirs(_) = self.receiver {
            self.notes.push(format!("{missing} events were written too fast to be counted beside a daemon"));
            return 0;
        }
        self.notes
            .push(format!("{missing} events were dropped before they were received, and are counted as lost here"));
        missing
    }

    /// What has to be said of a trail.
    fn remark(&mut self, heard: &Heard) {
        if heard.overruns > 0 {
            self.notes.push(format!("the kernel found no room on the socket for records, {} times", heard.overruns));
        }
        if self.set.waited.is_none() {
            self.notes.push("this kernel does not count how long processes waited for room".to_owned());
        }
        let moved = (wall_clock() - self.offset).unsigned_abs() / 1_000_000;
        if moved > 5 {
            self.notes
                .push(format!("the wall clock was moved by {moved} ms meanwhile, and records are stamped with it"));
        }
    }
}

impl On {
    /// Whether the trail cannot be written any more, so that all further trials are pointless.
    pub(crate) fn is_fatal(&self) -> bool {
        self.full
    }

    /// Proves that auditing stayed as it was set, and adds what it produced in `window`.
    pub(crate) fn prove(&mut self, window: Window, evidence: &mut Evidence) -> Result<(), String> {
        let drained = self.drain(window.end);
        let checked = self.check();
        let mut heard = self.trail.finish(&self.control).ok_or("it was proved before, or its thread died")?;
        std::mem::replace(&mut heard.written, Ok(())).inspect_err(|_| self.full = true).map_err(|why| {
            format!("{why}; make room there, or keep less of it (--trail-limit) or none (--sink count)")
        })?;
        checked?;
        let trail = self.measure(&mut heard, window, drained)?;
        if self.loaded.every_call && trail.events == 0 && trail.lost == 0 {
            return Err("every system call should be audited, and no event came from the window".to_owned());
        }
        self.remark(&heard);
        self._heard = Some(heard);
        evidence.figures.insert("rules".to_owned(), (self.loaded.rules as f64, "rules".to_owned()));
        if self.loaded.rules < self.loaded.wanted {
            evidence.notes.push(format!("{} of {} rules could be loaded", self.loaded.rules, self.loaded.wanted));
        }
        evidence.notes.append(&mut self.notes);
        evidence.trail = Some(trail);
        Ok(())
    }
}

impl Drop for On {
    fn drop(&mut self) {
        // While records can still be received; the ledger does it once more, and says what fails.
        let _ = state::restore(&self.found);
    }
}

/// Says what cannot be put back, the first time.
fn first_time() -> Option<String> {
    state::was_on().is_none().then(|| {
        "auditing was switched on for the first time since the machine started: until it starts anew, new processes pay \
         for that at each system call"
            .to_owned()
    })
}

/// Has the kernel queue as much as is asked for, and neither print nor panic when it loses a record: the counter tells.
fn set_limits(control: &Control, backlog: u32) -> Result<(), String> {
    let told = |error: Errno| format!("the limits of auditing cannot be set: {error}");
    control.set(Lever::Failure, 0).map_err(told)?;
    control.set(Lever::BacklogLimit, backlog).map_err(told)
}

/// Has the records received by whom the run wants, or by who did before.
fn receive(
    control: &Control,
    state: &State,
    context: &mut Context<'_>,
    auditd: &mut Option<Auditd>,
    offset: i128,
) -> Result<(Receiver, Source), String> {
    let settings = context.settings.clone();
    let theirs = Some(state.status.pid).filter(|pid| *pid != 0 && machine::is_alive(*pid));
    let (receiver, socket) = match theirs {
        Some(pid) => (Receiver::Theirs(pid), Some(listener()?)),
        None if settings.sink == Goal::Auditd => {
            let started = auditd.insert(Auditd::start(context.scratch, &settings, context.ledger, control)?);
            (Receiver::Auditd(started.pid()), None)
        }
        None => match Control::receiver() {
            Ok(socket) => (Receiver::Us, Some(socket)),
            // One that is not of this process's names.
            Err(Errno::EXIST) => (Receiver::Theirs(state.status.pid), Some(listener()?)),
            Err(error) => return Err(format!("the records of auditing cannot be received: {error}")),
        },
    };
    let sink = match (receiver, settings.sink) {
        (Receiver::Us, Goal::File) => {
            let path = context.scratch.join("trail.log");
            context.ledger.record(Undo::RemoveFile(path.clone()))?;
            Some(Sink::create(&path, settings.flush, settings.limit)?)
        }
        _ => None,
    };
    let daemon = match receiver {
        Receiver::Us => None,
        Receiver::Theirs(pid) | Receiver::Auditd(pid) => Some(pid),
    };
    let now = nanoseconds(clock_gettime(ClockId::Monotonic));
    // Events of programs that were started earlier are counted as of now.
    let origin = u64::try_from((i128::from(now) + offset) / 1_000_000).unwrap_or(0);
    let (kauditd, tally, backlog) = (kauditd(), Tally::new(SENTINEL, origin), settings.backlog);
    let source = Source { socket, sink, daemon, kauditd, backlog, tally };
    Ok((receiver, source))
}

fn listener() -> Result<OwnedFd, String> {
    Control::listener()
        .map_err(|error| format!("the records of auditing cannot be heard: {error}; it needs CAP_AUDIT_READ"))
}

/// Loads the rules before those that are there, in their order. Rules about paths that are not there are counted as missing,
/// as they would be on that machine.
fn load(control: &Control, text: &Text, receiver: Receiver, notes: &mut Vec<String>) -> Result<Loaded, String> {
    let spared = (receiver != Receiver::Us).then(std::process::id);
    let mut loaded = Loaded { wanted: text.rules.len(), ..Loaded::default() };
    let mut missing = Vec::new();
    for line in text.rules.iter().rev() {
        let rule = scope::only_us(line.rule.clone(), spared);
        match control.prepend(&rule) {
            Ok(()) => {
                loaded.rules += 1;
                loaded.every_call |= is_every_call(&rule);
            }
            Err(Errno::NOENT | Errno::NOTDIR) => missing.push(format!("{}: its path is not there", line.at)),
            Err(Errno::EXIST) => missing.push(format!("{}: it is there twice", line.at)),
            Err(error) => return Err(format!("{}: the kernel does not take the rule ({error})", line.at)),
        }
    }
    notes.extend(missing.into_iter().rev());
    Ok(loaded)
}

/// Whether a rule records whatever the programs do.
fn is_every_call(rule: &Rule) -> bool {
    let free = |id: u32| matches!(id, field::LOGIN_UID | field::PID | field::KEY);
    rule.list == crate::rule::list::EXIT
        && rule.action == crate::rule::ALWAYS
        && rule.mask[..63].iter().all(|word| *word == u32::MAX)
        && rule.fields.iter().all(|field| free(field.id))
        && rule.names(field::LOGIN_UID, SENTINEL)
}

/// What of others the programs meet.
fn about_others(state: &State, receiver: Receiver) -> Vec<String> {
    let mut notes = Vec::new();
    if !state.rules.is_empty() {
        notes.push(format!("{} rules of the machine's own are tried after these", state.rules.len()));
    }
    if let Receiver::Theirs(pid) = receiver {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        notes.push(format!(
            "process {pid} ({}) receives the records and keeps them as it always does; they were counted besides",
            name.trim()
        ));
    }
    notes
}

/// The kernel's thread that sends records.
fn kauditd() -> Option<u32> {
    let pids = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.into_iter().find(|pid: &u32| {
        fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim() == "kauditd")
            && fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|words| words.is_empty())
    })
}

fn is_ours(rule: &Rule) -> bool {
    rule.names(field::LOGIN_UID, SENTINEL)
}

fn status(control: &Control) -> Result<Status, String> {
    control.status().map_err(|error| format!("auditing cannot be asked ({error})"))
}

fn listed(control: &Control) -> Result<Vec<Rule>, String> {
    control.rules().map_err(|error| format!("the rules of auditing cannot be listed ({error})"))
}

/// Wall clock less CLOCK_MONOTONIC, in ns: records are stamped with the one, windows with the other.
fn wall_clock() -> i128 {
    let before = nanoseconds(clock_gettime(ClockId::Monotonic));
    let wall = nanoseconds(clock_gettime(ClockId::Realtime));
    let after = nanoseconds(clock_gettime(ClockId::Monotonic));
    i128::from(wall) - i128::from(u64::midpoint(before, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::levels::{Level, level};

    #[test]
    fn which_levels_must_have_events() {
        for (name, every) in [("all", true), ("exec", false), ("identity", false)] {
            let Level::On(text) = level(name).unwrap() else { panic!("{name}") };
            let rule = scope::only_us(text.rules[0].rule.clone(), Some(1));
            assert_eq!(is_every_call(&rule), every, "{name}");
        }
    }

    /// With auditing off, as found: rules and a receiver may come and go all the same.
    #[test]
    fn the_kernel_takes_the_rules_of_every_level() {
        let Ok((control, before)) = state::open() else {
            eprintln!("skipped: auditing cannot be set here");
            return;
        };
        let Ok(Some(_lock)) = machine::Name::take("unixmark-conditions") else { return };
        if before.status.enabled != 0 || before.status.pid != 0 || before.admits(&Level::Off).is_err() {
            eprintln!("skipped: auditing is in use here");
            return;
        }
        for name in ["identity", "files", "exec", "open", "stig-like", "all"] {
            let Level::On(text) = level(name).unwrap() else { panic!("{name}") };
            let mut missing = Vec::new();
            let loaded = load(&control, &text, Receiver::Us, &mut missing);
            let listed = control.rules().unwrap();
            let restored = state::restore(&Found::from(before.status));
            let loaded = loaded.unwrap();
            assert_eq!(loaded.rules + missing.len(), loaded.wanted, "{name}: {missing:?}");
            let is_missing = |at: &str| missing.iter().any(|why| why.starts_with(&format!("{at}: ")));
            let lines = text.rules.iter().filter(|line| !is_missing(&line.at));
            let expected: Vec<Rule> = lines.map(|line| scope::only_us(line.rule.clone(), None)).collect();
            assert_eq!(listed.iter().filter(|rule| is_ours(rule)).count(), expected.len(), "{name}");
            assert!(expected.iter().all(|rule| listed.contains(rule)), "{name}");
            restored.unwrap();
            assert_eq!(control.rules().unwrap(), before.rules);
        }
        let socket = Control::receiver().unwrap();
        assert_eq!(control.status().unwrap().pid, std::process::id());
        state::restore(&Found::from(before.status)).unwrap();
        assert_eq!(control.status().unwrap().pid, 0);
        drop(socket);
    }

    #[test]
    fn the_clocks_run_alike() {
        assert!((wall_clock() - wall_clock()).abs() < 5_000_000);
    }
}
