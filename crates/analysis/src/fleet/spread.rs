//! How much of the variation is within a node, between nodes, and between groups.

use super::Spread;
use super::judge::Judged;
use super::table::Cell;
use stats::{Exact, mean, median};

/// The fewest nodes of a group that tell how nodes differ.
const FEW: usize = 3;

/// Returns how a column's figures vary. `cells` and `judged` are by group.
pub(super) fn spread(cells: &[Vec<Option<Cell>>], judged: &[&Judged]) -> Spread {
    let all = || cells.iter().flatten().flatten();
    let within = within(&all().map(|cell| cell.scatter).collect::<Vec<_>>());
    let (mut squares, mut weight) = (0.0, 0.0);
    for (cells, judged) in cells.iter().zip(judged) {
        let cells: Vec<&Cell> = cells.iter().flatten().collect();
        if cells.len() < FEW {
            continue;
        }
        let errors: Vec<f64> = cells.iter().map(|cell| cell.error.powi(2)).filter(|error| error.is_finite()).collect();
        let measured = if errors.is_empty() { 0.0 } else { median(&errors) };
        let degrees = cells.len() as f64 - 1.0;
        squares += degrees * (judged.scale.powi(2) - measured).max(0.0);
        weight += degrees;
    }
    let groups = (judged.len() > 1).then(|| groups(judged)).flatten();
    Spread { within: percent(within), between: percent((squares / weight).sqrt()), groups: groups.map(percent) }
}

/// A standard deviation of logarithms in per cent.
fn percent(deviation: f64) -> f64 {
    100.0 * deviation.exponential_less_1()
}

/// The robust mean of variances: the median of what each is of the median of its chi-square distribution (Wilson &
/// Hilferty 1931), as a standard deviation.
fn within(scatters: &[(f64, f64)]) -> f64 {
    let typical = |degrees: f64| (1.0 - 2.0 / (9.0 * degrees)).powi(3);
    let known = scatters.iter().filter(|(variance, degrees)| variance.is_finite() && *degrees > 0.0);
    median(&known.map(|(variance, degrees)| variance / typical(*degrees)).collect::<Vec<f64>>()).sqrt()
}

/// How the groups' typical values vary beyond what their errors make.
fn groups(judged: &[&Judged]) -> Option<f64> {
    let known: Vec<&&Judged> = judged.iter().filter(|judged| judged.centre.is_finite()).collect();
    let count = known.len() as f64;
    if known.len() < 2 {
        return None;
    }
    let mean = mean(known.iter().map(|judged| judged.centre));
    let variance = known.iter().map(|judged| (judged.centre - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let errors = known.iter().map(|judged| judged.error.powi(2)).filter(|error| error.is_finite()).sum::<f64>() / count;
    Some((variance - errors).max(0.0).sqrt())
}
