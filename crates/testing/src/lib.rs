//! What the tests of several crates share.
#![allow(clippy::unwrap_used, clippy::new_without_default, missing_docs, reason = "only tests use it")]

pub mod browser;
pub mod compiled;
mod damage;
pub mod page;
mod place;
mod simulated;
mod skip;
mod turn;

use std::path::{Path, PathBuf};
use std::process::Command;

use rand::RngExt;

pub use damage::Damage;
pub use place::{Place, build, contents, flat, processes_with, settled, stderr, stdout, synced_first};
pub use simulated::{allowed, simulated};
pub use skip::{all_must_run, has, is_root, skip};
pub use turn::{CAN_WAIT, LATER, Machine, host};

/// The path of a file of the repository.
pub fn file(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join(path)
}

/// The directory of a recorded run.
pub fn recorded(run: &str) -> PathBuf {
    file("tests/runs").join(run)
}

/// A program that behaves as its name says.
pub fn fake(name: &str) -> PathBuf {
    file("tests/fakes").join(name)
}

/// What every program is linked with: the C files that lie in `programs/` itself.
pub fn kit() -> Vec<String> {
    let entries = std::fs::read_dir(file("programs")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".c")).collect()
}

/// A standard normal number (Box and Muller 1958).
pub fn normal(random: &mut impl rand::Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// The directory of a Python that has a package (`tests/python.sh`); pip's complaint where it cannot be had.
pub fn python(package: &str) -> Result<PathBuf, String> {
    let output = Command::new("sh").arg(file("tests/python.sh")).arg(package).output().unwrap();
    if output.status.success() { Ok(PathBuf::from(stdout(&output).trim())) } else { Err(stderr(&output)) }
}

/// A speed that wanders about 0 with a standard deviation of 1 (Ornstein and Uhlenbeck 1930).
pub struct Wandering {
    /// The time in seconds within which it forgets itself.
    time: f64,
    speed: f64,
}

impl Wandering {
    pub fn new(random: &mut impl rand::Rng, time: f64) -> Wandering {
        Wandering { time, speed: normal(random) }
    }

    /// The speed a time in seconds after the last one.
    pub fn after(&mut self, random: &mut impl rand::Rng, seconds: f64) -> f64 {
        let kept = (-seconds / self.time).exp();
        self.speed = kept * self.speed + (1.0 - kept * kept).sqrt() * normal(random);
        self.speed
    }
}
