//! Histograms of durations in ns: HdrHistogram's, within 0.1 % of every value.

use std::borrow::Borrow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use serde::{Deserialize, Serialize};

/// Three figures of every value are kept.
const FIGURES: u8 = 3;

/// A histogram of durations in ns. In journals it is the text of HdrHistogram's logs: V2, deflated,
/// in base64.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Histogram {
    inner: hdrhistogram::Histogram<u64>,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            inner: hdrhistogram::Histogram::new(FIGURES).unwrap_or_else(|_| unreachable!("3 figures are legal")),
        }
    }
}

impl Histogram {
    /// Counts a duration once.
    pub fn record(&mut self, ns: u64) {
        // It grows to whatever value comes; only memory could fail it.
        let _ = self.inner.record(ns);
    }

    /// Counts a duration `count` times.
    pub fn record_many(&mut self, ns: u64, count: u64) {
        let _ = self.inner.record_n(ns, count);
    }

    /// Counts everything of another.
    pub fn add(&mut self, other: &Histogram) {
        let _ = self.inner.add(&other.inner);
    }

    /// Returns the histogram of everything in several.
    #[must_use]
    pub fn sum(parts: impl IntoIterator<Item: Borrow<Histogram>>) -> Histogram {
        let mut all = Histogram::default();
        parts.into_iter().for_each(|part| all.add(part.borrow()));
        all
    }

    /// How many durations were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.inner.len()
    }

    /// Whether `share` (0.99 for p99) of the durations can be told: ten of them must lie beyond.
    #[must_use]
    pub fn carries(&self, share: f64) -> bool {
        // A ten-thousandth more, since 1000 × (1 − 0.99) is a little less than 10 in binary.
        self.count() as f64 * (1.0 - share) >= 10.0 - 1e-3
    }

    /// Returns the duration in ns that `share` of the durations do not exceed.
    #[must_use]
    pub fn quantile(&self, share: f64) -> f64 {
        self.inner.value_at_quantile(share) as f64
    }

    /// Returns the mean in ns.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.inner.mean()
    }

    /// Returns the standard deviation of a sample, in ns: √(Σ(x − mean)² ÷ (n − 1)).
    #[must_use]
    pub fn deviation(&self) -> f64 {
        let n = self.count() as f64;
        if n < 2.0 { f64::NAN } else { self.inner.stdev() * (n / (n - 1.0)).sqrt() }
    }

    /// Returns the largest duration in ns.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.inner.max() as f64
    }

    /// Returns the smallest duration in ns.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.inner.min() as f64
    }

    /// Returns (duration in ns, how often) for every duration that was counted, smallest first.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.inner.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
    }
}

impl From<Histogram> for String {
    fn from(histogram: Histogram) -> String {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = V2DeflateSerializer::new().serialize(&histogram.inner, &mut bytes);
        STANDARD.encode(bytes)
    }
}

impl TryFrom<String> for Histogram {
    type Error = String;

    fn try_from(text: String) -> Result<Histogram, String> {
        let bytes = STANDARD.decode(text).map_err(|error| format!("the histogram is not base64: {error}"))?;
        let inner = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| format!("a damaged histogram: {error}"))?;
        Ok(Histogram { inner })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn moments_by_hand() {
        let histogram = of([2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((histogram.mean() - 5.0).abs() < 1e-9);
        assert!((histogram.deviation() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-9);
        assert_eq!((histogram.min(), histogram.max(), histogram.count()), (2.0, 9.0, 8));
    }

    #[test]
    fn quantiles_need_ten_beyond() {
        let histogram = of(1..=1000);
        assert!(histogram.carries(0.99) && !histogram.carries(0.999));
        assert_eq!(histogram.quantile(0.5), 500.0);
        assert_eq!(histogram.quantile(0.99), 990.0);
        assert!(!of(1..=999).carries(0.99));
    }

    #[test]
    fn journals_keep_it_whole() {
        let histogram = of((0..5000).map(|i| i * i * 37 + 1));
        let text = String::from(histogram.clone());
        assert!(text.starts_with("HIST"), "the form of HdrHistogram's logs: {text}");
        assert_eq!(Histogram::try_from(text).unwrap(), histogram);
        assert!(Histogram::try_from("HIST!".to_owned()).is_err());
        assert!(Histogram::try_from("AAAA".to_owned()).is_err());
    }

    #[test]
    fn any_duration_fits() {
        let histogram = of([0, 1, u64::MAX / 2]);
        assert_eq!(histogram.count(), 3);
        assert!((histogram.max() / (u64::MAX / 2) as f64 - 1.0).abs() < 1e-3);
    }
}
