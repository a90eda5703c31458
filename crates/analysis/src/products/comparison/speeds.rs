//! Commands whose executions, or builds, or servers' processes, have one of two speeds.
//!
//! Where a program is fast or slow by what it draws when it starts, its median says which of the
//! two is the more frequent, and the difference of two medians may be that of the speeds, although
//! no speed has changed. Then there are two questions: how often is each command fast, and does it
//! take as long as before at each speed?
//!
//! A machine may give every program two speeds. On a loaded one a program runs at once, or waits
//! until others have had their turn; beside another guest's work on the same core it is slow for as
//! long as that lasts. So nothing is said where both sides have the same two speeds on a loaded
//! machine, where executions are slow in spells, or where both sides are fast equally often and the
//! two executions of a round, one after the other, are fast and slow together.

use serde::Serialize;
use stats::{
    Estimate, Exact, NORMAL_975, dependence, has_two_modes, limit_of_groups, median,
    sequential_widening, two_sample_shift,
};

use super::engine::{Data, Draft};
use super::{Pair, Scale, Sides};
use crate::figures::Measure;

/// Speeds that differ by less are noise to whoever reads the sentence, if not by the test.
const MIN_DISTANCE: f64 = 1.05;

/// Executions that depend on the one before by more than this (as a factor of the variance of their
/// mean) are fast or slow in spells: then the speeds are the machine's and not a command's.
const MAX_DEPENDENCE: f64 = 3.0;

/// Standard errors by which the correlation of both sides must exceed 0, so that they are fast
/// together more often than by chance.
const MIN_TOGETHER: f64 = 3.0;

/// Executions that each side needs at a speed, so that the speeds can be compared.
const MIN_AT_SPEED: usize = 8;

/// Units that each side needs at a speed for this; fewer have no interval.
const MIN_UNITS_AT_SPEED: usize = 3;

/// Units of each side in either group, so that the groups are not the two sides: one may be an
/// outlier.
const MIN_UNITS_IN_BOTH: usize = 2;

/// What two groups of executions have in common and what not. Shares are of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TwoSpeeds {
    /// The median of the fast executions of both sides, in the unit of the comparison.
    pub fast: f64,
    /// The median of the slow ones.
    pub slow: f64,
    /// The shares of executions that are fast.
    pub fast_share: Sides<f64>,
    /// How much more often the judged side is fast, in points of per cent, with its 95 % interval.
    pub more_often_fast: Estimate,
    /// How much more time the judged side takes when it is fast, in per cent; without an interval
    /// where either side is hardly ever fast.
    pub when_fast: Estimate,
    /// The same when it is slow.
    pub when_slow: Estimate,
}

impl TwoSpeeds {
    /// The two speeds of commands that alternate; `None` if their times have one mode, or if both
    /// sides have the same two on a machine that is loaded: then they are the machine's.
    pub(crate) fn find(draft: &Draft, is_loaded: bool) -> Option<TwoSpeeds> {
        let comparison = &draft.comparison;
        let is_of_commands = comparison.measure == Measure::Score
            && comparison.cell.is_alternating()
            && !comparison.cell.is_printed();
        if !is_of_commands {
            return None;
        }

        let speeds = match comparison.units {
            Some(_) => TwoSpeeds::of_units(&times_of_units(draft)),
            None => TwoSpeeds::of_executions(&comparison.pairs),
        };
        speeds.filter(|speeds| !(is_loaded && speeds.are_shared()))
    }

    /// The two speeds of executions; `None` if neither side has two modes, or if the speeds are the
    /// machine's: in spells, or shared by the two of a round.
    fn of_executions(pairs: &[Pair]) -> Option<TwoSpeeds> {
        let times = times_of_pairs(pairs);
        if !has_two_modes(&times.a) && !has_two_modes(&times.b) {
            return None;
        }

        let limit = limit_of_groups(&[&times.a[..], &times.b].concat());
        let is_in_spells = |times: &[f64]| {
            let are_fast: Vec<f64> = times.iter().map(|time| is_fast(*time, limit)).collect();
            dependence(&are_fast) > MAX_DEPENDENCE
        };
        if is_in_spells(&times.a) || is_in_spells(&times.b) {
            return None;
        }

        let speeds =
            TwoSpeeds::of_groups(&times, limit, more_often_fast(pairs, limit), MIN_AT_SPEED)?;
        let are_of_machine = speeds.are_equally_often() && are_fast_together(pairs, limit);
        (!are_of_machine).then_some(speeds)
    }

    /// The two speeds of units, such as builds, of which each side has few: both sides together
    /// show them where either speed is one of both sides, and not that of a side.
    fn of_units(times: &Sides<Vec<f64>>) -> Option<TwoSpeeds> {
        let all = [&times.a[..], &times.b].concat();
        let limit = limit_of_groups(&all);
        let is_mixed = [&times.a, &times.b].into_iter().all(|side| {
            let fast = side.iter().filter(|time| is_fast(**time, limit) == 1.0).count();
            fast.min(side.len() - fast) >= MIN_UNITS_IN_BOTH
        });
        let has_two =
            has_two_modes(&times.a) || has_two_modes(&times.b) || (is_mixed && has_two_modes(&all));
        if !has_two {
            return None;
        }

        TwoSpeeds::of_groups(times, limit, more_units_fast(times, limit), MIN_UNITS_AT_SPEED)
    }

