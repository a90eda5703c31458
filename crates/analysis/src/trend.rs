//! One test over many runs: its figures in the order of time, and what changed between them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Figure, Measure, Summary};
use catalogue::Metric;
use journal::{Facts, Key, Run};
use stats::{Estimate, Exact, Mean, mean, steps, student_p, student_quantile, welch_shift};

/// Returns the names and values of facts that most often explain a change between runs.
pub(super) fn watched<'a>(run: &'a Run, facts: &'a Facts) -> Vec<(String, &'a str)> {
    let known = |(title, name): (&str, &str)| Some((title.to_lowercase(), facts.value(name)?));
    let mut watched = vec![("host".to_owned(), run.host.as_str())];
    watched.extend(Facts::suspects().filter_map(known));
    if let Some(build) = &run.build {
        watched.push(("compiler".to_owned(), &build.compiler));
        // Twelve digits tell builds apart, as they do commits.
        watched.push(("build".to_owned(), build.hash.get(..12).unwrap_or(&build.hash)));
    }
    watched.push(("procedure".to_owned(), run.procedure.name()));
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
#[derive(Debug, Clone, Default, Serialize)]
pub struct Series {
    /// The test's name in reports.
    pub label: String,
    /// Its place in the matrix.
    #[serde(flatten)]
    pub key: Key,
    /// The properties that its runs share: a figure of another host, procedure or build is another figure.
    pub common: Common,
    /// The unit; empty of an index.
    pub unit: String,
    /// True if lower is better.
    pub lower_is_better: bool,
    /// The runs, the oldest first.
    pub points: Vec<Point>,
    /// The changes of its level, in order.
    pub steps: Vec<Step>,
    /// The latest beside those before it at its level; none of a single run.
    pub latest: Option<Latest>,
    /// The difference between the last head of a chain and its first base, in per cent.
    #[serde(skip)]
    pub total: Option<Estimate>,
}

/// The properties that the runs of a series share.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Common {
    /// Where they ran.
    pub host: String,
    /// Their procedure.
    pub procedure: String,
    /// The first twelve digits of the hash of their programs; empty if that is not known.
    pub build: String,
}

impl Common {
    fn new(summary: &Summary) -> Common {
        let build = summary.run.build.as_ref().map_or("", |build| build.hash.get(..12).unwrap_or(&build.hash));
        let procedure = summary.run.procedure.name().to_owned();
        Common { host: summary.run.host.clone(), procedure, build: build.to_owned() }
    }
}

/// A lasting change of level between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The first run at the new level.
    pub run: String,
    /// When that began, RFC 3339.
    pub started: String,
    /// By how much the new level is above the old one, in per cent, with its 95 % interval.
    #[serde(flatten)]
    pub change: Estimate,
    /// The probability that runs without any step show one as large.
    pub p: f64,
    /// The changes from the last run at the old level to the first at the new one.
    pub changed: Vec<Change>,
    /// The change of the run's other tests there; `None` if fewer than two are in all runs.
    pub others: Option<Others>,
}

/// How the other tests of the runs, taken together, changed between two levels of one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Others {
    /// The number of other tests.
    pub tests: usize,
    /// By how many per cent their geometric mean is above the old one, as rates; with its 95 % interval.
    #[serde(flatten)]
    pub change: Estimate,
    /// True if they changed the same way, by at least half as much: then it is the machine, and not this test.
    pub alike: bool,
}

/// The figure of one run.
#[derive(Debug, Clone, Default, Serialize)]
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
    /// The changes since the run before.
    pub changed: Vec<Change>,
    /// The difference between a head of a chain and its base, in per cent.
    #[serde(skip)]
    pub change: Option<Estimate>,
}

/// Something that differs from the run before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its value before.
    pub before: String,
    /// Its value now.
    pub after: String,
}

/// The latest run of a series beside those before it at the same level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latest {
    /// The number of runs before.
    pub before: usize,
    /// The geometric mean of their scores.
    pub mean: f64,
    /// By how much the latest is above it, in per cent.
    pub delta: f64,
    /// Beyond how many per cent one run of twenty lies, in the wider direction; `None` with fewer than three before.
    pub usual: Option<f64>,
    /// How likely one more run of the same kind is as far out: Student's t of one value against
    /// the mean of the others, of logarithms (Geisser, Predictive Inference, §2.2); `None` with
    /// fewer than three before.
    pub p: Option<f64>,
}

