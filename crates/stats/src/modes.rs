//! Does a sample fall into two groups?
//!
//! [`has_two_modes`] is the test of the excess mass (Müller & Sawitzki 1991), which for two modes
//! is that of the dip (Hartigan & Hartigan 1985). The *mass* of an interval is the share of the
//! sample in it, less λ times its length. With a single mode one interval has nearly all the mass
//! that any two have, whatever λ; the largest excess of two intervals over one shows a valley in
//! between.
//!
//! Of all distributions with one mode the uniform one has the largest excess, so its limit serves
//! all: skewed times, however long their tail, exceed it far more rarely. Simulated below.

use super::Exact;

/// The excess of a uniform sample, times the root of its size, exceeds this in one of a hundred
/// samples. By simulation: 1.02 for 20 values, 1.09 for 50, and up to 1.16 for more; less for
/// fewer.
const EXCESS_LIMIT: f64 = 1.16;

/// Fewest values that can show two modes: four far from four others.
const MIN_VALUES: usize = 8;

/// The steps of λ, which covers all densities of the sample: from a twentieth of that of its range
/// to twice the largest.
const SMALLEST_DENSITY: f64 = 0.05;
const LARGEST_DENSITY: f64 = 2.0;
const DENSITY_STEP: f64 = 1.189_207_115_002_721; // the fourth root of 2

/// True if a sample of independent values has two modes or more. Of samples with one mode, at most
/// 1 % are said to have two.
pub fn has_two_modes(values: &[f64]) -> bool {
    if values.len() < MIN_VALUES {
        return false;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    excess_mass(&sorted) * (values.len() as f64).sqrt() > EXCESS_LIMIT
}

/// The largest excess of mass, over all λ, of two intervals over one.
fn excess_mass(sorted: &[f64]) -> f64 {
    let range = sorted[sorted.len() - 1] - sorted[0];
    let densest = largest_density(sorted);
    if range <= 0.0 || !densest.is_finite() {
        return 0.0;
    }

    let mut excess: f64 = 0.0;
    let mut density = SMALLEST_DENSITY / range;
    while density <= LARGEST_DENSITY * densest {
        excess = excess.max(excess_mass_at(sorted, density));
        density *= DENSITY_STEP;
    }
    excess
}

/// The density of the narrowest interval that holds the root of the number of values.
fn largest_density(sorted: &[f64]) -> f64 {
    let width = (sorted.len() as f64).sqrt().ceil() as usize;
    let windows = sorted.windows(width + 1).map(|window| window[width] - window[0]);
    let narrowest = windows.fold(f64::INFINITY, f64::min);
    width as f64 / sorted.len() as f64 / narrowest
}

/// The excess at one λ, by Kadane's scan for the heaviest interval. `open` masses are those of
/// intervals that end at the present value.
fn excess_mass_at(sorted: &[f64], density: f64) -> f64 {
    let share = 1.0 / sorted.len() as f64;
    let (mut one_open, mut two_open) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let (mut one, mut two): (f64, f64) = (0.0, 0.0);
    let mut last = sorted[0];
    for value in sorted {
        let cost = density * (value - last);
        last = *value;
        // The second interval begins after the first has ended.
        two_open = f64::max(two_open - cost, one) + share;
        one_open = f64::max(one_open - cost, 0.0) + share;
        one = one.max(one_open);
        two = two.max(two_open);
    }
    two - one
}

/// The limit between two groups of positive values: that which leaves the least variance of their
/// logarithms within the groups (Otsu 1979). It is the geometric mean of the two neighbouring
/// values; NaN of fewer than two values.
pub fn limit_of_groups(values: &[f64]) -> f64 {
    let mut logs: Vec<f64> = values.iter().map(|value| value.natural_log()).collect();
    logs.sort_by(f64::total_cmp);
    let count = logs.len() as f64;
    let total: f64 = logs.iter().sum();

    let (mut best, mut limit) = (f64::NEG_INFINITY, f64::NAN);
    let mut below = 0.0;
    for (place, pair) in logs.windows(2).enumerate() {
        below += pair[0];
        let lower = (place + 1) as f64;
        let share = lower / count;
        let distance = below / lower - (total - below) / (count - lower);
        // The total variance is the sum of that within and this between the groups.
        let between = share * (1.0 - share) * distance.powi(2);
        if between > best {
            (best, limit) = (between, (pair[0] + pair[1]) / 2.0);
        }
    }
    limit.exponential()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use testing::normal;

    /// The share of samples of `count` values that are said to have two modes.
    fn share_called(count: usize, draw: &dyn Fn(&mut Pcg64Mcg) -> f64) -> f64 {
        let mut random = Pcg64Mcg::seed_from_u64(count as u64);
        let runs = testing::simulated(400);
        let called = (0..runs).filter(|_| {
            let values: Vec<f64> = (0..count).map(|_| draw(&mut random)).collect();
            has_two_modes(&values)
        });
        called.count() as f64 / runs as f64
    }

    #[test]
    fn one_mode_however_skewed_is_seldom_taken_for_two() {
        let uniform = |random: &mut Pcg64Mcg| 1.0 + random.random::<f64>();
        let lognormal = |random: &mut Pcg64Mcg| (0.5 * normal(random)).exp();
        let exponential = |random: &mut Pcg64Mcg| 1.0 - random.random::<f64>().ln();
        let stalled = |random: &mut Pcg64Mcg| {
            let stall =
                if random.random::<f64>() < 0.1 { -random.random::<f64>().ln() } else { 0.0 };
            1.0 + 0.02 * normal(random).abs() + stall
        };

        for count in [8, 12, 20, 60, 200, 1000] {
            assert!(share_called(count, &uniform) <= 0.025, "{count}");
            for skewed in [&lognormal as &dyn Fn(&mut Pcg64Mcg) -> f64, &exponential, &stalled] {
                assert!(share_called(count, skewed) <= 0.005, "{count}");
            }
        }
    }

    #[test]
    fn two_speeds_are_found() {
        let mixed = |random: &mut Pcg64Mcg| {
            let speed = if random.random::<f64>() < 0.3 { 4.0 } else { 8.5 };
            speed * (0.05 * normal(random)).exp()
        };

        assert!(share_called(40, &mixed) >= 0.8);
        assert!(share_called(100, &mixed) >= 0.99);
        assert!(has_two_modes(&[4.0, 8.5, 4.1, 8.4, 8.6, 4.2, 8.5, 4.05]));
    }

    #[test]
    fn equal_values_and_few_have_one_mode() {
        assert!(!has_two_modes(&[1.0; 100]));
        assert!(!has_two_modes(&[1.0, 2.0].repeat(9)));
        assert!(!has_two_modes(&[1.0, 1.1, 1.2, 8.0, 8.1, 8.2]));
        assert!(!has_two_modes(&[]));
    }

    #[test]
    fn the_limit_lies_between_the_groups() {
        let limit = limit_of_groups(&[4.0, 4.1, 8.5, 8.4, 8.6, 4.2, 8.5]);

        assert!((4.2..8.4).contains(&limit), "{limit}");
    }
}
