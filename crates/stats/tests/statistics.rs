//! The intervals hold what they promise, shown by simulation with a fixed seed.
#![cfg(test)]

extern crate unixmark_stats as stats;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use stats::{
    ByBlock, Estimate, Method, Sampled, Throughput, Usl, UslFit, block_differences,
    false_discovery_rates, fit_usl, log_interval, mean_half_width, median, median_interval,
    paired_shift, two_sample_shift, welch_shift, without_blocks,
};
use testing::{allowed, normal, simulated};

/// Noise as a shared machine has it: a normal part, and now and then a stall that only slows.
fn noise(random: &mut Pcg64Mcg) -> f64 {
    let stall = if random.random::<f64>() < 0.15 { -0.3 * random.random::<f64>() } else { 0.0 };
    0.02 * normal(random) + stall
}

fn share(times: u64, mut holds: impl FnMut() -> bool) -> f64 {
    (0..times).filter(|_| holds()).count() as f64 / times as f64
}

#[test]
fn a_median_s_interval_covers_whatever_the_noise() {
    let mut random = Pcg64Mcg::seed_from_u64(11);
    // The population's median, from a large sample.
    let population: Vec<f64> = (0..400_001).map(|_| noise(&mut random).exp()).collect();
    let truth = median(&population);
    for n in [6, 8, 12, 20] {
        let covered = share(4000, || {
            let sample: Vec<f64> = (0..n).map(|_| noise(&mut random).exp()).collect();
            let interval = median_interval(&sample);
            interval.low <= truth && truth <= interval.high
        });
        assert!((0.94..0.965).contains(&covered), "n = {n}: {covered}");
    }
}

#[test]
fn student_s_interval_covers_under_log_normal_noise() {
    let mut random = Pcg64Mcg::seed_from_u64(12);
    for n in [2, 3, 5, 10] {
        let covered = share(4000, || {
            let logs: Vec<f64> = (0..n).map(|_| 0.03 * normal(&mut random)).collect();
            let sample: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            let mean = (logs.iter().sum::<f64>() / f64::from(n)).exp();
            let interval = log_interval(mean, &sample);
            interval.low <= 1.0 && 1.0 <= interval.high
        });
        assert!((0.94..0.96).contains(&covered), "n = {n}: {covered}");
    }
}

/// Values as those of the blocks from 0 on.
fn by_block(values: impl IntoIterator<Item = f64>) -> ByBlock {
    (0..).zip(values).collect()
}

fn median_log(values: &[f64]) -> f64 {
    median(values).ln()
}

/// The index of twelve tests, with noise of each test's own and noise common to a block.
fn index_coverage(blocks: usize, common: f64, mixed: bool) -> f64 {
    let mut random = Pcg64Mcg::seed_from_u64(13);
    share(simulated(600), || {
        let shared: Vec<f64> = (0..blocks).map(|_| common * normal(&mut random)).collect();
        let tests: Vec<ByBlock> = (0..12)
            .map(|test| {
                let own = 0.005 * f64::from(test + 1);
                by_block(shared.iter().map(|shared| (shared + own * normal(&mut random)).exp()))
            })
            .collect();
        // Tests whose interval is narrow are closed early: every other one has the first half only.
        let tests: Vec<&[(u32, f64)]> = tests
            .iter()
            .enumerate()
            .map(
                |(number, test)| {
                    if mixed && number % 2 == 0 { &test[..blocks / 2] } else { &test[..] }
                },
            )
            .collect();
        let index = tests.iter().map(|test| median_log(&without_blocks(test))).sum::<f64>() / 12.0;
        let samples: Vec<Sampled<'_>> =
            tests.iter().map(|values| Sampled { values, statistic: &median_log }).collect();
        index.abs() <= mean_half_width(&samples)
    })
}

#[test]
fn an_index_s_interval_covers() {
    for (blocks, common, mixed) in [
        (6, 0.0, false),
        (6, 0.02, false),
        (12, 0.0, false),
        (12, 0.02, false),
        (12, 0.0, true),
        (12, 0.02, true),
    ] {
        let covered = index_coverage(blocks, common, mixed);
        assert!(
            allowed(0.93..0.995).contains(&covered),
            "{blocks} blocks, common noise {common}, {mixed}: {covered}"
        );
    }
}

#[test]
fn an_index_s_interval_is_not_absurdly_wide() {
    // Twelve tests of 1 % noise, 12 blocks: the standard error of a median is 1.25·0.01/√12, that
    // of the mean of twelve a √12-th of it, so the half-width should be near 2.1·0.00104 = 0.0022.
    let mut random = Pcg64Mcg::seed_from_u64(14);
    let tests: Vec<ByBlock> =
        (0..12).map(|_| by_block((0..12).map(|_| (0.01 * normal(&mut random)).exp()))).collect();
    let samples: Vec<Sampled<'_>> =
        tests.iter().map(|values| Sampled { values, statistic: &median_log }).collect();
    let half = mean_half_width(&samples);
    assert!((0.0012..0.004).contains(&half), "{half}");
    assert!(mean_half_width(&samples[..0]).is_infinite());
    let one = [Sampled { values: &tests[0][..1], statistic: &median_log }];
    assert!(mean_half_width(&one).is_infinite());
    let flat = by_block([5.0; 8]);
    assert_eq!(mean_half_width(&[Sampled { values: &flat, statistic: &median_log }]), 0.0);
}

