//! Events that auditing or a condition's own counters lost.
//!
//! Events are counted in one of two ways ([`count_events`]): by a row that counts what it sees and
//! loses, or by auditing, where the test makes events at a known rate. With several rates,
//! [`sentence`] says from which rate on events are lost and programs are delayed.

use super::{Cell, Effect, Trial};
use crate::figures::{Measure, rate};
use journal::Trail;
use stats::{Estimate, mean, mean_interval};
use words::Unique;

/// The names of a row's counters that are known here.
const EVENTS_COUNTER: &str = "events";
const LOST_COUNTER: &str = "lost";

/// Share of the offered events from which all of them count as made.
const MIN_SHARE_OF_ALL: f64 = 0.95;

/// The value by which a program reports how many events it was to make per second.
const OFFERED_VALUE: &str = "offered";

/// The events of a cell that were lost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Losses {
    /// Events per second that the test was to make, over all copies; `None` unless it keeps to a
    /// rate.
    pub offered: Option<f64>,
    /// The events of all trials that were seen.
    pub seen: f64,
    /// The events of all trials that were lost.
    pub lost: f64,
    /// The lost events in per cent of all, with the interval of the mean over trials.
    pub share: Estimate,
}

/// The events of one trial.
#[derive(Clone, Copy)]
struct Events {
    seen: f64,
    lost: f64,
}

/// The events that a cell lost; `None` unless they were counted.
pub(super) fn losses(cell: &Cell, trials: &[&Trial]) -> Option<Losses> {
    let mut offered = Vec::new();
    let mut counted = Vec::new();
    for trial in trials.iter().filter(|trial| trial.cell == cell.id && !trial.copies.is_empty()) {
        if let Some(events) = count_events(trial) {
            offered.extend(offered_per_second(trial));
            counted.push(events);
        }
    }
    if counted.is_empty() {
        return None;
    }

    let shares: Vec<f64> = counted
        .iter()
        .map(|events| 100.0 * events.lost / (events.seen + events.lost).max(1.0))
        .collect();
    let mut share = mean_interval(&shares);
    // The infinite ends of a single trial stay.
    if share.bounded() {
        share = Estimate { low: share.low.max(0.0), high: share.high.min(100.0), ..share };
    }
    Some(Losses {
        offered: (!offered.is_empty()).then(|| mean(offered)),
        seen: counted.iter().map(|events| events.seen).sum(),
        lost: counted.iter().map(|events| events.lost).sum(),
        share,
    })
}

/// The events of a trial; `None` unless they were counted, or auditing has a known rate of them. An
/// event that the test made and nobody saw is lost, whatever the counter of losses says.
fn count_events(trial: &Trial) -> Option<Events> {
    let evidence = trial.evidence.as_ref()?;
    let counter = |name: &str| evidence.figures.get(name).map(|figure| figure.0);
    let keeps_to_rate = offered_per_second(trial).is_some();
    let Events { seen, lost } = match (counter(EVENTS_COUNTER), counter(LOST_COUNTER)) {
        (Some(seen), Some(lost)) => Events { seen, lost },
        _ => events_of_trail(evidence.trail.as_ref().filter(|_| keeps_to_rate)?),
    };

    if !keeps_to_rate {
        return Some(Events { seen, lost });
    }
    let made: f64 = trial.copies.iter().map(|copy| rate::work_done(&copy.slices)).sum();
    Some(Events { seen, lost: lost.max(made - seen) })
}

/// The events that auditing has in its trail. The kernel counts the records that it drops, of which
/// an event has several.
fn events_of_trail(trail: &Trail) -> Events {
    let records_per_event = (trail.records as f64 / (trail.events as f64).max(1.0)).max(1.0);
    Events { seen: trail.all_events as f64, lost: trail.lost as f64 / records_per_event }
}

/// Events that all copies were to make per second; `None` unless all keep to a rate.
fn offered_per_second(trial: &Trial) -> Option<f64> {
    trial.copies.iter().map(|copy| copy.values.get(OFFERED_VALUE).map(|value| value.0)).sum()
}

/// Events per second at one rate.
struct Rate {
    /// Events that the test was to make.
    offered: f64,
    /// Events that it made under the condition.
    made: f64,
    /// Events that it made without the condition.
    made_without: f64,
    losses: Losses,
}