impl Trend {
    /// Returns the trend of a test, or an index, over the runs that have it, in the order they began.
    pub fn new(test: &str, summaries: &[Summary]) -> Trend {
        let mut runs: Vec<&Summary> = summaries.iter().collect();
        runs.sort_by_key(|summary| began(&summary.run));
        let mut series: Vec<(Series, Vec<&Summary>)> = Vec::new();
        for summary in runs {
            for cell in cells(test, summary) {
                let same = |(known, _): &&mut (Series, Vec<&Summary>)| {
                    (known.key.copies, &known.key.load, &known.key.condition, &known.unit, &known.common)
                        == (cell.key.copies, &cell.key.load, &cell.key.condition, &cell.unit, &cell.common)
                };
                let score = cell.points.first().map(|point| point.score);
                match (series.iter_mut().find(same), score) {
                    (Some((known, before)), Some(score)) => {
                        known.points.push(point(summary, score, before.last().copied()));
                        before.push(summary);
                    }
                    _ => series.push((cell, vec![summary])),
                }
            }
        }
        let finish = |(mut series, runs): (Series, Vec<&Summary>)| {
            series.steps = level_changes(&series, &runs);
            series.latest = latest(&series.points, &series.steps);
            series
        };
        Trend { test: test.to_owned(), series: series.into_iter().map(finish).collect() }
    }
}

/// When a run began; of those in the same second, which was named first. Those that do not say it come before all
/// others.
pub(super) fn began(run: &Run) -> (Option<jiff::Timestamp>, &str) {
    (run.started.parse().ok(), &run.name)
}

/// The run's figures of a test, each as a series of one.
fn cells(test: &str, summary: &Summary) -> Vec<Series> {
    let of = |figure: &Figure| Series {
        label: figure.cell.label.clone(),
        key: figure.cell.key.clone(),
        common: Common::new(summary),
        unit: figure.cell.unit.clone(),
        lower_is_better: figure.cell.metric != Metric::Rate,
        points: vec![point(summary, figure.score, None)],
        ..Series::default()
    };
    // The control of a comparison measures the same again.
    let figures = summary.figures.iter().filter(|figure| figure.cell.key.test == test && !figure.cell.control);
    let figures = figures.filter(|figure| figure.score.value.is_finite()).map(of);
    let indexes = summary.indexes.iter().filter(|index| index.id == test && index.complete).map(|index| Series {
        label: index.id.clone(),
        key: Key::plain(&index.id, index.copies),
        common: Common::new(summary),
        points: vec![point(summary, index.score, None)],
        ..Series::default()
    });
    figures.chain(indexes).collect()
}

fn point(summary: &Summary, score: Estimate, before: Option<&Summary>) -> Point {
    let before: BTreeMap<String, &str> =
        before.map(|before| watched(&before.run, &before.facts)).into_iter().flatten().collect();
    // What only one of the two journals says is not a known change.
    let change = |(name, after): (String, &str)| {
        let before = *before.get(&name).filter(|before| **before != after)?;
        Some(Change { name, before: before.to_owned(), after: after.to_owned() })
    };
    let Run { name, host, started, .. } = summary.run.clone();
    let changed = watched(&summary.run, &summary.facts).into_iter().filter_map(change).collect();
    Point { run: name, host, started, score, changed, change: None }
}

fn level_changes(series: &Series, runs: &[&Summary]) -> Vec<Step> {
    let logs: Vec<f64> = series.points.iter().map(|point| point.score.value.natural_log()).collect();
    if !logs.iter().all(|log| log.is_finite()) {
        return Vec::new();
    }
    let others = others(series, runs);
    let found = steps(&logs);
    let place = |number: usize| found.get(number).map_or(logs.len(), |step| step.at);
    let step = |(number, step): (usize, &stats::Step)| {
        let Point { run, started, changed, .. } = series.points[step.at].clone();
        let before = if number == 0 { 0 } else { place(number - 1) };
        let others = others.as_ref().map(|(tests, speeds)| {
            let shift = welch_shift(&speeds[before..step.at], &speeds[step.at..place(number + 1)]).estimate;
            let own = if series.lower_is_better { -step.change.value } else { step.change.value };
            let sure = shift.low > 0.0 || shift.high < 0.0;
            Others { tests: *tests, change: percent(&shift), alike: sure && shift.value / own >= 0.5 }
        });
        Step { run, started, change: percent(&step.change), p: step.p, changed, others }
    };
    found.iter().enumerate().map(step).collect()
}

