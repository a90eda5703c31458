//! The predicted cost of a condition to a command, beside the measured one: the time that the
//! condition adds to each system call, times the number of such calls in an execution.
//!
//! A test of the catalogue that makes a call has its *price*. Some tests must make a second call
//! for each of the first (`close` for each `openat`), so a price is what the condition adds to one
//! count of the test, less the prices of the other calls in it ([`PriceList::price`]).

use std::collections::{BTreeMap, BTreeSet};

use crate::figures::Measure;
use crate::products::Range;
use crate::products::comparison::Comparison;
use crate::products::comparison::inverse;
use crate::products::cost::{Cost, Effect};
use catalogue::{Catalogue, Metric, NONE, Test};
use journal::Cell;
use stats::Estimate;

/// Half-width of a predicted total that is narrow enough, as a share of the total.
const MAX_HALF_WIDTH_OF_TOTAL: f64 = 0.1;

/// Half-width of a predicted total that is narrow enough, as a share of the command's time.
const MAX_HALF_WIDTH_OF_TIME: f64 = 0.01;

/// The calls that start processes and threads. Each ends by a call that never returns, so that
/// nobody counts it.
const STARTING_CALLS: [&str; 4] = ["clone", "clone3", "fork", "vfork"];
const ENDING_CALL: &str = "exit_group";

/// The price list of a condition, by test.
#[derive(Debug, Clone, Default)]
pub struct PriceList(BTreeMap<String, CountPrice>);

/// What a condition adds to one count of a test.
#[derive(Debug, Clone, Copy)]
struct CountPrice {
    /// The time in ns.
    ns: Estimate,
    /// The system calls in a count.
    calls: f64,
}

/// A system call of a command, or its page faults.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The name: `openat`, `faults`.
    pub name: String,
    /// The number in an execution.
    pub count: Range,
    /// The ns that the condition adds to each; `None` if it has no price.
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
    /// The ns that the condition adds to an execution, over all calls that have a price; `None` if
    /// no call has one.
    pub total: Option<Estimate>,
    /// The ns of an execution without the condition, if known.
    pub time: Option<f64>,
    /// The ns that the condition was measured to add to an execution.
    pub measured: Option<Estimate>,
}

impl PriceList {
    /// Adds the prices under a condition that a run found, except those that are known already.
    pub fn add(&mut self, cost: &Cost, condition: &str) {
        for (test, price) in count_prices(cost, condition) {
            self.0.entry(test).or_insert(price);
        }
    }

    /// Adds the prices under a condition that a run found, in place of those that are known.
    pub fn replace(&mut self, cost: &Cost, condition: &str) {
        self.0.extend(count_prices(cost, condition));
    }

    /// The tests that have the prices of a command's calls and are not in the list.
    pub fn missing(
        &self,
        counts: &BTreeMap<String, Range>,
        catalogue: &Catalogue,
    ) -> BTreeSet<String> {
        let calls = with_ends(counts).into_keys();
        let tests = calls.flat_map(|call| price_tests(&call, catalogue));
        tests.filter(|test| !self.0.contains_key(test)).collect()
    }

    /// The price of a call: what the condition adds to one count of its test, less the prices of
    /// the calls beside it; and this difference divided by the number of the test's own calls.
    fn price(&self, call: &str, catalogue: &Catalogue) -> Option<Estimate> {
        let test = test_of_call(call, catalogue)?;
        let CountPrice { ns, calls } = *self.0.get(&test.id)?;

        // By test: the price of several calls may be one estimate, whose error comes as often.
        let mut others: BTreeMap<&str, (f64, Estimate)> = BTreeMap::new();
        for other in &test.beside {
            let other_test = test_of_call(other, catalogue)?;
            // No further than one step: what is itself priced with others has no price here.
            if !other_test.beside.is_empty() {
                return None;
            }
            let price = self.price(other, catalogue)?;
            others.entry(&other_test.id).or_insert((0.0, price)).0 += 1.0;
        }

        // At least one: not every program says how many calls its count has.
        let own_calls = (calls - test.beside.len() as f64).max(1.0);
        let others = others.into_values().map(|(count, price)| (-count / own_calls, price));
        Some(weighted_sum(others.chain([(1.0 / own_calls, ns)])))
    }
}

