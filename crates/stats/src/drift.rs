//! Drift: how far the noise of a run is a speed of the machine that wanders, and what that does to
//! intervals.
//!
//! A machine is fast for a while and slow for a while, for all tests alike. Values measured close
//! in time then resemble each other, and a mean over them is less certain than one over as many
//! independent values.
//!
//! **Model.** In units of the scatter of its series (Rousseeuw and Croux's Qₙ), a value is the mean
//! of the series, plus the speed of the machine at that moment, plus noise of its own. The speed is
//! an Ornstein-Uhlenbeck process: its autocorrelation decays as exp(−t / τ). Two numbers describe
//! the drift: the *share* of the variance that is the speed's, and the *correlation time* τ.
//!
//! **Estimate.** Both are tried on a grid. Each pair gets its restricted likelihood (Harville 1977,
//! "Maximum likelihood approaches to variance component estimation"), in which the means of the
//! series are unknown, by a Kalman filter that runs over the values and the means together (de Jong
//! 1991). Before the data, no drift is as likely as any drift. The result is a probability for each
//! pair, and every quantity below is an expectation over these: a run is often too short to settle
//! on one pair.

use super::{Standard, student_quantile};
use crate::Exact;

/// The shares of the variance that are tried. The first is the hypothesis of no drift.
const SHARES: [f64; 11] = [0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97];

/// The correlation times that are tried, in seconds.
const CORRELATION_TIMES: [f64; 7] = [3.0, 6.0, 12.0, 24.0, 48.0, 96.0, 192.0];

/// Most series that are used. The work grows with the square of their number, while all of them
/// show the same drift.
const MAX_SERIES: usize = 24;

/// Most values of a series that are used: at the usual pace, ten of the longest correlation times.
const MAX_VALUES: usize = 400;

/// Fewest values, of all series together, that say anything about a drift.
const MIN_VALUES: usize = 5;

/// Fewest degrees of freedom that are assumed. The longest correlation time is no longer than the
/// run, so even then the run is worth about three independent values.
const MIN_DEGREES: f64 = 2.0;

/// One value of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timed {
    /// The moment it was measured, in seconds.
    pub at: f64,
    /// The value; the logarithm, if it is a rate.
    pub value: f64,
}

/// The drift that several series share: a probability for each point of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Drift {
    /// One for each correlation time that is no longer than the run.
    by_time: Vec<TimeWeights>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct TimeWeights {
    /// The correlation time in seconds.
    correlation_time: f64,
    /// The probability of each of [`SHARES`], together with this time.
    weights: [f64; SHARES.len()],
}

impl Drift {
    /// Estimates the drift that `series` share; `None` if they have too few values that differ, or
    /// the run is shorter than any correlation time.
    pub fn new(series: &[Vec<Timed>]) -> Option<Drift> {
        let observed = Observations::new(series)?;
        let mut by_time = Vec::new();
        for correlation_time in CORRELATION_TIMES {
            if correlation_time <= observed.span {
                let weights = SHARES.map(|share| observed.log_likelihood(share, correlation_time));
                by_time.push(TimeWeights { correlation_time, weights });
            }
        }
        weigh_by_likelihood(&mut by_time);
        Some(Drift { by_time })
    }

    /// The most likely share of the variance that drifts, from 0 to 1, and the most likely
    /// correlation time in seconds.
    pub fn most_likely(&self) -> (f64, f64) {
        let candidates = self.by_time.iter().flat_map(|time| {
            let pairs = SHARES.iter().zip(time.weights);
            pairs.map(|(share, weight)| (weight, *share, time.correlation_time))
        });
        let best = candidates.max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or((0.0, 0.0), |(_, share, time)| (share, time))
    }

    /// The factor by which drift widens the 95 % interval of the median of values measured at
    /// `times`.
    ///
    /// Each value may be a mean over `averaged` series: their own noise averages out, the drift
    /// that they share does not.
    pub fn widening(&self, times: &[f64], averaged: f64) -> f64 {
        let n = times.len() as f64;
        self.widening_by(n, averaged, |correlation_time| mean_correlation(times, correlation_time))
    }

