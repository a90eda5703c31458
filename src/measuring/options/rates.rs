//! Rates of requests and events, as shares of what the machine can do.

use std::sync::Arc;

use anyhow::{Context, Result, bail};

use catalogue::Test;

/// The number of rates of a range such as `10%..120%`.
const RATES_OF_RANGE: u32 = 6;

/// Rates in per cent, in ascending order.
#[derive(Debug, Clone)]
pub(crate) struct Rates(Vec<u32>);

/// Reads `25%,50%`, or `10%..120%`, which is six rates at equal distances.
///
/// # Errors
/// A rate is not from 1 to 1000 %.
pub(crate) fn rates(text: &str) -> Result<Rates> {
    let mut rates = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (parse_percent(first)?, parse_percent(last)?);
                if first > last {
                    bail!("'{part}' falls; try {last}%..{first}%");
                }
                let intervals = RATES_OF_RANGE - 1;
                for number in 0..RATES_OF_RANGE {
                    // Rounded to whole per cent.
                    rates.push(first + ((last - first) * number + intervals / 2) / intervals);
                }
            }
            None => rates.push(parse_percent(part)?),
        }
    }
    rates.sort_unstable();
    rates.dedup();
    Ok(Rates(rates))
}

fn parse_percent(text: &str) -> Result<u32> {
    let number = text.trim().strip_suffix('%').unwrap_or(text.trim()).parse().ok();
    number.filter(|percent| (1..=1000).contains(percent)).with_context(|| {
        format!("'{text}' is not a rate in per cent, from 1 to 1000; try 25%,50%,100% or 10%..120%")
    })
}

/// True if a test can be offered requests or events at a rate.
pub(crate) fn has_rate(test: &Test) -> bool {
    has_argument(test, "rate=")
}

/// True if a load may work for a part of the time, unless the user has set its arguments.
fn has_duty(load: &Test) -> bool {
    has_argument(load, "duty=") && !load.id.contains(':')
}

/// True if a test has an argument that begins with `prefix`.
fn has_argument(test: &Test, prefix: &str) -> bool {
    test.args.iter().any(|arg| arg.starts_with(prefix))
}

impl Rates {
    /// Each test at each rate. `usual` is a command line with a test that has a rate.
    ///
    /// # Errors
    /// A test has no rate, or arguments of the user's.
    pub(crate) fn expand(&self, tests: &[Arc<Test>], usual: &str) -> Result<Vec<Arc<Test>>> {
        if let Some(test) = tests.iter().find(|test| !has_rate(test)) {
            bail!("{} does nothing at a rate; try `{usual}`", test.id);
        }
        if let Some(test) = tests.iter().find(|test| test.id.contains(':')) {
            bail!(
                "only a test without arguments has a known capacity; give {} a rate of its own, as :rate=500",
                test.id
            );
        }

        let mut variants = Vec::new();
        for test in tests {
            variants.extend(self.set_each(test, "share")?);
        }
        Ok(variants)
    }

    /// A test at each rate, which is the value of `argument`.
    fn set_each(&self, test: &Test, argument: &str) -> Result<Vec<Arc<Test>>> {
        let mut variants = Vec::new();
        for rate in &self.0 {
            let words = format!("{argument}={rate}");
            let label = format!("{} at {rate} %", test.label);
            let variant = test.with(&format!("{}:{words}", test.id), &words)?;
            variants.push(Arc::new(Test { label, ..variant }));
        }
        Ok(variants)
    }

    /// Each load that can work for a part of the time at each rate; the others as they are.
    ///
    /// # Errors
    /// There is no such load, or a rate is above 100 %.
    pub(crate) fn expand_loads(
        &self,
        loads: Vec<Option<Arc<Test>>>,
    ) -> Result<Vec<Option<Arc<Test>>>> {
        if !loads.iter().flatten().any(|load| has_duty(load)) {
            bail!(
                "no task has a rate, and no load works for a part of the time; try `-w burn --at 25%,50%`"
            );
        }
        if let Some(rate) = self.0.iter().find(|rate| **rate > 100) {
            bail!("a load cannot work for {rate} % of the time; try --at 25%,50%,75%,100%");
        }

        let mut variants = Vec::new();
        for load in loads {
            match &load {
                Some(test) if has_duty(test) => {
                    variants.extend(self.set_each(test, "duty")?.into_iter().map(Some));
                }
                _ => variants.push(load),
            }
        }
        Ok(variants)
    }
}

#[cfg(test)]
mod tests {
    use super::rates;
    use catalogue::Catalogue;

    #[test]
    fn a_load_works_for_a_part_of_the_time() {
        let catalogue = Catalogue::load().unwrap();
        let loads = |names: &[&str]| {
            catalogue
                .expand_loads(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>())
                .unwrap()
        };
        let found =
            rates("25%,100%").unwrap().expand_loads(loads(&["none", "burn", "hackbench"])).unwrap();
        let names: Vec<&str> =
            found.iter().map(|load| load.as_ref().map_or("none", |load| &load.id)).collect();
        assert_eq!(names, ["none", "burn:duty=25", "burn:duty=100", "hackbench"]);
        assert_eq!(found[1].as_ref().unwrap().label, "Hogs at 25 %");
        let why = |text: &str, names: &[&str]| {
            rates(text).unwrap().expand_loads(loads(names)).unwrap_err().to_string()
        };
        assert!(why("50%", &["none", "burn:duty=50"]).starts_with("no task has a rate"));
        assert_eq!(
            why("120%", &["burn"]),
            "a load cannot work for 120 % of the time; try --at 25%,50%,75%,100%"
        );
    }

    #[test]
    fn a_list_and_a_range() {
        assert_eq!(rates("25%,50").unwrap().0, [25, 50]);
        assert_eq!(rates("10%..120%").unwrap().0, [10, 32, 54, 76, 98, 120]);
        assert_eq!(rates("50..50,60").unwrap().0, [50, 60]);
        assert_eq!(rates("50,25,50").unwrap().0, [25, 50]);
        assert!(rates("120..10").unwrap_err().to_string().contains("try 10%..120%"));
        for wrong in ["", "0", "10..", "x", "1001%", "5,,6"] {
            assert!(
                rates(wrong).unwrap_err().to_string().contains("is not a rate in per cent"),
                "{wrong}"
            );
        }
    }
}
