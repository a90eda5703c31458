//! The command line tool: see `unixmark help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    unixmark::commands::main()
}
