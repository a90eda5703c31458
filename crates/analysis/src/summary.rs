//! What a run came to, small enough to be read for thousands of runs.

use serde::{Deserialize, Serialize};

use super::{Missing, Remark, Results, Row};
use catalogue::{Catalogue, Metric};
use journal::{Ended, Facts, Journal, Key, Run};
use stats::Estimate;

/// The version of a summary's keys.
const FORMAT: &str = "unixmark-summary/1";

/// What makes summaries: the tool, its version, and a hash of the analysis's sources, so that a changed statistic is computed
/// again.
const MADE_BY: &str = concat!("unixmark ", env!("CARGO_PKG_VERSION"), " ", env!("ANALYSIS"));

/// A run's results without what only its own report shows. It is made of the journal, and can be made again at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// unixmark-summary/1.
    pub format: String,
    /// The tool that made it, its version, and the hash of its analysis.
    pub made_by: String,
    /// Length of the journal it was made of, in bytes.
    pub journal_bytes: u64,
    /// What was asked for.
    pub run: Run,
    /// What is known of the system.
    pub facts: Facts,
    /// How it ended; absent when the journal was cut short.
    pub end: Option<Ended>,
    /// Seconds it took.
    pub seconds: f64,
    /// Trials in the journal.
    pub trials: usize,
    /// One per cell with a result, controls among them.
    pub figures: Vec<Figure>,
    /// The indexes.
    pub indexes: Vec<Composite>,
    /// Cells that cannot run there.
    pub skipped: Vec<Missing>,
    /// Cells without a result.
    pub errors: Vec<Missing>,
}

/// The result of one cell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Where in the matrix it is.
    #[serde(flatten)]
    pub key: Key,
    /// The test's name in reports.
    pub label: String,
    /// Whether it is the second arm of the condition that others are compared with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// What kind of number it is.
    pub metric: Metric,
    /// Its unit.
    pub unit: String,
    /// The score, with its interval.
    #[serde(flatten)]
    pub score: Estimate,
    /// Trials behind it.
    pub n: usize,
    /// The power while it was measured in W, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<Estimate>,
    /// The energy of an operation in J, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joules: Option<Estimate>,
    /// Every trial that measured: when (s), its block, its score.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<(f64, u32, f64)>,
    /// What a reader must know of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Remark>,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Composite {
    /// Its name in the catalogue.
    pub id: String,
    /// How many copies.
    pub copies: u32,
    /// The score, with its interval.
    #[serde(flatten)]
    pub score: Estimate,
    /// Whether no test of it is missing.
    pub complete: bool,
    /// The geometric mean of its tests' power in W, if that of all is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watts: Option<Estimate>,
}

impl Summary {
    /// Returns the summary of a journal of `bytes` bytes.
    #[must_use]
    pub fn new(journal: &Journal, catalogue: &Catalogue, bytes: u64) -> Summary {
        Summary::of(&Results::new(journal, catalogue, None), bytes)
    }

    /// Returns the summary of the results of a journal of `bytes` bytes.
    #[must_use]
    pub fn of(results: &Results, bytes: u64) -> Summary {
        let index = |index: &super::Index| Composite {
            id: index.id.clone(),
            copies: index.copies,
            score: index.score,
            complete: index.complete,
            watts: index.watts,
        };
        Summary {
            format: FORMAT.to_owned(),
            made_by: MADE_BY.to_owned(),
            journal_bytes: bytes,
            run: results.run.clone(),
            facts: results.facts.clone(),
            end: results.end,
            seconds: results.seconds,
            trials: results.trials,
            figures: results.rows.iter().chain(results.controls()).map(Figure::of).collect(),
            indexes: results.indexes().iter().map(index).collect(),
            skipped: results.skipped.clone(),
            errors: results.errors.clone(),
        }
    }

    /// What makes summaries: the tool, its version, and the hash of its analysis.
    #[must_use]
    pub fn made_by() -> &'static str {
        MADE_BY
    }

    /// Whether this very analysis would make the same of a journal of `bytes` bytes.
    #[must_use]
    pub fn is_of(&self, bytes: u64) -> bool {
        self.format == FORMAT && self.made_by == MADE_BY && self.journal_bytes == bytes
    }
}

impl Figure {
    fn of(row: &Row) -> Figure {
        let cell = &row.cell;
        Figure {
            key: cell.key.clone(),
            label: cell.label.clone(),
            control: cell.control,
            metric: cell.metric,
            unit: cell.unit.clone(),
            score: row.score,
            n: row.n,
            watts: row.energy.as_deref().map(|energy| energy.watts),
            joules: row.energy.as_deref().and_then(|energy| energy.per_operation),
            samples: row.samples.iter().map(|sample| (sample.at, sample.block, sample.value)).collect(),
            warnings: row.warnings.clone(),
        }
    }
}
