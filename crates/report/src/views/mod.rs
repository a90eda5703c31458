//! One file per question: results become a document. No view knows a format.

mod burnin;
mod card;
mod compare;
mod comparisons;
mod cost;
mod details;
mod doctor;
mod energy;
mod fleet;
mod latency;
mod loads;
mod power;
mod repeat;
mod run;
mod scaling;
mod scores;
mod shared;
mod systems;
mod totals;
mod trend;
mod why;

pub use self::fleet::fleet;
pub use card::{Card, card};
pub use compare::compare;
pub(crate) use compare::{lines, place};
pub(crate) use comparisons::{Line, verdict_in_words, words_of};
pub(crate) use cost::changes;
pub use doctor::doctor;
pub use repeat::{Repeat, is_name};
pub use run::run;
pub(crate) use scores::range;
pub use scores::score;
pub(crate) use shared::{coordinates, name, sentences};
pub use systems::systems;
pub use trend::trend;
pub use why::why;
