//! The part of the noise that is a wandering speed shared by all series, and its effect on intervals.

use super::{Standard, student_quantile};
use crate::Exact;

/// Shares of the variance that are tried, and times in seconds.
const SHARES: [f64; 11] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97];
const TIMES: [f64; 7] = [3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 192.0];

/// Series that are looked at, at most: the work grows with their square, and the drift is that of all of them.
const MOST: usize = 24;

/// Values of each that are looked at, at most, from the first on: ten of the longest correlation times at the usual
/// pace.
const LONGEST: usize = 400;

/// The fewest values that say anything of a drift.
const FEWEST: usize = 5;

/// Degrees of freedom are never taken for fewer: a run that long is worth three independent looks at the least.
const LEAST_DEGREES: f64 = 2.0;

/// One value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// The moment it was measured, in seconds.
    pub at: f64,
    /// The value; for rates their logarithm.
    pub value: f64,
}

/// The drift that series share: the likelihood of each share and time.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    tried: Vec<Tried>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Tried {
    share: f64,
    time: f64,
    weight: f64,
}

impl Drift {
    /// Returns the drift that `series` share; `None` if they have too few values that differ, or no time lies between
    /// them.
    ///
    /// A value is the series' own mean, plus a speed common to all series, plus noise of its own, in units of the
    /// series' Qₙ. The speed is an Ornstein-Uhlenbeck process. Each share of the variance and each correlation time up
    /// to the whole span gets its restricted likelihood (Harville 1977, "Maximum likelihood approaches to variance
    /// component estimation"), by Kalman's filter over values and means together (de Jong 1991); no drift is as likely
    /// before as any.
    pub fn new(series: &[Vec<Timed>]) -> Option<Drift> {
        let mut standard: Vec<Vec<Timed>> = series.iter().filter_map(|one| standardised(one)).collect();
        standard.sort_by_key(|one| std::cmp::Reverse(one.len()));
        standard.truncate(MOST);
        standard.iter_mut().for_each(|one| one.truncate(LONGEST));
        let means = standard.len();
        let mut values: Vec<(usize, Timed)> = standard
            .into_iter()
            .enumerate()
            .flat_map(|(number, one)| one.into_iter().map(move |value| (number, value)))
            .collect();
        values.sort_by(|a, b| a.1.at.total_cmp(&b.1.at));
        let span = values.last()?.1.at - values.first()?.1.at;
        if values.len() < FEWEST.max(2 * means) || span <= TIMES[0] || span.is_nan() {
            return None;
        }
        let mut tried = Vec::new();
        for time in TIMES.into_iter().filter(|time| *time <= span) {
            for share in SHARES {
                tried.push(Tried { share, time, weight: log_likelihood(&values, means, share, time) });
            }
        }
        let most = tried.iter().map(|one| one.weight).fold(f64::NEG_INFINITY, f64::max);
        let others = (SHARES.len() - 1) as f64;
        let before = |share: f64| if share == 0.0 { 1.0 } else { 1.0 / others };
        tried.iter_mut().for_each(|one| one.weight = (one.weight - most).exponential() * before(one.share));
        let sum: f64 = tried.iter().map(|one| one.weight).sum();
        tried.iter_mut().for_each(|one| one.weight /= sum);
        Some(Drift { tried })
    }

    /// Returns the most likely share of a value's variance that drifts, and the most likely time in seconds within
    /// which the drift forgets itself: its autocorrelation falls to 1/e.
    pub fn most_likely(&self) -> (f64, f64) {
        let most = self.tried.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
        most.map_or((0.0, 0.0), |one| (one.share, one.time))
    }

    /// Returns how many times as wide the 95 % interval of a middle of values measured at `times` is as one that takes
    /// them for independent, where the drift weighs `own` times as much against their own noise as in a single series
    /// (the variance of the mean of k series has own noise of 1/k).
    pub fn widening(&self, times: &[f64], own: f64) -> f64 {
        self.wider(times.len() as f64, own, &|time| mean_correlation(times, time))
    }

    /// Returns [`Drift::widening`] of `count` values measured `step` seconds apart.
    pub fn widening_every(&self, count: u32, step: f64, own: f64) -> f64 {
        let n = f64::from(count);
        self.wider(n, own, &|time| regular_correlation(n, step, time))
    }

    /// Returns how many times the variance of a middle of values measured at `times` is that of independent ones with
    /// as much noise, for `own` as in [`Drift::widening`].
    pub fn inflation(&self, times: &[f64], own: f64) -> f64 {
        let n = times.len() as f64;
        self.mean(own, &|time| mean_correlation(times, time), |alike| 1.0 + (n - 1.0) * alike)
    }

