//! The power of comparisons on this machine: how often equal arms are called different, how often
//! arms slowed on purpose are found, and how many blocks a smaller difference would need.
//!
//! The three equal arms of a block are measured in random order, so it makes no difference which of
//! them is called the reference, the control or the condition. Every way to choose, block by block,
//! is one more comparison of equal arms that the run might have made (a randomisation test:
//! Edgington & Onghena, Randomization Tests, 4th ed., §3).
//!
//! 1. [`Bench`] finds the arms: the equal ones, and those with a planted loss.
//! 2. It deals the equal arms into the three parts of a report, many times ([`Bench::deal`]), and
//!    judges each report by the same steps as conditions ([`Bench::simulate`]).
//! 3. The widths of the equal arms' intervals give the blocks that a difference needs
//!    ([`blocks_to_show`]).

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::Serialize;

use super::{Cell, Trial};
use crate::products::comparison::Comparison;
use crate::products::comparison::engine::FOUR_OF_FIVE;
use crate::products::pairs::{Arms, DEFAULT_THRESHOLD};
use catalogue::NONE;
use journal::{Journal, Key};
use stats::{NORMAL_975, median, unit_half_width};
use words::Unique;

/// Reports that are made of the arms, by dealing their parts at random.
const SIMULATED_REPORTS: u32 = 200;

/// Largest planted loss, in per cent, of an arm that counts as equal. The mechanism that slows
/// works in it all the same.
const MAX_EQUAL_LOSS_PERCENT: f64 = 0.1;

/// Differences in per cent whose price is reported.
const PRICED_PERCENTS: [f64; 3] = [1.0, 2.0, 5.0];

/// Fewest blocks that are asked for. The interval of six reaches from the lowest to the highest, a
/// quarter wider than Student's.
const MIN_BLOCKS: u32 = 7;

/// The quantile of the normal distribution that one in ten lies beyond.
const NORMAL_90: f64 = 1.2816;

/// The conditions of a simulated report: its reference (with the control), and the one judged.
const SIMULATED_REFERENCE: &str = NONE;
const SIMULATED_CONDITION: &str = "judged";

/// The findings of `unixmark doctor --power`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Power {
    /// The number of blocks of the run, and of every comparison.
    pub blocks: u32,
    /// The share of comparisons of equal arms that are called different: false alarms.
    pub alarms: f64,
    /// The share of reports, with one such comparison for each test, that call any.
    pub reports: f64,
    /// The findings on arms that were slowed on purpose.
    pub planted: Vec<Planted>,
    /// What it takes to show a difference, test by test.
    pub tests: Vec<Need>,
}

/// The findings on arms that lose a share of their rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Planted {
    /// The loss in per cent.
    pub percent: f64,
    /// The share of comparisons that find it.
    pub found: f64,
    /// The median of the measured differences, in per cent; negative.
    pub measured: f64,
}

/// What it takes to show a difference in one test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Need {
    /// The id of the test.
    pub test: String,
    /// The name in reports.
    pub label: String,
    /// The half-width, in per cent, of the interval of a difference of equal arms over all blocks.
    pub half: f64,
    /// The prices of 1, 2 and 5 %.
    pub sizes: [Price; PRICED_PERCENTS.len()],
}

/// The blocks and time after which, with 90 % confidence, four of five comparisons of two arms show
/// a difference: their 95 % intervals exclude 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Price {
    /// The difference in per cent.
    pub percent: f64,
    /// The number of blocks.
    pub blocks: u32,
    /// Seconds for the two arms, at the pace of this run.
    pub seconds: f64,
}

impl Power {
    /// The findings of a run of equal and slowed arms; `None` if it has no such arms, or none of
    /// their trials worked. `trials` are by cell.
    pub(crate) fn new(journal: &Journal, trials: &[Vec<&Trial>]) -> Option<Power> {
        let bench = Bench { cells: &journal.cells, trials, reference: &journal.run.against };
        let blocks = journal.trials.iter().map(|trial| trial.block + 1).max()?;
        let equal = bench.equal_arms()?;
        let mut random = Pcg64Mcg::seed_from_u64(1);

        let mut planted = Vec::new();
        for Loss { percent, condition } in bench.planted_losses() {
            let reports = bench.simulate(&equal, Some(condition), &mut random);
            let comparisons = reports.concat();
            let deltas: Vec<f64> = comparisons.iter().map(|one| one.delta.value).collect();
            planted.push(Planted {
                percent,
                found: share(&comparisons, |one| one.verdict.is_loss()),
                measured: median(&deltas),
            });
        }

        let reports = bench.simulate(&equal, None, &mut random);
        let comparisons = reports.concat();
        if comparisons.is_empty() {
            return None;
        }
        let is_called = |one: &Comparison| one.verdict.is_decided();
        Some(Power {
            blocks,
            alarms: share(&comparisons, is_called),
            reports: share(&reports, |report| report.iter().any(is_called)),
            planted,
            tests: needs(&comparisons, blocks, seconds_per_trial(journal)),
        })
    }

