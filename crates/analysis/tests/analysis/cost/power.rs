//! What `unixmark doctor --power` says is so: of made-up runs on the machine that it looked at.

use analysis::{Power, Price, Results};
use catalogue::Catalogue;
use journal::View;

use super::made::{Machine, Made, Order};

/// What the third equal arm and the planted losses are called.
const ARMS: [&str; 5] =
    ["none", "arg:slowed=0.01", "arg:slowed=2", "arg:slowed=5", "arg:slowed=10"];

fn loss(condition: &str) -> f64 {
    let percent: f64 =
        condition.strip_prefix("arg:slowed=").map_or(0.0, |text| text.parse().unwrap());
    (1.0 - percent / 100.0).ln()
}

fn power(seed: u64, noise: f64, blocks: u32) -> Power {
    let mut made = Made { every: 1, ..Made::new(3, &ARMS) };
    made.journal.run.view = View::Power;
    let mut machine = Machine { kept: 0.0, ..Machine::new(seed, noise) };
    made.measure(&mut machine, 0..blocks, Order::Tests, |cell| loss(&cell.key.condition));
    let results = Results::new(&made.journal, &Catalogue::load().unwrap(), None);
    results.power().unwrap().clone()
}

/// Equal arms are seldom called; larger losses are found more often, and measured as they are.
#[test]
fn what_is_planted_is_found() {
    let found: Vec<Power> = (0..10).map(|seed| power(seed, 0.04, 12)).collect();
    let mean = |of: &dyn Fn(&Power) -> f64| stats::mean(found.iter().map(of));
    assert!(mean(&|one| one.reports) < 0.07, "{}", mean(&|one| one.reports));
    let shares: Vec<f64> = (0..3).map(|size| mean(&|one| one.planted[size].found)).collect();
    assert!(shares[0] < shares[1] && shares[1] < shares[2] && shares[2] > 0.8, "{shares:?}");
    for (size, percent) in [2.0, 5.0, 10.0].into_iter().enumerate() {
        let measured = mean(&|one| one.planted[size].measured);
        assert!((measured + percent).abs() < 1.0, "{percent}: {measured}");
    }
}

/// As many blocks as it asks for show a difference in four of five comparisons: nine of ten such
/// claims hold, where few blocks are enough and where many are needed.
#[test]
fn what_it_asks_for_is_enough() {
    let catalogue = Catalogue::load().unwrap();
    let tries = 20;
    for noise in [0.025, 0.05] {
        let of_tests =
            (0..4).flat_map(|seed| power(seed, noise, 12).tests).map(|need| need.sizes[2]);
        let shown = |(claim, price): (u64, Price)| {
            assert!(price.percent == 5.0 && price.blocks >= 7 && price.seconds > 0.0, "{price:?}");
            let is_shown = |attempt: &u64| {
                let mut made = Made::new(1, &["none", "arg:slowed=5"]);
                let mut machine =
                    Machine { kept: 0.0, ..Machine::new(1000 + 100 * claim + attempt, noise) };
                made.measure(&mut machine, 0..price.blocks, Order::Tests, |cell| {
                    loss(&cell.key.condition)
                });
                made.cost(&catalogue).conditions[0].effects[0].comparison.delta.high < 0.0
            };
            (price.blocks, (0..tries).filter(is_shown).count())
        };
        let found: Vec<(u32, usize)> = (0..).zip(of_tests).map(shown).collect();
        let kept = found.iter().filter(|(_, shown)| *shown >= 16).count();
        let always = found.iter().all(|(_, shown)| *shown == 20);
        assert!(
            found.len() == 12 && kept >= 11 && !always,
            "noise {noise}, blocks and how many of 20 show it: {found:?}"
        );
    }
}

/// Runs without equal arms say nothing.
#[test]
fn without_its_arms_there_is_nothing() {
    let mut made = Made::new(1, &["none", "arg:slowed=5"]);
    made.journal.run.view = View::Power;
    made.measure(&mut Machine::new(1, 0.04), 0..12, Order::Tests, |_| 0.0);
    assert!(Results::new(&made.journal, &Catalogue::load().unwrap(), None).power().is_none());
}
