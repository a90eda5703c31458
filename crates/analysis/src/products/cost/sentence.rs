//! The cost of a condition in a sentence: what is lost first, then what is gained, what is the
//! same, and what is not known.
//!
//! A cell has several measures, and one of them speaks for it ([`choose_findings`]). Findings of
//! one outcome make a clause ([`sentence`]); each clause lists a few tests, the largest difference
//! first.

use std::cmp::Ordering;

use super::{Effect, Measure};
use crate::figures::named;
use crate::products::comparison::Verdict;
use catalogue::NONE;
use words::{NOTHING, Unique, at_least, listed};

/// Losses that a sentence names, and tests that it names in another list.
const MAX_NAMED_LOSSES: usize = 4;
const MAX_NAMED_TESTS: usize = 3;

/// The factor by which time grows is said of the largest loss, and of others from here on.
const MIN_NAMED_TIME_FACTOR: f64 = 2.0;

/// What an effect amounts to, in the order in which sentences say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Loss,
    Gain,
    /// A loss that a second look did not find again.
    Unconfirmed,
    Undecided,
    Same,
}

impl Outcome {
    fn new(effect: &Effect) -> Outcome {
        match effect.comparison.verdict {
            Verdict::Slower | Verdict::Worse if effect.confirmed == Some(false) => {
                Outcome::Unconfirmed
            }
            Verdict::Slower | Verdict::Worse => Outcome::Loss,
            Verdict::Faster | Verdict::Better => Outcome::Gain,
            Verdict::Same(_) => Outcome::Same,
            Verdict::Differs | Verdict::Undirected | Verdict::Undecided(_) => Outcome::Undecided,
        }
    }
}

/// The effect that speaks for its cell.
#[derive(Clone, Copy)]
struct Finding<'a> {
    outcome: Outcome,
    effect: &'a Effect,
}

/// The sentence about the condition `name` with its `effects`, or the `reason` why it has none.
pub(super) fn sentence(name: &str, effects: &[Effect], reason: Option<&str>) -> String {
    let findings = choose_findings(effects);
    if findings.is_empty() {
        let reason = reason.unwrap_or("nothing was measured");
        return words::end_sentence(&format!("{name}: the cost is not known: {reason}"));
    }

    let has_levels = effects.iter().any(|effect| copies(effect) != copies(&effects[0]));
    let labels = Labels { has_levels };
    let undecided = with_outcome(&findings, Outcome::Undecided);
    if undecided.len() == findings.len() {
        let tests = describe_undecided(&undecided, &labels, "all of");
        return format!("{name}: the cost is undecided in {tests}.");
    }

    let losses = with_outcome(&findings, Outcome::Loss);
    let mut clauses: Vec<String> = vec![describe_losses(name, &losses, &labels)];
    let slower = losses.iter().filter(|effect| effect.comparison.measure != Measure::Score);
    clauses.extend(slower.take(MAX_NAMED_TESTS).map(|effect| labels.slower(effect)));

    clauses.extend(describe_gains(&with_outcome(&findings, Outcome::Gain), &labels));
    let unconfirmed = with_outcome(&findings, Outcome::Unconfirmed);
    if !unconfirmed.is_empty() {
        let names = labels.grouped(&unconfirmed, &findings);
        clauses.push(format!("a second look does not confirm the loss of {names}"));
    }
    let same = with_outcome(&findings, Outcome::Same);
    if !same.is_empty() {
        let sizes = same.iter().filter_map(|effect| effect.comparison.verdict.size());
        let limit = at_least(sizes.fold(0.0, f64::max));
        let names = labels.grouped(&same, &findings);
        clauses.push(format!("the same within {limit} %: {names}"));
    }
    if !undecided.is_empty() {
        let tests = describe_undecided(&undecided, &labels, "");
        clauses.push(format!("undecided in {tests}"));
    }
    clauses.extend(describe_energy(effects, &labels));
    clauses.extend(describe_trail(&findings, &labels));
    format!("{}.", clauses.join("; "))
}

