//! The fall of something that should be constant, and its time: the trend of a noisy series.

use stats::{Estimate, NORMAL_975, median, median_interval};

/// Seconds and values, in order of time.
pub type Series = Vec<(f64, f64)>;

/// Half of the time over which the trend takes a median: with a value a second, five of them. A median keeps an edge
/// where it is and passes over two values that lie.
const HALF: f64 = 2.3;

/// How long the trend must stay low: shorter dips are disturbances.
const STAYS: f64 = 5.0;

/// A fall must be this many times the noise of single values.
const BEYOND: f64 = 2.0;

/// Half of the 95 % interval of a median, in standard deviations over the root of the number: its error is a quarter
/// more than a mean's.
const MEDIAN_975: f64 = NORMAL_975 * 1.25;

/// How many values one block of [`level`] has: neighbours in time are not independent.
const BLOCK: usize = 5;

/// Returns the running median.
pub fn trend(series: &[(f64, f64)]) -> Series {
    let mut first = 0;
    let smooth = |place: usize| {
        let at = series[place].0;
        while series[first].0 < at - HALF {
            first += 1;
        }
        let near: Vec<f64> =
            series[first..].iter().take_while(|point| point.0 <= at + HALF).map(|point| point.1).collect();
        (at, median(&near))
    };
    (0..series.len()).map(smooth).collect()
}

/// Returns the standard deviation of single values around their trend, by the changes from value to value: neither a
/// slow drift, nor one step, nor a few values that lie move their median.
pub fn noise(series: &[(f64, f64)]) -> f64 {
    let changes: Vec<f64> = series.windows(2).map(|pair| (pair[1].1 - pair[0].1).abs()).collect();
    // 1.4826 makes a standard deviation of a median absolute deviation, and a change has two values' noise.
    if changes.is_empty() { 0.0 } else { 1.4826 * median(&changes) / std::f64::consts::SQRT_2 }
}

/// Returns each time that the series fell below `share` of what its beginning is at least, and below its own noise, for
/// at least five seconds: the moment of the last value before.
pub fn falls(series: &[(f64, f64)], beginning: &Estimate, share: f64) -> Vec<f64> {
    // A beginning that is not known well is not held against what comes after it.
    let limit = (beginning.low * share).min(beginning.value - BEYOND * noise(series));
    let trend = trend(series);
    let mut found = Vec::new();
    let mut low: Option<usize> = None;
    for (place, (at, value)) in trend.iter().enumerate() {
        if *value >= limit {
            low = None;
            continue;
        }
        let first = *low.get_or_insert(place);
        let began = trend[first.saturating_sub(1)].0;
        if at - trend[first].0 >= STAYS && found.last() != Some(&began) {
            found.push(began);
        }
    }
    found
}

/// Returns the first fall after which the series, with all its noise, stays below `share` of its beginning; and when it
/// fell without that: a dip.
pub fn fall(series: &[(f64, f64)], beginning: &Estimate, share: f64) -> (Option<f64>, Option<f64>) {
    let noise = noise(series);
    let stays = |at: &f64| {
        let after: Vec<f64> = series.iter().filter(|point| point.0 > *at).map(|point| point.1).collect();
        level(&after, noise).is_some_and(|after| after.over(beginning).high < share)
    };
    let (lasting, dips): (Vec<f64>, Vec<f64>) = falls(series, beginning, share).into_iter().partition(stays);
    (lasting.first().copied(), dips.first().copied())
}

/// Returns the median with an interval: that of blocks of some seconds each where there are enough. `noise` is that of
/// the whole series: of a few values alone it would be a guess.
pub fn level(values: &[f64], noise: f64) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let middle = median(values);
    let blocks: Vec<f64> = values.chunks(BLOCK).filter(|part| part.len() > BLOCK / 2).map(median).collect();
    let estimate = median_interval(&blocks);
    if estimate.bounded() {
        return Some(Estimate { value: middle, low: estimate.low.min(middle), high: estimate.high.max(middle) });
    }
    // A value that lies, in five, moves neither the median nor the median absolute deviation.
    let away: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let half = MEDIAN_975 * noise.max(1.4826 * median(&away)) / (values.len() as f64).sqrt();
    Some(Estimate { value: middle, low: middle - half, high: middle + half })
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

    /// 300 s at 4 GHz with `noise`, a tenth of the seconds off by up to 30 %, and with a drop at `drop`.
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
        level(&series[1..6].iter().map(|point| point.1).collect::<Vec<_>>(), noise(series)).unwrap()
    }

    #[test]
    fn noise_is_no_fall() {
        for noise in [0.0, 0.003, 0.01, 0.03, 0.08] {
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let fell = (0..400).filter(|_| {
                let series = series(&mut random, noise, None);
                fall(&series, &beginning(&series), 0.97).0.is_some()
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
                fall(&series, &beginning(&series), 0.97).0.is_some_and(|at| (at - when).abs() <= 2.0)
            });
            let found = found.count();
            assert!(found >= 380, "{found} of 400 drops in noise {noise} found");
        }
    }

    #[test]
    fn a_slow_fall_is_one_too() {
        let series: Series = (1..=300).map(|second| (f64::from(second), 4.0 - 0.004 * f64::from(second))).collect();
        // 3 % of 4 GHz are gone after 30 s.
        let at = fall(&series, &Estimate::within(4.0, 0.001), 0.97).0.unwrap();
        assert!((28.0..34.0).contains(&at), "{at}");
    }

    #[test]
    fn dips_are_none() {
        let four = Estimate::within(4.0, 0.01);
        let dip = |length: u32| -> Series {
            let value = |second: u32| if (50..50 + length).contains(&second) { 3.0 } else { 4.0 };
            (1..=100).map(|second| (f64::from(second), value(second))).collect()
        };
        assert_eq!(fall(&dip(5), &four, 0.97), (None, None), "too short to be seen");
        assert_eq!(fall(&dip(12), &four, 0.97), (None, Some(49.0)), "it came back");
        assert_eq!(fall(&dip(51), &four, 0.97), (Some(49.0), None));
        let mut later = dip(12);
        later[79..].iter_mut().for_each(|point| point.1 = 3.5);
        assert_eq!(fall(&later, &four, 0.97), (Some(79.0), Some(49.0)), "a dip hides no fall");
        assert_eq!(fall(&[], &four, 0.97), (None, None));
        assert_eq!(fall(&[(1.0, 1.0)], &four, 0.97), (None, None));
    }

    #[test]
    fn noise_by_changes() {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let series: Series = (0..2000).map(|k| (f64::from(k), 10.0 + 0.5 * normal(&mut random))).collect();
        assert!((noise(&series) - 0.5).abs() < 0.05, "{}", noise(&series));
    }
}