    /// [`Drift::widening`] for `count` values measured `step` seconds apart.
    pub fn widening_every(&self, count: u32, step: f64, averaged: f64) -> f64 {
        let n = f64::from(count);
        self.widening_by(n, averaged, |time| regular_mean_correlation(n, step, time))
    }

    /// The factor by which drift raises the variance of the median of values measured at `times`,
    /// over that of independent values with as much noise. `averaged` is as in [`Drift::widening`].
    pub fn inflation(&self, times: &[f64], averaged: f64) -> f64 {
        let n = times.len() as f64;
        let correlation = |correlation_time| mean_correlation(times, correlation_time);
        self.expectation(averaged, correlation, |common| 1.0 + (n - 1.0) * common)
    }

    fn widening_by(&self, n: f64, averaged: f64, correlation: impl Fn(f64) -> f64) -> f64 {
        if n < 2.0 {
            return 1.0;
        }
        // Values that have much in common also scatter less than they should, by 1 − `common`.
        let inflation = self.expectation(averaged, correlation, |common| {
            (1.0 + (n - 1.0) * common) / (1.0 - common)
        });
        let degrees = (n / inflation - 1.0).max(MIN_DEGREES);
        let usual_degrees = (n - 1.0).max(degrees);
        let quantile_ratio =
            student_quantile(0.05, degrees) / student_quantile(0.05, usual_degrees);
        inflation.sqrt() * quantile_ratio.max(1.0)
    }

    /// The expectation of a statistic of how much two values have in common on average: the share
    /// of the drift in their variance, times the mean of its autocorrelation over all pairs.
    fn expectation(
        &self,
        averaged: f64,
        correlation: impl Fn(f64) -> f64,
        statistic: impl Fn(f64) -> f64,
    ) -> f64 {
        let mut expectation = 0.0;
        for time in &self.by_time {
            let correlation = correlation(time.correlation_time);
            for (share, weight) in SHARES.iter().zip(time.weights) {
                let drift_share = share / (share + (1.0 - share) / averaged);
                expectation += weight * statistic(drift_share * correlation);
            }
        }
        expectation
    }
}

/// Turns logarithms of likelihoods into probabilities.
fn weigh_by_likelihood(by_time: &mut [TimeWeights]) {
    // The largest becomes 1 first: the likelihoods themselves are too small for a number.
    let all = by_time.iter().flat_map(|time| time.weights);
    let largest = all.fold(f64::NEG_INFINITY, f64::max);

    let mut sum = 0.0;
    for time in &mut *by_time {
        for (weight, share) in time.weights.iter_mut().zip(SHARES) {
            *weight = (*weight - largest).exponential() * prior(share);
            sum += *weight;
        }
    }
    for time in by_time {
        time.weights = time.weights.map(|weight| weight / sum);
    }
}

/// The probability of a share before the data, up to a factor: no drift is as likely as all other
/// shares together.
fn prior(share: f64) -> f64 {
    let others = (SHARES.len() - 1) as f64;
    if share == 0.0 { 1.0 } else { 1.0 / others }
}

/// The mean of the autocorrelation over all pairs of `times`, which are in order.
fn mean_correlation(times: &[f64], correlation_time: f64) -> f64 {
    // The correlations of a value with all earlier ones are those of the value before it, and 1 for
    // that value itself, all decayed by the time in between.
    let mut with_earlier = 0.0;
    let mut sum = 0.0;
    for pair in times.windows(2) {
        let decay = ((pair[0] - pair[1]).min(0.0) / correlation_time).exponential();
        with_earlier = (with_earlier + 1.0) * decay;
        sum += with_earlier;
    }
    let n = times.len() as f64;
    sum / (n * (n - 1.0) / 2.0)
}

/// [`mean_correlation`] of `n` values `step` seconds apart, in closed form:
/// Σ 2 (n − k) rᵏ / (n (n − 1)), where r is the correlation of neighbours.
fn regular_mean_correlation(n: f64, step: f64, correlation_time: f64) -> f64 {
    let r = (-step / correlation_time).exponential();
    let sum = n * r / (1.0 - r) - r * (1.0 - r.to_the_power(n)) / (1.0 - r).powi(2);
    2.0 * sum / (n * (n - 1.0))
}

