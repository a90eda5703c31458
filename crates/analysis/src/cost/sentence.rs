//! The cost of a condition in a sentence: what is lost first, then what is not, then what is not known.

use super::{Effect, Measure};
use crate::{Verdict, named};
use catalogue::NONE;
use words::{NOTHING, Unique, at_least, listed};

/// Losses that are told by name, and other tests of a list.
const TOLD: usize = 4;
const NAMED: usize = 3;

/// From this time factor on it is told of every loss, not of the largest alone.
const TOLD_FACTOR: f64 = 2.0;

/// The outcome of a cell, by the one of its measures that says most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Loss,
    Gain,
    Unconfirmed,
    Undecided,
    Same,
}

/// Returns the sentence of the condition `name` with its `effects`, or the `reason` why it has none.
pub(super) fn sentence(name: &str, effects: &[Effect], reason: Option<&str>) -> String {
    let cells = speaking(effects);
    if cells.is_empty() {
        let reason = reason.unwrap_or("nothing was measured");
        return format!("{name}: the cost is not known: {reason}.");
    }
    let of = |kind: Kind| cells.iter().filter(|cell| cell.0 == kind).map(|cell| cell.1).collect::<Vec<&Effect>>();
    let (losses, gains, same, undecided) = (of(Kind::Loss), of(Kind::Gain), of(Kind::Same), of(Kind::Undecided));
    let labels = Labels { several: effects.iter().any(|one| copies(one) != copies(&effects[0])) };
    if cells.len() == undecided.len() {
        return format!("{name}: the cost is undecided in {}.", seen(&undecided, &labels, "all of"));
    }
    let mut parts: Vec<String> = vec![lost(name, &losses, &labels)];
    let slower = losses.iter().filter(|effect| effect.comparison.measure != Measure::Score);
    parts.extend(slower.take(NAMED).map(|effect| labels.slower(effect)));
    let won: Vec<String> = gains.iter().map(|effect| labels.faster(effect)).collect();
    let is_time = gains.iter().all(|effect| effect.comparison.measure != Measure::Memory);
    let word = if is_time { "faster" } else { "better" };
    parts.extend((!gains.is_empty()).then(|| format!("{} ({word})", listed(&won, NAMED))));
    let doubtful = of(Kind::Unconfirmed);
    parts.extend(
        (!doubtful.is_empty())
            .then(|| format!("a second look does not confirm the loss of {}", labels.grouped(&doubtful, &cells))),
    );
    if !same.is_empty() {
        let within = same.iter().filter_map(|effect| effect.comparison.verdict.size()).fold(0.0, f64::max);
        parts.push(format!("the same within {} %: {}", at_least(within), labels.grouped(&same, &cells)));
    }
    if !undecided.is_empty() {
        parts.push(format!("undecided in {}", seen(&undecided, &labels, "")));
    }
    parts.extend(energy(effects, &labels));
    parts.extend(trail(&cells, &labels));
    format!("{}.", parts.join("; "))
}

/// One effect of every cell: the worst loss, else a gain, else what is not known, else that it is the same. Deadlines
/// are in points, which are not compared with per cents: they speak where no percentile does. A command's time speaks
/// before its memory. Energies speak for themselves.
fn speaking(effects: &[Effect]) -> Vec<(Kind, &Effect)> {
    let order = |effect: &Effect| {
        let measure = effect.comparison.measure;
        (kind(effect), measure == Measure::Met, measure == Measure::Memory)
    };
    let before = |a: &Effect, b: &Effect| order(a).cmp(&order(b)).then(delta(a).total_cmp(&delta(b))).is_lt();
    let mut cells: Vec<(Kind, &Effect)> = Vec::new();
    for effect in effects.iter().filter(|effect| !effect.comparison.is_energy()) {
        match cells.iter_mut().find(|known| known.1.comparison.cell.id == effect.comparison.cell.id) {
            Some(known) if before(effect, known.1) => *known = (kind(effect), effect),
            Some(_) => {}
            None => cells.push((kind(effect), effect)),
        }
    }
    cells.sort_by(|a, b| a.0.cmp(&b.0).then(by_loss(a.1, b.1)));
    cells
}

/// The surest large loss first, by the end of its interval that is nearer to none: the largest
/// estimates of many are those that luck made larger. Gains likewise; else in the order of the rows.
fn by_loss(a: &Effect, b: &Effect) -> std::cmp::Ordering {
    let key = |effect: &Effect| match kind(effect) {
        Kind::Loss => (effect.comparison.measure == Measure::Met, effect.comparison.delta.high),
        Kind::Gain => (false, -effect.comparison.delta.low),
        _ => (false, 0.0),
    };
    let (a, b) = (key(a), key(b));
    a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
}

