//! `unixmark completions SHELL`.

use anyhow::Result;
use clap::CommandFactory;

use super::Cli;
use crate::status::Status;
use crate::terminal::print;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "unixmark", &mut text);
    print(&String::from_utf8_lossy(&text))?;
    Ok(Status::Fine)
}
