//! Which nodes of a fleet are slow, by simulation.

use std::collections::BTreeSet;

use analysis::fleet::{Asked, By, Delivered, FleetReport, Named};
use analysis::{Energy, Summary};
use journal::NodeId;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::{Value, json};
use stats::Estimate;
use testing::normal;

const TESTS: usize = 12;

/// How nodes differ.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Tails {
    Normal,
    /// Student's t with five degrees of freedom.
    Heavy,
}

impl Tails {
    fn draw(self, random: &mut Pcg64Mcg) -> f64 {
        let number = normal(random);
        match self {
            Tails::Normal => number,
            Tails::Heavy => {
                let squares: f64 = (0..5).map(|_| normal(random).powi(2)).sum();
                number / (squares / 5.0).sqrt()
            }
        }
    }
}

/// A run's summary with these figures: value and standard error of the logarithm.
fn summary(figures: &[(f64, f64)], facts: &[(&str, &str)]) -> Summary {
    let figure = |(test, (log, error)): (usize, &(f64, f64))| {
        let cell = json!({
            "id": test, "test": format!("t{test}"), "label": format!("Test {test}"), "copies": 1, "load": "none",
            "condition": "none", "metric": if test % 3 == 2 { "time" } else { "rate" }, "unit": "lps",
            "timebase": 1.0, "scale": 1.0, "category": "system",
        });
        let (value, factor) = (turned(test, *log), (1.96 * error).exp());
        json!({"cell": cell, "n": 6, "score": {"value": value, "low": value / factor, "high": value * factor}})
    };
    let fact = |(name, value): &(&str, &str)| json!({"name": name, "label": name, "group": "System", "value": value});
    serde_json::from_value(json!({
        "format": "unixmark-summary/2", "made_by": "unixmark 0", "journal_bytes": 1, "end": "complete", "seconds": 1.0,
        "trials": 1, "indexes": [], "skipped": [], "errors": [],
        "run": {"format": "unixmark-run/1", "name": "r", "host": "h", "tool": "unixmark 0", "started": "", "seed": 1,
            "procedure": "standard", "arguments": [], "cpus": 2},
        "facts": facts.iter().map(fact).collect::<Vec<Value>>(),
        "figures": figures.iter().enumerate().map(figure).collect::<Vec<Value>>(),
    }))
    .unwrap()
}

/// Every third test is a time: less is better.
fn turned(test: usize, log: f64) -> f64 {
    1000.0 * (if test % 3 == 2 { -log } else { log }).exp()
}

/// Nodes n0, n1, ….
fn names(count: usize) -> Vec<NodeId> {
    (0..count).map(|node| NodeId { node: format!("n{node}"), task: String::new() }).collect()
}

fn report(summaries: &[Summary], by: By) -> FleetReport {
    let names = names(summaries.len());
    let delivered: Vec<Delivered<'_>> = names
        .iter()
        .zip(summaries)
        .map(|(id, summary)| Delivered { id, name: &id.node, whole: true, summary })
        .collect();
    FleetReport::new("night", &delivered, None, &Asked { by, threshold: 3.0 }).unwrap()
}

fn slow(report: &FleetReport) -> BTreeSet<String> {
    report.slow().into_iter().map(|(node, _)| report.nodes[node].name.clone()).collect()
}

fn named(report: &FleetReport) -> BTreeSet<String> {
    report.outliers.iter().map(|one| report.nodes[one.node].name.clone()).collect()
}

/// A fleet whose nodes differ by 1 to 2 % with what measuring adds (six trials each); of a noisy
/// one every seventh node is measured six times worse. The first `planted` nodes are 10 % slow.
fn fleet(
    random: &mut Pcg64Mcg,
    nodes: usize,
    tails: Tails,
    noisy: bool,
    planted: usize,
) -> Vec<Summary> {
    let tests: Vec<(f64, f64)> = (0..TESTS)
        .map(|_| (0.008 + 0.008 * random.random::<f64>(), 0.003 + 0.007 * random.random::<f64>()))
        .collect();
    (0..nodes)
        .map(|node| {
            let times = if noisy && random.random::<f64>() < 0.15 { 6.0 } else { 1.0 };
            let figures: Vec<(f64, f64)> = tests
                .iter()
                .map(|(between, within)| {
                    let trials: Vec<f64> =
                        (0..6).map(|_| within * times * 6.0_f64.sqrt() * normal(random)).collect();
                    let mean = trials.iter().sum::<f64>() / 6.0;
                    let variance = trials.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 5.0;
                    let loss = if node < planted { 0.9_f64.ln() } else { 0.0 };
                    (between * tails.draw(random) + mean + loss, (variance / 6.0).sqrt())
                })
                .collect();
            summary(&figures, &[])
        })
        .collect()
}

