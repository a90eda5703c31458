//! How two sides become a difference, an interval, a verdict and the smallest difference that would
//! have been detected: decided here alone, for runs, conditions and fleets.
//!
//! | step | function | today |
//! |---|---|---|
//! | values | `rows::observed`, `cost::arms`, `fleet::against` | one per block, round or node |
//! | scale | [`Measure::goodness`] | logarithms, more is better; shares of deadlines as they are |
//! | pairing | [`Observed::new`], [`shared`] | differences within what both sides have, or two samples |
//! | shift, interval, p | [`Data::shift`] | the next table |
//! | other levels | [`Data::ends`] | the same intervals, wider or narrower |
//! | control | [`widening`] | one factor for all intervals of a report, if equal arms differ too much |
//! | multiple testing | [`judge`], [`level`] | Benjamini & Hochberg's q over a report (1995) |
//! | verdict | [`Difference::verdict`] | see below |
//! | power | [`Difference::detectable`] | what four of five such comparisons would have detected |
//! | between runs | `rows::chance`, [`judge`] | q over what another run may differ by |
//! | second look | [`judge`]; [`super::gate`] of later runs | q over what was looked at again |
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
//!
//! (Wilcoxon 1945; Mann & Whitney 1947; Hodges & Lehmann 1963; Hollander & Wolfe, Nonparametric
//! Statistical Methods, §3 and §4; Welch 1947.) Shares of deadlines of runs apart, and percentiles
//! that only all trials together carry, are means with Welch's interval. A fleet against an earlier
//! one is paired by node.
//!
//! A difference is *decided* if its interval excludes 0, its size exceeds the threshold and the
//! floor, and its q value is below 5 %; of runs apart it *differs*, and is decided only if runs like
//! them seldom differ as much. It is *the same* if its 90 % interval lies within the threshold (two
//! one-sided tests at 5 %, Schuirmann 1987). Otherwise it is *undecided*.

use serde::{Serialize, Serializer};

use super::{Comparison, Measure, Pair, Verdict};
use crate::Widening;
use catalogue::Metric;
use journal::Cell;
use stats::{
    ByBlock, Estimate, Mean, Method, NORMAL_975, Shift, false_discovery_rates, in_block, median, normal_quantile,
    paired_ends, paired_shift, two_sample_ends, two_sample_shift, without_blocks,
};

/// The false discovery rate of a report's verdicts.
pub const RATE: f64 = 0.05;

/// The level of the interval that shows that two are the same: 5 % on each side.
const EQUIVALENCE: f64 = 0.1;

/// Standard errors by which the truth must lie beyond what is called, to be called in four of five experiments.
pub(crate) const FOUR_OF_FIVE: f64 = 0.8416;

/// The design by which two sides were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Design {
    /// Each for itself: A is what B is measured against.
    #[default]
    Apart,
    /// In turn, A1 B1 A2 B2 …: A is what was changed, B what it is measured against, as in the 1994 thesis.
    Rounds,
    /// In turn: A is what B is measured against.
    Turns,
    /// In the same blocks of one run: A is what B is measured against.
    Blocks,
}

impl Design {
    /// Returns true if each two runs are a round.
    pub fn is_in_turn(self) -> bool {
        matches!(self, Design::Rounds | Design::Turns)
    }

    /// Returns what is measured against, and then what is judged.
    pub(crate) fn base_first<T>(self, sides: Sides<T>) -> [T; 2] {
        if self == Design::Rounds { [sides.b, sides.a] } else { [sides.a, sides.b] }
    }

    fn judged<T>(self, sides: &mut Sides<T>) -> &mut T {
        if self == Design::Rounds { &mut sides.a } else { &mut sides.b }
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
    /// Returns something else of both sides.
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

/// A side's values in their own unit, by the number of the block or round, from 1.
pub(crate) type Values = ByBlock;

/// The values that a shift is computed from: numbers that are larger where it is better.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    /// Differences within blocks, rounds or nodes.
    Paired(ByBlock),
    /// The reference, and the side that is judged.
    Apart([ByBlock; 2]),
    /// The difference of two means, and how their errors were found.
    Means(Mean, Method),
}

impl Data {
    fn shift(&self) -> Shift {
        match self {
            Data::Paired(differences) => paired_shift(&without_blocks(differences)),
            Data::Apart([base, judged]) => two_sample_shift(&without_blocks(base), &without_blocks(judged)),
            Data::Means(difference, method) => difference.shift(*method),
        }
    }