#[test]
fn shifts_cover_under_stalls() {
    let mut random = Pcg64Mcg::seed_from_u64(15);
    for (n, m) in [(4, 4), (6, 6), (8, 12), (20, 20), (60, 60)] {
        let (mut alarms, times) = (0, simulated(3000));
        let covered = share(times, || {
            let a: Vec<f64> = (0..n).map(|_| noise(&mut random)).collect();
            let b: Vec<f64> = (0..m).map(|_| 0.07 + noise(&mut random)).collect();
            let shift = two_sample_shift(&a, &b);
            let same: Vec<f64> = b.iter().map(|value| value - 0.07).collect();
            alarms += usize::from(two_sample_shift(&a, &same).p < 0.05);
            shift.method == Method::RankSum
                && shift.estimate.low <= 0.07
                && 0.07 <= shift.estimate.high
        });
        assert!(allowed(0.94..0.985).contains(&covered), "{n}, {m}: {covered}");
        assert!(
            allowed(-0.001..0.06).contains(&(alarms as f64 / times as f64)),
            "{n}, {m}: {alarms} false alarms"
        );
    }
}

/// Differences of two runs of the same kind are symmetric whatever the noise, which is all the
/// signed ranks ask for.
#[test]
fn paired_shifts_cover_under_stalls_and_drift() {
    let mut random = Pcg64Mcg::seed_from_u64(16);
    for n in [3, 6, 10, 20, 60] {
        let covered = share(3000, || {
            let differences: Vec<f64> = (0..n)
                .map(|_| {
                    // What both runs of a round share goes.
                    let drift = 0.3 * normal(&mut random);
                    (drift + 0.05 + noise(&mut random)) - (drift + noise(&mut random))
                })
                .collect();
            let shift = paired_shift(&differences);
            shift.estimate.low <= 0.05 && 0.05 <= shift.estimate.high
        });
        assert!((0.94..0.985).contains(&covered), "n = {n}: {covered}");
    }
}

#[test]
fn welch_s_interval_covers_unequal_noise() {
    let mut random = Pcg64Mcg::seed_from_u64(17);
    for (n, m, ratio) in [(3, 3, 1.0), (2, 6, 3.0), (3, 4, 0.3)] {
        let covered = share(4000, || {
            let a: Vec<f64> = (0..n).map(|_| normal(&mut random)).collect();
            let b: Vec<f64> = (0..m).map(|_| 5.0 + ratio * normal(&mut random)).collect();
            let interval = welch_shift(&a, &b).estimate;
            interval.low <= 5.0 && 5.0 <= interval.high
        });
        assert!((0.93..=1.0).contains(&covered), "{n}, {m}, {ratio}: {covered}");
    }
}

/// Forty comparisons, ten of them different: of those called, at most 5 % are wrong on average.
#[test]
fn false_discoveries_are_few() {
    let mut random = Pcg64Mcg::seed_from_u64(19);
    let (mut wrong, mut right, reports) = (0.0, 0, 300);
    for _ in 0..reports {
        let p: Vec<f64> = (0..40)
            .map(|test| {
                let shift = if test < 10 { 0.15 } else { 0.0 };
                let a: Vec<f64> = (0..12).map(|_| noise(&mut random)).collect();
                let b: Vec<f64> = (0..12).map(|_| shift + noise(&mut random)).collect();
                two_sample_shift(&a, &b).p
            })
            .collect();
        let rates = false_discovery_rates(&p);
        let called = rates.iter().filter(|rate| **rate < 0.05).count();
        let false_ones = rates[10..].iter().filter(|rate| **rate < 0.05).count();
        wrong += false_ones as f64 / called.max(1) as f64;
        right += called - false_ones;
    }
    let rate = wrong / f64::from(reports);
    assert!(rate < 0.05, "{rate}");
    assert!(right as f64 / (10.0 * f64::from(reports)) > 0.5, "{right}");
}

type Noise = dyn Fn(&mut Pcg64Mcg) -> f64;

