//! The arms of a run: which cells are compared with which, and by what values.
//!
//! Every cell of a condition is compared with the *reference* arms: the cells of the same test,
//! copies and load under the condition that the others are compared with. There is one such arm,
//! and in some blocks a second, the *control*. Of two commands that alternate, the other has a
//! control, too. How a difference is computed from the values is decided in [`engine`].

use std::collections::BTreeMap;

use catalogue::Metric;
use journal::{Cell, Trial};
use stats::mean;

use super::interval;
use super::rounds::values_by_round;
use super::{tails, units};
use crate::figures::executed::amount;
use crate::figures::rate::MS;
use crate::figures::{MIN_LATENCY_MS, Measure};
use crate::figures::{Missing, Remark, Widening, energy, latency, rate, score};
use crate::products::comparison::Comparison;
use crate::products::comparison::engine;
use crate::products::comparison::engine::{Design, Draft, Observed, Sides, Values, shared};
use crate::products::comparison::judge;

/// The cells of a run with their trials.
pub(crate) struct Arms<'a> {
    /// The cells.
    pub(crate) cells: &'a [Cell],
    /// The trials of each cell, by the cell's number.
    pub(crate) trials: &'a [Vec<&'a Trial>],
    /// The condition that the others are compared with.
    pub(crate) against: &'a str,
    /// Differences up to this many per cent (points for deadlines) give no verdict.
    pub(crate) threshold: f64,
}

/// Differences up to this many per cent (points for deadlines) are negligible, unless a run says
/// another number.
pub(crate) const DEFAULT_THRESHOLD: f64 = 1.0;

/// Which of a run's blocks: those of the first look at everything, or of the second look at what
/// was suspected of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    First,
    Second,
}

/// The condition that the others are compared with: the one that has a control or, without any
/// control, the first.
pub(crate) fn reference_condition(cells: &[Cell]) -> &str {
    let with_control = cells.iter().find(|cell| cell.control);
    with_control.or(cells.first()).map_or("", |cell| cell.key.condition.as_str())
}

/// The measures that trials of a cell may have, the one that its test is about first.
pub(crate) fn measures(cell: &Cell) -> &'static [Measure] {
    match cell.metric {
        Metric::Latency => &[Measure::P50, Measure::P99, Measure::P999, Measure::Met],
        _ if cell.is_of_command() => {
            &[Measure::Score, Measure::Cpu, Measure::Memory, Measure::Energy]
        }
        _ => &[Measure::Score, Measure::Energy],
    }
}

/// A trial's value by a measure, if it has one that can be compared.
pub(crate) fn value(cell: &Cell, trial: &Trial, measure: Measure) -> Option<f64> {
    let value = match measure {
        Measure::Cpu | Measure::User | Measure::System | Measure::Memory => {
            let executions = trial.copies.iter().flat_map(|copy| &copy.executions);
            let used = mean(executions.map(|execution| amount(execution, measure)));
            (used > 0.0).then_some(used)
        }
        Measure::Energy => energy::joules(cell, trial),
        Measure::Score => rate::trial_rate(cell, trial).filter(|rate| cell.is_comparable(*rate)),
        Measure::P50 | Measure::P90 | Measure::P95 | Measure::P99 | Measure::P999 => {
            latency_ms(trial, measure.share()?)
        }
        Measure::Met => {
            let has_deadline = latency::frames(trial).any(|frames| frames.schedule.deadline > 0);
            has_deadline.then(|| latency::met(trial))
        }
    };
    value.filter(|value| value.is_finite())
}

/// A quantile of a trial's latencies in ms, if it has frames enough for it.
fn latency_ms(trial: &Trial, share: f64) -> Option<f64> {
    let latencies = latency::judged(trial);
    latencies.carries(share).then(|| (latencies.quantile(share) / MS).max(MIN_LATENCY_MS))
}

/// A trial's values by the number of their block, from 1; of commands that alternate, by the number
/// of their round.
fn values_by_block(cell: &Cell, trial: &Trial, measure: Measure) -> Values {
    // Energy is metered over whole trials.
    if cell.is_alternating() && measure != Measure::Energy {
        return values_by_round(cell, trial, measure);
    }
    let value = value(cell, trial, measure);
    value.map(|value| (trial.block + 1, value)).into_iter().collect()
}

/// The smallest difference that counts can show: of rates, one count more, as a difference of
/// logarithms; of deadlines met, the points that trials which all do alike may hide.
fn resolution(cell: &Cell, trials: &[&Trial], measure: Measure) -> f64 {
    match measure {
        Measure::Score => score::log_of_one_count(cell, trials),
        // `trials` are those of both sides.
        Measure::Met => latency::hidden(trials.len() / 2),
        _ => 0.0,
    }
}

