//! `unixmark report RUN`.

mod trend;

use anyhow::Result;

use crate::options::{Detail, Form, Redact, Results};
use crate::reports::{baseline, find, placed};
use crate::status::Status;
use crate::terminal::print;
use ::report::{Ending, Format, Subject};
use catalogue::Catalogue;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The run to report
    #[arg(default_value = "latest", value_name = "RUN")]
    run: String,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    detail: Detail,
    #[command(flatten)]
    redact: Redact,
    /// Use this run, or this entry of `unixmark reference`, as the baseline, instead of UnixBench's
    /// reference machine 'George', a SPARCstation of 1995 that scores 10
    #[arg(long, value_name = "RUN")]
    baseline: Option<String>,
    /// Show this test, or index, across all runs instead of one run
    #[arg(long, value_name = "TEST", conflicts_with_all = ["run", "baseline", "redact"])]
    trend: Option<String>,
    /// Multiply what each run of `ab` or `cost` found of the test: the head of a run is the base of
    /// the next
    #[arg(long, requires = "trend")]
    chain: bool,
    /// Only runs of this host, or `all` [default: the host of the latest run with the test; with
    /// --chain all]
    #[arg(long, value_name = "NAME", requires = "trend")]
    host: Option<String>,
    #[command(flatten)]
    results: Results,
}

pub(super) fn run(arguments: &Arguments) -> Result<Status> {
    let store = arguments.results.store()?;
    let catalogue = Catalogue::load()?;
    if let Some(test) = &arguments.trend {
        let Arguments { chain, host, form, .. } = arguments;
        return trend::run((test, *chain), host.as_deref(), form.layout(), &store, &catalogue);
    }
    let baseline =
        arguments.baseline.as_deref().map(|name| baseline(&store, &catalogue, name)).transpose()?;
    let results = placed(&store, &catalogue, &arguments.run, baseline.as_ref(), &arguments.redact)?;
    let format = arguments.form.format;
    if format == Format::Brief {
        let path = find(&store, &arguments.run)?;
        let ending = Ending { path: Some(&path), ..Ending::default() };
        print(&::report::brief(&results, ending)?)?;
        return Ok(Status::Fine);
    }
    print(&::report::render(Subject::Run(&results), arguments.detail.layout(format))?)?;
    Ok(Status::Fine)
}
