//! How two sides become a difference, an interval, a verdict and the smallest difference that would
//! have been detected: decided here alone, for runs, conditions and fleets.
//!
//! | step | function | today |
//! |---|---|---|
//! | values | `rows::observed`, `pairs::arms`, `fleet::against` | one per block, round or node |
//! | scale | [`Scale`] | logarithms, more is better; shares of deadlines and what is not above 0 as they are |
//! | pairing | [`Observed::new`], [`shared`] | differences within what both sides have, or two samples |
//! | shift, interval, p | [`Data::shift`] | the next table |
//! | other levels | [`Data::ends`] | the same intervals, wider or narrower |
//! | rounds of `ab` | [`crate::products::pairs`] | wider: rounds depend on each other, and were looked at |
//! | control | [`widening`] | one factor for all intervals of a report, if equal arms differ too much |
//! | multiple testing | [`judge`], [`calling_level`] | Benjamini & Hochberg's q over a report (1995) |
//! | verdict | [`Difference::decide`] | see below |
//! | power | [`Difference::detectable`] | what four of five such comparisons would have detected |
//! | between runs | `rows::chance`, [`judge`] | q over what another run may differ by |
//! | second look | [`confirm_losses`]; `runs::compare::gate` of later runs | q over what was looked at again |
//! | overall | [`super::pool::mean_of_rates`] | the geometric mean, blocks resampled or by round |
//!
//! [`Design`] decides which side is judged ([`Design::base_first`]), whether values are paired
//! ([`Observed::new`]), and thereby the test:
//!
//! | design | judged | shift, with its 95 % interval and p value | of few values |
//! |---|---|---|---|
//! | apart | B less A, all trials of each | Hodges & Lehmann's, by the rank-sum test | Welch's t |
//! | rounds | A less B in each round | Hodges & Lehmann's, by the signed-rank test | Student's t |
//! | turns | B less A in each round | likewise | likewise |
//! | blocks | B less A in each block | likewise | likewise |
//! | units | B less A, all units of each | as apart, without drift | likewise |
//!
//! A quantile of executions is one number of each side: [`stats::quantile_shift`].
//!
//! (Wilcoxon 1945; Mann & Whitney 1947; Hodges & Lehmann 1963; Hollander & Wolfe, Nonparametric
//! Statistical Methods, §3 and §4; Welch 1947.) Shares of deadlines of runs apart, and percentiles
//! that only all trials together carry, are means with Welch's interval. A fleet against an earlier
//! one is paired by node.
//!
//! A difference is *decided* if its interval excludes 0, its size exceeds the threshold and the
//! floor, and its q value is below 5 %; of runs apart it *differs*, and is decided only if runs
//! like them seldom differ as much. It is *the same* if its 90 % interval lies within the threshold
//! (two one-sided tests at 5 %, Schuirmann 1987). Otherwise it is *undecided*.

use serde::{Serialize, Serializer};

use super::{Comparison, Pair, Scale, Verdict};
use crate::figures::Measure;
use crate::figures::Widening;
use catalogue::Metric;
use journal::Cell;
use stats::{
    ByBlock, Estimate, Mean, Method, NORMAL_975, Shift, false_discovery_rates, in_block, median,
    normal_quantile, paired_ends, paired_shift, quantile_ends, quantile_shift, two_sample_ends,
    two_sample_shift, without_blocks,
};

/// The false discovery rate of a report's verdicts.
pub const RATE: f64 = 0.05;

/// The level of the interval that shows that two are the same: 5 % on each side.
const EQUIVALENCE_LEVEL: f64 = 0.1;

/// The 95 % quantile of the normal distribution.
const NORMAL_95: f64 = 1.645;

/// Fewest controls that widen a report's intervals.
const MIN_CONTROLS: usize = 3;

/// Standard errors by which the truth must lie beyond what is called, to be called in four of five
/// experiments.
pub(crate) const FOUR_OF_FIVE: f64 = 0.8416;

/// The design by which two sides were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// Each for itself: A is what B is measured against.
    #[default]
    Apart,
    /// In turn, A1 B1 A2 B2 …: A is what was changed, B what it is measured against, as in the 1994
    /// thesis.
    Rounds,
    /// In turn: A is what B is measured against.
    Turns,
    /// In the same blocks of one run: A is what B is measured against.
    Blocks,
    /// Two samples of units, such as builds, that alternated in one run: A is what B is measured
    /// against.
    Units,
}

impl Design {
    /// True if each two runs are a round.
    pub fn is_by_round(self) -> bool {
        matches!(self, Design::Rounds | Design::Turns)
    }

