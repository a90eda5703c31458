//! Percentiles as curves: solid where the counts carry them, dashed from there to the longest.

use super::plot::{Axis, Form, Line, Mark, Plot, Series};
use super::scale::Scale;
use stats::{Exact, Histogram};
use words::figure;

/// Places of a curve.
const POINTS: usize = 56;

/// Values that must lie beyond a percentile for the count to carry it.
const BEYOND: f64 = 10.0;

/// Percentiles on the axis, as 1 ÷ (1 − share).
const TICKS: [(f64, &str); 7] = [
    (2.0, "50 %"),
    (10.0, "90 %"),
    (100.0, "99 %"),
    (1e3, "99.9 %"),
    (1e4, "99.99 %"),
    (1e5, "99.999 %"),
    (1e6, "99.9999 %"),
];

/// A curve, with the values that its axes must reach.
pub(crate) struct Curve {
    series: Series,
    count: f64,
    ends: [f64; 2],
}

/// Returns the chart in ms; `None` if no curve has a value.
pub(crate) fn plot(label: String, curves: impl Iterator<Item = Option<Curve>>) -> Option<Plot> {
    let curves: Vec<Curve> = curves.flatten().collect();
    let most = curves.iter().map(|curve| curve.count).max_by(f64::total_cmp)?;
    let ends: Vec<f64> = curves.iter().flat_map(|curve| curve.ends).collect();
    let ticks = TICKS.iter().map(|(inverse, text)| (*inverse, (*text).to_owned())).collect();
    Some(Plot {
        label,
        x: Axis { scale: Scale::log(&[1.0, most], &[])?, ticks },
        y: Axis::new(Scale::log(&ends, &[])?),
        series: curves.into_iter().map(|curve| curve.series).collect(),
        ..Plot::default()
    })
}

/// Returns the curve of a histogram of ns, with marks at `shares`; `None` if it has no value.
pub(crate) fn curve(number: usize, name: &str, histogram: &Histogram, shares: &[(f64, &str)]) -> Option<Curve> {
    let steps = Steps::new(histogram);
    let count = steps.0.last()?.1;
    // Values that carry no median carry nothing.
    let carried = if count >= 2.0 * BEYOND { count / BEYOND } else { 1.0 };
    let mark = |inverse: f64, place: &str, form: Form| {
        let ms = steps.at(inverse);
        let title = format!("{name}: {place} {} ms", figure(ms));
        Mark { at: (inverse.min(count), ms), form, title, ..Mark::default() }
    };
    let shown = shares.iter().filter(|(share, _)| histogram.carries(*share));
    let mut marks: Vec<Mark> = shown.map(|(share, place)| mark(1.0 / (1.0 - share), place, Form::Full)).collect();
    marks.push(mark(f64::INFINITY, "longest", Form::Hollow));
    let lines = vec![steps.line(1.0, carried, false), steps.line(carried, count, true)];
    let series = Series { number, title: format!("{name}: {count} frames"), lines, marks };
    Some(Curve { series, count, ends: [steps.at(1.0), steps.at(f64::INFINITY)] })
}

/// Values in ms, and how many are at most as large.
struct Steps(Vec<(f64, f64)>);

impl Steps {
    fn new(histogram: &Histogram) -> Steps {
        let mut below = 0;
        let step = |(ns, count): (u64, u64)| {
            below += count;
            // Durations of no time at all stay on the axis.
            ((ns as f64).max(1.0) / 1e6, below as f64)
        };
        Steps(histogram.counts().map(step).collect())
    }

    fn count(&self) -> f64 {
        self.0.last().map_or(1.0, |step| step.1)
    }

    /// Returns the value that all but 1 ÷ `inverse` do not exceed.
    fn at(&self, inverse: f64) -> f64 {
        let wanted = (self.count() * (1.0 - 1.0 / inverse) - 1e-6).ceil().max(1.0);
        let place = self.0.partition_point(|step| step.1 < wanted);
        self.0.get(place).or(self.0.last()).map_or(f64::NAN, |step| step.0)
    }

    fn line(&self, from: f64, to: f64, dashed: bool) -> Line {
        let inverse = |part: usize| from * (to / from).to_the_power(part as f64 / POINTS as f64);
        let mut points: Vec<(f64, f64)> = (0..=POINTS).map(|part| (inverse(part), self.at(inverse(part)))).collect();
        if dashed {
            // The longest of n lies beyond the share of 1 − 1 ÷ n.
            points.push((to, self.at(f64::INFINITY)));
        }
        Line { points: if to > from { points } else { Vec::new() }, dashed, plain: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_read_from_the_counts() {
        let mut histogram = Histogram::default();
        histogram.record_many(1_000_000, 90);
        histogram.record_many(8_000_000, 10);
        let steps = Steps::new(&histogram);
        assert!((steps.at(2.0) - 1.0).abs() < 0.05 && (steps.at(10.0) - 1.0).abs() < 0.05, "{:?}", steps.0);
        assert!(steps.at(20.0) > 7.5 && steps.at(f64::INFINITY) > 7.5);
        let curve = curve(0, "quiet", &histogram, &[(0.5, "p50"), (0.99, "p99")]).unwrap();
        // A hundred carry a median and no p99.
        let titles: Vec<&str> = curve.series.marks.iter().map(|mark| mark.title.as_str()).collect();
        assert!(titles.len() == 2 && titles[0].contains("p50") && titles[1].contains("longest"), "{titles:?}");
    }
}
