//! How well a fact's values go with the scores of systems.
//!
//! A fact can only act on the tests of its reach. So each system has a *contrast*: the mean of its
//! scores inside the reach less the median of its scores outside, as logarithms. A fact fits if
//!
//! 1. its values explain the contrast: the means of the groups that they form, or a line through
//!    numbers ([`Grouping`]);
//! 2. the difference between the best and the worst value is large, and larger than intervals allow
//!    for ([`Matrix::fit`]);
//! 3. tests inside the reach show the difference, and tests outside do not ([`Matrix::shape`]).
//!
//! [`Matrix::chance`] says how many other ways to deal the values out would do as well.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use stats::{Exact, mean, median, normal_p};
use words::Unique;

/// Up to this number of systems every way to deal out the values is tried; with more systems, a
/// random sample of [`SAMPLED_WAYS`].
const MAX_SYSTEMS_OF_ALL_WAYS: usize = 8;
const SAMPLED_WAYS: usize = 5000;

/// Fewest tests outside a reach that show how fast a system is apart from it.
const MIN_TESTS_OUTSIDE: usize = 2;

/// Fitted values, as logarithms, that differ by less than this are the same.
const MAX_ROUNDING_OF_FITTED: f64 = 1e-12;

/// Explained shares that differ by less than this are the same.
const MAX_ROUNDING_OF_SHARE: f64 = 1e-9;

/// A system's score in one test.
#[derive(Debug, Clone, Copy)]
pub(super) struct Score {
    /// A logarithm, larger where better.
    pub log: f64,
    /// Its standard error.
    pub error: f64,
}

/// The scores by test and system, each less the mean of the systems.
#[derive(Debug, Default)]
pub(super) struct Matrix(Vec<Vec<Score>>);

/// How a fact splits the systems.
#[derive(Debug, Clone)]
pub(super) enum Grouping {
    /// The number of each system's value.
    Values(Vec<usize>),
    /// The logarithm of each system's number.
    Numbers(Vec<f64>),
}

/// How well a fact goes with the scores.
#[derive(Debug)]
pub(super) struct Fit {
    /// The share of the contrast that the fact's values explain, times how far the differences have
    /// the shape of its reach.
    pub fit: f64,
    /// The contrast as fitted by the fact's values, by system.
    pub fitted: Vec<f64>,
    /// The logarithm by which the best value is above the worst.
    pub size: f64,
}

/// Values as a fact predicts them.
struct Model {
    fitted: Vec<f64>,
    /// Parameters that were estimated.
    parameters: usize,
}

impl Grouping {
    /// How `values` split the systems; `None` if all systems have the same, or if each of several
    /// has another and they are not numbers.
    pub fn new(values: &[String], numbers: Option<Vec<f64>>) -> Option<Grouping> {
        let distinct = values.iter().unique();
        if distinct.len() < 2 {
            return None;
        }
        if distinct.len() > 2 {
            if let Some(numbers) = numbers {
                return Some(Grouping::Numbers(numbers));
            }
            if distinct.len() == values.len() {
                return None;
            }
        }

        let number = |value| distinct.iter().position(|other| *other == value);
        Some(Grouping::Values(values.iter().filter_map(number).collect()))
    }

    /// Predicts `values` from the fact alone: by the means of its groups, or the line through them.
    fn model(&self, values: &[f64]) -> Model {
        match self {
            Grouping::Values(groups) => {
                let count = groups.iter().max().map_or(0, |last| last + 1);
                Model { fitted: group_means(groups, values), parameters: count }
            }
            Grouping::Numbers(numbers) => {
                Model { fitted: regression_line(numbers, values), parameters: 2 }
            }
        }
    }

