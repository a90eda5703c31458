//! When something that should be constant fell: the trend of a noisy series.
//!
//! 1. The *trend* is a running median ([`running_median`]), which keeps an edge where it is.
//! 2. The series *falls* where its trend stays below the limit for some seconds ([`fall_times`]).
//!    The limit is a share of the beginning, but never within the noise of single values.
//! 3. A fall *lasts* if all that comes after it is lower as a whole; otherwise it is a *dip*
//!    ([`first_falls`]).

use stats::{Estimate, NORMAL_975, median, median_interval};

/// Seconds and values, in order of time.
pub type Series = Vec<(f64, f64)>;

/// Half of the time over which the trend takes a median: with a value a second, five of them. A
/// median keeps an edge where it is and passes over two wrong values.
const HALF_WINDOW_SECONDS: f64 = 2.3;

/// Seconds for which the trend must stay low: shorter dips are disturbances.
const MIN_LOW_SECONDS: f64 = 5.0;

/// Smallest fall, in standard deviations of single values.
const MIN_FALL_OVER_NOISE: f64 = 2.0;

/// Half of the 95 % interval of a median, in standard deviations over the root of the number: its
/// error is a quarter more than a mean's.
const MEDIAN_975: f64 = NORMAL_975 * 1.25;

/// The standard deviation of normal values over their median absolute deviation.
const DEVIATION_OVER_MEDIAN_ABSOLUTE: f64 = 1.4826;

/// Values in one block of [`median_level`]: neighbours in time are not independent.
const BLOCK_VALUES: usize = 5;

/// The trend of a series.
pub fn running_median(series: &[(f64, f64)]) -> Series {
    let mut first = 0;
    let mut trend = Vec::new();
    for &(at, _) in series {
        while series[first].0 < at - HALF_WINDOW_SECONDS {
            first += 1;
        }
        let window = series[first..].iter();
        let near: Vec<f64> = window
            .take_while(|point| point.0 <= at + HALF_WINDOW_SECONDS)
            .map(|point| point.1)
            .collect();
        trend.push((at, median(&near)));
    }
    trend
}

/// The standard deviation of single values around their trend, by the changes from value to value:
/// neither a slow drift, nor one step, nor a few wrong values move the median of these.
pub fn noise_of_values(series: &[(f64, f64)]) -> f64 {
    let changes: Vec<f64> = series.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs()).collect();
    if changes.is_empty() {
        return 0.0;
    }
    // A change has the noise of two values.
    DEVIATION_OVER_MEDIAN_ABSOLUTE * median(&changes) / std::f64::consts::SQRT_2
}

/// The moments at which the series fell below `share` of its `beginning`, and below its own noise,
/// for at least five seconds. Each is the moment of the last value before the fall.
fn fall_times(series: &[(f64, f64)], beginning: &Estimate, share: f64) -> Vec<f64> {
    // A beginning that is not known well is not held against what comes after it.
    let limit = (beginning.low * share)
        .min(beginning.value - MIN_FALL_OVER_NOISE * noise_of_values(series));
    let trend = running_median(series);

    let mut times = Vec::new();
    let mut first_low: Option<usize> = None;
    for (place, (at, value)) in trend.iter().enumerate() {
        if *value >= limit {
            first_low = None;
            continue;
        }
        let first = *first_low.get_or_insert(place);
        let began = trend[first.saturating_sub(1)].0;
        if at - trend[first].0 >= MIN_LOW_SECONDS && times.last() != Some(&began) {
            times.push(began);
        }
    }
    times
}

/// The first falls of a series, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Falls {
    /// The first after which the series stays low.
    pub lasting: Option<f64>,
    /// The first from which it came back.
    pub dip: Option<f64>,
}

/// The first falls below `share` of the `beginning`. One lasts if the whole interval of all later
/// values is below that share.
pub fn first_falls(series: &[(f64, f64)], beginning: &Estimate, share: f64) -> Falls {
    let noise = noise_of_values(series);
    let mut falls = Falls::default();
    for at in fall_times(series, beginning, share) {
        let after = series.iter().filter(|point| point.0 > at).map(|point| point.1);
        let after = median_level(&after.collect::<Vec<f64>>(), noise);
        let lasts = after.is_some_and(|after| after.over(beginning).high < share);
        let first = if lasts { &mut falls.lasting } else { &mut falls.dip };
        first.get_or_insert(at);
    }
    falls
}

