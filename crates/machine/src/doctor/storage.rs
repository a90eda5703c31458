//! The file system that the file tests write to, and the files that the shell tests need.

use super::super::{mounts, userland};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

const ELSEWHERE: &str = "choose a directory on a local disk: --dir DIR";

/// The bytes that the file tests write at most, copies included, on a small machine.
const NEEDED_BYTES: u64 = 1 << 30;

/// A file system is nearly full if less than this part of it is free: a twentieth.
const MIN_FREE_DIVISOR: u64 = 20;

pub fn read_only(system: &System) -> Option<Finding> {
    let mount = mounts::containing(system.machine, system.dir)?;
    if !mount.is_read_only() {
        return None;
    }
    let problem = format!("{} is mounted read-only: the file tests cannot run", mount.point);
    finding(Spoils, problem, "choose a writable directory: --dir DIR")
}

pub fn file_system(system: &System) -> Option<Finding> {
    let mount = mounts::containing(system.machine, system.dir)?;
    let (dir, kind) = (system.dir.display(), &mount.file_system);
    if mount.is_network() {
        let problem = format!("{dir} is on a network file system ({kind}): file tests measure it");
        return finding(Spoils, problem, ELSEWHERE);
    }
    if mount.is_memory() {
        let problem = format!("{dir} is in memory ({kind}): file tests never reach a disk");
        return finding(Disturbs, problem, ELSEWHERE);
    }

    let is_layered = kind == "overlay" || kind == "aufs" || kind.starts_with("fuse");
    if !is_layered {
        return None;
    }
    let problem =
        format!("{dir} is on {kind}, a layer over another file system: file tests pay for both");
    let fix =
        "choose a directory on the file system itself (docker: -v /host/dir:/bench): --dir DIR";
    finding(Disturbs, problem, fix)
}

pub fn free(system: &System) -> Option<Finding> {
    let (free, total) = mounts::space(system.machine, system.dir)?;
    find_shortage(free, total)
}

/// File systems slow down when nearly full, and fail when full.
fn find_shortage(free: u64, total: u64) -> Option<Finding> {
    let free_space = format!("only {} of {} are free", words::bytes(free), words::bytes(total));
    if free < NEEDED_BYTES {
        return finding(Spoils, format!("{free_space}: file tests may fail"), ELSEWHERE);
    }

    if free >= total / MIN_FREE_DIVISOR {
        return None;
    }

    let problem = format!("{free_space}: the file system must search for free space");
    finding(Disturbs, problem, "free some, or choose another directory: --dir DIR")
}

/// UnixBench runs its shell tests in en_US.utf8; without it they run in the C locale, which sorts
/// and searches faster.
pub fn locale(system: &System) -> Option<Finding> {
    if !userland::has_locales(system.machine) || userland::locale_installed(system.machine) {
        return None;
    }

    let problem = "the locale en_US.utf8 is not installed: shell tests run in the C locale, and their \
                scores compare only with scores in that locale";
    finding(Note, problem, locale_fix(&family(system)))
}

/// The distribution and those it descends from, as os-release names them.
fn family(system: &System) -> String {
    let [id, like] =
        ["ID", "ID_LIKE"].map(|key| userland::os_release(system.machine, key).unwrap_or_default());
    format!("{id} {like}")
}

/// The command that installs the locale on a distribution of this family.
fn locale_fix(family: &str) -> &'static str {
    let names: Vec<&str> = family.split_whitespace().collect();
    if names.contains(&"debian") || names.contains(&"ubuntu") {
        "sudo apt-get install locales && sudo localedef -i en_US -f UTF-8 en_US.UTF-8"
    } else if names.contains(&"fedora") || names.contains(&"rhel") {
        "sudo dnf install glibc-langpack-en"
    } else if names.contains(&"suse") || names.contains(&"opensuse") {
        "sudo zypper install glibc-locale"
    } else {
        "sudo localedef -i en_US -f UTF-8 en_US.UTF-8"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_on_the_file_system() {
        let severity = |free, total| find_shortage(free, total).map(|found| found.severity);
        assert_eq!(severity(500 << 20, 10 << 30), Some(Spoils));
        assert_eq!(severity(2 << 30, 100 << 30), Some(Disturbs));
        assert_eq!(severity(2 << 30, 20 << 30), None);
    }

    #[test]
    fn the_locale_comes_from_the_distribution() {
        assert!(locale_fix("linuxmint ubuntu debian").contains("apt-get"));
        assert!(locale_fix("rocky rhel centos fedora").contains("dnf"));
        assert!(locale_fix("rhel").contains("dnf"));
        assert!(locale_fix("opensuse-leap suse opensuse").contains("zypper"));
        assert!(locale_fix("sles suse").contains("zypper"));
        assert!(locale_fix("arch").contains("localedef"));
    }
}
