//! `unixmark compare --side-by-side RUN RUN …`.

use anyhow::{Result, anyhow};

use super::Arguments;
use crate::status::usage;
use analysis::{Comparisons, Sorted};

/// Returns the order of the rows, by a column: `test`, `spread`, a run's letter or its name.
///
/// # Errors
/// `--sort` names no column.
pub(super) fn order(comparisons: &Comparisons, arguments: &Arguments) -> Result<Sorted> {
    let Some(column) = arguments.sort.as_deref() else { return Ok(Sorted::default()) };
    let is_it = |run: &analysis::Compared| run.letter.eq_ignore_ascii_case(column) || run.results.run.name == column;
    match column {
        "test" => Ok(Sorted::Test),
        "spread" => Ok(Sorted::Spread),
        _ => comparisons.runs.iter().position(is_it).map(Sorted::System).ok_or_else(|| {
            let letters: Vec<&str> = comparisons.runs.iter().map(|run| run.letter.as_str()).collect();
            usage(anyhow!("'{column}' is not a column; --sort takes test, spread, or a run: {}", letters.join(", ")))
        }),
    }
}
