//! A chain of comparisons: each run has its base and its head on whatever machine it got, and the
//! ratios of all are multiplied.
//!
//! Errors of different runs are independent, so the variances of their logarithms add up. A level
//! has the errors of all before it, which no search for steps among levels allows for; but a step
//! is one run whose ratio differs from 1. So the runs are judged, at a false discovery rate of 5 %
//! over the chain, with intervals that allow for having been selected so (Benjamini & Yekutieli
//! 2005).

use stats::{Estimate, Exact, NORMAL_975, false_discovery_rates, normal_quantile};
use words::Grouped;

use crate::figures::Measure;
use crate::findings::Results;
use crate::products::comparison::{Comparison, RATE, Scale};
use crate::runs::trend::{Point, Series, Step, Trend, began};
use catalogue::Metric;
use journal::Run;

/// The level at which a chain begins, in per cent.
const FIRST_LEVEL_PERCENT: f64 = 100.0;

/// A head against its base.
struct Link<'a> {
    run: &'a Run,
    comparison: &'a Comparison,
    /// The logarithm of head over base.
    change: f64,
    /// The standard error of `change`; infinite where it is not known.
    error: f64,
}

impl<'a> Link<'a> {
    fn new(run: &'a Run, comparison: &'a Comparison) -> Link<'a> {
        let log = comparison.change().map(|percent| (percent / 100.0).log_of_1_plus());
        let error = (log.high - log.low) / 2.0 / NORMAL_975;
        let error = if error.is_finite() { error } else { f64::INFINITY };
        Link { run, comparison, change: log.value, error }
    }

    /// The change in per cent, with the interval that misses the truth with probability `level`.
    fn change_percent(&self, level: f64) -> Estimate {
        to_percent(self.change, normal_quantile(level) * self.error)
    }

    fn to_step(&self, level: f64) -> Step {
        Step {
            run: self.run.name.clone(),
            started: self.run.started.clone(),
            change: self.change_percent(level),
            p: self.comparison.p,
            changed: Vec::new(),
            others: None,
        }
    }
}

/// A logarithm and the half-width of its interval, in per cent.
fn to_percent(log: f64, half_width: f64) -> Estimate {
    let log = Estimate { value: log, low: log - half_width, high: log + half_width };
    Scale::Ratio.delta(&log)
}

impl Trend {
    /// The chain of a test over the runs that compare it, in the order they began: the head of each
    /// run is the base of the next.
    pub fn chained(test: &str, runs: &[Results]) -> Trend {
        let mut runs: Vec<&Results> = runs.iter().collect();
        runs.sort_by_key(|results| began(&results.run));

        let links = runs.into_iter().flat_map(|results| links(test, results));
        let by_cell = links.map(|link| {
            let cell = &link.comparison.cell;
            ((cell.key.clone(), cell.unit.as_str()), link)
        });
        let series = by_cell.grouped().into_iter().map(|(_, links)| chain(&links)).collect();
        Trend { test: test.to_owned(), series }
    }
}

/// The comparisons of a test's scores in a run, one per condition.
fn links<'a>(test: &str, results: &'a Results) -> Vec<Link<'a>> {
    let Some(cost) = results.cost() else { return Vec::new() };
    let mut links = Vec::new();
    for comparison in cost.effects().map(|effect| &effect.comparison) {
        let is_of_test = comparison.measure == Measure::Score && comparison.cell.key.test == test;
        let is_known_ratio = comparison.delta.value.is_finite() && comparison.scale.is_ratio();
        if is_of_test && is_known_ratio {
            links.push(Link::new(&results.run, comparison));
        }
    }
    links
}

/// Multiplies the ratios of links, of which there is at least one.
fn chain(links: &[Link<'_>]) -> Series {
    let mut log = 0.0;
    let mut variance = 0.0_f64;
    let mut points = Vec::new();
    for link in links {
        log += link.change;
        variance += link.error.powi(2);
        let since_first = to_percent(log, NORMAL_975 * variance.sqrt());
        let Run { name, host, started, .. } = link.run.clone();
        points.push(Point {
            run: name,
            host,
            started,
            score: since_first.map(|percent| FIRST_LEVEL_PERCENT + percent),
            changed: Vec::new(),
            change: Some(link.change_percent(RATE)),
        });
    }

    let cell = &links[0].comparison.cell;
    Series {
        label: cell.label.clone(),
        key: cell.key.clone(),
        unit: "%".to_owned(),
        lower_is_better: cell.metric.is_lower_better(),
        is_undirected: cell.metric == Metric::Unknown,
        points,
        steps: steps(links),
        total: Some(to_percent(log, NORMAL_975 * variance.sqrt())),
        ..Series::default()
    }
}

/// The links whose ratio differs significantly from 1. The fewer of all they are, the wider are
/// their intervals, which allow for the selection.
fn steps(links: &[Link<'_>]) -> Vec<Step> {
    let p: Vec<f64> = links.iter().map(|link| link.comparison.p).collect();
    let q = false_discovery_rates(&p);
    let selected: Vec<&Link<'_>> =
        links.iter().zip(&q).filter(|(_, q)| **q < RATE).map(|(link, _)| link).collect();

    let level = RATE * selected.len() as f64 / links.len() as f64;
    selected.iter().map(|link| link.to_step(level)).collect()
}
