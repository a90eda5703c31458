//! Histograms of durations in ns: HdrHistogram's, within 0.1 % of every value.

mod packed;

use std::borrow::{Borrow, Cow};

use hdrhistogram::Histogram as Counters;
use serde::{Deserialize, Serialize};

/// So many significant figures of every value are kept.
const SIGNIFICANT_FIGURES: u8 = 3;

/// A histogram of durations in ns. In journals it is a text, as in HdrHistogram's logs: V2,
/// deflated, in base64.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Histogram {
    content: Content,
}

/// A histogram that was read stays packed, since its counters take a thousand times as much memory.
#[derive(Debug, Clone)]
enum Content {
    Open(Counters<u64>),
    Packed(Box<str>),
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { content: Content::Open(empty()) }
    }
}

/// Counters without any duration, and with room for all.
fn empty() -> Counters<u64> {
    Counters::new(SIGNIFICANT_FIGURES).unwrap_or_else(|_| unreachable!("3 figures are legal"))
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Histogram) -> bool {
        self.counters() == other.counters()
    }
}

impl Histogram {
    /// The histogram in a text of another program, of any number of figures and of whatever its
    /// values are: HdrHistogram's V2, deflated or not, in base64.
    ///
    /// # Errors
    /// The text is none, or is damaged.
    pub fn from_another(text: &str) -> Result<Histogram, String> {
        Ok(Histogram { content: Content::Open(packed::unpack_any(text)?) })
    }

    /// Counts a duration once.
    pub fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
    }

    /// Counts a duration `count` times.
    pub fn record_many(&mut self, ns: u64, count: u64) {
        // The counters grow to any value, so this never fails.
        let _ = self.open_counters().record_n(ns, count);
    }

    /// Adds the durations of another histogram.
    pub fn add(&mut self, other: &Histogram) {
        let _ = self.open_counters().add(&*other.counters());
    }

    /// Makes the histogram of the durations in several.
    pub fn sum(parts: impl IntoIterator<Item: Borrow<Histogram>>) -> Histogram {
        let mut all = Histogram::default();
        parts.into_iter().for_each(|part| all.add(part.borrow()));
        all
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.counters().len()
    }

    /// True if there are enough durations for this quantile (0.99 for p99): ten must lie beyond.
    pub fn carries(&self, share: f64) -> bool {
        // With some tolerance, since 1000 × (1 − 0.99) is a little less than 10 in binary.
        self.count() as f64 * (1.0 - share) >= 10.0 - 1e-3
    }

    /// The duration in ns that `share` of the durations do not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        self.counters().value_at_quantile(share) as f64
    }

    /// The mean in ns.
    pub fn mean(&self) -> f64 {
        self.counters().mean()
    }

    /// The sample standard deviation in ns: √(Σ(x − mean)² ÷ (n − 1)).
    pub fn deviation(&self) -> f64 {
        let n = self.count() as f64;
        if n < 2.0 { f64::NAN } else { self.counters().stdev() * (n / (n - 1.0)).sqrt() }
    }

    /// The largest duration in ns.
    pub fn max(&self) -> f64 {
        self.counters().max() as f64
    }

    /// The smallest duration in ns.
    pub fn min(&self) -> f64 {
        self.counters().min() as f64
    }

    /// Every duration in ns and how often it was counted, smallest first.
    pub fn counts(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let counters = self.counters();
        let counts =
            counters.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()));
        counts.collect::<Vec<_>>().into_iter()
    }

    /// Checks a histogram that was read: a stranger's may be damaged, or declare more than it has.
    ///
    /// # Errors
    /// The text is not as this type writes it.
    pub fn check(&self) -> Result<(), String> {
        match &self.content {
            Content::Open(_) => Ok(()),
            Content::Packed(text) => packed::unpack(text).map(|_| ()),
        }
    }

    fn counters(&self) -> Cow<'_, Counters<u64>> {
        match &self.content {
            Content::Open(counters) => Cow::Borrowed(counters),
            // Whoever reads a stranger's checks it first; a damaged one counts as empty.
            Content::Packed(text) => Cow::Owned(packed::unpack(text).unwrap_or_else(|_| empty())),
        }
    }

    /// The counters, unpacked to count more.
    fn open_counters(&mut self) -> &mut Counters<u64> {
        if let Content::Packed(_) = &self.content {
            let mut all = empty();
            // The counters grow to any value, so this never fails.
            let _ = all.add(&*self.counters());
            self.content = Content::Open(all);
        }
        match &mut self.content {
            Content::Open(counters) => counters,
            Content::Packed(_) => unreachable!("it was opened"),
        }
    }
}

impl From<Histogram> for String {
    fn from(histogram: Histogram) -> String {
        match histogram.content {
            Content::Open(counters) => packed::pack(&counters),
            Content::Packed(text) => text.into(),
        }
    }
}

impl TryFrom<String> for Histogram {
    type Error = String;

    /// Takes a text after a look at its beginning; [`Histogram::check`] checks all of it.
    ///
    /// # Errors
    /// The text does not begin as this type writes it.
    fn try_from(text: String) -> Result<Histogram, String> {
        packed::check(&text)?;
        Ok(Histogram { content: Content::Packed(text.into()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(values: impl IntoIterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::default();
        values.into_iter().for_each(|value| histogram.record(value));
        histogram
    }

    #[test]
    fn moments_by_hand() {
        let histogram = recorded([2, 4, 4, 4, 5, 5, 7, 9]);
        assert!((histogram.mean() - 5.0).abs() < 1e-9);
        assert!((histogram.deviation() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-9);
        assert_eq!((histogram.min(), histogram.max(), histogram.count()), (2.0, 9.0, 8));
    }

    #[test]
    fn quantiles_need_ten_beyond() {
        let histogram = recorded(1..=1000);
        assert!(histogram.carries(0.99) && !histogram.carries(0.999));
        assert_eq!(histogram.quantile(0.5), 500.0);
        assert_eq!(histogram.quantile(0.99), 990.0);
        assert!(!recorded(1..=999).carries(0.99));
    }

    #[test]
    fn journals_keep_it_whole() {
        let histogram = recorded((0..5000).map(|i| i * i * 37 + 1));
        let text = String::from(histogram.clone());
        assert!(text.starts_with("HIST"), "the form of HdrHistogram's logs: {text}");
        assert_eq!(Histogram::try_from(text).unwrap(), histogram);
        assert!(Histogram::try_from("HIST!".to_owned()).is_err());
        assert!(Histogram::try_from("AAAA".to_owned()).is_err());
    }

    #[test]
    fn any_duration_fits() {
        let histogram = recorded([0, 1, u64::MAX / 2]);
        assert_eq!(histogram.count(), 3);
        assert!((histogram.max() / (u64::MAX / 2) as f64 - 1.0).abs() < 1e-3);
    }
}
