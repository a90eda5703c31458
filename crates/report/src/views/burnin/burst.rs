//! How long a burst lasted: figures, and a paragraph that stands alone.

use analysis::{BurnIn, Burst};
use stats::Estimate;
use words::{count, duration, figure, percentage, whole};

use super::Item;
use crate::document::{Block, ends_after};

/// A smaller share of stolen time, in per cent, is no news.
const MIN_TOLD_STEAL_PERCENT: f64 = 1.0;

/// A burst in words that stand alone, as for a letter to a provider.
pub(super) fn paragraph(burnin: &BurnIn) -> Block {
    let threads = count(burnin.asked.threads, "thread");
    let mut text =
        format!("In other words: {threads} of integer arithmetic were started at once, ");
    text += &match &burnin.burst {
        Some(burst) => describe(burst),
        None => format!(
            "and for {} their rate did not fall to a lower level and stay there.",
            duration(burnin.worked)
        ),
    };

    let steal = burnin.cooling.as_ref().and_then(|cooling| cooling.steal);
    if let Some(steal) = steal.filter(|steal| *steal >= MIN_TOLD_STEAL_PERCENT) {
        let share = percentage(steal / 100.0);
        text += &format!(" At the median, the hypervisor took {share} of the time.");
    }
    Block::text(text)
}

fn describe(burst: &Burst) -> String {
    let known = |estimate: &Estimate, unit: &str| {
        format!("{} {unit}{}", figure(estimate.value), ends_after(estimate, figure))
    };
    let lasted = known(&burst.lasted, "s");
    let watched = whole(burst.watched);
    let sustained = known(&burst.sustained.scaled(100.0), "%");
    let credit = known(&burst.credit, "processor-seconds");
    let refill = known(&burst.refill, "processor-seconds");
    let full_after = known(&burst.full_after, "s");
    format!(
        "and ran at full speed for {lasted}. Then, for the {watched} s that they were watched, they ran at {sustained} of \
         it. As a credit, that is {credit}, to which {refill} come in a second of rest, so that it is as full again after \
         {full_after}. How full it was when the work began is not known."
    )
}

pub(super) fn figures(burst: &Burst) -> Vec<Item> {
    let Burst { lasted, sustained, credit, refill, full_after, .. } = *burst;
    let seconds = |estimate: Estimate| format!("{} s", figure(estimate.value));
    vec![
        Item::estimate("Full speed for", "burst", "s", lasted, seconds(lasted)),
        Item::estimate("Sustained", "sustained", "", sustained, percentage(sustained.value)),
        Item::estimate("Credit, of a processor", "credit", "s", credit, seconds(credit)),
        Item::estimate("Refill in a second of rest", "refill", "s", refill, seconds(refill)),
        Item::estimate("As full again after", "full_after", "s", full_after, seconds(full_after)),
    ]
}
