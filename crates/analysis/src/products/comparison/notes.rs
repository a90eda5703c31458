//! How to read the numbers of a comparison: what its intervals rest on.

use stats::Method;
use words::Unique;

use super::{Comparison, Design, RATE, Sides};
use crate::figures::Measure;

/// How to read energies.
pub(crate) const ENERGY: &str = "energy: the energy of one operation, counting everything that the source sees (idle \
parts and other programs included); positive is worse";

/// Notes on the comparisons whose intervals do not rest on what their design asks for: what they
/// rest on, and which comparisons those are.
pub(crate) fn of_method(comparisons: &[&Comparison]) -> Vec<String> {
    let mut notes = Vec::new();
    for note in METHOD_NOTES {
        let names: Vec<String> = comparisons
            .iter()
            .filter(|comparison| method_note(comparison) == Some(note))
            .map(|comparison| test_and_measure(comparison))
            .collect();
        if !names.is_empty() {
            notes.push(format!("{note}: {}", listed(names)));
        }
    }
    notes
}

const WELCH_NOTE: &str =
    "too few trials for the exact rank test: Welch's t, which assumes log-normal noise";
const STUDENT_ROUNDS_NOTE: &str =
    "fewer than six rounds: Student's t, which assumes log-normal noise";
const STUDENT_BLOCKS_NOTE: &str =
    "fewer than six blocks: Student's t, which assumes log-normal noise";
const BOOTSTRAP_NOTE: &str = "p99 of all trials' frames together, its interval by resampling trials, since single trials have too few frames";
const QUANTILES_NOTE: &str = "a quantile of all executions of each side; its interval goes by ranks, as chance allows for so many values, and is wider where slow executions come in spells that the sides do not share";
const FEW_TRIALS_NOTE: &str =
    "no interval: a side has fewer than two trials, or they do not differ at all";
const ONE_ROUND_NOTE: &str = "no interval: one round has none";

/// The notes on methods, in the order of the report.
const METHOD_NOTES: [&str; 7] = [
    WELCH_NOTE,
    STUDENT_ROUNDS_NOTE,
    STUDENT_BLOCKS_NOTE,
    BOOTSTRAP_NOTE,
    QUANTILES_NOTE,
    FEW_TRIALS_NOTE,
    ONE_ROUND_NOTE,
];

/// The note on a comparison's method; `None` if it is what its design asks for.
fn method_note(comparison: &Comparison) -> Option<&'static str> {
    match (comparison.method, comparison.design) {
        // Shares of deadlines are means, and theirs is Welch's interval whatever the number of
        // trials.
        (Method::Welch, _) if comparison.measure == Measure::Met => None,
        (Method::Welch, _) => Some(WELCH_NOTE),
        (Method::Student, Design::Rounds | Design::Turns) => Some(STUDENT_ROUNDS_NOTE),
        (Method::Student, _) => Some(STUDENT_BLOCKS_NOTE),
        (Method::Bootstrap, _) => Some(BOOTSTRAP_NOTE),
        (Method::Quantiles, _) => Some(QUANTILES_NOTE),
        (Method::Nothing, Design::Rounds | Design::Turns) if comparison.n.a == 1 => {
            Some(ONE_ROUND_NOTE)
        }
        (Method::Nothing, _) => Some(FEW_TRIALS_NOTE),
        (Method::SignedRank | Method::RankSum, _) => None,
    }
}

/// A note on differences that are undecided only because there are others: of many comparisons,
/// some look like a difference by chance.
pub(crate) fn crowded_out(comparisons: &[&Comparison], threshold: f64) -> Option<String> {
    let names: Vec<String> = comparisons
        .iter()
        .filter(|comparison| comparison.is_crowded_out(threshold))
        .map(|comparison| test_and_measure(comparison))
        .collect();
    if names.is_empty() {
        return None;
    }
    Some(format!(
        "undecided only because there are {} comparisons, some of which can differ by chance: {}; measured alone, each may be decided",
        comparisons.len(),
        listed(names)
    ))
}

/// Notes, on energies and on the others, if so few trials, rounds or blocks stand behind a
/// comparison that it could not be decided if it alone differed: the smallest p value that its
/// ranks can have, times the comparisons that it is judged among, is no smaller than the rate.
pub(crate) fn blind(comparisons: &[&Comparison]) -> Vec<String> {
    let (energies, others): (Vec<&Comparison>, Vec<&Comparison>) =
        comparisons.iter().partition(|comparison| comparison.is_energy());
    [others, energies].iter().filter_map(|judged| note_on_blind(judged)).collect()
}

