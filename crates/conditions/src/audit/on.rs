//! The last stage: auditing is on. After the trial [`On::prove`] waits until the queue is empty,
//! checks that nobody changed anything meanwhile, and measures what auditing produced in the
//! window.

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
use crate::audit::state::wait_until_drained;
use crate::audit::tally::Totals;

/// The longest time that the queue may take to empty after a trial.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest sleep of a thread that receives records, which wakes every tenth of a second at
/// least: one that slept longer was stopped.
const MAX_SLEEP_NS: u64 = 500_000_000;

/// The change of the wall clock against CLOCK_MONOTONIC during a trial above which a note tells of
/// it.
const MAX_CLOCK_DRIFT_MS: u128 = 5;

/// Auditing, on.
pub(crate) struct On {
    pub receiving: Receiving,
    pub counts: Counts,
    /// The status as it was set, to see whether it stayed.
    pub set: Status,
    /// All rules, the machine's own too.
    pub rules: Vec<Rule>,
    /// True if the trail could not be written.
    pub has_failed_trail: bool,
    pub _login_uid: LoginUid,
}

impl On {
    /// Switches auditing on, after giving the calling thread, and so the programs, the login uid
    /// that the rules name.
    pub(crate) fn new(Loaded { receiving, counts }: Loaded) -> Result<On, String> {
        let system = &receiving.system;

        // Before the switch, so that it makes no event of the tool's own.
        let login_uid = LoginUid::set(&system.machine)?;
        if receiving.state.status.enabled == 0 {
            system.switch_on()?;
        }
        // auditd 3.0 loses the first record when it starts.
        recorder::write_first_record(system)?;

        let (set, rules) = (system.status()?, system.rules()?);
        let on =
            On { receiving, counts, set, rules, has_failed_trail: false, _login_uid: login_uid };
        on.check()?;
        Ok(on)
    }

    /// Checks that everything is as it was set.
    pub(crate) fn check(&self) -> Result<(), String> {
        let now = self.receiving.system.status()?;
        if now.enabled != 1 {
            return Err(format!(
                "enabled is {} and should be 1; another process changed it",
                now.enabled
            ));
        }

        let pid = self.receiving.receiver.daemon().unwrap_or_else(std::process::id);
        if now.pid != pid {
            return Err(format!(
                "process {} receives the records and {pid} should; another process changed it",
                now.pid
            ));
        }

        if limits(&now) != limits(&self.set) {
            return Err("another process changed the limits of auditing".to_owned());
        }
        if self.receiving.system.rules()? != self.rules {
            return Err("another process changed the rules".to_owned());
        }

        let own_rules =
            self.rules.iter().filter(|rule| rule.list != list::TASK && is_own(rule)).count();
        if own_rules != self.counts.loaded {
            return Err(format!(
                "{own_rules} rules are listed and {} were loaded",
                self.counts.loaded
            ));
        }

        Ok(())
    }