    /// The ends of the interval that leaves out the truth with probability `level`.
    fn ends(&self, level: f64) -> [f64; 2] {
        match self {
            Data::Paired(differences) => paired_ends(&without_blocks(differences), level),
            Data::Apart([base, judged]) => two_sample_ends(&without_blocks(base), &without_blocks(judged), level),
            Data::Means(difference, _) => difference.ends(level),
        }
    }
}

/// The values of both sides in a cell, by one measure.
pub(crate) struct Observed {
    pub(crate) design: Design,
    /// The values that reports show.
    pub(crate) shown: Sides<f64>,
    /// The number of values.
    pub(crate) n: Sides<usize>,
    /// The blocks or rounds that both have.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) data: Data,
    /// How much wider an interval is for the drift of runs apart.
    pub(crate) widening: Widening,
    /// The probability that two earlier runs like these lie as far apart, for runs apart; 1 where no earlier runs say
    /// it.
    pub(crate) between: Option<f64>,
}

impl Observed {
    /// Returns what is compared without pairs, as if every trial were independent.
    pub(crate) fn from_data(design: Design, shown: Sides<f64>, n: Sides<usize>, data: Data) -> Observed {
        Observed { design, shown, n, pairs: Vec::new(), data, widening: Widening::default(), between: None }
    }

    /// Returns what `values` come to, shown by their medians; apart as if every trial were independent.
    pub(crate) fn new(design: Design, metric: Metric, measure: Measure, values: &Sides<Values>) -> Observed {
        let better = |value: f64| measure.goodness(metric, value);
        let turned = |values: &Values| values.iter().map(|(block, value)| (*block, better(*value))).collect();
        if design == Design::Apart {
            let shown = values.as_ref().map(|values| median(&without_blocks(values)));
            let data = Data::Apart(design.base_first(values.as_ref().map(turned)));
            return Observed::from_data(design, shown, values.as_ref().map(Vec::len), data);
        }
        let (mut differences, mut pairs) = (ByBlock::new(), Vec::new());
        for (round, sides) in shared(values) {
            let [base, judged] = design.base_first(sides);
            let difference = better(judged) - better(base);
            differences.push((round, difference));
            pairs.push(Pair { round, a: sides.a, b: sides.b, delta: measure.change(metric, difference) });
        }
        let shown = Sides { a: middle(&pairs, |pair| pair.a), b: middle(&pairs, |pair| pair.b) };
        let n = Sides { a: pairs.len(), b: pairs.len() };
        Observed { pairs, ..Observed::from_data(design, shown, n, Data::Paired(differences)) }
    }
}

fn middle(pairs: &[Pair], side: fn(&Pair) -> f64) -> f64 {
    median(&pairs.iter().map(side).collect::<Vec<f64>>())
}

/// Returns the values of the blocks or rounds that both sides have.
pub(crate) fn shared(values: &Sides<Values>) -> Vec<(u32, Sides<f64>)> {
    let pair = |(number, a): &(u32, f64)| Some((*number, Sides { a: *a, b: in_block(&values.b, *number)? }));
    values.a.iter().filter_map(pair).collect()
}

/// A difference, and what it comes to among all of a report once [`judge`] has seen it.
#[derive(Debug, Clone)]
pub(crate) struct Difference {
    measure: Measure,
    /// True if it is of the time that the same work takes: slower or faster, not worse or better.
    is_of_time: bool,
    pub(super) data: Data,
    /// The shift towards the better.
    pub(crate) shift: Shift,
    /// The widening of its interval beyond what its data alone give, for the drift of runs apart or for the control.
    pub(super) widening: Widening,
    /// The value of one count more, where counts are so coarse that they do not differ.
    quantum: f64,
    /// As of [`Observed`].
    between: Option<f64>,
    /// The least difference that counts, in per cent (points), where no blocks are shared: what drift may show.
    pub(crate) floor: Option<f64>,
    /// The same in a second look, unless there was none.
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
    pub(crate) fn new(measure: Measure, data: Data) -> Difference {
        let (shift, verdict) = (data.shift(), Verdict::Undecided(f64::INFINITY));
        Difference {
            measure,
            is_of_time: measure.is_of_time(Metric::Rate),
            adjusted: shift.estimate,
            shift,
            data,
            widening: Widening::default(),
            quantum: 0.0,
            between: None,
            floor: None,
            again: None,
            q: 1.0,
            verdict,
            confirmed: None,
        }
    }

