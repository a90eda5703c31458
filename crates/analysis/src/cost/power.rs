//! The power of comparisons on this machine: arms that are equal and arms slowed on purpose, judged by the same steps
//! as conditions.
//!
//! The three equal arms of a block are measured in random order, so whichever of them is called the first, its control
//! or the condition makes no difference: every way to choose, block by block, is one more comparison of equal arms that
//! the run might have been (a randomisation test: Edgington & Onghena, Randomization Tests, 4th ed., §3).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::Serialize;

use super::arms::Arms;
use super::{Cell, THRESHOLD, Trial};
use crate::Comparison;
use crate::compare::engine::FOUR_OF_FIVE;
use catalogue::NONE;
use journal::{Journal, Key};
use stats::{NORMAL_975, median, unit_half_width};
use words::Unique;

/// How many reports are made of the arms, by choosing their parts at random.
const REPORTS: u32 = 200;

/// The planted losses, in per cent, of arms that count as equal: the mechanism that slows is in them all the same.
const NOTHING: f64 = 0.1;

/// Differences in per cent whose price is told.
const SIZES: [f64; 3] = [1.0, 2.0, 5.0];

/// The fewest blocks that are asked for. The interval of six reaches from the lowest to the highest, a quarter wider
/// than Student's.
const FEWEST: u32 = 7;

/// The quantile of the normal distribution that one in ten lies beyond.
const ONE_IN_TEN: f64 = 1.2816;

/// The findings of `unixmark doctor --power`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Power {
    /// Blocks of the run, which are those of every comparison.
    pub blocks: u32,
    /// The share of comparisons of equal arms that are called different: false alarms.
    pub alarms: f64,
    /// The share of reports of such comparisons, one of each test, that call any.
    pub reports: f64,
    /// The findings on arms that were slowed on purpose.
    pub planted: Vec<Planted>,
    /// The price of a shown difference, test by test.
    pub tests: Vec<Need>,
}

/// Arms that lose a share of their rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Planted {
    /// The loss in per cent.
    pub percent: f64,
    /// The share of comparisons that find it.
    pub found: f64,
    /// The median of what they measured, in per cent; negative.
    pub measured: f64,
}

/// The price of a shown difference in one test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Need {
    /// The test.
    pub test: String,
    /// Its name in reports.
    pub label: String,
    /// Half the width, in per cent, of the interval of a difference of equal arms over all blocks.
    pub half: f64,
    /// The prices of 1, 2 and 5 %.
    pub sizes: [Price; SIZES.len()],
}

/// The blocks and time after which, with 90 % confidence, four of five comparisons of two arms show a difference: their
/// 95 % intervals exclude 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Price {
    /// The difference in per cent.
    pub percent: f64,
    /// Blocks.
    pub blocks: u32,
    /// Seconds for the two arms, at the pace of this run.
    pub seconds: f64,
}

impl Power {
    /// Returns what a run of equal and slowed arms shows; `None` if it has no such arms, or none of their trials
    /// worked.
    pub(crate) fn new(journal: &Journal, trials: &[Vec<&Trial>]) -> Option<Power> {
        let bench = Bench { cells: &journal.cells, trials, against: &journal.run.against };
        let blocks = journal.trials.iter().map(|trial| trial.block + 1).max()?;
        let equal = bench.equal()?;
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut reports = |slowed: Option<&str>| -> Vec<Vec<Comparison>> {
            let all = (0..REPORTS).map(|_| bench.judged(&equal, slowed, &mut random));
            all.filter(|report| !report.is_empty()).collect()
        };
        let planted = bench.planted().into_iter().map(|(percent, name)| {
            let all = reports(Some(name)).concat();
            let deltas: Vec<f64> = all.iter().map(|one| one.delta.value).collect();
            let found = share(&all, |one| one.verdict.is_loss());
            Planted { percent, found, measured: median(&deltas) }
        });
        let planted: Vec<Planted> = planted.collect();
        let found = reports(None);
        let is_called = |one: &Comparison| one.verdict.is_decided();
        let all = found.concat();
        (!all.is_empty()).then(|| Power {
            blocks,
            alarms: share(&all, is_called),
            reports: share(&found, |report| report.iter().any(is_called)),
            planted,
            tests: needs(&all, blocks, pace(journal)),
        })
    }

