//! Many runs at once: the summary of each is kept beside its journal, so that questions about
//! thousands of runs read no journal, and goes to an archive of Parquet files, which engines for
//! tables read. The reference collection has a few runs for good.

mod name;
#[cfg(feature = "parquet")]
mod parquet;
pub mod reference;
mod summary;

pub use name::{decoded, encoded, hash};
#[cfg(feature = "parquet")]
pub use parquet::{FORMAT, Place, Table, facts, results, samples};
pub use summary::{keep, summary};
