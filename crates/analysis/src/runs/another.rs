//! A run's figures placed among those of earlier runs like it.

use super::trend::{began, watched_properties};
use crate::figures::{Another, Figure};
use crate::findings::{Before, Results, Summary};
use crate::products::Index;
use stats::{Exact as _, mean};

impl Results {
    /// Adds what the newest of `others` gave, and to every score and index the interval of another
    /// run. Of the others those count that began before this one and are like it: the same machine,
    /// kernel, build, procedure and whatever else a trend watches.
    pub fn place_among(&mut self, others: &[Summary]) {
        let watched = watched_properties(&self.run, &self.facts);
        let earlier: Vec<&Summary> = others
            .iter()
            .filter(|other| began(&other.run) < began(&self.run) && other.end.is_some())
            .filter(|other| watched_properties(&other.run, &other.facts) == watched)
            .collect();
        let newest = earlier.iter().max_by_key(|other| began(&other.run));
        self.before = newest.and_then(|other| before(self, other));

        for row in &mut self.figures {
            let like_it = earlier.iter().filter_map(|run| find_figure(&run.figures, row));
            row.another = another(like_it.map(|figure| figure.score.value), row.score.value);
        }
        for index in self.indexes_mut() {
            let like_it = earlier.iter().filter_map(|run| find_index(&run.indexes, index));
            index.another = another(like_it.map(|index| index.score.value), index.score.value);
        }
    }
}

/// Where another run comes out, by the values of earlier ones and the present one's.
fn another(earlier: impl Iterator<Item = f64>, own: f64) -> Option<Another> {
    let values: Vec<f64> = earlier.chain([own]).collect();
    Another::after(&values)
}

/// The figure of the same cell, which no control is.
fn find_figure<'f>(figures: &'f [Figure], row: &Figure) -> Option<&'f Figure> {
    figures.iter().find(|figure| !figure.cell.control && figure.cell.key == row.cell.key)
}

/// The same index at the same copies, of as many of its tests.
fn find_index<'i>(indexes: &'i [Index], own: &Index) -> Option<&'i Index> {
    indexes.iter().find(|index| {
        (&index.id, index.copies, index.complete) == (&own.id, own.copies, own.complete)
    })
}

/// What `other`, an earlier run, gave; `None` if it shares no figure.
fn before(own: &Results, other: &Summary) -> Option<Before> {
    let mut logs = Vec::new();
    for row in own.figures.iter().filter(|row| !row.cell.control) {
        let Some(earlier) = find_figure(&other.figures, row) else {
            continue;
        };
        let log = (row.score.value / earlier.score.value).natural_log();
        match row.cell.metric {
            metric if metric.is_higher_better() => logs.push(log),
            metric if metric.is_lower_better() => logs.push(-log),
            _ => {}
        }
    }
    logs.retain(|log| log.is_finite());
    if logs.is_empty() {
        return None;
    }

    let (began, _) = began(&own.run);
    let (earlier_began, _) = self::began(&other.run);
    Some(Before {
        run: other.run.name.clone(),
        seconds: began?.duration_since(earlier_began?).as_secs_f64(),
        ratio: mean(&logs).exponential(),
        figures: logs.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalogue::Metric;
    use journal::Cell;
    use stats::Estimate;

    fn figure(test: &str, metric: Metric, value: f64) -> Figure {
        let mut cell = Cell::default();
        cell.key.test = test.to_owned();
        cell.metric = metric;
        Figure::new(&cell, Estimate::alone(value), 3, 1.0)
    }

    fn results(started: &str, figures: Vec<Figure>) -> Results {
        let mut results = Results { figures, ..Results::default() };
        results.run.name = started.to_owned();
        results.run.started = started.to_owned();
        results
    }

    #[test]
    fn the_newest_earlier_run_is_what_came_before() {
        let [oldest, newest, own] = [
            ("2026-11-28T08:00:00Z", 50.0, 2.0),
            ("2026-11-28T12:00:00Z", 100.0, 1.0),
            ("2026-11-28T16:00:00Z", 50.0, 2.0),
        ]
        .map(|(started, rate, time)| {
            let figures =
                vec![figure("pipe", Metric::Rate, rate), figure("exec", Metric::Time, time)];
            results(started, figures)
        });
        let summaries = [newest, oldest].map(|one| Summary::from_results(&one, 0));
        let (before, seconds) = (before(&own, &summaries[0]).unwrap(), 4.0 * 3600.0);

        assert_eq!((before.figures, before.seconds), (2, seconds));
        assert!((before.ratio - 0.5).abs() < 1e-9, "{before:?}");
        assert_eq!(before.run, "2026-11-28T12:00:00Z");
    }

    #[test]
    fn a_run_without_the_same_figures_says_nothing() {
        let own = results("2026-11-28T16:00:00Z", vec![figure("pipe", Metric::Rate, 1.0)]);
        let other = results("2026-11-28T12:00:00Z", vec![figure("exec", Metric::Time, 1.0)]);

        assert!(before(&own, &Summary::from_results(&other, 0)).is_none());
    }
}
