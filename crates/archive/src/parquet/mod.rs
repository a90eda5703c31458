//! The archive: runs as tables of Parquet files in Hive's layout. `docs/archive.md` says what it is
//! for, `docs/format.md` what is in it.

mod place;
mod table;
mod tables;

pub use place::Place;
pub use table::{FORMAT, Table};
pub use tables::{facts, results, samples};
