//! The Universal Scalability Law, fitted to throughputs at several numbers of copies.

use super::bootstrap::{Blocks, resamples, stretch};
use super::{
    ByBlock, Estimate, NORMAL_975, block_differences, mean, median, pseudo_median, quantile_975, without_blocks,
};
use crate::Exact;

/// Steps of Gauss and Newton, at most; a handful serve.
const STEPS: u32 = 50;
/// The most halvings of a step that leads astray.
const HALVINGS: u32 = 30;
/// The rest that rounding leaves of a parameter that is zero.
const DUST: f64 = 1e-12;
/// Peaks below this are not distinguished further: a second copy lowers the throughput.
const LEAST: f64 = 0.01;
/// Share of the resamples that must have a law, if it is to have an interval.
const ENOUGH: f64 = 0.95;

/// X(N) = λN / (1 + σ(N−1) + κN(N−1)) (Gunther 1993).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// λ: the throughput of one copy alone.
    pub lambda: f64,
    /// σ: the share of the work that copies do one after another; negative where they help each other.
    pub sigma: f64,
    /// κ: what each pair of copies costs for staying coherent. Without it the law is Amdahl's.
    pub kappa: f64,
}

impl Usl {
    /// Returns the throughput of this many copies.
    pub fn at(&self, copies: f64) -> f64 {
        let others = copies - 1.0;
        self.lambda * copies / (1.0 + self.sigma * others + self.kappa * copies * others)
    }

    /// Returns √((1−σ)/κ), the number of copies with the highest throughput: below 1 where the second copy lowers it
    /// already, and none where more copies always bring more.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt())
    }
}

/// The throughput at one number of copies.
#[derive(Debug, Clone, Copy)]
pub struct Throughput<'a> {
    /// The number of copies.
    pub copies: f64,
    /// The total: of the levels after the first, that of the first times the gain (docs/methodology.md).
    pub total: f64,
    /// The total of each trial, by its block.
    pub trials: &'a [(u32, f64)],
}

/// A law with its intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UslFit {
    /// The law.
    pub law: Usl,
    /// σ.
    pub sigma: Estimate,
    /// κ; unknown of two levels, where Amdahl's law is fitted.
    pub kappa: Option<Estimate>,
    /// The peak, where the law has one; its upper end is infinite where some of what the trials allow has none.
    pub peak: Option<Estimate>,
    /// Share of the variance of the logarithms that the law accounts for.
    pub r2: f64,
    /// The number of copies that the law misses most, and by which share of what was measured.
    pub worst: (f64, f64),
}

