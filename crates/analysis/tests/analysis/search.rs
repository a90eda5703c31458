//! Searches for a commit among made-up ones: how often the right one is named, and whether that is
//! as often as is said.

use analysis::{Next, Search, Span};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use stats::Estimate;
use testing::normal;

/// A history: what each revision takes as a logarithm, and how comparisons go wrong.
struct History {
    times: Vec<f64>,
    random: Pcg64Mcg,
    /// How often a comparison is far off, by as much as the change.
    disturbed: f64,
}

impl History {
    /// Compares two revisions; the half-width of the interval is a quarter of 5 %, as the tool asks
    /// for.
    fn compare(&mut self, from: usize, to: usize) -> Estimate {
        let error = 0.0125 / 1.96;
        let off = if self.random.random::<f64>() < self.disturbed {
            0.05 * normal(&mut self.random)
        } else {
            0.0
        };
        let change = self.times[to] - self.times[from] + error * normal(&mut self.random) + off;
        let percent = |change: f64| 100.0 * change.exp_m1();
        Estimate {
            value: percent(change),
            low: percent(change - 0.0125),
            high: percent(change + 0.0125),
        }
    }
}

/// Searches until the end; returns the span, its chance, and how many comparisons that took.
fn found(history: &mut History, skipped: &[usize]) -> (Span, f64, usize) {
    let last = history.times.len() - 1;
    let mut search = Search::new(last);
    search.add((0, last), history.compare(0, last));
    for count in 1.. {
        match search.next() {
            Next::Halve(revision) if skipped.contains(&revision) => search.skip(revision),
            Next::Halve(revision) => {
                search.add((0, revision), history.compare(0, revision));
                search.add((0, last), history.compare(0, last));
            }
            Next::Confirm(Span { before, after })
                if [before, after].iter().any(|end| skipped.contains(end)) =>
            {
                [before, after]
                    .iter()
                    .filter(|end| skipped.contains(end))
                    .for_each(|end| search.skip(*end));
            }
            Next::Confirm(span) => {
                let change = history.compare(span.before, span.after);
                search.add((span.before, span.after), change);
            }
            Next::End(span) => return (span, search.chance(span), count),
        }
    }
    unreachable!()
}

/// A history of 64 commits, one of which adds 5 %; the others change at most a little.
fn planted(seed: u64, disturbed: f64) -> (History, usize) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let culprit = random.random_range(1..=64);
    let time = |revision: usize, random: &mut Pcg64Mcg| {
        0.002 * normal(random) + if revision >= culprit { 0.05_f64.ln_1p() } else { 0.0 }
    };
    let times = (0..=64).map(|revision| time(revision, &mut random)).collect();
    (History { times, random, disturbed }, culprit)
}

#[test]
fn the_right_commit_is_named_as_often_as_is_said() {
    for disturbed in [0.0, 0.05] {
        let runs = testing::simulated(2000);
        let (mut right, mut said, mut counts) = (0, 0.0, 0);
        for seed in 0..runs {
            let (mut history, culprit) = planted(seed, disturbed);
            let (span, chance, count) = found(&mut history, &[]);
            right += u32::from(span == Span { before: culprit - 1, after: culprit });
            said += chance;
            counts += count;
        }
        let [right, said, count] =
            [f64::from(right), said, counts as f64].map(|sum| sum / runs as f64);
        println!("disturbed {disturbed}: right {right}, said {said}, {count} steps");
        assert!(right >= 0.97 && said <= right + 0.02 && count < 12.0, "{right} {said} {count}");
    }
}

#[test]
fn revisions_that_cannot_be_measured_leave_several_commits() {
    let (mut history, culprit) = planted(7, 0.0);
    let skipped: Vec<usize> =
        (1..64_usize).filter(|revision| revision.abs_diff(culprit) < 3).collect();
    let (span, chance, _) = found(&mut history, &skipped);
    assert_eq!((span.before, span.after), (culprit.saturating_sub(3), (culprit + 3).min(64)));
    assert!(chance > 0.95);
    let (span, chance, count) = found(&mut history, &Vec::from_iter(1..64));
    assert_eq!(span, Span { before: 0, after: 64 });
    assert!(chance > 0.999 && count < 64);
}

#[test]
fn one_commit_needs_no_search() {
    let mut search = Search::new(1);
    search.add((0, 1), Estimate { value: 5.0, low: 4.0, high: 6.0 });
    assert_eq!(search.next(), Next::End(Span { before: 0, after: 1 }));
    assert_eq!(search.chances(), [1.0]);
}

/// Two commits that share the change: neither is named with certainty.
#[test]
fn two_changes_make_no_certain_answer() {
    let times = (0..=64)
        .map(|revision| 0.025 * f64::from(u8::from(revision >= 20) + u8::from(revision >= 40)))
        .collect();
    let mut history = History { times, random: Pcg64Mcg::seed_from_u64(3), disturbed: 0.0 };
    let (span, chance, count) = found(&mut history, &[]);
    assert!(
        [20, 40].contains(&span.after) && chance < 0.9 && count < 40,
        "{span:?} {chance} {count}"
    );
}
