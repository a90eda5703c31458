//! What a reader of a comparison must know: how the runs differ apart from what is asked about, and how to read it.

use super::{Compared, Comparison, RATE};
use crate::analysis::Results;
use crate::stats::Method;

/// The fact that says how fast the interactive tests' work was when the run began.
const SPEED: &str = "run.work-speed";

/// The speed of work may differ by this share without a word.
const SPEED_SLACK: f64 = 0.02;

/// A fact that is not the same of all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The fact's name.
    pub name: String,
    /// Its name in reports.
    pub label: String,
    /// Each value, with the letters of the runs that have it.
    pub values: Vec<(Vec<String>, String)>,
}

/// Returns the facts that differ, in the order of the first run. The speed of work is a warning instead.
pub(super) fn differences(runs: &[Compared]) -> Vec<Difference> {
    let mut found: Vec<Difference> = Vec::new();
    for fact in runs.iter().flat_map(|run| &run.results.facts) {
        if fact.name == SPEED || found.iter().any(|known| known.name == fact.name) {
            continue;
        }
        let values = grouped(runs, |results| value(results, &fact.name).unwrap_or("unknown").to_owned());
        if values.len() > 1 {
            found.push(Difference { name: fact.name.clone(), label: fact.label.clone(), values });
        }
    }
    found
}

/// Returns the distinct values with the letters of the runs that have them.
fn grouped(runs: &[Compared], of: impl Fn(&Results) -> String) -> Vec<(Vec<String>, String)> {
    let mut groups: Vec<(Vec<String>, String)> = Vec::new();
    for run in runs {
        let value = of(&run.results);
        match groups.iter_mut().find(|group| group.1 == value) {
            Some(group) => group.0.push(run.letter.clone()),
            None => groups.push((vec![run.letter.clone()], value)),
        }
    }
    groups
}

fn value<'a>(results: &'a Results, name: &str) -> Option<&'a str> {
    results.facts.iter().find(|fact| fact.name == name).map(|fact| fact.value.as_str())
}

/// Returns what makes the runs unlike each other in more than what is asked about.
pub(super) fn warnings(runs: &[Compared], paired: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut unlike = |what: &str, advice: &str, of: fn(&Results) -> String| {
        let groups = grouped(runs, of);
        if groups.len() > 1 {
            let told = groups.iter().map(|(letters, value)| format!("{value} ({})", letters.join(", ")));
            warnings.push(format!("the {what} differ: {}; {advice}", told.collect::<Vec<String>>().join(", ")));
        }
    };
    unlike("builds", "part of every difference may be the compiler's: try --build portable for all runs", |results| {
        results.build.as_ref().map_or("unknown".to_owned(), |build| {
            let hash: String = build.hash.chars().take(12).collect();
            format!("{} {hash}, {}, {}", build.name, build.compiler, build.flags)
        })
    });
    unlike("hosts", "these are differences between machines", |results| results.run.host.clone());
    unlike("procedures", "they do not measure alike: use the same --procedure", |results| {
        results.run.procedure.clone()
    });
    unlike("places of copies", "use the same --pin", |results| {
        if results.run.pin.is_empty() { "unpinned".to_owned() } else { format!("pinned by {}", results.run.pin) }
    });
    unlike("tools", "their programs may not do the same", |results| results.run.tool.clone());
    warnings.extend(speeds(runs));
    warnings.extend(whole_runs(runs));
    if paired && !alternating(runs) {
        warnings.push(
            "the runs did not alternate, so that a round shares no drift: make them in the order they are named"
                .to_owned(),
        );
    }
    warnings
}

/// What the runs' own reports say of the whole run.
fn whole_runs(runs: &[Compared]) -> Vec<String> {
    let mut texts: Vec<(Vec<&str>, &String)> = Vec::new();
    for run in runs {
        for text in &run.results.warnings {
            match texts.iter_mut().find(|known| known.1 == text) {
                Some(known) => known.0.push(&run.letter),
                None => texts.push((vec![&run.letter], text)),
            }
        }
    }
    texts.into_iter().map(|(letters, text)| format!("{}: {text}", letters.join(", "))).collect()
}

/// A warning where the interactive tests' work was not the same.
fn speeds(runs: &[Compared]) -> Option<String> {
    let texts: Vec<(&str, &str)> =
        runs.iter().filter_map(|run| Some((run.letter.as_str(), value(&run.results, SPEED)?))).collect();
    let number = |text: &str| -> Option<f64> {
        let digits: String = text.chars().take_while(|c| c.is_ascii_digit() || ".eE+-".contains(*c)).collect();
        digits.parse().ok().filter(|number| *number > 0.0)
    };
    let first = texts.first()?.1;
    let differs = texts.iter().any(|(_, text)| match (number(first), number(text)) {
        (Some(one), Some(other)) => (other / one).ln().abs() > SPEED_SLACK,
        _ => *text != first,
    });
    differs.then(|| {
        let told: Vec<String> = texts.iter().map(|(letter, text)| format!("{text} ({letter})")).collect();
        format!(
            "the speed of work differs: {}; the frames of interactive tests hold different work, \
             and are comparable no closer than that",
            told.join(", ")
        )
    })
}

