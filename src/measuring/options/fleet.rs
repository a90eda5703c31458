//! The part of a fleet run that is measured. Engines set variables, people options.

use std::env;

use journal::{Attempt, NodeId};

/// The options of a command that measures for a fleet run.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Fleets")]
pub(crate) struct FleetPart {
    /// Write the journal to stdout, and no report, for an engine that collects it
    #[arg(long)]
    pub(crate) emit: bool,
    /// Measure as part of this fleet run; refuse if another unixmark is measuring here
    #[arg(long, value_name = "NAME", env = "UNIXMARK_FLEET", hide_env_values = true)]
    fleet: Option<String>,
    /// Name of this node [default: Slurm's, or the host's]
    #[arg(
        long,
        value_name = "NAME",
        env = "UNIXMARK_NODE",
        hide_env_values = true,
        requires = "fleet"
    )]
    node: Option<String>,
}

impl FleetPart {
    /// The node and the number of its attempt, on a machine called `host`; `None` if the run is for
    /// no fleet.
    pub(crate) fn attempt(&self, host: &str) -> Option<Attempt> {
        let run = self.fleet.clone()?;
        let node = self.node.clone().or_else(|| variable("SLURMD_NODENAME"));
        let task = variable("UNIXMARK_TASK");
        let attempt =
            number_variable("UNIXMARK_ATTEMPT").or_else(|| number_variable("SLURM_RESTART_COUNT"));
        Some(Attempt {
            run,
            id: NodeId {
                node: node.unwrap_or_else(|| host.to_owned()),
                task: task.unwrap_or_else(|| "0".to_owned()),
            },
            attempt: attempt.unwrap_or(0),
        })
    }
}

/// The value of a variable that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

fn number_variable(name: &str) -> Option<u32> {
    variable(name)?.parse().ok()
}
