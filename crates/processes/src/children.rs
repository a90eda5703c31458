//! The children of this process. As a subreaper it adopts the orphans among its descendants,
//! whatever group or session they went to: a child that it did not start itself was left behind by
//! one of its programs.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, child_subreaper, getpid, kill_process, waitpid};

use super::group::{find, parent};

/// Children at one moment, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Children(BTreeSet<i32>);

impl Children {
    /// The children that this process has now, zombies among them.
    pub fn now() -> Children {
        Children(listed_children().unwrap_or_else(|| {
            let own_pid = getpid();
            let children = find(|pid| parent(pid) == Some(own_pid));
            children.map(|child| child.as_raw_nonzero().get()).collect()
        }))
    }

    /// These without `others`.
    pub fn without(mut self, others: &Children) -> Children {
        self.0.retain(|number| !others.0.contains(number));
        self
    }

    /// Adds a child.
    pub fn insert(&mut self, child: Pid) {
        self.0.insert(child.as_raw_nonzero().get());
    }

    /// The children, each by its process.
    pub fn iter(&self) -> impl Iterator<Item = Pid> {
        self.0.iter().filter_map(|number| Pid::from_raw(*number))
    }

    /// The memory in KiB of these and of all their descendants; what processes share is divided
    /// among them (PSS). `None` if this user may not read that of one of them.
    pub fn memory_kib(&self) -> Option<u64> {
        let mut known = self.0.clone();
        loop {
            let before = known.len();
            for pid in find(|_| true) {
                if parent(pid).is_some_and(|parent| known.contains(&parent.as_raw_nonzero().get()))
                {
                    known.insert(pid.as_raw_nonzero().get());
                }
            }
            if known.len() == before {
                break;
            }
        }

        known.iter().map(|number| proportional_memory_kib(*number)).sum()
    }

    /// Reaps those that have ended. None may be a [`std::process::Child`], whose `wait` would then
    /// fail.
    pub fn reap(&self) {
        for child in self.iter() {
            let _ = waitpid(Some(child), WaitOptions::NOHANG);
        }
    }

    /// Kills every orphan that this process has adopted since these were its children, and waits as
    /// [`Children::end_others`] does. Does nothing in a process that adopts none.
    pub fn end_adopted(&self, limit: Duration) {
        if matches!(child_subreaper(), Ok(Some(_))) {
            self.end_others(limit);
        }
    }

    /// Kills every child but these, then the orphans that the killed leave to this process, and
    /// waits until all have ended, but no longer than `limit`. A child of another user's, as
    /// sudo(8) leaves it, cannot be killed and is not waited for.
    pub fn end_others(&self, limit: Duration) {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(100);
        loop {
            let others = Children::now().without(self);
            let mut are_gone = true;
            for child in others.iter() {
                if kill_process(child, Signal::KILL).is_ok() {
                    are_gone = false;
                }
            }
            others.reap();
            if are_gone || Instant::now() > deadline {
                return;
            }

            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
    }
}

/// The children of each thread as the kernel lists them; `None` where it does not.
fn listed_children() -> Option<BTreeSet<i32>> {
    let mut numbers = BTreeSet::new();
    for thread in fs::read_dir("/proc/self/task").ok()?.flatten() {
        let children = fs::read_to_string(thread.path().join("children")).ok()?;
        numbers.extend(children.split_whitespace().filter_map(|child| child.parse::<i32>().ok()));
    }

    Some(numbers)
}

/// The proportional memory of a process in KiB: 0 of one that has ended meanwhile. `None` if this
/// user may not read it.
fn proportional_memory_kib(number: i32) -> Option<u64> {
    let text = match fs::read_to_string(format!("/proc/{number}/smaps_rollup")) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => return None,
        Err(_) => return Some(0),
    };
    let line = text.lines().find_map(|line| line.strip_prefix("Pss:")).unwrap_or("0 kB");
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn both_ways_to_find_children_agree() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let own = getpid();
        let by_parent: BTreeSet<i32> = find(|pid| parent(pid) == Some(own))
            .map(|child| child.as_raw_nonzero().get())
            .collect();
        assert!(by_parent.contains(&child.id().cast_signed()));
        assert!(listed_children().is_none_or(|listed| listed.contains(&child.id().cast_signed())));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
