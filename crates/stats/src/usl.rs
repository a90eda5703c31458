//! Fits the Universal Scalability Law to throughputs at several numbers of copies.
//!
//! The law, X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther 1993), is found in two steps ([`solve`]).
//! N/X(N) = (1 + σ(N−1) + κN(N−1))/λ is linear in 1/λ, σ/λ and κ/λ ([`LinearForm`]), which are
//! fitted by least squares of relative errors; from there Gauss–Newton minimises the squares of the
//! errors of ln X, so that too much and too little weigh alike. Nothing holds σ or κ above zero.
//!
//! The intervals ([`refit_resamples`], [`percentiles`]): every block has a speed of its own that
//! all of its trials share, and that cancels in the differences between the levels of a block. Only
//! these give the gains, and so the totals and the intervals. Whole blocks are resampled, the gains
//! over the first level are found again (Hodges & Lehmann 1963), and the law is fitted to those.
//! The percentiles of these laws are stretched by √(n/(n−1)) and by Student's quantile over the
//! normal one, since bootstraps of few blocks are too narrow (docs/methodology.md).

use super::bootstrap::{BlockSampler, resample_count, small_sample_stretch};
use super::{
    ByBlock, Estimate, NORMAL_975, block_differences, mean, median, pseudo_median, quantile_975,
    without_blocks,
};
use crate::Exact;

/// Gauss–Newton steps; a handful are enough.
const MAX_STEPS: u32 = 50;

/// Lengths of a step that are tried, each half of the one before, until one lowers the loss.
const MAX_STEP_LENGTHS: u32 = 30;

/// A step that would lower the loss by no more is not taken, and ends the search.
const MIN_DECREASE: f64 = 1e-15;

/// A parameter of this size is zero but for rounding.
const ROUNDING_ERROR: f64 = 1e-12;

/// Lower peaks are not distinguished: the second copy lowers the throughput already.
const MIN_PEAK: f64 = 0.01;

/// The law has an interval if this share of the resamples has a law.
const MIN_SOLVED_SHARE: f64 = 0.95;

/// The parameters of the law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// λ: the throughput of one copy alone.
    pub lambda: f64,
    /// σ, contention: the share of the work that copies do one after another. Negative if they help
    /// each other.
    pub sigma: f64,
    /// κ, coherency: the cost of each pair of copies. With κ = 0 the law is Amdahl's.
    pub kappa: f64,
}

impl Usl {
    /// The throughput of this many copies.
    pub fn at(&self, copies: f64) -> f64 {
        let others = copies - 1.0;
        self.lambda * copies / (1.0 + self.sigma * others + self.kappa * copies * others)
    }

    /// The number of copies with the highest throughput, √((1−σ)/κ). Below 1 if the second copy
    /// lowers it already; `None` if more copies always bring more.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt())
    }
}

/// The throughput at one number of copies.
#[derive(Debug, Clone, Copy)]
pub struct Throughput<'a> {
    pub copies: f64,
    /// The total of all copies. For levels after the first it is the first level's total times the
    /// gain (docs/methodology.md).
    pub total: f64,
    /// The total of each trial, by its block.
    pub trials: &'a [(u32, f64)],
}

/// A law with its intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UslFit {
    pub law: Usl,
    pub sigma: Estimate,
    /// `None` if there are two levels, to which Amdahl's law is fitted.
    pub kappa: Option<Estimate>,
    /// The peak, if the law has one. Its upper end is infinite if too many resamples have none.
    pub peak: Option<Estimate>,
    /// The share of the variance of the logarithms that the law explains.
    pub r2: f64,
    /// The number of copies that the law misses most, and by which share of the measured total.
    pub worst: (f64, f64),
}

/// A level: its number of copies and their total.
#[derive(Debug, Clone, Copy)]
struct Point {
    copies: f64,
    total: f64,
}

