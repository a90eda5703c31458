//! The SHA-256 of each program that was compiled, kept in the build next to it: one that was cut
//! off, or is another file, shows before it runs.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::cache::{cannot, is_own, make};
use super::hexadecimal;

const PROGRAM_MODE: u32 = 0o755;

/// Puts the program in `file` in its place in a build when it is on the disk, then its sum.
///
/// # Errors
/// It cannot be written.
pub(super) fn install(file: &Path, build: &Path, name: &str) -> Result<()> {
    let why = || cannot(build);
    let sum = sum(&fs::read(file).with_context(why)?, name);
    let target = program(build, name);
    make(&build.join("sums"))?;
    fs::set_permissions(file, fs::Permissions::from_mode(PROGRAM_MODE))
        .and_then(|()| File::open(file)?.sync_all())
        .and_then(|()| fs::rename(file, &target))
        .and_then(|()| files::write_atomically(&record(build, name), sum.as_bytes()))
        .with_context(why)
}

/// True if a program of a build is there as it was made.
pub(super) fn is_sound(build: &Path, name: &str) -> bool {
    let program = program(build, name);
    is_own(&program, PROGRAM_MODE)
        && fs::read(&program).is_ok_and(|bytes| {
            fs::read_to_string(record(build, name)).is_ok_and(|there| there == sum(&bytes, name))
        })
}

fn program(build: &Path, name: &str) -> PathBuf {
    build.join("bin").join(name)
}

fn record(build: &Path, name: &str) -> PathBuf {
    build.join("sums").join(format!("{name}.sha256"))
}

/// The line that `sha256sum -c` reads in the directory of the build.
fn sum(bytes: &[u8], name: &str) -> String {
    format!("{}  bin/{name}\n", hexadecimal(Sha256::digest(bytes).as_slice()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A build with one program.
    fn build() -> tempfile::TempDir {
        let build = tempfile::tempdir().unwrap();
        let file = build.path().join("new");
        fs::create_dir(build.path().join("bin")).unwrap();
        fs::write(&file, "program").unwrap();
        install(&file, build.path(), "syscall").unwrap();
        assert!(is_sound(build.path(), "syscall") && !file.exists());
        build
    }

    #[test]
    fn a_program_that_was_cut_off_or_replaced_shows() {
        for wrong in ["", "prog", "#!/bin/sh\n"] {
            let build = build();
            fs::write(build.path().join("bin/syscall"), wrong).unwrap();
            assert!(!is_sound(build.path(), "syscall"), "{wrong:?}");
        }

        let build = build();
        fs::remove_file(build.path().join("bin/syscall")).unwrap();
        assert!(!is_sound(build.path(), "syscall"));
    }

    #[test]
    fn so_does_one_without_its_sum_or_execute_permission_and_a_link() {
        let (without, locked, link) = (build(), build(), build());
        fs::remove_file(record(without.path(), "syscall")).unwrap();
        assert!(!is_sound(without.path(), "syscall"));
        fs::set_permissions(locked.path().join("bin/syscall"), fs::Permissions::from_mode(0o644))
            .unwrap();
        assert!(!is_sound(locked.path(), "syscall"));
        let program = link.path().join("bin/syscall");
        fs::rename(&program, link.path().join("elsewhere")).unwrap();
        std::os::unix::fs::symlink("../elsewhere", &program).unwrap();
        assert!(!is_sound(link.path(), "syscall"));
    }

    #[test]
    fn a_sum_is_as_sha256sum_writes_it() {
        let empty =
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  bin/syscall\n";
        assert_eq!(sum(b"", "syscall"), empty);
    }
}
