//! The report of fleets: what is named is seen, large fleets stay readable, hostile names stay
//! text.

use ::fleet::{Entry, Fleet, State};
use ::journal::{Fact, NodeId};
use analysis::Summary;
use analysis::fleet::{Asked, By, Delivered, FleetReport};
use catalogue::Catalogue;
use rand::{RngExt, SeedableRng};
use report::{Format, Subject};
use testing::page::check;

/// What a recorded run came to on a node whose figures are `factor` times those, give or take 1 %.
fn summary(recorded: &Summary, rng: &mut rand_pcg::Pcg64Mcg, factor: f64) -> Summary {
    let mut summary = recorded.clone();
    for figure in &mut summary.figures {
        // The sum of twelve is as good as normal.
        let noise = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        let times = factor * (0.01 * noise).exp();
        for number in [&mut figure.score.value, &mut figure.score.low, &mut figure.score.high] {
            *number *= times;
        }
        figure.samples.iter_mut().for_each(|sample| sample.value *= times);
    }
    summary
}

fn recorded() -> Summary {
    Summary::new(
        &journal::read(&testing::recorded("index")).unwrap(),
        &Catalogue::load().unwrap(),
        0,
    )
}

/// The page of a fleet with these nodes, whose factors are those in `slow`, or 1.
fn page(names: &[String], slow: &[(usize, f64)], groups: usize) -> String {
    rendered(names, slow, groups, Format::Html)
}

/// The report of such a fleet with one more node, which delivered nothing.
pub fn rendered(names: &[String], slow: &[(usize, f64)], groups: usize, format: Format) -> String {
    report_of(&recorded(), names, slow, groups, format)
}

/// The same of another recorded run.
fn report_of(
    recorded: &Summary,
    names: &[String],
    slow: &[(usize, f64)],
    groups: usize,
    format: Format,
) -> String {
    let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(7);
    let mut summaries = Vec::new();
    for place in 0..names.len() {
        let factor = slow.iter().find(|one| one.0 == place).map_or(1.0, |one| one.1);
        let mut summary =
            summary(recorded, &mut rng, factor * (1.0 + 0.2 * (place % groups) as f64));
        let fact = |name: &str, value: String| {
            Fact::from_text(name.into(), name.into(), "Processor".into(), value)
        };
        ["cpu.model", "cpu.microcode"].iter().for_each(|name| summary.facts.remove(name));
        summary.facts.push(fact("cpu.model", format!("Processor {}", place % groups)));
        summary.facts.push(fact(
            "cpu.microcode",
            if factor == 1.0 { "0x1f".to_owned() } else { "0x1e <b>".to_owned() },
        ));
        summaries.push(summary);
    }
    let id = |name: &String| NodeId { node: name.clone(), task: String::new() };
    let ids: Vec<NodeId> = names.iter().map(id).collect();
    let delivered: Vec<Delivered<'_>> = ids
        .iter()
        .zip(&summaries)
        .map(|(id, summary)| Delivered { id, name: &id.node, whole: true, summary })
        .collect();
    let asked = Asked { by: By::Machine, threshold: 3.0 };
    let report = FleetReport::new("night <i>", &delivered, None, &asked).unwrap();
    let gone = Entry {
        id: NodeId { node: "gone".to_owned(), task: "0".to_owned() },
        state: State::Missing,
        reason: Some("it never started, <b>".to_owned()),
        notes: Vec::new(),
        attempt: None,
        journal: None,
        summary: None,
    };
    let fleet = Fleet { run: "night".to_owned(), entries: vec![gone] };
    report::render(Subject::Fleet(&fleet, &report), format).unwrap()
}

/// imports item 26: a test of 22 µs whose unit is the second.
#[test]
fn small_times_have_a_unit_in_which_they_have_figures() {
    let mut recorded = recorded();
    recorded.figures.truncate(1);
    let figure = &mut recorded.figures[0];
    figure.cell.unit = "s".to_owned();
    for number in [&mut figure.score.value, &mut figure.score.low, &mut figure.score.high] {
        *number = 2.2e-5;
    }

    let text = report_of(&recorded, &names(8), &[(5, 0.5)], 1, Format::Text);
    let json = report_of(&recorded, &names(8), &[(5, 0.5)], 1, Format::Json);

    assert!(text.contains(", µs "), "{text}");
    assert!(text.contains(" 22.") || text.contains(" 21."), "{text}");
    assert!(!text.contains("e-5"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["columns"][0]["unit"], "s");
    let typical = json["columns"][0]["typical"].as_f64().unwrap();
    assert!((2e-5..2.4e-5).contains(&typical), "{typical}");
}

pub fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("node{number:04}")).collect()
}

#[test]
fn a_slow_node_is_seen() {
    let html = page(&names(16), &[(5, 0.85)], 1);
    check(&html);
    assert!(html.contains(r#"<tr class="strong"><th scope="row">node0005</th>"#));
    // In the map; the other rows of that class would be of other nodes.
    assert_eq!(html.matches(r#"<tr class="strong">"#).count(), 1);
}

#[test]
fn a_large_fleet_stays_readable() {
    let slow: Vec<(usize, f64)> =
        (0..9).map(|number| (number * 97 + 3, 0.9 - 0.01 * number as f64)).collect();
    let html = page(&names(1000), &slow, 3);
    check(&html);
    assert!(html.len() < 2_000_000, "{}", html.len());
}

#[test]
fn names_stay_text() {
    let mut names = names(8);
    names[1] = "<script>alert(1)</script>".to_owned();
    names[2] = "a\"b' onload=x\u{202e}\u{1b}[31m".to_owned();
    names[3] = "n".repeat(500);
    names[4] = String::new();
    let html = page(&names, &[(1, 0.8), (2, 0.8)], 1);
    check(&html);
    assert!(!html.contains("<script") && !html.contains("<i>") && !html.contains("<b>\u{3c}"));
    assert!(!html.contains('\u{202e}') && !html.contains('\u{1b}'));
}