/// A doubt about the differences that were called and are no larger than what the control shows
/// between two equal arms of the same cell; `None` if there are no such differences.
pub(super) fn doubt(effects: &[Effect], control: &[Effect]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    let mut largest = f64::NEG_INFINITY;
    for effect in effects {
        let cell = &effect.comparison.cell;
        if cell.is_alternating() || effect.confirmed == Some(true) {
            continue;
        }
        let mut arms = control.iter().map(|arm| &arm.comparison);
        let Some(swing) = arms.find_map(|arm| effect.comparison.swing(arm)) else { continue };
        names.push(&cell.label);
        largest = largest.max(swing);
    }
    if names.is_empty() {
        return None;
    }

    let largest = percent(largest);
    let names = listed(&names.into_iter().unique(), MAX_NAMED_TESTS);
    Some(format!(
        "Seen once, and no larger than the {largest} % between two equal arms of the control: \
         {names}; measure again before you trust it."
    ))
}

/// One finding for every cell: its worst loss, else a gain, else what is not known, else that it is
/// the same; sorted in this order, the largest loss first. Energies are in a clause of their own.
fn choose_findings(effects: &[Effect]) -> Vec<Finding<'_>> {
    let mut findings: Vec<Finding<'_>> = Vec::new();
    for effect in effects.iter().filter(|effect| !effect.comparison.is_energy()) {
        let finding = Finding { outcome: Outcome::new(effect), effect };
        let mut known = findings.iter_mut();
        let cell = effect.comparison.cell.id;
        match known.find(|known| known.effect.comparison.cell.id == cell) {
            Some(known) if speaks_before(effect, known.effect) => *known = finding,
            Some(_) => {}
            None => findings.push(finding),
        }
    }
    findings.sort_by(|a, b| a.outcome.cmp(&b.outcome).then_with(|| by_loss(a.effect, b.effect)));
    findings
}

/// True if effect `a` of a cell says more than `b`. Deadlines are in points, which are not compared
/// with per cents: they speak where no percentile does. A command's time speaks before its memory.
fn speaks_before(a: &Effect, b: &Effect) -> bool {
    let order = |effect: &Effect| {
        let measure = effect.comparison.measure;
        (Outcome::new(effect), measure == Measure::Met, measure == Measure::Memory)
    };
    order(a).cmp(&order(b)).then_with(|| delta(a).total_cmp(&delta(b))).is_lt()
}

/// The order of findings of one outcome: the most certain large loss first, by the end of its
/// interval that is nearer to none, since the largest estimates of many are those that luck made
/// larger. Gains likewise; others stay in the order of the rows.
fn by_loss(a: &Effect, b: &Effect) -> Ordering {
    let key = |effect: &Effect| {
        let Effect { comparison, .. } = effect;
        match Outcome::new(effect) {
            Outcome::Loss => (comparison.measure == Measure::Met, comparison.delta.high),
            Outcome::Gain => (false, -comparison.delta.low),
            _ => (false, 0.0),
        }
    };
    let (a, b) = (key(a), key(b));
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

fn with_outcome<'a>(findings: &[Finding<'a>], outcome: Outcome) -> Vec<&'a Effect> {
    let same = findings.iter().filter(|finding| finding.outcome == outcome);
    same.map(|finding| finding.effect).collect()
}

fn delta(effect: &Effect) -> f64 {
    effect.comparison.delta.value
}

fn copies(effect: &Effect) -> u32 {
    effect.comparison.cell.key.copies
}

/// How tests and their differences are called.
struct Labels {
    /// True if there are several levels of copies.
    has_levels: bool,
}

impl Labels {
    fn name(&self, effect: &Effect) -> String {
        let cell = &effect.comparison.cell;
        let name = named(&cell.label, &cell.key.load, NONE);
        if self.has_levels { format!("{name} ({})", words::copies(cell.key.copies)) } else { name }
    }

    /// A loss of rate with its interval, which allows for its having been selected: `Pipe
    /// Throughput by 24 % (14 to 39; 1.31x the time)`; of a time, `getpid take 7.4x (7.2x to 7.6x)
    /// as long`.
    fn loss(&self, effect: &Effect, is_largest: bool) -> String {
        let name = self.name(effect);
        if effect.comparison.lower_is_better() {
            return format!("{name} take {} as long", time_factor(effect));
        }

        let delta = effect.comparison.adjusted;
        let mut details: Vec<String> = Vec::new();
        // The high end of a negative difference is the smaller loss.
        let [smallest, largest] = [percent(delta.high), percent(delta.low)];
        if smallest != largest {
            details.push(format!("{smallest} to {largest}"));
        }
        let factor = effect.comparison.time_factor();
        if let Some(factor) = factor.filter(|factor| is_largest || *factor >= MIN_NAMED_TIME_FACTOR)
        {
            details.push(format!("{} the time", times(factor)));
        }

        let loss = format!("{name} by {} %", percent(delta.value));
        if details.is_empty() { loss } else { format!("{loss} ({})", details.join("; ")) }
    }

