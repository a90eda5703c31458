//! The last stage: auditing is on. It is proved that it stayed as it was set, and what it produced is measured.

use std::ops::Range;
use std::time::Duration;

use journal::{Evidence, Trail};

use crate::audit::clock;
use crate::audit::kernel::Status;
use crate::audit::loaded::{Counts, Loaded};
use crate::audit::receiving::{Receiver, Receiving};
use crate::audit::recorder::{self, Recording};
use crate::audit::rule::{Rule, list};
use crate::audit::samples::Sample;
use crate::audit::scope::{LoginUid, is_own};
use crate::audit::state::drained;

/// The longest time that the queue may take to empty after a trial.
const DRAIN: Duration = Duration::from_secs(10);

/// Nanoseconds for which the thread that receives records never sleeps: it wakes every tenth of a
/// second at least.
const STOPPED: u64 = 500_000_000;

/// Auditing, on.
pub(crate) struct On {
    pub receiving: Receiving,
    pub counts: Counts,
    /// The status as it was set, to see whether it stayed.
    pub set: Status,
    /// All rules, the machine's own too.
    pub rules: Vec<Rule>,
    /// True if the trail cannot be written any more.
    pub full: bool,
    pub _login_uid: LoginUid,
}

impl On {
    /// Switches auditing on, after giving the calling thread, and so the programs, the login uid that the rules name.
    pub(crate) fn new(Loaded { receiving, counts }: Loaded) -> Result<On, String> {
        let system = &receiving.system;
        // Before the switch, so that it makes no event of the tool's own.
        let login_uid = LoginUid::set(&system.machine)?;
        if receiving.state.status.enabled == 0 {
            system.switch_on()?;
        }
        // auditd 3.0 loses the first record when it starts.
        recorder::begin(system)?;
        let (set, rules) = (system.status()?, system.rules()?);
        let on = On { receiving, counts, set, rules, full: false, _login_uid: login_uid };
        on.check()?;
        Ok(on)
    }

    /// Checks that everything is as it was set.
    pub(crate) fn check(&self) -> Result<(), String> {
        let now = self.receiving.system.status()?;
        let pid = self.receiving.receiver.daemon().unwrap_or_else(std::process::id);
        if now.enabled != 1 {
            return Err(format!("enabled is {} and should be 1; another process changed it", now.enabled));
        }
        if now.pid != pid {
            return Err(format!(
                "process {} receives the records and {pid} should; another process changed it",
                now.pid
            ));
        }
        let limits =
            |status: &Status| (status.failure, status.rate_limit, status.backlog_limit, status.backlog_wait_time);
        if limits(&now) != limits(&self.set) {
            return Err("another process changed the limits of auditing".to_owned());
        }
        if self.receiving.system.rules()? != self.rules {
            return Err("another process changed the rules".to_owned());
        }
        let own = self.rules.iter().filter(|rule| rule.list != list::TASK && is_own(rule)).count();
        if own != self.counts.loaded {
            return Err(format!("{own} rules are listed and {} were loaded", self.counts.loaded));
        }
        Ok(())
    }

    /// Proves that auditing stayed as it was set, and adds what it produced in `window` to `evidence`.
    pub(crate) fn prove(&mut self, window: &Range<u64>, evidence: &mut Evidence) -> Result<(), String> {
        let drained = self.drain(window.end);
        let checked = self.check();
        let Receiving { recorder, system, .. } = &mut self.receiving;
        let mut recording = recorder.finish(system).ok_or("it was proved before, or its thread died")?;
        std::mem::replace(&mut recording.written, Ok(())).inspect_err(|_| self.full = true).map_err(|why| {
            format!("{why}; make room there, or keep less of it (--trail-limit) or none (--sink count)")
        })?;
        checked?;
        check_receiver(&recording, window)?;
        let trail = self.trail(&mut recording, window, drained)?;
        self.check_lost(trail.lost)?;
        if self.counts.every_call && trail.events == 0 && trail.lost == 0 {
            return Err("every system call should be audited, and no event came from the window".to_owned());
        }
        self.add_notes(&recording);
        let Counts { loaded, wanted, .. } = self.counts;
        evidence.figures.insert("rules".to_owned(), (loaded as f64, "rules".to_owned()));
        if loaded < wanted {
            evidence.notes.push(format!("{loaded} of {wanted} rules could be loaded"));
        }
        evidence.notes.append(&mut self.receiving.notes);
        evidence.trail = Some(trail);
        Ok(())
    }

