//! A chain of comparisons: each run has its base and its head on whatever machine it got, and the ratios of all are
//! multiplied.
//!
//! Errors of different runs are independent, so the variances of their logarithms add up. A level has the errors of all
//! before it, which no search for steps among levels allows for; but a step is one run whose ratio differs from 1. So
//! these are judged, at a false discovery rate of 5 % over the chain, with intervals that allow for having been called
//! (Benjamini & Yekutieli 2005).

use stats::{Estimate, Exact, NORMAL_975, false_discovery_rates, normal_quantile};
use words::Grouped;

use super::trend::{Point, Series, Step, Trend, began};
use super::{Comparison, Measure, RATE, Results};
use catalogue::Metric;
use journal::Run;

/// The level at which a chain begins, in per cent.
const WHOLE: f64 = 100.0;

/// A head against its base, as a logarithm.
struct Link<'a> {
    run: &'a Run,
    comparison: &'a Comparison,
    change: f64,
    /// Its standard error; infinite where it is not known.
    error: f64,
}

impl<'a> Link<'a> {
    fn new(run: &'a Run, comparison: &'a Comparison) -> Link<'a> {
        let Estimate { value: change, low, high } = comparison.change().map(|size| (size / 100.0).log_of_1_plus());
        let error = (high - low) / 2.0 / NORMAL_975;
        Link { run, comparison, change, error: if error.is_finite() { error } else { f64::INFINITY } }
    }

    /// The change in per cent, with the interval that leaves out the truth with probability `level`.
    fn percent(&self, level: f64) -> Estimate {
        percent(self.change, normal_quantile(level) * self.error)
    }
}

/// A logarithm and its half-width, in per cent.
fn percent(log: f64, half: f64) -> Estimate {
    Measure::Score.delta(&Estimate { value: log, low: log - half, high: log + half })
}

impl Trend {
    /// Returns the chain of a figure over the runs that compare it, in the order they began: the head of each is the
    /// base of the next.
    pub fn chained(test: &str, runs: &[Results]) -> Trend {
        let mut runs: Vec<&Results> = runs.iter().collect();
        runs.sort_by_key(|results| began(&results.run));
        let links = runs.into_iter().flat_map(|results| links(test, results));
        let by_cell = links.map(|link| {
            let cell = &link.comparison.cell;
            ((cell.key.clone(), cell.unit.as_str()), link)
        });
        let series = by_cell.grouped().into_iter().map(|(_, links)| series(&links)).collect();
        Trend { test: test.to_owned(), series }
    }
}

/// Returns what a run has found of a test under each of its conditions.
fn links<'a>(test: &str, results: &'a Results) -> Vec<Link<'a>> {
    let found = results.cost().into_iter().flat_map(|cost| cost.effects()).map(|effect| &effect.comparison);
    let found = found.filter(|one| one.measure == Measure::Score && one.cell.key.test == test);
    found.filter(|one| one.delta.value.is_finite()).map(|one| Link::new(&results.run, one)).collect()
}

/// Returns the chain of links, of which there is at least one.
fn series(links: &[Link<'_>]) -> Series {
    let p: Vec<f64> = links.iter().map(|link| link.comparison.p).collect();
    let q = false_discovery_rates(&p);
    let called: Vec<&Link<'_>> = links.iter().zip(&q).filter(|(_, q)| **q < RATE).map(|(link, _)| link).collect();
    let level = RATE * called.len() as f64 / links.len() as f64;
    let step = |link: &&Link<'_>| Step {
        run: link.run.name.clone(),
        started: link.run.started.clone(),
        change: link.percent(level),
        p: link.comparison.p,
        changed: Vec::new(),
        others: None,
    };
    let (mut log, mut variance) = (0.0, 0.0_f64);
    let mut points = Vec::new();
    for link in links {
        log += link.change;
        variance += link.error.powi(2);
        let score = percent(log, NORMAL_975 * variance.sqrt()).map(|size| WHOLE + size);
        let Run { name: run, host, started, .. } = link.run.clone();
        points.push(Point { run, host, started, score, changed: Vec::new(), change: Some(link.percent(RATE)) });
    }
    let cell = &links[0].comparison.cell;
    Series {
        label: cell.label.clone(),
        key: cell.key.clone(),
        unit: "%".to_owned(),
        lower_is_better: cell.metric != Metric::Rate,
        points,
        steps: called.iter().map(step).collect(),
        total: Some(percent(log, NORMAL_975 * variance.sqrt())),
        ..Series::default()
    }
}
