//! Estimates of one effect from several places, each with its error, that differ by more than that.
//!
//! The effect differs from place to place with a variance τ², which is estimated by DerSimonian
//! and Laird (1986). Each estimate has the weight 1/(error² + τ²). The interval of the mean is
//! Hartung and Knapp's (2001; Sidik & Jonkman 2002): Student's t with k − 1 degrees of freedom, and
//! the scatter of the estimates in place of their own errors, as few of them tell little of τ².
//! Where they scatter by less than their errors, their errors count (Röver, Knapp & Friede 2015).

use serde::Serialize;

use super::{Estimate, quantile_975, student_p};

/// One place's estimate with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Study {
    pub value: f64,
    pub error: f64,
}

/// The effect in places like these.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RandomEffects {
    /// The mean with its 95 % interval; no interval of fewer than two.
    pub estimate: Estimate,
    /// The p value of no effect on average.
    pub p: f64,
    /// τ, the standard deviation of the effect from place to place.
    pub deviation: f64,
}

/// The mean effect of several places.
pub fn random_effects(studies: &[Study]) -> RandomEffects {
    let variance = variance_between(studies);
    let weights: Vec<f64> =
        studies.iter().map(|study| 1.0 / (study.error.powi(2) + variance)).collect();
    let total: f64 = weights.iter().sum();
    let weighted = studies.iter().zip(&weights).map(|(study, weight)| weight * study.value);
    let value = weighted.sum::<f64>() / total;
    if studies.len() < 2 {
        return RandomEffects { estimate: Estimate::alone(value), p: 1.0, deviation: 0.0 };
    }

    let degrees = studies.len() as f64 - 1.0;
    let scatter = studies
        .iter()
        .zip(&weights)
        .map(|(study, weight)| weight * (study.value - value).powi(2))
        .sum::<f64>()
        / degrees;
    let error = (scatter.max(1.0) / total).sqrt();
    let half_width = quantile_975(degrees) * error;
    RandomEffects {
        estimate: Estimate { value, low: value - half_width, high: value + half_width },
        p: student_p((value / error).abs(), degrees),
        deviation: variance.sqrt(),
    }
}

/// τ² by the method of moments; 0 where the estimates scatter by no more than their errors.
fn variance_between(studies: &[Study]) -> f64 {
    let weights: Vec<f64> = studies.iter().map(|study| study.error.powi(-2)).collect();
    let total: f64 = weights.iter().sum();
    let squares: f64 = weights.iter().map(|weight| weight * weight).sum();
    let centre: f64 =
        studies.iter().zip(&weights).map(|(study, weight)| weight * study.value).sum::<f64>()
            / total;
    let scatter: f64 = studies
        .iter()
        .zip(&weights)
        .map(|(study, weight)| weight * (study.value - centre).powi(2))
        .sum();

    let degrees = studies.len() as f64 - 1.0;
    let between = (scatter - degrees) / (total - squares / total);
    if between.is_finite() { between.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;
    use testing::normal;

    fn studies(values: &[(f64, f64)]) -> Vec<Study> {
        values.iter().map(|(value, error)| Study { value: *value, error: *error }).collect()
    }

    /// The eight studies of Hartung & Knapp (2001) do not exist here; these three are by hand.
    #[test]
    fn three_places_by_hand() {
        let found = random_effects(&studies(&[(1.0, 0.1), (2.0, 0.1), (3.0, 0.1)]));

        // Q = 200, τ² = (200 − 2) ÷ (300 − 100) = 0.99; errors of √(1 ÷ 3) and t₂ = 4.303.
        assert!((found.deviation.powi(2) - 0.99).abs() < 1e-9, "{found:?}");
        assert!((found.estimate.value - 2.0).abs() < 1e-9);
        assert!((found.estimate.high - 2.0 - 4.3027 / 3.0_f64.sqrt()).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn places_that_agree_are_not_believed_beyond_their_errors() {
        let found = random_effects(&studies(&[(2.0, 1.0), (2.0, 1.0), (2.0, 1.0), (2.0, 1.0)]));

        assert_eq!(found.deviation, 0.0);
        assert!((found.estimate.half_width() - 3.1824 / 2.0).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_mean_effect() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for (count, between) in [(3, 0.0), (3, 2.0), (5, 1.0), (10, 3.0)] {
            let runs = testing::simulated(2000);
            let held = (0..runs).filter(|_| {
                let studies: Vec<Study> = (0..count)
                    .map(|_| {
                        let error = 0.3 + 0.7 * random.random::<f64>();
                        let scatter: f64 = error.hypot(between);
                        Study { value: 2.0 + scatter * normal(&mut random), error }
                    })
                    .collect();
                let Estimate { low, high, .. } = random_effects(&studies).estimate;
                low <= 2.0 && 2.0 <= high
            });

            let share = held.count() as f64 / runs as f64;

            println!("{count} places, deviation {between}: {share}");
            assert!(share >= 0.93, "{count} {between}: {share}");
            // Where places do not differ, the interval allows for more than there is.
            assert!(share <= 0.99 || between == 0.0, "{count} {between}: {share}");
        }
    }
}
