//! How long a burst lasts: a machine that sells its processors with a credit runs at full speed
//! until the credit is spent, then at the share that it sustains.
//!
//! The rate of the work, second by second, is treated as two levels ([`Split::best`]): the split
//! with the least sum of absolute deviations from the medians of its two parts. It is a burst if
//! the second level is clearly lower, if both are levels and no slope or spell, and if the second
//! is known for [`MIN_PLATEAU_SECONDS`]. The moment of the change comes from the work done around
//! it ([`Split::moment`]), which is known better than to a second.
//!
//! A bucket that is drained by a load of N processors at full speed and refilled by the share s of
//! them lasts T = credit / (N·(1 − s)). What refills it is what it sustains once it is empty, so
//! the credit, and how long it takes to be as full again at rest, follow from T and s.

use super::cooling;
use super::trend::{Series, median_level, noise_of_values};
use journal::Sample;
use stats::{Estimate, median};
use words::figure;

/// Seconds of each level that are needed.
const MIN_FULL_SECONDS: usize = 3;
const MIN_PLATEAU_SECONDS: usize = 15;

/// A plateau of so many seconds is known well enough to end.
const ENOUGH_PLATEAU_SECONDS: f64 = 40.0;

/// A sustained share above this is throttling or a neighbour, and no credit.
const MAX_SUSTAINED_SHARE: f64 = 0.9;

/// The share of the values of a level that may lie beyond the middle between both levels.
const MAX_STRAYS_SHARE: f64 = 0.2;

/// Both halves of a level lie nearer to each other than by this share of the fall; those of a slope
/// do not.
const MAX_DRIFT_SHARE: f64 = 0.25;

/// Splits that are tried before the best of them is looked for among its neighbours.
const SPLITS: usize = 200;

/// The time that the edge of a beat is off by, in seconds: beats come once a second, a little late.
const EDGE_SECONDS: f64 = 0.1;

/// A credit of processor time that a full load spends.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Burst {
    /// Seconds of full speed.
    pub lasted: Estimate,
    /// The rate after these as a share of the one before.
    pub sustained: Estimate,
    /// Seconds of a processor that the credit was worth when the load began.
    pub credit: Estimate,
    /// Seconds of a processor that a second of rest gives back.
    pub refill: Estimate,
    /// Seconds of rest after which it is as full again.
    pub full_after: Estimate,
    /// Seconds for which the rate was watched after it fell.
    pub watched: f64,
}

impl Burst {
    /// The burst of a load of `threads` that ended after `worked` seconds.
    pub(super) fn of_samples(samples: &[Sample], worked: f64, threads: u32) -> Option<Burst> {
        Burst::new(&of_whole_seconds(&cooling::rates(samples, worked)), threads)
    }

    /// True if the samples until now show a burst that more seconds would hardly make better known.
    pub fn is_known_by(samples: &[Sample], threads: u32) -> bool {
        let worked = samples.last().map_or(0.0, |last| last.at);
        Burst::of_samples(samples, worked, threads).is_some_and(|burst| burst.is_known())
    }

    /// The burst of a load of `threads` by its rate, second by second; `None` if there is none.
    pub(super) fn new(rates: &[(f64, f64)], threads: u32) -> Option<Burst> {
        let split = Split::best(rates)?;
        if !split.is_burst() {
            return None;
        }

        let lasted = split.moment(rates);
        let sustained = split.after.over(&split.before);
        let spent = sustained.image(|share| 1.0 - share);
        let threads = f64::from(threads);
        let credit = product(&lasted, &spent);
        let refill = sustained.scaled(threads);
        Some(Burst {
            full_after: product(&credit, &sustained.image(|share| 1.0 / share)),
            credit: credit.scaled(threads),
            refill,
            lasted,
            sustained,
            watched: rates.last().map_or(0.0, |last| last.0) - lasted.value,
        })
    }

    /// True if more seconds would hardly say more.
    fn is_known(&self) -> bool {
        self.watched >= ENOUGH_PLATEAU_SECONDS
    }
}

