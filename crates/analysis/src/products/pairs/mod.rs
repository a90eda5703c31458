//! The room of `ab`: arms of one run that are compared in pairs, and what is decided by them.
//!
//! A run compares a *reference* with other arms. A *pair* is one value of the reference and one of
//! another arm, taken so close in time that whatever drifts on the machine drifts for both. What
//! is left of the difference within a pair is as likely to favour the one as the other.
//!
//! | arms | a pair is | values by |
//! |---|---|---|
//! | conditions | one trial of each in the same block | [`arms`] |
//! | commands that alternate (`ab`, `bisect`) | one execution of each in the same round | [`rounds`] |
//! | the same, in builds, blocks or processes | one unit of each, or two samples of units | [`units`] |
//! | commands that alternate, by a quantile | all executions of each | [`tails`] |
//!
//! From pairs to an answer, who does what:
//!
//! 1. [`Arms`] finds the cells that are compared and their values, and drafts the comparisons.
//! 2. [`engine`](crate::products::comparison::engine) computes shift, interval and p value of the
//!    pairs: Hodges and Lehmann's estimate with the signed-rank interval.
//! 3. [`interval`] widens what alternates: rounds depend on each other, and the run looked at
//!    their difference while it measured. Nothing else widens an interval of `ab`, at a look or in
//!    the report, but a control that differs from itself ([`Arms::judge`]).
//! 4. [`looks`] asks during the run whether it can stop: at the interval of step 3, and never at
//!    one of its own.
//! 5. The engine judges all comparisons of the report together, and [`verdict`] says what
//!    `ab --bisect` and `bisect` make of it.
//!
//! [`figures`] says which figures only one of two commands printed, so that they have no pair.
//!
//! Invariant: the interval that ends a run is the interval that its report shows, or wider.
//! Formulas and their sources: [`stats::sequential_widening`], [`stats::look_level`] (O'Brien &
//! Fleming 1979), [`stats::dependence`] (Geyer 1992), and docs/methodology.md. Simulated in
//! `tests/analysis/ab.rs`: how often an interval holds the truth at the moment the run stops.

mod arms;
mod figures;
mod interval;
mod looks;
mod rounds;
mod tails;
mod units;
mod verdict;

pub(crate) use arms::{Arms, DEFAULT_THRESHOLD, Look, measures, reference_condition, renumber};
pub use interval::MIN_PAIRS;
pub use looks::{Change, Question, changes, is_answered, wants_units};
pub(crate) use verdict::is_any_slower;
