//! How to read the numbers of a comparison.

use super::{Compared, Comparison, Design, Measure, RATE, Sides};
use crate::Drifting;
use stats::Method;
use words::Unique;

/// How to read energies.
pub(crate) const ENERGY: &str = "energy: the energy of one operation, counting everything that the source sees (idle \
parts and other programs included); positive is worse";

/// Returns the part of the machine's drift that the intervals of runs apart contain, and the part that they do not.
fn drift(runs: &[Compared]) -> String {
    let known = |run: &Compared| {
        let Drifting { share, seconds, .. } = run.results.drift?;
        let percent = (100.0 * share).round();
        Some(if percent < 1.0 {
            format!("none shows in {}", run.letter)
        } else {
            format!("{percent} % of a trial's noise in {}, within about {seconds} s", run.letter)
        })
    };
    let found: Vec<String> = runs.iter().filter_map(known).collect();
    let found = if found.is_empty() { "the trials are too few to show any".to_owned() } else { found.join("; ") };
    format!("intervals allow for the machine's drift while a run lasts ({found}), not for what changes from run to run")
}

/// Returns how to read the numbers of runs, the loosest design of whose comparisons is `design`.
pub(super) fn of_runs(comparisons: &[Comparison], design: Design, runs: &[Compared]) -> Vec<String> {
    let mut notes = Vec::new();
    match design {
        Design::Apart => {
            notes.push(
                "runs made one after the other share no blocks, so whatever else changed between them is in \
                 every difference. A cell is called slower or faster only if it differs by more than earlier \
                 runs like these do (three are needed); any other difference is only 'differs between the \
                 runs'. To know more, alternate the runs and use --base A1 A2 --changed B1 B2"
                    .to_owned(),
            );
            notes.push(drift(runs));
        }
        Design::Rounds | Design::Turns => {}
        Design::Blocks => {
            notes.push("both conditions were measured in the same blocks, so differences are within blocks".to_owned())
        }
    }
    notes.extend(energy(comparisons, runs));
    let all: Vec<&Comparison> = comparisons.iter().collect();
    notes.extend(blind(&all));
    notes.extend(of_method(&all));
    notes
}

/// Returns a note on the source of the energies, or on why some that are known are not compared.
fn energy(comparisons: &[Comparison], runs: &[Compared]) -> Option<String> {
    let source = |run: &Compared| Some(format!("{} ({})", run.results.facts.energy_source()?, run.letter));
    let known: Vec<&str> = runs.iter().filter_map(|run| run.results.facts.energy_source()).collect();
    if known.windows(2).any(|two| two[0] != two[1]) {
        let sources: Vec<String> = runs.iter().filter_map(source).collect();
        return Some(format!("energy is compared only where its source is of the same kind: {}", sources.join(", ")));
    }
    comparisons.iter().any(Comparison::is_energy).then(|| ENERGY.to_owned())
}

/// Returns what the intervals of these comparisons rest on, where that is not what their design asks for.
pub(crate) fn of_method(comparisons: &[&Comparison]) -> Vec<String> {
    let texts = [
        "too few trials for the exact rank test: Welch's t, which assumes log-normal noise",
        "fewer than six rounds: Student's t, which assumes log-normal noise",
        "fewer than six blocks: Student's t, which assumes log-normal noise",
        "p99 of all trials' frames together, its interval by resampling trials, since single trials have too few frames",
        "no interval: a side has fewer than two trials, or they do not differ at all",
        "no interval: one round has none",
    ];
    let place = |one: &Comparison| match (one.method, one.design) {
        // Shares of deadlines are means, and theirs is Welch's interval whatever the number of trials.
        (Method::Welch, _) => (one.measure != Measure::Met).then_some(0),
        (Method::Student, Design::Rounds | Design::Turns) => Some(1),
        (Method::Student, _) => Some(2),
        (Method::Bootstrap, _) => Some(3),
        (Method::Nothing, Design::Rounds | Design::Turns) if one.n.a == 1 => Some(5),
        (Method::Nothing, _) => Some(4),
        (Method::SignedRank | Method::RankSum, _) => None,
    };
    let note = |(number, text): (usize, &&str)| {
        let names: Vec<String> =
            comparisons.iter().filter(|one| place(one) == Some(number)).map(|one| name(one)).collect();
        (!names.is_empty()).then(|| format!("{text}: {}", listed(names)))
    };
    texts.iter().enumerate().filter_map(note).collect()
}

/// Returns a note, or one on energies and one on the others, if so few trials, rounds or blocks stand behind a
/// comparison that it could not be decided if it alone differed: the smallest p value that its ranks can have, times
/// the comparisons that it is judged among, is no smaller than the rate.
pub(crate) fn blind(comparisons: &[&Comparison]) -> Vec<String> {
    let (energies, others): (Vec<&Comparison>, Vec<&Comparison>) = comparisons.iter().partition(|one| one.is_energy());
    [others, energies].iter().filter_map(|judged| blind_among(judged)).collect()
}

fn blind_among(comparisons: &[&Comparison]) -> Option<String> {
    let count = comparisons.len();
    let cannot = |method: Method, n: Sides<usize>| least_p(method, n) * count as f64 >= RATE;
    let found: Vec<&&Comparison> = comparisons.iter().filter(|one| cannot(one.method, one.n)).collect();
    let Comparison { method, design, .. } = found.first()?;
    let wanted = (2..100).find(|n| !cannot(*method, Sides { a: *n, b: *n }))?;
    let what = match design {
        Design::Apart => "trials in each run",
        Design::Rounds | Design::Turns => "rounds",
        Design::Blocks => "blocks",
    };
    Some(format!(
        "with fewer than {wanted} {what} no single difference among {count} comparisons can be significant, only several \
         together: {}",
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
