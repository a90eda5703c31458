//! Children of this process.

use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, kill_process_group, waitid,
    waitpgid,
};

/// Time for processes that were killed to end.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// How a child ended, if it has. It stays a zombie, so that nothing else gets its number.
pub fn exit_status(child: Pid) -> Option<ExitStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(child), options).ok()??;
    // The layout of wait(2): an exit code in the second byte, a signal in the first.
    let raw = status.exit_status().map(|code| code << 8).or(status.terminating_signal())?;
    Some(ExitStatus::from_raw(raw))
}

/// The terminal's signal by which a child is stopped, because it reads from the terminal or
/// sets it up in the background; nobody would let it go on.
pub fn stop_signal(child: Pid) -> Option<Signal> {
    let options = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let stopped = waitid(WaitId::Pid(child), options).ok()??.stopping_signal()?;
    [Signal::TTIN, Signal::TTOU].into_iter().find(|signal| signal.as_raw() == stopped)
}

/// Kills the group that an unreaped child leads, then reaps the child, and the others of the group
/// that are children of this process and end within 2 s.
pub fn reap(child: &mut Child) -> Option<ExitStatus> {
    let leader = Pid::from_child(child);
    if kill_process_group(leader, Signal::KILL).is_err() {
        // It does not lead its group yet, or the group is another's.
        let _ = kill_process(leader, Signal::KILL);
    }

    let status = child.wait().ok();
    let deadline = Instant::now() + END_TIMEOUT;
    while let Ok(reaped) = waitpgid(leader, WaitOptions::NOHANG) {
        if reaped.is_none() {
            if Instant::now() > deadline {
                break;
            }

            std::thread::sleep(Duration::from_micros(200));
        }
    }

    status
}

/// Ends a child with SIGTERM, so that it can clean up after itself; after `patience`, by force.
pub fn end_child(child: &mut Child, patience: Duration) {
    if matches!(child.try_wait(), Ok(None)) {
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
    }
    let deadline = Instant::now() + patience;
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }

    let _ = child.kill();
    let _ = child.wait();
}

/// Tries for a second until `attempt` succeeds, since the last processes of a group may still be
/// dying; returns its last answer.
///
/// # Errors
/// The last one of `attempt`.
pub fn retry<T, E>(mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 0..50 {
        if let Ok(answer) = attempt() {
            return Ok(answer);
        }

        std::thread::sleep(Duration::from_millis(20));
    }

    attempt()
}
