//! From values to places on an axis.

use stats::Exact;

/// The spacing of values on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Log,
    /// Linear around 0, logarithmic on either side from about 1 on.
    Asinh,
}

/// An axis: values from `low` to `high` lie between the pixels `from` and `to`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    kind: Kind,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

/// The factor beyond the values by which their intervals may stretch a logarithmic axis.
const REACH: f64 = 10.0;

impl Default for Scale {
    fn default() -> Scale {
        Scale::linear(0.0, 1.0)
    }
}

impl Scale {
    pub(crate) fn linear(low: f64, high: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale { kind: Kind::Linear, low, high, from: 0.0, to: 1.0 }
    }

    /// Returns a logarithmic axis that shows all `values`, and of the `ends` of their intervals what
    /// is not too far off; nothing where no value is positive.
    pub(crate) fn log(values: &[f64], ends: &[f64]) -> Option<Scale> {
        let (least, most) = bounds(values)?;
        let near = |end: &&f64| (least / REACH..=most * REACH).contains(*end);
        let all: Vec<f64> = values.iter().chain(ends.iter().filter(near)).copied().collect();
        let (least, most) = bounds(&all)?;
        let (mut low, mut high) = (least.decimal_log() - 0.03, most.decimal_log() + 0.03);
        // At least a factor of four, so that equal values do not look far apart.
        let lacking = (4f64.decimal_log() - (high - low)).max(0.0) / 2.0;
        (low, high) = (low - lacking, high + lacking);
        Some(Scale { kind: Kind::Log, low, high, from: 0.0, to: 1.0 })
    }

    /// Returns an axis around 0 that is logarithmic on either side from about 1 on; it shows all `values` that are
    /// numbers, and at least from -`least` to `least`.
    pub(crate) fn asinh(values: &[f64], least: f64) -> Scale {
        let places = || values.iter().filter(|value| value.is_finite()).map(|value| value.asinh());
        let (low, high) = (places().fold(-least.asinh(), f64::min), places().fold(least.asinh(), f64::max));
        let margin = 0.03 * (high - low);
        Scale { kind: Kind::Asinh, low: low - margin, high: high + margin, from: 0.0, to: 1.0 }
    }

    /// Returns the axis between two pixels.
    pub(crate) fn between(self, from: f64, to: f64) -> Scale {
        Scale { from, to, ..self }
    }

    /// Returns the place of a value, the nearest edge where it lies outside; nothing for no number.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let value = self.inner(value)?;
        let share = (value - self.low) / (self.high - self.low);
        Some(self.from + share.clamp(0.0, 1.0) * (self.to - self.from))
    }

    /// Returns true if the axis has a place for the value.
    pub(crate) fn shows(&self, value: f64) -> bool {
        self.inner(value).is_some_and(|value| (self.low..=self.high).contains(&value))
    }

    /// Returns true if the value lies off the lower edge.
    pub(crate) fn is_below(&self, value: f64) -> bool {
        self.inner(value).is_some_and(|value| value < self.low)
    }

    /// Returns round values to mark, at most about eight.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        match self.kind {
            Kind::Linear => linear_ticks(self.low, self.high),
            Kind::Log => log_ticks(self.low, self.high),
            // The chart knows what its values mean.
            Kind::Asinh => Vec::new(),
        }
    }

    fn inner(&self, value: f64) -> Option<f64> {
        match self.kind {
            Kind::Linear => value.is_finite().then_some(value),
            Kind::Asinh => value.is_finite().then(|| value.asinh()),
            Kind::Log if value > 0.0 && value.is_finite() => Some(value.decimal_log()),
            // A score of nothing, or an end below it, lies off the left edge of any such axis.
            Kind::Log if value <= 0.0 && value.is_finite() => Some(self.low - 1.0),
            Kind::Log => None,
        }
    }
}

fn bounds(values: &[f64]) -> Option<(f64, f64)> {
    let positive = || values.iter().copied().filter(|value| value.is_finite() && *value > 0.0);
    Some((positive().min_by(f64::total_cmp)?, positive().max_by(f64::total_cmp)?))
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let raw = (high - low) / 6.0;
    let magnitude = 10f64.to_the_power(raw.decimal_log().floor());
    let step = [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().map(|s| s * magnitude).find(|s| *s >= raw);
    let step = step.unwrap_or(magnitude * 10.0);
    let first = (low / step).ceil();
    (0..20).map(|k| (first + f64::from(k)) * step).take_while(|tick| *tick <= high * (1.0 + 1e-9)).collect()
}

/// Returns the ticks of a logarithmic axis; `low` and `high` are exponents of ten.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.floor() as i32, high.ceil() as i32);
    let within = |multiples: &[f64], step: usize| -> Vec<f64> {
        (first..=last)
            .step_by(step)
            .flat_map(|power| multiples.iter().map(move |m| m * 10f64.powi(power)))
            .filter(|tick| tick.is_finite() && *tick > 0.0 && (low..=high).contains(&tick.decimal_log()))
            .collect()
    };
    let fine: [&[f64]; 3] = [&[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0], &[1.0, 2.0, 5.0], &[1.0]];
    let found = fine.iter().map(|multiples| within(multiples, 1)).find(|ticks| ticks.len() <= 8);
    found.unwrap_or_else(|| within(&[1.0], (last - first) as usize / 8 + 1))
}

/// Returns a tick as text.
pub(crate) fn tick(value: f64) -> String {
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

    #[test]
    fn log_axis_has_round_ticks() {
        let text = |values: &[f64]| -> Vec<String> {
            Scale::log(values, &[]).unwrap().ticks().iter().map(|t| tick(*t)).collect()
        };
        assert_eq!(text(&[100.0, 900.0]), ["100", "150", "200", "300", "400", "500", "700"]);
        assert_eq!(text(&[100.0, 9000.0]), ["100", "200", "500", "1000", "2000", "5000"]);
        assert!((2..=9).contains(&text(&[1e-300, 1e300]).len()));
        assert!((2..=9).contains(&text(&[7.0]).len()));
    }

    #[test]
    fn linear_axis_has_round_ticks() {
        assert_eq!(Scale::linear(0.0, 2.2).ticks().len(), 5);
        assert_eq!(linear_ticks(0.0, 4.4), [0.0, 1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn an_axis_around_0_has_room_for_small_and_large() {
        let scale = Scale::asinh(&[-400.0, 0.5, f64::NAN], 2.0).between(0.0, 100.0);
        let [far, near, zero, other] = [-400.0, -1.0, 0.0, 1.0].map(|value| scale.at(value).unwrap());
        assert!(
            far < 4.0 && near - far > 50.0 && zero - near > 8.0 && other - zero > 8.0,
            "{far} {near} {zero} {other}"
        );
        assert!(scale.shows(2.0) && scale.at(f64::NEG_INFINITY).is_none());
    }

    #[test]
    fn places_stay_on_the_axis() {
        let scale = Scale::log(&[10.0, 1000.0], &[1e-9, 2000.0]).unwrap().between(100.0, 200.0);
        assert_eq!(scale.at(1e-9), Some(100.0));
        assert_eq!(scale.at(0.0), Some(100.0));
        assert_eq!(scale.at(f64::NAN), None);
        assert_eq!(scale.at(1e99), Some(200.0));
        assert!(scale.shows(2000.0) && !scale.shows(1e-9));
        assert!(Scale::log(&[f64::NAN, 0.0, f64::INFINITY], &[]).is_none());
    }
}
