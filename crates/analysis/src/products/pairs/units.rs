//! Commands whose executions come in units: builds, blocks of a set-up, processes of a server.
//!
//! All executions of one build share where its code landed, and those of one server's process what
//! it drew when it started. More executions make the difference of two builds as certain as one
//! likes, and say nothing of the next build. So each unit is one value, the median of its
//! executions, and the interval is that of units: repeat at the level where it varies (Kalibera &
//! Jones, "Rigorous Benchmarking in Reasonable Time", 2013; Mytkowicz et al. 2009).
//!
//! | unit | units of the two sides | compared as |
//! |---|---|---|
//! | build | alternate through the whole run, and have nothing in common | two samples ([`Design::Units`]) |
//! | block, process | those of one number are measured at the same time | pairs by number |
//!
//! The second arm of the reference has the reference's own units, so it is paired with the first
//! by number: a control shows noise of executions, and never what differs between builds.
//!
//! How much of the scatter is the units' and how much their executions' says which to repeat, and
//! how much the looks of a run widen the interval ([`super::interval`]). Simulated in
//! `tests/analysis/units.rs`.

use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

use journal::{Cell, SamplingUnit, Trial};
use stats::{Exact, mean, median, qn};

use super::rounds::values_of_copy;
use crate::figures::Measure;
use crate::products::comparison::engine::{Design, Draft, Observed, Sides, Values};
use crate::products::comparison::{Scale, Units};

/// One unit of one side.
struct Unit {
    number: u32,
    /// The median of its executions.
    value: f64,
    executions: Vec<UnitExecution>,
}

/// One execution of a unit, or what it printed.
#[derive(Clone, Copy)]
struct UnitExecution {
    block: u32,
    value: f64,
}

/// Compares one measure of a cell with that of the arms `compared`, where a unit is one value: by
/// pairs of units, or as two samples of them. `None` if a side has no unit with a value. `trials`
/// returns a cell's trials.
pub(super) fn draft<'a>(
    cell: &Cell,
    compared: &[&Cell],
    measure: Measure,
    trials: impl Fn(&Cell) -> &'a [&'a Trial],
) -> Option<Draft> {
    let sides =
        Sides { a: units_of(compared, measure, &trials), b: units_of(&[cell], measure, &trials) };
    if sides.a.is_empty() || sides.b.is_empty() {
        return None;
    }

    let values = sides
        .as_ref()
        .map(|units| -> Values { units.iter().map(|unit| (unit.number, unit.value)).collect() });
    let is_paired = cell.control || cell.sampled.are_simultaneous();
    let design = if is_paired { Design::Blocks } else { Design::Units };
    let observed = Observed::new(design, cell.metric, measure, &values);
    let n = observed.n;
    let has_deviations = observed.scale == Scale::Ratio;

    let mut draft = Draft::new(&cell.key.condition, cell, measure, observed);
    let (deviation, error) = if has_deviations { deviations(&sides) } else { (0.0, 0.0) };
    draft.comparison.units = Some(Units {
        unit: cell.sampled,
        n,
        deviation_percent: 100.0 * deviation,
        error_percent: 100.0 * error,
    });
    Some(draft)
}

/// The units of some arms by number: each unit is the first arm's or, where that has none of the
/// number, the next arm's.
fn units_of<'a>(
    arms: &[&Cell],
    measure: Measure,
    trials: impl Fn(&Cell) -> &'a [&'a Trial],
) -> Vec<Unit> {
    let mut units: BTreeMap<u32, Unit> = BTreeMap::new();
    // Last arm first, so that the first arm overwrites the others.
    for arm in arms.iter().rev() {
        let mut executions: BTreeMap<u32, Vec<UnitExecution>> = BTreeMap::new();
        for trial in trials(arm) {
            for copy in &trial.copies {
                let build_of_round = copy.units_by_round();
                for (round, value) in values_of_copy(copy, measure) {
                    let unit = match arm.sampled {
                        SamplingUnit::Execution => None,
                        SamplingUnit::Build => build_of_round.get(&round).copied(),
                        // All blocks are in one trial, and a block is a round of it.
                        SamplingUnit::Block => u32::try_from(round + 1).ok(),
                        // Each trial starts the servers anew.
                        SamplingUnit::Process => Some(trial.block + 1),
                    };
                    if let Some(unit) = unit
                        && arm.is_comparable(value)
                    {
                        let execution = UnitExecution { block: trial.block, value };
                        executions.entry(unit).or_default().push(execution);
                    }
                }
            }
        }
        for (number, executions) in executions {
            let values: Vec<f64> = executions.iter().map(|execution| execution.value).collect();
            units.insert(number, Unit { number, value: median(&values), executions });
        }
    }
    units.into_values().collect()
}

/// The standard deviation from unit to unit of one side without the noise of executions, and the
/// standard error that these leave in a unit's value: as differences of logarithms.
fn deviations(sides: &Sides<Vec<Unit>>) -> (f64, f64) {
    let mut squares = 0.0;
    let mut degrees = 0.0;
    for units in [&sides.a, &sides.b] {
        let logs: Vec<f64> = units.iter().map(|unit| unit.value.natural_log()).collect();
        let centre = mean(logs.iter().copied());
        squares += logs.iter().map(|log| (log - centre).powi(2)).sum::<f64>();
        degrees += logs.len() as f64 - 1.0;
    }
    let total = if degrees > 0.0 { squares / degrees } else { 0.0 };

    let all: Vec<&Unit> = sides.a.iter().chain(&sides.b).collect();
    let of_executions = variance_of_executions(&all);
    ((total - of_executions).max(0.0).sqrt(), of_executions.sqrt())
}

/// The mean variance that executions leave in the logarithm of a unit's value; 0 if no unit has
/// several executions. The machine's drift from block to block is no part of it: all units of a
/// block share it.
fn variance_of_executions(units: &[&Unit]) -> f64 {
    let mut logs_of_block: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for execution in units.iter().flat_map(|unit| &unit.executions) {
        logs_of_block.entry(execution.block).or_default().push(execution.value.natural_log());
    }
    let level_of_block: BTreeMap<u32, f64> =
        logs_of_block.into_iter().map(|(block, logs)| (block, mean(logs))).collect();

    let mut variances = Vec::new();
    for unit in units {
        let deviations: Vec<f64> = unit
            .executions
            .iter()
            .map(|execution| execution.value.natural_log() - level_of_block[&execution.block])
            .collect();
        // The variance of a median of normal values is π/2 times that of their mean.
        let variance = FRAC_PI_2 * qn(&deviations).powi(2) / deviations.len() as f64;
        variances.extend(Some(variance).filter(|variance| variance.is_finite()));
    }
    if variances.is_empty() { 0.0 } else { mean(variances) }
}
