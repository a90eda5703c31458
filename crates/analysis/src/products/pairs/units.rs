//! Commands whose executions come in units: builds, blocks of a set-up, processes of a server.
//!
//! All executions of one build share where its code landed, and those of one server's process what
//! it drew when it started. More executions make the difference of two builds as certain as one
//! likes, and say nothing of the next build. So each unit is one value, the median of its
//! executions, and the interval is that of units: repeat at the level where it varies (Kalibera &
//! Jones, "Rigorous Benchmarking in Reasonable Time", 2013; Mytkowicz et al. 2009).
//!
//! A block of a run is too short to execute all builds, so drift of the machine would make builds
//! differ that were not executed in the same blocks. What the executions of a block share is
//! therefore taken out of them before their medians are ([`remove_drift`]).
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
use stats::{Estimate, Exact, chi_square_quantiles, mean, median, qn};

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

impl Unit {
    fn new(number: u32, executions: Vec<UnitExecution>) -> Unit {
        let mut unit = Unit { number, value: f64::NAN, executions };
        unit.value = unit.median();
        unit
    }

    fn median(&self) -> f64 {
        let values: Vec<f64> = self.executions.iter().map(|execution| execution.value).collect();
        median(&values)
    }
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
    let mut sides =
        Sides { a: units_of(compared, measure, &trials), b: units_of(&[cell], measure, &trials) };
    if sides.a.is_empty() || sides.b.is_empty() {
        return None;
    }
    if cell.sampled == SamplingUnit::Build {
        remove_drift(&mut sides);
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
    let (deviation, error) =
        if has_deviations { deviations(&sides) } else { (Estimate::NONE, f64::NAN) };
    draft.comparison.units = Some(Units {
        unit: cell.sampled,
        n,
        deviation_percent: deviation.map(|deviation| 100.0 * deviation),
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
            units.insert(number, Unit::new(number, executions));
        }
    }
    units.into_values().collect()
}

/// Takes the machine's drift out of the values of builds: each value is divided by the level of its
/// block, the median of the block's values over those of their builds.
///
/// Blocks with few executions stay as they are, since their level would be mostly the noise of
/// these; and so do values without ratios.
fn remove_drift(sides: &mut Sides<Vec<Unit>>) {
    const MIN_EXECUTIONS_OF_BLOCK: usize = 8;
    /// Levels depend on the values of builds, and these on the levels: each is found in turn.
    const PASSES: usize = 3;

    let mut units: Vec<&mut Unit> = sides.a.iter_mut().chain(&mut sides.b).collect();
    let mut executions = units.iter().flat_map(|unit| &unit.executions);
    if !executions.all(|execution| execution.value > 0.0) {
        return;
    }

    for _ in 0..PASSES {
        let mut ratios_of_block: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for unit in &units {
            for execution in &unit.executions {
                let ratio = execution.value / unit.value;
                ratios_of_block.entry(execution.block).or_default().push(ratio);
            }
        }
        ratios_of_block.retain(|_, ratios| ratios.len() >= MIN_EXECUTIONS_OF_BLOCK);

        let level_of_block: BTreeMap<u32, f64> =
            ratios_of_block.into_iter().map(|(block, ratios)| (block, median(&ratios))).collect();
        for unit in &mut units {
            for execution in &mut unit.executions {
                execution.value /= level_of_block.get(&execution.block).unwrap_or(&1.0);
            }
            unit.value = unit.median();
        }
    }
}

/// How far units scatter around the mean of their side, without the noise of executions, and how
/// much of that noise is left in a unit's value: as standard deviations of logarithms.
///
/// The interval of the first is that of the variance of a normal sample, less the noise.
fn deviations(sides: &Sides<Vec<Unit>>) -> (Estimate, f64) {
    let mut squares = 0.0;
    let mut degrees = 0.0;
    for units in [&sides.a, &sides.b] {
        let logs: Vec<f64> = units.iter().map(|unit| unit.value.natural_log()).collect();
        let centre = mean(logs.iter().copied());
        squares += logs.iter().map(|log| (log - centre).powi(2)).sum::<f64>();
        degrees += logs.len() as f64 - 1.0;
    }
    let all: Vec<&Unit> = sides.a.iter().chain(&sides.b).collect();
    let of_executions = variance_of_executions(&all);
    if degrees == 0.0 {
        return (Estimate::alone(0.0), of_executions.sqrt());
    }

    let without_noise = |variance: f64| (variance - of_executions).max(0.0).sqrt();
    let (low_quantile, high_quantile) = chi_square_quantiles(degrees);
    let between = Estimate {
        value: without_noise(squares / degrees),
        low: without_noise(squares / high_quantile),
        high: without_noise(squares / low_quantile),
    };
    (between, of_executions.sqrt())
}

/// The mean variance that executions leave in the logarithm of a unit's value; 0 if no unit has
/// several executions.
fn variance_of_executions(units: &[&Unit]) -> f64 {
    let mut variances = Vec::new();
    for unit in units {
        let logs: Vec<f64> =
            unit.executions.iter().map(|execution| execution.value.natural_log()).collect();
        // The variance of a median of normal values is π/2 times that of their mean.
        let variance = FRAC_PI_2 * qn(&logs).powi(2) / logs.len() as f64;
        variances.extend(Some(variance).filter(|variance| variance.is_finite()));
    }
    if variances.is_empty() { 0.0 } else { mean(variances) }
}
