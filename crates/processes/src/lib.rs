//! Processes: started in groups of their own, ended whole, waited for beside signals. A number is never taken for a
//! process: a child stays a zombie until its group has been ended, and any other process is known by its start time as
//! well.

mod child;
mod command;
mod group;
mod signals;

pub use child::{end_child, exit_status, reap, retry};
pub use command::{Command, Failure, Interrupt, sleep};
pub use group::{Group, find, parent, signal_if};
pub use signals::{Signals, continued};
