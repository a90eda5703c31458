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
    let Some(column) = arguments.sort.as_deref() else {
        return Ok(Sorted::default());
    };
    match column {
        "test" => return Ok(Sorted::Test),
        "spread" => return Ok(Sorted::Spread),
        _ => {}
    }

    let runs = &comparisons.runs;
    let named = runs
        .iter()
        .position(|run| run.letter.eq_ignore_ascii_case(column) || run.results.run.name == column);
    named.map(Sorted::System).ok_or_else(|| {
        let letters: Vec<&str> = runs.iter().map(|run| run.letter.as_str()).collect();
        usage(anyhow!(
            "'{column}' is not a column; --sort takes test, spread, or a run: {}",
            letters.join(", ")
        ))
    })
}
