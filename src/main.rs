//! The command line tool: see `unixmark help`.

mod commands;
mod complete;
mod examples;
mod limits;
mod manual;
mod options;
mod reports;
mod status;
mod terminal;

// The seam: what measures needs Linux, what reads runs anywhere. Both sides have the same items.
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "here its own tests alone use it"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod measuring;

#[cfg(not(target_os = "linux"))]
use elsewhere as measuring;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
