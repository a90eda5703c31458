//! One copy of a program, from its spawn until it is reaped.
//!
//! The tool never blocks on a program: its pipes are non-blocking, [`Program::read_output`] takes
//! what they have, and [`Program::pipes`] are what the supervisor polls. A program leads a process
//! group, and stays unreaped until the whole group has been killed: until then its number belongs
//! to nobody else.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{self, Child, ChildStderr, ChildStdout, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::protocol::{Parser, short};
use display::Variable;
use processes::{Group, exit_status, reap, stop_signal};

/// Bytes of stderr that are kept: more than a message can use.
const MAX_STDERR_BYTES: usize = 64 << 10;

/// The variable that programs get from the tool, unless their environment has another value.
pub const LANGUAGE: &str = "LANG";

/// An executable, its arguments, and where it works.
pub struct Command<'a> {
    /// The executable's path.
    pub path: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its working directory, if it does not work where the tool does.
    pub folder: Option<&'a Path>,
    /// The variables in which its environment differs from the tool's.
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
    /// What it has written to stderr, up to [`MAX_STDERR_BYTES`].
    errors: Vec<u8>,
    exit: Option<ExitStatus>,
    /// True if the terminal has stopped it; nobody would continue it.
    is_stopped: bool,
    /// Once it is reaped, its number may be another's.
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
    /// It cannot be started; the sentence says why, and what to try.
    pub fn spawn(command: &Command<'_>) -> Result<Program, String> {
        let Command { path, args, folder, environment } = command;
        let mut process = process::Command::new(path);
        // A program that makes a session of its own leads a group by that, and could not if it
        // already led one.
        if !args.iter().any(|word| word == "session=1") {
            process.process_group(0);
        }
        // UnixBench sets this and nothing else; LC_ALL, where set, overrides it.
        process.env(LANGUAGE, "en_US.utf8");
        display::set_variables(&mut process, environment);
        if let Some(folder) = folder {
            process.current_dir(folder);
        }

        let mut child = process
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| describe_spawn_failure(path, &error))?;
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let pid = Pid::from_child(&child);
        let program = Program {
            child,
            pid,
            group: Group::led_by(pid, None),
            stdout,
            stderr,
            output: Parser::default(),
            errors: Vec::new(),
            exit: None,
            is_stopped: false,
            is_reaped: false,
        };

        for pipe in program.pipes() {
            rustix::io::ioctl_fionbio(pipe, true)
                .map_err(|error| describe_spawn_failure(path, &error.into()))?;
        }
        Ok(program)
    }

    /// The pipes that are still open, to be polled.
    pub fn pipes(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd)]
            .into_iter()
            .flatten()
    }

    /// Reads what the program has printed, and notes if it has ended. Kills it if the terminal has
    /// stopped it, or if it has broken the protocol.
    pub fn read_output(&mut self) {
        // Before its output: what a program prints last is then read.
        if self.exit.is_none() && !self.is_reaped {
            self.is_stopped |= stop_signal(self.pid).is_some();
            if self.is_stopped {
                self.signal(Signal::KILL);
            }
            self.exit = exit_status(self.pid);
        }

        let output = &mut self.output;
        read_available(&mut self.stdout, |bytes| output.feed(bytes));
        let errors = &mut self.errors;
        // Beyond the limit it is read and dropped, so that the program does not block.
        read_available(&mut self.stderr, |bytes| {
            errors.extend_from_slice(&bytes[..bytes.len().min(MAX_STDERR_BYTES - errors.len())]);
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

    /// True if the process has ended.
    pub fn has_ended(&self) -> bool {
        self.exit.is_some()
    }

    /// Takes the pipe of its stdout, which then blocks whoever reads it.
    ///
    /// # Errors
    /// The pipe was taken already, or the kernel refuses.
    pub fn take_stdout(&mut self) -> std::io::Result<ChildStdout> {
        let stdout = self.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        rustix::io::ioctl_fionbio(&stdout, false)?;
        Ok(stdout)
    }

    /// The stage of its preparations.
    pub fn stage(&self) -> Stage {
        if self.output.is_ready {
            Stage::Ready
        } else if self.has_ended() || self.output.has_ended() {
            Stage::Failed
        } else {
            Stage::Preparing
        }
    }

    /// Writes to its stdin. Failures are not reported: that it is gone shows in its output.
    pub fn send(&mut self, lines: &str) {
        if let Some(stdin) = self.child.stdin.as_mut() {
            let _ = stdin.write_all(lines.as_bytes());
        }
    }

    /// Closes its stdin, upon which a load reports and ends.
    pub fn close_stdin(&mut self) {
        self.child.stdin = None;
    }

    /// Asks the program to end by itself. One that executes commands then ends whatever these have
    /// started, also what has left its group.
    pub fn ask_to_end(&mut self) {
        self.close_stdin();
        if !self.is_reaped && exit_status(self.pid).is_none() {
            self.signal(Signal::TERM);
        }
    }

    /// True if there is no need to wait for its end.
    pub fn is_gone(&self) -> bool {
        self.is_reaped || exit_status(self.pid).is_some()
    }

    /// Kills the program and all of its group, and reaps them: as their subreaper the tool is the
    /// parent of every orphan in the group.
    pub fn end(&mut self) {
        if !self.is_reaped {
            let status = reap(&mut self.child);
            self.exit = self.exit.or(status);
            self.is_reaped = true;
        }
    }

    /// Why the program failed: how it ended, or else `why`. Only `why` if it broke the protocol,
    /// since then the tool has killed it.
    pub fn reason(&self, why: String) -> String {
        if self.output.is_broken() { why } else { self.failure().unwrap_or(why) }
    }

    /// How the program ended, with the last line of its stderr; `None` if it ended well or still
    /// runs.
    pub fn failure(&self) -> Option<String> {
        let status = self.exit?;
        if self.is_stopped {
            let why = "it waits for the terminal, which programs that are measured do not get";
            return Some(why.to_owned());
        }
        let how = match (status.code(), status.signal()) {
            (Some(0), _) => return None,
            (Some(code), _) => format!("it ended with exit status {code}"),
            (None, Some(4)) => {
                "it was killed by SIGILL: its build is for another processor".to_owned()
            }
            (None, signal) => format!("it was killed by {}", signal_name(signal)),
        };

        let stderr = String::from_utf8_lossy(&self.errors);
        match stderr.lines().rev().find(|line| !line.trim().is_empty()).map(short) {
            Some(line) => Some(format!("{how}, saying '{line}'")),
            None => Some(how),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// Reads what a non-blocking pipe has, and drops the pipe at its end.
fn read_available(pipe: &mut Option<impl Read>, mut take: impl FnMut(&[u8])) {
    /// A flood is left after so many reads, so that a signal or a time-out is noticed.
    const MAX_READS: usize = 64;

    let mut bytes = [0_u8; 64 << 10];
    for _ in 0..MAX_READS {
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

/// Why a spawn failed, and what to try.
fn describe_spawn_failure(path: &Path, error: &std::io::Error) -> String {
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
        ErrorKind::PermissionDenied => describe_denied_file(path),
        ErrorKind::WouldBlock => format!(
            "{name} cannot be started: the limit on processes is reached (ulimit -u, or the pids cgroup); try fewer copies"
        ),
        _ if error.raw_os_error() == Some(24) => {
            format!(
                "{name} cannot be started: too many open files; try `ulimit -n 100000` or fewer copies"
            )
        }
        _ => format!("{name} cannot be started: {error}"),
    }
}

/// Why a file may not be executed: its mode, its owner, or its mount.
fn describe_denied_file(path: &Path) -> String {
    let shown = path.display();
    let has_bit = fs::metadata(path).map_or(true, |file| file.permissions().mode() & 0o111 != 0);
    if !has_bit {
        return format!(
            "{shown} cannot be executed: it has no execute permission; try chmod +x {shown}"
        );
    }
    if !files::is_noexec(path) {
        return format!(
            "{shown} cannot be executed by this user; check its permissions and those of its directories"
        );
    }
    let is_cached = build::cache_folder().is_ok_and(|cache| path.starts_with(cache));
    let remedy = if is_cached {
        "set XDG_CACHE_HOME to a directory on another file system"
    } else {
        "try a copy on another file system"
    };
    format!("{shown} cannot be executed: it is on a noexec mount; {remedy}")
}

fn signal_name(signal: Option<i32>) -> String {
    let signal = signal.unwrap_or(0);
    signal_hook::low_level::signal_name(signal)
        .map_or_else(|| format!("signal {signal}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A group is killed by its number, so the number must not become another's while other
    /// programs still run.
    #[test]
    fn the_number_of_a_program_stays_its_own_until_its_group_has_been_ended() {
        let command = Command {
            path: "/bin/true".into(),
            args: Vec::new(),
            folder: Some(Path::new("/")),
            environment: &[],
        };
        let mut program = Program::spawn(&command).unwrap();
        while !program.has_ended() {
            program.read_output();
            std::thread::yield_now();
        }
        let is_there =
            |pid: Pid| Path::new("/proc").join(pid.as_raw_nonzero().to_string()).exists();
        assert!(is_there(program.pid), "it was reaped when it ended");
        program.end();
        assert!(!is_there(program.pid));
        program.read_output();
        assert!(program.has_ended());
        assert_eq!(program.failure(), None);
    }
}
