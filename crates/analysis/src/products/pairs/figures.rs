//! Figures that one command printed and another did not, or in a unit that cannot be converted:
//! they have no pair, and a gate treats those that the reference alone has as lost.

use journal::{Cell, NoValue};

use super::arms::{Arms, Look};
use crate::figures::Measure;
use crate::figures::Missing;

impl Arms<'_> {
    /// Says why the command `condition` has no figure to go with a printed one.
    pub(super) fn why_unpaired(&self, cell: &Cell, condition: &str) -> String {
        let other = self.cells.iter().find(|other| {
            let is_akin = other.label == cell.label && other.key.load == cell.key.load;
            other.key.condition == condition && is_akin
        });
        let own = &cell.key.condition;
        match other {
            Some(other) if other.key.copies != cell.key.copies => {
                let copies = words::copies(other.key.copies);
                format!("{condition} printed it of {copies} alone")
            }
            Some(other) => {
                let mut units = [(other, condition), (cell, own.as_str())];
                units.sort_by_key(|(_, name)| *name != self.against);
                let [(a, base), (b, new)] = units;
                format!("its unit differs: {} in {base}, {} in {new}", a.unit, b.unit)
            }
            None => format!("{condition} did not print it"),
        }
    }

    /// The figures that the reference printed and `condition` did not.
    pub(crate) fn lost_figures(&self, condition: &str) -> Vec<Missing> {
        let of_reference = self.cells.iter().filter(|cell| {
            cell.key.condition == self.against && !cell.control && cell.is_printed()
        });

        let mut lost = Vec::new();
        for cell in of_reference {
            let key = cell.key.under(condition);
            let has_pair = self.cells.iter().any(|other| other.key == key);
            if has_pair || !self.has_scores(cell) {
                continue;
            }
            let reason = self.why_unpaired(cell, condition);
            let under = Cell { key, ..cell.clone() };
            lost.push(Missing { lost: true, ..Missing::new(&under, &reason) });
        }
        lost
    }

    /// The printed figure `cell` as lost, if it failed in some of its executions and in none of its
    /// reference's: the remaining values may measure other work than the reference's do.
    pub(super) fn lost_to_failures(&self, cell: &Cell, compared: &[&Cell]) -> Option<Missing> {
        let first_reason = self.failures(cell).next()?;
        if compared.iter().any(|other| self.failures(other).next().is_some()) {
            return None;
        }

        let count = words::count(self.failures(cell).count(), "value");
        let reason = format!("{count} failed, and the first command's did not: {first_reason}");
        Some(Missing { lost: true, ..Missing::new(cell, &reason) })
    }

    /// The reasons of executions in which a printed figure failed.
    fn failures(&self, cell: &Cell) -> impl Iterator<Item = &str> {
        let printed = self.trials(cell).iter().flat_map(|trial| &trial.copies);
        let gaps = printed.flat_map(|copy| &copy.printed).flat_map(|printed| &printed.gaps);
        gaps.filter_map(|(_, gap)| match gap {
            NoValue::Failed(reason) => Some(reason.as_str()),
            NoValue::Skipped(_) => None,
        })
    }

    /// True if the reference has values of a cell that has none itself.
    pub(crate) fn is_lost(&self, gap: &Missing) -> bool {
        let key = gap.key.under(self.against);
        let mut references =
            self.cells.iter().filter(|cell| cell.key == key && !cell.control && cell.is_printed());
        references.any(|cell| self.has_scores(cell))
    }

    fn has_scores(&self, cell: &Cell) -> bool {
        !self.values(&[cell], Measure::Score, Look::First).is_empty()
    }
}
