//! The ways to reboot the machine, and to go on with an experiment afterwards.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::arm::Arm;
use super::experiment::Experiment;
use processes::{Command, Failure};

/// The scripts of the ways that the tool knows, the most thorough first.
const WAYS: [(&str, &str); 3] = [
    ("grub", include_str!("grub.sh")),
    ("systemd-boot", include_str!("systemd-boot.sh")),
    ("kexec", include_str!("kexec.sh")),
];

/// The end of each of them.
const END: &str = include_str!("ways.sh");

/// Names the arguments of a way. It must not be interrupted by the end of all processes that it brings about.
const BEGIN: &str = r#"trap '' TERM
export UNIXMARK_ACTION="$1" UNIXMARK_WORDS="$2" UNIXMARK_KERNEL="$3" UNIXMARK_COMMAND_LINE="$4""#;

/// The time that a way has to ask for a reboot.
const PATIENCE: Duration = Duration::from_secs(600);

/// The unit that goes on with an experiment at each boot, where systemd is.
const UNIT: &str = "/etc/systemd/system/unixmark-boots.service";

/// The link that has it started.
const WANTED: &str = "/etc/systemd/system/multi-user.target.wants/unixmark-boots.service";

/// Returns the name of a way to reboot: that which is asked for, or a command, or the first that is possible here.
///
/// # Errors
/// It is not possible here, or none is, or another experiment goes on.
pub(super) fn find(wanted: Option<&str>) -> Result<String> {
    if Path::new(UNIT).exists() {
        bail!("another experiment goes on here, as {UNIT} says; try `unixmark boots FOLDER --stop` with its folder");
    }
    match wanted {
        Some(name) if WAYS.iter().any(|(known, _)| *known == name) => {
            if !is_possible(name) {
                bail!("{name} cannot reboot this machine into another system; try --reboot COMMAND");
            }
            Ok(name.to_owned())
        }
        Some(command) => Ok(command.to_owned()),
        None => {
            let name = WAYS.iter().map(|(name, _)| *name).find(|name| is_possible(name));
            let name =
                name.context("neither GRUB, systemd-boot nor kexec is there to reboot with; try --reboot COMMAND")?;
            Ok(name.to_owned())
        }
    }
}

fn is_possible(name: &str) -> bool {
    call(name, "find", [""; 3]).is_ok()
}

/// Reboots into an arm, or, without one, into the usual system.
///
/// # Errors
/// The way fails.
pub(super) fn reboot(experiment: &Experiment, arm: Option<&Arm>) -> Result<()> {
    let Experiment { way, usual, .. } = experiment;
    let action = if arm.is_some() { "boot" } else { "back" };
    let words = arm.map(|arm| arm.words.join(" ")).unwrap_or_default();
    let kernel = arm.and_then(|arm| arm.kernel.as_ref()).unwrap_or(&usual.release);
    call(way, action, [&words, kernel, &usual.command_line]).context("the machine cannot be rebooted")
}

/// Removes what a way and [`install`] have added to the system.
///
/// # Errors
/// Something of it stays.
pub(super) fn leave(way: &str) -> Result<()> {
    for path in [WANTED, UNIT] {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{path} cannot be removed; try that by hand"));
            }
            _ => {}
        }
    }
    forget(way)
}

/// Has the boot loader forget the entry of an experiment.
///
/// # Errors
/// It does not.
pub(super) fn forget(way: &str) -> Result<()> {
    if WAYS.iter().any(|(known, _)| *known == way) { call(way, "leave", [""; 3]) } else { Ok(()) }
}

/// Removes what any way may have added, for an experiment whose file cannot be read.
///
/// # Errors
/// As [`leave`].
pub(super) fn leave_any() -> Result<()> {
    let ways = WAYS.iter().map(|(name, _)| *name).filter(|name| is_possible(name));
    std::iter::once("").chain(ways).try_for_each(leave)
}

/// Calls a way's script, or the user's command.
fn call(way: &str, action: &str, [words, kernel, line]: [&str; 3]) -> Result<()> {
    let known = WAYS.iter().find(|(name, _)| *name == way);
    let script = known.map_or_else(|| format!("{BEGIN}\n{way}"), |(_, way)| format!("{BEGIN}\n{way}\n{END}"));
    let command = Command {
        words: &["/bin/sh", "-c", &script, way, action, words, kernel, line],
        folder: Path::new("/"),
        limit: PATIENCE,
        cgroup: None,
    };
    match command.run(None, &mut |_| Ok(())) {
        Ok(_) => Ok(()),
        // Not the script itself, which the message begins with.
        Err(Failure::Failed(why)) => bail!("`{way}` {}", why.rsplit_once("` ").map_or(&*why, |(_, rest)| rest)),
        Err(Failure::Stopped) => bail!("it was interrupted"),
    }
}

/// Has systemd go on with the experiment in `folder` at each boot; returns false where systemd is not.
///
/// # Errors
/// It cannot be told.
pub(super) fn install(folder: &Path, directory: &Path) -> Result<bool> {
    if !Path::new("/run/systemd/system").is_dir() {
        return Ok(false);
    }
    let tool = std::env::current_exe().context("the tool's own file cannot be found")?;
    let [tool, folder, directory] = [&tool, folder, directory].map(|path| path.display().to_string());
    let path = std::env::var("PATH").unwrap_or_default();
    if let Some(word) =
        [&tool, &folder, &directory, &path].into_iter().find(|word| word.contains(['"', '%', '\\', '\n', '$']))
    {
        bail!("systemd reads '{word}' otherwise than it stands there; try another directory or PATH");
    }
    let unit = format!(
        "[Unit]\nDescription=unixmark's experiment over boots\nAfter=multi-user.target\n\
         RequiresMountsFor=\"{folder}\" \"{directory}\"\nConditionPathExists={folder}/experiment.json\n\n\
         [Service]\nType=exec\nUser=root\nEnvironment=\"PATH={path}\"\n\
         ExecStartPre=/bin/sleep 60\nExecStart=\"{tool}\" boots \"{folder}\" --go-on\n\
         TimeoutStartSec=infinity\n"
    );
    let written = files::write_whole(Path::new(UNIT), unit.as_bytes()).and_then(|()| {
        let wanted = Path::new(WANTED);
        fs::create_dir_all(wanted.parent().unwrap_or(wanted))?;
        match std::os::unix::fs::symlink(UNIT, wanted) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            linked => linked,
        }
    });
    written.with_context(|| {
        format!("{UNIT} cannot be written; try --reboot COMMAND and `unixmark boots {folder} --go-on` at boot")
    })?;
    Ok(true)
}
