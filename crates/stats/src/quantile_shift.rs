//! The difference of a quantile of two samples that alternate, such as the p99 of two programs.
//!
//! 1. The interval of each sample's quantile is that of two of its ordered values: how many of n
//!    values lie beyond the true quantile is binomial, whatever their distribution (David &
//!    Nagaraja, Order Statistics, §7.1). The binomial quantiles are those of Cornish and Fisher.
//! 2. Values that lie beyond come in spells, and both samples have the same ones. So the numbers
//!    beyond are counted in blocks of successive rounds, and the ranks of step 1 are as much
//!    further apart as the two samples' numbers differ more from block to block than by chance.
//! 3. The interval of the difference has the distances of both in quadrature, separately below and
//!    above (Zou & Donner 2008).

use super::{
    ByBlock, Estimate, Method, Shift, normal_p, normal_quantile, quantile, without_blocks,
};

/// Blocks in which the values beyond are counted.
const BLOCKS: usize = 20;

/// A p value is no smaller than that of so many standard errors.
const MAX_ERRORS: f64 = 8.0;

/// Steps of the search for a p value, each of which halves its error.
const STEPS: u32 = 40;

/// The shift of a quantile: `share` of the values lie below it. Values have the numbers of their
/// rounds, in order. No interval of too few values.
pub fn quantile_shift(base: &ByBlock, judged: &ByBlock, share: f64) -> Shift {
    let samples = Samples::new(base, judged, share);
    let value = samples.difference();
    let [low, high] = samples.ends(normal_quantile(0.05));
    let estimate = Estimate { value, low, high };
    if !estimate.bounded() {
        return Shift::alone(value);
    }
    Shift { estimate, p: samples.p(), method: Method::Quantiles }
}

/// The ends of the interval of [`quantile_shift`] that leaves out the truth with probability
/// `level`.
pub fn quantile_ends(base: &ByBlock, judged: &ByBlock, share: f64, level: f64) -> [f64; 2] {
    Samples::new(base, judged, share).ends(normal_quantile(level))
}

/// Both samples.
struct Samples {
    base: Sample,
    judged: Sample,
    share: f64,
    /// The factor by which the variance of the numbers beyond exceeds that of chance.
    inflation: f64,
}

/// One sample.
struct Sample {
    /// In ascending order.
    sorted: Vec<f64>,
    quantile: f64,
}

impl Samples {
    fn new(base: &ByBlock, judged: &ByBlock, share: f64) -> Samples {
        let [base_sample, judged_sample] = [base, judged].map(|values| {
            let mut sorted = without_blocks(values);
            sorted.sort_by(f64::total_cmp);
            Sample { quantile: quantile(&sorted, share), sorted }
        });
        let beyond = [(base, base_sample.quantile), (judged, judged_sample.quantile)];
        let inflation = inflation(beyond, share);
        Samples { base: base_sample, judged: judged_sample, share, inflation }
    }

    fn difference(&self) -> f64 {
        self.judged.quantile - self.base.quantile
    }

    /// Step 3: the ends of the interval at ± `errors` standard errors.
    fn ends(&self, errors: f64) -> [f64; 2] {
        let Samples { base, judged, share, inflation } = self;
        let [base_low, base_high] = base.ends(*share, errors, *inflation);
        let [judged_low, judged_high] = judged.ends(*share, errors, *inflation);

        let in_quadrature = |one: f64, other: f64| (one.powi(2) + other.powi(2)).sqrt();
        let below = in_quadrature(judged.quantile - judged_low, base_high - base.quantile);
        let above = in_quadrature(judged_high - judged.quantile, base.quantile - base_low);
        [self.difference() - below, self.difference() + above]
    }

    /// The p value of no difference: that of the widest interval that leaves out 0.
    fn p(&self) -> f64 {
        let excludes_zero = |errors: f64| {
            let [low, high] = self.ends(errors);
            low > 0.0 || high < 0.0
        };
        if excludes_zero(MAX_ERRORS) {
            return normal_p(MAX_ERRORS);
        }

        let (mut low, mut high) = (0.0, MAX_ERRORS);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if excludes_zero(middle) { low = middle } else { high = middle }
        }
        normal_p(low)
    }
}

impl Sample {
    /// The ends of the quantile's interval; infinite where the sample has no value so far out.
    fn ends(&self, share: f64, errors: f64, inflation: f64) -> [f64; 2] {
        let count = self.sorted.len() as f64;
        let half_width = errors * (count * share * (1.0 - share) * inflation).sqrt();
        let skew = (errors.powi(2) - 1.0) / 6.0 * (1.0 - 2.0 * share);
        let centre = count * share + 0.5 + skew;
        [centre - half_width, centre + half_width].map(|rank| self.at_rank(rank))
    }

