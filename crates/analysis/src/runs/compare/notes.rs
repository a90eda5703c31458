//! How to read the numbers of runs that are compared.

use super::Compared;
use crate::figures::Drifting;
use crate::products::comparison::notes::{ENERGY, blind, crowded_out, of_method};
use crate::products::comparison::{Comparison, Design};

/// How to read the numbers of runs. `design` is the loosest of the comparisons' designs.
pub(super) fn notes_on_runs(
    comparisons: &[Comparison],
    design: Design,
    threshold: f64,
    runs: &[Compared],
) -> Vec<String> {
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
            notes.push(note_on_drift(runs));
        }
        Design::Rounds | Design::Turns | Design::Units => {}
        Design::Blocks => notes.push(
            "both conditions were measured in the same blocks, so differences are within blocks"
                .to_owned(),
        ),
    }

    let comparisons: Vec<&Comparison> = comparisons.iter().collect();
    notes.extend(note_on_energy(&comparisons, runs));
    notes.extend(crowded_out(&comparisons, threshold));
    notes.extend(blind(&comparisons));
    notes.extend(of_method(&comparisons));
    notes
}

/// How much of the machine's drift the intervals of runs apart contain, and what they do not.
fn note_on_drift(runs: &[Compared]) -> String {
    let drifts: Vec<String> = runs.iter().filter_map(describe_drift).collect();
    let shown = match drifts.is_empty() {
        true => "the trials are too few to show any".to_owned(),
        false => drifts.join("; "),
    };
    format!(
        "intervals allow for the machine's drift while a run lasts ({shown}), not for what changes from run to run"
    )
}

/// The drift within a run; `None` if its trials are too few to show any.
fn describe_drift(run: &Compared) -> Option<String> {
    let Drifting { share, seconds, .. } = run.results.drift?;
    let percent = (100.0 * share).round();
    if percent < 1.0 {
        return Some(format!("none shows in {}", run.letter));
    }
    Some(format!("{percent} % of a trial's noise in {}, within about {seconds} s", run.letter))
}

/// What an energy is; or why some that are known are not compared.
fn note_on_energy(comparisons: &[&Comparison], runs: &[Compared]) -> Option<String> {
    let sources: Vec<(&str, &str)> = runs
        .iter()
        .filter_map(|run| Some((run.letter.as_str(), run.results.facts.energy_source()?)))
        .collect();

    if sources.windows(2).any(|two| two[0].1 != two[1].1) {
        let named: Vec<String> =
            sources.iter().map(|(letter, source)| format!("{source} ({letter})")).collect();
        return Some(format!(
            "energy is compared only where its source is of the same kind: {}",
            named.join(", ")
        ));
    }
    comparisons.iter().any(|comparison| comparison.is_energy()).then(|| ENERGY.to_owned())
}
