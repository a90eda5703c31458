//! The scripts that set up, build and package, with fakes in place of what they call.
#![cfg(test)]

mod channels;
mod deny;
mod dist;
mod toolchain;
mod workflows;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A directory with a `bin` that is the whole PATH: some of the system's commands, and fakes.
struct Sandbox {
    root: TempDir,
}

impl Sandbox {
    fn new(name: &str, commands: &str) -> Sandbox {
        let root = tempfile::Builder::new().prefix(name).tempdir().unwrap();
        std::fs::create_dir(root.path().join("bin")).unwrap();
        let made = Sandbox { root };
        let path = std::env::var_os("PATH").unwrap();
        for command in commands.split_whitespace() {
            let mut places = std::env::split_paths(&path).map(|folder| folder.join(command));
            let place = places
                .find(|place| place.is_file())
                .unwrap_or_else(|| panic!("{command} is not installed"));
            symlink(place, made.path("bin").join(command)).unwrap();
        }
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// A shell script in place of a command; `$ROOT` is this directory.
    fn fake(&self, command: &str, script: &str) {
        executable(&self.path("bin").join(command), script);
    }

    fn run(&self, script: &Path, words: &[&str], environment: &[(&str, &str)]) -> Output {
        let mut command = Command::new(self.path("bin/sh"));
        command
            .arg(script)
            .args(words)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("home"));
        command.env("ROOT", self.root.path());
        command.envs(environment.iter().copied()).output().unwrap()
    }
}

/// Writes a script. A process of its own does: a test beside this one that starts a program
/// meanwhile would hold the file open for writing until then, and a file that is open for writing
/// cannot be executed (ETXTBSY).
fn executable(path: &Path, script: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let source = path.with_extension("source");
    std::fs::write(&source, format!("#!/bin/sh\n{script}\n")).unwrap();
    assert!(Command::new("install").arg("-m755").args([&source, path]).status().unwrap().success());
    std::fs::remove_file(source).unwrap();
}
