//! Process groups that outlive the process which made them: how they are distinguished from others
//! of the same number, and ended.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
    test_kill_process, test_kill_process_group,
};
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// A process group, and the control group that its processes are in if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The number of the group and of the process that leads it.
    leader: i32,
    /// The start of the leader, in clock ticks since boot: another process of its number was
    /// started later. 0 where /proc is not mounted, so that the group goes by its number alone.
    started: u64,
    /// Its session. A leader may have made one of its own since.
    session: i32,
    /// A control group (version 2) that nothing else is in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cgroup: Option<PathBuf>,
}

/// A process as `/proc/PID/stat` describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessStatus {
    pid: Pid,
    is_dead: bool,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl Group {
    /// The group that an unreaped child leads.
    pub fn led_by(child: Pid, cgroup: Option<&Path>) -> Group {
        let status = ProcessStatus::read(child);
        let (started, session) = status.map_or((0, 0), |status| (status.started, status.session));
        Group {
            leader: child.as_raw_nonzero().get(),
            started,
            session,
            cgroup: cgroup.map(Path::to_path_buf),
        }
    }

    /// The group that a process is in, whose leader may have ended; `None` if the process has.
    pub fn around(process: Pid) -> Option<Group> {
        let status = ProcessStatus::read(process)?;
        let leader = Pid::from_raw(status.group).and_then(ProcessStatus::read);
        let started = match leader {
            Some(leader) => leader.started,
            // Without a leader the group is known by its oldest process.
            None => {
                let processes = find(|_| true).filter_map(ProcessStatus::read);
                let members = processes
                    .filter(|other| other.group == status.group && other.session == status.session);
                members.map(|member| member.started).min().unwrap_or(status.started)
            }
        };
        Some(Group { leader: status.group, started, session: status.session, cgroup: None })
    }

    /// True if a process is in the group.
    pub fn has(&self, process: Pid) -> bool {
        let status = ProcessStatus::read(process);
        status.is_some_and(|status| status.group == self.leader && status.session == self.session)
    }

    /// The number of the process that leads it.
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
            // Processes that have just ended may keep it for a moment. It costs nothing if it
            // stays.
            let _ = crate::retry(|| {
                fs::remove_dir(cgroup).or_else(|_| if cgroup.exists() { Err(()) } else { Ok(()) })
            });
        }
        Ok(())
    }

    /// Asks the processes of the group to end by themselves.
    pub fn ask_to_end(&self) {
        if let Some(leader) = self.leader_without_proc() {
            let _ = kill_process_group(leader, Signal::TERM);
        }
        for member in self.members() {
            member.signal(Signal::TERM);
        }
    }

    /// True if processes of the group are left.
    pub fn is_alive(&self) -> bool {
        let leader = self.leader_without_proc();
        leader.is_some_and(|leader| test_kill_process_group(leader).is_ok())
            || !self.members().is_empty()
    }

    /// The number of a group of which nothing else is known. The kernel does not give it away as
    /// long as any process is in the group.
    fn leader_without_proc(&self) -> Option<Pid> {
        Pid::from_raw(self.leader).filter(|_| self.started == 0)
    }

    /// Sends SIGKILL to the processes that are left of the group; false if none are.
    fn kill(&self) -> bool {
        let populated = self.cgroup.as_deref().is_some_and(kill_cgroup);
        let Some(leader) = Pid::from_raw(self.leader) else {
            return populated;
        };
        if let Some(leader) = self.leader_without_proc() {
            return kill_process_group(leader, Signal::KILL).is_ok() || populated;
        }

        let members = self.members();
        if self.has_its_leader(leader) == Some(true) {
            // Alive or a zombie, it keeps the number from others.
            let _ = kill_process_group(leader, Signal::KILL);
        } else {
            members.iter().for_each(|member| member.signal(Signal::KILL));
        }
        populated || !members.is_empty()
    }

    /// True if the group's own leader has its number, false if another process has it, and `None`
    /// if none has. The kernel does not give away a number that is still a group's, so where
    /// another has it the group is gone.
    fn has_its_leader(&self, leader: Pid) -> Option<bool> {
        ProcessStatus::read(leader).map(|status| status.started == self.started)
    }

    /// The living processes of the group.
    fn members(&self) -> Vec<ProcessStatus> {
        self.members_of(&living_processes())
    }

    /// The members of the group among the `living`. Without its leader it is known by its session:
    /// a process that began a session of its own may have taken the number since.
    fn members_of(&self, living: &[ProcessStatus]) -> Vec<ProcessStatus> {
        let has_its_leader =
            Pid::from_raw(self.leader).and_then(|leader| self.has_its_leader(leader));
        let is_member = |status: &&ProcessStatus| {
            status.group == self.leader
                && match has_its_leader {
                    Some(is_its_own) => is_its_own,
                    None => status.session == self.session && status.started >= self.started,
                }
        };
        living.iter().filter(is_member).copied().collect()
    }
}