    /// True if values are compared within blocks or rounds.
    pub(crate) fn is_paired(self) -> bool {
        !matches!(self, Design::Apart | Design::Units)
    }

    /// The reference side, then the side that is judged.
    pub(crate) fn base_first<T>(self, sides: Sides<T>) -> [T; 2] {
        if self == Design::Rounds { [sides.b, sides.a] } else { [sides.a, sides.b] }
    }
}

/// Something of both sides; in JSON a list of two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sides<T> {
    /// The value of A.
    pub a: T,
    /// The value of B.
    pub b: T,
}

impl<T> Sides<T> {
    pub(crate) fn map<U>(self, mut of: impl FnMut(T) -> U) -> Sides<U> {
        Sides { a: of(self.a), b: of(self.b) }
    }

    pub(crate) fn as_ref(&self) -> Sides<&T> {
        Sides { a: &self.a, b: &self.b }
    }
}

impl<T: Serialize> Serialize for Sides<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        [&self.a, &self.b].serialize(serializer)
    }
}

/// The values of a side in their own unit, by the number of their block or round, from 1.
pub(crate) type Values = ByBlock;

/// The values that a shift is computed from: numbers that are larger where it is better.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    /// Differences within blocks, rounds or nodes.
    Paired(ByBlock),
    /// The reference, and the side that is judged.
    Apart([ByBlock; 2]),
    /// The reference, and the side that is judged, of which a quantile is compared: the share of
    /// the values below it.
    Quantiles([ByBlock; 2], f64),
    /// The difference of two means, and how their errors were found.
    Means(Mean, Method),
}

impl Data {
    fn shift(&self) -> Shift {
        match self {
            Data::Paired(differences) => paired_shift(&without_blocks(differences)),
            Data::Apart([base, judged]) => {
                two_sample_shift(&without_blocks(base), &without_blocks(judged))
            }
            Data::Quantiles([base, judged], share) => quantile_shift(base, judged, *share),
            Data::Means(difference, method) => difference.shift(*method),
        }
    }

    /// The ends of the interval that leaves out the truth with probability `level`.
    fn ends(&self, level: f64) -> [f64; 2] {
        match self {
            Data::Paired(differences) => paired_ends(&without_blocks(differences), level),
            Data::Apart([base, judged]) => {
                two_sample_ends(&without_blocks(base), &without_blocks(judged), level)
            }
            Data::Quantiles([base, judged], share) => quantile_ends(base, judged, *share, level),
            Data::Means(difference, _) => difference.ends(level),
        }
    }
}

/// What was observed of both sides in a cell, by one measure.
pub(crate) struct Observed {
    pub(crate) design: Design,
    /// The scale of the data.
    pub(crate) scale: Scale,
    /// The values that reports show.
    pub(crate) shown: Sides<f64>,
    /// The numbers of values.
    pub(crate) n: Sides<usize>,
    /// The values of the blocks or rounds that both sides have.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) data: Data,
    /// The factor by which drift widens the interval of runs apart.
    pub(crate) widening: Widening,
    /// The probability that two earlier runs like these lie as far apart, for runs apart; 1 where
    /// no earlier runs say it.
    pub(crate) between: Option<f64>,
}

impl Observed {
    /// Data without pairs, treated as independent.
    pub(crate) fn from_data(
        design: Design,
        scale: Scale,
        shown: Sides<f64>,
        n: Sides<usize>,
        data: Data,
    ) -> Observed {
        Observed {
            design,
            scale,
            shown,
            n,
            pairs: Vec::new(),
            data,
            widening: Widening::default(),
            between: None,
        }
    }

    /// The `values` of both sides, shown by their medians, on the scale that suits them. Those of
    /// runs apart are treated as independent.
    pub(crate) fn new(
        design: Design,
        metric: Metric,
        measure: Measure,
        values: &Sides<Values>,
    ) -> Observed {
        let [base, judged] = design.base_first(values.as_ref().map(|side| without_blocks(side)));
        let scale = Scale::new(measure, &base, &judged);
        Observed::on_scale(design, scale, metric, measure, values)
    }

