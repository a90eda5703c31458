//! The arms of a cell's blocks, and what a condition's differ by from those that they are compared with.

use std::collections::BTreeMap;

use super::{Comparison, Effect, Estimate, Measure, Missing, Row, Verdict, trail};
use crate::compare::Pair;
use crate::compare::sides::{LEAST, goodness};
use crate::{Remark, latency, score};
use catalogue::Metric;
use journal::{Cell, Trial};
use stats::{
    Histogram, Method, Shift, median, paired_half_width, paired_shift, two_sample_half_width, two_sample_shift,
};

/// The trials of a run by cell, and the condition that the others are compared with.
pub(super) struct Arms<'a> {
    /// The cells.
    pub(super) cells: &'a [Cell],
    /// Their trials, by the cell's place.
    pub(super) trials: &'a [Vec<&'a Trial>],
    /// The condition compared with.
    pub(super) against: &'a str,
}

/// A cell's value by block.
type Values = BTreeMap<u32, f64>;

/// What a shift is computed of: numbers that are larger where the run is better.
pub(super) enum Differences {
    /// One per block.
    Blocks(Vec<f64>),
    /// What it is compared with, and itself: they have no blocks in common.
    Apart(Vec<f64>, Vec<f64>),
}

impl Differences {
    pub(super) fn shift(&self) -> Shift {
        match self {
            Differences::Blocks(differences) => paired_shift(differences),
            Differences::Apart(base, other) => two_sample_shift(base, other),
        }
    }

    /// Half the width of the interval that leaves out the truth with probability `level`.
    pub(super) fn half_width(&self, level: f64) -> f64 {
        match self {
            Differences::Blocks(differences) => paired_half_width(differences, level),
            Differences::Apart(base, other) => two_sample_half_width(base, other, level),
        }
    }
}

/// One measure of one cell, before it is judged among all.
pub(super) struct Draft<'a> {
    /// The condition's cell.
    pub(super) cell: &'a Cell,
    /// What is compared.
    pub(super) measure: Measure,
    /// What the shift is of.
    pub(super) differences: Differences,
    /// The same of the second look; empty without one.
    pub(super) second: Vec<f64>,
    /// The shift towards the better.
    pub(super) shift: Shift,
    /// The blocks, and the values that reports show of both sides.
    pairs: Vec<Pair>,
    shown: (f64, f64),
    /// The number of values on both sides.
    n: (usize, usize),
    /// What is known of this number.
    pub(super) warnings: Vec<Remark>,
    /// Filled in when it is judged.
    pub(super) q: f64,
    pub(super) verdict: Verdict,
    pub(super) floor: Option<f64>,
    pub(super) confirmed: Option<bool>,
}

/// What a cell is compared by.
pub(super) fn measures(cell: &Cell) -> &'static [Measure] {
    match cell.metric {
        Metric::Latency => &[Measure::P50, Measure::P99, Measure::P999, Measure::Met],
        Metric::Rate | Metric::Time => &[Measure::Score],
    }
}

/// Returns a trial's value of a measure, where it has one that a comparison can use.
pub(super) fn value(cell: &Cell, trial: &Trial, measure: Measure) -> Option<f64> {
    let quantile = |share: f64| {
        let all = Histogram::sum(latency::frames(trial).map(|frames| &frames.latency));
        all.carries(share).then(|| (all.quantile(share) / latency::MS).max(LEAST))
    };
    let value = match measure {
        Measure::Score => score::rate(cell, trial).filter(|rate| *rate > 0.0),
        Measure::P50 => quantile(0.5),
        Measure::P99 => quantile(0.99),
        Measure::P999 => quantile(0.999),
        Measure::Met => latency::frames(trial).any(|frames| frames.schedule.deadline > 0).then(|| latency::met(trial)),
    };
    value.filter(|value| value.is_finite())
}

/// The smallest difference that the counts of a trial can show: of the logarithm one count more; of deadlines met, in
/// points, what may hide where all frames of all trials do alike (the rule of three, Hanley & Lippman-Hand 1983).
fn quantum(cell: &Cell, trials: &[&Trial], measure: Measure) -> f64 {
    if measure == Measure::Met {
        let planned = trials.iter().flat_map(|trial| latency::frames(trial)).map(|frames| frames.schedule.planned);
        return 300.0 / planned.sum::<u64>().max(1) as f64;
    }
    if measure != Measure::Score || cell.value.is_some() {
        return 0.0;
    }
    let counts = |trial: &&&Trial| -> f64 {
        trial.copies.iter().map(|copy| score::count(score::counted(cell, copy))).sum::<f64>().max(1.0)
    };
    let measured = trials.iter().filter(|trial| !trial.copies.is_empty());
    1.0 / median(&measured.map(|trial| counts(&trial)).collect::<Vec<f64>>())
}

