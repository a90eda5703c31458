//! Several systems side by side: a row per cell or index ([`Across`]) with the figure of each
//! system, its rank, and a mark on the best and the worst where intervals separate them.

use serde::Serialize;

use crate::figures::{Figure, Measure};
use crate::products::Index;
use crate::runs::compare::Comparisons;
use journal::{Cell, Key};
use stats::{Estimate, Exact, rank_ranges};
use words::Grouped;

/// A figure better or worse than those of all other systems: its interval overlaps no other's.
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
    /// The best and the worst rank that it may have, from 1; `None` if no other system has such a
    /// figure.
    pub rank: Option<(usize, usize)>,
    /// Set if it is best or worst.
    pub mark: Option<Mark>,
}

/// One cell by one measure, or one index, in every system.
#[derive(Debug, Clone)]
pub struct Across {
    /// The test with its copies, load and condition; the test of an index is its name.
    pub key: Key,
    /// Its name in reports.
    pub label: String,
    /// What the figures are: the score (of latencies, their judged percentile) or the energy of an
    /// operation.
    pub measure: Measure,
    /// The unit of its figures; empty of an index.
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
    /// By the ratio of the best to the worst, largest first.
    Spread,
    /// By how this system compares with the mean of all, worst first; rows that it lacks come last.
    System(usize),
}

impl Across {
    /// A row of `scores`, by system, each with its rank and mark.
    pub fn new(
        key: Key,
        label: String,
        unit: String,
        lower_is_better: bool,
        scores: &[Option<Estimate>],
    ) -> Across {
        let known: Vec<Estimate> = scores.iter().flatten().copied().collect();
        let last = known.len();
        let mut ranks = rank_ranges(&known, lower_is_better).into_iter();

        let mut standings = Vec::new();
        for score in scores {
            let Some(score) = *score else {
                standings.push(None);
                continue;
            };
            let rank = ranks.next().filter(|_| last > 1);
            let mark = match rank {
                Some((1, 1)) => Some(Mark::Best),
                Some((first, _)) if first == last => Some(Mark::Worst),
                _ => None,
            };
            standings.push(Some(Standing { score, rank, mark }));
        }
        Across { key, label, measure: Measure::Score, unit, lower_is_better, standings }
    }

    /// The logarithm of the largest figure over the smallest; 0 if fewer than two are positive.
    pub fn spread(&self) -> f64 {
        let logs = self.standings.iter().flatten().filter_map(Standing::log);
        let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
        let smallest = logs.fold(f64::INFINITY, f64::min);
        let range = largest - smallest;
        if range.is_finite() { range } else { 0.0 }
    }

    /// How much better a system is than the geometric mean of all, as a logarithm; `None` if it has
    /// no figure here.
    fn advantage(&self, system: usize) -> Option<f64> {
        let own = self.standings.get(system)?.as_ref()?.log()?;
        let logs: Vec<f64> = self.standings.iter().flatten().filter_map(Standing::log).collect();
        let excess = own - stats::mean(&logs);
        Some(if self.lower_is_better { -excess } else { excess })
    }
}

impl Standing {
    /// The logarithm of the figure, if it is positive.
    fn log(&self) -> Option<f64> {
        Some(self.score.value.natural_log()).filter(|log| log.is_finite())
    }
}

impl Comparisons {
    /// Every cell that any of the runs has, in the order of their first appearance, with its score
    /// in each run. A row with the energy of an operation follows, if all runs that have energies
    /// read them from one kind of source.
    pub fn side_by_side(&self) -> Vec<Across> {
        let figures = self.runs.iter().flat_map(|run| &run.results.figures);
        let cells = figures.map(|figure| (&figure.cell.key, &figure.cell)).grouped();
        let mut sources: Vec<&str> =
            self.runs.iter().filter_map(|run| run.results.facts.energy_source()).collect();
        sources.dedup();
        let has_one_source = sources.len() == 1;

        let mut rows = Vec::new();
        for (_, cells) in cells {
            let cell = cells[0];
            rows.push(self.row(cell, Measure::Score, |figure| Some(figure.score)));

            let energy =
                self.row(cell, Measure::Energy, |figure| figure.energy.as_ref()?.per_operation);
            if has_one_source && energy.standings.iter().any(Option::is_some) {
                rows.push(energy);
            }
        }
        rows
    }

    /// A cell in every run by one measure, which `value` takes from its figure.
    fn row(&self, cell: &Cell, measure: Measure, value: fn(&Figure) -> Option<Estimate>) -> Across {
        let mut values: Vec<Option<Estimate>> = Vec::new();
        for run in &self.runs {
            let mut figures = run.results.figures.iter();
            let figure =
                figures.find(|figure| figure.cell.key == cell.key && figure.cell.unit == cell.unit);
            values.push(figure.and_then(value));
        }

        let key = cell.key.under(self.condition(&cell.key.condition));
        let unit = measure.unit(&cell.unit);
        let lower_is_better = measure.lower_is_better(cell.metric);
        let row = Across::new(key, cell.label.clone(), unit, lower_is_better, &values);
        Across { measure, ..row }
    }

    /// [`Comparisons::side_by_side`] in another order; rows that are equal in it keep theirs.
    pub fn sorted_side_by_side(&self, by: Sorted) -> Vec<Across> {
        let mut rows = self.side_by_side();
        sort(&mut rows, by);
        rows
    }

    /// Every index of the runs, with its score in each run that made it of the same tests.
    pub fn indexes_side_by_side(&self) -> Vec<Across> {
        let indexes = self.runs.iter().flat_map(|run| run.results.indexes());
        let by_name = indexes.map(|index| ((&index.id, index.copies), index)).grouped();

        let mut rows = Vec::new();
        for (_, indexes) in by_name {
            let index = indexes[0];
            let scores: Vec<Option<Estimate>> =
                self.runs.iter().map(|run| score_of(index, run.results.indexes())).collect();
            let key = Key::plain(&index.id, index.copies);
            rows.push(Across::new(key, index.title(), String::new(), false, &scores));
        }
        rows
    }
}

/// The score of the index among a run's `indexes` that has the same name, copies and tests.
fn score_of(index: &Index, indexes: &[Index]) -> Option<Estimate> {
    let mut same_name =
        indexes.iter().filter(|other| (&other.id, other.copies) == (&index.id, index.copies));
    same_name.find(|other| other.has_parts_of(index)).map(|other| other.score)
}

/// Sorts rows; those that are equal keep their order.
fn sort(rows: &mut [Across], by: Sorted) {
    match by {
        Sorted::AsMeasured => {}
        Sorted::Test => rows.sort_by(|a, b| a.key.test.cmp(&b.key.test)),
        Sorted::Spread => rows.sort_by(|a, b| b.spread().total_cmp(&a.spread())),
        Sorted::System(system) => {
            let place = |row: &Across| row.advantage(system).unwrap_or(f64::INFINITY);
            rows.sort_by(|a, b| place(a).total_cmp(&place(b)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(test: &str, lower: bool, values: [Option<(f64, f64)>; 4]) -> Across {
        let estimate =
            |(value, half): (f64, f64)| Estimate { value, low: value - half, high: value + half };
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