impl Prediction {
    /// The predicted cost of a condition to an execution with these counts.
    pub fn new(
        [condition, against]: [&str; 2],
        prices: &PriceList,
        counts: &BTreeMap<String, Range>,
        catalogue: &Catalogue,
    ) -> Prediction {
        let mut items = Vec::new();
        for (name, count) in with_ends(counts) {
            let price = prices.price(&name, catalogue);
            let added = price.map(|price| price_of_counts(&[(count, price)]));
            items.push(Item { name, count, price, added });
        }
        // The dearest first, then by number those without a price.
        items.sort_by(|a, b| match (a.added, b.added) {
            (Some(a), Some(b)) => b.value.total_cmp(&a.value),
            (None, None) => (b.count.high as f64).total_cmp(&(a.count.high as f64)),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });

        let priced: Vec<(Range, Estimate)> =
            items.iter().filter_map(|item| Some((item.count, item.price?))).collect();
        Prediction {
            condition: condition.to_owned(),
            against: against.to_owned(),
            items,
            total: (!priced.is_empty()).then(|| price_of_counts(&priced)),
            time: None,
            measured: None,
        }
    }

    /// Adds what a run of the command found.
    pub fn beside(mut self, cost: &Cost) -> Prediction {
        let command = time_effects(cost, &self.condition)
            .find(|effect| effect.comparison.cell.is_of_command());
        let comparison = command.map(|effect| &effect.comparison);
        self.time = comparison.map(|one| to_ns(&one.cell, one.a)).or(self.time);
        self.measured = comparison.map(added_ns);
        self
    }

    /// The ns that were measured and not predicted; `None` where one of the two is unknown.
    pub fn rest(&self) -> Option<Estimate> {
        let (measured, total) = self.measured.zip(self.total)?;
        Some(weighted_sum([(1.0, measured), (-1.0, total)].into_iter()))
    }

    /// The calls that make the predicted total uncertain, the least known first; none if it is
    /// known to a tenth of itself, or to a hundredth of the command's time.
    pub fn vague_calls(&self) -> Vec<&str> {
        let Some(total) = self.total else { return Vec::new() };
        let wanted = f64::max(
            MAX_HALF_WIDTH_OF_TOTAL * total.value.abs(),
            MAX_HALF_WIDTH_OF_TIME * self.time.unwrap_or(0.0),
        );
        let mut widths: Vec<(f64, &str)> = self
            .items
            .iter()
            .filter_map(|item| Some((item.added?.half_width(), item.name.as_str())))
            .collect();
        widths.sort_by(|a, b| b.0.total_cmp(&a.0));

        // Errors add up as squares: from the least known on, until the others alone are known well.
        let mut left: f64 = widths.iter().map(|(width, _)| width * width).sum();
        let mut vague = Vec::new();
        for (width, call) in widths {
            if left <= wanted * wanted {
                break;
            }
            left -= width * width;
            vague.push(call);
        }
        vague
    }

    /// A time in ns as a share of an execution, in per cent.
    pub fn percent(&self, ns: Estimate) -> Option<Estimate> {
        self.time.map(|time| ns.scaled(100.0 / time))
    }
}

/// The prices under a condition that a run found, by test: those of one copy, without a load, whose
/// interval is known.
fn count_prices<'a>(
    cost: &'a Cost,
    condition: &'a str,
) -> impl Iterator<Item = (String, CountPrice)> + 'a {
    time_effects(cost, condition).filter_map(|effect| {
        let Effect { comparison, calls, .. } = effect;
        let key = &comparison.cell.key;
        let is_plain = key.copies == 1 && key.load == NONE;
        if comparison.cell.is_of_command() || !is_plain || !comparison.delta.bounded() {
            return None;
        }
        let price = CountPrice { ns: added_ns(comparison), calls: calls.unwrap_or(1.0) };
        Some((key.test.clone(), price))
    })
}

/// The tests that the price of a call is made of: its own, and those of the calls that this test
/// makes as well.
pub fn price_tests(call: &str, catalogue: &Catalogue) -> Vec<String> {
    let Some(test) = test_of_call(call, catalogue) else { return Vec::new() };
    let others = test.beside.iter().filter_map(|other| test_of_call(other, catalogue));
    others.chain([test]).map(|test| test.id.clone()).collect()
}

/// The effects of a condition on time.
fn time_effects<'a>(cost: &'a Cost, condition: &'a str) -> impl Iterator<Item = &'a Effect> {
    let conditions = cost.conditions.iter().filter(move |one| one.name == condition);
    let effects = conditions.flat_map(|condition| &condition.effects);
    effects.filter(|effect| effect.comparison.measure == Measure::Score)
}

/// The test of the catalogue that has the price of a call.
fn test_of_call<'a>(call: &str, catalogue: &'a Catalogue) -> Option<&'a Test> {
    let mut tests = catalogue.tests.iter().map(|test| &**test);
    tests.find(|test| test.prices.iter().any(|priced| priced == call))
}

