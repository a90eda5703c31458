//! Servers that `unixmark ab --serve` compares by their clients.
//!
//! A client's executions alternate between servers that are up at once. A server may draw its speed
//! when it starts (addresses, hash seeds, the place of its threads), so each is started anew in
//! every window: a server's process is one sample, and a window is one pair of samples.
//! programs/command/server.c starts them, waits until they are ready, and ends them.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::options::{Commands, Given, refuse_blank};
use analysis::pairs::MIN_PAIRS;
use catalogue::{Command, Servers};

/// Starts of each server, unless the user says how many: with twelve, a difference of 5 % is found
/// where processes of one server differ by 3 %.
const USUAL_RESTARTS: u32 = 12;

const MAX_RESTARTS: u32 = 1000;

#[derive(Debug, clap::Args)]
pub(super) struct ServerOptions {
    /// Compare servers by a client, the COMMAND: start this one for its executions, on a free port
    /// that both find in $PORT; once for each server
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with_all = [
            "reference", "parameter_list", "parameter_scan", "sequential", "counts", "min_runs",
            "max_runs", "iterations", "budget", "over", "precision", "build_command", "builds"
        ]
    )]
    serve: Vec<String>,
    /// A server is ready once this succeeds [default: once something listens at $PORT]
    #[arg(long, value_name = "COMMAND", requires = "serve")]
    ready: Option<String>,
    /// Start each server this many times: a process of a server is one sample [default: 12]
    #[arg(
        long,
        value_name = "N",
        requires = "serve",
        value_parser = clap::value_parser!(u32).range(i64::from(MIN_PAIRS)..=i64::from(MAX_RESTARTS))
    )]
    restarts: Option<u32>,
    /// Have one server up at a time, where there is no room for all
    #[arg(long, requires = "serve", conflicts_with = "same_output")]
    one_at_a_time: bool,
}

impl ServerOptions {
    /// The starts of each server; `None` without servers.
    pub(super) fn restarts(&self) -> Option<u32> {
        let has_servers = !self.serve.is_empty();
        has_servers.then_some(self.restarts.unwrap_or(USUAL_RESTARTS))
    }

    /// How servers are started. Each must be ready within `patience`.
    pub(super) fn manner(&self, patience: Duration) -> Servers {
        let patience = self.restarts().map(|_| patience);
        Servers { are_apart: self.one_at_a_time, patience }
    }

    /// The client once for each server: words after `--`, or one quoted command.
    ///
    /// # Errors
    /// There is no client, or only one server.
    pub(super) fn find_arms(
        &self,
        commands: &Commands,
        words: &[OsString],
        quoted: &[String],
    ) -> Result<Vec<Given>> {
        let client = match quoted {
            [] => Commands::from_words(words)?,
            [command] if words.is_empty() => commands.quoted(command)?,
            _ => Command::default(),
        };
        ensure!(
            !client.words.is_empty(),
            "--serve compares servers by one client; name that alone, as in -- ./client '$PORT'"
        );
        ensure!(
            self.serve.len() > 1,
            "--serve names one server, and there is nothing to compare it with; name another, or two directories \
             with --base and --head"
        );

        let mut arms = Vec::new();
        for server in &self.serve {
            refuse_blank("--serve", server)?;
            let client = Command { label: server.clone(), ..client.clone() };
            arms.push(Given::from(self.add_server(commands, server, client)?));
        }
        Ok(arms)
    }

    /// A command of --base or --head with its server, if there is one.
    ///
    /// # Errors
    /// There are several servers: each side has the same.
    pub(super) fn with_server(&self, commands: &Commands, command: Command) -> Result<Command> {
        match &self.serve[..] {
            [] => Ok(command),
            [server] => self.add_server(commands, server, command),
            _ => bail!(
                "--base and --head start the same server, each in its own directory; give --serve once"
            ),
        }
    }

    /// Adds a server, and the command that succeeds once it is ready, to a client.
    fn add_server(&self, commands: &Commands, server: &str, client: Command) -> Result<Command> {
        let serve = commands.words(server).context("--serve")?;
        let ready = match &self.ready {
            Some(ready) => {
                refuse_blank("--ready", ready)?;
                commands.words(ready)?
            }
            None => Vec::new(),
        };
        Ok(Command { serve, ready, ..client })
    }
}
