//! Processes: started in groups of their own, ended whole, waited for alongside signals. A number
//! is never treated as a process: a child stays a zombie until its group has been ended, and any
//! other process is known by its start time as well.

mod child;
mod children;
mod command;
mod group;
mod signals;
mod tethered;

pub use child::{end_child, exit_status, reap, retry, stop_signal};
pub use children::Children;
pub use command::{Command, Failure, Interrupt, sleep};
pub use group::{
    Group, Started, end_with_descendants, find, is_dead, last_child, parent, signal_if,
};
pub use signals::{Signals, continued, end_on_stop, meet_signals};
pub use tethered::tethered;
