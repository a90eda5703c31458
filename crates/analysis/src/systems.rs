//! Several systems side by side: their figures, and best, worst and ranks where intervals separate them.

use serde::Serialize;

use super::{Comparisons, Figure, Index, Measure};
use journal::{Cell, Key};
use stats::{Estimate, Exact, rank_ranges};
use words::Grouped;

/// The rank of a figure among those of all systems: only one whose interval overlaps no other's is either.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Better than all others.
    Best,
    /// Worse than all others.
    Worst,
}

/// A figure of one system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The figure with its interval.
    pub score: Estimate,
    /// The best and the worst place that it may have, from 1; `None` if no other system has such a figure.
    pub rank: Option<(usize, usize)>,
    /// Set if it is best or worst.
    pub mark: Option<Mark>,
}

/// One cell by one measure, or one index, in every system.
#[derive(Debug, Clone)]
pub struct Across {
    /// Its place in the matrix; the test of an index is its name.
    pub key: Key,
    /// Its name in reports.
    pub label: String,
    /// The score, latencies by their judged percentile; or an operation's energy.
    pub measure: Measure,
    /// The unit of its figures; none of an index.
    pub unit: String,
    /// True if a smaller figure is better.
    pub lower_is_better: bool,
    /// By system; `None` where it was not measured, or in another unit.
    pub standings: Vec<Option<Standing>>,
}

/// The order of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sorted {
    /// As the catalogue has them.
    #[default]
    AsMeasured,
    /// By the name of the test.
    Test,
    /// By how far the best is from the worst, most first.
    Spread,
    /// By how a system compares with the mean of all, worst first; what it lacks is last.
    System(usize),
}

impl Across {
    /// Returns the row of figures, each with its rank and mark.
    pub fn new(key: Key, label: String, unit: String, lower_is_better: bool, scores: &[Option<Estimate>]) -> Across {
        let known: Vec<Estimate> = scores.iter().flatten().copied().collect();
        let last = known.len();
        let mut ranks = rank_ranges(&known, lower_is_better).into_iter();
        let standings = scores.iter().map(|score| {
            let score = (*score)?;
            let rank = ranks.next().filter(|_| last > 1);
            let mark = match rank {
                Some((1, 1)) => Some(Mark::Best),
                Some((first, _)) if first == last => Some(Mark::Worst),
                _ => None,
            };
            Some(Standing { score, rank, mark })
        });
        Across { key, label, measure: Measure::Score, unit, lower_is_better, standings: standings.collect() }
    }

    /// Returns the logarithm of the best figure over the worst; 0 if fewer than two are positive.
    pub fn spread(&self) -> f64 {
        let logs =
            || self.standings.iter().flatten().map(|one| one.score.value.natural_log()).filter(|log| log.is_finite());
        let range = logs().fold(f64::NEG_INFINITY, f64::max) - logs().fold(f64::INFINITY, f64::min);
        if range.is_finite() { range } else { 0.0 }
    }

    /// Returns how much better a system is than the geometric mean of all, as a logarithm.
    fn above(&self, system: usize) -> Option<f64> {
        let log = |one: &Standing| Some(one.score.value.natural_log()).filter(|log| log.is_finite());
        let logs: Vec<f64> = self.standings.iter().flatten().filter_map(log).collect();
        let own = log(self.standings.get(system)?.as_ref()?)?;
        let above = own - stats::mean(&logs);
        Some(if self.lower_is_better { -above } else { above })
    }
}

impl Comparisons {
    /// Returns every cell that any of the runs has, in the order of the first that has it, with its score in each,
    /// latencies by their judged percentile; and after it an operation's energy, if all that know it have it from one
    /// kind of source.
    pub fn side_by_side(&self) -> Vec<Across> {
        let figures = self.runs.iter().flat_map(|run| &run.results.figures);
        let known = figures.map(|row| (&row.cell.key, &row.cell)).grouped();
        let mut sources: Vec<&str> = self.runs.iter().filter_map(|run| run.results.facts.energy_source()).collect();
        sources.dedup();
        let of_cell = |(_, cells): (&Key, Vec<&Cell>)| {
            let cell = cells[0];
            let score = self.across(cell, Measure::Score, |row| Some(row.score));
            let energy = self.across(cell, Measure::Energy, |row| row.energy.as_ref()?.per_operation);
            let has_energy = sources.len() == 1 && energy.standings.iter().any(Option::is_some);
            [Some(score), has_energy.then_some(energy)].into_iter().flatten()
        };
        known.into_iter().flat_map(of_cell).collect()
    }

    /// Returns a cell in every run by one measure, which `of` takes from its figure.
    fn across(&self, cell: &Cell, measure: Measure, of: fn(&Figure) -> Option<Estimate>) -> Across {
        let same = |row: &&Figure| row.cell.key == cell.key && row.cell.unit == cell.unit;
        let figures = self.runs.iter().map(|run| run.results.figures.iter().find(same).and_then(of));
        let figures: Vec<Option<Estimate>> = figures.collect();
        let (unit, lower) = (measure.unit(&cell.unit), measure.lower_is_better(cell.metric));
        let key = cell.key.under(self.condition(&cell.key.condition));
        Across { measure, ..Across::new(key, cell.label.clone(), unit, lower, &figures) }
    }

