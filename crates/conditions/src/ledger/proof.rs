//! Proofs that a step has undone its change: a write or a call that succeeds is not yet believed.
//!
//! A command that leaves a condition has a command that proves it ([`crate::command::leave`]). What
//! removes a directory, ends a process or sets auditing back looks at that itself. The rest is
//! looked at here.

use std::fs;
use std::path::Path;

use machine::mounted_below;
use processes::retry;

use super::Undo;
use crate::file;

/// Checks that a step's change is undone. Some settings and devices take a moment.
///
/// # Errors
/// A sentence: what is still on.
pub(super) fn check(step: &Undo) -> Result<(), String> {
    match step {
        Undo::Write { path, text } => retry(|| check_written(path, text)),
        Undo::Unmount { path } => retry(|| check_unmounted(path)),
        Undo::RemoveFile { path } => retry(|| check_unused(path)),
        Undo::Shell { .. }
        | Undo::EndGroup { .. }
        | Undo::RemoveDirectory { .. }
        | Undo::RemoveGroup { .. }
        | Undo::RemoveScratch { .. }
        | Undo::Audit { .. }
        | Undo::End { .. } => Ok(()),
    }
}

/// True if a file is gone together with the process or the interrupt whose setting it was, so that
/// there is nothing to set back.
pub(super) fn is_gone(path: &Path) -> bool {
    path.ancestors().find(|folder| is_numbered(folder)).is_some_and(|folder| !folder.exists())
}

/// True if a directory is that of a process or an interrupt, by its path.
fn is_numbered(folder: &Path) -> bool {
    let Some(name) = folder.file_name().and_then(|name| name.to_str()) else { return false };

    let parent = folder.parent();
    name.bytes().all(|byte| byte.is_ascii_digit())
        && [Some(Path::new("/proc")), Some(Path::new("/proc/irq"))].contains(&parent)
}

fn check_written(path: &Path, text: &str) -> Result<(), String> {
    if is_gone(path) {
        return Ok(());
    }

    // Two kinds of files take commands, and show what is in force.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let takes_controllers = name == "cgroup.subtree_control";
    let takes_limits = name.starts_with("blkio.throttle.");
    if !takes_controllers && !takes_limits {
        return file::check(&[path.to_path_buf()], file::content(text));
    }

    let in_force = fs::read_to_string(path)
        .map_err(|error| format!("{} cannot be read ({error})", path.display()))?;
    if takes_controllers {
        let controller = text.trim_start_matches('-');
        if in_force.split_whitespace().any(|word| word == controller) {
            return Err(format!("{} still has {controller}", path.display()));
        }
    } else {
        let device = text.split_whitespace().next().unwrap_or_default();
        if in_force.lines().any(|line| line.split_whitespace().next() == Some(device)) {
            return Err(format!("{} still limits {device}", path.display()));
        }
    }

    Ok(())
}

fn check_unmounted(path: &Path) -> Result<(), String> {
    match mounted_below(path) {
        Some(point) => Err(format!("something is still mounted on {}", point.display())),
        None => Ok(()),
    }
}

/// Checks that no loop device has a file, which would keep its space.
fn check_unused(path: &Path) -> Result<(), String> {
    for entry in fs::read_dir("/sys/block").into_iter().flatten().flatten() {
        let text = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        let backing_file = text.trim_end().trim_end_matches(" (deleted)");
        if Path::new(backing_file) == path {
            let name = entry.file_name();
            let device = name.display();
            return Err(format!(
                "/dev/{device} still uses it; end what uses the device, then try `losetup -d /dev/{device}`"
            ));
        }
    }

    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_believed_once_it_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        for (name, holds, wrote, is_undone) in [
            ("setting", "10\n", "10\n", true),
            ("setting", "60\n", "10\n", false),
            ("chosen", "always [madvise] never\n", "madvise", true),
            ("chosen", "[always] madvise never\n", "madvise", false),
            ("cgroup.subtree_control", "memory io\n", "-cpu", true),
            ("cgroup.subtree_control", "memory cpu\n", "-cpu", false),
            ("cgroup.subtree_control", "cpuset\n", "-cpu", true),
            ("blkio.throttle.read_bps_device", "7:1 1000\n", "7:0 0", true),
            ("blkio.throttle.read_bps_device", "7:1 1000\n", "7:1 0", false),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, holds).unwrap();
            let checked = check_written(&path, wrote);
            assert_eq!(checked.is_ok(), is_undone, "{name} {holds} {wrote}: {checked:?}");
        }
        assert!(check_written(&folder.path().join("none"), "1").is_err());
    }

    #[test]
    fn a_setting_that_went_with_its_process_is_none() {
        let own = std::process::id();
        for (path, gone) in [
            ("/proc/4194305/oom_score_adj".to_owned(), true),
            ("/proc/irq/999999/smp_affinity_list".to_owned(), true),
            (format!("/proc/{own}/oom_score_adj"), false),
            ("/proc/sys/vm/no-such-setting".to_owned(), false),
        ] {
            assert_eq!(is_gone(Path::new(&path)), gone, "{path}");
        }
    }
}
