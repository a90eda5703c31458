//! `unixmark doctor`.

use std::path::PathBuf;

use anyhow::Result;

use super::measure::workplace;
use super::{Status, print};
use ::report::Format;
use machine::{Machine, doctor};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The directory the measured programs would work in [default: /var/tmp, or /tmp where that is missing]
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