    /// Returns by how much the variance of its mean exceeds that of independent differences; 1 of what is not paired.
    pub(crate) fn dependence(&self) -> f64 {
        match &self.data {
            Data::Paired(differences) => stats::dependence(&without_blocks(differences)),
            Data::Apart(_) | Data::Means(..) => 1.0,
        }
    }

    /// Makes its interval wider.
    pub(crate) fn widen(&mut self, widening: Widening) {
        self.shift = self.shift.widened(widening.alone);
        self.widening = self.widening.times(widening);
    }

    /// Returns the size of the difference in standard errors, by its p value, so that it means the same of few values
    /// and of many; `None` without an interval.
    fn standardised(&self) -> Option<f64> {
        let errors = normal_quantile(self.shift.p);
        (self.shift.estimate.bounded() && errors.is_finite()).then_some(errors)
    }

    /// Returns the difference in per cent, or in points; negative is worse.
    pub(crate) fn delta(&self) -> Estimate {
        self.measure.delta(&self.shift.estimate)
    }

    /// Returns the floor of what shares no blocks: it is no surer than what it is measured against is in the first half
    /// of the run against the second. `None` within blocks.
    pub(crate) fn drift(&self) -> Option<f64> {
        let Data::Apart([base, _]) = &self.data else { return None };
        let (first, second) = base.split_at(base.len() / 2);
        let drift = two_sample_shift(&without_blocks(first), &without_blocks(second)).estimate;
        Some(larger_end(&self.measure.delta(&drift)))
    }

    /// Returns its interval that leaves out the truth with probability `level`.
    pub(crate) fn interval(&self, level: f64) -> Estimate {
        let Estimate { value, .. } = self.shift.estimate;
        match self.data.ends(level) {
            [low, high] if low >= high => Estimate { value, low: value - self.quantum, high: value + self.quantum },
            ends => {
                let [low, high] = ends.map(|end| value + self.widening.alone * (end - value));
                Estimate { value, low, high }
            }
        }
    }

    /// Returns the difference in per cent, or in points, with that interval.
    pub(crate) fn delta_at(&self, level: f64) -> Estimate {
        self.measure.delta(&self.interval(level))
    }

    /// Returns what it comes to by its q value; `between` is that of what another run may differ by.
    fn verdict(&self, [q, between]: [f64; 2], threshold: f64, detectable: f64) -> Verdict {
        let delta = self.delta();
        let widest = larger_end(&self.measure.delta(&self.interval(EQUIVALENCE)));
        if widest <= threshold {
            return Verdict::Same(widest);
        }
        let certain = (delta.low > 0.0 || delta.high < 0.0) && q < RATE;
        if !certain || delta.value.abs() <= threshold.max(self.floor.unwrap_or(0.0)) {
            return Verdict::Undecided(detectable);
        }
        if self.between.is_some() && between >= RATE {
            return Verdict::Differs;
        }
        match (delta.value < 0.0, self.is_of_time) {
            (true, true) => Verdict::Slower,
            (false, true) => Verdict::Faster,
            (true, false) => Verdict::Worse,
            (false, false) => Verdict::Better,
        }
    }

    /// Returns the smallest true difference, in per cent or points, that four of five such comparisons call: one that
    /// passes what this report asks for (the half-width of the interval at the level of its q values, the floor and the
    /// threshold, whichever is the largest), and 0.84 standard errors. The standard error is the half-width of the 95 %
    /// interval ÷ 1.96 (Lehmann, Nonparametrics, §2.5). Infinite where so few values cannot be called at that level.
    fn detectable(&self, level: f64, threshold: f64) -> f64 {
        let Estimate { low, high, .. } = self.shift.estimate;
        let error = (high - low) / 2.0 / NORMAL_975;
        let [threshold, floor] = [threshold, self.floor.unwrap_or(0.0)].map(|size| self.measure.goodness_of_size(size));
        let asked = self.interval(level);
        let half = (asked.high - asked.low) / 2.0;
        self.measure.size(half.max(threshold).max(floor) + FOUR_OF_FIVE * error)
    }
}

/// Returns how many times as wide the intervals of a report must be for its `controls`, comparisons of two equal arms,
/// to differ by no more than those say: the root of the mean square of their differences in standard errors, where the
/// sum of squares is larger than chance lets it be in one report of twenty (χ² by Wilson & Hilferty 1931); 1 otherwise,
/// and of fewer than three.
pub(crate) fn widening<'a>(controls: impl IntoIterator<Item = &'a Difference>) -> f64 {
    let squares: Vec<f64> =
        controls.into_iter().filter_map(Difference::standardised).map(|errors| errors.powi(2)).collect();
    let mean = stats::mean(&squares);
    let part = 2.0 / (9.0 * squares.len() as f64);
    let most = (1.0 - part + 1.645 * part.sqrt()).powi(3);
    if squares.len() >= 3 && mean > most { mean.sqrt() } else { 1.0 }
}

