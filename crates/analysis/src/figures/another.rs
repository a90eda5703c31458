//! Prediction interval for the next run. A run's own interval does not cover how the machine
//! changes from run to run.

use serde::Serialize;

use stats::{Exact, Mean, student_p, student_quantile};

/// Fewest earlier runs that say anything about the next.
pub const MIN_EARLIER_RUNS: usize = 3;

/// The interval in which the same figure of another run lies with 95 % probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Another {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of runs behind it, with this one.
    pub runs: usize,
    /// The standard deviation of the logarithms of the earlier runs.
    #[serde(skip)]
    deviation: f64,
}

impl Another {
    /// The prediction interval of one more of these values, of which the last is this run's:
    /// mean ± t·s·√(1 + 1/m) of their logarithms (Geisser, Predictive Inference, §2.2). `None` if
    /// there are too few, or one is not positive.
    pub(crate) fn after(values: &[f64]) -> Option<Another> {
        let logs: Vec<f64> = values.iter().map(|value| value.natural_log()).collect();
        if logs.len() <= MIN_EARLIER_RUNS || !logs.iter().all(|log| log.is_finite()) {
            return None;
        }

        let count = logs.len() as f64;
        let mean = Mean::new(&logs);
        let half = student_quantile(0.05, mean.degrees) * mean.error * (count + 1.0).sqrt();
        let earlier = Mean::new(&logs[..logs.len() - 1]);
        Some(Another {
            low: (mean.value - half).exponential(),
            high: (mean.value + half).exponential(),
            runs: logs.len(),
            deviation: earlier.error * (count - 1.0).sqrt(),
        })
    }

    /// The probability that two runs like the earlier ones differ as much as these two values: the
    /// two-sided p value of Student's t of their difference, whose scale the earlier runs give.
    pub(crate) fn chance(&self, first: f64, second: f64) -> f64 {
        let errors = (first / second).natural_log() / (self.deviation * std::f64::consts::SQRT_2);
        // Equal values of runs that were all equal are not a surprise.
        if errors.is_nan() { 1.0 } else { student_p(errors, self.runs as f64 - 2.0) }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_pcg::Pcg64Mcg;
    use testing::normal;

    use super::*;

    #[test]
    fn three_earlier_runs_are_needed() {
        assert_eq!(Another::after(&[1.0, 2.0, 3.0]), None);
        assert_eq!(Another::after(&[1.0, 2.0, 3.0, 0.0]), None);
        // By hand: logs 0, 0, 1, 1: mean 0.5, s² = 1/3, t₃ = 3.18245: half 3.18245·0.57735·√1.25 =
        // 2.0543.
        let e = std::f64::consts::E;
        let found = Another::after(&[1.0, 1.0, e, e]).unwrap();
        assert!(
            (found.high.ln() - 2.5543).abs() < 1e-3 && (found.low.ln() + 1.5543).abs() < 1e-3,
            "{found:?}"
        );
        // Of 0, 0, 1 s = 0.57735, so that e apart is 1.2247 errors; with two degrees p = 0.3453.
        assert!((found.chance(1.0, e) - 0.3453).abs() < 1e-3, "{}", found.chance(1.0, e));
        let flat = Another::after(&[2.0; 5]).unwrap();
        assert_eq!((flat.chance(2.0, 2.0), flat.chance(2.0, 2.1)), (1.0, 0.0));
    }

    /// Runs that differ by 0, 5 and 9 % beyond their own noise of 3 %: the next one is within in 95
    /// of 100.
    #[test]
    fn the_next_run_is_within() {
        for between in [0.0, 0.05, 0.09] {
            for runs in [4, 10, 30] {
                let mut random = Pcg64Mcg::seed_from_u64(23);
                let mut score =
                    || (between * normal(&mut random) + 0.03 * normal(&mut random)).exp();
                let within = (0..3000).filter(|_| {
                    let found =
                        Another::after(&(0..runs).map(|_| score()).collect::<Vec<f64>>()).unwrap();
                    (found.low..=found.high).contains(&score())
                });
                let share = within.count() as f64 / 3000.0;
                assert!((0.93..0.97).contains(&share), "{between}, {runs}: {share}");
            }
        }
    }

    /// Two runs that differ as all of their kind do are called different in 5 of 100 cases.
    #[test]
    fn two_alike_are_seldom_far_apart() {
        for runs in [3, 5, 20] {
            let mut random = Pcg64Mcg::seed_from_u64(31);
            let mut score = || (0.09 * normal(&mut random)).exp();
            let far = (0..3000).filter(|_| {
                let found =
                    Another::after(&(0..=runs).map(|_| score()).collect::<Vec<f64>>()).unwrap();
                found.chance(score(), score()) < 0.05
            });
            let share = far.count() as f64 / 3000.0;
            assert!((0.035..0.065).contains(&share), "{runs}: {share}");
        }
    }
}
