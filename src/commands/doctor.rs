//! `unixmark doctor`.

use std::path::PathBuf;

use anyhow::Result;

use crate::options::{Form, workplace};
use crate::status::Status;
use crate::terminal::{print, say};
use journal::Severity;
use machine::{Machine, doctor};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Where the measured programs would work [default: /var/tmp, or /tmp if that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    form: Form,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let findings = doctor(&Machine::here(), workplace(arguments.dir.as_deref()));
    print(&::report::doctor(&findings, arguments.form.format)?)?;
    let spoils = findings.iter().filter(|finding| finding.severity == Severity::Spoils).count();
    if spoils > 0 {
        say(&format!("unixmark: {} will spoil a run here", words::count(spoils, "finding")));
        return Ok(Status::Failed);
    }
    Ok(Status::Fine)
}
