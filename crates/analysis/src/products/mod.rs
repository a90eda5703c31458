//! The first floor: what the figures of one run come to together, by the subject of the run.

mod bill;
mod burnin;
pub mod comparison;
pub mod cost;
pub(crate) mod counts;
mod function_instructions;
mod functions;
mod gain;
pub(crate) mod index;
pub mod pairs;
mod predicted;
mod scaling;
mod search;

pub use bill::{Bill, Spread};
pub use burnin::{
    BurnIn, Burst, Cause, CoolDown, Cooling, Core, Fall, Held, Memory, Pattern, Rise, Sensor,
};
pub use cost::{
    Condition, Cost, Effect, Losses, Need, Planted, Power, Price, SandboxStart, TrailFigures,
};
pub use counts::{Count, CountLimit, Counts, Range};
pub use function_instructions::{CountedFunction, FunctionInstructions};
pub use functions::{Function, FunctionChange, FunctionChanges, Functions};
pub use gain::Gain;
pub(crate) use gain::gains;
pub(crate) use index::indexes;
pub use index::{Index, Part, UNIXBENCH_INDEX};
pub use predicted::{Item, Prediction, PriceList, price_tests};
pub(crate) use scaling::scalings;
pub use scaling::{Clock, Level, ModeComparison, ModeLevel, Scaling};
pub use search::{Next, Search, Span};
