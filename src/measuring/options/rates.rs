//! Rates of requests and events, as shares of what the machine can do.

use std::sync::Arc;

use anyhow::{Context, Result, bail};

use catalogue::Test;

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

/// Returns true if a test can be offered something at a rate.
pub(crate) fn has_rate(test: &Test) -> bool {
    takes(test, "rate=")
}

/// Returns true if a test has an argument of this beginning.
fn takes(test: &Test, beginning: &str) -> bool {
    test.args.iter().any(|arg| arg.starts_with(beginning))
}

impl Rates {
    /// Returns each test at each rate. `usual` is a command line with one that has a rate.
    ///
    /// # Errors
    /// One has no rate, or arguments of the user's.
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
        let all: Result<Vec<Vec<Arc<Test>>>> = tests.iter().map(|test| self.each(test, "share")).collect();
        Ok(all?.concat())
    }

    /// Returns a test at each rate, by this argument.
    fn each(&self, test: &Test, argument: &str) -> Result<Vec<Arc<Test>>> {
        let at = |rate: &u32| {
            let words = format!("{argument}={rate}");
            let label = format!("{} at {rate} %", test.label);
            Ok(Arc::new(Test { label, ..test.with(&format!("{}:{words}", test.id), &words)? }))
        };
        self.0.iter().map(at).collect()
    }

    /// Returns each load that works for a part of the time only, if it is asked to, at each rate; the others as they
    /// are.
    ///
    /// # Errors
    /// There is no such load, or a rate is above 100 %.
    pub(crate) fn expand_loads(&self, loads: Vec<Option<Arc<Test>>>) -> Result<Vec<Option<Arc<Test>>>> {
        let has_duty = |load: &Test| takes(load, "duty=") && !load.id.contains(':');
        if !loads.iter().flatten().any(|load| has_duty(load)) {
            bail!("no task has a rate, and no load works for a part of the time; try `-w burn --at 25%,50%`");
        }
        if let Some(rate) = self.0.iter().find(|rate| **rate > 100) {
            bail!("a load cannot work for {rate} % of the time; try --at 25%,50%,75%,100%");
        }
        let mut found = Vec::new();
        for load in loads {
            match &load {
                Some(test) if has_duty(test) => {
                    found.extend(self.each(test, "duty")?.into_iter().map(Some));
                }
                _ => found.push(load),
            }
        }
        Ok(found)
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
            catalogue.expand_loads(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>()).unwrap()
        };
        let found = rates("25%,100%").unwrap().expand_loads(loads(&["none", "burn", "hackbench"])).unwrap();
        let names: Vec<&str> = found.iter().map(|load| load.as_ref().map_or("none", |load| &load.id)).collect();
        assert_eq!(names, ["none", "burn:duty=25", "burn:duty=100", "hackbench"]);
        assert_eq!(found[1].as_ref().unwrap().label, "Hogs at 25 %");
        let why = |text: &str, names: &[&str]| rates(text).unwrap().expand_loads(loads(names)).unwrap_err().to_string();
        assert!(why("50%", &["none", "burn:duty=50"]).starts_with("no task has a rate"));
        assert_eq!(why("120%", &["burn"]), "a load cannot work for 120 % of the time; try --at 25%,50%,75%,100%");
    }

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