/// The burst in a sentence, after the wrong results if there are any.
pub(super) fn verdict(burst: Option<&Burst>, worked: f64, wrong: u64) -> String {
    let text = match burst {
        Some(Burst { lasted, sustained, .. }) => format!(
            "It ran at full speed for {} s{}, then at {} %{} of it.",
            figure(lasted.value),
            ends(lasted, 1.0),
            figure(100.0 * sustained.value),
            ends(sustained, 100.0),
        ),
        None => format!(
            "No burst seen in {}: the rate did not fall to a lower level and stay there.",
            words::duration(worked)
        ),
    };
    if wrong == 0 {
        return text;
    }
    let wrong = words::count(wrong, "wrong result");
    format!("{wrong}: this machine computes wrong results under load. {text}")
}

/// An interval as it follows its value.
fn ends(estimate: &Estimate, factor: f64) -> String {
    format!(" ({} to {})", figure(factor * estimate.low), figure(factor * estimate.high))
}

/// The product of two positive estimates. Their ends are multiplied, as both depend on the same
/// levels.
fn product(one: &Estimate, other: &Estimate) -> Estimate {
    Estimate {
        value: one.value * other.value,
        low: one.low * other.low,
        high: one.high * other.high,
    }
}

/// The rates in two parts.
struct Split {
    /// The number of values before the change.
    place: usize,
    before: Estimate,
    after: Estimate,
    /// The standard deviation of a value.
    noise: f64,
    /// The share of values beyond the middle between the levels, in the part that has more of them.
    strays_share: f64,
    /// The difference between the halves of a part as a share of the fall, in the part where it is
    /// larger.
    drift_share: f64,
}

impl Split {
    /// The best of all splits; `None` of too few seconds.
    fn best(rates: &[(f64, f64)]) -> Option<Split> {
        let values: Vec<f64> = rates.iter().map(|point| point.1).collect();
        let last = values.len().checked_sub(MIN_PLATEAU_SECONDS)?;
        let step = values.len() / SPLITS + 1;
        let all = MIN_FULL_SECONDS..=last;
        let coarse = best_place(&values, all.clone().step_by(step))?;
        let near = coarse.saturating_sub(step)..=coarse + step;
        let place = best_place(&values, near.filter(|place| all.contains(place)))?;

        let noise = noise_of_values(rates);
        let (before, after) = values.split_at(place);
        let (full, sustained) = (median_level(before, noise)?, median_level(after, noise)?);
        let middle = (full.value + sustained.value) / 2.0;
        let strays_before = share(before, |value| value < middle);
        let strays_after = share(after, |value| value > middle);
        let drift = drift(before).max(drift(after));
        Some(Split {
            place,
            before: full,
            after: sustained,
            noise,
            strays_share: strays_before.max(strays_after),
            drift_share: drift / (full.value - sustained.value),
        })
    }

    fn is_burst(&self) -> bool {
        let ratio = self.after.over(&self.before);
        ratio.bounded()
            && ratio.high < MAX_SUSTAINED_SHARE
            && self.strays_share <= MAX_STRAYS_SHARE
            && self.drift_share <= MAX_DRIFT_SHARE
    }

    /// When the rate fell, in seconds since the work began.
    ///
    /// Each value is the rate of the second before its moment. The work around the change that
    /// exceeds the lower level's says how many of these seconds were still at full speed.
    fn moment(&self, rates: &[(f64, f64)]) -> Estimate {
        let first = self.place - 2;
        let last = (self.place + 1).min(rates.len() - 1);
        let (full, sustained) = (self.before.value, self.after.value);
        let mut moment = rates[first].0;
        for pair in rates[first..=last].windows(2) {
            let seconds = pair[1].0 - pair[0].0;
            moment += seconds * (pair[1].1 - sustained) / (full - sustained);
        }

        let seconds = (last - first) as f64;
        let half = EDGE_SECONDS + 2.0 * self.noise * seconds.sqrt() / (full - sustained);
        Estimate { value: moment, low: (moment - half).max(0.0), high: moment + half }
    }
}

/// The place with the least sum of deviations in both parts.
fn best_place(values: &[f64], places: impl Iterator<Item = usize>) -> Option<usize> {
    let deviation = |place: usize| {
        let (before, after) = values.split_at(place);
        absolute_deviation(before) + absolute_deviation(after)
    };
    let deviations = places.map(|place| (place, deviation(place)));
    deviations.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(place, _)| place)
}

