//! From values to places on an axis.
//!
//! A scale transforms a value by its [`Spacing`] first (a logarithm, for example), and then places
//! it linearly between two pixels. What lies outside is placed at the nearest edge, and the chart
//! asks [`Scale::shows`] to mark it as such.

use stats::Exact;

/// The spacing of values on an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Spacing {
    Linear,
    Log,
    /// Linear around 0, logarithmic on either side from about 1 on.
    Asinh,
    /// Changes in per cent by the logarithm of their factor, so that half and double are equally
    /// far from no change; around 0 linear as far as `threshold`, which is such a logarithm.
    Change {
        threshold: f64,
    },
}

/// An axis: transformed values from `low` to `high` lie between the pixels `from` and `to`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    spacing: Spacing,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// The factor beyond the values by which their intervals may stretch a logarithmic axis.
const MAX_STRETCH: f64 = 10.0;

/// A logarithmic axis spans at least this factor, so that equal values do not look far apart.
const MIN_LOG_SPAN: f64 = 4.0;

/// Room at either end of a logarithmic axis, as an exponent of ten.
const LOG_MARGIN: f64 = 0.03;

/// Room at either end of an axis around 0, as a share of the axis.
const ASINH_MARGIN: f64 = 0.03;

/// The smallest share of a rate that is distinguished from none: a time factor of a million.
const MIN_REMAINING_SHARE: f64 = 1e-6;

/// The smallest threshold of changes in per cent around which an axis is linear.
const MIN_THRESHOLD_PERCENT: f64 = 0.1;

/// An axis of changes reaches at least to this multiple of the threshold on either side.
const MIN_CHANGE_REACH: f64 = 2.5;

/// About so many ticks fit a linear axis.
const LINEAR_TICKS: f64 = 6.0;

/// A logarithmic axis has at most so many ticks, unless even powers of ten are more.
const MAX_LOG_TICKS: usize = 8;

impl Default for Scale {
    fn default() -> Scale {
        Scale::linear(0.0, 1.0)
    }
}

impl Spacing {
    /// The value in this spacing; `None` if it has no place on any such axis.
    fn transform(self, value: f64) -> Option<f64> {
        if !value.is_finite() {
            return None;
        }
        match self {
            Spacing::Linear => Some(value),
            Spacing::Log => (value > 0.0).then(|| value.decimal_log()),
            Spacing::Asinh => Some(value.asinh()),
            Spacing::Change { threshold } => {
                let change = (value / 100.0).max(MIN_REMAINING_SHARE - 1.0);
                Some((change.log_of_1_plus() / threshold).asinh())
            }
        }
    }
}

impl Scale {
    pub(crate) fn linear(low: f64, high: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale { spacing: Spacing::Linear, low, high, from: 0.0, to: 1.0 }
    }

    /// A logarithmic axis that shows all `values`, and those `ends` of their intervals that are not
    /// too far from them; `None` if no value is positive.
    pub(crate) fn log(values: &[f64], ends: &[f64]) -> Option<Scale> {
        let (min, max) = positive_bounds(values)?;
        let reach = min / MAX_STRETCH..=max * MAX_STRETCH;
        let near_ends = ends.iter().filter(|end| reach.contains(*end));
        let shown: Vec<f64> = values.iter().chain(near_ends).copied().collect();

        let (min, max) = positive_bounds(&shown)?;
        let (low, high) = (min.decimal_log() - LOG_MARGIN, max.decimal_log() + LOG_MARGIN);
        let lacking = (MIN_LOG_SPAN.decimal_log() - (high - low)).max(0.0) / 2.0;

        Some(Scale {
            spacing: Spacing::Log,
            low: low - lacking,
            high: high + lacking,
            from: 0.0,
            to: 1.0,
        })
    }

    /// An axis around 0 that is logarithmic on either side from about 1 on. It shows all finite
    /// `values`, and at least from -`min_reach` to `min_reach`.
    pub(crate) fn asinh(values: &[f64], min_reach: f64) -> Scale {
        Scale::around_zero(Spacing::Asinh, values, min_reach)
    }

    /// An axis of changes in per cent that is linear within `threshold` per cent, and logarithmic
    /// beyond. It shows all finite `changes`.
    pub(crate) fn changes(changes: &[f64], threshold: f64) -> Scale {
        let threshold = (threshold.max(MIN_THRESHOLD_PERCENT) / 100.0).log_of_1_plus();
        Scale::around_zero(Spacing::Change { threshold }, changes, MIN_CHANGE_REACH)
    }

    /// `min_reach` is in units beyond which the spacing is logarithmic.
    fn around_zero(spacing: Spacing, values: &[f64], min_reach: f64) -> Scale {
        let places: Vec<f64> =
            values.iter().filter_map(|value| spacing.transform(*value)).collect();
        let low = places.iter().copied().fold(-min_reach.asinh(), f64::min);
        let high = places.iter().copied().fold(min_reach.asinh(), f64::max);

        let margin = ASINH_MARGIN * (high - low);
        Scale { spacing, low: low - margin, high: high + margin, from: 0.0, to: 1.0 }
    }

    /// This axis between two pixels.
    pub(crate) fn between(self, from: f64, to: f64) -> Scale {
        Scale { from, to, ..self }
    }