/// The cells of a family as if they were all of a run, numbered by their place, with their trials.
pub(crate) fn renumber<'a>(family: &[(&Cell, &'a [Trial])]) -> (Vec<Cell>, Vec<Vec<&'a Trial>>) {
    let mut cells = Vec::new();
    let mut trials = Vec::new();
    for (id, (cell, cell_trials)) in family.iter().enumerate() {
        cells.push(Cell { id, ..(*cell).clone() });
        trials.push(cell_trials.iter().collect());
    }
    (cells, trials)
}

impl<'a> Arms<'a> {
    /// Arms with the usual reference and threshold.
    pub(crate) fn new(cells: &'a [Cell], trials: &'a [Vec<&'a Trial>]) -> Arms<'a> {
        Arms { cells, trials, against: reference_condition(cells), threshold: DEFAULT_THRESHOLD }
    }

    /// The trials of a cell.
    pub(crate) fn trials(&self, cell: &Cell) -> &'a [&'a Trial] {
        self.trials.get(cell.id).map_or(&[], Vec::as_slice)
    }

    /// The reference arms of a cell: one or two, the control last.
    pub(crate) fn compared_with(&self, cell: &Cell) -> Vec<&'a Cell> {
        let is_reference =
            |other: &&Cell| other.key.same_family(&cell.key) && other.key.condition == self.against;
        let mut arms: Vec<&Cell> = self.cells.iter().filter(is_reference).collect();
        arms.sort_by_key(|arm| arm.control);
        arms
    }

