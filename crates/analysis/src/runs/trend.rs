//! One test over many runs: its figures in the order of time, and what changed between them.
//!
//! 1. Runs are sorted into *series* ([`Trend::new`]): only runs on one host, by one procedure and
//!    of one build are comparable.
//! 2. Each series is searched for *steps*, lasting changes of its level ([`level_changes`]). A step
//!    comes with what changed there ([`changes_since`]) and how the machine's other tests moved
//!    ([`OtherTests`]).
//! 3. The latest run is compared with those before it at the same level ([`latest`]).

use std::collections::BTreeMap;

use serde::Serialize;

use crate::figures::Measure;
use crate::findings::Summary;
use catalogue::Metric;
use journal::{Build, Facts, Key, Run};
use stats::{Estimate, Exact, Mean, mean, steps, student_p, student_quantile, welch_shift};

/// Digits of a hash that tell builds apart, as they do commits.
const BUILD_DIGITS: usize = 12;

/// Fewest runs before the latest that show how runs scatter.
const MIN_RUNS_BEFORE: usize = 3;

/// Share of runs that lie further from the mean than is usual: one of twenty.
const UNUSUAL_SHARE: f64 = 0.05;

/// Fewest other tests that show the machine's speed.
const MIN_OTHER_TESTS: usize = 2;

/// Smallest change of the other tests, as a share of the test's own, by which it is the machine
/// that changed.
const MIN_SHARED_CHANGE: f64 = 0.5;

/// The names and values of properties that most often explain a change between runs.
pub(crate) fn watched_properties<'a>(run: &'a Run, facts: &'a Facts) -> Vec<(String, &'a str)> {
    let mut watched = vec![("host".to_owned(), run.host.as_str())];
    for (title, name) in Facts::suspects() {
        if let Some(value) = facts.value(name) {
            watched.push((title.to_lowercase(), value));
        }
    }
    if let Some(build) = &run.build {
        watched.push(("compiler".to_owned(), &build.compiler));
        watched.push(("build".to_owned(), short_hash(build)));
    }
    watched.push(("procedure".to_owned(), run.procedure.name()));
    watched
}

fn short_hash(build: &Build) -> &str {
    build.hash.get(..BUILD_DIGITS).unwrap_or(&build.hash)
}

/// The figures of a test over runs.
#[derive(Debug, Clone, Serialize)]
pub struct Trend {
    /// The test, or the index.
    pub test: String,
    /// One for each number of copies, load and condition, in the order they were first measured.
    pub series: Vec<Series>,
}

/// The figures of one cell.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Series {
    /// The test's name in reports.
    pub label: String,
    /// Its test, copies, load and condition.
    #[serde(flatten)]
    pub key: Key,
    /// The properties that its runs share: a figure of another host, procedure or build is another
    /// figure.
    pub common: Common,
    /// The unit; empty of an index.
    pub unit: String,
    /// True if lower is better.
    pub lower_is_better: bool,
    /// True if nobody knows which direction is better.
    pub is_undirected: bool,
    /// The runs, the oldest first.
    pub points: Vec<Point>,
    /// The changes of its level, in order.
    pub steps: Vec<Step>,
    /// The latest run against those before it at its level; `None` of a single run.
    pub latest: Option<Latest>,
    /// The difference between the last head of a chain and its first base, in per cent.
    #[serde(skip)]
    pub total: Option<Estimate>,
}

/// The properties that the runs of a series share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Common {
    /// The host on which they ran.
    pub host: String,
    /// The name of their procedure.
    pub procedure: String,
    /// The first twelve digits of the hash of their programs; empty if that is not known.
    pub build: String,
}

impl Common {
    fn new(summary: &Summary) -> Common {
        let Run { host, procedure, build, .. } = &summary.run;
        Common {
            host: host.clone(),
            procedure: procedure.name().to_owned(),
            build: build.as_ref().map_or("", short_hash).to_owned(),
        }
    }
}

/// A lasting change of level between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The first run at the new level.
    pub run: String,
    /// The time at which that run began, RFC 3339.
    pub started: String,
    /// The excess of the new level over the old one, in per cent, with its 95 % interval.
    #[serde(flatten)]
    pub change: Estimate,
    /// The probability that runs without any step show one as large.
    pub p: f64,
    /// What changed from the last run at the old level to the first at the new one.
    pub changed: Vec<Change>,
    /// The change of the other tests there; `None` if fewer than two are in all runs.
    pub others: Option<Others>,
}

