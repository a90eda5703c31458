//! The machine under test: what it is, what disturbs it, and what will spoil a run on it.
//!
//! Everything is read from `/proc`, `/sys`, `/etc` and a few more files below one root, which
//! tests replace by a directory of recorded files. Nothing is spawned and nothing is changed.
//! A file that is missing, unreadable or garbled makes a fact absent; it is never an error.
//!
//! - [`facts`] describes the system: written once into a run's journal.
//! - [`sample`] and [`noise`] say what disturbed one window of time.
//! - [`topology`] says where its CPUs lie.
//! - [`EnergySource`] finds what counts the energy that it takes.
//! - [`Sensors`] say how hot, fast and hungry it is, once a second.
//! - [`doctor`] says, before a run, what will spoil it and how to fix it.
//!
//! The records themselves (facts, noise, readings, findings, topology) are the journal's.

mod arm;
pub mod auditing;
mod calls;
pub mod cgroup;
mod core_id;
mod counts;
mod doctor;
mod energy;
mod facts;
mod frequency;
mod greeting;
mod kernel;
mod link;
mod mounts;
mod needs;
mod noise;
mod parse;
mod process;
mod sensors;
mod topology;
mod userland;
mod virtualisation;

pub use calls::{call_name, call_number};
pub use core_id::core_id;
pub use counts::{copies_limit, cpus_allowed, cpus_online, cpus_usable, first_usable, memory_free};
pub use doctor::{doctor, examine};
pub use energy::{Energy, EnergyReading, EnergySource};
pub use facts::{all_facts, facts};
pub use greeting::greeting;
pub use kernel::{command_line, kernel_symbols, release};
pub use mounts::{device_folder, mounted_below};
pub use needs::{TRACING, unmet};
pub use noise::{Sample, noise, sample, stalled_seconds};
pub use parse::{cpu_list, cpu_words};
pub use process::find_command;
pub use sensors::Sensors;
pub use topology::topology;
pub use virtualisation::emulation;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// A machine by its /proc, /sys and /etc; tests replace the root.
#[derive(Clone, Debug)]
pub struct Machine {
    root: PathBuf,
}

impl Machine {
    /// The machine this process runs on.
    pub fn here() -> Machine {
        Machine::at("/")
    }

    /// A machine whose files were recorded below `root`.
    pub fn at(root: impl Into<PathBuf>) -> Machine {
        Machine { root: root.into() }
    }

    /// The text of an absolute `path`, trimmed; `None` where it cannot be read or is empty.
    pub fn read(&self, path: &str) -> Option<String> {
        trimmed(&fs::read(self.path(path)).ok()?)
    }

    /// The host's name, `host` if it has none.
    pub fn host_name(&self) -> String {
        self.read("/proc/sys/kernel/hostname").unwrap_or_else(|| "host".to_owned())
    }

    /// True if the files are those of the running system, so that system calls describe it
    /// too.
    pub fn is_live(&self) -> bool {
        self.root == Path::new("/")
    }

    /// The number of this boot: what the kernel holds goes with it. Empty if it cannot be read.
    pub fn boot(&self) -> String {
        self.read("/proc/sys/kernel/random/boot_id").unwrap_or_default()
    }

    /// The real place of an absolute `path` of the machine.
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The first `limit` bytes of `path`, trimmed. The kernel makes most of its files page by
    /// page, so on a machine of many CPUs the start of a long one costs far less than all of it.
    fn read_start(&self, path: &str, limit: u64) -> Option<String> {
        let mut bytes = Vec::new();
        let file = File::open(self.path(path)).ok()?;
        file.take(limit).read_to_end(&mut bytes).ok()?;
        trimmed(&bytes)
    }

    /// The text of `path` as a number; `None` where it is not one.
    fn number<T: FromStr>(&self, path: &str) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// The value of the first `key: value` line of `path`.
    fn field(&self, path: &str, key: &str) -> Option<String> {
        parse::field(&self.read(path)?, key).map(str::to_string)
    }

    /// A figure of /proc/meminfo, in bytes.
    fn memory(&self, key: &str) -> Option<u64> {
        let value = self.field("/proc/meminfo", key)?;
        let kib: u64 = value.split_whitespace().next()?.parse().ok()?;
        kib.checked_mul(1024)
    }

    /// True if there is something at an absolute `path`, links followed.
    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }

    /// The names in a directory, sorted; none where it cannot be read.
    pub fn list(&self, path: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(path)) else {
            return Vec::new();
        };

        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The names in a directory that are `prefix` and a number, in the order of the numbers.
    fn numbered(&self, path: &str, prefix: &str) -> Vec<String> {
        let number = |name: &str| name.strip_prefix(prefix)?.parse::<u64>().ok();
        let mut names = self.list(path);
        names.retain(|name| number(name).is_some());
        names.sort_by_key(|name| number(name));
        names
    }

    /// `path` with every symbolic link followed, as the machine itself would name it.
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let root = fs::canonicalize(&self.root).ok()?;
        let real = fs::canonicalize(self.path(path)).ok()?;
        Some(Path::new("/").join(real.strip_prefix(root).ok()?))
    }
}

/// Trimmed text of what a file held. Some device-tree and firmware strings end in NUL bytes, and
/// `/proc` makes no promise of UTF-8.
fn trimmed(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    (!text.is_empty()).then(|| text.to_string())
}
