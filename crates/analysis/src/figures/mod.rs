//! The ground floor: one cell of a run, from its trials to a [`Figure`] with its interval and what
//! a reader must know of it.

pub mod another;
pub(crate) mod details;
pub(crate) mod drift;
pub(crate) mod energy;
pub(crate) mod executed;
mod figure;
mod holders;
pub(crate) mod latency;
pub(crate) mod limits;
mod measure;
mod measured;
mod missing;
mod neighbour;
pub(crate) mod printed;
mod progress;
pub(crate) mod quiet;
pub(crate) mod rate;
mod remark;
pub(crate) mod score;
mod smoothness;
mod undisturbed;
mod widening;

use catalogue::NONE;
use journal::{Journal, Trial};

pub use another::Another;
pub use details::{Best, Details, Limit, QUANTILES, Times, Value};
pub use energy::Energy;
pub use executed::Executed;
pub use figure::{Figure, Sample};
pub use holders::HeldUp;
pub(crate) use measure::MIN_LATENCY_MS;
pub use measure::Measure;
pub use missing::{Missing, NOT_REACHED};
pub use neighbour::Neighbour;
pub(crate) use neighbour::visible_neighbour;
pub use printed::is_printed;
pub use progress::{enough, estimate, estimates};
pub use quiet::{MIN_CALM_TRIALS, Neighbours};
pub use remark::Remark;
pub use score::Reported;
pub use smoothness::{Attribution, FrameRates, Latency, Load, PERCENTILES, Requests, TrialFigures};
pub use undisturbed::Quiet;
pub use widening::{Drifting, Widening};

/// A test's label with the load and the condition it ran under, where there are any.
pub fn named(label: &str, load: &str, condition: &str) -> String {
    let mut name = label.to_owned();
    for (axis, kind) in [(load, "load"), (condition, "condition")] {
        if axis != NONE {
            name += &format!(" {kind}={axis}");
        }
    }
    name
}

/// The trials of each cell.
pub(crate) fn by_cell(journal: &Journal) -> Vec<Vec<&Trial>> {
    let mut by_cell = vec![Vec::new(); journal.cells.len()];
    for trial in &journal.trials {
        by_cell[trial.cell].push(trial);
    }
    by_cell
}
