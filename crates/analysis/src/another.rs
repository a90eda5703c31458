//! Where another run would come out: the interval of a run speaks of that run, and machines change from one to the
//! next.

use serde::Serialize;

use super::trend::{began, watched};
use super::{Figure, Index, Results, Summary};
use stats::{Exact, Mean, student_p, student_quantile};

/// The fewest earlier runs that say anything of the next.
pub const FEWEST: usize = 3;

/// The interval in which the same figure of another run lies with 95 % probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Another {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The runs behind it, this one among them.
    pub runs: usize,
    /// The standard deviation of the logarithms of the earlier ones.
    #[serde(skip)]
    deviation: f64,
}

impl Another {
    /// Returns the prediction interval of one more of these values, where the last is this run's:
    /// mean ± t·s·√(1 + 1/m) of their logarithms (Geisser, Predictive Inference, §2.2); `None` if there
    /// are too few, or one is not positive.
    fn after(values: &[f64]) -> Option<Another> {
        let logs: Vec<f64> = values.iter().map(|value| value.natural_log()).collect();
        if logs.len() <= FEWEST || !logs.iter().all(|log| log.is_finite()) {
            return None;
        }
        let (mean, count) = (Mean::new(&logs), logs.len() as f64);
        let half = student_quantile(0.05, mean.degrees) * mean.error * (count + 1.0).sqrt();
        let earlier = Mean::new(&logs[..logs.len() - 1]);
        Some(Another {
            low: (mean.value - half).exponential(),
            high: (mean.value + half).exponential(),
            runs: logs.len(),
            deviation: earlier.error * (count - 1.0).sqrt(),
        })
    }

    /// Returns how likely two runs like the earlier ones are as far from each other as these: the
    /// two-sided p value of Student's t of their difference, whose scale the earlier ones give.
    pub(crate) fn chance(&self, one: f64, other: f64) -> f64 {
        let errors = (one / other).natural_log() / (self.deviation * std::f64::consts::SQRT_2);
        // Equal values of runs that were all equal are not a surprise.
        if errors.is_nan() { 1.0 } else { student_p(errors, self.runs as f64 - 2.0) }
    }
}

impl Results {
    /// Adds to every score and index where another run would come out, by those of `others` that began before this one
    /// and are like it: the same machine, kernel, build, procedure and whatever else a trend watches.
    pub fn place_among(&mut self, others: &[Summary]) {
        let kind = watched(&self.run, &self.facts);
        let earlier = others.iter().filter(|other| began(&other.run) < began(&self.run) && other.end.is_some());
        let earlier: Vec<&Summary> = earlier.filter(|other| watched(&other.run, &other.facts) == kind).collect();
        for row in &mut self.figures {
            let same = |one: &&Figure| !one.cell.control && one.cell.key == row.cell.key;
            let known = earlier.iter().filter_map(|run| run.figures.iter().find(same));
            let values: Vec<f64> = known.map(|one| one.score.value).chain([row.score.value]).collect();
            row.another = Another::after(&values);
        }
        for index in self.indexes_mut() {
            let same = |one: &&Index| (&one.id, one.copies, one.complete) == (&index.id, index.copies, index.complete);
            let known = earlier.iter().filter_map(|run| run.indexes.iter().find(same));
            let values: Vec<f64> = known.map(|one| one.score.value).chain([index.score.value]).collect();
            index.another = Another::after(&values);
        }
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
        // By hand: logs 0, 0, 1, 1: mean 0.5, s² = 1/3, t₃ = 3.18245: half 3.18245·0.57735·√1.25 = 2.0543.
        let e = std::f64::consts::E;
        let found = Another::after(&[1.0, 1.0, e, e]).unwrap();
        assert!((found.high.ln() - 2.5543).abs() < 1e-3 && (found.low.ln() + 1.5543).abs() < 1e-3, "{found:?}");
        // Of 0, 0, 1 s = 0.57735, so that e apart is 1.2247 errors; with two degrees p = 0.3453.
        assert!((found.chance(1.0, e) - 0.3453).abs() < 1e-3, "{}", found.chance(1.0, e));
        let flat = Another::after(&[2.0; 5]).unwrap();
        assert_eq!((flat.chance(2.0, 2.0), flat.chance(2.0, 2.1)), (1.0, 0.0));
    }

    /// Runs that differ by 0, 5 and 9 % beyond their own noise of 3 %: the next one is within in 95 of 100.
    #[test]
    fn the_next_run_is_within() {
        for between in [0.0, 0.05, 0.09] {
            for runs in [4, 10, 30] {
                let mut random = Pcg64Mcg::seed_from_u64(23);
                let mut score = || (between * normal(&mut random) + 0.03 * normal(&mut random)).exp();
                let within = (0..3000).filter(|_| {
                    let found = Another::after(&(0..runs).map(|_| score()).collect::<Vec<f64>>()).unwrap();
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
                let found = Another::after(&(0..=runs).map(|_| score()).collect::<Vec<f64>>()).unwrap();
                found.chance(score(), score()) < 0.05
            });
            let share = far.count() as f64 / 3000.0;
            assert!((0.035..0.065).contains(&share), "{runs}: {share}");
        }
    }
}
