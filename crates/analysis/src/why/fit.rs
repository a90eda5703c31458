//! How well a fact's values go with the figures of systems.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use stats::{Exact, mean, median, normal_p};
use words::Unique;

/// Up to this number of systems every way to deal out the values is tried; with more systems, a random sample of
/// [`WAYS`].
const ALL_WAYS: usize = 8;
const WAYS: usize = 5000;

/// This many tests outside a reach show how fast a system is apart from it.
const OUTSIDE: usize = 2;

/// The figures of systems by test: logarithms that are larger where better, less the mean of the systems, and their
/// standard errors.
#[derive(Debug, Default)]
pub(super) struct Matrix(Vec<Vec<(f64, f64)>>);

/// How a fact splits the systems.
#[derive(Debug, Clone)]
pub(super) enum Grouping {
    /// The number of each system's value.
    Values(Vec<usize>),
    /// A number of each, as a logarithm.
    Numbers(Vec<f64>),
}

/// How well a fact goes with the figures.
#[derive(Debug)]
pub(super) struct Fit {
    /// The share of the contrast that its values explain times how far the differences have the shape of its reach.
    pub fit: f64,
    /// The contrast as fitted by its values, by system.
    pub fitted: Vec<f64>,
    /// The logarithm by which the best value is above the worst.
    pub size: f64,
}

impl Grouping {
    /// Returns how values split systems; nothing if all have the same, or if each of several has another and they are
    /// not numbers.
    pub fn new(values: &[String], numbers: Option<Vec<f64>>) -> Option<Grouping> {
        let known = values.iter().unique();
        let groups = values.iter().filter_map(|value| known.iter().position(|one| *one == value));
        match (known.len(), numbers) {
            (0 | 1, _) => None,
            (3.., Some(numbers)) => Some(Grouping::Numbers(numbers)),
            (count, _) if count == values.len() && count > 2 => None,
            _ => Some(Grouping::Values(groups.collect())),
        }
    }

    /// Returns the values as the fact alone predicts them: the means of its groups, or the line through them; and the
    /// number of parameters.
    fn fitted(&self, values: &[f64]) -> (Vec<f64>, usize) {
        match self {
            Grouping::Values(groups) => {
                let own =
                    |group: usize| groups.iter().zip(values).filter(move |(one, _)| **one == group).map(|(_, v)| *v);
                let count = groups.iter().max().map_or(0, |last| last + 1);
                (groups.iter().map(|group| mean(own(*group).collect::<Vec<f64>>())).collect(), count)
            }
            Grouping::Numbers(numbers) => {
                let (middle, centre) = (mean(numbers), mean(values));
                let slope = numbers.iter().zip(values).map(|(x, y)| (x - middle) * (y - centre)).sum::<f64>()
                    / numbers.iter().map(|x| (x - middle).powi(2)).sum::<f64>();
                (numbers.iter().map(|x| centre + slope * (x - middle)).collect(), 2)
            }
        }
    }

    /// Returns the share of the variance of values that the fact explains, allowing for the numbers that takes
    /// (adjusted R²: Wherry 1931; Theil, Economic Forecasts and Policy, §6.2); of two systems 1, as they have no more.
    fn explained(&self, values: &[f64]) -> f64 {
        let (fitted, taken) = self.fitted(values);
        let (centre, count) = (mean(values), values.len() as f64);
        let all: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        let left: f64 = values.iter().zip(&fitted).map(|(value, fitted)| (value - fitted).powi(2)).sum();
        let free = count - taken as f64;
        if all <= 0.0 {
            0.0
        } else if free <= 0.0 {
            1.0
        } else {
            (1.0 - (left / free) / (all / (count - 1.0))).max(0.0)
        }
    }

    /// Returns it with the systems in another order.
    fn dealt(&self, order: &[usize]) -> Grouping {
        match self {
            Grouping::Values(groups) => Grouping::Values(order.iter().map(|place| groups[*place]).collect()),
            Grouping::Numbers(numbers) => Grouping::Numbers(order.iter().map(|place| numbers[*place]).collect()),
        }
    }
}

impl Matrix {
    /// Adds a test's figures.
    pub fn push(&mut self, figures: Vec<(f64, f64)>) {
        let centre = mean(figures.iter().map(|figure| figure.0).collect::<Vec<f64>>());
        self.0.push(figures.into_iter().map(|(value, error)| (value - centre, error)).collect());
    }

    fn systems(&self) -> usize {
        self.0.first().map_or(0, Vec::len)
    }

    /// A system's figures in the tests inside a reach, or outside.
    fn part(&self, system: usize, inside: &[bool], wanted: bool) -> Vec<f64> {
        self.0.iter().zip(inside).filter(|(_, inside)| **inside == wanted).map(|(row, _)| row[system].0).collect()
    }

    /// The speed of the systems apart from a reach: the median of the other tests; 0 of a reach that has all.
    fn outside(&self, inside: &[bool]) -> Option<Vec<f64>> {
        let others = inside.iter().filter(|inside| !**inside).count();
        let of = |system| if others == 0 { 0.0 } else { median(&self.part(system, inside, false)) };
        (others == 0 || others >= OUTSIDE).then(|| (0..self.systems()).map(of).collect())
    }

    /// Returns the excess of each system in the tests of a reach over all others, as a logarithm.
    fn contrast(&self, inside: &[bool]) -> Option<Vec<f64>> {
        let outside = self.outside(inside).filter(|_| inside.contains(&true))?;
        // A cause that only some tests feel moves the median of all least.
        let middle: fn(&[f64]) -> f64 = if inside.contains(&false) { |own| mean(own) } else { median };
        Some((0..self.systems()).map(|system| middle(&self.part(system, inside, true)) - outside[system]).collect())
    }