    /// The pixel of a value, at the nearest edge if it lies outside; `None` if it is no number.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let transformed = self.transform(value)?;
        let share = (transformed - self.low) / (self.high - self.low);
        Some(self.from + share.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// True if the value lies on the axis, not beyond an edge.
    pub(crate) fn shows(&self, value: f64) -> bool {
        self.transform(value).is_some_and(|value| (self.low..=self.high).contains(&value))
    }

    /// True if the value lies beyond the lower edge.
    pub(crate) fn is_below(&self, value: f64) -> bool {
        self.transform(value).is_some_and(|value| value < self.low)
    }

    fn transform(&self, value: f64) -> Option<f64> {
        // A score of nothing, or an end below it, lies beyond the lower edge of any logarithmic
        // axis.
        if self.spacing == Spacing::Log && value.is_finite() && value <= 0.0 {
            return Some(self.low - 1.0);
        }
        self.spacing.transform(value)
    }

    /// Round values to mark, at most about eight.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self.spacing {
            Spacing::Linear => linear_ticks(self.low, self.high),
            Spacing::Log => log_ticks(self.low, self.high),
            // The chart chooses them, since it knows what its values mean.
            Spacing::Asinh | Spacing::Change { .. } => Vec::new(),
        }
    }
}

/// The minimum and the maximum of the positive values.
fn positive_bounds(values: &[f64]) -> Option<(f64, f64)> {
    let positive = values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
    let min = positive.clone().min_by(f64::total_cmp)?;
    let max = positive.max_by(f64::total_cmp)?;
    Some((min, max))
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let min_step = (high - low) / LINEAR_TICKS;
    let magnitude = 10f64.to_the_power(min_step.decimal_log().floor());
    let round_steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|multiple| multiple * magnitude);
    let step = round_steps.into_iter().find(|step| *step >= min_step).unwrap_or(magnitude * 10.0);

    let first = (low / step).ceil();
    (0..20)
        .map(|number| (first + f64::from(number)) * step)
        // The last tick may exceed the end by a rounding error.
        .take_while(|tick| *tick <= high * (1.0 + 1e-9))
        .collect()
}

/// The ticks of a logarithmic axis; `low` and `high` are exponents of ten.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let multiples: [&[f64]; 3] = [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0]];
    for multiples in multiples {
        let ticks = multiples_of_powers(multiples, 1, low, high);
        if ticks.len() <= MAX_LOG_TICKS {
            return ticks;
        }
    }

    let powers = (high.ceil() as i32 - low.floor() as i32) as usize;
    multiples_of_powers(&[1.0], powers / MAX_LOG_TICKS + 1, low, high)
}

/// The multiples of every `step`th power of ten that lie on the axis.
fn multiples_of_powers(multiples: &[f64], step: usize, low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let mut ticks = Vec::new();
    for power in (first..=last).step_by(step) {
        for multiple in multiples {
            let tick = multiple * 10f64.powi(power);
            // A power of ten may be too large or too small for a number.
            let is_number = tick.is_finite() && tick > 0.0;
            if is_number && (low..=high).contains(&tick.decimal_log()) {
                ticks.push(tick);
            }
        }
    }
    ticks
}

/// A tick as text.
pub(crate) fn format_tick(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if (1e-3..1e6).contains(&size) => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => format!("{value:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_ticks_of(values: &[f64]) -> Vec<String> {
        let ticks = Scale::log(values, &[]).unwrap().ticks();
        ticks.into_iter().map(format_tick).collect()
    }

    #[test]
    fn log_axis_has_round_ticks() {
        let ticks = log_ticks_of(&[100.0, 900.0]);
        assert_eq!(ticks, ["100", "150", "200", "300", "400", "500", "700"]);

        let ticks = log_ticks_of(&[100.0, 9000.0]);
        assert_eq!(ticks, ["100", "200", "500", "1000", "2000", "5000"]);

        assert!((2..=9).contains(&log_ticks_of(&[1e-300, 1e300]).len()));
        assert!((2..=9).contains(&log_ticks_of(&[7.0]).len()));
    }

    #[test]
    fn linear_axis_has_round_ticks() {
        assert_eq!(Scale::linear(0.0, 2.2).ticks().len(), 5);
        assert_eq!(linear_ticks(0.0, 4.4), [0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn an_axis_around_0_has_room_for_small_and_large() {
        let scale = Scale::asinh(&[-400.0, 0.5, f64::NAN], 2.0).between(0.0, 100.0);

        let [far, near, zero, other] =
            [-400.0, -1.0, 0.0, 1.0].map(|value| scale.place(value).unwrap());

        assert!(
            far < 4.0 && near - far > 50.0 && zero - near > 8.0 && other - zero > 8.0,
            "{far} {near} {zero} {other}"
        );
        assert!(scale.shows(2.0));
        assert_eq!(scale.place(f64::NEG_INFINITY), None);
    }

    #[test]
    fn small_and_large_changes_have_room() {
        let scale = Scale::changes(&[-98.0, 1.0], 1.0).between(0.0, 340.0);

        let [most, half, less, none, more] =
            [-98.0, -50.0, -1.0, 0.0, 1.0].map(|percent| scale.place(percent).unwrap());

        assert!(none - less > 20.0 && more - none > 20.0, "{less} {none} {more}");
        assert!(half - most > 30.0 && most > 0.0, "{most} {half}");
        assert!(scale.place(-100.0).is_some());
        assert_eq!(scale.place(f64::NEG_INFINITY), None);
    }

    #[test]
    fn places_stay_on_the_axis() {
        let scale = Scale::log(&[10.0, 1000.0], &[1e-9, 2000.0]).unwrap().between(100.0, 200.0);

        assert_eq!(scale.place(1e-9), Some(100.0));
        assert_eq!(scale.place(0.0), Some(100.0));
        assert_eq!(scale.place(f64::NAN), None);
        assert_eq!(scale.place(1e99), Some(200.0));
        assert!(scale.shows(2000.0));
        assert!(!scale.shows(1e-9));
        assert!(Scale::log(&[f64::NAN, 0.0, f64::INFINITY], &[]).is_none());
    }
}