/// Fits the law, with three parameters from three levels on and Amdahl's two for two levels; nothing where there are
/// fewer, or where no positive throughput of one copy fits.
///
/// N/X(N) = (1 + σ(N−1) + κN(N−1))/λ is linear in 1/λ, σ/λ and κ/λ: they are fitted by least squares of relative
/// errors, and from there by Gauss–Newton on ln X, so that too much and too little weigh alike. Nothing holds σ or κ
/// above zero.
///
/// Every block has a speed of its own that all of its trials share. It is in the differences between the levels of a
/// block no more, and of these alone are gains, and so the totals, and the intervals: whole blocks are resampled 1000
/// times, the gains over the first level are found again (Hodges & Lehmann 1963) and the law is fitted to those. The
/// percentiles of these laws are drawn apart by √(n/(n−1)) and by Student's quantile over the normal one, since
/// bootstraps of few blocks are too narrow (docs/methodology.md). A level that shares fewer than two blocks with the
/// first leaves no interval.
pub fn fit_usl(levels: &[Throughput<'_>]) -> Option<UslFit> {
    let parameters = levels.len().min(3);
    let points: Vec<(f64, f64)> = levels.iter().map(|level| (level.copies, level.total)).collect();
    let law = solve(&points, parameters)?;
    let gains = gains(levels);
    let again = refits(levels, &gains, parameters);
    // Resamples of whole blocks show no more than the blocks do, however many levels each has.
    let degrees = gains.iter().map(|gain| gain.len().saturating_sub(1)).min().unwrap_or(0);
    // What percentiles of resamples stand for is the normal quantile.
    let wider = quantile_975(degrees as f64) / NORMAL_975;
    let interval = |value: f64, of: &dyn Fn(&Usl) -> f64| match &again {
        Some(laws) => percentiles(value, laws.iter().map(of).collect(), wider),
        None => Estimate::alone(value),
    };
    Some(UslFit {
        law,
        sigma: interval(law.sigma, &|law| law.sigma),
        kappa: (parameters == 3).then(|| interval(law.kappa, &|law| law.kappa)),
        peak: law.peak().map(|peak| match again {
            // Peaks are quotients: they are symmetric on a logarithmic scale, if at all.
            Some(_) => {
                let logs = interval(peak.max(LEAST).natural_log(), &|law| {
                    law.peak().map_or(f64::INFINITY, |at| at.max(LEAST).natural_log())
                });
                Estimate { value: peak, low: logs.low.exponential(), high: logs.high.exponential() }
            }
            None => Estimate::alone(peak),
        }),
        r2: r_squared(&law, &points),
        worst: worst(&law, &points),
    })
}

/// The points of a law, made linear in 1/λ, σ/λ and κ/λ.
struct Linear {
    /// The factors of those three at each point.
    basis: Vec<[f64; 3]>,
    /// The seconds that a copy takes per unit of work.
    times: Vec<f64>,
}

impl Linear {
    fn new(points: &[(f64, f64)]) -> Linear {
        let basis = points.iter().map(|(n, _)| [1.0, n - 1.0, n * (n - 1.0)]).collect();
        Linear { basis, times: points.iter().map(|(copies, total)| copies / total).collect() }
    }

    /// Returns the factors of each point over a number.
    fn divided(&self, by: &[f64]) -> Vec<[f64; 3]> {
        self.basis.iter().zip(by).map(|(row, by)| row.map(|cell| cell / by)).collect()
    }

    /// Returns the times that a law with these parameters gives.
    fn model(&self, x: &[f64; 3]) -> Vec<f64> {
        self.basis.iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }

    /// Returns the logarithms by which that law misses the times.
    fn misses(&self, x: &[f64; 3]) -> Vec<f64> {
        let said = self.model(x).into_iter().zip(&self.times);
        said.map(|(said, is)| if said > 0.0 { (is / said).natural_log() } else { f64::INFINITY }).collect()
    }

    /// Returns the sum of their squares.
    fn loss(&self, x: &[f64; 3]) -> f64 {
        self.misses(x).iter().map(|miss| miss * miss).sum()
    }
}

/// Returns the law of the points, of two parameters or three.
fn solve(points: &[(f64, f64)], parameters: usize) -> Option<Usl> {
    let usable = |(copies, total): &(f64, f64)| *copies >= 1.0 && total.is_finite() && *total > 0.0;
    if parameters < 2 || !points.iter().all(usable) {
        return None;
    }
    let linear = Linear::new(points);
    let times = &linear.times;
    let mut x = least_squares(&linear.divided(times), &vec![1.0; times.len()], parameters)?;
    if !linear.loss(&x).is_finite() {
        x = [median(times), 0.0, 0.0];
    }
    for _ in 0..STEPS {
        let step = least_squares(&linear.divided(&linear.model(&x)), &linear.misses(&x), parameters)?;
        let loss = linear.loss(&x);
        let shorter = (0..HALVINGS).map(|halvings| 0.5_f64.powi(halvings as i32));
        let mut steps = shorter.map(|share| [0, 1, 2].map(|k| x[k] + share * step[k]));
        match steps.find(|next| linear.loss(next) < loss) {
            Some(next) if loss - linear.loss(&next) > 1e-15 => x = next,
            _ => break,
        }
    }
    let [sigma, kappa] =
        [x[1], x[2]].map(|share| share / x[0]).map(|value| if value.abs() < DUST { 0.0 } else { value });
    (x[0] > 0.0).then(|| Usl { lambda: 1.0 / x[0], sigma, kappa })
}

/// Solves `rows`·x = `targets` for the first `columns` of x by modified Gram–Schmidt (Björck, Numerical Methods for
/// Least Squares Problems, §2.4); nothing where columns depend on each other.
fn least_squares(rows: &[[f64; 3]], targets: &[f64], columns: usize) -> Option<[f64; 3]> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut vectors: Vec<Vec<f64>> = (0..columns).map(|k| rows.iter().map(|row| row[k]).collect()).collect();
    let mut rest = targets.to_vec();
    let mut r = [[0.0; 3]; 3];
    let mut y = [0.0; 3];
    for k in 0..columns {
        let whole: f64 = dot(&vectors[k], &vectors[k]) + (0..k).map(|j| r[j][k] * r[j][k]).sum::<f64>();
        let length = dot(&vectors[k], &vectors[k]).sqrt();
        if !(length.is_finite() && length > 1e-9 * whole.sqrt()) {
            return None;
        }
        r[k][k] = length;
        let unit: Vec<f64> = vectors[k].iter().map(|value| value / length).collect();
        let less = |from: &mut Vec<f64>| {
            let part = dot(&unit, from);
            from.iter_mut().zip(&unit).for_each(|(value, unit)| *value -= part * unit);
            part
        };
        for j in k + 1..columns {
            r[k][j] = less(&mut vectors[j]);
        }
        y[k] = less(&mut rest);
    }
    let mut x = [0.0; 3];
    for k in (0..columns).rev() {
        x[k] = (y[k] - (k + 1..columns).map(|j| r[k][j] * x[j]).sum::<f64>()) / r[k][k];
    }
    Some(x)
}

