//! `unixmark doctor`.

use std::path::PathBuf;

use anyhow::Result;

use super::measure::workplace;
use super::{Status, print};
use journal::Severity;
use machine::{Machine, doctor};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The directory the measured programs would work in [default: /var/tmp, or /tmp where that is missing]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let findings = doctor(&Machine::here(), workplace(arguments.dir.as_deref()));
    if arguments.json {
        print(&(serde_json::to_string_pretty(&findings)? + "\n"))?;
        return Ok(Status::Fine);
    }
    let mut text = String::new();
    for (severity, heading) in [
        (Severity::Spoils, "Will spoil a run:"),
        (Severity::Disturbs, "Will disturb a run:"),
        (Severity::Note, "Worth knowing:"),
    ] {
        let mut first = true;
        for finding in findings.iter().filter(|finding| finding.severity == severity) {
            if first {
                text.push_str(&format!("{}{heading}\n", if text.is_empty() { "" } else { "\n" }));
                first = false;
            }
            text.push_str(&format!("  {}: {}\n", finding.name, finding.what));
            text.push_str(&format!("      {}\n", finding.mend));
        }
    }
    if findings.is_empty() {
        text.push_str("Nothing here will spoil a run.\n");
    }
    print(&text)?;
    Ok(Status::Fine)
}
