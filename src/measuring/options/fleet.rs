//! The part of a fleet run that is measured. Engines set variables, people options.

use std::env;

use journal::{Attempt, NodeId};

/// The options of a command that measures for a fleet run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fleets")]
pub(crate) struct FleetPart {
    /// Write the journal to stdout, and no report, for an engine that collects it
    #[arg(long, conflicts_with = "watch")]
    pub(crate) emit: bool,
    /// Measure as part of this fleet run; refuse if another unixmark is measuring here
    #[arg(long, value_name = "NAME", env = "UNIXMARK_FLEET", hide_env_values = true)]
    fleet: Option<String>,
    /// Name of this node [default: Slurm's, or the host's]
    #[arg(long, value_name = "NAME", env = "UNIXMARK_NODE", hide_env_values = true, requires = "fleet")]
    node: Option<String>,
}

impl FleetPart {
    /// Returns which attempt it is, on a machine called `host`; `None` if it is for no fleet run.
    pub(crate) fn attempt(&self, host: &str) -> Option<Attempt> {
        let variable = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let number = |name: &str| variable(name).and_then(|text| text.parse().ok());
        Some(Attempt {
            run: self.fleet.clone()?,
            id: NodeId {
                node: self.node.clone().or_else(|| variable("SLURMD_NODENAME")).unwrap_or_else(|| host.to_owned()),
                task: variable("UNIXMARK_TASK").unwrap_or_else(|| "0".to_owned()),
            },
            attempt: number("UNIXMARK_ATTEMPT").or_else(|| number("SLURM_RESTART_COUNT")).unwrap_or(0),
        })
    }
}
