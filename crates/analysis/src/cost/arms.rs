//! The arms of a cell's blocks, and what a condition's differ by from those that they are compared with.

use std::collections::BTreeMap;

use super::{Measure, Missing};
use crate::compare::engine::{self, Design, Draft, Observed, Sides, Values, shared};
use crate::compare::{LEAST, judge};
use crate::executed::amount;
use crate::rate::MS;
use crate::{Comparison, Remark, Widening, energy, is_printed, latency, rate, score};
use catalogue::Metric;
use journal::{Cell, Trial};
use stats::{mean, sequential_widening};

/// The trials of a run by cell, and the condition that the others are compared with.
pub(super) struct Arms<'a> {
    /// The cells.
    pub(super) cells: &'a [Cell],
    /// Their trials, by the cell's place.
    pub(super) trials: &'a [Vec<&'a Trial>],
    /// The condition compared with.
    pub(super) against: &'a str,
    /// Differences up to this many per cent (points for deadlines) give no verdict.
    pub(super) threshold: f64,
}

/// Rounds that a block may have: a second of the shortest commands has fewer.
const ROUNDS: u32 = 1 << 14;

/// Which of a run's blocks: those of the first look at everything, or of the second at what was suspected of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    First,
    Second,
}

/// Returns the measures that trials of a cell may have; the one that its test is about comes first.
pub(super) fn measures(cell: &Cell) -> &'static [Measure] {
    match cell.metric {
        Metric::Latency => &[Measure::P50, Measure::P99, Measure::P999, Measure::Met],
        _ if cell.command => &[Measure::Score, Measure::Cpu, Measure::Memory, Measure::Energy],
        Metric::Rate | Metric::Time | Metric::Amount => &[Measure::Score, Measure::Energy],
    }
}

/// Returns a trial's value of a measure, where it has one that a comparison can use.
pub(super) fn value(cell: &Cell, trial: &Trial, measure: Measure) -> Option<f64> {
    let quantile = |share: f64| {
        let all = latency::judged(trial);
        all.carries(share).then(|| (all.quantile(share) / MS).max(LEAST))
    };
    let value = match measure {
        Measure::Cpu | Measure::User | Measure::System | Measure::Memory => {
            let all = trial.copies.iter().flat_map(|copy| &copy.executions);
            Some(mean(all.map(|one| amount(one, measure)))).filter(|mean| *mean > 0.0)
        }
        Measure::Energy => energy::joules(cell, trial),
        Measure::Score => rate::rate(cell, trial).filter(|rate| cell.metric.is_comparable(*rate)),
        Measure::P50 => quantile(0.5),
        Measure::P99 => quantile(0.99),
        Measure::P999 => quantile(0.999),
        Measure::Met => latency::frames(trial).any(|frames| frames.schedule.deadline > 0).then(|| latency::met(trial)),
    };
    value.filter(|value| value.is_finite())
}

/// Returns the values of a trial by the number of its block from 1: its own, or of commands that alternate those of its
/// rounds.
fn numbered(cell: &Cell, trial: &Trial, measure: Measure) -> Values {
    if !cell.in_turn || measure == Measure::Energy {
        return whole(cell, trial, measure);
    }
    let of_round = |(round, value): (u64, f64)| {
        let round = u32::try_from(round).ok().filter(|round| *round < ROUNDS)?;
        Some((trial.block.checked_mul(ROUNDS)? + round + 1, value))
    };
    let copies = trial.copies.iter();
    let printed = copies.clone().flat_map(|copy| &copy.printed).flat_map(|one| one.rounds.iter().copied());
    let executions = copies.flat_map(|copy| &copy.executions).map(|one| (one.round, amount(one, measure)));
    executions.chain(printed).filter_map(of_round).filter(|(_, value)| cell.metric.is_comparable(*value)).collect()
}

fn whole(cell: &Cell, trial: &Trial, measure: Measure) -> Values {
    value(cell, trial, measure).map(|value| (trial.block + 1, value)).into_iter().collect()
}

/// The smallest difference that the counts of a trial can show: of the logarithm one count more; of deadlines met, in
/// points, what may hide where all trials do alike.
fn quantum(cell: &Cell, trials: &[&Trial], measure: Measure) -> f64 {
    if measure == Measure::Met {
        // Of the trials of either side.
        return latency::hidden(trials.len() / 2);
    }
    if measure == Measure::Score { score::quantum(cell, trials) } else { 0.0 }
}

