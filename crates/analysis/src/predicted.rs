//! The predicted cost of a condition to a command, beside the measured one: the time that the condition adds to each
//! system call, times the number of such calls in an execution.

use std::collections::{BTreeMap, BTreeSet};

use super::{Comparison, Cost, Effect, Measure, Range};
use crate::compare::inverse;
use catalogue::{Catalogue, Metric, NONE, Test};
use journal::Cell;
use stats::Estimate;

/// The calls that start processes and threads. Each ends by a call that never returns, so that nobody counts it.
const STARTS: [&str; 4] = ["clone", "clone3", "fork", "vfork"];
const END: &str = "exit_group";

/// The price list of a condition: for each test the ns that it adds to a count, and the system calls in a count.
#[derive(Debug, Clone, Default)]
pub struct PriceList(BTreeMap<String, (Estimate, f64)>);

/// A system call of a command, or its page faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The name: `openat`, `faults`.
    pub name: String,
    /// The number in an execution.
    pub count: Range,
    /// The ns that the condition adds to one; `None` if it has no price.
    pub price: Option<Estimate>,
    /// The ns that it adds to an execution.
    pub added: Option<Estimate>,
}

/// The predicted cost of a condition to a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// The condition.
    pub condition: String,
    /// The condition that it is compared with.
    pub against: String,
    /// The calls of an execution, the dearest first, and last those without a price.
    pub items: Vec<Item>,
    /// The ns that the condition adds to an execution, over all calls that have a price.
    pub total: Estimate,
    /// The ns of an execution without it, where these are known.
    pub time: Option<f64>,
    /// The ns that the condition was measured to add to an execution.
    pub measured: Option<Estimate>,
}

impl PriceList {
    /// Adds the prices under a condition that a run found, except those that are known already.
    pub fn add(&mut self, cost: &Cost, condition: &str) {
        let is_price = |effect: &&Effect| {
            let key = &effect.comparison.cell.key;
            !effect.comparison.cell.command && key.copies == 1 && key.load == NONE && effect.comparison.delta.bounded()
        };
        for effect in effects(cost, condition).filter(is_price) {
            let price = (added(&effect.comparison), effect.calls.unwrap_or(1.0));
            self.0.entry(effect.comparison.cell.key.test.clone()).or_insert(price);
        }
    }

    /// Returns the names of the tests that have the prices of what a command does and are not in the list.
    pub fn missing(&self, counts: &BTreeMap<String, Range>, catalogue: &Catalogue) -> BTreeSet<String> {
        let own = whole(counts).into_keys().filter_map(|name| row(&name, catalogue));
        let rows = own.flat_map(|test| test.beside.iter().filter_map(|name| row(name, catalogue)).chain([test]));
        rows.map(|test| test.id.clone()).filter(|test| !self.0.contains_key(test)).collect()
    }

    /// Returns the price of a call: the cost of one count of its row, less the other calls in that count, divided by
    /// the remaining calls.
    fn price(&self, name: &str, catalogue: &Catalogue) -> Option<Estimate> {
        let test = row(name, catalogue)?;
        let (count, calls) = *self.0.get(&test.id)?;
        // Other calls are priced by rows that need no others.
        let other =
            |name: &String| row(name, catalogue).filter(|row| row.beside.is_empty()).and(self.price(name, catalogue));
        let others = test.beside.iter().map(other).collect::<Option<Vec<Estimate>>>()?;
        let share = 1.0 / (calls - others.len() as f64).max(1.0);
        Some(sum(others.into_iter().map(|other| (-share, other)).chain([(share, count)])))
    }
}

impl Prediction {
    /// Returns the predicted cost of a condition to an execution with these counts.
    pub fn new(
        [condition, against]: [&str; 2],
        prices: &PriceList,
        counts: &BTreeMap<String, Range>,
        catalogue: &Catalogue,
    ) -> Prediction {
        let item = |(name, count): (String, Range)| {
            let price = prices.price(&name, catalogue);
            let added = price.map(|price| times(&[(count, price)]));
            Item { name, count, price, added }
        };
        let mut items: Vec<Item> = whole(counts).into_iter().map(item).collect();
        let order = |item: &Item| item.added.map_or((false, item.count.high as f64), |added| (true, added.value));
        items.sort_by(|a, b| order(b).0.cmp(&order(a).0).then(order(b).1.total_cmp(&order(a).1)));
        let priced: Vec<(Range, Estimate)> = items.iter().filter_map(|item| Some((item.count, item.price?))).collect();
        let total = times(&priced);
        let [condition, against] = [condition, against].map(str::to_owned);
        Prediction { condition, against, items, total, time: None, measured: None }
    }

