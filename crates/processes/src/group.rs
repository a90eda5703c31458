//! Process groups that outlive the process which made them: how they are told from others of the same number, and
//! ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// A process group, and the control group that its processes are in if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The number of the group and of the process that leads it.
    leader: i32,
    /// The start of the leader, in clock ticks since boot: another process of its number was started later.
    started: u64,
    /// Its session. A leader may have made one of its own since.
    session: i32,
    /// A control group (version 2) that nothing else is in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cgroup: Option<PathBuf>,
}

/// A process as `/proc/PID/stat` describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Status {
    pid: Pid,
    is_dead: bool,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl Group {
    /// Returns the group that an unreaped child leads.
    pub fn led_by(child: Pid, cgroup: Option<&Path>) -> Group {
        let status = Status::read(child);
        let (started, session) = status.map_or((0, 0), |status| (status.started, status.session));
        Group { leader: child.as_raw_nonzero().get(), started, session, cgroup: cgroup.map(Path::to_path_buf) }
    }

    /// Returns the number of the process that leads it.
    pub fn leader(&self) -> i32 {
        self.leader
    }

    /// Kills every process of the group and waits until all have ended; removes its control group.
    ///
    /// # Errors
    /// A sentence: some had not ended after `limit`.
    pub fn end(&self, limit: Duration) -> Result<(), String> {
        let deadline = Instant::now() + limit;
        let mut pause = Duration::from_micros(200);
        while self.kill() {
            if Instant::now() > deadline {
                return Err(format!("process group {} does not end", self.leader));
            }
            std::thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(20));
        }
        if let Some(cgroup) = &self.cgroup {
            // Not there any more, or not empty for a moment yet: an empty one costs nothing.
            let _ = crate::retry(|| fs::remove_dir(cgroup).or_else(|_| if cgroup.exists() { Err(()) } else { Ok(()) }));
        }
        Ok(())
    }

    /// Sends SIGKILL to what is left of the group; returns false if nothing is.
    fn kill(&self) -> bool {
        let populated = self.cgroup.as_deref().is_some_and(kill_cgroup);
        let Some(leader) = Pid::from_raw(self.leader) else { return populated };
        let members = self.members();
        if self.has_its_leader(leader) == Some(true) {
            // Alive or a zombie, it keeps the number from others.
            let _ = kill_process_group(leader, Signal::KILL);
        } else {
            for member in &members {
                let is_same = || Status::read(member.pid).is_some_and(|now| now.started == member.started);
                signal_if(member.pid, Signal::KILL, is_same);
            }
        }
        populated || !members.is_empty()
    }

    /// Returns true if the group's own leader has its number, false if another process has it, and nothing if none has.
    /// The kernel does not give away a number that is still a group's, so where another has it the group is gone.
    fn has_its_leader(&self, leader: Pid) -> Option<bool> {
        Status::read(leader).map(|status| status.started == self.started)
    }

    /// Returns the living processes of the group. Without its leader it is known by its session: what begins a session
    /// of its own may have taken the number since.
    fn members(&self) -> Vec<Status> {
        let has_its_leader = Pid::from_raw(self.leader).and_then(|leader| self.has_its_leader(leader));
        let is_member = |status: &Status| {
            status.group == self.leader
                && !status.is_dead
                && match has_its_leader {
                    Some(is_its_own) => is_its_own,
                    None => status.session == self.session && status.started >= self.started,
                }
        };
        find(|_| true).filter_map(Status::read).filter(is_member).collect()
    }
}

/// Kills every process of a control group; returns false if it has none.
fn kill_cgroup(cgroup: &Path) -> bool {
    let Ok(members) = fs::read_to_string(cgroup.join("cgroup.procs")) else { return false };
    if members.is_empty() {
        return false;
    }
    // Since Linux 5.14.
    if fs::write(cgroup.join("cgroup.kill"), "1").is_err() {
        for pid in members.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
            signal_if(pid, Signal::KILL, || {
                fs::read_to_string(cgroup.join("cgroup.procs"))
                    .is_ok_and(|now| now.lines().any(|line| line == pid.as_raw_nonzero().to_string()))
            });
        }
    }
    true
}

/// Sends a signal to a process for which `is_it` holds once its number can no longer pass to another (pidfd_open(2)).
pub fn signal_if(pid: Pid, signal: Signal, is_it: impl Fn() -> bool) {
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else {
        // Before Linux 5.3, or the process is gone.
        if is_it() {
            let _ = kill_process(pid, signal);
        }
        return;
    };
    if is_it() {
        let _ = pidfd_send_signal(handle, signal);
    }
}

