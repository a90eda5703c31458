//! The ways to reboot the machine, and to go on with an experiment afterwards.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Signal, getpid, kill_process};

use super::STOP_FILE;
use super::arm::Arm;
use super::experiment::Experiment;
use crate::status::usage;
use files::check_trusted;
use processes::{Command, Failure, Interrupt, Signals};

/// The scripts of the ways that the tool knows, the most thorough first.
const WAYS: [(&str, &str); 3] = [
    ("grub", include_str!("grub.sh")),
    ("systemd-boot", include_str!("systemd-boot.sh")),
    ("kexec", include_str!("kexec.sh")),
];

/// The end of each of these scripts.
const SCRIPT_END: &str = include_str!("ways.sh");

/// The beginning of all scripts, which names their arguments. A script must not be interrupted by
/// the end of all processes that it brings about.
const SCRIPT_START: &str = r#"trap '' TERM
export UNIXMARK_ACTION="$1" UNIXMARK_WORDS="$2" UNIXMARK_KERNEL="$3" UNIXMARK_COMMAND_LINE="$4""#;

/// The time that a way has to ask for a reboot.
const WAY_PATIENCE: Duration = Duration::from_secs(600);

/// The interval at which `--stop` is looked for while a way is at work.
const STOP_INTERVAL: Duration = Duration::from_millis(100);

/// The time that the machine has to say whether it is going down.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// A command that succeeds while the machine is going down.
const GOES_DOWN: &str =
    "[ \"$(systemctl is-system-running)\" = stopping ] || runlevel | grep -q '[06]$'";

/// The directories in which the unit looks for commands if none of the user's can be trusted.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The unit that goes on with an experiment at each boot, where systemd is.
const UNIT: &str = "/etc/systemd/system/unixmark-boots.service";

/// The link by which systemd starts the unit.
const UNIT_LINK: &str = "/etc/systemd/system/multi-user.target.wants/unixmark-boots.service";

/// The name of a way to reboot: the one that is wanted, which may be a command, or the first that
/// is possible here.
///
/// # Errors
/// The way is not possible here, or none is, or another experiment goes on.
pub(super) fn find(wanted: Option<&str>) -> Result<String> {
    if Path::new(UNIT).exists() {
        bail!(
            "another experiment goes on here, as {UNIT} says; try `unixmark boots FOLDER --stop` with its folder"
        );
    }
    let Some(wanted) = wanted else {
        let possible = WAYS.iter().map(|(name, _)| *name).find(|name| is_possible(name));
        let name = possible.context(
            "none of GRUB, systemd-boot and kexec can reboot this machine; try --reboot COMMAND",
        )?;
        return Ok(name.to_owned());
    };
    if find_script(wanted).is_some() && !is_possible(wanted) {
        bail!("{wanted} cannot reboot this machine into another system; try --reboot COMMAND");
    }
    Ok(wanted.to_owned())
}

/// The script of a way; `None` if it is a command of the user's.
fn find_script(way: &str) -> Option<&'static str> {
    WAYS.iter().find(|(name, _)| *name == way).map(|(_, script)| *script)
}

fn is_possible(name: &str) -> bool {
    call(name, "find", [""; 3], None).is_ok()
}

/// Keeps the machine from being rebooted once more, after a signal or `--stop`.
pub(super) struct Brake {
    signals: Signals,
    stop_file: PathBuf,
}

/// The outcome of asking for a reboot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reboot {
    /// The machine is about to go down.
    Coming,
    /// The way was ended before it asked.
    CalledOff,
}

impl Brake {
    /// Hears signals from now on, and looks for `--stop` of the experiment in `folder`.
    ///
    /// # Errors
    /// The kernel refuses a signal handler.
    pub(super) fn new(folder: &Path) -> Result<Brake> {
        Ok(Brake { signals: Signals::install()?, stop_file: folder.join(STOP_FILE) })
    }

    /// True once `--stop` has come.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop_file.exists()
    }

    /// The signal by which somebody asked the tool to end. A machine that goes down ends all
    /// processes, this one too, which has asked for that.
    pub(super) fn signal(&self) -> Option<i32> {
        let signal = self.signals.stopped()?;
        (signal == Signal::INT.as_raw() || !goes_down()).then_some(signal)
    }

    fn is_on(&self) -> bool {
        self.is_stopped() || self.signal().is_some()
    }
}

