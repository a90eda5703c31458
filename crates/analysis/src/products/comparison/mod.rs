//! Two sides of one figure compared: the difference with its interval, and the verdict. Runs,
//! conditions, commands and fleets all are. [`engine`] decides how, and says in its table which
//! function holds which statistic; `docs/methodology.md` says why.

pub(crate) mod engine;
pub(crate) mod notes;
pub(crate) mod pool;
mod sample;
mod scale;
mod speeds;
mod unseen;
mod verdict;

use serde::Serialize;

use catalogue::Metric;
use journal::Cell;
use stats::{Estimate, Method, Spreads, spreads};

use crate::figures::{Measure, Remark};
use engine::Draft;

pub use engine::{Design, RATE, Sides};
pub use pool::{GeometricMean, Worst};
pub use sample::Units;
pub use scale::Scale;
pub use speeds::TwoSpeeds;
pub use unseen::{Outcome, Unseen, undirected};
pub use verdict::Verdict;

/// Blocks from which on values have a spread.
const MIN_PAIRS_OF_SPREADS: usize = 8;

/// One measure of one cell, in two runs, in rounds of two or under two conditions.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The run or condition that is judged: side A of [`Design::Rounds`], side B of all others.
    pub run: String,
    /// The cell, as A has it, or the condition.
    pub cell: Cell,
    /// The measure.
    pub measure: Measure,
    /// The scale of its differences.
    pub scale: Scale,
    /// The unit of the values.
    pub unit: String,
    /// The design by which both sides were measured.
    pub design: Design,
    /// The value of A; of rounds, the median over them.
    pub a: f64,
    /// The value of B.
    pub b: f64,
    /// The numbers of trials; of rounds or blocks.
    pub n: Sides<usize>,
    /// The difference in per cent of a rate (in points for deadlines met) with its 95 % interval;
    /// negative is worse. Reports show [`Comparison::change`].
    pub delta: Estimate,
    /// `delta`, with an interval corrected for selection among the report's comparisons.
    pub adjusted: Estimate,
    /// The two-sided p value.
    pub p: f64,
    /// Benjamini and Hochberg's q value over all comparisons of the report.
    pub q: f64,
    /// The method of the interval.
    pub method: Method,
    /// The verdict.
    pub verdict: Verdict,
    /// The rounds or blocks; empty of runs apart.
    pub pairs: Vec<Pair>,
    /// The units that are its samples, where several executions are one.
    pub units: Option<Units>,
    /// The two speeds of its executions or units, where they have two.
    pub two_speeds: Option<TwoSpeeds>,
    /// One unit of the last digit of the values, in per cent of them, where that is more than 1 %:
    /// no difference can be told closer than that.
    pub resolution: Option<f64>,
    /// Remarks on this number, with the letter of the run.
    pub warnings: Vec<Remark>,
}

/// The values of one round or block.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Pair {
    /// Its number, from 1.
    pub round: u32,
    /// The value in A.
    pub a: f64,
    /// The value in B.
    pub b: f64,
    /// The change of the figure in per cent (in points for deadlines met).
    pub delta: f64,
}

