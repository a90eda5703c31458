//! A cgroup of a load's own: made before the load starts, removed after it has ended.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use conditions::make_cgroup;
use machine::{Machine, cgroups_above};
use plan::Limit;

/// How the names of our cgroups begin.
const PREFIX: &str = "unixmark-";

/// A cgroup that is removed when this goes.
#[derive(Debug)]
pub(super) struct Cgroup {
    path: PathBuf,
}

impl Cgroup {
    /// Makes a cgroup with a limit, in this process's own or, where that one cannot have any, in one above it.
    ///
    /// # Errors
    /// A sentence saying why none can be made here.
    pub fn make(machine: &Machine, limit: Limit) -> Result<Cgroup, String> {
        let controller = match limit {
            Limit::Weight(_) => "cpu",
            Limit::Memory(_) => "memory",
        };
        let (file, value) = setting(limit, cgroups_above(machine, controller).0);
        let name = format!("{PREFIX}{}-{controller}", std::process::id());
        make_cgroup(machine, controller, &name, (file, &value), &mut |_| Ok(())).map(|path| Cgroup { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The file and the value of a limit. Version 1 has shares of 1024 where version 2 has weights of 100.
fn setting(limit: Limit, v2: bool) -> (&'static str, String) {
    match (limit, v2) {
        (Limit::Weight(weight), true) => ("cpu.weight", weight.to_string()),
        (Limit::Weight(weight), false) => ("cpu.shares", (u64::from(weight) * 1024 / 100).max(2).to_string()),
        (Limit::Memory(bytes), true) => ("memory.max", bytes.to_string()),
        (Limit::Memory(bytes), false) => ("memory.limit_in_bytes", bytes.to_string()),
    }
}

/// Removes one of our cgroups, whose last processes may still be dying; any other directory is left alone.
pub(super) fn remove(path: &Path) {
    if !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(PREFIX)) {
        return;
    }
    for _ in 0..50 {
        match fs::remove_dir(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                std::thread::sleep(Duration::from_millis(20));
            }
            _ => return,
        }
    }
}