/// How the other tests of the runs, taken together, changed between two levels of one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Others {
    /// The number of other tests.
    pub tests: usize,
    /// The excess of the new geometric mean of their rates over the old one, in per cent, with its
    /// 95 % interval.
    #[serde(flatten)]
    pub change: Estimate,
    /// True if they changed in the same direction, by at least half as much: then the machine
    /// changed, and not this test.
    pub alike: bool,
}

/// The figure of one run.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Point {
    /// The name of the run.
    pub run: String,
    /// The host on which it ran.
    pub host: String,
    /// The time at which it began, RFC 3339.
    pub started: String,
    /// The score, with its interval.
    #[serde(flatten)]
    pub score: Estimate,
    /// What changed since the run before.
    pub changed: Vec<Change>,
    /// The difference between a head of a chain and its base, in per cent.
    #[serde(skip)]
    pub change: Option<Estimate>,
}

/// A property that differs from the run before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its value before.
    pub before: String,
    /// Its value now.
    pub after: String,
}

/// The latest run of a series against those before it at the same level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latest {
    /// The number of runs before.
    pub before: usize,
    /// The geometric mean of their scores.
    pub mean: f64,
    /// The excess of the latest over that mean, in per cent.
    pub delta: f64,
    /// The distance from the mean, in per cent, that one run of twenty exceeds, in the wider
    /// direction; `None` with fewer than three before.
    pub usual: Option<f64>,
    /// The probability that one more run of the same kind lies as far away: Student's t of one
    /// value against the mean of the others, of logarithms (Geisser, Predictive Inference, §2.2);
    /// `None` with fewer than three before.
    pub p: Option<f64>,
}

/// A series that still grows, with the run of each of its points.
struct Growing<'a> {
    series: Series,
    runs: Vec<&'a Summary>,
}

impl Growing<'_> {
    /// True if the points of `other` belong to this series.
    fn continues_with(&self, other: &Series) -> bool {
        let (own, others) = (&self.series.key, &other.key);
        (own.copies, &own.load, &own.condition) == (others.copies, &others.load, &others.condition)
            && self.series.unit == other.unit
            && self.series.common == other.common
    }

    fn finish(mut self) -> Series {
        self.series.steps = level_changes(&self.series, &self.runs);
        self.series.latest = latest(&self.series.points, &self.series.steps);
        self.series
    }
}

impl Trend {
    /// The trend of a test, or an index, over the runs that have it, in the order they began.
    pub fn new(test: &str, summaries: &[Summary]) -> Trend {
        let mut runs: Vec<&Summary> = summaries.iter().collect();
        runs.sort_by_key(|summary| began(&summary.run));

        let mut growing: Vec<Growing<'_>> = Vec::new();
        for summary in runs {
            for series in series_of_run(test, summary) {
                let known = growing.iter_mut().find(|known| known.continues_with(&series));
                let Some(known) = known else {
                    growing.push(Growing { series, runs: vec![summary] });
                    continue;
                };
                for mut point in series.points {
                    point.changed = changes_since(known.runs.last().copied(), summary);
                    known.series.points.push(point);
                    known.runs.push(summary);
                }
            }
        }
        Trend { test: test.to_owned(), series: growing.into_iter().map(Growing::finish).collect() }
    }
}

/// The key by which runs are sorted by time: when a run began, then its name. A run that does not
/// say when it began comes before all others.
pub(crate) fn began(run: &Run) -> (Option<jiff::Timestamp>, &str) {
    (run.started.parse().ok(), &run.name)
}

/// The figures and indexes of a test in one run, each as a series of one point.
fn series_of_run(test: &str, summary: &Summary) -> Vec<Series> {
    let mut all = Vec::new();
    for figure in &summary.figures {
        let cell = &figure.cell;
        // The control of a comparison measures the same again.
        if cell.key.test != test || cell.control || !figure.score.value.is_finite() {
            continue;
        }
        all.push(Series {
            label: cell.label.clone(),
            key: cell.key.clone(),
            common: Common::new(summary),
            unit: cell.unit.clone(),
            lower_is_better: cell.metric.is_lower_better(),
            is_undirected: cell.metric == Metric::Unknown,
            points: vec![point(summary, figure.score)],
            ..Series::default()
        });
    }
    for index in summary.indexes.iter().filter(|index| index.id == test && index.complete) {
        all.push(Series {
            label: index.id.clone(),
            key: Key::plain(&index.id, index.copies),
            common: Common::new(summary),
            points: vec![point(summary, index.score)],
            ..Series::default()
        });
    }
    all
}