fn absolute_deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    values.iter().map(|value| (value - middle).abs()).sum()
}

/// The difference between the medians of both halves.
fn drift(values: &[f64]) -> f64 {
    let (first, second) = values.split_at(values.len() / 2);
    (median(first) - median(second)).abs()
}

fn share(values: &[f64], is_meant: impl Fn(f64) -> bool) -> f64 {
    let meant = values.iter().filter(|value| is_meant(**value)).count();
    meant as f64 / values.len().max(1) as f64
}

/// The rates of a series without the first second, in which threads start.
pub(super) fn of_whole_seconds(series: &[(f64, f64)]) -> Series {
    series.iter().copied().filter(|point| point.0 >= 0.5).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// The rates of a bucket of `credit` processor-seconds on two processors that sustains a share,
    /// with noise, some seconds of which lie by up to 30 %.
    fn bucket(random: &mut impl Rng, credit: f64, share: f64, noise: f64, seconds: u32) -> Series {
        let lasts = credit / (2.0 * (1.0 - share));
        (1..=seconds)
            .map(|second| {
                let at = f64::from(second);
                let full = (lasts - (at - 1.0)).clamp(0.0, 1.0);
                let mut rate = 1000.0 * (full + (1.0 - full) * share);
                rate *= 1.0 + noise * testing::normal(random);
                if random.random_bool(0.05) {
                    rate *= random.random_range(0.7..1.0);
                }
                (at, rate)
            })
            .collect()
    }

    #[test]
    fn a_planted_bucket_is_found_within_a_tenth() {
        let mut random = Pcg64Mcg::seed_from_u64(7);
        for (credit, share) in [(20.0, 0.4), (20.0, 0.1), (60.0, 0.2), (100.0, 0.5), (12.0, 0.75)] {
            let mut holds = 0;
            for _ in 0..50 {
                let rates = bucket(&mut random, credit, share, 0.03, 180);

                let burst = Burst::new(&rates, 2).unwrap();

                assert!((burst.credit.value / credit - 1.0).abs() < 0.1, "{credit}: {burst:?}");
                assert!((burst.sustained.value / share - 1.0).abs() < 0.1, "{share}: {burst:?}");
                assert!((burst.refill.value / (2.0 * share) - 1.0).abs() < 0.1, "{burst:?}");
                let is_held = burst.credit.low <= credit && credit <= burst.credit.high;
                holds += u32::from(is_held);
            }
            assert!(holds >= 45, "{credit} {share}: {holds} of 50 intervals hold");
        }
    }

    #[test]
    fn a_machine_without_a_bucket_has_none() {
        let mut random = Pcg64Mcg::seed_from_u64(8);
        for noise in [0.001, 0.03, 0.1] {
            for _ in 0..50 {
                // It sustains all.
                let rates = bucket(&mut random, 0.0, 0.999, noise, 180);

                assert_eq!(Burst::new(&rates, 2), None, "{noise}");
            }
        }
    }

    #[test]
    fn spells_and_slopes_are_no_bursts() {
        let spell = |at: f64| if (60.0..100.0).contains(&at) { 500.0 } else { 1000.0 };
        let slope = |at: f64| 1000.0 - 2.0 * at;
        let two_speeds = |at: f64| if (at as u32 / 10).is_multiple_of(2) { 1000.0 } else { 500.0 };
        for (name, rate) in [
            ("spell", &spell as &dyn Fn(f64) -> f64),
            ("slope", &slope),
            ("two speeds", &two_speeds),
        ] {
            let rates: Series = (1..=180).map(|at| (f64::from(at), rate(f64::from(at)))).collect();

            assert_eq!(Burst::new(&rates, 2), None, "{name}");
        }
    }

    #[test]
    fn it_is_known_once_the_plateau_was_watched() {
        let mut random = Pcg64Mcg::seed_from_u64(9);
        let known = |seconds, random: &mut Pcg64Mcg| {
            let rates = bucket(random, 20.0, 0.4, 0.01, seconds);
            Burst::new(&rates, 2).map(|burst| burst.is_known())
        };

        assert_eq!(known(20, &mut random), None);
        assert_eq!(known(40, &mut random), Some(false));
        assert_eq!(known(60, &mut random), Some(true));
    }
}
