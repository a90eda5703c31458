//! `unixmark ab`: commands that are executed in turn, and which is faster.

use std::sync::Arc;

use anyhow::{Result, bail};

use crate::measuring::job::Job;
use crate::measuring::options::{Commands, Matrix, with_default};
use crate::status::{Status, usage};
use catalogue::{Catalogue, Condition};
use journal::View;
use machine::Machine;
use plan::{Procedure, Request};

#[derive(Debug, clap::Args)]
#[command(
    mut_arg("iterations", |arg| arg.short(None::<char>).hide(true)),
    mut_arg("budget", |arg| with_default(arg, "1m")),
)]
pub(crate) struct Arguments {
    /// The commands, each quoted as one word, which a shell executes; the others are compared with the first
    #[arg(value_name = "COMMAND", required = true)]
    quoted: Vec<String>,
    /// Fail if a command is slower than the first by more than this: 2%
    #[arg(long, value_name = "PERCENT", value_parser = crate::options::percent)]
    fail_on: Option<f64>,
    /// Check first that all commands print the same
    #[arg(long)]
    same_output: bool,
    #[command(flatten)]
    commands: Commands,
    #[command(flatten)]
    options: Matrix,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let catalogue = Catalogue::load()?;
    let machine = Machine::here();
    let request = request(arguments, &catalogue).map_err(usage)?;
    let job = Job { view: View::Ab, gate: arguments.fail_on, ..Job::new(&arguments.options, request) };
    job.carry_out(&catalogue, &machine)
}

fn request(arguments: &Arguments, catalogue: &Catalogue) -> Result<Request> {
    let Arguments { quoted, commands, options, .. } = arguments;
    if quoted.len() < 2 {
        bail!(
            "there is one command, and nothing to compare it with; try `unixmark ab 'OLD' 'NEW'`, or `unixmark run '{}'`",
            quoted[0]
        );
    }
    let (test, names) = commands.in_turn(catalogue, quoted, arguments.same_output)?;
    let condition = |name| Arc::new(Condition { name, parts: Vec::new() });
    Ok(Request {
        tests: vec![test],
        copies: vec![1],
        loads: options.loads(catalogue)?,
        conditions: names.into_iter().map(condition).collect(),
        control: true,
        procedure: Procedure::ab(options.effort_in_blocks()?),
        ..Request::default()
    })
}
