//! The clocks of a trail: records are stamped with the wall clock, which moves in ticks; windows
//! are intervals of CLOCK_MONOTONIC.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

pub(crate) fn monotonic_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::Monotonic))
}

/// The milliseconds since 1970.
pub(crate) fn wall_ms() -> u64 {
    nanoseconds(clock_gettime(ClockId::Realtime)) / 1_000_000
}

pub(crate) fn thread_cpu_ns() -> u64 {
    nanoseconds(clock_gettime(ClockId::ThreadCPUTime))
}

/// The length of a tick: the step of the clock that records are stamped with.
pub(crate) fn tick_ns() -> f64 {
    nanoseconds(clock_getres(ClockId::RealtimeCoarse)) as f64
}

/// The wall clock less CLOCK_MONOTONIC.
pub(crate) fn wall_offset_ns() -> i128 {
    // The wall clock is read between two looks at the other; the middle of these is its time.
    let before = monotonic_ns();
    let wall = nanoseconds(clock_gettime(ClockId::Realtime));
    let after = monotonic_ns();
    i128::from(wall) - i128::from(u64::midpoint(before, after))
}

fn nanoseconds(time: Timespec) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_clocks_run_alike() {
        assert!((super::wall_offset_ns() - super::wall_offset_ns()).abs() < 5_000_000);
    }
}
