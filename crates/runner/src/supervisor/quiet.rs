//! Runs a command of the user's under a condition: not measured, on the user's terminal.
//!
//! 1. Enter the condition, and start the command in its control groups (`STARTER`).
//! 2. Wait for the command ([`Supervisor::wait_for`]), handing on signals. On Ctrl-Z the condition
//!    is left until both go on ([`Supervisor::pause_under`]): a stopped command must not keep the
//!    machine's settings changed.
//! 3. Prove that the condition was on to the end, and leave it.

use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};

use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open};

use super::{MAX_BUILD_TIME, Supervisor};
use catalogue::Condition;
use conditions::{Entered, Refusal, Staging};
use journal::Trial;

/// Joins the control groups before `--`, then becomes the command after it.
const STARTER: &str = r#"while [ "$1" != -- ]; do echo 0 >"$1/cgroup.procs" || exit 126; shift; done
shift
exec "$@""#;

/// The condition under which a command runs.
struct CommandUnder<'a> {
    condition: &'a Condition,
    /// The directory in which it was entered.
    folder: PathBuf,
    /// An error if it could not be entered again after a pause: it is off while the command runs.
    entered: Result<Entered, Refusal>,
}

impl Supervisor<'_> {
    /// Runs a command while a condition is on, proves that it was on, and leaves it. Returns how
    /// the command ended. A signal that asks the tool to stop is handed on to the command; the
    /// terminal sends its signals to both.
    ///
    /// # Errors
    /// The condition cannot be entered or left, was not in effect or is for measured programs
    /// alone, or the command cannot be started.
    pub fn run_under(
        &mut self,
        condition: &Condition,
        words: &[OsString],
    ) -> Result<ExitStatus, Refusal> {
        let folder = std::env::current_dir().map_err(anyhow::Error::from)?;
        let entered = self.experiment.enter(condition, self.machine, &self.scratch.path, &folder);
        let status = match entered {
            Ok(entered) => {
                let mut under = CommandUnder { condition, folder, entered: Ok(entered) };
                self.execute_under(&mut under, words)
                    .and_then(|status| self.prove_under(under, status))
            }
            Err(refusal) => Err(refusal),
        };

        self.experiment.leave()?;
        status
    }

    /// The command's `status`, if the condition was on to the end.
    fn prove_under(
        &mut self,
        under: CommandUnder<'_>,
        status: ExitStatus,
    ) -> Result<ExitStatus, Refusal> {
        let proved = under.entered.and_then(|mut entered| {
            self.experiment.prove(&mut entered, &Trial::default(), 0..0, None)
        });
        match proved {
            // Whoever asks for an end wants no settings any more.
            Ok(_) | Err(Refusal::Stopped) => Ok(status),
            Err(refusal) => Err(refusal),
        }
    }

    /// Starts the command in the condition's control groups and waits for it.
    fn execute_under(
        &mut self,
        under: &mut CommandUnder<'_>,
        words: &[OsString],
    ) -> Result<ExitStatus, Refusal> {
        let Staging { args, prefix, folder, companion, build, .. } =
            &under.entered.as_ref().map_err(Clone::clone)?.staging;
        let is_general = args.is_empty()
            && prefix.is_empty()
            && folder.is_none()
            && companion.is_none()
            && build.is_none();
        if !is_general {
            let why = "a part of it is switched for programs that are measured alone; use `unixmark cost` for that";
            return Err(Refusal::Unavailable(why.to_owned()));
        }

        let groups = under.groups().into_iter().map(PathBuf::into_os_string);
        let arguments = groups.chain([OsString::from("--")]).chain(words.iter().cloned());
        let mut child = Command::new("/bin/sh")
            .args(["-c", STARTER, "sh"])
            .args(arguments)
            .spawn()
            .map_err(|why| format!("the command cannot be started ({why})"))?;
        Ok(self.wait_for(&mut child, under)?)
    }

    fn wait_for(
        &mut self,
        child: &mut Child,
        under: &mut CommandUnder<'_>,
    ) -> anyhow::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        // There is none before Linux 5.3: then only SIGCHLD says that the command has ended.
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok();
        let is_terminal = std::io::stdin().is_terminal();
        let mut handed_on = None;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.signals.wants_pause() {
                self.pause_under(under, pid);
            }

            let signal = self.signals.stopped();
            if signal != handed_on
                && let Some(signal) = signal.and_then(Signal::from_named_raw)
                // The terminal has sent Ctrl-C to the command as well.
                && !(is_terminal && signal == Signal::INT)
            {
                let _ = kill_process(pid, signal);
            }
            handed_on = signal;

            processes::sleep(handle.as_ref(), Some(&*self.signals), MAX_BUILD_TIME);
            self.signals.drain();
        }
    }

    /// Leaves the condition, stops together with the command, and enters the condition again when
    /// both go on. An error is reported when the command has ended.
    fn pause_under(&mut self, under: &mut CommandUnder<'_>, command: Pid) {
        // The terminal may have sent SIGTSTP to the command as well: a second one has no effect.
        let _ = kill_process(command, Signal::TSTP);
        let members: Vec<Vec<Pid>> =
            under.groups().iter().map(|group| list_members(group)).collect();
        let left = self.experiment.leave();
        self.pause();

        if under.entered.is_ok() {
            let CommandUnder { condition, folder, .. } = under;
            under.entered = left.map_err(Refusal::from).and_then(|()| {
                self.experiment.enter(condition, self.machine, &self.scratch.path, folder)
            });
            // A process that has ended meanwhile needs no group, and its number may be another's.
            for (group, members) in under.groups().iter().zip(members) {
                for pid in members.into_iter().filter(|pid| is_descendant(*pid)) {
                    let _ = files::overwrite(group.join("cgroup.procs"), pid.to_string());
                }
            }
        }
        let _ = kill_process(command, Signal::CONT);
    }
}

impl CommandUnder<'_> {
    /// The control groups that the command is in.
    fn groups(&self) -> Vec<PathBuf> {
        let Ok(Entered { staging, .. }) = &self.entered else { return Vec::new() };
        [&staging.cgroups[..], &staging.own_cgroups].concat()
    }
}

/// The processes of a control group and of those below it.
fn list_members(group: &Path) -> Vec<Pid> {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    let own = text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?));
    let below = fs::read_dir(group).into_iter().flatten().flatten().map(|entry| entry.path());
    own.chain(below.filter(|path| path.is_dir()).flat_map(|path| list_members(&path))).collect()
}

/// True if a process descends from this one. Orphans stay descendants, since they become this
/// process's children; a number that another process has by now is none.
fn is_descendant(pid: Pid) -> bool {
    std::iter::successors(Some(pid), |pid| processes::parent(*pid)).any(|above| above == getpid())
}