/// Every process that lives.
fn living_processes() -> Vec<ProcessStatus> {
    find(|_| true).filter_map(ProcessStatus::read).filter(|status| !status.is_dead).collect()
}

/// Kills every process of several groups and every descendant of these, whatever group it is in,
/// and waits until all have ended, but no longer than `limit`.
///
/// All are stopped before the first is killed, since a process whose parent is gone is no longer
/// known as a descendant. A pass stops the members of the groups, then their children, then those
/// of the children; passes are repeated until one finds no new process.
pub fn end_with_descendants(groups: &[Group], limit: Duration) {
    let deadline = Instant::now() + limit;
    let mut pause = Duration::from_micros(200);
    // Processes to kill: their starts, by their numbers, since a number may become another's.
    let mut doomed: BTreeMap<i32, u64> = BTreeMap::new();
    loop {
        let living: BTreeMap<i32, ProcessStatus> =
            living_processes().into_iter().map(|status| (status.number(), status)).collect();
        let processes: Vec<ProcessStatus> = living.values().copied().collect();
        let members = groups.iter().flat_map(|group| group.members_of(&processes));
        let mut candidates: Vec<ProcessStatus> = members.collect();
        let mut is_complete = true;
        while !candidates.is_empty() {
            for process in candidates.drain(..) {
                // A process that has become another user's cannot be ended.
                let is_new = !is_among(&doomed, &process);
                if is_new && test_kill_process(process.pid).is_ok() {
                    process.signal(Signal::STOP);
                    doomed.insert(process.number(), process.started);
                    is_complete = false;
                }
            }

            let spared = processes.iter().filter(|process| !is_among(&doomed, process));
            let children = spared.filter(|process| {
                living.get(&process.parent).is_some_and(|parent| is_among(&doomed, parent))
            });
            candidates.extend(children.copied());
            // One that cannot be ended is never doomed, and would be found again for ever.
            candidates.retain(|process| test_kill_process(process.pid).is_ok());
        }

        // Each may have started others after this pass began and before it was stopped.
        if !is_complete {
            continue;
        }

        let survivors: Vec<&ProcessStatus> =
            processes.iter().filter(|process| is_among(&doomed, process)).collect();
        if survivors.is_empty() || Instant::now() > deadline {
            return;
        }

        survivors.iter().for_each(|process| process.signal(Signal::KILL));
        std::thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(20));
    }
}

/// True if a process is among those whose `starts` are given by their numbers.
fn is_among(starts: &BTreeMap<i32, u64>, process: &ProcessStatus) -> bool {
    starts.get(&process.number()) == Some(&process.started)
}

/// Kills every process of a control group; returns false if it has none.
fn kill_cgroup(cgroup: &Path) -> bool {
    let Ok(members) = fs::read_to_string(cgroup.join("cgroup.procs")) else {
        return false;
    };

    if members.is_empty() {
        return false;
    }

    // Before Linux 5.14 there is no such file.
    if fs::write(cgroup.join("cgroup.kill"), "1").is_err() {
        for pid in members.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
            signal_if(pid, Signal::KILL, || {
                fs::read_to_string(cgroup.join("cgroup.procs")).is_ok_and(|now| {
                    now.lines().any(|line| line == pid.as_raw_nonzero().to_string())
                })
            });
        }
    }
    true
}

