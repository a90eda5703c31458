//! How to read the numbers of a comparison.

use super::{Compared, Comparison, Measure, RATE};
use stats::{Method, Serial, serial};

/// Returns how far the trials of the runs' cells depend on those before; nothing where they are too few.
pub(super) fn dependence(runs: &[Compared]) -> Option<Serial> {
    let rows = runs.iter().flat_map(|run| &run.results.rows);
    let series = rows.map(|row| {
        let mut values: Vec<(f64, f64)> = match &row.latency {
            None => row.samples.iter().map(|sample| (sample.at, sample.value)).collect(),
            Some(latency) => latency.trials.iter().map(|trial| (f64::from(trial.block), trial.p50)).collect(),
        };
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.into_iter().map(|(_, value)| value.ln()).collect()
    });
    serial(&series.collect::<Vec<Vec<f64>>>())
}

/// By how much weaker a comparison without shared blocks is.
fn weaker(serial: Option<&Serial>) -> String {
    let Some(serial) = serial else {
        return "by how much weaker that is cannot be told: no cell has six trials that differ".to_owned();
    };
    let Serial { autocorrelation, half_width, values, length, worth, widening } = serial;
    // Noise looks like a little of it.
    let perhaps = if half_width > autocorrelation { format!(", so perhaps all {length:.0}") } else { String::new() };
    format!(
        "{length:.0} trials made one after the other are worth {worth:.1} independent ones here (lag-1 autocorrelation \
         {autocorrelation:.2} ± {half_width:.2} over {values} trials{perhaps}): the interval should be about {widening:.1} times as \
         wide; what drifts more slowly than a run lasts does not show in that"
    )
}

/// Returns how to read the numbers.
pub(super) fn notes(comparisons: &[Comparison], paired: bool, shared: bool, serial: Option<&Serial>) -> Vec<String> {
    let mut notes = Vec::new();
    if !shared {
        notes.push(
            "there is no A/A arm, so no noise floor: runs made one after the other share no blocks, and slow drift of \
             the machine is in every difference. A verdict says that the two runs differ, not why. Make runs in turn and use --paired A1 B1 A2 B2 to tell them apart"
                .to_owned(),
        );
        notes.push(weaker(serial));
    } else if !paired {
        notes.push(
            "both conditions were measured in the same blocks, so that differences are those within a block".to_owned(),
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
    let what = match first.method {
        Method::SignedRank if first.pairs.is_empty() => "blocks",
        Method::SignedRank => "rounds",
        _ => "trials in each run",
    };
    Some(format!(
        "a single difference among {count} comparisons takes {wanted} {what} to be called, and these have fewer, so \
         that they are decided only together with others: {}",
        listed(&names)
    ))
}

/// The p value when the one side lies wholly above the other; 0 where none is the smallest.
pub(crate) fn least_p(method: Method, n: (usize, usize)) -> f64 {
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
    comparison.method == method && (comparison.measure != Measure::Met || method != Method::Welch)
}

fn name(comparison: &Comparison) -> String {
    match comparison.measure {
        Measure::Score => comparison.cell.key.test.clone(),
        measure => format!("{} {}", comparison.cell.key.test, measure.name()),
    }
}

/// Names in one line, each once, six at most.
pub(crate) fn listed(names: &[String]) -> String {
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
