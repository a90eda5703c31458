//! Details of a test next to its score: times of single operations, the undisturbed time of its
//! work, and further values that its program reported.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::figures::rate;
use catalogue::Metric;
use journal::{Cell, Trial};
use stats::{Estimate, Histogram, log_interval, mean};

/// The quantiles of single operations that reports show, and their names.
pub const QUANTILES: [(f64, &str); 5] =
    [(0.1, "p10"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// The values that every core-bound program reports: ns per piece of work, and GHz.
const BEST: &str = "best";
pub(crate) const CLOCK: &str = "clock";

/// Shortest time of an operation in ns, so that it has a logarithm.
const MIN_OPERATION_NS: f64 = 1.0;

/// What is known of one cell in addition to its score.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The times of single operations.
    pub times: Option<Times>,
    /// The undisturbed time of its work.
    pub best: Option<Best>,
    /// The upper limit of its figure.
    pub limit: Option<Limit>,
    /// Further values from the program.
    pub values: Vec<Value>,
}

/// Times of single operations, in ns.
#[derive(Debug, Clone)]
pub struct Times {
    /// The operations of all trials.
    pub histogram: Histogram,
    /// The quantiles that the count carries, with their names.
    pub quantiles: Vec<(&'static str, Estimate)>,
    /// The shortest of all. It is an extreme, for which trials give no interval.
    pub least: f64,
}

/// The shortest time in which a program did a short piece of its work: what the core needs when
/// nothing disturbs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// ns per unit of work.
    pub ns: Estimate,
    /// The core's clock in GHz.
    pub clock: Estimate,
    /// Cycles per unit of work.
    pub cycles: Estimate,
}

/// An upper limit of a figure, and how near the figure comes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The figure in the limit's unit.
    pub reached: f64,
    /// The limit.
    pub limit: f64,
    /// The unit of both.
    pub unit: String,
    /// The source of the limit.
    pub source: String,
    /// The share of the limit that the figure reaches; 1 is all of it.
    pub share: f64,
}

/// A number that a program reported, over the trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The name.
    pub name: String,
    /// The unit.
    pub unit: String,
    /// The median over trials.
    pub value: Estimate,
    /// True if trials differ in it. A value that never varies says how something was measured.
    pub varies: bool,
}

/// What the trials of a cell show in addition to the score; `None` if that is nothing. The limit is
/// found later, when all rows are known.
pub(crate) fn details(cell: &Cell, trials: &[&Trial]) -> Option<Box<Details>> {
    let measured: Vec<&Trial> =
        trials.iter().copied().filter(|trial| !trial.copies.is_empty()).collect();
    let times = operation_times(&measured);
    let best = undisturbed_time(&measured);
    let values = other_values(cell, &measured);

    let is_known = times.is_some() || best.is_some() || !values.is_empty();
    let may_have_limit = cell.limit.is_some();
    (is_known || may_have_limit).then(|| Box::new(Details { times, best, limit: None, values }))
}

/// The times of single operations; `None` if the program timed none.
fn operation_times(measured: &[&Trial]) -> Option<Times> {
    let by_trial: Vec<Histogram> = measured
        .iter()
        .map(|trial| Histogram::sum(trial.copies.iter().filter_map(|copy| copy.times.as_deref())))
        .filter(|histogram| histogram.count() > 0)
        .collect();
    let histogram = Histogram::sum(&by_trial);
    if histogram.count() == 0 {
        return None;
    }

    let mut quantiles = Vec::new();
    for (share, name) in QUANTILES.iter().filter(|(share, _)| histogram.carries(*share)) {
        let quantile = |operations: &Histogram| operations.quantile(*share).max(MIN_OPERATION_NS);
        // The value is that of all operations; trials show how much it varies.
        let of_trials: Vec<f64> = by_trial.iter().map(quantile).collect();
        quantiles.push((*name, log_interval(quantile(&histogram), &of_trials)));
    }
    Some(Times { quantiles, least: histogram.min().max(MIN_OPERATION_NS), histogram })
}

/// The shortest time of a copy, and the clock at which it was so fast.
struct Fastest {
    ns: f64,
    ghz: f64,
}

