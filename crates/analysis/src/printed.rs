//! Figures that commands print: each is a cell beside those of other tests, in place of its command's own.

use std::borrow::Cow;

use journal::{Cell, Copy, Journal, Printed, Trial};
use stats::median;
use words::Grouped;

/// The value that is the score of such a cell.
const VALUE: &str = "printed";

/// Returns true if a cell is of a figure that commands print.
pub fn is_printed(cell: &Cell) -> bool {
    cell.value.as_deref() == Some(VALUE)
}

/// Returns the figures of a trial.
fn printed(trial: &Trial) -> impl Iterator<Item = &Printed> {
    trial.copies.iter().flat_map(|copy| &copy.printed)
}

/// Returns a journal whose cells are those of the figures that its commands print, if they print any.
pub(super) fn by_figure(journal: &Journal) -> Cow<'_, Journal> {
    if journal.trials.iter().all(|trial| printed(trial).next().is_none()) {
        return Cow::Borrowed(journal);
    }
    let (cells, trials) = cells(journal.cells.iter().zip(super::by_cell(journal)));
    Cow::Owned(Journal { cells, trials: trials.concat(), ..journal.clone() })
}

/// Returns the cells of the figures that commands print, with their trials, in place of the commands' own; `family` are
/// these with their trials.
pub(super) fn cells<'a>(family: impl IntoIterator<Item = (&'a Cell, Vec<&'a Trial>)>) -> (Vec<Cell>, Vec<Vec<Trial>>) {
    let mut cells: Vec<Cell> = Vec::new();
    let mut all: Vec<Vec<Trial>> = Vec::new();
    for (cell, trials) in family {
        let found = trials.iter().flat_map(|trial| printed(trial).map(|one| (one.name.as_str(), (*trial, one))));
        let found = found.grouped();
        if found.is_empty() {
            let id = cells.len();
            cells.push(Cell { id, ..cell.clone() });
            all.push(trials.into_iter().map(|trial| Trial { cell: id, ..trial.clone() }).collect());
            continue;
        }
        for (_, found) in found {
            let id = cells.len();
            cells.extend(found.first().map(|(_, one)| cell_of(id, cell, one)));
            all.push(found.into_iter().map(|(trial, one)| trial_of(id, trial, one)).collect());
        }
    }
    (cells, all)
}

fn cell_of(id: usize, command: &Cell, one: &Printed) -> Cell {
    let mut cell = Cell { id, label: one.name.clone(), unit: one.unit.clone(), metric: one.metric, ..command.clone() };
    cell.key.test.clone_from(&one.name);
    Cell { command: false, timebase: 0.0, scale: 1.0, value: Some(VALUE.to_owned()), limit: None, ..cell }
}

fn trial_of(id: usize, trial: &Trial, one: &Printed) -> Trial {
    let value = median(&one.rounds.iter().map(|(_, value)| *value).collect::<Vec<f64>>());
    let copy = Copy {
        slices: trial.copies.first().map(|copy| copy.slices.clone()).unwrap_or_default(),
        values: [(VALUE.to_owned(), (value, one.unit.clone()))].into(),
        printed: vec![one.clone()],
        ..Copy::default()
    };
    let Trial { block, at, second, ref noise, .. } = *trial;
    Trial { cell: id, block, at, second, noise: noise.clone(), copies: vec![copy], ..Trial::default() }
}