/// Whether no run of one side began after all runs of the other; unknown times are passed over.
fn alternating(runs: &[Compared]) -> bool {
    let times: Option<Vec<jiff::Timestamp>> = runs.iter().map(|run| run.results.run.started.parse().ok()).collect();
    let Some(times) = times else { return true };
    let side = |which: usize| times.iter().skip(which).step_by(2);
    let apart = |a: usize, b: usize| match (side(a).max(), side(b).min()) {
        (Some(last), Some(first)) => last < first,
        _ => false,
    };
    times.len() <= 2 || !(apart(0, 1) || apart(1, 0))
}

/// Returns how to read the numbers.
pub(super) fn notes(comparisons: &[Comparison], paired: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if !paired {
        notes.push(
            "there is no A/A arm, so no noise floor: runs made one after the other share no blocks, and slow drift of \
             the machine is in every difference. A verdict says that the two runs differ, not why. Make runs in turn and use --paired A1 B1 A2 B2 to tell them apart"
                .to_owned(),
        );
    }
    notes.extend(blind(comparisons));
    for (method, text) in [
        (Method::Welch, "Welch's t, which assumes log-normal noise, where trials are too few for the exact rank test"),
        (Method::Student, "Student's t, which assumes log-normal noise: six rounds or more do without"),
        (
            Method::Bootstrap,
            "p99 of all trials' frames together, with an interval by resampling trials, where single ones have too few",
        ),
        (Method::Nothing, "no interval, where a side has fewer than two trials or they do not differ at all"),
    ] {
        let names: Vec<String> = comparisons.iter().filter(|one| rests_on(one, method)).map(name).collect();
        if !names.is_empty() {
            notes.push(format!("{text}: {}", listed(&names)));
        }
    }
    if comparisons.iter().any(|one| one.measure.name().starts_with('p')) {
        notes.push(
            "a latency's difference is that of its inverse, as of a rate: twice the time is -50 %, half of it +100 %"
                .to_owned(),
        );
    }
    notes
}

/// A note where so few trials or rounds stand behind a comparison that it could not be decided if it alone differed:
/// the smallest p value that its ranks can have, times the comparisons of the report, is no smaller than the rate.
fn blind(comparisons: &[Comparison]) -> Option<String> {
    let count = comparisons.len();
    let cannot = |least: f64| least * count as f64 >= RATE;
    let names: Vec<String> = comparisons.iter().filter(|one| cannot(least_p(one.method, one.n))).map(name).collect();
    let first = comparisons.iter().find(|one| cannot(least_p(one.method, one.n)))?;
    let wanted = (2..100).find(|n| !cannot(least_p(first.method, (*n, *n))))?;
    let what = if first.method == Method::SignedRank { "rounds" } else { "trials in each run" };
    Some(format!(
        "a single difference among {count} comparisons takes {wanted} {what} to be called, and these have fewer, so \
         that they are decided only together with others: {}",
        listed(&names)
    ))
}

/// The p value when the one side lies wholly above the other; 0 where none is the smallest.
pub(in crate::analysis) fn least_p(method: Method, n: (usize, usize)) -> f64 {
    // One order of all has this probability; two-sided, there are two such.
    let one = |places: &mut dyn Iterator<Item = f64>| 2.0 * places.product::<f64>();
    match method {
        Method::SignedRank => one(&mut (0..n.0).map(|_| 0.5)),
        Method::RankSum => one(&mut (1..=n.0).map(|i| i as f64 / (n.1 + i) as f64)),
        _ => 0.0,
    }
}

/// Shares of deadlines are means, and theirs is Welch's interval whatever the number of trials.
fn rests_on(comparison: &Comparison, method: Method) -> bool {
    comparison.method == method && (comparison.measure != super::Measure::Met || method != Method::Welch)
}

fn name(comparison: &Comparison) -> String {
    match comparison.measure {
        super::Measure::Score => comparison.cell.test.clone(),
        measure => format!("{} {}", comparison.cell.test, measure.name()),
    }
}

/// Names in one line, each once, six at most.
pub(in crate::analysis) fn listed(names: &[String]) -> String {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if !known.contains(&name.as_str()) {
            known.push(name);
        }
    }
    match known.len() {
        0..=6 => known.join(", "),
        count => format!("{} and {} more", known[..6].join(", "), count - 6),
    }
}
