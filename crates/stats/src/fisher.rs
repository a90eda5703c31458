//! Fisher's exact test: is an event more common in one set than in another?

use super::tail::ln_gamma;
use crate::Exact;

/// The one-sided p value of Fisher's exact test. Each set is the number of its events and its size.
/// If all events were spread over both sets at random, this is the probability that the first set
/// had as many as it has, or more (the hypergeometric tail; Fisher, Statistical Methods for
/// Research Workers, §21.02).
pub fn fisher_p(first: (usize, usize), second: (usize, usize)) -> f64 {
    let (first_events, first_size) = first;
    let events = first_events + second.0;
    let size = first_size + second.1;
    let others = size - events;

    // In logarithms, since binomials of thousands overflow.
    let probability = |k: usize| {
        (ln_choose(events, k) + ln_choose(others, first_size - k) - ln_choose(size, first_size))
            .exponential()
    };
    (first_events..=events.min(first_size))
        .filter(|k| first_size - k <= others)
        .map(probability)
        .sum::<f64>()
        .min(1.0)
}

/// The logarithm of n over k.
fn ln_choose(n: usize, k: usize) -> f64 {
    let ln_factorial = |n: usize| ln_gamma(n as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fisher's lady tasting tea: all four of four, 1/70; three or four, 17/70. And his convicts
    /// with twins (§21.02): 10 of 13 against 2 of 17, p = 0.000465.
    #[test]
    fn published_examples() {
        for (first, second, p) in [
            ((4, 4), (0, 4), 1.0 / 70.0),
            ((3, 4), (1, 4), 17.0 / 70.0),
            ((10, 13), (2, 17), 0.000_465_2),
            ((0, 4), (4, 4), 1.0),
            ((2, 2), (1, 38), 3.0 / 780.0),
        ] {
            assert!(
                (fisher_p(first, second) - p).abs() < 1e-6,
                "{first:?}: {}",
                fisher_p(first, second)
            );
        }
        assert_eq!(fisher_p((0, 0), (3, 5)), 1.0);
        assert!(fisher_p((300, 300), (0, 9700)) < 1e-300);
    }
}
