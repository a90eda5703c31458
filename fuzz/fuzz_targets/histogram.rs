//! The text of a histogram: read, and asked what it holds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use stats::Histogram;

fuzz_target!(|text: &str| {
    if let Ok(histogram) = Histogram::try_from(text.to_owned())
        && histogram.check().is_ok()
    {
        let twice = Histogram::sum([&histogram, &histogram]);
        assert_eq!(twice.count(), 2 * histogram.count());
        assert_eq!(twice.counts().map(|(_, count)| count).sum::<u64>(), twice.count());
        let _ = (twice.quantile(0.5), twice.quantile(1.0), twice.mean(), twice.deviation(), twice.min());
        assert!(Histogram::try_from(String::from(twice)).is_ok());
    }
});