    /// A latency that takes longer, more memory, or deadlines that are not met.
    fn slower(&self, effect: &Effect) -> String {
        let Effect { comparison, .. } = effect;
        if comparison.time_factor().is_some() {
            return self.measure_factor(effect);
        }
        if comparison.measure == Measure::Memory {
            return self.memory(effect);
        }
        self.deadlines(effect, "less")
    }

    fn faster(&self, effect: &Effect) -> String {
        let Effect { comparison, .. } = effect;
        let name = self.name(effect);
        match comparison.measure {
            Measure::Met => self.deadlines(effect, "more"),
            Measure::Memory => self.memory(effect),
            Measure::Score if comparison.lower_is_better() => {
                format!("{name} takes {} as long", time_factor(effect))
            }
            Measure::Score => format!("{name} gains {} %", percent(comparison.delta.value)),
            _ => self.measure_factor(effect),
        }
    }

    fn measure_factor(&self, effect: &Effect) -> String {
        let measure = effect.comparison.measure.name();
        format!("{measure} of {} is {} as long", self.name(effect), time_factor(effect))
    }

    fn deadlines(&self, effect: &Effect, way: &str) -> String {
        let points = percent(effect.comparison.delta.value);
        format!("{} meets its deadlines {points} percentage points {way} often", self.name(effect))
    }

    fn memory(&self, effect: &Effect) -> String {
        format!("{} takes {} the memory", self.name(effect), time_factor(effect))
    }