    fn wider(&self, n: f64, own: f64, correlation: &dyn Fn(f64) -> f64) -> f64 {
        if n < 2.0 {
            return 1.0;
        }
        // The variance of the mean, over what the spread of the values lets expect.
        let inflation = self.mean(own, correlation, |alike| (1.0 + (n - 1.0) * alike) / (1.0 - alike));
        let degrees = (n / inflation - 1.0).max(LEAST_DEGREES);
        let wider = student_quantile(0.05, degrees) / student_quantile(0.05, (n - 1.0).max(degrees));
        inflation.sqrt() * wider.max(1.0)
    }

    /// The mean, by how likely each drift is, of what `of` makes of how much two values have in common on average.
    fn mean(&self, own: f64, correlation: &dyn Fn(f64) -> f64, of: impl Fn(f64) -> f64) -> f64 {
        let common = TIMES.map(correlation);
        let at = |time: f64| TIMES.iter().position(|one| *one == time).map_or(0.0, |place| common[place]);
        let alike = |one: &Tried| one.share / (one.share + (1.0 - one.share) / own) * at(one.time);
        self.tried.iter().map(|one| one.weight * of(alike(one))).sum()
    }
}

/// The values about their median in units of their Qₙ; `None` if they do not differ, or one is not a number.
fn standardised(series: &[Timed]) -> Option<Vec<Timed>> {
    let standard = Standard::new(&series.iter().map(|one| one.value).collect::<Vec<f64>>())?;
    Some(series.iter().map(|one| Timed { value: standard.deviation(one.value), ..*one }).collect())
}

/// The mean of the autocorrelation over all pairs of values, measured at `times` in order: what each has in common with
/// all before it follows from what the one before had.
fn mean_correlation(times: &[f64], time: f64) -> f64 {
    let n = times.len() as f64;
    let mut before = 0.0;
    let sums = times.windows(2).map(|pair| {
        before = (before + 1.0) * ((pair[0] - pair[1]).min(0.0) / time).exponential();
        before
    });
    sums.sum::<f64>() / (n * (n - 1.0) / 2.0)
}

/// The same of `n` values `step` seconds apart: Σ 2 (n − k) rᵏ / (n (n − 1)) in closed form.
fn regular_correlation(n: f64, step: f64, time: f64) -> f64 {
    let r = (-step / time).exponential();
    let sum = n * r / (1.0 - r) - r * (1.0 - r.to_the_power(n)) / (1.0 - r).powi(2);
    2.0 * sum / (n * (n - 1.0))
}