    /// Proves that auditing stayed as it was set, and adds what it produced in `window` to
    /// `evidence`.
    pub(crate) fn prove(
        &mut self,
        window: &Range<u64>,
        evidence: &mut Evidence,
    ) -> Result<(), String> {
        let drain_s = self.drain(window.end);
        let checked = self.check();
        let Receiving { recorder, system, .. } = &mut self.receiving;
        let mut recording =
            recorder.finish(system).ok_or("it was proved before, or its thread died")?;

        // First, since a trail that cannot be written ends the run.
        if let Err(why) = &recording.written {
            self.has_failed_trail = true;
            return Err(format!(
                "{why}; make room there, or keep less of it (--trail-limit) or none (--sink count)"
            ));
        }
        checked?;
        check_receiver(&recording, window)?;

        let trail = self.measure(&mut recording, window, drain_s)?;
        self.check_lost(trail.lost)?;
        if self.counts.records_every_call && trail.events == 0 && trail.lost == 0 {
            return Err(
                "every system call should be audited, and no event came from the window".to_owned()
            );
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

    /// Waits until the queue is empty; returns the seconds from `end_ns`, the end of the window.
    fn drain(&mut self, end_ns: u64) -> f64 {
        if !wait_until_drained(&self.receiving.system, DRAIN_TIMEOUT) {
            self.receiving.notes.push(format!(
                "the queue was not empty {} s after the trial",
                DRAIN_TIMEOUT.as_secs()
            ));
        }
        clock::monotonic_ns().saturating_sub(end_ns) as f64 / 1e9
    }

    /// Checks that no record was lost. Losses are no error only where the machine is set to lose
    /// records and nobody else's can be among them.
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

    /// Measures the trail within the window. The queue was empty `drain_s` seconds after its end.
    fn measure(
        &mut self,
        recording: &mut Recording,
        window: &Range<u64>,
        drain_s: f64,
    ) -> Result<Trail, String> {
        // Before auditd ends: what nobody receives may be lost too.
        let now = self.receiving.system.status()?;
        if let Receiver::Auditd(auditd) = &mut self.receiving.receiver {
            auditd.finish(&mut recording.tally)?;
        }
        let dropped = self.count_dropped(recording);

        let offset_ns = self.receiving.offset_ns;
        let [start_ms, end_ms] = [window.start, window.end]
            .map(|monotonic_ns| (i128::from(monotonic_ns) + offset_ns) as f64 / 1e6);
        let tick_ns = clock::tick_ns();
        let counted = recording.tally.window(start_ms, end_ms, (tick_ns / 1e6).max(1.0));
        let Totals { events: all_events, bytes: all_bytes } = recording.tally.totals();

        // Only what the tool receives has a time of arrival. Of what others receive, the length of
        // the queue at the end of the window is known.
        let samples = &recording.samples;
        let (queued, drain_s) = match self.receiving.receiver {
            Receiver::Tool => (counted.queued, counted.drain_s),
            Receiver::Daemon(_) | Receiver::Auditd(_) => {
                let at_end = samples.figure_at(window.end, |sample| u64::from(sample.backlog));
                ((at_end.round() as u64).min(counted.records), drain_s)
            }
        };

        let used = |figure: fn(&Sample) -> u64| samples.growth_since(window.start, figure);
        Ok(Trail {
            seconds: window.end.saturating_sub(window.start) as f64 / 1e9,
            events: counted.events,
            records: counted.records,
            bytes: counted.bytes,
            all_events,
            all_bytes,
            lost: u64::from(now.lost.wrapping_sub(self.set.lost)) + dropped,
            waited_s: used(|sample| u64::from(sample.waited_ticks)) * tick_ns / 1e9,
            backlog: samples.longest_backlog(),
            queued,
            drain_s,
            kernel_cpu_s: used(|sample| sample.kernel_ns) / 1e9,
            sink_cpu_s: used(|sample| sample.receiver_ns) / 1e9,
        })
    }

    /// The number of events that the kernel dropped without counting them.
    fn count_dropped(&mut self, recording: &Recording) -> u64 {
        let missing = recording.tally.missing_events();
        // What a rate limit drops is counted by the kernel.
        if missing == 0 || self.set.rate_limit > 0 {
            return 0;
        }

        let notes = &mut self.receiving.notes;
        // A listener cannot distinguish what it missed from what was lost.
        if let Receiver::Daemon(_) = self.receiving.receiver {
            notes.push(format!("{missing} events came too fast to be counted alongside a daemon"));
            return 0;
        }

        notes.push(format!(
            "{missing} events were dropped before they were received, and count as lost here"
        ));
        missing
    }

    /// Adds notes about how the trail was received.
    fn add_notes(&mut self, recording: &Recording) {
        let notes = &mut self.receiving.notes;
        if recording.overruns > 0 {
            notes.push(format!(
                "the kernel found no room on the socket for records {} times",
                recording.overruns
            ));
        }
        if self.set.waited.is_none() {
            notes.push("this kernel does not count how long processes waited for room".to_owned());
        }

        let offset_change_ns = clock::wall_offset_ns() - self.receiving.offset_ns;
        let moved_ms = offset_change_ns.unsigned_abs() / 1_000_000;
        if moved_ms > MAX_CLOCK_DRIFT_MS {
            notes.push(format!(
                "the wall clock, which stamps the records, was moved by {moved_ms} ms meanwhile"
            ));
        }
    }
}

/// The settings of auditing that decide which records are lost.
fn limits(status: &Status) -> [u32; 4] {
    [status.failure, status.rate_limit, status.backlog_limit, status.backlog_wait_time]
}

/// Checks that the records were received all the time: the kernel has the programs wait, or loses
/// records, while they are not.
fn check_receiver(recording: &Recording, window: &Range<u64>) -> Result<(), String> {
    let slept_ns = recording.samples.longest_sleep_ns(window.start);
    if slept_ns > MAX_SLEEP_NS {
        return Err(format!(
            "no records were received for {:.1} s: unixmark was stopped, or waited for the disk \
             that the trail is on",
            slept_ns as f64 / 1e9
        ));
    }
    if recording.samples.was_stopped(window.start) {
        return Err("the process that receives the records was stopped by a signal".to_owned());
    }

    Ok(())
}