    /// Returns the same in another order; rows alike keep theirs.
    pub fn sorted_side_by_side(&self, by: Sorted) -> Vec<Across> {
        let mut rows = self.side_by_side();
        sort(&mut rows, by);
        rows
    }

    /// Returns the indexes of the runs likewise: of each that of the same tests.
    pub fn indexes_side_by_side(&self) -> Vec<Across> {
        let indexes = self.runs.iter().flat_map(|run| run.results.indexes());
        let known = indexes.map(|index| ((&index.id, index.copies), index)).grouped();
        let across = |(_, indexes): ((&String, u32), Vec<&Index>)| {
            let index = indexes[0];
            let same = |one: &&Index| (&one.id, one.copies) == (&index.id, index.copies) && one.has_parts_of(index);
            let scores = self.runs.iter().map(|run| Some(run.results.indexes().iter().find(same)?.score));
            let key = Key::plain(&index.id, index.copies);
            Across::new(key, index.title(), String::new(), false, &scores.collect::<Vec<Option<Estimate>>>())
        };
        known.into_iter().map(across).collect()
    }
}

/// Sorts rows; those alike keep their order.
fn sort(rows: &mut [Across], by: Sorted) {
    match by {
        Sorted::AsMeasured => {}
        Sorted::Test => rows.sort_by(|a, b| a.key.test.cmp(&b.key.test)),
        Sorted::Spread => rows.sort_by(|a, b| b.spread().total_cmp(&a.spread())),
        Sorted::System(system) => {
            let place = |row: &Across| row.above(system).unwrap_or(f64::INFINITY);
            rows.sort_by(|a, b| place(a).total_cmp(&place(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(test: &str, lower: bool, values: [Option<(f64, f64)>; 4]) -> Across {
        let estimate = |(value, half): (f64, f64)| Estimate { value, low: value - half, high: value + half };
        let scores = values.map(|one| one.map(estimate));
        Across::new(Key::plain(test, 1), test.to_owned(), String::new(), lower, &scores)
    }

    fn marks(row: &Across) -> Vec<Option<Mark>> {
        row.standings.iter().map(|one| one.as_ref().and_then(|one| one.mark)).collect()
    }

    /// By hand: 10 ± 1 and 12 ± 1.5 overlap; 20 ± 1 is clear of both, and one was not measured.
    #[test]
    fn only_what_overlaps_no_other_is_marked() {
        let values = [Some((10.0, 1.0)), Some((12.0, 1.5)), Some((20.0, 1.0)), None];
        let more = row("a", false, values);
        assert_eq!(marks(&more), [None, None, Some(Mark::Best), None]);
        let ranks: Vec<_> = more.standings.iter().flatten().map(|one| one.rank).collect();
        assert_eq!(ranks, [Some((2, 3)), Some((2, 3)), Some((1, 1))]);
        assert_eq!(marks(&row("a", true, values)), [None, None, Some(Mark::Worst), None]);
        // Ties have no order, and one alone has no rank.
        assert_eq!(marks(&row("a", false, [Some((5.0, 1.0)); 4])), [None; 4]);
        let alone = row("a", false, [None, Some((5.0, 1.0)), None, None]);
        assert_eq!((marks(&alone), alone.standings[1].unwrap().rank), (vec![None; 4], None));
        let endless = Across::new(
            Key::plain("a", 1),
            String::new(),
            String::new(),
            false,
            &[Some(Estimate::alone(1.0)), Some(Estimate { value: 9.0, low: 8.0, high: 10.0 })],
        );
        assert_eq!(marks(&endless), [None, None]);
    }

    #[test]
    fn by_any_column() {
        let some = |values: [f64; 4]| values.map(|value| Some((value, 0.1)));
        let mut rows = vec![
            row("c", false, some([1.0, 2.0, 4.0, 8.0])),
            row("a", true, some([1.0, 1.1, 1.0, 1.0])),
            row("b", false, [None, Some((3.0, 0.1)), Some((9.0, 0.1)), Some((3.0, 0.1))]),
        ];
        let mut order = |by: Sorted| {
            sort(&mut rows, by);
            rows.iter().map(|row| row.key.test.clone()).collect::<String>()
        };
        assert_eq!(order(Sorted::AsMeasured), "cab");
        assert_eq!(order(Sorted::Test), "abc");
        assert_eq!(order(Sorted::Spread), "cba");
        // By hand: A is at 1 of a mean of 2.83 in c, level in a, and b was not measured there.
        assert_eq!(order(Sorted::System(0)), "cab");
        // C: 4 of 2.83; 1 of 1.024, where less is better; 9 of 4.33.
        assert_eq!(order(Sorted::System(2)), "acb");
        assert_eq!(order(Sorted::System(9)), "acb");
    }
}