    /// The share of the variance of `values` that the fact explains, allowing for the number of its
    /// parameters (adjusted R²: Wherry 1931; Theil, Economic Forecasts and Policy, §6.2); 1 if
    /// there are as many parameters as values, as with two systems.
    fn explained(&self, values: &[f64]) -> f64 {
        let Model { fitted, parameters } = self.model(values);
        let count = values.len() as f64;
        let centre = mean(values);
        let total: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        let residual: f64 =
            values.iter().zip(&fitted).map(|(value, fitted)| (value - fitted).powi(2)).sum();
        let degrees = count - parameters as f64;

        if total <= 0.0 {
            0.0
        } else if degrees <= 0.0 {
            1.0
        } else {
            (1.0 - (residual / degrees) / (total / (count - 1.0))).max(0.0)
        }
    }

    /// The grouping with the systems in another order.
    fn dealt(&self, order: &[usize]) -> Grouping {
        match self {
            Grouping::Values(groups) => {
                Grouping::Values(order.iter().map(|system| groups[*system]).collect())
            }
            Grouping::Numbers(numbers) => {
                Grouping::Numbers(order.iter().map(|system| numbers[*system]).collect())
            }
        }
    }
}

/// For each value, the mean of the values of its group.
fn group_means(groups: &[usize], values: &[f64]) -> Vec<f64> {
    let mut means = Vec::new();
    for group in groups {
        let members = groups.iter().zip(values).filter(|(other, _)| *other == group);
        let members: Vec<f64> = members.map(|(_, value)| *value).collect();
        means.push(mean(members));
    }
    means
}

/// The least-squares line through `values` at `numbers`.
fn regression_line(numbers: &[f64], values: &[f64]) -> Vec<f64> {
    let number_mean = mean(numbers);
    let value_mean = mean(values);
    let products = numbers.iter().zip(values).map(|(x, y)| (x - number_mean) * (y - value_mean));
    let squares = numbers.iter().map(|x| (x - number_mean).powi(2));
    let slope = products.sum::<f64>() / squares.sum::<f64>();
    numbers.iter().map(|x| value_mean + slope * (x - number_mean)).collect()
}

impl Matrix {
    /// Adds a test's scores, by system.
    pub fn push(&mut self, scores: Vec<Score>) {
        let centre = mean(scores.iter().map(|score| score.log).collect::<Vec<f64>>());
        let centred = scores.into_iter().map(|score| Score { log: score.log - centre, ..score });
        self.0.push(centred.collect());
    }