fn kind(effect: &Effect) -> Kind {
    match effect.comparison.verdict {
        Verdict::Slower | Verdict::Worse if effect.confirmed == Some(false) => Kind::Unconfirmed,
        Verdict::Slower | Verdict::Worse => Kind::Loss,
        Verdict::Faster | Verdict::Better => Kind::Gain,
        Verdict::Same(_) => Kind::Same,
        Verdict::Differs | Verdict::Undecided(_) => Kind::Undecided,
    }
}

fn delta(effect: &Effect) -> f64 {
    effect.comparison.delta.value
}

fn copies(effect: &Effect) -> u32 {
    effect.comparison.cell.key.copies
}

/// How tests are named.
struct Labels {
    /// True if there are several levels of copies.
    several: bool,
}

impl Labels {
    fn name(&self, effect: &Effect) -> String {
        let cell = &effect.comparison.cell;
        let name = named(&cell.label, &cell.key.load, NONE);
        if self.several { format!("{name} ({})", words::copies(cell.key.copies)) } else { name }
    }

    /// A loss of rate with its interval, which allows for its having been chosen: `Pipe Throughput by 24 % (14 to 39;
    /// 1.31x the time)`; of a time, `getpid take 7.4x (7.2x to 7.6x) as long`.
    fn loss(&self, effect: &Effect, largest: bool) -> String {
        if effect.comparison.lower_is_better() {
            return format!("{} take {} as long", self.name(effect), long(effect));
        }
        let delta = effect.comparison.adjusted;
        let [least, most] = [percent(delta.high), percent(delta.low)];
        let ends = (least != most).then(|| format!("{least} to {most}"));
        let factor = effect.comparison.time_factor().filter(|factor| largest || *factor >= TOLD_FACTOR);
        let factor = factor.map(|factor| format!("{} the time", times(factor)));
        let more: Vec<String> = ends.into_iter().chain(factor).collect();
        let more = if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) };
        format!("{} by {} %{more}", self.name(effect), percent(delta.value))
    }

    /// A latency that takes longer, or deadlines that are not met.
    fn slower(&self, effect: &Effect) -> String {
        let one = &effect.comparison;
        match one.time_factor() {
            Some(_) => format!("{} of {} is {} as long", one.measure.name(), self.name(effect), long(effect)),
            None if one.measure == Measure::Memory => self.memory(effect),
            None => self.met(effect, "less"),
        }
    }

    fn faster(&self, effect: &Effect) -> String {
        let one = &effect.comparison;
        match one.measure {
            Measure::Met => self.met(effect, "more"),
            Measure::Score if one.lower_is_better() => format!("{} takes {} as long", self.name(effect), long(effect)),
            Measure::Score => format!("{} gains {} %", self.name(effect), percent(one.delta.value)),
            Measure::Memory => self.memory(effect),
            measure => format!("{} of {} is {} as long", measure.name(), self.name(effect), long(effect)),
        }
    }

    fn met(&self, effect: &Effect, way: &str) -> String {
        let points = percent(effect.comparison.delta.value);
        format!("{} meets its deadlines {points} percentage points {way} often", self.name(effect))
    }

    fn memory(&self, effect: &Effect) -> String {
        format!("{} takes {} the memory", self.name(effect), long(effect))
    }

    /// Names of tests, where a category whose tests are all among them stands for them.
    fn grouped(&self, effects: &[&Effect], all: &[(Kind, &Effect)]) -> String {
        if effects.len() == all.len() && all.len() > 1 {
            return format!("all its {} tests", all.len());
        }
        let category = |effect: &Effect| effect.comparison.cell.category.clone();
        let of_category = |effects: &mut dyn Iterator<Item = &Effect>, name: &str| {
            effects.filter(|effect| category(effect) == name).count()
        };
        let (mut whole, mut single) = (Vec::new(), Vec::new());
        for effect in effects {
            let own = category(effect);
            let tests = of_category(&mut all.iter().map(|cell| cell.1), &own);
            if tests > 1 && tests == of_category(&mut effects.iter().copied(), &own) {
                whole.push(format!("{own} (all {tests} tests)"));
            } else {
                single.push(self.name(effect));
            }
        }
        listed(&whole.into_iter().chain(single).unique(), NAMED)
    }
}

