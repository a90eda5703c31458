//! Quantiles of what a program prints of many values: one that prints the latency of each of its
//! requests, or a histogram of them, is judged by how long the slowest of them take.

use std::str::FromStr;

use anyhow::{Context, Error, Result, anyhow, ensure};
use serde_json::{Map, Value};

use super::distribution::Distribution;
use crate::figure::shorten_name;
use crate::plain::{clean_text, excerpt};

/// The quantile that is taken of each list of numbers and of each histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tail(f64);

impl FromStr for Tail {
    type Err = Error;

    fn from_str(word: &str) -> Result<Tail> {
        let share = match word.strip_suffix('%') {
            Some(percent) => percent.parse().map(|percent: f64| percent / 100.0),
            None => word.parse(),
        };
        let share = share.ok().filter(|share| *share > 0.0 && *share < 1.0);
        share.map(Tail).with_context(|| {
            format!("'{word}' is no quantile; name one between 0 and 1, as 0.99 or 99%")
        })
    }
}

impl Tail {
    /// The quantile of a percentile's name: `p99`, `p999` or `p99.9`.
    pub fn of_percentile(name: &str) -> Option<Tail> {
        let digits = name.strip_prefix('p')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{fraction}");
        // p9 may be 0.9 or 0.09.
        let is_known = whole.len() >= 2 && all.bytes().all(|byte| byte.is_ascii_digit());
        let is_dotted = digits.contains('.');
        if !is_known || (is_dotted && (whole.len() > 2 || fraction.is_empty())) {
            return None;
        }
        format!("0.{all}").parse().ok()
    }

    /// Its name: `p99`, `p99.9`.
    pub fn name(self) -> String {
        // Rounded, since 99.9 has no exact value in binary.
        format!("p{}", (1e6 * self.0).round() / 1e4)
    }

    /// The share of the values below it.
    pub fn share(self) -> f64 {
        self.0
    }

    /// The smallest number of values that have this quantile.
    pub fn min_values(self) -> usize {
        stats::min_values_of_quantile(self.0)
    }

    /// Puts a figure, `p99 NAME`, in the place of each list of numbers and of each histogram.
    ///
    /// # Errors
    /// There is none, or one has too few values, or a histogram is damaged.
    pub(super) fn reduce_documents(self, documents: Vec<Value>) -> Result<Vec<Value>> {
        let mut distributions = 0;
        let mut reduced = Vec::new();
        for document in documents {
            let Value::Object(object) = document else {
                reduced.push(document);
                continue;
            };
            let mut figures = Map::new();
            for (name, value) in object {
                let read = Distribution::read(&value).map_err(|why| {
                    anyhow!("{} is a histogram that cannot be read: {why}", shown(&name))
                })?;
                let Some(distribution) = read else {
                    figures.insert(name, value);
                    continue;
                };
                distributions += 1;
                let quantile = self.of_distribution(&name, &distribution)?;
                figures.insert(format!("{} {name}", self.name()), quantile.into());
            }
            reduced.push(Value::Object(figures));
        }
        ensure!(
            distributions > 0,
            "it has no list of numbers and no HDR histogram to take the {} of; print {{\"name\": [1.5, \
             2.5, …]}}",
            self.name()
        );
        Ok(reduced)
    }

    fn of_distribution(self, name: &str, distribution: &Distribution) -> Result<f64> {
        ensure!(
            distribution.count() >= self.min_values() as u64,
            "{} has {}, and the {} needs {}, so that ten are beyond it; print more, or try a smaller --quantile",
            shown(name),
            words::count(distribution.count(), "value"),
            self.name(),
            self.min_values()
        );
        Ok(distribution.quantile(self.0))
    }
}

/// A name of another program's as messages have it.
fn shown(name: &str) -> String {
    excerpt(&shorten_name(&clean_text(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_have_names() {
        for (name, share) in
            [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999), ("p99.9", 0.999)]
        {
            let tail = Tail::of_percentile(name).unwrap();
            assert_eq!((tail, tail.share()), (Tail(share), share), "{name}");
        }
        for name in ["", "p", "p9", "p00", "99", "p99.", "p999.9", "p+9", "pread", "p1e5"] {
            assert_eq!(Tail::of_percentile(name), None, "{name}");
        }
    }
}