/// Sends a signal to a process for which `is_it` holds once its number can no longer pass to
/// another (pidfd_open(2)).
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

pub fn parent(pid: Pid) -> Option<Pid> {
    Pid::from_raw(ProcessStatus::read(pid)?.parent)
}

/// A process that another one has started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    pub words: Vec<String>,
    /// The time since it was started.
    pub time: Duration,
    /// True if a signal has stopped it.
    pub is_stopped: bool,
}

/// The child of a process that was started last: in its group, as commands are, or the leader of a
/// group of its own, as what comes before and after them.
pub fn last_child(of: Pid) -> Option<Started> {
    let own_status = ProcessStatus::read(of)?;
    let processes = find(|_| true).filter_map(ProcessStatus::read);
    let children = processes.filter(|child| {
        let is_leader = child.group == child.number();
        child.parent == own_status.number() && (child.group == own_status.group || is_leader)
    });
    let child = children.filter(|child| !child.is_dead).max_by_key(|child| child.started)?;
    let line = fs::read(format!("/proc/{}/cmdline", child.number())).ok()?;
    let words = String::from_utf8_lossy(&line);
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let now = clock_gettime(ClockId::Boottime);
    let seconds = now.tv_sec as f64 + now.tv_nsec as f64 / 1e9 - child.started as f64 / ticks;
    Some(Started {
        words: words.trim_end_matches('\0').split('\0').map(str::to_owned).collect(),
        time: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
        is_stopped: is_stopped(child.pid),
    })
}

/// True if a signal has stopped a process; a tracer's stop is another.
fn is_stopped(process: Pid) -> bool {
    let text = fs::read(format!("/proc/{}/stat", process.as_raw_nonzero())).unwrap_or_default();
    state(&String::from_utf8_lossy(&text)) == Some('T')
}

/// The numbers of the processes for which `is_it` holds.
pub fn find(is_it: impl Fn(Pid) -> bool) -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(move |pid| is_it(*pid))
}