/// Trials of a planted law under noise, a share `common` of it shared by a whole block, and the law
/// fitted to them.
fn fitted(
    random: &mut Pcg64Mcg,
    planted: &Usl,
    copies: &[u32],
    trials: usize,
    (common, noise): (f64, &Noise),
) -> UslFit {
    let shared: Vec<f64> = (0..trials).map(|_| common * normal(random)).collect();
    let logs: Vec<ByBlock> = copies
        .iter()
        .map(|n| {
            by_block(
                shared.iter().map(|shared| planted.at(f64::from(*n)).ln() + shared + noise(random)),
            )
        })
        .collect();
    let measured: Vec<ByBlock> = logs
        .iter()
        .map(|level| level.iter().map(|(block, log)| (*block, log.exp())).collect())
        .collect();
    let gain = |level: &ByBlock| {
        paired_shift(&without_blocks(&block_differences(level, &logs[0]))).estimate.value
    };
    let first = median(&without_blocks(&measured[0]));
    let levels: Vec<Throughput<'_>> = (copies.iter().zip(&logs).zip(&measured))
        .map(|((copies, logs), trials)| Throughput {
            copies: f64::from(*copies),
            total: first * gain(logs).exp(),
            trials,
        })
        .collect();
    fit_usl(&levels).unwrap()
}

const EIGHT: [u32; 6] = [1, 2, 3, 4, 6, 8];

#[test]
fn planted_laws_are_recovered() {
    let mut random = Pcg64Mcg::seed_from_u64(20);
    for (sigma, kappa) in [(0.0, 0.0), (0.05, 0.001), (0.58, 0.0095), (0.03, 2.3), (-0.04, 0.004)] {
        let planted = Usl { lambda: 100.0, sigma, kappa };
        let fit = fitted(&mut random, &planted, &EIGHT, 9, (0.0, &|random| 0.002 * normal(random)));
        let near = |is: f64, should: f64| (is - should).abs() < 0.01 + 0.05 * should.abs();
        assert!(near(fit.law.sigma, sigma) && near(fit.law.kappa, kappa), "{planted:?}: {fit:?}");
        assert!((fit.law.lambda / 100.0 - 1.0).abs() < 0.01 && fit.worst.1.abs() < 0.01, "{fit:?}");
        if kappa > 0.0 {
            assert!(
                (fit.peak.unwrap().value / planted.peak().unwrap() - 1.0).abs() < 0.2,
                "{planted:?}: {fit:?}"
            );
        }
    }
}

#[test]
fn a_law_s_intervals_cover() {
    let mut random = Pcg64Mcg::seed_from_u64(21);
    let quiet = |random: &mut Pcg64Mcg| 0.01 * normal(random);
    let kinds: [(&Noise, &[(f64, f64)]); 2] =
        [(&quiet, &[(0.05, 0.004), (-0.03, 0.01)]), (&noise, &[(0.4, 0.01)])];
    let holds = |interval: Estimate, value: f64| {
        usize::from(interval.low <= value && value <= interval.high)
    };
    for (noise, laws) in kinds {
        for (sigma, kappa) in laws {
            for (copies, trials, common) in [
                (&EIGHT[..], 3, 0.0),
                (&EIGHT[..], 12, 0.1),
                (&[1, 2, 4][..], 3, 0.1),
                (&[1, 2, 4][..], 12, 0.1),
            ] {
                let planted = Usl { lambda: 100.0, sigma: *sigma, kappa: *kappa };
                let (times, mut of_sigma, mut of_kappa, mut of_peak) =
                    (simulated(200).max(50), 0, 0, 0);
                for _ in 0..times {
                    let fit = fitted(&mut random, &planted, copies, trials, (common, noise));
                    of_sigma += holds(fit.sigma, *sigma);
                    of_kappa += holds(fit.kappa.unwrap(), *kappa);
                    // A law without a peak says nothing of one.
                    of_peak += fit.peak.map_or(1, |peak| holds(peak, planted.peak().unwrap()));
                }
                let covered = [of_sigma, of_kappa, of_peak].map(|held| held as f64 / times as f64);
                let all = covered.iter().all(|share| allowed(0.92..1.001).contains(share));
                assert!(all, "{planted:?}, {} levels of {trials}: {covered:?}", copies.len());
            }
        }
    }
}

/// The half-width of Amdahl's σ by propagation of errors: of 1 % at 1 and 8 copies each, with
/// Hodges and Lehmann's 1.02·1 %·√2/√12 and Student's 2.20, of σ = (8·X(1)/X(8) − 1)/7:
/// 2.20·0.0042/7·8/8 = 0.0013. What a block has in common adds nothing, though it is ten times as
/// large.
#[test]
fn a_law_s_intervals_are_not_absurdly_wide() {
    for common in [0.0, 0.1] {
        let mut random = Pcg64Mcg::seed_from_u64(22);
        let planted = Usl { lambda: 100.0, sigma: 0.0, kappa: 0.0 };
        let halves: Vec<f64> = (0..40)
            .map(|_| {
                let noise: &Noise = &|random| 0.01 * normal(random);
                let sigma = fitted(&mut random, &planted, &[1, 8], 12, (common, noise)).sigma;
                (sigma.high - sigma.low) / 2.0
            })
            .collect();
        assert!((0.0009..0.0019).contains(&median(&halves)), "{common}: {halves:?}");
    }
}
