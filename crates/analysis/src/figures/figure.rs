//! The result of one cell, as everything from summaries to sites has it. [`super::measured`] makes
//! it of the cell's trials.

use serde::{Deserialize, Serialize};

use crate::figures::MIN_LATENCY_MS;
use crate::figures::{
    Another, Details, Energy, Executed, Latency, Load, Measure, Neighbour, Quiet, Remark, Widening,
};
use journal::{Cell, Trial};
use stats::{ByBlock, Estimate, Mean};

/// The result of one cell: a number with its unit, its interval, and what a reader must know of it.
/// A summary keeps it without what only the report of its own run shows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Figure {
    /// The test with its copies, load and condition.
    pub cell: Cell,
    /// The score with its interval, in the cell's unit.
    pub score: Estimate,
    /// The number of trials behind the score.
    pub n: usize,
    /// The score while the neighbours are quiet; `None` of a latency, of passes, if too few trials
    /// were undisturbed, and of a lucky test if too few other tests have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// The energy that the machine took, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Box<Energy>>,
    /// Every trial that measured, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// Remarks that a reader of the score needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Remark>,
    /// The interval in which another run's score would lie; `None` before enough runs are known.
    #[serde(skip)]
    pub another: Option<Another>,
    /// The mean length of a trial's window in seconds.
    #[serde(skip)]
    pub seconds: f64,
    /// The share of the trials' variance that is noise within them; 0 if that is not known.
    #[serde(skip)]
    pub within: f64,
    /// The factors by which the drift of the machine widens intervals.
    #[serde(skip)]
    pub widening: Widening,
    /// The values of each trial's slices, in the cell's unit.
    #[serde(skip)]
    pub slices: Vec<Vec<f64>>,
    /// The work of the load in the background.
    #[serde(skip)]
    pub load: Option<Load>,
    /// What is known of the cell beside the score.
    #[serde(skip)]
    pub details: Option<Box<Details>>,
    /// Time and resources of the executions of a command.
    #[serde(skip)]
    pub executed: Option<Box<Executed>>,
    /// The latency of an interactive test; the score is one percentile of it.
    #[serde(skip)]
    pub latency: Option<Box<Latency>>,
}

/// One trial's score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds since the run began.
    pub at: f64,
    /// The block or pass.
    pub block: u32,
    /// The trial's value in the cell's unit.
    pub value: f64,
    /// The neighbour that disturbed it by the kernel's accounts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Neighbour>,
}

impl Sample {
    /// The score of a trial that no neighbour is known to have disturbed.
    pub(crate) fn new(trial: &Trial, value: f64) -> Sample {
        Sample { at: trial.at, block: trial.block, value, neighbour: None }
    }
}

impl Figure {
    /// The figure of a cell with a score of `n` trials, whose windows took `seconds` on average.
    pub(crate) fn new(cell: &Cell, score: Estimate, n: usize, seconds: f64) -> Figure {
        Figure { cell: cell.clone(), score, n, seconds, ..Figure::default() }
    }

    /// The remark that says how many trials failed, if any did.
    pub(crate) fn failure(&self) -> Option<&Remark> {
        self.warnings.iter().find(|remark| matches!(remark, Remark::Failed { .. }))
    }

    /// The figure without what only the report of its own run shows.
    pub(crate) fn outline(&self) -> Figure {
        let Figure { quiet, energy, samples, warnings, .. } = self.clone();
        Figure {
            quiet,
            energy,
            samples,
            warnings,
            ..Figure::new(&self.cell, self.score, self.n, 0.0)
        }
    }

    /// The coefficient of variation of the trials: their standard deviation over their mean, as a
    /// share; NaN of fewer than two.
    pub fn variation(&self) -> f64 {
        let values: Vec<f64> = self.samples.iter().map(|sample| sample.value).collect();
        let mean = Mean::new(&values);
        mean.error * (values.len() as f64).sqrt() / mean.value
    }

    /// The number of trials that no neighbour disturbed by the kernel's accounts.
    pub fn undisturbed(&self) -> usize {
        self.samples.iter().filter(|sample| sample.neighbour.is_none()).count()
    }

    /// The value by a measure, which every report and comparison shows of the cell; `None` if it
    /// has none.
    pub fn value(&self, measure: Measure) -> Option<f64> {
        let value = match (&self.latency, measure) {
            (_, Measure::Energy) => self.joules().map(|joules| joules.value),
            (_, Measure::Cpu | Measure::User | Measure::System | Measure::Memory) => {
                self.executed.as_deref()?.used(measure).map(|used| used.value)
            }
            (Some(latency), Measure::Met) => latency.deadlines_met.map(|met| met.value),
            (None, measure) if measure.is_percentile() => None,
            (Some(latency), measure) if measure.is_percentile() => {
                latency.percentile(measure.name()).map(|ms| ms.max(MIN_LATENCY_MS))
            }
            _ => Some(self.score.value).filter(|score| self.cell.is_comparable(*score)),
        };
        value.filter(|value| value.is_finite())
    }

    /// The energy of an operation in J, if that is known.
    pub fn joules(&self) -> Option<Estimate> {
        self.energy.as_deref()?.per_operation
    }

    /// The trials' values with their blocks, in the order of blocks.
    pub(crate) fn by_block(&self) -> ByBlock {
        let mut values: ByBlock =
            self.samples.iter().map(|sample| (sample.block, sample.value)).collect();
        values.sort_by_key(|(block, _)| *block);
        values
    }
}
