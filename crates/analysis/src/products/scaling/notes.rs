//! Notes on how a test scales.

use super::{Clock, Level};
use journal::{Cell, Run};
use stats::UslFit;
use words::copies;

/// A clock that changes by less is said to keep.
const MAX_STEADY_CLOCK_CHANGE: f64 = 0.01;
/// A law that misses a total by more does not describe it.
const MAX_LAW_ERROR: f64 = 0.05;
/// Copies are reported as uneven if the slowest gets less than this share of what the fastest gets.
const MIN_FAIR_SHARE: f64 = 0.8;
/// As many levels as a law should be fitted to.
const MIN_FITTED_LEVELS: usize = 6;

/// How many levels, from the first, lie on this side of the first border, and what is to be said of
/// borders.
pub(super) fn within_borders(run: &Run, levels: &[Level]) -> (usize, Vec<String>) {
    let mut notes = Vec::new();
    let (first, last) = (levels[0].copies, levels[levels.len() - 1].copies);
    let (behind, ahead): (Vec<_>, Vec<_>) =
        run.borders.iter().partition(|(copies, _)| *copies < first);
    for (_, what) in behind {
        notes.push(format!("every level spans {what}: the law mixes unlike copies"));
    }
    let Some(border) = ahead.iter().filter(|border| border.0 < last).min_by_key(|border| border.0)
    else {
        return (levels.len(), notes);
    };
    let fitted = levels.iter().take_while(|level| level.copies <= border.0).count();
    let beyond = ahead.iter().filter(|other| other.0 < last);
    let beyond: Vec<String> =
        beyond.map(|(n, what)| format!("{what} (from {} copies)", n + 1)).collect();
    notes.push(format!(
        "the law is fitted up to {}; beyond that are {}",
        copies(border.0),
        beyond.join(", ")
    ));
    (fitted, notes)
}

/// Returns notes on the law's levels, residuals and peak.
pub(super) fn of_law(law: Option<&UslFit>, levels: &[Level]) -> Vec<String> {
    let Some(law) = law else {
        let why = if levels.len() < 2 {
            "it needs two levels"
        } else {
            "no throughput of one copy fits these totals"
        };
        return vec![format!("no law: {why}")];
    };
    let mut notes = Vec::new();
    match levels.len() {
        2 => notes.push(
            "two levels fit Amdahl's law only; kappa, what copies cost each other, needs three"
                .to_owned(),
        ),
        3 => notes
            .push("three levels determine the law exactly: its fit cannot be judged".to_owned()),
        few if few < MIN_FITTED_LEVELS => {
            notes.push(format!("{few} levels: fit the law to six or more"))
        }
        _ => {}
    }
    let (worst, miss) = law.worst;
    if miss.abs() > MAX_LAW_ERROR {
        let way = if miss > 0.0 { "above" } else { "below" };
        notes.push(format!(
            "the law does not describe these totals: at {} it is {:.0} % {way} the measured one",
            copies(worst as u32),
            miss.abs() * 100.0
        ));
    }
    let last = levels.last().map_or(0.0, |level| f64::from(level.copies));
    if law.peak.is_some_and(|peak| peak.value > last) {
        notes.push("the peak lies beyond the copies measured: an extrapolation".to_owned());
    }
    notes
}

/// By which clock totals are normalised, if by any.
pub(super) fn of_clock(clock: Clock, cell: &Cell, levels: &[Level]) -> String {
    let name = match (clock, cell.clock.as_deref()) {
        (Clock::Own, _) => "the clock that it measured itself".to_owned(),
        (Clock::CoreClock, test) => format!("the clock of {}", test.unwrap_or("another test")),
        (Clock::Unknown, Some(test)) => {
            return format!("not normalised by the clock: measure {test} at the same levels");
        }
        (Clock::Unknown, None) => {
            return "not normalised by the clock, which is unknown".to_owned();
        }
    };
    let clocks: Vec<f64> = levels.iter().filter_map(|level| level.clock).collect();
    let (least, most) = clocks.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), clock| {
        (least.min(*clock), most.max(*clock))
    });
    if most / least - 1.0 < MAX_STEADY_CLOCK_CHANGE {
        return format!("the law is normalised by {name}, which kept within 1 %");
    }
    let (first, last) = (&levels[0], &levels[levels.len() - 1]);
    let gain = last.fitted_total().value / first.fitted_total().value;
    format!(
        "the law is normalised by {name}, {least:.2} to {most:.2} GHz: at one clock the gain with {} is {gain:.2}x",
        copies(last.copies)
    )
}

/// At which level copies got the least alike, where they might have got as much.
pub(super) fn of_fairness(levels: &[Level]) -> Option<String> {
    let share = |level: &Level| level.fairness.unwrap_or(1.0);
    let worst = levels.iter().min_by(|a, b| share(a).total_cmp(&share(b)))?;
    (share(worst) < MIN_FAIR_SHARE).then(|| {
        format!(
            "with {} the slowest copy did {:.0} % of the fastest copy's work",
            copies(worst.copies),
            share(worst) * 100.0
        )
    })
}