    /// Returns it beside what a run of the command found.
    pub fn beside(mut self, cost: &Cost) -> Prediction {
        let command = effects(cost, &self.condition).find(|effect| effect.comparison.cell.command);
        let comparison = command.map(|effect| &effect.comparison);
        self.time = comparison.map(|one| nanoseconds(&one.cell, one.a)).or(self.time);
        self.measured = comparison.map(added);
        self
    }

    /// Returns what was measured and not predicted, in ns.
    pub fn rest(&self) -> Option<Estimate> {
        self.measured.map(|measured| sum([(1.0, measured), (-1.0, self.total)].into_iter()))
    }

    /// Returns a time in ns as a share of an execution, in per cent.
    pub fn percent(&self, ns: Estimate) -> Option<Estimate> {
        self.time.map(|time| ns.scaled(100.0 / time))
    }
}

/// Returns the effects of a condition in time.
fn effects<'a>(cost: &'a Cost, condition: &'a str) -> impl Iterator<Item = &'a Effect> {
    let own = cost.conditions.iter().filter(move |own| own.name == condition);
    own.flat_map(|own| &own.effects).filter(|effect| effect.comparison.measure == Measure::Score)
}

/// Returns the row of the catalogue that has the price of a call.
fn row<'a>(name: &str, catalogue: &'a Catalogue) -> Option<&'a Test> {
    catalogue.tests.iter().map(|test| &**test).find(|test| test.prices.iter().any(|priced| priced == name))
}

/// Returns counts with the ends of processes: of the command, and of what it started.
fn whole(counts: &BTreeMap<String, Range>) -> BTreeMap<String, Range> {
    let started = |end: fn(&Range) -> u64| STARTS.iter().filter_map(|name| counts.get(*name)).map(end).sum::<u64>();
    let ends = Range { low: 1 + started(|range| range.low), high: 1 + started(|range| range.high) };
    counts.iter().map(|(name, range)| (name.clone(), *range)).chain([(END.to_owned(), ends)]).collect()
}

/// Returns what one count takes, in ns.
fn nanoseconds(cell: &Cell, value: f64) -> f64 {
    let unit = match cell.unit.as_str() {
        "ms" => 1e6,
        "us" => 1e3,
        "s" => 1e9,
        _ => 1.0,
    };
    if cell.metric == Metric::Rate { 1e9 * cell.timebase * cell.scale / value } else { unit * value }
}

/// Returns what a condition adds to a count, in ns.
fn added(comparison: &Comparison) -> Estimate {
    let before = nanoseconds(&comparison.cell, comparison.a);
    inverse(comparison.delta).scaled(before / 100.0)
}

/// Returns the weighted sum of estimates that know nothing of each other: their halves add up as squares.
fn sum(terms: impl Iterator<Item = (f64, Estimate)>) -> Estimate {
    let (mut value, mut down, mut up) = (0.0, 0.0, 0.0);
    for (weight, term) in terms {
        let ends = [term.low - term.value, term.high - term.value].map(|half| weight * half);
        value += weight * term.value;
        down += ends[0].min(ends[1]).powi(2);
        up += ends[0].max(ends[1]).powi(2);
    }
    Estimate { value, low: value - down.sqrt(), high: value + up.sqrt() }
}