    /// [`Observed::new`] on a given scale.
    pub(crate) fn on_scale(
        design: Design,
        scale: Scale,
        metric: Metric,
        measure: Measure,
        values: &Sides<Values>,
    ) -> Observed {
        let goodness = |value: f64| scale.goodness(measure, metric, value);
        if !design.is_paired() {
            let samples = values.as_ref().map(|side| -> ByBlock {
                side.iter().map(|(block, value)| (*block, goodness(*value))).collect()
            });
            let data = Data::Apart(design.base_first(samples));
            let shown = values.as_ref().map(|side| median(&without_blocks(side)));
            let n = values.as_ref().map(Vec::len);
            return Observed::from_data(design, scale, shown, n, data);
        }

        let mut differences = ByBlock::new();
        let mut pairs = Vec::new();
        for (round, sides) in shared(values) {
            let [base, judged] = design.base_first(sides).map(goodness);
            let difference = judged - base;
            differences.push((round, difference));
            pairs.push(Pair {
                round,
                a: sides.a,
                b: sides.b,
                delta: scale.change(measure.lower_is_better(metric), difference),
            });
        }

        let shown = Sides {
            a: median(&pairs.iter().map(|pair| pair.a).collect::<Vec<f64>>()),
            b: median(&pairs.iter().map(|pair| pair.b).collect::<Vec<f64>>()),
        };
        let n = Sides { a: pairs.len(), b: pairs.len() };
        let data = Data::Paired(differences);
        Observed { pairs, ..Observed::from_data(design, scale, shown, n, data) }
    }
}

/// The values of the blocks or rounds that both sides have.
pub(crate) fn shared(values: &Sides<Values>) -> Vec<(u32, Sides<f64>)> {
    let mut shared = Vec::new();
    for (number, a) in &values.a {
        if let Some(b) = in_block(&values.b, *number) {
            shared.push((*number, Sides { a: *a, b }));
        }
    }
    shared
}

/// A difference; and, once [`judge`] has seen all of its report, its verdict.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    scale: Scale,
    /// False if nobody knows which direction is better.
    has_direction: bool,
    /// True if it is of the time that the same work takes: slower or faster, not worse or better.
    is_of_time: bool,
    pub(crate) data: Data,
    /// The shift towards the better.
    pub(crate) shift: Shift,
    /// The factor by which the interval is wider than that of the data alone: for the drift of runs
    /// apart, for rounds, or for the control.
    pub(crate) widening: Widening,
    /// The value of one count more, where counts are so coarse that they do not differ.
    quantum: f64,
    /// [`Observed::between`].
    between: Option<f64>,
    /// The least difference that counts, in per cent (points), where no blocks are shared: what
    /// drift may show.
    pub(crate) floor: Option<f64>,
    /// The data of the second look, if there was one.
    again: Option<Data>,
    /// The q value over all of the report.
    pub(crate) q: f64,
    /// The interval that allows for its having been called, of all in the report.
    adjusted: Estimate,
    pub(crate) verdict: Verdict,
    /// Set if there was a second look: true if it shows the loss again.
    pub(crate) confirmed: Option<bool>,
}

impl Difference {
    pub(crate) fn new(scale: Scale, data: Data) -> Difference {
        let shift = data.shift();
        Difference {
            scale,
            has_direction: true,
            is_of_time: true,
            adjusted: shift.estimate,
            shift,
            data,
            widening: Widening::default(),
            quantum: 0.0,
            between: None,
            floor: None,
            again: None,
            q: 1.0,
            verdict: Verdict::Undecided(f64::INFINITY),
            confirmed: None,
        }
    }

    /// The factor by which the variance of the mean exceeds that of independent differences; 1 if
    /// the sides are not paired.
    pub(crate) fn variance_inflation(&self) -> f64 {
        match &self.data {
            Data::Paired(differences) => stats::dependence(&without_blocks(differences)),
            Data::Apart(_) | Data::Quantiles(..) | Data::Means(..) => 1.0,
        }
    }

    /// Makes the interval wider.
    pub(crate) fn widen(&mut self, widening: Widening) {
        self.shift = self.shift.widened(widening.alone);
        self.widening = self.widening.times(widening);
    }

    /// The size of the difference in standard errors, by its p value, so that it means the same for
    /// few values and for many; `None` without an interval.
    fn standardised(&self) -> Option<f64> {
        let errors = normal_quantile(self.shift.p);
        (self.shift.estimate.bounded() && errors.is_finite()).then_some(errors)
    }

    /// The difference in per cent, or in points; negative is worse.
    pub(crate) fn delta(&self) -> Estimate {
        self.delta_of(&self.shift.estimate)
    }

    /// The difference as a share of the reference ([`Scale::share`]).
    pub(crate) fn share(&self) -> Estimate {
        self.scale.share(&self.shift.estimate)
    }

    /// Another interval of the shift in per cent, or in points.
    pub(crate) fn delta_of(&self, shift: &Estimate) -> Estimate {
        self.scale.delta(shift)
    }

