//! What the tests of several crates share: the tool in a place of its own ([`Place`]), programs
//! that behave as their names say ([`fake`]), the turn of a test on the machine ([`Machine`]), C
//! programs ([`compiled`]), damaged files ([`Damage`]), pages and a browser, and skipping what
//! cannot run.
#![allow(clippy::unwrap_used, clippy::new_without_default, reason = "only tests use it")]

pub mod browser;
pub mod compiled;
mod damage;
mod examples;
pub mod page;
mod place;
mod schema;
mod simulated;
mod skip;
mod turn;

use std::path::{Path, PathBuf};
use std::process::Command;

use rand::RngExt;

pub use damage::Damage;
pub use examples::check_examples;
pub use place::{
    FLAG, Place, build, contents, flat, processes_with, settled, stderr, stdout, synced_first,
};
pub use schema::{complaint, complaint_of};
pub use simulated::{allowed, simulated};
pub use skip::{all_must_run, has, is_root, skip};
pub use turn::{CAN_WAIT, LATER, Machine, host};

/// The path of a file of the repository.
pub fn file(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().join(path)
}

/// The path of a program of the workspace that Cargo has built for the tests.
pub fn built_program(name: &str) -> PathBuf {
    // Tests are executed in `target/PROFILE/deps`, the programs lie one above.
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join(name);
    assert!(program.is_file(), "{} is missing: build it first", program.display());
    program
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
    std::fs::read_dir(file("programs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".c"))
        .collect()
}

/// A standard normal number (Box and Muller 1958).
pub fn normal(random: &mut impl rand::Rng) -> f64 {
    // Not 0, which has no logarithm.
    let u = 1.0 - random.random::<f64>();
    let v: f64 = random.random();
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// The directory of a Python that has a package (`tests/python.sh`); pip's complaint where it
/// cannot be had.
pub fn python(package: &str) -> Result<PathBuf, String> {
    let output = Command::new("sh").arg(file("tests/python.sh")).arg(package).output().unwrap();
    if output.status.success() {
        Ok(PathBuf::from(stdout(&output).trim()))
    } else {
        Err(stderr(&output))
    }
}

/// [`python`]; `None`, after a skip, if pip reaches no package index. Panics if it fails otherwise.
#[track_caller]
pub fn python_or_skip(package: &str) -> Option<PathBuf> {
    let message = match python(package) {
        Ok(python) => return Some(python),
        Err(message) => message.to_lowercase(),
    };
    let is_offline = ["connection", "name resolution", "timed out", "unreachable"]
        .iter()
        .any(|sign| message.contains(sign));
    assert!(is_offline, "{package} cannot be installed: {message}");
    skip(&format!("pip reaches no package index: {message}"));
    None
}

/// A speed that wanders about 0 with a standard deviation of 1 (Ornstein and Uhlenbeck 1930).
pub struct Wandering {
    /// The seconds in which its correlation with itself falls to 1/e.
    correlation_seconds: f64,
    speed: f64,
}

impl Wandering {
    pub fn new(random: &mut impl rand::Rng, correlation_seconds: f64) -> Wandering {
        Wandering { correlation_seconds, speed: normal(random) }
    }

    /// The speed `seconds` after the last one.
    pub fn after(&mut self, random: &mut impl rand::Rng, seconds: f64) -> f64 {
        let correlation = (-seconds / self.correlation_seconds).exp();
        let innovation = (1.0 - correlation * correlation).sqrt() * normal(random);
        self.speed = correlation * self.speed + innovation;
        self.speed
    }
}
