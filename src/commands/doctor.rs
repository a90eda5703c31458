//! `unixmark doctor`.

use std::path::PathBuf;

use anyhow::Result;

use crate::options::workplace;
use crate::status::Status;
use crate::terminal::print;
use ::report::Format;
use machine::{Machine, doctor};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where the measured programs would work [default: /var/tmp, or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The form
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// The same as --format json
    #[arg(long, hide = true)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let findings = doctor(&Machine::here(), workplace(arguments.dir.as_deref()));
    print(&::report::doctor(&findings, if arguments.json { Format::Json } else { arguments.format })?)?;
    Ok(Status::Fine)
}
