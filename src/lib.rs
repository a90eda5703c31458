//! unixmark measures what a Unix system can do, how smoothly it responds, how it scales, and what any
//! change to it costs. `ARCHITECTURE.md` is the map; imports run one way, down its list.

pub mod analysis;
pub mod archive;
pub mod catalogue;
pub mod commands;
pub mod conditions;
pub mod fleet;
pub mod interop;
pub mod journal;
pub mod machine;
pub mod plan;
pub mod report;
pub mod runner;
pub mod stats;
