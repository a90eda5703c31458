//! What `ab --bisect` makes of the judged comparisons of its commands.

use crate::figures::Measure;
use crate::products::comparison::Comparison;

/// True if any time grew by more than `percent`, by its whole interval; false if no time of the
/// `commands` did. `None` if intervals leave it open.
pub(crate) fn is_any_slower<'a>(
    comparisons: impl Iterator<Item = &'a Comparison>,
    commands: usize,
    percent: f64,
) -> Option<bool> {
    let times = comparisons.filter(|comparison| comparison.measure == Measure::Score);
    let changes: Vec<_> = times.map(Comparison::change).collect();

    let is_slower = changes.iter().any(|change| change.low > percent);
    let is_known = changes.len() == commands && changes.iter().all(|change| change.high < percent);
    (is_slower || is_known).then_some(is_slower)
}
