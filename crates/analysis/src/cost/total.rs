//! Several rates of a condition as one number.

use super::arms::{Differences, Draft};
use super::{Estimate, Measure, Total};
use catalogue::Catalogue;
use journal::Run;
use stats::{Sampled, mean_half_width, median, pseudo_median};

/// The fewest rates that have a total.
const FEWEST: usize = 2;

/// Returns the totals of one condition's `drafts`: for every place (copies and load) the geometric mean of all its rates,
/// and before it that of every index the run shows.
pub(super) fn totals(drafts: &[&Draft<'_>], run: &Run, catalogue: &Catalogue) -> Vec<Total> {
    let rates: Vec<&Draft<'_>> = drafts
        .iter()
        .copied()
        .filter(|draft| draft.measure == Measure::Score && draft.shift.estimate.value.is_finite())
        .collect();
    let mut places: Vec<(u32, &str)> =
        rates.iter().map(|draft| (draft.cell.key.copies, &*draft.cell.key.load)).collect();
    places.sort_unstable();
    places.dedup();
    let mut totals = Vec::new();
    for (copies, load) in places {
        let here: Vec<&Draft<'_>> = rates
            .iter()
            .copied()
            .filter(|draft| (draft.cell.key.copies, &*draft.cell.key.load) == (copies, load))
            .collect();
        for index in &catalogue.indexes {
            let shown = if run.indexes.is_empty() { index.always } else { run.indexes.contains(&index.id) };
            let member = |draft: &&&Draft<'_>| {
                catalogue.test(&draft.cell.key.test).is_some_and(|test| test.baseline.contains_key(&index.id))
            };
            let parts: Vec<&Draft<'_>> = here.iter().filter(member).copied().collect();
            totals.extend(total(&index.id, &index.name, &parts).filter(|_| shown));
        }
        totals.extend(total("all", "All rates", &here));
    }
    totals
}

/// Returns the mean of the rates' shifts. Its interval is by resampling blocks for all rates at once, so that noise that
/// hits a whole block counts.
fn total(id: &str, name: &str, rates: &[&Draft<'_>]) -> Option<Total> {
    let worst = rates.iter().min_by(|a, b| a.delta().value.total_cmp(&b.delta().value))?;
    let cell = rates.first().filter(|_| rates.len() >= FEWEST)?.cell;
    let value = rates.iter().map(|draft| draft.shift.estimate.value).sum::<f64>() / rates.len() as f64;
    let half = half_width(rates);
    let shift = if half.is_finite() {
        Estimate { value, low: value - half, high: value + half }
    } else {
        Estimate::alone(value)
    };
    Some(Total {
        id: id.to_owned(),
        name: name.to_owned(),
        copies: cell.key.copies,
        load: cell.key.load.clone(),
        rates: rates.len(),
        delta: Measure::Score.delta(&shift),
        worst: (worst.cell.label.clone(), worst.delta().value),
    })
}

/// A condition with blocks of its own has two sides, which are resampled each for itself.
fn half_width(rates: &[&Draft<'_>]) -> f64 {
    let mut paired: Vec<&[f64]> = Vec::new();
    let (mut base, mut other) = (paired.clone(), paired.clone());
    for draft in rates {
        match &draft.differences {
            Differences::Blocks(differences) => paired.push(differences),
            Differences::Apart(first, second) => {
                base.push(first);
                other.push(second);
            }
        }
    }
    let count = rates.len() as f64;
    let half = |samples: &[&[f64]], statistic: fn(&[f64]) -> f64| {
        if samples.is_empty() {
            return 0.0;
        }
        let samples: Vec<Sampled<'_>> =
            samples.iter().map(|values| Sampled { values, statistic: &statistic }).collect();
        mean_half_width(&samples) * samples.len() as f64 / count
    };
    [half(&paired, pseudo_median), half(&base, median), half(&other, median)].iter().fold(0.0, |a, b| a.hypot(*b))
}