#[test]
fn a_fleet_without_a_slow_node_names_nobody() {
    let mut random = Pcg64Mcg::seed_from_u64(71);
    for (nodes, times) in [(5, 120), (8, 120), (16, 100), (64, 40), (1000, 4)] {
        let times = testing::simulated(times);
        for tails in [Tails::Normal, Tails::Heavy] {
            for noisy in [false, true] {
                let wrong = (0..times)
                    .filter(|_| {
                        !named(&report(&fleet(&mut random, nodes, tails, noisy, 0), By::Nothing))
                            .is_empty()
                    })
                    .count();
                let share = wrong as f64 / times as f64;
                assert!(
                    testing::allowed(0.0..0.051).contains(&share),
                    "{nodes} nodes, {tails:?}, noisy {noisy}: {wrong} of {times}"
                );
            }
        }
    }
}

/// All of the slow ones are named, and hardly ever another.
#[test]
fn slow_nodes_are_named_among_honest_ones() {
    let mut random = Pcg64Mcg::seed_from_u64(72);
    for (nodes, planted, times) in
        [(8, 1, 60), (16, 1, 60), (16, 3, 60), (64, 1, 20), (64, 8, 20), (1000, 3, 3)]
    {
        let wanted: BTreeSet<String> = (0..planted).map(|node| format!("n{node}")).collect();
        let (mut found, mut others) = (0, 0);
        for _ in 0..times {
            let slow = slow(&report(
                &fleet(&mut random, nodes, Tails::Normal, false, planted),
                By::Nothing,
            ));
            found += usize::from(wanted.is_subset(&slow));
            others += usize::from(!slow.is_subset(&wanted));
        }
        assert!(found * 10 >= times * 9, "{planted} of {nodes}: found in {found} of {times}");
        assert!(others * 5 <= times, "{planted} of {nodes}: others in {others} of {times}");
    }
}

/// A fleet of equal speeds whose nodes' energies differ by 1.5 % in each test; the first takes so
/// many times as much.
fn with_energy(random: &mut Pcg64Mcg, nodes: usize, more: f64) -> Vec<Summary> {
    let mut summaries = fleet(random, nodes, Tails::Normal, false, 0);
    for (node, summary) in summaries.iter_mut().enumerate() {
        let times = if node == 0 { more } else { 1.0 };
        let source = journal::Fact::from_text(
            "run.energy".into(),
            "Energy".into(),
            "Run".into(),
            "meter".into(),
        );
        summary.facts.push(source);
        for figure in &mut summary.figures {
            let log = 0.015 * normal(random);
            let about =
                |middle: f64| Estimate { value: middle, low: middle * 0.99, high: middle * 1.01 };
            let per_operation = Some(about(0.2 * times * log.exp()));
            let energy =
                Energy { watts: about(200.0 * times), per_operation, n: 6, trials: Vec::new() };
            figure.energy = Some(Box::new(energy));
        }
    }
    summaries
}

fn hungry(report: &FleetReport) -> BTreeSet<String> {
    let named = report.taken().into_iter().filter(|(_, taken)| taken.named == Some(Named::Slow));
    named.map(|(node, _)| node.name.clone()).collect()
}

#[test]
fn the_node_that_takes_more_energy_is_named_and_no_other() {
    let mut random = Pcg64Mcg::seed_from_u64(75);
    for (nodes, times) in [(8, 40), (16, 40), (64, 10)] {
        let (mut found, mut wrong) = (0, 0);
        for _ in 0..times {
            let planted = report(&with_energy(&mut random, nodes, 1.1), By::Nothing);
            found += usize::from(hungry(&planted) == BTreeSet::from(["n0".to_owned()]));
            let (first, taken) = planted.taken()[0];
            assert_eq!((first.name.as_str(), taken.watts.round()), ("n0", 220.0));
            let Estimate { value, low, high } = taken.excess;
            assert!(low < value && value < high && (value - 10.0).abs() < 3.0, "{taken:?}");
            let alike = report(&with_energy(&mut random, nodes, 1.0), By::Nothing);
            wrong += usize::from(alike.taken().iter().any(|(_, taken)| taken.named.is_some()));
        }
        assert!(found * 10 >= times * 9, "{nodes} nodes: named in {found} of {times}");
        assert!(wrong * 10 <= times, "{nodes} nodes alike: named in {wrong} of {times}");
    }
}

