//! Events that auditing or a condition's own counters lost, by how many came.

use super::{Cell, Effect, Trial};
use crate::{Measure, rate};
use stats::{Estimate, mean, mean_interval};
use words::Unique;

/// The names of a row's counters that are known here.
const EVENTS: &str = "events";
const LOST: &str = "lost";

/// The value by which a program tells how many events it was to make per second.
const OFFERED: &str = "offered";

/// The events of a cell that were lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// Events per second that were to come, over all copies; `None` unless the test keeps to a rate.
    pub offered: Option<f64>,
    /// Events of all trials that were seen.
    pub seen: f64,
    /// Those that were lost.
    pub lost: f64,
    /// Those that were lost, in per cent of all, with the interval of the mean over trials.
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
    let share = mean_interval(&shares);
    let sum = |which: usize| counted.iter().map(|(_, counts)| counts[which]).sum();
    Some(Losses {
        offered: (!offered.is_empty()).then(|| mean(offered)),
        seen: sum(0),
        lost: sum(1),
        // A single trial has no interval.
        share: match share.bounded() {
            true => Estimate { low: share.low.max(0.0), high: share.high.min(100.0), ..share },
            false => share,
        },
    })
}

/// Returns the events that were seen and those that were lost; `None` unless they were counted, or auditing has a known
/// rate of them. An event that the test made and nobody saw is lost, whatever the counter of losses says.
fn counts(trial: &Trial) -> Option<[f64; 2]> {
    let evidence = trial.evidence.as_ref()?;
    let counter = |name: &str| evidence.figures.get(name).map(|figure| figure.0);
    let [seen, lost] = match (counter(EVENTS), counter(LOST)) {
        (Some(seen), Some(lost)) => [seen, lost],
        _ => {
            let trail = evidence.trail.as_ref().filter(|_| offered(trial).is_some())?;
            // The kernel counts records that it drops, and an event has several.
            let records = (trail.records as f64 / (trail.events as f64).max(1.0)).max(1.0);
            [trail.all_events as f64, trail.lost as f64 / records]
        }
    };
    let made = offered(trial).map_or(0.0, |_| trial.copies.iter().map(|copy| rate::count(&copy.slices)).sum());
    Some([seen, lost.max(made - seen)])
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

impl Rate {
    fn new(effect: &Effect) -> Option<Rate> {
        let losses = effect.losses?;
        Some(Rate { offered: losses.offered?, came: effect.comparison.b, alone: effect.comparison.a, losses })
    }

    /// Returns true if it came without the condition, and not with it.
    fn is_held_up(&self) -> bool {
        self.came < ALL * self.offered && self.alone >= ALL * self.offered
    }
}

/// Returns from which rate on events are lost and programs are held up, in sentences; `None` unless one test had
/// several rates.
pub(super) fn sentence(effects: &[Effect]) -> Option<String> {
    let own = || effects.iter().filter(|effect| effect.comparison.measure == Measure::Score);
    let mut rates: Vec<Rate> = own().filter_map(Rate::new).collect();
    let beside = own().map(|effect| (effect.comparison.cell.key.copies, &effect.comparison.cell.key.load)).unique();
    if rates.len() < 2 || beside.len() > 1 {
        return None;
    }
    rates.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    let held = rates.iter().find(|rate| rate.is_held_up()).map(|rate| {
        let [came, offered] = [rate.came, rate.offered].map(words::whole);
        format!(" Programs are held up: of {offered} events offered per second {came} come.")
    });
    Some(lost(&rates) + &held.unwrap_or_default())
}

/// Returns at which of the rates offered events are lost for certain, and up to which they are not.
fn lost(rates: &[Rate]) -> String {
    let first = rates.iter().position(|rate| rate.losses.share.bounded() && rate.losses.share.low > 0.0);
    let below = &rates[..first.unwrap_or(rates.len())];
    let is_sure = below.iter().all(|rate| rate.losses.lost == 0.0);
    let none = if is_sure { "no event is lost" } else { "no loss is certain" };
    let up_to =
        below.last().map(|rate| format!("up to {} events offered per second {none}", words::whole(rate.offered)));
    let from = first.map(|first| {
        let Rate { offered, losses: Losses { share, .. }, .. } = &rates[first];
        let [value, low, high] = [share.value, share.low, share.high].map(words::share);
        format!("at {} {value} % of them are lost ({low} to {high})", words::whole(*offered))
    });
    let both = up_to.into_iter().chain(from).collect::<Vec<_>>().join(", ");
    format!("{}{}.", both[..1].to_uppercase(), &both[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(offered: f64, lost: f64, low: f64) -> Rate {
        let share = Estimate { value: 3.0, low, high: 4.0 };
        let losses = Losses { offered: Some(offered), seen: 1.0, lost, share };
        Rate { offered, came: offered, alone: offered, losses }
    }

    #[test]
    fn losing_begins_at_the_lowest_rate_that_loses_for_certain() {
        let rates = [rate(1000.0, 0.0, 0.0), rate(2000.0, 0.0, 0.0), rate(4000.0, 9.0, 2.0)];
        let none = "Up to 2000 events offered per second no event is lost";
        assert_eq!(lost(&rates), format!("{none}, at 4000 3 % of them are lost (2 to 4)."));
        assert_eq!(lost(&rates[..2]), format!("{none}."));
        assert_eq!(lost(&rates[2..]), "At 4000 3 % of them are lost (2 to 4).");
        let some = [rate(1000.0, 0.0, 0.0), rate(2000.0, 1.0, 0.0)];
        assert_eq!(lost(&some), "Up to 2000 events offered per second no loss is certain.");
        let alone = [rate(1000.0, 0.0, 0.0), rate(2000.0, 9.0, f64::NEG_INFINITY)];
        assert_eq!(lost(&alone), "Up to 2000 events offered per second no loss is certain.");
    }
}
