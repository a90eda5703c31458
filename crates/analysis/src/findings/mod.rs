//! The second floor: the results of a run, by its subject, and their summary.

mod better;
mod counts;
mod offered;
mod reference;
mod results;
mod standing;
mod subject;
mod summary;

pub use better::{Better, ask_direction};
pub use offered::{Curve, Offered, Saturation, curves};
pub use reference::Reference;
pub use results::{Before, Results};
pub use subject::Findings;
pub use summary::Summary;
