//! What conditions cost: that the verdicts of a run hold what they promise, by simulation, and what is said of a run that is
//! written here.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod found;
mod made;
mod simulation;
