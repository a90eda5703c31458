//! The end of a daemon that the tool started for itself.

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Ends a child as it wants to be ended, so that it cleans up after itself; after `patience`, by force.
pub fn end(child: &mut Child, patience: Duration) {
    let pid = Pid::from_raw(child.id().cast_signed());
    if let Some(pid) = pid.filter(|_| matches!(child.try_wait(), Ok(None))) {
        let _ = kill_process(pid, Signal::TERM);
    }
    let deadline = Instant::now() + patience;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}