/// The logarithm of the restricted likelihood, without constants: −½ ((N − K) ln Q + Σ ln F + ln |X′V⁻¹X|), with the
/// scale profiled out. The filter runs over the values and over the columns of X (which series a value is of) at once.
fn log_likelihood(values: &[(usize, Timed)], means: usize, share: f64, time: f64) -> f64 {
    let width = means + 1;
    let mut state = vec![0.0; width];
    let (mut variance, mut last, mut log_f) = (share, values[0].1.at, 0.0);
    let mut products = vec![0.0; width * width];
    let mut innovation = vec![0.0; width];
    for (number, value) in values {
        let kept = (-(value.at - last) / time).exponential();
        last = value.at;
        variance = kept * kept * variance + share * (1.0 - kept * kept);
        let f = variance + 1.0 - share;
        let gain = variance / f;
        for (place, (state, innovation)) in state.iter_mut().zip(&mut innovation).enumerate() {
            *state *= kept;
            let seen = if place == means { value.value } else { f64::from(u8::from(place == *number)) };
            *innovation = seen - *state;
            *state += gain * *innovation;
        }
        variance -= gain * variance;
        log_f += f.natural_log();
        for (row, first) in innovation.iter().enumerate() {
            let first = first / f;
            let line = &mut products[row * width..row * width + row + 1];
            line.iter_mut().zip(&innovation).for_each(|(sum, second)| *sum += first * second);
        }
    }
    // Cholesky's last pivot is Q, the others' product the determinant.
    let (mut log_det, mut rest) = (0.0, 0.0);
    for row in 0..width {
        for column in 0..=row {
            let dot: f64 = (0..column).map(|k| products[row * width + k] * products[column * width + k]).sum();
            let left = products[row * width + column] - dot;
            if row == column {
                rest = left.max(f64::MIN_POSITIVE);
                if row < means {
                    log_det += rest.natural_log();
                }
                products[row * width + row] = rest.sqrt();
            } else {
                products[row * width + column] = left / products[column * width + column];
            }
        }
    }
    -0.5 * ((values.len() - means) as f64 * rest.natural_log() + log_f + log_det)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;
    use testing::{Wandering, allowed, normal, simulated};

    use super::*;
    use crate::{Mean, median};

    /// Series of a machine whose speed wanders, measured in turn, one value every 0.6 s.
    fn machine(random: &mut Pcg64Mcg, (share, time): (f64, f64), (series, blocks): (usize, usize)) -> Vec<Vec<Timed>> {
        let mut all = vec![Vec::new(); series];
        let (mut speed, mut at) = (Wandering::new(random, time), 0.0);
        for _ in 0..blocks {
            for one in &mut all {
                at += 0.6;
                let value = share.sqrt() * speed.after(random, 0.6) + (1.0 - share).sqrt() * normal(random);
                one.push(Timed { at, value: 0.1 * value });
            }
        }
        all
    }

    #[test]
    fn share_and_time_are_found() {
        for (share, time) in [(0.0, 20.0), (0.5, 20.0), (0.7, 10.0), (0.7, 40.0)] {
            let mut random = Pcg64Mcg::seed_from_u64(3);
            let found: Vec<(f64, f64)> = (0..40)
                .map(|_| Drift::new(&machine(&mut random, (share, time), (12, 32))).unwrap().most_likely())
                .collect();
            let shares = median(&found.iter().map(|one| one.0).collect::<Vec<f64>>());
            let times = median(&found.iter().map(|one| one.1).collect::<Vec<f64>>());
            assert!((shares - share).abs() < 0.12, "{share}, {time}: {shares}");
            assert!(share == 0.0 || (0.6..1.6).contains(&(times / time)), "{share}, {time}: {times}");
        }
    }

    #[test]
    fn values_at_regular_times_are_as_any() {
        let series = machine(&mut Pcg64Mcg::seed_from_u64(7), (0.5, 20.0), (12, 16));
        let drift = Drift::new(&series).unwrap();
        let times: Vec<f64> = (0..30).map(|place| 4.0 * f64::from(place)).collect();
        let (every, any) = (drift.widening_every(30, 4.0, 12.0), drift.widening(&times, 12.0));
        assert!(any > 1.5 && (every / any - 1.0).abs() < 1e-9, "{every}, {any}");
        // Far apart they have nothing in common.
        assert!((drift.widening_every(30, 1e6, 12.0) - 1.0).abs() < 1e-9);
    }

    /// Student's interval of one series, and of the mean of all in each block, as wide as the drift asks for.
    #[test]
    fn intervals_so_much_wider_cover() {
        let tests = 12;
        for (share, time) in [(0.0, 20.0), (0.3, 20.0), (0.7, 10.0), (0.7, 20.0), (0.7, 40.0)] {
            for blocks in [6, 12, 32] {
                let mut random = Pcg64Mcg::seed_from_u64(5);
                let mut covered = [[0_u32; 2]; 2];
                let rounds = simulated(300);
                for _ in 0..rounds {
                    let series = machine(&mut random, (share, time), (tests, blocks));
                    let drift = Drift::new(&series).unwrap();
                    let block = |place: usize| series.iter().map(|one| one[place].value).sum::<f64>() / tests as f64;
                    let index: Vec<f64> = (0..blocks).map(block).collect();
                    let one: Vec<f64> = series[0].iter().map(|value| value.value).collect();
                    let times: Vec<f64> = series[0].iter().map(|value| value.at).collect();
                    for (place, (values, own)) in [(one, 1.0), (index, tests as f64)].iter().enumerate() {
                        let mean = Mean::new(values);
                        let half = mean.half_width(0.05);
                        covered[place][0] += u32::from(mean.value.abs() <= half);
                        covered[place][1] += u32::from(mean.value.abs() <= half * drift.widening(&times, *own));
                    }
                }
                let [one, index] = covered.map(|pair| pair.map(|count| f64::from(count) / rounds as f64));
                let what = format!("{share}, {time} s, {blocks} blocks: {one:?}, {index:?}");
                // A run that is hardly longer than the correlation time cannot know of it.
                let least = if 7.2 * blocks as f64 > 3.0 * time { 0.92 } else { 0.85 };
                assert!(allowed(least..0.995).contains(&one[1]), "{what}");
                assert!(allowed(least - 0.05..0.995).contains(&index[1]), "{what}");
                assert!(share < 0.5 || index[0] < allowed(0.5..0.75).end, "nothing to widen: {what}");
            }
        }
    }
}
