//! The values of commands that alternate: one per round.

use std::collections::BTreeMap;

use journal::{Cell, Copy, Trial};

use crate::figures::Measure;
use crate::figures::executed::amount;
use crate::products::comparison::engine::Values;

/// Rounds that fit into a block's numbers: more than a second of the shortest commands has.
const MAX_ROUNDS_OF_BLOCK: u32 = 1 << 14;

/// A trial's values by the number of their round: what its executions took or used, or what they
/// printed. Values that cannot be compared are left out, and their pairs with them.
pub(super) fn values_by_round(cell: &Cell, trial: &Trial, measure: Measure) -> Values {
    let mut rounds: BTreeMap<u32, f64> = BTreeMap::new();
    for (round, value) in trial.copies.iter().flat_map(|copy| values_of_copy(copy, measure)) {
        if let Some(number) = number_in_run(trial.block, round)
            && cell.is_comparable(value)
        {
            rounds.insert(number, value);
        }
    }
    rounds.into_iter().collect()
}

/// The values of a copy by round: of its executions, or of what they printed.
pub(super) fn values_of_copy(
    copy: &Copy,
    measure: Measure,
) -> impl Iterator<Item = (u64, f64)> + '_ {
    let executions = copy.executions.iter();
    let executed = executions.map(move |execution| (execution.round, amount(execution, measure)));
    let printed = copy.printed.iter().flat_map(|figure| figure.rounds.iter().copied());
    executed.chain(printed)
}

/// A number for a round that no other round of the run has; `None` if it would not fit.
fn number_in_run(block: u32, round: u64) -> Option<u32> {
    let round = u32::try_from(round).ok().filter(|round| *round < MAX_ROUNDS_OF_BLOCK)?;
    Some(block.checked_mul(MAX_ROUNDS_OF_BLOCK)? + round + 1)
}
