//! Details of a test beside its score: times of single operations, the undisturbed time of its work, what bounds it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Figure, rate};
use catalogue::{Catalogue, Metric, Processor};
use journal::{Cell, Journal, Quantity, Trial};
use stats::{Estimate, Histogram, log_interval, mean};

/// The shares of single operations that reports tell of, and their names.
pub const QUANTILES: [(f64, &str); 5] = [(0.1, "p10"), (0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

/// The values that every core-bound program tells: ns per piece of work, and GHz.
const BEST: &str = "best";
pub(super) const CLOCK: &str = "clock";

/// Beside the score of one cell.
#[derive(Debug, Clone, Default)]
pub struct Details {
    /// The times that single operations took.
    pub times: Option<Times>,
    /// The work undisturbed.
    pub best: Option<Best>,
    /// The limit on its figure.
    pub limit: Option<Limit>,
    /// Further values from the program.
    pub values: Vec<Value>,
}

/// Times of single operations, in ns.
#[derive(Debug, Clone)]
pub struct Times {
    /// All trials' operations.
    pub histogram: Histogram,
    /// The quantiles that the count carries, with their names.
    pub quantiles: Vec<(&'static str, Estimate)>,
    /// The shortest of all: an extreme, which no interval of trials speaks of.
    pub least: f64,
}

/// The least time in which a program did a short piece of its work: what the core needs when nobody disturbs it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best {
    /// ns per unit of work.
    pub ns: Estimate,
    /// The core's clock in GHz.
    pub clock: Estimate,
    /// Cycles per unit of work.
    pub cycles: Estimate,
}

/// An upper limit of a figure, and how near it comes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Limit {
    /// The figure in the limit's unit.
    pub reached: f64,
    /// The limit.
    pub limit: f64,
    /// The unit of both.
    pub unit: String,
    /// The source of the limit.
    pub source: String,
    /// The share of the limit that the figure reaches: 1 is all.
    pub share: f64,
}

/// A number that a program told of, over the trials.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The median over trials.
    pub value: Estimate,
    /// True if trials differ in it. A value that never varies tells how something was measured.
    pub varies: bool,
}

/// Returns what the trials of a cell tell beside the score; the limit is found when all rows are known.
pub(super) fn details(cell: &Cell, trials: &[&Trial]) -> Option<Box<Details>> {
    let measured: Vec<&Trial> = trials.iter().copied().filter(|trial| !trial.copies.is_empty()).collect();
    let details =
        Details { times: times(&measured), best: best(&measured), limit: None, values: values(cell, &measured) };
    let told = details.times.is_some() || details.best.is_some() || !details.values.is_empty();
    (told || cell.limit.is_some()).then(|| Box::new(details))
}

fn times(measured: &[&Trial]) -> Option<Times> {
    let of = |trial: &&Trial| Histogram::sum(trial.copies.iter().filter_map(|copy| copy.times.as_deref()));
    let each: Vec<Histogram> = measured.iter().map(of).filter(|histogram| histogram.count() > 0).collect();
    let histogram = Histogram::sum(&each);
    if histogram.count() == 0 {
        return None;
    }
    // The value is that of all operations; trials tell how much it varies.
    let over = |of: &dyn Fn(&Histogram) -> f64| {
        log_interval(of(&histogram).max(1.0), &each.iter().map(|trial| of(trial).max(1.0)).collect::<Vec<_>>())
    };
    let carried = QUANTILES.iter().filter(|(share, _)| histogram.carries(*share));
    let quantiles = carried.map(|(share, name)| (*name, over(&|histogram| histogram.quantile(*share)))).collect();
    Some(Times { quantiles, least: histogram.min().max(1.0), histogram })
}

/// Returns the undisturbed time: of each trial the copy that was disturbed least, and the median of those over trials.
/// Its clock is the one at which it was so fast: the least of all copies' clocks would be another core's.
fn best(measured: &[&Trial]) -> Option<Best> {
    let least = |trial: &&Trial| {
        let copies = trial.copies.iter();
        let told = copies.filter_map(|copy| Some((copy.values.get(BEST)?.0, copy.values.get(CLOCK)?.0)));
        told.min_by(|a, b| a.0.total_cmp(&b.0))
    };
    let found: Vec<(f64, f64)> = measured.iter().filter_map(least).collect();
    let over = |of: fn(&(f64, f64)) -> f64| rate::typical(&found.iter().map(of).collect::<Vec<f64>>());
    let (ns, clock, cycles) = (over(|one| one.0), over(|one| one.1), over(|one| one.0 * one.1));
    ns.value.is_finite().then_some(Best { ns, clock, cycles })
}

