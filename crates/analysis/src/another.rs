//! Where another run would come out: the interval of a run speaks of that run, and machines change from one to the next.

use serde::Serialize;

use super::trend::{began, watched};
use super::{Results, Summary};
use stats::{Mean, student_quantile};

/// The fewest earlier runs that say anything of the next.
pub const FEWEST: usize = 3;

/// Where the same figure of another run lies with 95 % probability.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Another {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The runs behind it, this one among them.
    pub runs: usize,
}

impl Another {
    /// Returns the prediction interval of one more of these values: mean ± t·s·√(1 + 1/m) of their logarithms (Geisser, Predictive
    /// Inference, §2.2); `None` if there are too few, or one is not positive.
    fn after(values: &[f64]) -> Option<Another> {
        let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
        if logs.len() <= FEWEST || !logs.iter().all(|log| log.is_finite()) {
            return None;
        }
        let (mean, count) = (Mean::of(&logs), logs.len() as f64);
        let half = student_quantile(0.05, mean.degrees) * mean.error * (count + 1.0).sqrt();
        Some(Another { low: (mean.value - half).exp(), high: (mean.value + half).exp(), runs: logs.len() })
    }
}

impl Results {
    /// Adds to every score and index where another run would come out, by those of `others` that began before this one and are
    /// like it: the same machine, kernel, build, procedure and whatever else a trend watches.
    pub fn place_among(&mut self, others: &[Summary]) {
        let own = Summary::of(self, 0);
        let kind = watched(&own);
        let like =
            |other: &&Summary| began(&other.run) < began(&own.run) && other.end.is_some() && watched(other) == kind;
        let earlier: Vec<&Summary> = others.iter().filter(like).collect();
        let with = |value: f64, earlier: Vec<f64>| Another::after(&[earlier, vec![value]].concat());
        for row in &mut self.rows {
            let known = |run: &&Summary| {
                let same = |one: &&super::Figure| !one.control && one.key == row.cell.key;
                run.figures.iter().find(same).map(|one| one.score.value)
            };
            row.another = with(row.score.value, earlier.iter().filter_map(known).collect());
        }
        for index in self.indexes_mut() {
            let known = |run: &&Summary| {
                let same = |one: &&super::Composite| {
                    (&one.id, one.copies, one.complete) == (&index.id, index.copies, index.complete)
                };
                run.indexes.iter().find(same).map(|one| one.score.value)
            };
            index.another = with(index.score.value, earlier.iter().filter_map(known).collect());
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
}
