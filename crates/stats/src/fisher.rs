//! The test for a thing that is more common in one set than in another.

use super::tail::ln_gamma;
use crate::Exact;

/// Returns the one-sided p value of Fisher's exact test: the probability that, of as many things in all, as many or
/// more than `first.0` fall among the `first.1` of the first set by chance, where the second has `second.0` among
/// `second.1` (the hypergeometric tail; Fisher, Statistical Methods for Research Workers, §21.02).
pub fn fisher_p(first: (usize, usize), second: (usize, usize)) -> f64 {
    let (with, all) = (first.0 + second.0, first.1 + second.1);
    let most = with.min(first.1);
    // Of the logarithms: binomials of thousands overflow.
    let term = |k: usize| (choose(with, k) + choose(all - with, first.1 - k) - choose(all, first.1)).exponential();
    (first.0..=most).filter(|k| first.1 - k <= all - with).map(term).sum::<f64>().min(1.0)
}

/// ln of n over k.
fn choose(n: usize, k: usize) -> f64 {
    let factorial = |n: usize| ln_gamma(n as f64 + 1.0);
    factorial(n) - factorial(k) - factorial(n - k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fisher's lady tasting tea: all four of four, 1/70; three or four, 17/70. And his convicts with twins (§21.02):
    /// 10 of 13 against 2 of 17, p = 0.000465.
    #[test]
    fn published_examples() {
        for (first, second, p) in [
            ((4, 4), (0, 4), 1.0 / 70.0),
            ((3, 4), (1, 4), 17.0 / 70.0),
            ((10, 13), (2, 17), 0.000_465_2),
            ((0, 4), (4, 4), 1.0),
            ((2, 2), (1, 38), 3.0 / 780.0),
        ] {
            assert!((fisher_p(first, second) - p).abs() < 1e-6, "{first:?}: {}", fisher_p(first, second));
        }
        assert_eq!(fisher_p((0, 0), (3, 5)), 1.0);
        assert!(fisher_p((300, 300), (0, 9700)) < 1e-300);
    }
}