#[test]
fn energy_does_not_change_what_is_slow() {
    let mut random = Pcg64Mcg::seed_from_u64(76);
    let mut summaries = with_energy(&mut random, 8, 1.3);
    let with = report(&summaries, By::Nothing);
    assert_eq!((with.taken().len(), slow(&with).len()), (8, 0));
    // Of another source, one alone has nobody to be compared with; without any, nothing is said.
    summaries[0].facts.remove("run.energy");
    let own = journal::Fact::from_text(
        "run.energy".into(),
        "Energy".into(),
        "Run".into(),
        "hwmon: power1".into(),
    );
    summaries[0].facts.push(own);
    let apart = report(&summaries, By::Nothing);
    assert!(
        hungry(&apart).is_empty()
            && apart.taken().iter().all(|(_, taken)| taken.excess.value.abs() < 5.0)
    );
    for figure in summaries.iter_mut().flat_map(|summary| &mut summary.figures) {
        figure.energy = None;
    }
    let without = report(&summaries, By::Nothing);
    assert!(without.taken().is_empty());
    assert_eq!(with.outliers, without.outliers);
}

#[test]
fn a_single_test_is_told() {
    let mut random = Pcg64Mcg::seed_from_u64(73);
    let mut summaries = fleet(&mut random, 40, Tails::Normal, false, 0);
    let figures: Vec<(f64, f64)> =
        (0..TESTS).map(|test| (if test == 4 { -0.2 } else { 0.0 }, 0.004)).collect();
    summaries[7] = summary(&figures, &[]);
    let report = report(&summaries, By::Nothing);
    let worst = report.outliers.first().unwrap();
    assert_eq!(
        (report.nodes[worst.node].name.as_str(), worst.column, worst.named),
        ("n7", Some(4), Named::Slow)
    );
    assert!(
        (worst.deviation.value + 18.1).abs() < 1.5 && worst.deviation.low < worst.deviation.value,
        "{worst:?}"
    );
    // Over all it is one twelfth of that: below the threshold.
    assert_eq!(report.nodes[worst.node].named, None);
}

#[test]
fn variation_is_split() {
    let mut random = Pcg64Mcg::seed_from_u64(74);
    let facts = |node: usize| [("cpu.model", if node < 60 { "old" } else { "new" })];
    let summaries: Vec<Summary> = (0..120)
        .map(|node| {
            let group = if node < 60 { -0.05 } else { 0.05 };
            let figures: Vec<(f64, f64)> = (0..TESTS)
                .map(|_| (group + 0.02 * normal(&mut random) + 0.01 * normal(&mut random), 0.01))
                .collect();
            summary(&figures, &facts(node))
        })
        .collect();
    let report = report(&summaries, By::Machine);
    assert_eq!(report.groups.iter().map(|group| group.nodes).collect::<Vec<_>>(), [60, 60]);
    let ratio = report.groups[0].overall.unwrap() / report.groups[1].overall.unwrap();
    assert!((ratio.ln().abs() - 0.1).abs() < 0.01, "{:?}", report.groups);
    let mean = |of: &dyn Fn(usize) -> f64| (0..TESTS).map(of).sum::<f64>() / TESTS as f64;
    let between = mean(&|column| report.columns[column].spread.between);
    let groups = mean(&|column| report.columns[column].spread.groups.unwrap());
    assert!((between - 2.0).abs() < 0.3, "{between}");
    // Two groups at ±0.05: a standard deviation of 0.0707.
    assert!((groups - 7.3).abs() < 0.5, "{groups}");
}

#[test]
fn what_slow_nodes_have_in_common_is_told_and_what_every_node_has_alone_is_not() {
    let mut random = Pcg64Mcg::seed_from_u64(75);
    let mut summaries = fleet(&mut random, 30, Tails::Normal, false, 3);
    for (node, summary) in summaries.iter_mut().enumerate() {
        let mut add = |name: &str, value: String| {
            let fact = json!({"name": name, "label": name, "group": "System", "value": value});
            summary.facts.push(serde_json::from_value(fact).unwrap());
        };
        add("system.host", format!("h{node}"));
        add("cpu.microcode", if node < 3 || node == 9 { "0x1" } else { "0x2" }.to_owned());
        add("kernel.release", format!("6.{}", node % 3));
        add("system.uptime", format!("{} days", if node < 3 { 400 + node } else { node }));
    }
    let report = report(&summaries, By::Nothing);
    assert_eq!(slow(&report).len(), 3);
    let traits: Vec<(&str, &str)> =
        report.traits.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
    assert_eq!(
        traits,
        [("cpu.microcode", "0x1"), ("system.uptime", "at least 26 days")],
        "{:?}",
        report.traits
    );
    let first = &report.traits[0];
    assert_eq!((first.slow_with, first.slow, first.others_with, first.others), (3, 3, 1, 27));
    // (4 choose 3) of (30 choose 3).
    assert!((first.p - 4.0 / 4060.0).abs() < 1e-9, "{}", first.p);
    let host = report.differing.iter().find(|fact| fact.name == "system.host").unwrap();
    assert_eq!((host.distinct, host.values.len()), (30, 12));
}

