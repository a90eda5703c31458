//! All rates of two runs together.

use super::{Draft, Measure, Round};
use stats::{Estimate, Sampled, mean_half_width, median, paired_shift};

/// The geometric mean of the ratios of all rates that both have.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// The run that is compared: with A, or of rounds A itself, with B.
    pub run: String,
    /// Rates behind it.
    pub rates: usize,
    /// Its difference from 1 in per cent with the 95 % interval; negative is worse.
    pub delta: Estimate,
    /// The rate that fares worst, and its difference in per cent.
    pub worst: (String, f64),
}

/// Returns the total of the drafts of one run; nothing of fewer than two rates.
pub(super) fn total(letter: &str, rounds: &[Round<'_>], drafts: &[Draft]) -> Option<Total> {
    let rates: Vec<&Draft> = drafts
        .iter()
        .filter(|draft| draft.comparison.run == letter && draft.comparison.measure == Measure::Score)
        .filter(|draft| draft.shift.estimate.value.is_finite())
        .collect();
    if rates.len() < 2 {
        return None;
    }
    let worst = rates.iter().min_by(|a, b| a.comparison.delta.value.total_cmp(&b.comparison.delta.value))?;
    let by_rounds = rates.iter().all(|draft| !draft.differences.is_empty());
    let shift = if by_rounds { of_rounds(&rates) } else { of_trials(&rates, rounds) };
    Some(Total {
        run: letter.to_owned(),
        rates: rates.len(),
        delta: Measure::Score.delta(&shift),
        worst: (worst.comparison.cell.label.clone(), worst.comparison.delta.value),
    })
}

/// One mean of logarithms per round or block, of the rates that have all of them.
fn of_rounds(rates: &[&Draft]) -> Estimate {
    let numbers = |draft: &Draft| draft.differences.iter().map(|(number, _)| *number).collect::<Vec<u32>>();
    let all = rates.iter().map(|draft| numbers(draft)).max_by_key(Vec::len).unwrap_or_default();
    let whole: Vec<&&Draft> = rates.iter().filter(|draft| numbers(draft) == all).collect();
    let mean = |place: usize| whole.iter().map(|draft| draft.differences[place].1).sum::<f64>() / whole.len() as f64;
    paired_shift(&(0..all.len()).map(mean).collect::<Vec<f64>>()).estimate
}

/// The mean of the shifts; each run's blocks are resampled for all its tests at once, so that noise that hits a whole
/// block counts.
fn of_trials(rates: &[&Draft], rounds: &[Round<'_>]) -> Estimate {
    let value = rates.iter().map(|draft| draft.shift.estimate.value).sum::<f64>() / rates.len() as f64;
    let Some((a, b)) = rounds.first() else { return Estimate::alone(value) };
    let half = [a, b].map(|run| {
        let row = |draft: &&Draft| {
            let cell = &draft.comparison.cell;
            let same = |row: &&super::Row| row.cell.key == cell.key;
            run.results.rows.iter().find(same).map(|row| row.samples.iter().map(|sample| sample.value).collect())
        };
        let values: Vec<Vec<f64>> = rates.iter().filter_map(row).collect();
        let statistic = |values: &[f64]| median(values).ln();
        let samples: Vec<Sampled<'_>> = values.iter().map(|values| Sampled { values, statistic: &statistic }).collect();
        mean_half_width(&samples)
    });
    let half = half[0].hypot(half[1]);
    if half.is_finite() { Estimate { value, low: value - half, high: value + half } } else { Estimate::alone(value) }
}
