//! The result of one cell, as everything from summaries to sites has it.

use serde::{Deserialize, Serialize};

use super::{Another, Details, Energy, Executed, Latency, Load, Neighbour, Quiet, Remark, Widening, latency, score};
use catalogue::Metric;
use journal::{Cell, Run, Trial};
use stats::{ByBlock, Estimate, Mean};

/// The result of one cell: a number with its unit, its interval, and what a reader must know of it. A summary keeps it
/// without what only the report of its own run shows.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Figure {
    /// The cell.
    pub cell: Cell,
    /// The score with its interval, in the cell's unit.
    pub score: Estimate,
    /// Trials behind the score.
    pub n: usize,
    /// The score while the neighbours are quiet; `None` of a latency, of passes, if too few trials were undisturbed,
    /// and for a lucky test if too few other tests were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<Quiet>,
    /// The energy that the machine drew; `None` where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Box<Energy>>,
    /// Every trial that measured, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
    /// Remarks that a reader of this number needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Remark>,
    /// The interval of another run's score; `None` before enough runs are known ([`super::Results::place_among`]).
    #[serde(skip)]
    pub another: Option<Another>,
    /// Mean length of a trial's window in seconds.
    #[serde(skip)]
    pub seconds: f64,
    /// The share of the trials' variance that is noise within them; 0 if that is not known.
    #[serde(skip)]
    pub within: f64,
    /// The factor by which the drift of the machine widens that interval.
    #[serde(skip)]
    pub widening: Widening,
    /// The values of each trial's slices, in the cell's unit.
    #[serde(skip)]
    pub slices: Vec<Vec<f64>>,
    /// The work of the load in the background.
    #[serde(skip)]
    pub load: Option<Load>,
    /// Values that its program reported beside the score.
    #[serde(skip)]
    pub details: Option<Box<Details>>,
    /// Time and resources of the executions of a command.
    #[serde(skip)]
    pub executed: Option<Box<Executed>>,
    /// The whole of an interactive test's latency; the score is one percentile of it.
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
    /// In the cell's unit.
    pub value: f64,
    /// Who disturbed it, if anyone that the kernel knows of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour: Option<Neighbour>,
}

impl Sample {
    /// Returns what a trial that nobody is known to have disturbed comes to.
    pub(crate) fn new(trial: &Trial, value: f64) -> Sample {
        Sample { at: trial.at, block: trial.block, value, neighbour: None }
    }
}

impl Figure {
    /// Returns the figure of a cell with a score of `n` trials, whose windows took `seconds` on average.
    pub(crate) fn new(cell: &Cell, score: Estimate, n: usize, seconds: f64) -> Figure {
        Figure { cell: cell.clone(), score, n, seconds, ..Figure::default() }
    }

    /// Returns the figure of a cell's trials; `None` if none has a result.
    pub(crate) fn measured(cell: &Cell, trials: &[&Trial], run: &Run) -> Option<Figure> {
        match cell.metric {
            Metric::Latency if trials.iter().all(|trial| trial.score.is_none()) => latency::row(cell, trials),
            _ => score::row(cell, trials, run),
        }
    }

    /// Returns it without what only the report of its own run shows.
    pub(crate) fn outline(&self) -> Figure {
        let Figure { quiet, energy, samples, warnings, .. } = self.clone();
        Figure { quiet, energy, samples, warnings, ..Figure::new(&self.cell, self.score, self.n, 0.0) }
    }

    /// Returns the coefficient of variation of the trials: their standard deviation over their mean, as a share; NaN of
    /// fewer than two.
    pub fn variation(&self) -> f64 {
        let values: Vec<f64> = self.samples.iter().map(|sample| sample.value).collect();
        let mean = Mean::new(&values);
        mean.error * (values.len() as f64).sqrt() / mean.value
    }

    /// Returns how many trials nobody disturbed whom the kernel knows of.
    pub fn undisturbed(&self) -> usize {
        self.samples.iter().filter(|sample| sample.neighbour.is_none()).count()
    }

    /// Returns the energy of an operation in J, if that is known.
    pub fn joules(&self) -> Option<Estimate> {
        self.energy.as_deref()?.per_operation
    }

    /// Returns the trials' values by block, in its order.
    pub(crate) fn by_block(&self) -> ByBlock {
        let mut values: ByBlock = self.samples.iter().map(|sample| (sample.block, sample.value)).collect();
        values.sort_by_key(|(block, _)| *block);
        values
    }
}
