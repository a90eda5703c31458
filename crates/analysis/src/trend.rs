//! One test over many runs: its figures in the order of time, and what changed between them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Figure, Summary};
use catalogue::Metric;
use journal::{Facts, Key, Run};
use stats::{Estimate, median};

/// What is watched between runs, what a change of figures is most often due to: its name and its value, of what is known.
pub(super) fn watched(summary: &Summary) -> Vec<(String, &str)> {
    let known = |(title, name): (&str, &str)| Some((title.to_lowercase(), summary.facts.text(name)?));
    let mut watched = vec![("host".to_owned(), summary.run.host.as_str())];
    watched.extend(Facts::suspects().filter_map(known));
    if let Some(build) = &summary.run.build {
        watched.push(("compiler".to_owned(), &build.compiler));
        // Twelve digits tell builds apart, as they do commits.
        watched.push(("build".to_owned(), build.hash.get(..12).unwrap_or(&build.hash)));
    }
    watched.push(("procedure".to_owned(), summary.run.procedure.name()));
    watched
}

/// A test's figures over runs.
#[derive(Debug, Clone, Serialize)]
pub struct Trend {
    /// The test, or the index.
    pub test: String,
    /// One for each number of copies, load and condition, in the order they were first measured.
    pub series: Vec<Series>,
}

/// The figures of one cell.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// The test's name in reports.
    pub label: String,
    /// Where in the matrix it is.
    #[serde(flatten)]
    pub key: Key,
    /// The unit; empty of an index.
    pub unit: String,
    /// Whether lower is better.
    pub lower_is_better: bool,
    /// The runs, the oldest first.
    pub points: Vec<Point>,
    /// The latest beside those before it; none of a single run.
    pub latest: Option<Latest>,
}

/// The figure of one run.
#[derive(Debug, Clone, Serialize)]
pub struct Point {
    /// The run.
    pub run: String,
    /// Its host.
    pub host: String,
    /// When it began, RFC 3339.
    pub started: String,
    /// The score, with its interval.
    #[serde(flatten)]
    pub score: Estimate,
    /// What is not as in the run before.
    pub changed: Vec<Change>,
}

/// Something that differs from the run before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// What it is called.
    pub name: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub after: String,
}

/// The latest run of a series beside those before it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latest {
    /// How many runs there were before.
    pub before: usize,
    /// The median of their scores.
    pub median: f64,
    /// By how much the latest is above it, in per cent.
    pub delta: f64,
    /// How likely a run of the same kind is as far out: twice the latest's rank from the nearer end, over the number of runs.
    /// That is exact whatever the distribution, and at least 2/(before + 1).
    pub p: f64,
}

impl Trend {
    /// Returns the trend of a test, or an index, over the runs that have it, in the order they began.
    #[must_use]
    pub fn new(test: &str, summaries: &[Summary]) -> Trend {
        let mut runs: Vec<&Summary> = summaries.iter().collect();
        runs.sort_by_key(|summary| began(&summary.run));
        let mut series: Vec<(Series, &Summary)> = Vec::new();
        for summary in runs {
            for cell in cells(test, summary) {
                let same = |known: &Series| {
                    (known.key.copies, &known.key.load, &known.key.condition, &known.unit)
                        == (cell.key.copies, &cell.key.load, &cell.key.condition, &cell.unit)
                };
                let score = cell.points.first().map(|point| point.score);
                match (series.iter_mut().find(|(known, _)| same(known)), score) {
                    (Some((known, before)), Some(score)) => {
                        known.points.push(point(summary, score, Some(before)));
                        *before = summary;
                    }
                    _ => series.push((cell, summary)),
                }
            }
        }
        let finish = |(mut series, _): (Series, &Summary)| {
            series.latest = latest(&series.points);
            series
        };
        Trend { test: test.to_owned(), series: series.into_iter().map(finish).collect() }
    }
}

/// When a run began; of those in the same second, which was named first. Those that do not say it come before all others.
pub(super) fn began(run: &Run) -> (Option<jiff::Timestamp>, &str) {
    (run.started.parse().ok(), &run.name)
}

/// The run's figures of a test, each as a series of one.
fn cells(test: &str, summary: &Summary) -> Vec<Series> {
    let of = |figure: &Figure| Series {
        label: figure.label.clone(),
        key: figure.key.clone(),
        unit: figure.unit.clone(),
        lower_is_better: figure.metric != Metric::Rate,
        points: vec![point(summary, figure.score, None)],
        latest: None,
    };
    // The control of a comparison measures the same again.
    let figures = summary.figures.iter().filter(|figure| figure.key.test == test && !figure.control);
    let figures = figures.filter(|figure| figure.score.value.is_finite()).map(of);
    let indexes = summary.indexes.iter().filter(|index| index.id == test && index.complete).map(|index| Series {
        label: index.id.clone(),
        key: Key::plain(&index.id, index.copies),
        unit: String::new(),
        lower_is_better: false,
        points: vec![point(summary, index.score, None)],
        latest: None,
    });
    figures.chain(indexes).collect()
}

fn point(summary: &Summary, score: Estimate, before: Option<&Summary>) -> Point {
    let before: BTreeMap<String, &str> = before.map(watched).into_iter().flatten().collect();
    // What only one of the two journals says is not a known change.
    let change = |(name, after): (String, &str)| {
        let before = *before.get(&name).filter(|before| **before != after)?;
        Some(Change { name, before: before.to_owned(), after: after.to_owned() })
    };
    let Run { name, host, started, .. } = summary.run.clone();
    Point { run: name, host, started, score, changed: watched(summary).into_iter().filter_map(change).collect() }
}

fn latest(points: &[Point]) -> Option<Latest> {
    let value = |point: &Point| point.score.value;
    let (last, before) = points.split_last()?;
    let (last, before) = (value(last), before.iter().map(value).collect::<Vec<f64>>());
    if before.is_empty() {
        return None;
    }
    let median = median(&before);
    let rank = |beyond: fn(&f64, &f64) -> bool| 1 + before.iter().filter(|value| beyond(value, &last)).count();
    let rank = rank(|value, last| value <= last).min(rank(|value, last| value >= last));
    let p = (2.0 * rank as f64 / (before.len() + 1) as f64).min(1.0);
    Some(Latest { before: before.len(), median, delta: (last / median - 1.0) * 100.0, p })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[f64]) -> Vec<Point> {
        let point = |value: &f64| Point {
            run: String::new(),
            host: String::new(),
            started: String::new(),
            score: Estimate::alone(*value),
            changed: Vec::new(),
        };
        values.iter().map(point).collect()
    }

    #[test]
    fn the_latest_is_held_against_the_median_of_the_others() {
        assert_eq!(latest(&points(&[1.0])), None);
        let lowest = latest(&points(&[100.0, 101.0, 300.0, 99.0, 90.0])).unwrap();
        assert_eq!((lowest.before, lowest.median, lowest.p), (4, 100.5, 0.4));
        assert!((lowest.delta - -10.447).abs() < 0.001, "{}", lowest.delta);
        // Among the others it says nothing.
        assert_eq!(latest(&points(&[1.0, 3.0, 2.0])).unwrap().p, 1.0);
        // Forty runs are the least by which one can be told apart at 5 %.
        let mut many: Vec<f64> = (0..39).map(|i| 100.0 + f64::from(i)).collect();
        many.push(99.0);
        assert_eq!(latest(&points(&many)).unwrap().p, 0.05);
    }
}
