//! Commands that change the system, with a limit of time. Whoever must end them learns of their
//! group before they begin.

use std::fmt;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{self, Child, ExitStatus, Stdio};
use std::slice;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, memfd_create};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{Children, Group, Signals, end_with_descendants, exit_status, reap, stop_signal};

/// A script that joins the control group in its first word, if any, waits for a line and becomes
/// the command. Without a line it ends: a command must not begin before it is known who ends it.
const STARTER: &str = r#"[ -z "$1" ] || echo 0 >"$1/cgroup.procs" || exit 126
shift
read -r go || exit 126
exec "$@" </dev/null"#;

/// Of a longer output only the last bytes are kept.
const MAX_KEPT_OUTPUT_BYTES: u64 = 64 << 10;

/// The interval in which a command's output is cut, and in which it is asked whether it has ended
/// where the kernel does not tell (before Linux 5.3).
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The longest wait for a process to join its control group, and the time between looks.
const MAX_JOIN_TIME: Duration = Duration::from_millis(200);
const JOIN_POLL_INTERVAL: Duration = Duration::from_micros(200);

/// Time for the processes that a command has started to end.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// A command, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct Command<'a> {
    /// The path of its executable and its arguments.
    pub words: &'a [&'a str],
    /// Its working directory.
    pub folder: &'a Path,
    /// After this time it is killed.
    pub limit: Duration,
    /// A control group (version 2) for it alone.
    pub cgroup: Option<&'a Path>,
}

/// Signals that end a command before its time.
#[derive(Clone, Copy)]
pub struct Interrupt<'a> {
    /// The tool's signals.
    pub signals: &'a Signals,
    /// True once the command is to end.
    pub is_due: &'a dyn Fn(&Signals) -> bool,
}

/// Why a command came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// It was interrupted.
    Stopped,
    /// It failed, or took too long: a sentence.
    Failed(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Stopped => f.write_str("it was interrupted"),
            Failure::Failed(why) => f.write_str(why),
        }
    }
}

impl Command<'_> {
    /// The name of the command in messages: its words, or the first line of a script.
    fn name(&self) -> String {
        let ["/bin/sh", "-c", script, ..] = self.words else {
            return self.words.join(" ");
        };

        match script.trim().split_once('\n') {
            Some((first, _)) => format!("{first} …"),
            None => script.trim().to_owned(),
        }
    }

    /// Runs the command in a group of its own and returns what it printed. `register` learns of the
    /// group before the command begins, and its error keeps the command from beginning. Processes
    /// that the command leaves behind go on.
    ///
    /// # Errors
    /// It could not be started, exited with a failure, took too long, or was interrupted. In the
    /// last two cases its whole group has ended.
    pub fn run(
        &self,
        interrupt: Option<Interrupt<'_>>,
        register: &mut dyn FnMut(Group) -> Result<(), String>,
    ) -> Result<String, Failure> {
        let name = self.name();
        let failed = |why: std::io::Error| Failure::Failed(why.to_string());
        let stdout = memory_file().map_err(failed)?;
        let stderr = memory_file().map_err(failed)?;

        let children_before = Children::now();
        let mut child = self.start(&stdout, &stderr).map_err(|error| {
            Failure::Failed(format!("{} cannot be run: {error}", self.words[0]))
        })?;

        let begun = self.begin(&mut child, register);
        let ended = begun.and_then(|()| self.wait(&child, [&stdout, &stderr], interrupt));
        match ended {
            Ok(status) => {
                // It is reaped alone: processes that it left behind go on.
                let _ = child.wait();
                let (printed, errors) = (last_output(stdout), last_output(stderr));
                if status.success() {
                    return Ok(printed);
                }

                let last_words =
                    find_reason(&errors).map(|line| format!(": {line}")).unwrap_or_default();
                Err(Failure::Failed(format!("`{name}` failed ({status}){last_words}")))
            }
            Err(failure) => {
                self.end_processes(&mut child, &children_before);
                Err(failure)
            }
        }
    }

    /// Starts the process that becomes the command.
    fn start(&self, stdout: &File, stderr: &File) -> std::io::Result<Child> {
        process::Command::new("/bin/sh")
            .args(["-c", STARTER, "sh"])
            .arg(self.cgroup.unwrap_or(Path::new("")))
            .args(self.words)
            .current_dir(self.folder)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?)
            .spawn()
    }

    /// Lets the command begin, once `register` knows its group.
    fn begin(
        &self,
        child: &mut Child,
        register: &mut dyn FnMut(Group) -> Result<(), String>,
    ) -> Result<(), Failure> {
        self.wait_until_joined(child);
        register(Group::led_by(Pid::from_child(child), self.cgroup)).map_err(Failure::Failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            // If it has ended already, its exit status shows that.
            let _ = stdin.write_all(b"go\n");
        }
        Ok(())
    }

    /// Waits until the process is in its control group. The kernel may take 20 ms for that, which
    /// are not the command's.
    fn wait_until_joined(&self, child: &Child) {
        let Some(cgroup) = self.cgroup else { return };
        let pid = child.id().to_string();
        let deadline = Instant::now() + MAX_JOIN_TIME;
        while exit_status(Pid::from_child(child)).is_none() && Instant::now() < deadline {
            let members = fs::read_to_string(cgroup.join("cgroup.procs")).unwrap_or_default();
            if members.lines().any(|member| member == pid) {
                return;
            }
            std::thread::sleep(JOIN_POLL_INTERVAL);
        }
    }

    /// Waits until the command ends; it stays a zombie.
    fn wait(
        &self,
        child: &Child,
        outputs: [&File; 2],
        interrupt: Option<Interrupt<'_>>,
    ) -> Result<ExitStatus, Failure> {
        let deadline = Instant::now() + self.limit;
        let pid = Pid::from_child(child);
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        loop {
            if let Some(status) = exit_status(pid) {
                return Ok(status);
            }
            if stop_signal(pid).is_some() {
                let why = "waits for the terminal, which it does not get; have it ask nothing";
                return Err(Failure::Failed(format!("`{}` {why}", self.name())));
            }

            for output in outputs {
                free_all_but_end(output);
            }
            if let Some(interrupt) = interrupt {
                // Before the check, so that a signal after it ends the sleep below.
                interrupt.signals.drain();
                if (interrupt.is_due)(interrupt.signals) {
                    return Err(Failure::Stopped);
                }
            }
            let time_left = deadline.saturating_duration_since(Instant::now());
            if time_left.is_zero() {
                let (name, seconds) = (self.name(), self.limit.as_secs_f64());
                let why = format!("`{name}` was still running after {seconds} s and was killed");
                return Err(Failure::Failed(format!("{why}; --patience waits longer")));
            }

            sleep(
                handle.as_ref(),
                interrupt.map(|interrupt| interrupt.signals),
                time_left.min(POLL_INTERVAL),
            );
        }
    }

    /// Kills all processes that the command has started, also those that have left its group or
    /// lost their parent. Removes its control group.
    fn end_processes(&self, child: &mut Child, children_before: &Children) {
        let group = Group::led_by(Pid::from_child(child), self.cgroup);
        end_with_descendants(slice::from_ref(&group), END_TIMEOUT);
        reap(child);
        // If some do not end, the caller undoes what the command has done all the same.
        let _ = group.end(END_TIMEOUT);
        children_before.end_adopted(END_TIMEOUT);
    }
}