impl<'a> Arms<'a> {
    /// The trials of a cell.
    pub(super) fn trials(&self, cell: &Cell) -> &'a [&'a Trial] {
        self.trials.get(cell.id).map_or(&[], Vec::as_slice)
    }

    /// The arms of the condition compared with that are in the same place as `cell`: one or two, the control last.
    pub(super) fn compared_with(&self, cell: &Cell) -> Vec<&'a Cell> {
        let same = |other: &&Cell| other.key.same_family(&cell.key) && other.key.condition == self.against;
        let mut found: Vec<&Cell> = self.cells.iter().filter(same).collect();
        found.sort_by_key(|cell| cell.control);
        found
    }

    /// The cells of other conditions.
    pub(super) fn treated(&self) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(|cell| cell.key.condition != self.against)
    }

    /// The value of the first of some arms in each block, by the block's number from 1; of the next where that failed.
    pub(super) fn values(&self, arms: &[&Cell], measure: Measure, look: Look) -> Values {
        let mut found: BTreeMap<u32, f64> = BTreeMap::new();
        for arm in arms.iter().rev() {
            let looked = self.trials(arm).iter().filter(|trial| trial.second == (look == Look::Second));
            found.extend(looked.flat_map(|trial| numbered(arm, trial, measure)));
        }
        found.into_iter().collect()
    }

    /// The control: the second arm of each cell against the first, judged; whatever is called of it is a false alarm.
    pub(super) fn controls(&self, controls: impl Iterator<Item = &'a Cell>) -> Vec<Draft> {
        let against_first = |cell: &Cell| {
            let first: Vec<&Cell> = self.compared_with(cell).into_iter().filter(|other| !other.control).collect();
            measures(cell).iter().filter_map(|measure| self.draft(cell, &first, *measure)).collect::<Vec<Draft>>()
        };
        let mut control: Vec<Draft> = controls.flat_map(against_first).collect();
        judge(&mut control, self.threshold);
        control
    }

    /// Judges the comparisons of a report, whose intervals are as wide as the control, two equal arms, shows that they
    /// must be; returns how many times wider that makes them, and those of energies.
    pub(super) fn judge(drafts: &mut [Draft], control: &[Draft], threshold: f64) -> [f64; 2] {
        let widening = [false, true].map(|is_energy| {
            let is_own =
                |draft: &&Draft| draft.comparison.is_energy() == is_energy && !draft.comparison.is_of_execution();
            let own = control.iter().filter(is_own);
            engine::widening(own.map(|draft| &draft.difference))
        });
        for Draft { comparison, difference } in &mut *drafts {
            difference.floor = difference.drift();
            difference.widen(Widening::by(widening[usize::from(comparison.is_energy())]));
        }
        judge(drafts, threshold);
        widening
    }

    /// Compares every condition's cells and judges them by the report's own control.
    pub(super) fn judged(&self) -> impl Iterator<Item = Comparison> {
        let control = self.controls(self.cells.iter().filter(|cell| cell.control));
        let mut drafts: Vec<Draft> = self.treated().flat_map(|cell| self.drafts(cell).0).collect();
        Arms::judge(&mut drafts, &control, self.threshold);
        drafts.into_iter().map(|draft| draft.judged())
    }

    /// Compares a condition's cell in all its measures; or says why that cannot be.
    pub(super) fn drafts(&self, cell: &Cell) -> (Vec<Draft>, Vec<Missing>) {
        let compared = self.compared_with(cell);
        let found: Vec<Draft> =
            measures(cell).iter().filter_map(|measure| self.draft(cell, &compared, *measure)).collect();
        let has = |measure| found.iter().any(|draft| draft.comparison.measure == measure);
        let mut gaps = Vec::new();
        if found.is_empty() {
            gaps.push(Missing::new(cell, &self.why_not(cell, &compared)));
        } else if cell.metric == Metric::Latency && !has(Measure::P99) {
            let frames = |trial: &&Trial| latency::frames(trial).map(|frames| frames.latency.count()).sum::<u64>();
            let most = self.trials(cell).iter().map(frames).max().unwrap_or(0);
            gaps.push(Missing::new(cell, &format!("p99 needs 1000 frames per trial; these have {most}")));
        }
        (found, gaps)
    }

    /// Compares a condition's cell in the first of its measures that it has.
    pub(super) fn main_draft(&self, cell: &Cell) -> Option<Draft> {
        let compared = self.compared_with(cell);
        measures(cell).iter().find_map(|measure| self.draft(cell, &compared, *measure))
    }

    fn why_not(&self, cell: &Cell, compared: &[&Cell]) -> String {
        let counted = |measure: &Measure| !self.values(&[cell], *measure, Look::First).is_empty();
        if !measures(cell).iter().any(counted) {
            if is_printed(cell) {
                return "it is 0, of which there is no ratio".to_owned();
            }
            return "nothing was counted".to_owned();
        }
        let mut trials = compared.iter().flat_map(|cell| self.trials(cell));
        match trials.find_map(|trial| trial.error.as_ref().or(trial.skip.as_ref())) {
            Some(reason) => format!("there is nothing to compare it with: {} failed: {reason}", self.against),
            None => format!("there is nothing to compare it with: nothing was counted under {}", self.against),
        }
    }

    /// Compares one measure of a cell with the arms of another condition, or with the first arm of its own.
    fn draft(&self, cell: &Cell, compared: &[&Cell], measure: Measure) -> Option<Draft> {
        let values = |look| Sides { a: self.values(compared, measure, look), b: self.values(&[cell], measure, look) };
        let observed = |design, values: &Sides<Values>| Observed::new(design, cell.metric, measure, values);
        let first = values(Look::First);
        if first.a.is_empty() || first.b.is_empty() {
            return None;
        }
        let apart = cell.first || shared(&first).is_empty();
        let design = if apart { Design::Apart } else { Design::Blocks };
        let all = compared.iter().chain([&cell]).flat_map(|cell| self.trials(cell).iter().copied());
        let mut draft = Draft::new(&cell.key.condition, cell, measure, observed(design, &first))
            .resolved(quantum(cell, &all.collect::<Vec<&Trial>>(), measure))
            .looked_at_again(observed(Design::Blocks, &values(Look::Second)));
        if cell.in_turn {
            // Rounds may depend on each other, and were looked at while they came.
            draft.difference.widen(Widening::by(sequential_widening() * draft.difference.dependence().sqrt()));
            draft.comparison.delta = draft.difference.delta();
        }
        let looks = self.trials(cell).iter().filter(|trial| !trial.second).count();
        let blocks = draft.comparison.n.b;
        if design == Design::Blocks && blocks < looks && !cell.in_turn {
            draft.comparison.warnings.push(Remark::SomeBlocks { blocks, of: looks });
        }
        Some(draft)
    }
}