/// The undisturbed time: of each trial the copy that was disturbed least, and the median of those
/// over trials. Its clock is that copy's own: the lowest of all copies' clocks would be another
/// core's.
fn undisturbed_time(measured: &[&Trial]) -> Option<Best> {
    let fastest: Vec<Fastest> = measured.iter().filter_map(|trial| fastest_copy(trial)).collect();
    let ns: Vec<f64> = fastest.iter().map(|copy| copy.ns).collect();
    let ghz: Vec<f64> = fastest.iter().map(|copy| copy.ghz).collect();
    let cycles: Vec<f64> = fastest.iter().map(|copy| copy.ns * copy.ghz).collect();

    let [ns, clock, cycles] = [ns, ghz, cycles].map(|values| rate::median_rate(&values));
    ns.value.is_finite().then_some(Best { ns, clock, cycles })
}

/// The copy of a trial with the shortest time; `None` if none reports one with its clock.
fn fastest_copy(trial: &Trial) -> Option<Fastest> {
    let copies = trial.copies.iter().filter_map(|copy| {
        Some(Fastest { ns: copy.values.get(BEST)?.0, ghz: copy.values.get(CLOCK)?.0 })
    });
    copies.min_by(|a, b| a.ns.total_cmp(&b.ns))
}

/// Numbers by the names that a program gives them.
type NumbersByName<'a> = BTreeMap<&'a str, Numbers<'a>>;

struct Numbers<'a> {
    unit: &'a str,
    numbers: Vec<f64>,
}

/// The values that have no place of their own: of each the median over trials of the mean over
/// copies.
fn other_values(cell: &Cell, measured: &[&Trial]) -> Vec<Value> {
    if cell.metric == Metric::Latency {
        return Vec::new();
    }

    let mut means: NumbersByName<'_> = BTreeMap::new();
    for trial in measured {
        for (name, Numbers { unit, numbers }) in numbers_of_copies(trial) {
            add_number(&mut means, name, unit, mean(numbers));
        }
    }
    let is_score = |name: &str| cell.value.as_deref() == Some(name);
    means.retain(|name, _| *name != BEST && *name != CLOCK && !is_score(name));

    let mut values = Vec::new();
    for (name, Numbers { unit, numbers }) in means {
        values.push(Value {
            name: name.to_owned(),
            unit: unit.to_owned(),
            varies: numbers.iter().any(|number| *number != numbers[0]),
            value: rate::median_rate(&numbers),
        });
    }
    values
}

fn numbers_of_copies(trial: &Trial) -> NumbersByName<'_> {
    let mut numbers = BTreeMap::new();
    for (name, (number, unit)) in trial.copies.iter().flat_map(|copy| &copy.values) {
        add_number(&mut numbers, name, unit, *number);
    }
    numbers
}

/// Adds a number, whose unit is that of the first with its name.
fn add_number<'a>(numbers: &mut NumbersByName<'a>, name: &'a str, unit: &'a str, number: f64) {
    let entry = numbers.entry(name).or_insert(Numbers { unit, numbers: Vec::new() });
    entry.numbers.push(number);
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Copy;

    fn trial(best: &[(f64, f64)]) -> Trial {
        let copy = |(ns, ghz): &(f64, f64)| Copy {
            values: [
                (BEST.to_owned(), (*ns, "ns".to_owned())),
                (CLOCK.to_owned(), (*ghz, "GHz".to_owned())),
            ]
            .into(),
            ..Copy::default()
        };
        Trial { copies: best.iter().map(copy).collect(), ..Trial::default() }
    }

    /// A neighbour disturbs some copies and some trials: what stands is the median over the trials
    /// of their fastest copies, each at its own clock.
    #[test]
    fn the_best_is_of_the_undisturbed() {
        let trials =
            [trial(&[(0.25, 4.0), (0.5, 1.0)]), trial(&[(0.25, 4.0)]), trial(&[(9.0, 3.0)])];
        let found = undisturbed_time(&trials.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((found.ns.value, found.clock.value, found.cycles.value), (0.25, 4.0, 1.0));
        assert!(
            undisturbed_time(&[&Trial { copies: vec![Copy::default()], ..Trial::default() }])
                .is_none()
        );
    }

    #[test]
    fn times_have_only_the_quantiles_that_their_count_carries() {
        let mut histogram = Histogram::default();
        (1..=200).for_each(|us| histogram.record(us * 1000));
        let copy = Copy { times: Some(Box::new(histogram)), ..Copy::default() };
        let trials = [Trial { copies: vec![copy], ..Trial::default() }];

        let times = operation_times(&trials.iter().collect::<Vec<_>>()).unwrap();

        let names: Vec<&str> = times.quantiles.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["p10", "p50", "p90"], "p99 takes a thousand");
        let (_, median) = times.quantiles[1];
        assert!((median.value / 100_000.0 - 1.0).abs() < 0.01);
        assert!((times.least / 1000.0 - 1.0).abs() < 0.01);
    }
}
