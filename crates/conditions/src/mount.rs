//! File systems mounted in the scratch directory for one trial.

use std::ffi::CString;
use std::fs;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::MountFlags;

use super::slow::{self, Rate};
use super::{Context, Proof, Refusal, Undo};
use catalogue::Switch;
use machine::Machine;

/// File systems, and the type that statfs(2) reports for each.
const KINDS: &[(&str, u32)] = &[("tmpfs", 0x0102_1994), ("ext4", 0xEF53), ("overlay", 0x794C_7630)];

/// The bytes of an ext4 for each of its inodes, and the size of the sparse file that holds it.
const USUAL: [&str; 2] = ["16384", "4g"];

/// The same of a disk that is too slow to be filled: each inode has to be written when it is made.
const LARGE: [&str; 2] = ["1048576", "64g"];

/// A file system of a trial's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileSystem {
    name: &'static str,
    magic: u32,
    /// The rate of its disk, where that is slowed down.
    rate: Option<Rate>,
}

/// Returns what a level means: the name of a file system, or the rate of a slow disk.
fn file_system(switch: &Switch, level: &str) -> Result<FileSystem, String> {
    let (name, rate) = match &*switch.id {
        "slow-disk" => ("ext4", Some(Rate::parse(level)?)),
        _ => (level, None),
    };
    let kind = KINDS.iter().find(|(known, _)| *known == name);
    kind.map(|(name, magic)| FileSystem { name, magic: *magic, rate })
        .ok_or_else(|| format!("the file system '{level}' is unknown"))
}

/// Returns the file system of a level, if the kernel and the tools for it are there.
///
/// # Errors
/// A sentence saying what is missing.
pub(super) fn available(switch: &Switch, level: &str, machine: &Machine) -> Result<FileSystem, String> {
    let system = file_system(switch, level)?;
    has_kind(system.name, machine)?;
    system.rate.map_or(Ok(()), |_| slow::available(machine))?;
    Ok(system)
}

fn has_kind(level: &str, machine: &Machine) -> Result<(), String> {
    let systems = machine.read("/proc/filesystems").unwrap_or_default();
    // A kernel with modules may load it on demand.
    if !systems.split_whitespace().any(|word| word == level) && !machine.exists("/proc/modules") {
        return Err(format!("this kernel has no {level}"));
    }
    if level != "ext4" {
        return Ok(());
    }
    if let Some(tool) = ["mkfs.ext4", "mount"].into_iter().find(|tool| machine::find_command(tool).is_none()) {
        return Err(format!("it needs `{tool}`, which is not installed here"));
    }
    if machine.exists("/dev/loop-control") { Ok(()) } else { Err("there are no loop devices here".to_owned()) }
}

/// Mounts the file system and makes the programs work in it.
pub(super) fn enter(system: FileSystem, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let FileSystem { name, magic, rate } = system;
    if context.staging.folder.is_some() {
        return Err(Refusal::Unavailable("the programs can only work in one file system".to_owned()));
    }
    let base = context.settings.scratch.join(format!("fs-{name}"));
    let place = base.join("mounted");
    let made = |error: std::io::Error| format!("{} cannot be made ({error})", base.display());
    // Left by an earlier trial, whose file system is unmounted.
    if base.exists() {
        fs::remove_dir_all(&base).map_err(made)?;
    }
    fs::create_dir_all(&place).map_err(made)?;
    context.ledger.record(&Undo::Unmount { path: place.clone() })?;
    match name {
        "ext4" => mount_image(&base, &place, if rate.is_some() { LARGE } else { USUAL }, context)?,
        "overlay" => mount_overlay(&base, &place)?,
        name => mount(name, &place, "mode=0700")?,
    }
    check(&place, name, magic)?;
    let slow = rate.map(|rate| slow::enter(&place, rate, context)).transpose()?;
    context.staging.folder = Some(place.clone());
    Ok(Box::new(move |_, evidence| {
        check(&place, name, magic)?;
        slow.iter().try_for_each(|slow| slow.prove(evidence))?;
        evidence.notes.push(format!("the programs worked in {}, which is {name}", place.display()));
        Ok(())
    }))
}

fn mount(name: &str, place: &Path, options: &str) -> Result<(), Refusal> {
    let options = CString::new(options).map_err(|error| format!("'{options}' is not an option ({error})"))?;
    rustix::mount::mount(name, place, name, MountFlags::empty(), &*options).map_err(|error| match error {
        Errno::PERM | Errno::ACCESS => {
            Refusal::Unavailable(format!("{name} cannot be mounted ({error}); it needs root"))
        }
        Errno::NODEV => Refusal::Unavailable(format!("this kernel has no {name}")),
        _ => Refusal::Failed(format!("{name} cannot be mounted on {} ({error})", place.display())),
    })
}

/// Mounts an overlay over an empty directory: what the programs write goes to its upper layer.
fn mount_overlay(base: &Path, place: &Path) -> Result<(), Refusal> {
    let layers = ["lower", "upper", "work"].map(|layer| base.join(layer));
    for layer in &layers {
        fs::create_dir(layer).map_err(|error| format!("{} cannot be made ({error})", layer.display()))?;
    }
    let [lower, upper, work] = layers.map(|layer| layer.display().to_string());
    if base.to_string_lossy().contains([',', ':', '\\']) {
        return Err(Refusal::Unavailable("overlay takes no path with a comma or colon; try another --dir".to_owned()));
    }
    match mount("overlay", place, &format!("lowerdir={lower},upperdir={upper},workdir={work}")) {
        Err(Refusal::Failed(why)) => Err(Refusal::Unavailable(format!(
            "{why}: not every file system can be below an overlay; try another --dir"
        ))),
        other => other,
    }
}

/// Mounts an ext4 in a file, made without lazy initialisation: nothing is left to be done while programs are measured.
fn mount_image(base: &Path, place: &Path, [inodes, size]: [&str; 2], context: &mut Context<'_>) -> Result<(), Refusal> {
    let image = base.join("image");
    let [image_name, place_name] = [&image, place].map(|path| path.display().to_string());
    context.ledger.record(&Undo::RemoveFile { path: image })?;
    let at_once = "lazy_itable_init=0,lazy_journal_init=0";
    for words in [
        &["mkfs.ext4", "-q", "-m", "0", "-i", inodes, "-E", at_once, &image_name, size][..],
        &["mount", "-o", "loop", &image_name, &place_name],
    ] {
        let tool =
            machine::find_command(words[0]).ok_or(Refusal::Unavailable(format!("there is no {} here", words[0])))?;
        let tool = tool.display().to_string();
        let words: Vec<&str> = std::iter::once(tool.as_str()).chain(words[1..].iter().copied()).collect();
        context.commands().run("fs", &words, base)?;
    }
    Ok(())
}

/// Checks that a file system of that type is mounted.
fn check(place: &Path, name: &str, magic: u32) -> Result<(), String> {
    let failed = |error: Errno| format!("{} ({error})", place.display());
    let found = rustix::fs::statfs(place).map_err(failed)?;
    if u32::try_from(found.f_type).ok() != Some(magic) {
        return Err(format!("{} is not {name} (its statfs(2) type is {:#x})", place.display(), found.f_type));
    }
    // The directory below may be of the same kind.
    let device = |path: &Path| rustix::fs::stat(path).map(|stat| stat.st_dev).map_err(failed);
    if device(place)? == device(&place.join(".."))? {
        return Err(format!("nothing is mounted on {}", place.display()));
    }
    Ok(())
}
