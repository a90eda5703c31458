//! The file system that the file tests write to, and the files that the shell tests need.

use super::super::{mounts, userland};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Finding, System, finding};

const ELSEWHERE: &str = "choose a directory on a local disk: --dir DIR";

/// The most that the file tests write, copies included, on a small machine.
const ROOM_NEEDED: u64 = 1 << 30;

pub fn read_only(system: &System) -> Option<Finding> {
    let mount = mounts::containing(system.machine, system.dir)?;
    let what = format!("{} is mounted read-only: the file tests cannot run", mount.point);
    mount.is_read_only().then(|| finding(Spoils, what, "choose a writable directory: --dir DIR"))?
}

pub fn file_system(system: &System) -> Option<Finding> {
    let mount = mounts::containing(system.machine, system.dir)?;
    let (dir, kind) = (system.dir.display(), &mount.file_system);
    if mount.is_network() {
        let what = format!("{dir} is on a network file system ({kind}): file tests measure it");
        return finding(Spoils, what, ELSEWHERE);
    }
    if mount.is_memory() {
        let what = format!("{dir} is in memory ({kind}): file tests never reach a disk");
        return finding(Disturbs, what, ELSEWHERE);
    }
    let layered = kind == "overlay" || kind == "aufs" || kind.starts_with("fuse");
    let what = format!("{dir} is on {kind}, a layer over another file system: file tests pay for both");
    let fix = "choose a directory on the file system itself (docker: -v /host/dir:/bench): --dir DIR";
    layered.then(|| finding(Disturbs, what, fix))?
}

pub fn free(system: &System) -> Option<Finding> {
    let (free, total) = mounts::space(system.machine, system.dir)?;
    shortage(free, total)
}

/// File systems slow down when nearly full, and fail when full.
fn shortage(free: u64, total: u64) -> Option<Finding> {
    let left = format!("only {} of {} are free", words::bytes(free), words::bytes(total));
    if free < ROOM_NEEDED {
        return finding(Spoils, format!("{left}: file tests may fail"), ELSEWHERE);
    }
    let what = format!("{left}: the file system must search for free space");
    (free < total / 20).then(|| finding(Disturbs, what, "free some, or choose another directory: --dir DIR"))?
}

/// UnixBench runs its shell tests in en_US.utf8; without it they run in the C locale, which sorts
/// and searches faster.
pub fn locale(system: &System) -> Option<Finding> {
    if !userland::has_locales(system.machine) || userland::locale_installed(system.machine) {
        return None;
    }
    let what = "the locale en_US.utf8 is not installed: shell tests run in the C locale, and their \
                scores compare only with scores in that locale";
    finding(Note, what, install_locale(&family(system)))
}

/// The distribution and those it descends from, as os-release names them.
fn family(system: &System) -> String {
    let name = |key: &str| userland::os_release(system.machine, key).unwrap_or_default();
    format!("{} {}", name("ID"), name("ID_LIKE"))
}

fn install_locale(family: &str) -> &'static str {
    let is = |name: &str| family.split_whitespace().any(|word| word == name);
    if is("debian") || is("ubuntu") {
        "sudo apt-get install locales && sudo localedef -i en_US -f UTF-8 en_US.UTF-8"
    } else if is("fedora") || is("rhel") {
        "sudo dnf install glibc-langpack-en"
    } else if is("suse") || is("opensuse") {
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
        let severity = |free, total| shortage(free, total).map(|found| found.severity);
        assert_eq!(severity(500 << 20, 10 << 30), Some(Spoils));
        assert_eq!(severity(2 << 30, 100 << 30), Some(Disturbs));
        assert_eq!(severity(2 << 30, 20 << 30), None);
    }

    #[test]
    fn the_locale_comes_from_the_distribution() {
        assert!(install_locale("linuxmint ubuntu debian").contains("apt-get"));
        assert!(install_locale("rocky rhel centos fedora").contains("dnf"));
        assert!(install_locale("rhel").contains("dnf"));
        assert!(install_locale("opensuse-leap suse opensuse").contains("zypper"));
        assert!(install_locale("sles suse").contains("zypper"));
        assert!(install_locale("arch").contains("localedef"));
    }
}