    /// The cells of all conditions but the reference, without controls.
    pub(crate) fn treated(&self) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(|cell| cell.key.condition != self.against && !cell.control)
    }

    /// The first arms of a control's condition.
    pub(crate) fn first_arms(&self, control: &Cell) -> Vec<&'a Cell> {
        let is_first = |cell: &&Cell| cell.key == control.key && !cell.control;
        self.cells.iter().filter(is_first).collect()
    }

    /// The values of some arms by block: the first arm's, or those of the next where it has none.
    pub(crate) fn values(&self, arms: &[&Cell], measure: Measure, look: Look) -> Values {
        let mut values: BTreeMap<u32, f64> = BTreeMap::new();
        // Last arm first, so that the first arm overwrites the others.
        for arm in arms.iter().rev() {
            let is_second = look == Look::Second;
            for trial in self.trials(arm).iter().filter(|trial| trial.second == is_second) {
                values.extend(values_by_block(arm, trial, measure));
            }
        }
        values.into_iter().collect()
    }

    /// Compares the control arms with the first arms of the same cells, and judges the result.
    /// Both are the same condition, so every verdict is a false alarm.
    pub(crate) fn controls(&self, controls: impl Iterator<Item = &'a Cell>) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for control in controls {
            let first_arm = self.first_arms(control);
            for measure in measures(control).iter().copied().chain(tails::measures(control)) {
                drafts.extend(self.draft(control, &first_arm, measure));
            }
        }
        judge(&mut drafts, self.threshold);
        drafts
    }

    /// Widens the comparisons of a report by as much as its `control` shows to be necessary, and
    /// judges them. Returns the two factors: of all intervals but those of energies, and of those.
    pub(crate) fn judge(drafts: &mut [Draft], control: &[Draft], threshold: f64) -> [f64; 2] {
        let widening = [false, true].map(|is_energy| {
            let controls = control.iter().filter(|draft| {
                let comparison = &draft.comparison;
                comparison.is_energy() == is_energy && !comparison.is_of_execution()
            });
            engine::widening(controls.map(|draft| &draft.difference))
        });

        for Draft { comparison, difference } in &mut *drafts {
            // Units of both sides alternate, so drift is no part of their difference.
            let is_apart = comparison.design == Design::Apart;
            difference.floor = difference.drift().filter(|_| is_apart);
            difference.widen(Widening::by(widening[usize::from(comparison.is_energy())]));
        }
        judge(drafts, threshold);
        widening
    }

    /// Compares all conditions with the reference and judges them.
    pub(crate) fn judged(&self) -> impl Iterator<Item = Comparison> {
        let control = self.controls(self.cells.iter().filter(|cell| cell.control));
        let mut drafts: Vec<Draft> = self.treated().flat_map(|cell| self.drafts(cell).0).collect();
        Arms::judge(&mut drafts, &control, self.threshold);
        drafts.into_iter().map(|draft| draft.judged())
    }

    /// Compares a cell with its reference by every measure that both have, and says what is
    /// missing.
    pub(crate) fn drafts(&self, cell: &Cell) -> (Vec<Draft>, Vec<Missing>) {
        let compared = self.compared_with(cell);
        let mut drafts: Vec<Draft> = measures(cell)
            .iter()
            .filter_map(|measure| self.draft(cell, &compared, *measure))
            .collect();

        let has_p99 = drafts.iter().any(|draft| draft.comparison.measure == Measure::P99);
        let mut missing = Vec::new();
        if drafts.is_empty() {
            let reason = self.why_not_compared(cell, &compared);
            let has_base = !self.values(&compared, Measure::Score, Look::First).is_empty();
            let lost = cell.is_printed() && has_base;
            missing.push(Missing { lost, ..Missing::new(cell, &reason) });
        } else if cell.metric == Metric::Latency && !has_p99 {
            let most = self.trials(cell).iter().map(|trial| count_frames(trial)).max().unwrap_or(0);
            let reason = format!("p99 needs 1000 frames per trial; these have {most}");
            missing.push(Missing::new(cell, &reason));
        } else {
            missing.extend(self.lost_to_failures(cell, &compared));
            let executions = drafts[0].comparison.n.b;
            for (measure, draft) in self.tail_drafts(cell) {
                match draft {
                    Some(draft) => drafts.push(draft),
                    None => missing.extend(tails::missing(cell, measure, executions)),
                }
            }
        }
        (drafts, missing)
    }

    /// Compares the quantiles of a cell that are wanted with those of its reference; a quantile of
    /// too few executions has no comparison.
    pub(super) fn tail_drafts(&self, cell: &Cell) -> Vec<(Measure, Option<Draft>)> {
        let compared = self.compared_with(cell);
        let draft = |measure| (measure, self.draft(cell, &compared, measure));
        tails::measures(cell).map(draft).collect()
    }

    /// Compares a cell with its reference by the first measure that both have.
    pub(crate) fn main_draft(&self, cell: &Cell) -> Option<Draft> {
        let compared = self.compared_with(cell);
        measures(cell).iter().find_map(|measure| self.draft(cell, &compared, *measure))
    }

    /// Why a cell has no comparison: it has no values, or its reference arms `compared` have none.
    fn why_not_compared(&self, cell: &Cell, compared: &[&Cell]) -> String {
        let has_values = measures(cell)
            .iter()
            .any(|measure| !self.values(&[cell], *measure, Look::First).is_empty());
        if !has_values {
            return "nothing was counted".to_owned();
        }

        if compared.is_empty() && cell.is_printed() {
            return self.why_unpaired(cell, self.against);
        }
        let mut trials = compared.iter().flat_map(|cell| self.trials(cell));
        let against = self.against;
        match trials.find_map(|trial| trial.error.as_ref().or(trial.skip.as_ref())) {
            Some(reason) => {
                format!("there is nothing to compare it with: {against} failed: {reason}")
            }
            None => {
                format!("there is nothing to compare it with: nothing was counted under {against}")
            }
        }
    }

    /// Compares one measure of a cell with that of the arms `compared`; `None` if a side has no
    /// value.
    fn draft(&self, cell: &Cell, compared: &[&Cell], measure: Measure) -> Option<Draft> {
        // Energy is metered over whole trials, which execute all units.
        if cell.has_units() && measure != Measure::Energy {
            let draft = units::draft(cell, compared, measure, |cell| self.trials(cell))?;
            return Some(interval::widen(draft));
        }

        if cell.is_alternating() && measure.is_percentile() {
            let times = Sides {
                a: self.values(compared, Measure::Score, Look::First),
                b: self.values(&[cell], Measure::Score, Look::First),
            };
            return tails::draft(cell, measure, &times).map(interval::widen);
        }

        let sides = |look: Look| Sides {
            a: self.values(compared, measure, look),
            b: self.values(&[cell], measure, look),
        };
        let first = sides(Look::First);
        if first.a.is_empty() || first.b.is_empty() {
            return None;
        }

        let shares_blocks = !cell.first && !shared(&first).is_empty();
        let design = if shares_blocks { Design::Blocks } else { Design::Apart };
        let observed = Observed::new(design, cell.metric, measure, &first);
        let second = sides(Look::Second);
        let again =
            Observed::on_scale(Design::Blocks, observed.scale, cell.metric, measure, &second);

        let trials = compared.iter().chain([&cell]).flat_map(|cell| self.trials(cell));
        let trials: Vec<&Trial> = trials.copied().collect();
        let mut draft = Draft::new(&cell.key.condition, cell, measure, observed)
            .resolved(resolution(cell, &trials, measure))
            .looked_at_again(again);
        if cell.is_alternating() {
            return Some(interval::widen(draft));
        }

        let blocks = draft.comparison.n.b;
        let measured = self.trials(cell).iter().filter(|trial| !trial.second).count();
        if design == Design::Blocks && blocks < measured {
            draft.comparison.warnings.push(Remark::SomeBlocks { blocks, of: measured });
        }
        Some(draft)
    }
}

fn count_frames(trial: &Trial) -> u64 {
    latency::frames(trial).map(|frames| frames.latency.count()).sum()
}