/// The point of a run, without what changed since the run before.
fn point(summary: &Summary, score: Estimate) -> Point {
    let Run { name, host, started, .. } = summary.run.clone();
    Point { run: name, host, started, score, ..Point::default() }
}

/// The properties that changed since the run `before`. One that only one of the two journals has is
/// not known to have changed.
fn changes_since(before: Option<&Summary>, summary: &Summary) -> Vec<Change> {
    let Some(before) = before else { return Vec::new() };
    let known: BTreeMap<String, &str> =
        watched_properties(&before.run, &before.facts).into_iter().collect();

    let mut changes = Vec::new();
    for (name, after) in watched_properties(&summary.run, &summary.facts) {
        let Some(before) = known.get(&name).filter(|before| **before != after) else {
            continue;
        };
        changes.push(Change { before: (*before).to_owned(), after: after.to_owned(), name });
    }
    changes
}

/// The lasting changes of a series' level; none if a score has no logarithm.
fn level_changes(series: &Series, runs: &[&Summary]) -> Vec<Step> {
    let logs: Vec<f64> =
        series.points.iter().map(|point| point.score.value.natural_log()).collect();
    if !logs.iter().all(|log| log.is_finite()) {
        return Vec::new();
    }

    let others = OtherTests::new(series, runs);
    let found = steps(&logs);
    let mut changes = Vec::new();
    for (number, step) in found.iter().enumerate() {
        // The levels on both sides reach to the neighbouring steps.
        let begin = if number == 0 { 0 } else { found[number - 1].at };
        let end = found.get(number + 1).map_or(logs.len(), |next| next.at);
        // Of the other tests the rates are known, so a time is turned into one.
        let change_of_rate =
            if series.lower_is_better { -step.change.value } else { step.change.value };

        let Point { run, started, changed, .. } = series.points[step.at].clone();
        changes.push(Step {
            run,
            started,
            change: to_percent(&step.change),
            p: step.p,
            changed,
            others: others
                .as_ref()
                .map(|others| others.change(begin, step.at, end, change_of_rate)),
        });
    }
    changes
}

fn to_percent(logs: &Estimate) -> Estimate {
    logs.map(|log| 100.0 * log.exponential_less_1())
}

/// The machine's speed without the test of a series, by run: the mean logarithm of the rates of the
/// tests that all runs have at the same copies, load and condition.
struct OtherTests {
    /// The number of tests.
    tests: usize,
    /// By run.
    speeds: Vec<f64>,
}

impl OtherTests {
    /// `None` if there are fewer than [`MIN_OTHER_TESTS`], and of an index, which contains them.
    fn new(series: &Series, runs: &[&Summary]) -> Option<OtherTests> {
        let is_index = series.unit.is_empty();
        if is_index {
            return None;
        }

        let rates: Vec<BTreeMap<&str, f64>> =
            runs.iter().map(|run| other_rates(series, run)).collect();
        let in_first = rates.first()?.keys();
        let common: Vec<&&str> =
            in_first.filter(|test| rates.iter().all(|run| run.contains_key(*test))).collect();
        if common.len() < MIN_OTHER_TESTS {
            return None;
        }
        let speeds = rates.iter().map(|run| mean(common.iter().map(|test| run[**test])));
        Some(OtherTests { tests: common.len(), speeds: speeds.collect() })
    }

    /// Their change from the runs `begin..step` to the runs `step..end`, where the test's own rate
    /// changed by the logarithm `own`.
    fn change(&self, begin: usize, step: usize, end: usize, own: f64) -> Others {
        let shift = welch_shift(&self.speeds[begin..step], &self.speeds[step..end]).estimate;
        let is_certain = shift.low > 0.0 || shift.high < 0.0;
        Others {
            tests: self.tests,
            change: to_percent(&shift),
            alike: is_certain && shift.value / own >= MIN_SHARED_CHANGE,
        }
    }
}

