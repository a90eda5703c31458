//! The parts of an interval's width, and the price of a narrower one.

use serde::Serialize;

use super::{Figure, Index};
use stats::{Drift, Estimate, mean, unit_half_width};

/// The half-width that is asked for, as a share of the score.
const WANTED: f64 = 0.02;

/// Blocks beyond which nobody waits.
const MOST: u32 = 20_000;

/// Seconds over which nobody spreads a run: a week.
const LONGEST: f64 = 7.0 * 86_400.0;

/// Seconds of a block that no run is shorter than, unless it is a stranger's.
const SHORTEST: f64 = 1e-3;

/// The parts of the widest interval of a run, and the price of ±2 %.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bill {
    /// The index, or the test if the run has none.
    pub label: String,
    /// Copies of it.
    pub copies: u32,
    /// Its half-width, as a share.
    pub spread: f64,
    /// The share of the interval's variance that the machine's drift causes; with the next two it adds up to 1.
    pub drift: f64,
    /// The share that differs from one trial to the next.
    pub between_trials: f64,
    /// The share that is noise within trials.
    pub within_trials: f64,
    /// The blocks, one after the other, that give ±2 %; `None` if no number does.
    pub blocks: Option<Spread>,
    /// Blocks with pauses between them that give it as well, if half as many do.
    pub over: Option<Spread>,
}

/// Blocks and the time they take or are spread over.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The number of blocks.
    pub blocks: u32,
    /// Seconds from the first to the end of the last.
    pub seconds: f64,
}

impl Bill {
    /// Returns the bill of the index whose interval is widest, or of the only test; `None` if there is neither, or its
    /// interval is unknown or narrower than ±2 %.
    pub(super) fn new(drift: &Drift, rows: &[Figure], indexes: &[Index], seconds: f64) -> Option<Bill> {
        let widest = indexes.iter().max_by(|a, b| a.score.spread().total_cmp(&b.score.spread()));
        let (label, copies, score, rows): (String, u32, Estimate, Vec<&Figure>) = match (widest, rows) {
            (Some(index), rows) => {
                let part = |row: &&Figure| {
                    let key = &row.cell.key;
                    key.is_plain() && key.copies == index.copies && index.parts.iter().any(|part| part.test == key.test)
                };
                (index.title(), index.copies, index.score, rows.iter().filter(part).collect())
            }
            (None, [row]) => (row.cell.label.clone(), row.cell.key.copies, row.score, vec![row]),
            (None, _) => return None,
        };
        let first = rows.first().filter(|_| score.spread() > WANTED && score.bounded())?;
        let times: Vec<f64> = first.samples.iter().map(|sample| sample.at).collect();
        let wide = Wide::new(drift, rows.len() as f64, score.spread(), times)?;
        let own = mean(rows.iter().map(|row| row.within));
        let [drift, between_trials, within_trials] = wide.parts(own);
        let step = seconds / wide.times.len() as f64;
        let blocks = wide.blocks(step).map(|blocks| Spread { blocks, seconds: f64::from(blocks) * step });
        let over = wide.over(step).filter(|over| blocks.is_none_or(|plain| 2 * over.blocks <= plain.blocks));
        Some(Bill { label, copies, spread: score.spread(), drift, between_trials, within_trials, blocks, over })
    }
}

/// An interval of the mean of several series, as wide as it was found.
struct Wide<'a> {
    drift: &'a Drift,
    together: f64,
    times: Vec<f64>,
    /// The half-width over that of a mean of as many independent values with a standard deviation of 1.
    unit: f64,
}

impl<'a> Wide<'a> {
    /// `None` of fewer than two trials.
    fn new(drift: &'a Drift, together: f64, half: f64, times: Vec<f64>) -> Option<Wide<'a>> {
        let unit = half / unit_half_width(times.len()) / drift.widening(&times, together);
        (times.len() > 1).then_some(Wide { drift, together, times, unit })
    }

    /// The shares of the variance: drift, between trials, within trials; the last is `own` of one trial's.
    fn parts(&self, own: f64) -> [f64; 3] {
        let (share, _) = self.drift.most_likely();
        let (alone, n) = (1.0 - share, self.times.len() as f64);
        // What the drift adds to the variance of the mean is what widens the interval beyond independent trials.
        let independent = alone / (self.together * n);
        let drifting = self.drift.inflation(&self.times, self.together) * (independent + share / n) - independent;
        let within = (own.min(alone)) / (self.together * n);
        let all = drifting.max(0.0) + independent;
        [drifting.max(0.0) / all, (independent - within) / all, within / all]
    }

    /// The half-width of `blocks` blocks, one every `step` seconds.
    fn half(&self, blocks: u32, step: f64) -> f64 {
        self.unit * unit_half_width(blocks as usize) * self.drift.widening_every(blocks, step, self.together)
    }

    /// The fewest blocks, one every `step` seconds, that are narrow enough.
    fn blocks(&self, step: f64) -> Option<u32> {
        let is_enough = |blocks: u32| self.half(blocks, step) <= WANTED;
        let high = std::iter::successors(Some(4_u32), |blocks| Some(blocks * 2))
            .take_while(|blocks| *blocks <= MOST)
            .find(|n| is_enough(*n))?;
        let (mut low, mut high) = (high / 2, high);
        while low + 1 < high {
            let middle = low.midpoint(high);
            if is_enough(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// A quarter more blocks than independent ones would take, and the shortest time over which they are narrow enough.
    fn over(&self, step: f64) -> Option<Spread> {
        let fewest = self.blocks(LONGEST)?;
        let blocks = fewest + fewest / 4;
        let steps = std::iter::successors(Some(step.max(SHORTEST)), |step| Some(step * 1.2));
        let enough = steps
            .take_while(|step| step * f64::from(blocks) <= LONGEST)
            .find(|step| self.half(blocks, *step) <= WANTED)?;
        Some(Spread { blocks, seconds: enough * f64::from(blocks) })
    }
}
