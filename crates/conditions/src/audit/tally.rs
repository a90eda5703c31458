//! Counts of records by their stamp and by their time of arrival, so that a window can be cut out
//! afterwards.
//!
//! The stamp says when an event happened, the arrival when its record was received: a record of the
//! window that arrives after its end was queued. Both are counted by the millisecond. All records
//! of an event have its serial number, and its first record says whose the event is; the latest
//! events are kept, to know that of the records that follow.

use crate::audit::record::{self, Stamp};

/// The maximum number of events that may be incomplete at once: if several processors write,
/// records of their events come interleaved.
const MAX_OPEN_EVENTS: usize = 4096;

/// Milliseconds that are distinguished; what comes later counts for the last.
const MAX_DELAY_MS: u64 = 60 * 60 * 1000;

/// The counts of a millisecond.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    /// By their stamp.
    events: u32,
    records: u32,
    bytes: u64,
    /// Records, by their time of arrival.
    arrived: u32,
}

/// The counts of a trail.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The login uid whose events count.
    login_uid: u32,
    /// Milliseconds since 1970 of the first bin.
    origin_ms: u64,
    bins: Vec<Bin>,
    /// The latest events, by serial number modulo [`MAX_OPEN_EVENTS`].
    open: Vec<OpenEvent>,
    /// `None` before the first record.
    serials: Option<Serials>,
}

/// An event of which records may still come.
#[derive(Debug, Clone, Copy)]
struct OpenEvent {
    serial: u64,
    is_counted: bool,
}

/// What a record says about its event.
struct Membership {
    /// True if it is the event's first record.
    is_first: bool,
    is_counted: bool,
}

/// The serial numbers that were seen.
#[derive(Debug, Clone, Copy)]
struct Serials {
    first: u64,
    last: u64,
    /// The number of different ones.
    distinct: u64,
}

/// The counts of a whole trail.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Totals {
    pub events: u64,
    pub bytes: u64,
}

/// The counts of a trail within a window.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Counted {
    pub events: u64,
    pub records: u64,
    pub bytes: u64,
    /// Records of the window that came after its end.
    pub queued: u64,
    /// Seconds after its end when the last of them came.
    pub drain_s: f64,
}

impl Tally {
    /// An empty tally of a login uid's records from `origin_ms` on, in milliseconds since 1970.
    pub(crate) fn new(login_uid: u32, origin_ms: u64) -> Tally {
        Tally {
            login_uid,
            origin_ms,
            bins: Vec::new(),
            open: vec![OpenEvent { serial: u64::MAX, is_counted: false }; MAX_OPEN_EVENTS],
            serials: None,
        }
    }

    /// Counts a record that takes `bytes` bytes in a log and arrived at `now_ms`, in milliseconds
    /// since 1970; true if its event counts.
    pub(crate) fn count(&mut self, kind: u16, record: &[u8], bytes: usize, now_ms: u64) -> bool {
        let Some(stamp) = record::stamp(record) else {
            return false;
        };

        let Membership { is_first, is_counted } = self.find_event(kind, stamp, record);
        if !is_counted {
            return false;
        }

        let bin = self.bin(stamp.ms);
        bin.events += u32::from(is_first);
        // A trail does not have the records that only end an event.
        if kind != record::END {
            bin.records += 1;
            bin.bytes += bytes as u64;
            self.bin(now_ms).arrived += 1;
        }
        true
    }

    /// Finds the event of a record, or adds it if this is its first record. An event does not count
    /// if it has another login uid or begins without one, as denials of SELinux and AppArmor do, is
    /// about auditing itself, or began before the trail.
    fn find_event(&mut self, kind: u16, stamp: Stamp, record: &[u8]) -> Membership {
        let place = usize::try_from(stamp.serial).unwrap_or_default() % MAX_OPEN_EVENTS;
        let event = &mut self.open[place];
        if event.serial == stamp.serial {
            return Membership { is_first: false, is_counted: event.is_counted };
        }

        // An event that seems to begin with a detail began before the trail.
        let can_begin = record::is_of_programs(kind) && !record::is_detail(kind);
        let is_counted =
            can_begin && record::login_uid(record).is_some_and(|uid| uid == self.login_uid);
        *event = OpenEvent { serial: stamp.serial, is_counted };

        let none_yet = Serials { first: stamp.serial, last: stamp.serial, distinct: 0 };
        let serials = self.serials.get_or_insert(none_yet);
        serials.first = serials.first.min(stamp.serial);
        serials.last = serials.last.max(stamp.serial);
        serials.distinct += 1;
        Membership { is_first: true, is_counted }
    }

