//! Rates of requests and events, as shares of what the machine can do.

use std::sync::Arc;

use anyhow::{Context, Result, bail};

use catalogue::{Catalogue, Test};

/// Rates of `10%..120%`.
const STEPS: u32 = 6;

/// Rates in per cent.
#[derive(Debug, Clone)]
pub(crate) struct Rates(Vec<u32>);

/// Returns the rates of `25%,50%`, or six at equal distances of `10%..120%`.
///
/// # Errors
/// One is not from 1 to 1000 %.
pub(crate) fn rates(text: &str) -> Result<Rates> {
    let mut rates = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (percent(first)?, percent(last)?);
                if first > last {
                    bail!("'{part}' falls; try {last}%..{first}%");
                }
                let step = |number| first + ((last - first) * number + (STEPS - 1) / 2) / (STEPS - 1);
                rates.extend((0..STEPS).map(step));
            }
            None => rates.push(percent(part)?),
        }
    }
    rates.sort_unstable();
    rates.dedup();
    Ok(Rates(rates))
}

fn percent(text: &str) -> Result<u32> {
    let number = text.trim().strip_suffix('%').unwrap_or(text.trim()).parse().ok();
    number
        .filter(|percent| (1..=1000).contains(percent))
        .with_context(|| format!("'{text}' is not a rate in per cent, from 1 to 1000; try 25%,50%,100% or 10%..120%"))
}

impl Rates {
    /// Returns each test at each rate. `usual` is a command line with one that has a rate.
    ///
    /// # Errors
    /// One has no rate, or arguments of the user's.
    pub(crate) fn expand(&self, tests: &[Arc<Test>], catalogue: &Catalogue, usual: &str) -> Result<Vec<Arc<Test>>> {
        if let Some(test) = tests.iter().find(|test| !test.args.iter().any(|arg| arg.starts_with("rate="))) {
            bail!("{} does nothing at a rate; try `{usual}`", test.id);
        }
        if let Some(test) = tests.iter().find(|test| test.id.contains(':')) {
            bail!(
                "only a test without arguments has a known capacity; give {} a rate of its own, as :rate=500",
                test.id
            );
        }
        let mut found = Vec::new();
        for (test, rate) in tests.iter().flat_map(|test| self.0.iter().map(move |rate| (test, rate))) {
            let mut at = catalogue.expand(&[format!("{}:share={rate}", test.id)])?;
            at.iter_mut().for_each(|at| Arc::make_mut(at).label = format!("{} at {rate} %", test.label));
            found.extend(at);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::rates;

    #[test]
    fn a_list_and_a_range() {
        assert_eq!(rates("25%,50").unwrap().0, [25, 50]);
        assert_eq!(rates("10%..120%").unwrap().0, [10, 32, 54, 76, 98, 120]);
        assert_eq!(rates("50..50,60").unwrap().0, [50, 60]);
        assert_eq!(rates("50,25,50").unwrap().0, [25, 50]);
        assert!(rates("120..10").unwrap_err().to_string().contains("try 10%..120%"));
        for wrong in ["", "0", "10..", "x", "1001%", "5,,6"] {
            assert!(rates(wrong).unwrap_err().to_string().contains("is not a rate in per cent"), "{wrong}");
        }
    }
}
