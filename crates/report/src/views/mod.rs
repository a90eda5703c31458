//! One file per question: results become a [`Document`](crate::document::Document).
//!
//! A view knows its subject and no format: it says what people read in words, what programs get
//! under which key, and who gets which block.

mod ab;
mod bill;
mod burnin;
mod card;
mod compare;
mod compared;
mod comparisons;
mod cost;
mod counts;
mod details;
mod doctor;
mod energy;
mod executions;
mod flames;
mod fleet;
mod function_name;
mod functions;
mod holders;
mod latency;
mod loads;
mod machines;
mod modes;
mod offered;
mod pooled;
mod power;
mod reference;
mod repeat;
mod run;
mod scaling;
mod scores;
mod shared;
mod short;
mod smooth;
mod standing;
mod systems;
mod tasks;
mod totals;
mod trend;
mod why;

pub(crate) use self::ab::sentences as ab_sentences;
pub use self::fleet::fleet;
pub use bill::bill;
pub use card::card;
pub use compare::compare;
pub(crate) use compare::{gap_key, lines};
pub(crate) use comparisons::{Line, shown, unit, unit_for_people, verdict_with_time, words_of};
pub(crate) use cost::changes;
pub use doctor::doctor;
pub(crate) use executions::notes_in_answer;
pub use pooled::pooled;
pub use repeat::{Repeat, is_name};
pub use run::run;
pub(crate) use shared::{coordinates, name, sentences};
pub(crate) use short::{answer, answer_in_words, caveats_beside_answer, short};
pub(crate) use systems::{MARKS_MEANING, SYSTEM_WIDTH, mark_sign, with_readable_unit};
pub use systems::{rank, systems};
pub use trend::trend;
pub use why::why;
