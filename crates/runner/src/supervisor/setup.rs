//! What a trial starts: the copies, and the programs alongside them.

use std::time::Duration;

use conditions::Refusal;

use crate::program::Command;
use catalogue::Test;
use plan::Window;

/// The window of programs that run outside the cells.
pub(crate) const SHORT_WINDOW: Window = Window {
    slice: Duration::from_millis(100),
    slices: 2,
    warmup: 0,
    around: Duration::ZERO,
    rest: false,
    settle: Duration::ZERO,
};

/// The programs of a trial.
pub(crate) struct Setup<'a> {
    pub test: &'a Test,
    pub copies: Vec<Command<'a>>,
    /// The programs alongside the copies: the load, then the companion.
    pub sides: Vec<Side<'a>>,
    pub window: Window,
    /// The number of copies that each program reports: more than one if copies are its threads, or
    /// the arms of a comparison.
    pub threads: u32,
}

impl<'a> Setup<'a> {
    /// No copy yet, and no window that lasts.
    pub fn empty(test: &'a Test) -> Setup<'a> {
        let window = SHORT_WINDOW;
        Setup { test, copies: Vec::new(), sides: Vec::new(), window, threads: 1 }
    }

    /// One copy and nothing alongside it.
    pub fn alone(test: &'a Test, command: Command<'a>, window: Window) -> Setup<'a> {
        Setup { test, copies: vec![command], sides: Vec::new(), window, threads: 1 }
    }
}

/// A program that runs alongside the copies.
pub(crate) struct Side<'a> {
    pub role: Role,
    pub test: &'a Test,
    pub command: Command<'a>,
}

/// The role of a program alongside the copies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The cell's load.
    Load,
    /// It counts for the cell's condition what the copies do.
    Companion,
}

impl Role {
    /// A refusal that names the program alongside the copies.
    pub fn blame(self, test: &Test, refusal: Refusal) -> Refusal {
        let whose = match self {
            Role::Load => "its load",
            Role::Companion => "its condition's",
        };
        match refusal {
            Refusal::Stopped => Refusal::Stopped,
            Refusal::Unavailable(why) => {
                Refusal::Unavailable(format!("{whose} {} cannot run here: {why}", test.id))
            }
            Refusal::Failed(why) | Refusal::Fatal(why) => {
                Refusal::Failed(format!("{whose} {} failed: {why}", test.id))
            }
        }
    }
}