impl Rate {
    fn new(effect: &Effect) -> Option<Rate> {
        let losses = effect.losses?;
        Some(Rate {
            offered: losses.offered?,
            made: effect.comparison.b,
            made_without: effect.comparison.a,
            losses,
        })
    }

    /// True if the test made all events without the condition, and not with it.
    fn is_delayed(&self) -> bool {
        let all = MIN_SHARE_OF_ALL * self.offered;
        self.made < all && self.made_without >= all
    }

    /// True if the interval of the lost share excludes 0.
    fn certainly_loses(&self) -> bool {
        let share = self.losses.share;
        share.bounded() && share.low > 0.0
    }
}

/// The rate from which events are lost and programs are delayed, in sentences; `None` unless one
/// test had several rates.
pub(super) fn sentence(effects: &[Effect]) -> Option<String> {
    let scores: Vec<&Effect> =
        effects.iter().filter(|effect| effect.comparison.measure == Measure::Score).collect();
    let mut rates: Vec<Rate> = scores.iter().filter_map(|effect| Rate::new(effect)).collect();
    let keys = scores.iter().map(|effect| &effect.comparison.cell.key);
    let places = keys.map(|key| (key.copies, &key.load)).unique();
    if rates.len() < 2 || places.len() > 1 {
        return None;
    }

    rates.sort_by(|a, b| a.offered.total_cmp(&b.offered));
    let mut sentences = describe_losses(&rates);
    if let Some(rate) = rates.iter().find(|rate| rate.is_delayed()) {
        let [made, offered] = [rate.made, rate.offered].map(words::whole);
        sentences +=
            &format!(" Programs are held up: of {offered} events offered per second {made} come.");
    }
    Some(sentences)
}

/// The first rate at which events are certainly lost, and the rate up to which they are not.
fn describe_losses(rates: &[Rate]) -> String {
    let first = rates.iter().position(Rate::certainly_loses);
    let below = &rates[..first.unwrap_or(rates.len())];

    let mut clauses = Vec::new();
    if let Some(last) = below.last() {
        let offered = words::whole(last.offered);
        let has_none = below.iter().all(|rate| rate.losses.lost == 0.0);
        let none = if has_none { "no event is lost" } else { "no loss is certain" };
        clauses.push(format!("up to {offered} events offered per second {none}"));
    }
    if let Some(first) = first {
        let Rate { offered, losses: Losses { share, .. }, .. } = &rates[first];
        let [value, low, high] = [share.value, share.low, share.high].map(words::share);
        let offered = words::whole(*offered);
        clauses.push(format!("at {offered} {value} % of them are lost ({low} to {high})"));
    }
    let clauses = clauses.join(", ");
    // Both clauses begin with a letter of one byte.
    format!("{}{}.", clauses[..1].to_uppercase(), &clauses[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(offered: f64, lost: f64, low: f64) -> Rate {
        let share = Estimate { value: 3.0, low, high: 4.0 };
        let losses = Losses { offered: Some(offered), seen: 1.0, lost, share };
        Rate { offered, made: offered, made_without: offered, losses }
    }

    #[test]
    fn losing_begins_at_the_lowest_rate_that_loses_for_certain() {
        let rates = [rate(1000.0, 0.0, 0.0), rate(2000.0, 0.0, 0.0), rate(4000.0, 9.0, 2.0)];
        let none = "Up to 2000 events offered per second no event is lost";
        assert_eq!(
            describe_losses(&rates),
            format!("{none}, at 4000 3 % of them are lost (2 to 4).")
        );
        assert_eq!(describe_losses(&rates[..2]), format!("{none}."));
        assert_eq!(describe_losses(&rates[2..]), "At 4000 3 % of them are lost (2 to 4).");
        let some = [rate(1000.0, 0.0, 0.0), rate(2000.0, 1.0, 0.0)];
        assert_eq!(
            describe_losses(&some),
            "Up to 2000 events offered per second no loss is certain."
        );
        let alone = [rate(1000.0, 0.0, 0.0), rate(2000.0, 9.0, f64::NEG_INFINITY)];
        assert_eq!(
            describe_losses(&alone),
            "Up to 2000 events offered per second no loss is certain."
        );
    }
}