/// The values of all series, standardised and in the order of time.
struct Observations {
    values: Vec<Observation>,
    /// Number of series.
    series: usize,
    /// Seconds from the first value to the last.
    span: f64,
}

struct Observation {
    /// The number of its series.
    series: usize,
    at: f64,
    value: f64,
}

impl Observations {
    fn new(series: &[Vec<Timed>]) -> Option<Observations> {
        let mut usable: Vec<Vec<Timed>> =
            series.iter().filter_map(|values| standardise(values)).collect();
        // The longest series show most of the drift.
        usable.sort_by_key(|values| std::cmp::Reverse(values.len()));
        usable.truncate(MAX_SERIES);

        let mut values = Vec::new();
        for (series, timed) in usable.iter().enumerate() {
            for Timed { at, value } in timed.iter().copied().take(MAX_VALUES) {
                values.push(Observation { series, at, value });
            }
        }
        values.sort_by(|a, b| a.at.total_cmp(&b.at));

        let span = values.last()?.at - values.first()?.at;
        let has_enough = values.len() >= MIN_VALUES.max(2 * usable.len());
        let is_long_enough = span > CORRELATION_TIMES[0];
        (has_enough && is_long_enough).then_some(Observations {
            values,
            series: usable.len(),
            span,
        })
    }

    /// The logarithm of the restricted likelihood of a share and a correlation time, up to a
    /// constant: −½ ((N − K) ln Q + Σ ln F + ln |X′V⁻¹X|) for N values of K series.
    ///
    /// F is the variance of each value given the ones before it, V that of all of them. Column k of
    /// X is 1 for the values of series k. Q is the sum of squares that the means leave; the scale
    /// of the noise is profiled out.
    ///
    /// The filter predicts every column of X, and the values as one more column, from the past. The
    /// cross products of its errors are the matrix whose Cholesky factor has the last two terms.
    fn log_likelihood(&self, share: f64, correlation_time: f64) -> f64 {
        let columns = self.series + 1;
        let mut predictions = vec![0.0; columns];
        let mut errors = vec![0.0; columns];
        let mut products = LowerTriangle::new(columns);
        let mut log_variances = 0.0;

        // The variance of the speed, given the values so far.
        let mut speed_variance = share;
        let mut last = self.values[0].at;
        for Observation { series, at, value } in &self.values {
            // Time passes: the speed is forgotten, and its variance returns to `share`.
            let decay = (-(at - last) / correlation_time).exponential();
            last = *at;
            speed_variance = decay * decay * speed_variance + share * (1.0 - decay * decay);

            // The value comes in: each column learns from its error.
            let value_variance = speed_variance + 1.0 - share;
            let gain = speed_variance / value_variance;
            for column in 0..columns {
                let is_value = column == self.series;
                let entry = if is_value { *value } else { f64::from(u8::from(column == *series)) };
                predictions[column] *= decay;
                errors[column] = entry - predictions[column];
                predictions[column] += gain * errors[column];
            }
            speed_variance -= gain * speed_variance;

            log_variances += value_variance.natural_log();
            products.add_product(&errors, value_variance);
        }

        let pivots = products.into_cholesky_pivots();
        let (q, others) = (pivots[self.series], &pivots[..self.series]);
        let log_determinant: f64 = others.iter().map(|pivot| pivot.natural_log()).sum();
        let degrees = (self.values.len() - self.series) as f64;
        -0.5 * (degrees * q.natural_log() + log_variances + log_determinant)
    }
}

/// The values about their median in units of their Qₙ; `None` if they do not differ, or one is not
/// a number.
fn standardise(series: &[Timed]) -> Option<Vec<Timed>> {
    let values: Vec<f64> = series.iter().map(|timed| timed.value).collect();
    let standard = Standard::new(&values)?;
    let deviation = |timed: &Timed| Timed { value: standard.deviation(timed.value), ..*timed };
    Some(series.iter().map(deviation).collect())
}

/// The lower triangle of a symmetric matrix, row by row; what is above the diagonal stays 0.
struct LowerTriangle {
    size: usize,
    entries: Vec<f64>,
}

impl LowerTriangle {
    fn new(size: usize) -> LowerTriangle {
        LowerTriangle { size, entries: vec![0.0; size * size] }
    }