/// The mean over copies, and the median of that over trials.
fn values(cell: &Cell, measured: &[&Trial]) -> Vec<Value> {
    let mut found: BTreeMap<&str, (&str, Vec<f64>)> = BTreeMap::new();
    for trial in measured {
        let mut own: BTreeMap<&str, (&str, Vec<f64>)> = BTreeMap::new();
        for (name, (number, unit)) in trial.copies.iter().flat_map(|copy| &copy.values) {
            own.entry(name).or_insert((unit, Vec::new())).1.push(*number);
        }
        for (name, (unit, numbers)) in own {
            found.entry(name).or_insert((unit, Vec::new())).1.push(mean(numbers));
        }
    }
    let is_other = |name: &str| name != BEST && name != CLOCK && cell.value.as_deref() != Some(name);
    found.retain(|name, _| is_other(name) && cell.metric != Metric::Latency);
    let value = |(name, (unit, numbers)): (&str, (&str, Vec<f64>))| {
        let varies = numbers.iter().any(|number| *number != numbers[0]);
        Value { name: name.to_owned(), unit: unit.to_owned(), varies, value: rate::typical(&numbers) }
    };
    found.into_iter().map(value).collect()
}

/// Finds what bounds every row.
pub(super) fn limits(rows: &mut [Figure], journal: &Journal, catalogue: &Catalogue) {
    let found: Vec<Option<Limit>> = rows.iter().map(|row| limit(row, rows, journal, catalogue)).collect();
    for (row, limit) in rows.iter_mut().zip(found) {
        if let Some(details) = &mut row.details {
            details.limit = limit;
        }
    }
}

fn limit(row: &Figure, rows: &[Figure], journal: &Journal, catalogue: &Catalogue) -> Option<Limit> {
    let name = row.cell.limit.as_deref()?;
    if let Some(id) = name.strip_prefix("test:") {
        return by_test(row, rows, id);
    }
    if name == "link" {
        return by_link(row, journal);
    }
    let figure = catalogue.figures.iter().find(|figure| figure.id == name)?;
    let reached = of_figure(row, figure)?;
    let known = processor(journal, catalogue);
    let (limit, source) = match known.and_then(|known| Some((known.limits.get(name)?, known))) {
        Some((limit, known)) => (*limit, known.name.clone()),
        None => {
            // What the best of the same kind reached alone is the limit of the others.
            let same =
                rows.iter().filter(|other| other.cell.limit.as_deref() == Some(name) && other.cell.key.copies == 1);
            let others = same.filter_map(|other| Some((of_figure(other, figure)?, other)));
            let better = |a: f64, b: f64| if figure.is_cycles() { b.total_cmp(&a) } else { a.total_cmp(&b) };
            let (limit, best) = others.max_by(|a, b| better(a.0, b.0))?;
            (limit, format!("measured: {}", best.cell.label))
        }
    };
    let share = if figure.is_cycles() { limit / reached } else { reached / limit };
    Some(Limit { reached, limit, unit: figure.unit.clone(), source, share })
}

/// Returns the processor's row in the catalogue.
fn processor<'c>(journal: &Journal, catalogue: &'c Catalogue) -> Option<&'c Processor> {
    let fact = |name: &str| journal.facts.value(name);
    let x86 = || catalogue.processor(fact("cpu.vendor")?, fact("cpu.stepping")?);
    fact("cpu.core").and_then(|core| catalogue.core(core)).or_else(x86)
}

/// A row's undisturbed figure: work per cycle, or cycles per piece of work.
fn of_figure(row: &Figure, figure: &catalogue::Figure) -> Option<f64> {
    let cycles = row.details.as_ref()?.best?.cycles.value;
    Some(if figure.is_cycles() { cycles } else { 1.0 / cycles })
}