/// Fits the law: three parameters from three levels on, Amdahl's two to two levels. `None` if there
/// are fewer, or no positive throughput of one copy fits. No interval if a level shares fewer than
/// two blocks with the first.
pub fn fit_usl(levels: &[Throughput<'_>]) -> Option<UslFit> {
    let parameters = levels.len().min(3);
    let points: Vec<Point> =
        levels.iter().map(|level| Point { copies: level.copies, total: level.total }).collect();
    let law = solve(&points, parameters)?;

    let gains = log_gains(levels);
    let resampled = refit_resamples(levels, &gains, parameters);
    // Resampling whole blocks shows no more than the blocks do, however many levels each has.
    let degrees = gains.iter().map(|gain| gain.len().saturating_sub(1)).min().unwrap_or(0);
    // Percentiles of resamples correspond to the normal quantile.
    let stretch = quantile_975(degrees as f64) / NORMAL_975;
    let interval = |value: f64, parameter: &dyn Fn(&Usl) -> f64| match &resampled {
        Some(laws) => percentiles(value, laws.iter().map(parameter).collect(), stretch),
        None => Estimate::alone(value),
    };

    let peak = law.peak().map(|peak| {
        if resampled.is_none() {
            return Estimate::alone(peak);
        }
        // Peaks are quotients: they are symmetric on a logarithmic scale, if at all.
        let logs = interval(peak.max(MIN_PEAK).natural_log(), &|law| {
            law.peak().map_or(f64::INFINITY, |peak| peak.max(MIN_PEAK).natural_log())
        });
        Estimate { value: peak, low: logs.low.exponential(), high: logs.high.exponential() }
    });
    Some(UslFit {
        law,
        sigma: interval(law.sigma, &|law| law.sigma),
        kappa: (parameters == 3).then(|| interval(law.kappa, &|law| law.kappa)),
        peak,
        r2: r_squared(&law, &points),
        worst: worst_miss(&law, &points),
    })
}

/// The points in the form that is linear in x = (1/λ, σ/λ, κ/λ): `basis`·x = `times`.
struct LinearForm {
    /// The factors of x at each point.
    basis: Vec<[f64; 3]>,
    /// N/X(N): the seconds that a copy takes per unit of work.
    times: Vec<f64>,
}

impl LinearForm {
    fn new(points: &[Point]) -> LinearForm {
        let basis = points
            .iter()
            .map(|point| [1.0, point.copies - 1.0, point.copies * (point.copies - 1.0)])
            .collect();
        let times = points.iter().map(|point| point.copies / point.total).collect();
        LinearForm { basis, times }
    }

    /// The factors of each point, divided by a number for that point.
    fn basis_over(&self, divisors: &[f64]) -> Vec<[f64; 3]> {
        self.basis
            .iter()
            .zip(divisors)
            .map(|(row, divisor)| row.map(|factor| factor / divisor))
            .collect()
    }

    /// The times by the law with these parameters.
    fn predict_times(&self, x: &[f64; 3]) -> Vec<f64> {
        self.basis.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// The errors of the law, as logarithms of time ÷ predicted time. Infinite if a predicted time
    /// is not positive.
    fn log_errors(&self, x: &[f64; 3]) -> Vec<f64> {
        let predicted = self.predict_times(x);
        predicted
            .into_iter()
            .zip(&self.times)
            .map(
                |(predicted, time)| {
                    if predicted > 0.0 { (time / predicted).natural_log() } else { f64::INFINITY }
                },
            )
            .collect()
    }

    /// The sum of the squared errors.
    fn loss(&self, x: &[f64; 3]) -> f64 {
        self.log_errors(x).iter().map(|error| error * error).sum()
    }
}

/// The law of the points, with two parameters or three, in two steps. `None` if a total is not
/// positive, if the points do not determine the parameters, or if λ is not positive.
fn solve(points: &[Point], parameters: usize) -> Option<Usl> {
    let is_usable =
        |point: &Point| point.copies >= 1.0 && point.total.is_finite() && point.total > 0.0;
    if parameters < 2 || !points.iter().all(is_usable) {
        return None;
    }

    // Relative errors: every row is divided by its time, and every target is 1.
    let form = LinearForm::new(points);
    let targets = vec![1.0; points.len()];
    let mut x = least_squares(&form.basis_over(&form.times), &targets, parameters)?;
    // Where a predicted time is not positive, it has no logarithm: begin with linear scaling.
    if !form.loss(&x).is_finite() {
        x = [median(&form.times), 0.0, 0.0];
    }

    for _ in 0..MAX_STEPS {
        let rows = form.basis_over(&form.predict_times(&x));
        let step = least_squares(&rows, &form.log_errors(&x), parameters)?;
        let loss = form.loss(&x);
        let lower = (0..MAX_STEP_LENGTHS)
            .map(|halvings| 0.5_f64.powi(halvings as i32))
            .map(|share| [0, 1, 2].map(|k| x[k] + share * step[k]))
            .find(|next| form.loss(next) < loss);
        match lower {
            Some(next) if loss - form.loss(&next) > MIN_DECREASE => x = next,
            _ => break,
        }
    }

    let [sigma, kappa] = [x[1] / x[0], x[2] / x[0]]
        .map(|value| if value.abs() < ROUNDING_ERROR { 0.0 } else { value });
    (x[0] > 0.0).then(|| Usl { lambda: 1.0 / x[0], sigma, kappa })
}

/// Solves `rows`·x = `targets` for the first `columns` of x, by modified Gram–Schmidt (Björck,
/// Numerical Methods for Least Squares Problems, §2.4). `None` if columns depend on each other.
fn least_squares(rows: &[[f64; 3]], targets: &[f64], columns: usize) -> Option<[f64; 3]> {
    let mut vectors: Vec<Vec<f64>> =
        (0..columns).map(|k| rows.iter().map(|row| row[k]).collect()).collect();
    let mut targets = targets.to_vec();

    // The rows become an orthonormal basis times the triangular r, the targets that basis times y.
    let mut r = [[0.0; 3]; 3];
    let mut y = [0.0; 3];
    for k in 0..columns {
        let square: f64 =
            dot(&vectors[k], &vectors[k]) + (0..k).map(|j| r[j][k] * r[j][k]).sum::<f64>();
        let length = dot(&vectors[k], &vectors[k]).sqrt();
        if !(length.is_finite() && length > 1e-9 * square.sqrt()) {
            return None;
        }

        r[k][k] = length;
        let unit: Vec<f64> = vectors[k].iter().map(|value| value / length).collect();
        for j in k + 1..columns {
            r[k][j] = remove_component(&mut vectors[j], &unit);
        }
        y[k] = remove_component(&mut targets, &unit);
    }

    let mut x = [0.0; 3];
    for k in (0..columns).rev() {
        x[k] = (y[k] - (k + 1..columns).map(|j| r[k][j] * x[j]).sum::<f64>()) / r[k][k];
    }
    Some(x)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Makes a vector orthogonal to a unit vector; returns the component that is removed.
fn remove_component(vector: &mut [f64], unit: &[f64]) -> f64 {
    let component = dot(unit, vector);
    for (value, unit) in vector.iter_mut().zip(unit) {
        *value -= component * unit;
    }
    component
}

/// For each level after the first, the logarithms of its gains over the first, in the blocks that
/// both have.
fn log_gains(levels: &[Throughput<'_>]) -> Vec<ByBlock> {
    let mut logs = levels.iter().map(|level| -> ByBlock {
        level.trials.iter().map(|(block, total)| (*block, total.natural_log())).collect()
    });
    let Some(first) = logs.next() else {
        return Vec::new();
    };
    logs.map(|level| block_differences(&level, &first)).collect()
}

/// Laws that are fitted to resampled blocks. `None` if a level shares fewer than two blocks with
/// the first, or too few resamples have a law.
fn refit_resamples(
    levels: &[Throughput<'_>],
    gains: &[ByBlock],
    parameters: usize,
) -> Option<Vec<Usl>> {
    if gains.iter().any(|gain| gain.len() < 2) {
        return None;
    }

    let count = resample_count(gains.iter().map(Vec::len).sum());
    let mut sampler = BlockSampler::new(gains.iter().map(Vec::as_slice));
    let centres: Vec<f64> = gains.iter().map(|gain| pseudo_median(&without_blocks(gain))).collect();
    let mut laws = Vec::new();
    for _ in 0..count {
        let blocks = sampler.draw();
        let mut points = vec![Point { copies: levels[0].copies, total: levels[0].total }];
        for (place, (level, centre)) in levels[1..].iter().zip(&centres).enumerate() {
            let drawn = sampler.take(&blocks, place);
            let deviation = (pseudo_median(&drawn) - centre) * small_sample_stretch(drawn.len());
            let total = level.total * deviation.exponential();
            points.push(Point { copies: level.copies, total });
        }
        laws.extend(solve(&points, parameters));
    }
    (laws.len() as f64 >= MIN_SOLVED_SHARE * count as f64).then_some(laws)
}

/// `value` with the 2.5 % and 97.5 % percentiles of resampled values, their distances from it
/// stretched.
fn percentiles(value: f64, mut resampled: Vec<f64>, stretch: f64) -> Estimate {
    resampled.sort_by(f64::total_cmp);
    // Both places lie within the sample.
    let last = resampled.len() as f64 - 1.0;
    let low = resampled[(0.025 * last).floor() as usize];
    let high = resampled[(0.975 * last).ceil() as usize];
    Estimate {
        value,
        low: value - (value - low).max(0.0) * stretch,
        high: value + (high - value).max(0.0) * stretch,
    }
}

/// The share of the variance of the totals' logarithms that the law explains.
fn r_squared(law: &Usl, points: &[Point]) -> f64 {
    let logs: Vec<f64> = points.iter().map(|point| point.total.natural_log()).collect();
    let mean = mean(&logs);
    let residual: f64 =
        points.iter().map(|point| (point.total / law.at(point.copies)).natural_log().powi(2)).sum();
    1.0 - residual / logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
}

/// The number of copies that the law misses most, and by which share of the measured total.
fn worst_miss(law: &Usl, points: &[Point]) -> (f64, f64) {
    points
        .iter()
        .map(|point| (point.copies, law.at(point.copies) / point.total - 1.0))
        .max_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))
        .unwrap_or((0.0, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(totals: &[(f64, f64)]) -> Vec<Throughput<'static>> {
        totals
            .iter()
            .map(|(copies, total)| Throughput { copies: *copies, total: *total, trials: &[] })
            .collect()
    }

    /// Lbench's published figures per thread, times threads. By hand of N/X: for memory 0.25, 0.4
    /// and 0.714286, so σ + 2κ = 0.6 and 3σ + 12κ = 1.857143; for the mutex 0.025, 0.142857 and
    /// 0.729927.
    #[test]
    fn published_figures() {
        let memory = fit_usl(&points(&[(1.0, 4.0), (2.0, 5.0), (4.0, 5.6)])).unwrap();
        assert!(
            (memory.law.sigma - 0.580_952).abs() < 1e-6
                && (memory.law.kappa - 0.009_524).abs() < 1e-6
        );
        assert!(
            (memory.law.lambda - 4.0).abs() < 1e-9
                && memory.r2 > 0.999_999
                && memory.worst.1.abs() < 1e-9
        );
        let peak = memory.peak.unwrap();
        assert!((peak.value - 6.633).abs() < 1e-3 && !peak.bounded());
        assert!((memory.law.at(peak.value) / memory.law.at(1.0) - 1.43).abs() < 0.005);
        let mutex = fit_usl(&points(&[(1.0, 40.0), (2.0, 14.0), (4.0, 5.48)])).unwrap();
        assert!((mutex.law.sigma - 0.029_5).abs() < 1e-3 && (mutex.law.kappa - 2.342).abs() < 1e-3);
        assert!(mutex.law.peak().unwrap() < 1.0);
    }

    /// 1, 2 and 4 copies at 100, 160 and 240: Amdahl's law of λ = 100 has 1.6 = 2/(1 + σ), so σ =
    /// 0.25.
    #[test]
    fn two_levels_are_amdahls() {
        let fit = fit_usl(&points(&[(1.0, 100.0), (2.0, 160.0)])).unwrap();
        assert!((fit.law.sigma - 0.25).abs() < 1e-12 && fit.law.kappa == 0.0);
        assert_eq!((fit.kappa, fit.peak), (None, None));
        // From 2 to 4 copies alone: 2/(1 + σ) and 4/(1 + 3σ) of λ.
        let fit = fit_usl(&points(&[(2.0, 160.0), (4.0, 400.0 / 1.75)])).unwrap();
        assert!((fit.law.sigma - 0.25).abs() < 1e-9 && (fit.law.lambda - 100.0).abs() < 1e-7);
        assert_eq!(fit_usl(&points(&[(1.0, 5.0)])), None);
    }

    #[test]
    fn nothing_is_clamped() {
        let planted = Usl { lambda: 7.0, sigma: -0.06, kappa: 0.004 };
        let totals: Vec<(f64, f64)> =
            [1.0, 2.0, 3.0, 4.0, 6.0, 8.0].map(|n| (n, planted.at(n))).to_vec();
        let fit = fit_usl(&points(&totals)).unwrap();
        assert!((fit.law.sigma + 0.06).abs() < 1e-9 && (fit.law.kappa - 0.004).abs() < 1e-9);
        // Copies that do not touch each other have no parameters, and so no peak far away.
        let fit = fit_usl(&points(&[(1.0, 12.2), (2.0, 24.4), (4.0, 48.8)])).unwrap();
        assert_eq!((fit.law.sigma, fit.law.kappa, fit.peak), (0.0, 0.0, None));
        let rising = Usl { lambda: 7.0, sigma: 0.05, kappa: -0.001 };
        let totals: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0].map(|n| (n, rising.at(n))).to_vec();
        let fit = fit_usl(&points(&totals)).unwrap();
        assert!(fit.kappa.unwrap().value < 0.0 && fit.peak.is_none());
    }

    #[test]
    fn what_cannot_be_fitted() {
        for totals in
            [[0.0, 1.0, 2.0], [f64::NAN, 1.0, 2.0], [1.0, f64::INFINITY, 2.0], [1.0, -1.0, 2.0]]
        {
            let totals: Vec<(f64, f64)> = [1.0, 2.0, 4.0].into_iter().zip(totals).collect();
            assert_eq!(fit_usl(&points(&totals)), None);
        }
        assert_eq!(
            fit_usl(&points(&[(2.0, 1.0), (2.0, 1.0), (2.0, 3.0)])),
            None,
            "one level thrice"
        );
        // Wild figures have a law or none, but no panic, also far out.
        for totals in
            [[(1.0, 1.0), (2.0, 1e9), (4.0, 1e-9)], [(64.0, 1.0), (1024.0, 2.0), (65_536.0, 3.0)]]
        {
            if let Some(fit) = fit_usl(&points(&totals)) {
                assert!(fit.law.lambda > 0.0 && fit.law.sigma.is_finite());
            }
        }
    }
}
