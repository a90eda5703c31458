//! The interactive tasks of a run, each with its rows beside the loads.

use analysis::{Figure, Latency, Missing, Results};
use catalogue::NONE;
use journal::{Key, Latency as Kind};
use words::{Grouped, Unique, copies};

use super::shared::gaps;

/// A row with its latency.
pub(super) type Beside<'a> = (&'a Figure, &'a Latency);

/// A task with a number of copies under a condition, beside every load.
pub(super) struct Task<'a> {
    pub(super) label: &'a str,
    pub(super) key: &'a Key,
    pub(super) rows: Vec<Beside<'a>>,
    /// `skipped` or `error`, and the cell.
    pub(super) gaps: Vec<(&'static str, &'a Missing)>,
}

/// The properties that the rows of a task share.
type Own<'a> = (&'a str, u32, &'a str);

fn row_key(key: &Key) -> Own<'_> {
    (&key.test, key.copies, &key.condition)
}

impl Task<'_> {
    pub(super) fn title(&self) -> String {
        title(self.label, self.key)
    }

    /// Returns the name of its latency.
    pub(super) fn latency_name(&self) -> &'static str {
        match self.rows.first().map(|(_, latency)| latency.kind) {
            None => "latency",
            Some(Kind::Wake) => "wake-up latency",
            Some(Kind::Response) => "time to the response",
            Some(Kind::Overrun) => "time beyond the work",
        }
    }

    /// Returns true if its requests come on a schedule.
    pub(super) fn is_offered(&self) -> bool {
        self.rows.iter().any(|(_, latency)| latency.requests.is_some_and(|requests| requests.offered.is_some()))
    }

    /// Returns the row beside a load.
    pub(super) fn under(&self, load: &str) -> Option<Beside<'_>> {
        self.rows.iter().find(|(row, _)| row.cell.key.load == load).copied()
    }

    /// Returns the row that the others are compared with: the task without a load, or else its least late row.
    pub(super) fn quiet(&self) -> Option<Beside<'_>> {
        let some = || self.rows.iter().filter(|(_, latency)| latency.histogram.count() > 0);
        let median = |latency: &Latency| latency.histogram.quantile(0.5);
        let alone = some().find(|(row, _)| row.cell.key.load == NONE);
        alone.or_else(|| some().min_by(|a, b| median(a.1).total_cmp(&median(b.1)))).copied()
    }
}

/// Returns a test's name with its copies and condition where they are out of the ordinary: it stands beside several
/// loads.
pub(super) fn title(label: &str, key: &Key) -> String {
    let several = if key.copies > 1 { format!(", {}", copies(key.copies)) } else { String::new() };
    let condition = if key.condition == NONE { String::new() } else { format!(", condition {}", key.condition) };
    format!("{label}{several}{condition}")
}

/// Returns where a test ran: `alongside compile`.
pub(super) fn beside(load: &str) -> String {
    if load == NONE { "without a load".to_owned() } else { format!("alongside {load}") }
}

/// The tasks, and the loads beside any of them: none first, then in the order of the run.
pub(super) fn tasks<'a>(results: &'a Results) -> (Vec<Task<'a>>, Vec<&'a str>) {
    let rows: Vec<Beside<'_>> = results.figures.iter().filter_map(|row| Some((row, row.latency.as_deref()?))).collect();
    let mut gaps = gaps(results);
    gaps.retain(|(_, gap)| gap.latency);
    let cells = rows.iter().map(|(row, _)| (row.cell.label.as_str(), &row.cell.key));
    let cells = cells.chain(gaps.iter().map(|(_, gap)| (gap.label.as_str(), &gap.key)));
    let task = |(own, cells): (Own<'a>, Vec<(&'a str, &'a Key)>)| Task {
        label: cells[0].0,
        key: cells[0].1,
        rows: rows.iter().copied().filter(|(row, _)| row_key(&row.cell.key) == own).collect(),
        gaps: gaps.iter().copied().filter(|(_, gap)| row_key(&gap.key) == own).collect(),
    };
    let by_task = cells.clone().map(|(label, key)| (row_key(key), (label, key))).grouped();
    let tasks = by_task.into_iter().map(task).collect();
    let mut loads = cells.map(|(_, key)| key.load.as_str()).unique();
    loads.sort_by_key(|load| *load != NONE);
    (tasks, loads)
}

/// Returns the number of the series that a load has in every chart: its place among all loads.
pub(super) fn series(loads: &[&str], load: &str) -> usize {
    loads.iter().position(|known| *known == load).unwrap_or(0)
}