/// The logarithms of the gains of the levels after the first over it, in each block that both have.
fn gains(levels: &[Throughput<'_>]) -> Vec<ByBlock> {
    let logs = |level: &Throughput<'_>| -> ByBlock {
        level.trials.iter().map(|(at, total)| (*at, total.natural_log())).collect()
    };
    let mut levels = levels.iter().map(logs);
    let Some(first) = levels.next() else { return Vec::new() };
    levels.map(|level| block_differences(&level, &first)).collect()
}

/// The laws of resampled blocks; `None` if a level shares fewer than two blocks with the first, or too few have a law.
fn refits(levels: &[Throughput<'_>], gains: &[ByBlock], parameters: usize) -> Option<Vec<Usl>> {
    if gains.iter().any(|gain| gain.len() < 2) {
        return None;
    }
    let count = resamples(gains.iter().map(Vec::len).sum());
    let mut blocks = Blocks::new(gains.iter().map(Vec::as_slice));
    let centres: Vec<f64> = gains.iter().map(|gain| pseudo_median(&without_blocks(gain))).collect();
    let mut refit = || {
        let draw = blocks.draw();
        let mut points = vec![(levels[0].copies, levels[0].total)];
        for (place, (level, centre)) in levels[1..].iter().zip(&centres).enumerate() {
            let drawn = blocks.take(&draw, place);
            let deviation = (pseudo_median(&drawn) - centre) * stretch(drawn.len());
            points.push((level.copies, level.total * deviation.exponential()));
        }
        solve(&points, parameters)
    };
    let laws: Vec<Usl> = (0..count).filter_map(|_| refit()).collect();
    (laws.len() as f64 >= ENOUGH * count as f64).then_some(laws)
}

/// The 2.5 % and 97.5 % percentiles of `drawn`, their distances from `value` stretched.
fn percentiles(value: f64, mut drawn: Vec<f64>, wider: f64) -> Estimate {
    drawn.sort_by(f64::total_cmp);
    let last = drawn.len() as f64 - 1.0;
    // Both places lie within the sample.
    let (low, high) = (drawn[(0.025 * last).floor() as usize], drawn[(0.975 * last).ceil() as usize]);
    Estimate { value, low: value - (value - low).max(0.0) * wider, high: value + (high - value).max(0.0) * wider }
}

fn r_squared(law: &Usl, points: &[(f64, f64)]) -> f64 {
    let logs: Vec<f64> = points.iter().map(|point| point.1.natural_log()).collect();
    let mean = mean(&logs);
    let left: f64 = points.iter().map(|(copies, total)| (total / law.at(*copies)).natural_log().powi(2)).sum();
    1.0 - left / logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
}

fn worst(law: &Usl, points: &[(f64, f64)]) -> (f64, f64) {
    let misses = points.iter().map(|(copies, total)| (*copies, law.at(*copies) / total - 1.0));
    misses.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).unwrap_or((0.0, 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(totals: &[(f64, f64)]) -> Vec<Throughput<'static>> {
        totals.iter().map(|(copies, total)| Throughput { copies: *copies, total: *total, trials: &[] }).collect()
    }

    /// Lbench's published figures per thread, times threads. By hand of N/X: for memory 0.25, 0.4 and 0.714286, so
    /// σ + 2κ = 0.6 and 3σ + 12κ = 1.857143; for the mutex 0.025, 0.142857 and 0.729927.
    #[test]
    fn published_figures() {
        let memory = fit_usl(&points(&[(1.0, 4.0), (2.0, 5.0), (4.0, 5.6)])).unwrap();
        assert!((memory.law.sigma - 0.580_952).abs() < 1e-6 && (memory.law.kappa - 0.009_524).abs() < 1e-6);
        assert!((memory.law.lambda - 4.0).abs() < 1e-9 && memory.r2 > 0.999_999 && memory.worst.1.abs() < 1e-9);
        let peak = memory.peak.unwrap();
        assert!((peak.value - 6.633).abs() < 1e-3 && !peak.bounded());
        assert!((memory.law.at(peak.value) / memory.law.at(1.0) - 1.43).abs() < 0.005);
        let mutex = fit_usl(&points(&[(1.0, 40.0), (2.0, 14.0), (4.0, 5.48)])).unwrap();
        assert!((mutex.law.sigma - 0.029_5).abs() < 1e-3 && (mutex.law.kappa - 2.342).abs() < 1e-3);
        assert!(mutex.law.peak().unwrap() < 1.0);
    }

    /// 1, 2 and 4 copies at 100, 160 and 240: Amdahl's law of λ = 100 has 1.6 = 2/(1 + σ), so σ = 0.25.
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
        let totals: Vec<(f64, f64)> = [1.0, 2.0, 3.0, 4.0, 6.0, 8.0].map(|n| (n, planted.at(n))).to_vec();
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
        for totals in [[0.0, 1.0, 2.0], [f64::NAN, 1.0, 2.0], [1.0, f64::INFINITY, 2.0], [1.0, -1.0, 2.0]] {
            let totals: Vec<(f64, f64)> = [1.0, 2.0, 4.0].into_iter().zip(totals).collect();
            assert_eq!(fit_usl(&points(&totals)), None);
        }
        assert_eq!(fit_usl(&points(&[(2.0, 1.0), (2.0, 1.0), (2.0, 3.0)])), None, "one level thrice");
        // Wild figures have a law or none, but no panic, also far out.
        for totals in [[(1.0, 1.0), (2.0, 1e9), (4.0, 1e-9)], [(64.0, 1.0), (1024.0, 2.0), (65_536.0, 3.0)]] {
            if let Some(fit) = fit_usl(&points(&totals)) {
                assert!(fit.law.lambda > 0.0 && fit.law.sigma.is_finite());
            }
        }
    }
}