    /// Waits until the queue is empty; returns the seconds since `end`.
    fn drain(&mut self, end: u64) -> f64 {
        if !drained(&self.receiving.system, DRAIN) {
            self.receiving.notes.push(format!("the queue was not empty {} s after the trial", DRAIN.as_secs()));
        }
        clock::monotonic().saturating_sub(end) as f64 / 1e9
    }

    /// Checks that no record was lost, unless losing them is what the machine is set to, and nobody
    /// else's can be among them.
    fn check_lost(&self, lost: u64) -> Result<(), String> {
        if lost == 0 {
            return Ok(());
        }
        if self.receiving.is_in_use {
            return Err(format!(
                "{lost} records were lost, perhaps others' too: auditing is in use here; a longer \
                 queue (`auditctl -b`) holds more"
            ));
        }
        if self.set.backlog_wait_time == 0 || self.set.rate_limit > 0 {
            return Ok(());
        }
        Err(format!(
            "{lost} records were lost, although processes wait for room in the queue: whoever \
             received them was stopped or too slow; --sink count is the fastest"
        ))
    }

    /// Returns what the trail was in the window.
    fn trail(&mut self, recording: &mut Recording, window: &Range<u64>, drained: f64) -> Result<Trail, String> {
        // Before auditd ends: what nobody receives may be lost too.
        let now = self.receiving.system.status()?;
        if let Receiver::Auditd(auditd) = &mut self.receiving.receiver {
            auditd.finish(&mut recording.tally)?;
        }
        let dropped = self.dropped(recording);
        let tick = clock::tick();
        let wall_ms = |time: u64| (i128::from(time) + self.receiving.offset) as f64 / 1e6;
        let counted = recording.tally.window(wall_ms(window.start), wall_ms(window.end), (tick / 1e6).max(1.0));
        let (all_events, all_bytes) = recording.tally.totals();
        let used = |figure: fn(&Sample) -> u64| recording.samples.since(window.start, figure);
        // Only what the tool receives has a time of arrival.
        let (queued, drain_s) = match self.receiving.receiver {
            Receiver::Tool => (counted.queued, counted.drain_s),
            _ => {
                let at_end = recording.samples.figure_at(window.end, |sample| u64::from(sample.backlog));
                ((at_end.round() as u64).min(counted.records), drained)
            }
        };
        Ok(Trail {
            seconds: window.end.saturating_sub(window.start) as f64 / 1e9,
            events: counted.events,
            records: counted.records,
            bytes: counted.bytes,
            all_events,
            all_bytes,
            lost: u64::from(now.lost.wrapping_sub(self.set.lost)) + dropped,
            waited_s: used(|sample| u64::from(sample.waited)) * tick / 1e9,
            backlog: recording.samples.longest_backlog(),
            queued,
            drain_s,
            kernel_cpu_s: used(|sample| sample.kernel) / 1e9,
            sink_cpu_s: used(|sample| sample.receiver) / 1e9,
        })
    }

    /// Returns the events that the kernel dropped without counting them.
    fn dropped(&mut self, recording: &Recording) -> u64 {
        let missing = recording.tally.missing();
        // What a rate limit drops is counted; and a listener cannot distinguish what it missed from what was lost.
        if missing == 0 || self.set.rate_limit > 0 {
            return 0;
        }
        let notes = &mut self.receiving.notes;
        if let Receiver::Daemon(_) = self.receiving.receiver {
            notes.push(format!("{missing} events came too fast to be counted alongside a daemon"));
            return 0;
        }
        notes.push(format!("{missing} events were dropped before they were received, and count as lost here"));
        missing
    }

    /// Adds notes about how the trail was received.
    fn add_notes(&mut self, recording: &Recording) {
        let notes = &mut self.receiving.notes;
        if recording.overruns > 0 {
            notes.push(format!("the kernel found no room on the socket for records {} times", recording.overruns));
        }
        if self.set.waited.is_none() {
            notes.push("this kernel does not count how long processes waited for room".to_owned());
        }
        let moved = (clock::offset() - self.receiving.offset).unsigned_abs() / 1_000_000;
        if moved > 5 {
            notes.push(format!("the wall clock, which stamps the records, was moved by {moved} ms meanwhile"));
        }
    }
}

/// Checks that the records were received all the time: the kernel has the programs wait, or loses
/// records, while they are not.
fn check_receiver(recording: &Recording, window: &Range<u64>) -> Result<(), String> {
    let slept = recording.samples.longest_sleep(window.start);
    if slept > STOPPED {
        return Err(format!(
            "no records were received for {:.1} s: unixmark was stopped, or waited for the disk \
             that the trail is on",
            slept as f64 / 1e9
        ));
    }
    if recording.samples.was_stopped(window.start) {
        return Err("the process that receives the records was stopped by a signal".to_owned());
    }
    Ok(())
}
