//! File systems mounted in the scratch directory for one trial.
//!
//! A level names a file system: `tmpfs`, `overlay` over a directory, or `ext4` in an image file. A
//! slow disk is such an ext4 whose device [`slow`] limits. [`check_mounted`] checks that a file
//! system of the right type is mounted, when it is entered and again after the trial.

use std::ffi::CString;
use std::path::Path;

use rustix::io::Errno;
use rustix::mount::MountFlags;

use super::slow::{self, Rate};
use super::{Context, Proof, Refusal, Undo, remove_tree};
use catalogue::Switch;
use machine::Machine;

/// File systems, and the type that statfs(2) reports for each.
const FILE_SYSTEM_TYPES: &[(&str, u32)] =
    &[("tmpfs", 0x0102_1994), ("ext4", 0xEF53), ("overlay", 0x794C_7630)];

/// Words of mkfs.ext4 on how large a file system is.
struct ImageSize {
    /// The bytes of the file system for each of its inodes.
    bytes_per_inode: &'static str,
    /// The size of the sparse file that holds it.
    size: &'static str,
}

const USUAL_IMAGE: ImageSize = ImageSize { bytes_per_inode: "16384", size: "4g" };

/// For a disk that is too slow to be filled. It has few inodes, since each has to be written when
/// the file system is made.
const SLOW_DISK_IMAGE: ImageSize = ImageSize { bytes_per_inode: "1048576", size: "64g" };

/// A file system of a trial's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileSystem {
    name: &'static str,
    magic: u32,
    /// The rate of its disk, where that is slowed down.
    rate: Option<Rate>,
}

/// The file system of a level, if the kernel and the tools for it are there.
///
/// # Errors
/// A sentence saying what is missing.
pub(super) fn available(
    switch: &Switch,
    level: &str,
    machine: &Machine,
) -> Result<FileSystem, String> {
    let system = parse_level(switch, level)?;
    check_support(system.name, machine)?;
    if system.rate.is_some() {
        slow::available(machine)?;
    }
    Ok(system)
}

/// Reads a level: the name of a file system, or the rate of a slow disk.
fn parse_level(switch: &Switch, level: &str) -> Result<FileSystem, String> {
    let (name, rate) = match &*switch.id {
        "slow-disk" => ("ext4", Some(Rate::parse(level)?)),
        _ => (level, None),
    };
    let Some((name, magic)) = FILE_SYSTEM_TYPES.iter().find(|(known, _)| *known == name) else {
        return Err(format!("the file system '{level}' is unknown"));
    };

    Ok(FileSystem { name, magic: *magic, rate })
}

/// Checks that the kernel has a file system, and that the machine has the tools to make one.
fn check_support(name: &str, machine: &Machine) -> Result<(), String> {
    let systems = machine.read("/proc/filesystems").unwrap_or_default();
    // A kernel with modules may load it on demand.
    if !systems.split_whitespace().any(|word| word == name) && !machine.exists("/proc/modules") {
        return Err(format!("this kernel has no {name}"));
    }
    if name != "ext4" {
        return Ok(());
    }

    for tool in ["mkfs.ext4", "mount"] {
        if machine::find_command(tool).is_none() {
            return Err(format!("it needs `{tool}`, which is not installed here"));
        }
    }
    if !machine.exists("/dev/loop-control") {
        return Err("there are no loop devices here".to_owned());
    }

    Ok(())
}

/// Mounts the file system and makes the programs work in it.
pub(super) fn enter(system: FileSystem, context: &mut Context<'_>) -> Result<Proof, Refusal> {
    let FileSystem { name, magic, rate } = system;
    if context.staging.folder.is_some() {
        return Err(Refusal::Unavailable(
            "the programs can only work in one file system".to_owned(),
        ));
    }

    let base = context.settings.scratch.join(format!("fs-{name}"));
    let mount_point = base.join("mounted");
    // Left by an earlier trial, whose file system is unmounted.
    if base.exists() {
        remove_tree(&base)?;
    }
    files::make_private_directories(&mount_point)
        .map_err(|error| format!("{} cannot be made ({error})", base.display()))?;

    let image = base.join("image");
    if name == "ext4" {
        // The ledger undoes the newest step first: the file is removed after the unmount, when no
        // loop device has it open.
        context.ledger.record(&Undo::RemoveFile { path: image.clone() })?;
    }
    context.ledger.record(&Undo::Unmount { path: mount_point.clone() })?;
    match name {
        "ext4" => {
            let size = if rate.is_some() { SLOW_DISK_IMAGE } else { USUAL_IMAGE };
            mount_image(&image, &mount_point, &size, context)?;
        }
        "overlay" => mount_overlay(&base, &mount_point)?,
        name => mount(name, &mount_point, "mode=0700")?,
    }
    check_mounted(&mount_point, name, magic)?;

    let slow_disk = match rate {
        Some(rate) => Some(slow::enter(&mount_point, rate, context)?),
        None => None,
    };
    context.staging.folder = Some(mount_point.clone());

    Ok(Box::new(move |_, evidence| {
        check_mounted(&mount_point, name, magic)?;
        if let Some(disk) = &slow_disk {
            disk.prove(evidence)?;
        }
        evidence
            .notes
            .push(format!("the programs worked in {}, which is {name}", mount_point.display()));
        Ok(())
    }))
}