    /// The smallest difference that counts where no blocks are shared, in per cent (points): the
    /// reference in the first half of the run may differ by as much from the second half. `None`
    /// within blocks.
    pub(crate) fn drift(&self) -> Option<f64> {
        let Data::Apart([base, _]) = &self.data else {
            return None;
        };
        let (first, second) = base.split_at(base.len() / 2);
        let drift = two_sample_shift(&without_blocks(first), &without_blocks(second)).estimate;
        Some(larger_end(&self.scale.delta(&drift)))
    }

    /// The interval that leaves out the truth with probability `level`.
    pub(crate) fn interval(&self, level: f64) -> Estimate {
        let Estimate { value, .. } = self.shift.estimate;
        let ends = self.data.ends(level);
        if ends[0] >= ends[1] {
            let half = self.widening.alone * self.quantum;
            return Estimate { value, low: value - half, high: value + half };
        }
        let [low, high] = ends.map(|end| value + self.widening.alone * (end - value));
        Estimate { value, low, high }
    }

    /// The verdict by the q values of the difference. An undecided one says what is `detectable`.
    fn decide(&self, rates: Rates, threshold: f64, detectable: f64) -> Verdict {
        let widest = larger_end(&self.scale.delta(&self.interval(EQUIVALENCE_LEVEL)));
        if widest <= threshold {
            return Verdict::Same(widest);
        }

        let delta = self.delta();
        let excludes_zero = delta.low > 0.0 || delta.high < 0.0;
        let is_significant = excludes_zero && rates.q < RATE;
        let is_large = delta.value.abs() > threshold.max(self.floor.unwrap_or(0.0));
        if !(is_significant && is_large) {
            return Verdict::Undecided(detectable);
        }

        if self.between.is_some() && rates.q_between >= RATE {
            return Verdict::Differs;
        }
        if !self.has_direction {
            return Verdict::Undirected;
        }
        match (delta.value < 0.0, self.is_of_time) {
            (true, true) => Verdict::Slower,
            (false, true) => Verdict::Faster,
            (true, false) => Verdict::Worse,
            (false, false) => Verdict::Better,
        }
    }

    /// The smallest true difference, in per cent or points, that four of five such comparisons
    /// call. It exceeds what this report asks for by 0.84 standard errors; asked for are the
    /// half-width of the interval at the level of its q values, the floor and the threshold,
    /// whichever is the largest. The standard error is the half-width of the 95 % interval ÷ 1.96
    /// (Lehmann, Nonparametrics, §2.5). Infinite where so few values cannot be called at that
    /// level.
    fn detectable(&self, level: f64, threshold: f64) -> f64 {
        let error = self.shift.estimate.half_width() / NORMAL_975;
        let [threshold, floor] =
            [threshold, self.floor.unwrap_or(0.0)].map(|size| self.scale.goodness_of_size(size));
        let half = self.interval(level).half_width();

        self.scale.size(half.max(threshold).max(floor) + FOUR_OF_FIVE * error)
    }
}

/// The factor by which the intervals of a report must be wider for its `controls`, comparisons of
/// two equal arms, to differ by no more than those say.
///
/// It is the root of the mean square of their differences in standard errors, where the sum of
/// squares is larger than chance makes it in one report of twenty (χ² by Wilson & Hilferty 1931);
/// 1 otherwise, and for fewer than three controls.
pub(crate) fn widening<'a>(controls: impl IntoIterator<Item = &'a Difference>) -> f64 {
    let squares: Vec<f64> = controls
        .into_iter()
        .filter_map(Difference::standardised)
        .map(|errors| errors.powi(2))
        .collect();
    let mean = stats::mean(&squares);

    let part = 2.0 / (9.0 * squares.len() as f64);
    let max_by_chance = (1.0 - part + NORMAL_95 * part.sqrt()).powi(3);
    if squares.len() >= MIN_CONTROLS && mean > max_by_chance { mean.sqrt() } else { 1.0 }
}

fn larger_end(delta: &Estimate) -> f64 {
    delta.low.abs().max(delta.high.abs())
}

/// The q values of a difference.
#[derive(Clone, Copy)]
struct Rates {
    /// That of its own p value.
    q: f64,
    /// That of the larger of its p value and [`Observed::between`].
    q_between: f64,
}