    /// The names of tests. Where all tests of a category are among them, the category stands for
    /// them.
    fn grouped(&self, effects: &[&Effect], findings: &[Finding<'_>]) -> String {
        if effects.len() == findings.len() && findings.len() > 1 {
            return format!("all its {} tests", findings.len());
        }

        let mut categories = Vec::new();
        let mut tests = Vec::new();
        for effect in effects {
            let category = category_of(effect);
            let measured =
                findings.iter().filter(|other| category_of(other.effect) == category).count();
            let named = effects.iter().filter(|other| category_of(other) == category).count();
            if measured > 1 && named == measured {
                categories.push(format!("{category} (all {measured} tests)"));
            } else {
                tests.push(self.name(effect));
            }
        }
        listed(&categories.into_iter().chain(tests).unique(), MAX_NAMED_TESTS)
    }
}

fn category_of(effect: &Effect) -> &str {
    &effect.comparison.cell.category
}

/// The losses of scores: those of rates, then those of times, each the largest first. Losses by
/// other measures are clauses of their own, after this one.
fn describe_losses(name: &str, losses: &[&Effect], labels: &Labels) -> String {
    let scores: Vec<&&Effect> =
        losses.iter().filter(|effect| effect.comparison.measure == Measure::Score).collect();
    let mut rates = Vec::new();
    let mut times = Vec::new();
    for (place, effect) in scores.iter().take(MAX_NAMED_LOSSES).enumerate() {
        let is_time = effect.comparison.lower_is_better();
        let list = if is_time { &mut times } else { &mut rates };
        list.push(labels.loss(effect, place == 0));
    }

    let rates = listed(&rates, MAX_NAMED_LOSSES);
    let times = listed(&times, MAX_NAMED_LOSSES);
    let clause = match (losses.len(), &*rates, &*times) {
        (0, ..) => format!("{name} shows no cost"),
        (_, "", "") => format!("{name} costs time"),
        (_, rates, "") => format!("{name} cuts the rate of {rates}"),
        (_, "", times) => format!("{name} makes {times}"),
        (_, rates, times) => format!("{name} cuts the rate of {rates}, and makes {times}"),
    };
    let more = scores.len().saturating_sub(MAX_NAMED_LOSSES);
    if more == 0 { clause } else { format!("{clause}; less for {more} more") }
}

/// The tests that gain; `None` without any.
fn describe_gains(gains: &[&Effect], labels: &Labels) -> Option<String> {
    if gains.is_empty() {
        return None;
    }
    let names: Vec<String> = gains.iter().map(|effect| labels.faster(effect)).collect();
    let is_time = gains.iter().all(|effect| effect.comparison.measure != Measure::Memory);
    let word = if is_time { "faster" } else { "better" };
    Some(format!("{} ({word})", listed(&names, MAX_NAMED_TESTS)))
}

/// The tests whose operations take more or less energy, losses first and the largest of them first;
/// `None` without any.
fn describe_energy(effects: &[Effect], labels: &Labels) -> Option<String> {
    let mut findings: Vec<Finding<'_>> = effects
        .iter()
        .filter(|effect| effect.comparison.is_energy())
        .map(|effect| Finding { outcome: Outcome::new(effect), effect })
        .filter(|finding| matches!(finding.outcome, Outcome::Loss | Outcome::Gain))
        .collect();
    if findings.is_empty() {
        return None;
    }

    findings.sort_by(|a, b| a.outcome.cmp(&b.outcome).then_with(|| by_loss(a.effect, b.effect)));
    let tests: Vec<String> = findings
        .iter()
        .map(|Finding { effect, .. }| format!("{} {}", labels.name(effect), time_factor(effect)))
        .collect();
    Some(format!("energy per operation: {}", listed(&tests, MAX_NAMED_TESTS)))
}

/// Undecided tests, and the size of a difference that would have been seen. With `how_many`, which
/// is `all of`, many tests are only counted.
fn describe_undecided(undecided: &[&Effect], labels: &Labels, how_many: &str) -> String {
    let names: Vec<String> = undecided.iter().map(|effect| labels.name(effect)).collect();
    let tests = if !how_many.is_empty() && names.len() > MAX_NAMED_TESTS {
        format!("{how_many} its {} tests", names.len())
    } else {
        listed(&names, MAX_NAMED_TESTS)
    };

    let sizes = undecided.iter().filter_map(|effect| effect.comparison.verdict.size());
    let mut sizes: Vec<f64> = sizes.filter(|size| at_least(*size) != NOTHING).collect();
    sizes.sort_by(f64::total_cmp);
    match &sizes.iter().map(|size| at_least(*size)).unique()[..] {
        [] => format!("{tests} (too few blocks to see any)"),
        [size] => format!("{tests} (blind below {size} %)"),
        [smallest, .., largest] => format!("{tests} (blind below {smallest} to {largest} %)"),
    }
}

/// The trail of the test that loses most, and the records that were lost; `None` if nothing was
/// audited.
fn describe_trail(findings: &[Finding<'_>], labels: &Labels) -> Option<String> {
    let mut audited = Vec::new();
    for Finding { effect, .. } in findings {
        audited.extend(effect.trail.map(|trail| (*effect, trail)));
    }
    // Deadlines are in points, which are not compared with per cents.
    let rated = audited.iter().filter(|(effect, _)| effect.comparison.measure != Measure::Met);
    let (worst, trail) = rated.min_by(|(a, _), (b, _)| delta(a).total_cmp(&delta(b)))?;

    let lost: u64 = audited.iter().map(|(_, trail)| trail.lost).sum();
    let lost = if lost == 0 { "none lost".to_owned() } else { format!("{lost} records lost") };
    if audited.iter().all(|(_, trail)| trail.bytes == 0) {
        return Some(format!("no records written, {lost}"));
    }

    let calls = worst.calls.filter(|calls| *calls > 0.0);
    let unit = if calls.is_some() { "call" } else { "operation" };
    let bytes = trail.bytes_per / calls.unwrap_or(1.0);
    if !bytes.is_finite() {
        return Some(lost);
    }
    let decimals = if bytes >= 10.0 { 0 } else { 1 };
    let name = labels.name(worst);
    Some(format!("{bytes:.decimals$} bytes of trail per {unit} of {name}; {lost}"))
}

/// A size that was measured, without its sign: two figures, never 100 of a loss.
fn percent(value: f64) -> String {
    match value.abs() {
        size if size < 9.95 => format!("{size:.1}"),
        size if value < 0.0 && size > 98.0 => format!("{:.1}", size.min(99.9)),
        size => format!("{size:.0}"),
    }
}

/// The factor of a time, or of another amount, with its interval: `7.4x (7.2x to 7.6x)`.
fn time_factor(effect: &Effect) -> String {
    let change = effect.comparison.adjusted_change();
    let [value, low, high] =
        [change.value, change.low, change.high].map(|change| times(1.0 + change / 100.0));
    if low == high { value } else { format!("{value} ({low} to {high})") }
}

pub(super) fn times(factor: f64) -> String {
    match factor {
        factor if factor < MIN_NAMED_TIME_FACTOR => format!("{factor:.2}x"),
        factor if factor < 99.95 => format!("{factor:.1}x"),
        factor => format!("{factor:.0}x"),
    }
}