    fn systems(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// A system's scores in the tests inside a reach, or outside.
    fn scores_of(&self, system: usize, inside: &[bool], wanted: bool) -> Vec<Score> {
        self.0
            .iter()
            .zip(inside)
            .filter(|(_, inside)| **inside == wanted)
            .map(|(test, _)| test[system])
            .collect()
    }

    fn logs_of(&self, system: usize, inside: &[bool], wanted: bool) -> Vec<f64> {
        self.scores_of(system, inside, wanted).iter().map(|score| score.log).collect()
    }

    /// The speed of each system apart from a reach: the median of the other tests; 0 if the reach
    /// has all tests, `None` if there are too few others.
    fn speeds_outside(&self, inside: &[bool]) -> Option<Vec<f64>> {
        let others = inside.iter().filter(|inside| !**inside).count();
        if others == 0 {
            return Some(vec![0.0; self.systems()]);
        }
        if others < MIN_TESTS_OUTSIDE {
            return None;
        }
        let speeds = (0..self.systems()).map(|system| median(&self.logs_of(system, inside, false)));
        Some(speeds.collect())
    }

    /// The excess of each system in the tests of a reach over all others, as a logarithm; `None` if
    /// the reach has no test, or too few are outside.
    fn contrast(&self, inside: &[bool]) -> Option<Vec<f64>> {
        let outside = self.speeds_outside(inside).filter(|_| inside.contains(&true))?;
        let has_all_tests = !inside.contains(&false);

        let mut contrast = Vec::new();
        for (system, outside) in outside.into_iter().enumerate() {
            let logs = self.logs_of(system, inside, true);
            // Of all tests, the median is moved least by a cause that only some of them feel.
            let typical = if has_all_tests { median(&logs) } else { mean(&logs) };
            contrast.push(typical - outside);
        }
        Some(contrast)
    }

    /// How well a fact goes with the scores in the tests of a reach; `None` where its effect is
    /// smaller than `smallest` per cent, or the intervals allow for it with a probability above
    /// `level`.
    pub fn fit(
        &self,
        grouping: &Grouping,
        inside: &[bool],
        level: f64,
        smallest: f64,
    ) -> Option<Fit> {
        let contrast = self.contrast(inside)?;
        let fitted = grouping.model(&contrast).fitted;
        let worst = fitted.iter().copied().fold(f64::INFINITY, f64::min);
        let best = fitted.iter().copied().fold(f64::NEG_INFINITY, f64::max);

        let size = best - worst;
        if size < (smallest / 100.0).log_of_1_plus() {
            return None;
        }
        let error_of_best = self.error_at(best, &fitted, inside);
        let error_of_worst = self.error_at(worst, &fitted, inside);
        if normal_p(size / error_of_best.hypotenuse(error_of_worst)) > level {
            return None;
        }

        let fit = grouping.explained(&contrast) * self.shape(&fitted, inside)?;
        Some(Fit { fit, fitted, size })
    }

    /// The standard error of the mean contrast of the systems that have the fitted value `value`.
    fn error_at(&self, value: f64, fitted: &[f64], inside: &[bool]) -> f64 {
        let systems: Vec<usize> = (0..fitted.len())
            .filter(|system| (fitted[*system] - value).abs() < MAX_ROUNDING_OF_FITTED)
            .collect();
        let squares = systems.iter().map(|system| self.contrast_error(*system, inside).powi(2));
        squares.sum::<f64>().sqrt() / systems.len() as f64
    }

    /// The standard error of a system's contrast. Errors of one run are shared, as drift is, so
    /// they do not average out over its tests: each part has the mean error of its tests.
    fn contrast_error(&self, system: usize, inside: &[bool]) -> f64 {
        self.mean_error(system, inside, true).hypotenuse(self.mean_error(system, inside, false))
    }

    fn mean_error(&self, system: usize, inside: &[bool], wanted: bool) -> f64 {
        let scores = self.scores_of(system, inside, wanted);
        if scores.is_empty() { 0.0 } else { mean(scores.iter().map(|score| score.error)) }
    }

    /// How well the differences that go with a fact match its reach: the squared cosine between the
    /// contrast that each test shows and the reach, which is 1 inside and 0 outside. `None` if the
    /// tests inside show nothing, or the opposite.
    fn shape(&self, fitted: &[f64], inside: &[bool]) -> Option<f64> {
        let outside = self.speeds_outside(inside)?;
        let centre = mean(fitted);
        let weights: Vec<f64> = fitted.iter().map(|value| value - centre).collect();

        let mut shown = Vec::new();
        for test in &self.0 {
            let systems = weights.iter().zip(test).zip(&outside);
            let excesses = systems.map(|((weight, score), outside)| weight * (score.log - outside));
            shown.push(excesses.sum::<f64>());
        }
        let squares: f64 = shown.iter().map(|excess| excess * excess).sum();
        let sum_inside: f64 = shown
            .iter()
            .zip(inside)
            .filter(|(_, inside)| **inside)
            .map(|(excess, _)| *excess)
            .sum();
        let tests_inside = inside.iter().filter(|inside| **inside).count() as f64;

        let shows_the_reach = squares > 0.0 && sum_inside > 0.0;
        shows_the_reach.then(|| sum_inside * sum_inside / (tests_inside * squares))
    }

    /// The share of the ways to deal the fact's values out to the systems that explain as much of
    /// the contrast: all ways of up to eight systems, a sample of them beyond (Fisher, The Design
    /// of Experiments, §21).
    pub fn chance(&self, grouping: &Grouping, inside: &[bool]) -> f64 {
        let Some(contrast) = self.contrast(inside) else {
            return 1.0;
        };
        let systems = contrast.len();
        let ways = if systems <= MAX_SYSTEMS_OF_ALL_WAYS {
            permutations(systems)
        } else {
            shuffles(systems)
        };

        let explained = grouping.explained(&contrast) - MAX_ROUNDING_OF_SHARE;
        let as_good =
            ways.iter().filter(|way| grouping.dealt(way).explained(&contrast) >= explained);
        as_good.count() as f64 / ways.len() as f64
    }
}

/// Every order of the numbers below `count`.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for next in 0..count {
        let mut longer = Vec::new();
        for order in &orders {
            for place in 0..=order.len() {
                longer.push([&order[..place], &[next][..], &order[place..]].concat());
            }
        }
        orders = longer;
    }
    orders
}