    /// The findings in sentences.
    pub fn sentences(&self) -> Vec<String> {
        let blocks = self.blocks;
        let [alarms, reports] = [self.alarms, self.reports].map(percent);
        let mut sentences = vec![format!(
            "Of all comparisons of equal arms over {blocks} blocks, {alarms} are called \
             different; {reports} of the reports contain one."
        )];

        let planted = self.planted.iter().map(|planted| {
            format!("{} % in {} of the comparisons", planted.percent, percent(planted.found))
        });
        let planted: Vec<String> = planted.collect();
        if !planted.is_empty() {
            sentences.push(format!("Planted losses are found: {}.", planted.join(", ")));
        }

        let prices = (0..PRICED_PERCENTS.len()).filter_map(|size| self.typical_price(size));
        let prices: Vec<String> = prices
            .map(|Price { percent, blocks, seconds }| {
                format!("{blocks} blocks ({}) for {percent} %", words::duration(seconds))
            })
            .collect();
        if !prices.is_empty() {
            sentences.push(format!(
                "To show a difference in four of five comparisons, a typical test needs {} (as \
                 long as the machine stays this noisy).",
                prices.join(", ")
            ));
        }
        sentences
    }

    /// The price of the median test (of two, the dearer) for the difference at this place of
    /// [`PRICED_PERCENTS`].
    fn typical_price(&self, size: usize) -> Option<Price> {
        let mut prices: Vec<Price> = self.tests.iter().map(|test| test.sizes[size]).collect();
        prices.sort_by_key(|price| price.blocks);
        prices.get(prices.len() / 2).copied()
    }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// The share of `all` that are counted; NaN of nothing.
fn share<T>(all: &[T], is_counted: impl Fn(&T) -> bool) -> f64 {
    all.iter().filter(|one| is_counted(one)).count() as f64 / all.len() as f64
}

/// One arm of all tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arm<'a> {
    condition: &'a str,
    /// True of the second arm of the condition.
    is_control: bool,
}

impl<'a> Arm<'a> {
    fn first(condition: &'a str) -> Arm<'a> {
        Arm { condition, is_control: false }
    }

    fn of(cell: &'a Cell) -> Arm<'a> {
        Arm { condition: &cell.key.condition, is_control: cell.control }
    }
}

/// A condition that plants a loss.
struct Loss<'a> {
    percent: f64,
    condition: &'a str,
}

/// The run's cells with their trials, of which reports are made.
struct Bench<'a> {
    cells: &'a [Cell],
    /// By cell.
    trials: &'a [Vec<&'a Trial>],
    /// The condition that others are compared with.
    reference: &'a str,
}

/// The trials of a test under the three parts of a report, which are compared by their blocks and
/// not by their places.
#[derive(Default)]
struct Parts<'a> {
    reference: Vec<&'a Trial>,
    control: Vec<&'a Trial>,
    condition: Vec<&'a Trial>,
}

