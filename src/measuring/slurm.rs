//! `unixmark fleet slurm`: submits a fleet run and, unless detached or interrupted, waits for its
//! results.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::measuring::options::duration;
use crate::status::Status;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Set account, QOS and constraints through sbatch's variables: SBATCH_ACCOUNT, SBATCH_QOS, SBATCH_CONSTRAINT."
)]
pub(crate) struct Arguments {
    /// Partition for the jobs [default: Slurm's]
    #[arg(short, long, value_name = "NAME")]
    partition: Option<String>,
    /// The nodes, as Slurm writes them: n[1-3],n7 [default: all nodes of the partition that accept
    /// jobs]
    #[arg(long, value_name = "LIST")]
    nodes: Option<String>,
    /// The fleet run's name [default: from the date and time]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The fleet run's directory, on a file system that the nodes share [default: ./NAME]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Submit, and do not wait for the results
    #[arg(long)]
    detach: bool,
    /// Time limit per node
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "2h")]
    time: Duration,
    /// How long to wait for a node before cancelling its job
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "30m")]
    give_up: Duration,
    /// What each node measures, after `--`: run, latency, scale or cost, with its arguments
    #[arg(last = true, required = true, value_name = "VERB …")]
    words: Vec<OsString>,
}

impl Arguments {
    /// Becomes the script that submits the fleet run and waits for it.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn run(&self) -> Result<Status> {
        let mut command = fleet::slurm::submitter();
        command.arg(
            std::env::current_exe()
                .context("this executable is not found; start it by its path")?,
        );
        command.args(
            [&self.partition, &self.nodes, &self.name]
                .map(|word| word.as_deref().unwrap_or_default()),
        );
        command.arg(self.into.as_deref().unwrap_or_else(|| "".as_ref()));
        command.args([self.time, self.give_up].map(|time| time.as_secs().to_string()));
        command.arg(if self.detach { "detach" } else { "" }).args(&self.words);
        Err(command.exec()).context("/bin/sh cannot be started")
    }
}
