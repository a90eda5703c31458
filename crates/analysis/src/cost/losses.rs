//! Events that auditing or a condition's own counters lost, by how many came.

use serde::Serialize;

use super::{Cell, Effect, Trial};
use crate::Measure;
use stats::{Estimate, mean, mean_interval};

/// The names of a row's counters that are known here.
const EVENTS: &str = "events";
const LOST: &str = "lost";

/// The value by which a program tells how many events it was to make per second.
const OFFERED: &str = "offered";

/// What was lost of a cell's events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Losses {
    /// Events per second that were to come, over all copies; `None` unless the test keeps to a rate.
    pub offered: Option<f64>,
    /// Events of all trials that were seen.
    pub seen: f64,
    /// Those that were lost.
    pub lost: f64,
    /// Those that were lost, in per cent of all, with the interval of the mean over trials.
    #[serde(skip)]
    pub share: Estimate,
}

/// Returns what a cell lost; `None` unless it was counted.
pub(super) fn losses(cell: &Cell, trials: &[&Trial]) -> Option<Losses> {
    let own = trials.iter().filter(|trial| trial.cell == cell.id && !trial.copies.is_empty());
    let counted: Vec<(&Trial, [f64; 2])> = own.filter_map(|trial| Some((*trial, counts(trial)?))).collect();
    let offered: Vec<f64> = counted.iter().filter_map(|(trial, _)| offered(trial)).collect();
    let shares: Vec<f64> = counted.iter().map(|(_, [seen, lost])| 100.0 * lost / (seen + lost).max(1.0)).collect();
    if shares.is_empty() {
        return None;
    }
    let Estimate { value, low, high } = mean_interval(&shares);
    let sum = |which: usize| counted.iter().map(|(_, counts)| counts[which]).sum();
    Some(Losses {
        offered: (!offered.is_empty()).then(|| mean(offered)),
        seen: sum(0),
        lost: sum(1),
        share: Estimate { value, low: low.max(0.0), high: high.min(100.0) },
    })
}

/// Returns the events that were seen and those that were lost; `None` unless they were counted, or auditing has a known rate of
/// them.
fn counts(trial: &Trial) -> Option<[f64; 2]> {
    let evidence = trial.evidence.as_ref()?;
    let counter = |name: &str| evidence.figures.get(name).map(|figure| figure.0.max(0.0));
    if let (Some(seen), Some(lost)) = (counter(EVENTS), counter(LOST)) {
        return Some([seen, lost]);
    }
    let trail = evidence.trail.as_ref().filter(|_| offered(trial).is_some())?;
    // The kernel counts records that it drops, and an event has several.
    let records = (trail.records as f64 / (trail.events as f64).max(1.0)).max(1.0);
    Some([trail.all_events as f64, trail.lost as f64 / records])
}

fn offered(trial: &Trial) -> Option<f64> {
    trial.copies.iter().map(|copy| copy.values.get(OFFERED).map(|value| value.0)).sum()
}

/// A rate of events: offered, and how much of it came with the condition and without, per second.
struct Rate {
    offered: f64,
    came: f64,
    alone: f64,
    losses: Losses,
}

/// From this share of what was offered on, all of it came.
const ALL: f64 = 0.95;

/// Returns from which rate on events are lost and programs are held up, in sentences; `None` unless several rates were offered.
pub(super) fn sentence(effects: &[Effect]) -> Option<String> {
    let own = effects.iter().filter(|effect| effect.comparison.measure == Measure::Score);
    let rate = |effect: &Effect| {
        let losses = effect.losses?;
        Some(Rate { offered: losses.offered?, came: effect.comparison.b, alone: effect.comparison.a, losses })
    };
    let mut rates: Vec<Rate> = own.filter_map(rate).collect();
    rates.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    let most = rates.last().filter(|_| rates.len() > 1)?;
    let lost = match rates.iter().position(|rate| rate.losses.share.low > 0.0) {
        Some(first) => losing(&rates, first),
        None => format!("Up to {} events per second none are lost.", words::whole(most.came)),
    };
    let is_held = |rate: &&Rate| rate.came < ALL * rate.offered && rate.alone >= ALL * rate.offered;
    let held = rates.iter().find(is_held).map(|rate| {
        let [came, offered] = [rate.came, rate.offered].map(words::whole);
        format!(" Programs are held up: {came} of {offered} per second come.")
    });
    Some(lost + &held.unwrap_or_default())
}

/// Returns at which rate events are lost, and at which below that they are not.
fn losing(rates: &[Rate], first: usize) -> String {
    let Rate { came, losses: Losses { share, .. }, .. } = &rates[first];
    let [value, low, high] = [share.value, share.low, share.high].map(words::share);
    let from = format!("Events are lost at {} per second: {value} % ({low} to {high})", words::whole(*came));
    match first.checked_sub(1).map(|before| words::whole(rates[before].came)) {
        Some(before) => format!("{from}; not at {before}."),
        None => format!("{from}, the lowest rate."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(came: f64, low: f64) -> Rate {
        let share = Estimate { value: low * 1.5, low, high: low * 2.0 };
        let losses = Losses { offered: Some(came), seen: 1.0, lost: low, share };
        Rate { offered: came, came, alone: came, losses }
    }

    #[test]
    fn losing_begins_at_the_lowest_rate_that_loses_for_certain() {
        let rates = [rate(1000.0, 0.0), rate(2000.0, 0.0), rate(4000.0, 2.0)];
        assert_eq!(losing(&rates, 2), "Events are lost at 4000 per second: 3 % (2 to 4); not at 2000.");
        assert_eq!(losing(&rates[2..], 0), "Events are lost at 4000 per second: 3 % (2 to 4), the lowest rate.");
    }
}