    /// The number of events that never came: serial numbers that are missing between the first and
    /// the last. The kernel gives one to each event that it writes, for whomever.
    pub(crate) fn missing_events(&self) -> u64 {
        let Some(Serials { first, last, distinct }) = self.serials else {
            return 0;
        };

        (last - first + 1).saturating_sub(distinct)
    }

    /// The bin of a time, in milliseconds since 1970; bins before it are made, empty.
    fn bin(&mut self, ms: u64) -> &mut Bin {
        let delay_ms = ms.saturating_sub(self.origin_ms).min(MAX_DELAY_MS);
        let index = usize::try_from(delay_ms).unwrap_or_default();
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    /// All events and bytes that count.
    pub(crate) fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for bin in &self.bins {
            totals.events += u64::from(bin.events);
            totals.bytes += bin.bytes;
        }

        totals
    }

    /// Cuts out the window from `start_ms` to `end_ms`, in milliseconds since 1970. The kernel
    /// stamps with a clock that moves every `tick_ms`: what has a stamp was at any time of the tick
    /// after it, so of a tick at the edge only a share is inside.
    pub(crate) fn window(&self, start_ms: f64, end_ms: f64, tick_ms: f64) -> Counted {
        let (mut events, mut records, mut bytes) = (0.0, 0.0, 0.0);
        for (time_ms, bin) in self.timed_bins() {
            let inside_ms = (time_ms + tick_ms).min(end_ms) - time_ms.max(start_ms);
            let share = inside_ms.max(0.0) / tick_ms;
            events += share * f64::from(bin.events);
            records += share * f64::from(bin.records);
            bytes += share * bin.bytes as f64;
        }

        let records = records.round() as u64;
        let queued = self.count_queued(end_ms, tick_ms);
        Counted {
            events: events.round() as u64,
            records,
            bytes: bytes.round() as u64,
            queued: (queued.round() as u64).min(records),
            drain_s: self.drain_seconds(queued, end_ms),
        }
    }

    /// The number of records stamped before `end_ms` that came after it; 0 for less than one.
    /// Records come in the order of their stamps, so it is the excess of stamps over arrivals.
    fn count_queued(&self, end_ms: f64, tick_ms: f64) -> f64 {
        let mut stamped = 0.0;
        let mut arrived = 0.0;
        for (time_ms, bin) in self.timed_bins().take_while(|(time_ms, _)| *time_ms < end_ms) {
            stamped += ((end_ms - time_ms) / tick_ms).min(1.0) * f64::from(bin.records);
            arrived += f64::from(bin.arrived);
        }

        let queued = stamped - arrived;
        if queued < 1.0 { 0.0 } else { queued }
    }

    /// The time from `end_ms` until so many queued records had come; 0 if they never did.
    fn drain_seconds(&self, queued: f64, end_ms: f64) -> f64 {
        if queued < 1.0 {
            return 0.0;
        }

        let mut left = queued;
        for (time_ms, bin) in self.timed_bins().skip_while(|(time_ms, _)| *time_ms < end_ms) {
            left -= f64::from(bin.arrived);
            if left < 1.0 {
                // At the end of this millisecond.
                return (time_ms + 1.0 - end_ms) / 1000.0;
            }
        }

        0.0
    }

