//! A run, from the request to the results.
//!
//! ```text
//! Ask ── prepare ──> Prepared ── measure ──> Measured
//!                    (Plan)      │
//!                                ├ Recording   begins and ends the journal
//!                                └ runner::run carries out the plan on a bench
//! ```
//!
//! [`prepare`] expands an [`Ask`] into a plan and checks its conditions. [`Prepared::measure`]
//! carries out the plan, writes the journal as it goes, and returns the journal, its results, and
//! why the run failed if it did. Nothing is printed and no question is asked: an [`Observer`] sees
//! the events.

mod ask;
mod burnin;
mod gate;
mod lock;
mod measured;
mod prepared;
mod recording;

pub use ask::{Ask, Observer, Setup};
pub use burnin::burn_in;
pub use measured::Measured;
pub use prepared::{Prepared, prepare};

use catalogue::Catalogue;
use machine::Machine;

/// The cycles of a dependent addition on this machine's cores; 1 if they are not known.
pub fn add_cycles(catalogue: &Catalogue, machine: &Machine) -> u32 {
    let core = machine::core_id(machine).and_then(|core| catalogue.core(&core));
    core.and_then(|core| core.limits.get("add_latency")).map_or(1, |cycles| *cycles as u32)
}

#[cfg(test)]
mod tests;
