//! How to read the numbers of a comparison.

use super::{Compared, Comparison, Design, Measure, RATE, Sides};
use stats::{Method, Serial, serial};
use words::Unique;

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
        return "how much weaker is unknown: no cell has six trials that differ".to_owned();
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

/// Returns how to read the numbers of runs, the loosest design of whose comparisons is `design`.
pub(super) fn of_runs(comparisons: &[Comparison], design: Design, serial: Option<&Serial>) -> Vec<String> {
    let mut notes = Vec::new();
    match design {
        Design::Apart => {
            notes.push(
                "there is no A/A arm, so no noise floor: runs made one after the other share no blocks, and slow drift of \
                 the machine is in every difference. A verdict says that the two runs differ, not why. Make runs in turn and \
                 use --paired A1 B1 A2 B2 to tell them apart"
                    .to_owned(),
            );
            notes.push(weaker(serial));
        }
        Design::Rounds => {}
        Design::Blocks => {
            notes.push("both conditions were measured in the same blocks, so differences are within blocks".to_owned())
        }
    }
    let comparisons: Vec<&Comparison> = comparisons.iter().collect();
    notes.extend(blind(&comparisons));
    notes.extend(of_method(&comparisons));
    notes
}

/// Returns what the intervals of these comparisons rest on, where that is not what their design asks for.
pub(crate) fn of_method(comparisons: &[&Comparison]) -> Vec<String> {
    let few = |design| {
        let what = if design == Design::Rounds { "rounds" } else { "blocks" };
        format!("fewer than six {what}: Student's t, which assumes log-normal noise")
    };
    let texts = [
        "too few trials for the exact rank test: Welch's t, which assumes log-normal noise".to_owned(),
        few(Design::Rounds),
        few(Design::Blocks),
        "p99 of all trials' frames together, its interval by resampling trials, since single trials have too few frames"
            .to_owned(),
        "no interval: a side has fewer than two trials, or they do not differ at all".to_owned(),
    ];
    let place = |one: &Comparison| match (one.method, one.design) {
        // Shares of deadlines are means, and theirs is Welch's interval whatever the number of trials.
        (Method::Welch, _) => (one.measure != Measure::Met).then_some(0),
        (Method::Student, Design::Rounds) => Some(1),
        (Method::Student, _) => Some(2),
        (Method::Bootstrap, _) => Some(3),
        (Method::Nothing, _) => Some(4),
        (Method::SignedRank | Method::RankSum, _) => None,
    };
    let note = |(number, text): (usize, &String)| {
        let names: Vec<String> =
            comparisons.iter().filter(|one| place(one) == Some(number)).map(|one| name(one)).collect();
        (!names.is_empty()).then(|| format!("{text}: {}", listed(names)))
    };
    let mut notes: Vec<String> = texts.iter().enumerate().filter_map(note).collect();
    if comparisons.iter().any(|one| one.measure.is_percentile()) {
        notes.push(
            "a latency's difference is that of its inverse, as of a rate: twice the time is -50 %, half of it +100 %"
                .to_owned(),
        );
    }
    notes
}

/// Returns a note if so few trials, rounds or blocks stand behind a comparison that it could not be decided if it alone
/// differed: the smallest p value that its ranks can have, times the comparisons of the report, is no smaller than the
/// rate.
pub(crate) fn blind(comparisons: &[&Comparison]) -> Option<String> {
    let count = comparisons.len();
    let cannot = |method: Method, n: Sides<usize>| least_p(method, n) * count as f64 >= RATE;
    let found: Vec<&&Comparison> = comparisons.iter().filter(|one| cannot(one.method, one.n)).collect();
    let Comparison { method, design, .. } = found.first()?;
    let wanted = (2..100).find(|n| !cannot(*method, Sides { a: *n, b: *n }))?;
    let what = match design {
        Design::Apart => "trials in each run",
        Design::Rounds => "rounds",
        Design::Blocks => "blocks",
    };
    Some(format!(
        "a single difference among {count} comparisons takes {wanted} {what} to be called, and these have fewer, so that \
         they are called only together with others: {}",
        listed(found.into_iter().map(|one| name(one)))
    ))
}

/// The p value when the one side lies wholly above the other; 0 where none is the smallest.
fn least_p(method: Method, n: Sides<usize>) -> f64 {
    // One order of all has this probability; two-sided, there are two such.
    match method {
        Method::SignedRank => 2.0 * 0.5_f64.powi(n.a as i32),
        Method::RankSum => 2.0 * (1..=n.a).map(|i| i as f64 / (n.b + i) as f64).product::<f64>(),
        _ => 0.0,
    }
}

fn name(comparison: &Comparison) -> String {
    match comparison.measure {
        Measure::Score => comparison.cell.key.test.clone(),
        measure => format!("{} {}", comparison.cell.key.test, measure.name()),
    }
}

/// Names in one line, each once, six at most.
pub(crate) fn listed(names: impl IntoIterator<Item = String>) -> String {
    words::listed(&names.into_iter().unique(), 6)
}
