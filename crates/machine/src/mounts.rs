//! The file system, and its device, that a directory lies on.

use super::{Machine, parse};
use std::path::{Path, PathBuf};

/// File systems whose files are on another machine.
const NETWORK: &[&str] = &[
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "virtiofs",
    "ceph",
    "glusterfs",
    "lustre",
    "beegfs",
    "gpfs",
    "afs",
    "ncpfs",
    "ocfs2",
    "gfs2",
    "orangefs",
];

/// One line of /proc/self/mountinfo.
#[derive(Clone, Debug, PartialEq)]
pub struct Mount {
    /// `major:minor` of the device.
    pub device: String,
    /// The directory of the file system that is mounted here; not `/` for a bind mount.
    pub root: String,
    pub point: String,
    pub options: String,
    pub file_system: String,
    pub source: String,
    pub super_options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Mount> {
        let (left, right) = line.split_once(" - ")?;
        let left: Vec<&str> = left.split(' ').collect();
        let mut right = right.split(' ');
        Some(Mount {
            device: (*left.get(2)?).to_string(),
            root: parse::unescape(left.get(3)?),
            point: parse::unescape(left.get(4)?),
            options: (*left.get(5)?).to_string(),
            file_system: right.next()?.to_string(),
            source: parse::unescape(right.next()?),
            super_options: right.next().unwrap_or_default().to_string(),
        })
    }

    pub fn is_memory(&self) -> bool {
        matches!(self.file_system.as_str(), "tmpfs" | "ramfs" | "devtmpfs")
    }

    pub fn is_network(&self) -> bool {
        let fuse_network = ["fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone"];
        NETWORK.contains(&self.file_system.as_str())
            || fuse_network.contains(&self.file_system.as_str())
    }

    pub fn is_read_only(&self) -> bool {
        let has_ro = |options: &str| options.split(',').any(|option| option == "ro");
        has_ro(&self.options) || has_ro(&self.super_options)
    }
}

/// A directory of this machine, at `folder` or below it, where something is mounted.
pub fn mounted_below(folder: &Path) -> Option<PathBuf> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let mut points = all(&Machine::here()).into_iter().map(|mount| PathBuf::from(mount.point));
    points.find(|point| point.starts_with(&folder))
}

/// Everything that is mounted, in the order it was mounted.
pub fn all(machine: &Machine) -> Vec<Mount> {
    let text = machine.read("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(Mount::parse).collect()
}

/// The mount that `dir` lies on: the longest that contains it, and of equals the last, which
/// hides the others.
pub fn containing(machine: &Machine, dir: &Path) -> Option<Mount> {
    let dir = absolute(machine, dir);
    all(machine)
        .into_iter()
        .filter(|mount| dir.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.len())
}

/// `dir` with links followed. A directory that does not exist yet counts as below its nearest
/// ancestor that does.
pub fn absolute(machine: &Machine, dir: &Path) -> PathBuf {
    // Only the live machine has a current directory that a relative path can be relative to.
    let dir = match std::path::absolute(dir) {
        Ok(full) if machine.is_live() => full,
        _ => dir.to_path_buf(),
    };
    let real = dir.ancestors().find_map(|ancestor| {
        let rest = dir.strip_prefix(ancestor).ok()?;
        let real = machine.resolve(ancestor)?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    real.unwrap_or(dir)
}

/// Bytes free to this user and bytes in all, of the file system that `dir` lies on.
pub fn space(machine: &Machine, dir: &Path) -> Option<(u64, u64)> {
    let dir = machine.path(absolute(machine, dir));
    let stat = dir.ancestors().find_map(|ancestor| rustix::fs::statvfs(ancestor).ok())?;
    let bytes = |blocks: u64| blocks.checked_mul(stat.f_frsize);
    Some((bytes(stat.f_bavail)?, bytes(stat.f_blocks)?))
}

/// A file in /sys of the block device of `mount`, such as `queue/rotational`.
pub fn device_file(machine: &Machine, mount: &Mount, file: &str) -> Option<String> {
    device_places(mount).iter().find_map(|place| machine.read(&format!("{place}/{file}")))
}

/// The folders in /sys where the files of the block device of `mount` may be: by its number, and by
/// its name, since btrfs and its like have numbers of their own. Each is followed by its
/// parent, since of a disk and its partitions only the disk has a `queue`.
fn device_places(mount: &Mount) -> Vec<String> {
    let mut places = vec![format!("/sys/dev/block/{}", mount.device)];
    // `server:/export/sda` is a disk of another machine.
    if let Some(path) = mount.source.strip_prefix("/dev/") {
        let name = path.rsplit('/').next().unwrap_or(path);
        places.push(format!("/sys/class/block/{name}"));
    }
    places.iter().flat_map(|place| [place.clone(), format!("{place}/..")]).collect()
}

/// The directory in /sys of the block device that `dir` lies on; `None` if `dir` is in memory or on
/// another machine.
pub fn device_folder(machine: &Machine, dir: &Path) -> Option<PathBuf> {
    let places = device_places(&containing(machine, dir)?);
    let folder = places.iter().find(|folder| machine.exists(&format!("{folder}/queue")))?;
    machine.resolve(Path::new(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r"27 1 254:0 / /my\040disk rw shared:1 master:2 - ext4 /dev/vda ro,discard";

    #[test]
    fn a_line_with_optional_fields() {
        let expected = Mount {
            device: "254:0".into(),
            root: "/".into(),
            point: "/my disk".into(),
            options: "rw".into(),
            file_system: "ext4".into(),
            source: "/dev/vda".into(),
            super_options: "ro,discard".into(),
        };
        assert!(expected.is_read_only(), "the file system is, though the mount is not");
        assert_eq!(Mount::parse(LINE), Some(expected));
    }

    #[test]
    fn cut_lines_are_left_out() {
        let needed = LINE.len() - " /dev/vda ro,discard".len();
        for end in 0..=needed {
            assert_eq!(Mount::parse(&LINE[..end]), None, "{}", &LINE[..end]);
        }
    }
}
