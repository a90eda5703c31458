//! Several rates as one number: geometric means, of conditions and of runs.

use analysis::{GeometricMean, Worst};
use words::{count, signed_fine};

use crate::charts::forest::Row;
use crate::document::{Column, Columns, Field, Readers, Table};

/// A geometric mean with its name.
pub(super) struct Mean<'a> {
    pub(super) name: String,
    pub(super) of: &'a GeometricMean,
}

impl Mean<'_> {
    fn delta(&self) -> Field {
        Field::Suffixed(self.of.delta.value, words::signed_fine, "%")
    }

    fn interval(&self) -> Field {
        Field::Interval(self.of.delta, words::signed_fine)
    }

    fn worst(&self, name: fn(&Worst) -> &str) -> String {
        format!("{} {}%", name(&self.of.worst), signed_fine(self.of.worst.delta))
    }
}

/// Returns the table of means, for people.
pub(super) fn table(means: &[Mean<'_>]) -> Table {
    Columns::new()
        .with(Column::words("geometric mean"), |mean: &Mean<'_>| Field::text(&mean.name))
        .with(Column::number("rates"), |mean| Field::Count(mean.of.rates as u64))
        .with(Column::number("delta").main(), Mean::delta)
        .with(Column::number("95 %"), Mean::interval)
        .with(Column::words("worst"), |mean| {
            Field::Text(mean.worst(|worst| &worst.label)).narrow(mean.worst(|worst| &worst.key.test))
        })
        .table(means)
        .shown(Readers::PEOPLE)
        .titled("", "blocks resampled for all tests at once")
}

/// Returns the row of a mean in a forest plot.
pub(super) fn row(mean: &Mean<'_>) -> Row {
    let factor = 1.0 / (1.0 + mean.of.delta.value / 100.0);
    let time = if factor.is_finite() { words::factor(factor) } else { String::new() };
    let (delta, interval, rates) = (mean.delta().words(), mean.interval().words(), count(mean.of.rates, "rate"));
    Row {
        label: mean.name.clone(),
        at: mean.of.delta,
        is_energy: false,
        verdict: None,
        title: format!("{} of {rates}: {delta} ({interval}); worst: {}", mean.name, mean.worst(|worst| &worst.label)),
        words: [delta, interval, time, rates],
        control: None,
    }
}
