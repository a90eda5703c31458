//! The command line tool: see `unixmark help`.

mod commands;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::main()
}