/// Returns the limit that another test sets, measured at as many copies, which this one cannot exceed. Both by their
/// least times.
fn by_test(row: &Figure, rows: &[Figure], id: &str) -> Option<Limit> {
    let floor = rows.iter().find(|other| {
        other.cell.key.test == id
            && other.cell.key.copies == row.cell.key.copies
            && (&other.cell.key.load, &other.cell.key.condition) == (&row.cell.key.load, &row.cell.key.condition)
    })?;
    let (own, limit) = (least(row)?, least(floor)?);
    let source = format!("measured: {}", floor.cell.label);
    Some(Limit { reached: own, limit, unit: "ns".to_owned(), source, share: limit / own })
}

/// ns per operation when undisturbed; of rates without samples, the mean.
fn least(row: &Figure) -> Option<f64> {
    let details = row.details.as_ref();
    let best = details.and_then(|details| details.best).map(|best| best.ns.value);
    let shortest = details.and_then(|details| details.times.as_ref()).map(|times| times.least);
    let mean = || match row.cell.metric {
        Metric::Time => Some(row.score.value * 1e9 / row.cell.scale),
        Metric::Rate => Some(f64::from(row.cell.key.copies) * row.cell.scale * 1e9 / row.score.value),
        Metric::Latency | Metric::Amount => None,
    };
    best.or(shortest).or_else(mean).filter(|ns| ns.is_finite() && *ns > 0.0)
}

/// The link of the storage under test, where the machine reports its speed.
fn by_link(row: &Figure, journal: &Journal) -> Option<Limit> {
    let fact = journal.facts.get("storage.link")?;
    let Quantity { number: limit, unit } = fact.quantity.clone().filter(|speed| speed.unit == "MB/s")?;
    let reached = row.score.value;
    Some(Limit { reached, limit, unit, source: fact.value.clone(), share: reached / limit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use journal::Copy;

    fn trial(best: &[(f64, f64)]) -> Trial {
        let copy = |(ns, ghz): &(f64, f64)| Copy {
            values: [(BEST.to_owned(), (*ns, "ns".to_owned())), (CLOCK.to_owned(), (*ghz, "GHz".to_owned()))].into(),
            ..Copy::default()
        };
        Trial { copies: best.iter().map(copy).collect(), ..Trial::default() }
    }

    /// A neighbour disturbs some copies and some trials: what stands is the median over the trials of
    /// their fastest copies, each at its own clock.
    #[test]
    fn the_best_is_of_the_undisturbed() {
        let trials = [trial(&[(0.25, 4.0), (0.5, 1.0)]), trial(&[(0.25, 4.0)]), trial(&[(9.0, 3.0)])];
        let found = best(&trials.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((found.ns.value, found.clock.value, found.cycles.value), (0.25, 4.0, 1.0));
        assert!(best(&[&Trial { copies: vec![Copy::default()], ..Trial::default() }]).is_none());
    }

    /// On x86 by family and model, elsewhere by the make of core.
    #[test]
    fn the_processor_is_found_by_its_facts() {
        let catalogue = Catalogue::load().unwrap();
        let name = |facts: &[(&str, &str)]| {
            let mut journal = Journal::default();
            for (name, value) in facts {
                let [name, value] = [name, value].map(|text| (*text).to_owned());
                journal.facts.push(journal::Fact::from_text(name, String::new(), "Processor".to_owned(), value));
            }
            processor(&journal, &catalogue).map(|found| found.name.clone())
        };
        assert_eq!(name(&[("cpu.core", "POWER9")]).as_deref(), Some("IBM POWER9"));
        assert_eq!(name(&[("cpu.vendor", "AuthenticAMD"), ("cpu.stepping", "25 1 1")]).as_deref(), Some("AMD Zen 3"));
        assert_eq!(name(&[("cpu.core", "acme,one")]), None);
    }

    #[test]
    fn times_tell_only_what_their_count_carries() {
        let mut histogram = Histogram::default();
        (1..=200).for_each(|us| histogram.record(us * 1000));
        let copy = Copy { times: Some(Box::new(histogram)), ..Copy::default() };
        let trials = [Trial { copies: vec![copy], ..Trial::default() }];
        let found = times(&trials.iter().collect::<Vec<_>>()).unwrap();
        let names: Vec<&str> = found.quantiles.iter().map(|quantile| quantile.0).collect();
        assert_eq!(names, ["p10", "p50", "p90"], "p99 takes a thousand");
        assert!(
            (found.quantiles[1].1.value / 100_000.0 - 1.0).abs() < 0.01 && (found.least / 1000.0 - 1.0).abs() < 0.01
        );
    }
}