/// Returns the sum of counts times prices, at the middle of each range; the ends of ranges widen the interval.
fn times(items: &[(Range, Estimate)]) -> Estimate {
    let middle = |count: &Range| (count.low as f64 + count.high as f64) / 2.0;
    let Estimate { value, low, high } = sum(items.iter().map(|(count, price)| (middle(count), *price)));
    let half: f64 = items.iter().map(|(count, price)| (count.high - count.low) as f64 / 2.0 * price.value.abs()).sum();
    Estimate { value, low: low - half, high: high + half }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalogue() -> Catalogue {
        Catalogue::load().unwrap()
    }

    fn plus(value: f64, half: f64) -> Estimate {
        Estimate { value, low: value - half, high: value + half }
    }

    /// A list of tests with ns per count, the half of the interval, and calls per count.
    fn list(prices: &[(&str, f64, f64, f64)]) -> PriceList {
        let price = |(test, ns, half, calls): &(&str, f64, f64, f64)| ((*test).to_owned(), (plus(*ns, *half), *calls));
        PriceList(prices.iter().map(price).collect())
    }

    fn counts(all: &[(&str, u64, u64)]) -> BTreeMap<String, Range> {
        all.iter().map(|(name, low, high)| ((*name).to_owned(), Range { low: *low, high: *high })).collect()
    }

    fn is_near(found: Estimate, wanted: [f64; 3]) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
        near(found.value, wanted[0]) && near(found.low, wanted[1]) && near(found.high, wanted[2])
    }

    #[test]
    fn a_price_is_that_of_a_call_without_those_beside_it() {
        let prices =
            list(&[("call-dup", 40.0, 6.0, 2.0), ("call-open", 120.0, 4.0, 2.0), ("call-mmap", 50.0, 2.0, 2.0)]);
        let price = |name: &str| prices.price(name, &catalogue());
        assert!(is_near(price("close").unwrap(), [20.0, 17.0, 23.0]));
        // Open and close take 120 ns, close alone 20: ±√(4² + 3²).
        assert!(is_near(price("openat").unwrap(), [100.0, 95.0, 105.0]));
        assert!(is_near(price("munmap").unwrap(), [25.0, 24.0, 26.0]));
        assert_eq!((price("getpid"), price("no_such_call")), (None, None));
        assert_eq!(list(&[("call-open", 120.0, 4.0, 2.0)]).price("openat", &catalogue()), None, "close has no price");
    }

    #[test]
    fn a_bill_is_the_sum_of_its_items_with_errors_as_squares_and_ranges_at_their_ends() {
        let prices =
            list(&[("call-read", 10.0, 0.3, 1.0), ("call-write", 20.0, 0.4, 1.0), ("page-fault", -1.0, 0.0, 1.0)]);
        let made = counts(&[("read", 10, 10), ("write", 8, 12), ("faults", 4, 6), ("io_uring_enter", 7, 7)]);
        let bill = Prediction::new(["seccomp", "none"], &prices, &made, &catalogue());
        let names: Vec<&str> = bill.items.iter().map(|item| item.name.as_str()).collect();
        // What has no price is there with its number, and after what has one.
        assert_eq!(names, ["write", "read", "faults", "io_uring_enter", "exit_group"]);
        assert!(bill.items[3].added.is_none() && bill.items[3].count == Range { low: 7, high: 7 });
        // 10 · 10 + 10 · 20 − 5; ±√(3² + 4²), and 2 · 20 + 1 · 1 of the ranges.
        assert!(is_near(bill.total, [295.0, 295.0 - 5.0 - 41.0, 295.0 + 5.0 + 41.0]), "{:?}", bill.total);
        let parts: f64 = bill.items.iter().filter_map(|item| item.added).map(|added| added.value).sum();
        assert!((parts - bill.total.value).abs() < 1e-9, "{parts}");
    }

    #[test]
    fn every_process_ends_once_also_the_command_itself() {
        let prices = list(&[("call-fork", 30.0, 0.0, 3.0)]);
        let made = counts(&[("vfork", 1, 2), ("clone", 3, 3), ("wait4", 4, 5)]);
        let bill = Prediction::new(["a", "b"], &prices, &made, &catalogue());
        let ends = bill.items.iter().find(|item| item.name == END).unwrap();
        assert_eq!(ends.count, Range { low: 5, high: 6 });
        let all: u64 = bill.items.iter().map(|item| item.count.low).sum();
        assert_eq!(all, 1 + 3 + 4 + 5);
    }

    #[test]
    fn the_tests_to_be_measured_are_those_of_what_was_made_and_of_what_is_beside_it() {
        let missing =
            |prices: &PriceList, made| prices.missing(&counts(made), &catalogue()).into_iter().collect::<Vec<String>>();
        let made: &[_] = &[("openat", 1, 1), ("no_such_call", 1, 1)];
        assert_eq!(missing(&PriceList::default(), made), ["call-dup", "call-fork", "call-open"]);
        assert_eq!(missing(&list(&[("call-dup", 1.0, 0.0, 2.0)]), made), ["call-fork", "call-open"]);
    }

    #[test]
    fn what_is_measured_stands_beside_it_with_the_rest() {
        let total = plus(300.0, 3.0);
        let prediction = Prediction {
            condition: "a".to_owned(),
            against: "none".to_owned(),
            items: Vec::new(),
            total,
            time: Some(10_000.0),
            measured: Some(plus(320.0, 4.0)),
        };
        assert!(is_near(prediction.rest().unwrap(), [20.0, 15.0, 25.0]));
        assert!(is_near(prediction.percent(total).unwrap(), [3.0, 2.97, 3.03]));
        let alone = Prediction { time: None, measured: None, ..prediction };
        assert_eq!((alone.rest(), alone.percent(total)), (None, None));
    }
}
