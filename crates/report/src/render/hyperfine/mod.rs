//! hyperfine's exports: the times of each command, in the columns and fields of hyperfine 1.20.

mod json;
mod tables;
mod text;

use analysis::{Figure, Results};
use anyhow::{Result, bail, ensure};
use journal::{Execution, GivenCommand};
use stats::Exact as _;

use crate::subject::Subject;

pub(super) use json::render as json;
pub(super) use tables::{asciidoc, csv, markdown, orgmode};
pub(super) use text::render as text;

const NS: f64 = 1e9;

/// What hyperfine calls a benchmark: the executions of one command, in seconds.
struct Benchmark<'a> {
    given: GivenCommand,
    executions: &'a [Execution],
    times: Vec<f64>,
    mean: f64,
    /// The standard deviation of the times; `None` of a single one.
    deviation: Option<f64>,
    median: f64,
    user: f64,
    system: f64,
    min: f64,
    max: f64,
}

impl<'a> Benchmark<'a> {
    /// The benchmark of a command's figure; `None` if nothing was executed for it.
    fn new(figure: &'a Figure, results: &Results) -> Option<Benchmark<'a>> {
        let executions = &figure.executed.as_ref()?.all[..];
        let seconds = |number: fn(&Execution) -> u64| {
            executions.iter().map(move |one| number(one) as f64 / NS)
        };
        let times: Vec<f64> = seconds(Execution::wall).collect();
        let mean = stats::mean(&times);
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        Some(Benchmark {
            given: given(figure, results),
            executions,
            mean,
            deviation: (times.len() > 1).then(|| (squares / (times.len() as f64 - 1.0)).sqrt()),
            median: stats::median(&times),
            user: stats::mean(seconds(|execution| execution.user)),
            system: stats::mean(seconds(|execution| execution.system)),
            min: times.iter().copied().fold(f64::INFINITY, f64::min),
            max: times.iter().copied().fold(0.0, f64::max),
            times,
        })
    }
}

/// The benchmarks, the fastest first.
fn sorted_by_mean<'a, 'b>(benchmarks: &'a [Benchmark<'b>]) -> Vec<&'a Benchmark<'b>> {
    let mut sorted: Vec<&Benchmark<'_>> = benchmarks.iter().collect();
    sorted.sort_by(|a, b| a.mean.total_cmp(&b.mean));
    sorted
}

/// The mean of a command as a multiple of another's; the deviation is that of a ratio of
/// independent means, if both are known.
fn ratio(benchmark: &Benchmark<'_>, base: &Benchmark<'_>) -> (f64, Option<f64>) {
    let ratio = benchmark.mean / base.mean;
    let share = |one: &Benchmark<'_>| Some(one.deviation? / one.mean);
    let deviation =
        share(benchmark).zip(share(base)).map(|(own, base)| ratio * own.hypotenuse(base));
    (ratio, deviation)
}

/// The command of a figure, as it was given.
fn given(figure: &Figure, results: &Results) -> GivenCommand {
    let cell = &figure.cell;
    let name = if cell.is_alternating() { &cell.key.condition } else { &cell.label };
    let known = results.run.commands.iter().find(|given| given.name == *name);
    let itself =
        || GivenCommand { name: name.clone(), command: name.clone(), ..GivenCommand::default() };
    known.cloned().unwrap_or_else(itself)
}

/// The results of a run.
///
/// # Errors
/// The subject is no run.
fn run(subject: Subject<'_>) -> Result<&Results> {
    let Subject::Run(results) = subject else {
        bail!("this format has the times of a run's commands; try --format json")
    };
    Ok(results)
}

/// The benchmarks of a run that were measured, in the order of its commands.
fn measured(results: &Results) -> Vec<Benchmark<'_>> {
    let figures = results.figures.iter().filter(|figure| !figure.cell.control);
    figures.filter_map(|figure| Benchmark::new(figure, results)).collect()
}

/// The same, at least one.
///
/// # Errors
/// No command was measured.
fn benchmarks(results: &Results) -> Result<Vec<Benchmark<'_>>> {
    let found = measured(results);
    ensure!(
        !found.is_empty(),
        "no command was measured, and this format has the times of commands; try --format json"
    );
    Ok(found)
}
