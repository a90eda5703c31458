//! `unixmark export` in a tool that was built without it, for the shortest wait.

use anyhow::{Result, bail};

use crate::status::Status;

/// The words, whatever they are.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _words: Vec<String>,
}

pub(super) fn run(_: &Arguments) -> Result<Status> {
    bail!(
        "this tool was built without `export`, which shortens the build; `make build` builds it whole"
    )
}