    /// Returns what it comes to, for people.
    pub fn sentences(&self) -> Vec<String> {
        let Power { planted, blocks, .. } = self;
        let mut sentences = vec![format!(
            "Of all comparisons of equal arms over {blocks} blocks, {} are called different; {} of the reports contain \
             one.",
            percent(self.alarms),
            percent(self.reports)
        )];
        let found = |one: &Planted| format!("{} % in {} of the comparisons", one.percent, percent(one.found));
        let found: Vec<String> = planted.iter().map(found).collect();
        sentences.extend((!found.is_empty()).then(|| format!("Planted losses are found: {}.", found.join(", "))));
        let price = |Price { percent, blocks, seconds }: Price| {
            format!("{blocks} blocks ({}) for {percent} %", words::duration(seconds))
        };
        let prices: Vec<String> = (0..SIZES.len()).filter_map(|size| self.typical(size)).map(price).collect();
        sentences.extend((!prices.is_empty()).then(|| {
            format!(
                "To show a difference in four of five comparisons, a typical test needs {} (as long as the machine \
                 stays this noisy).",
                prices.join(", ")
            )
        }));
        sentences
    }

    /// Returns what the middle one of the tests needs for the difference at this place of [`SIZES`].
    fn typical(&self, size: usize) -> Option<Price> {
        let mut prices: Vec<Price> = self.tests.iter().map(|test| test.sizes[size]).collect();
        prices.sort_by_key(|price| price.blocks);
        prices.get(prices.len() / 2).copied()
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

fn share<T>(all: &[T], is_counted: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| is_counted(one)).count() as f64 / all.len() as f64
}

/// An arm of all tests: a condition, and whether it is the second arm of that.
type Arm<'a> = (&'a str, bool);

/// The run's cells and their trials.
struct Bench<'a> {
    cells: &'a [Cell],
    trials: &'a [Vec<&'a Trial>],
    against: &'a str,
}

impl<'a> Bench<'a> {
    /// The loss in per cent that each condition plants, and its name.
    fn planted(&self) -> Vec<(f64, &'a str)> {
        let names = self.cells.iter().map(|cell| cell.key.condition.as_str()).unique();
        let loss = |name: &'a str| Some((name.strip_prefix("arg:slowed=")?.parse::<f64>().ok()?, name));
        names.into_iter().filter_map(loss).filter(|(percent, _)| *percent > NOTHING).collect()
    }

    /// The three equal arms: the condition compared with, its control, and one that is slowed by nothing.
    fn equal(&self) -> Option<[Arm<'a>; 3]> {
        let planted = self.planted();
        let names = self.cells.iter().map(|cell| cell.key.condition.as_str());
        let third =
            names.filter(|name| *name != self.against).find(|name| planted.iter().all(|(_, other)| other != name))?;
        Some([(self.against, false), (self.against, true), (third, false)])
    }