#[test]
fn groups_are_by_any_fact_and_small_ones_name_nobody() {
    let nodes = |count: usize, model: &str, log: f64| -> Vec<Summary> {
        (0..count)
            .map(|node| {
                let log = log + 0.001 * node as f64;
                let figures =
                    if node == 0 { vec![(log - 0.5, 0.001); 3] } else { vec![(log, 0.001); 3] };
                summary(&figures, &[("cpu.model", model), ("kernel.release", "6.1")])
            })
            .collect()
    };
    let summaries = [nodes(9, "big", 0.0), nodes(4, "small", -1.0)].concat();
    let by_machine = report(&summaries, By::Machine);
    assert_eq!(slow(&by_machine), BTreeSet::from(["n0".to_owned()]));
    assert_eq!(
        by_machine.groups.iter().map(|group| (group.nodes, group.judged)).collect::<Vec<_>>(),
        [(9, true), (4, false)]
    );
    assert!(
        by_machine.notes.iter().any(|note| note.contains("fewer than 5 nodes")),
        "{:?}",
        by_machine.notes
    );
    let by_kernel = report(&summaries, By::Fact("kernel.release".to_owned()));
    assert_eq!(by_kernel.groups.len(), 1);
    // Without groups the small machines are far off, each of them.
    assert_eq!(slow(&report(&summaries, By::Nothing)).len(), 5);
    let id = &NodeId::default();
    let delivered = [Delivered { id, name: "n", whole: true, summary: &summaries[0] }];
    let asked = Asked { by: By::Fact("kernel.releas".to_owned()), threshold: 3.0 };
    let error = FleetReport::new("night", &delivered, None, &asked).unwrap_err().to_string();
    assert!(error.contains("did you mean 'kernel.release'"), "{error}");
}

#[test]
fn two_fleet_runs_are_compared_by_node() {
    let mut random = Pcg64Mcg::seed_from_u64(76);
    let own: Vec<f64> = (0..20).map(|_| 0.1 * normal(&mut random)).collect();
    let mut run = |gain: f64, strange: Option<usize>, kernel: &str| -> Vec<Summary> {
        own.iter()
            .enumerate()
            .map(|(node, own)| {
                let loss = if strange == Some(node) { -0.15 } else { 0.0 };
                let figures: Vec<(f64, f64)> = (0..TESTS)
                    .map(|test| {
                        let gain = if test == 1 { gain } else { 0.0 };
                        (own + loss + gain + 0.005 * normal(&mut random), 0.004)
                    })
                    .collect();
                summary(&figures, &[("kernel.release", kernel)])
            })
            .collect()
    };
    let (before, after) = (run(0.0, None, "6.1"), run(-0.08, Some(11), "6.2"));
    let names = names(21);
    let mut after = after;
    after[3].run.tool = "unixmark 1".to_owned();
    // One node left, another came.
    let of = |summaries: &'static [Summary], from: usize| -> Vec<Delivered<'static>> {
        let names: &'static [NodeId] = Box::leak(names.clone().into_boxed_slice());
        let summaries = summaries.iter().enumerate();
        let id = |place: usize| &names[place + from];
        let node = |(place, summary)| Delivered {
            id: id(place),
            name: &id(place).node,
            whole: true,
            summary,
        };
        summaries.map(node).collect()
    };
    let (before, after) = (
        of(before.leak(), 0),
        of([after.clone(), vec![after[0].clone()]].concat()[1..].to_vec().leak(), 1),
    );
    let asked = Asked { by: By::Nothing, threshold: 3.0 };
    let report = FleetReport::new("after", &after, Some(("before", &before)), &asked).unwrap();
    let against = report.against.as_ref().unwrap();
    assert!(
        report.warnings.iter().any(|warning| warning.contains("another version of the tool")),
        "{:?}",
        report.warnings
    );
    assert_eq!(
        (against.pairs, &against.only_before[..], &against.only_after[..]),
        (19, &["n0".to_owned()][..], &["n20".to_owned()][..])
    );
    let words: Vec<&str> = against.changes.iter().map(|change| change.verdict.word()).collect();
    let column = |column: usize| {
        against.changes.iter().find(|change| change.column == Some(column)).unwrap()
    };
    assert_eq!(
        (column(1).verdict.word(), column(0).verdict.word()),
        ("slower", "same"),
        "{words:?}"
    );
    assert!((column(1).delta.value + 7.7).abs() < 1.0, "{:?}", column(1));
    let strange: BTreeSet<&str> =
        against.unlike.iter().map(|one| report.nodes[one.node].name.as_str()).collect();
    assert_eq!(strange, BTreeSet::from(["n11"]));
    let fact = &against.facts[0];
    assert_eq!(
        (fact.name.as_str(), fact.before.as_str(), fact.after.as_str(), fact.nodes),
        ("kernel.release", "6.1", "6.2", 19)
    );
}
