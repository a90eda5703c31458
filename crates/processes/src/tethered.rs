//! A program that does not outlive this process, however this process ends.
//!
//! Nobody who was killed by SIGKILL can end what he has started, so another process must notice. A
//! shell starts the program, and next to it a subshell that reads from a pipe:
//!
//! 1. The pipe ends with this process. The subshell then kills the group, in which it is, too.
//! 2. If the program ends first, the shell ends the subshell and returns the program's status.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};

/// The shell's words are the program's. The last `wait` reaps the subshell; what a shell says of
/// its end is no output of the program's.
const TETHER: &str = r#"exec 3<&0 </dev/null
{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
"$@" 3<&-
status=$?
{ kill -KILL $!; wait; } 2>/dev/null
exit $status"#;

/// Runs a program and returns what it printed. It reads nothing, and has a process group of its
/// own; `complete` adds its arguments, directory and variables. The status is a shell's: 127 of a
/// program that was not found, and 128 more than the signal that ended it.
///
/// # Errors
/// The shell cannot be started.
pub fn tethered(program: &str, complete: impl FnOnce(&mut Command)) -> io::Result<Output> {
    let mut command = Command::new("/bin/sh");
    // The arguments that `complete` adds follow the program.
    complete(command.args(["-c", TETHER, "sh", program]));
    let mut child = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;

    // Held until the program has ended: when the pipe closes, the subshell kills. (Left in `child`,
    // `wait_with_output` would close it.)
    let pipe = child.stdin.take();
    let output = child.wait_with_output();
    drop(pipe);
    output
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str) -> Output {
        let add_script = |command: &mut Command| {
            command.args(["-c", script]);
        };
        tethered("sh", add_script).unwrap()
    }

    #[test]
    fn a_tethered_program_prints_and_ends_as_it_does_alone() {
        let output = run("echo out; echo err >&2; cat; exit 3");

        assert_eq!(String::from_utf8(output.stdout).unwrap(), "out\n");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "err\n");
        assert_eq!(output.status.code(), Some(3));
        assert_eq!(run("kill -9 $$").status.code(), Some(128 + 9));
    }
}
