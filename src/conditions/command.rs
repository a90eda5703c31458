//! Commands that switch something: the only processes of the tool's that are not measured.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Active, Refusal, Scene, Seen, Undo};
use crate::catalogue::Switch;
use crate::journal::Evidence;

/// Something of the user's that is on.
struct On {
    verify: String,
    folder: PathBuf,
}

/// Runs the user's `enter`.
pub(super) fn enter(switch: &Switch, scene: &mut Scene<'_>) -> Result<Box<dyn Active>, Refusal> {
    let [enter, verify, leave] =
        [&switch.enter, &switch.verify, &switch.leave].map(|text| text.clone().unwrap_or_default());
    scene.ledger.will(&Undo::Shell { name: switch.id.clone(), command: leave })?;
    shell(&enter, scene.folder)?;
    shell(&verify, scene.folder).map_err(|why| format!("its verify says that it is not on: {why}"))?;
    Ok(Box::new(On { verify, folder: scene.folder.to_path_buf() }))
}

impl Active for On {
    fn prove(&mut self, _: &Seen<'_>, evidence: &mut Evidence) -> Result<(), String> {
        let said = shell(&self.verify, &self.folder)?;
        evidence.notes.extend(said.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned));
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

/// Returns the absolute path of a command on the PATH.
pub(super) fn find(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // The tools of administrators are not on everybody's PATH.
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(tool)).find(|path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok())
}
