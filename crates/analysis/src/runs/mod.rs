//! The top floor: the results of several runs, compared, pooled, ranked or in the order of time.

mod another;
mod chain;
pub mod compare;
pub mod fleet;
mod pooled;
mod systems;
mod trend;
mod why;

pub use pooled::{Dissent, Pooled, PooledRow, PooledRun};
pub use systems::{Across, Mark, Sorted, Standing};
pub use trend::{Change, Common, Latest, Others, Point, Series, Step, Trend};
pub use why::{Hint, Reach, System, SystemScore, Why};
