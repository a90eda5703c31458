//! A command of the user's under a condition: not measured, on the user's terminal.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::{DAY, Supervisor};
use catalogue::Condition;
use conditions::{Refusal, Staging};
use journal::Trial;

/// Joins the control groups before `--`, then becomes the command after it.
const STARTER: &str = r#"while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit 126; shift; done
shift
exec "$@""#;

impl Supervisor<'_> {
    /// Runs a command while a condition is on, proves that it was, puts everything back, and returns how the command
    /// ended. A signal that asks the tool to stop is handed on to the command; what the terminal sends, both get.
    ///
    /// # Errors
    /// The condition cannot be entered or left, was not in effect or is for measured programs alone, or the command
    /// cannot be started.
    pub fn run_under(&mut self, condition: &Condition, words: &[OsString]) -> Result<ExitStatus, Refusal> {
        let folder = std::env::current_dir().map_err(anyhow::Error::from)?;
        let entered = self.experiment.enter(condition, self.machine, &self.scratch.path, &folder);
        let ended = entered.and_then(|mut entered| {
            let status = self.command(&entered.staging, words)?;
            self.experiment.prove(&mut entered, &Trial::default(), 0..0, None)?;
            Ok(status)
        });
        self.experiment.leave()?;
        ended
    }

    fn command(&self, staging: &Staging, words: &[OsString]) -> Result<ExitStatus, Refusal> {
        let Staging { args, prefix, folder, companion, build, cgroups, own_cgroups } = staging;
        let is_general =
            args.is_empty() && prefix.is_empty() && folder.is_none() && companion.is_none() && build.is_none();
        if !is_general {
            let why = "a part of it is switched for programs that are measured alone; use `unixmark cost` for that";
            return Err(Refusal::Unavailable(why.to_owned()));
        }
        let groups = cgroups.iter().chain(own_cgroups).map(|group| group.clone().into_os_string());
        let arguments = groups.chain([OsString::from("--")]).chain(words.iter().cloned());
        let child = Command::new("/bin/sh").args(["-c", STARTER, "sh"]).args(arguments).spawn();
        let mut child = child.map_err(|why| format!("the command cannot be started ({why})"))?;
        Ok(self.wait_for(&mut child)?)
    }

    fn wait_for(&self, child: &mut Child) -> anyhow::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        // Before Linux 5.3 its end shows by SIGCHLD alone.
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let is_terminal = std::io::stdin().is_terminal();
        let mut told = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.signals.wants_pause() {
                self.signals.pause();
            }
            let signal = self.signals.stopped();
            // Ctrl-C has reached the command as well.
            let is_news = |signal: &i32| told != Some(*signal) && !(is_terminal && *signal == Signal::INT.as_raw());
            if let Some(signal) = signal.filter(is_news).and_then(Signal::from_named_raw) {
                let _ = kill_process(pid, signal);
            }
            told = signal;
            processes::sleep(handle.as_ref(), Some(&*self.signals), DAY);
            self.signals.drain();
        }
    }
}
