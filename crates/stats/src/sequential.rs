//! Looks at differences while they are still being measured.
//!
//! A look is an interim analysis: it may end the measurement. Looking several times at intervals of
//! 95 % would find a difference too often, so O'Brien and Fleming's bounds are used: nearly
//! impossible to pass early, and a little wider than usual at the end. All intervals at these
//! levels hold together with a probability of 95 %, whatever is decided by them.

use super::{NORMAL_975, normal_p};

/// Looks of a whole measurement, evenly spaced in information. The last decides whatever it shows.
const LOOKS: f64 = 10.0;

/// O'Brien and Fleming's constant for ten looks at a two-sided level of 5 % (Jennison & Turnbull,
/// Group Sequential Methods with Applications to Clinical Trials, 2000, table 2.3).
const OBRIEN_FLEMING: f64 = 2.087;

/// The two-sided level of a look when `share` of the longest measurement is done, from 0 to 1.
pub fn look_level(share: f64) -> f64 {
    normal_p(OBRIEN_FLEMING / share.clamp(f64::MIN_POSITIVE, 1.0).sqrt())
}

/// The factor by which an interval at the last look is wider than one that is looked at once.
pub fn sequential_widening() -> f64 {
    OBRIEN_FLEMING / NORMAL_975
}

/// True if a look has become due between two shares of the longest measurement.
pub fn is_look_due(before: f64, now: f64) -> bool {
    let looks = |share: f64| (LOOKS * share.clamp(0.0, 1.0)).floor();
    looks(now) > looks(before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal_quantile;

    /// Jennison & Turnbull's table 2.3: ten looks at 5 % end at 2.087, the first is at 6.600.
    #[test]
    fn published_bounds() {
        let bound = |share| normal_quantile(look_level(share));
        assert!(
            (bound(1.0) - 2.087).abs() < 1e-3 && (bound(0.1) - 6.600).abs() < 5e-3,
            "{}",
            bound(0.1)
        );
        assert!((bound(0.5) - 2.951).abs() < 1e-3);
    }

    #[test]
    fn looks_are_a_tenth_apart() {
        assert!(!is_look_due(0.0, 0.09) && is_look_due(0.09, 0.11) && !is_look_due(0.11, 0.19));
        assert!(is_look_due(0.05, 0.85) && is_look_due(0.95, 1.0) && !is_look_due(1.0, 2.0));
    }
}
