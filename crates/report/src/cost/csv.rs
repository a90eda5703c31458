//! The columns that a run about cost has besides, in CSV.

use crate::csv::field;
use analysis::{Cost, Effect, Results, Row};

/// The columns, each with the comma before it.
pub(crate) const HEAD: &str = ",against,control,measure,value_against,delta,delta_low,delta_high,delta_unit,time_factor,\
p,q,verdict,floor,confirmed,events,bytes,lost,events_per_op,bytes_per_op,bytes_per_event,waited,outside_cpu";

/// Returns the fields of [`HEAD`] where there is nothing to compare.
pub(crate) fn nothing() -> String {
    ",".repeat(HEAD.matches(',').count())
}

/// Returns what a row was found to differ by: the effect of what its value is first, then those of its other measures.
pub(crate) fn effects<'a>(cost: &'a Cost, results: &Results, row: &Row) -> Vec<&'a Effect> {
    let is_control = results.controls().iter().any(|control| control.cell.id == row.cell.id);
    let all = cost.conditions.iter().flat_map(|condition| &condition.effects);
    let own = |effect: &&Effect| effect.comparison.cell.id == row.cell.id;
    let mut found: Vec<&Effect> =
        if is_control { cost.floor.iter().filter(own).collect() } else { all.filter(own).collect() };
    let value = row.latency.as_ref().map_or("score", |latency| latency.value);
    found.sort_by_key(|effect| effect.comparison.measure.name() != value);
    found
}

/// Returns the fields of [`HEAD`].
pub(crate) fn fields(cost: &Cost, effect: &Effect) -> String {
    let one = &effect.comparison;
    let number = |value: Option<f64>| {
        value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
    };
    let is_control = cost.floor.iter().any(|control| std::ptr::eq(control, effect));
    let mut fields = vec![field(&cost.against), if is_control { "yes" } else { "no" }.to_owned()];
    fields.push(one.measure.name().to_owned());
    fields.extend([one.a, one.delta.value, one.delta.low, one.delta.high].map(|value| number(Some(value))));
    fields.push(one.measure.delta_unit().to_owned());
    fields.extend([one.time_factor(), Some(one.p), Some(one.q)].map(number));
    fields.push(one.verdict.word().to_owned());
    fields.push(number(effect.floor));
    fields.push(effect.confirmed.map_or("", |confirmed| if confirmed { "yes" } else { "no" }).to_owned());
    let trail = effect.trail.as_ref();
    let counts = trail.map(|trail| [trail.events, trail.bytes, trail.lost].map(|count| count.to_string()));
    fields.extend(counts.unwrap_or_default());
    let shares = trail.map(|trail| {
        [trail.events_per, trail.bytes_per, trail.bytes_per_event, trail.waited, trail.outside_cpu]
            .map(|share| number(Some(share)))
    });
    fields.extend(shares.unwrap_or_default());
    fields.iter().map(|field| format!(",{field}")).collect()
}