    /// Judges a report about cost whose condition, its base and its control are the equal arms in an order drawn for
    /// every block and test; or whose condition is the `slowed` one.
    fn judged(&self, equal: &[Arm<'_>; 3], slowed: Option<&str>, random: &mut Pcg64Mcg) -> Vec<Comparison> {
        let (mut cells, mut trials) = (Vec::new(), Vec::new());
        for test in self.cells.iter().filter(|cell| (cell.key.condition.as_str(), cell.control) == equal[0]) {
            let arms = equal.map(|arm| self.trials(test, arm));
            let mut chosen: [Vec<&Trial>; 3] = Default::default();
            for first in arms[0] {
                let in_block = |arm: &'a [&'a Trial]| arm.iter().copied().find(|trial| trial.block == first.block);
                let Some(mut order) = arms.map(in_block).into_iter().collect::<Option<Vec<&Trial>>>() else { continue };
                order.shuffle(random);
                chosen.iter_mut().zip(order).for_each(|(part, trial)| part.push(trial));
            }
            if let Some(slowed) = slowed {
                chosen[2] = self.trials(test, (slowed, false)).to_vec();
            }
            let parts = [(NONE, false), (NONE, true), ("judged", false)];
            for ((name, control), part) in parts.into_iter().zip(chosen) {
                let key = Key { condition: name.to_owned(), ..test.key.clone() };
                cells.push(Cell { id: cells.len(), key, control, ..test.clone() });
                trials.push(part);
            }
        }
        let arms = Arms { cells: &cells, trials: &trials, against: NONE, threshold: THRESHOLD };
        arms.judged().filter(|one| !one.is_energy()).collect()
    }

    /// The trials of an arm of a test.
    fn trials(&self, test: &Cell, arm: Arm<'_>) -> &'a [&'a Trial] {
        let is_it =
            |cell: &&Cell| cell.key.same_family(&test.key) && (cell.key.condition.as_str(), cell.control) == arm;
        self.cells.iter().find(is_it).and_then(|cell| self.trials.get(cell.id)).map_or(&[], Vec::as_slice)
    }
}

/// Seconds from one trial to the next.
fn pace(journal: &Journal) -> f64 {
    let at = |trial: Option<&Trial>| trial.map_or(0.0, |trial| trial.at);
    (at(journal.trials.last()) - at(journal.trials.first())) / (journal.trials.len() as f64 - 1.0).max(1.0)
}

/// Returns the blocks that each test needs. `equal` are comparisons of equal arms over `blocks` blocks.
fn needs(equal: &[Comparison], blocks: u32, pace: f64) -> Vec<Need> {
    let tests = equal.iter().map(|one| (one.cell.key.test.clone(), one.cell.label.clone())).unique();
    let need = |(test, label): (String, String)| {
        let own = equal.iter().filter(|one| one.cell.key.test == test);
        let half = median(&own.map(|one| (one.delta.high - one.delta.low) / 2.0).collect::<Vec<f64>>());
        if !half.is_finite() {
            return None;
        }
        let price = |percent: f64| {
            let blocks = blocks_to_show(percent, half, blocks);
            Price { percent, blocks, seconds: f64::from(blocks) * 2.0 * pace }
        };
        Some(Need { test, label, half, sizes: SIZES.map(price) })
    };
    tests.into_iter().filter_map(need).collect()
}

/// Returns how many blocks show a difference of `percent` in four of five comparisons, where an interval over `blocks`
/// blocks has the half-width `half`. The standard deviation behind `half` is known from two contrasts of three arms per
/// block; taken is what it is at most with 90 % confidence (χ² by Wilson & Hilferty 1931). Few blocks have wider
/// intervals than the root of their number says: by Student's t, which is within 5 % of the signed-rank interval's from
/// seven normal values on.
fn blocks_to_show(percent: f64, half: f64, blocks: u32) -> u32 {
    let part = 2.0 / (9.0 * 2.0 * f64::from(blocks.max(2) - 1));
    let least = (1.0 - part - ONE_IN_TEN * part.sqrt()).powi(3);
    let deviation = half / unit_half_width(blocks as usize) / least.sqrt();
    let shown = deviation * (1.0 + FOUR_OF_FIVE / NORMAL_975);
    // Student's t is never less than the normal quantile, so no fewer are enough.
    let fewest = (NORMAL_975 * shown / percent).powi(2).ceil().max(f64::from(FEWEST)) as u32;
    (fewest..u32::MAX).find(|blocks| shown * unit_half_width(*blocks as usize) <= percent).unwrap_or(u32::MAX)
}
