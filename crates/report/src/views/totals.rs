//! Several rates as one number: geometric means, of conditions and of runs.

use analysis::Comparison;
use stats::Estimate;
use words::{count, signed_fine};

use crate::charts::forest::Row;
use crate::document::{Column, Columns, Field, Show, Style, Table};

/// A geometric mean.
pub(super) struct Mean {
    pub(super) name: String,
    /// Rates behind it.
    pub(super) rates: usize,
    /// In per cent; negative is worse.
    pub(super) delta: Estimate,
    pub(super) worst: Worst,
}

/// The rate that fares worst.
pub(super) struct Worst {
    test: String,
    label: String,
    delta: f64,
}

impl Worst {
    /// Returns it with the test's id, which one of `comparisons` has.
    pub(super) fn of<'a>(
        (label, delta): &(String, f64),
        comparisons: impl IntoIterator<Item = &'a Comparison>,
    ) -> Worst {
        let found = comparisons.into_iter().find(|one| one.cell.label == *label);
        let test = found.map_or(label, |one| &one.cell.key.test);
        Worst { test: test.clone(), label: label.clone(), delta: *delta }
    }
}

impl Mean {
    fn delta(&self) -> Field {
        Field::Suffixed(self.delta.value, Style::SignedFine, "%")
    }

    fn worst(&self, name: &str) -> String {
        format!("{name} {}%", signed_fine(self.worst.delta))
    }
}

/// Returns the table of means, for people.
pub(super) fn table(means: &[Mean]) -> Table {
    Columns::new()
        .with(Column::words("", "geometric mean"), |mean: &Mean| Field::text(&mean.name))
        .with(Column::number("", "rates"), |mean| Field::Count(mean.rates as u64))
        .with(Column::number("", "delta").main(), Mean::delta)
        .with(Column::number("", "95 %"), |mean| Field::Interval(mean.delta, Style::SignedFine))
        .with(Column::words("", "worst").shown(Show::Narrow), |mean| Field::Text(mean.worst(&mean.worst.test)))
        .with(Column::words("", "worst").shown(Show::Pages), |mean| Field::Text(mean.worst(&mean.worst.label)))
        .of(means)
        .shown(Show::People)
        .titled("", "blocks resampled for all tests at once")
}

/// Returns the row of a mean in a forest plot.
pub(super) fn row(mean: &Mean) -> Row {
    let factor = 1.0 / (1.0 + mean.delta.value / 100.0);
    let time = if factor.is_finite() { words::factor(factor) } else { String::new() };
    let (delta, interval) = (mean.delta().words(), Field::Interval(mean.delta, Style::SignedFine).words());
    let rates = count(mean.rates, "rate");
    Row {
        label: mean.name.clone(),
        at: mean.delta,
        verdict: None,
        title: format!("{} of {rates}: {delta} ({interval}); worst: {}", mean.name, mean.worst(&mean.worst.label)),
        words: [delta, interval, time, rates],
        control: None,
    }
}