fn mount(name: &str, mount_point: &Path, options: &str) -> Result<(), Refusal> {
    let options =
        CString::new(options).map_err(|error| format!("'{options}' is not an option ({error})"))?;
    rustix::mount::mount(name, mount_point, name, MountFlags::empty(), &*options).map_err(|error| {
        match error {
            Errno::PERM | Errno::ACCESS => {
                Refusal::Unavailable(format!("{name} cannot be mounted ({error}); it needs root"))
            }
            Errno::NODEV => Refusal::Unavailable(format!("this kernel has no {name}")),
            _ => Refusal::Failed(format!(
                "{name} cannot be mounted on {} ({error})",
                mount_point.display()
            )),
        }
    })
}

/// Mounts an overlay over an empty directory: what the programs write goes to its upper layer.
fn mount_overlay(base: &Path, mount_point: &Path) -> Result<(), Refusal> {
    let layers = ["lower", "upper", "work"].map(|layer| base.join(layer));
    for layer in &layers {
        files::make_private_directory(layer)
            .map_err(|error| format!("{} cannot be made ({error})", layer.display()))?;
    }

    // In the options of an overlay these separate, or escape, what stands around them.
    if base.to_string_lossy().contains([',', ':', '\\']) {
        return Err(Refusal::Unavailable(
            "overlay takes no path with a comma or colon; try another --dir".to_owned(),
        ));
    }

    let [lower, upper, work] = layers.map(|layer| layer.display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    mount("overlay", mount_point, &options).map_err(|refusal| match refusal {
        Refusal::Failed(why) => Refusal::Unavailable(format!(
            "{why}: not every file system can be below an overlay; try another --dir"
        )),
        other => other,
    })
}

/// Mounts an ext4 in a file, made without lazy initialisation: nothing is left to be done while
/// programs are measured.
fn mount_image(
    image: &Path,
    mount_point: &Path,
    size: &ImageSize,
    context: &mut Context<'_>,
) -> Result<(), Refusal> {
    let [image_name, mount_name] = [image, mount_point].map(|path| path.display().to_string());
    let at_once = "lazy_itable_init=0,lazy_journal_init=0";
    let ImageSize { bytes_per_inode, size } = size;
    let make = ["-q", "-m", "0", "-i", bytes_per_inode, "-E", at_once, image_name.as_str(), size];
    let attach = ["-o", "loop", image_name.as_str(), mount_name.as_str()];

    for (tool, arguments) in [("mkfs.ext4", &make[..]), ("mount", &attach[..])] {
        let path = machine::find_command(tool)
            .ok_or_else(|| Refusal::Unavailable(format!("there is no {tool} here")))?;
        let path = path.display().to_string();
        let words = [&[path.as_str()], arguments].concat();
        context.commands().run("fs", &words, image.parent().unwrap_or(mount_point))?;
    }

    Ok(())
}

/// Checks that a file system of that type is mounted.
fn check_mounted(mount_point: &Path, name: &str, magic: u32) -> Result<(), String> {
    let failed = |error: Errno| format!("{} ({error})", mount_point.display());

    let status = rustix::fs::statfs(mount_point).map_err(failed)?;
    if u32::try_from(status.f_type).ok() != Some(magic) {
        return Err(format!(
            "{} is not {name} (its statfs(2) type is {:#x})",
            mount_point.display(),
            status.f_type
        ));
    }

    // The directory below may be of the same type, so its device must differ.
    let device = rustix::fs::stat(mount_point).map_err(failed)?.st_dev;
    let device_above = rustix::fs::stat(mount_point.join("..")).map_err(failed)?.st_dev;
    if device == device_above {
        return Err(format!("nothing is mounted on {}", mount_point.display()));
    }

    Ok(())
}