    /// The speeds of times that fall into two groups at `limit`; `None` if these are too close.
    /// Speeds are compared where each side has at least `least` times of them.
    fn of_groups(
        times: &Sides<Vec<f64>>,
        limit: f64,
        more_often_fast: Estimate,
        least: usize,
    ) -> Option<TwoSpeeds> {
        let [fast, slow] = [1.0, 0.0].map(|wanted| {
            times.as_ref().map(|times| -> Vec<f64> {
                times.iter().copied().filter(|time| is_fast(*time, limit) == wanted).collect()
            })
        });
        let centres = [&fast, &slow].map(|group| median(&[&group.a[..], &group.b].concat()));
        if centres[1] <= MIN_DISTANCE * centres[0] {
            return None;
        }

        Some(TwoSpeeds {
            fast: centres[0],
            slow: centres[1],
            fast_share: Sides {
                a: fast.a.len() as f64 / times.a.len() as f64,
                b: fast.b.len() as f64 / times.b.len() as f64,
            },
            more_often_fast,
            when_fast: more_time(&fast, least),
            when_slow: more_time(&slow, least),
        })
    }

    /// True if nothing shows that the sides differ: neither how often they are fast, nor how long
    /// they take at either speed.
    fn are_shared(&self) -> bool {
        let are_same_speeds =
            [self.when_fast, self.when_slow].iter().all(|change| change.holds_zero());
        self.are_equally_often() && are_same_speeds
    }

    /// True if nothing shows that one side is fast more often.
    fn are_equally_often(&self) -> bool {
        self.more_often_fast.holds_zero()
    }
}

/// The times of the units of both sides.
fn times_of_units(draft: &Draft) -> Sides<Vec<f64>> {
    match &draft.difference.data {
        Data::Apart([base, judged]) if draft.comparison.scale == Scale::Ratio => {
            // More is better in the data, whose logarithms are those of rates.
            Sides { a: base, b: judged }
                .map(|logs| logs.iter().map(|(_, log)| (-log).exponential()).collect())
        }
        _ => times_of_pairs(&draft.comparison.pairs),
    }
}

fn times_of_pairs(pairs: &[Pair]) -> Sides<Vec<f64>> {
    Sides {
        a: pairs.iter().map(|pair| pair.a).collect(),
        b: pairs.iter().map(|pair| pair.b).collect(),
    }
}

/// 1 if an execution is fast, else 0.
fn is_fast(time: f64, limit: f64) -> f64 {
    f64::from(u8::from(time < limit))
}

/// True if the two executions of a round have the same speed more often than by chance: phi, their
/// correlation, exceeds 0 by [`MIN_TOGETHER`] standard errors, each 1/√n where there is no
/// correlation. False if a side has only one speed.
fn are_fast_together(pairs: &[Pair], limit: f64) -> bool {
    let count = pairs.len() as f64;
    let (mut a, mut b, mut both) = (0.0, 0.0, 0.0);
    for pair in pairs {
        let [fast_a, fast_b] = [pair.a, pair.b].map(|time| is_fast(time, limit));
        a += fast_a / count;
        b += fast_b / count;
        both += fast_a * fast_b / count;
    }

    let phi = (both - a * b) / (a * (1.0 - a) * b * (1.0 - b)).sqrt();
    phi * count.sqrt() > MIN_TOGETHER
}

/// The difference of two paired shares, in points (Agresti & Min 2005: half a pair is added to each
/// of the four kinds of pairs), wider for pairs that depend on each other and for the run's looks.
fn more_often_fast(pairs: &[Pair], limit: f64) -> Estimate {
    let differences: Vec<f64> =
        pairs.iter().map(|pair| is_fast(pair.b, limit) - is_fast(pair.a, limit)).collect();
    let count = differences.len() as f64 + 2.0;
    let sum: f64 = differences.iter().sum();
    let unlike = differences.iter().filter(|difference| **difference != 0.0).count() as f64 + 1.0;

    let value = 100.0 * sum / count;
    let error = 100.0 * (unlike - sum * sum / count).sqrt() / count;
    let half_width = NORMAL_975 * error * dependence(&differences).sqrt() * sequential_widening();
    Estimate { value, low: value - half_width, high: value + half_width }
}

/// The share of a side's units that are fast.
struct Share {
    value: f64,
    variance: f64,
}

/// The difference of two shares of units, in points, which are drawn independently (Agresti & Caffo
/// 2000: one fast and one slow unit are added to each side).
fn more_units_fast(times: &Sides<Vec<f64>>, limit: f64) -> Estimate {
    let shares = times.as_ref().map(|times| {
        let fast: f64 = times.iter().map(|time| is_fast(*time, limit)).sum();
        let count = times.len() as f64 + 2.0;
        let share = (fast + 1.0) / count;
        Share { value: share, variance: share * (1.0 - share) / count }
    });

    let value = 100.0 * (shares.b.value - shares.a.value);
    let half_width = 100.0 * NORMAL_975 * (shares.a.variance + shares.b.variance).sqrt();
    Estimate { value, low: value - half_width, high: value + half_width }
}

/// How much more time the judged side takes in a group, in per cent. No interval if a side has
/// fewer than `least` times.
fn more_time(group: &Sides<Vec<f64>>, least: usize) -> Estimate {
    if group.a.len().min(group.b.len()) < least {
        return Estimate::NONE;
    }
    let logs =
        |times: &Vec<f64>| -> Vec<f64> { times.iter().map(|time| time.natural_log()).collect() };
    let shift = two_sample_shift(&logs(&group.a), &logs(&group.b)).widened(sequential_widening());
    let [value, low, high] = [shift.estimate.value, shift.estimate.low, shift.estimate.high]
        .map(|log| 100.0 * log.exponential_less_1());
    Estimate { value, low, high }
}
