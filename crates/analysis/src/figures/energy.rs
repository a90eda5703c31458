//! The power while a cell is measured, and the energy of an operation.

use serde::{Deserialize, Serialize};

use crate::figures::rate;
use catalogue::Metric;
use journal::{Cell, Trial};
use stats::{ByBlock, Estimate};

/// Power and energy of a cell. Both are of all that the source sees, idle parts and other programs
/// included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// The mean power of a window in W, at the median of the trials.
    pub watts: Estimate,
    /// J per operation, which is what the score's unit counts; `None` of a latency, and of values
    /// without a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_operation: Option<Estimate>,
    /// The number of trials behind them.
    pub n: usize,
    /// The trials whose power is known.
    #[serde(skip)]
    pub trials: Vec<TrialEnergy>,
}

/// Power and energy of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialEnergy {
    block: u32,
    /// The mean power in W.
    watts: f64,
    /// J per operation.
    joules: Option<f64>,
}

impl TrialEnergy {
    /// `None` if the power is not known.
    fn new(cell: &Cell, trial: &Trial) -> Option<TrialEnergy> {
        let watts = trial.energy?.watts()?;
        Some(TrialEnergy { block: trial.block, watts, joules: joules(cell, trial) })
    }
}

impl Energy {
    /// The energy of a cell's trials; `None` if the power is known of none.
    pub(crate) fn new(cell: &Cell, trials: &[&Trial]) -> Option<Box<Energy>> {
        let trials: Vec<TrialEnergy> =
            trials.iter().filter_map(|trial| TrialEnergy::new(cell, trial)).collect();
        if trials.is_empty() {
            return None;
        }

        let watts: Vec<f64> = trials.iter().map(|trial| trial.watts).collect();
        let joules: Option<Vec<f64>> = trials.iter().map(|trial| trial.joules).collect();
        Some(Box::new(Energy {
            watts: rate::median_rate(&watts),
            per_operation: joules.map(|joules| rate::median_rate(&joules)),
            n: trials.len(),
            trials,
        }))
    }

    /// The trials' power in W with their blocks, in the order of blocks.
    pub(crate) fn watts_by_block(&self) -> ByBlock {
        self.by_block(|trial| Some(trial.watts))
    }

    /// The trials' energy of an operation in J with their blocks, in the order of blocks.
    pub(crate) fn joules_by_block(&self) -> ByBlock {
        self.by_block(|trial| trial.joules)
    }

    fn by_block(&self, value: fn(&TrialEnergy) -> Option<f64>) -> ByBlock {
        let values = self.trials.iter().filter_map(|trial| Some((trial.block, value(trial)?)));
        let mut values: ByBlock = values.collect();
        values.sort_by_key(|(block, _)| *block);
        values
    }
}

/// The energy of an operation in a trial, in J.
pub(crate) fn joules(cell: &Cell, trial: &Trial) -> Option<f64> {
    let joules = trial.energy?.watts()? / operations(cell, trial)?;
    (joules.is_finite() && joules > 0.0).then_some(joules)
}

/// Operations per second of all copies together: what a rate counts (loops, KB, millions of
/// instructions), or pieces of work. `None` of a time that the program reports itself, which does
/// not say how often it was taken.
fn operations(cell: &Cell, trial: &Trial) -> Option<f64> {
    let score = rate::trial_rate(cell, trial)?;
    match cell.metric {
        Metric::Rate if cell.timebase > 0.0 => Some(score / cell.timebase),
        Metric::Rate => Some(score),
        Metric::Time if cell.value.is_none() => {
            Some(trial.copies.len() as f64 * cell.scale / score)
        }
        Metric::Time | Metric::Latency => None,
        Metric::Amount | Metric::Yield | Metric::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Copy;

    /// Two copies that each count so much in half a second, in which the machine takes 20 J.
    fn trial(count: u64) -> Trial {
        let copy = Copy { slices: vec![[0, 500_000_000, count].into()], ..Copy::default() };
        let energy = Some(journal::Energy::new(20.0, 0.5));
        Trial { copies: vec![copy.clone(), copy], energy, ..Trial::default() }
    }

    fn joules(cell: &Cell) -> Option<f64> {
        let energy = Energy::new(cell, &[&trial(100)]).unwrap();
        assert_eq!((energy.watts.value, energy.n), (40.0, 1));
        assert!(!energy.watts.bounded(), "one trial has no interval");
        energy.per_operation.map(|joules| joules.value)
    }

    #[test]
    fn an_operation_takes_the_energy_of_the_window_by_the_work_in_it() {
        let per_minute =
            Cell { metric: Metric::Rate, timebase: 60.0, scale: 1.0, ..Cell::default() };
        let is = |found: Option<f64>, joules: f64| (found.unwrap() / joules - 1.0).abs() < 1e-9;
        assert!(is(joules(&per_minute), 20.0 / 200.0), "of 200 loops");
        let megabytes = Cell { timebase: 1.0, scale: 0.25, ..per_minute.clone() };
        assert!(is(joules(&megabytes), 20.0 / 50.0), "of 200 counts of a quarter of a unit");
        let time = Cell { metric: Metric::Time, timebase: 0.0, scale: 1e9, ..per_minute.clone() };
        assert!(is(joules(&time), 20.0 / 200.0), "of 200 pieces of work, whose time is in ns");
        let own = Cell { value: Some("time".to_owned()), ..time };
        assert_eq!(joules(&own), None, "a time of its own says nothing of how often");
        assert_eq!(joules(&Cell { metric: Metric::Latency, ..per_minute }), None);
    }

    #[test]
    fn trials_without_energy_are_none() {
        let unknown = Trial { energy: None, ..trial(100) };
        let cell = Cell { metric: Metric::Rate, timebase: 1.0, scale: 1.0, ..Cell::default() };
        assert_eq!(Energy::new(&cell, &[&unknown]), None);
        assert_eq!(Energy::new(&cell, &[&unknown, &trial(100)]).unwrap().n, 1);
        let nonsense = Trial {
            energy: Some(journal::Energy { joules: f64::NAN, seconds: 0.0 }),
            ..trial(100)
        };
        assert_eq!(Energy::new(&cell, &[&nonsense]), None);
    }
}
