//! One copy of a program, from spawn to reaped.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStderr, ChildStdout, ExitStatus, Stdio};

use rustix::fs::{StatVfsMountFlags, statvfs};
use rustix::process::{Pid, Signal, kill_process_group};

use super::protocol::{Parser, short};
use display::Variable;
use processes::{Group, exit_status, reap};

/// The most bytes of stderr that are kept: more than a message can use.
const MOST_STDERR: usize = 64 << 10;

/// The variable that programs get from the tool, unless their environment has another value.
pub const LANGUAGE: &str = "LANG";

/// An executable, its arguments, and where it works.
pub struct Command<'a> {
    /// The executable's path.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub folder: &'a Path,
    /// Its environment where that differs from the tool's own.
    pub environment: &'a [Variable],
}

/// A spawned copy.
#[derive(Debug)]
pub struct Program {
    child: Child,
    pub pid: Pid,
    /// The process group it leads.
    pub group: Group,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    /// Its output so far.
    pub output: Parser,
    errors: Vec<u8>,
    ended: Option<ExitStatus>,
    /// From then on its number may be another's.
    is_reaped: bool,
}

/// The stage of a copy's preparations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// It has not printed anything yet.
    Preparing,
    /// It printed `ready`.
    Ready,
    /// It printed something else first, or ended.
    Failed,
}

impl Program {
    /// Spawns an executable, leading a process group of its own.
    ///
    /// # Errors
    /// A sentence saying why it could not be started.
    pub fn spawn(command: &Command<'_>) -> Result<Program, String> {
        let Command { path, args, folder, environment } = command;
        let why = |error: std::io::Error| refused(path, &error);
        let mut process = process::Command::new(path);
        // A program that makes a session of its own leads a group by that, and could not if it already led one.
        if !args.iter().any(|word| word == "session=1") {
            process.process_group(0);
        }
        // UnixBench sets this and nothing else; LC_ALL, where set, overrides it.
        process.env(LANGUAGE, "en_US.utf8");
        display::set(&mut process, environment);
        let mut child = process
            .args(args)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(why)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let pid = Pid::from_child(&child);
        let program = Program {
            child,
            pid,
            group: Group::led_by(pid, None),
            stdout,
            stderr,
            output: Parser::default(),
            errors: Vec::new(),
            ended: None,
            is_reaped: false,
        };
        for pipe in program.pipes() {
            rustix::io::ioctl_fionbio(pipe, true).map_err(|error| why(error.into()))?;
        }
        Ok(program)
    }