impl Comparison {
    /// The name of the measure where the test has no name, as of commands that alternate: `time`,
    /// `memory`.
    pub fn unnamed(&self) -> Option<&'static str> {
        let has_name = !self.cell.is_alternating() || self.cell.is_printed();
        match self.measure {
            _ if has_name => None,
            Measure::Score => Some("time"),
            measure => Some(measure.name()),
        }
    }

    /// The scatter of the values from block to block. `None` for fewer than eight blocks, which
    /// show nothing that is not plain without them, and for values that may be 0.
    pub fn spreads(&self) -> Option<Spreads> {
        let pairs: Vec<[f64; 2]> = self.pairs.iter().map(|pair| [pair.a, pair.b]).collect();
        let is_known = pairs.len() >= MIN_PAIRS_OF_SPREADS
            && pairs.as_flattened().iter().all(|value| *value > 0.0);
        is_known.then(|| spreads(&pairs))
    }

    /// True if the differences are of the time that the same work takes.
    pub(crate) fn is_of_time(&self) -> bool {
        self.measure.is_of_time(self.cell.metric)
    }

    /// The time that the same work takes, as a multiple of the reference's; `None` if this is
    /// neither a time nor a rate.
    pub fn time_factor(&self) -> Option<f64> {
        let is_quotient = self.is_of_time() && self.scale.is_ratio();
        is_quotient.then(|| 1.0 / (1.0 + self.delta.value / 100.0))
    }

    /// True if a smaller figure is better: of times, latencies and energies.
    pub fn lower_is_better(&self) -> bool {
        self.measure.lower_is_better(self.cell.metric)
    }

    /// True if a smaller figure is better; `None` if nobody knows the better direction.
    pub fn direction(&self) -> Option<bool> {
        let is_known = self.measure != Measure::Score || self.cell.metric != Metric::Unknown;
        is_known.then(|| self.lower_is_better())
    }

    /// The change of the figure itself with its 95 % interval, in per cent (in points for deadlines
    /// met): of times, latencies and energies, positive is worse.
    pub fn change(&self) -> Estimate {
        self.change_of(self.delta)
    }

    /// [`Comparison::change`], with an interval corrected for selection among the report's
    /// comparisons.
    pub fn adjusted_change(&self) -> Estimate {
        self.change_of(self.adjusted)
    }

    fn change_of(&self, delta: Estimate) -> Estimate {
        if self.lower_is_better() { self.scale.inverse(delta) } else { delta }
    }

    /// True for a significant loss, by an estimate of at least `size` per cent (points for
    /// deadlines met).
    pub(crate) fn is_loss_of(&self, size: f64) -> bool {
        self.verdict.is_loss() && self.change().value.abs() >= size
    }

    /// True for such a loss, or for a difference of runs apart that may lie between runs alone.
    pub(crate) fn is_suspect_of(&self, size: f64) -> bool {
        let is_loss = self.delta.value < 0.0 && self.cell.metric != Metric::Unknown;
        let is_worse = self.verdict == Verdict::Differs && is_loss;
        (self.verdict.is_loss() || is_worse) && self.change().value.abs() >= size
    }

    /// True for a difference of at least that size whose better direction nobody knows.
    pub fn is_undirected_of(&self, size: f64) -> bool {
        self.verdict == Verdict::Undirected && self.delta.value.abs() >= size
    }

    /// A remark if the two values differ in the other direction than the difference does, where a
    /// reader would see it: the difference is decided, or it is of commands that alternate.
    pub(crate) fn direction_remark(&self) -> Option<Remark> {
        let is_seen = self.verdict.is_decided() || self.cell.is_alternating();
        self.other_way().filter(|_| is_seen)
    }

    /// A remark if the two values differ in the other direction than the difference does.
    pub fn other_way(&self) -> Option<Remark> {
        let [base, judged] = self.design.base_first(Sides { a: self.a, b: self.b });
        let is_other_way = (judged - base) * self.change().value < 0.0;
        is_other_way.then_some(Remark::OtherWay { is_of_pairs: self.design.is_paired() })
    }

    /// The difference that `control` shows between two equal arms of the same cell by the same
    /// measure, if this one was called and is no larger.
    pub(crate) fn swing(&self, control: &Comparison) -> Option<f64> {
        let size = control.change().value.abs();
        let is_within = self.verdict.is_decided() && self.change().value.abs() <= size;
        (self.is_akin(control) && is_within).then_some(size)
    }

    /// True if it would be a significant difference if it were the only one of its report.
    pub(crate) fn is_crowded_out(&self, threshold: f64) -> bool {
        let Estimate { value, low, high } = self.delta;
        let is_apart = low > 0.0 || high < 0.0;
        let is_open = matches!(self.verdict, Verdict::Undecided(_));
        is_open && is_apart && value.abs() > threshold && self.p <= RATE && self.q > RATE
    }

    /// True if there are too few values to show a loss of any size.
    pub(crate) fn is_blind(&self) -> bool {
        self.verdict == Verdict::Undecided(f64::INFINITY)
    }

    /// The size of the difference in words: `5.2 %`, or `from 0 to 3 B/op` where a per cent is not
    /// defined.
    pub fn describe_size(&self) -> String {
        let size = self.change().value.abs();
        if size.is_finite() {
            return format!("{size:.1} {}", self.measure.delta_unit());
        }
        let [a, b] = [self.a, self.b].map(words::compact);
        format!("from {a} to {b} {}", self.unit).trim_end().to_owned()
    }

    /// True if the difference is written as a factor.
    pub fn is_factor(&self) -> bool {
        self.measure.delta_unit() == "%" && words::is_factor(self.change().value)
    }

    /// The size of the difference and its interval as gates say them: `5.2 %` and ` (4.1 to 6.3)`,
    /// from twice on `2.27x` and ` (1.84x to 2.95x)`.
    pub fn describe_loss(&self) -> (String, String) {
        let change = self.change();
        if self.is_factor() {
            let as_factor = words::change_like(change.value);
            let [size, low, high] = [change.value, change.low, change.high].map(as_factor);
            let ends = if change.bounded() { format!(" ({low} to {high})") } else { String::new() };
            return (size, ends);
        }
        if !change.bounded() {
            return (self.describe_size(), String::new());
        }

        // The smaller one first; of a loss both have the sign that the verdict says.
        let mut ends = [change.low.abs(), change.high.abs()];
        ends.sort_by(f64::total_cmp);
        let [low, high] = ends.map(|end| words::signed_fine(end).replace('+', ""));
        (self.describe_size(), format!(" ({low} to {high})"))
    }

    /// True for what executions used in addition to time: processor time and memory.
    pub fn is_of_execution(&self) -> bool {
        matches!(self.measure, Measure::Cpu | Measure::User | Measure::System | Measure::Memory)
    }

    /// True of a quantile of executions, or of a list or histogram that they printed.
    pub fn is_of_quantile(&self) -> bool {
        if !self.cell.is_printed() {
            return self.measure.is_percentile();
        }
        let (percentile, _) = self.cell.label.split_once(' ').unwrap_or_default();
        let number = percentile.strip_prefix('p').map(str::parse::<f64>);
        number.is_some_and(|number| number.is_ok_and(f64::is_finite))
    }

    /// True for energies.
    pub fn is_energy(&self) -> bool {
        self.measure == Measure::Energy
    }

    /// True if both are of the same cell and measure.
    pub(crate) fn is_like(&self, other: &Comparison) -> bool {
        self.measure == other.measure && self.cell.key == other.cell.key
    }

    /// True if both are of the same measure and cell under any condition, as a control is.
    pub fn is_akin(&self, other: &Comparison) -> bool {
        self.measure == other.measure && self.cell.key.same_family(&other.cell.key)
    }
}

/// The change of a time, in per cent, that goes with a change of its rate.
pub(crate) fn inverse(delta: Estimate) -> Estimate {
    delta.image(|delta| 100.0 * (1.0 / (1.0 + delta / 100.0) - 1.0))
}

/// Judges the comparisons of a report among each other. Energies are judged separately: whether a
/// meter is attached must not change what is called of the machine's speed.
pub(crate) fn judge(drafts: &mut [Draft], threshold: f64) {
    for is_energy in [false, true] {
        let own = drafts.iter_mut().filter(|draft| draft.comparison.is_energy() == is_energy);
        engine::judge(own.map(|draft| &mut draft.difference), threshold);
    }
}