fn goes_down() -> bool {
    let words = ["/bin/sh", "-c", GOES_DOWN];
    let folder = Path::new("/");
    let command = Command { words: &words, folder, limit: ANSWER_PATIENCE, cgroup: None };
    command.run(None, &mut |_| Ok(())).is_ok()
}

/// Reboots into an arm, or, without one, into the usual system.
///
/// # Errors
/// The way fails.
pub(super) fn reboot(experiment: &Experiment, arm: Option<&Arm>, brake: &Brake) -> Result<Reboot> {
    let Experiment { way, usual, .. } = experiment;
    let action = if arm.is_some() { "boot" } else { "back" };
    let words = arm.map(|arm| arm.words.join(" ")).unwrap_or_default();
    let kernel = arm.and_then(|arm| arm.kernel.as_ref()).unwrap_or(&usual.release);
    call(way, action, [&words, kernel, &usual.command_line], Some(brake))
        .context("the machine cannot be rebooted")
}

/// Removes what a way and [`install`] have added to the system.
///
/// # Errors
/// Something of it stays.
pub(super) fn leave(way: &str) -> Result<()> {
    for path in [UNIT_LINK, UNIT] {
        if let Err(error) = fs::remove_file(path)
            && error.kind() != ErrorKind::NotFound
        {
            return Err(error)
                .with_context(|| format!("{path} cannot be removed; try that by hand"));
        }
    }
    forget(way)
}

/// Has the boot loader forget the entry of an experiment.
///
/// # Errors
/// The entry stays.
pub(super) fn forget(way: &str) -> Result<()> {
    if find_script(way).is_some() {
        call(way, "leave", [""; 3], None)?;
    }
    Ok(())
}

/// Removes what any way may have added, for an experiment whose file cannot be read.
///
/// # Errors
/// As [`leave`].
pub(super) fn leave_any() -> Result<()> {
    // The unit and its link, whatever the way.
    leave("")?;
    for (name, _) in WAYS {
        if is_possible(name) {
            leave(name)?;
        }
    }
    Ok(())
}

/// Calls a way's script, or the user's command; `brake` ends it.
fn call(
    way: &str,
    action: &str,
    [words, kernel, line]: [&str; 3],
    brake: Option<&Brake>,
) -> Result<Reboot> {
    let script = match find_script(way) {
        Some(script) => format!("{SCRIPT_START}\n{script}\n{SCRIPT_END}"),
        None => format!("{SCRIPT_START}\n{way}"),
    };
    let command = Command {
        words: &["/bin/sh", "-c", &script, way, action, words, kernel, line],
        folder: Path::new("/"),
        limit: WAY_PATIENCE,
        cgroup: None,
    };

    let ended = match brake {
        Some(brake) if brake.is_on() => Err(Failure::Stopped),
        Some(brake) => run_braked(&command, brake),
        None => command.run(None, &mut |_| Ok(())),
    };
    match ended {
        Ok(_) => Ok(Reboot::Coming),
        // Not the script itself, which the message begins with.
        Err(Failure::Failed(why)) => {
            bail!("`{way}` {}", why.rsplit_once("` ").map_or(&*why, |(_, rest)| rest))
        }
        Err(Failure::Stopped) => Ok(Reboot::CalledOff),
    }
}

/// Runs a command until it ends or a brake is on. Whoever waits for the command looks at the brake
/// at each signal, and `--stop` sends none, so this process sends itself some.
fn run_braked(command: &Command<'_>, brake: &Brake) -> Result<String, Failure> {
    let has_ended = AtomicBool::new(false);
    let interrupt = Interrupt { signals: &brake.signals, is_due: &|_| brake.is_on() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                std::thread::sleep(STOP_INTERVAL);
                // A process may always send itself a signal.
                let _ = kill_process(getpid(), Signal::CHILD);
            }
        });
        let ended = command.run(Some(interrupt), &mut |_| Ok(()));
        has_ended.store(true, Ordering::Relaxed);
        ended
    })
}

