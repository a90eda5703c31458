//! The summary of a run, small enough to be read for thousands of runs.

use serde::{Deserialize, Serialize};

use crate::figures::{Figure, Missing};
use crate::findings::Results;
use crate::products::Index;
use catalogue::Catalogue;
use journal::{Ended, Facts, Journal, Run};

/// The version of a summary's keys.
const FORMAT: &str = "unixmark-summary/2";

/// The version of summaries: the tool, its version, and a hash of the analysis's sources, so that a
/// changed statistic is computed again.
const MADE_BY: &str = concat!("unixmark ", env!("CARGO_PKG_VERSION"), " ", env!("ANALYSIS"));

/// A run's results without what only its own report shows. It is made of the journal, and can be
/// made again at any time.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Summary {
    /// unixmark-summary/2.
    pub format: String,
    /// The tool that made it, its version, and the hash of its analysis.
    pub made_by: String,
    /// Length of the journal it was made of, in bytes.
    pub journal_bytes: u64,
    /// The settings of the run.
    pub run: Run,
    /// The facts of the system.
    pub facts: Facts,
    /// The way it ended; absent when the journal was cut short.
    pub end: Option<Ended>,
    /// Seconds it took.
    pub seconds: f64,
    /// Trials in the journal.
    pub trials: usize,
    /// One per cell with a result, controls among them.
    pub figures: Vec<Figure>,
    /// The indexes.
    pub indexes: Vec<Index>,
    /// Cells that cannot run there.
    pub skipped: Vec<Missing>,
    /// Cells without a result.
    pub errors: Vec<Missing>,
}

impl Summary {
    /// Returns the summary of a journal of `bytes` bytes.
    pub fn new(journal: &Journal, catalogue: &Catalogue, bytes: u64) -> Summary {
        Summary::from_results(&Results::new(journal, catalogue, None), bytes)
    }

    /// Returns the summary of the results of a journal of `bytes` bytes.
    pub fn from_results(results: &Results, bytes: u64) -> Summary {
        Summary {
            format: FORMAT.to_owned(),
            made_by: MADE_BY.to_owned(),
            journal_bytes: bytes,
            run: results.run.clone(),
            facts: results.facts.clone(),
            end: results.end,
            seconds: results.seconds,
            trials: results.trials,
            figures: results
                .figures
                .iter()
                .chain(results.controls())
                .map(Figure::outline)
                .collect(),
            indexes: results.indexes().iter().map(Index::outline).collect(),
            skipped: results.skipped.clone(),
            errors: results.errors.clone(),
        }
    }

    /// Returns the version of summaries: the tool, its version, and the hash of its analysis.
    pub fn made_by() -> &'static str {
        MADE_BY
    }

    /// Returns true if this very analysis would make the same of a journal of `bytes` bytes.
    pub fn is_of(&self, bytes: u64) -> bool {
        self.format == FORMAT && self.made_by == MADE_BY && self.journal_bytes == bytes
    }
}
