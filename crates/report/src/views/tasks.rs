//! The interactive tasks of a run, each with its latencies alongside the loads.

use analysis::{Figure, Latency, Missing, Results};
use catalogue::NONE;
use journal::{Key, Latency as Kind};
use words::{Grouped, Unique, copies};

use super::shared::gaps;

/// A task's figure under one load.
#[derive(Clone, Copy)]
pub(super) struct TaskRow<'a> {
    pub(super) figure: &'a Figure,
    pub(super) latency: &'a Latency,
}

impl<'a> TaskRow<'a> {
    fn of_figure(figure: &'a Figure) -> Option<TaskRow<'a>> {
        Some(TaskRow { figure, latency: figure.latency.as_deref()? })
    }

    pub(super) fn load(&self) -> &'a str {
        &self.figure.cell.key.load
    }

    /// True if any frame was finished.
    pub(super) fn has_frames(&self) -> bool {
        self.latency.histogram.count() > 0
    }
}

/// A task with a number of copies under a condition, alongside every load.
pub(super) struct Task<'a> {
    pub(super) label: &'a str,
    /// The key of its first row.
    pub(super) key: &'a Key,
    pub(super) rows: Vec<TaskRow<'a>>,
    /// The cells without a result, each with `skipped` or `error`.
    pub(super) gaps: Vec<(&'static str, &'a Missing)>,
}

/// What the rows of a task have in common: the test, the copies and the condition.
type TaskKey<'a> = (&'a str, u32, &'a str);

fn task_key(key: &Key) -> TaskKey<'_> {
    (&key.test, key.copies, &key.condition)
}

impl<'a> Task<'a> {
    pub(super) fn title(&self) -> String {
        title(self.label, self.key)
    }

    pub(super) fn latency_name(&self) -> &'static str {
        match self.rows.first().map(|row| row.latency.kind) {
            None => "latency",
            Some(Kind::Wake) => "wake-up latency",
            Some(Kind::Response) => "time to the response",
            Some(Kind::Overrun) => "time beyond the work",
        }
    }

    /// True if its requests come on a schedule.
    pub(super) fn is_offered(&self) -> bool {
        let mut requests = self.rows.iter().filter_map(|row| row.latency.requests);
        requests.any(|requests| requests.offered.is_some())
    }

    pub(super) fn row_under(&self, load: &str) -> Option<TaskRow<'a>> {
        self.rows.iter().copied().find(|row| row.load() == load)
    }

    /// The row that the others are compared with: the task without a load, or else its least late
    /// row.
    pub(super) fn quiet_row(&self) -> Option<TaskRow<'a>> {
        let with_frames = self.rows.iter().copied().filter(TaskRow::has_frames);
        let alone = with_frames.clone().find(|row| row.load() == NONE);
        alone.or_else(|| {
            with_frames.min_by(|a, b| {
                let [a, b] = [a, b].map(|row| row.latency.histogram.quantile(0.5));
                a.total_cmp(&b)
            })
        })
    }
}

/// The tasks of a run, and the loads that any of them ran alongside.
pub(super) struct Tasks<'a> {
    pub(super) tasks: Vec<Task<'a>>,
    /// No load first, then in the order of the run.
    pub(super) loads: Vec<&'a str>,
}

impl<'a> Tasks<'a> {
    pub(super) fn new(results: &'a Results) -> Tasks<'a> {
        let rows: Vec<TaskRow<'_>> =
            results.figures.iter().filter_map(TaskRow::of_figure).collect();
        let mut gaps = gaps(results);
        gaps.retain(|(_, gap)| gap.latency);

        let cells_with_results =
            rows.iter().map(|row| (row.figure.cell.label.as_str(), &row.figure.cell.key));
        let cells_without = gaps.iter().map(|(_, gap)| (gap.label.as_str(), &gap.key));
        let cells: Vec<(&str, &Key)> = cells_with_results.chain(cells_without).collect();

        let by_task = cells.iter().map(|(label, key)| (task_key(key), (*label, *key))).grouped();
        let mut tasks = Vec::new();
        for (own_key, cells) in by_task {
            let (label, key) = cells[0];
            let own_rows = rows.iter().filter(|row| task_key(&row.figure.cell.key) == own_key);
            let own_gaps = gaps.iter().filter(|(_, gap)| task_key(&gap.key) == own_key);
            tasks.push(Task {
                label,
                key,
                rows: own_rows.copied().collect(),
                gaps: own_gaps.copied().collect(),
            });
        }

        let mut loads = cells.iter().map(|(_, key)| key.load.as_str()).unique();
        loads.sort_by_key(|load| *load != NONE);
        Tasks { tasks, loads }
    }
}

/// A test's name with its copies and condition where they are out of the ordinary. The load is not
/// in it, since the name is of all its rows.
pub(super) fn title(label: &str, key: &Key) -> String {
    let mut title = label.to_owned();
    if key.copies > 1 {
        title += &format!(", {}", copies(key.copies));
    }
    if key.condition != NONE {
        title += &format!(", condition {}", key.condition);
    }
    title
}

/// Where a test ran: `alongside compile`.
pub(super) fn describe_load(load: &str) -> String {
    if load == NONE { "without a load".to_owned() } else { format!("alongside {load}") }
}

/// The number of the series that a load has in every chart: its place among all loads.
pub(super) fn series_of_load(loads: &[&str], load: &str) -> usize {
    loads.iter().position(|known| *known == load).unwrap_or(0)
}