/// The logarithms of the rates (of times, of their inverses) of a run's other tests, by test.
fn other_rates<'a>(series: &Series, run: &'a Summary) -> BTreeMap<&'a str, f64> {
    let series_key = &series.key;
    let mut rates = BTreeMap::new();
    for figure in &run.figures {
        let cell = &figure.cell;
        let key = &cell.key;
        let is_alongside = key.copies == series_key.copies
            && key.load == series_key.load
            && key.condition == series_key.condition;
        let is_rate_or_time = cell.metric != Metric::Latency && figure.score.value > 0.0;
        if is_alongside && is_rate_or_time && key.test != series_key.test && !cell.control {
            let rate = Measure::Score.goodness(cell.metric, figure.score.value);
            rates.insert(key.test.as_str(), rate);
        }
    }
    rates
}

/// The last point against those before it since the last step; `None` if there are none.
fn latest(points: &[Point], steps: &[Step]) -> Option<Latest> {
    let begin = steps
        .last()
        .and_then(|step| points.iter().rposition(|point| point.run == step.run))
        .unwrap_or(0);
    let (last, before) = points[begin..].split_last()?;
    if before.is_empty() {
        return None;
    }

    let logs: Vec<f64> = before.iter().map(|point| point.score.value.natural_log()).collect();
    let mean = Mean::new(&logs);
    let excess = last.score.value.natural_log() - mean.value;
    // Of one more value about the mean of the others.
    let error = mean.error * (logs.len() as f64 + 1.0).sqrt();

    let mut latest = Latest {
        before: logs.len(),
        mean: mean.value.exponential(),
        delta: 100.0 * excess.exponential_less_1(),
        usual: None,
        p: None,
    };
    if logs.len() >= MIN_RUNS_BEFORE && error > 0.0 {
        let usual = student_quantile(UNUSUAL_SHARE, mean.degrees) * error;
        latest.usual = Some(100.0 * usual.exponential_less_1());
        latest.p = Some(student_p(excess / error, mean.degrees));
    }
    Some(latest)
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
            change: None,
        };
        values.iter().map(point).collect()
    }

    #[test]
    fn the_latest_is_held_against_the_others_at_its_level() {
        assert_eq!(latest(&points(&[1.0]), &[]), None);
        let few = latest(&points(&[100.0, 110.0, 99.0]), &[]).unwrap();
        assert_eq!((few.before, few.p, few.usual), (2, None, None));
        // By hand: logs of 1, 1, e, e have the mean 0.5 and the error √(1/3)/2; e² lies 1.5 above
        // it, which is 1.5 ÷ (√(1/3)·√1.25) = 2.3238 errors; with 3 degrees of freedom p = 0.1028.
        let e = std::f64::consts::E;
        let found = latest(&points(&[1.0, 1.0, e, e, e * e]), &[]).unwrap();
        assert!(
            (found.mean - 0.5_f64.exp()).abs() < 1e-12
                && (found.delta - 100.0 * 1.5_f64.exp_m1()).abs() < 1e-9
        );
        assert!((found.p.unwrap() - 0.1028).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn a_step_has_the_run_and_what_changed_there() {
        let values: Vec<f64> =
            (0..12).map(|i| if i < 6 { 100.0 } else { 90.0 } + f64::from(i % 2)).collect();
        let mut points = points(&values);
        for (number, point) in points.iter_mut().enumerate() {
            point.run = format!("run{number}");
        }
        points[6].changed = vec![Change {
            name: "kernel".to_owned(),
            before: "6.1".to_owned(),
            after: "6.2".to_owned(),
        }];
        let series = Series {
            label: String::new(),
            key: Key::plain("pipe", 1),
            common: Common { host: String::new(), procedure: String::new(), build: String::new() },
            unit: "lps".to_owned(),
            lower_is_better: false,
            is_undirected: false,
            points,
            steps: Vec::new(),
            latest: None,
            total: None,
        };
        let steps = level_changes(&series, &[]);
        assert_eq!(
            (steps.len(), steps[0].run.as_str(), steps[0].changed.len()),
            (1, "run6", 1),
            "{steps:?}"
        );
        assert!(
            (steps[0].change.value + 9.95).abs() < 0.1 && steps[0].change.high < -8.0,
            "{steps:?}"
        );
        assert_eq!(latest(&series.points, &steps).unwrap().before, 5, "since the step");
    }
}