impl ProcessStatus {
    fn number(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends this very process a signal.
    fn signal(&self, signal: Signal) {
        let is_same =
            || ProcessStatus::read(self.pid).is_some_and(|now| now.started == self.started);
        signal_if(self.pid, signal, is_same);
    }

    /// `None` if there is no such process.
    fn read(pid: Pid) -> Option<ProcessStatus> {
        let text = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
        ProcessStatus::parse(pid, &String::from_utf8_lossy(&text))
    }

    /// Reads the line of proc_pid_stat(5). The name in parentheses may hold anything.
    fn parse(pid: Pid, text: &str) -> Option<ProcessStatus> {
        let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(1);
        let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
        let (parent, group, session, started) = (number(0)?, number(0)?, number(0)?, number(15)?);
        let id = |number: u64| i32::try_from(number).ok();
        Some(ProcessStatus {
            pid,
            is_dead: is_dead(text),
            parent: id(parent)?,
            group: id(group)?,
            session: id(session)?,
            started,
        })
    }
}

/// True if a process has ended and perhaps waits to be reaped, by its line of proc_pid_stat(5). The
/// name in parentheses may hold anything.
pub fn is_dead(stat: &str) -> bool {
    matches!(state(stat), Some('Z' | 'X' | 'x'))
}

/// The letter of a process's state, by its line of proc_pid_stat(5).
fn state(stat: &str) -> Option<char> {
    stat.rsplit_once(')')?.1.trim_start().chars().next()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_dead_are_known_whatever_their_name_is() {
        for (stat, dead) in [
            ("12 (sh) Z 1 12", true),
            ("12 (a) S) X 1 12", true),
            ("12 (a) Z) S 1 12", false),
            ("12 (sh) R 1 12", false),
            ("", false),
        ] {
            assert_eq!(is_dead(stat), dead, "{stat}");
        }
    }

    #[test]
    fn the_line_of_a_process_with_a_nasty_name() {
        let pid = Pid::from_raw(7).unwrap();
        let line = "7 (a) Z 9 (b) S 1 6 5 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 3";
        let expected =
            ProcessStatus { pid, is_dead: false, parent: 1, group: 6, session: 5, started: 12345 };
        assert_eq!(ProcessStatus::parse(pid, line), Some(expected));
        assert_eq!(ProcessStatus::parse(pid, "7 (cut"), None);
        assert!(
            ProcessStatus::read(rustix::process::getpid())
                .is_some_and(|own| !own.is_dead && own.started > 0)
        );
    }

    /// Starts a shell in a group of its own, which prints a line when it runs.
    fn shell(script: &str) -> std::process::Child {
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
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
        let led = |status: &ProcessStatus| {
            status.group == status.session && status.pid.as_raw_nonzero().get() == status.group
        };
        let is_daemon = |pid: &Pid| {
            ProcessStatus::read(*pid).is_some_and(|status| {
                led(&status)
                    && parent(*pid) == Some(Pid::from_raw(child.id().cast_signed()).unwrap())
            })
        };
        let daemon = find(|_| true).find(is_daemon).unwrap();
        let own = ProcessStatus::read(rustix::process::getpid()).unwrap();
        let status = ProcessStatus::read(daemon).unwrap();
        let stale = Group {
            leader: status.group,
            started: status.started - 1,
            session: own.session,
            cgroup: None,
        };
        stale.end(Duration::from_secs(20)).unwrap();
        assert!(ProcessStatus::read(daemon).is_some_and(|now| !now.is_dead), "it was killed");
        let of_it = || {
            find(|_| true)
                .filter_map(ProcessStatus::read)
                .filter(|now| now.group == status.group && !now.is_dead)
                .count()
        };
        assert_eq!(of_it(), 2);
        signal_if(daemon, Signal::KILL, || true);
        child.wait().unwrap();
        stale.end(Duration::from_secs(20)).unwrap();
        assert_eq!(of_it(), 1, "a child of the daemon was killed");
        let rest =
            find(|_| true).filter_map(ProcessStatus::read).filter(|now| now.group == status.group);
        rest.for_each(|now| signal_if(now.pid, Signal::KILL, || true));
    }

    #[test]
    fn descendants_that_left_the_group_end_with_it() {
        let mut child = shell("setsid sh -c 'sleep 4711 & sleep 4712 & echo x; wait' & wait");
        let leader = Pid::from_raw(child.id().cast_signed()).unwrap();
        let group = Group::led_by(leader, None);
        let mut bystander = shell("echo x; exec sleep 1000");
        let born = ProcessStatus::read(leader).unwrap().started;
        let sleepers = || {
            let names = find(|_| true).filter_map(|pid| {
                let path = format!("/proc/{}/cmdline", pid.as_raw_nonzero());
                let status = ProcessStatus::read(pid)?;
                let line = fs::read(path).ok()?;
                let is_ours = line.starts_with(b"sleep\x00471") && status.started >= born;
                (is_ours && !status.is_dead).then_some(status)
            });
            names.count()
        };

        end_with_descendants(&[group], Duration::from_secs(20));

        assert_eq!(sleepers(), 0);
        assert!(bystander.try_wait().unwrap().is_none(), "it was ended, too");
        crate::reap(&mut bystander);
        child.wait().unwrap();
    }

    #[test]
    fn a_group_of_the_same_number_is_another() {
        let mut child = shell("echo x; exec sleep 1000");
        let group = Group::led_by(Pid::from_raw(child.id().cast_signed()).unwrap(), None);
        let lives =
            || crate::exit_status(Pid::from_raw(child.id().cast_signed()).unwrap()).is_none();
        // A start of 0 is none that is known: see `leader_without_proc`.
        for started in [group.started + 1, group.started - 1] {
            Group { started, ..group.clone() }.end(Duration::from_secs(20)).unwrap();
            assert!(lives(), "it was killed");
        }

        assert_eq!(group.members().len(), 1);
        crate::reap(&mut child);
        assert!(group.members().is_empty());
    }
}
