//! The parts of an interval's width, and the price of a narrower one.
//!
//! The interval of a mean of trials is wide for three reasons: the machine drifts, trials differ
//! from each other, and each trial has noise within ([`WideInterval::parts`]). More blocks one
//! after the other narrow the second and third ([`WideInterval::blocks_in_a_row`]); pauses between
//! blocks narrow the first as well ([`WideInterval::blocks_with_pauses`]).

use serde::Serialize;

use crate::figures::Figure;
use crate::products::Index;
use stats::{Drift, Estimate, mean, unit_half_width};

/// The half-width whose price is told, as a share of the score.
const WANTED_HALF_WIDTH: f64 = 0.02;

/// Most blocks one after the other that anybody would wait for.
const MAX_BLOCKS: u32 = 20_000;

/// Longest time in seconds over which anybody would spread a run: a week.
const MAX_RUN_SECONDS: f64 = 7.0 * 86_400.0;

/// Shortest time in seconds from block to block that is tried. Journals of strangers may have less,
/// or none, from which no growing gets anywhere.
const MIN_BLOCK_SECONDS: f64 = 1e-3;

/// The factor from one time between blocks to the next that is tried.
const STEP_FACTOR: f64 = 1.2;

/// The smallest run of blocks that is tried.
const MIN_BLOCKS: u32 = 4;

/// Blocks with pauses are worth telling if they are at most one in this many of those without.
const WORTHWHILE_ONE_IN: u32 = 2;

/// The parts of the widest interval of a run, and the price of ±2 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bill {
    /// The index, or the test if the run has none.
    pub label: String,
    /// The number of its copies.
    pub copies: u32,
    /// The half-width of its interval, as a share of the score.
    pub spread: f64,
    /// The share of the interval's variance that the machine's drift causes; with the next two it
    /// adds up to 1.
    pub drift: f64,
    /// The share that trials' differences from each other cause.
    pub between_trials: f64,
    /// The share that noise within trials causes.
    pub within_trials: f64,
    /// The blocks, one after the other, that give ±2 %; `None` if no number does.
    pub blocks: Option<Spread>,
    /// The blocks with pauses between them that give it as well, if at most half as many do.
    pub over: Option<Spread>,
}

/// Blocks, and the time that they take or are spread over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The number of blocks.
    pub blocks: u32,
    /// Seconds from the beginning of the first to the end of the last.
    pub seconds: f64,
}

/// A score whose interval is billed, with the rows that it is made of.
struct Billed<'a> {
    label: String,
    copies: u32,
    score: Estimate,
    rows: Vec<&'a Figure>,
}

impl<'a> Billed<'a> {
    /// The index whose interval is widest, or the only test; `None` if there is neither.
    fn find(rows: &'a [Figure], indexes: &[Index]) -> Option<Billed<'a>> {
        let widest = indexes.iter().max_by(|a, b| a.score.spread().total_cmp(&b.score.spread()));
        if let Some(index) = widest {
            return Some(Billed {
                label: index.title(),
                copies: index.copies,
                score: index.score,
                rows: rows.iter().filter(|row| is_part(row, index)).collect(),
            });
        }

        let [row] = rows else { return None };
        Some(Billed {
            label: row.cell.label.clone(),
            copies: row.cell.key.copies,
            score: row.score,
            rows: vec![row],
        })
    }
}

fn is_part(row: &Figure, index: &Index) -> bool {
    let key = &row.cell.key;
    key.is_plain()
        && key.copies == index.copies
        && index.parts.iter().any(|part| part.test == key.test)
}

impl Bill {
    /// The bill of the index whose interval is widest, or of the only test; `None` if there is
    /// neither, or its interval is unknown or narrower than ±2 %. The run took `seconds`.
    pub(crate) fn new(
        drift: &Drift,
        rows: &[Figure],
        indexes: &[Index],
        seconds: f64,
    ) -> Option<Bill> {
        let Billed { label, copies, score, rows } = Billed::find(rows, indexes)?;
        let half_width = score.spread();
        let is_wide = half_width > WANTED_HALF_WIDTH && score.bounded();
        let first = rows.first().filter(|_| is_wide)?;

        let times: Vec<f64> = first.samples.iter().map(|sample| sample.at).collect();
        let block_seconds = seconds / times.len() as f64;
        let interval = WideInterval::new(drift, rows.len() as f64, half_width, times)?;
        let shares = interval.parts(mean(rows.iter().map(|row| row.within)));

        let in_a_row = interval.blocks_in_a_row(block_seconds);
        let in_a_row =
            in_a_row.map(|blocks| Spread { blocks, seconds: f64::from(blocks) * block_seconds });
        let with_pauses = interval.blocks_with_pauses(block_seconds).filter(|pauses| {
            in_a_row.is_none_or(|plain| WORTHWHILE_ONE_IN * pauses.blocks <= plain.blocks)
        });
        Some(Bill {
            label,
            copies,
            spread: half_width,
            drift: shares.drift,
            between_trials: shares.between_trials,
            within_trials: shares.within_trials,
            blocks: in_a_row,
            over: with_pauses,
        })
    }
}

/// The interval of the mean of several series, as wide as it was found.
struct WideInterval<'a> {
    drift: &'a Drift,
    /// The number of series.
    series: f64,
    /// When the trials of a series began, in seconds.
    times: Vec<f64>,
    /// The half-width over that of a mean of as many independent values with a standard deviation
    /// of 1.
    unit: f64,
}