impl<'a> Bench<'a> {
    /// The conditions that plant a loss.
    fn planted_losses(&self) -> Vec<Loss<'a>> {
        let conditions = self.cells.iter().map(|cell| cell.key.condition.as_str()).unique();
        let losses = conditions.into_iter().filter_map(|condition| {
            let percent = condition.strip_prefix("arg:slowed=")?.parse::<f64>().ok()?;
            Some(Loss { percent, condition })
        });
        losses.filter(|loss| loss.percent > MAX_EQUAL_LOSS_PERCENT).collect()
    }

    /// The three equal arms: the reference, its control, and a condition that plants no loss.
    fn equal_arms(&self) -> Option<[Arm<'a>; 3]> {
        let losses = self.planted_losses();
        let mut conditions = self.cells.iter().map(|cell| cell.key.condition.as_str());
        let unslowed = conditions.find(|condition| {
            *condition != self.reference && losses.iter().all(|loss| loss.condition != *condition)
        })?;
        let control = Arm { condition: self.reference, is_control: true };
        Some([Arm::first(self.reference), control, Arm::first(unslowed)])
    }

    /// Judges reports that the run might have given, with the equal arms dealt at random. If there
    /// is a `slowed` condition, it replaces that of the report. Empty reports are left out.
    fn simulate(
        &self,
        equal: &[Arm<'_>; 3],
        slowed: Option<&str>,
        random: &mut Pcg64Mcg,
    ) -> Vec<Vec<Comparison>> {
        let mut reports = Vec::new();
        for _ in 0..SIMULATED_REPORTS {
            let report = self.judge_report(equal, slowed, random);
            if !report.is_empty() {
                reports.push(report);
            }
        }
        reports
    }

    /// Judges one report about cost, of all tests.
    fn judge_report(
        &self,
        equal: &[Arm<'_>; 3],
        slowed: Option<&str>,
        random: &mut Pcg64Mcg,
    ) -> Vec<Comparison> {
        let mut cells = Vec::new();
        let mut trials = Vec::new();
        for test in self.cells.iter().filter(|cell| Arm::of(cell) == equal[0]) {
            let mut parts = self.deal(test, equal, random);
            if let Some(slowed) = slowed {
                parts.condition = self.trials(test, Arm::first(slowed)).to_vec();
            }
            for (condition, control, of_part) in [
                (SIMULATED_REFERENCE, false, parts.reference),
                (SIMULATED_REFERENCE, true, parts.control),
                (SIMULATED_CONDITION, false, parts.condition),
            ] {
                let key = Key { condition: condition.to_owned(), ..test.key.clone() };
                cells.push(Cell { id: cells.len(), key, control, ..test.clone() });
                trials.push(of_part);
            }
        }

        let arms = Arms {
            cells: &cells,
            trials: &trials,
            against: SIMULATED_REFERENCE,
            threshold: DEFAULT_THRESHOLD,
        };
        arms.judged().filter(|one| !one.is_energy()).collect()
    }

    /// Deals a test's equal arms to the parts of a report, in an order drawn for every block.
    /// An arm has one trial in a block at most; blocks that lack an arm are left out.
    fn deal(&self, test: &Cell, equal: &[Arm<'_>; 3], random: &mut Pcg64Mcg) -> Parts<'a> {
        let trials_by_arm = equal.map(|arm| self.trials(test, arm));
        let mut parts = Parts::default();
        for block in trials_by_arm[0].iter().map(|trial| trial.block) {
            let in_block = trials_by_arm
                .map(|trials| trials.iter().copied().find(|trial| trial.block == block));
            let [Some(a), Some(b), Some(c)] = in_block else { continue };
            let mut order = [a, b, c];
            order.shuffle(random);
            let [reference, control, condition] = order;
            parts.reference.push(reference);
            parts.control.push(control);
            parts.condition.push(condition);
        }
        parts
    }

    /// The trials of an arm of a test.
    fn trials(&self, test: &Cell, arm: Arm<'_>) -> &'a [&'a Trial] {
        let mut cells = self.cells.iter();
        let cell = cells.find(|cell| cell.key.same_family(&test.key) && Arm::of(cell) == arm);
        cell.and_then(|cell| self.trials.get(cell.id)).map_or(&[], Vec::as_slice)
    }
}

/// Mean seconds from the beginning of one trial to that of the next.
fn seconds_per_trial(journal: &Journal) -> f64 {
    let [Some(first), Some(last)] = [journal.trials.first(), journal.trials.last()] else {
        return 0.0;
    };
    (last.at - first.at) / (journal.trials.len() as f64 - 1.0).max(1.0)
}

/// What each test needs, by comparisons of equal arms over `blocks` blocks; tests without an
/// interval are left out.
fn needs(equal: &[Comparison], blocks: u32, seconds_per_trial: f64) -> Vec<Need> {
    let tests =
        equal.iter().map(|one| (one.cell.key.test.clone(), one.cell.label.clone())).unique();
    let mut needs = Vec::new();
    for (test, label) in tests {
        let comparisons = equal.iter().filter(|one| one.cell.key.test == test);
        let halves: Vec<f64> =
            comparisons.map(|one| (one.delta.high - one.delta.low) / 2.0).collect();
        let half = median(&halves);
        if !half.is_finite() {
            continue;
        }
        let sizes = PRICED_PERCENTS.map(|percent| {
            let blocks = blocks_to_show(percent, half, blocks);
            Price { percent, blocks, seconds: f64::from(blocks) * 2.0 * seconds_per_trial }
        });
        needs.push(Need { test, label, half, sizes });
    }
    needs
}

/// The number of blocks that show a difference of `percent` in four of five comparisons, where an
/// interval over `blocks` blocks has the half-width `half`.
///
/// The standard deviation behind `half` is known from two contrasts of three arms per block; what
/// is taken is its maximum with 90 % confidence (χ² by Wilson & Hilferty 1931). Few blocks have
/// wider intervals than the root of their number says: by Student's t, which is within 5 % of the
/// signed-rank interval's from seven normal values on.
fn blocks_to_show(percent: f64, half: f64, blocks: u32) -> u32 {
    let degrees = 2.0 * f64::from(blocks.max(2) - 1);
    let part = 2.0 / (9.0 * degrees);
    let lowest_ratio = (1.0 - part - NORMAL_90 * part.sqrt()).powi(3);
    let deviation = half / unit_half_width(blocks as usize) / lowest_ratio.sqrt();

    let shown = deviation * (1.0 + FOUR_OF_FIVE / NORMAL_975);
    // Student's t is never less than the normal quantile, so no fewer are enough.
    let fewest = (NORMAL_975 * shown / percent).powi(2).ceil().max(f64::from(MIN_BLOCKS)) as u32;
    (fewest..u32::MAX)
        .find(|blocks| shown * unit_half_width(*blocks as usize) <= percent)
        .unwrap_or(u32::MAX)
}