/// The line on stderr that says why a command failed: the first error of a compiler, which may
/// quote the source below it, or else the last line. Lines that only report that another step has
/// failed are passed over, unless there is nothing else.
fn find_reason(errors: &str) -> Option<&str> {
    let lines = || errors.lines().filter(|line| !line.trim().is_empty());
    let reasons = || lines().filter(|line| !is_consequence(line));
    reasons()
        .find(|line| is_compiler_error(line))
        .or_else(|| reasons().next_back())
        .or_else(|| lines().next_back())
        .map(str::trim)
}

/// `tool.c:3:1: error: …`, `error[E0425]: …`, and the like.
fn is_compiler_error(line: &str) -> bool {
    let starts_as_error =
        ["error: ", "error[", "CMake Error"].iter().any(|start| line.starts_with(start));
    starts_as_error || line.contains(": error: ") || line.contains(": fatal error: ")
}

/// True if make, ninja, a linker's driver or Cargo says only that something else has failed.
fn is_consequence(line: &str) -> bool {
    const CONSEQUENCES: [&str; 7] = [
        ": *** [",
        ": *** Waiting for unfinished jobs",
        "ninja: build stopped",
        "collect2: error: ",
        "error: linker command failed",
        "error: could not compile ",
        "error: linking with ",
    ];
    CONSEQUENCES.iter().any(|text| line.contains(text))
}

/// Sleeps until the process of a `handle` ends, a signal comes, or for `time`.
pub fn sleep(handle: Option<&OwnedFd>, signals: Option<&Signals>, time: Duration) {
    let ended = handle.map(AsFd::as_fd);
    let signal = signals.map(Signals::fd);
    let mut fds: Vec<PollFd<'_>> = [ended, signal]
        .into_iter()
        .flatten()
        .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
        .collect();
    // An interrupted poll is like any other wake-up.
    let _ = poll(&mut fds, Timespec::try_from(time).ok().as_ref());
}

/// A file in memory. Unlike a pipe it blocks no process that outlives the command, and need not be
/// read meanwhile.
fn memory_file() -> std::io::Result<File> {
    Ok(File::from(memfd_create("output", MemfdFlags::CLOEXEC)?))
}

