//! A run, from what is asked to what was found.
//!
//! [`prepare`] expands an [`Ask`] into a plan and checks its conditions. [`Prepared::measure`] carries
//! the plan out, writes the journal as it goes, and returns the journal, its results, and why the run
//! failed if it did. Nothing is printed and nobody is asked: an [`Observer`] sees what happens.

mod ask;
mod burnin;
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

/// Returns how many cycles a dependent addition takes on this machine's cores: 1 where nothing else is known.
pub fn add_cycles(catalogue: &Catalogue, machine: &Machine) -> u32 {
    let core = machine::core_id(machine).and_then(|core| catalogue.core(&core));
    core.and_then(|core| core.limits.get("add_latency")).map_or(1, |cycles| *cycles as u32)
}

#[cfg(test)]
mod tests;