/// Judges all differences of a report together.
pub(crate) fn judge<'a>(all: impl IntoIterator<Item = &'a mut Difference>, threshold: f64) {
    let mut all: Vec<&mut Difference> = all.into_iter().collect();
    let p: Vec<f64> = all.iter().map(|difference| difference.shift.p).collect();
    let p_between: Vec<f64> = all
        .iter()
        .map(|difference| difference.shift.p.max(difference.between.unwrap_or(0.0)))
        .collect();
    let q = false_discovery_rates(&p);
    let q_between = false_discovery_rates(&p_between);

    for (place, difference) in all.iter_mut().enumerate() {
        let rates = Rates { q: q[place], q_between: q_between[place] };
        let level = calling_level(&p, place);
        let detectable = difference.detectable(level, threshold);
        let verdict = difference.decide(rates, threshold, detectable);

        difference.q = rates.q;
        difference.verdict = verdict;
        difference.adjusted = match verdict.is_decided() {
            // Of the called ones, 95 % of these intervals hold (Benjamini & Yekutieli 2005).
            true => difference.interval(level),
            false => difference.shift.estimate,
        };
    }
    confirm_losses(all);
}

/// Notes for every loss that had a second look whether this shows the loss again. The second looks
/// are judged together.
fn confirm_losses(mut all: Vec<&mut Difference>) {
    all.retain(|difference| difference.verdict.is_loss());
    let mut looks = Vec::new();
    for difference in all {
        if let Some(again) = &difference.again {
            let shift = again.shift().widened(difference.widening.alone);
            looks.push((difference, shift));
        }
    }

    let q = false_discovery_rates(&looks.iter().map(|(_, shift)| shift.p).collect::<Vec<f64>>());
    for ((difference, shift), q) in looks.into_iter().zip(q) {
        difference.confirmed = Some(shift.estimate.value < 0.0 && q < RATE);
    }
}

/// The p value below which the comparison at `place` would be decided, given those of all others:
/// with it at 0, Benjamini and Hochberg's procedure calls `r` of `m`, and then it may be as large
/// as 5 %·r/m.
fn calling_level(p: &[f64], place: usize) -> f64 {
    let mut p = p.to_vec();
    p[place] = 0.0;
    let called = false_discovery_rates(&p).iter().filter(|rate| **rate < RATE).count();
    RATE * called as f64 / p.len() as f64
}

/// A comparison before it is judged among all of a report.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) comparison: Comparison,
    pub(crate) difference: Difference,
}

impl Draft {
    /// The comparison of a cell of the run or condition `run`, by one measure.
    pub(crate) fn new(run: &str, cell: &Cell, measure: Measure, observed: Observed) -> Draft {
        let Observed { design, scale, shown, n, pairs, widening, between, data } = observed;
        let is_of_time = measure.is_of_time(cell.metric);
        let mut difference = Difference {
            between,
            is_of_time,
            has_direction: measure != Measure::Score || cell.metric != Metric::Unknown,
            ..Difference::new(scale, data)
        };
        difference.widen(widening);
        let Shift { p, method, .. } = difference.shift;
        let comparison = Comparison {
            run: run.to_owned(),
            cell: cell.clone(),
            measure,
            scale,
            unit: measure.unit(&cell.unit),
            design,
            a: shown.a,
            b: shown.b,
            n,
            delta: difference.delta(),
            adjusted: difference.delta(),
            p,
            q: difference.q,
            method,
            verdict: difference.verdict,
            pairs,
            units: None,
            two_speeds: None,
            resolution: None,
            warnings: Vec::new(),
        };
        Draft { comparison, difference }
    }

    /// With the data of a second look, if that has any values.
    pub(crate) fn looked_at_again(mut self, observed: Observed) -> Draft {
        self.difference.again = (observed.n.a > 0).then_some(observed.data);
        self
    }

    /// With an interval that is no narrower than `quantum`, the worth of one count more, on either
    /// side: counts that are too coarse to differ give an interval without any width.
    pub(crate) fn resolved(mut self, quantum: f64) -> Draft {
        let estimate = &mut self.difference.shift.estimate;
        if estimate.low >= estimate.high && quantum > 0.0 {
            let half = self.difference.widening.alone * quantum;
            (estimate.low, estimate.high) = (estimate.value - half, estimate.value + half);
            self.difference.quantum = quantum;
            self.comparison.delta = self.difference.delta();
        }
        self
    }

    /// The comparison with its verdict.
    pub(crate) fn judged(&self) -> Comparison {
        let difference = &self.difference;
        Comparison {
            delta: difference.delta(),
            adjusted: difference.delta_of(&difference.adjusted),
            p: difference.shift.p,
            q: difference.q,
            verdict: difference.verdict,
            ..self.comparison.clone()
        }
    }
}

#[cfg(test)]
mod tests;
