//! How much of the variation is within a node, between nodes, and between groups.
//!
//! All three are standard deviations of logarithms. What is found between nodes also holds what
//! measuring adds, and what is found between groups what nodes add: both are subtracted.

use super::Spread;
use super::judge::Deviations;
use super::table::{Cell, Scatter};
use stats::{Exact, mean, median};

/// Fewest nodes of a group that show how nodes differ.
const MIN_NODES: usize = 3;

/// How the figures of a column vary. `cells` and `deviations` are by group.
pub(super) fn spread(cells: &[Vec<Option<Cell>>], deviations: &[&Deviations]) -> Spread {
    let scatters: Vec<Scatter> =
        cells.iter().flatten().flatten().map(|cell| cell.scatter).collect();
    let between_groups = if deviations.len() > 1 { spread_of_groups(deviations) } else { None };
    Spread {
        within: to_percent(spread_of_trials(&scatters)),
        between: to_percent(spread_of_nodes(cells, deviations)),
        groups: between_groups.map(to_percent),
    }
}

/// A standard deviation of logarithms in per cent.
fn to_percent(deviation: f64) -> f64 {
    100.0 * deviation.exponential_less_1()
}

/// The spread within a node: a robust mean of the nodes' variances. Each is divided by the median
/// of its chi-square distribution per degree of freedom (Wilson & Hilferty 1931), and the median of
/// these is the mean.
fn spread_of_trials(scatters: &[Scatter]) -> f64 {
    let known = scatters.iter().filter(|one| one.variance.is_finite() && one.degrees > 0.0);
    let variances: Vec<f64> =
        known.map(|one| one.variance / (1.0 - 2.0 / (9.0 * one.degrees)).powi(3)).collect();
    median(&variances).sqrt()
}

/// The spread between nodes of a group, pooled over the groups by their degrees of freedom.
fn spread_of_nodes(cells: &[Vec<Option<Cell>>], deviations: &[&Deviations]) -> f64 {
    let mut squares = 0.0;
    let mut weight = 0.0;
    for (cells, deviations) in cells.iter().zip(deviations) {
        let cells: Vec<&Cell> = cells.iter().flatten().collect();
        if cells.len() < MIN_NODES {
            continue;
        }

        let errors = cells.iter().map(|cell| cell.error.powi(2));
        let errors: Vec<f64> = errors.filter(|error| error.is_finite()).collect();
        let measured = if errors.is_empty() { 0.0 } else { median(&errors) };
        let degrees = cells.len() as f64 - 1.0;
        squares += degrees * (deviations.scale.powi(2) - measured).max(0.0);
        weight += degrees;
    }
    // Without any such group this is 0 ÷ 0, NaN.
    (squares / weight).sqrt()
}

/// The spread between the groups' typical values; `None` if fewer than two have one.
fn spread_of_groups(deviations: &[&Deviations]) -> Option<f64> {
    let known: Vec<&&Deviations> = deviations.iter().filter(|one| one.centre.is_finite()).collect();
    if known.len() < 2 {
        return None;
    }

    let count = known.len() as f64;
    let mean = mean(known.iter().map(|one| one.centre));
    let squares = known.iter().map(|one| (one.centre - mean).powi(2)).sum::<f64>();
    let variance = squares / (count - 1.0);
    let errors = known.iter().map(|one| one.error.powi(2));
    let measured = errors.filter(|error| error.is_finite()).sum::<f64>() / count;
    Some((variance - measured).max(0.0).sqrt())
}