fn note_on_blind(comparisons: &[&Comparison]) -> Option<String> {
    let count = comparisons.len();
    let is_too_few = |method, n| smallest_p(method, n) * count as f64 >= RATE;
    let blind: Vec<&Comparison> = comparisons
        .iter()
        .copied()
        .filter(|comparison| is_too_few(comparison.method, comparison.n))
        .collect();

    let Comparison { method, design, .. } = blind.first()?;
    let needed = (2..100).find(|n| !is_too_few(*method, Sides { a: *n, b: *n }))?;
    let unit = match design {
        Design::Apart => "trials in each run",
        Design::Rounds | Design::Turns => "rounds",
        Design::Blocks => "blocks",
        Design::Units => "units of each",
    };
    Some(format!(
        "with fewer than {needed} {unit} no single difference among {count} comparisons can be significant, only several \
         together: {}",
        listed(blind.into_iter().map(test_and_measure))
    ))
}

/// The p value when the one side lies wholly above the other; 0 where none is the smallest.
fn smallest_p(method: Method, n: Sides<usize>) -> f64 {
    // One order of all has this probability; two-sided, there are two such.
    match method {
        Method::SignedRank => 2.0 * 0.5_f64.powi(n.a as i32),
        Method::RankSum => 2.0 * (1..=n.a).map(|i| i as f64 / (n.b + i) as f64).product::<f64>(),
        _ => 0.0,
    }
}

fn test_and_measure(comparison: &Comparison) -> String {
    match comparison.measure {
        Measure::Score => comparison.cell.key.test.clone(),
        measure => format!("{} {}", comparison.cell.key.test, measure.name()),
    }
}

/// Names in one line, each once, six at most.
pub(crate) fn listed(names: impl IntoIterator<Item = String>) -> String {
    words::listed(&names.into_iter().unique(), 6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::products::comparison::{Scale, Verdict};
    use stats::Estimate;

    fn comparison(test: &str, [p, q]: [f64; 2], verdict: Verdict) -> Comparison {
        let mut cell = journal::Cell::default();
        cell.key.test = test.to_owned();
        let delta = Estimate { value: -4.5, low: -7.5, high: -0.4 };
        Comparison {
            run: "B".to_owned(),
            cell,
            measure: Measure::Score,
            scale: Scale::Ratio,
            unit: "lps".to_owned(),
            design: Design::Blocks,
            a: 100.0,
            b: 95.5,
            n: Sides { a: 8, b: 8 },
            units: None,
            two_speeds: None,
            delta,
            adjusted: delta,
            p,
            q,
            method: Method::SignedRank,
            verdict,
            pairs: Vec::new(),
            resolution: None,
            warnings: Vec::new(),
        }
    }

    /// User review of 2026-11, person 6: an interval without 0 was undecided, and nobody said why.
    #[test]
    fn it_is_said_if_other_comparisons_made_one_undecided() {
        let crowded = comparison("pipe", [0.03, 0.2], Verdict::Undecided(6.0));
        let called = comparison("spawn", [0.001, 0.01], Verdict::Slower);
        let open = comparison("execl", [0.2, 0.4], Verdict::Undecided(6.0));

        let note = crowded_out(&[&crowded, &called, &open], 1.0).unwrap();

        assert!(note.starts_with("undecided only because there are 3 comparisons"), "{note}");
        assert!(note.contains(": pipe;"), "{note}");
        assert_eq!(crowded_out(&[&called, &open], 1.0), None);
        assert_eq!(crowded_out(&[&crowded], 5.0), None, "it is below the threshold");
    }

    /// User review of 2026-11, person 5: a finding of 5.9 % where the control showed 8.3 %.
    #[test]
    fn a_difference_that_the_control_exceeds_has_a_swing() {
        let found = comparison("pipe", [0.001, 0.01], Verdict::Slower);
        let mut control = comparison("pipe", [0.3, 0.3], Verdict::Undecided(9.0));

        control.delta.value = -8.3;
        assert!(found.swing(&control).is_some());

        control.delta.value = 3.0;
        assert_eq!(found.swing(&control), None);
        control.delta.value = -8.3;
        control.cell.key.test = "spawn".to_owned();
        assert_eq!(found.swing(&control), None, "it is of another test");
    }
}
