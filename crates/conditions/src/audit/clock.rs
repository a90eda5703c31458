//! Records are stamped with the wall clock, which moves in ticks; windows with CLOCK_MONOTONIC.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

/// Returns CLOCK_MONOTONIC in ns.
pub(crate) fn monotonic() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// Returns the milliseconds since 1970.
pub(crate) fn wall_ms() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime)) / 1_000_000
}

/// Returns the calling thread's processor time in ns.
pub(crate) fn thread_time() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

/// Returns the length of a tick in ns: the step of the clock that records are stamped with.
pub(crate) fn tick() -> f64 {
    nanoseconds(clock_getres(ClockId::RealtimeCoarse)) as f64
}

/// Returns the wall clock less CLOCK_MONOTONIC, in ns.
pub(crate) fn offset() -> i128 {
    let before = monotonic();
    let wall = nanoseconds(clock_gettime(ClockId::Realtime));
    let after = monotonic();
    i128::from(wall) - i128::from(u64::midpoint(before, after))
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clocks_run_alike() {
        assert!((super::offset() - super::offset()).abs() < 5_000_000);
    }
}