/// The counts with the ends of processes: of the command, and of each that it started.
fn with_ends(counts: &BTreeMap<String, Range>) -> BTreeMap<String, Range> {
    let mut ends = Range { low: 1, high: 1 };
    for started in STARTING_CALLS.iter().filter_map(|call| counts.get(*call)) {
        ends.low += started.low;
        ends.high += started.high;
    }
    let mut counts = counts.clone();
    counts.insert(ENDING_CALL.to_owned(), ends);
    counts
}

/// The time that one count takes, in ns, where the cell's figure is `value`.
fn to_ns(cell: &Cell, value: f64) -> f64 {
    if cell.metric == Metric::Rate {
        return 1e9 * cell.timebase * cell.scale / value;
    }
    let ns = match cell.unit.as_str() {
        "ms" => 1e6,
        "us" => 1e3,
        "s" => 1e9,
        _ => 1.0,
    };
    ns * value
}

/// The time that a condition adds to a count, in ns.
fn added_ns(comparison: &Comparison) -> Estimate {
    let before = to_ns(&comparison.cell, comparison.a);
    inverse(comparison.delta).scaled(before / 100.0)
}

/// The weighted sum of independent estimates: the halves of their intervals add up as squares.
fn weighted_sum(terms: impl Iterator<Item = (f64, Estimate)>) -> Estimate {
    let mut value = 0.0;
    let mut squares_below = 0.0;
    let mut squares_above = 0.0;
    for (weight, term) in terms {
        value += weight * term.value;
        // A negative weight swaps the ends.
        let ends = [term.low - term.value, term.high - term.value].map(|half| weight * half);
        squares_below += ends[0].min(ends[1]).powi(2);
        squares_above += ends[0].max(ends[1]).powi(2);
    }
    Estimate { value, low: value - squares_below.sqrt(), high: value + squares_above.sqrt() }
}