fn larger_end(delta: &Estimate) -> f64 {
    delta.low.abs().max(delta.high.abs())
}

/// Judges the differences of a report among each other.
pub(crate) fn judge<'a>(all: impl IntoIterator<Item = &'a mut Difference>, threshold: f64) {
    let mut all: Vec<&mut Difference> = all.into_iter().collect();
    let p: Vec<f64> = all.iter().map(|one| one.shift.p).collect();
    let between: Vec<f64> = all.iter().map(|one| one.shift.p.max(one.between.unwrap_or(0.0))).collect();
    let rates = false_discovery_rates(&p).into_iter().zip(false_discovery_rates(&between));
    for ((place, one), (q, between)) in all.iter_mut().enumerate().zip(rates) {
        let level = level(&p, place);
        (one.q, one.verdict) = (q, one.verdict([q, between], threshold, one.detectable(level, threshold)));
        // Of what is called, 95 % of these intervals hold (Benjamini & Yekutieli 2005).
        one.adjusted = if one.verdict.is_decided() { one.interval(level) } else { one.shift.estimate };
    }
    all.retain(|one| one.verdict.is_loss() && one.again.is_some());
    let again = all.iter().filter_map(|one| Some(one.again.as_ref()?.shift().widened(one.widening.alone)));
    let again: Vec<Shift> = again.collect();
    let q = false_discovery_rates(&again.iter().map(|shift| shift.p).collect::<Vec<f64>>());
    for ((one, shift), q) in all.into_iter().zip(again).zip(q) {
        one.confirmed = Some(shift.estimate.value < 0.0 && q < RATE);
    }
}

/// Returns the p value below which the comparison at `place` would be decided, given those of all others: with it at 0,
/// Benjamini and Hochberg's procedure calls `r` of `m`, and then it may be as large as 5 %·r/m.
fn level(p: &[f64], place: usize) -> f64 {
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
    /// Returns the comparison of a cell of the run or condition `run`, by one measure.
    pub(crate) fn new(run: &str, cell: &Cell, measure: Measure, observed: Observed) -> Draft {
        let Observed { design, mut shown, n, pairs, widening, between, data } = observed;
        let is_of_time = measure.is_of_time(cell.metric);
        let mut difference = Difference { between, is_of_time, ..Difference::new(measure, data) };
        difference.widen(widening);
        // The judged side is shown as the difference has it, so that no row contradicts itself.
        let shift = difference.shift.estimate.value;
        if shift.is_finite() {
            *design.judged(&mut shown) = measure.beyond(cell.metric, design.base_first(shown)[0], shift);
        }
        let Shift { p, method, .. } = difference.shift;
        let comparison = Comparison {
            run: run.to_owned(),
            cell: cell.clone(),
            measure,
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
            resolution: None,
            warnings: Vec::new(),
        };
        Draft { comparison, difference }
    }

    /// With what a second look has, unless that is nothing.
    pub(crate) fn looked_at_again(mut self, observed: Observed) -> Draft {
        self.difference.again = (observed.n.a > 0).then_some(observed.data);
        self
    }

    /// An interval without any width is of counts too coarse to differ: it gets what one count more is worth,
    /// `quantum`.
    pub(crate) fn resolved(mut self, quantum: f64) -> Draft {
        let estimate = &mut self.difference.shift.estimate;
        if estimate.low >= estimate.high && quantum > 0.0 {
            (estimate.low, estimate.high) = (estimate.value - quantum, estimate.value + quantum);
            self.difference.quantum = quantum;
            self.comparison.delta = self.difference.delta();
        }
        self
    }

    /// Returns the comparison as it was judged.
    pub(crate) fn judged(&self) -> Comparison {
        let Difference { measure, adjusted, q, verdict, shift, .. } = &self.difference;
        let (delta, adjusted) = (self.difference.delta(), measure.delta(adjusted));
        Comparison { delta, adjusted, p: shift.p, q: *q, verdict: *verdict, ..self.comparison.clone() }
    }
}

#[cfg(test)]
mod tests;
