use super::*;

fn verdict(measure: Measure, (low, value, high): (f64, f64, f64), q: f64) -> Verdict {
    let shift = Shift { estimate: Estimate { value, low, high }, p: q, method: Method::RankSum };
    let mean = Mean { value, error: (high - low) / 2.0 / NORMAL_975, degrees: 1e9 };
    let mut one = Difference { shift, ..Difference::new(measure, Data::Means(mean, Method::Welch)) };
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
    for (interval, q) in [((-0.12, -0.1, -0.08), 0.06), ((-0.03, -0.009, -0.001), 0.01), ((-0.1, -0.04, 0.01), 0.01)] {
        assert_eq!(verdict(Score, interval, q).word(), "undecided");
    }
    let Verdict::Same(within) = verdict(Score, (-0.004, 0.0, 0.002), 1.0) else { panic!() };
    // 1.645 in place of 1.96 standard errors of 0.0031.
    assert!((within - 0.2521).abs() < 1e-4, "{within}");
    // Half-width 0.0196: a standard error of 0.01, so 2.8 % and a little for the exponential.
    let Verdict::Undecided(could) = verdict(Score, (-0.0196, 0.0, 0.0196), 1.0) else { panic!() };
    assert!((could - 2.8412).abs() < 1e-3, "{could}");
    assert_eq!(verdict(Score, (f64::NEG_INFINITY, 0.1, f64::INFINITY), 1.0), Verdict::Undecided(f64::INFINITY));
}

#[test]
fn the_judged_side_is_the_changed_one() {
    let values = Sides { a: vec![(1, 90.0), (2, 90.0)], b: vec![(2, 100.0), (3, 100.0)] };
    let delta = |design, metric| {
        let observed = Observed::new(design, metric, Measure::Score, &values);
        let shown = (observed.shown, observed.pairs.len());
        assert_eq!(shown, (Sides { a: 90.0, b: 100.0 }, usize::from(design != Design::Apart)));
        Difference::new(Measure::Score, observed.data).delta().value.round()
    };
    for design in [Design::Apart, Design::Blocks] {
        assert_eq!((delta(design, Metric::Rate), delta(design, Metric::Time)), (11.0, -10.0));
    }
    assert_eq!((delta(Design::Rounds, Metric::Rate), delta(Design::Rounds, Metric::Time)), (-10.0, 11.0));
}

#[test]
fn amounts_may_be_nothing_and_are_no_times() {
    let cell = Cell { metric: Metric::Amount, ..Cell::default() };
    let judged = |[base, new]: [f64; 2]| {
        let each = |value: f64| (1..9).map(|block| (block, value)).collect::<Values>();
        let values = Sides { a: each(base), b: each(new) };
        let observed = Observed::new(Design::Blocks, Metric::Amount, Measure::Score, &values);
        let mut draft = Draft::new("new", &cell, Measure::Score, observed);
        judge([&mut draft.difference], 1.0);
        draft.judged()
    };
    let [none, more, fewer] = [[0.0, 0.0], [0.0, 3.0], [3.0, 0.0]].map(judged);
    assert_eq!((none.verdict.word(), more.verdict.word(), fewer.verdict.word()), ("same", "worse", "better"));
    assert_eq!((more.a, more.b.round(), more.time_factor()), (0.0, 3.0, None));
    assert!(more.is_loss_of(5.0) && more.change().value > 100.0, "{:?}", more.change());
}
