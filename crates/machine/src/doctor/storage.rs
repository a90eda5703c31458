//! Where the file tests write, and the files the shell tests need.

use super::super::{mounts, userland};
use super::Severity::{Disturbs, Note, Spoils};
use super::{Ill, Look, ill};

const ELSEWHERE: &str = "give a directory on a local disk: --dir DIR";

/// What a run of the file tests writes at most, copies included, on a small machine.
const ROOM_NEEDED: u64 = 1 << 30;

pub fn read_only(look: &Look) -> Ill {
    let mount = mounts::of(look.machine, look.dir)?;
    let what = format!("{} is mounted read-only: the file tests cannot run", mount.point);
    mount.is_read_only().then(|| ill(Spoils, what, "give a directory to write to: --dir DIR"))?
}

pub fn file_system(look: &Look) -> Ill {
    let mount = mounts::of(look.machine, look.dir)?;
    let (dir, kind) = (look.dir.display(), &mount.file_system);
    if mount.is_network() {
        let what = format!("{dir} is on a network file system ({kind}): file tests measure it");
        return ill(Spoils, what, ELSEWHERE);
    }
    if mount.is_memory() {
        let what = format!("{dir} is in memory ({kind}): file tests never reach a disk");
        return ill(Disturbs, what, ELSEWHERE);
    }
    let layered = kind == "overlay" || kind == "aufs" || kind.starts_with("fuse");
    let what = format!("{dir} is on {kind}, a layer over another file system: file tests pay twice");
    let mend = "give a directory on the file system itself (docker: -v /host/dir:/bench): --dir DIR";
    layered.then(|| ill(Disturbs, what, mend))?
}

pub fn free(look: &Look) -> Ill {
    let (free, total) = mounts::space(look.machine, look.dir)?;
    shortage(free, total)
}

/// File systems slow down when nearly full, and fail when full.
fn shortage(free: u64, total: u64) -> Ill {
    let left = format!("only {} of {} are free", words::bytes(free), words::bytes(total));
    if free < ROOM_NEEDED {
        return ill(Spoils, format!("{left}: file tests may fail"), ELSEWHERE);
    }
    let what = format!("{left}: the file system has to search for room");
    (free < total / 20).then(|| ill(Disturbs, what, "free some, or give another: --dir DIR"))?
}

/// UnixBench runs its shell tests in en_US.utf8; without it they run in the C locale, which sorts
/// and searches faster.
pub fn locale(look: &Look) -> Ill {
    if !userland::has_locales(look.machine) || userland::locale_installed(look.machine) {
        return None;
    }
    let what = "the locale en_US.utf8 is not installed: shell tests run in the C locale, and their \
                scores compare only with such";
    ill(Note, what, install_locale(&family(look)))
}

/// The distribution and those it descends from, as os-release names them.
fn family(look: &Look) -> String {
    let name = |key: &str| userland::os_release(look.machine, key).unwrap_or_default();
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
        let severity = |free, total| shortage(free, total).map(|(severity, _, _)| severity);
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