/// The losses of rates, then those of times, each the largest first.
fn lost(name: &str, losses: &[&Effect], labels: &Labels) -> String {
    let scores: Vec<&&Effect> = losses.iter().filter(|effect| effect.comparison.measure == Measure::Score).collect();
    let (mut rates, mut times) = (Vec::new(), Vec::new());
    for (place, effect) in scores.iter().take(TOLD).enumerate() {
        let of_kind = if effect.comparison.lower_is_better() { &mut times } else { &mut rates };
        of_kind.push(labels.loss(effect, place == 0));
    }
    let (rates, times) = (listed(&rates, TOLD), listed(&times, TOLD));
    let told = match (losses.len(), &*rates, &*times) {
        (0, ..) => format!("{name} shows no cost"),
        (_, "", "") => format!("{name} costs time"),
        (_, rates, "") => format!("{name} cuts the rate of {rates}"),
        (_, "", times) => format!("{name} makes {times}"),
        (_, rates, times) => format!("{name} cuts the rate of {rates}, and makes {times}"),
    };
    let more = scores.len().saturating_sub(TOLD);
    if more == 0 { told } else { format!("{told}; less for {more} more") }
}

/// Whose operations take more or less energy, the surest large loss first.
fn energy(effects: &[Effect], labels: &Labels) -> Option<String> {
    let is_told = |effect: &&Effect| effect.comparison.is_energy() && matches!(kind(effect), Kind::Loss | Kind::Gain);
    let mut told: Vec<&Effect> = effects.iter().filter(is_told).collect();
    told.sort_by(|a, b| kind(a).cmp(&kind(b)).then(by_loss(a, b)));
    let told: Vec<String> = told.iter().map(|effect| format!("{} {}", labels.name(effect), long(effect))).collect();
    (!told.is_empty()).then(|| format!("energy per operation: {}", listed(&told, NAMED)))
}

/// Undecided tests, and what would have been seen of them.
fn seen(undecided: &[&Effect], labels: &Labels, how_many: &str) -> String {
    let mut sizes: Vec<f64> = undecided.iter().filter_map(|effect| effect.comparison.verdict.size()).collect();
    sizes.retain(|size| at_least(*size) != NOTHING);
    sizes.sort_by(f64::total_cmp);
    let names: Vec<String> = undecided.iter().map(|effect| labels.name(effect)).collect();
    let tests = match (how_many, undecided.len()) {
        (all, count) if !all.is_empty() && count > NAMED => format!("{all} its {count} tests"),
        _ => listed(&names, NAMED),
    };
    match &sizes.iter().map(|size| at_least(*size)).unique()[..] {
        [] => format!("{tests} (too few blocks to see any)"),
        [size] => format!("{tests} (blind below {size} %)"),
        [least, .., most] => format!("{tests} (blind below {least} to {most} %)"),
    }
}

/// The trail of what loses most, and what was lost of it.
fn trail(cells: &[(Kind, &Effect)], labels: &Labels) -> Option<String> {
    let audited: Vec<&Effect> = cells.iter().map(|cell| cell.1).filter(|effect| effect.trail.is_some()).collect();
    let lost: u64 = audited.iter().filter_map(|effect| effect.trail).map(|trail| trail.lost).sum();
    let rates = audited.iter().filter(|effect| effect.comparison.measure != Measure::Met);
    let worst = rates.min_by(|a, b| delta(a).total_cmp(&delta(b)))?;
    let (bytes, calls) = (worst.trail?.bytes_per, worst.calls.filter(|calls| *calls > 0.0));
    let lost = if lost == 0 { "none lost".to_owned() } else { format!("{lost} records lost") };
    if audited.iter().all(|effect| effect.trail.is_some_and(|trail| trail.bytes == 0)) {
        return Some(format!("no records written, {lost}"));
    }
    let per = if calls.is_some() { "call" } else { "operation" };
    let bytes = bytes / calls.unwrap_or(1.0);
    let told = if bytes >= 10.0 { format!("{bytes:.0}") } else { format!("{bytes:.1}") };
    Some(match bytes.is_finite() {
        true => format!("{told} bytes of trail per {per} of {}; {lost}", labels.name(worst)),
        false => lost,
    })
}

/// A size that was measured, without its sign: two figures, never 100 of a loss.
fn percent(value: f64) -> String {
    match value.abs() {
        size if size < 9.95 => format!("{size:.1}"),
        size if value < 0.0 && size > 98.0 => format!("{:.1}", size.min(99.9)),
        size => format!("{size:.0}"),
    }
}

/// The factor by which the same takes longer, with the interval: `7.4x (7.2x to 7.6x)`.
fn long(effect: &Effect) -> String {
    let change = effect.comparison.adjusted_change();
    let [value, least, most] = [change.value, change.low, change.high].map(|change| times(1.0 + change / 100.0));
    if least == most { value } else { format!("{value} ({least} to {most})") }
}

pub(super) fn times(factor: f64) -> String {
    match factor {
        factor if factor < TOLD_FACTOR => format!("{factor:.2}x"),
        factor if factor < 99.95 => format!("{factor:.1}x"),
        factor => format!("{factor:.0}x"),
    }
}