/// Checks that nobody but root can write what root executes at each boot: the directory of the
/// experiment, and the commands in it.
///
/// # Errors
/// Somebody else can write one of them.
pub(super) fn check_commands(directory: &Path, commands: &[String]) -> Result<()> {
    let mut paths = vec![directory.to_path_buf()];
    for command in commands.iter().filter(|command| command.contains('/')) {
        paths.push(directory.join(command));
    }
    for path in paths {
        check_trusted(&path).map_err(|why| {
            let path = path.display();
            usage(anyhow!(
                "root would execute what others can write at each boot: {path} cannot be trusted, since {why}; \
                 keep it where only root can write, and start this in such a directory, as by `cd /root`"
            ))
        })?;
    }
    Ok(())
}

/// The tool's own file, if only root can write it, else a copy in the experiment's folder, where
/// nobody else can.
fn trusted_tool(folder: &Path) -> Result<PathBuf> {
    let tool = std::env::current_exe().context("the tool's own file cannot be found")?;
    if check_trusted(&tool).is_ok() {
        return Ok(tool);
    }
    let copy = folder.join("unixmark");
    copy_tool(&copy).with_context(|| format!("the tool cannot be copied to {}", copy.display()))?;
    Ok(copy)
}

/// Writes the tool that runs into a new file, which is on the disk once this returns.
fn copy_tool(copy: &Path) -> io::Result<()> {
    let mut tool = File::open("/proc/self/exe")?;
    let mut file = files::options().write(true).create_new(true).mode(0o700).open(copy)?;
    io::copy(&mut tool, &mut file)?;
    file.sync_all()
}

/// The directories of `PATH` into which only root can put a command.
fn trusted_path() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut trusted = Vec::new();
    for folder in path.split(':') {
        if Path::new(folder).is_absolute() && check_trusted(Path::new(folder)).is_ok() {
            trusted.push(folder);
        }
    }
    if trusted.is_empty() { USUAL_PATH.to_owned() } else { trusted.join(":") }
}

/// Has systemd go on with the experiment in `folder` a minute after each boot; false if there is no
/// systemd. `directory` is where the user began the experiment: the unit waits for both to be
/// mounted.
///
/// # Errors
/// The unit cannot be written, or systemd would misread a path.
pub(super) fn install(folder: &Path, directory: &Path) -> Result<bool> {
    if !Path::new("/run/systemd/system").is_dir() {
        return Ok(false);
    }
    let tool = trusted_tool(folder)?;
    let [tool, folder, directory] =
        [&tool, folder, directory].map(|path| path.display().to_string());
    let search_path = trusted_path();

    // Characters that systemd does not take literally, even between quotes.
    let mut texts = [&tool, &folder, &directory, &search_path].into_iter();
    if let Some(text) = texts.find(|text| text.contains(['"', '%', '\\', '\n', '$'])) {
        bail!(
            "systemd reads '{text}' otherwise than it stands there; try another directory or PATH"
        );
    }

    // Without the experiment's file, systemd skips the unit.
    let unit = format!(
        "[Unit]\nDescription=unixmark's experiment over boots\nAfter=multi-user.target\n\
         RequiresMountsFor=\"{folder}\" \"{directory}\"\nConditionPathExists={folder}/experiment.json\n\n\
         [Service]\nType=exec\nUser=root\nEnvironment=\"PATH={search_path}\"\n\
         ExecStartPre=/bin/sleep 60\nExecStart=\"{tool}\" boots \"{folder}\" --go-on\n\
         TimeoutStartSec=infinity\n"
    );
    write_unit(&unit).with_context(|| {
        format!("{UNIT} cannot be written; try --reboot COMMAND and `unixmark boots {folder} --go-on` at boot")
    })?;
    Ok(true)
}

/// Writes the unit, and the link by which systemd starts it.
fn write_unit(unit: &str) -> io::Result<()> {
    files::write_whole(Path::new(UNIT), unit.as_bytes())?;
    let link = Path::new(UNIT_LINK);
    files::make_directories(link.parent().unwrap_or(link))?;
    match std::os::unix::fs::symlink(UNIT, link) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    }
}
