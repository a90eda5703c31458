//! Percentiles as curves: solid where the counts carry them, dashed from there to the longest.
//!
//! The horizontal axis is the inverse of the share that lies beyond a percentile, 1 ÷ (1 − share),
//! on a logarithmic scale: 99 % is at 100, and each further nine has as much room as the one
//! before. For n values it ends at n, since the longest of them is one in n.

use stats::{Exact, Histogram};
use words::figure;

use super::plot::{Axis, Form, Line, Mark, Plot, Series};
use super::scale::Scale;

/// A curve has a point at each of so many equal steps.
const CURVE_STEPS: usize = 56;

/// Values that must lie beyond a percentile for the counts to carry it.
const MIN_BEYOND: f64 = 10.0;

/// Percentiles on the axis, by their inverse.
const TICKS: [(f64, &str); 7] = [
    (2.0, "50 %"),
    (10.0, "90 %"),
    (100.0, "99 %"),
    (1e3, "99.9 %"),
    (1e4, "99.99 %"),
    (1e5, "99.999 %"),
    (1e6, "99.9999 %"),
];

/// A curve, with what its axes must reach.
pub(crate) struct Curve {
    series: Series,
    /// How many values it is of.
    count: f64,
    shortest_ms: f64,
    longest_ms: f64,
}

/// The chart in ms; `None` if no curve has a value.
pub(crate) fn plot_curves(label: String, curves: Vec<Curve>) -> Option<Plot> {
    let max_count = curves.iter().map(|curve| curve.count).max_by(f64::total_cmp)?;
    let ends: Vec<f64> =
        curves.iter().flat_map(|curve| [curve.shortest_ms, curve.longest_ms]).collect();

    let ticks = TICKS.map(|(inverse, text)| (inverse, text.to_owned()));
    Some(Plot {
        label,
        x: Axis { scale: Scale::log(&[1.0, max_count], &[])?, ticks: ticks.into() },
        y: Axis::new(Scale::log(&ends, &[])?),
        series: curves.into_iter().map(|curve| curve.series).collect(),
        ..Plot::default()
    })
}

/// The curve of a histogram of ns, with marks at those of the named `shares` that it carries;
/// `None` if it has no value.
pub(crate) fn curve(
    number: usize,
    name: &str,
    histogram: &Histogram,
    shares: &[(f64, &str)],
) -> Option<Curve> {
    let cumulative = Cumulative::new(histogram);
    let count = cumulative.0.last()?.count;
    let longest_ms = cumulative.ms_at(f64::INFINITY);

    // Values that do not carry the median carry nothing.
    let carries_median = count >= 2.0 * MIN_BEYOND;
    let last_carried = if carries_median { count / MIN_BEYOND } else { 1.0 };
    let lines =
        vec![cumulative.line(1.0, last_carried), cumulative.dashed_line(last_carried, count)];

    let mut marks = Vec::new();
    for (share, percentile) in shares {
        if histogram.carries(*share) {
            let inverse = 1.0 / (1.0 - share);
            let ms = cumulative.ms_at(inverse);
            marks.push(Mark {
                at: (inverse.min(count), ms),
                form: Form::Full,
                title: format!("{name}: {percentile} {} ms", figure(ms)),
                ..Mark::default()
            });
        }
    }
    marks.push(Mark {
        at: (count, longest_ms),
        form: Form::Hollow,
        title: format!("{name}: longest {} ms", figure(longest_ms)),
        ..Mark::default()
    });

    let series = Series { number, title: format!("{name}: {count} frames"), lines, marks };
    Some(Curve { series, count, shortest_ms: cumulative.ms_at(1.0), longest_ms })
}

/// A value, and how many are at most as large.
struct Step {
    ms: f64,
    count: f64,
}

/// The cumulative counts of a histogram, from the smallest value to the largest.
struct Cumulative(Vec<Step>);

impl Cumulative {
    fn new(histogram: &Histogram) -> Cumulative {
        let mut steps = Vec::new();
        let mut sum = 0;
        for (ns, count) in histogram.counts() {
            sum += count;
            // Durations of no time at all stay on the axis.
            let ms = (ns as f64).max(1.0) / 1e6;
            steps.push(Step { ms, count: sum as f64 });
        }
        Cumulative(steps)
    }

    fn total(&self) -> f64 {
        self.0.last().map_or(1.0, |step| step.count)
    }

    /// The value that all but 1 ÷ `inverse` of the values do not exceed, in ms.
    fn ms_at(&self, inverse: f64) -> f64 {
        // The subtraction keeps a rounding error from asking for one value more.
        let wanted = (self.total() * (1.0 - 1.0 / inverse) - 1e-6).ceil().max(1.0);
        let place = self.0.partition_point(|step| step.count < wanted);
        self.0.get(place).or(self.0.last()).map_or(f64::NAN, |step| step.ms)
    }

    fn points(&self, from: f64, to: f64) -> Vec<(f64, f64)> {
        let mut points = Vec::new();
        for step in 0..=CURVE_STEPS {
            let share = step as f64 / CURVE_STEPS as f64;
            let inverse = from * (to / from).to_the_power(share);
            points.push((inverse, self.ms_at(inverse)));
        }
        points
    }

    /// The curve between two inverses; empty if they are the same.
    fn line(&self, from: f64, to: f64) -> Line {
        let points = if to > from { self.points(from, to) } else { Vec::new() };
        Line { points, ..Line::default() }
    }

    /// The dashed curve between two inverses, and on to the longest value.
    fn dashed_line(&self, from: f64, to: f64) -> Line {
        let mut line = Line { dashed: true, ..self.line(from, to) };
        if !line.points.is_empty() {
            // The longest of n lies beyond the share of 1 − 1 ÷ n.
            line.points.push((to, self.ms_at(f64::INFINITY)));
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine in ten take 1 ms, the others 8 ms.
    fn histogram() -> Histogram {
        let mut histogram = Histogram::default();
        histogram.record_many(1_000_000, 90);
        histogram.record_many(8_000_000, 10);
        histogram
    }

    #[test]
    fn percentiles_are_read_from_the_counts() {
        let cumulative = Cumulative::new(&histogram());

        assert!((cumulative.ms_at(2.0) - 1.0).abs() < 0.05);
        assert!((cumulative.ms_at(10.0) - 1.0).abs() < 0.05);
        assert!(cumulative.ms_at(20.0) > 7.5);
        assert!(cumulative.ms_at(f64::INFINITY) > 7.5);
    }

    #[test]
    fn a_hundred_values_carry_a_median_and_no_p99() {
        let curve = curve(0, "quiet", &histogram(), &[(0.5, "p50"), (0.99, "p99")]).unwrap();

        let titles: Vec<&str> = curve.series.marks.iter().map(|mark| mark.title.as_str()).collect();

        assert_eq!(titles.len(), 2, "{titles:?}");
        assert!(titles[0].contains("p50"), "{titles:?}");
        assert!(titles[1].contains("longest"), "{titles:?}");
    }
}
