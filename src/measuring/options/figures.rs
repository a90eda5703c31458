//! The figures that commands print, in place of their times.

use anyhow::Result;

use crate::options::check_directions;
use analysis::Better;
use interop::harness::{Harness, Tail};
use measure::Ask;

/// The options about what commands print.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct PrintedFigures {
    /// Compare the figures that the commands print, not their times: gobench (go test -bench),
    /// gbench (Google Benchmark's JSON), criterion, pytest (pytest-benchmark's JSON), jmh,
    /// nanobench (their JSON), json ({"name": number}, or github-action-benchmark's
    /// list), or auto: any of these, or what `import` reads, as of fio or sysbench
    #[arg(long, value_name = "KIND", conflicts_with_all = ["output", "export_json"])]
    pub(crate) harness: Option<Harness>,
    /// Say which direction of a printed figure is better, where its unit does not: its name or its
    /// unit, as in higher:tps
    #[arg(long, value_name = "higher|lower:NAME", requires = "harness")]
    pub(crate) better: Vec<Better>,
    /// Compare this quantile of each list of numbers and each HDR histogram that a command prints,
    /// as the latencies of its requests ({"name": [number, …]}): 0.99, with at least 1000 numbers
    #[arg(long, value_name = "SHARE")]
    pub(crate) quantile: Option<Tail>,
}

impl PrintedFigures {
    /// The request, with what these options ask for.
    ///
    /// # Errors
    /// A figure is given both directions.
    pub(crate) fn add_to(&self, ask: Ask) -> Result<Ask> {
        check_directions(&self.better)?;
        Ok(Ask { harness: self.harness, better: self.better.clone(), tail: self.quantile, ..ask })
    }
}
