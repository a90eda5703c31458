//! A command of the user's under a condition: not measured, with the terminal of its own.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::Supervisor;
use catalogue::Condition;
use conditions::Refusal;

/// Joins the control groups before `--`, then becomes the command after it.
const STARTER: &str = r#"while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit 126; shift; done
shift
exec "$@""#;

impl Supervisor<'_> {
    /// Runs a command while a condition is on, puts everything back, and returns how the command ended. A signal that asks
    /// the tool to stop is handed on to the command.
    ///
    /// # Errors
    /// The condition cannot be entered or left, or the command cannot be started.
    pub fn run_under(&mut self, condition: &Condition, words: &[OsString]) -> Result<ExitStatus, Refusal> {
        let folder = std::env::current_dir().map_err(anyhow::Error::from)?;
        let entered = self.experiment.enter(condition, self.machine, self.scratch.path(), &folder);
        let ended = entered.and_then(|entered| {
            let groups = entered.staging.cgroups.iter().map(|group| group.clone().into_os_string());
            let arguments = groups.chain([OsString::from("--")]).chain(words.iter().cloned());
            let child = Command::new("/bin/sh").args(["-c", STARTER, "sh"]).args(arguments).spawn();
            let mut child = child.map_err(|why| format!("the command cannot be started ({why})"))?;
            Ok(self.wait_for(&mut child)?)
        });
        self.experiment.leave()?;
        ended
    }

    fn wait_for(&self, child: &mut Child) -> anyhow::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        let mut told = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            let signal = self.signals.stopped();
            // On a terminal Ctrl-C has reached the command as well; twice does no harm.
            if let Some(signal) = signal.filter(|signal| told != Some(*signal)).and_then(Signal::from_named_raw) {
                let _ = kill_process(pid, signal);
            }
            told = signal;
            let mut fds =
                [PollFd::new(&handle, PollFlags::IN), PollFd::from_borrowed_fd(self.signals.fd(), PollFlags::IN)];
            // An interrupted poll is like any other wake-up.
            let _ = poll(&mut fds, None);
            self.signals.drain();
        }
    }
}