    /// The value of a rank, from 1, between the two nearest values.
    fn at_rank(&self, rank: f64) -> f64 {
        let count = self.sorted.len();
        if rank < 1.0 {
            return f64::NEG_INFINITY;
        }
        if rank > count as f64 {
            return f64::INFINITY;
        }

        let place = rank as usize - 1;
        let lower = self.sorted[place];
        let upper = self.sorted[(place + 1).min(count - 1)];
        lower + rank.fract() * (upper - lower)
    }
}

/// The factor by which the variance of the numbers of values beyond the quantiles exceeds that of
/// independent values, by the difference of both samples in blocks of successive rounds; at least
/// 1.
fn inflation(samples: [(&ByBlock, f64); 2], share: f64) -> f64 {
    let rounds = samples.iter().flat_map(|(values, _)| values.iter().map(|(round, _)| *round));
    let mut rounds: Vec<u32> = rounds.collect();
    rounds.sort_unstable();
    rounds.dedup();

    // How many more values than expected lie below, of the judged sample less those of the base.
    let mut excesses = [0.0; BLOCKS];
    let mut count = 0.0;
    for ((values, quantile), sign) in samples.iter().zip([-1.0, 1.0]) {
        for (round, value) in *values {
            let place = rounds.partition_point(|other| other < round);
            let is_below = f64::from(u8::from(value < quantile));
            excesses[place * BLOCKS / rounds.len()] += sign * (is_below - share);
            count += 1.0;
        }
    }

    let by_chance = count * share * (1.0 - share);
    let squares: f64 = excesses.iter().map(|excess| excess.powi(2)).sum();
    let observed = squares * BLOCKS as f64 / (BLOCKS as f64 - 1.0);
    if by_chance > 0.0 { (observed / by_chance).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exact;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// Logarithms of times with a long tail. Both samples are slow in the same spells of rounds.
    fn samples(count: u32, shift: f64, spell: u32, random: &mut Pcg64Mcg) -> [ByBlock; 2] {
        let mut both: [ByBlock; 2] = Default::default();
        let mut level = 0.0;
        for round in 0..count {
            if spell > 0 && round % spell == 0 {
                level = if random.random::<f64>() < 0.1 { 1.0 } else { 0.0 };
            }
            for (side, shift) in both.iter_mut().zip([0.0, shift]) {
                let time = 1.0 - (1.0 + level) * random.random::<f64>().natural_log();
                side.push((round, time.natural_log() + shift));
            }
        }
        both
    }

    /// The shares of intervals that hold a shift, and that exclude 0.
    fn simulate(count: u32, shift: f64, spell: u32) -> [f64; 2] {
        let mut random = Pcg64Mcg::seed_from_u64(u64::from(count + spell));
        let runs = testing::simulated(1000);
        let (mut held, mut called) = (0, 0);
        for _ in 0..runs {
            let [base, judged] = samples(count, shift, spell, &mut random);
            let found = quantile_shift(&base, &judged, 0.99);
            let Estimate { low, high, .. } = found.estimate;
            held += u32::from(low <= shift && shift <= high);
            called += u32::from(found.p < 0.05);
            assert_eq!(found.p < 0.05, low > 0.0 || high < 0.0, "{found:?}");
        }
        let shares = [held, called].map(|number| f64::from(number) / runs as f64);
        println!("{count} values, shift {shift}, spells of {spell}: held, called {shares:?}");
        shares
    }

    #[test]
    fn intervals_of_a_p99_hold() {
        for count in [1000, 3000] {
            for spell in [0, 10, 100] {
                let [held, called] = simulate(count, 0.0, spell);
                assert!(testing::allowed(0.93..0.985).contains(&held), "{count} {spell}: {held}");
                assert!(testing::allowed(0.0..0.07).contains(&called), "{count} {spell}: {called}");
            }
            let [held, _] = simulate(count, 0.3, 0);
            assert!(testing::allowed(0.93..0.985).contains(&held), "{count}: {held}");
        }
    }

    #[test]
    fn too_few_values_have_no_interval() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let [base, judged] = samples(300, 0.0, 0, &mut random);

        let found = quantile_shift(&base, &judged, 0.99);

        assert_eq!((found.p, found.method), (1.0, Method::Nothing));
    }
}