fn percent(logs: &Estimate) -> Estimate {
    logs.map(|log| 100.0 * log.exponential_less_1())
}

/// Returns how many other tests all of the runs have at the same place, and in each run the mean of the logarithms of
/// their rates: the speed of the machine without this test. `None` of fewer than two, and of an index, which has them
/// in it.
fn others(series: &Series, runs: &[&Summary]) -> Option<(usize, Vec<f64>)> {
    let is_other = |figure: &&Figure| {
        let (cell, key, own) = (&figure.cell, &figure.cell.key, &series.key);
        let here = (key.copies, &key.load, &key.condition) == (own.copies, &own.load, &own.condition);
        here && key.test != own.test && !cell.control && cell.metric != Metric::Latency && figure.score.value > 0.0
    };
    let speeds = |run: &&Summary| -> BTreeMap<String, f64> {
        let others = run.figures.iter().filter(is_other).map(|figure| (&figure.cell, figure.score.value));
        others.map(|(cell, score)| (cell.key.test.clone(), Measure::Score.goodness(cell.metric, score))).collect()
    };
    let all: Vec<BTreeMap<String, f64>> = runs.iter().map(speeds).collect();
    let common: Vec<&String> =
        all.first()?.keys().filter(|test| all.iter().all(|run| run.contains_key(*test))).collect();
    let is_usable = common.len() > 1 && !series.unit.is_empty();
    let means = all.iter().map(|run| mean(common.iter().map(|test| run[*test])));
    is_usable.then(|| (common.len(), means.collect()))
}

fn latest(points: &[Point], steps: &[Step]) -> Option<Latest> {
    let begin = steps.last().and_then(|step| points.iter().rposition(|point| point.run == step.run)).unwrap_or(0);
    let (last, before) = points[begin..].split_last()?;
    let before: Vec<f64> = before.iter().map(|point| point.score.value.natural_log()).collect();
    if before.is_empty() {
        return None;
    }
    let mean = Mean::new(&before);
    let above = last.score.value.natural_log() - mean.value;
    let error = mean.error * (before.len() as f64 + 1.0).sqrt();
    let is_known = before.len() > 2 && error > 0.0;
    Some(Latest {
        before: before.len(),
        mean: mean.value.exponential(),
        delta: 100.0 * above.exponential_less_1(),
        usual: is_known.then(|| 100.0 * (student_quantile(0.05, mean.degrees) * error).exponential_less_1()),
        p: is_known.then(|| student_p(above / error, mean.degrees)),
    })
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
        // By hand: logs of 1, 1, e, e have the mean 0.5 and the error √(1/3)/2; e² lies 1.5 above it, which is
        // 1.5 ÷ (√(1/3)·√1.25) = 2.3238 errors; with 3 degrees of freedom p = 0.1028.
        let e = std::f64::consts::E;
        let found = latest(&points(&[1.0, 1.0, e, e, e * e]), &[]).unwrap();
        assert!((found.mean - 0.5_f64.exp()).abs() < 1e-12 && (found.delta - 100.0 * 1.5_f64.exp_m1()).abs() < 1e-9);
        assert!((found.p.unwrap() - 0.1028).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn a_step_has_the_run_and_what_changed_there() {
        let values: Vec<f64> = (0..12).map(|i| if i < 6 { 100.0 } else { 90.0 } + f64::from(i % 2)).collect();
        let mut points = points(&values);
        for (number, point) in points.iter_mut().enumerate() {
            point.run = format!("run{number}");
        }
        points[6].changed =
            vec![Change { name: "kernel".to_owned(), before: "6.1".to_owned(), after: "6.2".to_owned() }];
        let series = Series {
            label: String::new(),
            key: Key::plain("pipe", 1),
            common: Common { host: String::new(), procedure: String::new(), build: String::new() },
            unit: "lps".to_owned(),
            lower_is_better: false,
            points,
            steps: Vec::new(),
            latest: None,
            total: None,
        };
        let steps = level_changes(&series, &[]);
        assert_eq!((steps.len(), steps[0].run.as_str(), steps[0].changed.len()), (1, "run6", 1), "{steps:?}");
        assert!((steps[0].change.value + 9.95).abs() < 0.1 && steps[0].change.high < -8.0, "{steps:?}");
        assert_eq!(latest(&series.points, &steps).unwrap().before, 5, "since the step");
    }
}