    /// The bins, with the time at which each begins, in milliseconds since 1970.
    fn timed_bins(&self) -> impl Iterator<Item = (f64, &Bin)> {
        (self.origin_ms..).zip(&self.bins).map(|(time_ms, bin)| (time_ms as f64, bin))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u32 = 77;

    /// An event of three records, two of them written, stamped `ms` and come at `now`.
    fn event(tally: &mut Tally, ms: u64, serial: u64, now: u64, auid: u32) {
        let stamp = format!("audit({}.{:03}:{serial}): ", ms / 1000, ms % 1000);
        let syscall = format!("{stamp}pid=1 auid={auid} uid=0");
        tally.count(1300, syscall.as_bytes(), 100, now);
        tally.count(1327, format!("{stamp}proctitle=\"x\"").as_bytes(), 50, now);
        tally.count(1320, stamp.as_bytes(), 30, now);
    }

    #[test]
    fn events_of_one_window_and_of_one_uid() {
        let mut tally = Tally::new(US, 10_000);
        for (serial, ms) in [(1, 10_000), (2, 10_100), (3, 10_200), (4, 10_300)] {
            event(&mut tally, ms, serial, ms, US);
        }

        event(&mut tally, 10_200, 5, 10_200, US + 1);
        tally.count(1305, b"audit(10.200:6): op=add_rule", 9, 10_200);
        assert_eq!(tally.totals(), Totals { events: 4, bytes: 600 });
        let counted = tally.window(10_100.0, 10_300.0, 4.0);
        assert_eq!(
            (counted.events, counted.records, counted.bytes, counted.queued),
            (2, 4, 300, 0)
        );
    }

    #[test]
    fn records_of_two_events_may_come_mixed() {
        let mut tally = Tally::new(US, 0);
        for (kind, serial) in [(1300, 8), (1300, 7), (1327, 8), (1327, 7), (1320, 8), (1320, 7)] {
            let record = format!("audit(0.001:{serial}): auid={US} uid=0");
            tally.count(kind, record.as_bytes(), 10, 2);
        }
        // A denial of AppArmor's, of whatever process.
        tally.count(1400, b"audit(0.001:9): apparmor=\"DENIED\" pid=7", 10, 2);

        assert_eq!(tally.totals(), Totals { events: 2, bytes: 40 });
    }

    #[test]
    fn events_that_never_came_leave_a_gap() {
        let mut tally = Tally::new(US, 0);
        assert_eq!(tally.missing_events(), 0);
        for serial in [5, 3, 4, 9] {
            event(&mut tally, 1, serial, 1, US);
        }

        tally.count(1120, b"audit(0.001:10): pid=1", 9, 1);
        assert_eq!((tally.missing_events(), tally.totals().events), (3, 4));
    }

    #[test]
    fn half_an_event_is_none() {
        let mut tally = Tally::new(US, 0);
        tally.count(1327, b"audit(0.001:1): proctitle=\"x\"", 9, 1);
        tally.count(1320, b"audit(0.001:1): ", 9, 1);
        tally.count(1305, b"audit(0.001:2): op=set auid=77", 9, 1);
        tally.count(1300, b"audit(0.001:2): pid=1 auid=77 uid=0", 9, 1);
        assert_eq!(tally.totals(), Totals { events: 0, bytes: 0 });
    }

    #[test]
    fn a_tick_at_the_edge_is_shared() {
        let mut tally = Tally::new(US, 0);
        (0..100).for_each(|serial| event(&mut tally, 100, serial, 101, US));
        assert_eq!(tally.window(103.0, 200.0, 4.0).events, 25);
        assert_eq!(tally.window(0.0, 103.0, 4.0).events, 75);
    }

    #[test]
    fn what_is_still_queued_when_a_window_ends() {
        let mut tally = Tally::new(US, 0);
        for serial in 0..100 {
            // Stamped every millisecond, taken in two milliseconds each.
            event(&mut tally, serial, serial, 2 * serial, US);
        }

        let counted = tally.window(0.0, 60.0, 1.0);
        assert_eq!((counted.events, counted.records), (60, 120));
        // Of 60 events the last 30 came late, until the time 118.
        assert_eq!(counted.queued, 60);
        assert!((counted.drain_s - 0.059).abs() < 1e-9, "{}", counted.drain_s);
    }
}