/// The median of `values` with an interval: that of blocks of some seconds each where there are
/// enough. `noise` is that of the whole series: of a few values alone it would be a guess.
pub fn median_level(values: &[f64], noise: f64) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }

    let centre = median(values);
    let blocks: Vec<f64> = values
        .chunks(BLOCK_VALUES)
        .filter(|block| block.len() > BLOCK_VALUES / 2)
        .map(median)
        .collect();
    let of_blocks = median_interval(&blocks);
    if of_blocks.bounded() {
        return Some(Estimate {
            value: centre,
            low: of_blocks.low.min(centre),
            high: of_blocks.high.max(centre),
        });
    }

    // One wrong value of five moves neither the median nor the median absolute deviation.
    let distances: Vec<f64> = values.iter().map(|value| (value - centre).abs()).collect();
    let deviation = noise.max(DEVIATION_OVER_MEDIAN_ABSOLUTE * median(&distances));
    let half = MEDIAN_975 * deviation / (values.len() as f64).sqrt();
    Some(Estimate { value: centre, low: centre - half, high: centre + half })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A number of the standard normal distribution (Box and Muller).
    fn normal(random: &mut impl Rng) -> f64 {
        let (a, b): (f64, f64) = (random.random(), random.random());
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    /// 300 s at 4 GHz with `noise`, a tenth of the seconds off by up to 30 %, and with a drop at
    /// `drop`.
    fn series(random: &mut impl Rng, noise: f64, drop: Option<(f64, f64)>) -> Series {
        let value = |second: u32| {
            let at = f64::from(second);
            let mut value = 4.0 * (1.0 + noise * normal(random));
            if let Some((from, share)) = drop
                && at > from
            {
                value *= share;
            }
            if random.random::<f64>() < 0.1 {
                value *= 1.0 - 0.3 * random.random::<f64>();
            }
            (at, value)
        };
        (1..=300).map(value).collect()
    }

    fn beginning(series: &[(f64, f64)]) -> Estimate {
        median_level(
            &series[1..6].iter().map(|point| point.1).collect::<Vec<_>>(),
            noise_of_values(series),
        )
        .unwrap()
    }

    #[test]
    fn noise_is_no_fall() {
        for noise in [0.0, 0.003, 0.01, 0.03, 0.08] {
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let fell = (0..400).filter(|_| {
                let series = series(&mut random, noise, None);
                first_falls(&series, &beginning(&series), 0.97).lasting.is_some()
            });
            let fell = fell.count();
            assert!(fell <= 20, "{fell} of 400 constant series with noise {noise} fell");
        }
    }

    #[test]
    fn a_tenth_less_is_found_where_it_is() {
        for noise in [0.0, 0.003, 0.01] {
            let mut random = Pcg64Mcg::seed_from_u64(2);
            let found = (0..400).filter(|number| {
                let when = 20.0 + f64::from(*number % 200);
                let series = series(&mut random, noise, Some((when, 0.9)));
                first_falls(&series, &beginning(&series), 0.97)
                    .lasting
                    .is_some_and(|at| (at - when).abs() <= 2.0)
            });
            let found = found.count();
            assert!(found >= 380, "{found} of 400 drops in noise {noise} found");
        }
    }

    #[test]
    fn a_slow_fall_is_one_too() {
        let series: Series =
            (1..=300).map(|second| (f64::from(second), 4.0 - 0.004 * f64::from(second))).collect();
        // 3 % of 4 GHz are gone after 30 s.
        let at = first_falls(&series, &Estimate::within(4.0, 0.001), 0.97).lasting.unwrap();
        assert!((28.0..34.0).contains(&at), "{at}");
    }

    #[test]
    fn dips_are_none() {
        let four = Estimate::within(4.0, 0.01);
        let falls = |series: &[(f64, f64)]| {
            let Falls { lasting, dip } = first_falls(series, &four, 0.97);
            (lasting, dip)
        };
        let dip = |length: u32| -> Series {
            let value = |second: u32| {
                if (50..50 + length).contains(&second) { 3.0 } else { 4.0 }
            };
            (1..=100).map(|second| (f64::from(second), value(second))).collect()
        };
        assert_eq!(falls(&dip(5)), (None, None), "too short to be seen");
        assert_eq!(falls(&dip(12)), (None, Some(49.0)), "it came back");
        assert_eq!(falls(&dip(51)), (Some(49.0), None));
        let mut later = dip(12);
        later[79..].iter_mut().for_each(|point| point.1 = 3.5);
        assert_eq!(falls(&later), (Some(79.0), Some(49.0)), "a dip hides no fall");
        assert_eq!(falls(&[]), (None, None));
        assert_eq!(falls(&[(1.0, 1.0)]), (None, None));
    }

    #[test]
    fn noise_by_changes() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let series: Series =
            (0..2000).map(|k| (f64::from(k), 10.0 + 0.5 * normal(&mut random))).collect();
        assert!((noise_of_values(&series) - 0.5).abs() < 0.05, "{}", noise_of_values(&series));
    }
}
