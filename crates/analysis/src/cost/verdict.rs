//! What differences come to among all of a report.

use super::arms::{Differences, Draft};
use super::{Estimate, Measure, RATE, Verdict, false_discovery_rates};
use stats::{NORMAL_975, paired_shift, two_sample_shift};

/// Standard errors by which the truth must lie beyond what is called, to be called in four of five experiments.
const FOUR_OF_FIVE: f64 = 0.8416;

/// Judges the controls among themselves: whatever is called of them is a false alarm.
pub(super) fn judge_controls(floor: &mut [Draft<'_>], threshold: f64) {
    let p: Vec<f64> = floor.iter().map(|draft| draft.shift.p).collect();
    for (draft, rate) in floor.iter_mut().zip(false_discovery_rates(&p)) {
        draft.q = rate;
        draft.verdict = Verdict::of(draft.measure, &draft.shift, rate, threshold);
    }
}

/// Judges the comparisons of a report; each has the floor of its own control, and its second look if it is a loss.
pub(super) fn judge(drafts: &mut [Draft<'_>], floor: &[Draft<'_>], threshold: f64) {
    let p: Vec<f64> = drafts.iter().map(|draft| draft.shift.p).collect();
    let rates = false_discovery_rates(&p);
    for (place, rate) in rates.into_iter().enumerate() {
        let draft = &mut drafts[place];
        draft.q = rate;
        draft.floor = floor_of(draft, floor);
        let could = || Verdict::Undecided(detectable(draft, wanted(&p, place), threshold));
        let beyond = draft.delta().value.abs() > draft.floor.unwrap_or(0.0);
        draft.verdict = match Verdict::of(draft.measure, &draft.shift, rate, threshold) {
            Verdict::Same(within) => Verdict::Same(within),
            Verdict::Undecided(_) => could(),
            decided if beyond => decided,
            _ => could(),
        };
    }
    confirm(drafts);
}

/// The larger end of the control's interval for the same cell and measure. What has no blocks in common with the others
/// is moreover no surer than that condition's own first half of the run is against its second half.
fn floor_of(draft: &Draft<'_>, floor: &[Draft<'_>]) -> Option<f64> {
    let (cell, measure) = (draft.cell, draft.measure);
    let same = |other: &&Draft<'_>| other.cell.key.same_family(&cell.key) && other.measure == measure;
    let control = floor.iter().find(same).map(|control| larger_end(&control.delta()));
    let Differences::Apart(base, _) = &draft.differences else { return control };
    let (first, second) = base.split_at(base.len() / 2);
    let drift = larger_end(&draft.measure.delta(&two_sample_shift(first, second).estimate));
    Some(control.map_or(drift, |control| control.max(drift)))
}

fn larger_end(delta: &Estimate) -> f64 {
    delta.low.abs().max(delta.high.abs())
}

/// Returns the p value below which a comparison would be called, given those of all others: with it at 0, Benjamini and
/// Hochberg's procedure calls `r` of `m`, and then it may be as large as 5 %·r/m.
fn wanted(p: &[f64], place: usize) -> f64 {
    let mut p = p.to_vec();
    p[place] = 0.0;
    let called = false_discovery_rates(&p).iter().filter(|rate| **rate < RATE).count();
    RATE * called as f64 / p.len() as f64
}

/// Returns the difference, in per cent or points, that would have been called in four of five such runs: what must be
/// exceeded to be called, the half-width of the interval at the `level` that the report asks for or the floor or the
/// threshold, and 0.84 standard errors (Lehmann, Nonparametrics, §2.5; the standard error is the half-width of the 95 %
/// interval ÷ 1.96). Infinite where so few blocks cannot be called at that level, whatever they show.
fn detectable(draft: &Draft<'_>, level: f64, threshold: f64) -> f64 {
    let Estimate { low, high, .. } = draft.shift.estimate;
    let error = (high - low) / 2.0 / NORMAL_975;
    let points = draft.measure == Measure::Met;
    let log = |size: f64| if points { size } else { (size / 100.0).ln_1p() };
    let sieves = [draft.differences.half_width(level), log(threshold), log(draft.floor.unwrap_or(0.0))];
    let could = sieves.into_iter().fold(0.0, f64::max) + FOUR_OF_FIVE * error;
    if points { could } else { 100.0 * could.exp_m1() }
}

/// Says of every loss that was looked at again whether fresh blocks alone show it: slower, with a p value below 5 % when
/// adjusted over all that were looked at again.
fn confirm(drafts: &mut [Draft<'_>]) {
    let again: Vec<usize> =
        (0..drafts.len()).filter(|n| drafts[*n].verdict.is_loss() && !drafts[*n].second.is_empty()).collect();
    let shifts: Vec<_> = again.iter().map(|n| paired_shift(&drafts[*n].second)).collect();
    let rates = false_discovery_rates(&shifts.iter().map(|shift| shift.p).collect::<Vec<f64>>());
    for ((place, shift), rate) in again.into_iter().zip(&shifts).zip(rates) {
        drafts[place].confirmed = Some(shift.estimate.value < 0.0 && rate < RATE);
    }
}
