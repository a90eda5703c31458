//! Many runs at once: what each came to is kept beside its journal, so that questions of thousands of runs read no journal.

mod summary;

pub use summary::{keep, summary};