    /// Returns how well a fact goes with the figures in the tests of a reach; nothing where its effect is smaller than
    /// `smallest` per cent, or intervals allow for it with a probability above `level`.
    pub fn fit(&self, grouping: &Grouping, inside: &[bool], level: f64, smallest: f64) -> Option<Fit> {
        let contrast = self.contrast(inside)?;
        let (fitted, _) = grouping.fitted(&contrast);
        let end = |better: fn(f64, f64) -> f64, from: f64| fitted.iter().copied().fold(from, better);
        let (worst, best) = (end(f64::min, f64::INFINITY), end(f64::max, f64::NEG_INFINITY));
        let size = best - worst;
        let error = |at: f64| {
            let own: Vec<usize> = (0..fitted.len()).filter(|system| (fitted[*system] - at).abs() < 1e-12).collect();
            // Errors of one run are shared, as drift is: they do not average out over its tests.
            let errors = own.iter().map(|system| self.error(*system, inside).powi(2)).sum::<f64>().sqrt();
            errors / own.len() as f64
        };
        if size < (smallest / 100.0).log_of_1_plus() || normal_p(size / error(best).hypotenuse(error(worst))) > level {
            return None;
        }
        let fit = grouping.explained(&contrast) * self.shape(&fitted, inside)?;
        Some(Fit { fit, fitted, size })
    }

    /// The standard error of a system's contrast, as if the errors of its tests were one.
    fn error(&self, system: usize, inside: &[bool]) -> f64 {
        let of = |wanted: bool| {
            let rows = self.0.iter().zip(inside).filter(|(_, inside)| **inside == wanted);
            let errors: Vec<f64> = rows.map(|(row, _)| row[system].1).collect();
            if errors.is_empty() { 0.0 } else { mean(&errors) }
        };
        of(true).hypotenuse(of(false))
    }

    /// Returns how well the differences that go with a fact match its reach: the squared cosine between the contrast
    /// that each test shows and the reach, which is 1 inside and 0 outside.
    fn shape(&self, fitted: &[f64], inside: &[bool]) -> Option<f64> {
        let outside = self.outside(inside)?;
        let centre = mean(fitted);
        let weight: Vec<f64> = fitted.iter().map(|value| value - centre).collect();
        let shown = |test: usize| -> f64 {
            (0..weight.len()).map(|system| weight[system] * (self.0[test][system].0 - outside[system])).sum()
        };
        let shown: Vec<f64> = (0..inside.len()).map(shown).collect();
        let all: f64 = shown.iter().map(|one| one * one).sum();
        let own: f64 = shown.iter().zip(inside).filter(|(_, inside)| **inside).map(|(one, _)| *one).sum();
        let count = inside.iter().filter(|inside| **inside).count() as f64;
        (all > 0.0 && own > 0.0).then(|| own * own / (count * all))
    }

    /// Returns the share of the ways to deal the fact's values out to the systems that explain as much of the contrast:
    /// all ways of up to eight systems, a sample of them beyond (Fisher, The Design of Experiments, §21).
    pub fn chance(&self, grouping: &Grouping, inside: &[bool]) -> f64 {
        let Some(contrast) = self.contrast(inside) else { return 1.0 };
        let own = grouping.explained(&contrast) - 1e-9;
        let count = contrast.len();
        let orders = if count <= ALL_WAYS { permutations(count) } else { shuffles(count) };
        let as_good = orders.iter().filter(|order| grouping.dealt(order).explained(&contrast) >= own).count();
        as_good as f64 / orders.len() as f64
    }
}

/// Returns every order of the numbers below `count`.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut orders: Vec<Vec<usize>> = vec![Vec::new()];
    for next in 0..count {
        let with_next = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            (0..=order.len()).map(|place| [&order[..place], &[next][..], &order[place..]].concat()).collect()
        };
        orders = orders.iter().flat_map(with_next).collect();
    }
    orders
}

/// Orders at random, the same every time.
fn shuffles(count: usize) -> Vec<Vec<usize>> {
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let mut order: Vec<usize> = (0..count).collect();
    let mut shuffled = || {
        order.shuffle(&mut random);
        order.clone()
    };
    (0..WAYS).map(|_| shuffled()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four systems; the last two lose `loss` in the first of four tests; every figure has the standard error `error`.
    fn matrix(loss: f64, error: f64) -> Matrix {
        let mut matrix = Matrix::default();
        for test in 0..4 {
            let of = |system: usize| if test == 0 && system > 1 { (-loss, error) } else { (0.0, error) };
            matrix.push((0..4).map(of).collect());
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
        // Two systems a side, with an error of 0.1 inside and outside: the difference has one of 0.141.
        assert!(matrix(0.1, 0.1).fit(&halves(), &INSIDE, 0.05, 2.0).is_none());
    }

    #[test]
    fn the_shape_is_that_of_the_reach() {
        let of = |inside: [bool; 4]| matrix(0.1, 0.001).fit(&halves(), &inside, 0.05, 0.5).map_or(0.0, |fit| fit.fit);
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
        assert!(matches!(of(["x", "y", "z"], Some(vec![1.0, 2.0, 3.0])), Some(Grouping::Numbers(_))));
        let line = Grouping::Numbers(vec![1.0, 2.0, 3.0]);
        assert!((line.explained(&[5.0, 7.0, 9.0]) - 1.0).abs() < 1e-12);
        assert_eq!(line.explained(&[1.0, 1.0, 1.0]), 0.0);
    }
}