/// Gives back the memory of an output, except its end. The file keeps its length, so that whatever
/// still writes goes on where it is.
fn free_all_but_end(file: &File) {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    if let Some(spare) = length.checked_sub(2 * MAX_KEPT_OUTPUT_BYTES) {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system without holes keeps all of it.
        let _ = fallocate(file, flags, 0, spare + 1);
    }
}

fn last_output(mut file: File) -> String {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let mut bytes = Vec::new();
    let _ = file
        .seek(SeekFrom::Start(length.saturating_sub(MAX_KEPT_OUTPUT_BYTES)))
        .and_then(|_| file.take(MAX_KEPT_OUTPUT_BYTES).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> Result<String, Failure> {
        let words = ["/bin/sh", "-c", script];
        Command { words: &words, folder: Path::new("/"), limit, cgroup: None }
            .run(None, &mut |_| Ok(()))
    }

    #[test]
    fn a_command_prints_fails_and_is_killed() {
        let minute = Duration::from_secs(60);
        assert_eq!(run("echo out; echo err >&2", minute), Ok("out\n".to_owned()));
        let failed = run("echo first >&2; echo last >&2; exit 3", minute);
        assert!(
            matches!(&failed, Err(Failure::Failed(why)) if why.ends_with("failed (exit status: 3): last")),
            "{failed:?}"
        );
        let late = run("sleep 1000", Duration::from_millis(50));
        assert!(
            matches!(&late, Err(Failure::Failed(why)) if why.contains("still running after 0.05 s")),
            "{late:?}"
        );
        // It prints more than it could without the memory being given back.
        let much = run("yes | head -c 2000000000; echo the end", minute).unwrap();
        assert!(much.len() <= 64 << 10 && much.ends_with("the end\n"), "{}", much.len());
        // What it leaves behind holds its output open, and keeps nobody waiting.
        assert_eq!(run("sleep 1 & echo early", minute), Ok("early\n".to_owned()));
    }

    #[test]
    fn of_what_a_build_says_the_first_error_is_the_reason() {
        let cases = [
            (
                "main.c: In function 'main':\nmain.c:3:5: error: 'x' undeclared\n    3 |     x = 1;\n      |     ^\n\
                 main.c:9:5: error: 'y' undeclared\n    9 |     y = 1;\n      |     ^\n\
                 make: *** [makefile:2: main.o] Error 1\n",
                "main.c:3:5: error: 'x' undeclared",
            ),
            (
                "main.c:1:10: fatal error: none.h: No such file or directory\n    1 | #include <none.h>\n\
                       |          ^~~~~~~~\ncompilation terminated.\n",
                "main.c:1:10: fatal error: none.h: No such file or directory",
            ),
            (
                "/usr/bin/ld: a.o: in function `main':\na.c:(.text+0x5): undefined reference to `f'\n\
                 collect2: error: ld returned 1 exit status\nmake: *** [makefile:1: a] Error 1\n",
                "a.c:(.text+0x5): undefined reference to `f'",
            ),
            (
                "warning: unused import: `std::fs`\n\nerror[E0425]: cannot find value `x` in this scope\n \
                 --> src/main.rs:2:5\n  |\n2 |     x\n  |     ^\n\nFor more information about this error, try \
                 `rustc --explain E0425`.\nerror: could not compile `a` (bin \"a\") due to 1 previous error\n",
                "error[E0425]: cannot find value `x` in this scope",
            ),
            ("# example.org/tool\n./main.go:20:2: undefined: x\n", "./main.go:20:2: undefined: x"),
            (
                "error: linking with `cc` failed: exit status: 1\n  |\n  = note: ld.lld: error: undefined \
                 symbol: f\n          >>> referenced by a.c\n\nerror: could not compile `a` (bin \"a\")\n",
                "= note: ld.lld: error: undefined symbol: f",
            ),
            ("make: *** [makefile:1: all] Error 3\n", "make: *** [makefile:1: all] Error 3"),
        ];
        for (errors, reason) in cases {
            assert_eq!(find_reason(errors), Some(reason));
        }
        assert_eq!(find_reason("\n \n"), None);
    }

    #[test]
    fn it_begins_only_once_its_group_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let words = ["/bin/sh", "-c", "touch begun"];
        let command = Command {
            words: &words,
            folder: folder.path(),
            limit: Duration::from_secs(60),
            cgroup: None,
        };
        let mut seen = Vec::new();
        let refused = command.run(None, &mut |group| {
            seen.push(group);
            Err("no room".to_owned())
        });
        assert_eq!(refused, Err(Failure::Failed("no room".to_owned())));
        assert!(!folder.path().join("begun").exists());
        assert!(seen[0].leader() > 0);
        assert_eq!(command.run(None, &mut |_| Ok(())), Ok(String::new()));
        assert!(folder.path().join("begun").exists());
    }
}