/// The shares of an interval's variance; together 1.
struct VarianceShares {
    drift: f64,
    between_trials: f64,
    within_trials: f64,
}

impl<'a> WideInterval<'a> {
    /// `None` of fewer than two trials.
    fn new(
        drift: &'a Drift,
        series: f64,
        half_width: f64,
        times: Vec<f64>,
    ) -> Option<WideInterval<'a>> {
        let unit = half_width / unit_half_width(times.len()) / drift.widening(&times, series);
        (times.len() > 1).then_some(WideInterval { drift, series, times, unit })
    }

    /// The parts of the variance; `within` is the share of a single trial's variance that is noise
    /// within it.
    fn parts(&self, within: f64) -> VarianceShares {
        let (drift_share, _) = self.drift.most_likely();
        let own_share = 1.0 - drift_share;
        let trials = self.times.len() as f64;

        // What the drift adds to the variance of the mean is what widens the interval beyond
        // independent trials.
        let independent = own_share / (self.series * trials);
        let inflation = self.drift.inflation(&self.times, self.series);
        let drifting = inflation * (independent + drift_share / trials) - independent;
        let within = (within.min(own_share)) / (self.series * trials);
        let all = drifting.max(0.0) + independent;
        VarianceShares {
            drift: drifting.max(0.0) / all,
            between_trials: (independent - within) / all,
            within_trials: within / all,
        }
    }

    /// The half-width of `blocks` blocks, one every `step` seconds.
    fn half_width(&self, blocks: u32, step: f64) -> f64 {
        self.unit
            * unit_half_width(blocks as usize)
            * self.drift.widening_every(blocks, step, self.series)
    }

    fn is_narrow_enough(&self, blocks: u32, step: f64) -> bool {
        self.half_width(blocks, step) <= WANTED_HALF_WIDTH
    }

    /// The fewest blocks, one every `step` seconds, that are narrow enough; `None` if
    /// [`MAX_BLOCKS`] are not.
    fn blocks_in_a_row(&self, step: f64) -> Option<u32> {
        let mut high = MIN_BLOCKS;
        while !self.is_narrow_enough(high, step) {
            high *= 2;
            if high > MAX_BLOCKS {
                return None;
            }
        }

        // By bisection: `low` blocks are not enough (or too few to be tried), `high` blocks are.
        let mut low = high / 2;
        while low + 1 < high {
            let middle = low.midpoint(high);
            if self.is_narrow_enough(middle, step) {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    /// A quarter more blocks than independent ones would take, and the shortest time over which
    /// they are narrow enough; `None` if a week is not enough.
    fn blocks_with_pauses(&self, step: f64) -> Option<Spread> {
        // Blocks that lie so far apart are independent.
        let independent = self.blocks_in_a_row(MAX_RUN_SECONDS)?;
        let blocks = independent + independent / 4;

        let mut step = step.max(MIN_BLOCK_SECONDS);
        while step * f64::from(blocks) <= MAX_RUN_SECONDS {
            if self.is_narrow_enough(blocks, step) {
                return Some(Spread { blocks, seconds: step * f64::from(blocks) });
            }
            step *= STEP_FACTOR;
        }
        None
    }
}