    fn at(&self, row: usize, column: usize) -> f64 {
        self.entries[row * self.size + column]
    }

    /// Adds the product of `vector` and its transpose, divided by `divisor`.
    fn add_product(&mut self, vector: &[f64], divisor: f64) {
        for (row, first) in vector.iter().enumerate() {
            let first = first / divisor;
            let start = row * self.size;
            let entries = &mut self.entries[start..=start + row];
            for (entry, second) in entries.iter_mut().zip(vector) {
                *entry += first * second;
            }
        }
    }

    /// The squared diagonal of the Cholesky factor. A pivot that rounding makes 0 or negative
    /// becomes the smallest positive number.
    fn into_cholesky_pivots(mut self) -> Vec<f64> {
        let mut pivots = Vec::new();
        for row in 0..self.size {
            for column in 0..row {
                let rest = self.at(row, column) - self.dot(row, column);
                self.entries[row * self.size + column] = rest / self.at(column, column);
            }
            let pivot = (self.at(row, row) - self.dot(row, row)).max(f64::MIN_POSITIVE);
            self.entries[row * self.size + row] = pivot.sqrt();
            pivots.push(pivot);
        }
        pivots
    }

    /// The product of the two rows left of `column`.
    fn dot(&self, row: usize, column: usize) -> f64 {
        (0..column).map(|k| self.at(row, k) * self.at(column, k)).sum()
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;
    use testing::{Wandering, allowed, normal, simulated};

    use super::*;
    use crate::{Mean, median};

    /// Series of a machine whose speed wanders, measured in turn, one value every 0.6 s.
    fn machine(
        random: &mut Pcg64Mcg,
        (share, time): (f64, f64),
        (series, blocks): (usize, usize),
    ) -> Vec<Vec<Timed>> {
        let mut all = vec![Vec::new(); series];
        let (mut speed, mut at) = (Wandering::new(random, time), 0.0);
        for _ in 0..blocks {
            for one in &mut all {
                at += 0.6;
                let value =
                    share.sqrt() * speed.after(random, 0.6) + (1.0 - share).sqrt() * normal(random);
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
                .map(|_| {
                    Drift::new(&machine(&mut random, (share, time), (12, 32)))
                        .unwrap()
                        .most_likely()
                })
                .collect();
            let shares = median(&found.iter().map(|one| one.0).collect::<Vec<f64>>());
            let times = median(&found.iter().map(|one| one.1).collect::<Vec<f64>>());
            assert!((shares - share).abs() < 0.12, "{share}, {time}: {shares}");
            assert!(
                share == 0.0 || (0.6..1.6).contains(&(times / time)),
                "{share}, {time}: {times}"
            );
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

    /// Student's interval of one series, and of the mean of all in each block, as wide as the drift
    /// asks for.
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
                    let block = |place: usize| {
                        series.iter().map(|one| one[place].value).sum::<f64>() / tests as f64
                    };
                    let index: Vec<f64> = (0..blocks).map(block).collect();
                    let one: Vec<f64> = series[0].iter().map(|value| value.value).collect();
                    let times: Vec<f64> = series[0].iter().map(|value| value.at).collect();
                    for (place, (values, own)) in
                        [(one, 1.0), (index, tests as f64)].iter().enumerate()
                    {
                        let mean = Mean::new(values);
                        let half = mean.half_width(0.05);
                        covered[place][0] += u32::from(mean.value.abs() <= half);
                        covered[place][1] +=
                            u32::from(mean.value.abs() <= half * drift.widening(&times, *own));
                    }
                }
                let [one, index] =
                    covered.map(|pair| pair.map(|count| f64::from(count) / rounds as f64));
                let what = format!("{share}, {time} s, {blocks} blocks: {one:?}, {index:?}");
                // A run that is hardly longer than the correlation time cannot know of it.
                let least = if 7.2 * blocks as f64 > 3.0 * time { 0.92 } else { 0.85 };
                assert!(allowed(least..0.995).contains(&one[1]), "{what}");
                assert!(allowed(least - 0.05..0.995).contains(&index[1]), "{what}");
                assert!(
                    share < 0.5 || index[0] < allowed(0.5..0.75).end,
                    "nothing to widen: {what}"
                );
            }
        }
    }
}
