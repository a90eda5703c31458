//! Figures of other programs under the names and in the units of the first run.
//!
//! What another program printed goes by its label as printed, and may be in another unit of time
//! from run to run. Each such figure of a later run takes the key and the unit of the first run's
//! figure of that label, so that the two are compared; what has no way to that unit keeps its own.
//! A benchmark of Go that both ran at one level each (`-cpu`) is compared although the two differ,
//! and so is a figure whose name is longer in one of the runs ([`names_in_first`]).

use std::collections::BTreeMap;

use crate::figures::printed::{Levels, Named, names_in_first};
use crate::figures::{Figure, Remark, Sample};
use crate::findings::Results;
use catalogue::unit::{are_alike, convert};
use journal::{Cell, Key, Procedure};

/// Gives the printed figures of `run` the keys and units of those of `first`.
pub(super) fn name_alike(run: &mut Results, first: &Results) {
    let first_cells: Vec<&Cell> =
        first.figures.iter().map(|row| &row.cell).filter(|cell| is_foreign(cell, first)).collect();
    if first_cells.is_empty() {
        return;
    }

    let names = names_in_first(&foreign_names(run), &foreign_names(first));
    rename(run, &names);
    let levels = LevelsOfBoth { first: levels(first), run: levels(run) };
    name_figures(run, &first_cells, &levels);
    name_gaps(run, &first_cells, &levels);
}

/// The labels and units of what another program printed.
fn foreign_names(run: &Results) -> Vec<Named> {
    let cells = run.figures.iter().map(|row| &row.cell);
    let foreign = cells.filter(|cell| is_foreign(cell, run));
    foreign.map(|cell| (cell.label.clone(), cell.unit.clone())).collect()
}

fn rename(run: &mut Results, names: &BTreeMap<String, String>) {
    let labels = run.figures.iter_mut().map(|row| &mut row.cell.label);
    let gaps = run.skipped.iter_mut().chain(&mut run.errors).map(|gap| &mut gap.label);
    for label in labels.chain(gaps) {
        if let Some(name) = names.get(label) {
            label.clone_from(name);
        }
    }
}

/// The levels of figures (Go's `-cpu`) of the first run and of another.
struct LevelsOfBoth {
    first: Levels,
    run: Levels,
}

impl LevelsOfBoth {
    /// The key that the first run would have for a key of the other.
    fn first_key(&self, key: &Key, label: &str) -> Key {
        let copies = self.run.counterpart(label, &self.first).unwrap_or(key.copies);
        Key { copies, ..key.clone() }
    }
}

fn name_figures(run: &mut Results, first_cells: &[&Cell], levels: &LevelsOfBoth) {
    let are_foreign: Vec<bool> = run.figures.iter().map(|row| is_foreign(&row.cell, run)).collect();
    let mut taken: Vec<&Key> = Vec::new();
    for (row, is_foreign) in run.figures.iter_mut().zip(are_foreign) {
        if !is_foreign {
            continue;
        }
        let key = levels.first_key(&row.cell.key, &row.cell.label);
        let candidates = first_cells.iter().filter(|cell| {
            is_of_label(&cell.key, &cell.label, &key, &row.cell.label)
                && are_alike(&row.cell.unit, &cell.unit)
                && !taken.contains(&&cell.key)
        });
        let same_key_first = candidates.max_by_key(|cell| cell.key == row.cell.key);
        let Some(cell) = same_key_first else { continue };

        let (own, level) = (row.cell.key.copies, key.copies);
        if own != level {
            row.warnings.push(Remark::OtherLevel { own, first: level });
        }
        taken.push(&cell.key);
        convert_to(row, &cell.unit);
        row.cell.key.clone_from(&cell.key);
    }
}

/// What has no result has no unit: it is the first figure of its label.
fn name_gaps(run: &mut Results, first_cells: &[&Cell], levels: &LevelsOfBoth) {
    let own_keys: Vec<Key> = run.figures.iter().map(|row| row.cell.key.clone()).collect();
    for gap in run.skipped.iter_mut().chain(&mut run.errors) {
        let key = levels.first_key(&gap.key, &gap.label);
        let counterpart = first_cells.iter().find(|cell| {
            is_of_label(&cell.key, &cell.label, &key, &gap.label) && !own_keys.contains(&cell.key)
        });
        if let Some(cell) = counterpart {
            gap.key.clone_from(&cell.key);
        }
    }
}

/// The levels of a run's figures, and of what has none.
fn levels(run: &Results) -> Levels {
    let figures = run.figures.iter().map(|row| (row.cell.label.clone(), row.cell.key.copies));
    let gaps = run.skipped.iter().chain(&run.errors).map(|gap| (gap.label.clone(), gap.key.copies));
    figures.chain(gaps).collect()
}

/// True of a figure that another program printed. Runs imported earlier do not mark them.
fn is_foreign(cell: &Cell, run: &Results) -> bool {
    cell.is_printed() || run.run.procedure == Procedure::Imported
}

/// True if both have one label, copies, load and condition.
fn is_of_label(key: &Key, label: &str, other: &Key, other_label: &str) -> bool {
    label == other_label
        && key.same_family(&Key { test: key.test.clone(), ..other.clone() })
        && key.condition == other.condition
}

fn convert_to(row: &mut Figure, unit: &str) {
    if row.cell.unit == unit {
        return;
    }
    let old_unit = std::mem::replace(&mut row.cell.unit, unit.to_owned());
    // The units are alike, so every value can be converted.
    let to_unit = |value: f64| convert(value, &old_unit, unit).unwrap_or(value);
    row.score = row.score.map(to_unit);
    for Sample { value, .. } in &mut row.samples {
        *value = to_unit(*value);
    }
    for value in row.slices.iter_mut().flatten() {
        *value = to_unit(*value);
    }
}