/// Random orders of the numbers below `count`, the same every time.
fn shuffles(count: usize) -> Vec<Vec<usize>> {
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let mut order: Vec<usize> = (0..count).collect();
    let mut orders = Vec::new();
    for _ in 0..SAMPLED_WAYS {
        order.shuffle(&mut random);
        orders.push(order.clone());
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four systems; the last two lose `loss` in the first of four tests; every figure has the
    /// standard error `error`.
    fn matrix(loss: f64, error: f64) -> Matrix {
        let mut matrix = Matrix::default();
        for test in 0..4 {
            let score = |system: usize| {
                let loss = if test == 0 && system > 1 { loss } else { 0.0 };
                Score { log: -loss, error }
            };
            matrix.push((0..4).map(score).collect());
        }
        matrix
    }

    const INSIDE: [bool; 4] = [true, false, false, false];

    fn halves() -> Grouping {
        Grouping::new(&["x", "x", "y", "y"].map(str::to_owned), None).unwrap()
    }

    #[test]
    fn only_what_intervals_and_the_least_effect_allow_fits() {
        let fit = matrix(0.1, 0.001).fit(&halves(), &INSIDE, 0.05, 2.0).unwrap();
        assert!((fit.size - 0.1).abs() < 1e-12 && (fit.fit - 1.0).abs() < 1e-12, "{fit:?}");
        assert!(matrix(0.01, 0.000_1).fit(&halves(), &INSIDE, 0.05, 2.0).is_none(), "one per cent");
        // Two systems a side, with an error of 0.1 inside and outside: the difference has one of
        // 0.141.
        assert!(matrix(0.1, 0.1).fit(&halves(), &INSIDE, 0.05, 2.0).is_none());
    }

    #[test]
    fn the_shape_is_that_of_the_reach() {
        let of = |inside: [bool; 4]| {
            matrix(0.1, 0.001).fit(&halves(), &inside, 0.05, 0.5).map_or(0.0, |fit| fit.fit)
        };
        // By hand: one of two tests of the reach shows it, (1 + 0)² / (2 · 1).
        assert!((of([true, true, false, false]) - 0.5).abs() < 1e-12);
        assert_eq!(of([false, true, false, false]), 0.0, "it is elsewhere");
        assert_eq!(of([false; 4]), 0.0);
    }

    /// By hand: the two halves of four can be dealt in six ways; two of them are these.
    #[test]
    fn chance() {
        assert!((matrix(0.1, 0.001).chance(&halves(), &INSIDE) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(permutations(4).len(), 24);
        assert_eq!(shuffles(9), shuffles(9));
    }

    #[test]
    fn groupings() {
        let of = |values: [&str; 3], numbers| Grouping::new(&values.map(str::to_owned), numbers);
        assert!(of(["x", "x", "x"], None).is_none(), "it does not differ");
        assert!(of(["x", "y", "z"], None).is_none(), "it only names the systems");
        assert!(matches!(
            of(["x", "y", "z"], Some(vec![1.0, 2.0, 3.0])),
            Some(Grouping::Numbers(_))
        ));
        let line = Grouping::Numbers(vec![1.0, 2.0, 3.0]);
        assert!((line.explained(&[5.0, 7.0, 9.0]) - 1.0).abs() < 1e-12);
        assert_eq!(line.explained(&[1.0, 1.0, 1.0]), 0.0);
    }
}
