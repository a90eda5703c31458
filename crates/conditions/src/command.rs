//! Commands that switch something.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::{Active, Context, FinishedTrial, Refusal, Undo};
use catalogue::Switch;
use journal::Evidence;

/// A condition of the user's that is on.
struct UserCondition {
    verify: String,
    folder: PathBuf,
}

/// Runs the user's `enter`.
pub(super) fn enter(switch: &Switch, context: &mut Context<'_>) -> Result<Box<dyn Active>, Refusal> {
    let [enter, verify, leave] =
        [&switch.enter, &switch.verify, &switch.leave].map(|text| text.clone().unwrap_or_default());
    context.ledger.record(&Undo::Shell { name: switch.id.clone(), command: leave })?;
    shell(&enter, context.folder)?;
    shell(&verify, context.folder).map_err(|why| format!("its verify command says that it is not on: {why}"))?;
    Ok(Box::new(UserCondition { verify, folder: context.folder.to_path_buf() }))
}

impl Active for UserCondition {
    fn prove(&mut self, _: &FinishedTrial<'_>, evidence: &mut Evidence) -> Result<(), String> {
        let output = shell(&self.verify, &self.folder)?;
        evidence.notes.extend(output.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
        Ok(())
    }
}

/// Runs a command by /bin/sh in `folder` and returns what it printed.
pub(super) fn shell(command: &str, folder: &Path) -> Result<String, String> {
    run(&["/bin/sh", "-c", command], folder)
}

/// Runs a command in `folder` and returns what it printed; or how it failed.
pub(super) fn run(words: &[&str], folder: &Path) -> Result<String, String> {
    let output = Command::new(words[0])
        .args(&words[1..])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", words[0]))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    Err(format!("`{}` failed ({}): {last}", words.join(" "), output.status))
}

/// Ends every process that runs `program` with `argument` among its arguments, by force if it does not end in time.
pub(super) fn end(program: &Path, argument: &Path) -> Result<(), String> {
    for round in 0..500 {
        let pids = running(program, argument);
        if pids.is_empty() {
            return Ok(());
        }
        let signal = if round < 250 { Signal::TERM } else { Signal::KILL };
        if round % 250 == 0 {
            for pid in pids {
                // It may have ended meanwhile.
                let _ = kill_process(pid, signal);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("{} does not end", program.display()))
}

fn running(program: &Path, argument: &Path) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let runs_it = |pid: &Pid| {
        let folder = format!("/proc/{}", pid.as_raw_nonzero());
        fs::read_link(folder.clone() + "/exe").is_ok_and(|path| path == fs::canonicalize(program).unwrap_or_default())
            && fs::read(folder + "/cmdline")
                .is_ok_and(|words| words.split(|byte| *byte == 0).any(|word| word == argument.as_os_str().as_bytes()))
    };
    let pids = entries.flatten().filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
    pids.filter(runs_it).collect()
}
