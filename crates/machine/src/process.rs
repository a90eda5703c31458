//! Processes: where a command lies, how long the dying are waited for, and how a child is ended.

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::fs::{Access, access};
use rustix::process::{Pid, Signal, kill_process};

/// Returns the absolute path of a command on the PATH, or among the administrators' commands, which are not on everybody's.
pub fn find_command(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|path| access(path, Access::EXEC_OK).is_ok())
}

/// Tries for a second until `attempt` succeeds, since the last processes of a group may still be dying; returns its last answer.
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