    /// The pipes that are still open, to be polled.
    pub fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd)].into_iter().flatten()
    }

    /// Reads what the program has printed, and whether it ended.
    pub fn read_output(&mut self) {
        if self.ended.is_none() && !self.is_reaped {
            self.ended = exit_status(self.pid);
        }
        let output = &mut self.output;
        read_all(&mut self.stdout, |bytes| output.feed(bytes));
        let errors = &mut self.errors;
        // Beyond the limit it is read and dropped, so that the program does not block.
        read_all(&mut self.stderr, |bytes| {
            errors.extend_from_slice(&bytes[..bytes.len().min(MOST_STDERR - errors.len())]);
        });
        if self.output.is_broken() {
            self.signal(Signal::KILL);
        }
    }

    /// Sends a signal to all of its group.
    pub fn signal(&self, signal: Signal) {
        if !self.is_reaped {
            let _ = kill_process_group(self.pid, signal);
        }
    }

    /// Returns true if the process has ended.
    pub fn ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Takes what it prints, for whoever waits for that.
    ///
    /// # Errors
    /// It was taken already, or the kernel refuses.
    pub fn take_stdout(&mut self) -> std::io::Result<ChildStdout> {
        let stdout = self.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        rustix::io::ioctl_fionbio(&stdout, false)?;
        Ok(stdout)
    }

    /// Returns the stage of its preparations.
    pub fn stage(&self) -> Stage {
        if self.output.is_ready {
            Stage::Ready
        } else if self.ended() || self.output.has_ended() {
            Stage::Failed
        } else {
            Stage::Preparing
        }
    }

    /// Writes to its stdin. If it is gone, its output shows that.
    pub fn send(&mut self, lines: &str) {
        if let Some(stdin) = self.child.stdin.as_mut() {
            let _ = stdin.write_all(lines.as_bytes());
        }
    }

    /// Closes its stdin: a load reports and ends.
    pub fn close_stdin(&mut self) {
        self.child.stdin = None;
    }

    /// Ends the program and all of its group, and reaps them: as their subreaper the tool is the
    /// parent of every orphan in the group.
    pub fn end(&mut self) {
        if !self.is_reaped {
            let status = reap(&mut self.child);
            self.ended = self.ended.or(status);
            self.is_reaped = true;
        }
    }

    /// Returns why the program failed: `why` if it broke the protocol, for which it was killed, else how it ended, else
    /// `why`.
    pub fn reason(&self, why: String) -> String {
        if self.output.is_broken() { why } else { self.failure().unwrap_or(why) }
    }

    /// Returns why it failed, if its exit or its stderr says so.
    pub fn failure(&self) -> Option<String> {
        let status = self.ended?;
        let how = match (status.code(), status.signal()) {
            (Some(0), _) => return None,
            (Some(code), _) => format!("it ended with exit status {code}"),
            (None, Some(4)) => "it was killed by SIGILL: its build is for another processor".to_owned(),
            (None, signal) => format!("it was killed by {}", signal_name(signal)),
        };
        let stderr = String::from_utf8_lossy(&self.errors);
        let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).map(short);
        Some(last.map_or_else(|| how.clone(), |line| format!("{how}, saying '{line}'")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

fn read_all(pipe: &mut Option<impl Read>, mut take: impl FnMut(&[u8])) {
    let mut bytes = [0_u8; 64 << 10];
    // A program that floods is left after some pieces, so that a signal or a time-out is noticed.
    for _ in 0..64 {
        let Some(open) = pipe else { return };
        match open.read(&mut bytes) {
            Ok(0) => *pipe = None,
            Ok(count) => take(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => *pipe = None,
        }
    }
}

/// Returns why a spawn failed, and what to try.
fn refused(path: &Path, error: &std::io::Error) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    match error.kind() {
        ErrorKind::NotFound if fs::metadata(path).is_ok() => {
            format!("{name} cannot be started: its interpreter or loader is missing")
        }
        ErrorKind::NotFound if path.with_extension("c").exists() => {
            let source = path.with_extension("c");
            format!("{} does not exist; try `unixmark build {}`", path.display(), source.display())
        }
        ErrorKind::NotFound => format!("{} does not exist", path.display()),
        ErrorKind::PermissionDenied => not_permitted(path),
        ErrorKind::WouldBlock => format!(
            "{name} cannot be started: the limit on processes is reached (ulimit -u, or the pids cgroup); try fewer copies"
        ),
        _ if error.raw_os_error() == Some(24) => {
            format!("{name} cannot be started: too many open files; try `ulimit -n 100000` or fewer copies")
        }
        _ => format!("{name} cannot be started: {error}"),
    }
}

/// Returns why a file cannot be executed: its mode says so, or its mount does.
fn not_permitted(path: &Path) -> String {
    let shown = path.display();
    let has_bit = fs::metadata(path).map_or(true, |file| file.permissions().mode() & 0o111 != 0);
    if !has_bit {
        return format!("{shown} cannot be executed: it has no execute permission; try chmod +x {shown}");
    }
    match statvfs(path) {
        Ok(mount) if mount.f_flag.contains(StatVfsMountFlags::NOEXEC) => {
            format!("{shown} cannot be executed: it is on a noexec mount; try a copy on another file system")
        }
        _ => format!("{shown} cannot be executed by this user; check its permissions and those of its directories"),
    }
}

fn signal_name(signal: Option<i32>) -> String {
    let signal = signal.unwrap_or(0);
    signal_hook::low_level::signal_name(signal).map_or_else(|| format!("signal {signal}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group is killed by its number, so the number must not become another's while other programs still run.
    #[test]
    fn the_number_of_a_program_stays_its_own_until_its_group_has_been_ended() {
        let command = Command { path: "/bin/true".into(), args: Vec::new(), folder: Path::new("/"), environment: &[] };
        let mut program = Program::spawn(&command).unwrap();
        while !program.ended() {
            program.read_output();
            std::thread::yield_now();
        }
        let is_there = |pid: Pid| Path::new("/proc").join(pid.as_raw_nonzero().to_string()).exists();
        assert!(is_there(program.pid), "it was reaped when it ended");
        program.end();
        assert!(!is_there(program.pid));
        program.read_output();
        assert!(program.ended() && program.failure().is_none());
    }
}