impl<'a> Arms<'a> {
    /// The trials of a cell.
    pub(super) fn of(&self, cell: &Cell) -> &'a [&'a Trial] {
        self.trials.get(cell.id).map_or(&[], Vec::as_slice)
    }

    /// The arms of the condition compared with that are in the same place as `cell`: one or two, the control last.
    pub(super) fn compared_with(&self, cell: &Cell) -> Vec<&'a Cell> {
        let same = |other: &&Cell| other.key.same_family(&cell.key) && other.key.condition == self.against;
        let mut found: Vec<&Cell> = self.cells.iter().filter(same).collect();
        found.sort_by_key(|cell| cell.control);
        found
    }

    /// A cell's value by block, of the first or the second look.
    pub(super) fn values(&self, cell: &Cell, measure: Measure, second: bool) -> Values {
        let looked = self.of(cell).iter().filter(|trial| trial.second == second);
        looked.filter_map(|trial| Some((trial.block, value(cell, trial, measure)?))).collect()
    }

    /// The second arm against the first.
    pub(super) fn controls(&self, controls: impl Iterator<Item = &'a Cell>) -> Vec<Draft<'a>> {
        let mut found = Vec::new();
        for cell in controls {
            let first: Vec<&Cell> = self.compared_with(cell).into_iter().filter(|other| !other.control).collect();
            found.extend(measures(cell).iter().filter_map(|measure| self.draft(cell, &first, *measure)));
        }
        found
    }

    /// Compares a condition's cell in all its measures; or says why that cannot be.
    pub(super) fn drafts(&self, cell: &'a Cell) -> (Vec<Draft<'a>>, Vec<Missing>) {
        let compared = self.compared_with(cell);
        let found: Vec<Draft<'_>> =
            measures(cell).iter().filter_map(|measure| self.draft(cell, &compared, *measure)).collect();
        let has = |measure| found.iter().any(|draft| draft.measure == measure);
        let mut gaps = Vec::new();
        if found.is_empty() {
            gaps.push(Missing::of(cell, &self.why_not(cell, &compared)));
        } else if cell.metric == Metric::Latency && !has(Measure::P99) {
            let frames = |trial: &&Trial| latency::frames(trial).map(|frames| frames.latency.count()).sum::<u64>();
            let most = self.of(cell).iter().map(frames).max().unwrap_or(0);
            gaps.push(Missing::of(cell, &format!("p99 takes 1000 frames in a trial, and these have {most}")));
        }
        (found, gaps)
    }

    fn why_not(&self, cell: &Cell, compared: &[&Cell]) -> String {
        let counted = |cell: &Cell| measures(cell).iter().any(|measure| !self.values(cell, *measure, false).is_empty());
        if !counted(cell) {
            return "nothing was counted".to_owned();
        }
        let reason = |cell: &&Cell| {
            let said = |trial: &&Trial| trial.error.clone().or_else(|| trial.skip.clone());
            self.of(cell).iter().find_map(said)
        };
        match compared.iter().find_map(reason) {
            Some(reason) => format!("there is nothing to compare it with: {} failed: {reason}", self.against),
            None => format!("there is nothing to compare it with: nothing was counted under {}", self.against),
        }
    }

    /// Compares one measure of a cell with the arms of another condition, or with the first arm of its own.
    fn draft(&self, cell: &'a Cell, compared: &[&Cell], measure: Measure) -> Option<Draft<'a>> {
        let better = |value: f64| goodness(cell.metric, measure, value);
        let off = self.either(compared, measure, false);
        let on = self.values(cell, measure, false);
        let blocks: Vec<(f64, f64)> = on.iter().filter_map(|(block, on)| Some((*off.get(block)?, *on))).collect();
        let apart = cell.first || blocks.is_empty();
        if on.is_empty() || off.is_empty() {
            return None;
        }
        let middle = |values: &mut dyn Iterator<Item = f64>| median(&values.collect::<Vec<f64>>());
        let shown = if apart {
            (middle(&mut off.values().copied()), middle(&mut on.values().copied()))
        } else {
            (middle(&mut blocks.iter().map(|pair| pair.0)), middle(&mut blocks.iter().map(|pair| pair.1)))
        };
        let (differences, n) = if apart {
            let all = |values: &Values| values.values().map(|value| better(*value)).collect::<Vec<f64>>();
            (Differences::Apart(all(&off), all(&on)), (off.len(), on.len()))
        } else {
            let each = blocks.iter().map(|(off, on)| better(*on) - better(*off)).collect();
            (Differences::Blocks(each), (blocks.len(), blocks.len()))
        };
        let delta = |(off, on): &(f64, f64)| measure.delta(&Estimate::alone(better(*on) - better(*off))).value;
        let numbers = on.keys().filter(|block| off.contains_key(block));
        let pairs = numbers.zip(&blocks).map(|(block, both)| Pair {
            round: block + 1,
            a: both.0,
            b: both.1,
            delta: delta(both),
        });
        let again = self.either(compared, measure, true);
        let second = self.values(cell, measure, true);
        let mut trials: Vec<&Trial> = self.of(cell).to_vec();
        trials.extend(compared.iter().flat_map(|cell| self.of(cell)));
        let mut draft = Draft {
            cell,
            measure,
            shift: resolved(differences.shift(), quantum(cell, &trials, measure)),
            differences,
            second: second.iter().filter_map(|(block, on)| Some(better(*on) - better(*again.get(block)?))).collect(),
            pairs: if apart { Vec::new() } else { pairs.collect() },
            shown,
            n,
            warnings: Vec::new(),
            q: 1.0,
            verdict: Verdict::Undecided(f64::INFINITY),
            floor: None,
            confirmed: None,
        };
        let looks = self.of(cell).iter().filter(|trial| !trial.second).count();
        if !apart && n.0 < looks {
            draft.warnings.push(Remark::SomeBlocks { blocks: n.0, of: looks });
        }
        Some(draft)
    }

    /// The value of the first arm in each block; of the other where that failed.
    pub(super) fn either(&self, cells: &[&Cell], measure: Measure, second: bool) -> Values {
        let mut all = Values::new();
        for cell in cells {
            for (block, value) in self.values(cell, measure, second) {
                all.entry(block).or_insert(value);
            }
        }
        all
    }
}

/// A shift whose interval has no width at all is of counts too coarse to differ: it gets what one count is worth.
fn resolved(shift: Shift, quantum: f64) -> Shift {
    let Estimate { value, low, high } = shift.estimate;
    if low < high || quantum <= 0.0 {
        return shift;
    }
    Shift { estimate: Estimate { value, low: value - quantum, high: value + quantum }, ..shift }
}

impl Draft<'_> {
    /// The difference in per cent, or in points.
    pub(super) fn delta(&self) -> Estimate {
        self.measure.delta(&self.shift.estimate)
    }

    /// Whether the conditions have no blocks in common.
    pub(super) fn is_apart(&self) -> bool {
        matches!(self.differences, Differences::Apart(..))
    }

    /// Dresses it for reports, with what is known of the rows on both sides.
    pub(super) fn effect(&self, rows: &[Row], others: &[Row], arms: &Arms<'_>) -> Effect {
        let compared = arms.compared_with(self.cell);
        let mut warnings = self.warnings.clone();
        let own = rows.iter().chain(others).filter(|row| row.cell.id == self.cell.id);
        // How many trials it rests on, and how its interval is made, is told of the comparison.
        warnings.extend(own.flat_map(|row| &row.warnings).filter(|remark| !remark.is_of_method()).cloned());
        Effect {
            comparison: Comparison {
                run: self.cell.key.condition.clone(),
                cell: self.cell.clone(),
                measure: self.measure,
                unit: if self.measure == Measure::Met { "%".to_owned() } else { self.cell.unit.clone() },
                a: self.shown.0,
                b: self.shown.1,
                n: self.n,
                delta: self.delta(),
                p: self.shift.p,
                q: self.q,
                resolution: None,
                method: if self.shift.estimate.bounded() { self.shift.method } else { Method::Nothing },
                verdict: self.verdict,
                pairs: self.pairs.clone(),
                warnings,
            },
            floor: self.floor,
            confirmed: self.confirmed,
            trail: trail::figures(self.cell, arms.of(self.cell)),
            calls: trail::calls(arms.of(self.cell)),
            cpu_ns: trail::processor_time(&compared, self.cell, arms),
        }
    }
}
