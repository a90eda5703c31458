//! `unixmark completions SHELL`.

use anyhow::Result;

use crate::complete::registration;
use crate::options::name;
use crate::status::Status;
use crate::terminal::print;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    print(&registration(&name(arguments.shell))?)?;
    Ok(Status::Fine)
}