/// The sum of counts times prices, at the middle of each range of counts; the ends of the ranges
/// widen the interval.
fn price_of_counts(items: &[(Range, Estimate)]) -> Estimate {
    let terms = items.iter().map(|(count, price)| {
        let middle = (count.low as f64 + count.high as f64) / 2.0;
        (middle, *price)
    });
    let Estimate { value, low, high } = weighted_sum(terms);

    let halves = items
        .iter()
        .map(|(count, price)| (count.high - count.low) as f64 / 2.0 * price.value.abs());
    let half: f64 = halves.sum();
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
        let price = |(test, ns, half, calls): &(&str, f64, f64, f64)| {
            ((*test).to_owned(), CountPrice { ns: plus(*ns, *half), calls: *calls })
        };
        PriceList(prices.iter().map(price).collect())
    }

    fn counts(all: &[(&str, u64, u64)]) -> BTreeMap<String, Range> {
        all.iter()
            .map(|(name, low, high)| ((*name).to_owned(), Range { low: *low, high: *high }))
            .collect()
    }

    fn is_near(found: Estimate, wanted: [f64; 3]) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.abs().max(1.0);
        near(found.value, wanted[0]) && near(found.low, wanted[1]) && near(found.high, wanted[2])
    }

    #[test]
    fn a_price_is_that_of_a_call_without_those_beside_it() {
        let prices = list(&[
            ("call-dup", 40.0, 6.0, 2.0),
            ("call-open", 120.0, 4.0, 2.0),
            ("call-mmap", 50.0, 2.0, 2.0),
        ]);
        let price = |name: &str| prices.price(name, &catalogue());
        assert!(is_near(price("close").unwrap(), [20.0, 17.0, 23.0]));
        // Open and close take 120 ns, close alone 20: ±√(4² + 3²).
        assert!(is_near(price("openat").unwrap(), [100.0, 95.0, 105.0]));
        assert!(is_near(price("munmap").unwrap(), [25.0, 24.0, 26.0]));
        assert_eq!((price("getpid"), price("no_such_call")), (None, None));
        assert_eq!(
            list(&[("call-open", 120.0, 4.0, 2.0)]).price("openat", &catalogue()),
            None,
            "close has no price"
        );
    }

    #[test]
    fn a_bill_is_the_sum_of_its_items_with_errors_as_squares_and_ranges_at_their_ends() {
        let prices = list(&[
            ("call-read", 10.0, 0.3, 1.0),
            ("call-write", 20.0, 0.4, 1.0),
            ("page-fault", -1.0, 0.0, 1.0),
        ]);
        let made = counts(&[
            ("read", 10, 10),
            ("write", 8, 12),
            ("faults", 4, 6),
            ("io_uring_enter", 7, 7),
        ]);
        let bill = Prediction::new(["seccomp", "none"], &prices, &made, &catalogue());
        let names: Vec<&str> = bill.items.iter().map(|item| item.name.as_str()).collect();
        // What has no price is there with its number, and after what has one.
        assert_eq!(names, ["write", "read", "faults", "io_uring_enter", "exit_group"]);
        assert!(bill.items[3].added.is_none() && bill.items[3].count == Range { low: 7, high: 7 });
        // 10 · 10 + 10 · 20 − 5; ±√(3² + 4²), and 2 · 20 + 1 · 1 of the ranges.
        assert!(
            is_near(bill.total.unwrap(), [295.0, 295.0 - 5.0 - 41.0, 295.0 + 5.0 + 41.0]),
            "{:?}",
            bill.total
        );
        let parts: f64 =
            bill.items.iter().filter_map(|item| item.added).map(|added| added.value).sum();
        assert!((parts - bill.total.unwrap().value).abs() < 1e-9, "{parts}");
    }

    #[test]
    fn a_bill_without_a_price_predicts_nothing() {
        let made = counts(&[("read", 10, 10)]);

        let bill = Prediction::new(["a", "b"], &PriceList::default(), &made, &catalogue());

        assert_eq!(bill.total, None);
        assert!(bill.vague_calls().is_empty());
    }

    #[test]
    fn the_least_known_calls_are_named_until_the_others_are_known_well() {
        let made = counts(&[("read", 10, 10), ("write", 10, 10), ("getpid", 10, 10)]);
        let bill = |read: f64, write: f64| {
            let prices = list(&[
                ("call-read", 10.0, read, 1.0),
                ("call-write", 20.0, write, 1.0),
                ("call-getpid", 1.0, 0.01, 1.0),
            ]);
            Prediction::new(["a", "b"], &prices, &made, &catalogue())
        };

        // The total is 310 ns: known to 31 ns it is known well.
        assert_eq!(bill(0.5, 5.0).vague_calls(), ["write"]);
        assert_eq!(bill(5.0, 4.0).vague_calls(), ["read", "write"]);
        assert!(bill(2.0, 2.0).vague_calls().is_empty());
        let long = Prediction { time: Some(10_000.0), ..bill(5.0, 4.0) };
        assert!(long.vague_calls().is_empty());
    }

    #[test]
    fn every_process_ends_once_also_the_command_itself() {
        let prices = list(&[("call-fork", 30.0, 0.0, 3.0)]);
        let made = counts(&[("vfork", 1, 2), ("clone", 3, 3), ("wait4", 4, 5)]);
        let bill = Prediction::new(["a", "b"], &prices, &made, &catalogue());
        let ends = bill.items.iter().find(|item| item.name == ENDING_CALL).unwrap();
        assert_eq!(ends.count, Range { low: 5, high: 6 });
        let all: u64 = bill.items.iter().map(|item| item.count.low).sum();
        assert_eq!(all, 1 + 3 + 4 + 5);
    }

    #[test]
    fn the_tests_to_be_measured_are_those_of_what_was_made_and_of_what_is_beside_it() {
        let missing = |prices: &PriceList, made| {
            prices.missing(&counts(made), &catalogue()).into_iter().collect::<Vec<String>>()
        };
        let made: &[_] = &[("openat", 1, 1), ("no_such_call", 1, 1)];
        assert_eq!(missing(&PriceList::default(), made), ["call-dup", "call-fork", "call-open"]);
        assert_eq!(
            missing(&list(&[("call-dup", 1.0, 0.0, 2.0)]), made),
            ["call-fork", "call-open"]
        );
    }

    #[test]
    fn what_is_measured_stands_beside_it_with_the_rest() {
        let total = plus(300.0, 3.0);
        let prediction = Prediction {
            condition: "a".to_owned(),
            against: "none".to_owned(),
            items: Vec::new(),
            total: Some(total),
            time: Some(10_000.0),
            measured: Some(plus(320.0, 4.0)),
        };
        assert!(is_near(prediction.rest().unwrap(), [20.0, 15.0, 25.0]));
        assert!(is_near(prediction.percent(total).unwrap(), [3.0, 2.97, 3.03]));
        let alone = Prediction { time: None, measured: None, ..prediction };
        assert_eq!((alone.rest(), alone.percent(total)), (None, None));
    }
}
