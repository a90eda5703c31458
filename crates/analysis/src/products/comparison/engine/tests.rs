use super::*;

fn verdict(measure: Measure, (low, value, high): (f64, f64, f64), q: f64) -> Verdict {
    let shift = Shift { estimate: Estimate { value, low, high }, p: q, method: Method::RankSum };
    let mean = Mean { value, error: (high - low) / 2.0 / NORMAL_975, degrees: 1e9 };
    let scale = Scale::new(measure, &[1.0], &[1.0]);
    let is_of_time = measure.is_of_time(Metric::Rate);
    let data = Data::Means(mean, Method::Welch);
    let mut one = Difference { shift, is_of_time, ..Difference::new(scale, data) };
    judge([&mut one], 1.0);
    one.verdict
}

#[test]
fn verdicts() {
    use Measure::{Energy, Met, P99, Score};
    assert_eq!(verdict(Score, (-0.12, -0.1, -0.08), 0.001), Verdict::Slower);
    assert_eq!(verdict(P99, (0.08, 0.1, 0.12), 0.001), Verdict::Faster);
    assert_eq!(verdict(Met, (-12.0, -10.0, -8.0), 0.001), Verdict::Worse);
    assert_eq!(verdict(Met, (8.0, 10.0, 12.0), 0.001), Verdict::Better);
    assert_eq!(verdict(Energy, (-0.12, -0.1, -0.08), 0.001), Verdict::Worse);
    // Not certain over the whole report; beyond 0 but below the threshold; not beyond 0.
    for (interval, q) in
        [((-0.12, -0.1, -0.08), 0.06), ((-0.03, -0.009, -0.001), 0.01), ((-0.1, -0.04, 0.01), 0.01)]
    {
        assert_eq!(verdict(Score, interval, q).word(), "undecided");
    }
    let Verdict::Same(within) = verdict(Score, (-0.004, 0.0, 0.002), 1.0) else { panic!() };
    // 1.645 in place of 1.96 standard errors of 0.0031.
    assert!((within - 0.2521).abs() < 1e-4, "{within}");
    // Half-width 0.0196: a standard error of 0.01, so 2.8 % and a little for the exponential.
    let Verdict::Undecided(could) = verdict(Score, (-0.0196, 0.0, 0.0196), 1.0) else { panic!() };
    assert!((could - 2.8412).abs() < 1e-3, "{could}");
    assert_eq!(
        verdict(Score, (f64::NEG_INFINITY, 0.1, f64::INFINITY), 1.0),
        Verdict::Undecided(f64::INFINITY)
    );
}

#[test]
fn the_judged_side_is_the_changed_one() {
    let values = Sides { a: vec![(1, 90.0), (2, 90.0)], b: vec![(2, 100.0), (3, 100.0)] };
    let delta = |design, metric| {
        let observed = Observed::new(design, metric, Measure::Score, &values);
        let shown = (observed.shown, observed.pairs.len());
        assert_eq!(shown, (Sides { a: 90.0, b: 100.0 }, usize::from(design != Design::Apart)));
        Difference::new(observed.scale, observed.data).delta().value.round()
    };
    for design in [Design::Apart, Design::Blocks] {
        assert_eq!((delta(design, Metric::Rate), delta(design, Metric::Time)), (11.0, -10.0));
    }
    assert_eq!(
        (delta(Design::Rounds, Metric::Rate), delta(Design::Rounds, Metric::Time)),
        (-10.0, 11.0)
    );
}

/// The comparison of eight pairs of equal values.
fn judged(metric: Metric, [base, new]: [f64; 2]) -> Comparison {
    let cell = Cell { metric, ..Cell::default() };
    let each = |value: f64| (1..9).map(|block| (block, value)).collect::<Values>();
    let values = Sides { a: each(base), b: each(new) };
    let observed = Observed::new(Design::Blocks, metric, Measure::Score, &values);
    let mut draft = Draft::new("new", &cell, Measure::Score, observed);
    judge([&mut draft.difference], 1.0);
    draft.judged()
}

#[test]
fn zero_and_negative_figures_have_verdicts() {
    use Metric::{Amount, Rate, Time, Unknown, Yield};
    for (metric, values, verdict, change) in [
        (Amount, [0.0, 0.0], "same", 0.0),
        (Amount, [0.0, 3.0], "worse", f64::INFINITY),
        (Amount, [3.0, 0.0], "better", -100.0),
        (Time, [-5.0, -6.0], "faster", -20.0),
        (Time, [-1.0, 1.0], "slower", 200.0),
        (Rate, [10.0, 0.0], "slower", -100.0),
        (Rate, [0.0, 10.0], "faster", f64::INFINITY),
        (Yield, [10.0, 20.0], "better", 100.0),
        (Unknown, [0.0, 3.0], "undirected", f64::INFINITY),
        (Unknown, [100.0, 200.0], "undirected", 100.0),
        (Unknown, [100.0, 100.0], "same", 0.0),
    ] {
        let found = judged(metric, values);
        assert_eq!(found.verdict.word(), verdict, "{metric:?} {values:?}");
        assert_eq!(found.change().value.round(), change, "{metric:?} {values:?}");
        assert_eq!([found.a, found.b.round()], values, "{metric:?}");
    }
}

/// A comparison of two commands with these differences in its rounds.
fn paired(differences: &[f64]) -> Draft {
    let differences: Values = (1..).zip(differences.iter().copied()).collect();
    let sides = Sides { a: differences.len(), b: differences.len() };
    let shown = Sides { a: 1.0, b: 1.0 };
    let observed =
        Observed::from_data(Design::Blocks, Scale::Ratio, shown, sides, Data::Paired(differences));
    Draft::new("new", &Cell::default(), Measure::Score, observed)
}

/// Equal counts differ by one count at most, and what widens other intervals widens that, in
/// whatever order it is told and at whatever level.
#[test]
fn an_interval_of_no_width_is_widened_like_any_other() {
    let mut told_first = paired(&[0.0; 12]);
    told_first.difference.widen(Widening::by(3.0));
    let told_first = told_first.resolved(0.01);
    let mut told_last = paired(&[0.0; 12]).resolved(0.01);
    told_last.difference.widen(Widening::by(3.0));

    for draft in [told_first, told_last] {
        assert!((draft.difference.shift.estimate.high - 0.03).abs() < 1e-12);
        for level in [0.05, 0.1] {
            assert!((draft.difference.interval(level).low + 0.03).abs() < 1e-12, "{level}");
        }
    }
}
