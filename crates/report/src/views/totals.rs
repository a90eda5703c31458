//! Geometric means of several rates or times, of conditions and of runs.

use analysis::{GeometricMean, Worst};
use words::count;

use crate::charts::forest::Row;
use crate::document::{Column, Columns, Field, Readers, Table};

/// A geometric mean with its name.
pub(super) struct Mean<'a> {
    pub(super) name: String,
    pub(super) of: &'a GeometricMean,
}

impl Mean<'_> {
    fn delta(&self) -> Field {
        let change = self.of.change().value;
        Field::Worded(words::change(change), change.into())
    }

    fn interval(&self) -> Field {
        let change = self.of.change();
        Field::Interval(change, words::change_like(change.value))
    }

    /// The worst of its figures, by the name that `name` reads.
    fn worst(&self, name: fn(&Worst) -> &str) -> String {
        format!("{} {}", name(&self.of.worst), words::change(self.of.worst.change))
    }
}

/// The table of means, for people.
pub(super) fn table(means: &[Mean<'_>]) -> Table {
    Columns::new()
        .with(Column::words("geometric mean"), |mean: &Mean<'_>| Field::text(&mean.name))
        .with(Column::number("figures"), |mean| Field::Count(mean.of.rates as u64))
        .with(Column::number("delta").main(), Mean::delta)
        .with(Column::number("95 %"), Mean::interval)
        .with(Column::words("worst"), |mean| {
            let narrow = mean.worst(|worst| &worst.key.test);
            Field::Text(mean.worst(|worst| &worst.label)).narrow(narrow)
        })
        .table(means)
        .shown(Readers::PEOPLE)
        .titled("", "blocks resampled for all tests at once")
}

/// The row of a mean in a forest plot.
pub(super) fn row(mean: &Mean<'_>) -> Row {
    let (delta, interval) = (mean.delta().words(), mean.interval().words());
    let figures = count(mean.of.rates, "figure");
    let worst = mean.worst(|worst| &worst.label);
    let name = &mean.name;
    Row {
        label: name.clone(),
        at: mean.of.change(),
        lower_is_better: mean.of.is_of_times,
        verdict: None,
        title: format!("{name} of {figures}: {delta} ({interval}); worst: {worst}"),
        words: [delta, interval, figures],
        control: None,
    }
}
