//! What conditions cost: that the verdicts of a run hold what they promise, by simulation, and what
//! is said of a run that is written here.

mod found;
pub mod made;
mod parts;
mod power;
mod simulation;
