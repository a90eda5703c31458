//! Counts of records by their stamp and by their time of arrival, so that a window can be cut out afterwards.

use crate::audit::record::{self, Stamp};

/// The most events that may be incomplete at once: if several processors write, records of their events come
/// interleaved.
const OPEN_EVENTS: usize = 4096;

/// Milliseconds that are distinguished; what comes later counts for the last.
const LONGEST_MS: u64 = 60 * 60 * 1000;

/// Counts of records with the stamp of a millisecond, and of those that came in it.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    events: u32,
    records: u32,
    bytes: u64,
    arrived: u32,
}

/// The counts of a trail.
#[derive(Debug)]
pub(crate) struct Tally {
    /// The login uid whose events count.
    login_uid: u32,
    /// Milliseconds since 1970 of the first bin.
    origin: u64,
    bins: Vec<Bin>,
    /// The latest events by serial number, and whether each counts.
    open: Vec<(u64, bool)>,
    /// The first and the last serial number, and how many different ones.
    serials: Option<(u64, u64, u64)>,
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
    /// An empty one, for records from the time `origin` on, in milliseconds since 1970.
    pub(crate) fn new(login_uid: u32, origin: u64) -> Tally {
        Tally { login_uid, origin, bins: Vec::new(), open: vec![(u64::MAX, false); OPEN_EVENTS], serials: None }
    }

    /// Counts a record of `bytes` bytes that came at `now`, in milliseconds since 1970; returns
    /// whether it is the login uid's.
    pub(crate) fn take(&mut self, kind: u16, record: &[u8], bytes: usize, now: u64) -> bool {
        let Some(stamp) = record::stamp(record) else { return false };
        let (is_new, counts) = self.event(kind, stamp, record);
        if !counts {
            return false;
        }
        let bin = self.bin(stamp.ms);
        bin.events += u32::from(is_new);
        // What ends an event is not written to a trail.
        if kind != record::END {
            bin.records += 1;
            bin.bytes += bytes as u64;
            self.bin(now).arrived += 1;
        }
        true
    }

    /// Returns two answers: that a record begins an event, and that it counts. Another login uid's does not, nor one
    /// that begins with a change of auditing, or whose beginning was before the trail's.
    fn event(&mut self, kind: u16, stamp: Stamp, record: &[u8]) -> (bool, bool) {
        let begins = record::is_of_programs(kind) && !record::is_detail(kind);
        let counts = begins && record::login_uid(record).is_none_or(|uid| uid == self.login_uid);
        let slot = &mut self.open[usize::try_from(stamp.serial).unwrap_or_default() % OPEN_EVENTS];
        if slot.0 == stamp.serial {
            return (false, slot.1);
        }
        *slot = (stamp.serial, counts);
        let (first, last, different) = self.serials.unwrap_or((stamp.serial, stamp.serial, 0));
        self.serials = Some((first.min(stamp.serial), last.max(stamp.serial), different + 1));
        (true, counts)
    }

    /// Events that never came: serial numbers that are missing between the first and the last. The kernel gives one to
    /// each event that it writes, for whomever.
    pub(crate) fn missing(&self) -> u64 {
        self.serials.map_or(0, |(first, last, different)| (last - first + 1).saturating_sub(different))
    }

