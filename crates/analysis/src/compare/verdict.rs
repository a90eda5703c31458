//! What a difference comes to: slower, faster, the same, or undecided.

use stats::{Estimate, Shift};

/// The false discovery rate of a report's verdicts.
pub const RATE: f64 = 0.05;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// The score of a test that has one.
    Score,
    /// The median latency.
    P50,
    /// The 99th percentile of the latency.
    P99,
    /// The 99.9th percentile, which comparisons within a run have.
    P999,
    /// The share of deadlines met.
    Met,
}

impl Measure {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Measure::Score => "score",
            Measure::P50 => "p50",
            Measure::P99 => "p99",
            Measure::P999 => "p99.9",
            Measure::Met => "met",
        }
    }

    /// The unit of its differences: `%`, or `points` of a per cent.
    #[must_use]
    pub fn delta_unit(self) -> &'static str {
        if self == Measure::Met { "points" } else { "%" }
    }

    /// Returns a shift towards the better (of logarithms, or of shares in per cent) as the difference that reports
    /// show: in per cent, or in points; negative is worse.
    pub(crate) fn delta(self, shift: &Estimate) -> Estimate {
        if self == Measure::Met || shift.value.is_nan() {
            return *shift;
        }
        let percent = |log: f64| 100.0 * log.exp_m1();
        if shift.bounded() {
            Estimate { value: percent(shift.value), low: percent(shift.low), high: percent(shift.high) }
        } else {
            Estimate::alone(percent(shift.value))
        }
    }
}

/// What a comparison comes to. Sizes are in the unit of the difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// Takes longer, beyond doubt and beyond the threshold.
    Slower,
    /// Takes less time.
    Faster,
    /// Meets fewer deadlines.
    Worse,
    /// Meets more deadlines.
    Better,
    /// Any difference is smaller than this, which is no more than the threshold.
    Same(f64),
    /// Neither is shown; a difference of this size would have been seen in four of five such comparisons. Infinite
    /// without an interval.
    Undecided(f64),
}

impl Verdict {
    /// Judges a difference: decided where the interval excludes 0, the difference is beyond `threshold` and its `rate`,
    /// the q value over all comparisons of the report, is below 5 %; the same where the interval lies within the
    /// threshold (two one-sided tests, Schuirmann 1987).
    pub(crate) fn of(measure: Measure, shift: &Shift, rate: f64, threshold: f64) -> Verdict {
        let delta = measure.delta(&shift.estimate);
        if !delta.bounded() {
            return Verdict::Undecided(f64::INFINITY);
        }
        let widest = delta.low.abs().max(delta.high.abs());
        if widest <= threshold {
            return Verdict::Same(widest);
        }
        let certain = (delta.low > 0.0 || delta.high < 0.0) && rate < RATE;
        match (certain && delta.value.abs() > threshold, delta.value < 0.0, measure == Measure::Met) {
            (false, _, _) => {
                let could = shift.detectable();
                let could = if measure == Measure::Met { could } else { 100.0 * could.exp_m1() };
                Verdict::Undecided(could.max(threshold))
            }
            (true, true, false) => Verdict::Slower,
            (true, false, false) => Verdict::Faster,
            (true, true, true) => Verdict::Worse,
            (true, false, true) => Verdict::Better,
        }
    }

    /// The word alone, for programs.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Slower => "slower",
            Verdict::Faster => "faster",
            Verdict::Worse => "worse",
            Verdict::Better => "better",
            Verdict::Same(_) => "same",
            Verdict::Undecided(_) => "undecided",
        }
    }

    /// Whether it is slower or worse.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        matches!(self, Verdict::Slower | Verdict::Worse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Method;

    fn judge(measure: Measure, (low, value, high): (f64, f64, f64), rate: f64) -> Verdict {
        let shift = Shift { estimate: Estimate { value, low, high }, p: rate, method: Method::RankSum };
        Verdict::of(measure, &shift, rate, 1.0)
    }

    #[test]
    fn verdicts() {
        use Measure::{Met, P99, Score};
        assert_eq!(judge(Score, (-0.12, -0.1, -0.08), 0.001), Verdict::Slower);
        assert_eq!(judge(P99, (0.08, 0.1, 0.12), 0.001), Verdict::Faster);
        assert_eq!(judge(Met, (-12.0, -10.0, -8.0), 0.001), Verdict::Worse);
        assert_eq!(judge(Met, (8.0, 10.0, 12.0), 0.001), Verdict::Better);
        // Not certain over the whole report; beyond 0 but below the threshold; not beyond 0.
        for (interval, rate) in
            [((-0.12, -0.1, -0.08), 0.06), ((-0.03, -0.009, -0.001), 0.01), ((-0.1, -0.04, 0.01), 0.01)]
        {
            assert_eq!(judge(Score, interval, rate).word(), "undecided");
        }
        let Verdict::Same(within) = judge(Score, (-0.004, 0.0, 0.002), 1.0) else { panic!() };
        assert!((within - 0.3992).abs() < 1e-4);
        // Half-width 0.0196: a standard error of 0.01, so 2.8 % and a little for the exponential.
        let Verdict::Undecided(could) = judge(Score, (-0.0196, 0.0, 0.0196), 1.0) else { panic!() };
        assert!((could - 2.8396).abs() < 1e-3, "{could}");
        assert_eq!(judge(Score, (f64::NEG_INFINITY, 0.1, f64::INFINITY), 1.0), Verdict::Undecided(f64::INFINITY));
    }
}
