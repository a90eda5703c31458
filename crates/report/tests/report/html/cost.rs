//! Costs on the page: what was made up as a run, what is very large, and what a hostile journal
//! holds.

use super::html;
use analysis::{Cost, Effect, Findings, Measure, Remark, Results, Verdict};
use catalogue::Catalogue;
use journal::read;
use report::Format;
use stats::Estimate;
use testing::page::{check, text};

fn results() -> Results {
    Results::new(&read(&testing::recorded("cost")).unwrap(), &Catalogue::load().unwrap(), None)
}

fn with(change: impl Fn(&mut Cost)) -> Results {
    let mut results = results();
    let Findings::Cost(cost) = &mut results.findings else { panic!("not about cost") };
    change(cost);
    results
}

fn effects(cost: &mut Cost) -> impl Iterator<Item = &mut Effect> {
    cost.conditions.iter_mut().flat_map(|condition| &mut condition.effects).chain(&mut cost.control)
}

#[test]
fn sentence_tables_and_plots() {
    let results = results();
    let page = html(&results);
    check(&page);
    let text = text(&page);
    let cost = results.cost().unwrap();
    for condition in &cost.conditions {
        assert!(text.contains(&condition.sentence));
        assert!(text.contains(&format!("Cost of {}", condition.name)));
        for proof in &condition.evidence {
            assert!(text.contains(proof), "{proof}");
        }
    }
    for words in [
        "Delta under each condition",
        "Trail of audit=all",
        "One system call under audit=all",
        "Delta by copies",
        "A/A check",
        "Not measured",
    ] {
        assert!(text.contains(words), "{words}");
    }
    // The sentence stands before every table, and what scores would be is in those.
    assert!(page.find("class=\"sentence\"").unwrap() < page.find("<table").unwrap());
    for absent in ["parallel cop", "Index per test", "No index", "Gain from"] {
        assert!(!page.contains(absent), "{absent}");
    }
}

#[test]
fn every_difference_is_in_the_plots() {
    let results = results();
    let page = html(&results);
    let cost = results.cost().unwrap();
    for condition in &cost.conditions {
        let (_, section) = page.split_once(&format!("<h2>Cost of {}<", condition.name)).unwrap();
        let section = section.split("<section").next().unwrap();
        // Rates and times have a drawing each.
        let plots = section.split("class=\"chart wide\"").skip(1);
        let plot: String = plots.map(|plot| plot.split("</svg>").next().unwrap()).collect();
        let controls = plot.matches("A/A control:").count();
        assert_eq!(controls, condition.effects.len());
        assert_eq!(plot.matches("class=\"mark").count(), 2 * controls + condition.totals.len());
        let slower = condition
            .effects
            .iter()
            .filter(|effect| effect.comparison.verdict == Verdict::Slower)
            .count();
        assert!(slower > 0);
        // The verdict is a word and a shape as well as a hue.
        assert_eq!(plot.matches("class=\"mark h1\"").count(), slower);
        assert_eq!(plot.matches(">slower</text>").count(), slower);
    }
}

#[test]
fn a_second_look_and_points_are_told() {
    let results = with(|cost| {
        let effects = &mut cost.conditions[1].effects;
        effects[0].confirmed = Some(true);
        effects[1].confirmed = Some(false);
        let one = &mut effects[2].comparison;
        (one.measure, one.verdict, one.delta) =
            (Measure::Met, Verdict::Worse, Estimate { value: -30.0, low: -31.0, high: -29.0 });
    });
    let page = html(&results);
    check(&page);
    let text = text(&page);
    for words in [
        "slower, twice",
        "slower, once",
        "deadlines met",
        "-30.0pt",
        "a second look at fresh blocks",
    ] {
        assert!(text.contains(words), "{words}");
    }
}

#[test]
fn a_single_condition_without_a_control_has_a_page() {
    let results = with(|cost| {
        cost.conditions.truncate(1);
        cost.control.clear();
        effects(cost).for_each(|effect| effect.floor = None);
    });
    let page = html(&results);
    check(&page);
    let text = text(&page);
    assert!(text.contains(
        "audit=off has no second arm, so nothing shows whether the intervals hold on this machine."
    ));
    assert!(!text.contains("Delta under each condition"));
}

/// One block has no intervals: nothing was checked, and no end of any is infinite.
#[test]
fn one_block_checks_nothing() {
    let mut journal = read(&testing::recorded("cost")).unwrap();
    journal.trials.retain(|trial| trial.block == 0);
    let results = Results::new(&journal, &Catalogue::load().unwrap(), None);
    for format in [Format::Text, Format::Html, Format::Markdown, Format::Commit] {
        let report = report::render(report::Subject::Run(&results), format).unwrap();
        let report = report.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(!report.contains('∞') && !report.contains("inf.."), "{report}");
        assert!(!report.contains("no significant difference"), "{report}");
        assert!(
            format == Format::Commit
                || report.contains("Not checked: audit=off was measured twice"),
            "{report}"
        );
    }
}

#[test]
fn nothing_compared_has_a_page() {
    let results = with(|cost| {
        cost.conditions.iter_mut().for_each(|condition| {
            condition.effects.clear();
            condition.totals.clear();
        });
        cost.control.clear();
    });
    check(&html(&results));
}

#[test]
fn odd_differences_are_drawn_or_left_out() {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -100.0,
        -1e9,
        1e-300,
        1e300,
        f64::MIN_POSITIVE,
        f64::MAX,
    ];
    for place in 0..odd.len() {
        let results = with(|cost| {
            for (number, effect) in effects(cost).enumerate() {
                let at = |step: usize| odd[(place + number * step) % odd.len()];
                effect.comparison.delta = Estimate { value: at(1), low: at(3), high: at(7) };
                (effect.comparison.a, effect.comparison.b) = (at(2), at(5));
                effect.comparison.p = at(4);
                effect.floor = Some(at(6));
                if let Some(trail) = &mut effect.trail {
                    (trail.bytes_per, trail.waited, trail.outside_cpu) = (at(1), at(2), at(3));
                }
            }
            for condition in &mut cost.conditions {
                condition.totals.iter_mut().for_each(|total| total.mean.delta.value = odd[place]);
            }
            cost.threshold = if odd[place].is_finite() { odd[place].abs().min(99.0) } else { 1.0 };
        });
        check(&html(&results));
    }
}

#[test]
fn hostile_words_are_only_text() {
    let hostile = "</title><script>alert(1)</script>\u{202e}\"'&<b>";
    let results = with(|cost| {
        hostile.clone_into(&mut cost.against);
        cost.notes.push(hostile.to_owned());
        for condition in &mut cost.conditions {
            hostile.clone_into(&mut condition.name);
            hostile.clone_into(&mut condition.sentence);
            condition.evidence.push(hostile.to_owned());
            condition.totals.iter_mut().for_each(|total| total.name = hostile.to_owned());
        }
        for missing in &mut cost.missing {
            hostile.clone_into(&mut missing.reason);
        }
        for effect in effects(cost) {
            hostile.clone_into(&mut effect.comparison.cell.label);
            hostile.clone_into(&mut effect.comparison.unit);
            effect.comparison.warnings.push(Remark::Journal(hostile.to_owned()));
        }
    });
    let page = html(&results);
    check(&page);
    assert!(text(&page).matches("<script>alert(1)").count() > 30);
}