    fn bin(&mut self, ms: u64) -> &mut Bin {
        let index = usize::try_from(ms.saturating_sub(self.origin).min(LONGEST_MS)).unwrap_or_default();
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    /// Returns all events and bytes.
    pub(crate) fn totals(&self) -> (u64, u64) {
        self.bins.iter().fold((0, 0), |(events, bytes), bin| (events + u64::from(bin.events), bytes + bin.bytes))
    }

    /// Cuts out the window from `start` to `end`, in milliseconds since 1970. The kernel stamps with a clock that moves
    /// every `tick` milliseconds: what has a stamp was at any time of the tick after it.
    pub(crate) fn window(&self, start: f64, end: f64, tick: f64) -> Counted {
        let (mut events, mut records, mut bytes) = (0.0, 0.0, 0.0);
        for (time, bin) in self.timed() {
            let inside = ((time + tick).min(end) - time.max(start)).max(0.0) / tick;
            events += inside * f64::from(bin.events);
            records += inside * f64::from(bin.records);
            bytes += inside * bin.bytes as f64;
        }
        let records = records.round() as u64;
        let (queued, drain_s) = self.queued(end, tick);
        Counted {
            events: events.round() as u64,
            records,
            bytes: bytes.round() as u64,
            queued: (queued.round() as u64).min(records),
            drain_s,
        }
    }

    /// Returns the records stamped before `end` that came after it, and the seconds until they had come. Records come
    /// in the order of their stamps, so that both follow from how many there were and how many came by any time.
    fn queued(&self, end: f64, tick: f64) -> (f64, f64) {
        let mut stamped = 0.0;
        let mut came = 0.0;
        for (time, bin) in self.timed().take_while(|(time, _)| *time < end) {
            stamped += ((end - time) / tick).min(1.0) * f64::from(bin.records);
            came += f64::from(bin.arrived);
        }
        let queued: f64 = (stamped - came).max(0.0);
        if queued < 1.0 {
            return (0.0, 0.0);
        }
        let mut late = queued;
        for (time, bin) in self.timed().skip_while(|(time, _)| *time < end) {
            late -= f64::from(bin.arrived);
            if late < 1.0 {
                return (queued, (time + 1.0 - end) / 1000.0);
            }
        }
        (queued, 0.0)
    }

    fn timed(&self) -> impl Iterator<Item = (f64, &Bin)> {
        self.bins.iter().enumerate().map(|(index, bin)| ((self.origin + index as u64) as f64, bin))
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
        tally.take(1300, syscall.as_bytes(), 100, now);
        tally.take(1327, format!("{stamp}proctitle=\"x\"").as_bytes(), 50, now);
        tally.take(1320, stamp.as_bytes(), 30, now);
    }

    #[test]
    fn events_of_one_window_and_of_one_uid() {
        let mut tally = Tally::new(US, 10_000);
        for (serial, ms) in [(1, 10_000), (2, 10_100), (3, 10_200), (4, 10_300)] {
            event(&mut tally, ms, serial, ms, US);
        }
        event(&mut tally, 10_200, 5, 10_200, US + 1);
        tally.take(1305, b"audit(10.200:6): op=add_rule", 9, 10_200);
        assert_eq!(tally.totals(), (4, 600));
        let counted = tally.window(10_100.0, 10_300.0, 4.0);
        assert_eq!((counted.events, counted.records, counted.bytes, counted.queued), (2, 4, 300, 0));
    }

    #[test]
    fn records_of_two_events_may_come_mixed() {
        let mut tally = Tally::new(US, 0);
        for (kind, serial) in [(1300, 8), (1300, 7), (1327, 8), (1327, 7), (1320, 8), (1320, 7)] {
            tally.take(kind, format!("audit(0.001:{serial}): x").as_bytes(), 10, 2);
        }
        assert_eq!(tally.totals(), (2, 40));
    }

    #[test]
    fn events_that_never_came_leave_a_gap() {
        let mut tally = Tally::new(US, 0);
        assert_eq!(tally.missing(), 0);
        for serial in [5, 3, 4, 9] {
            event(&mut tally, 1, serial, 1, US);
        }
        tally.take(1120, b"audit(0.001:10): pid=1", 9, 1);
        assert_eq!((tally.missing(), tally.totals().0), (3, 4));
    }

    #[test]
    fn half_an_event_is_none() {
        let mut tally = Tally::new(US, 0);
        tally.take(1327, b"audit(0.001:1): proctitle=\"x\"", 9, 1);
        tally.take(1320, b"audit(0.001:1): ", 9, 1);
        tally.take(1305, b"audit(0.001:2): op=set auid=77", 9, 1);
        tally.take(1300, b"audit(0.001:2): pid=1 auid=77 uid=0", 9, 1);
        assert_eq!(tally.totals(), (0, 0));
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