/// Returns the parent of a process.
pub fn parent(pid: Pid) -> Option<Pid> {
    Pid::from_raw(Status::read(pid)?.parent)
}

/// Returns the numbers of the processes for which `is_it` holds.
pub fn find(is_it: impl Fn(Pid) -> bool) -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)).filter(move |pid| is_it(*pid))
}

impl Status {
    /// `None` if there is no such process.
    fn read(pid: Pid) -> Option<Status> {
        let text = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        Status::parse(pid, &String::from_utf8_lossy(&text))
    }

    /// Reads the line of proc_pid_stat(5). The name in parentheses may hold anything.
    fn parse(pid: Pid, text: &str) -> Option<Status> {
        let mut fields = text.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let (parent, group, session, started) = (number(0)?, number(0)?, number(0)?, number(15)?);
        let id = |number: u64| i32::try_from(number).ok();
        Some(Status {
            pid,
            is_dead: matches!(state, "Z" | "X" | "x"),
            parent: id(parent)?,
            group: id(group)?,
            session: id(session)?,
            started,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_line_of_a_process_with_a_nasty_name() {
        let pid = Pid::from_raw(7).unwrap();
        let line = "7 (a) Z 9 (b) S 1 6 5 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 3";
        let expected = Status { pid, is_dead: false, parent: 1, group: 6, session: 5, started: 12345 };
        assert_eq!(Status::parse(pid, line), Some(expected));
        assert_eq!(Status::parse(pid, "7 (cut"), None);
        assert!(Status::read(rustix::process::getpid()).is_some_and(|own| !own.is_dead && own.started > 0));
    }

    /// Starts a shell in a group of its own, which prints a line when it runs.
    fn shell(script: &str) -> std::process::Child {
        let mut child =
            Command::new("/bin/sh").args(["-c", script]).process_group(0).stdout(Stdio::piped()).spawn().unwrap();
        let mut byte = [0_u8];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut byte).unwrap();
        child
    }

    #[test]
    fn a_group_ends_whole_even_after_its_leader_was_reaped() {
        let mut child = shell("sleep 1000 & echo x; exec >&-; wait");
        let group = Group::led_by(Pid::from_raw(child.id().cast_signed()).unwrap(), None);
        assert_eq!(group.members().len(), 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(group.members().len(), 1, "the leader's child is left");
        group.end(Duration::from_secs(20)).unwrap();
        assert!(group.members().is_empty());
    }

    /// A number that came round: a daemon that leads a session, and then only its children.
    #[test]
    fn a_session_of_the_same_number_is_another() {
        let mut child = shell("exec setsid -w sh -c 'sleep 1000 & echo $$; exec >&-; wait'");
        let led = |status: &Status| status.group == status.session && status.pid.as_raw_nonzero().get() == status.group;
        let is_daemon = |pid: &Pid| {
            Status::read(*pid).is_some_and(|status| {
                led(&status) && parent(*pid) == Some(Pid::from_raw(child.id().cast_signed()).unwrap())
            })
        };
        let daemon = find(|_| true).find(is_daemon).unwrap();
        let own = Status::read(rustix::process::getpid()).unwrap();
        let status = Status::read(daemon).unwrap();
        let stale = Group { leader: status.group, started: status.started - 1, session: own.session, cgroup: None };
        stale.end(Duration::from_secs(20)).unwrap();
        assert!(Status::read(daemon).is_some_and(|now| !now.is_dead), "it was killed");
        let of_it =
            || find(|_| true).filter_map(Status::read).filter(|now| now.group == status.group && !now.is_dead).count();
        assert_eq!(of_it(), 2);
        signal_if(daemon, Signal::KILL, || true);
        child.wait().unwrap();
        stale.end(Duration::from_secs(20)).unwrap();
        assert_eq!(of_it(), 1, "a child of the daemon was killed");
        let rest = find(|_| true).filter_map(Status::read).filter(|now| now.group == status.group);
        rest.for_each(|now| signal_if(now.pid, Signal::KILL, || true));
    }

    #[test]
    fn a_group_of_the_same_number_is_another() {
        let mut child = shell("echo x; exec sleep 1000");
        let group = Group::led_by(Pid::from_raw(child.id().cast_signed()).unwrap(), None);
        let lives = || crate::exit_status(Pid::from_raw(child.id().cast_signed()).unwrap()).is_none();
        for started in [group.started + 1, group.started - 1, 0] {
            Group { started, ..group.clone() }.end(Duration::from_secs(20)).unwrap();
            assert!(lives(), "it was killed");
        }
        assert_eq!(group.members().len(), 1);
        crate::reap(&mut child);
        assert!(group.members().is_empty());
    }
}
