//! The command line tool: see `unixmark help`.

mod commands;
mod complete;
mod examples;
mod manual;
mod measure;
mod options;
mod status;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
